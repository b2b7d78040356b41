# SPDX-License-Identifier: Apache-2.0
"""The backend in doc/backends.md is the one that test_own_resources.c runs; its links lead somewhere."""

import os
import re
import unittest
from pathlib import Path

TOP = Path(os.environ["DYNSEL_TOP"])
DOC = (TOP / "doc/backends.md").read_text(encoding="utf-8")
TEST = (TOP / "tests/backends/test_own_resources.c").read_text(encoding="utf-8")


class Doc(unittest.TestCase):
    def test_its_code_is_the_tested_one(self):
        shown = re.findall(r"```c\n(.*?)```", DOC, re.S)
        tested = re.findall(r"/\* ---- \w[^-]* ---- \*/\n(.*?)/\* ---- until here ---- \*/", TEST, re.S)
        self.assertEqual(shown, tested)

    def test_each_link_has_target(self):
        for target in re.findall(r"\]\(([^)]+)\)", DOC):
            with self.subTest(target):
                self.assertTrue((TOP / "doc" / target.partition("#")[0]).exists())


if __name__ == "__main__":
    unittest.main()
