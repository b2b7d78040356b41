# SPDX-License-Identifier: Apache-2.0
"""The OpenCL program that keeps its own objects is right on every queue, and says where each piece ran."""

import os
import re
import subprocess
import unittest

PROGRAM = os.environ["DYNSEL_BIN"] + "/adopt"


def run(**variables):
    return subprocess.run([PROGRAM], capture_output=True, text=True, check=False, env={**os.environ, **variables})


class Adopt(unittest.TestCase):
    def test_pieces_take_turns_over_the_queues_of_the_program(self):
        for devices, kinds in (("pthread", 1), ("pthread basic", 2)):
            with self.subTest(devices):
                done = run(POCL_DEVICES=devices)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                own = re.findall(r"^own kernel, factor (\d) +on (\S.*?) +right$", done.stdout, re.M)
                self.assertEqual([factor for factor, _ in own], ["1", "2", "3", "4"], done.stdout)
                self.assertEqual(len({name for _, name in own}), kinds, done.stdout)
                groups = re.findall(r"^command group +on (\S.*?) +right$", done.stdout, re.M)
                self.assertEqual(len(groups), kinds, done.stdout)
                self.assertEqual(done.stdout.count("the program's memory has 5 * i: right\n"), kinds, done.stdout)

    def test_without_a_device(self):
        done = run(OCL_ICD_VENDORS=os.path.join(os.environ["DYNSEL_TOP"], "tests/opencl/icd/none"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", "adopt: there is no OpenCL device\n"))


if __name__ == "__main__":
    unittest.main()
