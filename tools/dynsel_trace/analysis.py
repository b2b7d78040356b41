# SPDX-License-Identifier: Apache-2.0
"""What a run shows: how busy its resources were, what kinds took where, which choices cost most."""

import heapq
from dataclasses import dataclass, field
from math import log2
from statistics import median

from .model import BOUND, NOBODY, NONE, RAN
from .parts import Cover, Ordered, length, ordered, turns_of

STEPS = 4         # of amounts that are near each other: in an octave,
NEAR = (0, -1, 1, -2, 2)  # so many of them apart
FLAT = -1         # the step of work without an amount


def step_of(amount):
    return int(log2(amount) * STEPS) if amount > 0 else FLAT


# What of a choice is compared, the least first: the runs; and when it could begin, as it was known then; or,
# where that was of this resource alone, as it came out.
RUNS, KNOWN, WHOLE = range(3)


@dataclass
class Loss:
    """What a choice cost: there was a resource on which the piece would have been over sooner."""
    lost: float        # ns
    out: float         # from the choice to the end, or the run alone
    better: int        # the resource
    better_out: float  # what it would have been there
    run: float         # how long the work runs there
    basis: int


@dataclass
class Usage:
    """Of a resource."""
    pieces: int = 0
    failed: int = 0
    unknown: int = 0      # pieces of which no end is known
    bounds: int = 0       # pieces that are timed from submit to end
    run: float = 0.0      # ns in which work ran, at most where there are bounds
    sure: float = 0.0     # of these without bounds
    move: float = 0.0     # ns in which data moved to or from it, and no work ran
    wait: float = 0.0     # ns in which work was there that neither ran nor moved data
    span: float = 0.0     # ns in which its policy was used
    queued: float = 0.0   # sum of what the pieces waited
    copies_in: int = 0
    copies_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0

    def idle(self):
        return max(self.span - self.run - self.move - self.wait, 0.0)


@dataclass
class Host:
    """What a thread of the program did."""
    choices: int = 0
    choice: float = 0.0
    timed: int = 0        # choices whose length is known
    submits: int = 0
    submit: float = 0.0
    waits: int = 0
    wait: float = 0.0
    builds: int = 0
    build: float = 0.0


@dataclass
class Cell:
    """A kind on a resource."""
    pieces: int = 0
    times: dict = field(default_factory=dict)  # source -> list of ns

    def best(self):
        """(median ns, mean ns, the least trusted source); of bounds only where nothing better is known."""
        known = [source for source in self.times if source != BOUND] or list(self.times)
        if not known:
            return None
        all_of_them = [ns for source in known for ns in self.times[source]]
        return median(all_of_them), sum(all_of_them) / len(all_of_them), min(known)


class Analysis:
    """Of a whole run; its parts are asked for by their stretches."""

    def __init__(self, run, progress):
        self.run, self.progress = run, progress
        self.covers, self.last = {}, (None, [])
        self.pieces = Ordered(run.pieces, [p.at for p in run.pieces], run.span)
        self.copies, self.waits, self.builds = (ordered(e, run.span) for e in (run.copies, run.waits, run.builds))
        self.near = self.times_near()
        self.find_losses()

    # Losses.

    def times_near(self):
        """(kind, policy, resource, step) -> median of the times there, as far as they are known well."""
        times = {}
        for p in self.run.pieces:
            if p.source > BOUND and p.status == 0:
                times.setdefault((p.kind, p.policy, p.resource, step_of(p.amount)), []).append(p.end - p.begin)
        return {key: median(values) for key, values in times.items()}

    def time_elsewhere(self, kind, policy, resource, amount):
        """What the kind takes on a resource at about that amount; None: nobody knows."""
        step = step_of(amount)
        for by in NEAR if step != FLAT else (0,):
            found = self.near.get((kind, policy, resource, step + by))
            if found is not None:
                return found
        return None

    def loss_of(self, p, places):
        if p.kind is None or p.source <= BOUND or p.refused:
            return None
        known, out, basis, best = {e[0]: e for e in p.estimates or ()}, p.end - p.begin, RUNS, None
        if p.resource in known:
            # An end that was seen later, or a begin that others delayed, says nothing of this resource.
            basis = WHOLE if p.source >= RAN and p.at_once and not p.dependent and p.choice_at is not None else KNOWN
            out = p.end - p.choice_at if basis == WHOLE else sum(known[p.resource][1:3]) + out
        for resource in known if basis else places:
            if resource == p.resource:
                continue
            run = self.time_elsewhere(p.kind, p.policy, resource, p.amount)
            if run is None:
                continue
            there = run + (known[resource][1] + known[resource][2] if basis else 0)
            if best is None or there < best[0]:
                best = there, resource, run
        if best is None or best[0] >= out:
            return None
        return Loss(out - best[0], out, best[1], best[0], best[2], basis)

    def find_losses(self):
        places = {}
        for kind, policy, resource, _ in self.near:
            places.setdefault((kind, policy), set()).add(resource)
        for i, p in enumerate(self.run.pieces):
            if not i & 0xffff:
                self.progress.at("comparing", i, len(self.run.pieces))
            p.loss = self.loss_of(p, places.get((p.kind, p.policy), ()))

    # What is asked for a part.

    def pieces_in(self, stretches):
        if self.last[0] != stretches:
            self.last = stretches, self.pieces.within(stretches)
        return self.last[1]

    def find_covers(self):
        self.turns = turns_of(self.run)
        runs, sure, moves, waits = {}, {}, {}, {}
        for p in self.run.pieces:
            place = p.policy, p.resource
            if p.begin is not None:
                runs.setdefault(place, []).append((p.begin, p.end))
                if p.source != BOUND:
                    sure.setdefault(place, []).append((p.begin, p.end))
            begin = p.start_at if p.start_at is not None else p.begin
            if begin is not None:
                end = p.end if p.end is not None else p.end_at if p.end_at is not None else self.run.span
                waits.setdefault(place, []).append((begin, max(end, begin)))
        for begin, end, p, *_ in self.run.copies:
            if p is not None:
                moves.setdefault((p.policy, p.resource), []).append((begin, end))
        for place in runs.keys() | moves.keys() | waits.keys():
            run, move = runs.get(place, []), moves.get(place, [])
            self.covers[place] = (Cover(sure.get(place, [])), Cover(run), Cover(run + move),
                                  Cover(run + move + waits.get(place, [])))
        started = [(p.since, self.run.span if p.end_at is None else max(p.end_at, p.since))
                   for p in self.run.pieces if p.begin is None and p.since is not None]
        self.covers[None] = Cover([one for some in runs.values() for one in some] + started)

    def usage(self, stretches):
        """(policy, resource) -> Usage, of all resources."""
        if not self.covers:
            self.find_covers()
        spans = {n: turn.within(stretches) for n, turn in self.turns.items()}
        found = {(n, i): Usage(span=spans[n]) for n, policy in sorted(self.run.policies.items())
                 for i in sorted(policy.resources) if i != NOBODY}
        for place, covers in self.covers.items():
            if place in found:
                one = found[place]
                one.sure, one.run, moved, there = (cover.within(stretches) for cover in covers)
                one.move, one.wait = moved - one.run, there - moved
        for p in self.pieces_in(stretches):
            one = found.get((p.policy, p.resource))
            if one is not None and not p.refused:
                one.pieces += 1
                one.failed += p.status != 0
                one.unknown += p.begin is None
                one.bounds += p.source == BOUND
                one.queued += p.queue_ns()
        self.add_copies(found, stretches)
        return found

    def add_copies(self, found, stretches):
        for _, _, p, _, is_out, count, *_ in self.copies.within(stretches):
            one = found.get((p.policy, p.resource)) if p is not None else None
            if one is None:
                continue
            if is_out:
                one.copies_out += 1
                one.bytes_out += count
            else:
                one.copies_in += 1
                one.bytes_in += count

    def nothing_ran(self, stretches):
        """ns in which no resource ran anything, nor may have run work whose end is unknown."""
        if not self.covers:
            self.find_covers()
        return max(length(stretches) - self.covers[None].within(stretches), 0.0)

    def kinds(self, stretches):
        """kind -> {(policy, resource): Cell}, the kinds that took longest first."""
        found = {}
        for p in self.pieces_in(stretches):
            if p.refused or p.resource == NOBODY:
                continue
            cells, place = found.setdefault(p.kind, {}), (p.policy, p.resource)
            cell = cells.get(place) or cells.setdefault(place, Cell())
            cell.pieces += 1
            if p.source != NONE:
                cell.times.setdefault(p.source, []).append(p.end - p.begin)
        total = {kind: sum(sum(map(sum, cell.times.values())) for cell in cells.values())
                 for kind, cells in found.items()}
        return {kind: found[kind] for kind in sorted(found, key=lambda kind: -total[kind])}

    def host(self, stretches):
        """ring -> Host."""
        found = {}
        for p in self.pieces_in(stretches):
            if p.choice_at is not None:
                one = found.get(p.chooser) or found.setdefault(p.chooser, Host())
                one.choices += 1
                if p.sight_at is not None:
                    one.timed += 1
                    one.choice += p.choice_at - p.sight_at
            if p.start_at is not None:
                one = found.get(p.starter) or found.setdefault(p.starter, Host())
                one.submits += 1
                one.submit += p.start_at - p.since - p.built
        waits = {}
        for begin, end, _, ring in self.waits.within(stretches):
            waits.setdefault(ring, []).append((begin, end))
        for ring, intervals in waits.items():   # those for single pieces may lie in those for all
            one = found.setdefault(ring, Host())
            one.waits, one.wait = len(intervals), Cover(intervals).sums[-1]
        for begin, end, _, ring in self.builds.within(stretches):
            one = found.setdefault(ring, Host())
            one.builds += 1
            one.build += end - begin
        return dict(sorted(found.items()))

    def worst(self, stretches, count):
        """The pieces whose choice cost most."""
        return heapq.nlargest(count, (p for p in self.pieces_in(stretches) if p.loss is not None),
                              key=lambda p: p.loss.lost)
