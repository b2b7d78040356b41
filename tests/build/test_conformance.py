# SPDX-License-Identifier: Apache-2.0
"""Every row of doc/conformance.md names a function that exists and a test that exists and runs, or says why not."""

import re
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
DOC = (TOP / "doc/conformance.md").read_text(encoding="utf-8")
HEADERS = "\n".join(p.read_text(encoding="utf-8") for p in sorted((TOP / "include/dynsel").glob("*.h")))
SCONSCRIPT = (TOP / "tests/SConscript").read_text(encoding="utf-8")
WITHOUT = ("No counterpart:", "Not yet:")


def rows():
    """(heading, cells) of each row of each table, without the heads of the tables."""
    heading, found, lines = "", [], DOC.splitlines()
    for line, following in zip(lines, lines[1:] + [""]):
        if line.startswith("#"):
            heading = line.strip("# ")
        if line.startswith("| ") and not following.startswith("|---"):
            found.append((heading, [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]))
    return found


def named_tests(cell):
    """[(file, test)] of `file.c` `test`, `test`."""
    found, file = [], None
    for word in re.findall(r"`([^`]+)`", cell):
        if re.fullmatch(r"\w+/\w+\.(c|py)", word):
            file = word
        else:
            found.append((file, word))
    return found


def runs(file, test):
    """Whether the test is defined in the file and is one of those that run."""
    path = TOP / "tests" / file
    if not path.exists():
        return False
    text = path.read_text(encoding="utf-8")
    if file.endswith(".py"):
        return f"    def {test}(self)" in text
    scenario, _, function = test.partition("_scenario_")
    if f"SCENARIO_TEST({scenario}, {function})" in text:  # faults/scenario_tests.h
        return f"static void {function}(void **state)" in text
    return f"static void {test}(void **state)" in text and re.search(rf"\w+\({test}\b[,)]", text) is not None


def declared(file):
    """Whether tests/SConscript has the file, in so many words or as one of a list of topics."""
    if f'"{file}"' in SCONSCRIPT:
        return True
    lists = re.findall(r'f"([\w/]+)\{\w+\}(\.\w+)"', SCONSCRIPT)
    return any(file.startswith(start) and file.endswith(end) and f'"{file[len(start):-len(end)]}"' in SCONSCRIPT
               for start, end in lists)


class Conformance(unittest.TestCase):
    def test_each_row_names_test_or_reason(self):
        self.assertGreater(len(rows()), 100)
        for heading, cells in rows():
            with self.subTest(heading, row=cells[0]):
                self.assertEqual(len(cells), 3)
                self.assertTrue(all(cells))
                has_test = bool(named_tests(cells[2]))
                self.assertNotEqual(has_test, cells[1].startswith(WITHOUT))
                self.assertTrue(has_test or cells[2] == "-")

    def test_each_named_test_exists_and_runs(self):
        for heading, cells in rows():
            for file, test in named_tests(cells[2]):
                with self.subTest(heading, row=cells[0], test=test):
                    self.assertIsNotNone(file)
                    self.assertTrue(runs(file, test), f"{file} has no test {test}")
                    self.assertTrue(declared(file), f"tests/SConscript has no {file}")

    def test_each_named_function_exists(self):
        for name, call in sorted(set(re.findall(r"\b((?:dynsel|DYNSEL)_\w+)(\(?)", DOC))):
            with self.subTest(name):
                pattern = rf"\b{name}\(" if call else rf"\b{name}\b"
                self.assertRegex(HEADERS, pattern)

    def test_each_named_option_exists(self):
        kconfig = "\n".join(p.read_text(encoding="utf-8") for p in TOP.rglob("Kconfig*")
                            if p.is_file() and "build" not in p.relative_to(TOP).parts)
        for name in sorted(set(re.findall(r"CONFIG_(DYNSEL_\w+)", DOC))):
            with self.subTest(name):
                self.assertRegex(kconfig, rf"config {name}\n")

    def test_each_link_has_target(self):
        for target in re.findall(r"\]\(([^)]+)\)", DOC):
            with self.subTest(target):
                self.assertTrue((TOP / "doc" / target).exists())


if __name__ == "__main__":
    unittest.main()
