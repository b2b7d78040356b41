# SPDX-License-Identifier: Apache-2.0
"""Links of the documents: each of this tree leads somewhere; broken ones are named with file and line."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "site_scons"))

from dynsel_build import guide, links  # noqa: E402
from dynsel_build.errors import UserMistake  # noqa: E402


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)

    def write(self, path, text):
        (self.top / path).parent.mkdir(parents=True, exist_ok=True)
        (self.top / path).write_text(text, encoding="utf-8")

    def test_links_of_this_tree_lead_somewhere(self):
        self.assertGreater(sum(len(list(links.links((TOP / path).read_text(encoding="utf-8"))))
                               for path in links.documents(TOP)), 200)
        self.assertEqual(links.lint(TOP), [])

    def test_missing_file_is_named_with_line(self):
        self.write("doc/other.md", "# Other\n")
        self.write("doc/page.md", "# Page\n\nSee\n[that](othr.md).\n")
        self.assertEqual(links.lint(self.top), ["doc/page.md:4: (othr.md) leads to no file; did you mean doc/other.md?"])

    def test_missing_heading_is_named_with_line(self):
        self.write("other.md", "# Other\n\n## Add a `board`: copy\n")
        self.write("page.md", "# Page\n[good](other.md#add-a-board-copy)\n[bad](other.md#add-board-copy) [own](#page) [no](#pge)\n")
        self.assertEqual(links.lint(self.top), [
            "page.md:3: (other.md#add-board-copy): other.md has no heading #add-board-copy; did you mean add-a-board-copy?",
            "page.md:3: (#pge): page.md has no heading #pge; did you mean page?"])

    def test_link_out_of_the_tree_is_refused(self):
        (self.top / "tree").mkdir()
        self.write("outside.md", "# Outside\n")
        self.write("tree/page.md", "[out](../outside.md)\n")
        self.assertEqual(links.lint(self.top / "tree"), ["page.md:1: (../outside.md) leads to no file"])

    def test_code_and_addresses_are_not_links(self):
        self.write("page.md", "# Page\n\n    a[1](none)\n\n```c\n[x](none)\n```\n\n`[y](none)` [z](https://example.org/none)\n\n"
                              "[`code`](page.md)\n")
        self.assertEqual(links.lint(self.top), [])
        found = [target for _, _, _, target in links.links((self.top / "page.md").read_text(encoding="utf-8"))]
        self.assertEqual(found, ["page.md"])

    def test_equal_headings_are_numbered(self):
        self.assertEqual(links.slugs("# A\n## B c!\n## B c\n## B c\n```\n# no\n```\n"), {"a", "b-c", "b-c-1", "b-c-2"})

    def test_document_outside_of_navigation_is_refused(self):
        self.write("site_scons/docs/navigation.yaml", "Start:\n  - doc/one.md\n  - doc/later.md\n")
        self.write("doc/one.md", "# One\n")
        self.assertEqual(guide.navigation(self.top), {"Start": ["doc/one.md"]})
        self.write("doc/guide/two.md", "# Two\n")
        with self.assertRaisesRegex(UserMistake, "^doc/guide/two.md is not in the guide: add it to .*navigation.yaml$"):
            guide.navigation(self.top)

    def test_links_of_a_page_fit_the_guide(self):
        pages = {"README.md", "doc/a.md", "examples/x/README.md"}
        self.write("doc/a.md", "[r](../README.md#top) [x](../examples/x) [h](../include/dynsel/task_kind.h)\n"
                               "[f](../examples/x/x.c) [d](../src) [i](../include/dynsel)\n")
        self.write("examples/x/x.c", "int x;\n")
        self.write("src/a.c", "")
        text = guide._page(self.top, self.top / "to", "doc/a.md", pages)
        self.assertEqual(text, "[r](../index.md#top) [x](../examples/x/README.md) "
                               '<a href="../reference/task__kind_8h.html">h</a>\n'
                               '<a href="../files/examples/x/x.c.txt">f</a> d <a href="../reference/files.html">i</a>\n')
        self.assertEqual((self.top / "to/_extra/files/examples/x/x.c.txt").read_text(encoding="utf-8"), "int x;\n")


if __name__ == "__main__":
    unittest.main()
