# SPDX-License-Identifier: Apache-2.0
"""Reads and checks the table of device targets, boards/targets.yaml."""

import re
from dataclasses import dataclass

from . import aspect_list, yaml_lines
from .aspect_sets import Promise
from .errors import UserMistake, did_you_mean, nearest
from .yaml_lines import becomes_text, is_plain

PATH = "boards/targets.yaml"

TYPES = ("cpu", "gpu", "accelerator", "custom", "host")
HOSTS = ("inline", "threads")  # the backends that run C functions on the host
LONGEST_QUOTE = 40
NEAR_MISS = 0.82  # similarity to a backend's name from which on a name is a typo and not a custom backend
WAYS = ("backend", "platform", "vendor", "type", "name")

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NUMBER = re.compile(r"[1-9][0-9]{0,4}")
_NAME_RULE = "use lower case letters, digits and _, a letter first"


@dataclass(frozen=True)
class Target:
    """One entry. path: of its table; recognize: the mappings, in the table's order."""

    name: str
    path: str
    line: int
    text: str
    source: str
    recognize: tuple
    added_by: tuple
    aspects: tuple
    may_support_other_aspects: bool
    sub_group_sizes: tuple

    @property
    def symbol(self):
        """Its option, without CONFIG_."""
        return f"DYNSEL_TARGET_{self.name.upper()}"

    @property
    def promise(self):
        return Promise(frozenset(self.aspects), self.may_support_other_aspects)

    def may_be_of(self, backend):
        """Whether a device of this backend could be recognized."""
        return any(way.get("backend", backend) == backend for way in self.recognize)


def odd_name(name):
    """The error in the name of a target, or None."""
    return None if _NAME.fullmatch(name) else f"{_quoted(name)} is not a name for a target; {_NAME_RULE}"


def read(path, data, aspects, backends, listed_in=aspect_list.PATH):
    """All targets of a table, in its order, or UserMistake with all errors in it.

    aspects: those that an entry may use, from aspect_list or as names, which allow fewer checks.
    backends: the names that it may use.
    listed_in: the file that has all aspects, for messages.
    """
    top, mistakes = yaml_lines.read(path, data)
    reader = _Reader(path, aspects, backends, listed_in)
    if not mistakes:
        reader.table(top)
    mistakes += [f"{path}:{line}: {what}" for line, what in sorted(reader.mistakes)]
    if mistakes:
        raise UserMistake(list(dict.fromkeys(mistakes)))
    return reader.targets


def joined(several):
    """The targets of several tables as one list, or UserMistake with all names that occur twice."""
    first, mistakes = {}, []
    for target in (target for targets in several for target in targets):
        old = first.setdefault(target.name, target)
        if old is not target:
            mistakes.append(f"{target.path}:{target.line}: target {target.name} is already defined at"
                            f" {old.path}:{old.line}; give yours another name")
    if mistakes:
        raise UserMistake(mistakes)
    return list(first.values())


def check_hosts(path, targets, backends):
    """UserMistake if the host's devices would be refused, because no target is added for them."""
    mistakes = []
    for backend in sorted(set(HOSTS) & set(backends)):
        if not any(backend in target.added_by for target in targets):
            fitting = [target for target in targets if target.may_be_of(backend)]
            line = fitting[0].line if fitting else 1
            where = f"of target {fitting[0].name}" if fitting else "of a target that recognizes them"
            mistakes.append(f"{path}:{line}: no target is added by the backend {backend}, so its devices would be"
                            f" refused; put {backend} into `added_by` {where}")
    if mistakes:
        raise UserMistake(mistakes)


class _Reader:
    """Checks each part of the table. A method returns a value, or None after an error."""

    def __init__(self, path, aspects, backends, listed_in):
        self.path, self.listed_in = path, listed_in
        self.known = {"aspect": [getattr(a, "name", a) for a in aspects], "backend": backends}
        self.facts = {a.name: a for a in aspects if not isinstance(a, str)}
        self.targets, self.mistakes = [], []
        self._fields = {
            "text": self._clause, "source": self._clause, "recognize": self._recognize,
            "added_by": self._added_by, "aspects": self._aspects,
            "may_support_other_aspects": self._bool, "sub_group_sizes": self._sizes,
        }

    def table(self, top):
        if top is None or (is_plain(top) and not top.value):
            self.mistakes.append((1, "the table is empty; add an entry for a target"))
        elif top.id != "mapping":
            self._wrong(top, "a table is a mapping of target names to entries; begin with a name"
                        " and a colon")
        elif not top.value:
            self._wrong(top, "the table is empty; add an entry for a target")
        else:
            for key, value in self._pairs(top, "target"):
                self._target(key, value)

    def _target(self, key, value):
        name, trouble = key.value, odd_name(key.value)
        if trouble:
            self._wrong(key, trouble)
        elif not becomes_text(key):
            self._wrong(key, f"{name!r} is no text in YAML; choose another name")
        name = _quoted(name) if trouble else name
        if value.id != "mapping":
            self._wrong(key, f"target {name}: an entry is a mapping of fields, not"
                        f" {_kind(value)}; it needs {', '.join(self._fields)}")
            return
        fields = self._pairs(value, f"target {name}: field", self._fields)
        found = {field.value: self._fields[field.value](f"target {name}: {field.value}", content)
                 for field, content in fields}
        meant = {nearest(field.value, self._fields) for field, _ in value.value
                 if field.id == "scalar" and field.value not in self._fields}  # already reported
        missing = [field for field in self._fields if field not in found and field not in meant]
        if missing:
            self._wrong(key, f"target {name} has no {' and no '.join(missing)}; all fields are"
                        " needed")
        elif None not in found.values() and len(found) == len(self._fields):
            target = Target(name=name, path=self.path, line=yaml_lines.line(key), **found)
            self._contradictions(target, {field.value: content for field, content in fields})
            self.targets.append(target)

    def _pairs(self, mapping, what, known=None):
        """The pairs of a mapping, without those whose key is wrong or repeated."""
        first, found = {}, []
        for key, value in mapping.value:
            if key.id != "scalar":
                self._wrong(key, f"{what}: {_kind(key)} is not a name; write a word and a colon")
            elif known is not None and key.value not in known:
                self._wrong(key, f"{what} {_quoted(key.value)} is unknown"
                            f"{did_you_mean(key.value, known)} (there are: {', '.join(known)})")
            elif key.value in first:
                name = key.value if key.value.isidentifier() else _quoted(key.value)
                self._wrong(key, f"{what} {name} is already defined in line {first[key.value]}; delete"
                            " one of the two")
            else:
                first[key.value] = yaml_lines.line(key)
                found.append((key, value))
        return found

    # The fields

    def _clause(self, what, piece):
        """A text of one line; lines that YAML folds are one."""
        return self._text(what, piece, folds=True)

    def _recognize(self, what, piece):
        ways = self._list(what, piece)
        if ways == []:
            self._wrong(piece, f"{what} is empty; write how to recognize its devices, or"
                        " [{}] for every device")
        found = [self._way(what, way) for way in ways or ()]
        return None if not found or None in found else tuple(found)

    def _way(self, what, piece):
        if piece.id != "mapping":
            self._wrong(piece, f"{what}: an item is a mapping, not {_kind(piece)}; write"
                        " {backend: ..., name: ...}")
            return None
        found = {key.value: self._text(f"{what}: {key.value}", value)
                 for key, value in self._pairs(piece, f"{what}: key", WAYS)}
        if None in found.values() or len(found) < len(piece.value):
            return None
        keys = {key.value: key for key, _ in piece.value}
        for key, of_a_word in (("backend", self._backend), ("type", self._type)):
            if key in found:
                found[key] = of_a_word(what, keys[key], found[key])
        return None if None in found.values() else found

    def _backend(self, what, key, name):
        """A custom backend may have any name that is not similar to a known one."""
        known = self.known["backend"]
        meant = nearest(name, known, NEAR_MISS)
        if meant is not None and name.lower() != meant.lower():
            self._wrong(key, f"{what}: no backend is named {_quoted(name)}; did you mean {meant}? (the name"
                        " of a custom backend must be less similar)")
            return None
        return meant or name

    def _type(self, what, key, name):
        if name.lower() in TYPES:
            return name.lower()
        self._wrong(key, f"{what}: no type is named {_quoted(name)}{did_you_mean(name, TYPES)} (there are:"
                    f" {', '.join(TYPES)})")
        return None

    def _added_by(self, what, piece):
        return self._names(what, piece, "backend")

    def _aspects(self, what, piece):
        return self._names(what, piece, "aspect")

    def _bool(self, what, piece):
        if is_plain(piece) and piece.value in ("true", "false"):
            return piece.value == "true"
        quoted = " without quotes" if piece.value in ("true", "false") and not is_plain(piece) else ""
        self._wrong(piece, f"{what} is {_shown(piece)}; write true or false{quoted}")
        return None

    def _sizes(self, what, piece):
        items = self._list(what, piece)
        if items is None:
            return None
        for item in items:
            if not is_plain(item) or not _NUMBER.fullmatch(item.value):
                quoted = " without quotes" if item.id == "scalar" and _NUMBER.fullmatch(item.value) else ""
                self._wrong(item, f"{what}: {_shown(item)} is not a size; write whole numbers from 1"
                            f" to 99999{quoted}")
                return None
        sizes = [int(item.value) for item in items]
        if sizes != sorted(set(sizes)):
            self._wrong(piece, f"{what}: {', '.join(map(str, sizes))} do not ascend; write each once,"
                        " smallest first")
            return None
        return tuple(sizes)

    # Contradictions between fields

    def _contradictions(self, target, fields):
        """Refuses promises that no recognized device can keep."""
        items = {item.value: item for item in fields["aspects"].value}
        for way, piece in zip(target.recognize, fields["recognize"].value):
            trouble = _odd_way(way)
            if trouble:
                self._wrong(piece, f"target {target.name}: recognize: {trouble}")
                continue
            wrong = [aspect for aspect in target.aspects if not self._is_possible(way, aspect)]
            for aspect in wrong:
                self._wrong(items[aspect], f"target {target.name}: aspects: no device that {_shown_way(way)}"
                            f" recognizes has {aspect}; delete the aspect or that"
                            " item of `recognize`")
            own = way.get("type")
            if not wrong and own in self.known["aspect"] and own not in target.aspects and not target.may_support_other_aspects:
                self._wrong(fields["aspects"],
                            f"target {target.name}: aspects: {_shown_way(way)} recognizes devices that have {own}, and"
                            f" no other aspects are allowed; add {own}, or set may_support_other_aspects to"
                            " true")
        for item in fields["added_by"].value:
            if not target.may_be_of(item.value):
                self._wrong(item, f"target {target.name}: added_by: no item of `recognize` matches devices of"
                            f" {item.value}; add {{backend: {item.value}}} there")

    def _is_possible(self, way, aspect):
        """Whether a device that this mapping recognizes may have the aspect."""
        backend, own, known = way.get("backend"), way.get("type"), self.facts.get(aspect)
        if backend in HOSTS or own == "host":
            return known.host if known else aspect == "host" or aspect not in TYPES
        if backend not in ("opencl", None):
            return True  # a custom backend
        if backend == "opencl" and (aspect == "host" or known and known.opencl == "NO"):
            return False
        return own is None or aspect not in TYPES or aspect == own

    # Values of fields

    def _names(self, what, piece, kind):
        """A list of different known names, of aspects or of backends."""
        items = self._list(what, piece)
        if items is None:
            return None
        found = []
        for item in items:
            trouble = self._trouble(item, kind, found)
            if trouble:
                self._wrong(item, f"{what}: {trouble}")
            found.append(None if trouble else item.value)
        return None if None in found else tuple(found)

    def _trouble(self, item, kind, before):
        """The error of an item in a list of names, or None."""
        known = self.known[kind]
        if item.id != "scalar":
            return f"{_kind(item)} is not a name; write the names of {kind}s"
        if item.value not in known:  # too many aspects for one line
            all_of_them = f"{self.listed_in} lists them" if kind == "aspect" else (
                f"there are: {', '.join(known) or 'none'}")
            return (f"no {kind} is named {_quoted(item.value)}{did_you_mean(item.value, known)}"
                    f" ({all_of_them})")
        if item.value in before:
            return f"{item.value} is listed twice; delete one of the two"
        return None

    def _list(self, what, piece):
        if piece.id == "sequence":
            return piece.value
        self._wrong(piece, f"{what} is {_shown(piece)}; write a list: [] or [one, two]")
        return None

    def _text(self, what, piece, folds=False):
        if piece.id != "scalar":
            self._wrong(piece, f"{what} is {_kind(piece)}; write a text")
            return None
        text = " ".join(piece.value.split()) if folds else piece.value
        if not text.strip():
            self._wrong(piece, f"{what} is empty; write a text")
        elif not becomes_text(piece):
            self._wrong(piece, f"{what}: {_quoted(text)[1:-1]} is not a text in YAML; put it in quotes")
        elif not text.isprintable():
            self._wrong(piece, f"{what} has unprintable characters; delete them")
        else:
            return text
        return None

    def _wrong(self, piece, what):
        self.mistakes.append((yaml_lines.line(piece), what))


def _odd_way(way):
    """The reason why this mapping recognizes no device, or None."""
    backend, own = way.get("backend"), way.get("type")
    if backend in HOSTS and own not in (None, "host"):
        return f"devices of the backend {backend} are of type host, not {own}; delete one of the two"
    if backend == "opencl" and own == "host":
        return "no OpenCL device is of type host; delete one of the two"
    return None


def _shown_way(way):
    return "{" + ", ".join(f"{key}: {text}" for key, text in way.items()) + "}"


def _kind(piece):
    return {"scalar": "a text", "sequence": "a list", "mapping": "a mapping"}[piece.id]


def _shown(piece):
    """A value in a message: the word itself if it is one."""
    if piece.id != "scalar":
        return _kind(piece)
    return _quoted(piece.value) if piece.value else "empty"


def _quoted(text):
    """A word of the table in a message: on one line, shortened."""
    return repr(text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "...")
