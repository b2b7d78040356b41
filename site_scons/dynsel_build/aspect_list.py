# SPDX-License-Identifier: Apache-2.0
"""Reads include/dynsel/aspects.def, the list of the device aspects.

The reader demands that each aspect stands alone inside its own option, so that it finds the same aspects as
the compiler.
"""

import re
from dataclasses import dataclass

from . import utf8
from .errors import UserMistake

PATH = "include/dynsel/aspects.def"

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_STRING_OR_COMMENT = re.compile(_STRING + r"|/\*.*?\*/", re.DOTALL)
_BEGIN = re.compile(r"#if CONFIG_DYNSEL_ASPECT_([A-Z0-9_]+)")
_ENTRY = re.compile(r'DYNSEL_ASPECT\(\s*(\w+)\s*,\s*((?:"(?:[^"\\\n]|\\["\\])*"\s*)+),\s*([01])\s*,(.+)\)',
                    re.DOTALL)
_LEFT_OVER = re.compile(r'["\\#]|/[/*]')  # in an entry without its strings and comments
_PIECE = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
_FORM = 'DYNSEL_ASPECT(name, "text", 0 or 1, how to query OpenCL)'


@dataclass(frozen=True)
class Aspect:
    """One entry of the list. host, opencl: its third and fourth argument."""

    name: str
    text: str
    line: int
    host: bool
    opencl: str

    @property
    def symbol(self):
        """Its option, without CONFIG_."""
        return f"DYNSEL_ASPECT_{self.name.upper()}"


def read(path, data):
    """All aspects of a list, in its order, or UserMistake.

    It reports one error in each option, and stops at the first misplaced line, because the lines after it
    cannot be judged.
    """
    text, mistake = utf8.decode(path, data)
    if mistake:
        raise UserMistake(mistake)
    reader = _Reader(path)
    for number, line in enumerate(_without_comments(text).split("\n"), 1):
        reader.take(number, line.strip())
    reader.end()
    if reader.mistakes:
        raise UserMistake(reader.mistakes)
    return reader.aspects


def _without_comments(text):
    """Replaces comments with empty lines, so that line numbers do not change."""
    def keep(match):
        found = match.group()
        return found if found.startswith('"') else "\n" * found.count("\n")

    return _STRING_OR_COMMENT.sub(keep, text)


def _is_whole(entry):
    """Whether all parentheses outside of strings are closed."""
    bare = re.sub(_STRING, "", entry)
    return bare.count("(") == bare.count(")")


def _is_one(entry):
    """Whether it is one call of a macro with four arguments, as the preprocessor counts."""
    bare, depth, commas = re.sub(_STRING, "", entry), 0, 0
    for place, letter in enumerate(bare):
        depth += (letter == "(") - (letter == ")")
        commas += letter == "," and depth == 1
        if letter == ")" and depth <= 0:
            return place == len(bare) - 1 and commas == 3 and not _LEFT_OVER.search(bare)
    return False


class _Reader:
    """Parses line by line."""

    def __init__(self, path):
        self.path, self.aspects, self.mistakes = path, [], []
        self._option, self._opened, self._entry, self._begun = None, 0, "", 0
        self._found, self._ended = 0, False
        self._skips = False  # the rest of an option, after an error in it
        self._lost = False  # after a misplaced line

    def take(self, number, line):
        if not line or self._lost:
            return
        if self._ended:
            self._lose(number, f"{line!r} stands after the #undef, which ends the list; move it up")
        elif line.startswith("#"):
            self._directive(number, line)
        elif self._option is None:
            self._lose(number, f"{line!r} stands outside #if CONFIG_DYNSEL_ASPECT_<NAME>; put each aspect"
                               " inside its own option")
        elif not self._skips:
            self._begun = self._begun if self._entry else number
            self._entry += line + "\n"
            if _is_whole(self._entry):
                self._finish_entry()

    def end(self):
        if self._lost:
            return
        if self._option is not None:
            self._wrong(self._opened, "this #if has no #endif; add it")
        elif not self._ended:
            self._wrong(1, "the list does not end in #undef DYNSEL_ASPECT; add it")
        if not self.aspects and not self.mistakes:
            self._wrong(1, f"the list has no aspect; write {_FORM}")

    def _directive(self, number, line):
        begin = _BEGIN.fullmatch(line)
        if begin and self._option is None:
            self._option, self._opened, self._entry, self._found = begin.group(1), number, "", 0
            self._skips = False
        elif line == "#endif" and self._option is not None:
            self._close(number)
        elif line == "#undef DYNSEL_ASPECT" and self._option is None:
            self._ended = True
        else:
            self._lose(number, f"{line!r} is not expected here; an aspect stands between"
                               " #if CONFIG_DYNSEL_ASPECT_<NAME> and #endif")

    def _close(self, number):
        if self._entry:
            self._wrong(self._begun, f"an incomplete entry; write {_FORM}")
        elif self._found == 0:
            self._wrong(number, "this option has no aspect; delete the #if, or add the aspect")
        self._option, self._entry = None, ""

    def _finish_entry(self):
        entry, self._entry = self._entry.strip(), ""
        match = _ENTRY.fullmatch(entry) if _is_one(entry) else None
        self._found += 1
        if not match:
            self._skip(f"{entry.split(chr(10))[0]!r} is not an entry; write {_FORM}")
            return
        name = match.group(1)
        text = "".join(re.sub(r"\\(.)", r"\1", piece) for piece in _PIECE.findall(match.group(2)))
        trouble = self._trouble(name, text)
        if trouble:
            self._skip(trouble)
        else:
            self.aspects.append(Aspect(name, text, self._begun, match.group(3) == "1", match.group(4).strip()))

    def _trouble(self, name, text):
        """The error in an aspect of this name, or None."""
        if not _NAME.fullmatch(name):
            return (f"{name!r} is not a name for an aspect; use lower case letters, digits and _,"
                    " a letter first")
        earlier = [a.line for a in self.aspects if a.name == name]
        if earlier:
            return f"aspect {name} is already listed in line {earlier[0]}; delete one of the two"
        if name.upper() != self._option:
            return (f"aspect {name} stands in CONFIG_DYNSEL_ASPECT_{self._option}; its own option is"
                    f" CONFIG_DYNSEL_ASPECT_{name.upper()}")
        if self._found > 1:
            return f"aspect {name} is the second in this option; give it an #if of its own"
        if not text.strip():
            return f"the text of aspect {name} is empty; write one clause that explains it"
        if not text.isprintable():
            return f"the text of aspect {name} has unprintable characters; delete them"
        return None

    def _skip(self, what):
        self._wrong(self._begun, what)
        self._skips = True

    def _lose(self, number, what):
        self._wrong(number, what)
        self._lost = True

    def _wrong(self, number, what):
        self.mistakes.append(f"{self.path}:{number}: {what}")
