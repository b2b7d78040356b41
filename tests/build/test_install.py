# SPDX-License-Identifier: Apache-2.0
"""A user's project outside the tree, with what `scons install` gave: by hand, pkg-config and CMake.

The variant is installed with a DESTDIR, so its tree stands elsewhere than its PREFIX says: what
works here can be moved.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

INSTALLED = Path(os.environ["DYNSEL_BUILD"]) / "installed"
ROOT = INSTALLED / "opt/dynsel"
PROJECT = Path(__file__).resolve().parent / "project"
CC, RUNNER = os.environ["DYNSEL_CC"], shlex.split(os.environ["DYNSEL_RUNNER"])
GENERATED = ("autoconf.h", "aspect_names.h", "aspect_sets.h")


def option(name):
    """Whether the installed header says that a bool is on."""
    text = (ROOT / "include/dynsel/autoconf.h").read_text(encoding="utf-8")
    return f"#define CONFIG_{name} 1\n" in text


class Project(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-outside-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for file in PROJECT.iterdir():
            shutil.copy(file, self.folder)

    def run_here(self, *command, status=0, **variables):
        """What a command says; it must end with this status."""
        answer = subprocess.run(command, cwd=self.folder, env={**os.environ, **variables}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(answer.returncode, status, f"{shlex.join(map(str, command))}\n{answer.stdout}")
        return answer.stdout

    def pkg_config(self, *arguments):
        said = self.run_here("pkg-config", "--define-prefix", *arguments, "dynsel",
                             PKG_CONFIG_PATH=str(ROOT / "lib/pkgconfig"))
        return shlex.split(said)

    def works(self, program):
        self.run_here(*RUNNER, str(self.folder / program))

    def test_by_hand(self):
        flags = ["-pthread"] if option("DYNSEL_CONTEXT_THREADS") else []
        libraries = ["-lOpenCL"] if option("DYNSEL_BACKEND_OPENCL") else []
        self.run_here(CC, *flags, f"-I{ROOT}/include", "main.c", f"-L{ROOT}/lib", "-ldynsel", *libraries,
                      "-o", "outside")
        self.works("outside")

    def test_pkg_config(self):
        self.run_here(CC, "-std=c11", "-pedantic-errors", "-Wall", "-Wextra", "-Werror",
                      "main.c", *self.pkg_config("--cflags", "--libs"), "-o", "outside")
        self.works("outside")

    def test_pkg_config_knows_the_variant(self):
        first = (ROOT / "include/dynsel/autoconf.h").read_text(encoding="utf-8").splitlines()[0]
        self.assertIn(f" for the variant {self.pkg_config('--variable=variant')[0]}; ", first)
        hashed = self.pkg_config("--variable=configuration")[0]
        self.assertIn(f"#define DYNSEL_CONFIG_TAG {hashed}\n",
                      (ROOT / "include/dynsel/autoconf.h").read_text(encoding="utf-8"))

    def test_cmake(self):
        said = self.cmake()
        self.assertIn("-- dynsel 0.1.0 for board ", said)
        self.run_here("cmake", "--build", "made")
        self.works("made/outside")

    def test_cmake_versions(self):
        """Which requests are answered, as version 0.1.7 would."""
        for wanted, answered in (("0.1.7", True), ("0.1", True), ("0.1.3", True), ("0", True),
                                 ("0.1.8", False), ("0.2", False), ("1", False), ("0.0.9", False)):
            with self.subTest(wanted):
                said = self.asks_version(f"set(PACKAGE_FIND_VERSION {wanted})")
                self.assertEqual(said, f"0.1.7 {str(answered).upper()} \n")

    def test_cmake_for_another_machine(self):
        said = self.asks_version("set(PACKAGE_FIND_VERSION 0.1.7)\nset(CMAKE_SIZEOF_VOID_P 2)")
        self.assertRegex(said, r"^0\.1\.7 \(variant .*: pointers of [48] bytes\) TRUE TRUE\n$")

    def asks_version(self, before):
        """What dynselConfigVersion.cmake answers, with another version in it."""
        text = (ROOT / "lib/cmake/dynsel/dynselConfigVersion.cmake").read_text(encoding="utf-8")
        (self.folder / "asked.cmake").write_text(
            before + """
string(REPLACE "." ";" parts "${PACKAGE_FIND_VERSION}")
list(LENGTH parts PACKAGE_FIND_VERSION_COUNT)
list(GET parts 0 PACKAGE_FIND_VERSION_MAJOR)
if(PACKAGE_FIND_VERSION_COUNT GREATER 1)
  list(GET parts 1 PACKAGE_FIND_VERSION_MINOR)
endif()
""" + text.replace("0.1.0", "0.1.7") +
            'message("${PACKAGE_VERSION} ${PACKAGE_VERSION_COMPATIBLE} ${PACKAGE_VERSION_UNSUITABLE}")\n',
            encoding="utf-8")
        return self.run_here("cmake", "-P", "asked.cmake")

    def cmake(self):
        """What cmake says while it configures the project."""
        return self.run_here("cmake", "-S", ".", "-B", "made", f"-DCMAKE_C_COMPILER={CC}",
                             f"-DCMAKE_PREFIX_PATH={ROOT}", CMAKE_GENERATOR="Unix Makefiles")

    def test_all_headers_are_there(self):
        top = Path(os.environ["DYNSEL_TOP"]) / "include/dynsel"
        wanted = {p.name for p in top.iterdir() if p.suffix in (".h", ".def")} | set(GENERATED)
        self.assertEqual({p.name for p in (ROOT / "include/dynsel").iterdir()}, wanted)

    def test_everybody_can_read_it(self):
        for path in ROOT.rglob("*"):
            if path.is_file():
                self.assertEqual(path.stat().st_mode & 0o777, 0o644, path)


if __name__ == "__main__":
    unittest.main()
