#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs use cases of random kinds, sizes and numbers in flight, and shows how fast earliest_finish is in each.

The figure is its share of the speed of the best single device: over the first passes, when nothing is known yet, and from
the fifth pass on. With several folders of programs, of different builds of the library, each of them runs each program.
With --learned a run before has learned the work already.
"""

import argparse
import random
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parent.parent / "build/native+usecases/usecases"
ROW = re.compile(r"^earliest_finish +[\d.]+ +[\d.]+ +([\d.]+) % +([\d.]+) %", re.M)
GPU_SIZES = {"tile": (32, 64, 96, 128, 192), "rows": (16, 64, 256, 1024), "columns": (256, 1024, 4096), "elements": 20,
             "triad": 22, "workers": (1, 1, 1, 2, 4, 15)}
SIZES = {"tile": (16, 32, 48, 64, 96, 128), "rows": (8, 16, 64, 128), "columns": (128, 512, 1024), "elements": 16,
         "triad": 18, "workers": (1, 1, 2)}
EXIT_FAILED, EXIT_WRONG_USAGE = 1, 2


def draw(draws, sizes):
    """Returns the name and the arguments of a random program."""
    name = draws.choice(("matmul", "cholesky", "stencil", "stream", "tiny", "nstream"))
    work = {
        "matmul": lambda: ("--tiles", draws.randint(2, 8), "--tile", draws.choice(sizes["tile"]), "--passes", 12),
        "cholesky": lambda: ("--tiles", draws.randint(3, 14), "--tile", draws.choice(sizes["tile"][:4]), "--passes", 12),
        "stencil": lambda: ("--parts", draws.randint(1, 12), "--rows", draws.choice(sizes["rows"]),
                            "--columns", draws.choice(sizes["columns"]), "--iterations", draws.randint(5, 40),
                            "--passes", 15),
        "stream": lambda: stream(draws, draws.randint(10, sizes["elements"])),
        "tiny": lambda: ("--tiny", "--in-flight", draws.choice((1, 2, 4, 8, 16, 64)), "--pieces", 400, "--passes", 25),
        "nstream": lambda: ("--elements", draws.randint(12, sizes["triad"]), "--parts", draws.randint(1, 12),
                            "--passes", 15),
    }[name]()
    others = ("--workers", draws.choice(sizes["workers"]), "--seed", draws.randrange(1, 10**6))
    return "stream" if name == "tiny" else name, [str(word) for word in (*work, *others)]


def stream(draws, most):
    return ("--in-flight", draws.choice((1, 2, 4, 8, 16, 32, 64)), "--pieces", 200, "--most-elements", most,
            "--most-work", most + draws.randint(0, 5), "--passes", 12)


def within_limits(words, limits):
    """The words with numbers that the programs take: a build with few buffers has smaller limits."""
    return [str(min(int(word), limits[option])) if option in limits else word
            for option, word in zip(["", *words], words)]


def limits_of(folders, name):
    """The largest numbers of a program's options, as its help says."""
    limits = {}
    for folder in folders:
        said = subprocess.run([folder / f"usecase-{name}", "--help"], capture_output=True, text=True, check=False).stdout
        for option in re.split(r"^  (?=--)", said, flags=re.M)[1:]:
            found = re.search(r"\(\d+ to (\d+)", option)
            if found:
                of = option.split()[0]
                limits[of] = min(limits.get(of, sys.maxsize), int(found[1]))
    return limits


def shares(folder, name, words, limit_s):
    """Runs a program: its two shares, in percent; None if it took too long."""
    command = [str(folder / f"usecase-{name}"), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return None
    row = ROW.search(done.stdout)
    if done.returncode != 0 or row is None:
        raise SystemExit(f"{' '.join(command)} failed with exit status {done.returncode}: {done.stderr.strip()[-500:]}")
    return float(row[1]), float(row[2])


def measured(folder, name, words, wanted):
    """The medians of the two shares over the runs of a program; None if all took too long."""
    words = [*words, "--only", wanted.only]
    with tempfile.TemporaryDirectory() as place:
        if wanted.learned:
            words += ["--learned", f"{place}/learned.bin"]
            if shares(folder, name, words, wanted.limit) is None:
                return None
        runs = [shares(folder, name, words, wanted.limit) for _ in range(wanted.repeats)]
    known = [run for run in runs if run is not None]
    return tuple(statistics.median(column) for column in zip(*known)) if known else None


def summary(folder, both):
    """Two lines: what the shares over the first passes, and those from the fifth pass on are like."""
    lines = []
    for when, column in zip(("first", "later"), zip(*both)):
        mean = statistics.geometric_mean([min(share, 100) for share in column])
        below = ", ".join(f"below {limit} %: {sum(share < limit for share in column)}" for limit in (95, 90, 80))
        lines.append(f"{folder}, {when} passes: {mean:.1f} % in the geometric mean of shares up to 100; {below} "
                     f"of {len(column)}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Exit status: 0; 1 if a program fails; 2 for wrong usage.")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER",
                        help="the programs of a build (default: build/native+usecases/usecases)")
    parser.add_argument("--count", type=int, default=20, metavar="N", help="how many programs (default: 20)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the random choices (default: 1)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N",
                        help="runs of each program, whose median counts (default: 3)")
    parser.add_argument("--limit", type=float, default=60, metavar="S", help="seconds for a run (default: 60)")
    parser.add_argument("--gpu", action="store_true", help="sizes for a machine with a large GPU")
    parser.add_argument("--learned", action="store_true",
                        help="each program begins with what it learned in a run before, which does not count")
    parser.add_argument("--only", default="NVIDIA,AMD,Intel,cpu,basic,pthread,worker 0,finish", metavar="WORDS",
                        help="which policies and devices run, as with the programs' own --only")
    wanted = parser.parse_args()
    folders = wanted.folders or [PROGRAMS]
    if min(wanted.count, wanted.repeats) < 1:
        print("--count and --repeats are at least 1", file=sys.stderr)
        return EXIT_WRONG_USAGE
    for folder in folders:
        if not (folder / "usecase-stream").exists():
            print(f"{folder}: no use cases there; build them with: scons CONF=usecases usecases", file=sys.stderr)
            return EXIT_WRONG_USAGE
    draws = random.Random(wanted.seed)
    known = {folder: [] for folder in folders}
    print("from the first and from the fifth pass on, in percent of the best single device (seed "
          f"{wanted.seed}):", flush=True)
    for _ in range(wanted.count):
        name, words = draw(draws, GPU_SIZES if wanted.gpu else SIZES)
        words = within_limits(words, limits_of(folders, name))
        cells = []
        for folder in folders:
            both = measured(folder, name, words, wanted)
            if both is not None:
                known[folder].append(both)
            cells.append("  took too long" if both is None else f"{both[0]:7.1f} {both[1]:7.1f}")
        print(" |".join(cells), f"  {name} {' '.join(words)}", flush=True)
    for folder in folders:
        if known[folder]:
            print(summary(folder, known[folder]))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
