# SPDX-License-Identifier: Apache-2.0
"""A variant is a board with fragments on top, named <board>[+<fragment>...][~<SYMBOL>=<value>...].

The last form sets single options without a file: native~MAX_RESOURCES=4.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from . import boards, config as configs
from .errors import UserMistake, unknown

DEFAULT_BOARD = "native"
LONGEST = 120  # characters of the name of a folder


@dataclass(frozen=True)
class Variant:
    board: str
    fragments: tuple = ()
    settings: tuple = ()

    @property
    def name(self):
        return "~".join(("+".join((self.board,) + self.fragments),) + self.settings)

    @property
    def folder(self):
        """Many settings are replaced with a hash, because file names have a limited length."""
        if len(self.name) <= LONGEST:
            return f"build/{self.name}"
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:10]
        return f"build/{self.name[:LONGEST].partition('~')[0]}~{digest}"

    def with_fragment(self, fragment):
        """The same with one more fragment on top, or itself if it has the fragment."""
        if fragment in self.fragments:
            return self
        return Variant(self.board, self.fragments + (fragment,), self.settings)

    def layers(self, top):
        """The files of this variant, bottom first, and its settings as one more."""
        layers = configs.layers_of(top, self.board, self.fragments)
        if self.settings:
            lines = "".join(f"CONFIG_DYNSEL_{setting}\n" for setting in self.settings)
            layers.append(configs.Layer(self.name, lines))
        return layers

    def arguments(self):
        """The arguments of `scons` for this variant."""
        if self.settings:
            return f"VARIANTS={self.name}"
        words = [f"BOARD={self.board}"] if self.board != DEFAULT_BOARD else []
        words += [f"CONF={','.join(self.fragments)}"] if self.fragments else []
        return " ".join(words)


def fragment_names(top):
    return sorted(p.stem for p in Path(top).glob("configs/*.conf"))


def split(text):
    """The words of a list separated by commas or blanks."""
    return [word for word in re.split(r"[,\s]+", text) if word]


def chosen(top, arguments):
    """The variants that BOARD=, CONF= or VARIANTS= name, in that order, without repetition."""
    if "VARIANTS" in arguments:
        if "BOARD" in arguments or "CONF" in arguments:
            raise UserMistake("VARIANTS= names boards and fragments itself; leave out BOARD= and CONF=")
        found = [parse(top, name, "VARIANTS: ") for name in split(arguments["VARIANTS"])]
    else:
        fragments, *settings = arguments.get("CONF", "").split("~")
        found = [_checked(top, Variant(board, tuple(split(fragments)), tuple(settings)))
                 for board in split(arguments.get("BOARD", DEFAULT_BOARD))]
    if not found:
        raise UserMistake("BOARD= and VARIANTS= need at least one name;"
                          f" boards: {', '.join(boards.names(top))}")
    return list(dict.fromkeys(found))


def parse(top, name, where=""):
    """The variant with this name, as in build/<name>/."""
    files, *settings = name.split("~")
    board, *fragments = files.split("+")
    return _checked(top, Variant(board, tuple(fragments), tuple(settings)), where)


def _checked(top, variant, where=""):
    known_boards, known_fragments = boards.names(top), fragment_names(top)
    wrong = []
    boards.check_folder(top, variant.board)
    if variant.board not in known_boards:
        wrong.append(unknown("board", variant.board, known_boards, where))
    for i, fragment in enumerate(variant.fragments):
        if fragment not in known_fragments:
            wrong.append(unknown("fragment", fragment, known_fragments, where))
        elif fragment in variant.fragments[:i]:
            wrong.append(f"{where}fragment {fragment} is named twice in {variant.name}")
    if wrong:
        raise UserMistake(wrong)
    return variant


def for_check(top, wanted, describe):
    """The wanted variants and those that `scons check` adds, without repetition."""
    found = list(wanted)
    for variant in wanted:
        board = describe(variant)
        found += [variant.with_fragment(f) for f in board.check_on_top]
        found += [parse(top, f"{variant.board}+{f}") for f in board.check_beside]
    return list(dict.fromkeys(found))
