# SPDX-License-Identifier: Apache-2.0
"""The example plan: a simulated machine, the same each time, and mistakes in the command line."""

import os
import re
import subprocess
import unittest
from pathlib import Path

PLAN = Path(os.environ["DYNSEL_BIN"]) / "plan"
CONFIG = dict(re.findall(r"^#define CONFIG_DYNSEL_(\w+) (\d+)$",
                         (Path(os.environ["DYNSEL_BUILD"]) / "gen/dynsel/autoconf.h").read_text(encoding="utf-8"), re.M))
ROW = re.compile(r"^(one \w+|\w+) +([0-9.]+) +([0-9.]+)((?: +[0-9]+ %)+) +\d+$", re.M)


def plan(*arguments, **more):
    return subprocess.run([PLAN, *arguments], capture_output=True, text=True, timeout=120, check=False, **more)


def rows(done):
    """name -> (virtual ms, times as fast as the best alone, busy percents)"""
    return {name: (float(ms), float(times), [int(part) for part in re.findall(r"(\d+) %", busy)])
            for name, ms, times, busy in ROW.findall(done.stdout)}


class Plans(unittest.TestCase):
    def test_every_policy_and_every_device_has_a_row(self):
        done = plan("--pieces", "5000")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(rows(done)), ["one gpu", "one processors", "one thread", "round_robin", "dynamic_load",
                                            "auto_tune", "earliest_finish"])
        for name, (ms, times, busy) in rows(done).items():
            self.assertGreater(ms, 0, name)
            self.assertEqual(len(busy), 3, name)
            self.assertLessEqual(max(busy), 100, name)
            if name.startswith("one"):
                self.assertEqual(sum(b > 0 for b in busy), 1, name)

    def test_same_course_each_time(self):
        first, second = (rows(plan("--seed", "7", "--pieces", "3000")) for _ in range(2))
        self.assertEqual(first, second)
        self.assertNotEqual(first, rows(plan("--seed", "8", "--pieces", "3000")))

    def test_two_gpus_are_faster_than_one(self):
        alone, two = (rows(plan("--gpus", n, "--processors", "0", "--threads", "0", "--pieces", "5000"))
                      ["earliest_finish"] for n in ("1", "2"))
        self.assertLess(two[0] * 1.8, alone[0])

    def test_ranks_share_work_and_latency_costs(self):
        only_ranks = ["--gpus", "0", "--processors", "0", "--threads", "0", "--pieces", "5000", "--in-flight", "16"]
        one, four, far = (rows(plan("--ranks", n, "--latency", us, *only_ranks))["earliest_finish"][0]
                          for n, us in (("1", "10"), ("4", "10"), ("4", "1000")))
        self.assertLess(four * 2, one)
        self.assertGreater(far, four)

    def test_earliest_finish_is_as_fast_as_the_best_device(self):
        for seed in "12345":
            found = rows(plan("--seed", seed))["earliest_finish"]
            self.assertGreaterEqual(found[1], 0.95, seed)


class Mistakes(unittest.TestCase):
    def refuse(self, part, *arguments):
        done = plan(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, rf"^plan: [^\n]*{re.escape(part)}[^\n]*\(see plan --help\)\n$")

    def test_numbers(self):
        most = int(CONFIG["MAX_RESOURCES"])
        self.refuse("--pieces 0: give a number from 1", "--pieces", "0")
        self.refuse("--in-flight x", "--in-flight", "x")
        self.refuse(f"give a number from 1 to {CONFIG['MAX_IN_FLIGHT']}", "--in-flight", str(int(CONFIG["MAX_IN_FLIGHT"]) + 1))
        self.refuse("--kinds 0", "--kinds", "0")
        self.refuse("--gpus -1", "--gpus", "-1")
        self.refuse("--latency 1000001: give a number from 0 to 1000000", "--latency", "1000001")
        self.refuse("CONFIG_DYNSEL_MAX_RESOURCES", "--gpus", str(most))
        self.refuse("0 devices", "--gpus", "0", "--processors", "0", "--threads", "0")

    def test_words(self):
        self.refuse("there is no option '--machine'", "--machine")
        self.refuse("'--seed' needs a value", "--seed")
        self.refuse("'now' is no option", "now")

    def test_help(self):
        done = plan("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(all(len(line) <= 100 for line in done.stdout.splitlines()))

    def test_full_disk_is_told(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PLAN, "--pieces", "10"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                  check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "plan: standard output cannot be written\n"))


if __name__ == "__main__":
    unittest.main()
