# SPDX-License-Identifier: Apache-2.0
"""Makes a configuration from a board's defconfig and fragments, or a list of all errors.

Kconfiglib computes the values. This module gives it assignments and compares each with the result,
because Kconfiglib silently drops an assignment that does not fit. A layer is one file. Layers are applied
in order, and each is checked while it is the last one:

- an assignment that does not take effect then, nor in the end, is an error;
- one that took effect and is replaced by a later layer is noted;
- one that took effect and is lost through a later layer (which switched off a dependency) is noted for
  a number or a text; a lost `=y` must be revoked with `=n` explicitly.
"""

import codecs
import os
from contextlib import contextmanager
from dataclasses import dataclass

import kconfiglib as kl

from . import aspects, boards, grammar, products, undefined
from .errors import UserMistake, did_you_mean, nearest
from .explain import active_range, prompt_condition, unmet_terms, value_text


CLOSE = 0.8  # similarity from which on a name is a typo, and does not lack DYNSEL_


@dataclass(frozen=True)
class Layer:
    """A defconfig or fragment: the path as shown in messages, and the text in it."""

    path: str
    text: str


class Configuration:
    """The values of all symbols for one board and its layers.

    trees: whose menu it is; catalogue: the aspects and targets in the menu.
    """

    def __init__(self, trees, kconf, variant_name, assignments, notes):
        self.trees, self.catalogue = trees, aspects.catalogue(trees)
        self.kconf = kconf
        self.variant_name = variant_name
        self.assignments = assignments
        self.notes = notes
        self._symbols = {s.name: s for s in kconf.unique_defined_syms}

    def symbols(self):
        return self._symbols

    def __getitem__(self, name):
        """True or False, a number or a text. An unknown name is an error."""
        if name not in self._symbols:
            raise UserMistake(f"no option named {name}{did_you_mean(name, self._symbols)}")
        sym = self._symbols[name]
        if sym.orig_type == kl.BOOL:
            return sym.tri_value == 2
        if sym.orig_type == kl.STRING:
            return sym.str_value
        return int(sym.str_value, 0) if sym.str_value else None

    def is_set(self, name):
        """Whether a bool is y; False if it is not in the menu."""
        return name in self._symbols and self._symbols[name].tri_value == 2

    def aspects(self):
        """The aspects and targets of this configuration."""
        return aspects.select(self.catalogue, self.is_set)

    def entries(self):
        """(name, kind, value as text) of each symbol, in the menu's order. kind: bool, text or number."""
        kinds = {kl.BOOL: "bool", kl.STRING: "text"}
        return [(name, kinds.get(sym.orig_type, "number"), sym.str_value) for name, sym in self._symbols.items()]

    def values(self):
        """Symbol name -> value as text, for comparing configurations."""
        return {name: sym.str_value for name, sym in self._symbols.items()}

    def locations(self):
        """Symbol name -> ' (file:line)' of the effective assignment."""
        return {a.name: f" ({a.where})" for a in self.assignments}


def layers_of(trees, board, fragments):
    """The files of a variant, bottom first. Their existence is checked by `variants`."""
    paths = [defconfig(trees, board)] + [fragment_path(trees, f) for f in fragments]
    return [read_layer(trees, path) for path in paths]


def defconfig(trees, board):
    return f"{boards.folder(trees, board)}/defconfig"


def fragment_path(trees, name):
    """The file of a fragment; a new one goes into the first product's tree, if there is one."""
    found = trees.files(f"configs/{name}.conf")
    return found[0] if found else os.path.join(trees.roots()[:2][-1], "configs", f"{name}.conf")


def read_layer(trees, path):
    try:
        data = trees.real(path).read_bytes()
    except OSError as e:
        raise UserMistake(f"{path}: cannot be read: {e.strerror}") from e
    if data.startswith(codecs.BOM_UTF8):
        raise UserMistake(f"{path}:1: a byte order mark; save the file as UTF-8 without one")
    try:
        return Layer(path, data.decode("utf-8"))
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise UserMistake(f"{path}:{line}: not UTF-8 text") from e


def load(trees, board, layers, variant_name="", kconfig_class=kl.Kconfig, complete=True):
    """The Configuration, or UserMistake with all errors of all layers.

    complete: it must have all that a build needs; False if more layers follow.
    """
    kconf = parse_kconfig(trees, board, kconfig_class)
    assignments, mistakes = [], []
    for layer in layers:
        parsed, wrong = grammar.parse(layer.path, layer.text)
        assignments.append(parsed)
        mistakes += wrong
    judge = Judge(kconf)
    for layer_assignments in assignments:
        judge.lay(layer_assignments)
    judge.conclude()
    mistakes += judge.mistakes
    if not judge.mistakes:
        mistakes += _own_warnings(kconf)
    config = Configuration(trees, kconf, variant_name, judge.effective, judge.notes)
    if complete and not mistakes:
        mistakes += _without_board(config, board) + _without_targets(config, board)
    if mistakes:
        raise UserMistake(sorted(set(mistakes), key=_by_place))
    return config


def _without_board(config, board):
    """Refuses a copied folder whose Kconfig.board has the old name, so that it selects nothing."""
    known = [s for s in config.symbols().values() if s.name.startswith("DYNSEL_BOARD_")]
    if not known or any(s.tri_value for s in known):
        return []
    return [f"{boards.folder(config.trees, board)}/Kconfig.board:1: it has no option for the board {board!r}; in a copied"
            f' folder, change the name: config DYNSEL_BOARD_{board.upper()}, and "$(BOARD)" = "{board}"']


def _without_targets(config, board):
    """Refuses a configuration without a target; the place is the line that removed the last one."""
    symbols = [s for s in config.catalogue.target_symbols() if s in config.symbols()]
    trouble = aspects.impossible(config.catalogue, config.is_set) if symbols else None
    if not trouble:
        return []
    lines = [a.where for a in config.assignments if a.name in symbols]
    return [f"{(lines or [f'{defconfig(config.trees, board)}:1'])[-1]}: {trouble}"]


def _by_place(message):
    """Messages in the order of file and line."""
    path, _, rest = message.partition(":")
    number = rest.partition(":")[0]
    return path, int(number) if number.isdecimal() and not grammar.is_too_long(number) else 0, message


@contextmanager
def _kconfig_environment(trees, board):
    """Passes parameters to Kconfiglib, which reads them from the environment."""
    wanted = {"srctree": trees.top, "BOARD": board, "DYNSEL_MENU": aspects.menu(trees), "KCONFIG_WARN_UNDEF": "n",
              "KCONFIG_FUNCTIONS": "no_kconfig_functions", "CONFIG_": grammar.PREFIX}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def parse_kconfig(trees, board, kconfig_class=kl.Kconfig):
    """The menu without assignments. Each warning of Kconfiglib is an error, and each name that no option has."""
    aspects.write_menu(trees)
    with _kconfig_environment(trees, board):
        try:
            kconf = kconfig_class("Kconfig", warn_to_stderr=False)
        except kl.KconfigError as e:
            raise UserMistake(str(e).strip()) from e
    mistakes = products.defined_twice(trees, kconf) or (undefined.mistakes(trees, kconf)
                                                        + [_one_line(w) for w in kconf.warnings])
    if mistakes:
        raise UserMistake(mistakes)
    kconf.warn_assign_override = kconf.warn_assign_redun = False
    return kconf


def _own_warnings(kconf):
    """Warnings of Kconfiglib while it computes values (a select past a dependency, ...)."""
    for sym in kconf.unique_defined_syms:
        sym.str_value  # computing it warns
    return [_one_line(w) for w in kconf.warnings]


def _one_line(warning):
    return " ".join(warning.replace("warning: ", "", 1).split())


class Judge:
    """Applies assignments to a Kconfig and reports the effect of each."""

    def __init__(self, kconf):
        self.kconf = kconf
        self.mistakes, self.notes, self.effective = [], [], []
        self._names = [s.name for s in kconf.unique_defined_syms]
        self._failed = {}     # assignment -> message, from when its layer was the last one
        self._current = {}    # symbol name -> the effective assignment
        self._chosen = {}     # choice -> the effective assignment of a member

    def lay(self, assignments):
        """One more layer."""
        good = [a for a in assignments if self._apply(a, assignments)]
        for a in good:
            message = self._lost(a)
            if message:
                self._failed[a] = message

    def conclude(self):
        """After the last layer: compares every effective assignment with the result."""
        for a in self._current.values():
            message = self._lost(a)
            if not message:
                self.effective.append(a)
            elif a in self._failed:
                self.mistakes.append(f"{a.where}: {message}")
            elif a.value == "y":
                self.mistakes.append(f"{a.where}: {message}; if this is intended, add"
                                     f" {grammar.PREFIX}{a.name}=n to the file that switches it off")
            else:
                self.notes.append(f"{a.where}: {message}")
        self.effective.sort(key=lambda a: self._names.index(a.name))

    def lost_later(self):
        """The =y that took effect and were lost through a later layer."""
        return [a for a in self._current.values()
                if a.value == "y" and a not in self._failed and self._lost(a)]

    def _apply(self, a, layer):
        """Gives Kconfiglib one assignment; False, with a message, if it is not valid."""
        sym = self.kconf.syms.get(a.name)
        message = self._cannot_be_set(a, sym) or _wrong_type(sym, a)
        if not message and sym.choice and a.value == "y":
            message = self._choose(sym, a, layer)
        if message:
            self.mistakes.append(f"{a.where}: {message}")
            return False
        self._note_override(a)
        self._current[a.name] = a
        sym.set_value(_plain_value(sym, a.value))
        return True

    def _cannot_be_set(self, a, sym):
        if sym is None or not sym.nodes:
            return f"no option named {grammar.PREFIX}{a.name}{self._meant(a.name)}"
        if not any(node.prompt for node in sym.nodes):
            return (f"{grammar.PREFIX}{a.name} has no prompt: it follows from other options"
                    " and cannot be set; delete the line")
        return None

    def _meant(self, name):
        known = [grammar.PREFIX + n for n in self._names]
        close = nearest(grammar.PREFIX + name, known, CLOSE)
        if close:
            return f"; did you mean {close}?"
        full = name if name.startswith("DYNSEL_") else "DYNSEL_" + name
        return did_you_mean(grammar.PREFIX + full, known)

    def _choose(self, sym, a, layer):
        """Two members of one choice are an error inside a file, an override across files."""
        old = self._chosen.get(sym.choice)
        self._chosen[sym.choice] = a
        if old is None or old.name == a.name:
            return None
        if old in layer:
            return (f"{a} but line {old.line} already chose {grammar.PREFIX}{old.name} of the same"
                    f" choice {sym.choice.name}; delete one of the two")
        self.notes.append(f"{old.where}: {old} is overridden by {a.where} ({a})")
        self._current.pop(old.name, None)
        return None

    def _note_override(self, a):
        old = self._current.get(a.name)
        if old is not None and old.value != a.value:
            self.notes.append(f"{old.where}: {old} is overridden by {a.where} ({a})")

    def _lost(self, a):
        """Why an assignment has no effect now, or None if it has."""
        sym = self.kconf.syms[a.name]
        wanted = _plain_value(sym, a.value)
        if sym.orig_type in (kl.INT, kl.HEX) and not _in_range(sym, wanted) and sym.visibility:
            low, high = active_range(sym)
            return f"{a} is out of range; {low} to {high} is allowed"
        if sym.str_value == wanted:
            return None
        lost = f"{a} did not take effect (is {value_text(sym)}): "
        if sym.choice and a.value == "n" and sym.choice.selection is sym:
            others = [grammar.PREFIX + s.name + "=y" for s in sym.choice.syms if s is not sym]
            return lost + f"a choice always has one member; name the wanted one: {' or '.join(others)}"
        where = {n: f" ({c.where})" for n, c in self._current.items()}
        terms = unmet_terms(prompt_condition(sym), where)
        return lost + (", ".join(terms) or self._forced(sym))

    def _forced(self, sym):
        """The reason for a visible symbol without the assigned value: something selects it."""
        by = [kl.split_expr(s, kl.AND)[0].name for s in kl.split_expr(sym.rev_dep, kl.OR)
              if kl.expr_value(s)]
        return f"selected by {', '.join(by)}" if by else "another member of the choice was set"


def _plain_value(sym, value):
    """The value that Kconfiglib stores for a written one."""
    return grammar.unquote(value) if sym.orig_type == kl.STRING else value


def _wrong_type(sym, a):
    """Why this value cannot belong to a symbol of this type, or None."""
    name = grammar.PREFIX + a.name
    if sym.orig_type == kl.BOOL and a.value not in ("y", "n"):
        return f"{a}: {name} is a bool; write {name}=y or {name}=n"
    if sym.orig_type == kl.INT and not grammar.is_int(a.value):
        return f"{a}: {name} is an int; write a decimal number without quotes or leading zero"
    if sym.orig_type == kl.HEX and not grammar.is_hex(a.value):
        return f"{a}: {name} is a hex number; write it as 0x1f, without quotes"
    if sym.orig_type in (kl.INT, kl.HEX) and grammar.is_too_long(a.value):
        return (f"{a.short}: {name} has {len(a.value)} characters; write a number of at most"
                f" {grammar.LONGEST_NUMBER} digits")
    if sym.orig_type == kl.STRING and grammar.unquote(a.value) is None:
        return f'{a}: {name} is a text; write it in double quotes: {name}="..."'
    return None


def _in_range(sym, value):
    bounds = active_range(sym)
    return not bounds or int(bounds[0], 0) <= int(value, 0) <= int(bounds[1], 0)
