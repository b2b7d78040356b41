# SPDX-License-Identifier: Apache-2.0
"""Names in Kconfig files that no option has: Kconfig takes each for a bool that is off, so that a typo in
`select` or `depends on` does nothing."""

import re

from .errors import nearest

CLOSE = 0.75  # similarity from which on a name is a typo


def mistakes(trees, kconf):
    """A line for each place where such a name stands."""
    known = [sym.name for sym in kconf.unique_defined_syms]
    found = []
    for sym in kconf.syms.values():
        if sym.nodes or sym.is_constant or sym.name == "MODULES" or _is_number(sym.name):
            continue
        close = nearest(sym.name, known, CLOSE)
        remedy = f"did you mean {close}?" if close else "correct the name, or delete what needs it"
        found += [f"{place}: no option named {sym.name}; {remedy}" for place in _places(trees, kconf, sym)]
    return found


def _is_number(name):
    """Kconfiglib keeps the numbers of ranges and defaults as symbols."""
    return re.fullmatch(r"-?\d+|0[xX][0-9a-fA-F]+", name) is not None


def _places(trees, kconf, sym):
    """The lines that name it; where the text does not show it, those of the options that it reaches."""
    nodes = [node for node in kconf.node_iter() if sym in node.referenced]
    word = re.compile(rf'^[^#"]*\b{re.escape(sym.name)}\b')
    places = []
    for path in dict.fromkeys(node.filename for node in nodes):
        text = trees.real(path).read_text(encoding="utf-8")
        places += [f"{path}:{number}" for number, line in enumerate(text.splitlines(), 1)
                   if word.match(line)]
    return places or [f"{node.filename}:{node.linenr}" for node in nodes]
