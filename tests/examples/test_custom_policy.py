# SPDX-License-Identifier: Apache-2.0
"""The example with a policy of its own checks itself, prints its table, and includes public headers only."""

import os
import re
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(os.environ["DYNSEL_TOP"], "examples/custom_policy/custom_policy.c")


class CustomPolicy(unittest.TestCase):
    def test_no_capacity_is_exceeded(self):
        done = subprocess.run([os.environ["DYNSEL_BIN"] + "/custom_policy"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("the next is DYNSEL_E_AGAIN", done.stdout)
        rows = re.findall(r"^worker (\d+) +(\d+) +(\d+) +(\d+)$", done.stdout, re.M)
        self.assertEqual([int(row[0]) for row in rows], list(range(len(rows))))
        self.assertGreater(len(rows), 0)
        self.assertEqual(sum(int(row[3]) for row in rows), 300)
        for _, capacity, at_once, _ in rows:
            self.assertLessEqual(int(at_once), int(capacity))

    def test_it_is_one_file_over_the_public_headers(self):
        included = re.findall(r'#include (["<][^">]+)', SOURCE.read_text(encoding="utf-8"))
        self.assertEqual([i for i in included if "dynsel" in i or i.startswith('"')],
                         ["<dynsel/dynsel.h"])


if __name__ == "__main__":
    unittest.main()
