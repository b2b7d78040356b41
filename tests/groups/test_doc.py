# SPDX-License-Identifier: Apache-2.0
"""The code in doc/memory.md (and in the README) stands in programs that are tested; its options, functions and links exist."""

import os
import re
import unittest
from pathlib import Path

TOP = Path(os.environ["DYNSEL_TOP"])
DOC = (TOP / "doc/memory.md").read_text(encoding="utf-8")
PROGRAMS = "".join((TOP / name).read_text(encoding="utf-8")
                   for name in ("examples/placeholder/placeholder.c", "examples/placeholder/views.c",
                                "examples/adopt/adopt.c", "tests/groups/test_guide.c"))
README = (TOP / "README.md").read_text(encoding="utf-8")
HEADERS = "".join(p.read_text(encoding="utf-8") for p in (TOP / "include/dynsel").glob("*.h"))
KCONFIG = "".join(p.read_text(encoding="utf-8") for p in (TOP / "src").rglob("Kconfig*"))


class Doc(unittest.TestCase):
    def test_its_code_is_tested(self):
        shown = re.findall(r"```c\n(.*?)```", DOC, re.S)
        shown += [code for code in re.findall(r"```c\n(.*?)```", README, re.S) if "handler" in code]
        self.assertGreater(len(shown), 5)
        for code in shown:
            with self.subTest(code.splitlines()[0]):
                self.assertIn(code, PROGRAMS)

    def test_what_it_shows_of_the_guide_is_all_of_it(self):
        guide = (TOP / "tests/groups/test_guide.c").read_text(encoding="utf-8")
        for code in re.findall(r"/\* ---- \w[^-]* ---- \*/\n(.*?)/\* ---- until here ---- \*/", guide, re.S):
            with self.subTest(code.splitlines()[0]):
                self.assertIn(code, DOC)

    def test_its_names_exist(self):
        for name in sorted(set(re.findall(r"\b((?:dynsel|DYNSEL)_\w*[a-zA-Z])\b", DOC))):
            with self.subTest(name):
                self.assertRegex(HEADERS, rf"\b{name}\b")

    def test_its_limits_are_those_of_the_menu(self):
        rows = re.findall(r"^\| ([A-Z_]+) \| (\d+) \|", DOC, re.M)
        self.assertGreater(len(rows), 5)
        for name, default in rows:
            with self.subTest(name):
                entry = re.search(rf"config DYNSEL_{name}\n(.*?)\n\thelp", KCONFIG, re.S)
                self.assertIsNotNone(entry)
                values = re.findall(r"default (\d+)(?: if DYNSEL_HAS_HOSTED\b.*)?$", entry.group(1), re.M)
                self.assertEqual(default, values[0], "the value on hosts")

    def test_each_link_has_target(self):
        for target in re.findall(r"\]\(([^)]+)\)", DOC):
            with self.subTest(target):
                self.assertTrue((TOP / "doc" / target).exists())


if __name__ == "__main__":
    unittest.main()
