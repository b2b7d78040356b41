# SPDX-License-Identifier: Apache-2.0
"""Which runs of a test are repeated: those in which the tool crashed, and no other ones."""

import contextlib
import io
import os
import shutil
import tempfile
import unittest
from pathlib import Path

import support  # finds dynsel_build
from dynsel_build import runner

CRASH = 'printf "[  PASSED  ] 2 test(s).\\nTracer caught signal 11: addr=0x6b0\\n"; exit 1'


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_script(self, script, seconds=runner.SECONDS, patience=runner.PATIENCE):
        """The status, how often it ran and what was said."""
        program = self.folder / "it.sh"
        program.write_text(f'echo run >> {self.folder}/runs; ran=$(wc -l < {self.folder}/runs)\n{script}\n',
                           encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = runner.run(runner.Run(f"{self.folder}/it", ("sh", str(program)), dict(os.environ), seconds,
                                           patience))
        runs = (self.folder / "runs").read_text(encoding="utf-8").count("run")
        self.assertEqual((self.folder / "it.ok").exists(), status == 0)
        return status, runs, said.getvalue()

    def test_passing_test_runs_once(self):
        self.assertEqual(self.run_script("true"), (0, 1, ""))

    def test_failing_test_runs_once(self):
        status, runs, said = self.run_script('echo "a leak"; exit 23')
        self.assertEqual((status, runs), (23, 1))
        self.assertIn("exit status 23", said)
        self.assertIn("a leak", said)

    def test_seed_above_the_end_of_a_long_log_is_told(self):
        _, _, said = self.run_script(f'echo DYNSEL_TEST_SEED=7; seq {2 * runner.TAIL}; exit 1')
        self.assertIn("exit status 1, DYNSEL_TEST_SEED=7;", said)

    def test_crashed_tracer_repeats_test(self):
        status, runs, said = self.run_script(f'[ $ran -lt 2 ] || exit 0; {CRASH}')
        self.assertEqual((status, runs), (0, 2))
        self.assertIn("LeakSanitizer itself crashed", said)

    def test_failure_after_tracer_crash_fails(self):
        status, runs, _ = self.run_script(f'[ $ran -lt 2 ] || exit 5; {CRASH}')
        self.assertEqual((status, runs), (5, 2))

    def test_blocked_test_is_stopped_by_clock(self):
        for deaf in ("", "trap '' TERM; "):
            _, _, said = self.run_script(deaf + "while true; do sleep 0.1; done", seconds=1, patience=1)
            self.assertIn("not done after 1 s on the clock, so it waits for an event that does not come", said)

    def test_looping_test_is_stopped_by_processor_time(self):
        for loop in ("while true; do :; done", "sh -c 'while true; do :; done'; exit $?"):
            _, _, said = self.run_script(loop, seconds=1, patience=100)
            self.assertIn("not done after 1 s of processor time, so it loops or is too slow", said)

    def test_waiting_time_is_no_processor_time(self):
        self.assertEqual(self.run_script("sleep 2", seconds=1), (0, 1, ""))

    def test_crash_and_timeout_are_distinguished(self):
        _, _, said = self.run_script("kill -SEGV $$")
        self.assertIn("killed by signal 11", said)

    def test_repeated_tracer_crash_fails(self):
        status, runs, said = self.run_script(CRASH)
        self.assertEqual((status, runs), (1, runner.TRIES))
        self.assertIn("FAILED", said)


if __name__ == "__main__":
    unittest.main()
