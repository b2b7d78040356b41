# SPDX-License-Identifier: Apache-2.0
"""The last lines of `scons test` and `scons check`: counts of passed and failed test programs.

A program that passed earlier and whose inputs did not change counts as passed; one that cannot be built
counts as failed. After an interruption, programs that did not run count as neither.
"""

import atexit
import os
import sys
from pathlib import Path

from SCons.Script import BUILD_TARGETS, GetBuildFailures

from . import runner

REPEATED = 20  # lines of each log

_groups = {}
_once = set()


class Group:
    """The runs of one test program."""

    def __init__(self, name):
        self.name = name
        self.nodes, self.results, self._runs = {}, {}, {}
        _groups[name] = self

    def add(self, spec, node):
        self.nodes[spec.stem], self._runs[spec.stem] = node, spec

    def record(self, stem, status):
        if status == 0 or not runner.interrupted():
            self.results[stem] = status
        return status

    def failed_now(self):
        """At least one run failed."""
        return any(self.results.values())

    def accounts(self):
        """The last lines of each run that failed now."""
        return [line for stem, status in self.results.items() if status
                for line in runner.account(self._runs[stem], status, REPEATED)]

    def passed(self):
        """Every run passed, now or earlier without a change since."""
        return all(self.results.get(stem, 0 if self._stands(stem) else 1) == 0 for stem in self.nodes)

    def is_done(self, stem):
        return stem in self.results or self._stands(stem)

    def _stands(self, stem):
        from SCons.Node import up_to_date

        return self.nodes[stem].get_state() == up_to_date and os.path.exists(stem + ".ok")


def _progress():
    """What is done of all tests, where all are wanted."""
    if not {"test", "check", "matrix"} & set(map(str, BUILD_TARGETS)):
        return ""
    runs = [(group, stem) for group in _groups.values() for stem in group.nodes]
    return f", {sum(group.is_done(stem) for group, stem in runs)} of {len(runs)}"


runner.progress = _progress


class Matrix:
    """The progress of many variants, and those that failed."""

    def __init__(self, count):
        self._count, self._done, self._nodes = count, 0, {}

    def add(self, variant, node):
        self._nodes[variant] = node

    def step(self, stamp):
        """Counts one more variant as done."""
        self._done += 1
        print(f"  DONE  {os.path.dirname(os.path.dirname(stamp))}: {self._done} of {self._count}", flush=True)
        Path(stamp).write_text("passed\n", encoding="utf-8")

    def at_exit(self):
        """Prints the result, and a command for each failed variant."""
        atexit.register(self._summary)

    def _summary(self):
        from SCons.Node import executed, up_to_date

        bad = [v for v, node in self._nodes.items() if node.get_state() not in (executed, up_to_date)]
        if runner.interrupted():
            print(f"{len(self._nodes) - len(bad)} configurations passed, {len(bad)} not finished")
            return
        for variant in bad:
            print(f"to repeat this configuration: scons test VARIANTS={variant.name}")
        print(f"{len(self._nodes) - len(bad)} configurations passed, {len(bad)} failed")
        sys.stdout.flush()


def first_time(name):
    """True for the first variant that declares a test which runs once for all."""
    if name in _once:
        return False
    _once.add(name)
    return True


def at_exit(counted):
    """Prints the summary at the end of the process."""
    runner.watch_signals()
    atexit.register(_summary, counted)


def _summary(counted):
    wanted = set(counted)
    groups = [g for g in _groups.values() if wanted.intersection(g.nodes.values())]
    if runner.interrupted():
        _interrupted_summary(groups)
        return
    failed = [g.name for g in groups if not g.passed()]
    others = sorted({str(f.node) for f in GetBuildFailures()} - {n + ".ok" for n in failed})
    for name in failed:
        print(f"failed: {name}")
    for name in others:
        if not any(name.startswith(f) for f in failed):
            print(f"failed: {name}")
    for line in (line for g in groups for line in g.accounts()):
        print(line)
    if not failed and not others and not any(g.results for g in groups):
        print("nothing has changed since these tests passed")
    print(f"{len(groups) - len(failed)} passed, {len(failed)} failed")
    sys.stdout.flush()


def _interrupted_summary(groups):
    failed = [g.name for g in groups if g.failed_now()]
    passed = [g.name for g in groups if g.passed()]
    for name in failed:
        print(f"failed: {name}")
    left = len(groups) - len(passed) - len(failed)
    ran = sum(1 for g in groups if g.results)
    print(f"interrupted: {ran} of {len(groups)} test programs ran")
    print(f"{len(passed)} passed, {len(failed)} failed, {left} not run")
    sys.stdout.flush()
