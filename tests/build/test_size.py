# SPDX-License-Identifier: Apache-2.0
"""scons size: what grew is named, the stack of each public function is right, RAM follows the menu's numbers."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support
from dynsel_build import interface, linked, size, stack
from support import scons, write

COMPILER = ["gcc", "-std=c11", "-Iinclude"]
GCC = [*COMPILER, "-ffunction-sections", "-fdata-sections", "-fstack-usage",
       "-fcallgraph-info=su"]

OPERATIONS = """
#ifndef SHAPE_H
#define SHAPE_H
typedef struct shape_ops {
    const char *name;
    int (*area)(int);
    int (*draw)(int);
    int (*colour)(int);
} shape_ops;
typedef int (*answer_fn)(int);
typedef struct question {
    const shape_ops *ops;
    answer_fn answer;
} question;
int ask(const question *q, int n);
int draw(const question *q, int n);
int colour(const question *q, int n);
int each(int n);
#endif
"""

USE = """
#include <dynsel/shape.h>
void fill(char *bytes);
int ask(const question *q, int n) { return q->answer(n) + 1; }
int draw(const question *q, int n) { return q->ops->draw(n) + 1; }
int colour(const question *q, int n) { return q->ops->colour(n) + 1; }
__attribute__((noinline)) static int apply(int (*step)(int), int n) { return step(n) + 1; }
static int up(int n) { char bytes[64]; fill(bytes); return bytes[n]; }
static int down(int n) { char bytes[256]; fill(bytes); return bytes[n]; }
int each(int n) { return apply(n > 3 ? up : down, n) + 1; }
"""

TABLES = """
#include <dynsel/shape.h>
void fill(char *bytes);
static int small(int n) { char bytes[32]; fill(bytes); return bytes[n]; }
static int large(int n) { char bytes[512]; fill(bytes); return bytes[n]; }
const shape_ops square_ops = {.name = "square", .area = large, .draw = small};
const shape_ops circle_ops = {.name = "circle", .draw = small};
"""


AFTER = """
int after(int n);
void fill(char *bytes);
int after(int n) { char bytes[100]; fill(bytes); return bytes[n]; }
"""


class Growth(unittest.TestCase):
    """Limits, from rows that were measured."""

    def row(self, name, **sizes):
        return size.Row(name, {**dict.fromkeys(size.COLUMNS, 0), **sizes})

    def test_exceeded_limit_names_grown_objects_and_bytes(self):
        rows = [self.row("a.o", text=70), self.row("b.o", text=50)]
        before = size.Before({"a.o": {"text": 40}, "b.o": {"text": 50}})
        self.assertEqual(size.past_limits(rows, {"text": 100, "bss": 0}, before),
                         ["text is 120 bytes, 20 past the limit of 100: grew a.o by 30"])
        self.assertEqual(size.past_limits(rows, {"text": 100}, size.Before()),
                         ["text is 120 bytes, 20 past the limit of 100: largest are a.o with 70, b.o with 50"])
        self.assertEqual(size.past_limits(rows, {"text": 120, "bss": 0}, size.Before()), [])

    def test_flash_sums_sections_with_contents(self):
        rows = [self.row("a.o", text=7, rodata=2, data=1, bss=9)]
        self.assertEqual(size.past_limits(rows, {"flash": 9}, size.Before({"a.o": {"text": 6, "rodata": 2}})),
                         ["flash is 10 bytes, 1 past the limit of 9: grew a.o by 2"])

    def test_table_sums_objects_and_takes_largest_frame(self):
        text = size.table("v", [self.row("a.o", text=7, frame=3), self.row("b.o", frame=9)], {"text": 9})
        self.assertEqual(text.splitlines()[-3].split(), ["total", "7", "0", "0", "0", "9"])
        self.assertEqual(text.splitlines()[-2].split(), ["limit", "9", "-", "-", "-", "-"])

    def test_relocated_constants_count_as_rodata(self):
        self.assertEqual(size._column(".data.rel.ro.local.ops"), "rodata")
        self.assertEqual(size._column(".data.rel.local.backend"), "data")
        self.assertEqual(size._column(".tbss.state"), "bss")
        self.assertIsNone(size._column(".debug_info"))


class Stack(unittest.TestCase):
    """The call graph of a few lines of C."""

    def setUp(self):
        self.top = Path(tempfile.mkdtemp(prefix="dynsel-stack-"))
        self.addCleanup(shutil.rmtree, self.top)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.top)
        write(self.top / "include/dynsel/shape.h", OPERATIONS)

    def graph(self, optimize="-O1", **sources):
        for name, text in sources.items():
            write(self.top / f"{name}.c", text)
            subprocess.run([*GCC, optimize, "-c", f"{name}.c", "-o", f"{name}.o"], check=True)
        return stack.Graph([f"{name}.o" for name in sources], interface.Interface(COMPILER, "asked"))

    def chain(self, graph, name):
        found = graph.public()[name]
        self.assertEqual(graph.mistakes, [])
        self.assertEqual(found.bytes, sum(frame for _, frame in found.chain))
        return [graph.functions[key].name for key, _ in found.chain]

    def mistakes(self, **sources):
        graph = self.graph(**sources)
        graph.public()
        return graph.mistakes

    def test_only_declared_functions_are_public(self):
        graph = self.graph(use=USE, more="int hidden(void);\nint hidden(void) { return 1; }\n")
        self.assertEqual(set(graph.public()), {"ask", "draw", "colour", "each"})

    def test_foreign_headers_declare_no_public_function(self):
        write(self.top / "include/dynsel/shape.h", OPERATIONS.replace("typedef", "#include <string.h>\ntypedef", 1))
        self.assertNotIn("memcpy", interface.Interface(COMPILER, "asked").functions)

    def test_operation_call_reaches_its_slot_of_all_tables(self):
        graph = self.graph(use=USE, tables=TABLES)
        self.assertEqual(self.chain(graph, "draw"), ["draw", "small"])
        self.assertEqual(graph.public()["draw"].outside, {"fill"})
        self.assertEqual(graph.public()["draw"].users, set())

    def test_functions_of_program_are_named(self):
        graph = self.graph(use=USE, tables=TABLES)
        self.assertEqual(self.chain(graph, "ask"), ["ask"])
        self.assertEqual(graph.public()["ask"].users, {"answer"})
        self.assertEqual(graph.public()["colour"].users, {"colour"})

    def test_library_tables_and_task_function_are_followed(self):
        """One part of the library calls another through a table in a private header, and starts it as a task."""
        write(self.top / "include/dynsel/config.h", "#define CONFIG_DYNSEL_COMMAND_GROUPS 1\n")
        write(self.top / "src/groups/group.h", "typedef struct held {\n    answer_fn kept;\n} held;\n")
        write(self.top / "src/submission/pending_ops.h", "typedef struct toy_pending_ops {\n    int (*ended)(int);\n} toy_pending_ops;\n")
        write(self.top / "src/submission/call_task.h", "static inline int call(answer_fn function, int n)\n{\n"
                                                 "    return function(n) + 1;\n}\n")
        source = '#include <dynsel/shape.h>\n#include "src/submission/pending_ops.h"\nvoid fill(char *bytes);\n{}'
        write(self.top / "include/dynsel/shape.h",
              OPERATIONS.replace("answer_fn answer;", "answer_fn answer;\n    answer_fn function;"))
        graph = self.graph(
            use=source.format('#include "src/submission/call_task.h"\nint draw(const question *q, int n) { return call(q->answer, n); }\n'
                              "extern const toy_pending_ops *pending_ops;\n"
                              "int each(int n) { return pending_ops->ended(n) + 1; }\n"
                              '#include "src/groups/group.h"\n'
                              "extern const held *holder;\nint colour(const question *q, int n) { return holder->kept(n) + 1; }\n"),
            tables=source.format("int dynsel_group_run(int n);\n"
                                 "int dynsel_group_run(int n) { char bytes[300]; fill(bytes); return bytes[n]; }\n"
                                 "static int end(int n) { char bytes[50]; fill(bytes); return bytes[n]; }\n"
                                 "const toy_pending_ops waiting = {.ended = end};\n"))
        self.assertEqual(self.chain(graph, "draw"), ["draw", "dynsel_group_run"])
        self.assertEqual(graph.public()["draw"].users, {"function"})
        self.assertEqual(self.chain(graph, "each"), ["each", "end"])
        self.assertEqual(graph.public()["colour"].users, {"kept"})

    def test_parameter_call_reaches_functions_with_taken_address(self):
        graph = self.graph(use=USE, tables=TABLES)
        self.assertEqual(self.chain(graph, "each"), ["each", "apply", "down"])
        self.assertGreater(graph.public()["each"].bytes, 256)

    def test_tail_call_releases_frame(self):
        source = ('#include <dynsel/shape.h>\nvoid fill(char *bytes);\nint after(int n);\n'
                  'int each(int n)\n{\n    {\n        char bytes[200];\n        fill(bytes);\n        n = bytes[n];\n    }\n'
                  '    return after(n);\n}\n')
        called = self.graph(use=source, more=AFTER).public()["each"].bytes
        jumped = self.graph("-O2", use=source, more=AFTER).public()["each"].bytes
        self.assertLess(jumped, called)
        self.assertGreaterEqual(jumped, 200)

    def test_tail_call_beside_call_keeps_frame(self):
        source = ('#include <dynsel/shape.h>\nvoid fill(char *bytes);\nint after(int n);\n'
                  'int each(int n)\n{\n    if (n > 0) {\n        char bytes[200];\n        fill(bytes);\n'
                  '        n = after(bytes[n]);\n        fill(bytes);\n    }\n    return after(n);\n}\n')
        self.assertGreaterEqual(self.graph("-O2", use=source, more=AFTER).public()["each"].bytes, 300)

    def test_recursion_error_names_cycle(self):
        self.assertEqual(self.mistakes(
            use='#include <dynsel/shape.h>\nint other(int n);\n'
                'int each(int n)\n{\n    return other(n) + 1;\n}\n',
            more='#include <dynsel/shape.h>\nint other(int n);\n'
                 'int other(int n)\n{\n    return n > 9 ? n : each(n + 1) + 1;\n}\n'),
            ["use.c:3:5: recursion without a bound: each() -> other() -> each(); use a loop"])

    def test_recursion_through_table_is_error(self):
        said = self.mistakes(use=USE, tables='#include <dynsel/shape.h>\nextern const question again;\n'
                             'static int deeper(int n)\n{\n    return draw(&again, n) + 1;\n}\n'
                             "const shape_ops deep_ops = {.draw = deeper};\n")
        self.assertEqual(len(said), 1, said)
        self.assertIn("recursion without a bound: draw() -> deeper() -> draw()", said[0])

    def test_variable_length_array_is_error(self):
        self.assertEqual(self.mistakes(
            use="#include <dynsel/shape.h>\nvoid fill(char *bytes);\n"
                "int each(int n)\n{\n    char bytes[n];\n    fill(bytes);\n    return bytes[0];\n}\n"),
            ["use.c:3:5: each() needs stack of unbounded size (a variable-length array or"
             " alloca); use an array of constant size"])

    def test_call_through_unknown_pointer_is_error(self):
        for declared in ("static int (*volatile hook)(int);", "extern int (*hook)(int);"):
            self.assertEqual(self.mistakes(
                use=f"#include <dynsel/shape.h>\n{declared}\n"
                    "int each(int n)\n{\n    return hook(n) + 1;\n}\n"),
                ["use.c:5:12: each() calls through the pointer 'hook', whose targets are unknown; use a table"
                 " of operations (a const ..._ops) or a parameter"])

    def test_unknown_pointer_beside_taken_addresses_is_error(self):
        said = self.mistakes(use=USE.replace("return apply(", "return hook(n) + apply(")
                             .replace("void fill", "extern int (*hook)(int);\nvoid fill"), tables=TABLES)
        self.assertEqual(len(said), 1, said)
        self.assertIn("each() calls through the pointer 'hook'", said[0])

    def test_driver_function_is_named_below_table(self):
        source = ('#include <dynsel/shape.h>\n#define CL_API_CALL\n'
                  "typedef int(CL_API_CALL *found_fn)(int);\nextern found_fn find(void);\n"
                  "int each(int n)\n{\n    const found_fn found = find();\n    return found(n) + 1;\n}\n")
        graph = self.graph(use=source)
        self.assertEqual(self.chain(graph, "each"), ["each"])
        self.assertEqual(graph.public()["each"].outside, {"find", "found"})
        self.assertEqual(len(self.mistakes(use=source.replace("CL_API_CALL *", "*"))), 1)

    def test_pointer_in_plain_structure_is_error(self):
        said = self.mistakes(use="#include <dynsel/shape.h>\nstruct own { int (*next)(int); };\n"
                                 "extern struct own own;\n"
                                 "int each(int n)\n{\n    return own.next(n) + 1;\n}\n")
        self.assertEqual(len(said), 1, said)
        self.assertIn("each() calls through the pointer 'next'", said[0])

    def test_exceeded_stack_limit_names_function_and_growth(self):
        graph = self.graph(use=USE, tables=TABLES)
        worst = graph.public()["each"].bytes
        said = size.past_limits([], {"stack": worst}, size.Before(), graph)
        self.assertEqual(said, [])
        down = next(f.frame for f in graph.functions.values() if f.name == "down")
        frames = {f.name: f.frame - (24 if f.name == "down" else 0) for f in graph.functions.values()}
        said = size.past_limits([], {"stack": worst - 1}, size.Before({"a.o": {}}, frames), graph)
        self.assertEqual(said, [f"stack of each() is {worst} bytes, 1 past the limit of {worst - 1}:"
                                " grew down by 24"])
        said = size.past_limits([], {"stack": 10}, size.Before(), graph)
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], rf"largest are down with {down}, .* \(3 more functions are past it\)$")

    def test_table_is_at_most_100_columns_wide(self):
        long = USE.replace("apply", "apply" * 9).replace("down", "down" * 9)
        graph = self.graph(use=long, tables=TABLES)
        self.assertIn("down" * 9, size.stack_table("v", graph, {}))
        for line in size.stack_table("v", graph, {"stack": 1}).splitlines():
            self.assertLessEqual(len(line), 100)


class Linked(unittest.TestCase):
    """What a program keeps of an archive."""

    def test_only_used_functions_count(self):
        top = Path(tempfile.mkdtemp(prefix="dynsel-linked-"))
        self.addCleanup(shutil.rmtree, top)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(top)
        write(top / "include/dynsel/toy.h", "int dynsel_toy_init(void);\n")
        write(top / "include/dynsel/submission.h", "int dynsel_submit(void);\nint dynsel_wait(void);\n")
        write(top / "toy.c", "#include <dynsel/toy.h>\n#include <dynsel/submission.h>\n"
                             "static const int table[50] = {1, 2};\nstatic int state[30];\n"
                             "int unused(int n);\nint dynsel_toy_init(void) { return ++state[3]; }\n"
                             "int dynsel_submit(void) { return table[state[1]]; }\n"
                             "int dynsel_wait(void) { return 2; }\n"
                             "static const int other[900] = {3};\nstatic int more[700];\n"
                             "int unused(int n) { return other[n] + ++more[n]; }\n")
        subprocess.run([*GCC, "-O1", "-c", "toy.c"], check=True)
        subprocess.run(["ar", "rcs", "libtoy.a", "toy.o"], check=True)
        sizes = linked._kept(["toy"], COMPILER, "libtoy.a", top)
        self.assertEqual(sizes["ram"], 120)
        self.assertGreater(sizes["flash"], 200)
        self.assertLess(sizes["flash"], 400)
        write(top / "include/dynsel/backend.h", "int unused(int n);\n#define dynsel_unused unused\n")
        more = linked._kept(["toy"], COMPILER, "libtoy.a", top, ["unused"])
        self.assertGreater(more["flash"], sizes["flash"] + 3600)

    def test_exceeded_linked_limit_names_objects(self):
        row = size.Row("a.o", {**dict.fromkeys(size.COLUMNS, 0), "text": 70})
        before = size.Before({"a.o": {"text": 50}})
        kept = {"toy": {"flash": 60, "ram": 9}}
        self.assertEqual(size.past_limits([row], {"toy": 60, "gone": 1}, before, None, kept), [])
        self.assertEqual(size.past_limits([row], {"toy": 59}, before, None, kept),
                         ["a program that uses toy has 60 bytes of the library, 1 past the limit of 59: in the"
                          " archive grew a.o by 20"])


class Build(unittest.TestCase):
    """`scons size` in a small tree."""

    @classmethod
    def setUpClass(cls):
        cls.top = support.build_tree()
        cls.addClassCleanup(shutil.rmtree, cls.top)

    def test_unknown_limit_is_refused(self):
        board = self.top / "boards/native/board.py"
        text = board.read_text(encoding="utf-8")
        self.addCleanup(write, board, text)
        write(board, text.replace("limits=limits(config)", 'limits={"stakc": 1, "auto_tune": 1}'))
        status, said = scons(self.top, "size")
        self.assertEqual(status, 2, said)
        self.assertEqual(said.count("no limit is named"), 1)
        self.assertIn("native: no limit is named 'stakc'; did you mean stack? (there are: text, ", said)

    def test_ram_table_shows_cost_of_menu_numbers(self):
        one, header = self.top / "src/one.c", self.top / "include/dynsel/one.h"
        for path in (one, header):
            self.addCleanup(write, path, path.read_text(encoding="utf-8"))
        write(header, "#ifndef ONE_H\n#define ONE_H\n#include <dynsel/autoconf.h>\nint one(void);\n"
                      "typedef struct {\n    long values[CONFIG_DYNSEL_MAX_RESOURCES + 1];\n} dynsel_selection;\n#endif\n")
        write(one, "#include <dynsel/one.h>\nenum { MOST = 1 + CONFIG_DYNSEL_MAX_IN_FLIGHT };\n"
                   "static long entries[CONFIG_DYNSEL_MAX_RESOURCES];\nstatic char bytes[MOST];\n"
                   "static struct {\n    int more[2];\n    int many[100 * CONFIG_DYNSEL_MAX_RESOURCES];\n} table;\n"
                   "static int other(void)\n{\n    static struct {\n        int more[200];\n"
                   "        int many[50 * CONFIG_DYNSEL_MAX_RESOURCES];\n    } fixed;\n    return fixed.many[0]++;\n}\n"
                   "int one(void)\n{\n    static int fixed[300];\n"
                   "    return (int)entries[0]++ + bytes[0]++ + table.many[0]++ + fixed[3]++ + other();\n}\n")
        status, said = scons(self.top, "size", "VARIANTS=native~MAX_RESOURCES=5")
        self.assertEqual(status, 0, said)
        for line in ("entries 40 8 x MAX_RESOURCES; one.o", "bytes 257 1 x (1 + MAX_IN_FLIGHT); one.o",
                     "table 2008 MAX_RESOURCES +400; one.o", "fixed 1200 one.o", "fixed 1800 MAX_RESOURCES +200; one.o", "dynsel_selection 48 MAX_RESOURCES +8"):
            self.assertIn(f" {line} ", f" {' '.join(said.split())} ")

    def test_missing_elftools_error_names_package(self):
        write(self.top / "modules/elftools.py", "raise ImportError('gone')\n")
        status, said = scons(self.top, "size", "CONF=debug", env={"PYTHONPATH": str(self.top / "modules")})
        self.assertEqual(status, 2, said)
        self.assertIn("native+debug: Python's module elftools is missing; on Debian and Ubuntu:"
                      " apt-get install python3-pyelftools\n", said)

    def test_limits_and_mistakes_fail_build_with_one_line(self):
        status, said = scons(self.top, "size")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"\none +8\n")
        board = self.top / "boards/native/board.py"
        text = board.read_text(encoding="utf-8")
        self.addCleanup(write, board, text)
        write(board, re.sub(r'"stack": .*', '"stack": 100,', text))
        two = self.top / "src/two.c"
        self.addCleanup(write, two, two.read_text(encoding="utf-8"))
        write(two, "#include <dynsel/one.h>\nint two(char *bytes);\n"
                   "int two(char *bytes)\n{\n    return bytes[0];\n}\n")
        one = self.top / "src/one.c"
        self.addCleanup(write, one, one.read_text(encoding="utf-8"))
        write(one, "#include <dynsel/one.h>\nint two(char *bytes);\n"
                   "int one(void)\n{\n    char bytes[400];\n    return two(bytes);\n}\n")
        status, said = scons(self.top, "size")
        self.assertEqual(status, 2, said)
        self.assertRegex(said, r"native: stack of one\(\) is 4\d\d bytes, 3\d\d past the limit of 100: grew one by"
                               r" 4\d\d \(limits are in boards/native/board.py\)\n")
        self.assertIn(": grew one by 4", scons(self.top, "size")[1])  # the last that was within limits
        write(two, "#include <dynsel/one.h>\nint two(char *bytes);\n"
                   "int two(char *bytes)\n{\n    return bytes[0] + one();\n}\n")
        status, said = scons(self.top, "size")
        self.assertEqual(status, 2, said)
        self.assertIn("native: src/one.c:3:5: recursion without a bound: one() -> two() -> one(); use a loop\n", said)


if __name__ == "__main__":
    unittest.main()
