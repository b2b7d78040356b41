# SPDX-License-Identifier: Apache-2.0
"""The generated configuration header.

Every bool is defined as 0 or 1, so that `#if` with -Wundef -Werror finds a misspelt name. A number
without a value in this configuration is omitted, so that using it is an error, too.
"""

import hashlib

from . import grammar


def tag(configuration):
    """Identifies this configuration: c and eight hexadecimal digits."""
    targets = {grammar.PREFIX + s for s in configuration.catalogue.target_symbols()}
    hashed = [line for line in _value_lines(configuration) if line.split()[1] not in targets]
    hashed += configuration.aspects().macros()  # the result of the chosen targets
    return "c" + hashlib.sha256("\n".join(hashed).encode()).hexdigest()[:8]


def autoconf(configuration):
    """The whole text of gen/dynsel/autoconf.h."""
    lines = _value_lines(configuration)
    digest = tag(configuration)[1:]
    return "\n".join([
        f"/* Generated for the variant {configuration.variant_name}; change the configuration, not"
        " this file. */",
        "#ifndef DYNSEL_AUTOCONF_H",
        "#define DYNSEL_AUTOCONF_H",
        "",
        *lines,
        "",
        "/* A hash over the values above and the macros of the aspects. The tag is part of a symbol's",
        "   name, so that headers and an archive of different configurations do not link. */",
        f'#define DYNSEL_CONFIG_HASH_TEXT "{digest}"',
        f"#define DYNSEL_CONFIG_HASH 0x{digest}u",
        f"#define DYNSEL_CONFIG_TAG c{digest}",
        f"#define DYNSEL_CONFIG_VARIANT_TEXT {grammar.quote(configuration.variant_name)}",
        "",
        "#endif",
        "",
    ])


def _value_lines(configuration):
    return [line for entry in configuration.entries() if (line := _define(*entry))]


def _define(name, kind, value):
    if kind == "bool":
        return f"#define {grammar.PREFIX}{name} {int(value == 'y')}"
    if kind == "text":
        return f"#define {grammar.PREFIX}{name} {grammar.quote(value)}"
    return f"#define {grammar.PREFIX}{name} {value}" if value else None
