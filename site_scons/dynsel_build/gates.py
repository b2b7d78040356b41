# SPDX-License-Identifier: Apache-2.0
"""The gates of `scons check` besides the tests: each is a node with a stamp.

A node depends on the tool's command line, on the file, on the headers that the file includes and on
the tool's own settings, so a second check repeats only the changed ones.
"""

import json
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from SCons.Script import Value

from . import freestanding, layers, lint, size, targets, toolchain
from .nodes import action, finish, missing, missing_line
from .trees import at

LLVM = 14  # another major version formats and warns differently
FORMATTED = ("boards", "include", "src", "examples", "tools", "tests", "bench", "soak", "zephyr", "esp_idf")
OF_BOARDS = ("boards/", "src/port/", "tests/boards/", "tests/runner/")
# Tests and programs run with sanitizers; an analysis through all calls takes six times as long. It has to follow
# the calls of the runner, which hands va_list on, and those of soak. Where it follows calls, it takes as many steps
# through a function as where it does not: the three times as many that are Clang's default take three times as long.
SHALLOW = ["-Xclang", "-analyzer-config", "-Xclang", "mode=shallow"]
DEEP = ["-Xclang", "-analyzer-config", "-Xclang", "max-nodes=75000"]
DEEP_IN = ("boards/", "src/", "soak/", "tests/runner/")
CPPCHECK = ["--quiet", "--error-exitcode=1", "--std=c11", "--std=c++17", "--inline-suppr",
            "--enable=warning,performance,portability", "--suppress=missingIncludeSystem",
            "-U__OPENCL_C_VERSION__", "-U__OPENCL_VERSION__"]  # what else a header is for
# With one definition cppcheck reads a source once, and not again for each option of the menu, which the generated
# header settles, and for each compiler that a header asks for. C++ is read with exceptions, which is more code.
READ_ONCE = ["-D__STDC__=1"]
WITH_EXCEPTIONS = ["-DDYNSEL_EXCEPTIONS=1"]
OF_LIBPNG = ("examples/common/picture.c",)  # its header asks for the limits of C's types, which cppcheck does not know
IN_CPP = "-readability-named-parameter,-misc-non-private-member-variables-in-classes"
EVERYTHING = "dynsel/dynsel.h"  # the header that includes the others
INSIDE = f"""\
#include <stddef.h>
#ifdef __cplusplus
extern "C" {{
#endif
#include <{EVERYTHING}>
#ifdef __cplusplus
}}
#endif
"""
HEAP = ("malloc calloc realloc reallocarray free cfree aligned_alloc memalign posix_memalign valloc"
        " pvalloc strdup strndup asprintf vasprintf open_memstream getline getdelim alloca sbrk brk"
        " mmap _Znwm _Znam _ZdlPv _ZdaPv").split()


def find_llvm_tool(name):
    """The command for clang-format or clang-tidy of the pinned major version, or None."""
    pinned = f"{name}-{LLVM}"
    if shutil.which(pinned):
        return pinned
    if shutil.which(name):
        said = subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout
        match = re.search(r"version (\d+)\.", said)
        if match and int(match.group(1)) == LLVM:
            return name
    return None


def c_files(top):
    """All files that clang-format checks."""
    return [str(p.relative_to(top)) for folder in FORMATTED
            for p in sorted((Path(top) / folder).rglob("*")) if p.suffix in (".c", ".h", ".cpp", ".hpp")]


def format_in_place(top, pretends):
    """`scons format`; with -n it only names the changes."""
    tool = find_llvm_tool("clang-format")
    if not tool:
        return missing_line(f"clang-format-{LLVM}")
    how = "--dry-run" if pretends else "-i"
    subprocess.run([tool, how, "--style=file", *c_files(top)], cwd=top, check=True)
    return None


class Gates:
    """Declares the gate nodes; `base` is an environment without a variant."""

    def __init__(self, base, trees):
        self.base, self.trees, self.top = base, trees, trees.top
        self._seen = {}  # gate -> sources of variants so far

    def tidy(self, build):
        """clang-tidy on each source of a variant: library, examples, tests."""
        tool = find_llvm_tool("clang-tidy")
        settings = [self.base.File(f"#{name}") for name in (".clang-tidy", "boards/.clang-tidy", "tests/.clang-tidy")
                    if (Path(self.top) / name).exists()]
        return [self._per_source(build, "tidy", "TIDY", env, source,
                                 [tool, "--quiet", *_language_checks(source.path), source.path, "--",
                                  *_language_flags(source.path),
                                  *_target_flags(build.board.cc, build.board.cflags, build.board.clang_target),
                                  *_cpp_flags(env), *_system_flags(env), *(DEEP if source.path.startswith(DEEP_IN) else SHALLOW)],
                                 self._needs(tool, f"clang-tidy-{LLVM}") + settings)
                for env, source in self._sources(build, "tidy")]

    def cppcheck(self, build):
        """cppcheck on library and examples; it cannot expand the macros of cmocka in tests."""
        tool = shutil.which("cppcheck") and "cppcheck"
        return [self._per_source(build, "cppcheck", "CHECK", env, source,
                                 [tool, *CPPCHECK, *readings(source.path), *_cpp_flags(env), source.path],
                                 self._needs(tool, "cppcheck"))
                for env, source in self._sources(build, "cppcheck")
                if not source.path.startswith("tests/")]

    def formatted(self):
        """clang-format changes no file.

        Not per variant: a file has one format. One process, because starting is slower than reading.
        """
        tool = find_llvm_tool("clang-format")
        needs = self._needs(tool, f"clang-format-{LLVM}") + [self.base.File("#.clang-format")]
        files = c_files(self.top)
        return self._node(self.base, f"{self.trees.build}/gates/format", "  FORMAT everything",
                          [tool, "--style=file", "--dry-run", "--Werror", *files],
                          [self.base.File(f"#{path}") for path in files], needs, "`scons format` corrects it")

    def kconfig_lint(self):
        """The command kconfig-lint, repeated if one of its inputs changed."""
        def check(target, source, env):
            return finish(target[0].path, lint.lint(self.trees))

        menus = ("Kconfig", "boards/*/Kconfig.board", "src/**/Kconfig*", targets.PATH)
        paths = dict.fromkeys([*lint.files(self.trees), *(p for menu in menus for p in self.trees.files(menu))])
        sources = [self.base.File(at(path)) for path in paths]
        return self.base.Command(at(f"{self.trees.build}/gates/kconfig-lint.ok"), sources,
                                 action(check, "  LINT  Kconfig and the sources"))

    def layers(self):
        """The command layers."""
        def check(target, source, env):
            return finish(target[0].path, layers.lint(self.top))

        sources = [self.base.File("#" + str(p.relative_to(self.top))) for p in layers.files(self.top)]
        return self.base.Command(at(f"{self.trees.build}/gates/layers.ok"), [*sources, self.base.File(f"#{layers.THIS}")],
                                 action(check, "  LINT  layers of src"))

    def no_heap(self, build):
        """No object of the archive defines or needs an allocator."""
        nm = build.board.nm

        def check(target, source, env):
            listing = subprocess.run([nm, "-A", source[0].path], capture_output=True, text=True,
                                     check=True).stdout
            found = [f"{line}: the library uses no heap; use a static table" for line in listing.splitlines()
                     if line.split()[-1].split("@")[0] in HEAP]
            return finish(target[0].path, found)

        stem = f"{build.variant.folder}/gates/no-heap"
        return build.env.Command(at(f"{stem}.ok"), [build.archive, Value([nm, HEAP])],
                                 action(check, f"  HEAP  {build.archive[0].path}"))

    def freestanding(self, build):
        """On bare metal the archive needs only available symbols."""
        if not build.board.bare_metal:
            return []

        def check(target, source, env):
            found = freestanding.complaints(self.top, build.board, source[0].path)
            return finish(target[0].path, found)

        sources = [build.archive, self.base.File("#include/dynsel/port.h"),
                   Value(json.dumps([freestanding.NOT_WANTED, freestanding.MAY_DIVIDE, build.board.cflags]))]
        return build.env.Command(at(f"{build.variant.folder}/gates/freestanding.ok"), sources,
                                 action(check, f"  NEEDS {build.archive[0].path}"))

    def headers(self, build):
        """Each public header compiles alone, included twice: those of C in strict C11 and in C++11, all of them also
        inside `extern "C"`; those of C++ in C++17, and all of them in C++20."""
        folder = f"{build.variant.folder}/gates/headers"
        empty = build.written("gates/headers/empty.c", "typedef int not_an_empty_file;\n")
        inside = build.written("gates/headers/inside.c", INSIDE)
        in_c = [build.board.cc, *build.env.subst("$CFLAGS $CCFLAGS").split(), "-pedantic",
                *_cpp_flags(build.env), "-fsyntax-only"]
        of_c, of_cpp = ([f"dynsel/{h.name}" for h in sorted((Path(self.top) / "include/dynsel").glob(pattern))
                         if h.name != "opencl.h" or build.config["DYNSEL_HAS_OPENCL"]] for pattern in ("*.h", "*.hpp"))
        compiled = [([*c, empty[0].path], name) for name in of_c for c in (in_c, *_as_cpp(build, "c++11"))]
        compiled += [([*c, empty[0].path], name) for name in of_cpp for c in _with_library(build, "c++17")]
        compiled += [([*c, inside[0].path], name) for name in of_c if name == EVERYTHING
                     for c in (in_c, *_as_cpp(build, "c++11"))]
        compiled += [([*c, empty[0].path], name) for name in of_cpp if name == f"{EVERYTHING}pp"
                     for c in _with_library(build, "c++20")]

        def check(target, source, env):
            said = []
            for command, name in compiled:
                answer = _run([*command, "-include", name, "-include", name] if empty[0].path in command else command)
                said += answer + [f"<{name}> does not compile alone; include what it uses"] if answer else []
            return finish(target[0].path, said)

        sources = [build.env.File(f"#include/{n}") for n in of_c + of_cpp]
        node = build.env.Command(at(f"{folder}/alone.ok"), [*sources, empty, inside, Value(json.dumps(compiled))],
                                 action(check, f"  ALONE {build.variant.name}: each public header"))
        build.env.Depends(node, build.generated)
        return node

    def size(self, build):
        """build/<variant>/size.txt and size.json, within the limits of the board."""
        objects = sorted(o.path for o in build.library_objects)
        beside = {f"lib{name}.a": sorted(o.path for o in nodes) for name, nodes in build.product_objects.items()}
        folder, board = build.variant.folder, build.board
        command = [board.cc, *build.env.subst("$CFLAGS $CCFLAGS").split(), *_cpp_flags(build.env),
                   *_system_flags(build.with_libraries(build.env, build.user_libs))]

        def check(target, source, env):
            found = size.update(folder, objects, build.variant, board, build.config, command,
                                source[0].path, beside)
            return finish(None, found) if found else 0

        node = build.env.Command([at(f"{folder}/size.txt"), at(f"{folder}/{size.FIGURES}")],
                                 [build.archive, build.product_archives, Value(board.limits)], action(check, "  SIZE  $TARGET"))
        build.env.Depends(node, build.generated)
        build.env.Clean(node, [f"{folder}/{size.WITHIN_LIMITS}", f"{folder}/size"])
        return node

    def show_size(self, build):
        """Prints the table, even if it was up to date."""
        def show(target, source, env):
            print(Path(f"{build.variant.folder}/size.txt").read_text(encoding="utf-8"), end="")

        return action(show, None)

    # Implementation

    def _sources(self, build, gate):
        """For a cross compiler only the sources for boards; board native checks the others. Nothing generated.

        What a product compiles of dynsel's sources again is checked once, and so is what a variant with few tests
        (check_few of the board) has in common with those before.
        """
        seen = self._seen.setdefault(gate, set())
        before = set(seen) if build.few is not None else ()
        found = [(env, source) for env, source in self._checkable(build) if source.srcnode().path not in before]
        seen.update(source.srcnode().path for _, source in found)
        return found

    def _checkable(self, build):
        return [(env, source) for env, source in build.compiled()
                if (not source.has_builder() and not build.board.clang_target or source.path.startswith(OF_BOARDS))
                and ("OBJECTS" not in env or self.trees.owner(source.srcnode().path))]

    def _per_source(self, build, gate, label, env, source, command, needs):
        stem = f"{build.variant.folder}/gates/{gate}/{self.trees.short(source.srcnode().path)}"
        return self._node(env, stem, f"  {label:5} {source.path}", command, [source],
                          needs + [build.generated])

    def _node(self, env, stem, says, command, sources, needs, remedy=""):
        def check(target, source, env):
            said = _run(command)
            return finish(target[0].path, said + [remedy] if said and remedy else said)

        node = env.Command(at(f"{stem}.ok"), [*sources, Value(json.dumps(command))], action(check, says))
        env.Depends(node, needs)
        return node

    def _needs(self, tool, package):
        return [] if tool else list(missing(self.base, package))


def readings(path):
    """Flags for cppcheck: what asks for a machine, or its libraries do, is read with every definition."""
    if path.startswith((*OF_BOARDS, *OF_LIBPNG)):
        return []
    return [*READ_ONCE, *(WITH_EXCEPTIONS if path.endswith(".cpp") else [])]


def _run(command):
    """The output of a failed command, as lines; nothing if it succeeded."""
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    if answer.returncode == 0:
        return []
    return answer.stdout.splitlines() or [f"{command[0]} ended with status {answer.returncode}"]


@lru_cache(maxsize=None)
def _target_flags(board_cc, cflags, clang_target):
    """Flags for clang-tidy: the machine, and the folders of a cross compiler's C library."""
    if not clang_target:
        return []
    said = subprocess.run([board_cc, *cflags, "-E", "-Wp,-v", "-x", "c", "/dev/null"], text=True,
                          capture_output=True, check=False).stderr
    folders = [line.strip() for line in said.splitlines() if line.startswith(" /")]
    libc = [f for f in folders if not re.search(r"/gcc(-cross)?/[^.]*$|include-fixed$", f)]
    return [*clang_target, *(f"-isystem{f}" for f in libc)]


def _as_cpp(build, standard):
    """The command of the board's C++ compiler, if it is installed."""
    compiler = toolchain.cpp_compiler(build.board.cc)
    if compiler == build.board.cc or not shutil.which(compiler):
        return []
    return [[compiler, "-x", "c++", f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Wundef", "-Werror",
             *build.board.cflags, *_cpp_flags(build.env), "-fsyntax-only"]]


def _with_library(build, standard):
    """The same if the compiler has the library of C++, which cross compilers often lack."""
    return [command for command in _as_cpp(build, standard) if _has_cpp_library(command[0], tuple(build.board.cflags))]


@lru_cache(maxsize=None)
def _has_cpp_library(compiler, cflags):
    asked = "#if !__has_include(<chrono>)\n#error none\n#endif\n"
    return subprocess.run([compiler, *cflags, "-x", "c++", "-E", "-"], input=asked, text=True, capture_output=True,
                          check=False).returncode == 0


def _language_checks(path):
    """Options of clang-tidy: C++ omits the names of unused parameters, and its structures have members."""
    return [f"--checks={IN_CPP}"] if path.endswith(".cpp") else []


def _language_flags(path):
    return toolchain.CPP_FLAGS if path.endswith(".cpp") else ["-std=c11"]


def _system_flags(env):
    """Folders of headers that are not checked: those of MPI libraries."""
    return [word for flag in env["CCFLAGS"] if isinstance(flag, tuple) and flag[0] == "-isystem" for word in map(str, flag)]


def _cpp_flags(env):
    return env.subst("$_CPPDEFFLAGS $_CPPINCFLAGS").split()
