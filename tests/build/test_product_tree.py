# SPDX-License-Identifier: Apache-2.0
"""The template product outside of dynsel's tree, with both trees read-only and the build elsewhere."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import TOP, scons, snapshot, write

SMALL = "native+acme_small"
PROGRAM = """#include <acme/crc_unit.h>
#include <acme/weighted.h>

static acme_crc_unit unit = {.name = "unit"};
static acme_weighted_policy policy;

int main(void)
{
    const dynsel_resource resources[] = {{&acme_crc_backend, &unit}};
    const dynsel_options options = {.resources = resources, .count = 1};
    return acme_weighted_init(&policy, &options, (const uint8_t[]){1}) == DYNSEL_OK ? 0 : 1;
}
"""
# Another product, which uses the template.
RADIO = {
    "Kconfig": "",
    "SConscript": 'Import("component", "program")\ncomponent("radio", ["src/radio.c"])\nprogram("radio", ["main.c"])\n',
    "include/radio.h": "#include <stdint.h>\n\nuint32_t radio_sum(void);\n",
    "src/radio.c": "#include <acme/crc_unit.h>\n#include <radio.h>\n\nuint32_t radio_sum(void)\n{\n"
                   '    acme_crc_unit unit = {.name = "unit"};\n    return acme_crc_run(&unit, "123456789", 9);\n}\n',
    "main.c": "#include <radio.h>\n\nint main(void)\n{\n    return radio_sum() == 0xcbf43926 ? 0 : 1;\n}\n",
}


def read_only(folder):
    """root may write nevertheless, so the tests also look for changes."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)


def remove(folder):
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)


def commands_of(path):
    """The lines of the first block of a document, without comments."""
    block = re.search(r"\n\n((?:    .*\n)+)", (TOP / path).read_text(encoding="utf-8"))[1]
    return [line.partition("#")[0].strip() for line in block.splitlines()]


COMMANDS = commands_of("doc/products.md")  # cp, sed, cd, and calls of scons


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Path(os.path.realpath(tempfile.mkdtemp(prefix="dynsel-outside-")))
        cls.addClassCleanup(remove, cls.place)
        cls.top, cls.acme, cls.out = (cls.place / name for name in ("dynsel", "acme", "out"))
        shutil.copytree(TOP, cls.top, symlinks=True,
                        ignore=lambda folder, names: {"build", ".git", "doc"} & set(names) if Path(folder) == TOP
                        else {"__pycache__"} & set(names))
        cls.copy_product(cls.acme)
        for tree in (cls.top, cls.acme):
            read_only(tree)

    @classmethod
    def copy_product(cls, place):
        """By the commands in the document, which are for a folder that has dynsel."""
        place.parent.mkdir(exist_ok=True)
        if place.parent != cls.place:
            (place.parent / "dynsel").symlink_to(cls.top)
        for command in COMMANDS[:2]:
            subprocess.run(command, shell=True, cwd=place.parent, check=True)
        for path in place.rglob("*"):
            path.chmod(path.stat().st_mode | 0o200)

    def good(self, *arguments, where=None):
        status, said = scons(where or self.acme, f"O={self.out}", *arguments)
        self.assertEqual(status, 0, said)
        return said


class Outside(Case):
    """The product's own folder is where the user types."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.before = [snapshot(tree, ".") for tree in (cls.top, cls.acme)]
        cls.status, cls.said = scons(cls.acme, f"O={cls.out}", *COMMANDS[3].split()[1:], "all")

    def test_1_builds_and_passes_on_native(self):
        self.assertEqual(self.status, 0, self.said)
        self.assertEqual(self.said.splitlines()[-1], "2 passed, 0 failed")
        for test in ("test_weighted", "test_crc_unit"):
            self.assertIn(f"  TEST  {self.out}/{SMALL}/tests/products/acme/{test}\n", self.said)
        self.assertEqual(subprocess.run([self.out / SMALL / "bin/acme"], check=False).returncode, 0)
        self.assertFalse((self.out / SMALL / "bin/first").exists(), "dynsel's examples are not built")

    def test_2_nothing_is_written_into_the_trees(self):
        self.assertEqual([snapshot(tree, ".") for tree in (self.top, self.acme)], self.before)

    def test_3_variables_mean_the_same_as_the_product_s_sconstruct(self):
        out = os.path.relpath(self.out, self.place)
        status, said = scons(self.place, "-C", "dynsel", "PRODUCT=acme", f"O={out}", "CONF=acme_small", "test")
        self.assertEqual(status, 0, said)
        self.assertEqual(said.splitlines()[-2:], ["nothing has changed since these tests passed", "2 passed, 0 failed"])
        self.assertEqual(self.good("PRODUCT=.", "CONF=acme_small", "test").splitlines()[-1], "2 passed, 0 failed")

    def test_4_commands_know_the_product(self):
        said = self.good("why=ACME_WEIGHTED_ROUND", "CONF=acme_small")
        self.assertIn(f"set by    {self.acme}/configs/acme_small.conf:6", said)
        said = self.good("acme_sensor_defconfig")
        self.assertIn(f"build it with: scons O={self.out} BOARD=acme_sensor   change it with:", said)
        self.assertIn("kconfig-lint: no errors found", self.good("kconfig-lint"))
        said = self.good("-h")
        self.assertIn("Boards: aarch64_linux acme_sensor ", said)
        self.assertIn("  PRODUCT   folders of products", said)
        said = self.good("diffconfig", "A=acme_sensor", "B=mps2_an385")
        self.assertRegex(said, r"DYNSEL_TARGET_ACME_CRC_UNIT +y +-> n\n")

    def test_5_installed_archives_are_found_by_pkg_config(self):
        prefix = self.place / "installed"
        self.good("CONF=acme_small", "install", f"PREFIX={prefix}")
        write(self.place / "main.c", PROGRAM)
        env = {**os.environ, "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "acme"], env=env, capture_output=True, text=True,
                               check=True).stdout
        program = str(self.place / "main")
        subprocess.run(["gcc", "-o", program, f"{program}.c", *shlex.split(flags)], check=True)
        self.assertEqual(subprocess.run([program], check=False).returncode, 0)
        self.assertTrue((prefix / "lib/cmake/acme/acmeConfig.cmake").is_file())

    def test_6_file_to_build_is_named_from_the_product(self):
        other = self.place / "other/acme"
        self.copy_product(other)
        status, said = scons(other, "CONF=acme_small", f"build/{SMALL}/libacme.a")
        self.assertEqual(status, 0, said)
        self.assertIn(f"  AR    {other}/build/{SMALL}/libacme.a\n", said)
        self.assertFalse((other / "build" / SMALL / "libdynsel.a").exists())

    def test_8_product_uses_the_one_in_front(self):
        radio = self.place / "radio"
        for name, text in RADIO.items():
            write(radio / name, text)
        self.good(f"PRODUCT={radio}", "CONF=acme_small")
        self.assertEqual(subprocess.run([self.out / SMALL / "bin/radio"], check=False).returncode, 0)
        self.assertTrue((self.out / SMALL / "libradio.a").is_file())

    @unittest.skipUnless(shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm"),
                         "the compiler or the emulator of mps2_an385 is not installed")
    def test_7_builds_and_passes_on_emulated_boards(self):
        said = self.good("BOARD=mps2_an385", "test", "all")
        self.assertEqual(said.splitlines()[-1], "2 passed, 0 failed")
        said = self.good(*COMMANDS[4].split()[1:], "all")
        self.assertEqual(said.splitlines()[-1], "2 passed, 0 failed")
        said = self.good(*COMMANDS[5].split()[1:])
        self.assertRegex(said, r"acme_sensor: libacme\.a in bytes.*\n.*\nacme/src/crc_unit\.o +\d+")
        for board in ("mps2_an385", "acme_sensor"):
            self.assertTrue((self.out / board / "bin/acme").is_file())
        self.assertEqual(self.stack_top("mps2_an385"), 0x20400000)
        self.assertEqual(self.stack_top("acme_sensor"), 0x20020000, "as mps2_an385, but with less memory")

    def stack_top(self, board):
        listing = subprocess.run(["arm-none-eabi-nm", self.out / board / "bin/acme"], capture_output=True, text=True,
                                 check=True).stdout
        return next(int(line.split()[0], 16) for line in listing.splitlines() if line.endswith(" board_stack_top"))


class Document(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for name in ("doc/products.md", "examples/product/README.md"):
            for target in re.findall(r"\]\(([^)]+)\)", (TOP / name).read_text(encoding="utf-8")):
                self.assertTrue((TOP / name).parent.joinpath(target.partition("#")[0]).exists(), f"{name}: {target}")

    def test_board_in_the_document_is_the_template_s(self):
        text = (TOP / "doc/products.md").read_text(encoding="utf-8")
        board = (TOP / "examples/product/boards/acme_sensor/board.py").read_text(encoding="utf-8")
        own = re.search(r"    own = .*\n", text)[0]
        self.assertIn(own, board)


class Wrong(Case):
    """Mistakes that only a build shows."""

    def refused(self, *arguments):
        status, said = scons(self.top, *arguments)
        self.assertEqual(status, 2, said)
        return said

    def test_wrong_sconscript(self):
        other = self.place / "other/acme"
        self.copy_product(other)
        for line, message in (
                ('program("first", ["app/acme.c"])', "dynsel or another product has a program first; choose another name"),
                ('component("x", ["src/crc_unit.c"], when=["ACME_BACKEND_CRC_UNITS"])',
                 "no option named ACME_BACKEND_CRC_UNITS; did you mean ACME_BACKEND_CRC_UNIT?")):
            write(other / "SConscript", f'Import("component", "program")\n{line}\n')
            self.assertEqual(self.refused(f"PRODUCT={other}"), f"dynsel: {other}/SConscript: {message}\n")

    def test_build_folder_that_cannot_be_one(self):
        write(self.place / "file", "")
        self.assertRegex(self.refused(f"O={self.place}/file"), r"\Adynsel: \S+/file[^:]*: [^;]+; check the"
                         r" permissions: the sources must be readable, and the folder for what is built writable \(O=\)\n\Z")

    def test_targets_that_change_dynsel(self):
        self.assertEqual(self.refused(f"PRODUCT={self.acme}", "format"),
                         f"dynsel: format changes dynsel's own files; call it without PRODUCT={self.acme}\n")

    def test_contradicting_products(self):
        self.assertEqual(self.refused(f"PRODUCT={self.acme},{self.acme}", "test"),
                         f"dynsel: PRODUCT: {self.acme} is named twice; delete one of the two\n")


if __name__ == "__main__":
    unittest.main()
