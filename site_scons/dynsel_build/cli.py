# SPDX-License-Identifier: Apache-2.0
"""The command line: which arguments there are, the help text, and the commands that build nothing."""

from . import boards, config as configs, variants
from .errors import UserMistake, unknown

# name -> (the targets it belongs to, or None for all; what it says)
ARGUMENTS = {
    "BOARD": (None, "boards to build for, e.g. BOARD=native"),
    "CONF": (None, "fragments from configs/, laid on each board in this order, e.g. CONF=debug,clang"),
    "VARIANTS": (None, "variants by name, instead of BOARD and CONF, e.g. VARIANTS=native,native+clang"),
    "VERBOSE": (None, "VERBOSE=1 shows whole command lines"),
    "SAVE": (("menuconfig", "guiconfig", "savedefconfig"), "where to save: a fragment's name, or defconfig"),
    "PREFIX": (("install",), "where to install, /usr/local unless given"),
    "DESTDIR": (("install",), "put in front of PREFIX, for packaging"),
    "A": (("diffconfig",), "the one variant to compare"),
    "B": (("diffconfig",), "the other variant to compare"),
    "why": (None, "why=SYMBOL: its value, where it comes from, what blocks it"),
}


class Session:
    """One call of scons: its arguments, and the configurations that it asks for."""

    def __init__(self, top, arguments, targets):
        self.top = top
        self.arguments = dict(arguments)
        self.targets = list(targets)
        self._loaded = {}

    def check_arguments(self, pairs):
        """Unknown, doubled and useless arguments are mistakes: scons alone would ignore them."""
        wrong = [unknown("variable", name, ARGUMENTS) for name in self.arguments if name not in ARGUMENTS]
        names = [name for name, _ in pairs]
        wrong += [f"{n}= is given twice; join the values with commas" for n in sorted(set(names))
                  if names.count(n) > 1]
        for name in self.arguments:
            targets = ARGUMENTS.get(name, (None,))[0]
            if targets and not set(targets) & set(self.targets):
                wrong.append(f"{name}= only means something with {' or '.join(targets)}")
        if self.arguments.get("VERBOSE", "0") not in ("0", "1"):
            wrong.append("VERBOSE= is 0 or 1")
        if wrong:
            raise UserMistake(wrong)

    def chosen(self):
        return variants.chosen(self.top, self.arguments)

    def load(self, variant):
        """The configuration of a variant; read once."""
        if variant not in self._loaded:
            layers = configs.layers_of(self.top, variant.board, variant.fragments)
            self._loaded[variant] = configs.load(self.top, variant.board, layers, variant.name)
        return self._loaded[variant]

    def load_all(self, wanted):
        """All of them, or the mistakes of all of them."""
        mistakes = []
        for variant in wanted:
            try:
                self.load(variant)
            except UserMistake as e:
                mistakes += e.lines
        if mistakes:
            raise UserMistake(dict.fromkeys(mistakes))
        return {variant: self._loaded[variant] for variant in wanted}

    def board(self, variant):
        return boards.describe(self.top, variant.board, self.load(variant))
