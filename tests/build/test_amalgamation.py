# SPDX-License-Identifier: Apache-2.0
"""A user's project outside the tree, with what `scons amalgamation` wrote: dynsel.c, and the headers beside it."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

GIVEN = Path(os.environ["DYNSEL_BUILD"]) / "amalgamation"
PROGRAM = Path(__file__).resolve().parent / "project/main.c"
CC, TOP = os.environ["DYNSEL_CC"], Path(os.environ["DYNSEL_TOP"])
RUNNER, START, LINK, LIBRARIES, CFLAGS = (shlex.split(os.environ["DYNSEL_" + name])
                                          for name in ("RUNNER", "START", "LINKFLAGS", "LIBRARIES", "CFLAGS"))
BOARD = [f"-I{TOP}/boards", *START, *LINK] if START else []
PIC = [] if RUNNER else ["-fPIC"]  # for the shared object
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
HEADER = (GIVEN / "include/dynsel/autoconf.h").read_text(encoding="utf-8")
TAG = re.search(r"#define DYNSEL_CONFIG_TAG (c[0-9a-f]{8})\n", HEADER).group(1)
VARIANT = re.search(r'#define DYNSEL_CONFIG_VARIANT_TEXT "(.*)"\n', HEADER).group(1)
REMEDY = "take_library_and_headers_from_one_build"


def flags():
    """What the comment on top of dynsel.c says that a program needs."""
    said = re.search(r"^ \*     cc .* -Iinclude program\.c dynsel\.c(.*)$", (GIVEN / "dynsel.c").read_text("utf-8"), re.M)
    return subprocess.run(f"echo {said.group(1)}", shell=True, text=True, capture_output=True, check=True).stdout.split()


class Amalgamation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="dynsel-amalgamation-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        shutil.copytree(GIVEN, cls.folder, dirs_exist_ok=True)
        shutil.copy(PROGRAM, cls.folder)
        folders = [flag for flag in flags() if flag.startswith("-I")]
        cls.compiled(cls, *PIC, *folders, "-c", "dynsel.c", "-o", "dynsel.o")

    def compiled(self, *arguments, include="include"):
        """(status, messages) of the compiler, without optimization."""
        done = subprocess.run([CC, *CFLAGS, *STRICT, f"-I{include}", *arguments], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def works(self, *arguments, **around):
        """A program that is linked with these arguments."""
        status, said = self.compiled(*BOARD, *arguments, *flags(), *LIBRARIES, "-o", "program")
        self.assertEqual((status, said), (0, ""))
        done = subprocess.run([*RUNNER, str(self.folder / "program")], env={**os.environ, **around}, check=False)
        self.assertEqual(done.returncode, 0)

    def other_headers(self):
        """A folder with the headers of another configuration."""
        other = self.folder / "other"
        shutil.copytree(self.folder / "include", other, dirs_exist_ok=True)
        text = HEADER.replace(TAG[1:], "0badc0de").replace(f'"{VARIANT}"', '"native+another"')
        (other / "dynsel/autoconf.h").write_text(text, encoding="utf-8")
        return str(other)

    def test_the_program_works_with_one_more_file(self):
        self.works("main.c", "dynsel.o")

    def test_it_has_its_licence(self):
        self.assertTrue((GIVEN / "dynsel.c").read_text("utf-8").startswith("/* SPDX-License-Identifier: Apache-2.0 */\n"))
        self.assertEqual((GIVEN / "LICENSE").read_bytes(), (TOP / "LICENSE").read_bytes())

    def test_it_needs_no_other_file(self):
        """Every include is one of the C library's, of OpenCL or of the public headers."""
        text = (GIVEN / "dynsel.c").read_text("utf-8")
        self.assertEqual(re.findall(r'^\s*#\s*include\s+"', text, re.M), [])
        wanted = set(re.findall(r"^\s*#\s*include\s+<dynsel/(.*)>", text, re.M))
        self.assertLessEqual(wanted, {path.name for path in (GIVEN / "include/dynsel").iterdir()})

    @unittest.skipIf(RUNNER, "shared objects are for systems")
    def test_a_shared_object_exports_the_interface(self):
        status, said = self.compiled("-shared", "-Wl,-z,defs", "dynsel.o", *flags(), "-o", "libdynsel.so")
        self.assertEqual((status, said), (0, ""))
        self.works("main.c", "libdynsel.so", LD_LIBRARY_PATH=str(self.folder))
        listed = subprocess.run(["nm", "-D", "--defined-only", "libdynsel.so"], cwd=self.folder, text=True, check=True,
                                capture_output=True).stdout
        exported = {line.split()[-1].split(".")[0] for line in listed.splitlines()}
        headers = "".join(path.read_text("utf-8") for path in (GIVEN / "include/dynsel").iterdir())
        self.assertIn("dynsel_submit_and_wait", exported)
        self.assertEqual({name for name in exported if not re.search(rf"\b{name}\b", headers)}, set())

    def test_headers_of_another_configuration_are_refused(self):
        status, said = self.compiled("-c", "dynsel.c", "-o", "no.o", include=self.other_headers())
        self.assertNotEqual(status, 0)
        told = " ".join(re.findall(r"error: (.*)", said))
        for text in (TAG, f"(variant {VARIANT})", "c0badc0de", "(variant native+another)",
                     "take dynsel.c and include/ from the same `scons amalgamation`"):
            self.assertIn(text, told)
        self.assertEqual(len(re.findall(r"\berror:", said)), 1, said)

    def test_programs_of_another_configuration_do_not_link(self):
        self.assertEqual(self.compiled("-c", "main.c", "-o", "other.o", include=self.other_headers()), (0, ""))
        status, said = self.compiled(*BOARD, "other.o", "dynsel.o", *flags(), *LIBRARIES, "-o", "program")
        self.assertNotEqual(status, 0)
        for text in (f"dynsel_fixed_resource_init.of_headers_c0badc0de.{REMEDY}", f"configuration.{TAG}",
                     "configuration.c0badc0de", "dynsel_headers_and_library_differ.take_both_from_one_build"):
            self.assertIn(text, said)


if __name__ == "__main__":
    unittest.main()
