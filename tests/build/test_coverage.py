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
    def test_table_sorts_folders_by_untaken_branches_and_rounds_down(self):
        rows = coverage.table([file("src/base/c.c", (5, 5), (0, 0)), file("src/core/a.c", (999, 1000), (1, 2)),
                               file("src/core/b.c", (1000, 1000), (2, 2)), file("src/data/d.c", (1, 1), (4, 6))])
        self.assertEqual([row.split() for row in rows[1:]],
                         [["data", "1", "1", "100.0", "%", "6", "66.6", "%", "2"],
                          ["core", "2", "2000", "99.9", "%", "4", "75.0", "%", "1"],
                          ["base", "1", "5", "100.0", "%", "0", "-", "0"],
                          ["all", "4", "2006", "99.9", "%", "10", "70.0", "%", "3"]])
        self.assertEqual(len({len(row) for row in rows}), 1)

    def test_coverage_without_compiled_source_is_refused(self):
        with self.assertRaisesRegex(coverage.UserMistake, "no counts were found"):
            coverage.table([])


class Untaken(unittest.TestCase):
    def test_unreached_lines_and_untaken_branches_are_listed_by_place(self):
        def line(number, count, *branches, **more):
            return {"line_number": number, "count": count, "branches": [{"count": taken} for taken in branches], **more}

        files = [{"file": "src/b.c", "lines": [line(3, 1, 0, 2), line(4, 1, 1, 1), line(5, 0, 0, 0)]},
                 {"file": "src/a.c", "lines": [line(7, 2, 0, 0, 0, 1), line(8, 0, **{"gcovr/noncode": True})]}]
        self.assertEqual(coverage.untaken(files, lambda name, number: f"text of {number}"),
                         ["src/a.c:7: 3 of 4 branches never taken: text of 7",
                          "src/b.c:3: 1 of 2 branches never taken: text of 3",
                          "src/b.c:5: line never reached: text of 5"])


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
        self.assertTrue(re.search(r"^all +3 +\d+ +\d+\.\d % +2 +\d+\.0 % +\d$", said, re.M), said)
        listed = (self.top / "build/native+coverage/coverage/untaken.txt").read_text(encoding="utf-8")
        self.assertEqual("src/two.c:4: 1 of 2 branches never taken: return number > 3 ? number : -number;\n" in listed,
                         found["branch_covered"] == 1, listed)
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
