# SPDX-License-Identifier: Apache-2.0
"""The example with a backend of its own checks itself, prints its table, and includes public headers only."""

import os
import re
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(os.environ["DYNSEL_TOP"], "examples/custom_backend/custom_backend.c")


class CustomBackend(unittest.TestCase):
    def test_every_policy_gets_all_work_done(self):
        done = subprocess.run([os.environ["DYNSEL_BIN"] + "/custom_backend"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = {name: (int(a), int(b)) for name, a, b in
                re.findall(r"^(\w+) +(\d+) +(\d+)$", done.stdout, re.M)}
        self.assertIn("dynamic_load", rows)
        for shares in rows.values():
            self.assertEqual(sum(shares), 400)

    def test_it_is_one_file_over_the_public_headers(self):
        included = re.findall(r'#include (["<][^">]+)', SOURCE.read_text(encoding="utf-8"))
        self.assertEqual([i for i in included if "dynsel" in i or i.startswith('"')],
                         ["<dynsel/dynsel.h"])


if __name__ == "__main__":
    unittest.main()
