# SPDX-License-Identifier: Apache-2.0
"""The lines of a defconfig or fragment.

Kconfiglib's reader is lenient: blanks around '=' name another symbol, `=nope` is n, and an unknown line
is a comment. Here a line is exactly one of

    CONFIG_NAME=y      CONFIG_NAME=n      CONFIG_NAME=12      CONFIG_NAME=0x1f
    CONFIG_NAME="text"                    # CONFIG_NAME is not set      (the same as =n)
    # comment                             and the empty line
"""

import re
from dataclasses import dataclass

PREFIX = "CONFIG_"

_ASSIGNMENT = re.compile(r"CONFIG_([A-Za-z0-9_]+)=(.*)")
_NOT_SET = re.compile(r"# CONFIG_([A-Za-z0-9_]+) is not set")
_TEXT = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
_INT = re.compile(r"-?(?:0|[1-9][0-9]*)")
_HEX = re.compile(r"0[xX][0-9a-fA-F]+")


@dataclass(frozen=True)
class Assignment:
    """One line that sets a symbol. `value` is as written, a text with its quotes."""

    name: str
    value: str
    path: str
    line: int

    @property
    def where(self):
        return f"{self.path}:{self.line}"

    def __str__(self):
        return f"{PREFIX}{self.name}={self.value}"

    @property
    def short(self):
        """The same with a shortened value."""
        return f"{PREFIX}{self.name}={shorten(self.value)}"


def parse(path, text):
    """All assignments of a file in order, and a list of messages about invalid lines."""
    assignments, mistakes = [], []
    for number, line in enumerate(text.split("\n"), 1):
        result = _parse_line(line)
        if isinstance(result, tuple):
            assignments.append(Assignment(*result, path, number))
        elif result:
            mistakes.append(f"{path}:{number}: {result}")
    return assignments, mistakes + _duplicates(assignments)


def _parse_line(line):
    """(name, value), a message about a wrong line, or None for a comment or an empty line."""
    if line.endswith("\r"):
        return "the line ends in CR LF; convert the file to Unix line ends"
    if not line.strip():
        return None
    if line.startswith("#"):
        return _parse_comment(line)
    match = _ASSIGNMENT.fullmatch(line)
    if not match:
        return _what_is_wrong(line)
    name, value = match.groups()
    return _bad_value(line, value) or (name, value)


def _parse_comment(line):
    """A comment, unless it looks like a switched-off option."""
    match = _NOT_SET.fullmatch(line)
    if match:
        return match.group(1), "n"
    if re.match(r"#\s*CONFIG_\w+\s+is\s+not\s+set", line) or re.match(r"#\s*CONFIG_\w+\s*=", line):
        return (
            f"{line!r} is neither a comment nor an assignment; write CONFIG_NAME=n,"
            " or begin the comment with another word"
        )
    return None


def _bad_value(line, value):
    """Why this cannot be the value of any symbol, or None."""
    if value == "":
        return f"no value after '=' in {line!r}; write CONFIG_NAME=value"
    if value != value.strip():
        return f"blank around the value in {line!r}; write NAME=value without blanks"
    if value.startswith('"'):
        return None if _TEXT.fullmatch(value) else (
            f"unfinished or badly quoted text {value}; inside, write \\\" and \\\\"
        )
    if re.search(r"\s", value):
        return f"one value is expected, not {value!r}; a comment needs a line of its own"
    return None


def _what_is_wrong(line):
    """The most probable error in a line that is not an assignment."""
    if line != line.lstrip():
        return f"blank before {line.strip()!r}; an assignment begins the line"
    if re.match(r"\w+\s+=|\w+=\s", line):
        return f"blank around '=' in {line!r}; write NAME=value without blanks"
    if "=" not in line:
        return f"{line!r} is not an assignment; write CONFIG_NAME=value"
    name = line.split("=", 1)[0]
    if not name.startswith(PREFIX):
        return f"{name!r} has no {PREFIX} in front; write {PREFIX}{line}"
    return f"{name!r} is not a name; letters, digits and _ follow {PREFIX}"


def _duplicates(assignments):
    """Refuses two lines of one file about one symbol."""
    first, mistakes = {}, []
    for a in assignments:
        if a.name in first:
            mistakes.append(
                f"{a.where}: {PREFIX}{a.name} is set a second time in this file"
                f" (first in line {first[a.name].line}); delete one of the two"
            )
        first.setdefault(a.name, a)
    return mistakes


LONGEST_NUMBER = 18  # digits: no option has more, and Python refuses thousands


def is_too_long(number):
    """Whether a number has more digits than any option."""
    return len(number.lstrip("-").removeprefix("0x").removeprefix("0X")) > LONGEST_NUMBER


def shorten(value):
    """A value in a message, shortened."""
    return value if len(value) <= 40 else f"{value[:40]}..."


def is_int(value):
    """Decimal, without a leading zero (C would read it as octal) or a plus sign."""
    return bool(_INT.fullmatch(value))


def is_hex(value):
    return bool(_HEX.fullmatch(value))


def unquote(value):
    """The text inside quotes, or None when there are no quotes."""
    match = _TEXT.fullmatch(value)
    return re.sub(r"\\(.)", r"\1", match.group(1)) if match else None


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
