# SPDX-License-Identifier: Apache-2.0
"""The build as its user sees it: calls of scons in a small tree, their words, files and statuses."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import support
from support import SOURCES, scons, snapshot, write

RUNNING = ("  CC ", "  LINK ", "  AR ", "  GEN ", "  TEST ", "  TIDY ", "  CHECK ", "  HEAP ", "  SIZE ",
           "  ALONE ", "  LINT ")

# Says that it runs, and goes on for longer than anybody waits.
SLEEPER = """#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/asleep", getenv("DYNSEL_BUILD"));
    fclose(fopen(name, "w"));
    return (int)sleep(100);
}
"""


class Case(unittest.TestCase):
    """One tree for all tests of a class; each test leaves the sources as it found them."""

    @classmethod
    def setUpClass(cls):
        cls.top = support.build_tree()
        cls.addClassCleanup(shutil.rmtree, cls.top)

    def good(self, *arguments):
        status, said = scons(self.top, *arguments)
        self.assertEqual(status, 0, said)
        return said

    def bad(self, *arguments):
        status, said = scons(self.top, *arguments)
        self.assertEqual(status, 2, said)
        return said

    def edit(self, name, old, new):
        """Replaces text in a file of the tree until the test is over."""
        path = self.top / name
        before = path.read_text(encoding="utf-8") if path.exists() else None
        self.addCleanup(path.unlink if before is None else lambda: write(path, before))
        write(path, new if before is None else before.replace(old, new))
        self.assertNotEqual(before, path.read_text(encoding="utf-8"))

    def assert_nothing_done(self, said):
        done = [line for line in said.splitlines() if line.startswith(RUNNING)]
        self.assertEqual(done, [])


class Words(Case):
    """What is wrong on the command line ends with status 2 and builds nothing."""

    def test_wrong_command_line_names_remedy(self):
        for arguments, message in (
                (["BORAD=x"], "no variable named 'BORAD'; did you mean BOARD? (there are: "),
                (["BOARD=natve"], "no board named 'natve'; did you mean native? (there are: native)"),
                (["CONF=debgu"], "no fragment named 'debgu'; did you mean debug? (there are: bench,"),
                (["chekc"], "no target named 'chekc'; did you mean check? (there are: all, amalgamation, bench,"),
                (["bench"], "no program for the target bench; it needs a host: use BOARD=native"),
                (["soak"], "native~STATISTICS=y: no program for the target soak; it needs threads"),
                (["ARGS=--help"], "ARGS= works only with the target bench or soak"),
                (["CONF=a", "CONF=b"], "CONF= is given twice"),
                (["SAVE=x"], "SAVE= works only with the target menuconfig"),
                (["VERBOSE=yes"], "VERBOSE=yes: write 0 or 1"),
                (["menuconfig", "test"], "menuconfig must be the only target"),
                (["menuconfig"], "menuconfig needs a terminal"),
                (["why=CASHE"], "why: no option named CASHE"),
                (["nativ_defconfig"], "no board named 'nativ'; did you mean native?"),
                (["diffconfig", "A=native"], "diffconfig compares two variants"),
                (["why="], "why= takes one option and no target"),
                (["why=IN_FLIGHT", "test"], "why= takes one option and no target"),
                (["CONFIG_DYNSEL_MAX_RESOURCES=3"], "CONFIG_DYNSEL_MAX_RESOURCES is an option, not a"
                 " variable; put it into a fragment, or try it with VARIANTS=native~MAX_RESOURCES=3"),
                (["in_flight=n"], "in_flight is an option"),
                (["install", "VARIANTS=native,native+debug"], "install takes one variant"),
                (["install", "PREFIX=here"], "PREFIX=here: write an absolute path")):
            with self.subTest(arguments):
                self.assertIn(message, self.bad(*arguments))
        self.assertFalse((self.top / "build" / "native" / "libdynsel.a").exists())

    def test_unreadable_fragment_is_refused_when_used(self):
        folder = self.top / "configs/folder.conf"
        folder.mkdir()
        self.addCleanup(folder.rmdir)
        said = self.bad("CONF=folder")
        self.assertIn("dynsel: configs/folder.conf: cannot be read: Is a directory\n", said)
        self.assertNotIn("Error", said)
        self.good("all", "-n")  # stops nobody who does not use it

    def test_unwritable_files_end_with_one_line(self):
        link = self.top / "configs/away.conf"
        link.symlink_to("/nowhere/away.conf")
        self.addCleanup(link.unlink)
        said = self.bad("savedefconfig", "CONF=minimal", "SAVE=away")
        self.assertRegex(said, r"\Adynsel: /nowhere/away.conf: No such file [^\n]+\n\Z"
                         r"|\Adynsel: \S*configs/away.conf: [^\n]*No such file[^\n]+\n\Z")
        build = self.top / "build"
        build.mkdir(exist_ok=True)
        build.rename(self.top / "aside")
        self.addCleanup(lambda: (build.unlink(), (self.top / "aside").rename(build)))
        build.write_text("in the way", encoding="utf-8")
        self.assertRegex(self.bad(), r"\Adynsel: build: File exists; [^\n]+\n\Z")

    def test_wrong_configuration_builds_nothing_and_lists_all_mistakes(self):
        self.edit("configs/bad.conf", "", "CONFIG_DYNSEL_MAX_RESOURCES=0\nCONFIG_DYNSEL_X = y\n")
        said = self.bad("CONF=bad")
        self.assertIn("dynsel: configs/bad.conf:1: CONFIG_DYNSEL_MAX_RESOURCES=0 is out of range;", said)
        self.assertIn("dynsel: configs/bad.conf:2: blank around '='", said)
        self.assertFalse((self.top / "build/native+bad").exists())

    def test_help_lists_variables_boards_and_fragments(self):
        said = self.good("-h")
        for text in ("scons VARIANTS=native,native+clang", "boards to build for", "Boards: native",
                     "clang coverage debug full interrupts minimal mpi mpich one_file pic sanitize", "PATH HOME TERM", "menuconfig", "why=SYMBOL"):
            self.assertIn(text, said)
        self.assertLess(len(said.splitlines()), 50)

    def test_why_and_diffconfig_print_values(self):
        said = self.good("why=max_resources", "CONF=minimal")
        self.assertIn("DYNSEL_MAX_RESOURCES = 16   in native+minimal", said)
        said = self.good("diffconfig", "A=native", "B=native+minimal")
        self.assertRegex(said, r"DYNSEL_IN_FLIGHT +y +-> n\n")
        said = self.good("native_defconfig")
        self.assertIn("build it with: scons", said)
        self.assertTrue((self.top / "build/native/.config").exists())


    def test_dry_run_writes_nothing(self):
        self.edit("boards/native/defconfig", "# Board", "CONFIG_DYNSEL_MAX_RESOURCES=64\n# Board")
        self.edit("src/one.c", "int one(void)\n{", "int   one(void)\n{")
        files = [self.top / name for name in ("boards/native/defconfig", "src/one.c")]
        before = [path.read_bytes() for path in files]
        for option in ("-n", "-q", "-c"):
            said = self.good(option, "savedefconfig")
            self.assertIn("would save boards/native/defconfig (", said)
            self.assertIn("would save configs/new.conf (", self.good(option, "savedefconfig", "SAVE=new"))
            self.assertIn("src/one.c:", self.good(option, "format"))
            self.assertEqual([path.read_bytes() for path in files], before)
            self.assertFalse((self.top / "configs/new.conf").exists())


class Building(Case):
    def test_variants_stand_side_by_side(self):
        self.good("VARIANTS=native,native+minimal+debug")
        for variant in ("native", "native+minimal+debug"):
            for name in ("libdynsel.a", "bin/hello", "gen/dynsel/autoconf.h", ".config", "compile_commands.json"):
                self.assertTrue((self.top / "build" / variant / name).exists(), name)
            commands = json.loads((self.top / "build" / variant / "compile_commands.json").read_text())
            self.assertTrue(commands)
            self.assertTrue(all(c["output"].startswith(f"build/{variant}/") for c in commands))
            self.assertTrue(all(os.path.exists(self.top / c["file"]) for c in commands))
        self.assertFalse((self.top / "build/native+minimal+debug/obj/rr.o").exists())

    def test_build_leaves_source_tree_unchanged(self):
        top = support.build_tree()
        self.addCleanup(shutil.rmtree, top)
        before = {p for p in top.rglob("*")}
        status, said = scons(top, "test", "CONF=debug")
        self.assertEqual(status, 0, said)
        self.assertEqual({p for p in top.iterdir() if p not in before}, {top / "build"})
        self.assertEqual({p for p in top.rglob("*") if p not in before and top / "build" not in p.parents},
                         {top / "build"})

    def test_comment_in_fragment_rebuilds_nothing(self):
        self.good()
        before = snapshot(self.top)
        self.edit("boards/native/defconfig", "# Board", "# The board")
        self.assert_nothing_done(self.good())
        self.assertEqual(snapshot(self.top), before)

    def test_changed_value_recompiles_only_its_includers(self):
        self.good()
        self.edit("boards/native/defconfig", "CONFIG_", "CONFIG_DYNSEL_MAX_RESOURCES=5\nCONFIG_")
        said = self.good()
        self.assertIn("  CC    build/native/obj/one.o\n", said)
        self.assertNotIn("obj/two.o", said)

    def test_modified_generated_header_is_restored(self):
        self.good()
        path = self.top / "build/native/gen/dynsel/autoconf.h"
        right = path.read_text()
        path.write_text(right.replace("MAX_RESOURCES 16", "MAX_RESOURCES 99"))
        self.good()
        self.assertEqual(path.read_text(), right)

    def test_deleted_generated_header_is_restored(self):
        self.good()
        path = self.top / "build/native/gen/dynsel/autoconf.h"
        path.unlink()
        self.good()
        self.assertTrue(path.exists())

    def test_misspelt_option_in_source_fails_build(self):
        self.edit("src/one.c", "int one(void);", "#if CONFIG_DYNSEL_MAX_RESORCES\n#endif\nint one(void);")
        self.assertIn('"CONFIG_DYNSEL_MAX_RESORCES" is not defined', self.bad())

    def test_overridden_values_are_noted(self):
        self.edit("configs/two.conf", "", "CONFIG_DYNSEL_MAX_RESOURCES=2\n")
        self.edit("configs/three.conf", "", "CONFIG_DYNSEL_MAX_RESOURCES=3\n")
        self.assertIn("note: configs/two.conf:1: CONFIG_DYNSEL_MAX_RESOURCES=2 is overridden by"
                      " configs/three.conf:1 (CONFIG_DYNSEL_MAX_RESOURCES=3)\n",
                      self.good("-n", "CONF=two,three"))

    def test_second_board_builds_beside_native(self):
        self.addCleanup(shutil.rmtree, self.top / "boards/other")  # after its files, as cleanups run backwards
        for name in ("Kconfig.board", "board.py"):
            text = (self.top / "boards/native" / name).read_text(encoding="utf-8")
            self.edit(f"boards/other/{name}", "", text.replace("native", "other").replace("NATIVE", "OTHER"))
        self.edit("boards/other/defconfig", "",
                  "CONFIG_DYNSEL_MAX_RESOURCES=4\nCONFIG_DYNSEL_TARGET_UNKNOWN=y\n")
        self.good("BOARD=native,other", "CONF=debug")
        for name, number in (("native", b"64\n"), ("other", b"4\n")):
            said = subprocess.run([self.top / f"build/{name}+debug/bin/hello"], check=True, capture_output=True)
            self.assertEqual(said.stdout, number)
        self.assertIn("build it with: scons BOARD=other", self.good("other_defconfig"))
        self.assertIn("DYNSEL_MAX_RESOURCES  64 -> 4\n", self.good("diffconfig", "A=native", "B=other"))

    def test_clean_removes_outputs(self):
        self.good("CONF=clang,debug")
        self.good("-c", "CONF=clang,debug")
        self.assertFalse((self.top / "build/native+clang+debug").exists())

    def test_install_writes_usable_pkg_config_file(self):
        root = self.top / "build/root"
        self.good("install", f"DESTDIR={root}", "PREFIX=/opt/d", "CONF=minimal")
        for name in ("lib/libdynsel.a", "lib/pkgconfig/dynsel.pc", "include/dynsel/one.h",
                     "include/dynsel/autoconf.h"):
            self.assertTrue((root / "opt/d" / name).exists(), name)
        flags = subprocess.run(["pkg-config", "--define-variable=prefix=" + str(root / "opt/d"),
                                "--cflags", "--libs", "dynsel"], text=True, capture_output=True, check=True,
                               env={**os.environ, "PKG_CONFIG_PATH": str(root / "opt/d/lib/pkgconfig")})
        subprocess.run(["gcc", str(self.top / "examples/hello.c"), "-o", str(root / "hello"),
                        *flags.stdout.split()], check=True)
        self.assertEqual(subprocess.run([root / "hello"], check=True, capture_output=True).stdout, b"16\n")

    def test_install_into_folder_with_blank_works(self):
        root = self.top / "build/a root"
        self.good("install", f"PREFIX={root}", "CONF=minimal")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "dynsel"], text=True, check=True,
                               capture_output=True, env={
                                   **os.environ, "PKG_CONFIG_PATH": str(root / "lib/pkgconfig")})
        subprocess.run(["gcc", str(self.top / "examples/hello.c"), "-o", str(root / "hello"),
                        *shlex.split(flags.stdout)], check=True)

    def test_one_prefix_holds_one_variant(self):
        root = self.top / "build/prefix"
        note = f"note: {root} had dynsel's variant native; it has native+minimal now: one PREFIX holds one variant\n"
        self.assertNotIn(note[-20:], self.good("install", f"PREFIX={root}"))
        self.assertIn(note, self.good("install", f"PREFIX={root}", "CONF=minimal"))
        self.assertNotIn(note[-20:], self.good("install", f"PREFIX={root}", "CONF=minimal"))
        header = "include/dynsel/autoconf.h"
        wanted = (self.top / "build/native+minimal/gen/dynsel/autoconf.h").read_bytes()
        self.assertEqual((root / header).read_bytes(), wanted)
        write(root / header, "of another tree\n")
        self.good("install", f"PREFIX={root}", "CONF=minimal")
        self.assertEqual((root / header).read_bytes(), wanted)
        self.good("-c", "install", f"PREFIX={root}", "CONF=minimal")
        self.assertEqual([p for p in root.rglob("*") if p.is_file()], [])

    def test_missing_library_fails_only_its_users(self):
        self.edit("examples/SConscript", '["hello.c"]', '["hello.c"], libs=["libpng"]')
        none = {"PKG_CONFIG_LIBDIR": "/nowhere"}
        status, said = scons(self.top, "build/native/libdynsel.a", env=none)
        self.assertEqual(status, 0, said)
        status, said = scons(self.top, env=none)
        self.assertEqual(status, 2, said)
        self.assertIn("libpng-dev is missing; on Debian and Ubuntu: apt-get install libpng-dev\n", said)

    def test_verbose_prints_command_lines(self):
        self.good("-c", "CONF=debug")
        self.assertRegex(self.good("VERBOSE=1", "CONF=debug", "build/native+debug/obj/two.o"),
                         r"gcc -o build/native\+debug/obj/two.o -c -std=c11 .*-Wconversion")


class Testing(Case):
    def test_test_with_alternative_conditions_runs_if_one_holds(self):
        self.good("-c")  # nothing of what other tests ran
        for condition, runs in (("DYNSEL_POLICY_ROUND_ROBIN|DYNSEL_PIC", True),
                                ("DYNSEL_PIC|!DYNSEL_IN_FLIGHT", False),
                                ("DYNSEL_PIC|DYNSEL_MAX_RESOURCES>=2", True)):
            with self.subTest(condition):
                text = SOURCES["tests/SConscript"].replace("DYNSEL_POLICY_ROUND_ROBIN", condition)
                write(self.top / "tests/SConscript", text)
                self.assertEqual("tests/test_rr" in self.good("-n", "test"), runs)
        write(self.top / "tests/SConscript", SOURCES["tests/SConscript"])

    def test_missing_tools_are_named(self):
        self.edit("tests/SConscript", '"test_other.c", libs=[]', '"test_other.c", libs=[], tools=["no-such-tool"]')
        self.assertEqual(self.good("test").splitlines()[-1], "3 passed, 0 failed")  # who only tests needs none
        said = self.bad("check", "build/native/tests/test_other.ok")
        self.assertIn("no-such-tool is missing; on Debian and Ubuntu: apt-get install no-such-tool\n", said)
        self.assertIn("failed: build/native/tests/test_other\n", said)

    def test_once_and_build_tests_run_in_check_only(self):
        shutil.rmtree(self.top / "build", ignore_errors=True)
        said = {target: self.good("-n", target) for target in ("test", "check")}
        for name, there in (("native/tests/test_plain", True), ("tests/test_script", False),
                            ("native/tests/test_of_build", False)):
            self.assertEqual(f"  TEST  build/{name}\n" in said["test"], there, said["test"])
            self.assertIn(f"  TEST  build/{name}\n", said["check"])

    def test_interrupted_run_reports_unstarted_tests_as_not_failed(self):
        """It is interrupted while the first of two tests runs; the second then has no chance."""
        self.edit("tests/test_other.c", SOURCES["tests/test_other.c"], SLEEPER)
        self.edit("tests/SConscript", 'test("test_other.c"', 'test("test_fails.py")\ntest("test_other.c"')
        self.edit("tests/test_fails.py", "", "raise SystemExit(1)\n")
        for number in (signal.SIGINT, signal.SIGTERM):
            shutil.rmtree(self.top / "build", ignore_errors=True)
            with self.subTest(number), subprocess.Popen(
                    ["scons", "-Q", "-j1", "test"], cwd=self.top, text=True, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
                said = []
                for line in process.stdout:
                    said.append(line)
                    if line == "  TEST  build/native/tests/test_other\n":
                        self.wait_for(self.top / "build/native/asleep", process)
                        process.send_signal(number)
                self.assertEqual(process.wait(), 2, said)
                self.assertNotIn("  TEST  build/native/tests/test_plain\n", said)
                self.assertEqual([line for line in said if line.startswith("failed: ")],
                                 ["failed: build/native/tests/test_fails\n"])
                self.assertEqual(said[-2:], ["interrupted: 2 of 5 test programs ran\n",
                                             "1 passed, 1 failed, 3 not run\n"])

    def wait_for(self, path, process):
        while not path.exists() and process.poll() is None:
            time.sleep(0.01)

    def test_second_run_repeats_no_passed_test(self):
        shutil.rmtree(self.top / "build", ignore_errors=True)
        said = self.good("test")
        self.assertEqual(said.splitlines()[-1], "4 passed, 0 failed")
        self.assertIn("  TEST  build/native/tests/test_good@a\n", said)
        said = self.good("test")
        self.assert_nothing_done(said)
        self.assertEqual(said.splitlines()[-2:], ["nothing has changed since these tests passed",
                                                  "4 passed, 0 failed"])
        self.assertEqual(self.good("test", "CONF=minimal").splitlines()[-1], "3 passed, 0 failed")

    def test_copy_of_tree_repeats_nothing(self):
        self.good("test")
        with tempfile.TemporaryDirectory() as elsewhere:
            shutil.copytree(self.top, f"{elsewhere}/copy")
            status, said = scons(f"{elsewhere}/copy", "test")
        self.assertEqual(status, 0, said)
        self.assert_nothing_done(said)

    def test_one_failure_hides_no_other_failure(self):
        self.edit("tests/test_other.c", "return 0", 'return puts("oh, no") > 0')
        self.edit("tests/test_other.c", "int main", "#include <stdio.h>\nint main")
        self.edit("tests/test_rr.c", "return 0", "return nonsense")
        said = self.bad("test", "-j1")
        self.assertIn("FAILED  build/native/tests/test_other: exit status 1;", said)
        self.assertIn("    oh, no\n", said)
        end = ["failed: build/native/obj/tests/test_rr.o",
               "FAILED  build/native/tests/test_other: exit status 1; the end of build/native/tests/test_other.log:",
               "    oh, no", "2 passed, 2 failed"]
        self.assertEqual(said.splitlines()[-len(end):], end)
        self.assertEqual(self.bad("test").splitlines()[-1], "2 passed, 2 failed")

    def test_one_failing_run_fails_its_program_once(self):
        self.edit("tests/test_good.c", "int main", "#include <stdlib.h>\nint main")
        self.edit("tests/test_good.c", "one() == 0", 'getenv("ANSWER")[0] == \'2\'')
        said = self.bad("test")
        self.assertIn("FAILED  build/native/tests/test_good@b", said)
        self.assertTrue((self.top / "build/native/tests/test_good@a.ok").exists())
        self.assertEqual(said.splitlines()[-1], "3 passed, 1 failed")

    def test_archive_with_heap_call_is_refused(self):
        self.edit("src/two.c", "return 2", "void *volatile p = malloc(9); free(p); return 2")
        self.edit("src/two.c", "int two(void);", "#include <stdlib.h>\nint two(void);")
        self.edit("src/SConscript", '"two.c"', '"two.c", "three.c"')
        self.edit("src/three.c", "", "char *strdup(const char *);\nchar *strdup(const char *s)\n{\n"
                                     "    return (char *)s;\n}\n")
        said = self.bad("test", "CONF=debug")
        for name in ("malloc", "free", "strdup"):
            self.assertRegex(said, rf"(two|three)\.o.* {name}: the library uses no heap")

    def test_incomplete_public_header_is_refused(self):
        self.edit("include/dynsel/one.h", "int one(void);", "int one(void);\nsize_t many(void);")
        self.assertIn("<dynsel/one.h> does not compile alone; include what it uses", self.bad("test"))

    @unittest.skipUnless(shutil.which("g++"), "there is no C++ compiler")
    def test_public_headers_compile_as_cpp(self):
        self.edit("include/dynsel/one.h", "int one(void);", "int one(void);\nextern int new;")
        self.assertIn("<dynsel/one.h> does not compile alone; include what it uses", self.bad("test"))

    def test_exceeded_size_limit_fails(self):
        said = self.good("size")
        self.assertRegex(said, r"object +text +rodata +data +bss +frame +in\none.o +\d+")
        self.edit("boards/native/board.py", "limits=limits(config)", 'limits={"bss": 64}')
        self.good("size")
        self.edit("src/two.c", "int two(void)\n", "static char big[100];\nint two(void)\n")
        self.edit("src/two.c", "return 2", "return ++big[1]")
        said = self.bad("size")
        self.assertIn("native: bss is 100 bytes, 36 past the limit of 64: grew two.o by 100"
                      " (limits are in boards/native/board.py)\n", said)
        self.assertIn("100", (self.top / "build/native/size.txt").read_text())


class Checking(Case):
    """`scons check`, with tools that are there and tools that are not."""

    VARIANTS = ("native", "native+clang", "native+sanitize", "native+minimal", "native+full", "native+tiny",
                "native+tiny_in_flight")

    def test_gates_run_once_until_inputs_change(self):
        shutil.rmtree(self.top / "build", ignore_errors=True)
        self.edit("src/SConscript", 'when=["DYNSEL_POLICY_ROUND_ROBIN"])\n',
                  'when=["DYNSEL_POLICY_ROUND_ROBIN"])\n' + self.uses_all_options())
        said = self.good("check")
        self.assertEqual(said.splitlines()[-1], "45 passed, 0 failed")
        for variant in self.VARIANTS:
            self.assertIn(f"  HEAP  build/{variant}/libdynsel.a\n", said)
            self.assertIn(f"  TEST  build/{variant}/tests/test_other\n", said)
        for line in ("  TIDY  src/one.c", "  TIDY  tests/test_good.c", "  CHECK src/one.c",
                     "  LINT  Kconfig and the sources"):
            self.assertIn(line + "\n", said)
        self.assert_nothing_done(self.good("check"))
        self.edit("src/one.c", "return", "int  unused = 1;\n    return")
        said = self.bad("check")
        self.assertIn("`scons format` corrects it", said)
        self.assertIn("failed: build/gates/format.ok\n", said)

    def test_variants_leave_tests_to_others(self):
        """Long ones, which those on top compile nevertheless; where a board names folders all others, and the programs
        that the rest does not start."""
        shutil.rmtree(self.top / "build", ignore_errors=True)
        for name in ("groups/test_in", "data/test_out", "test_long"):
            self.edit(f"tests/{name}.c", "", SOURCES["tests/test_other.c"])
        self.edit("tests/SConscript", 'test("test_other.c"', 'test("groups/test_in.c", libs=[])\n'
                  'test("groups/test_starts.py", programs=["started"])\ntest("data/test_out.c", libs=[])\ntest("test_long.c", long=True, libs=[])\ntest("test_other.c"')
        self.edit("tests/groups/test_starts.py", "", "")
        self.edit("examples/SConscript", 'program("hello"', 'program("started", ["hello.c"])\nprogram("hello"')
        said = self.good("-n", "check")
        for name, built, runs in (("native/tests/test_long", True, True), ("native+sanitize/tests/test_long", True, True),
                                  ("native+clang/tests/test_long", True, False), ("native+full/tests/test_long", False, False),
                                  ("native+full/tests/data/test_out", True, True),
                                  ("native+one_file/tests/groups/test_in", True, True),
                                  ("native+one_file/tests/data/test_out", False, False),
                                  ("native+full/bin/hello", True, False), ("native+one_file/bin/hello", False, False),
                                  ("native+one_file/bin/started", True, False)):
            with self.subTest(name):
                self.assertEqual(f"  LINK  build/{name}\n" in said, built)
                self.assertEqual(f"  TEST  build/{name}\n" in said, runs)
        self.assertIn("  TEST  build/native+one_file/tests/data/test_out\n", self.good("-n", "check", "CONF=one_file"))

    def uses_all_options(self):
        """The small tree asks for few of the options of the real menu; kconfig-lint wants all used."""
        from dynsel_build import config as configs
        from dynsel_build.trees import own

        kconf = configs.parse_kconfig(own(self.top), "native")
        return "".join(f"# {s.name}\n" for s in kconf.unique_defined_syms)

    def test_missing_tool_error_names_package(self):
        folder = self.top / "build/few-tools"
        folder.mkdir(parents=True)
        for program in ("gcc", "ar", "nm", "size", "ld", "as", "timeout", "prlimit", "clang", "sh", "python3", "env",
                        "pkg-config"):
            os.symlink(shutil.which(program), folder / program)
        status, said = scons(self.top, "check", env={"PATH": str(folder)}, program=shutil.which("scons"))
        self.assertEqual(status, 2, said)
        for package in ("clang-format-14", "clang-tidy-14", "cppcheck"):
            self.assertEqual(said.count(f"{package} is missing; on Debian and Ubuntu: apt-get install"
                                        f" {package}\n"), 1, said)
        (folder / "gcc").unlink()
        status, said = scons(self.top, env={"PATH": str(folder)}, program=shutil.which("scons"))
        self.assertEqual(status, 2, said)
        self.assertIn("gcc is missing; on Debian and Ubuntu: apt-get install gcc", said)


if __name__ == "__main__":
    unittest.main()
