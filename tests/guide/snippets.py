# SPDX-License-Identifier: Apache-2.0
"""The code blocks of the guide's pages.

The comment in front of a block says what it is:
    <!-- from: FILE -->       a part of a file of the tree
    <!-- program: NAME -->    a file that the page's commands compile
    <!-- run -->              commands; `, needs THING` after a comma: where the command or pkg-config module is there;
                              `, in a copy of the tree`: they run there
    <!-- prints -->           what the commands in front of it print; ... stands for anything
    <!-- not run: WHY -->
"""

import re
import textwrap
from dataclasses import dataclass

BLOCK = re.compile(r"(?:^<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
MARKS = ("from: ", "program: ", "run", "prints", "not run: ")


@dataclass
class Snippet:
    """One block of a page."""

    page: str
    line: int
    mark: str
    language: str
    text: str

    def where(self):
        return f"{self.page}:{self.line}"

    def value(self):
        """What stands behind the colon of the mark."""
        return self.mark.partition(": ")[2]

    def is_a(self, kind):
        return self.mark.startswith(kind)

    def options(self):
        """What stands behind the first word of a `run`, by commas."""
        return [part.strip() for part in self.mark.split(",")[1:]]

    def needs(self):
        """The commands or modules of pkg-config without which a `run` is left out."""
        return [option[len("needs "):] for option in self.options() if option.startswith("needs ")]


def snippets(page, text):
    """The blocks of a page in order."""
    return [Snippet(page, text.count("\n", 0, match.start("text")) + 1, match.group("mark") or "", match.group("language"),
                    match.group("text")) for match in BLOCK.finditer(text)]


def is_part(text, file):
    """Whether whole lines of a file are this text; the text may stand further to the left."""
    return any("\n" + textwrap.indent(text, " " * columns) in file for columns in range(0, 24, 4))


def matches(wanted, said):
    """Whether an output is as a `prints` block says."""
    pattern = ".*".join(re.escape(part) for part in wanted.strip().split("..."))
    return re.fullmatch(pattern, said.strip(), re.DOTALL) is not None
