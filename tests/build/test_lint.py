# SPDX-License-Identifier: Apache-2.0
"""kconfig-lint finds what Kconfig accepts."""

import shutil
import unittest

import support
from dynsel_build import lint, variants
from dynsel_build.trees import own

USES = "".join(f"#if CONFIG_DYNSEL_{n}\n#endif\n" for n in (
    "RADIO", "CACHE_LINES", "MASK", "GREETING", "COLOUR_RED", "COLOUR_BLUE", "BOARD_PLAIN", "BOARD_RADIO"))


class Lint(unittest.TestCase):
    def findings(self, kconfig=support.KCONFIG, source=USES, **files):
        top = support.menu_tree(kconfig + 'source "build/kconfig/Kconfig.aspects"\n', **files)
        self.addCleanup(shutil.rmtree, top)
        support.write(top / "src/x.c", source)
        support.write(top / "src/SConscript", 'component("x", ["x.c"])\n')
        default, variants.DEFAULT_BOARD = variants.DEFAULT_BOARD, "plain"
        try:
            return lint.lint(own(top))
        finally:
            variants.DEFAULT_BOARD = default

    def test_clean_tree_has_no_findings(self):
        self.assertEqual(self.findings(), [])

    def test_unknown_option_in_source_is_found(self):
        self.assertEqual(self.findings(source=USES + "#if CONFIG_DYNSEL_CASHE\n"),
                         ["src/x.c:17: no option named DYNSEL_CASHE; did you mean DYNSEL_CACHE?"])

    def test_long_lines_are_found(self):
        self.assertEqual(self.findings(source=USES + "/* " + 94 * "x" + " */\n"), [])
        self.assertEqual(self.findings(source=USES + "/* " + 95 * "x" + " */\n"),
                         ["src/x.c:17: 101 columns; wrap it to 100"])

    def test_ifdef_of_option_is_found(self):
        self.assertEqual(self.findings(source=USES + "#ifdef CONFIG_DYNSEL_CACHE\n"),
                         ["src/x.c:17: '#ifdef CONFIG_DYNSEL_CACHE': options are 0 or 1; write"
                          " #if CONFIG_..."])

    def test_unused_option_is_found(self):
        found = self.findings(source=USES.replace("DYNSEL_MASK", "DYNSEL_X"))
        self.assertEqual(len(found), 1)
        self.assertIn("DYNSEL_MASK is not used; delete it", found[0])

    def test_incomplete_options_are_found(self):
        for kconfig, message in (
                ("\tbool \"P\"\n", "has a prompt and no help text"),
                ("\tint\n\trange 1 2\n", "has no default"),
                ("\tint\n\tdefault 1\n", "is a number without a range"),
                ("\tbool\n\tselect DYNSEL_CACHE\n", "selects DYNSEL_CACHE, which has a prompt")):
            found = self.findings(support.KCONFIG + "config DYNSEL_NEW\n" + kconfig,
                                  USES + "#if CONFIG_DYNSEL_NEW\n")
            self.assertEqual([m for m in found if message in m], found)
            self.assertEqual(len(found), 1, found)

    def test_unnamed_choice_is_found(self):
        found = self.findings(support.KCONFIG.replace("choice DYNSEL_COLOUR\n", "choice\n"))
        self.assertTrue(any("a choice without a name" in m for m in found), found)

    def test_redundant_line_in_defconfig_is_found(self):
        self.assertEqual(self.findings(board__plain="CONFIG_DYNSEL_COLOUR_RED=y\n"),
                         ["boards/plain/defconfig: it repeats defaults; run `scons BOARD=plain savedefconfig`"])

    def test_fragment_must_be_right_on_one_board(self):
        self.assertEqual(self.findings(f="CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_RADIO=y\n"), [])
        self.assertEqual(len(self.findings(f="CONFIG_DYNSEL_RADIO=y\n")), 1)

    def test_unlisted_source_is_found(self):
        top = support.menu_tree()
        self.addCleanup(shutil.rmtree, top)
        support.write(top / "src/x.c", "")
        self.assertEqual(lint.unlisted_sources(own(top)), ["src/x.c: no build compiles it; list it in src/SConscript"])


if __name__ == "__main__":
    unittest.main()
