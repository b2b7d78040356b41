# SPDX-License-Identifier: Apache-2.0
"""Products on top of a menu: what they add, where their files are changed, and what contradicts."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

import support
from support import write

from dynsel_build import aspects, boards, cli, config as configs, header, lint, menu, products, trees, variants
from dynsel_build.errors import UserMistake

KCONFIG = """config ACME_SPEED
	int "Speed"
	default 3
	range 1 9
	help
	  How fast. Costs nothing.
"""
BOARD = """config DYNSEL_BOARD_{name}
	bool
	default y if "$(BOARD)" = "{board}"
	select DYNSEL_HAS_RADIO
"""
BOARD_PY = """from dataclasses import replace

from dynsel_build.boards import Board, like


def describe(config):
    return {returned}
"""
TARGETS = support.TARGETS.replace("bell:", "gong:").replace("a bell", "a gong").replace("{name: bell}", "{name: gong}")


class Case(unittest.TestCase):
    """A tree with the boards plain and radio, and the product acme with the board sensor and the fragment fast."""

    def setUp(self):
        self.top = support.menu_tree(plain="")
        self.addCleanup(shutil.rmtree, self.top)
        self.place = Path(os.path.realpath(tempfile.mkdtemp(prefix="dynsel-products-")))
        self.addCleanup(shutil.rmtree, self.place)
        self.acme = self.product("acme")

    def product(self, name, board="sensor", fragment="fast", kconfig=KCONFIG):
        root = self.place / name
        write(root / "Kconfig", kconfig)
        write(root / "boards" / board / "Kconfig.board", BOARD.format(name=board.upper(), board=board))
        write(root / "boards" / board / "defconfig", "")
        write(root / "configs" / f"{fragment}.conf", "CONFIG_ACME_SPEED=9\n" if kconfig == KCONFIG else "")
        return root

    def trees(self, *roots, **arguments):
        listed = ",".join(str(root) for root in roots or (self.acme,))
        return trees.chosen(self.top, self.place, {"PRODUCT": listed, **arguments})

    def mistakes(self, call, *arguments, **named):
        with self.assertRaises(UserMistake) as caught:
            call(*arguments, **named)
        return caught.exception.lines

    def contradictions(self, *roots):
        return self.mistakes(products.check, self.trees(self.acme, *roots))

    def load(self, name, found=None):
        found = found or self.trees()
        variant = variants.parse(found, name)
        return configs.load(found, variant.board, variant.layers(found), variant.name)


class Added(Case):
    """What a product adds to the build."""

    def test_boards_fragments_and_options_are_there(self):
        found = self.trees()
        products.check(found)
        self.assertEqual(boards.names(found), ["plain", "radio", "sensor"])
        self.assertEqual(variants.fragment_names(found), ["fast", "plain"])
        config = self.load("sensor+fast")
        self.assertEqual(config["ACME_SPEED"], 9)
        self.assertEqual(config["DYNSEL_CACHE"], False)
        self.assertEqual([a.path for a in config.assignments], [f"{self.acme}/configs/fast.conf"])
        self.assertEqual(self.load("plain~ACME_SPEED=5~CACHE=y")["ACME_SPEED"], 5)
        self.assertEqual(self.mistakes(self.load, "plain~ACME_SPED=5"), [
            "plain~ACME_SPED=5:1: no option named CONFIG_ACME_SPED; did you mean CONFIG_ACME_SPEED?"])

    def test_menu_has_a_part_for_each_product(self):
        other = self.product("horn", "box", "loud", KCONFIG.replace("ACME", "HORN"))
        kconf = self.load("plain", self.trees(self.acme, other)).kconf
        self.assertEqual([node.prompt[0] for node in kconf.node_iter() if node.prompt and "Product" in node.prompt[0]],
                         ["Product acme", "Product horn"])
        node = kconf.syms["HORN_SPEED"].nodes[0]
        self.assertEqual((node.filename, node.parent.prompt[0]), (f"{other}/Kconfig", "Product horn"))

    def test_hash_covers_options_of_products(self):
        tags = {header.tag(self.load(name)) for name in ("plain", "plain~ACME_SPEED=4", "plain~ACME_SPEED=5")}
        self.assertEqual(len(tags), 3)
        self.assertIn("#define CONFIG_ACME_SPEED 4\n", header.autoconf(self.load("plain~ACME_SPEED=4")))

    def test_targets_stand_behind_those_of_dynsel(self):
        write(self.acme / "boards/targets.yaml", TARGETS)
        self.assertEqual([(t.name, t.path) for t in aspects.catalogue(self.trees()).targets],
                         [("bell", "boards/targets.yaml"), ("gong", f"{self.acme}/boards/targets.yaml")])

    def test_build_folder_is_the_first_product_s_or_the_named_one(self):
        other = self.product("horn")
        self.assertEqual(self.trees(self.acme, other).build, f"{self.acme}/build")
        self.assertEqual(self.trees(O="out").build, f"{self.place}/out")
        self.assertEqual(trees.chosen(self.top, self.top, {"O": "out"}).build, "out")
        self.assertEqual(trees.chosen(self.top, self.top, {}).build, "build")
        inside = self.top / "examples/inside"
        write(inside / "Kconfig", "")
        self.assertEqual(self.trees(inside).build, "build/products/inside")
        self.assertEqual(variants.parse(self.trees(O="out"), "sensor+fast").folder, f"{self.place}/out/sensor+fast")

    def test_dynsel_may_be_inside_the_product(self):
        outer = self.product("outer", "box", "loud", "")
        write(outer / "src/own.c", "")
        shutil.copytree(self.top, outer / "src/dynsel")
        write(outer / "src/dynsel/src/theirs.c", "")
        found = trees.chosen(os.path.realpath(outer / "src/dynsel"), outer, {"PRODUCT": str(outer)})
        self.assertEqual(found.files("src/**/*.c"), ["src/theirs.c", f"{outer}/src/own.c"])
        self.assertEqual(boards.names(found), ["box", "plain", "radio"])
        self.assertIsNone(found.owner("src/theirs.c"))

    def test_board_is_like_another_one_but(self):
        write(self.top / "boards/plain/board.py", BOARD_PY.format(
            returned='Board(cc="gcc", start=("boards/plain/start.c",), linkflags=("-Tboards/plain/linker.ld", "-s"))'))
        for path in ("start.c", "linker.ld"):
            write(self.top / "boards/plain" / path, "")
        write(self.top / "boards/plain/packages", "gcc gcc\n")
        write(self.acme / "boards/sensor/board.py", BOARD_PY.format(
            returned='replace(like("plain", config), linkflags=("-Tboards/sensor/linker.ld",))'))
        write(self.acme / "boards/sensor/linker.ld", "")
        board = boards.describe(self.trees(), "sensor", self.load("sensor"))
        self.assertEqual((board.cc, board.start), ("gcc", ("boards/plain/start.c",)))
        self.assertEqual(board.linkflags, (f"-T{self.acme}/boards/sensor/linker.ld",))
        self.assertEqual(board.packages, {"gcc": "gcc"})


class Saved(Case):
    """Only files of the product are changed."""

    def session(self, **arguments):
        return cli.Session(self.trees(), arguments, ["savedefconfig"])

    def test_new_fragment_is_the_product_s(self):
        shutil.rmtree(self.acme / "configs")
        menu.savedefconfig(self.session(BOARD="sensor", SAVE="fast"))
        self.assertTrue((self.acme / "configs/fast.conf").exists())
        self.assertFalse((self.top / "configs/fast.conf").exists())
        self.assertEqual(menu.target_of(self.session(BOARD="sensor")).path, f"{self.acme}/boards/sensor/defconfig")
        self.assertEqual(menu.target_of(self.session(BOARD="plain", CONF="fast")).path, f"{self.acme}/configs/fast.conf")

    def test_files_of_dynsel_are_refused(self):
        for arguments, path in (({"BOARD": "plain"}, "boards/plain/defconfig"),
                                ({"BOARD": "sensor", "CONF": "plain"}, "configs/plain.conf")):
            (line,) = self.mistakes(menu.target_of, self.session(**arguments))
            self.assertEqual(line, f"{path} is dynsel's, and the product {self.acme} changes only its own files; save to"
                             f" a fragment of the product: SAVE=<new name> writes {self.acme}/configs/")

    def test_commands_name_the_product(self):
        for launched, words in ((self.place, f"scons -C {self.top} PRODUCT=acme O=out BOARD=sensor"),
                                (self.top, "scons PRODUCT=acme O=out BOARD=sensor"),
                                (self.acme, "scons O=out BOARD=sensor")):
            write(self.acme / "SConstruct", "")
            arguments = {"PRODUCT": str(self.acme) if launched == self.acme else "acme", "O": "out"}
            (self.top / "acme").exists() or (self.top / "acme").symlink_to(self.acme)
            found = trees.chosen(self.top, launched, arguments)
            self.assertEqual(found.scons("BOARD=sensor", ""), words)


class Refused(Case):
    """Each error names both sides and the remedy."""

    def test_same_board(self):
        write(self.acme / "boards/plain/Kconfig.board", "")
        self.assertEqual(self.mistakes(products.check, self.trees()), [
            f"{self.acme}/boards/plain/Kconfig.board: the board plain is already defined by"
            " boards/plain/Kconfig.board; rename one of the two"])
        shutil.rmtree(self.acme / "boards/plain")
        other = self.product("horn", fragment="loud", kconfig="")
        self.assertEqual(self.contradictions(other), [
            f"{other}/boards/sensor/Kconfig.board: the board sensor is already defined by"
            f" {self.acme}/boards/sensor/Kconfig.board; rename one of the two"])

    def test_same_fragment_and_header(self):
        other = self.product("horn", board="box")
        for root in (self.acme, other):
            write(root / "include/both/x.h", "")
            write(root / f"include/{root.name}.h", "")
        self.assertEqual(self.contradictions(other), [
            f"{other}/configs/fast.conf: the fragment fast is already defined by {self.acme}/configs/fast.conf;"
            " rename one of the two",
            f"{other}/include/both/x.h: the header <both/x.h> is already defined by {self.acme}/include/both/x.h;"
            " rename one of the two"])

    def test_same_option(self):
        other = self.product("horn", "box", "loud")
        (line,) = self.mistakes(self.load, "plain", self.trees(self.acme, other))
        self.assertRegex(line, rf"\A{other}/Kconfig:1: ACME_SPEED is already defined at {self.acme}/Kconfig:1; to change"
                         " its value, set it in a defconfig or a fragment; .*choose another name")
        write(self.acme / "Kconfig", "config DYNSEL_CACHE\n\tbool\n\tdefault y\n")
        (line,) = self.mistakes(self.load, "plain")
        self.assertRegex(line, r"DYNSEL_CACHE is already defined at .*Kconfig:\d+; to change its value")
        self.assertIn(f"{self.acme}/Kconfig:1", line)

    def test_same_target(self):
        write(self.acme / "boards/targets.yaml", support.TARGETS)
        self.assertEqual(self.mistakes(aspects.catalogue, self.trees()), [
            f"{self.acme}/boards/targets.yaml:1: target bell is already defined at boards/targets.yaml:1; give yours"
            " another name"])

    def test_wrong_targets_of_all_tables_are_listed(self):
        other = self.product("horn", "box", "loud", "")
        for root in (self.acme, other):
            write(root / "boards/targets.yaml", TARGETS.replace("[sound]", "[sond]"))
        lines = self.mistakes(aspects.catalogue, self.trees(self.acme, other))
        self.assertEqual([line.split(": ")[0] for line in lines],
                         [f"{root}/boards/targets.yaml:6" for root in (self.acme, other)])
        self.assertIn("did you mean sound?", lines[1])

    def test_missing_kconfig(self):
        (self.acme / "Kconfig").unlink()
        self.assertEqual(self.mistakes(products.check, self.trees()), [
            f"{self.acme}/Kconfig is missing; the product {self.acme} needs this file, even if empty; if this is no"
            " product, correct PRODUCT="])
        (line,) = self.mistakes(products.check, self.trees(self.place / "nowhere"))
        self.assertRegex(line, f"\\APRODUCT: there is no folder {self.place}/nowhere; name the folder of a product")

    def test_wrong_name_in_kconfig_of_board_names_its_line(self):
        path = self.acme / "boards/sensor/Kconfig.board"
        write(path, BOARD.format(name="SENSOR", board="sensor") + "\tselect DYNSEL_NO_SUCH\n\tselect DYNSEL_HAS_RADO\n")
        for board in ("plain", "sensor"):
            self.assertEqual(self.mistakes(self.load, board), [
                f"{path}:5: no option named DYNSEL_NO_SUCH; correct the name, or delete what needs it",
                f"{path}:6: no option named DYNSEL_HAS_RADO; did you mean DYNSEL_HAS_RADIO?"])

    def test_wrong_kconfig_names_its_line(self):
        write(self.acme / "Kconfig", KCONFIG + "\tdefautl 4\n")
        (line,) = self.mistakes(self.load, "plain")
        self.assertIn(f"{self.acme}/Kconfig:7", line)

    def test_same_product_or_name(self):
        (line,) = self.contradictions(self.acme)
        self.assertEqual(line, f"PRODUCT: {self.acme} is named twice; delete one of the two")
        other = self.product("deep/acme", "box", "loud", "")
        (line,) = self.contradictions(other)
        self.assertEqual(line, f"the products {self.acme} and {other} have the same name, so their archives would"
                         " replace each other; rename one of the folders")
        other = self.product("dynsel", "box", "loud", "")
        (line,) = self.contradictions(other)
        self.assertIn("libdynsel.a is dynsel; rename the folder", line)

    def test_wrong_places(self):
        for arguments, message in (
                ({"PRODUCT": ""}, "PRODUCT=: write the folder of a product, or several with commas between"),
                ({"PRODUCT": "acme,"}, "PRODUCT=acme,: write the folder"),
                ({"PRODUCT": str(self.top)}, "that is dynsel's own tree, and no product; name another folder"),
                ({"O": str(self.top)}, "that is dynsel's own tree, and not for what is built; name another folder"),
                ({"O": ""}, "O= is empty; write the name of a folder"),
                ({"O": "a b"}, "has the character ' ', which compilers")):
            with self.subTest(arguments):
                (line,) = self.mistakes(trees.chosen, self.top, self.place, arguments)
                self.assertIn(message, line)

    def test_board_without_its_files(self):
        for returned, message in (
                ('Board(cc="gcc", start=("boards/sensor/start.c",))',
                 f"{self.acme}/boards/sensor/board.py: boards/sensor/start.c is missing: no file"
                 f" {self.acme}/boards/sensor/start.c and no {self.top}/boards/sensor/start.c; correct the path"),
                ('like("plan", config)', "like(): no board named 'plan'; did you mean plain? (there are: plain, radio,"
                 " sensor)")):
            write(self.acme / "boards/sensor/board.py", BOARD_PY.format(returned=returned))
            self.assertEqual(self.mistakes(boards.describe, self.trees(), "sensor", self.load("sensor")), [message])
        (self.acme / "boards/sensor/defconfig").unlink()
        self.assertEqual(self.mistakes(variants.parse, self.trees(), "sensor"), [
            f"{self.acme}/boards/sensor/defconfig is missing; a board needs this file, even if empty"])

    def test_options_that_are_generated_are_dynsel_s(self):
        """Their files are in the product, where it is built in its own folder."""
        write(self.top / "Kconfig", support.KCONFIG + 'source "$(DYNSEL_MENU)/Kconfig.aspects"\n')
        write(self.acme / "src/x.c", "#if CONFIG_ACME_SPEED\n#endif\n")
        write(self.acme / "SConscript", '"src/x.c"')
        found = self.trees()
        self.assertEqual(found.build, f"{self.acme}/build")
        self.assertIn("DYNSEL_ASPECT_SOUND", self.load("sensor").symbols())
        self.assertEqual(lint.lint(found), [])
        write(self.acme / "Kconfig", KCONFIG + "\nconfig DYNSEL_ASPECT_SOUND\n\tbool\n\tdefault y\n")
        (line,) = self.mistakes(self.load, "sensor")
        self.assertIn("DYNSEL_ASPECT_SOUND is already defined at", line)
        self.assertIn(f"{self.acme}/Kconfig:8", line)

    def test_kconfig_lint_reads_products(self):
        write(self.acme / "Kconfig", KCONFIG + "\nconfig DYNSEL_MINE\n\tbool \"Mine\"\n\n"
              'config ACME_IDLE\n\tbool "Idle"\n\thelp\n\t  Nothing.\n')
        write(self.acme / "src/x.c", "#if CONFIG_ACME_SPED\n#endif\n#ifdef CONFIG_ACME_SPEED\n#endif\n")
        write(self.top / "doc/x.md", "CONFIG_ACME_NAMED_IN_AN_EXAMPLE\n")
        write(self.top / "src/theirs.c", "#if CONFIG_DYNSEL_CASHE\n#endif\n")  # nothing that the product can change
        found = [line.replace(f"{self.acme}/", "") for line in lint.lint(self.trees())]
        self.assertEqual(found, [
            "src/x.c:1: no option named ACME_SPED; did you mean ACME_SPEED?",
            "Kconfig:8: DYNSEL_MINE is not used; delete it",
            "Kconfig:11: ACME_IDLE is not used; delete it",
            "src/x.c:3: '#ifdef CONFIG_ACME_SPEED': options are 0 or 1; write #if CONFIG_...",
            "Kconfig:8: DYNSEL_MINE has a prompt and no help text; write one",
            "Kconfig:8: DYNSEL_MINE: a later dynsel may have an option of this name; begin the product's own with"
            " another word than DYNSEL_",
            "src/x.c: no build compiles it; list it in SConscript"])


if __name__ == "__main__":
    unittest.main()
