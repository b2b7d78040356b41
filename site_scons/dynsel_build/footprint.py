# SPDX-License-Identifier: Apache-2.0
"""`scons footprint`: writes the figures of `scons size` into the tables of doc/footprint.md; `scons check` compares.

A line <!-- measured: VARIANT --> stands above such a table. The first word between backticks in a row names
the measured variant: `CONFIG_DYNSEL_X=y` is VARIANT with this option, and its figures are differences;
another word is a fragment on top; without such a word it is VARIANT itself. The last word of a column's
heading names its figure. All other text stays, except for a compiler's version: `gcc 12.2.0`.
"""

import difflib
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import size, variants
from .errors import UserMistake
from .nodes import action, finish
from .trees import at

DOC = "doc/footprint.md"
MARKER = re.compile(r"<!-- measured: (\S+) -->")
OPTION = "CONFIG_DYNSEL_"


@dataclass
class Table:
    """One table: its variant, the names of its figures, and (line, variant's name) of each row."""

    base: str
    columns: list = field(default_factory=list)
    rows: list = field(default_factory=list)


def tables(lines):
    """The measured tables."""
    found, table = [], None
    for number, line in enumerate(lines):
        marker = MARKER.fullmatch(line)
        if marker:
            table = Table(marker[1])
            found.append(table)
        elif table and line.startswith("|") and not set(line) <= set("|-: "):
            if table.columns:
                table.rows.append((number, _measured(table.base, line)))
            else:
                table.columns = [cell.split()[-1] for cell in _cells(line)[1:]]
        elif table and table.columns and not line.startswith("|"):
            table = None
    return found


def _cells(line):
    return [cell.strip() for cell in line.split("|")[1:-1]]


def _measured(base, line):
    word = re.search(r"`([^`]+)`", _cells(line)[0])
    if not word:
        return base
    return f"{base}~{word[1].removeprefix(OPTION)}" if word[1].startswith(OPTION) else f"{base}+{word[1]}"


def variants_of(trees):
    """The variants in the document."""
    names = _names(trees.real(DOC).read_text(encoding="utf-8"))
    if not names:
        raise UserMistake(f"{DOC}: no table is measured; put <!-- measured: VARIANT --> above one")
    return [variants.parse(trees, name, f"{DOC}: ") for name in names]


def _names(text):
    names = [name for table in tables(text.splitlines()) for name in (table.base, *(name for _, name in table.rows))]
    return list(dict.fromkeys(names))


def renewed(text, figures, compilers):
    """The text with these figures; rows of other variants stay.

    figures: a variant's name -> {column: bytes}; compilers: a command -> its version.
    """
    for command, version in compilers.items():
        text = re.sub(rf"`{re.escape(command)} [\d.]+`", f"`{command} {version}`", text)
    lines = text.splitlines()
    for table in tables(lines):
        for number, name in table.rows:
            if {name, table.base} <= figures.keys():
                lines[number] = _row(lines[number], number, table, name, figures)
        options = [number for number, name in table.rows if "~" in name.removeprefix(table.base)]
        for number, line in zip(options, sorted((lines[n] for n in options), key=_first_figure, reverse=True)):
            lines[number] = line
    return "".join(line + "\n" for line in lines)


def _row(line, number, table, name, figures):
    unknown = [column for column in table.columns if column not in figures[name]]
    if unknown:
        raise UserMistake(f"{DOC}:{number + 1}: {name} has no figure {unknown[0]!r} (there are:"
                          f" {', '.join(figures[name])})")
    if "~" in name.removeprefix(table.base):
        more = [figures[name][column] - figures[table.base][column] for column in table.columns]
        shown = [f"{n:+,}" if n else "" for n in more]
    else:
        shown = [f"{figures[name][column]:,}" for column in table.columns]
    return "".join(f"| {cell} " if cell else "| " for cell in (_cells(line)[0], *shown)) + "|"


def _first_figure(line):
    return int(_cells(line)[1].replace(",", "") or 0)


def difference(before, after):
    """The differences, as diff shows them."""
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), DOC, "measured", "", "", 0, ""))


def _compilers(builds):
    """Command -> version, of GCC: other compilers report no stack."""
    return {cc: subprocess.run([cc, "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
            for cc in {build.board.cc for build in builds}}


def _texts(builds):
    """The document as it is, and with the figures of these variants."""
    before = Path(DOC).read_text(encoding="utf-8")
    figures = {build.variant.name: size.figures(build.variant.folder) for build in builds}
    return before, renewed(before, figures, _compilers(builds))


def declare(base, session, builds):
    """The target `footprint`, which measures and updates the document."""
    builds = _documented(session.top, builds)

    def write(target, source, env):
        before, after = _texts(builds)
        if after != before:
            Path(DOC).write_text(after, encoding="utf-8")
        print("\n".join(difference(before, after)) or f"{DOC} has these figures already")

    def says(target, source, env):
        from SCons.Node import up_to_date

        if not session.pretends:
            return f"  DOC   {DOC}"
        if any(build.size[0].get_state() != up_to_date for build in builds):
            return f"{DOC}: the changes are known after the sizes above are measured"
        return "\n".join(difference(*_texts(builds))) or f"{DOC} has these figures already"

    base.AlwaysBuild(base.Alias("footprint", [build.size for build in builds], action(write, says)))


def gate(base, trees, builds):
    """The document has the figures of those variants that are built anyway."""
    builds = _documented(trees.top, builds)

    def check(target, source, env):
        before, after = _texts(builds)
        others = [f"{cc} {number}" for cc, number in _compilers(builds).items() if f"`{cc} {number}`" not in before]
        if others:
            print(f"note: {DOC} has no figures for {' and '.join(others)}, so it is not compared")
            return finish(target[0].path, [])
        said = difference(before, after)
        return finish(target[0].path, [*said, f"{DOC} differs from the measured figures; `scons footprint` updates it"]
                      if said else [])

    sizes = [build.size for build in builds]
    return base.Command(at(f"{trees.build}/gates/footprint.ok"), [*sizes, base.File(f"#{DOC}")],
                        action(check, f"  DOC   {DOC}")) if builds else []


def _documented(top, builds):
    doc = Path(top) / DOC
    names = _names(doc.read_text(encoding="utf-8")) if doc.exists() else []
    return [build for build in builds if build.variant.name in names]
