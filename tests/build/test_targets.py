# SPDX-License-Identifier: Apache-2.0
"""The table of device targets and the list of aspects: each mistake is told, and a new entry is enough."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import support
from dynsel_build import aspect_list, aspect_texts, matrix, targets, variants, yaml_lines
from dynsel_build.errors import UserMistake
from dynsel_build.trees import own
from support import scons, snapshot, write

TOOL = support.TOP / "tools/dynsel-aspects"
ASPECTS = ["cpu", "gpu", "fp16", "fp64"]
BACKENDS = ["inline", "opencl"]
GOOD = """\
good:
  text: a good one
  source: made up
  recognize:
    - {backend: opencl, type: gpu}
    - {}
  added_by: [opencl]
  aspects: [fp64, gpu]
  may_support_other_aspects: false
  sub_group_sizes: [8, 16]
"""

TABLE = """\
# The device targets: what is known of some devices.
host:
  text: the host itself
  source: made up
  recognize: [{backend: inline}, {backend: threads}]
  added_by: [inline, threads]
  aspects: [host, host_debuggable, fp64, usm_system_allocations]
  may_support_other_aspects: false
  sub_group_sizes: []

unknown:
  text: any device
  source: made up
  recognize: [{}]
  added_by: []
  aspects: []
  may_support_other_aspects: true
  sub_group_sizes: []
"""


def mistakes(text, aspects=tuple(ASPECTS)):
    """What is wrong with a table, as lines."""
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    try:
        targets.read("t.yaml", data, aspects, BACKENDS)
    except UserMistake as e:
        return e.lines
    return []


class Table(unittest.TestCase):
    def test_valid_entry_is_read(self):
        (target,) = targets.read("t.yaml", GOOD.encode(), ASPECTS, BACKENDS)
        self.assertEqual(target, targets.Target(
            "good", "t.yaml", 1, "a good one", "made up", ({"backend": "opencl", "type": "gpu"}, {}), ("opencl",),
            ("fp64", "gpu"), False, (8, 16)))
        self.assertEqual(target.symbol, "DYNSEL_TARGET_GOOD")

    def test_equivalent_yaml_gives_same_entry(self):
        text = ('"good":\n  "text": "a\n    good one"\n  source: \'made up\'\n  recognize: [{backend: opencl,'
                " type: gpu}, {}]\n  added_by:\n  - opencl\n  aspects: [\n    fp64, # double\n    'gpu']\n"
                "  may_support_other_aspects: false\n  sub_group_sizes: [8,\n    16]\n")
        one, other = (targets.read("t.yaml", t.encode(), ASPECTS, BACKENDS) for t in (GOOD, text))
        self.assertEqual(one, other)

    def test_case_in_recognize_is_ignored_for_known_words(self):
        """As dynsel_target_recognizes() compares."""
        one, other = (targets.read("t.yaml", t.encode(), ASPECTS, BACKENDS) for t in (
            GOOD, GOOD.replace("opencl, type: gpu", "OpenCL, type: GPU")))
        self.assertEqual(one, other)
        self.assertTrue(other[0].may_be_of("opencl"))

    def test_custom_backend_name_is_accepted_unless_similar(self):
        for name in ("manual", "openvx", "cuda", "Tensor-Unit", "my opencl", "in"):
            (target,) = targets.read("t.yaml", GOOD.replace("backend: opencl", f"backend: {name}").encode(),
                                     ASPECTS, BACKENDS)
            self.assertEqual(target.recognize[0], {"backend": name, "type": "gpu"})
        said = " ".join((support.TOP / targets.PATH).read_text(encoding="utf-8").replace("#", "").split())
        self.assertIn("under any name that is not nearly one of dynsel's", said)

    def one_mistake(self, old, new, line, *parts):
        """The good table with one replacement has exactly one mistake, in that line, in these words."""
        text = GOOD.replace(old, new, 1)
        self.assertNotEqual(text, GOOD)
        found = mistakes(text)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"t.yaml:{line}: "), found)
        for part in parts:
            self.assertIn(part, found[0])
        self.assertNotIn("\n", found[0])

    def test_too_long_number_is_refused(self):
        """Nor does the version of YAML become one, whichever loader reads it."""
        for number in ("9" * 5000, "-" + "9" * 5000):
            self.one_mistake("[8, 16]", f"[8, {number}]", 10, "is not a size; write whole numbers from 1 to 99999")
            self.one_mistake("a good one", number, 2, "is not a text in YAML; put it in quotes")
        for text in (f"%YAML {'9' * 5000}.1\n---\n" + GOOD, GOOD.replace("a good one", r'"\UFFFFFFFF"')):
            for slow in (False, True):
                with self.subTest(text[:40], slow=slow), unittest.mock.patch.object(
                        yaml_lines, "_module", self.slow_yaml if slow else yaml_lines._module):
                    found = mistakes(text)
                    self.assertRegex(found[0], r"^t\.yaml:[12]: not YAML: ")

    @staticmethod
    def slow_yaml():
        """Without libyaml."""
        import types
        import yaml
        return types.SimpleNamespace(**{name: getattr(yaml, name) for name in dir(yaml) if name != "CSafeLoader"})

    def test_impossible_promise_is_refused(self):
        for old, new, line, *parts in (
                ("[fp64, gpu]", "[fp64, gpu, cpu]", 8, "aspects: no device that {backend: opencl, type: gpu} recognizes"
                 " has cpu; delete the aspect or that item of `recognize`"),
                ("type: gpu}", "type: cpu}", 8, "no device that {backend: opencl, type: cpu} recognizes has gpu"),
                ("{backend: opencl, type: gpu}", "{type: cpu}", 8, "no device that {type: cpu} recognizes has gpu"),
                ("{backend: opencl, type: gpu}", "{backend: inline}", 8, "no device that {backend: inline} recognizes"
                 " has gpu"),
                ("backend: opencl, type: gpu", "backend: inline, type: gpu", 5, "devices of the backend inline are of type"
                 " host, not gpu"),
                ("type: gpu}", "type: host}", 5, "no OpenCL device is of type host"),
                ("[fp64, gpu]", "[fp64]", 8, "{backend: opencl, type: gpu} recognizes devices that have gpu, and no"
                 " other aspects are allowed; add gpu")):
            self.one_mistake(old, new, line, *parts)
        self.assertEqual(mistakes(GOOD.replace("[fp64, gpu]", "[fp64]").replace("false", "true")), [])
        self.assertEqual(mistakes(GOOD.replace("backend: opencl, type: gpu", "backend: mine, type: cpu")
                                  .replace("false", "true")), [])  # who knows what those have

    def test_promise_against_aspect_list_is_refused(self):
        """aspects.def knows what the host has, and what no OpenCL device has."""
        listed = aspect_list.read("a.def", (support.TOP / aspect_list.PATH).read_bytes())
        for way, aspect, possible in (("{backend: inline}", "fp64", True), ("{backend: inline}", "fp16", False),
                                      ("{backend: threads, type: host}", "atomic64", False), ("{type: host}", "image", False),
                                      ("{backend: opencl}", "host_debuggable", False), ("{backend: opencl}", "fp16", True),
                                      ("{backend: opencl, type: gpu}", "accelerator", False), ("{}", "host", True)):
            text = (GOOD.replace("    - {backend: opencl, type: gpu}\n    - {}\n", f"    - {way}\n")
                    .replace("[opencl]", "[]").replace("[fp64, gpu]", f"[{aspect}]").replace("false", "true"))
            try:
                targets.read("t.yaml", text.encode(), listed, ["inline", "opencl", "threads"])
                found = []
            except UserMistake as e:
                found = e.lines
            self.assertEqual(found, [] if possible else [
                f"t.yaml:7: target good: aspects: no device that {way} recognizes has {aspect}; delete the aspect or that item of `recognize`"])

    def test_added_by_unrecognized_backend_is_refused(self):
        self.one_mistake("    - {}\n  added_by: [opencl]", "  added_by: [opencl, inline]", 6,
                         "added_by: no item of `recognize` matches devices of inline; add {backend: inline}")

    def test_host_backend_without_target_is_refused(self):
        """Nobody chooses one for them in the menu."""
        found = targets.read("t.yaml", TABLE.encode(), ["host", "host_debuggable", "fp64", "usm_system_allocations"],
                             ["inline", "opencl", "threads"])
        self.assertIsNone(targets.check_hosts("t.yaml", found, ["inline", "opencl", "threads"]))
        with self.assertRaises(UserMistake) as caught:
            targets.check_hosts("t.yaml", [t for t in found if t.name != "host"], ["opencl", "inline", "threads"])
        self.assertEqual(caught.exception.lines, [
            f"t.yaml:11: no target is added by the backend {backend}, so its devices would be refused; put {backend} into"
            " `added_by` of target unknown" for backend in ("inline", "threads")])
        self.assertIsNone(targets.check_hosts("t.yaml", found[1:], ["opencl"]))

    def test_missing_field_error_names_field(self):
        for number, field in ((2, "text"), (3, "source"), (7, "added_by"), (8, "aspects"),
                              (9, "may_support_other_aspects"), (10, "sub_group_sizes")):
            line = GOOD.splitlines(keepends=True)[number - 1]
            self.one_mistake(line, "", 1, f"target good has no {field}; all fields are needed")
        self.one_mistake("  recognize:\n    - {backend: opencl, type: gpu}\n    - {}\n", "", 1,
                         "target good has no recognize")

    def test_wrong_field_error_names_line_and_remedy(self):
        for change in (
                ("  text:", "  txet:", 2, "field 'txet' is unknown; did you mean text?"),
                ("a good one", "", 2, "text is empty"), ("a good one", '" "', 2, "text is empty"),
                ("a good one", "no", 2, "no is not a text in YAML; put it in quotes"),
                ("a good one", "1.5", 2, "put it in quotes"), ("a good one", "2020-01-01", 2, "in quotes"),
                ("a good one", "~", 2, "in quotes"), ("a good one", "[a]", 2, "is a list; write a text"),
                ("a good one", r'"bell \a"', 2, "unprintable characters"),
                ("made up", "{a: b}", 3, "source is a mapping; write a text"),
                ("type: gpu", "type: gup", 5, "no type is named 'gup'; did you mean gpu? (there are: cpu, gpu,"),
                ("backend: opencl", "backend: opnecl", 5, "recognize: no backend is named 'opnecl'; did you mean"
                 " opencl? (the name of a custom backend must be less similar)"),
                ("backend: opencl", "backend: in_line", 5, "no backend is named 'in_line'; did you mean inline?"),
                ("type: gpu", "type: Gup", 5, "no type is named 'Gup'; did you mean gpu?"),
                ("type: gpu", "typ: gpu", 5, "key 'typ' is unknown; did you mean type?"),
                ("type: gpu", "name: 3090", 5, "3090 is not a text in YAML; put it in quotes"),
                ("type: gpu", "name: ''", 5, "name is empty"), ("type: gpu", "backend: inline", 5,
                                                             "key backend is already defined in line 5"),
                ("type: gpu", "name: [a]", 5, "recognize: name is a list; write a text"),
                ("    - {}", "    - all", 6, "an item is a mapping, not a text"),
                ("    - {}", "    -", 6, "an item is a mapping, not a text"),
                ("[opencl]", "[opencl, opnecl]", 7, "no backend is named 'opnecl'; did you mean opencl?"
                 " (there are: inline, opencl)"),
                ("[opencl]", "[opencl, opencl]", 7, "opencl is listed twice"),
                ("[opencl]", "opencl", 7, "added_by is 'opencl'; write a list"),
                ("[fp64, gpu]", "[fp64, gpu, fp61]", 8, "no aspect is named 'fp61'; did you mean fp64?"),
                ("[fp64, gpu]", "[fp64,\n    zzz]", 9, "no aspect is named 'zzz' ("),
                ("[fp64, gpu]", "[fp64,\n    gpu,\n    fp64]", 10, "fp64 is listed twice"),
                ("[fp64, gpu]", "[fp64, FP16]", 8, "no aspect is named 'FP16'; did you mean fp16?"),
                ("[fp64, gpu]", "[fp64, [gpu]]", 8, "a list is not a name"),
                ("[fp64, gpu]", "[fp64, ]x", 8, "not YAML"),
                ("[fp64, gpu]", "", 8, "aspects is empty; write a list"),
                ("false", "no", 9, "is 'no'; write true or false"), ("false", "False", 9, "true or false"),
                ("false", '"false"', 9, "is 'false'; write true or false without quotes"),
                ("false", '"no"', 9, "write true or false"), ("false", "0", 9, "true or false"),
                ("false", "", 9, "is empty; write true or false"), ("false", "[]", 9, "is a list"),
                ("[8, 16]", "[16, 8]", 10, "16, 8 do not ascend"), ("[8, 16]", "[8, 8]", 10, "do not ascend"),
                ("[8, 16]", "[0, 8]", 10, "'0' is not a size"), ("[8, 16]", "[-8]", 10, "'-8' is not a size"),
                ("[8, 16]", "[0x8]", 10, "not a size"), ("[8, 16]", "[8.5]", 10, "not a size"),
                ("[8, 16]", '["32"]', 10, "'32' is not a size; write whole numbers from 1 to 99999 without"
                                           " quotes"),
                ("[8, 16]", "8", 10, "is '8'; write a list"),
                ("good:", "Good:", 1, "'Good' is not a name for a target"),
                ("good:", "go-od:", 1, "'go-od' is not a name"), ("good:", "8good:", 1, "is not a name"),
                ("good:", "_good:", 1, "is not a name"), ("good:", "göod:", 1, "is not a name"),
                ("good:", '"go\\nod":', 1, "is not a name"), ('good:', '"":', 1, "is not a name"),
                ("good:", "no:", 1, "'no' is no text in YAML"),
                ("good:", "[good]:", 1, "a list is not a name"),
                ("good:", "good: &anchor", 1, "anchors and aliases are not allowed"),
                ("good:", "good: !tag", 1, "the tag '!tag' is not allowed"),
                ("a good one", "*other", 2, "*other: anchors and aliases are not allowed; write"),
                ("a good one", "!!str text", 2, "the tag 'tag:yaml.org,2002:str' is not allowed"),
                ("  source", "\tsource", 3, "not YAML"), ("  source", "     source", 3, "not YAML"),
                ("good:\n", "good:\n---\n", 2, "a second document; one file is one table")):
            with self.subTest(change):
                self.one_mistake(*change)

    def test_empty_recognize_is_refused(self):
        self.one_mistake("\n    - {backend: opencl, type: gpu}\n    - {}\n", " []\n", 4, "recognize is empty")

    def test_entry_of_other_kind_is_refused(self):
        for text in ("good:\n", "good: 5\n", "good: [text, source]\n"):
            (line,) = mistakes(text)
            self.assertTrue(line.startswith("t.yaml:1: target good: an entry is a mapping of fields, not a"), line)

    def test_malformed_table_is_refused(self):
        for text, line in (("", 1), ("# nothing\n", 1), ("{}\n", 1), ("---\n", 1)):
            self.assertEqual(mistakes(text), [f"t.yaml:{line}: the table is empty; add an entry for a target"])
        self.assertIn("t.yaml:1: a table is a mapping of target names", mistakes("- good\n")[0])
        self.assertIn("t.yaml:1: a table is a mapping of target names", mistakes("good\n")[0])
        self.assertIn("t.yaml:11: a second document", "\n".join(mistakes(GOOD + "---\n" + GOOD)))
        self.assertEqual(mistakes(GOOD + GOOD),
                         ["t.yaml:11: target good is already defined in line 1; delete one of the two"])
        self.assertEqual(mistakes(GOOD.encode() + b"# \xff\n"),
                         ["t.yaml:11: not UTF-8 text; save the file as UTF-8"])
        self.assertIn("t.yaml:1: a byte order mark", mistakes(b"\xef\xbb\xbf" + GOOD.encode())[0])
        self.assertEqual(mistakes(GOOD + "# \x07\n"),
                         ["t.yaml:11: the character U+0007 is not allowed; delete it"])
        self.assertIn("t.yaml:2: not YAML", mistakes(GOOD.replace("good:\n", "good:" + "[" * 20000 + "\n"))[0])

    def test_too_deep_nesting_gives_one_line(self):
        """Deep enough, and reading it would need more stack than there is."""
        for depth in (50, 200000):
            text = GOOD.replace("[8, 16]", "[" * depth + "]" * depth)
            self.assertEqual(mistakes(text), ["t.yaml:10: lists and mappings are 50 deep; a table needs no more than 4"])
        self.one_mistake("[8, 16]", "[" * 40 + "]" * 40, 10, "a list is not a size")

    def test_long_or_unprintable_words_are_shortened_in_messages(self):
        """One line for each mistake, whatever the table has in it."""
        text = GOOD.replace("good:", '"go\\nod\\u202e":').replace("text:", '"te\\nxt":').replace(
            "[fp64", '["f\\np"').replace("false", "x" * 500)
        lines = mistakes(text + text)
        self.assertEqual(len(lines), 5, lines)
        for line in lines:
            self.assertTrue(line.isprintable(), line)
            self.assertLess(len(line), 300)

    def test_all_mistakes_are_reported_together(self):
        text = (GOOD.replace("fp64", "fp61").replace("false", "maybe")
                + GOOD.replace("good:", "Bad-name:").replace("  source: made up\n", "")
                + GOOD.replace("[8, 16]", "[]").replace("  text", "  test"))
        self.assertEqual([line.split(": ")[0] for line in mistakes(text)],
                         [f"t.yaml:{n}" for n in (8, 9, 11, 11, 20)])

    def test_special_characters_are_escaped_in_generated_text(self):
        """In the menu, $(...) and quotes; in C, quotes, backslashes, trigraphs and other letters."""
        text = GOOD.replace("a good one", "'$(shell,rm) \"x\" \\ y'").replace(
            "type: gpu", 'name: "ä\\"\\\\??/"')
        (target,) = targets.read("t.yaml", text.encode(), ASPECTS, BACKENDS)
        menu = aspect_texts.kconfig_targets([target])
        self.assertIn(r'comment "good: \$(shell,rm) \"x\" \\ y (', menu)
        self.assertIn(r'.name = "\303\244\"\\\?\?/"', aspect_texts.targets_inc([target], ASPECTS))


class Documentation(unittest.TestCase):
    """What doc/aspects.md says is so."""

    TEXT = (support.TOP / "doc/aspects.md").read_text(encoding="utf-8")

    def test_documented_entry_and_errors_hold(self):
        entry = re.search(r"```yaml\n(.*?)```", self.TEXT, re.DOTALL).group(1)
        listed = aspect_list.read("a", (support.TOP / aspect_list.PATH).read_bytes())
        names = [aspect.name for aspect in listed]
        (target,) = targets.read("t", entry.encode(), names, BACKENDS)
        self.assertEqual(target.name, "acme_gpu")
        wrong = entry.replace("fp16", "fp15").replace("true", "maybe")
        with self.assertRaises(UserMistake) as caught:
            targets.read(targets.PATH, wrong.encode(), names, BACKENDS)
        for line in caught.exception.lines:
            self.assertIn(f"    {line}\n", self.TEXT)

    def test_documented_links_and_options_exist(self):
        for link in re.findall(r"\]\(([^)]+)\)", self.TEXT):
            self.assertTrue((support.TOP / "doc" / link).exists(), link)
        table = (support.TOP / targets.PATH).read_text(encoding="utf-8")
        for name in re.findall(r"TARGET_([A-Z0-9_]+)", self.TEXT):
            self.assertIn(f"\n{name.lower()}:\n", table)

    def test_documented_generator_command_runs(self):
        (command,) = re.findall(r"    (tools/dynsel-aspects boards\S+ .*?) +#", self.TEXT)
        done = subprocess.run([sys.executable, *command.split()], cwd=support.TOP, text=True,
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class List(unittest.TestCase):
    """include/dynsel/aspects.def, and others."""

    GOOD = ('/* A list. */\n#if CONFIG_DYNSEL_ASPECT_CPU\nDYNSEL_ASPECT(cpu, "a /* CPU", 0,\n'
            '              TYPE(X) || Y(")"))\n#endif\n'
            '#if CONFIG_DYNSEL_ASPECT_FP16\nDYNSEL_ASPECT(fp16, "half "\n   "\\"floats\\"", 1, NO)\n#endif\n'
            "#undef DYNSEL_ASPECT\n")

    def test_valid_list_is_read(self):
        self.assertEqual(aspect_list.read("a.def", self.GOOD.encode()),
                         [aspect_list.Aspect("cpu", "a /* CPU", 3, False, 'TYPE(X) || Y(")")'),
                          aspect_list.Aspect("fp16", 'half "floats"', 7, True, "NO")])

    def test_wrong_list_error_names_line_and_remedy(self):
        for old, new, line, part in (
                ("DYNSEL_ASPECT(cpu", "DYNSEL_ASPECT(gpu", 3, "stands in CONFIG_DYNSEL_ASPECT_CPU; its own option"
                 " is CONFIG_DYNSEL_ASPECT_GPU"),
                ("(cpu", "(Cpu", 3, "'Cpu' is not a name for an aspect"),
                ("0,\n", "2,\n", 3, "is not an entry"), ('"a /* CPU"', "a", 3, "is not an entry"),
                ("TYPE(X)", "TYPE(X", 3, "an incomplete entry"), ("TYPE(X)", "TYPE)X(", 3, "is not an entry"),
                ("TYPE(X)", 'TYPE(")', 3, "an incomplete entry"), ("TYPE(X)", "TYPE, (X)", 3, "is not an entry"),
                ("TYPE(X)", "TYPE/*(X)", 3, "is not an entry"), ("TYPE(X)", "TYPE#(X)", 3, "is not an entry"),
                ('"a /* CPU"', '"a\nCPU"', 3, "is not an entry"),
                ("#endif\n#if", "#if", 5, "is not expected here"),
                ("#if CONFIG_DYNSEL_ASPECT_CPU", "#ifdef CONFIG_DYNSEL_ASPECT_CPU", 2, "is not expected here"),
                ("#undef DYNSEL_ASPECT\n", "", 1, "does not end in #undef DYNSEL_ASPECT"),
                ("#undef", "#endif\n#undef", 10, "is not expected here"),
                ("#undef DYNSEL_ASPECT\n", "#undef DYNSEL_ASPECT\nint x;\n", 11, "after the #undef"),
                ('DYNSEL_ASPECT(fp16, "half "\n   "\\"floats\\"", 1, NO)\n', "", 7, "this option has no aspect"),
                ('"a /* CPU"', '""', 3, "the text of aspect cpu is empty; write one clause that explains it"),
                ('"a /* CPU"', '" " ""', 3, "the text of aspect cpu is empty"),
                ("a /* CPU", "a \0 CPU", 3, "the character U+0000 is not allowed; delete it"),
                ("a /* CPU", "a \\0 CPU", 3, "is not an entry"),
                ("a /* CPU", "a \u202e CPU", 3, "the text of aspect cpu has unprintable characters"),
                ("/* A list", "\ufeff/* A list", 1, "a byte order mark; save the file as UTF-8 without one"),
                ("#if CONFIG_DYNSEL_ASPECT_CPU", "", 3, "stands outside #if CONFIG_DYNSEL_ASPECT_<NAME>"),
                ("0,\n", "2)\nx y\n(z, 0,\n", 3, "is not an entry"), ("*/\n", "\n", 1, "stands outside"),
                ("NO)\n", 'NO)\nDYNSEL_ASPECT(fp64, "x", 1, NO)\n', 9, "its own option"),
                ("NO)\n", 'NO)\nDYNSEL_ASPECT(fp16, "x", 1, NO)\n', 9, "already listed in line 7")):
            with self.subTest(new):
                text = self.GOOD.replace(old, new, 1)
                self.assertNotEqual(text, self.GOOD)
                with self.assertRaises(UserMistake) as caught:
                    aspect_list.read("a.def", text.encode())
                self.assertTrue(caught.exception.lines[0].startswith(f"a.def:{line}: "), caught.exception.lines)
                self.assertIn(part, caught.exception.lines[0])
                self.assertEqual(len(caught.exception.lines), 1, caught.exception.lines)

    def test_mistakes_in_several_options_are_reported_together(self):
        """What is wrong in one option is told once, and does not keep those of the others away."""
        text = self.GOOD.replace("0,\n", "2,\n").replace("NO)\n", 'NO)\n)\nx\ny\n').replace("fp16,", "fp61,")
        with self.assertRaises(UserMistake) as caught:
            aspect_list.read("a.def", text.encode())
        self.assertEqual([line.split(": ")[0] for line in caught.exception.lines], ["a.def:3", "a.def:7"])

    def test_option_without_endif_is_refused(self):
        with self.assertRaises(UserMistake) as caught:
            aspect_list.read("a.def", self.GOOD.split("NO)")[0].encode() + b"NO)\n")
        self.assertEqual(caught.exception.lines, ["a.def:6: this #if has no #endif; add it"])

    def test_list_of_other_kind_is_refused(self):
        for data in (b"", b"#undef DYNSEL_ASPECT\n", b"/* \xff */"):
            with self.assertRaisesRegex(UserMistake, r"a\.def:1: "):
                aspect_list.read("a.def", data)


class Tool(unittest.TestCase):
    """tools/dynsel-aspects as its user sees it."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-tool-"))
        self.addCleanup(shutil.rmtree, self.folder)
        write(self.folder / "t.yaml", GOOD)

    def run_tool(self, *arguments, **environment):
        done = subprocess.run([sys.executable, TOOL, *arguments], cwd=self.folder, text=True,
                              capture_output=True, check=False, env={**os.environ, **environment})
        return done.returncode, done.stdout, done.stderr

    def test_tool_writes_header(self):
        status, out, err = self.run_tool("t.yaml", "good")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("#define __DYNSEL_ALL_DEVICES_HAVE_fp64__ 1\n", out)
        self.assertEqual(self.run_tool("t.yaml", "good", "-o", "h.h"), (0, "", ""))
        self.assertEqual((self.folder / "h.h").read_text(encoding="utf-8"), out)

    def test_target_without_entry_is_noted(self):
        status, out, err = self.run_tool("t.yaml", "goood")
        self.assertEqual(status, 0)
        self.assertIn("#define __DYNSEL_ANY_DEVICE_HAS_ANY_ASPECT__ 1\n", out)
        self.assertEqual(err, "note: t.yaml has no entry for goood: it promises nothing, and any aspect may be"
                              " there; did you mean good?\n")

    def test_list_and_help_are_printed(self):
        self.assertEqual(self.run_tool("--list", "t.yaml"), (0, "good  a good one\n", ""))
        status, out, err = self.run_tool("--help")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("Exit status: 0 if", out)

    def test_wrong_arguments_give_status_2(self):
        write(self.folder / "bad.yaml", GOOD.replace("fp64", "fp61").replace("[8, 16]", "[16, 8]"))
        for arguments, said in (
                ([], "no table is named"), (["t.yaml"], "no target is named; t.yaml has good"),
                (["t.yaml", "good", "good"], "target good is named twice"),
                (["t.yaml", "Good!"], "'Good!' is not a name for a target"),
                (["t.yaml", "good", "--without", "gup"], "--without gup: no such aspect; did you mean gpu?"),
                (["none.yaml", "good"], "none.yaml: cannot be read: No such file"),
                ([".", "good"], ".: cannot be read: Is a directory"),
                (["t.yaml", "good", "--aspects", "none.def"], "none.def: cannot be read"),
                (["t.yaml", "good", "--aspects", "t.yaml"], "t.yaml:1: 'good:' stands outside"),
                (["t.yaml", "good", "-o", ""], "-o: the name of a file is empty"),
                (["t.yaml", "good", "-o", "t.yaml"], "-o t.yaml: this is t.yaml, which is read; write to another"),
                (["t.yaml", "good", "--bad"], "unrecognized arguments: --bad"),
                (["--list", "t.yaml", "good"], "--list takes no target"),
                (["bad.yaml", "good"], "bad.yaml:8: target good: aspects: no aspect is named 'fp61'")):
            with self.subTest(arguments):
                status, out, err = self.run_tool(*arguments)
                self.assertEqual((status, out), (2, ""), err)
                self.assertTrue(err.startswith("dynsel-aspects: " + said), err)
                self.assertEqual(err.count("\n"), 2 if "bad.yaml" in arguments else 1, err)

    def test_output_onto_input_is_refused(self):
        """By the same name, through links, of each input; nothing is written then."""
        write(self.folder / "a.def", (support.TOP / aspect_list.PATH).read_text(encoding="utf-8"))
        os.symlink("t.yaml", self.folder / "soft")
        os.link(self.folder / "t.yaml", self.folder / "hard")
        os.symlink(support.TOP / aspect_list.PATH, self.folder / "list")
        before = {path: path.read_bytes() for path in self.folder.iterdir()}
        for output, arguments in (("t.yaml", []), ("./t.yaml", []), ("soft", []), ("hard", []), ("list", []),
                                  ("a.def", ["--aspects", "a.def"])):
            for what in (["t.yaml", "good"], ["t.yaml", "--list"], ["t.yaml", "--names"]):
                status, out, err = self.run_tool(*what, *arguments, "-o", output)
                self.assertEqual((status, out), (2, ""))
                self.assertRegex(err, rf"\Adynsel-aspects: -o {output}: this is \S+, which is read; .*\n\Z")
        self.assertEqual({path: path.read_bytes() for path in self.folder.iterdir()}, before)
        self.assertEqual(self.run_tool("t.yaml", "good", "-o", "fresh.h"), (0, "", ""))

    def test_unwritable_output_gives_status_1(self):
        status, out, err = self.run_tool("t.yaml", "good", "-o", "none/h.h")
        self.assertEqual((status, out), (1, ""))
        self.assertEqual(err, "dynsel-aspects: none/h.h: cannot be written: No such file or directory\n")

    def test_missing_yaml_module_error_names_package(self):
        write(self.folder / "modules/yaml.py", "raise ImportError('gone')\n")
        status, _, err = self.run_tool("t.yaml", "good", PYTHONPATH=str(self.folder / "modules"))
        self.assertEqual(status, 2)
        self.assertEqual(err, "dynsel-aspects: Python's module yaml is missing; on Debian and Ubuntu:"
                              " apt-get install python3-yaml\n")


class Build(unittest.TestCase):
    """The same through scons."""

    @classmethod
    def setUpClass(cls):
        cls.top = support.build_tree()
        cls.addClassCleanup(shutil.rmtree, cls.top)
        write(cls.top / "boards/targets.yaml", TABLE)
        write(cls.top / "src/three.c", "#include <dynsel/aspect_traits.h>\nint three(void);\nint three(void)\n{\n"
                                       "    return dynsel_all_devices_have(fp64);\n}\n")
        script = (cls.top / "src/SConscript").read_text(encoding="utf-8")
        write(cls.top / "src/SConscript", script.replace('"two.c"', '"two.c", "three.c"'))

    def setUp(self):
        self.table = (self.top / "boards/targets.yaml").read_text(encoding="utf-8")
        self.addCleanup(lambda: write(self.top / "boards/targets.yaml", self.table))

    def good(self, *arguments):
        status, said = scons(self.top, *arguments)
        self.assertEqual(status, 0, said)
        return said

    def bad(self, *arguments):
        status, said = scons(self.top, *arguments)
        self.assertEqual(status, 2, said)
        return said

    def change(self, old, new, name="boards/targets.yaml"):
        path = self.top / name
        before = path.read_text(encoding="utf-8")
        self.addCleanup(lambda: write(path, before))
        self.assertIn(old, before)
        write(path, before.replace(old, new, 1))

    def add(self, entry):
        write(self.top / "boards/targets.yaml", self.table + entry)

    def made(self, name, variant="native"):
        return (self.top / "build" / variant / "gen" / name).read_text(encoding="utf-8")

    def test_wrong_table_fails_before_compiling(self):
        self.add(GOOD.replace("good:", "bad:").replace("fp64", "fp61") + GOOD.replace("good:", "unknown:"))
        first = self.table.count("\n") + 1
        for arguments in ((), ("test", "CONF=debug"), ("why=MAX_RESOURCES",), ("kconfig-lint",)):
            said = self.bad(*arguments)
            lines = said.splitlines()
            self.assertEqual(len(lines), 2, said)
            self.assertIn(f"dynsel: boards/targets.yaml:{first + 7}: target bad: aspects: no aspect is named 'fp61'",
                          lines[0])
            self.assertIn(f"dynsel: boards/targets.yaml:{first + 10}: target unknown is already defined", lines[1])
        self.assertFalse(list((self.top / "build").glob("native+debug")))

    def test_missing_file_is_named(self):
        for name in ("boards/targets.yaml", "include/dynsel/aspects.def"):
            path = self.top / name
            path.rename(self.top / "aside")
            said = self.bad()
            (self.top / "aside").rename(path)
            self.assertEqual(said, f"dynsel: {name}: cannot be read: No such file or directory\n")

    def test_wrong_list_fails_build(self):
        self.change("CONFIG_DYNSEL_ASPECT_FP16", "CONFIG_DYNSEL_ASPECT_FP61", "include/dynsel/aspects.def")
        self.assertRegex(self.bad(), r"\Adynsel: include/dynsel/aspects.def:\d+: aspect fp16 stands in"
                                     r" CONFIG_DYNSEL_ASPECT_FP61; its own option is CONFIG_DYNSEL_ASPECT_FP16\n\Z")

    def test_new_entry_adds_target_to_build(self):
        self.add(GOOD.replace("[opencl]", "[]"))
        said = self.good("why=TARGET_GOOD")
        self.assertIn("DYNSEL_TARGET_GOOD = n   in native\n", said)
        self.assertIn("good: a good one", said)
        for text in ("Every such device has: fp64, gpu.", "None has another aspect.", "Source: made up.",
                     "with backend 'opencl', type 'gpu', or those that no other target"):
            self.assertIn(text, " ".join(said.split()))
        self.good("VARIANTS=native~TARGET_GOOD=y~TARGET_UNKNOWN=n")
        variant = "native~TARGET_GOOD=y~TARGET_UNKNOWN=n"
        header = self.made("dynsel/aspect_sets.h", variant)
        self.assertIn("/* Generated for the device targets host, good. */", header)
        self.assertIn("#define __DYNSEL_ALL_DEVICES_HAVE_fp64__ 1\n#define __DYNSEL_ANY_DEVICE_HAS_host__ 1\n", header)
        self.assertIn("#define __DYNSEL_ANY_DEVICE_HAS_gpu__ 1\n", header)
        self.assertNotIn("ANY_ASPECT", header)
        self.assertIn('{.name = "good",', self.made("generated/targets.inc", variant))
        _, said = scons(self.top, "kconfig-lint")
        self.assertNotIn("TARGET_GOOD", said)

    def test_backend_adds_its_target(self):
        self.add(GOOD)
        self.assertIn("DYNSEL_TARGET_GOOD = y   in native\n", self.good("why=TARGET_GOOD"))
        self.assertIn("DYNSEL_TARGET_GOOD = n   in native+minimal\n", self.good("why=TARGET_GOOD", "CONF=minimal"))
        write(self.top / "configs/sets.conf", "CONFIG_DYNSEL_TARGET_GOOD=y\n")
        self.addCleanup((self.top / "configs/sets.conf").unlink)
        self.assertIn("CONFIG_DYNSEL_TARGET_GOOD has no prompt", self.bad("CONF=sets"))

    def test_comment_in_table_rebuilds_nothing(self):
        self.good()
        before = snapshot(self.top, "build/native")
        self.change("# The device targets:", "# One more line.\n# The device targets:")
        self.good()
        self.assertEqual(snapshot(self.top, "build/native"), before)

    def test_changed_table_rebuilds_dependents_only(self):
        write(self.top / "configs/closed.conf", "CONFIG_DYNSEL_TARGET_UNKNOWN=n\nCONFIG_DYNSEL_BACKEND_OPENCL=n\n")
        self.addCleanup((self.top / "configs/closed.conf").unlink)
        self.good("CONF=closed")
        tag = [line for line in self.made("dynsel/autoconf.h", "native+closed").splitlines() if "_TAG " in line]
        self.change("fp64, ", "")
        said = self.good("CONF=closed")
        for name in ("three.o", "one.o"):  # one.c includes the tag
            self.assertIn(f"  CC    build/native+closed/obj/{name}\n", said)
        self.assertNotIn("two.o", said)
        now = [line for line in self.made("dynsel/autoconf.h", "native+closed").splitlines() if "_TAG " in line]
        self.assertNotEqual(tag, now)  # so that headers and archive of different sets do not link

    def test_unchosen_target_changes_no_tag(self):
        self.good()
        tag = [line for line in self.made("dynsel/autoconf.h").splitlines() if "_TAG " in line]
        self.add(GOOD.replace("added_by: [opencl]", "added_by: []"))
        self.good()
        self.assertIn("TARGET_GOOD 0", self.made("dynsel/autoconf.h"))
        self.assertEqual(tag, [line for line in self.made("dynsel/autoconf.h").splitlines() if "_TAG " in line])

    def test_excluded_aspect_does_not_compile(self):
        said = self.bad("CONF=~ASPECT_FP64=n")
        self.assertIn("DYNSEL_NO_SUCH_ASPECT_fp64", said)
        variant = "native~ASPECT_HOST_DEBUGGABLE=n"
        self.good(f"VARIANTS={variant}")
        for name in ("generated/targets.inc", "generated/all_targets.inc", "generated/opencl_prelude.inc",
                     "dynsel/aspect_names.h", "dynsel/aspect_sets.h"):
            self.assertNotIn("host_debuggable", self.made(name, variant))

    def test_configuration_without_target_is_refused(self):
        self.change("CONFIG_DYNSEL_TARGET_UNKNOWN=y\n", "", "boards/native/defconfig")
        self.assertEqual(self.bad(), "dynsel: boards/native/defconfig:1: the OpenCL backend is configured, and no"
                         " chosen target recognizes an OpenCL device, so every device would be refused; set"
                         " CONFIG_DYNSEL_TARGET_UNKNOWN=y\n")
        write(self.top / "configs/none.conf", "CONFIG_DYNSEL_TARGET_UNKNOWN=n\n" + "".join(
            f"CONFIG_DYNSEL_BACKEND_{name}=n\n" for name in ("INLINE", "THREADS", "OPENCL")))
        self.addCleanup((self.top / "configs/none.conf").unlink)
        self.assertEqual(self.bad("CONF=none"), "dynsel: configs/none.conf:1: no device target is chosen; set"
                         " CONFIG_DYNSEL_TARGET_UNKNOWN=y\n")

    def test_matrix_excludes_impossible_configurations(self):
        flipped, notes = matrix.flipped(own(self.top), variants.Variant("native"))
        self.assertEqual(len(notes), 1)
        self.assertIn("the matrix omits DYNSEL_TARGET_UNKNOWN flipped: ", notes[0])
        names = [variant.name for variant in flipped]
        turned = [name for variant in flipped for name in variant.settings if name.startswith("ASPECT_")]
        self.assertEqual(len(turned), len(set(turned)))
        self.assertEqual(len(turned), (self.top / "include/dynsel/aspects.def").read_text().count("\n#if "))
        self.assertLess(max(map(len, names)), 250)

    def test_public_headers_are_installed(self):
        self.good("install", f"DESTDIR={self.top}/build/root", "PREFIX=/opt/d")
        found = {p.name for p in (self.top / "build/root/opt/d/include/dynsel").iterdir()}
        self.assertEqual(found, {"one.h", "autoconf.h", "aspect_names.h", "aspect_sets.h", "aspect_traits.h",
                                 "aspects.def", "iterators.h", "opencl_iterators.h", "version.h"})
        self.assertFalse(list((self.top / "build/root").rglob("*.inc")))


if __name__ == "__main__":
    unittest.main()
