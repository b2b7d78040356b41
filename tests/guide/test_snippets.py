# SPDX-License-Identifier: Apache-2.0
"""The guide's code is real: parts are those of files that are built, programs run, commands print what is said."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from snippets import MARKS, is_part, matches, snippets

TOP = Path(os.environ["DYNSEL_TOP"])
ROOT = Path(os.environ["DYNSEL_BUILD"]) / "installed/opt/dynsel"
PAGES = sorted((TOP / "doc/guide").glob("*.md"))


def read(page):
    return snippets(str(page.relative_to(TOP)), page.read_text(encoding="utf-8"))


def is_here(thing):
    """A command, or a module of pkg-config."""
    return shutil.which(thing) or subprocess.run(["pkg-config", "--exists", thing], check=False).returncode == 0


class Guide(unittest.TestCase):
    maxDiff = None

    def test_each_block_says_what_it_is(self):
        self.assertGreater(len(PAGES), 6)
        for snippet in (s for page in PAGES for s in read(page)):
            self.assertTrue(snippet.mark.startswith(MARKS), f"{snippet.where()}: a block without a mark")

    def test_parts_are_in_their_files(self):
        for snippet in (s for page in PAGES for s in read(page) if s.is_a("from: ")):
            with self.subTest(snippet.where()):
                file = (TOP / snippet.value()).read_text(encoding="utf-8")
                self.assertTrue(is_part(snippet.text, file), f"{snippet.where()}: not in {snippet.value()}")

    def test_programs_and_commands_work(self):
        for page in PAGES:
            with self.subTest(page.name), tempfile.TemporaryDirectory(prefix="dynsel-guide-") as folder:
                self.play(read(page), Path(folder))

    def test_each_program_is_compiled(self):
        for page in PAGES:
            blocks = read(page)
            for i, program in enumerate(blocks):
                if program.is_a("program: "):
                    self.assertTrue(any(b.is_a("run") and program.value() in b.text for b in blocks[i:]),
                                    f"{program.where()}: no command compiles {program.value()}")

    def play(self, blocks, folder):
        """Runs the commands of a page, one after the other, and compares what they print."""
        shutil.copytree(TOP / "examples/ports", folder / "examples/ports")
        text = (ROOT / "lib/pkgconfig/dynsel.pc").read_text(encoding="utf-8")
        (folder / "dynsel.pc").write_text(text.replace("prefix=/opt/dynsel", f"prefix={ROOT}"), encoding="utf-8")
        here, said = folder, None
        for snippet in blocks:
            if snippet.is_a("program: "):
                (folder / snippet.value()).write_text(snippet.text, encoding="utf-8")
            elif snippet.is_a("run"):
                here, said = self.run_commands(snippet, folder, here)
            elif snippet.is_a("prints") and said is not None:
                self.assertTrue(matches(snippet.text, said), f"{snippet.where()}: printed was\n{said}")

    def run_commands(self, snippet, folder, here):
        """The folder afterwards, where the next commands run, and what was printed; None: skipped."""
        for thing in snippet.needs():
            if not is_here(thing):
                print(f"skipped {snippet.where()}: {thing} is not here")
                return here, None
        if "in a copy of the tree" in snippet.options():
            here = folder / "tree"
            shutil.copytree(TOP, here, ignore=shutil.ignore_patterns("build", ".git"))
        script = "set -eu\n" + snippet.text + '\npwd >"$GUIDE_FOLDER/where"\n'
        env = {**os.environ, "PKG_CONFIG_PATH": str(folder), "GUIDE_FOLDER": str(folder), "HOME": str(folder),
               "PATH": f"{ROOT}/bin:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-c", script], cwd=here, env=env, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, f"{snippet.where()}: failed\n{done.stdout}")
        return Path((folder / "where").read_text(encoding="utf-8").strip()), done.stdout


if __name__ == "__main__":
    unittest.main()
