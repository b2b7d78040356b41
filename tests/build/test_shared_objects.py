# SPDX-License-Identifier: Apache-2.0
"""An extension of Python and plugins of a program, each with the archive of a variant with DYNSEL_PIC."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

import support
from support import scons

PROJECT = Path(__file__).resolve().parent / "shared"
FULL, SMALL = "native+one_file+pic", "native+minimal+pic"  # all that there is, in one compilation; and many files
HEADER = Path(sysconfig.get_path("include")) / "Python.h"


def setUpModule():
    """Installs both variants from a tree of their own."""
    top = support.library_tree()
    unittest.addModuleCleanup(shutil.rmtree, top)
    for name, variant in (("full", FULL), ("small", SMALL)):
        status, said = scons(top, "install", f"VARIANTS={variant}", f"PREFIX={top}/{name}")
        if status:
            raise AssertionError(said)
    SharedObjects.top = top


class SharedObjects(unittest.TestCase):
    top = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-shared-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for file in PROJECT.iterdir():
            shutil.copy(file, self.folder)

    def run_here(self, *command, **around):
        done = subprocess.run(command, cwd=self.folder, env={**os.environ, **around}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout

    def pkg_config(self, name, *arguments):
        path = str(self.top / name / "lib/pkgconfig")
        return self.run_here("pkg-config", *arguments, "dynsel", PKG_CONFIG_PATH=path).split()

    def shared(self, name, source, target, *more):
        self.run_here("gcc", "-shared", "-fPIC", "-Wl,-z,defs,-z,text", *more, source,
                      *self.pkg_config(name, "--cflags", "--libs"), "-o", target)

    def configuration(self, name):
        return self.pkg_config(name, "--variable=configuration")[0].removeprefix("c")

    def exported(self, file):
        return sorted(line.split()[-1] for line in self.run_here("nm", "-D", "--defined-only", file).splitlines())

    @unittest.skipUnless(HEADER.exists(), f"{HEADER} is missing; on Debian and Ubuntu: apt-get install python3-dev")
    def test_an_extension_of_python(self):
        libpython = [f"-I{HEADER.parent}", "-Wl,-z,undefs"]  # the interpreter has what it lacks
        self.shared("full", "extension.c", "counting.so", *libpython)
        said = self.run_here(sys.executable, "-c", """
import counting, threading
print(counting.count(12345))
try:
    counting.refuse()
except RuntimeError as e:
    print(e)
threads = [threading.Thread(target=lambda: print(counting.count(7))) for _ in range(2)]
for thread in threads:
    thread.start()
    thread.join()
""").splitlines()
        self.assertEqual(said[0], "12345")
        self.assertIn("dynsel_submit", said[1])
        self.assertEqual(said[2:], ["7", "7"])

    def test_plugins_beside_a_library_of_the_program(self):
        """Each has its own: of the same name, and of another configuration."""
        self.shared("full", "plugin.c", "full.so")
        self.shared("small", "plugin.c", "small.so")
        self.run_here("gcc", "program.c", "-rdynamic", "-Wl,--whole-archive", f"{self.top}/small/lib/libdynsel.a",
                      "-Wl,--no-whole-archive", *self.pkg_config("small", "--cflags"), "-o", "program")
        full, small = self.configuration("full"), self.configuration("small")
        self.assertNotEqual(full, small)
        self.assertEqual(self.run_here("./program", "./full.so", "./small.so").splitlines(),
                         [f"{full} 1000", f"{small} 1000", f"{small} 10"])

    def test_nothing_of_the_library_is_exported(self):
        for name in ("full", "small"):
            self.shared(name, "plugin.c", f"{name}.so")
            self.assertEqual(self.exported(f"{name}.so"), ["plugin_configuration", "plugin_run"])

    def test_cmake_builds_a_plugin(self):
        self.run_here("cmake", "-S", ".", "-B", "made", f"-DCMAKE_PREFIX_PATH={self.top}/full",
                      CMAKE_GENERATOR="Unix Makefiles")
        self.run_here("cmake", "--build", "made")
        self.assertEqual(self.exported("made/libplugin.so"), ["plugin_configuration", "plugin_run"])

    def test_the_variant_says_what_it_is(self):
        self.assertEqual(self.pkg_config("full", "--variable=pic"), ["yes"])


if __name__ == "__main__":
    unittest.main()
