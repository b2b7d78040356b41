# SPDX-License-Identifier: Apache-2.0
"""The example that computes in double where it can goes everywhere in turn, and is as exact as it says."""

import os
import re
import subprocess
import unittest

PROGRAM = os.environ["DYNSEL_BIN"] + "/precision"


class Precision(unittest.TestCase):
    def test_each_precision_takes_turns_over_all_that_have_it(self):
        done = subprocess.run([PROGRAM], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = re.findall(r"^(double|single) +(.*?) +([0-9.e+-]+)$", done.stdout, re.M)
        where = {kind: [name for k, name, _ in rows if k == kind] for kind in ("double", "single")}
        self.assertIn("host", where["double"])  # what else has fp64 depends on the drivers
        for kind, names in where.items():
            for name in names:
                self.assertEqual(names.count(name) % 2, 0, (kind, name))  # two turns each
        for kind, _, error in rows:
            self.assertLess(float(error), 1e-5 if kind == "double" else 1e-3)
            self.assertGreater(float(error), 0)


if __name__ == "__main__":
    unittest.main()
