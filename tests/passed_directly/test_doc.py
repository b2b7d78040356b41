# SPDX-License-Identifier: Apache-2.0
"""The code in doc/passed-directly.md stands in programs that are tested; its names and links exist."""

import os
import re
import unittest
from pathlib import Path

TOP = Path(os.environ["DYNSEL_TOP"])
DOC = (TOP / "doc/passed-directly.md").read_text(encoding="utf-8")
PROGRAMS = "".join((TOP / "tests/passed_directly" / name).read_text(encoding="utf-8")
                   for name in ("user_types.h", "test_trait.c", "test_guide.c", "test_ranges_guide.c"))
HEADERS = "".join(p.read_text(encoding="utf-8") for p in (TOP / "include/dynsel").glob("*.h"))
MADE = {"DYNSEL_OPENCL_ITERATORS"}  # in a header that the build makes


class Doc(unittest.TestCase):
    def test_its_code_is_tested(self):
        shown = re.findall(r"```c\n(.*?)```", DOC, re.S)
        self.assertGreater(len(shown), 5)
        for code in shown:
            with self.subTest(code.splitlines()[0]):
                self.assertIn(code, PROGRAMS)

    def test_its_names_exist(self):
        names = set(re.findall(r"\b((?:dynsel|DYNSEL)_\w*[a-zA-Z])\b", DOC)) - MADE
        for name in sorted(names - {"dynsel_passed_directly_pair"}):
            with self.subTest(name):
                self.assertRegex(HEADERS, rf"\b{name}\b")

    def test_its_headers_exist(self):
        for header in set(re.findall(r"<(dynsel/[^>]*)>", DOC)):
            with self.subTest(header):
                self.assertTrue((TOP / "include" / header).exists())


if __name__ == "__main__":
    unittest.main()
