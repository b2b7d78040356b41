# SPDX-License-Identifier: Apache-2.0
"""YAML as nodes with line numbers, without conversions.

A scalar stays text: the caller converts numbers and bools. Tags, anchors, aliases and a second document are
errors.
"""

from . import utf8
from .errors import UserMistake, install_hint

DEEPEST = 50  # nested lists and mappings: composing and reading them is recursive


def read(path, data):
    """(the top node or None, errors as lines) of a YAML file's bytes."""
    yaml = _module()
    text, mistake = utf8.decode(path, data)
    if mistake:
        return None, [mistake]
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is ten times as fast
    mistakes, last = [], None
    try:
        for last, wrong in _events(yaml.parse(text, loader)):
            mistakes += [f"{path}:{line(last)}: {what}" for what in wrong]
    except yaml.YAMLError as e:
        mistakes.append(_syntax(path, e))
    except (ValueError, OverflowError):  # from the Python loader, for numbers in %YAML and \U
        number = last.end_mark.line + 1 if last else 1
        mistakes.append(f"{path}:{number}: not YAML: a number is too large; check this line and the next")
    return (None, mistakes) if mistakes else (yaml.compose(text, loader), [])


def line(node):
    """The line of a node or an event."""
    return node.start_mark.line + 1


def is_plain(node):
    """Whether it is a scalar without quotes."""
    return node.id == "scalar" and not node.style


def becomes_text(node):
    """Whether YAML reads it as a text; `no`, `1.5` and the empty word need quotes."""
    return node.tag == "tag:yaml.org,2002:str"


def _module():
    try:
        import yaml
    except ImportError as e:
        raise UserMistake(f"Python's module yaml is missing; {install_hint('python3-yaml')}") from e
    return yaml


def _syntax(path, error):
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = [part for part in (getattr(error, "context", None), getattr(error, "problem", None)) if part]
    number = mark.line + 1 if mark else 1
    return (f"{path}:{number}: not YAML: {', '.join(said) or 'it cannot be read'}; check this line and"
            " the one before")


def _events(events):
    """Each event, with errors that the nodes do not show."""
    documents = depth = 0
    for event in events:
        kind, wrong = type(event).__name__, []
        documents += kind == "DocumentStartEvent"
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        if kind == "DocumentStartEvent" and documents == 2:
            wrong.append("a second document; one file is one table: delete the ---")
        if kind in ("SequenceStartEvent", "MappingStartEvent") and depth == DEEPEST:
            wrong.append(f"lists and mappings are {DEEPEST} deep; a table needs no more than 4")
        if getattr(event, "anchor", None):
            mark = "*" if kind == "AliasEvent" else "&"
            wrong.append(f"{mark}{event.anchor}: anchors and aliases are not allowed; write the value out")
        if getattr(event, "tag", None):
            wrong.append(f"the tag {event.tag!r} is not allowed; delete it")
        yield event, wrong
        if depth == DEEPEST:
            return
