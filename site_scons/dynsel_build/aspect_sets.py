# SPDX-License-Identifier: Apache-2.0
"""The two sets of aspects: those of all devices, and those of any device.

For a target t, all_of(t) are the aspects of each of its devices, and any_of(t) those that some device may
have. The first set is the intersection of all all_of(t), the second the union of all any_of(t).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """The promise of a target: `aspects` of each of its devices, and whether some may have more.

    A target without an entry is Promise(): it promises nothing, and its devices may have any aspect.
    """

    aspects: frozenset = frozenset()
    may_support_other_aspects: bool = True


@dataclass(frozen=True)
class Sets:
    """In the order of the list of aspects.

    any_aspect: the second set is the set of all aspects; `any_devices` is empty then, because one
    macro stands for all of them, known and unknown.
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
