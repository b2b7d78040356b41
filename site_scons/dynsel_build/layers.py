# SPDX-License-Identifier: Apache-2.0
"""The layers of src/: a room (a folder of src/) uses only rooms below it, and no files form a circle.

A C file and the header with the same name are one node. A node uses another if it includes its header or
if its code names its functions: the public headers declare functions of all rooms, so includes alone do
not show every use. Tables do not count: a room may read a table that a higher one fills in.
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOMS = ("port", "base", "trace", "aspects", "policy", "submission", "backends policies", "data", "groups", "serving")
RANKS = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms.split()}

# Arrows (from, to) that are allowed against the rules: none.
EXCEPTIONS = ()

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')
NAME = re.compile(r"\bdynsel_\w+")
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
THIS = "site_scons/dynsel_build/layers.py"


class Arrow(NamedTuple):
    """One node uses another: the place, and the name that it uses."""
    source: str
    target: str
    place: str
    what: str

    def __str__(self):
        return f"{self.place} names {self.what}"


def lint(top, exceptions=EXCEPTIONS):
    """All violations, as lines with a place."""
    arrows = _arrows(Path(top))
    kept = [a for a in arrows if (a.source, a.target) not in exceptions]
    left_out = {(a.source, a.target): a for a in arrows if (a.source, a.target) in exceptions}
    return (_unknown_rooms(Path(top)) + [_upward(a) for a in kept if _is_upward(a)] + _circles(kept)
            + [f"{THIS}: the exception {s} -> {t} is no longer needed: remove it"
               for s, t in exceptions if (s, t) not in left_out or not _is_needed(left_out[s, t], kept)])


def files(top):
    """The files to check."""
    return sorted(p for p in (Path(top) / "src").rglob("*") if p.suffix in (".c", ".h") or p.name == "SConscript")


def _room(node):
    return node.split("/")[0]


def _unknown_rooms(top):
    rooms = {p.relative_to(top / "src").parts[0]: p for p in reversed(files(top)) if p.parent != top / "src"}
    return [f"{path.relative_to(top)}: src/{room} is no layer: add it to ROOMS in {THIS}, or move the file"
            for room, path in sorted(rooms.items()) if room not in RANKS]


def _is_upward(arrow):
    source, target = _room(arrow.source), _room(arrow.target)
    ranks = RANKS.get(source), RANKS.get(target)
    return source != target and None not in ranks and ranks[0] <= ranks[1]


def _upward(arrow):
    source, target = _room(arrow.source), _room(arrow.target)
    how = "beside" if RANKS[source] == RANKS[target] else "above"
    return (f"{arrow}, and src/{target} stands {how} src/{source}: move the shared code below both, or"
            f" let {target} fill in a table that {source} declares")


def _is_needed(arrow, others):
    return _is_upward(arrow) or _path(others, arrow.target, arrow.source) is not None


def _path(arrows, start, end):
    """The shortest way along the arrows, or None."""
    ways, seen = [(start, [])], {start}
    after = defaultdict(list)
    for arrow in arrows:
        after[arrow.source].append(arrow)
    for node, way in ways:  # grows during the loop
        if node == end:
            return way
        for arrow in after[node]:
            if arrow.target not in seen:
                seen.add(arrow.target)
                ways.append((arrow.target, [*way, arrow]))
    return None


def _circles(arrows):
    """One line for each circle; none for files of an earlier line."""
    found, named = [], set()
    for arrow in arrows:
        way = None if arrow.source in named else _path(arrows, arrow.target, arrow.source)
        if way is not None:
            circle = [arrow, *way]
            named |= {a.source for a in circle}
            found.append(f"{arrow.place}: a circle: " + " -> ".join([a.source for a in circle] + [arrow.source])
                         + " (" + "; ".join(map(str, circle))
                         + "): move the shared code into a file below them, or join them")
    return found


def _arrows(top):
    """All arrows, each pair once: the include if there is one, else the first name."""
    texts = {str(p.relative_to(top / "src")): _code(p.read_text(encoding="utf-8"))
             for p in files(top) if p.name != "SConscript"}
    conditions = _conditions(top)
    definers = defaultdict(list)
    for path, text in texts.items():
        for name in _defined(text):
            definers[name].append(path)
    found = {}
    for path, text in texts.items():
        for target, number, what in [*_included(text, texts), *_named(text, path, definers, conditions)]:
            source, target = _node(path), _node(target)
            if source != target:
                found.setdefault((source, target), Arrow(source, target, f"src/{path}:{number}", what))
    return list(found.values())


def _node(path):
    return path.rsplit(".", 1)[0]


def _code(text):
    """Removes comments and strings; line numbers do not change."""
    def emptied(match):
        start = text.rfind("\n", 0, match.start()) + 1
        of_include = text[start:match.start()].lstrip().startswith("#")
        return match[0] if of_include and match[0][0] == '"' else " " + match[0].count("\n") * "\n"

    return NOT_CODE.sub(emptied, text)


def _included(text, texts):
    return [(m[1], number, m[1]) for number, line in enumerate(text.splitlines(), 1)
            for m in [INCLUDE.match(line)] if m and m[1] in texts]


def _statements(text):
    """(text before a body, the body, its first line) at file level, without directives."""
    depth, head, body, start, directive = 0, "", "", 1, False
    for number, line in enumerate(text.splitlines(), 1):
        directive = directive or line.lstrip().startswith("#")
        if directive:
            directive = line.endswith("\\")
            continue
        for c in line + "\n":
            depth -= c == "}"
            if depth > 0:
                body += c
            elif c == "{":
                start = number
            elif c in ";}":
                yield head, body, start
                head, body = "", ""
            else:
                head += c
            depth += c == "{"


def _defined(text):
    """The external functions."""
    heads = (head for head, body, _ in _statements(text) if body and "=" not in head and "(" in head)
    return {m[0] for head in heads if not re.search(r"\bstatic\b", head)
            for m in [re.search(r"\bdynsel_\w+(?=\s*\()", head)] if m}


def _named(text, path, definers, conditions):
    """(file, line, name) for functions of other files that this code names."""
    for _, body, start in _statements(text):
        for match in NAME.finditer(body):
            targets = definers.get(match[0], ())
            if path not in targets:
                number = start + body.count("\n", 0, match.start())
                yield from ((t, number, f"{match[0]}(), of src/{t}") for t in targets
                            if not _exclude(conditions.get(path, ()), conditions.get(t, ())))


def _exclude(some, others):
    """No configuration compiles both."""
    return any(f"!{c}" in others or (c[0] == "!" and c[1:] in others) for c in some)


def _conditions(top):
    """{file: the options that it is compiled with}, as the SConscripts say."""
    found = {}
    for script in (p for p in files(top) if p.name == "SConscript"):
        folder = script.parent.relative_to(top / "src")

        def component(_, sources, when=(), libs=(), folder=folder):
            del libs
            found.update({str(folder / source): tuple(when) for source in sources})

        names = {"Import": lambda *_: None, "SConscript": lambda *_, **__: None, "component": component}
        exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), names)  # pylint: disable=exec-used
    return found
