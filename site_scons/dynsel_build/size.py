# SPDX-License-Identifier: Apache-2.0
"""Flash, RAM and stack of a variant: build/<variant>/size.txt, and limits that fail the build.

The few figures that documents have are in size.json beside it.

Debug information and unwind tables do not count. Constants that a position independent program relocates
when it starts (.data.rel.ro) count as rodata.
"""

import json
import os
import re
import subprocess
import textwrap
from dataclasses import dataclass, field

from . import boards, linked, ram, stack
from .errors import UserMistake, did_you_mean
from .interface import Interface

WITHIN_LIMITS = "size.within-limits.json"  # the last sizes within the limits, to report growth later
FIGURES = "size.json"
COLUMNS = ("text", "rodata", "data", "bss", "frame")
FLASH = ("text", "rodata", "data")
WIDTH, NO_BREAK = 100, "\N{NO-BREAK SPACE}"
SMALL = 64  # bytes of variables that the table of RAM sums up
UNMEASURED = "stack of the public functions: unknown, "


@dataclass
class Row:
    """The sizes of one object, and the function with its largest frame."""

    name: str
    bytes: dict = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0))
    function: str = ""

    def get(self, column):
        return sum(self.bytes[c] for c in FLASH) if column == "flash" else self.bytes[column]


@dataclass
class Before:
    """The last sizes within the limits: bytes by object and column, frames by function."""

    objects: dict = field(default_factory=dict)
    frames: dict = field(default_factory=dict)

    def of(self, name, column):
        row = self.objects.get(name, {})
        return sum(row.get(c, 0) for c in (FLASH if column == "flash" else (column,)))


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
            row.function, row.bytes["frame"] = _largest_frame(heading.group(1))
            rows.append(row)
        elif section and row and _column(section.group(1)):
            row.bytes[_column(section.group(1))] += int(section.group(2))
    return rows


def _column(section):
    """The column of a section; None if it does not reach the target."""
    if section.startswith(".data.rel.ro"):
        return "rodata"
    match = re.match(r"\.s?(text|rodata|data|tdata|bss|tbss)\b", section)
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
    """Sums, except for the frame, where the largest counts."""
    sums = {c: sum(r.get(c) for r in rows) for c in (*COLUMNS, "flash")}
    sums["frame"] = max((r.bytes["frame"] for r in rows), default=0)
    return sums


# Tables of size.txt

def table(variant_name, rows, limits, archive="libdynsel.a"):
    """The objects of an archive."""
    width, sums = max([len(r.name) for r in rows] + [6]), totals(rows)
    lines = [f"{variant_name}: {archive} in bytes; frame is the largest that one function has on the stack",
             f"{'object':{width}}" + "".join(f"{c:>7}" for c in COLUMNS) + "  in"]
    lines += [_line(r.name, width, r.bytes) + f"  {r.function}" for r in rows]
    lines.append(_line("total", width, sums))
    if limits:
        lines.append(_line("limit", width, limits))
    flash = f"flash: {sums['flash']} (text, rodata and the data that start with a value)"
    lines.append(flash + (f"; limit {limits['flash']}" if "flash" in limits else ""))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _line(name, width, values):
    return f"{name:{width}}" + "".join(f"{values.get(c, '-'):>7}" for c in COLUMNS)


def stack_table(variant_name, graph, limits):
    """The public functions, deepest first."""
    public = sorted(graph.public().items(), key=lambda item: (-item[1].bytes, item[0]))
    lines = [f"{variant_name}: stack of each public function in bytes, and the frames of its deepest chain",
             "(+: add the program's own functions; 0: frame released by a tail call; ...: continues as above)"]
    seen = set()
    for name, deepest in public:
        head = f"{name}{' +' if deepest.users else '':3}".ljust(38) + f"{deepest.bytes:6}  "
        lines += _wrapped(head, _chain(graph, deepest, seen))
    outside = sorted({name for _, deepest in public for name in deepest.outside})
    if outside:
        lines += _wrapped("functions outside the library, not counted: ", ", ".join(outside), 4)
    if public:
        lines.append(f"worst: {public[0][1].bytes} in {public[0][0]}()"
                     + (f"; limit {limits['stack']}" if "stack" in limits else ""))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _chain(graph, deepest, seen):
    """The frames, up to where the chain continues like an earlier one."""
    parts = []
    for i, (key, frame) in enumerate(deepest.chain):
        parts.append(f"{graph.functions[key].name if i else 'own'}{NO_BREAK}{frame}")
        rest = deepest.chain[i + 1:]
        if len(rest) > 1 and rest in seen:
            name, frame = graph.functions[rest[0][0]].name, rest[0][1]
            return f" >{NO_BREAK}".join([*parts, f"{name}{NO_BREAK}{frame}{NO_BREAK}..."])
        seen.add(rest)
    return f" >{NO_BREAK}".join(parts) if len(parts) > 1 else ""


def _wrapped(head, text, indent=None):
    """Lines of at most WIDTH columns, with a hanging indent."""
    blanks = " " * (len(head) if indent is None else indent)
    lines = textwrap.wrap(head + text, WIDTH, subsequent_indent=blanks, break_long_words=False,
                          break_on_hyphens=False) if text else [head]
    return [line.replace(NO_BREAK, " ") for line in lines]


def ram_table(variant_name, variables, structures):
    """The variables of the archive, and what a program holds."""
    sums = {section: sum(v.bytes for v in variables if v.section == section) for section in ("data", "bss")}
    few = [v for v in variables if v.bytes < SMALL and not v.cost]
    lines = [f"{variant_name}: RAM in bytes, by numbers of the menu; + is the cost of one more", "in the archive"]
    for v in variables:
        if v not in few:
            lines += _wrapped(f"  {f'{v.name}  ':36}{v.bytes:7}  ", f"{f'{v.cost}; ' if v.cost else ''}{v.object}")
    if few:
        lines.append(f"  {f'{len(few)} more of less than {SMALL} each':36}{sum(v.bytes for v in few):7}")
    lines.append(f"  {'together':36}{sum(sums.values()):7}  {sums['data']} data and {sums['bss']} bss")
    lines.append("in the program, each")
    for s in structures:
        lines += _wrapped(f"  {s.name:36}{s.bytes:7}  ", s.cost)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def linked_table(variant_name, kept, limits):
    """The sizes of programs that use one policy."""
    lines = [f"{variant_name}: the library in a program that uses one policy, to submit and wait, in bytes",
             f"{'policy':20}{'flash':>7}{'ram':>7}{'limit':>7}"]
    lines += [f"{name:20}{sizes['flash']:7}{sizes['ram']:7}{limits.get(name, '-'):>7}"
              for name, sizes in kept.items()]
    if linked.OWN_BACKEND in kept:
        lines += [f"{linked.OWN_BACKEND}: with {' and '.join(linked.LEARNING)}, and a backend of the program's own"]
    return "\n".join(lines) + "\n"


# Limits

def past_limits(rows, limits, before, graph=None, kept=None):
    """Lines for exceeded limits, with the excess and the objects that grew."""
    sums, found = totals(rows), []
    for column, limit in limits.items():
        if column == "stack":
            found += _past_stack_limit(graph, limit, before) if graph else []
        elif column not in sums:
            found += _past_linked_limit(column, limit, (kept or {}).get(column), rows, before)
        elif sums[column] > limit:
            found.append(f"{column} is {sums[column]} bytes, {sums[column] - limit} past the limit of"
                         f" {limit}: {_culprits(rows, column, before)}")
    return found


def _culprits(rows, column, before):
    """The objects that grew since `before`, or the largest ones if it is empty."""
    grown = [(r.get(column) - before.of(r.name, column), r.name) for r in rows]
    return _grown_or_largest(grown if before.objects else [], [(r.get(column), r.name) for r in rows])


def _past_linked_limit(policy, limit, sizes, rows, before):
    """A line for a policy whose program exceeds its limit."""
    if sizes is None or sizes["flash"] <= limit:
        return []
    return [f"a program that uses {policy} has {sizes['flash']} bytes of the library, {sizes['flash'] - limit} past"
            f" the limit of {limit}: in the archive {_culprits(rows, 'flash', before)}"]


def _past_stack_limit(graph, limit, before):
    """A line for the worst function past the limit, with the number of others."""
    past = sorted(((d.bytes, name, d) for name, d in graph.public().items() if d.bytes > limit), reverse=True)
    if not past:
        return []
    size, name, deepest = past[0]
    chain = [(frame, graph.functions[key].name) for key, frame in deepest.chain]
    grown = [(frame - before.frames.get(name, 0), name) for frame, name in chain] if before.frames else []
    more = f" ({len(past) - 1} more functions are past it)" if len(past) > 1 else ""
    return [f"stack of {name}() is {size} bytes, {size - limit} past the limit of {limit}:"
            f" {_grown_or_largest(grown, chain)}{more}"]


def _grown_or_largest(grown, largest):
    grown = sorted((g for g in grown if g[0] > 0), reverse=True)[:5]
    if grown:
        return "grew " + ", ".join(f"{name} by {n}" for n, name in grown)
    return "largest are " + ", ".join(f"{name} with {n}" for n, name in sorted(largest, reverse=True)[:5] if n)


# The node

def update(folder, objects, variant, board, config, command, archive, beside):
    """Writes <folder>/size.txt and size.json; returns errors and exceeded limits, as lines.

    command: the compiler with all flags of the library; beside: archive of a product -> its objects, for which no
    limit counts.
    """
    try:
        return _update(folder, objects, variant, board, config, command, archive, beside)
    except UserMistake as e:
        return [f"{variant.name}: {line}" for line in e.lines]
    except subprocess.CalledProcessError as e:
        said = [line for line in e.stderr.splitlines() if "error: " in line] or e.stderr.splitlines()[-1:]
        return [f"{variant.name}: {line}" for line in said or [f"{e.cmd[0]} failed"]]


def _update(folder, objects, variant, board, config, command, archive, beside):
    rows = measure(board.size, objects, f"{folder}/obj/")
    known = f"{folder}/{WITHIN_LIMITS}"
    why_not = _incomparable(objects, config)
    interface = Interface(command, f"{folder}/size")
    graph, found = (None, []) if why_not else _graph(objects, interface)
    parts = [table(variant.name, rows, board.limits),
             stack_table(variant.name, graph, board.limits) if graph
             else f"{variant.name}: {UNMEASURED}{why_not or found[0]}\n"]
    kept, structures = {}, []
    if not _is_instrumented(config):
        structures = ram.structures(config, linked.policies(config), interface)
        parts.append(ram_table(variant.name, ram.variables(objects, f"{folder}/obj/", config, interface),
                               structures))
        kept = linked.measure(config, command, archive, f"{folder}/size")
    if kept:
        parts.append(linked_table(variant.name, kept, board.limits))
    parts += [table(variant.name, measure(board.size, of_product, f"{folder}/obj/products/"), {}, name)
              for name, of_product in beside.items() if of_product]
    with open(f"{folder}/size.txt", "w", encoding="utf-8") as f:
        f.write("\n".join(parts))
    _write_figures(folder, rows, graph, kept, structures)
    found += _unknown_limits(board.limits, config)
    past = past_limits(rows, board.limits, _read(known), graph, kept)
    if not past and not found:
        _remember(known, rows, graph)
    found += [f"{line} (limits are in {boards.folder(config.trees, variant.board)}/board.py)" for line in past]
    return [f"{variant.name}: {line}" for line in found]


def _write_figures(folder, rows, graph, kept, structures):
    sums = totals(rows)
    found = {"archive": sums["flash"], "RAM": sums["data"] + sums["bss"],
             **{policy: sizes["flash"] for policy, sizes in kept.items()}, **{s.name: s.bytes for s in structures}}
    if graph:
        found["stack"] = max((deepest.bytes for deepest in graph.public().values()), default=0)
    with open(f"{folder}/{FIGURES}", "w", encoding="utf-8") as f:
        json.dump(found, f, indent=1)


def figures(folder):
    """name -> bytes of a measured variant: archive, RAM, stack, programs by their policy, structures."""
    with open(f"{folder}/{FIGURES}", encoding="utf-8") as f:
        return json.load(f)


def _unknown_limits(limits, config):
    policies = (name.removeprefix("DYNSEL_POLICY_").lower() for name in config.symbols()
                if name.startswith("DYNSEL_POLICY_"))
    known = [*COLUMNS, "flash", "stack", linked.OWN_BACKEND, *policies]
    return [f"no limit is named {name!r}{did_you_mean(name, known)} (there are: {', '.join(known)})"
            for name in limits if name not in known]


def _is_instrumented(config):
    return config.is_set("DYNSEL_SANITIZE") or config.is_set("DYNSEL_SANITIZE_THREAD") \
        or config.is_set("DYNSEL_COVERAGE")


def _incomparable(objects, config):
    """The reason why stack is unknown; empty if it is known."""
    if _is_instrumented(config):
        return "instrumented code has other frames and calls"
    if config.is_set("DYNSEL_ONE_FILE"):
        return "one object does not tell which calls through pointers stay in a file; the variant of many objects does"
    if objects and not any(os.path.exists(_graph_of(o)) for o in objects):
        return "only GCC writes a call graph"
    return ""


def _graph_of(path):
    return os.path.splitext(path)[0] + ".ci"


def _graph(objects, interface):
    """(the call graph or None, errors)"""
    missing = [o for o in objects if not os.path.exists(_graph_of(o))]
    if missing:
        return None, [f"{o}: its call graph is missing; remove the object, to compile it again (ccache keeps no call"
                      " graphs: set CCACHE_DISABLE=1)"
                      for o in missing]
    graph = stack.Graph(objects, interface)
    graph.public()
    return graph, graph.mistakes


def _read(path):
    if not os.path.exists(path):
        return Before()
    with open(path, encoding="utf-8") as f:
        found = json.load(f)
    return Before(found.get("objects", {}), found.get("frames", {}))


def _remember(path, rows, graph):
    frames = {f.name: f.frame for f in graph.functions.values()} if graph else {}
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"objects": {r.name: r.bytes for r in rows}, "frames": frames}, f, indent=1)
