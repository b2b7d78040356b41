# SPDX-License-Identifier: Apache-2.0
"""Sources that clash, as one file: what a compiler sees of each is as it was."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support
from dynsel_build import amalgamation, components, config as configs, trees, variants
from dynsel_build.errors import UserMistake

LICENSE = amalgamation.LICENSE
HEADER = """\
#ifndef ROOM_ONE_H
#define ROOM_ONE_H
int one(void);
int two(void);
#endif
"""
# In both: a function, a variable, a pointer to a function, a constant, a type, a tag and a macro of the same name.
ONE = """\
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#if 0
#include "room/one.h"
#endif
#include "one.h"
#define LIMIT 3
enum { FIRST = 1, NEXT };
typedef struct place {
    int value;
    int find;
} place;
typedef int (*caller)(int);
static __attribute__((noinline)) int
find(const place *find_in)
{
    return find_in->value + find_in->find; /* find() */
}
static int value = LIMIT + NEXT;
static int (*const table[])(const place *) = {find};
int one(void)
{
    const place place = {.value = value, .find = 10};
    return table[0](&place) + (int)sizeof("find") + (getenv("") != NULL);
}
"""
TWO = """\
#include "room/one.h"
#define LIMIT 7
enum { FIRST = 100, NEXT };
struct place {
    char find;
};
typedef struct place place;
typedef long (*caller)(long);
static int find(place place)
{
    return place.find + FIRST;
}
static const char value = 'f';
static int (*const table[])(place) = {find};
int two(void)
{
    return table[0]((place){value}) + LIMIT + NEXT;
}
"""
PROGRAM = """\
#include <stdio.h>
#include <dynsel/autoconf.h>
int one(void);
int two(void);
int main(void)
{
    return printf("%d %d\\n", one(), two()) < 0;
}
"""
AUTOCONF = '#define DYNSEL_CONFIG_HASH 0x12345678u\n#define DYNSEL_CONFIG_HASH_TEXT "12345678"\n' \
           '#define DYNSEL_CONFIG_VARIANT_TEXT "v"\n'


class OneFile(unittest.TestCase):
    def setUp(self):
        self.top = Path(tempfile.mkdtemp(prefix="dynsel-one-file-"))
        self.addCleanup(shutil.rmtree, self.top)
        for name, text in (("src/room/one.h", HEADER), ("src/room/one.c", ONE), ("src/other/one.c", TWO),
                           ("include/dynsel/autoconf.h", AUTOCONF), ("main.c", PROGRAM)):
            support.write(self.top / name, LICENSE + text)

    def joined(self, *sources):
        return amalgamation.text(self.top, self.top / "gen", sources or ["src/room/one.c", "src/other/one.c"],
                                 variant="v", tag="c12345678")

    def test_it_does_what_the_sources_do(self):
        support.write(self.top / "dynsel.c", self.joined())
        answers = []
        for sources in (["src/room/one.c", "src/other/one.c"], ["dynsel.c"]):
            subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Iinclude", "-Isrc", "main.c", *sources,
                            "-o", "main"], cwd=self.top, check=True)
            answers.append(subprocess.run(["./main"], cwd=self.top, check=True, capture_output=True).stdout)
        self.assertEqual(answers[0], answers[1])

    def test_a_file_that_is_missing_is_named(self):
        support.write(self.top / "src/room/bad.c", '#include "room/gone.h"\n')
        with self.assertRaisesRegex(UserMistake, 'src/room/bad.c: the file of #include "room/gone.h" is neither'):
            self.joined("src/room/bad.c")

    def test_names_that_clash_tell_their_file(self):
        text = self.joined()
        for name in ("room_one_find(const", "static int other_one_find(", "{ room_one_FIRST = 1,", "other_one_value ="):
            self.assertIn(name, text)
        self.assertIn("find_in->find; /* find() */", text)
        self.assertIn('sizeof("find")', text)

    def test_a_header_included_under_a_condition_is_there_afterwards(self):
        self.assertEqual(self.joined("src/room/one.c").count("int one(void);"), 2)
        self.assertEqual(self.joined("src/other/one.c", "src/room/one.c").count("int one(void);"), 1)


class Sources(unittest.TestCase):
    def test_conditions(self):
        config = {"DYNSEL_A": True, "DYNSEL_B": False, "DYNSEL_N": 4, "DYNSEL_OFF": None}
        for condition, wanted in (("DYNSEL_A", True), ("!DYNSEL_A", False), ("DYNSEL_B|DYNSEL_A", True),
                                  ("DYNSEL_N>=4", True), ("DYNSEL_N>=5", False), ("DYNSEL_OFF>=1", False),
                                  ("DYNSEL_OFF>=1|!DYNSEL_B", True)):
            self.assertEqual(bool(components.holds(config, condition)), wanted, condition)

    def test_the_target_writes_the_folder(self):
        top = support.library_tree()
        self.addCleanup(shutil.rmtree, top)
        folder = top / "build/native+minimal/amalgamation"
        status, said = support.scons(top, "amalgamation", "CONF=minimal")
        self.assertEqual(status, 0, said)
        self.assertEqual({path.name for path in folder.iterdir()}, {"dynsel.c", "include", "LICENSE"})
        self.assertIn("variant native+minimal, configuration c", (folder / "dynsel.c").read_text("utf-8"))
        before = support.snapshot(top)
        self.assertEqual(support.scons(top, "amalgamation", "CONF=minimal")[0], 0)
        self.assertEqual(support.snapshot(top), before)
        header = top / "src/policy/policy.h"
        header.write_text(header.read_text("utf-8") + "/* changed */\n", encoding="utf-8")
        self.assertEqual(support.scons(top, "amalgamation", "CONF=minimal")[0], 0)
        self.assertIn("/* changed */", (folder / "dynsel.c").read_text("utf-8"))
        self.assertEqual(support.scons(top, "-c", "amalgamation", "CONF=minimal")[0], 0)
        self.assertEqual([path for path in folder.rglob("*") if path.is_file()], [])

    def test_sources_are_those_of_the_archive(self):
        """Read without SCons, and with it."""
        top = support.library_tree()
        self.addCleanup(shutil.rmtree, top)
        for name in ("native", "native+minimal", "mps2_an385+useful"):
            variant = variants.parse(trees.own(top), name)
            config = configs.load(trees.own(top), variant.board, variant.layers(trees.own(top)), name)
            status, said = support.scons(top, "-n", f"build/{name}/libdynsel.a", f"VARIANTS={name}")
            self.assertEqual(status, 0, said)
            compiled = [line.split("/obj/")[1].removesuffix(".o") for line in said.splitlines() if line.startswith("  CC ")]
            sources, libs = components.sources_of(top, config)
            self.assertEqual(sorted(compiled), sorted(s.removeprefix("src/").removesuffix(".c") for s in sources))
            self.assertEqual(libs, ["OpenCL"] if name == "native" else [])


if __name__ == "__main__":
    unittest.main()
