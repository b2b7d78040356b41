# SPDX-License-Identifier: Apache-2.0
"""`scons matrix`: builds and tests each option flipped, or random configurations."""

import random
from dataclasses import replace

import kconfiglib as kl

from . import config as configs
from .errors import UserMistake
from .explain import active_range
from .save import Target, minimal, sufficient

TRIES = 50  # to draw a valid configuration
RARE = {"DYNSEL_SANITIZE": 0.04, "DYNSEL_SANITIZE_THREAD": 0.04, "DYNSEL_COVERAGE": 0.04}  # slow, and tested by `scons check`
# Under a limit for all work, what a test leaves running ends early; a long time to give up is a long test.
KEPT = ("DYNSEL_TIME_LIMIT_MS", "DYNSEL_GIVE_UP_AFTER_MS")
OTHERWISE = 0.35  # probability that an option gets another value than its default
ALIKE = (0, 0, 0.1, 0.5)  # the same for all aspects or targets of one configuration
LONGEST = 160  # characters of option names in a group; they become the name of a folder


def flipped(trees, variant):
    """(variants, notes): each option that can be flipped is flipped in one variant.

    Several aspects, or targets that are not chosen, are flipped together, because they are many and alike. An
    option whose flip gives no valid configuration is omitted, with a note.
    """
    layers = variant.layers(trees)
    start = configs.load(trees, variant.board, layers)
    names = [s.name for s in start.symbols().values() if s.orig_type == kl.BOOL and _can_flip(s)]
    found, notes = [], []
    for group in _groups(names, _families(start)):
        flip = _flip(trees, variant, layers, group)
        trouble = _trouble(trees, flip)
        if trouble:
            notes.append(f"the matrix omits {' and '.join(group)} flipped: {trouble}")
        else:
            found.append(flip)
    return found, notes


def _can_flip(sym):
    """Of a choice the members that are not chosen, else each option that can be set."""
    return sym.visibility and (not sym.tri_value if sym.choice else len(sym.assignable) > 1)


def _families(config):
    """Groups of options that may be flipped together."""
    known = config.catalogue
    return [{a.symbol for a in known.aspects},
            {symbol for symbol in known.target_symbols() if not config.is_set(symbol)}]


def _groups(names, families):
    groups = []
    for name in names:
        family = next((f for f in families if name in f), ())
        if groups and groups[-1][0] in family and sum(map(len, [*groups[-1], name])) <= LONGEST:
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def _flip(trees, variant, layers, names):
    """The variant with these options flipped, and explicit settings that are lost with them revoked."""
    kconf = configs.load(trees, variant.board, layers).kconf
    for name in names:
        sym = kconf.syms[name]
        sym.set_value("n" if sym.tri_value else "y")
    return _set_on_top(trees, variant, layers, kconf, minimal)


def _set_on_top(trees, variant, layers, kconf, lines_for):
    """The variant with these values, as settings on top of its files."""
    wanted = {s.name: s.str_value for s in kconf.unique_defined_syms}
    lines = lines_for(Target(trees, variant, "the matrix", layers), wanted)
    settings = tuple(f"{n.removeprefix('DYNSEL_')}={v}" for n, v in lines.items())
    return replace(variant, settings=variant.settings + settings)


def _trouble(trees, variant):
    """Why there is no such variant, or None."""
    try:
        configs.load(trees, variant.board, variant.layers(trees), variant.name)
    except UserMistake as e:
        return e.lines[0]
    return None


# At random

def drawn(trees, variant, count, seed):
    """So many different configurations, the same for the same menu and seed.

    Each value is drawn from those that take effect behind the ones drawn before, in the order of the
    menu; so what comes out is a legal configuration. Only a choice of targets may be impossible, and
    then everything is drawn again.
    """
    layers = variant.layers(trees)
    found = []
    for number in range(count):
        dice = random.Random(f"{seed} {variant.name} {number}")
        tries = (_draw(trees, variant, layers, dice) for _ in range(TRIES))
        good = (v for v in tries if v not in found and not _trouble(trees, v))
        one = next(good, None)
        if one is None:
            raise UserMistake(f"{variant.name}: {TRIES} draws gave no other configuration that can be"
                              f" built; ask for fewer than RANDOM={number + 1}")
        found.append(one)
    return found


def _draw(trees, variant, layers, dice):
    config = configs.load(trees, variant.board, layers)
    kconf = config.kconf
    chances = {**RARE, **dict.fromkeys([a.symbol for a in config.catalogue.aspects], dice.choice(ALIKE)),
               **dict.fromkeys(config.catalogue.target_symbols(), dice.choice(ALIKE))}
    choices = set()
    for sym in kconf.unique_defined_syms:
        if sym.choice is None:
            _draw_value(sym, dice, chances.get(sym.name, OTHERWISE))
        elif sym.choice not in choices:
            choices.add(sym.choice)
            members = [s for s in sym.choice.syms if s.visibility]
            if members:
                dice.choice(members).set_value("y")
    return _set_on_top(trees, variant, layers, kconf, sufficient)


def _draw_value(sym, dice, otherwise):
    """A value that this symbol can have now, in place of its own."""
    if not sym.visibility or sym.name in KEPT:
        return
    if sym.orig_type == kl.BOOL:
        if len(sym.assignable) > 1 and dice.random() < otherwise:
            sym.set_value("n" if sym.tri_value else "y")
    elif sym.orig_type in (kl.INT, kl.HEX):
        low, high = (int(bound, 0) for bound in active_range(sym))
        number = _draw_number(dice, low, high, int(sym.str_value, 0))
        sym.set_value(hex(number) if sym.orig_type == kl.HEX else str(number))


def _draw_number(dice, low, high, usual):
    """Mostly an end of the range, or beside it: there the mistakes are."""
    kind = dice.random()
    if kind < 0.5:
        return min(high, dice.choice((low, low, low + 1, high)))
    if kind < 0.65:
        return usual
    return min(high, low + int((high - low + 1) ** dice.random()) - 1)  # small ones more often
