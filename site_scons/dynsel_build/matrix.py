# SPDX-License-Identifier: Apache-2.0
"""`scons matrix`: every switch is built and tested both ways."""

import kconfiglib as kl

from . import config as configs
from .errors import UserMistake
from .save import Target, minimal
from .variants import Variant

LONGEST = 160  # of the names of options that are turned together; they become the name of a folder


def flipped(top, variant):
    """(variants, notes): each option of the menu that can be the other way round here is so in one.

    Aspects, and targets that are not chosen, are many and alike, so several are turned together. An
    option whose other way leads to no configuration is left out, with a note.
    """
    layers = variant.layers(top)
    start = configs.load(top, variant.board, layers)
    names = [s.name for s in start.symbols().values() if s.orig_type == kl.BOOL and _can_flip(s)]
    found, notes = [], []
    for group in _groups(names, _families(start)):
        flip = _flip(top, variant, layers, group)
        trouble = _trouble(top, flip)
        if trouble:
            notes.append(f"the matrix leaves out {' and '.join(group)} the other way round: {trouble}")
        else:
            found.append(flip)
    return found, notes


def _can_flip(sym):
    """Of a choice the members that are not chosen, else everything that can be set."""
    return sym.visibility and (not sym.tri_value if sym.choice else len(sym.assignable) > 1)


def _families(config):
    """Options that may be turned together."""
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


def _flip(top, variant, layers, names):
    """The settings that turn these options, and take back what was explicitly set and is lost with it."""
    kconf = configs.load(top, variant.board, layers).kconf
    for name in names:
        sym = kconf.syms[name]
        sym.set_value("n" if sym.tri_value else "y")
    wanted = {s.name: s.str_value for s in kconf.unique_defined_syms}
    lines = minimal(Target(top, variant, "the matrix", layers), wanted)
    settings = tuple(f"{n.removeprefix('DYNSEL_')}={v}" for n, v in lines.items())
    return Variant(variant.board, variant.fragments, variant.settings + settings)


def _trouble(top, variant):
    """Why there is no such variant, or None."""
    try:
        configs.load(top, variant.board, variant.layers(top), variant.name)
    except UserMistake as e:
        return e.lines[0]
    return None
