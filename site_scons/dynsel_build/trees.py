# SPDX-License-Identifier: Apache-2.0
"""Where things are: dynsel's tree, the products on top of it, and the folder for what is built.

A path inside dynsel's tree is written relative to it, and any other path absolute; so `Path(trees.top) / path`
is the file of each.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from .errors import UserMistake

BUILD = "build"
ODD = re.compile(r"[^\w./+@~-]")  # a shell, make, Kconfig or SCons reads something into these
NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


@dataclass(frozen=True)
class Product:
    """A tree on top of dynsel's. root: its folder, as paths are written here."""

    root: str

    @property
    def name(self):
        """Of its archive, and of its part of the menu."""
        return os.path.basename(self.root)


@dataclass(frozen=True)
class Trees:
    """top: dynsel's own tree; build: the folder for what is built; command: what the user types to get here."""

    top: str
    products: tuple = ()
    build: str = BUILD
    command: tuple = ("scons",)

    def roots(self):
        """All trees, dynsel's first, which is empty."""
        return ["", *(product.root for product in self.products)]

    def files(self, pattern):
        """The files of all trees that match, as paths are written here; of a product without dynsel's, if it contains
        them."""
        top = Path(self.top)
        return [os.path.join(root, path.relative_to(top / root))
                for root in self.roots() for path in sorted((top / root).glob(pattern))
                if not (os.path.isabs(root) and path.is_relative_to(top))]

    def real(self, path):
        return Path(self.top) / path

    def anywhere(self, text):
        """A text without the places of dynsel's tree and of what is built: the same in a copy of both elsewhere."""
        return text.replace(str(self.real(self.build)), "{build}").replace(self.top, "{top}")

    def owner(self, path):
        """The product that a file belongs to, or None if it is dynsel's, as all that is built: its folder is often in a
        product."""
        if path.startswith(self.build + "/"):
            return None
        inside = [p for p in self.products if path == p.root or path.startswith(p.root + "/")]
        return max(inside, key=lambda p: len(p.root), default=None)

    def short(self, path):
        """A path without the place of its product: products/<name>/..., for names of files that are built."""
        owner = self.owner(path)
        return f"products/{owner.name}{path[len(owner.root):]}" if owner else path

    def scons(self, *words):
        """A command line to show to the user."""
        return " ".join([*self.command, *(word for word in words if word)])


def own(top):
    """dynsel's tree alone, built in its folder build/."""
    return Trees(str(top))


def at(path):
    """The name of a path for SCons, which takes a bare relative one from the folder of the SConscript."""
    return path if os.path.isabs(path) else f"#{path}"


def chosen(top, launched, arguments):
    """The Trees of PRODUCT= and O=, which are relative to the folder where scons was started."""
    launched = os.path.realpath(launched)
    places = [_place(top, launched, "PRODUCT", text) for text in _listed(arguments)]
    products = tuple(Product(place) for place in places)
    if "O" in arguments:
        build = _place(top, launched, "O", arguments["O"])
    else:
        build = _usual(products)
    return Trees(str(top), products, build, _typed(str(top), launched, arguments, products))


def _listed(arguments):
    if "PRODUCT" not in arguments:
        return []
    listed = arguments["PRODUCT"].split(",")
    if "" in listed:
        raise UserMistake(f"PRODUCT={arguments['PRODUCT']}: write the folder of a product, or several with commas between")
    return listed


def _place(top, launched, variable, text):
    """A folder of the command line, as paths are written here."""
    if not text:
        raise UserMistake(f"{variable}= is empty; write the name of a folder")
    place = os.path.realpath(os.path.join(launched, os.path.expanduser(text)))
    odd = ODD.search(place)
    if odd:
        raise UserMistake(f"{variable}={text}: {place} has the character {odd[0]!r}, which compilers and linker scripts"
                          " do not take everywhere; use letters, digits and . _ + @ ~ -")
    top = os.path.realpath(top)
    if place == top:
        what = "no product" if variable == "PRODUCT" else "not for what is built"
        raise UserMistake(f"{variable}={text}: that is dynsel's own tree, and {what}; name another folder")
    return os.path.relpath(place, top) if place.startswith(top + "/") else place


def _usual(products):
    """build/ of the first product; dynsel's own if it has none, or for a product inside dynsel's tree."""
    if not products:
        return BUILD
    first = products[0]
    return f"{first.root}/{BUILD}" if os.path.isabs(first.root) else f"{BUILD}/products/{first.name}"


def _typed(top, launched, arguments, products):
    """The start of a command line that means the same trees, from the folder where this one was typed."""
    at_home = (bool(products) and launched == os.path.realpath(os.path.join(top, products[0].root))
               and os.path.exists(os.path.join(launched, "SConstruct")))
    words = ["scons"]
    if not at_home and launched != os.path.realpath(top):
        words += ["-C", top]
    listed = _listed(arguments)[1 if at_home else 0:]
    words += [f"PRODUCT={','.join(listed)}"] if listed else []
    words += [f"O={arguments['O']}"] if "O" in arguments else []
    return tuple(words)
