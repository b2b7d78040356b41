# SPDX-License-Identifier: Apache-2.0
"""Parts of a run: marks split it, and stretches of time restrict it."""

from bisect import bisect_left
from dataclasses import replace

from .text import Mistake

BEFORE = "(before the first mark)"


class Cover:
    """The time that some intervals cover together."""

    def __init__(self, intervals):
        self.begins, self.ends, self.sums = [], [], [0.0]
        last = -1.0
        for begin, end in sorted(intervals):
            if begin <= last:
                if end > last:
                    self.sums[-1] += end - last
                    self.ends[-1] = last = end
            else:
                self.begins.append(begin)
                self.ends.append(end)
                self.sums.append(self.sums[-1] + end - begin)
                last = end

    def until(self, at):
        """How much lies before a time."""
        i = bisect_left(self.begins, at)
        return self.sums[i] - max(self.ends[i - 1] - at, 0) if i else 0.0

    def within(self, stretches):
        return sum(self.until(end) - self.until(begin) for begin, end in stretches)


def turns_of(run):
    """policy -> the time in which it was the program's turn to use it: from a choice of its until the next choice
    of another one, or until its work was over. The only policy has all the time."""
    users = {p.policy for p in run.pieces}
    if len(users) < 2:
        return {number: Cover([(0.0, run.span)]) for number in run.policies}
    turns, last = {}, None
    for p in run.pieces:
        end = max(t for t in (p.at, p.end, p.end_at) if t is not None)
        if last is not None and last[0] == p.policy:
            last[2] = max(last[2], end)
        else:
            if last is not None:
                last[2] = max(last[2], last[3])
            last = [p.policy, p.at, end, p.at]
            turns.setdefault(p.policy, []).append(last)
        last[3] = p.at
    return {number: Cover([(begin, end) for _, begin, end, _ in turns.get(number, [])]) for number in run.policies}


def length(stretches):
    return sum(end - begin for begin, end in stretches)


def parts_of(run):
    """name -> its stretches; a part lasts from each of its marks to the next mark."""
    marks = [(0.0, BEFORE), *run.marks]
    ends = [at for at, _ in run.marks] + [run.span]
    parts = {}
    for (begin, name), end in zip(marks, ends):
        parts.setdefault(name, []).append((begin, end))
    if not run.marks or not any(p.at < run.marks[0][0] for p in run.pieces[:1]):
        del parts[BEFORE]
    return {name: kept for name, kept in ((n, known(run, stretches)) for n, stretches in parts.items()) if kept}


def known(run, stretches):
    """Without the time of which records are lost."""
    return [(max(begin, run.known_from), end) for begin, end in stretches if end > run.known_from or run.span == 0]


def unknown_mark(run, name):
    names = ", ".join(dict.fromkeys(name for _, name in run.marks))
    return Mistake(f"no mark {name} in the trace; {f'its marks: {names}' if names else 'it has none'}")


def stretches_of(run, part, begin, end):
    """What --part, --from and --to ask for."""
    if part is not None:
        parts = parts_of(run)
        if part in parts:
            return parts[part]
        if part in (name for _, name in run.marks):
            raise Mistake(f"--part {part}: it lies in the time of which records are lost")
        raise unknown_mark(run, part)
    first, last = 0.0, run.span
    if begin is not None:
        first = next((at for at, name in run.marks if name == begin), None)
        if first is None:
            raise unknown_mark(run, begin)
    if end is not None:
        last = next((at for at, name in run.marks if name == end and (begin is None or at > first)), None)
        if last is None:
            if any(name == end for _, name in run.marks):
                raise Mistake(f"no mark {end} after {begin}")
            raise unknown_mark(run, end)
    return known(run, [(first, last)]) or [(last, last)]


class Ordered:
    """Events in the order of their begins, of which those in some stretches are asked for."""

    def __init__(self, events, begins, span):
        self.events, self.begins, self.span = events, begins, span

    def within(self, stretches):
        found = []
        for begin, end in stretches:
            last = bisect_left(self.begins, end) if end < self.span else len(self.begins)
            found += self.events[bisect_left(self.begins, begin):last]
        return found


def ordered(events, span):
    """Of tuples that have their begin first."""
    return Ordered(events, [event[0] for event in events], span)


def restricted(run, stretches):
    """The run with what began in the stretches only."""
    if stretches == [(0.0, run.span)]:
        return run
    pieces = Ordered(run.pieces, [p.at for p in run.pieces], run.span).within(stretches)
    numbers = {p.number for p in pieces}
    kept = {name: ordered(getattr(run, name), run.span).within(stretches)
            for name in ("copies", "waits", "marks", "health", "builds")}
    return replace(run, pieces=pieces, depends=[(p, on) for p, on in run.depends if p.number in numbers], **kept)
