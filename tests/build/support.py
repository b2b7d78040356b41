# SPDX-License-Identifier: Apache-2.0
"""Small trees for tests of the build system."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "site_scons"))

KCONFIG = """
config DYNSEL_HAS_RADIO
	bool

source "boards/*/Kconfig.board"
source "$(DYNSEL_MENU)/Kconfig.products"

config DYNSEL_CACHE
	bool "Cache"
	help
	  Keeps what was seen.

config DYNSEL_CACHE_LINES
	int "Lines"
	depends on DYNSEL_CACHE
	default 8
	range 1 64
	help
	  How many.

config DYNSEL_RADIO
	bool "Radio"
	depends on DYNSEL_HAS_RADIO && DYNSEL_CACHE
	help
	  Talks.

config DYNSEL_MASK
	hex "Mask"
	default 0x10
	range 0x0 0xff
	help
	  Bits.

config DYNSEL_GREETING
	string "Greeting"
	default "hello"
	help
	  A text.

choice DYNSEL_COLOUR
	prompt "Colour"
	default DYNSEL_COLOUR_RED
	help
	  One of them.

config DYNSEL_COLOUR_RED
	bool "Red"
	help
	  Red.

config DYNSEL_COLOUR_BLUE
	bool "Blue"
	help
	  Blue.

config DYNSEL_COLOUR_RADIO
	bool "Radio's own"
	depends on DYNSEL_RADIO
	help
	  Its own.

endchoice
"""

ASPECTS = """\
#if CONFIG_DYNSEL_ASPECT_SOUND
DYNSEL_ASPECT(sound, "can be heard", 0, NO)
#endif
#undef DYNSEL_ASPECT
"""

TARGETS = """\
bell:
  text: a bell
  source: everybody has heard one
  recognize: [{name: bell}]
  added_by: []
  aspects: [sound]
  may_support_other_aspects: false
  sub_group_sizes: []
"""


def menu_tree(kconfig=KCONFIG, **files):
    """A tree with a menu, the boards plain and radio, and nothing to build.

    files: configs/<name>.conf by name, or board__<name> for a defconfig.
    """
    top = Path(tempfile.mkdtemp(prefix="dynsel-menu-"))
    (top / "configs").mkdir()
    write(top / "Kconfig", kconfig)
    write(top / "include/dynsel/aspects.def", ASPECTS)
    write(top / "boards/targets.yaml", TARGETS)
    for board, selects in (("plain", ""), ("radio", "\tselect DYNSEL_HAS_RADIO\n")):
        write(top / "boards" / board / "Kconfig.board",
              f"config DYNSEL_BOARD_{board.upper()}\n\tbool\n"
              f'\tdefault y if "$(BOARD)" = "{board}"\n{selects}')
        write(top / "boards" / board / "defconfig", files.pop(f"board__{board}", ""))
    for name, text in files.items():
        write(top / "configs" / f"{name}.conf", text)
    return top


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


SOURCES = {
    "src/SConscript": 'Import("component")\n'
                      'component("one", ["one.c", "two.c"])\n'
                      'component("rr", ["rr.c"], when=["DYNSEL_POLICY_ROUND_ROBIN"])\n',
    "src/one.c": "#include <dynsel/autoconf.h>\nint one(void);\n"
                 "int one(void)\n{\n    return CONFIG_DYNSEL_MAX_RESOURCES;\n}\n",
    "src/two.c": "int two(void);\nint two(void)\n{\n    return 2;\n}\n",
    "src/rr.c": "int rr(void);\nint rr(void)\n{\n    return 3;\n}\n",
    "include/dynsel/one.h": "#ifndef ONE_H\n#define ONE_H\nint one(void);\n#endif\n",
    "examples/SConscript": 'Import("program")\nprogram("hello", ["hello.c"])\n',
    "examples/hello.c": "#include <dynsel/one.h>\n#include <stdio.h>\n"
                        'int main(void)\n{\n    printf("%d\\n", one());\n    return 0;\n}\n',
    "tests/SConscript": 'Import("test")\n'
                        'test("test_good.c", libs=[], runs={"a": {"ANSWER": "1"}, "b": {"ANSWER": "2"}})\n'
                        'test("test_other.c", libs=[])\n'
                        'test("test_rr.c", libs=[], when=["DYNSEL_POLICY_ROUND_ROBIN"])\n'
                        'test("test_script.py", once=True)\n'
                        'test("test_plain.py")\n'
                        'test("test_of_build.py", of="build")\n',
    "tests/test_good.c": "#include <dynsel/one.h>\nint main(void)\n{\n    return one() == 0;\n}\n",
    "tests/test_other.c": "int main(void)\n{\n    return 0;\n}\n",
    "tests/test_rr.c": "int main(void)\n{\n    return 0;\n}\n",
    **{f"tests/test_{name}.py": "import unittest\n\n\nclass T(unittest.TestCase):\n"
                                "    def test(self):\n        pass\n\n\nunittest.main()\n"
       for name in ("script", "plain", "of_build")},
}


def build_tree():
    """A tree with the real menu, boards and build system, and a few lines of C to build."""
    top = Path(tempfile.mkdtemp(prefix="dynsel-build-"))
    for name in ("SConstruct", "Kconfig", ".clang-format", ".clang-tidy"):
        shutil.copy(TOP / name, top / name)
    for folder in ("site_scons", "boards/native", "configs"):
        shutil.copytree(TOP / folder, top / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TOP / "boards/targets.yaml", top / "boards/targets.yaml")
    for path in [*TOP.glob("src/**/Kconfig*"), *TOP.glob("tests/*.supp")]:
        write(top / path.relative_to(TOP), path.read_text(encoding="utf-8"))
    for name in ("aspects.def", "aspect_traits.h"):
        write(top / "include/dynsel" / name, (TOP / "include/dynsel" / name).read_text(encoding="utf-8"))
    for name in ("include/dynsel/version.h", "LICENSE", "CHANGELOG.md"):
        write(top / name, (TOP / name).read_text(encoding="utf-8"))
    write(top / "include/dynsel/iterators.h", "#ifndef ITERATORS_H\n#define ITERATORS_H\n#endif\n")
    for name, text in SOURCES.items():
        write(top / name, text)
    for name in ("dynsel-learned", "dynsel-trace", "dynsel_trace/page/page.html"):
        write(top / "tools" / name, "")
    return top


def library_tree(suffix=""):
    """A tree with the whole library, and nothing that uses it."""
    top = Path(tempfile.mkdtemp(prefix="dynsel-library-", suffix=suffix))
    for name in ("SConstruct", "Kconfig", "LICENSE", "CHANGELOG.md"):
        shutil.copy(TOP / name, top / name)
    for folder in ("site_scons", "boards", "configs", "include", "src"):
        shutil.copytree(TOP / folder, top / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("examples", "tools"):
        write(top / folder / "SConscript", "")
    for name in ("dynsel-learned", "dynsel-trace"):
        shutil.copy(TOP / "tools" / name, top / "tools" / name)
    shutil.copytree(TOP / "tools/dynsel_trace", top / "tools/dynsel_trace")
    return top


def scons(top, *arguments, env=None, program="scons"):
    """(exit status, stdout and stderr together) of one call of scons."""
    around = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run([program, "-Q", *arguments], cwd=top, env={**around, **(env or {})},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    return result.returncode, result.stdout


def snapshot(top, folder="build"):
    """Path -> time of last change, of what was built."""
    return {str(p.relative_to(top)): p.stat().st_mtime_ns for p in sorted((top / folder).rglob("*"))
            if p.is_file() and not p.name.startswith(".sconsign") and p.name != ".lock"}
