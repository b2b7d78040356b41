# SPDX-License-Identifier: Apache-2.0
"""The run that a trace tells of: policies, kinds, and each piece of work. All times are in ns since
the begin of the trace."""

from bisect import bisect_right
from dataclasses import dataclass, field

from .read import RECORD_BYTES
from .text import count_of, printable, short_time

EVENTS = {
    "POLICY_NAME": 1, "RESOURCE_NAME": 2, "BACKEND_NAME": 3, "KIND_NAME": 4, "RESOURCE": 5, "KIND": 6,
    "CHOICE": 16, "SIGHT": 17, "READY": 18, "BYTES_IN": 19, "ESTIMATE": 20, "START": 21, "RAN": 22,
    "DEVICE": 23, "END": 24, "REFUSED": 25, "DEPENDS": 26, "COPY": 27, "READBACK": 28, "WAIT": 29,
    "HEALTH": 30, "BUILD": 31, "MARK": 32, "WAIT_ALL": 39, "WAIT_SLOT": 40, "END_BUFFER": 41}
# What dynsel-replay needs beside these: POLICY, KEY, NEEDS, COSTS, from NO_CHOICE on to USE, EXPECTED, IMPAIRED.
FOR_REPLAY = {7, 8, 9, 10, *range(33, 39), 42, 43}
REASONS = (
    "the policy gave no reason", "the policy always chooses this resource",
    "no other resource may be used for this task",
    "no other resource has the aspects that the task needs", "the other resources are out of service",
    "it was this resource's turn", "it had the least unfinished work",
    "its time for this task was not known", "it got a trial run", "it is the fastest known for this task",
    "the table of tuned tasks is full: the least loaded", "it is predicted to finish first",
    "it does all work sooner than several resources together")
PROFILING, EXPLORING = 7, 8
STATUSES = ("DYNSEL_OK", *(f"DYNSEL_E_{name}" for name in (
    "INVALID", "UNINITIALIZED", "AGAIN", "FULL", "BUSY", "STALE", "NO_RESOURCE", "UNSUPPORTED",
    "OUT_OF_SERVICE", "DEVICE", "TASK", "IN_TASK", "TIMEOUT", "ASPECT", "DEPENDENCY", "CONTEXT", "CANCELLED",
    "GIVEN_UP")))
STATES = ("in service", "on probation", "draining", "suspect", "out of service", "lost", "removed")
IN_CALLER, IN_ORDER, IS_GPU, IS_CPU = 1, 2, 4, 8
NOBODY = 255      # a resource's index
ACCESSORS = "host accessors"   # the policy of the program's own accesses to data
UNIT_NS = 16
# Where a piece's time is from, the least trusted first.
NONE, BOUND, TOOK, RAN, DEVICE = range(5)
SOURCES = ("no time", "from submit to end, at most", "as the policy learned it", "as the thread ran it",
           "as the device timed it")


def status_name(status):
    return STATUSES[-status] if 0 <= -status < len(STATUSES) else f"status {status}"


class Piece:
    """One piece of work. None: the trace does not tell."""

    __slots__ = ("number", "policy", "resource", "kind", "reason", "amount", "at", "sight_at", "choice_at",
                 "chooser", "since", "start_at", "starter", "ran_since", "ran_at", "device", "end_at", "took",
                 "status", "refused", "estimates", "ready", "bytes_in", "begin", "end", "source", "moved",
                 "readback", "loss", "at_once", "dependent", "built")

    def __init__(self, number, policy, resource, at):
        self.number, self.policy, self.resource, self.at = number, policy, resource, at
        self.kind = self.reason = self.sight_at = self.choice_at = self.chooser = self.since = None
        self.start_at = self.starter = self.ran_since = self.ran_at = self.device = self.end_at = None
        self.estimates = self.ready = self.bytes_in = self.begin = self.end = self.loss = None
        self.amount = self.took = self.status = self.readback = self.built = 0
        self.refused = self.moved = self.at_once = self.dependent = False
        self.source = NONE

    def run_ns(self):
        return self.end - self.begin

    def queue_ns(self):
        """How long it waited on its resource."""
        return max(self.begin - self.start_at, 0) if self.source > BOUND and self.start_at is not None else 0


@dataclass
class Resource:
    index: int
    name: str = ""
    backend: str = ""
    bits: int = 0

    def is_gpu(self):
        return bool(self.bits & IS_GPU)


@dataclass
class Policy:
    number: int
    name: str = ""
    resources: dict = field(default_factory=dict)

    def resource(self, index):
        return self.resources.setdefault(index, Resource(index))


@dataclass
class Run:
    span: float                                   # ns
    policies: dict = field(default_factory=dict)  # number -> Policy
    kinds: dict = field(default_factory=dict)     # kind -> name
    pieces: list = field(default_factory=list)    # in the order of `at`
    copies: list = field(default_factory=list)    # (begin, end, piece or None, domain, is out, bytes, buffer, ring,
                                                  # domain that it is from, 0: the host)
    waits: list = field(default_factory=list)     # (begin, end, piece; None: all of some, ring)
    depends: list = field(default_factory=list)   # (piece, piece that it depends on)
    marks: list = field(default_factory=list)     # (at, name)
    health: list = field(default_factory=list)    # (at, policy, resource, before, after, status)
    builds: list = field(default_factory=list)    # (begin, end, name, ring)
    threads: dict = field(default_factory=dict)   # ring -> how many of its records are lost
    known_from: float = 0.0                       # before it records of some thread are lost
    records: int = 0
    lost_names: int = 0
    moved: int = 0                                # device times moved by their error
    doubtful: int = 0                             # that lie outside of the work even then
    notes: list = field(default_factory=list)     # what the reader should know, a line each

    def lost(self):
        return sum(self.threads.values()) + self.lost_names

    def label(self, policy, index):
        return self.policies[policy].resource(index).name


def pair(low, high):
    return low | high << 32


def text_of(words, order):
    raw = b"".join(word.to_bytes(4, "little" if order == "<" else "big") for word in words)
    return raw.split(b"\0")[0]


class Maker:
    """Takes the records one by one; each event has a method."""

    def __init__(self, trace, progress):
        ticks, ns = trace.last_ticks - trace.first_ticks, trace.last_ns - trace.first_ns
        self.trace, self.progress = trace, progress
        self.first, self.scale = trace.first_ticks, ns / ticks if ticks > 0 and ns > 0 else 1.0
        self.run = Run(span=float(max(ns, 0)), records=trace.count())
        self.pieces, self.names, self.seen_kinds = {}, {}, {}
        self.ring, self.impossible, self.unknown, self.backward = 0, 0, {}, ticks < 0 or ns < 0
        self.takers = {number: getattr(self, name.lower()) for name, number in EVENTS.items() if number >= 16}

    def ns(self, ticks):
        return min(max((ticks - self.first) * self.scale, 0.0), self.run.span)

    def outlook(self, record):
        """The piece of a record that is about several resources."""
        found = self.pieces.get(record[1])
        if found is None:
            found = self.pieces[record[1]] = Piece(record[1], record[4], NOBODY, self.ns(record[0]))
        return found

    def piece(self, record):
        found = self.outlook(record)
        found.policy, found.resource = record[4], record[3]
        return found

    # Names.

    def name(self, record):
        _, piece, event, part, policy = record[:5]
        key = (event, policy, piece)
        self.names.setdefault(key, {}).setdefault(part, text_of(record[5:], self.trace.order))

    def resource(self, record):
        self.policy(record[4]).resource(record[3]).bits = record[5]

    def kind(self, record):
        self.seen_kinds[record[1]] = (pair(record[5], record[6]), record[7], record[8])

    def policy(self, number):
        return self.run.policies.setdefault(number, Policy(number))

    # What happened.

    def choice(self, r):
        p = self.piece(r)
        p.choice_at, p.chooser = self.ns(r[0]), self.ring
        p.kind, p.reason, p.amount = r[5], r[6] & 255, pair(r[7], r[8])
        p.at_once = bool(r[6] >> 16 & 1)

    def sight(self, r):
        p = self.outlook(r)
        p.sight_at, p.chooser = self.ns(r[0]), self.ring

    def ready(self, r):
        self.outlook(r).ready = (pair(r[5], r[6]), r[7], r[8])

    def bytes_in(self, r):
        p = self.outlook(r)
        p.bytes_in = p.bytes_in or {}
        p.bytes_in[r[3]], p.bytes_in[r[3] + 1] = pair(r[5], r[6]), pair(r[7], r[8])

    def estimate(self, r):
        p = self.outlook(r)
        one = (r[3], r[5] * UNIT_NS, r[6] * UNIT_NS, r[7] * UNIT_NS, r[8] * UNIT_NS)
        if p.estimates is None:
            p.estimates = [one]
        else:
            p.estimates.append(one)

    def start(self, r):
        p = self.piece(r)
        p.since, p.start_at, p.starter = self.ns(pair(r[5], r[6])), self.ns(r[0]), self.ring

    def ran(self, r):
        p = self.piece(r)
        p.ran_since, p.ran_at = self.ns(pair(r[5], r[6])), self.ns(r[0])

    def device(self, r):
        self.piece(r).device = (pair(r[5], r[6]) - self.trace.first_ns, r[7] * UNIT_NS, r[8])

    def end(self, r):
        p = self.piece(r)
        p.end_at, p.took = self.ns(r[0]), pair(r[5], r[6])
        p.status = r[7] - (1 << 32) if r[7] >> 31 else r[7]

    def refused(self, r):
        self.piece(r).refused = True

    def depends(self, r):
        p = self.piece(r)
        p.dependent = True
        self.run.depends.append((p, r[5]))

    def copy(self, r):
        what = pair(r[7], r[8])
        self.run.copies.append((self.ns(pair(r[5], r[6])), self.ns(r[0]), self.piece(r) if r[1] else None,
                                what >> 56 & 63, what >> 63, what & (1 << 40) - 1, what >> 40 & 0x7ff,
                                self.ring, (what >> 51 & 31) + 1 if what >> 62 & 1 else 0))

    def readback(self, r):
        self.piece(r).readback = pair(r[5], r[6])

    def wait(self, r):
        waited = self.piece(r) if r[4] else self.outlook(r)   # of work that was complete at once: without a policy
        self.run.waits.append((self.ns(pair(r[5], r[6])), self.ns(r[0]), waited, self.ring))

    def wait_all(self, r):
        self.run.waits.append((self.ns(pair(r[5], r[6])), self.ns(r[0]), None, self.ring))

    def wait_slot(self, r):
        self.wait_all(r)

    def end_buffer(self, r):
        self.wait_all(r)

    def health(self, r):
        status = r[7] - (1 << 32) if r[7] >> 31 else r[7]
        self.run.health.append((self.ns(r[0]), r[4], r[3], r[5], r[6], status))

    def build(self, r):
        name = text_of(r[7:9], self.trace.order).decode("utf-8", "replace")
        self.run.builds.append((self.ns(pair(r[5], r[6])), self.ns(r[0]), printable(name), self.ring))

    def mark(self, r):
        name = text_of(r[5:], self.trace.order).decode("utf-8", "replace")
        self.run.marks.append((self.ns(r[0]), printable(name)))

    # All of them.

    def take_names(self, ring):
        for record in self.trace.unpack(ring):
            if record[2] == EVENTS["RESOURCE"]:
                self.resource(record)
            elif record[2] == EVENTS["KIND"]:
                self.kind(record)
            elif record[2] in (1, 2, 3, 4):
                self.name(record)
            else:
                self.count_unknown(record[2])

    def count_unknown(self, event):
        if event not in FOR_REPLAY:
            self.unknown[event] = self.unknown.get(event, 0) + 1

    def take_ring(self, ring, done):
        self.ring, takers = ring.number, self.takers
        if ring.lost() and ring.count():
            first = next(self.trace.unpack(ring))
            self.run.known_from = max(self.run.known_from, self.ns(first[0]))
        first, last = self.trace.first_ticks, max(self.trace.last_ticks, self.trace.first_ticks)
        for i, record in enumerate(self.trace.unpack(ring)):
            if not i & 0xffff:
                self.progress.at("reading", done + i, self.run.records)
            taker = takers.get(record[2])
            if taker is None:
                self.count_unknown(record[2])
            elif not first <= record[0] <= last:
                self.impossible += 1
            else:
                taker(record)

    def whole_names(self):
        def joined(event, policy, piece):
            parts = self.names.get((event, policy, piece), {})
            return printable(b"".join(parts[i] for i in sorted(parts)).decode("utf-8", "replace"))
        for event, policy, piece in self.names:
            if event == EVENTS["POLICY_NAME"]:
                self.policy(policy).name = joined(event, policy, piece)
            elif event == EVENTS["RESOURCE_NAME"]:
                self.policy(policy).resource(piece).name = joined(event, policy, piece)
            elif event == EVENTS["BACKEND_NAME"]:
                self.policy(policy).resource(piece).backend = joined(event, policy, piece)
        for kind, (identity, bits, key_words) in self.seen_kinds.items():
            name = joined(EVENTS["KIND_NAME"], 0, kind)
            named = name or (f"id {identity}" if bits & 1 and not bits & 2 else f"function {identity:#x}")
            self.run.kinds[kind] = named if name or not key_words else f"{named}, {count_of(key_words, 'key word')}"
        for event, _, piece in self.names:
            if event == EVENTS["KIND_NAME"]:
                self.run.kinds.setdefault(piece, joined(event, 0, piece))

    def settle_device(self, p):
        """Begin and end by the device's clock, which may be wrong by the error given."""
        begin, length, error = p.device
        low = p.since if p.since is not None else p.ran_since
        wrong = low - begin if low is not None and begin < low else 0
        if not wrong and p.end_at is not None and begin + length > p.end_at:
            wrong = p.end_at - (begin + length)
        if wrong:
            p.moved = True
            self.run.moved += 1
            self.run.doubtful += abs(wrong) > error
            begin += max(-error, min(error, wrong))
        p.begin = min(max(begin, 0.0), self.run.span)
        p.end = min(p.begin + length, self.run.span)

    def settle_builds(self):
        """What was built within submits: work began after it."""
        starts = {}
        for p in self.pieces.values() if self.run.builds else ():
            if p.since is not None:
                starts.setdefault(p.starter, []).append(p)
        for mine in starts.values():
            mine.sort(key=lambda p: p.since)
        keys = {ring: [p.since for p in mine] for ring, mine in starts.items()}
        for begin, end, _, ring in self.run.builds:
            i = bisect_right(keys.get(ring, ()), begin) - 1
            if i >= 0 and end <= starts[ring][i].start_at:
                p = starts[ring][i]
                p.built += end - begin
                if p.source in (TOOK, BOUND):
                    p.begin = min(max(p.begin, end), p.end)

    def settle_in_order(self):
        """An end that was seen late is moved before the begin of the work behind it on the same resource."""
        queues = {}
        for p in self.pieces.values():
            if (p.begin is not None and p.since is not None
                    and self.policy(p.policy).resource(p.resource).bits & IN_ORDER):
                queues.setdefault((p.policy, p.resource), []).append(p)
        for queue in queues.values():
            behind = self.run.span
            for p in sorted(queue, key=lambda p: p.since, reverse=True):
                if p.source == TOOK and p.end > behind:
                    by = max(min(p.end - behind, p.begin - p.since), 0)
                    p.begin, p.end = p.begin - by, p.end - by
                behind = p.begin

    def settle(self, p):
        """When it ran, by the best source."""
        if p.device is not None:
            p.source = DEVICE
            self.settle_device(p)
        elif p.ran_at is not None:
            p.source, p.begin, p.end = RAN, min(p.ran_since, p.ran_at), p.ran_at
        elif p.end_at is not None and p.took:
            low = p.since if p.since is not None else p.choice_at if p.choice_at is not None else 0.0
            p.source, p.end, p.begin = TOOK, p.end_at, min(max(p.end_at - p.took, low), p.end_at)
        elif p.end_at is not None and p.since is not None and not p.refused:
            p.source, p.begin, p.end = BOUND, min(p.since, p.end_at), p.end_at
        if p.estimates is not None:   # of one that was compared twice the last
            p.estimates = list({e[0]: e for e in p.estimates}.values())
        for at in (p.choice_at, p.since, p.ran_since, p.begin):
            if at is not None:
                p.at = at
                break

    def leave_out_accessors(self):
        """The program's accesses to its data are in the order of the work, but no policy's choice."""
        own = {number for number, policy in self.run.policies.items() if policy.name == ACCESSORS}
        theirs = {p.kind for p in self.pieces.values() if p.policy in own}
        self.pieces = {number: p for number, p in self.pieces.items() if p.policy not in own}
        for events in (self.run.copies, self.run.waits) if own else ():
            events[:] = [(begin, end, None if p and p.policy in own else p, *rest) for begin, end, p, *rest in events]
        for number in own:
            del self.run.policies[number]
        for kind in theirs - {p.kind for p in self.pieces.values()}:
            self.run.kinds.pop(kind, None)

    def finish(self):
        run = self.run
        self.whole_names()
        for i, p in enumerate(self.pieces.values()):
            if not i & 0xffff:
                self.progress.at("ordering", i, len(self.pieces))
            self.settle(p)
            self.policy(p.policy).resource(p.resource)
            if p.kind is not None and p.kind not in run.kinds:
                run.kinds[p.kind] = f"kind {p.kind:#x}"
        self.settle_builds()
        self.settle_in_order()
        for _, policy, index, *_ in run.health:
            self.policy(policy).resource(index)
        self.leave_out_accessors()
        run.pieces = sorted(self.pieces.values(), key=lambda p: p.at)
        run.depends = [(p, self.pieces[on]) for p, on in run.depends if on in self.pieces]
        for events in (run.copies, run.waits, run.marks, run.health, run.builds):
            events.sort(key=lambda event: event[0])
        for policy in run.policies.values():
            policy.name = policy.name or f"policy {policy.number}"
            for one in policy.resources.values():
                one.name = one.name or ("unknown" if one.index == NOBODY else f"resource {one.index}")
            make_unlike({i: r.name for i, r in policy.resources.items()},
                        lambda i, name, policy=policy: setattr(policy.resources[i], "name", name))
        make_unlike({n: p.name for n, p in run.policies.items()},
                    lambda n, name: setattr(run.policies[n], "name", name))
        make_unlike(run.kinds, run.kinds.__setitem__)
        self.tell()
        return run

    def tell(self):
        run = self.run
        if self.backward:
            run.notes.append("the clock ran backward between begin and end: no time is right")
        if run.lost_names:
            run.notes.append(f"{count_of(run.lost_names, 'record')} of names lost: some have numbers instead")
        for ring, lost in run.threads.items():
            if lost:
                run.notes.append(f"thread {ring}: its ring overflowed, the oldest {count_of(lost, 'record')} are lost")
        if run.known_from > 0:
            run.notes.append(f"so the first {short_time(run.known_from)} are left out: what is shown begins then")
        if self.impossible:
            run.notes.append(f"{count_of(self.impossible, 'record')} with a time outside of the trace left out")
        for event, number in sorted(self.unknown.items()):
            run.notes.append(f"{count_of(number, 'record')} of an event unknown to this tool ({event}) left out")
        if run.moved:
            run.notes.append(f"{count_of(run.moved, 'device time')} began before the submit or ended after the end:"
                             " moved by the error of the clocks"
                             + (f"; {run.doubtful} of them lie outside by more than that" if run.doubtful else ""))


def make_unlike(names, rename):
    """Names that are the same get numbers."""
    seen = {}
    for key, name in list(names.items()):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            rename(key, f"{name} #{seen[name]}")


def make(trace, progress):
    maker, done = Maker(trace, progress), 0
    for ring in trace.rings:
        if ring.number == 0:
            maker.run.lost_names = ring.lost()
            maker.take_names(ring)
        else:
            if ring.written:
                maker.run.threads[ring.number] = ring.lost()
            maker.take_ring(ring, done)
        done += len(ring.records) // RECORD_BYTES
    return maker.finish()
