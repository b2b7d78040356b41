# SPDX-License-Identifier: Apache-2.0
"""Calls dynsel-trace as its user does, and its parts as it does itself."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TOOL = TOP / "tools/dynsel-trace"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tools"))

from dynsel_trace import analysis, model, parts, read, text  # noqa: E402


class Silent:
    """In place of the progress on a terminal."""

    def at(self, what, done, of):
        pass


class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-trace-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, data, name="run.trace"):
        """Its path; data: bytes, or a TraceFile."""
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.data())
        return str(path)

    def run_tool(self, *arguments, status=0, program=TOOL, env=()):
        """(stdout, stderr)."""
        done = subprocess.run([sys.executable, str(program), *arguments], capture_output=True, check=False, text=True,
                              encoding="utf-8", env={**os.environ, "PYTHONIOENCODING": "utf-8", **dict(env)})
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout[:2000]}{done.stderr}")
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout, done.stderr

    def refuse(self, status, says, *arguments):
        """One line on stderr, nothing on stdout."""
        out, err = self.run_tool(*arguments, status=status)
        self.assertEqual(out, "")
        self.assertRegex(err, rf"\Adynsel-trace: [^\n]*{says}[^\n]*\n\Z")

    def run_of(self, file):
        return model.make(read.read(self.file(file)), Silent())

    def analysis_of(self, file):
        """(analysis, the stretches of the whole)."""
        run = self.run_of(file)
        return analysis.Analysis(run, Silent()), parts.stretches_of(run, None, None, None)


__all__ = ["TOP", "TOOL", "Silent", "Tool", "text"]
