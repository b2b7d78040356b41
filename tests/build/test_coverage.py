# SPDX-License-Identifier: Apache-2.0
"""`scons coverage`: counts of this run alone, summed by folder."""

import json
import re
import shutil
import unittest

import support
from support import scons, write
from dynsel_build import coverage

BRANCH = """int two(int);
int two(int number)
{
    return number > 3 ? number : -number;
}
"""
CALLS = "int two(int);\nint main(void)\n{\n    return two(%s) == 0;\n}\n"


def file(name, lines, branches):
    return {"filename": name, "line_covered": lines[0], "line_total": lines[1],
            "branch_covered": branches[0], "branch_total": branches[1]}


class Table(unittest.TestCase):
    def test_table_sums_folders_and_rounds_down(self):
        rows = coverage.table([file("src/core/a.c", (999, 1000), (1, 2)), file("src/core/b.c", (1000, 1000), (2, 2)),
                               file("src/port/c.c", (5, 5), (0, 0))])
        self.assertEqual([row.split() for row in rows[1:]],
                         [["core", "2", "2000", "99.9", "%", "4", "75.0", "%"],
                          ["port", "1", "5", "100.0", "%", "0", "-"],
                          ["all", "3", "2005", "99.9", "%", "4", "75.0", "%"]])
        self.assertEqual(len({len(row) for row in rows}), 1)

    def test_coverage_without_compiled_source_is_refused(self):
        with self.assertRaisesRegex(coverage.UserMistake, "no counts were found"):
            coverage.table([])


class Running(unittest.TestCase):
    def setUp(self):
        self.top = support.build_tree()
        self.addCleanup(shutil.rmtree, self.top)
        write(self.top / "src/two.c", BRANCH)
        self.calls(4)

    def calls(self, number):
        write(self.top / "tests/test_other.c", CALLS % number)

    def branches(self):
        status, said = scons(self.top, "coverage")
        self.assertEqual(status, 0, said)
        self.assertIn("4 passed, 0 failed", said)
        summary = json.loads((self.top / "build/native+coverage/coverage/summary.json").read_text(encoding="utf-8"))
        found = next(f for f in summary["files"] if f["filename"] == "src/two.c")
        self.assertTrue((self.top / "build/native+coverage/coverage/index.html").exists())
        self.assertTrue(re.search(r"^all +3 +\d+ +\d+\.\d % +2 +\d+\.0 %$", said, re.M), said)
        return found["branch_covered"], found["branch_total"]

    def test_coverage_counts_current_run_only(self):
        self.assertEqual(self.branches(), (1, 2))
        self.assertEqual(self.branches(), (1, 2))
        self.calls("two(4) + 1")
        self.assertEqual(self.branches(), (1, 2))
        self.calls("two(4) - 4 - 1")
        self.assertEqual(self.branches(), (2, 2))
        self.calls(2)
        self.assertEqual(self.branches(), (1, 2))

    def test_failed_test_fails_coverage(self):
        write(self.top / "tests/test_other.c", "int main(void)\n{\n    return 1;\n}\n")
        status, said = scons(self.top, "coverage")
        self.assertEqual(status, 2, said)
        self.assertIn("failed: build/native+coverage/tests/test_other\n", said)


if __name__ == "__main__":
    unittest.main()
