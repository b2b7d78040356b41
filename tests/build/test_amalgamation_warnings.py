# SPDX-License-Identifier: Apache-2.0
"""dynsel.c compiles without a warning in C11 and C17, with both compilers."""

import os
import subprocess
import unittest
from pathlib import Path

GIVEN = Path(os.environ["DYNSEL_BUILD"]) / "amalgamation"


class Warnings(unittest.TestCase):
    def test_no_compiler_warns(self):
        for compiler in ("gcc", "clang"):
            for standard in ("c11", "c17"):
                with self.subTest(f"{compiler} -std={standard}"):
                    self.assertEqual(self.said(compiler, f"-std={standard}", "-fsyntax-only"), "")

    def test_gcc_does_not_warn_while_it_optimizes(self):
        self.assertEqual(self.said("gcc", "-std=c17", "-O2", "-c", "-o", os.devnull), "")

    def test_it_would_tell(self):
        self.assertRegex(self.said("gcc", "-std=c11", "-fsyntax-only", "-Wtraditional"), r"\[-Wtraditional\]")

    def said(self, *command):
        done = subprocess.run([*command, "-Wall", "-Wextra", "-Iinclude", "dynsel.c"], cwd=GIVEN, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout


if __name__ == "__main__":
    unittest.main()
