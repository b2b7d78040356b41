# SPDX-License-Identifier: Apache-2.0
"""What the README says is so: its program is the example, its links lead somewhere, its commands work."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
QUICK = "CONFIG_DYNSEL_OPTIMIZE_DEBUG=y\nCONFIG_DYNSEL_ONE_FILE=y\n"  # the library is compiled in a fifth of the time
README = (TOP / "README.md").read_text(encoding="utf-8")


def run(command, folder, **variables):
    return subprocess.run(command, shell=True, cwd=folder, env={**os.environ, **variables}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def commands_after(words):
    """The lines of the first indented block behind these words; `export` lines go before each other."""
    block = re.search(r"\n\n((?:    .*\n)+)", README[README.index(words):]).group(1)
    lines = [line.strip() for line in block.splitlines()]
    exports = [line for line in lines if line.startswith("export ")]
    return ["; ".join(exports + [line]) for line in lines if line not in exports]


class Readme(unittest.TestCase):
    def test_its_program_is_the_example(self):
        program = re.search(r"```c\n(.*?)```", README, re.S).group(1)
        example = (TOP / "examples/first/first.c").read_text(encoding="utf-8").split("\n", 1)[1]
        self.assertEqual(program, example)

    def test_each_link_has_target(self):
        for target in re.findall(r"\]\(([^)]+)\)", README):
            with self.subTest(target):
                self.assertTrue((TOP / target.partition("#")[0]).exists())

    def test_bootstrap_does_nothing_where_all_is_there(self):
        done = run("./bootstrap echo ready", TOP)
        self.assertEqual((done.returncode, done.stdout), (0, "ready\n"))

    def test_bootstrap_wants_mpi_only_where_it_is_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            for tool in ("sh", "sed", "tr", "dirname", "ls", "cat"):  # and nothing that it could find, or install with
                Path(folder, tool).symlink_to(shutil.which(tool))
            for words, wanted in (("scons demo", ()), ("scons test", ()), ("scons CONF=sanitize,trace test", ()),
                                  ("scons CONF=mpi test", ("libopenmpi-dev", "openmpi-bin")),
                                  ("scons CONF=clang,mpich~ONE_FILE=y", ("libmpich-dev", "mpich")),
                                  ("scons VARIANTS=native+mpi,native test", ("libopenmpi-dev", "openmpi-bin")),
                                  ("scons check", ("libopenmpi-dev", "openmpi-bin", "libmpich-dev", "mpich"))):
                said = run(f"./bootstrap {words}", TOP, PATH=folder).stdout
                self.assertIn("missing here: scons", said)
                self.assertEqual(tuple(word for word in said.split() if "mpi" in word), wanted, said)

    def test_the_library_can_be_installed_and_used(self):
        with tempfile.TemporaryDirectory() as home:
            tree = Path(home, "dynsel")  # a copy: the tree itself is being built
            shutil.copytree(TOP, tree, ignore=shutil.ignore_patterns("build", ".git"))
            with open(tree / "boards/native/defconfig", "a", encoding="utf-8") as file:
                file.write(QUICK)
            for command in commands_after("from a project of your own"):
                done = run(command, tree, HOME=home)
                self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
            done = run("./first", tree, OCL_ICD_VENDORS=home)
            self.assertEqual(done.stdout, "".join(f"task {i} runs on host\n" for i in range(4)))


if __name__ == "__main__":
    unittest.main()
