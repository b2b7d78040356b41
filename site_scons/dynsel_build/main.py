# SPDX-License-Identifier: Apache-2.0
"""Handles a call of scons, from the arguments to the nodes."""

import fcntl
import os
import random
import sys
from functools import partial

from SCons.Script import (ARGLIST, ARGUMENTS, COMMAND_LINE_TARGETS, DefaultEnvironment, Dir, Entry, Exit,
                          GetLaunchDir, GetOption, Help, SConsignFile, SetOption)
from SCons.Node.Alias import default_ans

from . import (bench, cli, coverage, dist, docs, footprint, handover, install, manual, misra, products, report, toolchain,
               trees as places, variants)
from .build import VariantBuild
from .errors import UserMistake, did_you_mean
from .gates import Gates
from .nodes import action
from .product_build import ProductBuild
from .trees import at

# Targets that run an example, what it needs, and what has that.
DEMOS = {"demo": ("sepia, which needs a host and libpng", "BOARD=native"),
         "gallery": ("gallery, which needs a host, libpng, and DYNSEL_LEARNED_TABLES and DYNSEL_BACKEND_THREADS", "BOARD=native"),
         "ranks": ("ranks, which needs a host, libpng, and DYNSEL_BACKEND_MPI and DYNSEL_BACKEND_THREADS",
                   "CONF=mpi, or CONF=mpich")}
OWN_VARIANTS = {"coverage", "dist", "docs", "footprint", "misra"}  # targets that choose their variants themselves

_lock = None  # held until the process ends


def run(top):
    """Reads the command line and declares its targets; errors end with status 2."""
    DefaultEnvironment(tools=[])  # else SCons searches for every tool that it knows
    if not os.path.samefile(Dir("#").abspath, top):
        handover.take_over(top, Dir("#").abspath)
    try:
        trees = places.chosen(top, GetLaunchDir(), ARGUMENTS)
        products.check(trees)
        _run(cli.Session(trees, ARGUMENTS, COMMAND_LINE_TARGETS, _is_idle()))
    except UserMistake as e:
        _refuse(e.lines)
    except OSError as e:
        if e.filename is None:
            raise
        _refuse([f"{e.filename}: {e.strerror}; check the permissions: the sources must be readable, and the folder"
                 " for what is built writable (O=)"])


def _refuse(lines):
    sys.stdout.flush()
    print("\n".join(f"dynsel: {line}" for line in lines), file=sys.stderr)
    Exit(2)


def _run(session):
    session.check_arguments(ARGLIST)
    if GetOption("help"):
        Help(cli.help_text(session, toolchain.SHELL_VARIABLES), append=False)
        return
    command = cli.find_command(session)
    if command:
        command(session)
        Exit(0)
    SetOption("num_jobs", len(os.sched_getaffinity(0)))
    _take_build_folder(session.trees.build)
    builds, matrix = _declare_all(session)
    _check_targets(session)
    if {"test", "check", "coverage", "matrix"} & set(session.targets) and not session.pretends:
        _keep_going()
        if matrix:
            matrix.at_exit()
        more = {"check", "matrix"} & set(session.targets)
        report.at_exit([node for b in builds for node in b.tests + (b.check_tests if more else [])])


def _is_idle():
    """Whether scons is to build nothing."""
    return any(GetOption(name) for name in ("clean", "no_exec", "question"))


def _take_build_folder(folder):
    """One scons at a time in a folder: they share the database of built files."""
    global _lock
    os.makedirs(folder, exist_ok=True)
    _lock = open(f"{folder}/.lock", "w", encoding="utf-8")
    try:
        fcntl.flock(_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"waiting for another scons in {folder}", flush=True)
        fcntl.flock(_lock, fcntl.LOCK_EX)
    SConsignFile(os.path.abspath(f"{folder}/.sconsign"))


def _declare_all(session):
    """The nodes of all variants of this call, and the counter of the matrix."""
    chosen = session.chosen()
    if "install" in session.targets and len(chosen) > 1:
        raise UserMistake("install takes one variant, not " + " and ".join(v.name for v in chosen))
    wanted = _wanted(session, chosen)
    loaded = session.load_all(wanted)
    for note in dict.fromkeys(n for config in loaded.values() for n in config.notes):
        if not (_is_random(session) or "footprint" in session.targets):  # which override much on purpose
            print(f"note: {note}")
    base = toolchain.base_environment(session.arguments.get("VERBOSE") == "1", session.trees.build)
    gates = Gates(base, session.trees)
    builds = [VariantBuild(v, loaded[v], session.board(v), base, short=_is_short(session, v, chosen),
                           lean=_is_lean(session, v, chosen), few=_few(session, v, chosen)) for v in wanted]
    matrix = report.Matrix(len(builds)) if "matrix" in session.targets else None
    for build in builds:
        _declare(build, session, gates)
        if matrix:
            base.Alias("matrix", _matrix_node(build, matrix))
        if (build.variant in chosen or build.few is not None) and session.targets:
            base.Alias("check", [gates.tidy(build), gates.cppcheck(build)])
    if session.targets:
        base.Alias("check", [gates.formatted(), gates.kconfig_lint(), gates.layers(), footprint.gate(base, session.trees, builds)])
        bench.declare(base, session, builds)
    if {"docs", "dist"} & set(session.targets):
        documents = docs.declare(base, session, builds)
        if "dist" in session.targets:
            dist.declare(base, session, documents)
    if "misra" in session.targets:
        base.Alias("misra", misra.declare(base, session.top, builds))
    if "footprint" in session.targets:
        footprint.declare(base, session, builds)
    if "coverage" in session.targets and not session.pretends:
        coverage.declare(base, builds)
    return builds, matrix


def _wanted(session, chosen):
    """The chosen variants, or those that check and matrix derive from them."""
    wanted = [] if _is_random(session) else list(chosen)
    if "check" in session.targets:
        wanted = variants.for_check(session.trees, chosen, session.board)
    if "matrix" in session.targets:
        wanted += [v for variant in chosen for v in _matrix(session, variant)]
    if session.targets and set(session.targets) <= OWN_VARIANTS:
        wanted = []
    if "coverage" in session.targets:
        wanted += coverage.variants_for(chosen)
    if "misra" in session.targets:
        wanted += [variants.parse(session.trees, f"{variants.DEFAULT_BOARD}+{f}") for f in misra.FRAGMENTS]
    if {"docs", "dist"} & set(session.targets):
        wanted.append(variants.parse(session.trees, variants.DEFAULT_BOARD))
    if "footprint" in session.targets:
        wanted += footprint.variants_of(session.trees)
    outside = bench.variants_for(session.trees, session.targets, chosen)
    if outside:
        wanted = outside + [v for v in wanted if not set(session.targets) <= {"bench", "soak"}]
    return list(dict.fromkeys(wanted))


def _is_short(session, variant, chosen):
    """Whether a variant that the user did not choose leaves the long tests to others."""
    made = "matrix" in session.targets and variant.settings
    return variant not in chosen and bool(made or set(session.board(variant).check_short) & set(variant.fragments))


def _is_lean(session, variant, chosen):
    """Whether `scons check` does not even build tests that it does not run: those of a second compiler, on top, may warn."""
    beside = set(session.board(variant).check_beside) & set(variant.fragments)
    return variant not in chosen and "matrix" not in session.targets and bool(beside)


def _few(session, variant, chosen):
    """The folders of the only tests of a variant that `scons check` adds; None: all count."""
    found = session.board(variant).check_few
    folders = [found[fragment] for fragment in variant.fragments if fragment in found]
    return folders[0] if folders and variant not in chosen and {"check", "matrix"} & set(session.targets) else None


def _is_random(session):
    return "RANDOM" in session.arguments


def _matrix(session, variant):
    """The variants that the matrix derives from a variant."""
    from . import matrix

    if _is_random(session):
        count = int(session.arguments["RANDOM"])
        seed = session.arguments.setdefault("SEED", str(random.randrange(10 ** 6)))
        print(f"matrix: RANDOM={count} SEED={seed}")
        return matrix.drawn(session.trees, variant, count, seed)
    found, notes = matrix.flipped(session.trees, variant)
    for note in notes:
        print(f"note: {note}")
    beside = [variants.parse(session.trees, f"{variant.board}+{fragment}")
              for fragment in session.board(variant).check_beside]
    return beside + found


def _declare(build, session, gates):
    """All nodes of one variant."""
    env = build.env
    exports = {"component": build.component, "side_archive": build.side_archive,
               "program": build.program, "shared_object": build.shared_object, "test": build.test,
               "demo": build.demo, "config": build.config,
               "bench": partial(build.on_demand, "bench"), "soak": partial(build.on_demand, "soak"),
               "usecase": partial(build.on_demand, "usecases")}
    env.SConscript("#src/SConscript", exports=exports)
    build.make_archive()
    env.SConscript("#simulator/SConscript", exports=exports, must_exist=False)
    env.SConscript("#examples/SConscript", exports=exports)
    env.SConscript("#tools/SConscript", exports=exports, must_exist=False)
    products = _products(build)
    if session.targets or GetOption("clean"):
        env.SConscript(["#bench/SConscript", "#soak/SConscript", "#tests/SConscript"], exports=exports,
                       must_exist=False)
        _declare_targets(build, session, gates)
    default = [build.archive, build.generated, products or build.programs_by_default(), build.compile_commands()]
    env.Default(env.Alias("all", default))
    env.Alias("check", default)
    for name in ("all", "check"):
        env.Clean(env.Alias(name), [at(build.variant.folder), at(build.pocl_cache)])


def _products(build):
    """Reads the SConscripts of all products; returns what they build."""
    found = [ProductBuild(build, product) for product in build.trees.products]
    for product in found:
        product.read()
    return [[build.side_archives.get(p.product.name, []), p.programs] for p in found]


def _declare_targets(build, session, gates):
    """Nodes of named targets only; a plain `scons` saves the time."""
    env, build.size = build.env, gates.size(build)
    build.checks = [gates.no_heap(build), gates.freestanding(build), gates.headers(build)]
    env.Alias("test", [build.tests, build.checks])
    env.Alias("check", [env.Alias("test"), build.check_tests, build.test_programs, build.size])
    if not (build.lean or build.config["DYNSEL_SANITIZE"] or build.config["DYNSEL_SANITIZE_THREAD"]):
        env.Alias("check", list(build.outside.values()))  # which nothing runs there
    env.AlwaysBuild(env.Alias("size", build.size, gates.show_size(build)))
    if "amalgamation" in session.targets:
        env.Alias("amalgamation", build.amalgamated())
    if "install" in session.targets:
        prefix = session.arguments.get("PREFIX", "/usr/local")
        destdir = session.arguments.get("DESTDIR", "")
        pages = manual.place(session.top)
        nodes = install.declare(build, session.top, prefix, destdir, pages)
        env.AlwaysBuild(env.Alias("install", nodes), nodes)  # another tree may have installed to the same prefix
        note = install.replaced(build, install.root_of(prefix, destdir))
        if not pages:
            print("note: without the guide and the man pages: `./bootstrap scons docs` makes them, a release has them")
        if note and not (GetOption("clean") or GetOption("no_exec")):
            print(f"note: {note}")


def _matrix_node(build, matrix):
    """Builds all of a variant and runs its tests that count."""
    stamp = f"{build.variant.folder}/gates/matrix.ok"
    node = build.env.Command(
        at(stamp), [build.tests, build.check_tests, build.test_programs, build.checks, build.archive,
                      *build.programs.values(), *build.outside.values()],
        action(lambda target, source, env: matrix.step(stamp), None))
    matrix.add(build.variant, node[0])
    return node


def _check_targets(session):
    """Names the nearest target; SCons itself reports an unknown one late and without a guess."""
    names = set(default_ans) | set(cli.COMMANDS) | {"amalgamation", "install", "bench", "soak", "usecases", *OWN_VARIANTS}
    for target in session.targets:
        if target in names:
            continue
        if target in DEMOS:
            example, remedy = DEMOS[target]
            raise UserMistake(f"{target} runs the example {example}; it is not in "
                              + " or ".join(v.name for v in session.chosen()) + f": use {remedy}")
        node = Entry(at(target))
        if not (node.has_builder() or node.exists() or node.get_state()):
            raise UserMistake(f"no target named {target!r}{did_you_mean(target, names)}"
                              f" (there are: {', '.join(sorted(names))}, and files in {session.trees.build}/)")


def _keep_going():
    """As with -k: one failed test must not hide the others. SetOption() has no such option."""
    from SCons.Script import Main

    Main.OptionsParser.values.keep_going = True
