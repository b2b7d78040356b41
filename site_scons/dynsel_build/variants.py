# SPDX-License-Identifier: Apache-2.0
"""A variant is a board with fragments on top, named <board>[+<fragment>...][~<SYMBOL>=<value>...].

The last form sets single options without a file: native~MAX_RESOURCES=4.
"""

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import PurePath

from . import boards, config as configs, products
from .errors import UserMistake, unknown
from .trees import BUILD

DEFAULT_BOARD = "native"
LONGEST = 120  # characters of the name of a folder


@dataclass(frozen=True)
class Variant:
    """build: the folder for all variants."""

    board: str
    fragments: tuple = ()
    settings: tuple = ()
    build: str = BUILD

    @property
    def name(self):
        return "~".join(("+".join((self.board,) + self.fragments),) + self.settings)

    @property
    def folder(self):
        """Many settings are replaced with a hash, because file names have a limited length."""
        if len(self.name) <= LONGEST:
            return f"{self.build}/{self.name}"
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:10]
        return f"{self.build}/{self.name[:LONGEST].partition('~')[0]}~{digest}"

    def with_fragment(self, fragment):
        """The same with one more fragment on top, or itself if it has the fragment."""
        if fragment in self.fragments:
            return self
        return replace(self, fragments=self.fragments + (fragment,))

    def layers(self, trees):
        """The files of this variant, bottom first, and its settings as one more."""
        layers = configs.layers_of(trees, self.board, self.fragments)
        if self.settings:
            lines = "".join(f"CONFIG_{_full(trees, self.board, setting)}\n" for setting in self.settings)
            layers.append(configs.Layer(self.name, lines))
        return layers

    def arguments(self):
        """The arguments of `scons` for this variant."""
        if self.settings:
            return f"VARIANTS={self.name}"
        words = [f"BOARD={self.board}"] if self.board != DEFAULT_BOARD else []
        words += [f"CONF={','.join(self.fragments)}"] if self.fragments else []
        return " ".join(words)


def _full(trees, board, setting):
    """The setting with the full name of its option: DYNSEL_ stands in front, except of options of a product."""
    prefixes = products.prefixes(trees, configs.parse_kconfig(trees, board)) if trees.products else ()
    return setting if setting.startswith(prefixes) else f"DYNSEL_{setting}"


def fragment_names(trees):
    return sorted(PurePath(path).stem for path in trees.files("configs/*.conf"))


def split(text):
    """The words of a list separated by commas or blanks."""
    return [word for word in re.split(r"[,\s]+", text) if word]


def chosen(trees, arguments):
    """The variants that BOARD=, CONF= or VARIANTS= name, in that order, without repetition."""
    if "VARIANTS" in arguments:
        if "BOARD" in arguments or "CONF" in arguments:
            raise UserMistake("VARIANTS= names boards and fragments itself; leave out BOARD= and CONF=")
        found = [parse(trees, name, "VARIANTS: ") for name in split(arguments["VARIANTS"])]
    else:
        fragments, *settings = arguments.get("CONF", "").split("~")
        found = [_checked(trees, Variant(board, tuple(split(fragments)), tuple(settings), trees.build))
                 for board in split(arguments.get("BOARD", DEFAULT_BOARD))]
    if not found:
        raise UserMistake("BOARD= and VARIANTS= need at least one name;"
                          f" boards: {', '.join(boards.names(trees))}")
    return list(dict.fromkeys(found))


def parse(trees, name, where=""):
    """The variant with this name, as in build/<name>/."""
    files, *settings = name.split("~")
    board, *fragments = files.split("+")
    return _checked(trees, Variant(board, tuple(fragments), tuple(settings), trees.build), where)


def _checked(trees, variant, where=""):
    known_boards, known_fragments = boards.names(trees), fragment_names(trees)
    wrong = []
    boards.check_folder(trees, variant.board)
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


def for_check(trees, wanted, describe):
    """The wanted variants and those that `scons check` adds, without repetition."""
    found = list(wanted)
    for variant in wanted:
        board = describe(variant)
        found += [variant.with_fragment(f) for f in board.check_on_top]
        found += [parse(trees, f"{variant.board}+{f}") for f in board.check_beside]
    return list(dict.fromkeys(found))
