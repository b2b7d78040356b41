# SPDX-License-Identifier: Apache-2.0
"""The example ranks, as a user calls it: over ranks, on one, with a rank that is killed, with mistakes."""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/sepia"))
import png  # noqa: E402

RANKS = str(Path(os.environ["DYNSEL_BIN"]) / "ranks")
MPI = shlex.split(os.environ["DYNSEL_MPI"])
CONFIG = dict(re.findall(r"^#define CONFIG_DYNSEL_(\w+) (\d+)$",
                         (Path(os.environ["DYNSEL_BUILD"]) / "gen/dynsel/autoconf.h").read_text(encoding="utf-8"), re.M))
WITH_OPENCL = CONFIG["BACKEND_OPENCL"] == "1"
POCL = {"POCL_DEVICES": "pthread"}
PHOTO = str(TOP / "examples/sepia/photo.png")
ROW = re.compile(r"^ *(?:(\d+)( lost)?)?  (\S.*?) +(\d+) +([\d.]+) % +([\d.]+)(?: +([\d.]+) +([\d.]+))? *$", re.MULTILINE)
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Table:
    """What the program printed, by rank."""

    def __init__(self, text):
        self.strips, self.lost, self.moved, rank = {}, set(), {}, 0
        for number, lost, name, strips, _, _, came, went in ROW.findall(text):
            rank = int(number) if number else rank
            if name == "total":
                self.total = int(strips)
                continue
            self.strips.setdefault(rank, {})[name] = int(strips)
            if number:
                self.moved[rank] = (float(came), float(went))
            if lost:
                self.lost.add(rank)

    def done_by(self, rank):
        return sum(self.strips[rank].values())


def toned(pixel):
    """A third time, after the reference in C."""
    shares = ((0.393, 0.769, 0.189), (0.349, 0.686, 0.168), (0.272, 0.534, 0.131))
    return tuple(min(255, int(sum(s * c for s, c in zip(row, pixel)) + 0.5)) for row in shares)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start(self, *arguments, ranks=4, recovers=False, env=(), program=RANKS):
        around = {k: v for k, v in os.environ.items() if k != "DYNSEL_OPENCL"}
        launcher = [*MPI, str(ranks), *(["recovers"] if recovers else [])] if ranks else []
        return subprocess.Popen([*launcher, program, *arguments], cwd=self.folder, env={**around, **ROOT, **POCL, **dict(env)},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        said, errors = process.communicate(timeout=200)
        return process.returncode, said, errors

    def run_it(self, *arguments, **how):
        status, said, errors = self.finish(self.start(*arguments, **how))
        self.assertEqual((status, errors), (0, ""), said)
        self.assertIn("Largest difference from the reference: ", said)
        self.assertEqual(Table(said).total, sum(map(Table(said).done_by, Table(said).strips)))
        return said

    def refuse(self, status, says, *arguments, ranks=0):
        """One line of the program, from one rank; launchers add what they like."""
        found, said, errors = self.finish(self.start(*arguments, ranks=ranks))
        self.assertEqual(found, status, errors)
        lines = [line for line in errors.splitlines() if line.startswith("ranks: ")]
        self.assertEqual(len(lines), 1, errors)
        self.assertIn(says, lines[0])
        self.assertNotIn("Written", said)
        if not ranks:
            self.assertEqual((errors, said), (lines[0] + "\n", ""))

    def picture(self, width, height):
        rows = [[((x * 7 + y) % 256, (x + 3 * y) % 256, (x * y) % 256) for x in range(width)] for y in range(height)]
        (self.folder / "in.png").write_bytes(png.encode(rows))
        return rows


class Work(Case):
    def test_every_rank_takes_its_part(self):
        said = self.run_it("--policy", "round_robin", "--repeat", "5", PHOTO)
        table = Table(said)
        self.assertEqual(sorted(table.strips), [0, 1, 2, 3])
        self.assertEqual(table.total, 5 * 48)
        for rank in (1, 2, 3):
            self.assertGreater(table.done_by(rank), 0)
            self.assertEqual(len(table.strips[rank]), 2 if WITH_OPENCL else 1)
            came, went = table.moved[rank]
            self.assertAlmostEqual(went, table.done_by(rank) / 16, delta=0.1)  # MiB: a strip has 64 KiB
            self.assertLess(came, went)  # what the strips read stays there from pass to pass
        self.assertEqual(table.moved[0], (0, 0))
        self.assertNotIn("lost", said)

    def test_result_is_written_and_right(self):
        rows = self.picture(37, 21)
        for policy in ("earliest_finish", "round_robin", "dynamic-load"):
            said = self.run_it("--policy", policy, "--rows", "2", "--output", "out.png", "in.png", ranks=3)
            self.assertIn("Strips   11 of 2 rows", said)
            self.assertIn("Written: out.png", said)
            out = png.decode((self.folder / "out.png").read_bytes())[-1]
            for wanted, found in zip(rows, out):
                for a, b in zip(wanted, found):
                    self.assertLessEqual(max(abs(x - y) for x, y in zip(toned(a), b)), 1)

    def test_workers(self):
        for workers, names in (("0", {"host"}), ("2", {"worker 0", "worker 1"})):
            table = Table(self.run_it("--workers", workers, "--policy", "round_robin", ranks=2))
            self.assertEqual({name for name in table.strips[1] if name.startswith(("host", "worker"))}, names)

    def test_one_rank(self):
        for ranks in (0, 1):
            said = self.run_it(ranks=ranks)
            self.assertIn("Ranks    1, with", said)
            self.assertIn("Only this rank: `mpirun -n 4 ranks` starts more.", said)
            self.assertEqual(list(Table(said).strips), [0])

    def test_trace(self):
        said = self.run_it("--trace", "t", "--policy", "round_robin", ranks=2)
        summary = subprocess.run([sys.executable, TOP / "tools/dynsel-trace", "summary", "t"], cwd=self.folder,
                                 capture_output=True, text=True, check=True)
        self.assertIn("rank 1: worker 0", summary.stdout)
        self.assertGreater(Table(said).done_by(1), 0)


@unittest.skipUnless(CONFIG["MPI_OPENMPI"] == "1", "MPICH ends all ranks where one is killed")
class Loss(Case):
    def rank_process(self, rank):
        """The process of a rank, among those that this test has started."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                of_program = os.readlink(folder / "exe") == os.path.realpath(RANKS)
                around = (folder / "environ").read_bytes().split(b"\0")
                here = os.readlink(folder / "cwd") == os.path.realpath(self.folder)
            except OSError:
                continue
            if of_program and here and f"OMPI_COMM_WORLD_RANK={rank}".encode() in around:
                return int(folder.name)
        return None

    def kill_while_it_works(self, rank, *arguments):
        process = self.start("--silence", "4", *arguments, recovers=True)
        head = "".join(iter(process.stdout.readline, "\n"))
        self.assertIn("Ranks    4", head)
        time.sleep(0.5)
        os.kill(self.rank_process(rank), signal.SIGKILL)
        status, said, errors = self.finish(process)
        return status, head + said, [line for line in errors.splitlines() if line.startswith("ranks: ")]

    def test_picture_is_right_although_a_rank_is_killed(self):
        for rank, policy in ((2, "round_robin"), (3, "earliest_finish")):
            status, said, errors = self.kill_while_it_works(rank, "--policy", policy, "--repeat", "5000", "--output", "out.png",
                                                            PHOTO)
            self.assertEqual((status, errors), (0, []), said)
            self.assertIn("Written: out.png", said)
            table = Table(said)
            self.assertEqual(table.total, 48 * 5000)
            if table.lost or policy == "round_robin":
                self.assertEqual(table.lost, {rank})
                self.assertIn(f"Rank {rank} was lost.\n", said)
                self.assertRegex(said, r"\d+ strips were done again, elsewhere\.\n")
            else:  # it had nothing to do when it was killed
                self.assertIn(f"Rank {rank} was lost without work.\n", said)


class Mistakes(Case):
    def test_help(self):
        for ranks in (0, 2):
            status, said, errors = self.finish(self.start("--help", ranks=ranks))
            self.assertEqual((status, errors), (0, ""))
            self.assertEqual(said.count("Usage: ranks"), 1)
            self.assertIn("default: earliest_finish", said)

    def test_wrong_usage(self):
        for says, arguments in (("--nonsense", ["--nonsense"]), ("did you mean 'round_robin'", ["--policy", "round_robim"]),
                                ("give a number from 1 to 100000", ["--repeat", "0"]), ("--workers x", ["--workers", "x"]),
                                ("--silence", ["--silence", "0"]), ("--rows", ["--rows", "-1"]), ("is empty", ["--output", ""]),
                                ("one picture at a time", ["a.png", "b.png"]), ("is empty", [""])):
            with self.subTest(arguments):
                self.refuse(2, says, *arguments)
        self.refuse(2, "--nonsense", "--nonsense", ranks=3)

    def test_failures(self):
        for says, arguments in (("missing.png", ["missing.png"]), ("no/out.png: cannot be written", ["--output", "no/out.png"])):
            for ranks in (0, 3):
                with self.subTest(arguments, ranks=ranks):
                    found, _, errors = self.finish(self.start(*arguments, ranks=ranks))
                    self.assertEqual(found, 1)
                    self.assertEqual([says in line for line in errors.splitlines() if line.startswith("ranks: ")], [True])

    def test_picture_with_too_many_strips_is_refused(self):
        self.picture(1, 2 * int(CONFIG["MAX_BUFFERS"]))
        self.refuse(1, "use --rows 4 or more", "--rows", "1", "in.png")

    def test_full_disk(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([RANKS, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "ranks: standard output cannot be written\n"))


if __name__ == "__main__":
    unittest.main()
