# SPDX-License-Identifier: Apache-2.0
"""kconfig-lint finds what Kconfig accepts; size finds what grew."""

import shutil
import tempfile
import unittest
from pathlib import Path

import support
from dynsel_build import lint, size, variants

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
            return lint.lint(top)
        finally:
            variants.DEFAULT_BOARD = default

    def test_clean(self):
        self.assertEqual(self.findings(), [])

    def test_unknown_name_in_a_source(self):
        self.assertEqual(self.findings(source=USES + "#if CONFIG_DYNSEL_CASHE\n"),
                         ["src/x.c:17: no option named DYNSEL_CASHE; did you mean DYNSEL_CACHE?"])

    def test_ifdef(self):
        self.assertEqual(self.findings(source=USES + "#ifdef CONFIG_DYNSEL_CACHE\n"),
                         ["src/x.c:17: '#ifdef CONFIG_DYNSEL_CACHE': options are 0 or 1, so write"
                          " #if CONFIG_..."])

    def test_unused(self):
        found = self.findings(source=USES.replace("DYNSEL_MASK", "DYNSEL_X"))
        self.assertEqual(len(found), 1)
        self.assertIn("DYNSEL_MASK is used nowhere", found[0])

    def test_symbols(self):
        for kconfig, message in (
                ("\tbool \"P\"\n", "has a prompt and no help text"),
                ("\tint\n\trange 1 2\n", "has no default"),
                ("\tint\n\tdefault 1\n", "is a number without a range"),
                ("\tbool\n\tselect DYNSEL_CACHE\n", "selects DYNSEL_CACHE, which has a prompt")):
            found = self.findings(support.KCONFIG + "config DYNSEL_NEW\n" + kconfig,
                                  USES + "#if CONFIG_DYNSEL_NEW\n")
            self.assertEqual([m for m in found if message in m], found)
            self.assertEqual(len(found), 1, found)

    def test_unnamed_choice(self):
        found = self.findings(support.KCONFIG.replace("choice DYNSEL_COLOUR\n", "choice\n"))
        self.assertTrue(any("a choice without a name" in m for m in found), found)

    def test_defconfig_that_is_not_minimal(self):
        self.assertEqual(self.findings(board__plain="CONFIG_DYNSEL_COLOUR_RED=y\n"),
                         ["boards/plain/defconfig: not minimal; `scons BOARD=plain savedefconfig`"
                          " makes it so"])

    def test_fragment_must_be_right_on_one_board(self):
        self.assertEqual(self.findings(f="CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_RADIO=y\n"), [])
        self.assertEqual(len(self.findings(f="CONFIG_DYNSEL_RADIO=y\n")), 1)

    def test_source_that_no_sconscript_lists(self):
        top = support.menu_tree()
        self.addCleanup(shutil.rmtree, top)
        support.write(top / "src/x.c", "")
        self.assertEqual(lint.unlisted_sources(top), ["src/x.c: not listed in src/SConscript"])


class Size(unittest.TestCase):
    def row(self, name, **sizes):
        return size.Row(name, {**dict.fromkeys(size.COLUMNS, 0), **sizes})

    def test_limit_names_what_grew_and_by_how_much(self):
        rows = [self.row("a.o", text=70), self.row("b.o", text=50)]
        before = {"a.o": {"text": 40}, "b.o": {"text": 50}}
        self.assertEqual(size.past_limits(rows, {"text": 100, "bss": 0}, before),
                         ["text is 120 bytes, 20 past the limit of 100: grew a.o by 30"])
        self.assertEqual(size.past_limits(rows, {"text": 100}, {}),
                         ["text is 120 bytes, 20 past the limit of 100: largest are a.o with 70, b.o with 50"])
        self.assertEqual(size.past_limits(rows, {"text": 120, "stack": 0}, {}), [])

    def test_table(self):
        text = size.table("v", [self.row("a.o", text=7, stack=3), self.row("b.o", stack=9)], {"text": 9})
        self.assertEqual(text.splitlines()[-2].split(), ["total", "7", "0", "0", "0", "9"])
        self.assertEqual(text.splitlines()[-1].split(), ["limit", "9", "-", "-", "-", "-"])

    def test_remembers_only_what_was_within_limits(self):
        folder = tempfile.mkdtemp(prefix="dynsel-size-")
        self.addCleanup(shutil.rmtree, folder)
        variant = variants.Variant("plain")
        self.assertEqual(size.update(folder, "size", [], variant, {"text": 0}), [])
        self.assertTrue((Path(folder) / size.WITHIN_LIMITS).exists())


if __name__ == "__main__":
    unittest.main()
