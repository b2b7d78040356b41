# SPDX-License-Identifier: Apache-2.0
"""YAML as a tree in which each piece knows its line, and in which nothing is guessed.

A scalar is text here, whatever YAML would make of it: whoever asks for a number or a bool says which
words are one. Tags, anchors, aliases and a second document are mistakes.
"""

from dataclasses import dataclass, field

from . import utf8
from .errors import UserMistake, install_hint


@dataclass
class Piece:
    """kind: 'text', 'list' or 'mapping'; `items` are the Pieces of a list, or the (key, value) pairs.

    plain: a text without quotes.
    """

    kind: str
    line: int
    text: str = ""
    plain: bool = False
    items: list = field(default_factory=list)


def read(path, data):
    """(the Piece at the top or None, mistakes as lines) of a YAML file's bytes."""
    yaml = _module()
    text, mistake = utf8.decode(path, data)
    if mistake:
        return None, [mistake]
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is ten times as fast
    tree = _Tree(path)
    line = 1
    try:
        for event in yaml.parse(text, loader):
            line = event.end_mark.line + 1
            tree.take(event)
    except yaml.YAMLError as e:
        tree.mistakes.append(_syntax(path, e))
    except (ValueError, OverflowError):  # of the loader that is written in Python, about numbers in %YAML and \U
        tree.mistakes.append(f"{path}:{line}: not YAML: a number that is too large; look at this line and the next")
    return tree.top, tree.mistakes


def becomes_text(piece):
    """Whether YAML, too, takes it for a text; `no`, `1.5` and the empty word are none without quotes."""
    if not piece.plain:
        return True
    yaml = _module()
    tag = yaml.SafeLoader("").resolve(yaml.ScalarNode, piece.text, (True, False))
    return tag == "tag:yaml.org,2002:str"


def _module():
    try:
        import yaml
    except ImportError as e:
        raise UserMistake(f"Python's module yaml is missing; {install_hint('python3-yaml')}") from e
    return yaml


def _syntax(path, error):
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = [part for part in (getattr(error, "context", None), getattr(error, "problem", None)) if part]
    line = mark.line + 1 if mark else 1
    return (f"{path}:{line}: not YAML: {', '.join(said) or 'it cannot be read'}; look at this line and"
            " the one before")


class _Tree:
    """Puts the parser's events together."""

    def __init__(self, path):
        self.path, self.top, self.mistakes = path, None, []
        self._open, self._documents = [], 0

    def take(self, event):
        kind = type(event).__name__
        line = event.start_mark.line + 1
        if kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents == 2:
                self._wrong(line, "a second document; one file is one table: delete the ---")
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            self._add(self._open.pop())
        elif kind in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent", "AliasEvent"):
            self._begin(kind, event, line)

    def _begin(self, kind, event, line):
        if event.anchor:
            mark = "*" if kind == "AliasEvent" else "&"
            self._wrong(line, f"{mark}{event.anchor}: anchors and aliases are not allowed; write the"
                              " value out")
        if getattr(event, "tag", None):
            self._wrong(line, f"the tag {event.tag!r} is not allowed; delete it")
        if kind == "SequenceStartEvent":
            self._open.append(Piece("list", line))
        elif kind == "MappingStartEvent":
            self._open.append(Piece("mapping", line))
        elif kind == "ScalarEvent":
            self._add(Piece("text", line, event.value, not event.style))
        else:
            self._add(Piece("text", line, event.anchor))

    def _add(self, piece):
        if not self._open:
            self.top = self.top or piece
            return
        items = self._open[-1].items
        if self._open[-1].kind == "mapping" and not (items and len(items[-1]) == 1):
            items.append((piece,))
        elif self._open[-1].kind == "mapping":
            items[-1] = (*items[-1], piece)
        else:
            items.append(piece)

    def _wrong(self, line, what):
        self.mistakes.append(f"{self.path}:{line}: {what}")
