# SPDX-License-Identifier: Apache-2.0
"""`scons misra`: what deviates must be listed, and what is listed must deviate."""

import os
import shutil
import unittest
from pathlib import Path

import support
from support import scons, write
from dynsel_build import misra

HEAD = "| rule | category | where | reason |\n|---|---|---|---|\n"
FOUND = ["src/a/one.c:3: misra-c2012-15.5", "include/dynsel/x.h:9: misra-c2012-15.5",
         "src/a/one.c:3: misra-c2012-15.5", "build/native+full/gen/dynsel/autoconf.h:2: misra-c2012-2.5",
         "src/a/one.c:4: unusedFunction"]


class Comparing(unittest.TestCase):
    def complaints(self, *rows, found=tuple(FOUND)):
        return misra.compare(list(found), HEAD + "".join(f"| {row} |\n" for row in rows))

    def test_listed_deviation_passes(self):
        self.assertEqual(self.complaints("15.5 | advisory | everywhere | why", "2.5 | advisory | `generated/` | why"), [])
        self.assertEqual(self.complaints("15.5 | advisory | `src/a/one.c`, `include/` | why",
                                         "2.5 | advisory | `generated/dynsel/autoconf.h` | why"), [])

    def test_unlisted_deviation_fails(self):
        said = self.complaints("2.5 | advisory | everywhere | why")
        self.assertEqual([line.split(":")[:2] for line in said], [["include/dynsel/x.h", "9"], ["src/a/one.c", "3"]])
        self.assertIn("rule 15.5 is violated; correct the code, or list a deviation", said[0])
        said = self.complaints("15.5 | advisory | `src/a/` | why", "2.5 | advisory | everywhere | why")
        self.assertEqual([line.split(":")[0] for line in said], ["include/dynsel/x.h"])

    def test_unneeded_row_fails(self):
        said = self.complaints("15.5 | advisory | everywhere | why", "2.5 | advisory | `generated/`, `src/b.c` | why",
                               "17.2 | required | everywhere | why")
        self.assertEqual(said, ["doc/misra.md:4: no violation of rule 2.5 in src/b.c; delete it",
                                "doc/misra.md:5: no violation of rule 17.2; delete it"])

    def test_malformed_rows_fail(self):
        said = self.complaints("15.5 | whenever | everywhere | why", "15.5 | advisory | everywhere | ", found=())
        self.assertEqual([line.split(": ")[0] for line in said], ["doc/misra.md:3", "doc/misra.md:4"])
        self.assertIn("write | rule |", said[0])
        said = self.complaints("9.1 | mandatory | everywhere | why", found=["src/a.c:1: misra-c2012-9.1"])
        self.assertEqual(said, ["doc/misra.md:3: rule 9.1 is mandatory, so no deviation is allowed; correct the code"])


class Looking(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = support.build_tree()
        cls.addClassCleanup(shutil.rmtree, cls.top)
        write(cls.top / "src/one.c", "#include <dynsel/autoconf.h>\nint one(void);\nint one(void)\n{\n"
                                     "    goto end;\nend:\n    return CONFIG_DYNSEL_MAX_RESOURCES;\n}\n")

    def test_all_sources_of_library_are_checked_and_no_others(self):
        rows = "".join(f"| {rule} | advisory | everywhere | of this small tree |\n" for rule in ("2.5",))
        write(self.top / "doc/misra.md", HEAD + rows)
        status, said = scons(self.top, "misra")
        self.assertEqual(status, 2, said)
        complaints = [line for line in said.splitlines() if "MISRA C:2012 rule" in line]
        self.assertEqual([c.split(";")[0] for c in complaints],
                         ["src/one.c:5: MISRA C:2012 rule 15.1 is violated"], said)
        self.assertEqual(said.count("  MISRA src/one.c\n"), 1)
        self.assertNotIn("  MISRA examples/hello.c\n", said)
        write(self.top / "doc/misra.md", HEAD + rows + "| 15.1 | advisory | `src/one.c` | a test |\n")
        status, said = scons(self.top, "misra")
        self.assertEqual((status, said), (0, "  MISRA the library, against doc/misra.md\n"))
        self.assertEqual([p for p in self.top.rglob("*.dump")], [])
        self.addCleanup((self.top / "src/lost.c").unlink)
        write(self.top / "src/lost.c", "int lost(void);\nint lost(void)\n{\n    return 4;\n}\n")
        status, said = scons(self.top, "misra")
        self.assertEqual(status, 2, said)
        self.assertIn("src/lost.c: no checked configuration compiles it; add one", said)

    def test_missing_cppcheck_is_error(self):
        folder = self.top / "build/few-tools"
        folder.mkdir(parents=True)
        for program in ("gcc", "ar", "sh", "python3", "env"):
            os.symlink(shutil.which(program), folder / program)
        shutil.rmtree(self.top / "build/gates", ignore_errors=True)
        status, said = scons(self.top, "misra", env={"PATH": str(folder)}, program=shutil.which("scons"))
        self.assertEqual(status, 2, said)
        self.assertEqual(said.count("cppcheck is missing; on Debian and Ubuntu: apt-get install cppcheck\n"), 1, said)


class Documented(unittest.TestCase):
    def test_all_rows_are_understood(self):
        text = (support.TOP / misra.DEVIATIONS).read_text(encoding="utf-8")
        rows = [line for line in text.splitlines() if line[:3].strip("| ")[:1].isdigit()]
        found, said = misra._deviations(text)
        self.assertEqual((len(found), said), (len(rows), []))
        for row in found:
            for place in row["places"]:
                self.assertTrue(place == "everywhere" or place.startswith("generated/")
                                or Path(support.TOP, place).exists(), place)


if __name__ == "__main__":
    unittest.main()
