# SPDX-License-Identifier: Apache-2.0
"""Doxygen's view of a public header: python3 header_filter.py HEADER.

The headers are written to be read as they are. This turns what they have in common into Doxygen's commands, so that
they need none: the comment at the top describes the file, `name: text` a parameter, `Errors: text` a paragraph with
a heading, `<dynsel/x.h>` is a link, and a comment behind a member belongs to it.
"""

import re
import sys
from pathlib import Path

PARTS = ("Errors", "Returns", "May block", "Context", "Cost", "Bounds", "Order", "Source",
         "Ownership, context and blocking")
PART = re.compile(rf"({'|'.join(PARTS)}): +(.*)")
PARAMETER = re.compile(r"([a-z]\w*(?:, [a-z]\w*)*): +(.*)")
COMMENT = re.compile(r"/\*\*(?!<)(.*?)\*/", re.DOTALL)
BEHIND = re.compile(r"(?<=[;,]) *\n? */\*(?![*]) ?")
HEADER = re.compile(r"<dynsel/(\w+\.h)>")
FOLDER = Path(__file__).resolve().parents[2] / "include/dynsel"


def filtered(name, text):
    """The text of the header of this name for Doxygen; it has as many lines as before."""
    text = BEHIND.sub(lambda match: match.group(0).rstrip(" ") + "*< ", text)
    pieces, end = [], 0
    for match in COMMENT.finditer(text):
        pieces.append(text[end:match.start()])
        names = _parameters(text[match.end():])
        head = f" @file {name}" if end == 0 else ""
        pieces.append("/**" + head + _comment(match.group(1), names) + "*/")
        end = match.end()
    return "".join(pieces) + text[end:]


def _parameters(declaration):
    """The names in the parentheses of the declaration that follows a comment."""
    head = re.match(r"[^;{#]*?\w+\(([^;{]*?)\)\s*(?:DYNSEL_TAGGED\([^)]*\)\s*)?[;{]", declaration)
    macro = re.match(r"\s*#define \w+\(([^)]*)\)", declaration)
    found = macro or head
    return set(re.findall(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:,|$)", found.group(1))) if found else set()


def _comment(text, names):
    lines, is_code = [], False
    for line in text.split("\n"):
        prefix, body = re.match(r"(\s*\*? ?)(.*)", line, re.DOTALL).groups()
        is_code = body.startswith("    ") and (is_code or not lines or not lines[-1].strip(" *"))
        lines.append(line if is_code else prefix + _line(body, names))
    return "\n".join(lines)


def _line(body, names):
    part, parameter = PART.match(body), PARAMETER.match(body)
    if part:
        return f"@heading{{{part.group(1).replace(',', chr(92) + ',')}}} {_plain(part.group(2))}"
    if parameter and set(parameter.group(1).split(", ")) <= names:
        return f"@param {parameter.group(1).replace(', ', ',')} {_plain(parameter.group(2))}"
    return _plain(body)


def _plain(text):
    """Without what Doxygen takes for tags, commands and emphasis."""
    text = HEADER.sub(_reference, text)
    return re.sub(r"(?<![\w`])_(?=[A-Z])", r"\\_", re.sub(r"(?<!\\)<(?=[a-zA-Z/])", r"\\<", text))


def _reference(match):
    """A link to the page of a header; a generated one has none."""
    name = match.group(1)
    return f'@ref {name} "dynsel/{name}"' if (FOLDER / name).exists() else rf"\<dynsel/{name}\>"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    sys.stdout.write(filtered(path.name, path.read_text(encoding="utf-8")))
