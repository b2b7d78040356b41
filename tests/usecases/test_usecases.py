# SPDX-License-Identifier: Apache-2.0
"""The use cases as somebody calls them: few pieces of work, wrong options, devices and files that are not there."""

import csv
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(os.environ["DYNSEL_BUILD"]) / "usecases"
SCRIPTS = Path(os.environ["DYNSEL_TOP"]) / "bench/usecases"
NO_DRIVER = {"OCL_ICD_VENDORS": os.environ["DYNSEL_TOP"] + "/tests/opencl/icd/none"}
ONE = {"POCL_DEVICES": "pthread"}
NOTHING = ["--workers", "0"]
PROGRAMS = {
    "mix": ["--runs", "8", "--most-elements", "12", "--most-work", "12"],
    "tiny": ["--runs", "3"],
    "scale": ["--workers", "2", "--seconds", "1", "--rounds", "1", "--task-us", "200"],
    "trouble": ["--pieces", "300", "--task-us", "20"],
    "nstream": ["--elements", "8", "--iterations", "3", "--passes", "2"],
    "filter": ["--passes", "2", "--radius", "1"],
    "matmul": ["--tiles", "2", "--tile", "8", "--passes", "2"],
    "cholesky": ["--tiles", "4", "--tile", "8", "--passes", "2"],
    "stencil": ["--parts", "2", "--rows", "2", "--columns", "16", "--iterations", "3", "--passes", "2"],
    "stream": ["--in-flight", "1", "--pieces", "30", "--most-elements", "10", "--most-work", "12", "--passes", "2"],
}
CHOSEN = os.environ["DYNSEL_USECASES"].split()
needs_all = unittest.skipIf(len(CHOSEN) < len(PROGRAMS), "it tests scripts, where all programs are tested")
WITH_ORACLE = ("matmul", "cholesky", "stencil", "stream")
POOR = Path(__file__).resolve().parent / "poor_opencl.c"
POLICIES = {"round_robin", "dynamic_load"}


def picture(folder):
    pixels = bytes((x * y + 7 * c) % 256 for y in range(9) for x in range(13) for c in range(3))
    (Path(folder) / "small.ppm").write_bytes(b"P6\n# a comment\n13 9\n255\n" + pixels)


def chosen(programs):
    """Those of them that this build has."""
    return [program for program in programs if program in CHOSEN]


def run(program, *arguments, **variables):
    if program not in CHOSEN:
        raise unittest.SkipTest(f"usecase-{program} is not among the chosen ones")
    around = {name: value for name, value in os.environ.items() if name != "DYNSEL_OPENCL"}
    return subprocess.run([FOLDER / f"usecase-{program}", *arguments], capture_output=True, text=True,
                          check=False, env={**around, **ONE, **variables})


class Usecases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        picture(self.folder)

    def options(self, program):
        return PROGRAMS[program] + (["--pictures", self.folder] if program == "filter" else [])

    def test_only_some_take_part(self):
        done = run("matmul", *self.options("matmul"), "--only", "worker,finish")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "(?m)^fixed worker 0 ")
        self.assertRegex(done.stdout, "(?m)^earliest_finish ")
        self.assertNotRegex(done.stdout, "(?m)^(fixed p|round_robin|dynamic_load|auto_tune)")
        self.refused(run("matmul", *self.options("matmul"), "--only", "nobody"), 2, "--only nobody", "worker 0")

    def needs_learned_tables(self, kept):
        done = run("matmul", *self.options("matmul"), "--learned", kept)
        kept.unlink(missing_ok=True)
        if "this build has no learned tables" in done.stderr:
            self.skipTest("this build has no learned tables")

    def test_what_was_learned_is_kept(self):
        kept = Path(self.folder) / "learned.bin"
        only = ["--only", "worker,finish", "--learned", kept]
        self.needs_learned_tables(kept)
        for program in chosen(("nstream", "filter", *WITH_ORACLE)):
            with self.subTest(program):
                for kinds in ("0 kinds of work on 0 devices", "[1-9][0-9]* kinds of work on [23] devices"):
                    done = run(program, *self.options(program), *only)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                    self.assertRegex(done.stdout, f"(?m)^earliest_finish begins with {kinds} that an earlier run learned$")
                kept.unlink()
        matmul = [*self.options("matmul"), *only]
        kept.write_bytes(b"dynselLT and what is damaged")
        done = run("matmul", *matmul)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (0, 1), done.stderr)
        self.assertRegex(done.stderr, "--learned .*learned.bin: .*; all is learned anew")
        kept.write_bytes(b"a letter")
        self.refused(run("matmul", *matmul), 1, "--learned", "something else than a learned table")
        self.assertEqual(kept.read_bytes(), b"a letter")
        self.refused(run("matmul", *matmul, "--only", "worker"), 2, "--learned", "leaves out earliest_finish")
        self.refused(run("matmul", *matmul, "--learned", "/nowhere/x"), 1, "--learned /nowhere/x: cannot be written")

    def refused(self, done, status, *words):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_each_does_its_work_and_writes_its_figures(self):
        for program in chosen(PROGRAMS):
            with self.subTest(program):
                out = Path(self.folder) / f"{program}.csv"
                done = run(program, *self.options(program), "--csv", out, "--seed", "7", "--label", "here")
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                self.assertRegex(done.stdout, r"seed +7\n")
                lines = out.read_text(encoding="utf-8").splitlines()
                self.assertIn("# seed           7", lines)
                rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
                common = [tuple(row.pop(name) for name in ("record", "task", "x", "unit")) for row in rows]
                self.assertEqual(len(common), len(set(common)), "a line for each, a column for each policy")
                self.assertLessEqual(POLICIES, set(rows[0]))
                for row in rows:
                    values = [float(value) for value in row.values() if value]
                    self.assertTrue(values and min(values) > -2, row)

    def test_help_names_every_option(self):
        for program in chosen(PROGRAMS):
            with self.subTest(program):
                done = run(program, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                for option in (*PROGRAMS[program][::2], "--devices", "--workers", "--seed", "--csv", "--label", "Exit status"):
                    self.assertIn(option, done.stdout)

    def test_a_wrong_command_line_is_one_line(self):
        for program in chosen(PROGRAMS):
            with self.subTest(program):
                self.refused(run(program, "--sed", "1"), 2, "unknown option '--sed'", f"usecase-{program}")
                self.refused(run(program, "--seed"), 2, "--seed needs a value")
                self.refused(run(program, "--seed", "-1"), 2, "--seed: '-1' is not a number")
                self.refused(run(program, "--seed=-1"), 2, "--seed: '-1' is not a number")
                self.refused(run(program, "more"), 2, "unknown option 'more'")
                self.refused(run(program, *self.options(program), "--workers", "999"), 2, "--workers")
                self.refused(run(program, *self.options(program), "--devices", "name=nowhere"), 2, "--devices")

    def test_without_a_device_there_is_nothing_to_choose_from(self):
        for program in chosen(PROGRAMS):
            with self.subTest(program):
                self.refused(run(program, *self.options(program), *NOTHING, **NO_DRIVER), 2,
                             "no OpenCL device" if program in ("scale", "trouble") else "there is only host")

    def test_one_device_is_not_enough_where_only_devices_count(self):
        self.refused(run("scale", *self.options("scale"), *NOTHING), 2, "there is only pthread", "--workers")
        self.refused(run("trouble", "--workers", "1"), 2, "there is only worker 0")

    def test_output_that_cannot_be_written(self):
        for program in chosen(PROGRAMS):
            with self.subTest(program):
                options = self.options(program)
                self.refused(run(program, *options, "--csv", "/nowhere/x.csv"), 1, "/nowhere/x.csv: cannot be written")
        self.refused(run("nstream", *self.options("nstream"), "--csv", "/dev/full"), 1, "/dev/full: cannot be written")

    def test_each_trouble_ends_and_all_work_is_done(self):
        out = Path(self.folder) / "trouble.csv"
        done = run("trouble", "--pieces", "600", "--task-us", "100", "--csv", out)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        lines = out.read_text(encoding="utf-8").splitlines()
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        for kind in ("slow", "failing", "gone", "hanging"):
            of = {row["record"]: row for row in rows if row["task"] == kind}
            for policy in ("round_robin", "dynamic_load", "by_hand"):
                with self.subTest(f"{kind}, {policy}"):
                    self.assertEqual(float(of["not_done"][policy]), 0)
                    self.assertGreater(float(of["ends"][policy]), float(of["begins"][policy]))
                    self.assertTrue(any(row["record"] == "throughput" and row[policy] and row["task"] == kind
                                        for row in rows))
            self.assertEqual(float(of["given_up"]["by_hand"]), 0)

    def test_pictures_that_are_none(self):
        empty, cut = Path(self.folder) / "empty", Path(self.folder) / "cut"
        for folder in (empty, cut):
            folder.mkdir()
        (cut / "x.ppm").write_bytes(b"P6 13 9 255\nabc")
        self.refused(run("filter"), 2, "--pictures is missing")
        self.refused(run("filter", "--pictures", "/nowhere"), 1, "--pictures /nowhere")
        self.refused(run("filter", "--pictures", empty), 1, "there is no *.ppm")
        self.refused(run("filter", "--pictures", cut), 1, "x.ppm: no whole binary PPM")

    def poor(self, how):
        library = Path(self.folder) / "poor.so"
        if not library.exists():
            subprocess.run([os.environ.get("DYNSEL_CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library, POOR],
                           check=True)
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return {"LD_PRELOAD": str(library), "POOR": how, "ASAN_OPTIONS": asan}

    def test_a_device_without_enough_memory(self):
        for program in ("mix", "tiny"):
            with self.subTest(program):
                done = run(program, *self.options(program), **self.poor("memory:8000"))
                self.refused(done, 1, "polynomial, 4096 elements, on pthread", "memory is full")
        for program in ("nstream", *WITH_ORACLE):
            with self.subTest(program):
                self.refused(run(program, *self.options(program), **self.poor("memory:20")), 1, "memory is full")

    def test_a_wrong_result_names_task_size_and_device_or_policy(self):
        for program, arguments, words in (
                ("mix", [], ("256 elements", "on pthread")), ("tiny", [], ("polynomial", "elements", "on pthread")),
                ("scale", ["--workers", "0"], ("scramble, 1024 elements", "on pthread")),
                ("nstream", [], ("nstream, 256 elements", "by fixed pthread")),
                ("matmul", [], ("matmul", "64 elements", "by fixed pthread")),
                ("cholesky", [], ("cholesky", "64 elements", "by fixed pthread")),
                ("stencil", [], ("stencil", "32 elements", "by fixed pthread")),
                ("stream", [], ("256 elements", "on pthread", "1 in flight")),
                ("filter", [], ("small.ppm of 13 x 9", "by fixed pthread"))):
            with self.subTest(program):
                devices = {"POCL_DEVICES": "pthread pthread"} if program == "scale" else {}
                done = run(program, *self.options(program), *arguments, **self.poor("skip:2"), **devices)
                self.refused(done, 1, "a wrong result: ", *words)

    def test_passes_are_compared_with_the_best_resource_and_the_oracle(self):
        for program in chosen(WITH_ORACLE):
            with self.subTest(program):
                out = Path(self.folder) / f"{program}.csv"
                done = run(program, *self.options(program)[:-1], "6", "--csv", out)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                lines = out.read_text(encoding="utf-8").splitlines()
                of = {row["record"]: row for row in csv.DictReader(line for line in lines if line[0] != "#")}
                totals = {name: float(of["total"][name]) for name in of["total"] if name.startswith("fixed ")}
                best = min(totals, key=totals.get)
                self.assertEqual((float(of["share_first"][best]), float(of["share_later"][best])), (1, 1))
                for record in ("share_first", "share_later", "share_oracle"):
                    for name in (*totals, *POLICIES):
                        self.assertGreater(float(of[record][name]), 0)
                self.assertGreater(float(of["rate"]["oracle"]), 0)
                self.assertTrue(of["alone"][best])

    def test_graphs_of_one_piece_and_tiny_streams(self):
        for program, *arguments in (("matmul", "--tiles", "1"), ("cholesky", "--tiles", "1"),
                                    ("stencil", "--parts", "1", "--rows", "2", "--columns", "2", "--iterations", "1"),
                                    ("stream", "--tiny", "--in-flight", "1"), ("stream", "--workers", "0")):
            with self.subTest(program, arguments=arguments):
                done = run(program, *self.options(program), *arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    @needs_all
    def test_pictures_are_made_of_the_photograph(self):
        for options, suffix, begin in (([], ".ppm", b"P6 "), (["--png"], ".png", b"\x89PNG")):
            made = Path(self.folder) / suffix
            done = subprocess.run([sys.executable, SCRIPTS / "pictures.py", *options, made], check=False,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("22 pictures", done.stdout)
            self.assertEqual({(p.suffix, p.read_bytes()[:len(begin)]) for p in made.iterdir()}, {(suffix, begin)})

    @needs_all
    def test_random_programs_are_compared_with_the_best_resource(self):
        def random_programs(*arguments):
            return subprocess.run([sys.executable, SCRIPTS / "random_programs.py", *arguments], check=False,
                                  capture_output=True, text=True, env={**os.environ, **ONE})
        has_tables = run("matmul", *self.options("matmul"), "--learned", Path(self.folder) / "learned.bin").returncode == 0
        for options in [[]] + [["--learned"]] * has_tables:
            done = random_programs("--count", "2", "--repeats", "1", "--seed", "2", *options, FOLDER)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            lines = done.stdout.splitlines()
            self.assertEqual(len(lines), 5)
            for line in lines[1:3]:
                self.assertRegex(line, r"^ +\d+\.\d +\d+\.\d   (matmul|cholesky|stencil|stream|nstream) --")
            for line, when in zip(lines[3:], ("first", "later")):
                self.assertRegex(line, f", {when} passes: .* % in the geometric mean .* of 2$")
        self.refused(random_programs(self.folder), 2, "no use cases there")
        self.refused(random_programs("--count", "0", FOLDER), 2, "at least 1")
        self.refused(random_programs("--count", "1", "--only", "finish", FOLDER), 1, "failed with exit status")

    @needs_all
    def test_plots_are_drawn_where_matplotlib_is(self):
        run("nstream", *self.options("nstream"), "--csv", Path(self.folder) / "nstream.csv")
        for options, drawn in ((["--svg"], {"nstream.svg", "nstream.png"}), ([], {"nstream.png"})):
            out = Path(self.folder) / f"out{len(options)}"
            done = subprocess.run([sys.executable, SCRIPTS / "plot.py", *options, self.folder, out],
                                  check=False, capture_output=True, text=True)
            if "matplotlib is missing" in done.stderr:
                self.refused(done, 1, "python3-matplotlib")
            else:
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual({path.name for path in out.iterdir()}, drawn | {"figures.md"})

    @needs_all
    def test_links_of_the_results_lead_somewhere(self):
        page = Path(os.environ["DYNSEL_TOP"]) / "doc/results.md"
        for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            with self.subTest(target):
                self.assertTrue((page.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
