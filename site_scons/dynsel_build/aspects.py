# SPDX-License-Identifier: Apache-2.0
"""The aspects and targets of a tree, in the menu, and of a configuration."""

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from . import aspect_list, aspect_sets, aspect_texts, targets as tables
from .errors import UserMistake

MENU = "build/kconfig"
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


def catalogue(top):
    """The Catalogue of a tree, or UserMistake with all errors in its list and its table."""
    listed, table = (_bytes(top, path) for path in (aspect_list.PATH, tables.PATH))
    return _read(listed, table, tuple(backends(top)))


@lru_cache(maxsize=4)
def _read(listed, table, known_backends):
    known = aspect_list.read(aspect_list.PATH, listed)
    found = tables.read(tables.PATH, table, known, known_backends)
    tables.check_hosts(tables.PATH, found, known_backends)
    return Catalogue(tuple(known), tuple(found))


def _bytes(top, path):
    try:
        return (Path(top) / path).read_bytes()
    except OSError as e:
        raise UserMistake(f"{path}: cannot be read: {e.strerror}") from e


def backends(top):
    """The names of all backends, from their options."""
    return [name.lower() for path in sorted(Path(top).glob("src/backends/*/Kconfig"))
            for name in _BACKEND.findall(path.read_text(encoding="utf-8"))]


def write_menu(top):
    """Writes the parts of the menu that are generated from the list and the table."""
    found = catalogue(top)
    _write(top, "Kconfig.targets", aspect_texts.kconfig_targets(found.targets, tables.PATH))
    _write(top, "Kconfig.aspects", aspect_texts.kconfig_aspects(found.aspects, aspect_list.PATH))


def _write(top, name, text):
    """Writes only if it changed, and atomically: another scons may read it at the same time."""
    path = Path(top) / MENU / name
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
