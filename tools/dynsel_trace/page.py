# SPDX-License-Identifier: Apache-2.0
"""The run as one HTML page, with all that it needs: the files of page/, the numbers that the tables
show as JSON, and the pieces as typed arrays, packed."""

import base64
import json
import sys
import zlib
from array import array
from pathlib import Path

from .findings import findings, headline
from .model import BOUND, NOBODY, REASONS, SOURCES, STATES, UNIT_NS, status_name
from .parts import length, parts_of, restricted
from .text import printable

FILES = Path(__file__).resolve().parent / "page"
SCRIPTS = ("data.js", "timeline.js", "input.js", "panels.js")
NO_TIME, NO_PLACE = 0xffffffff, 0xffff
MOST_TIME = 0xfffffffe
MOST_PARTS, WORST, MOST_LEVELS = 64, 12, 6   # levels: of pieces that overlap on one resource
MOVED, REFUSED, BASIS_SHIFT = 16, 32, 6      # bits beside the source of a time; the basis of a loss above
PACKING = 4                                  # of zlib


class Packer:
    """Typed arrays behind each other, each aligned to 8 bytes."""

    def __init__(self):
        self.places, self.parts, self.at = {}, [], 0

    def put(self, name, code, values):
        """code: as in array; I, H, B, d or f."""
        data = array(code, values)
        if sys.byteorder == "big":
            data.byteswap()
        raw = data.tobytes()
        self.places[name] = [code, self.at, len(data)]
        self.parts.append(raw + bytes(-len(raw) % 8))
        self.at += len(self.parts[-1])

    def text(self):
        return base64.b64encode(zlib.compress(b"".join(self.parts), PACKING)).decode()


def levels_of(pieces):
    """Where in its row each piece is drawn, so that those that overlap stand below each other."""
    ends, levels = {}, {}
    for p in sorted((p for p in pieces if p.begin is not None), key=lambda p: p.begin):
        mine = ends.setdefault((p.policy, p.resource), [])
        level = next((i for i, end in enumerate(mine) if end <= p.begin), len(mine))
        if level == len(mine) and level < MOST_LEVELS:
            mine.append(p.end)
        level = min(level, MOST_LEVELS - 1)
        mine[level], levels[p.number] = p.end, level
    return levels


class Page:
    def __init__(self, analysis, trace, stretches, progress):
        self.analysis, self.trace, self.stretches, self.progress = analysis, trace, stretches, progress
        self.run = restricted(analysis.run, stretches)
        self.unit = max(1.0, self.run.span / MOST_TIME)
        self.lanes = {}
        for n, policy in sorted(self.run.policies.items()):
            for i in sorted(policy.resources):
                if i != NOBODY:
                    self.lanes[n, i] = len(self.lanes)
        self.kinds = {kind: i for i, kind in enumerate(analysis.kinds(stretches))}
        self.rows = {p.number: i for i, p in enumerate(self.run.pieces)}

    def lane(self, policy, resource):
        return self.lanes.get((policy, resource), NO_PLACE)

    def time(self, ns):
        return NO_TIME if ns is None else int(ns / self.unit)

    def row(self, p):
        return NO_TIME if p is None else self.rows.get(p.number, NO_TIME)

    def pack(self):
        run, packer = self.run, Packer()
        pieces, time, levels = run.pieces, self.time, levels_of(run.pieces)
        self.progress.at("packing", 1, 10)
        packer.put("number", "I", (p.number for p in pieces))
        packer.put("lane", "H", (self.lane(p.policy, p.resource) for p in pieces))
        packer.put("kind", "H", (min(self.kinds.get(p.kind, NO_PLACE), NO_PLACE) for p in pieces))
        packer.put("reason", "B", (255 if p.reason is None else p.reason for p in pieces))
        packer.put("level", "B", (levels.get(p.number, 0) for p in pieces))
        packer.put("bits", "B", (p.source | p.moved * MOVED | p.refused * REFUSED
                                 | (p.loss.basis if p.loss else 0) << BASIS_SHIFT for p in pieces))
        packer.put("amount", "d", (p.amount for p in pieces))
        for name in ("choice_at", "sight_at", "since", "start_at", "begin", "end", "end_at"):
            packer.put(name, "I", (time(getattr(p, name)) for p in pieces))
        for name in ("chooser", "starter"):
            packer.put(name, "B", (min(getattr(p, name) or 0, 255) for p in pieces))
        packer.put("status", "d", (p.status for p in pieces))
        packer.put("lost", "f", (p.loss.lost if p.loss else 0 for p in pieces))
        packer.put("better", "H", (self.lane(p.policy, p.loss.better) if p.loss else NO_PLACE for p in pieces))
        packer.put("better_out", "f", (p.loss.better_out if p.loss else 0 for p in pieces))
        self.progress.at("packing", 4, 10)
        self.pack_estimates(packer)
        packer.put("wait_begin", "I", (time(w[0]) for w in run.waits))
        packer.put("wait_end", "I", (time(w[1]) for w in run.waits))
        packer.put("wait_row", "I", (self.row(w[2]) for w in run.waits))
        packer.put("wait_thread", "B", (min(w[3], 255) for w in run.waits))
        packer.put("copy_begin", "I", (time(c[0]) for c in run.copies))
        packer.put("copy_end", "I", (time(c[1]) for c in run.copies))
        packer.put("copy_row", "I", (self.row(c[2]) for c in run.copies))
        packer.put("copy_memory", "B", (c[3] | c[4] << 7 for c in run.copies))
        packer.put("copy_source", "B", (c[8] for c in run.copies))
        packer.put("copy_bytes", "d", (c[5] for c in run.copies))
        packer.put("copy_buffer", "H", (c[6] for c in run.copies))
        packer.put("depends_row", "I", (self.row(p) for p, _ in run.depends))
        packer.put("depends_on", "I", (self.row(on) for _, on in run.depends))
        return packer

    def pack_estimates(self, packer):
        """Of all pieces behind each other; first[i] is where those of piece i begin."""
        first, places, numbers = [0], [], ([], [], [], [])
        for p in self.run.pieces:
            for e in p.estimates or ():
                places.append(self.lane(p.policy, e[0]))
                for column, ns in zip(numbers, e[1:]):
                    column.append(ns // UNIT_NS)
            first.append(len(places))
        packer.put("estimate_first", "I", first)
        packer.put("estimate_lane", "H", places)
        for name, column in zip(("start", "copy", "run", "cost"), numbers):
            packer.put(f"estimate_{name}", "I", column)

    def part(self, name, stretches):
        """What the tables show of a part."""
        analysis = self.analysis
        usage = analysis.usage(stretches)
        kinds = [[self.kinds[kind], [[self.lane(*place), cell.pieces, *(cell.best() or (None, None, 0))]
                                     for place, cell in cells.items()]]
                 for kind, cells in analysis.kinds(stretches).items() if kind in self.kinds]
        return {"name": name, "stretches": stretches[:1000], "span": length(stretches),
                "sentences": findings(analysis, stretches),
                "usage": [[self.lane(*place), one.pieces, one.run, one.move, one.wait, one.idle(), one.queued,
                           one.copies_in, one.bytes_in, one.copies_out, one.bytes_out, one.failed, one.unknown,
                           one.bounds, one.span]
                          for place, one in usage.items()],
                "kinds": kinds,
                "host": [[ring, one.choices, one.choice, one.timed, one.submits, one.submit, one.waits, one.wait,
                          one.builds, one.build] for ring, one in analysis.host(stretches).items()],
                "worst": [self.row(p) for p in analysis.worst(stretches, WORST) if p.number in self.rows]}

    def parts(self):
        whole = self.stretches == [(self.run.known_from, self.run.span)]
        yield self.part("the whole trace" if whole else "what was asked for", self.stretches)
        if whole:
            for i, (name, stretches) in enumerate(list(parts_of(self.analysis.run).items())[:MOST_PARTS]):
                self.progress.at("parts", i, MOST_PARTS)
                yield self.part(name, stretches)

    def memories(self):
        """Number of a device's memory -> the resources that were seen to use it."""
        users = {}
        for _, _, p, memory, *_ in self.run.copies:
            mine = users.setdefault(memory, set())
            if p is not None and p.resource != NOBODY:
                mine.add(self.run.label(p.policy, p.resource))
        return [[memory, ", ".join(sorted(names))] for memory, names in sorted(users.items())]

    def meta(self, packer):
        run, trace = self.run, self.trace
        resources = [(n, run.policies[n].resources[i]) for n, i in self.lanes]
        return {
            "title": printable(Path(trace.path).name),
            "about": headline(self.analysis, trace, self.stretches),
            "notes": run.notes + trace.troubles,
            "span": run.span, "unit": self.unit, "estimate_unit": UNIT_NS, "sources": SOURCES, "bound": BOUND,
            "bits": {"moved": MOVED, "refused": REFUSED, "basisShift": BASIS_SHIFT},
            "view": [self.stretches[0][0], self.stretches[-1][1]],
            "lanes": [{"name": r.name, "backend": r.backend, "policy": run.policies[n].name} for n, r in resources],
            "policies": len({n for n, _ in self.lanes}),
            "memories": self.memories(), "kinds": [run.kinds.get(kind, "(choice lost)") for kind in self.kinds],
            "unknown_kind": self.kinds.get(None),
            "reasons": REASONS, "statuses": {p.status: status_name(p.status) for p in run.pieces if p.status},
            "marks": run.marks, "parts": list(self.parts()),
            "builds": [list(build) for build in run.builds],
            "health": [[at, self.lane(policy, index), *(STATES[s] if s < len(STATES) else str(s) for s in (a, b)),
                        status_name(status)] for at, policy, index, a, b, status in run.health],
            "arrays": packer.places,
        }


def page(analysis, trace, stretches, progress):
    """Texts that make the page together."""
    it = Page(analysis, trace, stretches, progress)
    packer = it.pack()
    meta = json.dumps(it.meta(packer), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    progress.at("packing", 9, 10)
    data = packer.text()
    filled = {"@STYLE@": (FILES / "page.css").read_text(encoding="utf-8"), "@META@": meta, "@DATA@": data,
              "@SCRIPT@": "\n".join((FILES / name).read_text(encoding="utf-8") for name in SCRIPTS)}
    rest = (FILES / "page.html").read_text(encoding="utf-8")
    for mark, text in filled.items():
        before, rest = rest.split(mark)
        yield before
        yield text
    yield rest
