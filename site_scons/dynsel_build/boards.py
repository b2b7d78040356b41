# SPDX-License-Identifier: Apache-2.0
"""The description of a board in boards/<name>/board.py."""

import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePath

from .errors import UserMistake, unknown


@dataclass(frozen=True)
class Board:
    """Returned by the function `describe(config)` of a board.py.

    cc, ar, nm, size
                  commands; cc is also the linker
    cflags        added to every compilation and link (-mcpu=...)
    library_cflags
                  added when the library's own sources are compiled
    cppdefines    added to every compilation
    start         sources that are linked into each program, such as start-up code
    linkflags     added to every link; -T<file> is the linker script. Its path, and those in `start`, begin in the
                  tree that has the board, or in dynsel's
    libraries     linked with each program, last
    bare_metal    no operating system: the archive may need only the port, and tests get replacements of
                  the POSIX functions that they call
    small_runner  tests are linked with tests/runner and not with cmocka
    host_libraries
                  the host's libraries can be linked; if not, programs that need one are not built
    runner        command in front of a test program (an emulator); empty: it runs directly
    seconds       limit of processor time for a test
    clang_target  flags that tell clang-tidy the machine of a cross compiler
    limits        bytes of the archive: 'text', 'rodata', 'data', 'bss', 'flash' (the first three), 'stack'
                  of the worst public function; and, by a policy's name, the flash of a program that uses
                  only this policy. A missing key is no limit
    check_on_top  fragments that `scons check` adds to each chosen variant
    check_beside  fragments that `scons check` also adds to the board alone
    check_short   those of both with which `scons check` omits the long tests
    check_few     of those of both: fragment -> the folders of tests/ that `scons check` builds and runs with it, with the
                  programs that these start;
                  clang-tidy and cppcheck look there only at what no variant before it has compiled
    packages      from the folder's file `packages`: command, or compiler:file -> its Debian package
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
    check_beside: tuple = ()
    check_short: tuple = ()
    check_few: dict = field(default_factory=dict)
    packages: dict = field(default_factory=dict)

    def missing(self):
        """Packages for building tests that are not installed."""
        asked_elsewhere = (self.cc, self.ar, *self.runner[:1])
        return [package for what, package in self.packages.items()
                if what not in asked_elsewhere and not is_there(what)]


FILES = ("Kconfig.board", "defconfig")


def names(trees):
    """All boards: folders of boards/ with a Kconfig.board."""
    return sorted(PurePath(path).parent.name for path in trees.files("boards/*/Kconfig.board"))


def folder(trees, name):
    """The folder of a board: in dynsel's tree, unless only a product has one with this name."""
    folders = [os.path.join(root, "boards", name) for root in trees.roots()]
    return next((found for found in folders if trees.real(found).is_dir()), folders[0])


def check_folder(trees, name):
    """Refuses a folder that lacks a file."""
    place = folder(trees, name)
    gone = [f for f in FILES if not trees.real(f"{place}/{f}").is_file()]
    if trees.real(place).is_dir() and gone:
        raise UserMistake([f"{place}/{f} is missing; a board needs this file"
                           + (", even if empty" if f == "defconfig" else "") for f in gone])


def like(name, configuration):
    """The Board of another board, for a board.py that returns it with changes (dataclasses.replace)."""
    if name not in names(configuration.trees):
        raise UserMistake(unknown("board", name, names(configuration.trees), "like(): "))
    return describe(configuration.trees, name, configuration)


def describe(trees, name, configuration):
    """The Board of boards/<name>/board.py, which is imported by path."""
    shown = f"{folder(trees, name)}/board.py"
    path = trees.real(shown)
    if not path.is_file():
        raise UserMistake(f"{shown} is missing; copy one of another board and adapt it (doc/boards.md)")
    spec = importlib.util.spec_from_file_location(f"dynsel_board_{name}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        board = module.describe(configuration)
    except UserMistake:
        raise
    except Exception as e:  # pylint: disable=broad-except # a user's file may raise anything
        raise UserMistake(_blame(shown, path, e)) from e
    return _located(trees, shown, replace(board, packages={**board.packages, **_packages(trees, name)}))


def _located(trees, shown, board):
    """The Board with the places of its files: a path is one of the board's own tree, else of dynsel's."""
    owner = trees.owner(shown)
    roots = [owner.root, ""] if owner else [""]
    wrong = []

    def place(path):
        places = [os.path.join(root, path) for root in roots]
        found = next((p for p in places if trees.real(p).is_file()), None)
        if found is None:
            wrong.append(f"{shown}: {path} is missing: no file {' and no '.join(str(trees.real(p)) for p in places)};"
                         " correct the path")
        return found or path

    start = tuple(place(source) for source in board.start)
    linkflags = tuple("-T" + place(flag[2:]) if flag.startswith("-T") and len(flag) > 2 else flag for flag in board.linkflags)
    if wrong:
        raise UserMistake(wrong)
    return replace(board, start=start, linkflags=linkflags)


def _blame(shown, path, error):
    """One line for an exception in a board.py, with its place."""
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    where = f"{shown}:{line}" if line else shown
    return f"{where}: {type(error).__name__}: {error}"


def _packages(trees, name):
    """Command, or compiler:file -> its Debian package."""
    shown = f"{folder(trees, name)}/packages"
    found, path = {}, trees.real(shown)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if len(words) not in (0, 2):
            raise UserMistake(f"{shown}:{number}: write a command, or compiler:file, and its Debian package")
        if words:
            found[words[0]] = words[1]
    return found


@lru_cache(maxsize=None)
def is_there(what):
    """Whether a command, or a compiler's file, is installed. A file is not looked for without its compiler."""
    command, _, file = what.partition(":")
    if shutil.which(command) is None:
        return bool(file)
    if not file:
        return True
    said = subprocess.run([command, f"-print-file-name={file}"], capture_output=True, text=True,
                          check=False).stdout.strip()
    return said.startswith("/")
