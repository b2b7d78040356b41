# SPDX-License-Identifier: Apache-2.0
"""`scons matrix RANDOM=n`: legal configurations drawn with a seed, and what is said of them."""

import re
import shutil
import unittest

import support
from support import scons
from dynsel_build import config as configs, matrix, variants
from dynsel_build.trees import own


class Drawing(unittest.TestCase):
    """From the small menu of support.KCONFIG."""

    @classmethod
    def setUpClass(cls):
        cls.top = support.menu_tree()
        cls.addClassCleanup(shutil.rmtree, cls.top)

    def drawn(self, count, seed, board="radio"):
        return matrix.drawn(own(self.top), variants.Variant(board), count, seed)

    def test_same_seed_draws_same_configurations(self):
        first = self.drawn(10, 1)
        self.assertEqual(first, self.drawn(10, 1))
        self.assertEqual(first[:4], self.drawn(4, 1))
        self.assertNotEqual(first, self.drawn(10, 2))
        self.assertEqual(len(set(first)), 10)

    def test_every_line_takes_effect(self):
        """Loading says so: an assignment without effect is a mistake, and none is only noted."""
        for board in ("plain", "radio"):
            for variant in self.drawn(40, 3, board):
                config = configs.load(own(self.top), board, variant.layers(own(self.top)), variant.name)
                self.assertEqual(config.notes, [])
                self.assertEqual(variants.parse(own(self.top), variant.name), variant)

    def test_all_values_are_drawn_and_ends_often(self):
        found = [configs.load(own(self.top), "radio", v.layers(own(self.top))) for v in self.drawn(200, 4)]
        for name in ("DYNSEL_CACHE", "DYNSEL_RADIO", "DYNSEL_COLOUR_RED", "DYNSEL_COLOUR_BLUE",
                     "DYNSEL_COLOUR_RADIO"):
            self.assertEqual({c[name] for c in found}, {False, True}, name)
        for name, low, high in (("DYNSEL_CACHE_LINES", 1, 64), ("DYNSEL_MASK", 0, 255)):
            values = [c[name] for c in found if c[name] is not None]
            self.assertTrue(all(low <= v <= high for v in values))
            self.assertGreater(len(set(values)), 8)
            for end in (low, high):
                self.assertGreater(values.count(end), len(values) // 20, (name, end))

    def test_too_small_menu_is_refused(self):
        with self.assertRaisesRegex(matrix.UserMistake, r"50 draws gave no other configuration .*RANDOM="):
            matrix.drawn(own(self.top), variants.Variant("plain", settings=("CACHE=n",)), 10 ** 4, 5)


class Building(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = support.build_tree()
        cls.addClassCleanup(shutil.rmtree, cls.top)

    def test_failed_configuration_is_named_with_its_command(self):
        support.write(self.top / "src/rr.c", "int rr(void);\nint rr(void)\n{\n    return nonsense;\n}\n")
        status, said = scons(self.top, "matrix", "RANDOM=6", "SEED=5")
        self.assertIn("matrix: RANDOM=6 SEED=5\n", said)
        alone = re.findall(r"^to repeat this configuration: scons test (VARIANTS=\S+)$", said, re.MULTILINE)
        self.assertGreater(len(alone), 0, said)
        self.assertEqual(status, 2)
        self.assertEqual(said.splitlines()[-1], f"{6 - len(alone)} configurations passed, {len(alone)} failed")
        self.assertEqual(said.count("  DONE  build/"), 6 - len(alone))
        self.assertNotIn("  TEST  build/tests/test_script\n", said)
        for variant in alone:
            self.assertNotIn("POLICY_ROUND_ROBIN=n", variant)
        status, said = scons(self.top, "test", alone[0])
        self.assertEqual(status, 2, said)
        self.assertIn("rr.c:4", said)

    def test_wrong_random_arguments_are_refused(self):
        for arguments, message in (
                (["matrix", "RANDOM=many"], "RANDOM=many: write a number"),
                (["matrix", "RANDOM=" + "9" * 5000], "write a number of at most 18 digits"),
                (["matrix", "RANDOM=1", "SEED=-1"], "SEED=-1: write a number"),
                (["matrix", "SEED=1"], "SEED= needs RANDOM=<number of configurations>"),
                (["RANDOM=1"], "RANDOM= works only with the target matrix")):
            status, said = scons(self.top, *arguments)
            self.assertEqual((status, said.count("\n")), (2, 1), said)
            self.assertIn(message, said)


if __name__ == "__main__":
    unittest.main()
