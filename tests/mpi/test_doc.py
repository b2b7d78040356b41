# SPDX-License-Identifier: Apache-2.0
"""The program in doc/several-machines.md is compiled against the installed variant and runs over ranks; what the page
quotes stands in the example; its names, defaults and links exist."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(os.environ["DYNSEL_TOP"])
sys.path.insert(0, str(TOP / "tests/guide"))
import snippets  # noqa: E402

PAGE = TOP / "doc/several-machines.md"
DOC = PAGE.read_text(encoding="utf-8")
BUILD = Path(os.environ["DYNSEL_BUILD"])
ROOT = BUILD / "installed/opt/dynsel"
MPI = shlex.split(os.environ["DYNSEL_MPI"])
HEADERS = "".join(p.read_text(encoding="utf-8") for p in (TOP / "include/dynsel").glob("*.h"))
OPTIONS = "".join(p.read_text(encoding="utf-8") for p in (TOP / "src").rglob("Kconfig*"))
CONFIG = dict(re.findall(r"^#define CONFIG_(\w+) (\d+)$", (BUILD / "gen/dynsel/autoconf.h").read_text(encoding="utf-8"), re.M))
ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
BLOCKS = snippets.snippets(str(PAGE), DOC)


def headings(page):
    return {re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", page, re.M)}


class Program(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        block, = (b for b in BLOCKS if b.mark == "program: sums.c")
        Path(cls.folder.name, "sums.c").write_text(block.text, encoding="utf-8")
        line, = re.findall(r"^    gcc (-o sums .*)$", DOC, re.M)
        flags = subprocess.run(["pkg-config", "--define-prefix", "--cflags", "--libs", "dynsel"], capture_output=True, text=True,
                               env={**os.environ, "PKG_CONFIG_PATH": str(ROOT / "lib/pkgconfig")}, check=True).stdout
        typed = line.replace("$(pkg-config --cflags --libs dynsel)", flags.strip())
        subprocess.run([os.environ["DYNSEL_CC"], "-Wall", "-Wextra", "-Werror", *shlex.split(typed)], cwd=cls.folder.name, check=True)

    def run_it(self, *command):
        done = subprocess.run(command, cwd=self.folder.name, env={**os.environ, **ROOT_MAY, "POCL_DEVICES": "pthread"},
                              capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def parts_elsewhere(self, said, ranks):
        wanted, = re.findall(r"^<!-- prints: sums -->\n    (.*)$", DOC, re.M)
        found = re.fullmatch(re.escape(wanted).replace(r"\.\.\.", r"(\d+)").replace("4\\ ranks", f"{ranks}\\ ranks") + "\n", said)
        self.assertTrue(found, said)
        return int(found.group(1))

    def test_runs_over_ranks(self):
        line, = re.findall(r"^    mpirun -n (4 \./sums)$", DOC, re.M)
        self.assertGreater(self.parts_elsewhere(self.run_it(*MPI, *line.split()), 4), 0)

    def test_runs_alone(self):
        self.assertEqual(self.parts_elsewhere(self.run_it("./sums"), 1), 0)

    def test_each_rank_gets_its_own_device(self):
        line, = re.findall(r"^    mpirun (-n 2 sh -c .*?)    # MPICH: (\$\w+)$", DOC, re.M)
        command = line[0] if CONFIG["DYNSEL_MPI_OPENMPI"] == "1" else line[0].replace("$OMPI_COMM_WORLD_LOCAL_RANK", line[1])
        words = shlex.split(command)[1:]
        said = self.run_it(*MPI, words[0], *words[1:-1], "echo " + words[-1].split()[0] + "; " + words[-1])
        self.assertEqual(sorted(re.findall(r"^DYNSEL_OPENCL=type=gpu,index=(\d)$", said, re.M)), ["0", "1"])
        self.assertIn("2 ranks: the sum is ", said)


class Page(unittest.TestCase):
    def test_each_block_is_tested(self):
        self.assertGreater(len(BLOCKS), 1)
        for block in BLOCKS:
            with self.subTest(block.where()):
                self.assertTrue(block.mark == "program: sums.c" or block.is_a("from: "))
                if block.is_a("from: "):
                    self.assertTrue(snippets.is_part(block.text, (TOP / block.value()).read_text(encoding="utf-8")))

    def test_its_names_exist(self):
        text = re.sub(r"^```c.*?^```", "", DOC, flags=re.M | re.S)
        for name in sorted(set(re.findall(r"\b(?:CONFIG_)?((?:dynsel|DYNSEL)_\w*[a-zA-Z])\b", text))):
            with self.subTest(name):
                known = name == "DYNSEL_OPENCL" or re.search(rf"\b{name}\b", HEADERS) or f"config {name}\n" in OPTIONS
                self.assertTrue(known or name == "dynsel_trace")

    def test_defaults_are_those_of_the_menu(self):
        rows = re.findall(r"^\| `(DYNSEL_\w+)` \| .* \| ([\d,]+) \|$", DOC, re.M)
        self.assertGreater(len(rows), 4)
        for name, value in rows:
            with self.subTest(name):
                self.assertEqual(CONFIG[name], value.replace(",", ""))

    def test_statuses_of_refusals_are_in_the_header(self):
        header = (TOP / "include/dynsel/mpi.h").read_text(encoding="utf-8")
        for status in ("DYNSEL_E_UNSUPPORTED", "DYNSEL_E_TIMEOUT", "DYNSEL_E_FULL", "DYNSEL_E_INVALID", "DYNSEL_E_BUSY",
                       "DYNSEL_E_OUT_OF_SERVICE"):
            self.assertIn(status, header)
            self.assertIn(status, DOC)

    def test_each_link_has_target(self):
        for target in re.findall(r"\]\(([^)]+)\)", DOC):
            with self.subTest(target):
                page, _, heading = target.partition("#")
                if not target.startswith("https:"):
                    self.assertTrue(not page or (TOP / "doc" / page).exists())
                    of = (TOP / "doc" / page).read_text(encoding="utf-8") if page and heading else DOC
                    self.assertTrue(not heading or heading in headings(of))


if __name__ == "__main__":
    unittest.main()
