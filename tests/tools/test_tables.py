# SPDX-License-Identifier: Apache-2.0
"""dynsel-info built with other tables: an entry of its own, one that lies, one for other devices."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "build"))
from support import TOP, scons, write  # noqa: E402

INFO = "build/native/bin/dynsel-info"
TABLE = "boards/targets.yaml"
SETS = "build/native/gen/dynsel/aspect_sets.h"
# Each table gives other headers to all sources, so they are compiled as one file, and those that ask no device left out.
QUICK = "CONFIG_DYNSEL_OPTIMIZE_DEBUG=y\nCONFIG_DYNSEL_ONE_FILE=y\n" + "".join(f"CONFIG_DYNSEL_{name}=n\n" for name in (
    "COMMAND_GROUPS", "BACKEND_THREADS", "POLICY_AUTO_TUNE", "POLICY_DYNAMIC_LOAD", "POLICY_EARLIEST_FINISH"))


class Tables(unittest.TestCase):
    """One tree, built again with each table: its own sources, and no others."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="dynsel-tables-")
        cls.addClassCleanup(folder.cleanup)
        cls.top = Path(folder.name)
        for name in ("SConstruct", "Kconfig", "LICENSE", "CHANGELOG.md"):
            shutil.copy(TOP / name, cls.top / name)
        for name in ("site_scons", "boards", "configs", "src", "include", "tools", "examples/common"):
            shutil.copytree(TOP / name, cls.top / name, ignore=shutil.ignore_patterns("__pycache__"))
        write(cls.top / "examples/SConscript", "")
        cls.table = (TOP / TABLE).read_text(encoding="utf-8")
        cls.build(cls.table, "unknown")
        cls.entry = cls.info("--emit-target")[1]
        cls.name = re.match(r"(?:#.*\n)*([a-z]\w*):\n", cls.entry).group(1)

    @classmethod
    def configure(cls, table, target):
        write(cls.top / TABLE, table)
        write(cls.top / "boards/native/defconfig", f"CONFIG_DYNSEL_TARGET_{target.upper()}=y\n{QUICK}")

    @classmethod
    def build(cls, table, target):
        """dynsel-info for the host and one target more."""
        cls.configure(table, target)
        status, said = scons(cls.top, INFO)
        assert status == 0, said

    @classmethod
    def call(cls, *arguments, env=(), program=INFO):
        """(exit status, stdout, stderr)"""
        around = {k: v for k, v in os.environ.items() if k not in ("DYNSEL_OPENCL", "LD_PRELOAD")}
        done = subprocess.run([cls.top / program, *arguments], capture_output=True, text=True, check=False,
                              env={**around, "POCL_DEVICES": "pthread", **dict(env)})
        return done.returncode, done.stdout, done.stderr

    @classmethod
    def info(cls, *arguments, env=()):
        """(exit status, stdout), with nothing on stderr."""
        status, out, err = cls.call(*arguments, env=env)
        assert err == "", err
        return status, out

    def device(self):
        resources = json.loads(self.info("--json")[1])["resources"]
        return next(r for r in resources if r["kind"] == "opencl")

    def all_devices_have(self):
        header = (self.top / SETS).read_text(encoding="utf-8")
        return set(re.findall(r"^#define __DYNSEL_ALL_DEVICES_HAVE_(\w+)__ 1$", header, re.MULTILINE))

    def test_an_emitted_entry_can_be_pasted_and_kept(self):
        self.build(f"{self.table}\n{self.entry}", self.name)
        self.assertEqual(self.info("--check"), (0, ""))
        device = self.device()
        groups = device["aspects"]
        self.assertEqual((device["target"], device["accepted"]),
                         ({"name": self.name, "in_build": True}, True))
        self.assertEqual((groups["promised"], groups["extra"]), (groups["all"], []))
        host = json.loads(self.info("--json")[1])["resources"][0]
        self.assertEqual(self.all_devices_have(), set(groups["all"]) & set(host["aspects"]["promised"]))
        self.assertRegex(self.info("--emit-target")[1], rf"\A# The target \w+ recognizes .*already, .*\n"
                                                        rf"{self.name}_2:\n")

    def test_a_table_that_lies_about_the_device(self):
        lie = self.entry.replace("aspects: [cpu, ", "aspects: [cpu, fp16, usm_device_allocations, ")
        self.assertNotEqual(lie, self.entry)
        self.build(f"{self.table}\n{lie}", self.name)
        status, said = self.info("--check")
        device = self.device()
        self.assertEqual((status, said), (1, f"opencl 0, {device['name']}: target {self.name} promises aspects"
                                             " that it lacks: fp16, usm_device_allocations\n"))
        self.assertEqual(device["aspects"]["broken"], ["fp16", "usm_device_allocations"])
        self.assertFalse(device["accepted"])
        text = self.info()[1]
        self.assertIn(f"refused: breaks what is promised by target {self.name}", " ".join(text.split()))
        self.assertRegex(text, r"\n  broken +fp16 usm_device_allocations\n")
        self.assertIn(f"leave {self.name} out of the configuration", " ".join(text.split()))

    def test_targets_of_other_devices(self):
        self.build(self.table, "nvidia_gpu")
        status, said = self.info("--check")
        name = self.device()["name"]
        self.assertEqual((status, said),
                         (1, f"opencl 0, {name}: no target of this build recognizes it; target"
                             " pocl_cpu fits: CONFIG_DYNSEL_TARGET_POCL_CPU=y\n"))
        self.assertEqual((self.device()["target"], self.device()["nearer_target"]),
                         ({"name": "pocl_cpu", "in_build": False}, "pocl_cpu"))
        self.assertEqual(self.info("--check", env={"DYNSEL_OPENCL": "gpu"}), (0, ""))
        text = self.info()[1]
        self.assertIn("refused: no target of this build recognizes it", " ".join(text.split()))
        block = text.split("\nopencl 0", 1)[1]
        self.assertNotIn("\n  promised", block)
        self.assertNotIn("\n  hidden", block)
        self.assertIn("\n  would be  promised by target pocl_cpu, which is not in this build: cpu ",
                      block.replace("would be    ", "would be  "))
        library = str(self.top / "odd.so")
        subprocess.run([os.environ.get("DYNSEL_CC", "cc"), "-shared", "-fPIC", "-o", library,
                        str(HERE / "odd_opencl.c"), "-lOpenCL"], check=True)
        stranger = {"LD_PRELOAD": library, "ODD": f"pthread 102c {b'Nobody'.hex()}00"}
        self.assertEqual(self.info("--check", env=stranger),
                         (1, f"opencl 0, {name}: no target of this build recognizes it; add what"
                             " `dynsel-info --device 0 --emit-target` prints to the table\n"))

    def test_a_device_with_more_than_its_closed_target(self):
        closed = self.entry.replace("may_support_other_aspects: true", "may_support_other_aspects: false")
        closed = closed.replace("image, ", "").replace("online_linker, ", "")
        self.build(f"{self.table}\n{closed}", self.name)
        self.assertEqual(self.info("--check"), (0, ""))
        device = self.device()
        self.assertEqual(device["aspects"]["hidden"], ["image", "online_linker"])
        self.assertEqual(device["aspects"]["extra"], ["image", "online_linker"])
        self.assertIn("image", device["aspects"]["all"])
        hint = (f"the entry of {self.name} in boards/targets.yaml says may_support_other_aspects: false,"
                " though this device has more")
        self.assertEqual((device["accepted"], device["hint"]), (True, hint))
        text = " ".join(self.info()[1].split())
        self.assertIn("hidden (extra, but no target of this build may have it) image online_linker memory", text)
        self.assertIn(f"hint {hint}", text)
        self.assertNotIn("extra image", text)

    def test_without_any_aspect_and_without_the_host(self):
        """OpenCL alone, so that there may be nothing to check."""
        listed = (self.top / "include/dynsel/aspects.def").read_text(encoding="utf-8")
        options = re.findall(r"^#if (CONFIG_DYNSEL_ASPECT_\w+)$", listed, re.MULTILINE)
        self.assertGreater(len(options), 30)
        write(self.top / "configs/bare.conf", "".join(f"{option}=n\n" for option in [
            *options, "CONFIG_DYNSEL_BACKEND_INLINE"])
            + "CONFIG_DYNSEL_COMPILER_GCC=y\n")
        self.configure(self.table, "unknown")
        program = "build/native+bare/bin/dynsel-info"
        status, said = scons(self.top, "CONF=bare", program)
        self.assertEqual(status, 0, said)
        status, out, _ = self.call("--json", program=program)
        found = json.loads(out)
        self.assertEqual((status, found["aspects"], [r["kind"] for r in found["resources"]]), (0, [], ["opencl"]))
        self.assertEqual(found["resources"][0]["aspects"],
                         {group: [] for group in ("all", "promised", "extra", "broken", "hidden")})
        self.assertEqual((found["resources"][0]["nearer_target"], found["resources"][0]["hint"]), (None, ""))
        for form in ((), ("--emit-target",), ("--check",)):
            self.assertEqual(self.call(*form, program=program)[0], 0)
        for env, says in (({"DYNSEL_OPENCL": "gpu"}, "DYNSEL_OPENCL 'gpu' chooses none of the OpenCL devices"),
                          ({"OCL_ICD_VENDORS": "/nonexistent"}, "No OpenCL device: no driver is registered")):
            status, out, err = self.call("--check", env=env, program=program)
            self.assertEqual((status, out), (1, ""))
            self.assertRegex(err, rf"\Adynsel-info: {says}[^\n]*\n\Z")

    def test_it_is_installed(self):
        self.build(self.table, "unknown")
        program = self.top / "there/bin/dynsel-info"
        self.assertEqual(scons(self.top, "install", f"PREFIX={self.top}/there")[0], 0)
        self.assertEqual(program.stat().st_mode & 0o777, 0o755)
        self.assertEqual((self.top / "there/include/dynsel/dynsel.h").stat().st_mode & 0o777, 0o644)
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, self.info("--version")[1])
        self.assertEqual(scons(self.top, "-c", "install", f"PREFIX={self.top}/there")[0], 0)
        self.assertFalse(program.exists())


if __name__ == "__main__":
    unittest.main()
