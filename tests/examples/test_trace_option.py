# SPDX-License-Identifier: Apache-2.0
"""The options --trace and --trace-records, which programs on hosts share: by the example plan."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

PLAN = f"{os.environ['DYNSEL_BIN']}/plan"
CONFIG = Path(os.environ["DYNSEL_BUILD"]) / ".config"
TRACES = "CONFIG_DYNSEL_TRACE_TO_RINGS=y" in CONFIG.read_text(encoding="utf-8").splitlines()


def plan(*options):
    return subprocess.run([PLAN, "--pieces", "300", *map(str, options)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)


class TraceOption(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "plan.trace"

    def fails(self, status, line, *options):
        """With one line on stderr."""
        done = plan(*options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, f"\\Aplan: {line}[^\n]*\n\\Z")

    @unittest.skipIf(TRACES, "the build has a trace")
    def test_build_without_trace_refuses_option(self):
        self.fails(2, "--trace needs a build with CONFIG_DYNSEL_TRACE", "--trace", self.path)
        self.assertFalse(self.path.exists())

    @unittest.skipUnless(TRACES, "the build has no trace")
    def test_trace_is_written(self):
        done = plan("--trace", self.path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.path.read_bytes()[:8], b"dynselTR")
        self.assertIn(b"earliest_finish", self.path.read_bytes())
        self.assertIn(b"kind 11", self.path.read_bytes())

    @unittest.skipUnless(TRACES, "the build has no trace")
    def test_file_that_cannot_be_written_is_a_failure(self):
        self.fails(1, "--trace /dev/full: No space left on device", "--trace", "/dev/full")
        missing = self.path.parent / "nowhere" / "plan.trace"
        self.fails(1, f"--trace {re.escape(str(missing))}: No such file or directory", "--trace", missing)

    @unittest.skipUnless(TRACES, "the build has no trace")
    def test_lost_records_are_a_remark(self):
        self.fails(0, r"--trace [^ ]*/plan.trace: \d+ records were lost, [^\n]*--trace-records",
                   "--trace", self.path, "--trace-records", "1000")
        self.assertTrue(self.path.exists())

    def test_wrong_numbers_of_records_are_refused(self):
        for number in ("0", "999", "100000000", "x", ""):
            self.fails(2, f"--trace-records {number}: give a number from 1000 to", "--trace-records", number)


if __name__ == "__main__":
    unittest.main()
