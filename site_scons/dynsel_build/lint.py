# SPDX-License-Identifier: Apache-2.0
"""kconfig-lint: errors that Kconfig accepts: unknown names, unused options, missing helps, ..."""

import re
from pathlib import Path

import kconfiglib as kl

from . import aspects, boards, config as configs, variants
from .errors import UserMistake, did_you_mean
from .save import Target, edited, minimal

TOKEN = re.compile(r"\bCONFIG_(DYNSEL_[A-Z0-9_]*[A-Z0-9])\b(?!\*)")
PLACEHOLDER = "DYNSEL_X"  # stands for any option in documentation
NAME = re.compile(r"\b(DYNSEL_[A-Z0-9_]+)\b")
COLUMNS = 100
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".def", ".cl", ".py", ".md", ".S", ".ld", ".conf"}
FOLDERS = ("include", "src", "examples", "tests", "bench", "soak", "tools", "doc", "boards", "configs",
           "site_scons")
# Texts with wrong configurations on purpose.
EXEMPT = ("tests/build/",)


def files(top):
    """Every text that may name an option."""
    top = Path(top)
    found = [p for p in (top / "SConstruct", top / "README.md", top / "bootstrap") if p.exists()]
    for folder in FOLDERS:
        found += [p for p in sorted((top / folder).rglob("*"))
                  if (p.suffix in SUFFIXES or p.name in ("SConscript", "defconfig")) and p.is_file()]
    return [p for p in found if not str(p.relative_to(top)).startswith(EXEMPT)]


def lint(top):
    """All findings, as lines with a place."""
    kconf = configs.parse_kconfig(top, variants.DEFAULT_BOARD)
    targets = aspects.catalogue(top).target_symbols()  # the build itself asks for these
    texts = {str(p.relative_to(top)): p.read_text(encoding="utf-8") for p in files(top)}
    return (_unknown_names(kconf, texts) + _unused(kconf, texts, targets) + _ifdefs(texts)
            + _symbols(kconf) + _choices(kconf) + _fragments(top) + _defconfigs(top)
            + unlisted_sources(top) + _long_lines(texts))


def _unknown_names(kconf, texts):
    known = {s.name for s in kconf.unique_defined_syms} | {c.name for c in kconf.unique_choices}
    found = []
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            found += [f"{path}:{number}: no option named {m}{did_you_mean(m, known)}"
                      for m in TOKEN.findall(line) if m not in known and m != PLACEHOLDER]
    return found


def _ifdefs(texts):
    """An option is 0 or 1: #ifdef is true for both."""
    return [f"{path}:{number}: {line.strip()!r}: options are 0 or 1; write #if CONFIG_..."
            for path, text in texts.items() if path.endswith((".c", ".h", ".cpp", ".hpp"))
            for number, line in enumerate(text.splitlines(), 1)
            if re.match(r"\s*#\s*(ifdef|ifndef|if.*\bdefined\b).*\bCONFIG_DYNSEL_", line)]


def _long_lines(texts):
    """clang-format does not wrap comments, which would break the layout of the contracts in headers."""
    return [f"{path}:{number}: {len(line)} columns; wrap it to {COLUMNS}"
            for path, text in texts.items() if path.endswith((".c", ".h", ".cpp", ".hpp"))
            for number, line in enumerate(text.splitlines(), 1) if len(line) > COLUMNS]


def _unused(kconf, texts, used_by_the_build):
    """Symbols that no source, SConscript or other symbol uses."""
    sources = "\n".join(t for p, t in texts.items() if not p.endswith((".md", ".conf", "defconfig")))
    used = {*NAME.findall(sources.replace("CONFIG_DYNSEL", "DYNSEL")), *used_by_the_build}
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


def _fragments(top):
    """A fragment must be valid on at least one board."""
    found = []
    for fragment in variants.fragment_names(top):
        mistakes = [_mistakes(top, board, [fragment]) for board in boards.names(top)]
        if all(mistakes):
            found += mistakes[0]
    return found


def _mistakes(top, board, fragments):
    try:
        configs.load(top, board, configs.layers_of(top, board, fragments))
    except UserMistake as e:
        return e.lines
    return []


def _defconfigs(top):
    """A defconfig must be valid and minimal."""
    found = []
    for board in boards.names(top):
        mistakes = _mistakes(top, board, [])
        found += mistakes or _not_minimal(top, board)
    return found


def _not_minimal(top, board):
    path = f"boards/{board}/defconfig"
    target = Target(top, variants.Variant(board), path, [])
    wanted = target.load(target.text()).values()
    fewest = edited(target.text(), minimal(target, wanted))
    if fewest == target.text():
        return []
    return [f"{path}: it repeats defaults; run `scons BOARD={board} savedefconfig`"]


def unlisted_sources(top):
    """C files in src/ that their SConscript does not name, so that no build compiles them."""
    found = []
    for source in sorted(Path(top).glob("src/**/*.c")):
        script = source.parent / "SConscript"
        if not script.exists() or f'"{source.name}"' not in script.read_text(encoding="utf-8"):
            found.append(f"{source.relative_to(top)}: no build compiles it; list it in {script.relative_to(top)}")
    return found
