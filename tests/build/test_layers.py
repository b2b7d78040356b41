# SPDX-License-Identifier: Apache-2.0
"""`scons layers`: a room of src/ uses what stands below it, and no files form a circle."""

import shutil
import tempfile
import unittest
from pathlib import Path

from support import write
from dynsel_build import layers

CALLED = "void dynsel_called(void)\n{\n}\n"
CALLS = "void dynsel_call(void)\n{\n    dynsel_called();\n}\n"


class Layers(unittest.TestCase):
    def findings(self, sources, exceptions=()):
        top = Path(tempfile.mkdtemp(prefix="dynsel-layers-"))
        self.addCleanup(shutil.rmtree, top)
        for name, text in sources.items():
            write(top / "src" / name, text)
        return layers.lint(top, exceptions)

    def one(self, sources, exceptions=()):
        found = self.findings(sources, exceptions)
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_include_downward_is_clean(self):
        self.assertEqual(self.findings({"base/a.h": "", "groups/b.c": '#include "base/a.h"\n',
                                        "policies/c.c": '#include "base/a.h"\n'}), [])

    def test_include_upward_fails(self):
        self.assertEqual(self.one({"groups/a.h": "", "data/b.c": '/* why */\n#include "groups/a.h"\n'}),
                         "src/data/b.c:2 names groups/a.h, and src/groups stands above src/data: move the shared"
                         " code below both, or let groups fill in a table that data declares")

    def test_policy_that_includes_backend_fails(self):
        for one, other in (("policies", "backends"), ("backends", "policies")):
            self.assertIn(f"src/{one}/b.c:1 names {other}/a.h, and src/{other} stands beside src/{one}",
                          self.one({f"{other}/a.h": "", f"{one}/b.c": f'#include "{other}/a.h"\n'}))

    def test_call_upward_without_include_fails(self):
        said = self.one({"groups/a.c": CALLED, "base/b.c": "#include <dynsel/x.h>\n\n" + CALLS})
        self.assertTrue(said.startswith("src/base/b.c:5 names dynsel_called(), of src/groups/a.c, and"), said)

    def test_call_upward_from_inline_function_fails(self):
        self.assertIn("src/base/b.h:3 names dynsel_called()",
                      self.one({"groups/a.c": CALLED, "base/b.h": "static inline " + CALLS}))

    def test_upper_function_as_operation_fails(self):
        self.assertIn("src/base/b.c:2 names dynsel_called()", self.one(
            {"groups/a.c": CALLED, "base/b.c": "static const struct ops ops = {\n    .call = dynsel_called};\n"}))

    def test_table_of_upper_layer_is_clean(self):
        self.assertEqual(self.findings({"groups/a.c": "const int dynsel_table[] = {1};\n",
                                        "base/b.c": "int dynsel_read(void)\n{\n    return dynsel_table[0];\n}\n"}), [])

    def test_name_in_comment_or_string_is_clean(self):
        self.assertEqual(self.findings({
            "groups/a.c": CALLED, "base/b.h": "void dynsel_called(void);\n",
            "base/b.c": "/* {\n dynsel_called()\n}\n */\n#define X(y) \\\n    int y(void) { \\\n        return 0; \\\n    }\n"
                        'const char *dynsel_b(void)\n{\n    return "dynsel_called()"; // dynsel_called()\n}\n'}), [])

    def test_static_function_with_same_name_is_clean(self):
        self.assertEqual(self.findings({"groups/a.c": "static " + CALLED, "base/b.c": CALLS}), [])

    def test_circle_of_includes_fails(self):
        self.assertEqual(self.one({"base/a.h": '#include "base/b.h"\n', "base/b.h": "", "base/b.c": '#include "base/c.h"\n',
                                   "base/c.h": '\n#include "base/a.h"\n'}),
                         "src/base/a.h:1: a circle: base/a -> base/b -> base/c -> base/a (src/base/a.h:1 names base/b.h;"
                         " src/base/b.c:1 names base/c.h; src/base/c.h:2 names base/a.h): move the shared code into"
                         " a file below them, or join them")

    def test_circle_of_include_and_call_fails(self):
        self.assertIn("a circle: base/a -> base/b -> base/a",
                      self.one({"base/a.c": '#include "base/b.h"\n' + CALLED, "base/b.h": "", "base/b.c": CALLS}))

    def test_call_in_no_configuration_is_clean(self):
        sources = {"base/a.c": '#include "base/b.h"\n' + CALLED, "base/b.h": "", "base/b.c": CALLS}
        script = 'Import("component")\ncomponent("a", ["a.c"], when=["DYNSEL_X"])\ncomponent("b", ["b.c"], when=[%s])\n'
        self.assertEqual(self.findings({**sources, "base/SConscript": script % '"!DYNSEL_X"'}), [])
        self.assertIn("a circle", self.one({**sources, "base/SConscript": script % '"!DYNSEL_Y"'}))

    def test_unlisted_layer_fails(self):
        self.assertEqual(self.one({"attic/a.c": ""}),
                         "src/attic/a.c: src/attic is no layer: add it to ROOMS in site_scons/dynsel_build/layers.py, or"
                         " move the file")

    def test_needed_exception_is_clean(self):
        upward = {"groups/a.h": "", "data/b.c": '#include "groups/a.h"\n'}
        circle = {"base/a.h": '#include "base/b.h"\n', "base/b.h": '#include "base/a.h"\n'}
        self.assertEqual(self.findings(upward, [("data/b", "groups/a")]), [])
        self.assertEqual(self.findings(circle, [("base/a", "base/b")]), [])

    def test_unneeded_exception_fails(self):
        clean = {"base/a.h": "", "groups/b.c": '#include "base/a.h"\n'}
        for one in (("groups/b", "base/a"), ("data/b", "groups/a")):
            self.assertEqual(self.one(clean, [one]), f"site_scons/dynsel_build/layers.py: the exception {one[0]} ->"
                             f" {one[1]} is no longer needed: remove it")


if __name__ == "__main__":
    unittest.main()
