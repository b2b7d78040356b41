# SPDX-License-Identifier: Apache-2.0
"""The library's RAM, as the compiler lays it out: the archive's variables, and structures of a program.

Sizes are read from objects, so that no layout is written down a second time. What one entry more of a table costs
is the size of an array divided by the number in its declaration; of anything else it is the difference to a
second compilation with that number changed.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import kconfiglib as kl

from . import elf
from .explain import active_range
from .interface import HEADERS

PREFIX = "CONFIG_DYNSEL_"
LARGE = 1024  # bytes of a variable that is compiled again with other numbers
# Beside the policies.
HELD = ("dynsel_selection", "dynsel_submission", "dynsel_policy", "dynsel_buffer", "dynsel_accessor",
        "dynsel_host_accessor", "dynsel_kernel")
_IN_RAM = re.compile(r"\.[st]?(data|bss)\b(?!\.rel\.ro)")
_CONSTANT = re.compile(r"^\s*(?:#define|enum \{)?\s*([A-Z]\w*)(?: =)? (.+?)(?:,| \};)?$", re.MULTILINE)
_ARITHMETIC = re.compile(r"[-+*/() \d]+")


@dataclass(frozen=True)
class Variable:
    """Of the archive. cost: what its size follows from, in the menu's numbers; empty if from none."""

    object: str
    name: str
    section: str     # data or bss
    bytes: int
    cost: str = ""


@dataclass(frozen=True)
class Structure:
    """What a program holds."""

    name: str
    bytes: int
    cost: str


def variables(objects, prefix, config, interface):
    """All variables in RAM, the largest first; each object has a section for each variable.

    prefix: what an object's path has in place of src/.
    """
    found = []
    for path in objects:
        source = Path("src", path.removeprefix(prefix)).with_suffix(".c")
        text = source.read_text(encoding="utf-8") if source.exists() else ""
        measure = _measure_again(interface, source)
        for rank, (name, section, size) in _ranked(_in_ram(path)):
            cost = _each(size, name, text, config)
            if text and not cost and size >= LARGE:
                numbers = _numbers(config, source.parent, interface.expanded(source))
                cost = _differences(size, numbers, partial(measure, name, rank))
            found.append(Variable(path.removeprefix(prefix), name, section, size, cost))
    return sorted(found, key=lambda v: (-v.bytes, v.object, v.name))


def structures(config, policies, interface):
    """The structures of the public headers that a program declares itself."""
    names = [name for name in (*HELD, *(f"dynsel_{policy}_policy" for policy in policies))
             if name in interface.structures]
    sizes, numbers = interface.sizes(names), _numbers(config, HEADERS)
    changed = {}  # all names in one compilation

    def size(name, macros):
        key = tuple(macros.items())
        if key not in changed:
            changed[key] = interface.sizes(names, macros)
        return changed[key][name]

    return [Structure(name, sizes[name], _differences(sizes[name], numbers, lambda m, n=name: size(n, m)))
            for name in names]


def _in_ram(path):
    """(name, data or bss, bytes) of an object's variables."""
    for symbol in elf.Object(path).symbols:
        match = _IN_RAM.match(symbol.section.name if symbol.section else "")
        if match and symbol.size:
            name = re.sub(r"\.\d+$", "", symbol.name).rpartition(".")[2]  # of a function's static variable
            yield name, match.group(1), symbol.size


def _ranked(found):
    """(rank, variable) of each: static variables of several functions may have one name, and are told by their sizes."""
    seen = Counter()
    for variable in sorted(found):
        yield seen[variable[0]], variable
        seen[variable[0]] += 1


def _measure_again(interface, source):
    """measure(name, rank, {macro: value}): bytes of a source's variable with other numbers; each is compiled once."""
    compiled = {}

    def measure(name, rank, macros):
        key = tuple(macros.items())
        if key not in compiled:
            compiled[key] = {(found, place): size for place, (found, _, size)
                             in _ranked(_in_ram(interface.compile(source, macros)))}
        return compiled[key].get((name, rank), 0)

    return measure


def _each(size, name, text, config):
    """'96 x MAX_IN_FLIGHT' of an array whose declaration has the menu's numbers in its bound."""
    declared = re.search(rf"\b{name}\[(.+)\](?:;| =)", text)
    bound = declared[1] if declared else ""
    for constant, value in _CONSTANT.findall(text):
        bound = re.sub(rf"\b{constant}\b", value, bound)
    number = re.sub(rf"{PREFIX}(\w+)", lambda m: str(config[f"DYNSEL_{m[1]}"]), bound)
    if PREFIX not in bound or not _ARITHMETIC.fullmatch(number):
        return ""
    count = eval(number.replace("/", "//"))  # pylint: disable=eval-used # digits and operators only
    shown = bound.replace(PREFIX, "")
    return f"{size // count} x {shown if re.fullmatch(r'[A-Z_]+', shown) else f'({shown})'}"


def _differences(size, numbers, measure):
    """'MAX_RESOURCES +64, ...': what one more of each number costs, by measure({macro: value})."""
    costs = {}
    for macro, (value, step) in numbers.items():
        costs[macro] = (measure({macro: value + step}) - size) // step
    return ", ".join(f"{macro.removeprefix(PREFIX)} +{cost}" for macro, cost in costs.items() if cost)


def _numbers(config, folder, expanded=None):
    """Macro -> (value, a step from it), of the numbers that the code of a folder names. expanded: of these macros only."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.[ch]"))]
    named = set(re.findall(rf"\b{PREFIX}\w+", re.sub(r"/\*.*?\*/", "", "".join(texts), flags=re.DOTALL)))
    named &= named if expanded is None else expanded
    found = {}
    for symbol in config.symbols().values():
        bounds = active_range(symbol) if symbol.orig_type == kl.INT and symbol.str_value else None
        if bounds and f"CONFIG_{symbol.name}" in named:
            low, high, value = (int(number, 0) for number in (*bounds, symbol.str_value))
            # not 1 if it can be helped: odd numbers of entries are padded
            step = next((step for step in (8, -8, 2, -2, 1, -1) if low <= value + step <= high), 0)
            if step:
                found[f"CONFIG_{symbol.name}"] = (value, step)
    return found
