# SPDX-License-Identifier: Apache-2.0
"""Bytes per object and per variant, and limits that fail the build.

Counted is what reaches the target: no debug information, no unwind tables. `stack` is the largest
single frame of an object, from the compiler's -fstack-usage; a call chain needs the sum of its own.
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field

WITHIN_LIMITS = "size.within-limits.json"  # the last sizes that were, to say later what grew
COLUMNS = ("text", "rodata", "data", "bss", "stack")


@dataclass
class Row:
    """The sizes of one object, and the function with its largest frame."""

    name: str
    bytes: dict = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0))
    frame: str = ""


def measure(program, objects, prefix):
    """A Row for each object file, by binutils' size and the .su files beside the objects."""
    if not objects:
        return []
    listing = subprocess.run([program, "-A", "-d", *objects], capture_output=True, text=True,
                             check=True).stdout
    rows, row = [], None
    for line in listing.splitlines():
        heading = re.fullmatch(r"(\S+)\s+:", line)
        section = re.match(r"(\.?\S+)\s+(\d+)\s+\d+$", line)
        if heading:
            row = Row(heading.group(1)[len(prefix):])
            row.frame, row.bytes["stack"] = _largest_frame(heading.group(1))
            rows.append(row)
        elif section and row and _column(section.group(1)):
            row.bytes[_column(section.group(1))] += int(section.group(2))
    return rows


def _column(section):
    """Which column a section counts in; None when it never reaches the target."""
    match = re.match(r"\.(text|rodata|data|tdata|bss|tbss)\b", section)
    return {"tdata": "data", "tbss": "bss"}.get(match.group(1), match.group(1)) if match else None


def _largest_frame(path):
    """(function, bytes) from the .su file of an object."""
    su = os.path.splitext(path)[0] + ".su"
    best = ("", 0)
    if os.path.exists(su):
        with open(su, encoding="utf-8") as f:
            for line in f:
                place, size, _ = line.rsplit("\t", 2)
                if int(size) > best[1]:
                    best = (place.rsplit(":", 1)[-1], int(size))
    return best


def totals(rows):
    """Sums, except for the stack, where the largest counts."""
    sums = {c: sum(r.bytes[c] for r in rows) for c in COLUMNS}
    sums["stack"] = max((r.bytes["stack"] for r in rows), default=0)
    return sums


def table(variant_name, rows, limits):
    """The text of size.txt."""
    width = max([len(r.name) for r in rows] + [6])
    lines = [f"{variant_name}: libdynsel.a in bytes; stack is the largest single frame",
             f"{'object':{width}}" + "".join(f"{c:>9}" for c in COLUMNS) + "  in"]
    lines += [_line(r.name, width, r.bytes) + f"  {r.frame}" for r in rows]
    lines.append(_line("total", width, totals(rows)))
    if limits:
        lines.append(_line("limit", width, limits))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _line(name, width, values):
    return f"{name:{width}}" + "".join(f"{values.get(c, '-'):>9}" for c in COLUMNS)


def past_limits(rows, limits, before):
    """What is too large and by how much, and what grew since the last size that was within limits."""
    sums, found = totals(rows), []
    for column, limit in limits.items():
        if sums[column] <= limit:
            continue
        found.append(f"{column} is {sums[column]} bytes, {sums[column] - limit} past the limit of"
                     f" {limit}: {_culprits(rows, column, before)}")
    return found


def _culprits(rows, column, before):
    """The objects that grew since `before`, or the largest ones when nothing is known."""
    grown = [(r.bytes[column] - before.get(r.name, {}).get(column, 0), r.name) for r in rows]
    grown = sorted((g for g in grown if g[0] > 0), reverse=True)[:5]
    if before and grown:
        return "grew " + ", ".join(f"{name} by {n}" for n, name in grown)
    largest = sorted(((r.bytes[column], r.name) for r in rows), reverse=True)[:5]
    return "largest are " + ", ".join(f"{name} with {n}" for n, name in largest if n)


def update(folder, program, objects, variant, limits):
    """Writes <folder>/size.txt; returns what is past a limit, as lines."""
    known = f"{folder}/{WITHIN_LIMITS}"
    rows = measure(program, objects, f"{folder}/obj/")
    with open(f"{folder}/size.txt", "w", encoding="utf-8") as f:
        f.write(table(variant.name, rows, limits))
    found = past_limits(rows, limits, _read(known))
    if not found:
        _remember(known, rows)
    return [f"{variant.name}: {line} (limits are in boards/{variant.board}/board.py)" for line in found]


def _read(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def _remember(path, rows):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({r.name: r.bytes for r in rows}, f, indent=1)
