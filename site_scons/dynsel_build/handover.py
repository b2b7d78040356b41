# SPDX-License-Identifier: Apache-2.0
"""From the SConstruct of a product, which only names dynsel's, to a scons in dynsel's tree."""

import os
import sys

from SCons.Script import COMMAND_LINE_TARGETS, GetLaunchDir

SEARCHES = ("-u", "-U", "-D", "--up", "--search-up")
FILES = ("-f", "--file", "--makefile", "--sconstruct")


def take_over(top, product):
    """Replaces this process. The product comes first in PRODUCT=; the rest of the command line stays."""
    arguments, products = [], [product]
    words = iter(sys.argv[1:])
    for word in words:
        if word in FILES:
            next(words, None)
        elif word.startswith("PRODUCT="):
            products += [name for name in word.partition("=")[2].split(",") if not _is(name, product)]
        elif word not in SEARCHES and not word.startswith(tuple(f"{option}=" for option in FILES)):
            arguments.append(_target(word, product))
    sys.stdout.flush()
    os.chdir(GetLaunchDir())
    os.execv(sys.executable, [sys.executable, sys.argv[0], *arguments, "-C", top, f"PRODUCT={','.join(products)}"])


def _is(name, product):
    """Whether the user named the product itself."""
    return name != "" and os.path.realpath(os.path.join(GetLaunchDir(), name)) == os.path.realpath(product)


def _target(word, product):
    """Files to build are relative to the product's tree, where this scons runs."""
    return os.path.join(product, word) if word in COMMAND_LINE_TARGETS and "/" in word else word
