# SPDX-License-Identifier: Apache-2.0
"""Sentences that say why a run took as long as it did, the weightiest first. Each is true of the
numbers that the views show; none is made where they do not suffice."""

from dataclasses import dataclass, field
from statistics import median

from .model import EXPLORING, PROFILING, REASONS
from .parts import length
from .text import count_of, percent, short_time

MOST, LEAST = 3, 0.02   # sentences; the share of the time from which on one is worth saying
BUSY = 0.9              # the share of the time from which on a resource is a bottleneck


@dataclass
class Group:
    """Pieces of a kind that a resource got, and that another one would have finished sooner."""
    pieces: list = field(default_factory=list)
    lost: float = 0.0
    factors: list = field(default_factory=list)   # how much longer they ran


def headline(analysis, trace, stretches):
    """What there is, in one line."""
    run = analysis.run
    first = trace.first_ns + stretches[0][0]
    lost = f"{count_of(run.lost(), 'record')} lost" if run.lost() else "none lost"
    pieces = count_of(len(analysis.pieces_in(stretches)), "piece")
    return (f"{short_time(length(stretches))} from {first / 1e9:.6f} s of the machine's clock on; {pieces} of work;"
            f" {count_of(run.records, 'record')}, {lost}")


def groups_of(analysis, stretches):
    """(kind, policy, resource, better one) -> Group"""
    groups = {}
    for p in analysis.pieces_in(stretches):
        if p.loss is not None:
            one = groups.setdefault((p.kind, p.policy, p.resource, p.loss.better), Group())
            one.pieces.append(p)
            one.lost += p.loss.lost
            one.factors.append(p.run_ns() / max(p.loss.run, 1))
    return groups


def why(group):
    """Why most of the pieces were chosen so."""
    total = len(group.pieces)
    trials = sum(p.reason in (PROFILING, EXPLORING) for p in group.pieces)
    if 2 * trials >= total:
        if total == 1:
            return "it was a trial run"
        return f"{percent(trials, total)} of them were trial runs" if trials < total else "all were trial runs"
    reasons = {}
    for p in group.pieces:
        reasons[p.reason] = reasons.get(p.reason, 0) + 1
    reason = max(reasons, key=reasons.get)
    text = REASONS[reason] if reason < len(REASONS) else f"reason {reason}"
    said = f"the reason for {percent(reasons[reason], total)} of them: {text}" if total > 1 else f"the reason: {text}"
    pairs = [(e[3], p.run_ns()) for p in group.pieces for e in p.estimates or () if e[0] == p.resource]
    estimated, took = (sum(values) for values in zip(*pairs)) if pairs else (0, 0)
    if pairs and not 0.67 * took <= estimated <= 1.5 * took:
        said += (f", and their runs were estimated at {short_time(estimated / len(pairs))} and took"
                 f" {short_time(took / len(pairs))} on average")
    return said


def times(factor):
    return f"{factor:.1f} times" if factor < 9.95 else f"{factor:.0f} times"


def about_choices(analysis, stretches, span):
    """(weight, sentence) of the groups that lost most."""
    found = []
    run, groups = analysis.run, groups_of(analysis, stretches)
    for (kind, policy, resource, better), group in sorted(groups.items(), key=lambda item: -item[1].lost)[:2]:
        here, there = run.label(policy, resource), run.label(policy, better)
        factor = median(group.factors)
        ran, typical = ("it ran", "") if len(group.pieces) == 1 else ("they ran", " (median)")
        ratio = (f", where {ran} {times(factor)} as long as on {there}{typical}" if factor > 1.05
                 else f", and would have been over sooner on {there}")
        found.append((group.lost / span, f"{count_of(len(group.pieces), 'piece')} of {run.kinds[kind]} went to {here}"
                      f"{ratio}: {short_time(group.lost)} lost; {why(group)}."))
    return found


def about_resources(analysis, stretches, span):
    """Of GPUs that stand idle, and of resources that are busy, copy or wait."""
    run, found = analysis.run, []
    busy = {policy for (policy, _), one in analysis.usage(stretches).items() if one.pieces}
    usage = {place: one for place, one in analysis.usage(stretches).items() if place[0] in busy}

    def name_of(place):
        return run.label(*place) + (f" of {run.policies[place[0]].name}" if len(busy) > 1 else "")
    for place in usage:
        one, name = usage[place], name_of(place)
        if not run.policies[place[0]].resource(place[1]).is_gpu():
            continue
        idle = one.idle() / max(one.span, 1)
        if idle >= 0.1 and one.pieces:
            found.append((one.idle() / span, f"{percent(idle, 1)} of the time {name} was idle."))
        elif not one.pieces:
            found.append((0.5, f"{name} got no work."))
    for place, one in usage.items():
        if one.sure >= BUSY * max(one.span, 1):
            found.append((one.sure / span, f"{percent(one.sure, one.span)} of the time {name_of(place)} ran work: it was"
                          " the bottleneck, unless its work could have gone elsewhere."))
        if one.move >= 0.1 * max(one.span, 1):
            found.append((one.move / span, f"{percent(one.move, one.span)} of the time {name_of(place)} only moved data."))
        if one.wait >= 0.1 * max(one.span, 1):
            found.append((one.wait / span, f"{percent(one.wait, one.span)} of the time {name_of(place)} had work that did"
                          " not run yet."))
    return found


def about_host(analysis, stretches, span):
    found, host = [], analysis.host(stretches)
    idle = analysis.nothing_ran(stretches)
    if idle >= 0.1 * span and analysis.run.pieces:
        found.append((idle / span, f"No resource ran anything in {percent(idle, span)} of the time."))
    for what, times_of in (("choosing", [one.choice for one in host.values() if one.choice]),
                           ("submitting", [one.submit for one in host.values() if one.submit]),
                           ("building kernels", [one.build for one in host.values() if one.build])):
        total = sum(times_of)
        if total >= 0.05 * span:
            share = f"{percent(total, span)} of the time" if len(times_of) == 1 else f"in {len(times_of)} threads"
            found.append((total / span / len(times_of), f"The program spent {short_time(total)} {what}, {share}."))
    return found


def findings(analysis, stretches):
    """Up to three sentences."""
    span = length(stretches)
    if not analysis.pieces_in(stretches):
        return ["There is no work in this part of the trace." if analysis.run.pieces
                else "The trace has no work."]
    if span <= 0:
        return ["The trace has no length: nothing can be said about times."]
    found = (about_choices(analysis, stretches, span) + about_resources(analysis, stretches, span)
             + about_host(analysis, stretches, span))
    weighty = sorted((one for one in found if one[0] >= LEAST), key=lambda one: -one[0])[:MOST]
    if not weighty:
        return ["No cause of slowness stands out: no resource that is faster stood idle, and the choices cost"
                f" {short_time(sum(p.loss.lost for p in analysis.pieces_in(stretches) if p.loss))} at most."]
    return [sentence for _, sentence in weighty]
