# SPDX-License-Identifier: Apache-2.0
"""The two sets of seed 003: what all devices have, and what any device has. Nothing else is in here.

For a target t, all_of(t) is what every device of it has, and any_of(t) is what some device of it may
have. The first set is the intersection of all all_of(t), the second the union of all any_of(t).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """What is known of a target: `aspects` of each of its devices, and whether some may have more.

    A target that nothing is known of is Promise(): it promises nothing, and anything may be there.
    """

    aspects: frozenset = frozenset()
    may_support_other_aspects: bool = True


@dataclass(frozen=True)
class Sets:
    """In the order of the list of aspects.

    any_aspect: the second set is the set of all aspects; `any_devices` is empty then, because one
    macro says it for all of them, known and unknown.
    """

    all_devices: tuple
    any_devices: tuple
    any_aspect: bool


def compute(aspects, promises):
    """The Sets of these targets; `aspects` are all that there are, others do not count.

    There is at least one promise: of no device at all, everything would be true.
    """
    everything = set(aspects)
    all_devices, any_devices = set(aspects), set()
    for promise in promises:
        all_devices &= promise.aspects
        any_devices |= _any_of(promise, everything)
    any_aspect = any_devices == everything
    return Sets(tuple(a for a in aspects if a in all_devices),
                () if any_aspect else tuple(a for a in aspects if a in any_devices), any_aspect)


def _any_of(promise, everything):
    return everything if promise.may_support_other_aspects else promise.aspects & everything
