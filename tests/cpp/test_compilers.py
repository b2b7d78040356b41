# SPDX-License-Identifier: Apache-2.0
"""dynsel.hpp with both compilers: what compiles, what does not and what is said then, and what it needs."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP, BUILD = Path(os.environ["DYNSEL_TOP"]), Path(os.environ["DYNSEL_BUILD"])
COMPILERS = ("g++", "clang++")
INCLUDES = [f"-I{TOP}/include", f"-I{BUILD}/gen", f"-I{TOP}/tests", "-DDYNSEL_TESTS_SMALL_RUNNER=0"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wundef", "-Werror"]
PLAIN = ["-fno-exceptions", "-fno-rtti"]
SOURCES = [*sorted((TOP / "tests/cpp").glob("*.cpp")), *sorted((TOP / "examples/cpp").glob("*.cpp"))]
CONFIGURED = (BUILD / ".config").read_text(encoding="utf-8")
HAS_GROUPS = "CONFIG_DYNSEL_COMMAND_GROUPS=y" in CONFIGURED
LIBRARIES = ["-pthread", *(["-lOpenCL"] if "CONFIG_DYNSEL_BACKEND_OPENCL=y" in CONFIGURED else [])]
ALLOCATES = re.compile(r"^(_Zn[wa]\w*|_Zd[la]\w*|malloc|calloc|realloc|free|aligned_alloc|posix_memalign|"
                       r"__cxa_throw|__cxa_allocate_exception|_ZTI\w*|__dynamic_cast)(@|$)")
START = """#include <dynsel/dynsel.hpp>
using namespace dynsel;
static round_robin_policy p{{{&dynsel_inline_backend, nullptr}}};
"""


def in_function(text):
    return START + "void f();\nvoid f() {\n" + text + "\n}\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-cpp-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def compile(self, compiler, text, *flags, standard="c++17", output=os.devnull, behind=()):
        """(exit status, what is said) about a source."""
        source = self.folder / "source.cpp"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([compiler, f"-std={standard}", *INCLUDES, *flags, "-o", output, source, *behind],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.replace("‘", "'").replace("’", "'")

    def program(self, compiler, text, *flags):
        """A program of this source, with the library of the variant."""
        target = self.folder / "program"
        status, said = self.compile(compiler, text, *STRICT, *flags, output=target,
                                    behind=[BUILD / "libdynsel.a", *LIBRARIES])
        self.assertEqual(status, 0, said)
        return target


class Compiles(Case):
    def test_tests_and_examples_with_the_other_compiler(self):
        """And the largest in the newer standard, with exceptions."""
        self.assertGreater(len(SOURCES), 6)
        large = [source for source in SOURCES if source.stat().st_size > 8000]
        self.assertGreater(len(large), 2)
        for sources, compiler, standard, *flags in ((SOURCES, "clang++", "c++17", *PLAIN), (large, "g++", "c++20"),
                                                    (large, "clang++", "c++20")):
            for source in sources:
                with self.subTest(compiler, standard=standard, source=source.name):
                    command = [compiler, f"-std={standard}", *STRICT, *INCLUDES, *flags, "-fsyntax-only", source]
                    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                          check=False)
                    self.assertEqual(done.returncode, 0, done.stdout)

    def test_older_standards_say_what_to_do(self):
        for compiler in COMPILERS:
            for standard in ("c++11", "c++14"):
                status, said = self.compile(compiler, "#include <dynsel/dynsel.hpp>\n", "-fsyntax-only",
                                            standard=standard)
                self.assertNotEqual(status, 0)
                self.assertIn("compile with -std=c++17", said)


class Refused(Case):
    def refused(self, text, *expected, flags=()):
        for compiler in COMPILERS:
            with self.subTest(compiler, text=text):
                status, said = self.compile(compiler, in_function(text), "-fsyntax-only", *flags)
                self.assertNotEqual(status, 0)
                self.assertRegex(said, "|".join(expected))

    def accepted(self, text):
        for compiler in COMPILERS:
            status, said = self.compile(compiler, in_function(text), "-fsyntax-only", *STRICT)
            self.assertEqual(status, 0, said)

    def test_results_that_nobody_looks_at(self):
        for text in ("submit_and_wait(p, [](resource) {});", "submit(p, [](resource) {});",
                     "p.get_submission_group().wait();", "select(p, [](resource) {});", "wait(p.get_submission_group());"):
            self.refused(text, "nodiscard", "-Wunused-result", flags=["-Werror"])

    def test_a_status_is_no_bool(self):
        self.refused("if (submit_and_wait(p, [](resource) {})) {}", "deleted function")
        self.accepted("if (submit_and_wait(p, [](resource) {}).ok()) {}")

    def test_callables_that_nobody_can_call(self):
        self.refused("(void)submit_and_wait(p, [] {});", "a task is called with a dynsel::resource and its arguments")
        self.refused("(void)submit_and_wait(p, [](resource, int *) {}, 3);",
                     "a task is called with a dynsel::resource and its arguments")

    def test_what_a_task_cannot_return(self):
        self.refused("(void)submit_and_wait(p, [](resource) { return 5; });", "a task returns nothing, a dynsel::status")
        self.refused("struct two { long a, b; };"
                     "(void)submit_and_wait(p, [](resource) { return result<two>{two{}}; });",
                     "a task returns at most one word")
        self.accepted("(void)submit_and_wait(p, [](resource) { return result<int>{5}; });")

    def test_what_stays_where_it_is(self):
        self.refused("auto s = submit(p, [](resource) {}); auto t = std::move(s);", "deleted function|deleted copy constructor")
        self.refused("submission s; submission t = s;", "deleted function|deleted copy|implicitly.deleted")
        self.refused("round_robin_policy q = p;", "deleted function|deleted constructor")
        self.refused("(void)submit_detached(p, ref([](resource) {}));", "deleted function|call to deleted")

    def test_wait_of_what_is_not_waited_for_by_mistake(self):
        held = "write dynsel::wait\\(\\*w\\)"
        for text, expected in (
                ("auto s = submit(p, [](resource) {}); const auto &t = s; (void)wait(t);", "w is const, and its wait\\(\\) is not"),
                ("auto s = submit(p, [](resource) {}); (void)wait(&s);", held),
                ("dynsel_submission s; (void)wait(s);", "a structure of the interface in C"),
                ("(void)wait(dynsel_get_submission_group(nullptr));", "call dynsel_wait\\(\\) or dynsel_wait_group"),
                ("dynsel_submission *s = nullptr; (void)wait(s);", "wait for its submission"),
                ("auto s = submit(p, [](resource) { return dynsel_event{}; }); (void)wait(unwrap(s));", "wait for its submission")):
            self.refused(text, expected)

    def test_reports_have_their_values(self):
        self.refused("auto s = select(p, [](resource) {}); (void)report(*s, execution_info::task_time);",
                     "this information has a value")

    @unittest.skipUnless(HAS_GROUPS, "no command groups in this build")
    def test_accessors_and_buffers(self):
        self.refused("int x[1]; buffer<int> b{x};"
                     "(void)submit(p, [&](handler &h) { dynsel_set_arg(h.native(), 0, b.native()); });",
                     "deleted function")
        self.refused("accessor<int, 1, access::mode::read> a;", "only a placeholder has no buffer and no handler")
        self.refused("struct s { s(const s &); int x; }; s *x = nullptr; buffer<s> b{x, range{1}};",
                     "the elements of a buffer are copied as bytes")

    def test_reports_of_ones_own_policy(self):
        self.refused("struct mine : policy_base<mine, int> {}; mine m;",
                     "behind the policy's name stands the execution info that it wants")


class Needs(Case):
    USES = START + """
int main()
{
    int count = 0;
    auto stored = submit(p, [&count](resource, int by) { count += by; }, 2);
    auto kept = [&count](resource) { count++; };
    submission light = submit(p, ref(kept));
    auto chosen = select(p, kept);
    auto third = submit(*chosen, ref(kept));
    if (!wait(stored).ok() || !wait(light).ok() || !wait(third).ok() || !submit_and_wait(p, kept).ok()) {
        return 1;
    }
    return wait(p.get_submission_group()).ok() && count == 5 ? 0 : 1;
}
"""

    def test_no_allocation_no_exceptions_no_types_at_run_time(self):
        """Also where nothing is optimized, and where exceptions are on."""
        for compiler in COMPILERS:
            for flags in (["-O0"], ["-O2"], ["-O0", *PLAIN]):
                with self.subTest(compiler, flags=flags):
                    target = self.folder / "object.o"
                    status, said = self.compile(compiler, self.USES, *STRICT, *flags, "-c", output=target)
                    self.assertEqual(status, 0, said)
                    names = subprocess.run(["nm", "-u", target], check=True, capture_output=True,
                                           text=True).stdout.split()
                    self.assertTrue(any(name.startswith("dynsel_submit") for name in names), names)
                    self.assertEqual([name for name in names if ALLOCATES.match(name)], [])

    def test_it_links_without_the_library_of_cpp(self):
        """With the compiler of C, as embedded programs do."""
        for compiler, cc in zip(COMPILERS, ("gcc", "clang")):
            target = self.folder / "object.o"
            status, said = self.compile(compiler, self.USES, *STRICT, *PLAIN, "-O2", "-c", output=target)
            self.assertEqual(status, 0, said)
            program = self.folder / "program"
            subprocess.run([cc, target, BUILD / "libdynsel.a", *LIBRARIES, "-o", program], check=True)
            subprocess.run([program], check=True)

    def test_exceptions_on_request(self):
        text = "#define DYNSEL_EXCEPTIONS\n" + START + """
int main()
{
    try {
        submit_and_wait(p, [](resource) { return DYNSEL_E_TASK; }).expect();
    } catch (const error &failure) {
        return failure.status == DYNSEL_E_TASK ? 0 : 1;
    }
    return 1;
}
"""
        for compiler in COMPILERS:
            subprocess.run([self.program(compiler, text)], check=True)


if __name__ == "__main__":
    unittest.main()
