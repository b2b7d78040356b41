# SPDX-License-Identifier: Apache-2.0
"""What is said when something is wrong with a board: one clear line each, and a status."""

import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "build"))

import support
from support import scons, write

KCONFIG = """config DYNSEL_BOARD_TOY
	bool
	default y if "$(BOARD)" = "toy"
	select DYNSEL_HAS_HOSTED
"""
BOARD = """from dynsel_build.boards import Board


def describe(config):
    return Board(cc="gcc"{more})
"""
HANGS = "int main(void)\n{\n    for (;;) {\n    }\n}\n"


class Boards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = support.build_tree()
        cls.addClassCleanup(shutil.rmtree, cls.top)
        write(cls.top / "include/dynsel/port.h",
              "#ifndef PORT_H\n#define PORT_H\nvoid dynsel_port_wait(int);\n#endif\n")

    def setUp(self):
        self.folder = self.top / "boards/toy"
        shutil.rmtree(self.folder, ignore_errors=True)
        write(self.folder / "Kconfig.board", KCONFIG)
        write(self.folder / "defconfig", "")
        write(self.folder / "packages", "gcc gcc  # a comment\n")
        self.board("")

    def board(self, more):
        write(self.folder / "board.py", BOARD.replace("{more}", more and ", " + more))

    def scons(self, status, *arguments):
        found, said = scons(self.top, "BOARD=toy", *arguments)
        self.assertEqual(found, status, said)
        return said

    def test_a_board_that_is_all_right(self):
        self.assertIn("passed, 0 failed", self.scons(0, "test"))

    def test_a_folder_that_was_copied(self):
        mine = self.top / "boards/mine"
        shutil.copytree(self.top / "boards/native", mine)
        self.addCleanup(shutil.rmtree, mine)
        for path in mine.iterdir():
            text = path.read_text(encoding="utf-8")
            write(path, text.replace("native", "mine").replace("NATIVE", "MINE"))
        status, said = scons(self.top, "BOARD=mine", "test")
        self.assertEqual(status, 0, said)
        self.assertTrue((self.top / "build/mine/libdynsel.a").exists())

    def test_a_folder_that_was_copied_and_not_renamed(self):
        mine = self.top / "boards/mine"
        shutil.copytree(self.top / "boards/native", mine)
        self.addCleanup(shutil.rmtree, mine)
        kconfig = (mine / "Kconfig.board").read_text(encoding="utf-8")
        for text in (kconfig.replace("NATIVE", "MINE"), kconfig.replace("DYNSEL_BOARD_NATIVE", "DYNSEL_BOARD_YOURS")):
            write(mine / "Kconfig.board", text)
            status, said = scons(self.top, "mine_defconfig")
            self.assertEqual(status, 2, said)
            self.assertIn("dynsel: boards/mine/Kconfig.board:1: it has no option for the board 'mine'", said)

    def test_a_folder_that_lacks_something(self):
        for name, message in (
                ("defconfig", "dynsel: boards/toy/defconfig is missing; a board needs this file, even if empty"),
                ("Kconfig.board", "dynsel: boards/toy/Kconfig.board is missing; a board needs this file"),
                ("board.py", "dynsel: boards/toy/board.py is missing; copy one of another board and adapt it (doc/boards.md)")):
            with self.subTest(name):
                self.setUp()
                (self.folder / name).unlink()
                self.assertEqual(self.scons(2).splitlines(), [message])

    def test_a_board_py_that_is_wrong(self):
        for more, message in (
                ("1 +", "boards/toy/board.py:5: SyntaxError: "),
                ("speed=config.speed", "boards/toy/board.py:5: AttributeError: "),
                ("speed=3", "boards/toy/board.py:5: TypeError: "),
                ("ar='x' if config['DYNSEL_NONE'] else 'y'", "no option named DYNSEL_NONE")):
            with self.subTest(more):
                self.board(more)
                said = self.scons(2)
                self.assertIn(message, said)
                self.assertEqual(len(said.splitlines()), 1)

    def test_a_list_of_packages_that_is_wrong(self):
        write(self.folder / "packages", "# a comment\n\ngcc gcc gcc\n")
        self.assertEqual(self.scons(2), "dynsel: boards/toy/packages:3: write a command, or"
                                        " compiler:file, and its Debian package\n")

    def test_a_toolchain_that_is_not_installed(self):
        write(self.folder / "packages", "no-such-gcc gcc-for-toys\n")
        write(self.folder / "board.py", BOARD.replace('"gcc"{more}', '"no-such-gcc"'))
        self.assertEqual(self.scons(2), "dynsel: no-such-gcc is missing; on Debian and Ubuntu:"
                                        " apt-get install gcc-for-toys\n")

    def test_an_emulator_that_is_not_installed(self):
        self.board("runner=('no-such-emulator', '-x')")
        write(self.folder / "packages", "no-such-emulator toy-emulator\n")
        self.scons(0)
        said = self.scons(2, "test")
        self.assertIn("toy-emulator is missing; on Debian and Ubuntu: apt-get install toy-emulator\n", said)
        self.assertEqual(said.count("is missing"), 1)

    def test_a_file_of_the_compiler_that_is_not_installed(self):
        write(self.folder / "packages", "gcc:no-such-libc.a libc-for-toys\ngcc:libc.so libc6-dev\n")
        self.scons(0)
        said = self.scons(2, "test")
        self.assertIn("libc-for-toys is missing; on Debian and Ubuntu: apt-get install libc-for-toys\n", said)
        self.assertEqual(said.count("is missing"), 1)

    def test_a_test_that_hangs(self):
        self.board("seconds=1")
        before = (self.top / "tests/test_other.c").read_text(encoding="utf-8")
        self.addCleanup(write, self.top / "tests/test_other.c", before)
        write(self.top / "tests/test_other.c", HANGS)
        said = self.scons(2, "test")
        self.assertIn("FAILED  build/toy/tests/test_other: not done after 1 s of processor time, so it loops"
                      " or is too slow", said)
        self.assertIn("failed: build/toy/tests/test_other\n", said)

    def test_a_test_that_does_not_fit(self):
        write(self.folder / "small.ld", 'ASSERT(0, "no room is left for the stack")\n')
        self.board("bare_metal=True, linkflags=('boards/toy/small.ld',)")
        self.assertIn("no room is left for the stack", self.scons(2, "test"))
        status, said = scons(self.top, "VARIANTS=toy~MAX_RESOURCES=3", "test")
        self.assertEqual(status, 0, said)
        self.assertIn("  left out, too large for the board's memory: build/toy~MAX_RESOURCES=3/tests/test_other\n", said)

    def test_an_archive_that_needs_more_than_there_is(self):
        self.board("bare_metal=True, library_cflags=('-ffreestanding',)")
        before = (self.top / "src/two.c").read_text(encoding="utf-8")
        self.addCleanup(write, self.top / "src/two.c", before)
        write(self.top / "src/two.c", """void *memcpy(void *, const void *, unsigned long);
int puts(const char *);
unsigned __int128 two(unsigned __int128 a, long double b);
unsigned __int128 two(unsigned __int128 a, long double b)
{
    static char text[4];
    memcpy(text, "abc", 4);
    return a / (unsigned)(puts(text) + (int)b) + (unsigned __int128)(_Float128)b;
}
""")
        said = self.scons(2, "build/toy/gates/freestanding.ok")
        self.assertIn("two.o needs puts: bare metal has only the port, memcpy, memset, memmove and memcmp", said)
        self.assertIn("floating point", said)
        self.assertNotIn("memcpy:", said)


if __name__ == "__main__":
    unittest.main()
