# SPDX-License-Identifier: Apache-2.0
"""The summary for the terminal."""

import sys

from .analysis import KNOWN, RUNS, WHOLE
from .findings import findings, headline
from .model import BOUND, REASONS, SOURCES
from .text import count_of, percent, short_bytes, short_time, table, wrapped

BAR, WORST = 10, 5
MARKS = {BOUND: "<"}
MUCH = 1.5   # the factor from which on a mean differs much from its median


def bar(share):
    full, empty = "█", "░"
    try:
        (full + empty).encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        full, empty = "#", "."
    filled = round(min(max(share, 0), 1) * BAR)
    return full * filled + empty * (BAR - filled)


def resources(analysis, stretches, policies):
    run, lines = analysis.run, []
    usage = analysis.usage(stretches)
    for number in policies:
        mine = {index: one for (policy, index), one in usage.items() if policy == number}
        total = sum(one.pieces for one in mine.values())
        if not total and any(one.pieces for one in usage.values()):
            continue
        used = next(iter(mine.values())).span if mine else 0
        lines += ["", f"policy {run.policies[number].name}: {count_of(total, 'piece')} in {short_time(used)}"]
        rows = [["resource", "pieces", "share", "runs", "moves", "waits", "idle", "busy", "", "queue", "in", "out"]]
        for index, one in mine.items():
            rows.append([run.label(number, index), str(one.pieces), percent(one.pieces, total),
                         MARKS[BOUND] * bool(one.bounds) + short_time(one.run),
                         short_time(one.move), short_time(one.wait), short_time(one.idle()),
                         percent(one.run, one.span), bar(one.run / one.span if one.span else 0),
                         short_time(one.queued / one.pieces) if one.pieces else "-",
                         f"{one.copies_in}: {short_bytes(one.bytes_in)}" if one.copies_in else "-",
                         f"{one.copies_out}: {short_bytes(one.bytes_out)}" if one.copies_out else "-"])
        lines += table(shortened(rows)) if mine else []
        for index, one in mine.items():
            if one.failed or one.unknown:
                lines.append(f"  {run.label(number, index)}: {one.failed} failed, {one.unknown} whose end is unknown")
    return lines


def shortened(rows, most=30):
    """First cells that are not too long."""
    return [[row[0] if len(row[0]) <= most else row[0][:most - 1] + "~", *row[1:]] for row in rows]


def cell_text(cell):
    """Of a kind on a resource."""
    best = cell.best() if cell else None
    if best is None:
        return f"{cell.pieces} x ?" if cell else "-"
    middle, mean, source = best
    text = f"{cell.pieces} x {MARKS.get(source, '')}{short_time(middle)}"
    return text + (f" ({short_time(mean)})" if not 1 / MUCH <= mean / max(middle, 1) <= MUCH else "")


def kinds(analysis, stretches, policies):
    run, lines, bounds = analysis.run, [], False
    found = analysis.kinds(stretches)
    for number in policies:
        places = [(number, i) for i in sorted(run.policies[number].resources)
                  if any((number, i) in cells for cells in found.values())]
        rows = [["kind", *(run.label(*place)[:22] for place in places)]]
        for kind, cells in found.items():
            if any(place in cells for place in places):
                rows.append([run.kinds.get(kind, "(choice lost)"), *(cell_text(cells.get(place)) for place in places)])
                bounds = bounds or any(place in cells and BOUND in cells[place].times for place in places)
        if len(rows) > 1:
            lines += ["", f"kinds of {run.policies[number].name}, pieces x median time (mean, where it differs much)"]
            lines += table(shortened(rows))
    if bounds:
        lines.append("  < also or only from submit to end: the time itself is not known, and is less")
    return lines


def host(analysis, stretches):
    rows = [["the program's threads", "choices", "each", "submits", "each", "waits", "in all", "builds", "in all"]]
    for ring, one in analysis.host(stretches).items():
        rows.append([f"thread {ring}", str(one.choices), short_time(one.choice / one.timed) if one.timed else "-",
                     str(one.submits), short_time(one.submit / one.submits) if one.submits else "-",
                     str(one.waits), short_time(one.wait), str(one.builds), short_time(one.build)])
    return ["", *table(rows, indent="")] if len(rows) > 1 else []


def reason_text(piece):
    if piece.reason is None:
        return "unknown"
    return REASONS[piece.reason] if piece.reason < len(REASONS) else f"reason {piece.reason}"


def one_choice(run, p):
    """Lines about a choice."""
    loss, name = p.loss, run.label(p.policy, p.resource)
    amount = f", amount {p.amount}" if p.amount else ""
    lines = [f"  piece {p.number}: {run.kinds[p.kind]}{amount}, at {short_time(p.at)}: {short_time(loss.lost)} lost",
             f"    to {name}: {reason_text(p)}"]
    if p.estimates:
        rows = [["    it knew", "start", "copy", "run", "cost"]]
        rows += [[f"    {run.label(p.policy, e[0])}", *map(short_time, e[1:])]
                 for e in sorted(p.estimates)]
        lines += table(shortened(rows), indent="")
    said = {RUNS: "it runs", KNOWN: "over after {} by what was known of its start; it runs",
            WHOLE: "over after {}; it runs"}[loss.basis]
    for line in (f"came out: {said.format(short_time(loss.out))} {short_time(p.run_ns())} ({SOURCES[p.source]})",
                 f"better: {run.label(p.policy, loss.better)}: {said.format(short_time(loss.better_out))}"
                 f" {short_time(loss.run)} there, as others of its kind do"):
        lines += wrapped(line, "    ", "      ")
    return lines


def choices(analysis, stretches, policies):
    worst = [p for p in analysis.worst(stretches, 20 * WORST) if p.policy in policies][:WORST]
    if not worst:
        return ["", "choices that cost most: none that can be shown"]
    return ["", "choices that cost most", *(line for p in worst for line in one_choice(analysis.run, p))]


def summary(analysis, trace, stretches, policies):
    lines = [headline(analysis, trace, stretches)]
    for note in analysis.run.notes:
        lines += wrapped(note, "  note: ", "    ")
    for sentence in findings(analysis, stretches):
        lines += wrapped(sentence, "* ", "  ")
    lines += resources(analysis, stretches, policies) + kinds(analysis, stretches, policies)
    lines += host(analysis, stretches) + choices(analysis, stretches, policies)
    if analysis.run.marks:
        names = dict.fromkeys(name for _, name in analysis.run.marks)
        lines += ["", *wrapped("marks: " + ", ".join(names), "", "  ")]
    return "\n".join(lines) + "\n"
