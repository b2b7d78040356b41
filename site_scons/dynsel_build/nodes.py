# SPDX-License-Identifier: Apache-2.0
"""Small nodes that several modules need: stamps, errors, missing packages."""

import sys
from pathlib import Path

from SCons.Script import Action

from .errors import install_hint
from .trees import at

_missing = {}


class _Step:
    """A function as an action, with the same signature for all: its inputs must be nodes.

    SCons puts the closure of a bare function into its signature, and objects differ in each run.
    """

    def __init__(self, function):
        self._function = function

    def __call__(self, target, source, env):
        return self._function(target, source, env)


def action(function, says):
    """An action that runs function(target, source, env); `says` is the line to print, or None."""
    return Action(_Step(function), says)


def finish(stamp, complaints):
    """Ends an action: writes a stamp, or all errors in one write, so that parallel ones do not mix."""
    if complaints:
        sys.stdout.write("".join(line + "\n" for line in complaints))
        sys.stdout.flush()
        return 1
    Path(stamp).write_text("clean\n", encoding="utf-8")
    return 0


def missing_line(package):
    return f"{package} is missing; {install_hint(package)}"


def missing(env, package):
    """A node that fails with one line that names the Debian package.

    Targets that do not need the package are built without it.
    """
    if package not in _missing:
        def fail(target, source, env):
            return finish(None, [missing_line(package)])

        _missing[package] = env.Command(at(f"{env['BUILD']}/missing/{package}"), [], action(fail, None))
    return _missing[package]
