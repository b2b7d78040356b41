# SPDX-License-Identifier: Apache-2.0
"""The aspects and targets of a tree, in the menu, and of a configuration."""

import os
import re
from dataclasses import dataclass
from functools import lru_cache

from . import aspect_list, aspect_sets, aspect_texts, products, targets as tables
from .errors import UserMistake

MENU = "kconfig"  # in the folder for what is built
TRAITS = "include/dynsel/aspect_traits.h"

_BACKEND = re.compile(r"^config DYNSEL_BACKEND_([A-Z0-9_]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Catalogue:
    """All aspects and targets."""

    aspects: tuple
    targets: tuple

    def target_symbols(self):
        return [target.symbol for target in self.targets]


@dataclass(frozen=True)
class Selection:
    """The aspects and targets of one configuration, and the resulting sets."""

    aspects: tuple
    targets: tuple
    sets: aspect_sets.Sets

    def names_header(self):
        return aspect_texts.names_header(self.aspects)

    def sets_header(self):
        return aspect_texts.sets_header(self.sets, [t.name for t in self.targets])

    def macros(self):
        """The definitions in the headers, without comments: equal for compatible configurations."""
        text = self.names_header() + self.sets_header()
        return [line for line in text.splitlines() if line.startswith("#define ")]


def catalogue(trees):
    """The Catalogue of all trees, or UserMistake with all errors in the list and the tables."""
    paths = [tables.PATH, *(path for path in trees.files(tables.PATH) if path != tables.PATH)]
    return _read(_bytes(trees, aspect_list.PATH), tuple((path, _bytes(trees, path)) for path in paths),
                 tuple(backends(trees)))


@lru_cache(maxsize=4)
def _read(listed, contents, known_backends):
    known = aspect_list.read(aspect_list.PATH, listed)
    found, mistakes = [], []
    for path, table in contents:
        try:
            found.append(tables.read(path, table, known, known_backends))
        except UserMistake as e:
            mistakes += e.lines
    if mistakes:
        raise UserMistake(mistakes)
    tables.check_hosts(tables.PATH, found[0], known_backends)
    return Catalogue(tuple(known), tuple(tables.joined(found)))


def _bytes(trees, path):
    try:
        return trees.real(path).read_bytes()
    except OSError as e:
        raise UserMistake(f"{path}: cannot be read: {e.strerror}") from e


def backends(trees):
    """The names of all backends, from their options."""
    paths = [path for path in trees.files("src/backends/*/Kconfig") if not trees.owner(path)]
    return [name.lower() for path in paths for name in _BACKEND.findall(trees.real(path).read_text(encoding="utf-8"))]


def menu(trees):
    """The folder of the generated parts of the menu."""
    return f"{trees.build}/{MENU}"


def write_menu(trees):
    """Writes the parts of the menu that are generated from the list, the tables and the products."""
    found = catalogue(trees)
    _write(trees, "Kconfig.targets", aspect_texts.kconfig_targets(found.targets))
    _write(trees, "Kconfig.aspects", aspect_texts.kconfig_aspects(found.aspects, aspect_list.PATH))
    _write(trees, "Kconfig.products", products.kconfig(trees))


def _write(trees, name, text):
    """Writes only if it changed, and atomically: another scons may read it at the same time."""
    path = trees.real(menu(trees)) / name
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except (OSError, UnicodeDecodeError):
        path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def select(found, is_set):
    """The Selection of a configuration; is_set(symbol): whether an option is y."""
    aspects = tuple(a.name for a in found.aspects if is_set(a.symbol))
    chosen = tuple(t for t in found.targets if is_set(t.symbol))
    return Selection(aspects, chosen, aspect_sets.compute(aspects, [t.promise for t in chosen]))


def impossible(found, is_set):
    """Why no program could use a configuration with these targets, and the remedy; or None."""
    chosen = [t for t in found.targets if is_set(t.symbol)]
    if not chosen:
        return _remedy("no device target is chosen", found.targets)
    if is_set("DYNSEL_BACKEND_OPENCL") and not any(t.may_be_of("opencl") for t in chosen):
        return _remedy("the OpenCL backend is configured, and no chosen target recognizes an OpenCL"
                       " device, so every device would be refused",
                       [t for t in found.targets if t.may_be_of("opencl")])
    return None


def _remedy(what, targets):
    names = [f"CONFIG_{t.symbol}=y" for t in targets if not t.added_by]
    return f"{what}; set {' or '.join(names) or 'nothing: first add a target for it to the table'}"
