# SPDX-License-Identifier: Apache-2.0
"""The run as Chrome trace event JSON: a process for each policy with a thread for each resource, and
one for the program with its threads and the transfers. Times are in us."""

import heapq
import json

from .model import NOBODY, REASONS, SOURCES, STATES, status_name

PROGRAM, TRANSFERS = 1, 1000      # a process; the thread of the first memory
SIBLINGS = 1000                   # threads apart, for slices that overlap on one row
ROWS = 4096                       # of resources begin here, so that they differ from all others
FLUSH = 4096                      # events that are handed on together


def us(ns):
    return f"{round(ns) / 1000:.3f}"


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


class Rows:
    """Spreads slices that overlap, but do not lie within each other, over several threads."""

    def __init__(self, base):
        self.base, self.open = base, [[]]

    def place(self, begin, end):
        """The thread's number; slices come in the order of their begins."""
        for i, ends in enumerate(self.open):
            while ends and ends[-1] <= begin:
                ends.pop()
            if not ends or end <= ends[-1]:
                ends.append(end)
                return self.base + i * SIBLINGS
        self.open.append([end])
        return self.base + (len(self.open) - 1) * SIBLINGS


def slice_of(pid, tid, name, begin, end, args):
    """Readers add begin and length as floats: the sum must not reach into the slice behind."""
    first, last = round(begin), round(end)
    length = last - first
    if length and first / 1000 + length / 1000 > last / 1000:
        length -= 1
    return (f'{{"ph":"X","pid":{pid},"tid":{tid},"name":{name},"cat":"dynsel","ts":{us(first)},'
            f'"dur":{us(length)},"args":{{{args}}}}}')


class Writer:
    def __init__(self, run):
        self.run, self.rows, self.names = run, {}, {}
        self.kinds = {kind: quoted(name) for kind, name in run.kinds.items()}
        self.labels = {(n, i): quoted(r.name) for n, p in run.policies.items() for i, r in p.resources.items()}

    def row(self, pid, base, name, begin, end):
        """The thread for a slice on this row."""
        rows = self.rows.setdefault((pid, base), Rows(base))
        tid = rows.place(begin, end)
        self.names.setdefault((pid, tid), name if tid == base else f"{name} ({(tid - base) // SIBLINGS + 1})")
        return tid

    def args(self, p):
        known = [f'"piece":{p.number}', f'"amount":{p.amount}', f'"resource":{self.labels[p.policy, p.resource]}']
        if p.reason is not None:
            known.append(f'"reason":"{REASONS[p.reason] if p.reason < len(REASONS) else p.reason}"')
        if p.status:
            known.append(f'"status":"{status_name(p.status)}"')
        if p.estimates:
            known.append('"estimates":{' + ",".join(
                f'{self.labels.get((p.policy, e[0]), quoted(str(e[0])))}:{{"start_ns":{e[1]},"copy_ns":{e[2]},'
                f'"run_ns":{e[3]},"cost_ns":{e[4]}}}' for e in p.estimates) + "}")
        return ",".join(known)

    def slices(self):
        """(begin, -length, kind of slice, object), to be ordered by begin, the longest first."""
        for p in self.run.pieces:
            if p.choice_at is not None:
                begin = p.sight_at if p.sight_at is not None else p.choice_at
                yield begin, begin - p.choice_at, 0, p
            if p.start_at is not None:
                yield p.since, p.since - p.start_at, 1, p
            if p.begin is not None and p.resource != NOBODY:
                yield p.begin, p.begin - p.end, 2, p
        for wait in self.run.waits:
            yield wait[0], wait[0] - wait[1], 3, wait
        for copy in self.run.copies:
            yield copy[0], copy[0] - copy[1], 4, copy
        for build in self.run.builds:
            yield build[0], build[0] - build[1], 5, build

    def choice(self, p):
        begin = p.sight_at if p.sight_at is not None else p.choice_at
        tid = self.row(PROGRAM, p.chooser, f"thread {p.chooser}", begin, p.choice_at)
        yield slice_of(PROGRAM, tid, f'"choose"', begin, p.choice_at, f'"kind":{self.kinds[p.kind]},{self.args(p)}')
        if p.begin is not None and p.begin >= begin:
            yield (f'{{"ph":"s","pid":{PROGRAM},"tid":{tid},"id":{p.number},"name":"chosen","cat":"dynsel",'
                   f'"ts":{us(begin)}}}')

    def submit(self, p):
        tid = self.row(PROGRAM, p.starter, f"thread {p.starter}", p.since, p.start_at)
        yield slice_of(PROGRAM, tid, '"submit"', p.since, p.start_at, f'"piece":{p.number}')
        yield self.in_flight(p, p.since, 1)

    def work(self, p):
        pid = PROGRAM + p.policy
        tid = self.row(pid, ROWS + p.resource, self.run.label(p.policy, p.resource), p.begin, p.end)
        name = self.kinds[p.kind] if p.kind is not None else '"(choice lost)"'
        moved = ',"moved":"by the error of the clocks"' if p.moved else ""
        yield slice_of(pid, tid, name, p.begin, p.end,
                       f'{self.args(p)},"time":"{SOURCES[p.source]}","queue_ns":{p.queue_ns():.0f}{moved}')
        chosen = p.sight_at if p.sight_at is not None else p.choice_at
        if chosen is not None and p.begin >= chosen:
            yield (f'{{"ph":"f","bp":"e","pid":{pid},"tid":{tid},"id":{p.number},"name":"chosen","cat":"dynsel",'
                   f'"ts":{us(p.begin)}}}')

    def wait(self, event):
        begin, end, p, ring = event
        tid = self.row(PROGRAM, ring, f"thread {ring}", begin, end)
        yield slice_of(PROGRAM, tid, '"wait"', begin, end, f'"piece":{p.number if p else 0}')

    def copy(self, event):
        begin, end, p, domain, is_out, count, buffer, _, source = event
        way = "to host" if is_out else f"from memory {source}" if source else "to device"
        tid = self.row(PROGRAM, TRANSFERS + domain, f"transfers of memory {domain}", begin, end)
        yield slice_of(PROGRAM, tid, f'"{way}"', begin, end,
                       f'"bytes":{count},"buffer":{buffer},"piece":{p.number if p else 0}')

    def build(self, event):
        begin, end, name, ring = event
        yield slice_of(PROGRAM, self.row(PROGRAM, ring, f"thread {ring}", begin, end), quoted(f"build {name}"),
                       begin, end, "")

    def in_flight(self, p, at, step):
        place = p.policy, p.resource
        self.flying[place] = self.flying.get(place, 0) + step
        name = quoted(f"in flight on {self.run.label(*place)}")
        return (f'{{"ph":"C","pid":{PROGRAM + p.policy},"name":{name},"ts":{us(at)},'
                f'"args":{{"pieces":{self.flying[place]}}}}}')

    def events(self, progress):
        self.flying = {}
        writers = (self.choice, self.submit, self.work, self.wait, self.copy, self.build)
        ends, total = [], 4 * len(self.run.pieces)
        for i, (begin, _, which, what) in enumerate(sorted(self.slices(), key=lambda s: s[:3])):
            if not i & 0xffff:
                progress.at("writing", i, total)
            while ends and ends[0][0] <= begin:
                at, _, p = heapq.heappop(ends)
                yield self.in_flight(p, at, -1)
            yield from writers[which](what)
            if which == 1:
                over = what.end if what.end is not None else what.end_at
                if over is not None:
                    heapq.heappush(ends, (max(over, begin), i, what))
        while ends:
            at, _, p = heapq.heappop(ends)
            yield self.in_flight(p, at, -1)
        for at, name in self.run.marks:
            yield f'{{"ph":"i","s":"g","pid":{PROGRAM},"tid":1,"name":{quoted(name)},"cat":"mark","ts":{us(at)}}}'
        for at, policy, index, before, after, status in self.run.health:
            states = [STATES[s] if s < len(STATES) else str(s) for s in (before, after)]
            yield (f'{{"ph":"i","s":"p","pid":{PROGRAM + policy},"tid":{ROWS + index},"name":'
                   f'{quoted(f"{self.run.label(policy, index)}: {states[1]}")},"cat":"health","ts":{us(at)},"args":'
                   f'{{"before":"{states[0]}","after":"{states[1]}","status":"{status_name(status)}"}}}}')
        yield from self.metadata()

    def metadata(self):
        def named(what, pid, tid, value, key="name"):
            return f'{{"ph":"M","pid":{pid},"tid":{tid},"name":"{what}","args":{{"{key}":{value}}}}}'
        yield named("process_name", PROGRAM, 0, '"program"')
        for number, policy in self.run.policies.items():
            yield named("process_name", PROGRAM + number, 0, quoted(f"policy {policy.name}"))
            for index, resource in policy.resources.items():
                if index != NOBODY:
                    self.names.setdefault((PROGRAM + number, ROWS + index), resource.name)
        for (pid, tid), name in sorted(self.names.items()):
            yield named("thread_name", pid, tid, quoted(name))
            yield named("thread_sort_index", pid, tid, tid % SIBLINGS, "sort_index")


def events(run, progress):
    """Texts that make the file together."""
    first, batch = '{"displayTimeUnit":"ns","traceEvents":[\n', []
    for event in Writer(run).events(progress):
        batch.append(event)
        if len(batch) == FLUSH:
            yield first + ",\n".join(batch)
            first, batch = ",\n", []
    yield (first if batch else first.rstrip(",\n")) + ",\n".join(batch) + "\n]}\n"
