# SPDX-License-Identifier: Apache-2.0
"""What must not compile, and what the compilers say; and what must compile anywhere."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(os.environ["DYNSEL_TOP"])
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "site_scons"))
from dynsel_build import opencl_texts  # noqa: E402

TOOLCHAIN = TOP / "site_scons/dynsel_build/toolchain.py"
WARNINGS = re.findall(r'"(-W\w[^"]*)"', re.search(r"^WARNINGS = \((.*?)\)", TOOLCHAIN.read_text(encoding="utf-8"),
                                                  re.DOTALL | re.MULTILINE).group(1))
INCLUDES = [f"-I{TOP}/include"]
HEADER = "#include <dynsel/passed_directly.h>\n"
MARKED = HEADER + "typedef struct a { int x; } a;\nDYNSEL_PASSED_DIRECTLY(a, 1);\n"
DEEP = "typedef struct t0 { int x; } t0;\nDYNSEL_PASSED_DIRECTLY(t0, 1);\n" + "".join(
    f"typedef struct t{i} {{ t{i - 1} x, y; }} t{i};\n"
    f"DYNSEL_PASSED_DIRECTLY(t{i}, dynsel_is_passed_directly_to_device(t{i - 1}) &&"
    f" dynsel_is_passed_directly_to_device(t{i - 1}));\n" for i in range(1, 21))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-refused-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def compile(self, text, *command, suffix=".c"):
        """(exit status, all that it says) about a source."""
        source = self.folder / f"source{suffix}"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([*command, *INCLUDES, "-c", "-o", os.devnull, str(source)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def in_c(self, text):
        for compiler in ("gcc", "clang"):
            yield compiler, *self.compile(text, compiler, "-std=c11", *WARNINGS)

    def refused(self, text, **expected):
        """expected: of each compiler a part of its message."""
        for compiler, status, said in self.in_c(text):
            with self.subTest(compiler, text=text):
                self.assertNotEqual(status, 0)
                self.assertIn(expected[compiler], said.replace("‘", "'").replace("’", "'"))

    def accepted(self, text):
        for compiler, status, said in self.in_c(text):
            with self.subTest(compiler, text=text):
                self.assertEqual(status, 0, said)


class Refused(Case):
    def test_a_second_mark(self):
        for second in ("a, 0", "a, 1", "a, sizeof(int) == 0", "struct a, 0"):
            self.refused(MARKED + f"DYNSEL_PASSED_DIRECTLY({second});\n",
                         gcc="redeclaration of 'enum dynsel_passed_directly_a'",
                         clang="redefinition of 'dynsel_passed_directly_a'")

    def test_a_second_mark_inside_of_the_type(self):
        self.refused(HEADER + "DYNSEL_PASSED_DIRECTLY(a, 1);\nstruct a { int x; DYNSEL_PASSED_DIRECTLY(a, 0); };\n",
                     gcc="redeclaration of 'enum dynsel_passed_directly_a'",
                     clang="redefinition of 'dynsel_passed_directly_a'")

    def test_a_mark_that_is_no_constant(self):
        self.refused(HEADER + "extern int chosen;\nDYNSEL_PASSED_DIRECTLY(a, chosen);\n",
                     gcc="is not an integer constant", clang="is not an integer constant")

    def test_a_pointer_needs_no_mark_and_gets_none(self):
        self.refused(HEADER + "DYNSEL_PASSED_DIRECTLY(float *, 0);\n", gcc="expected ')'", clang="expected ')'")

    def test_types_of_the_language_cannot_be_marked(self):
        for name in ("int", "const unsigned", "void", "_Bool", "size_t", "uint32_t", "intmax_t", "uint_fast8_t"):
            self.refused(HEADER + f"#include <stddef.h>\n#include <stdint.h>\nDYNSEL_PASSED_DIRECTLY({name}, 1);\n",
                         gcc="this type cannot be marked: give it a name with a typedef",
                         clang="this type cannot be marked: give it a name with a typedef")

    def test_the_limits_in_the_header(self):
        loop = (HEADER + "typedef struct b { int x; } b;\nvoid f(void);\nvoid f(void)\n{\n"
                "    for (int i = dynsel_is_passed_directly_to_device(b); i; i--) {\n    }\n}\n")
        self.assertIn("initial declaration", self.compile(loop, "gcc", "-std=c11")[1])
        self.accepted(loop.replace("void f(void);", "extern int n[1 + dynsel_is_passed_directly_to_device(b)];"
                                   "\nvoid f(void);"))
        self.refused(HEADER + "typedef struct b { int x; } b;\nint n = dynsel_is_passed_directly_to_device(b[4]);\n",
                     gcc="incomplete element type 'enum dynsel_passed_directly_b'",
                     clang="incomplete element type 'enum dynsel_passed_directly_b'")
        self.refused(MARKED + "a it;\nint n = dynsel_is_passed_directly_to_device(__typeof__(it));\n",
                     gcc="expected ')'", clang="type-id cannot have a name")
        self.refused(HEADER + "struct b;\nint n = dynsel_is_passed_directly_to_device(struct b);\n",
                     gcc="undefined type 'struct b'", clang="incomplete type")

    def test_the_preprocessor_does_not_know_types(self):
        self.refused(MARKED + "#if dynsel_is_passed_directly_to_device(a)\n#endif\n",
                     gcc="missing binary operator", clang="__builtin_classify_type")

    def test_a_wrong_assertion_fails(self):
        """So that the positive tests mean something."""
        for wrong in ("dynsel_is_passed_directly_to_device(int)", "!dynsel_is_passed_directly_to_device(a)"):
            self.refused(MARKED + f'_Static_assert({wrong}, "wrong");\n', gcc='static assertion failed: "wrong"',
                         clang='"wrong"')

    def test_marks_in_cpp(self):
        """A second one, one in a block, one of a type that is not declared, and a wrong assertion."""
        for text, expected in ((MARKED + "DYNSEL_PASSED_DIRECTLY(a, 1);\n", "redefinition"),
                               (MARKED + "DYNSEL_PASSED_DIRECTLY(a, 0);\n",
                                "ambiguating new declaration|differ only in their return type"),
                               (HEADER + "void f() { struct b {}; DYNSEL_PASSED_DIRECTLY(b, 1); }\n",
                                "function-definition is not allowed|function definition is not allowed"),
                               (HEADER + "DYNSEL_PASSED_DIRECTLY(b, 1);\n", "does not name a type|unknown type name"),
                               (MARKED + 'static_assert(!dynsel_is_passed_directly_to_device(a), "wrong");\n', "wrong")):
            for compiler in ("g++", "clang++"):
                with self.subTest(compiler, text=text):
                    status, said = self.compile(text, compiler, "-std=c++11", suffix=".cc")
                    self.assertNotEqual(status, 0)
                    self.assertRegex(said, expected)


class Iterators(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "dynsel").mkdir()
        # what the build makes is not looked at here
        for name in ("autoconf.h", "opencl_iterators.h", "aspect_names.h", "aspect_sets.h"):
            (self.folder / "dynsel" / name).write_text("", encoding="utf-8")

    def compile(self, text, *command, suffix=".c"):
        return super().compile("#include <dynsel/iterators.h>\n" + text, *command, f"-I{self.folder}", suffix=suffix)

    def test_a_second_mark(self):
        self.refused("DYNSEL_HOST_ITERATOR(a, float);\nDYNSEL_PASSED_DIRECTLY(a, 1);\n",
                     gcc="redeclaration of 'enum dynsel_passed_directly_a'",
                     clang="redefinition of 'dynsel_passed_directly_a'")

    def test_what_cannot_be_written(self):
        for declared in ("DYNSEL_COUNTING_ITERATOR(a, int);",
                         "DYNSEL_COUNTING_ITERATOR(b, int); DYNSEL_REVERSE_ITERATOR(a, b);"):
            self.refused(declared + "\nvoid f(a it);\nvoid f(a it) { a_write(it, 0, 1); }\n",
                         gcc="an iterator of this type cannot be written",
                         clang="an iterator of this type cannot be written")

    def test_parts_that_are_no_iterators(self):
        self.refused("typedef struct b { int x; } b;\nDYNSEL_REVERSE_ITERATOR(a, b);\n", gcc="b_value",
                     clang="b_value")
        self.refused("typedef struct b { int x; } b;\ntypedef struct a { b x; } a;\n"
                     "DYNSEL_LEAVES(a, DYNSEL_PART(b, x));\n", gcc="b_leaves", clang="b_leaves")

    def parts(self, members, parts):
        return f"DYNSEL_HOST_ITERATOR(h, float);\ntypedef struct a {{ {members}; }} a;\nDYNSEL_LEAVES(a, {parts});\n"

    def test_members_that_are_no_pointers(self):
        for member in ("float x[4]", "float x[2][3]", "float *x[2]", "int x", "const double x", "h x"):
            self.refused(self.parts(member, "DYNSEL_POINTER_PART(x)"),
                         gcc="this member is no pointer: take DYNSEL_VALUE_PART",
                         clang="this member is no pointer: take DYNSEL_VALUE_PART")

    def test_pointers_to_what_has_no_size(self):
        for member in ("void *x", "const void *x", "volatile void *const x", "const volatile void *x",
                       "void (*x)(void)", "int (*const x)(int)"):
            self.refused(self.parts(member, "DYNSEL_POINTER_PART(x)"),
                         gcc="declare this member as a pointer to the type of its elements",
                         clang="declare this member as a pointer to the type of its elements")

    def test_pointers_by_value(self):
        for member in ("float *x", "const void *x", "float **const x", "void (*x)(void)", "float *x[2]",
                       "const char *x[2][3]", "float (*x)[4]", "int *x[2][3][4]"):
            self.refused(self.parts(member, "DYNSEL_VALUE_PART(x)"),
                         gcc="a device cannot use a pointer that is passed by value: take DYNSEL_POINTER_PART",
                         clang="a device cannot use a pointer that is passed by value: take DYNSEL_POINTER_PART")

    def test_members_of_another_type(self):
        for part in ("DYNSEL_PART(n, x)", "DYNSEL_READ_ONLY_PART(n, x)", "DYNSEL_COUNTED_PART(n, x, k)"):
            self.refused("DYNSEL_COUNTING_ITERATOR(n, int);\n" + self.parts("h x; uint64_t k", part),
                         gcc="this member is of another type than its part says",
                         clang="this member is of another type than its part says")
        for count in ("uint32_t", "int64_t", "double", "uint64_t *"):
            self.refused(self.parts(f"h x; {count} k", "DYNSEL_COUNTED_PART(h, x, k)"),
                         gcc="the count of a part has to be a uint64_t", clang="the count of a part has to be a uint64_t")

    def test_parts_in_cpp(self):
        """The checks of C++ say the same, and accept the same."""
        wrong = [(member, "DYNSEL_POINTER_PART(x)", "this member is no pointer: take DYNSEL_VALUE_PART")
                 for member in ("float x", "float x[4]", "float *x[4]", "h x")]
        wrong += [(member, "DYNSEL_POINTER_PART(x)", "declare this member as a pointer to the type of its elements")
                  for member in ("const void *x", "void *__restrict x", "void (*x)(void)", "int (*const x)(int)")]
        wrong += [(member, "DYNSEL_VALUE_PART(x)", "a device cannot use a pointer that is passed by value")
                  for member in ("float *x", "void (*x)(void)", "float *__restrict x", "const char *x[2][3]")]
        wrong += [("float x", "DYNSEL_PART(h, x)", "this member is of another type than its part says"),
                  ("h x; uint32_t k", "DYNSEL_COUNTED_PART(h, x, k)", "the count of a part has to be a uint64_t")]
        right = [(member, "DYNSEL_POINTER_PART(x)") for member in
                 ("float *x", "const float *__restrict x", "float **const x", "const float (*x)[4]", "bool *x")]
        right += [(member, "DYNSEL_VALUE_PART(x)") for member in
                  ("float x", "const float x[4]", "int x[2][3][4]", "struct { float y; } x", "bool x")]
        right += [("const h x; unsigned long long k", "DYNSEL_PART(h, x) DYNSEL_COUNTED_PART(h, x, k)")]
        for compiler in ("g++", "clang++"):
            for member, part, *expected in wrong + right:
                with self.subTest(compiler, member=member, part=part):
                    text = f"DYNSEL_HOST_ITERATOR(h, float);\nstruct a {{ {member}; a(); }};\nDYNSEL_LEAVES(a, {part});\n"
                    status, said = self.compile(text, compiler, "-std=c++11", "-pedantic", "-Wall", "-Wextra",
                                                "-Werror", suffix=".cc")
                    self.assertEqual(status != 0, bool(expected), said)
                    self.assertIn(expected[0] if expected else "", said)

    def test_members_that_are_as_they_should_be(self):
        for member in ("float *x", "const float *restrict x", "float **const x", "const float (*x)[4]", "struct a *x",
                       "char *_Atomic x", "_Bool *x"):
            self.accepted(self.parts(member, "DYNSEL_POINTER_PART(x)"))
        for member in ("float x", "const float x[4]", "int x[2][3][4]", "struct { float y; } x", "_Complex double x",
                       "enum { NO, YES } x", "_Bool x"):
            self.accepted(self.parts(member, "DYNSEL_VALUE_PART(x)"))
        self.accepted(self.parts("const h x; struct h y; unsigned long long k", "DYNSEL_PART(h, x)"
                                 " DYNSEL_READ_ONLY_PART(h, y) DYNSEL_COUNTED_PART(h, y, k)"))

    def test_constants_in_every_standard(self):
        """C23 has another rule for arrays."""
        members = ("const float *a", "const float (*b)[4]", "const float (*c)[2][4]", "const row *d",
                   "const volatile row (*const e)[2]", "float *const (*f)[2]",
                   "float *p", "float (*q)[4]", "row *const r", "volatile row *s", "const float *(*t)[2]")
        names = "abcdefpqrst"
        text = ("typedef float row[4];\n"
                + self.parts("; ".join(members), " ".join(f"DYNSEL_POINTER_PART({name})" for name in names))
                + "static void note(dynsel_leaf_sink *sink, const dynsel_leaf *leaf)\n{\n"
                "    (void)sink;\n    putchar(leaf->read_only ? '1' : '0');\n}\n"
                "int main(void)\n{\n    const dynsel_leaf_place all = DYNSEL_WHOLE_ITERATOR(a);\n"
                "    dynsel_leaf_sink sink = {note};\n    a_leaves(&sink, &all);\n    return 0;\n}\n")
        source, program = self.folder / "source.c", self.folder / "program"
        source.write_text("#include <stdio.h>\n#include <dynsel/iterators.h>\n" + text, encoding="utf-8")
        for compiler in ("gcc", "clang"):
            for standard in ("c11", "c17", "c2x", "gnu11", "gnu17", "gnu2x"):
                with self.subTest(compiler, standard=standard):
                    subprocess.run([compiler, f"-std={standard}", "-Wpedantic", *WARNINGS, *INCLUDES,
                                    f"-I{self.folder}", "-o", program, source], check=True)
                    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
                    self.assertEqual(said, "11111100000")

    def test_a_users_type_in_others(self):
        """What it has to have is in the header; without `b_write` it can only be transformed."""
        own = ("DYNSEL_HOST_ITERATOR(h, int);\ntypedef struct b { h x; } b;\nDYNSEL_PASSED_DIRECTLY(b, 0);\n"
               "DYNSEL_LEAVES(b, DYNSEL_PART(h, x));\ntypedef int b_value;\n"
               "static inline int b_read(b it, size_t i) { return h_read(it.x, i); }\n")
        others = ("DYNSEL_REVERSE_ITERATOR(r, b); DYNSEL_PERMUTATION_ITERATOR(p, b, b);"
                  " DYNSEL_ZIP2_ITERATOR(z, b, r); DYNSEL_REVERSE_ITERATOR(rz, z);\n")
        self.refused(own + others, gcc="b_write", clang="b_write")
        self.accepted(own + "DYNSEL_NOT_WRITABLE(b);\n" + others)
        self.accepted(own + "static inline int half(int x) { return x / 2; }\n"
                      "DYNSEL_TRANSFORM_ITERATOR(t, b, half, int);\n")
        self.refused(own + "DYNSEL_NOT_WRITABLE(b);\n" + others +
                     "void f(rz it);\nvoid f(rz it) { z_value v = {1, 2}; rz_write(it, 0, v); }\n",
                     gcc="an iterator of this type cannot be written",
                     clang="an iterator of this type cannot be written")

    def test_buffers_as_arguments(self):
        configured = ("-DDYNSEL_ASPECT_COUNT=DYNSEL_ASPECT_END_", "-DCONFIG_DYNSEL_CONTEXT_THREADS=0",
                      "-DCONFIG_DYNSEL_POLICY_EARLIEST_FINISH=0",
                      "-DCONFIG_DYNSEL_MAX_RESOURCES=1")
        for value in ("b", "&b", "(const dynsel_buffer *)&b"):
            for compiler in ("gcc", "clang"):
                status, said = self.compile("#include <dynsel/arguments.h>\ndynsel_status f(dynsel_handler *h);\n"
                                            "dynsel_status f(dynsel_handler *h) { static dynsel_buffer b;"
                                            f" return dynsel_set_arg(h, 0, {value}); }}\n", compiler, "-std=c11",
                                            *configured)
                self.assertNotEqual(status, 0)
                self.assertIn("a buffer is no argument: give an accessor to it", said)

    def test_functions_of_the_host_in_opencl_c(self):
        """They break no kernel that does not read them."""
        text = ("DYNSEL_HOST_ITERATOR(a, float); DYNSEL_HOST_TRANSFORM_ITERATOR(t, a, sqrtl, float);\n"
                "DYNSEL_COUNTING_ITERATOR(c, int); DYNSEL_REVERSE_ITERATOR(r, t); DYNSEL_ZIP2_ITERATOR(z, r, a);\n"
                "DYNSEL_PERMUTATION_ITERATOR(p, z, c); kernel void f(global float *x) { a_write(a_make(x), 0, 1); }\n")
        status, said = self.compile(text, "clang", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header",
                                    "-Wall", "-Wextra", "-Werror", "--target=spir64", "-emit-llvm", suffix=".cl")
        self.assertEqual(status, 0, said)

    def test_pedantic_compilers(self):
        """They warn of literals as long as a kernel's source: of the user's, and not of the header's."""
        (self.folder / "dynsel/opencl_iterators.h").write_text(
            opencl_texts.iterators_header((TOP / opencl_texts.ITERATORS).read_text(encoding="utf-8")), encoding="utf-8")
        text = "DYNSEL_HOST_ITERATOR(a, float); DYNSEL_REVERSE_ITERATOR(b, a);\n"
        ours = ('extern const char *text;\nconst char *text = DYNSEL_OPENCL_ITERATORS DYNSEL_AS_TEXT(a b) "c";\n'
                "extern const char more[];\nconst char more[] = DYNSEL_OPENCL_ITERATORS;\n"
                'extern const char *const all[];\nconst char *const all[] = {DYNSEL_OPENCL_ITERATORS "c"};\n')
        theirs = f'extern const char *own;\nconst char *own = "{"x" * 5000}";\n'
        for compiler, *flags in (("gcc", "-std=c11"), ("clang", "-std=c11"), ("gcc", "-std=c2x"), ("clang", "-std=c2x"),
                                 ("g++", "-std=c++11"), ("clang++", "-std=c++11")):
            suffix = ".cc" if compiler.endswith("++") else ".c"
            with self.subTest(compiler, flags=flags):
                status, said = self.compile(text + ours, compiler, *flags, "-Wpedantic", "-Wall", "-Wextra", "-Werror",
                                            suffix=suffix)
                self.assertEqual(status, 0, said)
                if suffix == ".c":
                    said = self.compile(text + theirs, compiler, *flags, "-Wpedantic")[1]
                    self.assertIn("-Woverlength-strings", said)

    def test_warnings_stay_as_they_were(self):
        """What a header of ours switches off it switches on again."""
        for name in sorted((TOP / "include/dynsel").glob("*.h")):
            depth = 0
            for line in name.read_text(encoding="utf-8").splitlines():
                words = line.replace("_Pragma(", "#pragma ").split()
                if "diagnostic" in words and words[0] == "#pragma":
                    depth += {"push": 1, "pop": -1}.get(words[-1], 0)
                    self.assertTrue(depth > 0 or words[-1] == "pop", f"{name}: {line}")
            self.assertEqual(depth, 0, name)

    def test_with_marks_in_opencl_c(self):
        """Both headers, in whatever order."""
        text = ("DYNSEL_HOST_ITERATOR(a, float);\ntypedef struct b { a x; } b;\nDYNSEL_PASSED_DIRECTLY(b, 1);\n"
                "kernel void f(global float *x) { a_write(a_make(x), 0, 1); }\n")
        both = (HEADER, "#include <dynsel/iterators.h>\n")
        for headers in (both, both[::-1]):
            for standard in ("CL1.2", "CL2.0", "CL3.0"):
                status, said = Case.compile(self, "".join(headers) + text, "clang", "-x", "cl", f"-cl-std={standard}",
                                            "-Xclang", "-finclude-default-header", "-Wall", "-Wextra", "-Werror",
                                            "--target=spir64", "-emit-llvm", suffix=".cl")
                self.assertEqual(status, 0, said)

    def test_iterators_in_cpp(self):
        text = ("DYNSEL_HOST_ITERATOR(a, float); DYNSEL_COUNTING_ITERATOR(n, int); DYNSEL_DISCARD_ITERATOR(d, a_value);"
                "\nDYNSEL_PERMUTATION_ITERATOR(p, a, n); DYNSEL_REVERSE_ITERATOR(r, p); DYNSEL_ZIP2_ITERATOR(z, r, d);\n"
                "static inline float half(float x) { return x / 2; }\nDYNSEL_TRANSFORM_ITERATOR(t, r, half, float);\n"
                "float f(t it) { return t_read(it, 1); }\n"
                "struct own { a x; const float *y; };\nDYNSEL_PASSED_DIRECTLY(own, 1);\n"
                "DYNSEL_LEAVES(own, DYNSEL_PART(a, x) DYNSEL_POINTER_PART(y));\n")
        for compiler in ("g++", "clang++"):
            status, said = self.compile(text, compiler, "-std=c++11", "-pedantic", "-Wall", "-Wextra", "-Werror",
                                        suffix=".cc")
            self.assertEqual(status, 0, said)


class Accepted(Case):
    def test_other_ways_to_write_a_name(self):
        self.accepted(HEADER + "#define written_so meant_so\nstruct a { int x; };\n"
                      "typedef struct meant_so { int x; } written_so;\n"
                      "DYNSEL_PASSED_DIRECTLY(struct a, 1);\nDYNSEL_PASSED_DIRECTLY(written_so, 1);\n"
                      + "".join(f'_Static_assert(dynsel_is_passed_directly_to_device({name}), "");\n'
                                for name in ("struct a", "const struct a", "written_so", "meant_so")))

    def test_twenty_deep(self):
        self.accepted(HEADER + DEEP + '_Static_assert(dynsel_is_passed_directly_to_device(t20), "");\n')

    def test_other_flags(self):
        """Also where enumerations are as short as they can be, and by the letter of the standard."""
        text = HEADER + DEEP + ('_Static_assert(dynsel_is_passed_directly_to_device(t20), "");\n'
                                "typedef struct b { int x; } b;\nDYNSEL_PASSED_DIRECTLY(b, 0);\n"
                                '_Static_assert(!dynsel_is_passed_directly_to_device(b), "");\n'
                                '_Static_assert(!dynsel_is_passed_directly_to_device(struct t20 *[2]), "");\n'
                                '_Static_assert(dynsel_is_passed_directly_to_device(b **), "");\n')
        for compiler, *flags in (("gcc", "-fshort-enums"), ("clang", "-fshort-enums"),
                                 ("gcc", "-pedantic-errors"), ("clang", "-pedantic-errors"),
                                 ("gcc", "-std=gnu17"), ("clang", "-std=gnu17"), ("gcc", "-std=gnu2x"),
                                 ("clang", "--target=arm-none-eabi", "-mcpu=cortex-m3"),
                                 ("clang", "--target=riscv32-unknown-elf")):
            with self.subTest(compiler, flags=flags):
                status, said = self.compile(text, compiler, "-std=c11", *WARNINGS, *flags)
                self.assertEqual(status, 0, said)

    def test_marks_in_cpp(self):
        text = MARKED + "struct b { DYNSEL_PASSED_DIRECTLY(struct b, 1); int x; };\n"
        for compiler in ("g++", "clang++"):
            status, said = self.compile(text, compiler, "-std=c++11", "-pedantic", "-Wall", "-Wextra", "-Werror",
                                        suffix=".cc")
            self.assertEqual(status, 0, said)

    def test_marks_in_opencl_c(self):
        """Also between members."""
        text = HEADER + ("DYNSEL_PASSED_DIRECTLY(a, 1);\ntypedef struct a { int x; } a;\n"
                         "typedef struct b { DYNSEL_PASSED_DIRECTLY(b, 0); int x; } b;\n"
                         "kernel void f(global int *x) { DYNSEL_PASSED_DIRECTLY(c, 1); *x = sizeof(b); }\n")
        for standard in ("CL1.2", "CL2.0", "CL3.0"):
            status, said = self.compile(text, "clang", "-x", "cl", f"-cl-std={standard}", "-Wall", "-Wextra", "-Werror",
                                        "-Wno-unused-value", "--target=spir64", "-emit-llvm", suffix=".cl")
            self.assertEqual(status, 0, said)

    def test_nothing_is_called_and_nothing_is_stored(self):
        source = self.folder / "source.c"
        source.write_text(HEADER + DEEP, encoding="utf-8")
        subprocess.run(["gcc", "-std=c11", "-O0", *INCLUDES, "-c", "-o", self.folder / "o.o", source], check=True)
        said = subprocess.run(["nm", self.folder / "o.o"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(said, "")


if __name__ == "__main__":
    unittest.main()
