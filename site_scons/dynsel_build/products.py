# SPDX-License-Identifier: Apache-2.0
"""Products: trees on top of dynsel's, each with boards, fragments, targets, options and sources of its own.

doc/products.md says what a product has. No two trees may have the same board, fragment or option, so that a
name means one thing, whatever the order of PRODUCT=.
"""

from pathlib import PurePath

from .errors import UserMistake
from .trees import NAME

KCONFIG, SCONSCRIPT = "Kconfig", "SConscript"
TAKEN = ("dynsel", "dynsel-simulator")  # names of archives
# What has one name in all trees: kind, files, name of a file in its tree.
SHARED = (("board", "boards/*/Kconfig.board", lambda path: path.parent.name),
          ("fragment", "configs/*.conf", lambda path: path.stem),
          ("header", "include/**/*.h", lambda path: f"<{path.relative_to('include')}>"))


def check(trees):
    """Refuses products that lack something, or that contradict each other or dynsel, with all errors."""
    mistakes = [line for product in trees.products for line in _incomplete(trees, product)]
    mistakes += _named_twice(trees)
    for kind, pattern, name_of in SHARED if trees.products and not mistakes else ():
        mistakes += _defined_by_two(trees, kind, pattern, name_of)
    if mistakes:
        raise UserMistake(mistakes)


def _incomplete(trees, product):
    root = trees.real(product.root)
    if not root.is_dir():
        return [f"PRODUCT: there is no folder {root}; name the folder of a product (doc/products.md)"]
    if not (root / KCONFIG).is_file():
        return [f"{product.root}/{KCONFIG} is missing; the product {product.root} needs this file, even if empty;"
                " if this is no product, correct PRODUCT="]
    if not NAME.fullmatch(product.name) or product.name in TAKEN:
        return [f"{product.root}: a product's archive is named like its folder, and lib{product.name}.a"
                f" {'is dynsel' if product.name in TAKEN else 'is no good name'}; rename the folder"]
    return []


def _named_twice(trees):
    first, mistakes = {}, []
    for product in trees.products:
        other = first.setdefault(product.name, product)
        if other.root == product.root and other is not product:
            mistakes.append(f"PRODUCT: {product.root} is named twice; delete one of the two")
        elif other is not product:
            mistakes.append(f"the products {other.root} and {product.root} have the same name, so their archives would"
                            " replace each other; rename one of the folders")
    return mistakes


def _defined_by_two(trees, kind, pattern, name_of):
    first, mistakes = {}, []
    for path in trees.files(pattern):
        owner = trees.owner(path)
        name = name_of(PurePath(path).relative_to(owner.root if owner else "."))
        other = first.setdefault(name, path)
        if other is not path:
            mistakes.append(f"{path}: the {kind} {name} is already defined by {other}; rename one of the two")
    return mistakes


def kconfig(trees):
    """The part of the menu that has the products' boards and menus."""
    lines = ["# Generated for the products in PRODUCT=; edit their files, not this one.", ""]
    for product in trees.products:
        lines += [f'source "{path}"' for path in trees.files("boards/*/Kconfig.board") if trees.owner(path) == product]
        lines += [f'menu "Product {product.name}"', f'source "{product.root}/{KCONFIG}"', "endmenu", ""]
    return "\n".join(lines) + "\n"


def prefixes(trees, kconf):
    """The first words of the products' own options, with _ behind."""
    names = {s.name for s in kconf.unique_defined_syms if trees.owner(s.nodes[0].filename)}
    return tuple(sorted({name.partition("_")[0] + "_" for name in names} - {"DYNSEL_"}))


def defined_twice(trees, kconf):
    """Errors for options of one tree that another tree defines again, which Kconfig would merge."""
    if not trees.products:
        return []
    mistakes = []
    for item in [*kconf.unique_defined_syms, *kconf.unique_choices]:
        first, *others = item.nodes
        for node in others:
            if trees.owner(node.filename) != trees.owner(first.filename):
                mistakes.append(f"{node.filename}:{node.linenr}: {item.name} is already defined at"
                                f" {first.filename}:{first.linenr}; to change its value, set it in a defconfig or a"
                                " fragment; for an option of a product, choose another name")
    return mistakes
