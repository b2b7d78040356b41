# SPDX-License-Identifier: Apache-2.0
"""The program in doc/simulator.md is compiled against the installed variant, and runs; its links and names exist."""

import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(os.environ["DYNSEL_TOP"])
DOC = (TOP / "doc/simulator.md").read_text(encoding="utf-8")
ROOT = Path(os.environ["DYNSEL_BUILD"]) / "installed/opt/dynsel"
RUNNER = shlex.split(os.environ["DYNSEL_RUNNER"])
HEADERS = "".join(p.read_text(encoding="utf-8") for p in (TOP / "include/dynsel").glob("*.h"))


class Doc(unittest.TestCase):
    def test_its_program_runs(self):
        code, = re.findall(r"```c\n(.*?)```", DOC, re.S)
        line, = re.findall(r"^    gcc (main\.c .*)$", DOC, re.M)
        environment = {**os.environ, "PKG_CONFIG_PATH": str(ROOT / "lib/pkgconfig")}
        flags = subprocess.run(["pkg-config", "--define-prefix", "--cflags", "--libs", "dynsel"], env=environment,
                               capture_output=True, text=True, check=True).stdout
        typed = line.replace("$(pkg-config --cflags --libs dynsel)", flags.strip())
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "main.c").write_text(code, encoding="utf-8")
            subprocess.run([os.environ["DYNSEL_CC"], "-Wall", "-Wextra", "-Werror", f"-L{ROOT}/lib",
                            *shlex.split(typed)], cwd=folder, check=True)
            said = subprocess.run([*RUNNER, f"{folder}/a.out"], capture_output=True, text=True, timeout=60,
                                  check=True).stdout
        counts = re.fullmatch(r"[0-9.]+ ms; on the GPU (\d+) pieces, on the worker (\d+)\n", said)
        gpu, worker = map(int, counts.groups())
        self.assertEqual(gpu + worker, 1000)
        self.assertGreater(gpu, worker)
        self.assertGreater(worker, 0)

    def test_its_names_exist(self):
        for name in sorted(set(re.findall(r"\b((?:dynsel|DYNSEL)_\w*[a-zA-Z])\b", DOC))):
            with self.subTest(name):
                self.assertRegex(HEADERS, rf"\b{name}\b")

    def test_each_link_has_target(self):
        for target in re.findall(r"\]\(([^)]+)\)", DOC):
            with self.subTest(target):
                self.assertTrue((TOP / "doc" / target).exists())


if __name__ == "__main__":
    unittest.main()
