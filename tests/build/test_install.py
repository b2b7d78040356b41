# SPDX-License-Identifier: Apache-2.0
"""A user's project outside the tree, with what `scons install` gave: by hand, pkg-config and CMake.

The variant is installed with a DESTDIR, so its tree stands elsewhere than its PREFIX says: what
works here can be moved.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

INSTALLED = Path(os.environ["DYNSEL_BUILD"]) / "installed"
ROOT = INSTALLED / "opt/dynsel"
PROJECT = Path(__file__).resolve().parent / "project"
CC, TOP = os.environ["DYNSEL_CC"], Path(os.environ["DYNSEL_TOP"])
RUNNER, START, LINK, LIBRARIES = (shlex.split(os.environ["DYNSEL_" + name])
                                  for name in ("RUNNER", "START", "LINKFLAGS", "LIBRARIES"))
CFLAGS = shlex.split(os.environ["DYNSEL_CFLAGS"])
# Which C library there is: a project's own, as is what it is linked with; the processor is dynsel's.
SYSTEM = [flag for flag in CFLAGS if not flag.startswith("-m")]
# CMake asks the compiler how wide pointers are before it looks for packages.
WIDTH = CFLAGS if any(flag.startswith("-mabi=") for flag in CFLAGS) else SYSTEM
INCLUDE = [str(TOP / "boards")] if START else []  # of the start-up code, which a project has itself
BOARD = [*(f"-I{folder}" for folder in INCLUDE), *START, *LINK]
TOOLCHAIN = f"""\
set(CMAKE_SYSTEM_NAME {"Generic" if START else "Linux"})
set(CMAKE_C_COMPILER {CC})
set(CMAKE_C_FLAGS_INIT "{' '.join(WIDTH)}")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
"""
VERSION = ".".join(re.search(rf"#define DYNSEL_VERSION_{part} +(\d+)", (ROOT / "include/dynsel/version.h").read_text(
    encoding="utf-8")).group(1) for part in ("MAJOR", "MINOR", "PATCH"))
GENERATED = ("autoconf.h", "aspect_names.h", "aspect_sets.h", "opencl_iterators.h")


def option(name):
    """Whether the installed header says that a bool is on."""
    text = (ROOT / "include/dynsel/autoconf.h").read_text(encoding="utf-8")
    return f"#define CONFIG_{name} 1\n" in text


MPI = "ompi-c" if option("DYNSEL_MPI_OPENMPI") else "mpich" if option("DYNSEL_MPI_MPICH") else None


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

    def test_installed_library_links_with_plain_flags(self):
        flags = ["-pthread"] if option("DYNSEL_CONTEXT_THREADS") else []
        libraries = ["-lOpenCL"] if option("DYNSEL_BACKEND_OPENCL") else []
        if MPI:
            libraries += shlex.split(subprocess.run(["pkg-config", "--libs", MPI], text=True, capture_output=True, check=True).stdout)
        machine = [f for f in self.pkg_config("--cflags") if f.startswith("-m")]
        self.run_here(CC, *flags, *machine, *SYSTEM, f"-I{ROOT}/include", *BOARD, "main.c", f"-L{ROOT}/lib",
                      "-ldynsel", *libraries, *LIBRARIES, "-o", "outside")
        self.works("outside")

    def test_pkg_config_gives_working_flags(self):
        self.run_here(CC, "-std=c11", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", *SYSTEM,
                      *self.pkg_config("--cflags"), "-c", "main.c")
        self.run_here(CC, "-std=c11", *SYSTEM, *BOARD, "main.o", *self.pkg_config("--cflags", "--libs"),
                      *LIBRARIES, "-o", "outside")
        self.works("outside")

    @unittest.skipUnless(CC == "gcc" and shutil.which("g++"), "another board's compiler, or no g++")
    def test_cpp_program_builds_with_pkg_config(self):
        self.run_here("g++", "-std=c++17", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "main.cpp",
                      *self.pkg_config("--cflags", "--libs"), "-o", "outside")
        self.works("outside")

    def test_pkg_config_names_variant(self):
        first = (ROOT / "include/dynsel/autoconf.h").read_text(encoding="utf-8").splitlines()[0]
        self.assertIn(f" for the variant {self.pkg_config('--variable=variant')[0]}; ", first)
        hashed = self.pkg_config("--variable=configuration")[0]
        self.assertIn(f"#define DYNSEL_CONFIG_TAG {hashed}\n",
                      (ROOT / "include/dynsel/autoconf.h").read_text(encoding="utf-8"))

    def test_mpi_library_is_named_where_it_is_configured(self):
        named = {module for module in ("ompi-c", "mpich") if module in self.run_here(
            "pkg-config", "--print-requires", "dynsel", PKG_CONFIG_PATH=str(ROOT / "lib/pkgconfig"))}
        self.assertEqual(named, {MPI} - {None})
        text = (ROOT / "lib/cmake/dynsel/dynselConfig.cmake").read_text(encoding="utf-8")
        self.assertEqual({module for module in ("ompi-c", "mpich") if f"IMPORTED_TARGET {module})" in text}, named)
        self.assertEqual("PkgConfig::DYNSEL_MPI" in text, bool(MPI))

    def test_version_is_the_same_in_header_and_packages(self):
        (self.folder / "version.c").write_text('#include <dynsel/dynsel.h>\nversion DYNSEL_VERSION_TEXT DYNSEL_VERSION\n',
                                               encoding="utf-8")
        said = self.run_here(CC, *self.pkg_config("--cflags"), *SYSTEM, "-E", "-P", "version.c").splitlines()[-1]
        text, number = re.fullmatch(r'version ((?:"[\d.]+" ?)+)(.*)', said).groups()
        self.assertEqual("".join(re.findall(r'"([^"]*)"', text)), VERSION)
        major, minor, patch = map(int, VERSION.split("."))
        self.assertEqual(eval(number, {}), major * 1000000 + minor * 1000 + patch)
        self.assertEqual(self.pkg_config("--modversion"), [VERSION])

    def test_licence_and_changelog_are_installed(self):
        for name in ("LICENSE", "CHANGELOG.md"):
            self.assertEqual((ROOT / "share/doc/dynsel" / name).read_bytes(), (TOP / name).read_bytes())

    def test_cmake_project_builds_and_runs(self):
        said = self.cmake()
        self.assertIn(f"-- dynsel {VERSION} for board ", said)
        self.run_here("cmake", "--build", "made")
        self.works("made/outside")

    def test_cmake_refuses_incompatible_version(self):
        """Which requests are answered, as version 0.1.7 would before 1.0."""
        for wanted, answered in (("0.1.7", True), ("0.1", True), ("0.1.3", True), ("0", True),
                                 ("0.1.8", False), ("0.2", False), ("1", False), ("0.0.9", False)):
            with self.subTest(wanted):
                said = self.asks_version(f"set(PACKAGE_FIND_VERSION {wanted})")
                self.assertEqual(said, f"0.1.7 {str(answered).upper()} \n")

    def test_cmake_refuses_other_pointer_width(self):
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
""" + text.replace(VERSION, "0.1.7") +
            'message("${PACKAGE_VERSION} ${PACKAGE_VERSION_COMPATIBLE} ${PACKAGE_VERSION_UNSUITABLE}")\n',
            encoding="utf-8")
        return self.run_here("cmake", "-P", "asked.cmake")

    def cmake(self):
        """What cmake says while it configures the project."""
        lists = {"START": START, "INCLUDE": INCLUDE, "LINK": LINK, "LIBRARIES": LIBRARIES}
        machine = [f"-DCMAKE_C_COMPILER={CC}"]
        if RUNNER:
            (self.folder / "toolchain.cmake").write_text(TOOLCHAIN, encoding="utf-8")
            machine = ["-DCMAKE_TOOLCHAIN_FILE=toolchain.cmake"]
        return self.run_here("cmake", "-S", ".", "-B", "made", *machine, f"-DCMAKE_PREFIX_PATH={ROOT}",
                             *(f"-D{name}={';'.join(words)}" for name, words in lists.items()),
                             CMAKE_GENERATOR="Unix Makefiles")

    def test_all_public_headers_are_installed(self):
        top = TOP / "include/dynsel"
        wanted = {p.name for p in top.iterdir() if p.suffix in (".h", ".hpp", ".def")} | set(GENERATED)
        self.assertEqual({p.name for p in (ROOT / "include/dynsel").iterdir()}, wanted)

    def test_installed_files_are_readable_by_all(self):
        for path in ROOT.rglob("*"):
            if path.is_file():
                self.assertEqual(path.stat().st_mode & 0o777, 0o755 if path.parent.name == "bin" else 0o644, path)


if __name__ == "__main__":
    unittest.main()
