# SPDX-License-Identifier: Apache-2.0
"""The program in doc/faults.md is the test beside this one; the page's links and names exist."""

import re
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
DOC = (TOP / "doc/faults.md").read_text(encoding="utf-8")
HEADERS = "".join(p.read_text(encoding="utf-8") for p in (TOP / "include/dynsel").glob("*.h"))


class Doc(unittest.TestCase):
    def test_its_program_is_the_test(self):
        program, = re.findall(r"```c\n(.*?)```", DOC, re.S)
        test = (TOP / "tests/submission/test_set_guide.c").read_text(encoding="utf-8").split("\n", 1)[1]
        self.assertEqual(program, test)

    def test_its_names_exist(self):
        for name in sorted(set(re.findall(r"\b(dynsel_\w*[a-zA-Z])\(", DOC))):
            with self.subTest(name):
                self.assertRegex(HEADERS, rf"\b{name}\b")

    def test_each_link_has_target(self):
        headings = {re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-")
                    for h in re.findall(r"^#+ (.*)$", DOC, re.M)}
        for target in re.findall(r"\]\(([^)]+)\)", DOC):
            with self.subTest(target):
                page, _, heading = target.partition("#")
                self.assertTrue(not page or (TOP / "doc" / page).exists())
                self.assertTrue(page or heading in headings)


if __name__ == "__main__":
    unittest.main()
