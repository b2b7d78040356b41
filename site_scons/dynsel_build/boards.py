# SPDX-License-Identifier: Apache-2.0
"""What boards/<name>/board.py says about a board."""

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Board:
    """Returned by the function `describe(config)` of a board.py.

    cc, ar, nm, size
                  the programs; cc is also the linker
    packages      program -> Debian package that has it, for the message when it is missing
    cflags        added to every compilation and link (-mcpu=...)
    cppdefines    added to every compilation
    linkflags     added to every link
    runner        put in front of a test program (an emulator); nothing runs it right here
    limits        bytes of the archive: 'text', 'rodata', 'data', 'bss', 'flash' (the first three), and
                  'stack' of the worst public function; one left out is not limited
    machine       sizes that the formula for RAM needs (dynsel_build/ram.py); None: no formula is printed
    check_on_top  fragments that `scons check` also lays on each variant that it is asked for
    check_beside  fragments that `scons check` also lays on the bare board
    """

    cc: str
    ar: str = "ar"
    nm: str = "nm"
    size: str = "size"
    packages: dict = field(default_factory=dict)
    cflags: tuple = ()
    cppdefines: tuple = ()
    linkflags: tuple = ()
    runner: tuple = ()
    limits: dict = field(default_factory=dict)
    machine: object = None
    check_on_top: tuple = ()
    check_beside: tuple = ()


def names(top):
    """All boards: folders of boards/ with a Kconfig.board."""
    return sorted(p.parent.name for p in Path(top).glob("boards/*/Kconfig.board"))


def describe(top, name, configuration):
    """Asks boards/<name>/board.py. It is imported by path, so that boards can share nothing."""
    path = Path(top) / "boards" / name / "board.py"
    spec = importlib.util.spec_from_file_location(f"dynsel_board_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.describe(configuration)
