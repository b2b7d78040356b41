# SPDX-License-Identifier: Apache-2.0
"""Saving: the fewest lines of one file that give the wanted values.

The result is verified before it is written: loading the layers with it must give exactly the wanted
values without a lost assignment.
"""

import kconfiglib as kl

from . import config as configs, grammar
from .errors import UserMistake


class Target:
    """The file to write, and the layers below it in the variant."""

    def __init__(self, trees, variant, path, below):
        self.trees, self.variant, self.path, self.below = trees, variant, path, list(below)
        self.pretends = False  # save() writes nothing and reports what it would write

    def text(self):
        file = self.trees.real(self.path)
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def load(self, text):
        """The configuration with this text in the file."""
        layers = self.below + [configs.Layer(self.path, text)]
        return configs.load(self.trees, self.variant.board, layers, self.variant.name)

    def save(self, wanted):
        """Writes the file so that the variant has the wanted values; returns a message for the user.

        wanted: symbol name -> value as text, of all symbols.
        """
        lines = minimal(self, wanted)
        text = edited(self.text(), lines)
        reached = self.load(text).values()
        wrong = [n for n in wanted if reached[n] != wanted[n]]
        if wrong:
            raise UserMistake(f"cannot save to {self.path}: no line in it gives "
                              + ", ".join(f"{n}={wanted[n]}" for n in wrong))
        file = self.trees.real(self.path)
        changed = not file.exists() or file.read_text(encoding="utf-8") != text
        if changed and not self.pretends:
            file.parent.mkdir(exist_ok=True)  # the first fragment of a product
            file.write_text(text, encoding="utf-8")
        count = f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
        saved = "would save" if self.pretends else "saved"
        said = f"{saved} {self.path} ({count})" if changed else f"{self.path} has this already ({count})"
        return f"{said}; build it with: {self.trees.scons(self.variant.arguments())}"


def minimal(target, wanted):
    """name -> value as written: the lines needed on top of target.below, in the menu's order.

    Lines of a fragment stay while they are true: a fragment may state a value
    that is this board's default. A defconfig holds only differences from the defaults.
    """
    stay = _still_true(target, wanted) if target.below else {}
    found = {**stay, **sufficient(target, wanted)}
    for name in [n for n in found if n not in stay]:
        fewer = {n: v for n, v in found.items() if n != name}
        if _leads_to(target, fewer, wanted):
            found = fewer
    order = list(wanted)
    return dict(sorted(found.items(), key=lambda item: order.index(item[0])))


def sufficient(target, wanted):
    """The same, faster: sufficient lines, some of which may not be needed."""
    found = _differences(target, wanted)
    found.update(_taken_back(target, found))
    return found


def _still_true(target, wanted):
    """The file's assignments that agree with the wanted values."""
    assignments, _ = grammar.parse(target.path, target.text())
    return {a.name: a.value for a in assignments
            if wanted.get(a.name) in (a.value, grammar.unquote(a.value))}


def _differences(target, wanted):
    """Sets differing values until none differs; one value may make the next one settable."""
    kconf = configs.load(target.trees, target.variant.board, target.below, complete=False).kconf
    found = {}
    for _ in kconf.unique_defined_syms:
        before = len(found)
        for sym in kconf.unique_defined_syms:
            # A board that was added while the menu was open is not among the wanted.
            if sym.str_value != wanted.get(sym.name, sym.str_value) and _can_be_set(sym, wanted[sym.name]):
                sym.set_value(wanted[sym.name])
                found[sym.name] = _as_written(sym, wanted[sym.name])
        if len(found) == before:
            break
    return found


def _can_be_set(sym, value):
    """A choice is changed by naming its new member, not by switching off the old one; a number without
    a value has lost its dependency, which is set later."""
    lost = value == "" and sym.orig_type != kl.STRING
    return bool(sym.visibility) and not lost and not (sym.choice and value == "n")


def _as_written(sym, value):
    return grammar.quote(value) if sym.orig_type == kl.STRING else value


def _taken_back(target, found):
    """=n for each =y below that is lost now, because the loader demands it."""
    kconf = configs.parse_kconfig(target.trees, target.variant.board)
    judge = configs.Judge(kconf)
    for layer in target.below + [configs.Layer(target.path, _lines(found))]:
        judge.lay(grammar.parse(layer.path, layer.text)[0])
    return {a.name: "n" for a in judge.lost_later()}


def _leads_to(target, lines, wanted):
    try:
        return target.load(_lines(lines)).values() == wanted
    except UserMistake:
        return False  # a line that revokes another one is missing


def _lines(assignments):
    return "".join(f"{grammar.PREFIX}{n}={v}\n" for n, v in assignments.items())


def edited(text, lines):
    """The text with exactly these assignments; comments, empty lines and the order are kept."""
    left, kept = dict(lines), []
    for line in text.splitlines():
        parsed, _ = grammar.parse("", line)
        if not parsed:
            kept.append(line)
        elif parsed[0].name in left:
            name = parsed[0].name
            kept.append(f"{grammar.PREFIX}{name}={left.pop(name)}")
    return "".join(line + "\n" for line in kept) + _lines(left)
