# SPDX-License-Identifier: Apache-2.0
"""`scons matrix`: every switch is built and tested both ways."""

import kconfiglib as kl

from . import config as configs
from .save import Target, minimal
from .variants import Variant


def flipped(top, variant):
    """A variant for each option of the menu that can be the other way round here."""
    layers = variant.layers(top)
    start = configs.load(top, variant.board, layers)
    names = [s.name for s in start.symbols().values() if s.orig_type == kl.BOOL and _can_flip(s)]
    return [_flip(top, variant, layers, name) for name in names]


def _can_flip(sym):
    """Of a choice the members that are not chosen, else everything that can be set."""
    return sym.visibility and (not sym.tri_value if sym.choice else len(sym.assignable) > 1)


def _flip(top, variant, layers, name):
    """The settings that turn one option, and take back what was explicitly set and is lost with it."""
    kconf = configs.load(top, variant.board, layers).kconf
    sym = kconf.syms[name]
    sym.set_value("n" if sym.tri_value else "y")
    wanted = {s.name: s.str_value for s in kconf.unique_defined_syms}
    lines = minimal(Target(top, variant, "the matrix", layers), wanted)
    settings = tuple(f"{n.removeprefix('DYNSEL_')}={v}" for n, v in lines.items())
    return Variant(variant.board, variant.fragments, variant.settings + settings)
