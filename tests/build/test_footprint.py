# SPDX-License-Identifier: Apache-2.0
"""scons footprint: the document's tables have what was measured; check notices where they differ."""

import os
import re
import shutil
import unittest

import support
from dynsel_build import footprint
from dynsel_build.errors import UserMistake
from support import scons, write

TEXT = """\
By `gcc 1.2.3`, in 100 tables | of bytes:

<!-- measured: b -->

| configuration | archive | program with toy | worst stack |
|---|---|---|---|
| its own | 1 | 2 | 3 |
| `tiny`: small, with `CONFIG_DYNSEL_A=y` | | | |

<!-- measured: b+tiny -->
| option | archive | stack |
|---|---|---|
| `CONFIG_DYNSEL_A=y` | +9 | +9 |
| `CONFIG_DYNSEL_B=3` | +1 | |
| `CONFIG_DYNSEL_C=n` | +2 | |
After it.

| no figures of the build's | archive |
|---|---|
| `CONFIG_DYNSEL_A=y` | 7 |
"""

FIGURES = {
    "b": {"archive": 12345, "stack": 400, "toy": 999},
    "b+tiny": {"archive": 1000, "stack": 40, "toy": 99},
    "b+tiny~A=y": {"archive": 1001, "stack": 40},
    "b+tiny~B=3": {"archive": 3500, "stack": 36},
    "b+tiny~C=n": {"archive": 1000, "stack": 44},
}

RENEWED = (TEXT.replace("`gcc 1.2.3`", "`gcc 12.2.0`").replace("| 1 | 2 | 3 |", "| 12,345 | 999 | 400 |")
           .replace("=y` | | | |", "=y` | 1,000 | 99 | 40 |")
           .replace("A=y` | +9 | +9 |\n", "B=3` | +2,500 | -4 |\n", 1).replace("B=3` | +1 | |\n", "A=y` | +1 | |\n")
           .replace("C=n` | +2 | |\n", "C=n` | | +4 |\n"))


class Text(unittest.TestCase):
    def test_renewed_text_changes_figures_only_and_sorts_options(self):
        self.assertEqual(footprint.renewed(TEXT, FIGURES, {"gcc": "12.2.0"}), RENEWED)
        self.assertEqual(footprint.renewed(RENEWED, FIGURES, {"gcc": "12.2.0"}), RENEWED)

    def test_unmeasured_rows_stay(self):
        found = footprint.renewed(RENEWED, {"b": {**FIGURES["b"], "stack": 401}}, {"cc": "3.2.1"})
        self.assertEqual(found, RENEWED.replace("999 | 400", "999 | 401"))

    def test_unknown_figure_is_refused(self):
        with self.assertRaises(UserMistake) as raised:
            footprint.renewed(TEXT.replace("with toy", "with tooy"), FIGURES, {})
        self.assertEqual(raised.exception.lines,
                         ["doc/footprint.md:7: b has no figure 'tooy' (there are: archive, stack, toy)"])


class Build(unittest.TestCase):
    """A small tree that has a document."""

    DOC = ("Of `gcc 1.2.3`.\n\n<!-- measured: native -->\n| what | archive | worst stack |\n|---|---|---|\n"
           "| own | 1 | 2 |\n| `minimal`: less | | |\n\n"
           "<!-- measured: native+minimal -->\n\n| option | archive | stack |\n|---|---|---|\n"
           "| `CONFIG_DYNSEL_POLICY_ROUND_ROBIN=y` | | |\n\nProse.\n")

    @classmethod
    def setUpClass(cls):
        cls.top = support.build_tree()
        cls.addClassCleanup(shutil.rmtree, cls.top)

    def test_footprint_is_measured_written_and_compared(self):
        doc = self.top / footprint.DOC
        write(doc, self.DOC)
        status, said = scons(self.top, "-n", "footprint")
        self.assertEqual(status, 0, said)
        self.assertIn("doc/footprint.md: the changes are known after the sizes above are measured\n", said)
        self.assertEqual(doc.read_text(encoding="utf-8"), self.DOC)

        status, said = scons(self.top, "footprint")
        self.assertEqual(status, 0, said)
        text = doc.read_text(encoding="utf-8")
        self.assertRegex(said, r"-\| own \| 1 \| 2 \|\n")
        own, less = (re.search(rf"\| {name} \| (\d+) \| \d+ \|\n", text) for name in ("own", "`minimal`: less"))
        self.assertGreater(int(own[1]), int(less[1]))
        self.assertIn(f"| `CONFIG_DYNSEL_POLICY_ROUND_ROBIN=y` | +{int(own[1]) - int(less[1])} | |\n\nProse.\n", text)
        self.assertNotIn("1.2.3", text)
        self.assertIn("has these figures already", scons(self.top, "-n", "footprint")[1])

        wrong = text.replace(own[0], own[0].replace(own[1], "77"))
        write(doc, wrong)
        status, said = scons(self.top, "-n", "footprint")
        self.assertIn(f"-{own[0].replace(own[1], '77')}+{own[0]}", re.sub(r"\n@@.*\n", "\n", said))
        self.assertEqual(doc.read_text(encoding="utf-8"), wrong)
        self.check_compares(doc, text, wrong)

    def check_compares(self, doc, text, wrong):
        gate = "build/gates/footprint.ok"
        status, said = scons(self.top, gate)
        self.assertEqual(status, 2, said)
        self.assertIn("doc/footprint.md differs from the measured figures; `scons footprint` updates it\n", said)
        write(doc, re.sub(r"`gcc [\d.]+`", "`gcc 1.2.3`", wrong))
        status, said = scons(self.top, gate)
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"note: doc/footprint.md has no figures for gcc [\d.]+, so it is not compared\n")
        write(doc, text)
        status, said = scons(self.top, gate)
        self.assertEqual(status, 0, said)
        self.assertNotIn("note: doc", said)
        write(doc, text.replace("ROUND_ROBIN=y` | +", "ROUND_ROBIN=y` | +1"))
        self.assertEqual(scons(self.top, gate)[0], 0, "rows of variants that are not built are not looked at")
        status, _ = scons(self.top, gate, "VARIANTS=native,native+minimal,native+minimal~POLICY_ROUND_ROBIN=y")
        self.assertEqual(status, 2, "and they are where they are built")

    def test_mistakes_in_document_are_refused(self):
        for text, line in (
                ("Nothing.\n", "doc/footprint.md: no table is measured; put <!-- measured: VARIANT --> above one"),
                (self.DOC.replace("`minimal`", "`minimla`"), "doc/footprint.md: no fragment named 'minimla'; did you"),
                (self.DOC.replace("ROUND_ROBIN=y", "ROUND_ROBBIN=y"), "ROUND_ROBBIN")):
            with self.subTest(line):
                write(self.top / footprint.DOC, text)
                status, said = scons(self.top, "footprint")
                self.assertEqual(status, 2, said)
                self.assertIn(line, said)
                self.assertNotIn("Traceback", said)
        os.remove(self.top / footprint.DOC)
        status, said = scons(self.top, "footprint")
        self.assertEqual(status, 2, said)
        self.assertIn("doc/footprint.md: No such file", said)


if __name__ == "__main__":
    unittest.main()
