# SPDX-License-Identifier: Apache-2.0
"""What is saved is the least that leads back, and the way back is proved."""

import shutil
import unittest

import support
from dynsel_build import cli, config as configs, header, menu
from dynsel_build.errors import UserMistake
from dynsel_build.trees import own


class Case(unittest.TestCase):
    def tree(self, **files):
        self.top = support.menu_tree(**files)
        self.addCleanup(shutil.rmtree, self.top)

    def session(self, **arguments):
        return cli.Session(own(self.top), arguments, ["savedefconfig"])

    def load(self, board="plain", *fragments):
        return configs.load(own(self.top), board, configs.layers_of(own(self.top), board, fragments), board)

    def save(self, changes, **arguments):
        """Changes values as a menu does, and saves."""
        target = menu.target_of(self.session(**arguments))
        config = target.load(target.text())
        for name, value in changes.items():
            config.kconf.syms[name].set_value(value)
        return target.save(config.values())

    def read(self, path):
        return (self.top / path).read_text(encoding="utf-8")


class Saving(Case):
    def test_new_fragment_holds_only_the_difference(self):
        self.tree(board__plain="CONFIG_DYNSEL_CACHE=y\n")
        said = self.save({"DYNSEL_CACHE_LINES": "9", "DYNSEL_COLOUR_BLUE": "y", "DYNSEL_MASK": "0x10",
                          "DYNSEL_GREETING": 'say "hi"'}, BOARD="plain", SAVE="mine")
        self.assertEqual(said, "saved configs/mine.conf (3 lines); build it with:"
                               " scons BOARD=plain CONF=mine")
        self.assertEqual(self.read("configs/mine.conf"),
                         "CONFIG_DYNSEL_CACHE_LINES=9\nCONFIG_DYNSEL_GREETING=\"say \\\"hi\\\"\"\n"
                         "CONFIG_DYNSEL_COLOUR_BLUE=y\n")
        self.assertEqual(self.load("plain", "mine")["DYNSEL_GREETING"], 'say "hi"')

    def test_implied_values_are_not_written(self):
        early = ("config DYNSEL_EARLY\n\tbool \"Early\"\n\tdefault y if DYNSEL_CACHE\n\thelp\n"
                 "\t  Follows what is defined below.\n")
        self.tree(kconfig=early + support.KCONFIG)
        self.save({"DYNSEL_CACHE": "y"}, BOARD="plain", SAVE="on")
        self.assertEqual(self.read("configs/on.conf"), "CONFIG_DYNSEL_CACHE=y\n")

    def test_negative_values_are_written(self):
        self.tree(board__plain="CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_CACHE_LINES=9\n")
        self.save({"DYNSEL_CACHE": "n"}, BOARD="plain", SAVE="off")
        self.assertEqual(self.read("configs/off.conf"), "CONFIG_DYNSEL_CACHE=n\n")

    def test_lost_feature_is_disabled_explicitly(self):
        self.tree(board__radio="CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_RADIO=y\n")
        self.save({"DYNSEL_CACHE": "n"}, BOARD="radio", SAVE="off")
        self.assertEqual(self.read("configs/off.conf"), "CONFIG_DYNSEL_CACHE=n\nCONFIG_DYNSEL_RADIO=n\n")
        self.load("radio", "off")

    def test_save_keeps_comments_and_order_and_drops_stale_lines(self):
        self.tree(f="# why we cache\nCONFIG_DYNSEL_MASK=0x11\nCONFIG_DYNSEL_CACHE=y\n\n# end\n")
        self.save({"DYNSEL_MASK": "0x10", "DYNSEL_CACHE_LINES": "3"}, BOARD="plain", CONF="f")
        self.assertEqual(self.read("configs/f.conf"),
                         "# why we cache\nCONFIG_DYNSEL_CACHE=y\n\n# end\nCONFIG_DYNSEL_CACHE_LINES=3\n")

    def test_fragment_may_keep_default_value(self):
        self.tree(f="CONFIG_DYNSEL_COLOUR_RED=y\nCONFIG_DYNSEL_CACHE=n\n")
        self.save({"DYNSEL_MASK": "0x11"}, BOARD="plain", CONF="f")
        self.assertEqual(self.read("configs/f.conf"), "CONFIG_DYNSEL_COLOUR_RED=y\n"
                         "CONFIG_DYNSEL_CACHE=n\nCONFIG_DYNSEL_MASK=0x11\n")

    def test_savedefconfig_round_trip(self):
        self.tree(board__plain="# plain\nCONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_CACHE_LINES=8\n"
                               "CONFIG_DYNSEL_COLOUR_RED=y\nCONFIG_DYNSEL_MASK=0x12\n")
        before = self.load().values()
        menu.savedefconfig(self.session(BOARD="plain"))
        self.assertEqual(self.read("boards/plain/defconfig"),
                         "# plain\nCONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_MASK=0x12\n")
        self.assertEqual(self.load().values(), before)

    def test_savedefconfig_can_fold_fragments_into_the_defconfig(self):
        self.tree(a="CONFIG_DYNSEL_CACHE=y\n", b="CONFIG_DYNSEL_CACHE_LINES=5\n")
        wanted = self.load("plain", "a", "b").values()
        menu.savedefconfig(self.session(BOARD="plain", CONF="a,b", SAVE="defconfig"))
        self.assertEqual(self.load("plain").values(), wanted)

    def test_lost_assignment_prevents_save(self):
        text = "CONFIG_DYNSEL_CACHE_LINES=5\n"
        self.tree(board__plain=text)
        with self.assertRaisesRegex(UserMistake, "did not take effect"):
            menu.savedefconfig(self.session(BOARD="plain"))
        self.assertEqual(self.read("boards/plain/defconfig"), text)


class WhereTo(Case):
    def target(self, **arguments):
        return menu.target_of(self.session(BOARD="plain", **arguments)).path

    def test_save_target_follows_command_line(self):
        self.tree(a="", b="")
        self.assertEqual(self.target(), "boards/plain/defconfig")
        self.assertEqual(self.target(CONF="a"), "configs/a.conf")
        self.assertEqual(self.target(CONF="a", SAVE="new"), "configs/new.conf")
        self.assertEqual(self.target(CONF="a,b", SAVE="b"), "configs/b.conf")
        self.assertEqual(self.target(CONF="a", SAVE="defconfig"), "boards/plain/defconfig")

    def test_unclear_save_target_is_refused(self):
        self.tree(a="", b="")
        for arguments, message in (({"CONF": "a,b"}, "choose the one to save to"),
                                   ({"CONF": "a,b", "SAVE": "a"}, "save to the last fragment of CONF"),
                                   ({"SAVE": "../x"}, "letters, digits"),
                                   ({"SAVE": ""}, "letters, digits")):
            with self.assertRaisesRegex(UserMistake, message):
                self.target(**arguments)
        with self.assertRaisesRegex(UserMistake, "one variant at a time"):
            menu.target_of(self.session(BOARD="plain,radio"))


class Header(Case):
    def test_every_bool_is_0_or_1(self):
        self.tree(f="CONFIG_DYNSEL_CACHE=y\nCONFIG_DYNSEL_GREETING=\"a\\\"b\"\n")
        lines = header.autoconf(self.load("plain", "f")).splitlines()
        for line in ("#define CONFIG_DYNSEL_CACHE 1", "#define CONFIG_DYNSEL_RADIO 0",
                     "#define CONFIG_DYNSEL_HAS_RADIO 0", "#define CONFIG_DYNSEL_CACHE_LINES 8",
                     "#define CONFIG_DYNSEL_COLOUR_BLUE 0", "#define CONFIG_DYNSEL_MASK 0x10",
                     '#define CONFIG_DYNSEL_GREETING "a\\"b"'):
            self.assertIn(line, lines)
        self.assertIn("variant plain", lines[0])

    def test_number_without_value_is_omitted(self):
        self.tree()
        self.assertNotIn("CACHE_LINES", header.autoconf(self.load()))

    def test_tag_depends_on_values_only(self):
        self.tree(a="# words\nCONFIG_DYNSEL_CACHE=n\n", b="CONFIG_DYNSEL_CACHE=y\n")

        def tag(*fragments):
            text = header.autoconf(self.load("plain", *fragments))
            return [line for line in text.splitlines() if "CONFIG_TAG" in line]

        self.assertEqual(tag(), tag("a"))
        self.assertNotEqual(tag(), tag("b"))
        self.assertRegex(tag()[0], "^#define DYNSEL_CONFIG_TAG c[0-9a-f]{8}$")


if __name__ == "__main__":
    unittest.main()
