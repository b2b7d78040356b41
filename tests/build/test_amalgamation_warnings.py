# SPDX-License-Identifier: Apache-2.0
"""dynsel.c compiles without a warning in C11 and C17, with both compilers."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

GIVEN = Path(os.environ["DYNSEL_BUILD"]) / "amalgamation"
VARIANT = re.search(r'#define DYNSEL_CONFIG_VARIANT_TEXT "(.*)"', (GIVEN / "include/dynsel/autoconf.h").read_text("utf-8"))[1]
# The archive of the second one is this code, compiled with these warnings as errors.
COMPILED_SO = ("native", "native+one_file")


class Warnings(unittest.TestCase):
    def test_no_compiler_warns(self):
        for compiler in ("gcc", "clang"):
            for standard in ("c11", "c17"):
                with self.subTest(f"{compiler} -std={standard}"):
                    self.assertEqual(self.said(compiler, f"-std={standard}", "-fsyntax-only"), "")

    @unittest.skipIf(VARIANT in COMPILED_SO, "scons check compiles it so for native+one_file")
    def test_gcc_does_not_warn_while_it_optimizes(self):
        self.assertEqual(self.said("gcc", "-std=c17", "-O2", "-c", "-o", os.devnull), "")

    def test_it_would_tell(self):
        folder = Path(tempfile.mkdtemp(prefix="dynsel-warnings-"))
        self.addCleanup(shutil.rmtree, folder)
        source = folder / "dynsel.c"
        source.write_text((GIVEN / "dynsel.c").read_text("utf-8") + "static inline int f(int n)\n{\n    return 0;\n}\n", encoding="utf-8")
        for compiler in ("gcc", "clang"):
            self.assertRegex(self.said(compiler, "-std=c11", "-fsyntax-only", source=source), r"\[-Wunused-parameter\]")

    def said(self, *command, source="dynsel.c"):
        done = subprocess.run([*command, "-Wall", "-Wextra", "-Iinclude", source], cwd=GIVEN, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout


if __name__ == "__main__":
    unittest.main()
