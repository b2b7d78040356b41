# SPDX-License-Identifier: Apache-2.0
"""The examples in C++ are right on the host, and on PoCL's devices where the build has OpenCL."""

import os
import re
import subprocess
import unittest
from pathlib import Path

BIN = Path(os.environ["DYNSEL_BIN"])
NO_DRIVER = {"OCL_ICD_VENDORS": os.environ["DYNSEL_TOP"] + "/tests/opencl/icd/none"}
RESOURCES = int(re.search(r"^CONFIG_DYNSEL_MAX_RESOURCES=(\d+)$", (BIN.parent / ".config").read_text(encoding="utf-8"),
                          re.M).group(1))
PROGRAMS = ("dynamic_selection", "derived_policy", "placeholder_access", "iterator_pair")


def run(program, *arguments, stdout=subprocess.PIPE, **variables):
    return subprocess.run([BIN / program, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, **variables})


class Cpp(unittest.TestCase):
    def lines(self, program, **variables):
        done = run(program, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout.splitlines()

    def test_on_the_host_alone(self):
        self.assertEqual(self.lines("dynamic_selection", **NO_DRIVER),
                         [f"task {i} is submitted to host" for i in range(6)])
        self.assertEqual(self.lines("placeholder_access", **NO_DRIVER),
                         ["numbers[0] = 3 on host", "numbers[0] = 2 on host", "the host reads 2"])
        self.assertEqual(self.lines("iterator_pair", **NO_DRIVER), ["11 13 15 17 from host"])

    @unittest.skipUnless(RESOURCES >= 3, "no room for the host and two devices")
    def test_on_devices(self):
        tasks = self.lines("dynamic_selection")
        self.assertEqual(len(tasks), 6)
        for task in tasks:
            self.assertRegex(task, r"^task \d is submitted to (pthread|basic)")
        numbers = self.lines("placeholder_access")
        self.assertEqual((numbers[0], numbers[2]), ("numbers[0] = 3 on host", "the host reads 2"))
        self.assertRegex(numbers[1], r"^numbers\[0\] = 2 on (pthread|basic)")
        sums = self.lines("iterator_pair")
        self.assertEqual([line[:15] for line in sums], ["11 13 15 17 fro"] * 3)
        self.assertEqual(len(set(sums)), 3)

    def test_a_policy_of_ones_own(self):
        self.assertEqual(self.lines("derived_policy"), ["submitted 10, completed 10", "slow 1", "fast 9"])

    def test_usage(self):
        for program in PROGRAMS:
            with self.subTest(program):
                done = run(program, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout.startswith(f"Usage: {program}"), done.stdout)
                done = run(program, "--nonsense")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(program, done.stderr)
                with open("/dev/full", "wb") as full:
                    done = run(program, stdout=full)
                self.assertEqual(done.returncode, 1)
                self.assertIn("standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
