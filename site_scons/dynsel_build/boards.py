# SPDX-License-Identifier: Apache-2.0
"""What boards/<name>/board.py says about a board."""

import importlib.util
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from .errors import UserMistake


@dataclass(frozen=True)
class Board:
    """Returned by the function `describe(config)` of a board.py.

    cc, ar, nm, size
                  the programs; cc is also the linker
    cflags        added to every compilation and link (-mcpu=...)
    library_cflags
                  added when the library's own sources are compiled
    cppdefines    added to every compilation
    start         sources that are linked into each program, such as start-up code
    linkflags     added to every link
    libraries     linked with each program, last
    bare_metal    there is no operating system: the archive may need nothing but the port, and tests
                  get stand-ins for the calls of POSIX that they use
    small_runner  tests are linked with tests/runner and not with cmocka
    host_libraries
                  the host's own libraries can be linked; else what needs some is left out
    runner        put in front of a test program (an emulator); nothing runs it right here
    seconds       of processor time that a test may take
    clang_target  the machine as clang-tidy has to be told, for a cross compiler
    limits        bytes of the archive: 'text', 'rodata', 'data', 'bss', 'flash' (the first three), 'stack'
                  of the worst public function, 'fixed_resource' and so on: what a program with that
                  policy keeps of the flash; one left out is not limited
    check_on_top  fragments that `scons check` also lays on each variant that it is asked for
    check_short   of check_on_top the fragments with which `scons check` leaves out the long tests
    check_beside  fragments that `scons check` also lays on the bare board
    packages      what the file `packages` of the folder says: program, or compiler:file -> Debian
                  package that has it
    """

    cc: str
    ar: str = "ar"
    nm: str = "nm"
    size: str = "size"
    cflags: tuple = ()
    library_cflags: tuple = ()
    cppdefines: tuple = ()
    start: tuple = ()
    linkflags: tuple = ()
    libraries: tuple = ()
    bare_metal: bool = False
    small_runner: bool = False
    host_libraries: bool = True
    runner: tuple = ()
    seconds: int = 240
    clang_target: tuple = ()
    limits: dict = field(default_factory=dict)
    check_on_top: tuple = ()
    check_short: tuple = ()
    check_beside: tuple = ()
    packages: dict = field(default_factory=dict)

    def missing(self):
        """Packages of what tests are built with and is not there."""
        asked_elsewhere = (self.cc, self.ar, *self.runner[:1])
        return [package for what, package in self.packages.items()
                if what not in asked_elsewhere and not is_there(what)]


FILES = ("Kconfig.board", "defconfig")


def names(top):
    """All boards: folders of boards/ with a Kconfig.board."""
    return sorted(p.parent.name for p in Path(top).glob("boards/*/Kconfig.board"))


def check_folder(top, name):
    """A folder that lacks a file is a mistake that names the file."""
    folder = Path(top) / "boards" / name
    gone = [f for f in FILES if not (folder / f).is_file()]
    if folder.is_dir() and gone:
        raise UserMistake([f"boards/{name}/{f} is missing; a board needs one"
                           + (", if only an empty one" if f == "defconfig" else "") for f in gone])


def describe(top, name, configuration):
    """Asks boards/<name>/board.py. It is imported by path, so that boards can share nothing."""
    path = Path(top) / "boards" / name / "board.py"
    if not path.is_file():
        raise UserMistake(f"boards/{name}/board.py is missing; it says how to build for the board")
    spec = importlib.util.spec_from_file_location(f"dynsel_board_{name}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        board = module.describe(configuration)
    except UserMistake:
        raise
    except Exception as e:  # pylint: disable=broad-except # it is the user's own file
        raise UserMistake(_blame(f"boards/{name}/board.py", path, e)) from e
    return replace(board, packages=_packages(top, name))


def _blame(shown, path, error):
    """One line for whatever went wrong in a board.py, with the line of the file where it did."""
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    where = f"{shown}:{line}" if line else shown
    return f"{where}: {type(error).__name__}: {error}"


def _packages(top, name):
    """What a board needs -> the Debian package that has it."""
    shown = f"boards/{name}/packages"
    found, path = {}, Path(top) / shown
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if len(words) not in (0, 2):
            raise UserMistake(f"{shown}:{number}: a line is a command, or compiler:file, and its package")
        if words:
            found[words[0]] = words[1]
    return found


@lru_cache(maxsize=None)
def is_there(what):
    """Whether a command, or a compiler's file, is installed; of one without a compiler nobody knows."""
    command, _, file = what.partition(":")
    if shutil.which(command) is None:
        return bool(file)
    if not file:
        return True
    said = subprocess.run([command, f"-print-file-name={file}"], capture_output=True, text=True,
                          check=False).stdout.strip()
    return said.startswith("/")
