# SPDX-License-Identifier: Apache-2.0
"""kconfig-lint: errors that Kconfig accepts: unknown names, unused options, missing helps, ..."""

import re
from pathlib import PurePath

import kconfiglib as kl

from . import aspects, boards, config as configs, products, variants
from .errors import UserMistake, did_you_mean
from .save import Target, edited, minimal

TOKEN = re.compile(r"\bCONFIG_([A-Z][A-Z0-9_]*[A-Z0-9])\b(?!\*)")
PLACEHOLDER = "DYNSEL_X"  # stands for any option in documentation
NAME = re.compile(r"\b(?:CONFIG_)?([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b")
COLUMNS = 100
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".def", ".cl", ".py", ".md", ".S", ".ld", ".conf"}
FOLDERS = ("include", "src", "examples", "tests", "bench", "soak", "tools", "doc", "boards", "configs",
           "site_scons")
FILES = ("SConstruct", "SConscript", "README.md", "bootstrap")
NAMES = ("SConstruct", "SConscript", "defconfig", "bootstrap")
# Texts with wrong configurations on purpose, and those of a product, which are checked with PRODUCT=.
EXEMPT = ("tests/build/", "examples/product/")


def files(trees):
    """Every text that may name an option, as paths are written in `trees`."""
    found = [path for name in (*FILES, *(f"{folder}/**/*" for folder in FOLDERS)) for path in trees.files(name)]
    return [path for path in dict.fromkeys(found) if (trees.owner(path) or not path.startswith(EXEMPT))
            and (PurePath(path).suffix in SUFFIXES or PurePath(path).name in NAMES) and trees.real(path).is_file()]


def lint(trees):
    """All findings, as lines with a place; with products those in their files, as nobody there can change dynsel's."""
    kconf = configs.parse_kconfig(trees, variants.DEFAULT_BOARD)
    targets = aspects.catalogue(trees).target_symbols()  # the build itself asks for these
    texts = {path: trees.real(path).read_text(encoding="utf-8") for path in files(trees)}
    prefixes = ("DYNSEL_", *products.prefixes(trees, kconf))
    found = (_unknown_names(trees, kconf, texts, prefixes) + _unused(kconf, texts, targets) + _ifdefs(texts, prefixes)
             + _symbols(kconf) + _of_products(trees, kconf) + _choices(kconf) + _fragments(trees) + _defconfigs(trees)
             + unlisted_sources(trees) + _long_lines({p: t for p, t in texts.items() if not trees.owner(p)}))
    return [line for line in found if not trees.products or trees.owner(line.partition(":")[0])]


def _unknown_names(trees, kconf, texts, prefixes):
    """prefixes: what begins so is an option; in dynsel's own texts only the first."""
    known = {s.name for s in kconf.unique_defined_syms} | {c.name for c in kconf.unique_choices}
    found = []
    for path, text in texts.items():
        known_as = prefixes if trees.owner(path) else prefixes[:1]
        for number, line in enumerate(text.splitlines(), 1):
            found += [f"{path}:{number}: no option named {m}{did_you_mean(m, known)}"
                      for m in TOKEN.findall(line) if m.startswith(known_as) and m not in known and m != PLACEHOLDER]
    return found


def _ifdefs(texts, prefixes):
    """An option is 0 or 1: #ifdef is true for both."""
    return [f"{path}:{number}: {line.strip()!r}: options are 0 or 1; write #if CONFIG_..."
            for path, text in texts.items() if path.endswith((".c", ".h", ".cpp", ".hpp"))
            for number, line in enumerate(text.splitlines(), 1)
            if re.match(rf"\s*#\s*(ifdef|ifndef|if.*\bdefined\b).*\bCONFIG_({'|'.join(prefixes)})", line)]


def _long_lines(texts):
    """clang-format does not wrap comments, which would break the layout of the contracts in headers."""
    return [f"{path}:{number}: {len(line)} columns; wrap it to {COLUMNS}"
            for path, text in texts.items() if path.endswith((".c", ".h", ".cpp", ".hpp"))
            for number, line in enumerate(text.splitlines(), 1) if len(line) > COLUMNS]


def _unused(kconf, texts, used_by_the_build):
    """Symbols that no source, SConscript or other symbol uses."""
    sources = "\n".join(t for p, t in texts.items() if not p.endswith((".md", ".conf", "defconfig")))
    used = {*NAME.findall(sources), *used_by_the_build}
    for sym in kconf.unique_defined_syms:
        used |= {i.name for i in sym.referenced if isinstance(i, kl.Symbol) and i is not sym}
        if any(node.selects for node in sym.nodes):
            used.add(sym.name)  # its purpose is what it selects
    for choice in kconf.unique_choices:
        members = [s.name for s in choice.syms]
        if sum(m in used for m in members) >= len(members) - 1:
            used |= set(members)  # the last one holds if no other does
    return [f"{_place(s)}: {s.name} is not used; delete it" for s in kconf.unique_defined_syms
            if s.name not in used]


def _symbols(kconf):
    found = []
    for sym in kconf.unique_defined_syms:
        prompted = any(n.prompt for n in sym.nodes)
        if prompted and not any(n.help for n in sym.nodes):
            found.append(f"{_place(sym)}: {sym.name} has a prompt and no help text; write one")
        if sym.orig_type in (kl.INT, kl.HEX) and not sym.ranges:
            found.append(f"{_place(sym)}: {sym.name} is a number without a range; add one")
        if sym.orig_type in (kl.INT, kl.HEX, kl.STRING) and not sym.defaults:
            found.append(f"{_place(sym)}: {sym.name} has no default; add one")
        found += [f"{_place(sym)}: {sym.name} selects {target.name}, which has a prompt; use depends on"
                  for target, _, _ in _selects(sym) if any(n.prompt for n in target.nodes)]
    return found


def _of_products(trees, kconf):
    """A product's options have a prefix of their own."""
    return [f"{_place(s)}: {s.name}: a later dynsel may have an option of this name; begin the product's own with"
            " another word than DYNSEL_" for s in kconf.unique_defined_syms
            if trees.owner(s.nodes[0].filename) and s.name.startswith("DYNSEL_") and not s.name.startswith("DYNSEL_BOARD_")]


def _selects(sym):
    return [(target, condition, sym) for node in sym.nodes for target, condition in node.selects]


def _choices(kconf):
    found = []
    for choice in kconf.unique_choices:
        place = f"{choice.nodes[0].filename}:{choice.nodes[0].linenr}"
        if not choice.name:
            found.append(f"{place}: a choice without a name cannot get a default from a board; name it")
        if not any(n.help for n in choice.nodes):
            found.append(f"{place}: choice {choice.name or ''} has no help text; write one")
    return found


def _place(sym):
    return f"{sym.nodes[0].filename}:{sym.nodes[0].linenr}"


def _fragments(trees):
    """A fragment must be valid on at least one board."""
    found = []
    for fragment in variants.fragment_names(trees):
        mistakes = [_mistakes(trees, board, [fragment]) for board in boards.names(trees)]
        if all(mistakes):
            found += mistakes[0]
    return found


def _mistakes(trees, board, fragments):
    try:
        configs.load(trees, board, configs.layers_of(trees, board, fragments))
    except UserMistake as e:
        return e.lines
    return []


def _defconfigs(trees):
    """A defconfig must be valid and minimal."""
    found = []
    for board in boards.names(trees):
        mistakes = _mistakes(trees, board, [])
        found += mistakes or _not_minimal(trees, board)
    return found


def _not_minimal(trees, board):
    path = configs.defconfig(trees, board)
    target = Target(trees, variants.Variant(board), path, [])
    wanted = target.load(target.text()).values()
    fewest = edited(target.text(), minimal(target, wanted))
    if fewest == target.text():
        return []
    return [f"{path}: it repeats defaults; run `{trees.scons(f'BOARD={board}')} savedefconfig`"]


def unlisted_sources(trees):
    """C files in src/ that their SConscript does not name, so that no build compiles them."""
    found = []
    for source in trees.files("src/**/*.c"):
        owner, path = trees.owner(source), PurePath(source)
        script = f"{owner.root}/SConscript" if owner else f"{path.parent}/SConscript"
        wanted = f'"{path.relative_to(owner.root)}"' if owner else f'"{path.name}"'
        if not trees.real(script).exists() or wanted not in trees.real(script).read_text(encoding="utf-8"):
            found.append(f"{source}: no build compiles it; list it in {script}")
    return found
