# SPDX-License-Identifier: Apache-2.0
"""Generates texts from aspects and targets: headers, C for the library, parts of the menu."""

import textwrap

from . import opencl_texts
from .grammar import quote

WIDTH = 96
QUERY_BYTES = 60  # of code in the OpenCL backend for an aspect, measured on x86-64


# Headers

def names_header(aspects):
    """<dynsel/aspect_names.h>: the names of aspects, and 0 for each macro that is not defined."""
    lines = [f"#define DYNSEL_ASPECT_COUNT {len(aspects)}"]
    for name in aspects:
        lines += [_known(name), _zero(_all(name)), _zero(_any(name))]
    return _header("DYNSEL_ASPECT_NAMES_H", "Generated: the aspects of this configuration.", lines)


def sets_header(sets, names):
    """<dynsel/aspect_sets.h>: the macros of the two sets for the targets with these names."""
    about = textwrap.fill(f"Generated for the device targets {', '.join(names)}.", WIDTH,
                          subsequent_indent="   ", break_on_hyphens=False)
    return _header("DYNSEL_ASPECT_SETS_H", about, _macros(sets))


def _macros(sets):
    lines = [f"#define {_all(name)} 1" for name in sets.all_devices]
    if sets.any_aspect:
        lines.append("#define __DYNSEL_ANY_DEVICE_HAS_ANY_ASPECT__ 1")
    return lines + [f"#define {_any(name)} 1" for name in sets.any_devices]


def _header(guard, about, lines):
    return "\n".join(["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {about} */", f"#ifndef {guard}",
                      f"#define {guard}", "", *lines, *([""] if lines else []), "#endif", ""])


def _all(name):
    return f"__DYNSEL_ALL_DEVICES_HAVE_{name}__"


def _any(name):
    return f"__DYNSEL_ANY_DEVICE_HAS_{name}__"


def _known(name):
    return f"#define DYNSEL_NO_SUCH_ASPECT_{name}"


def _zero(macro):
    return f"#define DYNSEL_TRAIT_{macro} 0"


def opencl_prelude(aspects, sets, traits):
    """C string literals of the same macros, to prepend to OpenCL programs.

    traits: the text of <dynsel/aspect_traits.h>. A zero that no code can query is omitted.
    """
    lines = [_known(name) for name in aspects]
    lines += [_zero(_all(name)) for name in aspects if name not in sets.all_devices]
    if not sets.any_aspect:
        lines += [_zero(_any(name)) for name in aspects if name not in sets.any_devices]
    lines += _macros(sets) + opencl_texts.bare(traits) + ["#line 1"]
    return opencl_texts.literals(lines)


# C for the library

def targets_inc(targets, aspects):
    """The definitions of targets as dynsel_target; without aspects that are not in `aspects`."""
    ways = [f"static const dynsel_recognition recognize_{t.name}[] = {{\n"
            + "".join(f"    {_way(way)},\n" for way in t.recognize) + "};\n" for t in targets]
    entries = "".join(_entry(target, aspects) for target in targets)
    return ("/* Generated from the table of device targets. */\n" + "".join(ways)
            + f"static const dynsel_target targets[] = {{\n{entries}}};\n")


def _entry(target, aspects):
    bits = [f"DYNSEL_ASPECT_BIT({name})" for name in aspects if name in target.aspects]
    return (f"    {{.name = {opencl_texts.c_string(target.name)},\n"
            f"     .aspects = {(chr(10) + ' ' * 16 + '| ').join(bits) or '0'},\n"
            f"     .may_support_other_aspects = {'true' if target.may_support_other_aspects else 'false'},\n"
            f"     .recognitions = recognize_{target.name},\n"
            f"     .recognition_count = {len(target.recognize)}}},\n")


def _way(way):
    fields = ", ".join(f".{key} = {opencl_texts.c_string(text)}" for key, text in way.items())
    return f"{{{fields or '.backend = NULL'}}}"


# The menu

def kconfig_targets(targets):
    """The menu of targets."""
    paths = dict.fromkeys(target.path for target in targets)
    return (_first_line(" and ".join(paths)) + 'menu "Device targets"\n'
            + "".join("\n" + _target_option(target) for target in targets) + "\nendmenu\n")


def _first_line(path):
    return f"# Generated from {path}; edit that, not this file.\n\n"


def _target_option(target):
    prompt = _kconfig_text(f"{target.name}: {target.text}")
    help_text = _help([
        f"Every such device has: {', '.join(target.aspects) or 'no known aspect'}.",
        "Some may have more (may_support_other_aspects)." if target.may_support_other_aspects
        else "None has another aspect.",
        f"Its devices are those {', or those '.join(map(_way_in_words, target.recognize))}.",
        f"Source: {target.source}.", f"Its entry is at {target.path}:{target.line}."])
    if not target.added_by:
        return f"config {target.symbol}\n\tbool {prompt}\n{help_text}"
    added = " || ".join(f"DYNSEL_BACKEND_{name.upper()}" for name in target.added_by)
    return (f"config {target.symbol}\n\tbool\n\tdefault y if {added}\n{help_text}\n"
            f"comment {_kconfig_text(f'{target.name}: {target.text} (comes with its backend)')}\n"
            f"\tdepends on {target.symbol}\n")


def _way_in_words(way):
    if not way:
        return "that no other target recognizes"
    return "with " + ", ".join(f"{key} {text!r}" for key, text in way.items())


def kconfig_aspects(aspects, path):
    """The menu of aspects, from the list at `path`."""
    return (_first_line(path) + 'menu "Known aspects"\n'
            + "".join("\n" + _aspect_option(aspect) for aspect in aspects) + "\nendmenu\n")


def _aspect_option(aspect):
    macros = sum(len(line) + 1 for line in (_known(aspect.name), _zero(_all(aspect.name)),
                                            _zero(_any(aspect.name))))
    help_text = _help([
        "Without it the name is not an aspect: code that queries it, with #if or in C, does not compile;"
        " no target promises it, and no device is queried for it.",
        f"Costs {len(aspect.name) + 1} bytes for the name, {len(aspect.text.encode()) + 1} for the text and"
        f" two pointers; with the OpenCL backend about {QUERY_BYTES} bytes of code, and up to {macros} for"
        " the macros that its programs get."])
    return (f"config {aspect.symbol}\n\tbool {_kconfig_text(f'{aspect.name}: {aspect.text}')}\n"
            f"\tdefault y\n{help_text}")


def _help(paragraphs):
    lines = [line for text in paragraphs
             for line in textwrap.wrap(text, 84, break_on_hyphens=False, break_long_words=False)]
    return "\thelp\n" + "".join(f"\t  {line}\n" for line in lines)


def _kconfig_text(text):
    """Kconfig would expand $(...) in it."""
    return quote(text).replace("$", "\\$")
