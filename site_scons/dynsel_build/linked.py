# SPDX-License-Identifier: Apache-2.0
"""Flash and RAM of the library in a program that uses one policy: linked with --gc-sections, without libc.

The program refers to the policy's init function, dynsel_submit() and dynsel_wait(); the linker keeps what
they need. One more program, OWN_BACKEND, uses the two policies that learn from reports, and a backend of its
own. It is a relocatable link, so that it needs no start-up code, linker script or other library.
"""

import re
import subprocess
from pathlib import Path

from . import elf
from .interface import HEADERS

PROGRAM = """\
{includes}
typedef void (*function)(void);
extern const function used_by_program[];
__attribute__((section(".used_by_program"))) const function used_by_program[] = {{
    {functions}}};
"""

OWN_BACKEND = "own_backend"
LEARNING = ("auto_tune", "dynamic_load")


def policies(config):
    """The policies of a configuration, as named in their functions."""
    names = (name.removeprefix("DYNSEL_POLICY_").lower() for name in config.symbols()
             if name.startswith("DYNSEL_POLICY_") and config.is_set(name))
    return [name for name in names if Path(f"{HEADERS}/{name}.h").exists()]


def measure(config, command, archive, folder):
    """policy -> {'flash', 'ram'} in bytes of the library, in a program that uses only this policy."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    found = {policy: _kept([policy], command, archive, folder) for policy in policies(config)}
    if set(LEARNING) <= found.keys() and config.is_set("DYNSEL_CUSTOM_BACKENDS"):
        found[OWN_BACKEND] = _kept(LEARNING, command, archive, folder, ("complete", "work_call"))
    return found


def _kept(used, command, archive, folder, more=()):
    names = (*(f"{policy}_init" for policy in used), "submit", "wait", *more)
    headers = (*used, "submission", *(("backend",) if more else ()))
    source, script, target = (folder / f"linked.{suffix}" for suffix in ("c", "ld", "o"))
    source.write_text(PROGRAM.format(
        includes="\n".join(f"#include <dynsel/{header}.h>" for header in headers),
        functions=", ".join(f"(function)dynsel_{name}" for name in names)), encoding="utf-8")
    script.write_text("SECTIONS { }\n", encoding="utf-8")  # replaces a script in the board's flags
    flags = ["-w", "-fno-lto", "-nostdlib", "-nostartfiles", "-r", "-Wl,--gc-sections",
             "-Wl,-u,used_by_program", "-Wl,-e,used_by_program", "-T", str(script)]
    subprocess.run([*command, *flags, str(source), archive, "-o", str(target)], capture_output=True,
                   text=True, check=True)
    sizes = {"flash": 0, "ram": 0}
    for section in elf.Object(target).sections:
        match = re.match(r"\.[st]?(text|rodata|data|bss)\b", section.name)
        if match and section.flags & elf.ALLOCATED:
            constant = match.group(1) in ("text", "rodata") or section.name.startswith(".data.rel.ro")
            sizes["flash"] += section.size if match.group(1) != "bss" else 0
            sizes["ram"] += 0 if constant else section.size
    return sizes
