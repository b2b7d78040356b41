# SPDX-License-Identifier: Apache-2.0
"""The functions of SConscripts: component(), program() and test(), for one variant.

Objects are named explicitly (build/<variant>/obj/...), without SCons' variant_dir, so that include paths
are plain paths.
"""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from SCons.Script import Value

from . import (aspect_list, aspects, components, generated, install, link_if_it_fits, one_file, opencl_texts, ranks,
               report, runner, toolchain)
from .cli import config_text
from .errors import UserMistake
from .nodes import action, missing
from .toolchain import FRAMES
from .trees import at

OPTIMIZED = ("-O2", "-Os")
# A loop of the measured work takes up to twice as long where it crosses cache lines, which otherwise depends on all code before it.
# bench/peers compiles the same work with the same.
ALIGNED = ("-falign-functions=64", "-falign-loops=64")
CALL_GRAPH = "-fcallgraph-info=su"

RUNNER = ["runner/runner.c", "runner/print.c"]
RUNNER_BOARD = ["runner/atomics.c", "runner/output_board.c", "runner/signals_board.c",
                "runner/variables_board.c"]
RUNNER_HOSTED = ["runner/output_hosted.c"]


class VariantBuild:
    """The nodes of one variant."""

    def __init__(self, variant, config, board, base, short=False, lean=False, few=None):
        """short: only quick tests of this variant count. lean: it does without the programs of the others, too. few: the
        folders of its tests; None: all."""
        self.short, self.lean, self.few = short, lean, few
        self.variant, self.config, self.board, self.trees = variant, config, board, config.trees
        self.pocl_cache = f"{self.trees.build}/pocl-cache"  # of all variants: PoCL compiles their kernels slowly
        self.env = toolchain.variant_environment(base, variant, config, board)
        self.library_env = self.env.Clone()
        self.library_env.Append(CPPPATH=[self.env.Dir("#src")],
                                CCFLAGS=[*self._written_for_size(), "-Wdate-time",
                                         *self._same_everywhere(), *board.library_cflags,
                                         *toolchain.position_independent(config)])
        if config["DYNSEL_COVERAGE"]:
            self.library_env.Append(CCFLAGS=toolchain.COVERAGE)
        self.side_env = self.env.Clone()
        self.side_env.Append(CCFLAGS=toolchain.position_independent(config))
        if board.bare_metal:
            boards = [self.env.Dir(at(os.path.join(root, "boards"))) for root in self.trees.roots()]
            self.env.Append(CPPPATH=boards)  # programs see board.h
        self.start_env = self.env.Clone()
        self.start_env.Append(CCFLAGS=list(board.library_cflags))
        self.test_env = self._test_environment()
        self.stepped_env = self.test_env.Clone(CCFLAGS=self.env["CCFLAGS"])
        if config["DYNSEL_COVERAGE"]:
            self.stepped_env.Append(CCFLAGS=toolchain.COVERAGE)
        self.stepped_env.Prepend(CPPPATH=[self.env.Dir("#tests/stepping")])
        self.shared_env = self.env.Clone()
        self.shared_env.Append(CCFLAGS=["-fPIC"], LINKFLAGS=["-shared"])
        self.measured_env = self.env.Clone()
        self.measured_env.Append(CCFLAGS=ALIGNED)
        self.library_objects, self.programs, self.user_libs = [], {}, []
        self.library_sources = []
        self.in_cpp, self._started = set(), set()  # names of programs; the second: those that tests start
        self.tests, self.check_tests = [], []  # of `scons test`; what `scons check` runs beside them
        self.test_programs = []
        self.size = []         # what `scons size` writes
        self.checks = []       # what else belongs to `scons test`
        self.soaked = []       # (program, its command line, process environment): tests for `scons soak`
        self.outside = {}      # command -> nodes: a program, and what it loads
        self._compiled = {}    # path of an object -> (environment, object, source)
        self._library_envs = {}
        self.archive = None
        self.side_archives = {}  # name -> nodes
        self.product_archives = []  # nodes, in the linker's order
        self.product_objects = {}  # name of a product -> nodes
        self._installed_nodes = self._amalgamation = self._amalgamated = None
        self.public_headers = self._public_headers()
        self.generated = self.public_headers + self._private_texts()

    # What SConscripts call

    def component(self, name, sources, when=(), libs=()):
        """A part of the library: its sources are compiled if all symbols in `when` are set.

        libs: pkg-config modules of its sources, which each user links with; "MPI" is that of the MPI library.
        """
        if not self.wanted(when):
            return
        libs = components.modules(self.config, libs)
        self.library_sources += [self.env.File(source) for source in sources]
        if not self.config["DYNSEL_ONE_FILE"]:
            env = self.with_libraries(self.library_env, libs)
            self.library_objects += [self.object_of(env, source) for source in sources]
        self.user_libs += [lib for lib in libs if lib not in self.user_libs]

    def side_archive(self, name, sources, when=()):
        """lib<name>.a: an archive that programs and tests link in front of the library.

        Sees only the public headers.
        """
        if self.wanted(when):
            objects = [self.object_of(self.side_env, source) for source in sources]
            self.side_archives[name] = self.env.StaticLibrary(self._at(f"lib{name}.a"), objects)

    def shared_object(self, source):
        """An object for programs with different libs; in place of the source, which uses none of them."""
        return self.object_of(self.env, source)

    def program(self, name, sources, when=(), libs=(), archives=(), wraps=(), product=None):
        """build/<variant>/bin/<name>, linked with the library. Sees only the public headers.

        Sources in C++ are for board native; without its C++ compiler a plain `scons` leaves them out.

        archives: names of side_archive()s; wraps: as in test(); product: the ProductBuild whose program it is.
        """
        if (not self.wanted(when) or (libs and not self.board.host_libraries)
                or any(a not in self.side_archives for a in archives)):
            return
        if any(map(_is_cpp, sources)):
            if self.board.runner:
                return
            self.in_cpp.add(name)
        target = self._at(f"bin/{name}")
        env = product.env if product else self.env
        self.programs[name] = self._link(env, target, sources, libs, self._side(archives, product), wraps)

    def test(self, source, when=(), extra=(), libs=("cmocka",), env=None, runs=None, programs=(),
             needs=(), once=False, stepped=(), installed=False, tools=(), long=False,
             alone=False, soak=None, wraps=(), of="library", archives=(), emulated=False, product=None,
             amalgamated=False, ranks=0, recovers=False):
        """A test program, and one node for each of its runs.

        source    a C or C++ file (linked with the library and cmocka) or a Python script (unittest)
        when      symbols that all have to be set, with ! in front not set, or with >=N at least so large;
                  with | between two one of them is enough
        extra     more C sources: fakes, or files shared between tests
        libs      pkg-config modules
        env       process environment of all runs; {build} is the variant's folder, {top} dynsel's tree
        runs      {name: process environment}: several runs of the same program
        programs  names of program()s that it starts; they are in $DYNSEL_BIN, or beside it in a
                  folder named after the command that they are built for
        needs     files that a Python test depends on
        stepped   sources of the library, compiled for this test with tests/stepping in front of src,
                  so that they stop before each atomic operation
        installed it looks at {build}/installed/opt/dynsel, where the variant is installed for it
        amalgamated  it looks at {build}/amalgamation, which is written for it
        tools     programs that it calls, by the names of their packages
        alone     it is linked with the whole archive and with the compiler's own runtime, nothing else
        long      many seconds; left out in what `scons matrix` makes of the options, and where `scons check`
                  has other variants that run it (check_short of the board)
        soak      process environment in which `scons soak` runs it too, for longer
        wraps     functions whose calls in the library and the test go to __wrap_<name>, see ld's --wrap
        archives  names of side_archive()s
        emulated  a script that starts programs of a board with an emulator, with the command in $DYNSEL_RUNNER
        of        "build": of the build, the documents or what surrounds the library; `scons check` alone
                  runs it, and so it does with tests that run once or call tools
        once      of the source tree and not of a variant: runs once, whatever is built
        ranks     its program runs as so many ranks of an MPI program, of the configured library; none without backend
                  mpi. It passes if all ranks end with 0. For scripts $DYNSEL_MPI starts ranks: put their number and
                  the program behind it
        recovers  a rank may be killed, but the first; MPICH has no such tests, as it ends all ranks then
        product   the ProductBuild whose test it is; with products `scons test` runs theirs, and `scons check` all
        """
        if (not self.wanted(when) or any(p not in self.programs for p in programs)
                or any(a not in self.side_archives for a in archives)):
            return
        if not self._can_run(source, libs, once or installed or emulated):
            return
        counts = not (self.short and (long or once))
        if not (once or product) and (self._is_elsewhere(source) or (self.lean and not counts)):
            return
        name = os.path.splitext(self._path_in_tests(source))[0]
        if not self._has_ranks(ranks, recovers):
            return
        folder = self.trees.build if once else self.variant.folder
        if once and not report.first_time(name):
            return
        objects = [*(self._stepped_object(s) for s in stepped), *self._side(archives, product)]
        env_of_test = product.test_env if product else self.test_env
        command, depends = self._test_command(env_of_test, source, name, extra, libs, objects, alone, wraps)
        if ranks:
            command, depends = self._as_ranks(command, depends, ranks, recovers)
        self._started.update(programs)
        depends += [self.programs[p] for p in programs] + [self.env.File(f) for f in needs]
        depends += self._build_system() if once else [self.archive, self.generated]
        depends += self._installed() + self._emulator() if installed else []
        depends += self._emulator() if emulated else []
        depends += self.amalgamated() if amalgamated else []
        depends += [missing(self.env, tool) for tool in tools if not shutil.which(tool)]
        group = report.Group(f"{folder}/tests/{name}")
        of_check = of == "build" or once or bool(tools) or (not product and bool(self.trees.products))
        for run, variables in (runs or {"": {}}).items():
            around = _of_the_host(self.trees) if once else self._test_variables()
            around = {**around, **self._of_ranks(around)} if ranks else around
            around = {**around, "DYNSEL_RUNNER": " ".join(self.board.runner)} if emulated else around
            settings = {**around, **(env or {}), **variables}
            seconds = runner.BUILDS_SECONDS if once or installed else self.board.seconds
            node = self._run(group, folder, name, run, command, depends, settings, seconds)
            if counts:
                (self.check_tests if of_check else self.tests).append(node)
        if soak:
            self.soaked.append((depends[0], command, {**self._test_variables(), **(env or {}), **soak}))

    def on_demand(self, command, name, sources, loads=None):
        """build/<variant>/<command>/<name>: built by check, run only by `scons <command>`.

        loads: sources of one shared object that the program gets loaded at run time.
        Several programs of one command stand beside each other; tests may start them.
        """
        folder = self._at(command)
        nodes = self._link(self.measured_env, f"{folder}/{name}", sources, [])
        if loads:
            objects = [self.object_of(self.shared_env, source) for source in loads]
            nodes += self.shared_env.Program(f"{folder}/{name}.so", objects)
        self.programs[name] = nodes
        self.outside.setdefault(command, []).extend(nodes)

    def demo(self, name, program, runs, first=(), last=(), ranks=0):
        """`scons <name>` runs this program with each of these argument lists, one after the other, with the whole
        environment of the shell.

        first, last: command lines that come before and after; {out} in a word is the folder for what is built
        ranks: it is started as so many ranks of an MPI program; one that dies leaves the others alive, where that works
        """
        if program in self.programs:
            node = self.programs[program][0]
            runner, depends = self.board.runner, [node]
            if ranks:
                runner, depends = self._as_ranks([], [node], ranks, self.config["DYNSEL_MPI_OPENMPI"])
            commands = [*first, *([*runner, node.path, *arguments] for arguments in runs), *last]
            env = self.env.Clone(ENV=dict(os.environ))
            env.AlwaysBuild(env.Alias(name, depends, [" ".join(command).replace("{out}", self.trees.build) for command in commands]))

    # What SConstruct calls

    def make_archive(self):
        """libdynsel.a, after all components are declared."""
        target = self._at("libdynsel.a")
        if self.config["DYNSEL_ONE_FILE"]:
            env = self.with_libraries(one_file.environment(self.library_env), self.user_libs)
            self.library_objects = [self.object_of(env, self.amalgamation()[0])]
        self.archive = self.library_env.StaticLibrary(target, self.library_objects)
        return self.archive

    def programs_by_default(self):
        """What a plain `scons` builds, after all tests are declared; with few tests the programs that these start."""
        return [nodes for name, nodes in self.programs.items()
                if (name not in self.in_cpp or self._has_cpp()) and (self.few is None or name in self._started)]

    def amalgamation(self):
        """The library's sources as one file, after all components are declared."""
        if self._amalgamation is None:
            self._amalgamation = one_file.source(self)
        return self._amalgamation

    def amalgamated(self):
        """All files of `scons amalgamation`."""
        if self._amalgamated is None:
            self._amalgamated = one_file.declare(self)
        return self._amalgamated

    def compile_commands(self):
        """compile_commands.json of this variant."""
        entries = [{
            "directory": self.env.Dir("#").abspath,
            "file": source.srcnode().path,
            "output": obj.path,
            "command": env.subst("$CXXCOM" if _is_cpp(source) else "$CCCOM", target=[obj],
                                 source=[source]).replace(f" {CALL_GRAPH}", ""),
        } for env, obj, source in self._compiled.values()]
        text = json.dumps(entries, indent=1) + "\n"
        return self.written("compile_commands.json", text)

    def compiled(self):
        """(environment, source) of each object."""
        return [(env, source) for env, _, source in self._compiled.values()]

    def compiled_for_library(self):
        """The same for the library's own sources."""
        library = {node.path for node in self.library_objects}
        return [(env, source) for env, node, source in self._compiled.values() if node.path in library]

    def written(self, name, text):
        """A file with this text; written again if the text or the file changed."""
        path = f"{self.variant.folder}/{name}"
        node = self.env.Command(at(path), Value(text), action(_write, "  GEN   $TARGET"))
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                if f.read() != text:
                    self.env.AlwaysBuild(node)
        return node

    # Implementation

    def _at(self, path):
        """A path in the variant's folder, for SCons."""
        return at(f"{self.variant.folder}/{path}")

    def _folder(self):
        """The variant's folder, absolute."""
        return str(self.trees.real(self.variant.folder))

    def _written_for_size(self):
        """Flags for files beside each object that `scons size` reads; Clang writes no call graph."""
        return [FRAMES, CALL_GRAPH] if self.config["DYNSEL_COMPILER_GCC"] else [FRAMES]

    def _same_everywhere(self):
        """Keeps the path of this tree out of the archive's debug information.

        SCons does not compare text between $( and $), so a moved tree is not built again.
        """
        return ["$(", f"-ffile-prefix-map={self.env.Dir('#').abspath}=.", "$)"]

    def _public_headers(self):
        """The generated public headers."""
        texts = generated.public_headers(self.env.Dir("#").abspath, self.config)
        return [node for name, text in texts.items() for node in self.written(f"gen/dynsel/{name}", text)]

    def _private_texts(self):
        """The generated private files, and .config."""
        texts = generated.private_files(self.env.Dir("#").abspath, self.config)
        return [*(node for name, text in texts.items() for node in self.written(f"gen/{name}", text)),
                *self.written(".config", config_text(self.config))]

    def _is_elsewhere(self, source):
        """Whether a test is not in the folders whose tests are in this variant."""
        return self.few is not None and source.split("/")[0] not in self.few

    def wanted(self, when):
        return all(components.holds(self.config, s) for s in ([when] if isinstance(when, str) else when))

    def object_of(self, env, source):
        """The object of a source; several tests may share one."""
        source = self.env.File(source)
        path = self.trees.short(source.srcnode().path)
        if not self.trees.owner(source.srcnode().path):
            path = env.get("OBJECTS", "") + path  # what a product uses of dynsel's tests has the product's flags
        for prefix in ("src/", self.variant.folder + "/"):
            path = path[len(prefix):] if path.startswith(prefix) else path
        stem = self._at(f"obj/{os.path.splitext(path)[0]}")
        if stem not in self._compiled:
            nodes = env.Object(stem + ".o", source)
            for flag, suffix in ((FRAMES, ".su"), (CALL_GRAPH, ".ci")):
                if flag in env["CCFLAGS"]:
                    env.SideEffect(stem + suffix, nodes)
                    env.Clean(nodes, stem + suffix)
            env.Depends(nodes, env["MISSING"])
            if _is_cpp(source) and not self._has_cpp():
                env.Depends(nodes, missing(env, toolchain.cpp_package(self.board.cc)))
            self._compiled[stem] = (env, nodes[0], source)
        first, node, _ = self._compiled[stem]
        if first is not env:
            raise UserMistake(f"{source.srcnode().path} is used with different flags: give each use of"
                              " it the same libs")
        return node

    def _has_cpp(self):
        return shutil.which(self.env["CXX"]) is not None

    def _stepped_object(self, source):
        """The object of a library source that a test steps through; it replaces the archive's own."""
        source = self.env.File(source)
        stem = os.path.splitext(source.srcnode().path)[0].removeprefix("src/")
        return self.stepped_env.Object(self._at(f"obj/stepped/{stem}.o"), source)

    def _link(self, env, target, sources, libs, more=(), wraps=()):
        libs = [*libs, *(l for l in self.user_libs if l not in libs)]
        env = self.with_libraries(env, libs)
        objects = [self.object_of(env, s) if isinstance(s, str) else s for s in sources]
        start = self._start_objects()
        linker = {"LINK": env["CXX"]} if any(map(_is_cpp, sources)) else {}
        program = env.Program(target, [*start, *objects, *more, self.archive], **linker,
                              LINKFLAGS=[*env["LINKFLAGS"], *(f"-Wl,--wrap={name}" for name in wraps)],
                              LIBS=[*env.get("LIBS", []), *self.board.libraries])
        env.Depends(program, self._linker_files())
        return program

    def _side(self, archives, product):
        nodes = [self.side_archives[name] for name in archives] + (self.product_archives if product else [])
        return [node for archive in nodes for node in archive]

    def _start_objects(self):
        return [self.object_of(self.start_env, self.env.File(at(s))) for s in self.board.start]

    def _link_alone(self, target, source):
        """Links all objects of the library, called or not, without a C library."""
        start = self._start_objects()
        whole = ["-Wl,--no-gc-sections", "-Wl,--whole-archive", self.archive[0].path,
                 "-Wl,--no-whole-archive"]
        program = self.test_env.Program(
            target, [*start, self.object_of(self.test_env, source)], LIBS=["gcc"],
            LINKFLAGS=[*self.test_env["LINKFLAGS"], *whole])
        self.env.Depends(program, [*self.archive, *self._linker_files()])
        return program

    def _linker_scripts(self):
        """The files of -T<file> in the board's linkflags."""
        return [flag[2:] for flag in self.board.linkflags if flag.startswith("-T")]

    def _linker_files(self):
        """The linker scripts, and what they include, as nodes."""
        scripts = self._linker_scripts()
        texts = "\n".join((Path(self.trees.top) / script).read_text(encoding="utf-8") for script in scripts)
        included = [f"boards/{name}" for name in re.findall(r"^INCLUDE (\S+)", texts, re.MULTILINE)]
        return [self.env.File(at(path)) for path in [*scripts, *included]]

    def with_libraries(self, env, modules):
        """An environment with the flags of these libraries, one for each combination."""
        key = (id(env), *sorted(set(modules)))
        if not modules:
            return env
        if key not in self._library_envs:
            self._library_envs[key] = _library_environment(env, key[1:])
        return self._library_envs[key]

    def _installed(self):
        """The installed variant, for tests."""
        if self._installed_nodes is None:
            self._installed_nodes = install.declare(self, self.trees.top, "/opt/dynsel",
                                                    f"{self._folder()}/installed")
        return self._installed_nodes

    def _path_in_tests(self, source):
        path = self.env.File(source).srcnode().path
        return self.trees.short(path).replace("/tests/", "/", 1) if self.trees.owner(path) else os.path.relpath(path, "tests")

    def _test_command(self, env, source, name, extra, libs, objects, alone, wraps):
        """The command line of a test, and the nodes it depends on."""
        if source.endswith(".py"):
            script = self.env.File(source)
            return [sys.executable, script.abspath], [script]
        target = self._at(f"tests/{name}")
        if alone:
            program = self._link_alone(target, source)
            return [*self.board.runner, program[0].abspath], [program, self._emulator()]
        if self.board.small_runner:
            libs = [lib for lib in libs if lib != "cmocka"]
            runner_files = RUNNER + (RUNNER_BOARD if self.board.bare_metal else RUNNER_HOSTED)
            extra = [*extra, *(f"#tests/{f}" for f in runner_files)]
        program = self._link(env, target, [source, *extra], libs, objects, wraps)
        self.test_programs += program
        return [*self.board.runner, program[0].abspath], [program, self._emulator()]

    def _has_ranks(self, count, recovers):
        """Whether this variant has the MPI library that a test needs."""
        return ((not count or self.config["DYNSEL_BACKEND_MPI"])
                and (not recovers or self.config["DYNSEL_MPI_OPENMPI"]))

    def _as_ranks(self, command, depends, count, recovers):
        """The same started as ranks; a script starts them itself."""
        module = components.mpi_library(self.config)
        starts = [] if command[:1] == [sys.executable] else ranks.command(module, count, recovers)
        launcher = [] if ranks.launcher(module) else [missing(self.env, ranks.PACKAGES[module])]
        return [*starts, *command], [*depends, self.env.File(f"#{ranks.THIS}"), *launcher]

    def _of_ranks(self, variables):
        """MPI libraries keep what they allocate, in modules that are gone when leaks are looked for. Ours has no heap."""
        options = variables.get("ASAN_OPTIONS", "").replace("detect_leaks=1", "detect_leaks=0")
        return {"ASAN_OPTIONS": options} if options else {}

    def _test_environment(self):
        env = self.env.Clone()
        if not self.board.bare_metal:
            # builds in a half to a quarter of the time; what is tested stays as the variant wants it
            quick = "-Og" if self.config["DYNSEL_COMPILER_GCC"] else "-O0"
            kept = [f for f in env["CCFLAGS"] if f not in OPTIMIZED]
            lines = "-g" if self.config["DYNSEL_OPTIMIZE_DEBUG"] else "-g1"  # enough for what sanitizers report
            env.Replace(CCFLAGS=[*(lines if f == "-g" else f for f in kept), quick])
        env.Append(CPPPATH=[env.Dir("#src"), env.Dir("#tests")],
                   CPPDEFINES=[("DYNSEL_TESTS_SMALL_RUNNER", 1 if self.board.small_runner else 0)])
        if self.board.bare_metal:
            # what tests put on the stack grows with the tables
            stack = 2048 + 288 * self.config["DYNSEL_MAX_RESOURCES"]
            env.Append(CPPPATH=[env.Dir("#tests/runner/posix")],
                       LINKFLAGS=[f"-Wl,--defsym,board_stack_bytes={stack}"])
            if self.variant.fragments or self.variant.settings:
                env["LINK"] = f"{sys.executable} {link_if_it_fits.__file__} {self.board.cc}"
        for package in self.board.missing():
            env["MISSING"] = env["MISSING"] + missing(env, package)
        return env

    def _can_run(self, source, libs, knows_boards):
        """Scripts start programs directly, so they need a board without an emulator or knows_boards; and so does C++,
        as boards bring no C++ compiler."""
        if source.endswith((".py", ".cpp")):
            return knows_boards or not self.board.runner
        return self.board.host_libraries or set(libs) <= {"cmocka"}

    def _emulator(self):
        """A node that fails if the emulator is missing; the tests are built anyway."""
        return [missing(self.env, self.board.packages.get(program, program))
                for program in self.board.runner[:1] if not shutil.which(program)]

    def _build_system(self):
        """The files that a test of the build system depends on."""
        top = Path(self.env.Dir("#").abspath)
        paths = [top / name for name in ("SConstruct", "Kconfig", ".clang-tidy", ".clang-format")]
        paths += top.glob("src/**/Kconfig*")
        paths += [top / aspect_list.PATH, top / aspects.TRAITS, top / opencl_texts.ITERATORS]
        for folder in ("boards", "configs", "site_scons", "tests/build"):
            paths += (p for p in (top / folder).rglob("*") if p.is_file())
        return [self.env.File(str(p)) for p in sorted(paths)]

    def _test_variables(self):
        folder, top = self._folder(), self.trees.top
        variables = {
            "DYNSEL_TOP": top, "DYNSEL_BUILD": folder, "DYNSEL_BIN": f"{folder}/bin",
            "DYNSEL_CC": self.board.cc, **self._board_variables(), "POCL_CACHE_DIR": str(self.trees.real(self.pocl_cache)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if self.config["DYNSEL_BACKEND_MPI"]:
            variables.update(DYNSEL_MPI=shlex.join(ranks.command(components.mpi_library(self.config))))
        if self.config["DYNSEL_SANITIZE"]:
            variables.update(
                ASAN_OPTIONS="detect_leaks=1:halt_on_error=1:strict_string_checks=1",
                UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1",
                # reading the variables of PoCL's threads, it crashes on some machines each time; ours hold no memory
                LSAN_OPTIONS=f"suppressions={top}/tests/lsan.supp:print_suppressions=0:use_tls=0")
        if self.config["DYNSEL_SANITIZE_THREAD"]:
            # else each program that had threads sleeps for a second at its end
            variables.update(TSAN_OPTIONS="halt_on_error=1:atexit_sleep_ms=0"
                                          f":suppressions={top}/tests/tsan.supp")
        return variables

    def _board_variables(self):
        """Variables for scripts that build programs for the board, quoted as in a shell."""
        top = Path(self.env.Dir("#").abspath)
        flags = [*([f"-L{top}/boards"] if self.board.bare_metal else []), *self.board.linkflags]
        for script in self._linker_scripts():
            flags = [flag.replace(script, str(top / script)) for flag in flags]
        return {
            "DYNSEL_RUNNER": shlex.join(self.board.runner),
            "DYNSEL_START": shlex.join(str(top / source) for source in self.board.start),
            "DYNSEL_LINKFLAGS": shlex.join(flags),
            "DYNSEL_CFLAGS": shlex.join(self.board.cflags),
            "DYNSEL_LIBRARIES": shlex.join(f"-l{library}" for library in self.board.libraries),
        }

    def _run(self, group, folder, name, run, command, depends, variables, seconds):
        """One run: <name>[@<run>].ok exists if it passed, <name>[@<run>].log has its output."""
        stem = f"{folder}/tests/{name}" + (f"@{run}" if run else "")
        settings = {k: str(v).replace("{build}", self._folder()).replace("{top}", self.trees.top)
                    for k, v in variables.items()}
        spec = runner.Run(stem, tuple(command), {**toolchain.shell_environment(), **settings}, seconds)
        identity = self.trees.anywhere(json.dumps([command, sorted(settings.items())]))
        nodes = self.env.Command(
            [at(f"{stem}.ok"), at(f"{stem}.log")], [*depends, Value(identity)],
            action(lambda target, source, env: group.record(stem, runner.run(spec)), f"  TEST  {stem}"))
        group.add(spec, nodes[0])
        return nodes[0]


def _is_cpp(source):
    return str(source).endswith(".cpp")


def _of_the_host(trees):
    """The variables of a test that runs once for all variants."""
    return {"DYNSEL_TOP": trees.top, "DYNSEL_BUILD": str(trees.real(trees.build)), "DYNSEL_CC": "gcc",
            "PYTHONDONTWRITEBYTECODE": "1"}


def _write(target, source, env):
    """Does not write a file that has the text already, so that its time does not change."""
    path, text = target[0].path, source[0].read()
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def _library_environment(env, modules):
    """The environment with these libraries; a missing library fails only its users."""
    env = env.Clone()
    for module in modules:
        flags = toolchain.library_flags(module)
        if flags is None:
            env["MISSING"] = env["MISSING"] + missing(env, toolchain.LIBRARY_PACKAGES.get(module, module))
        else:
            # what their headers warn of, and ask of cppcheck, is not ours
            env.MergeFlags(flags.replace("-I", "-isystem ") if module in components.MPI_LIBRARIES else flags)
    return env
