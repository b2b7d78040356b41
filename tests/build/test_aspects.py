# SPDX-License-Identifier: Apache-2.0
"""The macros of aspects: golden headers, random tables against a second computation, and compilers.

DYNSEL_SEED=<number> repeats a run of the random tables.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import support
import yaml
from dynsel_build import aspect_sets, aspect_texts

TOOL = support.TOP / "tools/dynsel-aspects"
TABLES = support.TOP / "tests/build/tables"
DEF = support.TOP / "include/dynsel/aspects.def"
TRAITS = support.TOP / "include/dynsel/aspect_traits.h"
NAMES = re.findall(r"^DYNSEL_ASPECT\((\w+),", DEF.read_text(encoding="utf-8"), re.MULTILINE)
CASES = 120


def tool_as_a_module():
    """The tool's functions, so that many runs of it take little time."""
    loader = importlib.machinery.SourceFileLoader("dynsel_aspects", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("dynsel_aspects", loader))
    loader.exec_module(module)
    return module


MODULE = tool_as_a_module()


def tool(*arguments):
    """(exit status, stdout, stderr) of one run."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "argv", [str(TOOL), *map(str, arguments)]), \
            contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = MODULE.main()
    return status, out.getvalue(), err.getvalue()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-aspects-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def header(self, *arguments):
        status, text, said = tool(*arguments)
        self.assertEqual(status, 0, said)
        return text

    def write_headers(self, *arguments, without=()):
        """aspect_names.h and aspect_sets.h of a table and targets, in self.folder/dynsel."""
        left_out = [f"--without={name}" for name in without]
        support.write(self.folder / "dynsel/aspect_names.h", self.header("--names", *left_out))
        support.write(self.folder / "dynsel/aspect_sets.h", self.header(*arguments, *left_out))

    def run_compiler(self, text, *command, suffix=".c"):
        """(exit status, all that it says) about a source."""
        source = self.folder / f"source{suffix}"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([*command, f"-I{self.folder}", f"-I{support.TOP}/include", str(source)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout


class Golden(Case):
    """tables/<table>/<target>[+<target>...][-<aspect left out>...].golden"""

    def test_generated_header_equals_golden_file(self):
        paths = sorted(TABLES.glob("*/*.golden"))
        self.assertGreater(len(paths), 12)
        for path in paths:
            with self.subTest(path.name):
                targets, *left_out = path.stem.split("-")
                table = path.parent.with_suffix(".yaml")
                listed = path.parent.with_suffix(".def")
                arguments = [table, *targets.split("+"), *(f"--without={name}" for name in left_out)]
                arguments += ["--aspects", listed] if listed.exists() else []
                self.assertEqual(self.header(*arguments), path.read_text(encoding="utf-8"))

    def test_examples_of_specification_give_documented_sets(self):
        """Said in its words, apart from the golden headers."""
        entries = yaml.safe_load((TABLES / "seed.yaml").read_text(encoding="utf-8"))
        dg1 = self.header(TABLES / "seed.yaml", "intel_gpu_dg1")
        for name in NAMES:  # "the set of aspects that device supports", and never anything else
            listed = name in entries["intel_gpu_dg1"]["aspects"]
            for macro in ("ALL_DEVICES_HAVE", "ANY_DEVICE_HAS"):
                self.assertEqual(f"#define __DYNSEL_{macro}_{name}__ 1\n" in dg1, listed)
        self.assertNotIn("ANY_ASPECT", dg1)
        sm_80 = self.header(TABLES / "seed.yaml", "nvidia_gpu_sm_80")
        for name in NAMES:  # "future devices that support aspects not in `aspects`"
            self.assertEqual(f"#define __DYNSEL_ALL_DEVICES_HAVE_{name}__ 1\n" in sm_80,
                             name in entries["nvidia_gpu_sm_80"]["aspects"])
        spir64 = self.header(TABLES / "seed.yaml", "spir64")  # "cannot guarantee anything"
        self.assertNotIn("ALL_DEVICES_HAVE", spir64)
        for text in (sm_80, spir64):
            self.assertEqual(re.findall(r"#define __DYNSEL_ANY_\w+ 1", text),
                             ["#define __DYNSEL_ANY_DEVICE_HAS_ANY_ASPECT__ 1"])


class Random(Case):
    """Random tables and targets. The second computation shares nothing with the first: PyYAML reads the
    table, quantifiers over the targets say what each aspect is, the C preprocessor reads the header."""

    def table(self, dice):
        """A random table's text."""
        names = [f"t{i}" for i in range(dice.randint(1, 5))]
        density = dice.choice((0.1, 0.5, 0.8, 0.97, 1))
        return "".join(
            f"{name}:\n  text: made up\n  source: dice\n  recognize: [{{name: {name}}}]\n  added_by: []\n"
            f"  aspects: {self.listed(dice, density)}\n"
            f"  may_support_other_aspects: {dice.choice(('true', 'false', 'false', 'false'))}\n"
            f"  sub_group_sizes: []\n" for name in names)

    def listed(self, dice, density):
        some = [name for name in NAMES if dice.random() < density]
        dice.shuffle(some)
        if dice.random() < 0.5:
            return f"[{', '.join(some)}]"
        return "".join(f"\n    - {name}" for name in some) or "[]"

    def expected(self, text, targets, universe):
        """Which of the seed's macros there are, said with quantifiers."""
        entries = [yaml.safe_load(text).get(name) for name in targets]
        everywhere = {a for a in universe if all(e is not None and a in e["aspects"] for e in entries)}
        somewhere = {a for a in universe if any(e is None or e["may_support_other_aspects"]
                                                or a in e["aspects"] for e in entries)}
        macros = {f"__DYNSEL_ALL_DEVICES_HAVE_{a}__" for a in everywhere}
        if all(a in somewhere for a in universe):
            macros.add("__DYNSEL_ANY_DEVICE_HAS_ANY_ASPECT__")
        else:
            macros |= {f"__DYNSEL_ANY_DEVICE_HAS_{a}__" for a in somewhere}
        return macros, everywhere, somewhere

    def test_random_tables_give_sets_of_second_computation(self):
        seed = int(os.environ.get("DYNSEL_SEED", random.SystemRandom().randrange(2**32)))
        print(f"DYNSEL_SEED={seed}", flush=True)
        dice = random.Random(seed)
        for number in range(CASES):
            text = self.table(dice)
            support.write(self.folder / "table.yaml", text)
            targets = dice.sample([*yaml.safe_load(text), "missing", "m2"], dice.randint(1, 3))
            without = dice.sample(NAMES, dice.choice((0, 0, 1, 5, len(NAMES) - 1)))
            universe = [name for name in NAMES if name not in without]
            self.write_headers(self.folder / "table.yaml", *targets, without=without)
            macros, everywhere, somewhere = self.expected(text, targets, universe)
            with self.subTest(f"case {number} of DYNSEL_SEED={seed}, targets {targets}"):
                defined, values = self.preprocessed(universe)
                self.assertEqual(defined, {macro: "1" for macro in macros})
                self.assertEqual(values, {a: (str(int(a in everywhere)), str(int(a in somewhere)))
                                          for a in universe})

    def preprocessed(self, universe):
        """(the seed's macros with their values, {aspect: (all, any)}) as the preprocessor sees them."""
        lines = "".join(f'"{a}" dynsel_all_devices_have({a}) dynsel_any_device_has({a})\n' for a in universe)
        status, said = self.run_compiler("#include <dynsel/aspect_traits.h>\n" + lines, "gcc", "-E", "-P",
                                         "-dD", "-undef", "-nostdinc")
        self.assertEqual(status, 0, said)
        defined = dict(re.findall(r"^#define (__DYNSEL_\w+) (.*)$", said, re.MULTILINE))
        return defined, {a: (every, some)
                         for a, every, some in re.findall(r'^"(\w+)" +([01]) +([01])$', said, re.MULTILINE)}

    def test_random_promises_give_sets_of_definition(self):
        """Every choice of up to two targets over two aspects, written out."""
        a, b, both, none = frozenset("a"), frozenset("b"), frozenset("ab"), frozenset()
        for promises, every, some in (
                ([(a, False)], "a", "a"), ([(none, False)], "", ""), ([(both, False)], "ab", None),
                ([(a, True)], "a", None), ([(none, True)], "", None), ([(both, True)], "ab", None),
                ([(a, False), (b, False)], "", None), ([(a, False), (a, False)], "a", "a"),
                ([(a, False), (none, False)], "", "a"), ([(a, False), (both, True)], "a", None),
                ([(a, False), (both, False)], "a", None), ([(frozenset("ac"), False)], "a", "a"),
                ([(frozenset("abc"), False)], "ab", None), ([(a, False), (b, True)], "", None)):
            sets = aspect_sets.compute("ab", [aspect_sets.Promise(*p) for p in promises])
            self.assertEqual("".join(sets.all_devices), every, promises)
            self.assertEqual(sets.any_aspect, some is None, promises)
            self.assertEqual("".join(sets.any_devices), some or "", promises)


# How each of the languages says that a constant is as it must be; E is the constant, N its number.
LANGUAGES = {
    "gcc": (["gcc", "-std=c11", "-fsyntax-only"], ".c", '_Static_assert(E, "");'),
    "clang": (["clang", "-std=c11", "-fsyntax-only"], ".c", '_Static_assert(E, "");'),
    "g++": (["g++", "-std=c++11", "-fsyntax-only"], ".cc", 'static_assert(E, "");'),
    "clang++": (["clang++", "-std=c++17", "-fsyntax-only"], ".cc", 'static_assert(E, "");'),
    "OpenCL C": (["clang", "-x", "cl", "-cl-std=CL1.2", "-fsyntax-only"], ".cl",
                 "typedef int check_N[(E) ? 1 : -1];"),
}
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Wundef", "-Werror"]


class Compilers(Case):
    """The traits in `#if`, in assertions and as values, in each language that may include them."""

    def setUp(self):
        super().setUp()
        self.languages = {name: language for name, language in LANGUAGES.items()
                          if shutil.which(language[0][0])}
        self.assertIn("gcc", self.languages)
        self.write_headers(TABLES / "seed.yaml", "intel_gpu_dg1", "x86_64")
        entries = yaml.safe_load((TABLES / "seed.yaml").read_text(encoding="utf-8"))
        dg1, x86 = (set(entries[name]["aspects"]) for name in ("intel_gpu_dg1", "x86_64"))
        self.all, self.any = dg1 & x86, dg1 | x86

    def compile(self, name, text):
        command, suffix, _ = self.languages[name]
        return self.run_compiler(text, *command, *STRICT, suffix=suffix)

    def good(self, name, text):
        status, said = self.compile(name, text)
        self.assertEqual(status, 0, f"{name}: {said}")

    def questions(self, assertion):
        """C that asks for every aspect in every way, and is right only with the right answers."""
        lines = []
        for number, aspect in enumerate(NAMES):
            for trait, answer in ((f"dynsel_all_devices_have({aspect})", aspect in self.all),
                                  (f"dynsel_any_device_has({aspect})", aspect in self.any)):
                unwanted = "!" if answer else ""
                lines += [f"#if {unwanted}{trait}", f"#error {trait}", "#endif",
                          f"#if {trait} != {int(answer)} || ({trait}) + 1 == {int(not answer) + 1}",
                          f"#error {trait}", "#endif",
                          assertion.replace("E", f"({trait}) == {int(answer)}").replace(
                              "N", str(len(lines)))]
            lines.append(f"int value_{number}(void);\nint value_{number}(void)\n{{\n"
                         f"    const int both = dynsel_all_devices_have({aspect}) + 2 *"
                         f" dynsel_any_device_has({aspect});\n    return both;\n}}")
        return "\n".join(lines) + "\n"

    def test_traits_of_every_aspect_work_in_each_language(self):
        for name, (_, _, assertion) in self.languages.items():
            with self.subTest(name):
                self.good(name, "#include <dynsel/aspect_traits.h>\n" + self.questions(assertion))

    def test_opencl_prelude_compiles_and_defines_traits(self):
        """Standing alone in front of a program, whose lines keep their numbers."""
        if "OpenCL C" not in self.languages:
            self.skipTest("there is no clang")
        for targets in (["intel_gpu_dg1", "x86_64"], ["spir64"]):
            prelude = self.prelude(targets)
            self.assertTrue(prelude.endswith("#line 1\n"))
            for forbidden in ("#include", "/*", "//", "ASPECT_TRAITS_H", "__VA_ARGS__", "\\\n"):
                self.assertNotIn(forbidden, prelude)
            if targets == ["spir64"]:
                self.all, self.any = set(), set(NAMES)
            self.good("OpenCL C", prelude + self.questions(LANGUAGES["OpenCL C"][2]))
            _, said = self.compile("OpenCL C", prelude + "kernel void f(void) {\nint no_semicolon\n}\n")
            self.assertIn(":2:", said)

    def prelude(self, targets):
        """What the C literals say that the build makes."""
        entries = yaml.safe_load((TABLES / "seed.yaml").read_text(encoding="utf-8"))
        promises = [aspect_sets.Promise(frozenset(entries[t]["aspects"]), entries[t]["may_support_other_aspects"])
                    if t in entries else aspect_sets.Promise() for t in targets]
        literals = aspect_texts.opencl_prelude(NAMES, aspect_sets.compute(NAMES, promises),
                                               TRAITS.read_text(encoding="utf-8"))
        program = f"#include <stdio.h>\nint main(void)\n{{\n    fputs(\n{literals}, stdout);\n    return 0;\n}}\n"
        status, said = self.run_compiler(program, "gcc", "-std=c11", "-Wall", "-Werror", "-o",
                                         str(self.folder / "prelude"))
        self.assertEqual(status, 0, said)
        return subprocess.run([self.folder / "prelude"], check=True, capture_output=True, text=True).stdout

    def test_unknown_aspect_does_not_compile(self):
        """Neither in #if, also behind a condition that decides already, nor in C."""
        for trait in ("dynsel_all_devices_have", "dynsel_any_device_has"):
            for text in (f"#if {trait}(fp61)\n#endif\ntypedef int x;\n",
                         f"#if !{trait}(fp61)\n#endif\ntypedef int x;\n",
                         f"enum {{ x = {trait}(fp61) }};\n", f"typedef int x[{trait}(fp61) + 1];\n",
                         f"void f(void);\nvoid f(void)\n{{\n    if ({trait}(fp61)) {{\n    }}\n}}\n"):
                for name in self.languages:
                    with self.subTest(text=text, language=name):
                        status, said = self.compile(name, "#include <dynsel/aspect_traits.h>\n" + text)
                        self.assertNotEqual(status, 0)
                        self.assertIn("DYNSEL_NO_SUCH_ASPECT_fp61", said)

    def test_unknown_aspect_beside_open_target_does_not_compile(self):
        self.write_headers(TABLES / "seed.yaml", "spir64")
        for name in self.languages:
            for text in ("#if dynsel_any_device_has(fp61)\n#endif\ntypedef int x;\n",
                         "enum { x = dynsel_any_device_has(fp61) };\n"):
                status, said = self.compile(name, "#include <dynsel/aspect_traits.h>\n" + text)
                self.assertNotEqual(status, 0)
                self.assertIn("DYNSEL_NO_SUCH_ASPECT_fp61", said)

    def test_excluded_aspect_does_not_compile(self):
        self.write_headers(TABLES / "seed.yaml", "intel_gpu_dg1", "spir64", without=["fp16", "cpu"])
        for name in self.languages:
            self.good(name, "#include <dynsel/aspect_traits.h>\nenum { x = dynsel_any_device_has(gpu) };\n")
            for aspect in ("fp16", "cpu"):
                for text in (f"#if dynsel_any_device_has({aspect})\n#endif\ntypedef int x;\n",
                             f"enum {{ x = dynsel_all_devices_have({aspect}) }};\n"):
                    status, said = self.compile(name, "#include <dynsel/aspect_traits.h>\n" + text)
                    self.assertNotEqual(status, 0)
                    self.assertIn(f"DYNSEL_NO_SUCH_ASPECT_{aspect}", said)

    def test_user_macro_with_name_of_aspect_changes_no_trait(self):
        own = "".join(f"#define {name} {content}\n" for name, content in zip(NAMES, ["7", "", "(", "no such"] * 99))
        for name, (_, _, assertion) in self.languages.items():
            with self.subTest(name):
                self.good(name, own + "#include <dynsel/aspect_traits.h>\n" + self.questions(assertion))

    def test_aspect_bits_are_distinct(self):
        """DYNSEL_ASPECT_BIT() takes the names of the list and no others."""
        options = "".join(f"#define CONFIG_DYNSEL_ASPECT_{name.upper()} {int(name != 'fp16')}\n" for name in NAMES)
        support.write(self.folder / "dynsel/autoconf.h", "#define CONFIG_DYNSEL_ASPECTS 1\n" + options)
        self.write_headers(TABLES / "seed.yaml", "spir64", without=["fp16"])
        include = "#define gpu 7\n#include <dynsel/aspects.h>\n"
        for name in [n for n in self.languages if n != "OpenCL C"]:
            self.good(name, include + "dynsel_aspect_set bits = DYNSEL_ASPECT_BIT(gpu) | DYNSEL_ASPECT_BIT(fp64);\n")
            for aspect in ("fp61", "fp16"):
                status, said = self.compile(name, include + f"dynsel_aspect_set bits = DYNSEL_ASPECT_BIT({aspect});\n")
                self.assertNotEqual(status, 0)
                self.assertIn(f"DYNSEL_ASPECT_{aspect}", said)


if __name__ == "__main__":
    unittest.main()
