# SPDX-License-Identifier: Apache-2.0
"""Code for aspects that no device of a build can have is not in the program: the linker's map shows it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(os.environ["DYNSEL_TOP"])
CC = os.environ["DYNSEL_CC"]

TABLE = """\
small:
  text: computes with single precision
  source: made up for a test
  recognize: [{name: small}]
  added_by: []
  aspects: [gpu]
  may_support_other_aspects: false
  sub_group_sizes: []

large:
  text: computes with double precision
  source: made up for a test
  recognize: [{name: large}]
  added_by: []
  aspects: [gpu, fp64]
  may_support_other_aspects: false
  sub_group_sizes: []

open:
  text: may have anything
  source: made up for a test
  recognize: [{}]
  added_by: []
  aspects: [gpu]
  may_support_other_aspects: true
  sub_group_sizes: []
"""

MAIN = """\
#include <dynsel/aspect_traits.h>

double shared_in_double(double x);
const char *chosen_kernel(int in_double);
extern volatile double number;
extern const char *volatile kernel;

static double static_in_double(double x)
{
    for (int i = 0; i < 10; i++) {
        x = x * x + number;
    }
    return x;
}

#if dynsel_any_device_has(fp64)
double guarded_in_double(double x);
double guarded_in_double(double x)
{
    return x * number;
}
#endif

int main(void)
{
    kernel = "kernel void solve(global float *x) {}";
    if (dynsel_any_device_has(fp64)) {
        number = static_in_double(number);
        number = shared_in_double(number);
        kernel = "kernel void solve(global double *x) {}";
    }
#if dynsel_any_device_has(fp64)
    number = guarded_in_double(number);
#endif
    if (!dynsel_all_devices_have(fp64)) {
        number = (float)number;
    }
    return 0;
}
"""

OTHER = """\
double shared_in_double(double x);
volatile double number = 1;
const char *volatile kernel;
double shared_in_double(double x)
{
    return x + number;
}
"""

IN_DOUBLE = ("static_in_double", "shared_in_double", "guarded_in_double")


class Gone(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-gone-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in (("table.yaml", TABLE), ("main.c", MAIN), ("other.c", OTHER)):
            (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / "dynsel").mkdir()

    def generate(self, *targets):
        tool = [sys.executable, str(TOP / "tools/dynsel-aspects")]
        self.call(*tool, "table.yaml", *targets, "-o", "dynsel/aspect_sets.h")
        self.call(*tool, "--names", "-o", "dynsel/aspect_names.h")

    def call(self, *command):
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def placed(self, level):
        """What is in the program: (the part of the map that was placed, its symbols, its bytes)."""
        self.call(CC, "-std=c11", level, "-ffunction-sections", "-fdata-sections", "-I.",
                  f"-I{TOP}/include", "main.c", "other.c", "-Wl,--gc-sections", "-Wl,-Map=map",
                  "-o", "program")
        whole = (self.folder / "map").read_text(encoding="utf-8")
        _, found, rest = whole.partition("Linker script and memory map")
        self.assertTrue(found, "the map has another form than this test knows")
        self.assertIn("main", rest)
        symbols = set(re.findall(r" [tT] (\w+)$", self.call("nm", "program"), re.MULTILINE))
        self.assertIn("main", symbols)
        return rest, symbols, (self.folder / "program").read_bytes()

    def check(self, level, *targets, double):
        self.generate(*targets)
        placed, symbols, program = self.placed(level)
        for name in IN_DOUBLE:
            with self.subTest(name, level=level, targets=targets):
                self.assertEqual(name in symbols, double)
                if name != "static_in_double":  # the linker lists sections, and what is global in them
                    self.assertEqual(name in placed, double)
        self.assertEqual(b"global double" in program, double)
        self.assertIn(b"global float", program)

    def test_without_a_device_that_can_have_it(self):
        for level in ("-Os", "-O0"):
            self.check(level, "small", double=False)

    def test_with_one_that_has_it(self):
        self.check("-O0", "small", "large", double=True)

    def test_with_one_that_may_have_it(self):
        self.check("-O0", "small", "open", double=True)

    def test_what_all_have_needs_no_second_way(self):
        self.generate("large")
        self.call(CC, "-std=c11", "-I.", f"-I{TOP}/include", "-E", "main.c", "-o", "main.i")
        text = (self.folder / "main.i").read_text(encoding="utf-8")
        self.assertRegex(text, r"if \(!\s*1\)")
        self.assertRegex(text, r"if \(\s*1\)")


if __name__ == "__main__":
    unittest.main()
