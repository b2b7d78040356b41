# SPDX-License-Identifier: Apache-2.0
"""The example with iterators is right everywhere, stages exactly what must be staged, and its README is true: a mark
in the user's own header turns staging off."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP, BUILD, BIN = (Path(os.environ[name]) for name in ("DYNSEL_TOP", "DYNSEL_BUILD", "DYNSEL_BIN"))
EXAMPLES = TOP / "examples"
README = (EXAMPLES / "iterators/README.md").read_text(encoding="utf-8")
NO_DRIVER = {"OCL_ICD_VENDORS": os.environ["DYNSEL_TOP"] + "/tests/opencl/icd/none"}
CONFIGURED = (BUILD / ".config").read_text(encoding="utf-8")


def has(option):
    return f"CONFIG_DYNSEL_{option}=y" in CONFIGURED


ROW = re.compile(r"^(?:    )?(.*\S) +(yes|no) +(\d+) +(\d+) +(\d+)  (.*)$", re.M)
COLUMNS = ("trait", "staged in", "staged out", "direct")

# On a device
ROWS = {
    "sum of host array": ("no", 4000, 0, 0),
    "sum of counting": ("yes", 0, 0, 0),
    "sum of transform(host)": ("no", 4000, 0, 0),
    "sum of permutation(host, host)": ("no", 5000, 0, 0),
    "sum of reverse(host)": ("no", 4000, 0, 0),
    "host array into host array": ("no", 4000, 4000, 0),
    "sum of SVM": ("yes", 0, 0, 4000),
    "sum of transform(SVM)": ("yes", 0, 0, 4000),
    "sum of permutation(SVM, counting)": ("yes", 0, 0, 4000),
    "sum of transform(zip(SVM, host))": ("no", 4000, 0, 4000),
    "sum of transform(zip(SVM, counting))": ("yes", 0, 0, 4000),
    "sum of reverse(SVM)": ("yes", 0, 0, 4000),
    "sum of pair(SVM, SVM)": ("yes", 0, 0, 8000),
    "sum of the same by an unmarked name": ("no", 8000, 0, 0),
    "sum of pair(SVM, host)": ("no", 8000, 0, 0),
    "SVM into SVM": ("yes", 0, 0, 8000),
    "SVM into discard": ("yes", 0, 0, 4000),
}
WITHOUT_THE_MARK = {**ROWS, "sum of pair(SVM, SVM)": ("no", 8000, 0, 0)}


def table(said):
    """{row: (trait, bytes staged in, out, direct)}, {row: where}"""
    found = ROW.findall(said)
    return ({text: (trait, int(bytes_in), int(out), int(direct)) for text, trait, bytes_in, out, direct, _ in found},
            {text: where for text, *_, where in found})


def run(program, *arguments, **variables):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, **variables})


def policies():
    said = run(BIN / "iterators", "--help").stdout
    return re.search(r"There are\n +(.*)\n", said).group(1).split(", ")


class Case(unittest.TestCase):
    def check(self, done, rows):
        """Everything is right, and what was moved on each device is this. Returns where."""
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        moved, where = table(done.stdout)
        for text, (trait, bytes_in, out, direct) in rows.items():
            on_host = where.get(text) == "host"
            expected = (trait, 0, 0, direct) if on_host else (trait, bytes_in, out, direct)
            self.assertEqual(dict(zip(COLUMNS, moved.get(text, ()))), dict(zip(COLUMNS, expected)), text)
        self.assertEqual(list(moved), list(rows))
        sums = [sum(row[i] for row in moved.values()) for i in (1, 2, 3)]
        together = re.search(r"^together +(\d+) +(\d+) +(\d+)$", done.stdout, re.M)
        self.assertEqual([int(number) for number in together.groups()], sums)
        self.assertIn(f"0 of {len(rows)} are wrong; the policy's counters agree", done.stdout)
        return set(where.values())


class Iterators(Case):
    def each(self, devices, **variables):
        """Runs it with every policy; yields (policy, where it ran)."""
        for policy in policies():
            with self.subTest(policy=policy, devices=devices):
                done = run(BIN / "iterators", "--policy", policy, "--devices", devices, **variables)
                yield policy, self.check(done, ROWS)

    def test_nothing_is_staged_on_the_host(self):
        for _, where in self.each("host"):
            self.assertEqual(where, {"host"})

    @unittest.skipUnless(has("BACKEND_OPENCL"), "no OpenCL in this build")
    def test_on_a_device_alone(self):
        for _, where in self.each("name=pthread"):
            self.assertEqual(len(where), 1)
            self.assertTrue(where.pop().startswith("pthread"))

    @unittest.skipUnless(has("BACKEND_OPENCL"), "no OpenCL in this build")
    def test_on_host_and_device_at_once(self):
        for policy, where in self.each("all"):
            if policy == "round_robin":
                self.assertIn("host", where)
                self.assertTrue(any(name.startswith("pthread") for name in where), where)

    def test_without_a_driver_the_host_does_it_all(self):
        for _, where in self.each("all", **NO_DRIVER):
            self.assertEqual(where, {"host"})


class Mark(Case):
    """What the README lets its readers do, in a copy of the example."""

    def compile(self, folder):
        sources = ["iterators/iterators.c", "common/choice.c", "common/program.c"]
        libraries = ["-lOpenCL"] if has("BACKEND_OPENCL") else []
        done = run(os.environ["DYNSEL_CC"], "-std=c11", "-pthread", *(folder / "examples" / s for s in sources),
                   f"-I{BUILD}/gen", f"-I{TOP}/include", BUILD / "libdynsel.a", *libraries, "-o", folder / "iterators")
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder / "iterators"

    def commands(self):
        return [line.strip() for line in README.splitlines() if re.match(r"    (sed|git|scons|build/)", line)]

    @unittest.skipIf(has("SANITIZE") or has("SANITIZE_THREAD") or has("COVERAGE"), "the archive needs a runtime")
    @unittest.skipUnless(has("BACKEND_OPENCL"), "no OpenCL in this build")
    def test_a_mark_turns_staging_off_with_no_other_change(self):
        folder = Path(tempfile.mkdtemp(prefix="dynsel-iterators-"))
        self.addCleanup(shutil.rmtree, folder)
        for name in ("iterators", "common"):
            shutil.copytree(EXAMPLES / name, folder / "examples" / name)
        whole = (EXAMPLES / "iterators/pair.h").read_text(encoding="utf-8")
        edit, = [line for line in self.commands() if line.startswith("sed ")]
        subprocess.run(edit, shell=True, cwd=folder, check=True)
        left = (folder / "examples/iterators/pair.h").read_text(encoding="utf-8")
        gone = [line for line in whole.splitlines() if line not in left.splitlines()]
        self.assertEqual(len(whole.splitlines()) - len(left.splitlines()), len(gone))
        self.assertIn("\n".join(line.rstrip(" \\") for line in gone), README)
        self.check(run(self.compile(folder), "--devices", "name=pthread"), WITHOUT_THE_MARK)
        (folder / "examples/iterators/pair.h").write_text(whole, encoding="utf-8")
        self.check(run(self.compile(folder), "--devices", "name=pthread"), ROWS)

    def test_the_readme_shows_what_comes_out(self):
        _, shown, without, marked = README.split("    scons build/native/bin/iterators\n")
        self.assertEqual(table(shown)[0], ROWS)
        for text, rows in ((without, WITHOUT_THE_MARK), (marked, ROWS)):
            self.assertEqual(table(text)[0], {"sum of pair(SVM, SVM)": rows["sum of pair(SVM, SVM)"]})


if __name__ == "__main__":
    unittest.main()
