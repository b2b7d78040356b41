# SPDX-License-Identifier: Apache-2.0
"""The declarations of the public headers, as the compiler sees them: functions, tables of operations, sizes.

Nothing of them is written down a second time. A number is read from the symbol table of an object, as the
size of an array of that many bytes, which works with cross compilers, too.
"""

import re
import subprocess
from pathlib import Path

from . import elf

HEADERS = "include/dynsel"
# Private headers with tables of operations, or structures that keep users' functions, and their options.
PRIVATE = {"src/submission/pending_ops.h": "CONFIG_DYNSEL_COMMAND_GROUPS",
           "src/groups/group.h": "CONFIG_DYNSEL_COMMAND_GROUPS",
           "src/submission/repeat_table.h": "CONFIG_DYNSEL_REPEAT",
           "src/submission/evacuation.h": "CONFIG_DYNSEL_RESOURCE_SETS && CONFIG_DYNSEL_COMMAND_GROUPS"}


class Interface:
    """functions     names of declared functions
    structures    names of structures
    callbacks     names of function pointers that the user's program sets
    slots         table type -> {offset: name of the operation}
    table_bytes   table type -> bytes
    """

    def __init__(self, command, folder):
        """command: the compiler with all flags of the library; folder: for temporary files."""
        self._command, self._folder = [*command, "-w"], Path(folder)
        self._includes = "".join(_include(path) for path in sorted(Path(HEADERS).glob("*.h")))
        text = _of_the_headers(self._run(["-E"], self._includes))
        types = set(re.findall(r"typedef[^;{}]*\(\s*\*\s*(\w+)\s*\)\s*\(", text))
        private = self._private()
        tables = {name: _pointers(body, types) for name, body in _tables(text + private)}
        self.functions = set(re.findall(r"\b([a-z_]\w*)\s*\(", text))
        self.structures = {a or b for a, b in re.findall(r"\bstruct\s+(\w+)\s*\{|\}\s*(\w+)\s*;", text)}
        outside = re.sub(_TABLE, "", text + private)
        self.callbacks = set(_pointers(outside, types)) - types
        self.table_bytes, self.slots = self._measure(tables)

    def _private(self):
        """The text of the private headers, whose tables are included from here on."""
        found = [(Path(path).relative_to("src"), option) for path, option in PRIVATE.items() if Path(path).exists()]
        if not found:
            return ""
        self._command.append("-Isrc")
        lines = "".join(f'#if {option}\n#include "{path}"\n#endif\n' for path, option in found)
        includes = f"#include <dynsel/config.h>\n{lines}"
        self._includes += includes
        return _of_the_headers(self._run(["-E"], includes), PRIVATE)

    def sizes(self, types, numbers=None):
        """Bytes of each of these types. numbers: {macro of the configuration: another value}."""
        return self._numbers({name: f"sizeof({name})" for name in types}, numbers)

    def compile(self, source, numbers):
        """The object of a source of the library. numbers: {macro of the configuration: another value}."""
        target = self._folder / "asked.o"
        # the sizes of variables are those of their types, however well the code is compiled
        self._run(["-Isrc", "-O0", "-c", "-o", str(target)], f'{_changed(numbers)}#include "{source.relative_to("src")}"\n')
        return target

    def expanded(self, source):
        """The macros that a source of the library expands or asks for, its headers included."""
        text = self._run(["-Isrc", "-E", "-dU"], f'#include "{source.relative_to("src")}"\n')
        return set(re.findall(r"^#(?:define|undef) (\w+)", text, re.MULTILINE))

    def _measure(self, tables):
        asked = {name: f"sizeof({name})" for name in tables}
        asked.update({f"{name}__{slot}": f"offsetof({name}, {slot}) + 1"
                      for name, slots in tables.items() for slot in slots})
        found = self._numbers(asked)
        slots = {name: {found[f"{name}__{slot}"] - 1: slot for slot in members}
                 for name, members in tables.items()}
        return {name: found[name] for name in tables}, slots

    def _numbers(self, asked, changed=None):
        """Name -> number, for {name: constant expression above 0}."""
        lines = "".join(f"char asked_{name}[{value}];\n" for name, value in asked.items())
        target = self._folder / "asked.o"
        self._run(["-c", "-o", str(target)], f"#include <stddef.h>\n{_changed(changed)}{self._includes}{lines}")
        return {s.name[len("asked_"):]: s.size for s in elf.Object(target).symbols
                if s.name.startswith("asked_")}

    def _run(self, arguments, text):
        self._folder.mkdir(parents=True, exist_ok=True)
        source = self._folder / "asked.c"
        source.write_text(text, encoding="utf-8")
        return subprocess.run([*self._command, *arguments, str(source)], capture_output=True, text=True,
                              check=True).stdout


def _changed(numbers):
    """The configuration with other values of some macros."""
    changes = "".join(f"#undef {macro}\n#define {macro} {value}\n" for macro, value in (numbers or {}).items())
    return f"#include <dynsel/autoconf.h>\n{changes}" if changes else ""


def _include(path):
    """Includes a public header if the foreign headers that it needs are installed."""
    needed = re.findall(r"^#include <((?!dynsel/)[^>]+)>", path.read_text(encoding="utf-8"), re.M)
    condition = " && ".join(["1", *(f"__has_include(<{name}>)" for name in needed)])
    return f"#if {condition}\n#include <dynsel/{path.name}>\n#endif\n"


_TABLE = r"typedef\s+struct\s+(\w+_ops)\s*\{([^{}]*)\}"


def _tables(text):
    return re.findall(_TABLE, text)


def _pointers(text, types):
    """Names of function pointers in declarations, written out or of one of these types."""
    written_out = re.findall(r"\(\s*\*\s*(\w+)\s*\)\s*\(", text)
    typed = [name for t in types for name in re.findall(rf"\b{t}\s+(\w+)\s*[;,)]", text)]
    return written_out + typed


def _of_the_headers(text, places=(f"{HEADERS}/",)):
    """The lines of preprocessed text that come from the public headers, or from those in `places`."""
    kept, ours = [], False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = any(place in marker.group(1) for place in places)
        elif ours:
            kept.append(line)
    return "\n".join(kept)
