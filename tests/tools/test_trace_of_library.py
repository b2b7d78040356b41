# SPDX-License-Identifier: Apache-2.0
"""dynsel-trace on what the library itself writes."""

import os
import re
import subprocess
import unittest
from pathlib import Path

from support_trace import TOP, Tool
from dynsel_trace import read

BUILD = Path(os.environ["DYNSEL_BUILD"])
PIECES = 2 * (300 + 75)


class OfLibrary(Tool):
    def test_trace_of_a_program_is_shown(self):
        program, path = self.folder / "program", self.folder / "run.trace"
        libraries = ["-lOpenCL"] if "BACKEND_OPENCL 1" in (BUILD / "gen/dynsel/autoconf.h").read_text() else []
        subprocess.run([os.environ["DYNSEL_CC"], "-std=c11", "-pthread", str(TOP / "tests/tools/traced_program.c"),
                        f"-I{BUILD}/gen", f"-I{TOP}/include", str(BUILD / "libdynsel.a"), *libraries, "-o",
                        str(program)], check=True)
        subprocess.run([str(program), str(path)], check=True, env={**os.environ, "POCL_DEVICES": "pthread"})
        self.assertEqual(read.read(path).troubles, [])
        out, err = self.run_tool("summary", str(path))
        self.assertEqual(err, "")
        for part in (rf"^\d.*; {PIECES} pieces of work; \d+ records, none lost$",
                     r"^policy earliest_finish: 750 pieces in [0-9.]+ [mu]?s$",
                     r"^  scale +(- +)?\d+ x ", r"^  count +(- +)?\d+ x ",  # "-": the host was not tried yet
                     r"^thread 1 +750 ", r"^marks: first pass, second pass$"):
            self.assertRegex(out, re.compile(part, re.MULTILINE))
        self.assertNotIn("unknown", out)
        self.assertNotIn("left out", out)
        half, _ = self.run_tool("summary", str(path), "--part", "second pass")
        self.assertIn("policy earliest_finish: 375 pieces", half)
        for view in ("html", "perfetto"):
            self.run_tool(view, str(path), "-o", str(self.folder / view))


if __name__ == "__main__":
    unittest.main()
