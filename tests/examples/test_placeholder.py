# SPDX-License-Identifier: Apache-2.0
"""The examples with placeholders are right on the host, on PoCL and on both, whatever policy places their work."""

import os
import re
import subprocess
import unittest
from pathlib import Path

BIN = Path(os.environ["DYNSEL_BIN"])
NO_DRIVER = {"OCL_ICD_VENDORS": os.environ["DYNSEL_TOP"] + "/tests/opencl/icd/none"}
CONFIGURED = (BIN.parent / ".config").read_text(encoding="utf-8")
HAS_OPENCL = "CONFIG_DYNSEL_BACKEND_OPENCL=y" in CONFIGURED
# Where PoCL is refused (no target of the build is it), or one resource is all that fits
TAKES_BOTH = HAS_OPENCL and not re.search(r"^CONFIG_DYNSEL_MAX_RESOURCES=1$", CONFIGURED, re.M)
PROGRAMS = {"placeholder": 2, "views": 3}  # how many command groups each submits


def run(program, *arguments, **variables):
    return subprocess.run([BIN / program, *arguments], capture_output=True, text=True,
                          check=False, env={**os.environ, **variables})


def policies():
    said = run("placeholder", "--help").stdout
    return re.search(r"There are\n +(.*)\n", said).group(1).split(", ")


def wheres(done):
    return re.findall(r"^.* on (.*)$", done.stdout, re.M)


class Placeholder(unittest.TestCase):
    def each(self, devices, **variables):
        """Runs both programs with every policy; yields (policy, where each command group ran)."""
        for program, groups in PROGRAMS.items():
            for policy in policies():
                with self.subTest(program, policy=policy, devices=devices):
                    done = run(program, "--policy", policy, "--devices", devices, **variables)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertEqual(done.stderr, "")
                    self.assertEqual(len(wheres(done)), groups)
                    self.assertRegex(done.stdout, "the host reads +2\n|wrong elements +0 of ")
                    yield policy, wheres(done)

    def test_on_the_host_alone(self):
        for _, where in self.each("host"):
            self.assertEqual(set(where), {"host"})

    @unittest.skipUnless(HAS_OPENCL, "no OpenCL in this build")
    def test_on_a_device_alone(self):
        for _, where in self.each("name=pthread"):
            self.assertTrue(all(name.startswith("pthread") for name in where), where)

    @unittest.skipUnless(TAKES_BOTH, "no room for the host and a device")
    def test_on_host_and_device_at_once(self):
        for policy, where in self.each("all"):
            if policy in ("round_robin", "auto_tune"):
                self.assertEqual(where[0], "host")
                self.assertTrue(where[1].startswith("pthread"), where)

    def test_without_a_driver_the_host_does_it_all(self):
        for _, where in self.each("all", **NO_DRIVER):
            self.assertEqual(set(where), {"host"})

    def test_wrong_usage_is_told(self):
        for arguments in (["--policy", "best"], ["--devices", "name=nowhere"], ["--divices", "all"], ["all"]):
            with self.subTest(arguments):
                done = run("views", *arguments)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
