# SPDX-License-Identifier: Apache-2.0
"""What a call of scons does, from the arguments to the nodes."""

import os
import sys

from SCons.Script import (ARGLIST, ARGUMENTS, COMMAND_LINE_TARGETS, Alias, Default, Exit, GetOption,
                          SConscript, SConsignFile, SetOption)

from . import cli, report, toolchain, variants
from .build import VariantBuild
from .errors import UserMistake


def run(top):
    """Reads the command line and declares what it asks for; mistakes end with status 2."""
    try:
        _run(top)
    except UserMistake as e:
        print("\n".join(f"dynsel: {line}" for line in e.lines), file=sys.stderr)
        Exit(2)


def _run(top):
    session = cli.Session(top, ARGUMENTS, COMMAND_LINE_TARGETS)
    session.check_arguments(ARGLIST)
    command = cli.find_command(session)
    if command:
        command(session)
        Exit(0)
    SetOption("num_jobs", len(os.sched_getaffinity(0)))
    os.makedirs("build", exist_ok=True)
    SConsignFile("build/.sconsign")
    wanted = session.chosen()
    checking = "check" in session.targets
    if checking:
        wanted = variants.for_check(top, wanted, session.board)
    loaded = session.load_all(wanted)
    base = toolchain.base_environment(session.arguments.get("VERBOSE") == "1")
    for variant in wanted:
        _declare(VariantBuild(variant, loaded[variant], session.board(variant), base), session)
    if {"test", "check"} & set(session.targets):
        _keep_going()
        report.at_exit(None)


def _declare(build, session):
    """All nodes of one variant."""
    exports = {"component": build.component, "program": build.program, "test": build.test,
               "config": build.config}
    SConscript("#src/SConscript", exports=exports)
    build.make_archive()
    SConscript("#examples/SConscript", exports=exports)
    default = [build.archive, build.generated, list(build.programs.values()), build.compile_commands()]
    Default(default)
    Alias("all", default)
    if session.targets or GetOption("clean"):
        SConscript("#tests/SConscript", exports=exports)
        Alias("test", build.tests)
        Alias("check", build.tests + default)


def _keep_going():
    """As with -k: one failed test must not hide the others. SetOption() does not offer it."""
    from SCons.Script import Main

    Main.OptionsParser.values.keep_going = True
