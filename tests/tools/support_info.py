# SPDX-License-Identifier: Apache-2.0
"""Calls dynsel-info, also over drivers that answer what a test says, and asks OpenCL itself."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "site_scons"))
from dynsel_build import aspect_list  # noqa: E402

HERE = Path(__file__).resolve().parent
INFO = os.path.join(os.environ["DYNSEL_BIN"], "dynsel-info")
with open(os.path.join(os.environ["DYNSEL_BUILD"], "gen/dynsel/autoconf.h"), encoding="utf-8") as header:
    CONFIG = dict(re.findall(r"^#define (?:CONFIG_)?DYNSEL_(\w+) (.*)$", header.read(), re.MULTILINE))
SANITIZED = "1" in (CONFIG["SANITIZE"], CONFIG["SANITIZE_THREAD"])  # slower, so fewer turns
WITH_OPENCL = CONFIG["BACKEND_OPENCL"] == "1"
MOST_DEVICES = int(CONFIG.get("OPENCL_MAX_DEVICES", 0))
NEEDS_DEVICES = unittest.skipUnless(MOST_DEVICES >= 3, "needs OpenCL, and room for three devices")
WELCOMING = unittest.skipUnless(CONFIG.get("TARGET_UNKNOWN") == "1", "needs the target unknown")
NO_DRIVER = {"OCL_ICD_VENDORS": str(TOP / "tests/opencl/icd/none")}
ONE = {"POCL_DEVICES": "pthread"}
TWO = {"POCL_DEVICES": "pthread basic"}
THREE = {"POCL_DEVICES": "pthread pthread basic"}

TYPE, IMAGE, ECC, COMPILER, QUEUE, NAME, VENDOR, DRIVER, VERSION, EXTENSIONS, UNIFIED, C_VERSION, LINKER = (
    0x1000, 0x1016, 0x1024, 0x1028, 0x102A, 0x102B, 0x102C, 0x102D, 0x102F, 0x1030, 0x1035, 0x103D, 0x103E)
SVM, IL, SUB_GROUPS, COLLECTIVES, GENERIC, SIZES, PLATFORM = (
    0x1053, 0x105B, 0x105C, 0x1068, 0x1069, 0x4108, 0x902)
USM = {"usm_host": 0x4190, "usm_device": 0x4191, "usm_shared": 0x4192, "usm_system": 0x4194}
# As NVIDIA's driver answers for an H200, where it matters here.
GPU = {TYPE: 4, NAME: "NVIDIA H200", VENDOR: "NVIDIA Corporation", DRIVER: "580.159.03", UNIFIED: 0,
       SVM: 1, ECC: 1, C_VERSION: "OpenCL C 1.2 ", 0x101F: 150113878016, 0x1002: 132,
       EXTENSIONS: "cl_khr_fp64 cl_khr_int64_base_atomics cl_khr_int64_extended_atomics"
                   " cl_khr_3d_image_writes"}
WIDE = {TYPE, QUEUE, SVM, 0x101F, *USM.values()}  # answered with 8 bytes


def all_aspects():
    text = (TOP / aspect_list.PATH).read_bytes()
    return [a.name for a in aspect_list.read(aspect_list.PATH, text)]


def configured_aspects():
    return [name for name in all_aspects() if CONFIG[f"ASPECT_{name.upper()}"] == "1"]


def rule(part, question, value):
    """One of odd_opencl.c's rules."""
    if value is None:
        return f"{part} {question:x} -"
    if isinstance(value, int):
        value = value.to_bytes(8 if question in WIDE else 4, "little")
    elif isinstance(value, str):
        value = value.encode() + b"\0"
    return f"{part} {question:x} {value.hex()}"


def rules(part, answers):
    return ";".join(rule(part, question, value) for question, value in answers.items())


class Asked:
    """One device as tests/tools/ask_opencl.py found it, and a second computation of its aspects."""

    def __init__(self, answers):
        self.answers = answers

    def bytes(self, key):
        return bytes.fromhex(self.answers[key] or "")

    def text(self, key):
        return self.bytes(key).split(b"\0")[0].decode("latin-1")

    def number(self, key, size):
        found = self.bytes(key)
        return int.from_bytes(found, "little") if len(found) == size else 0

    def aspects(self):
        listed = self.text("extensions").split(" ")
        kind, svm, queue = (self.number(k, 8) for k in ("type", "svm", "queue"))
        usm = {k: self.number(k, 8) if "cl_intel_unified_shared_memory" in listed else 0 for k in USM}
        c2 = "c 2." in self.text("opencl_c_version").lower()
        emulated = any(p in self.text("name").lower() for p in ("emulat", "simulat", "oclgrind"))
        found = {
            "host": False, "cpu": kind & 2, "gpu": kind & 4, "accelerator": kind & 8,
            "custom": kind & 16, "emulated": emulated, "host_debuggable": False,
            "fp16": "cl_khr_fp16" in listed, "fp64": "cl_khr_fp64" in listed,
            "atomic64": {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"} <= set(listed),
            "image": self.number("image", 4), "online_compiler": self.number("compiler", 4),
            "online_linker": self.number("linker", 4), "queue_profiling": queue & 2,
            "usm_device_allocations": usm["usm_device"] & 1,
            "usm_host_allocations": usm["usm_host"] & 1,
            "usm_atomic_host_allocations": usm["usm_host"] & 8,
            "usm_shared_allocations": svm & 2 or usm["usm_shared"] & 1,
            "usm_atomic_shared_allocations": svm & 10 == 10 or usm["usm_shared"] & 8,
            "usm_system_allocations": svm & 4 or usm["usm_system"] & 1,
            "ext_opencl_svm_coarse_grain_buffer": svm & 1,
            "ext_opencl_subgroups": ("cl_khr_subgroups" in listed or "cl_intel_subgroups" in listed
                                     or self.number("sub_groups", 4)),
            "ext_opencl_out_of_order_queue": queue & 1,
            "ext_opencl_host_unified_memory": self.number("unified", 4),
            "ext_opencl_3d_image_writes": "cl_khr_3d_image_writes" in listed,
            "ext_opencl_spirv": "spir-v" in self.text("il").lower(),
            "ext_opencl_generic_address_space": self.number("generic", 4) or c2,
            "ext_opencl_work_group_collectives": self.number("collectives", 4) or c2,
            "ext_opencl_integer_dot_product": "cl_khr_integer_dot_product" in listed,
            "ext_opencl_priority_hints": "cl_khr_priority_hints" in listed,
            "ext_opencl_command_buffer": "cl_khr_command_buffer" in listed,
            "ext_opencl_error_correction": self.number("error_correction", 4),
        }
        assert set(found) == set(all_aspects()), "an aspect needs its second computation here"
        return [name for name in configured_aspects() if found[name]]

    def facts(self):
        """What --json says besides aspects and texts."""
        svm, queue = self.number("svm", 8), self.number("queue", 8)
        kinds = ("coarse_grain_buffer", "fine_grain_buffer", "fine_grain_system", "atomics")
        sizes = struct.unpack(f"{len(self.bytes('sub_group_sizes')) // 8}Q", self.bytes("sub_group_sizes"))
        return {
            "compute_units": self.number("compute_units", 4),
            "size": self.number("size", 8), "max_allocation": self.number("max_allocation", 8),
            "local": self.number("local", 8), "shares_host_memory": self.number("unified", 4) != 0,
            "queue": {"in_order": True, "out_of_order": queue & 1 != 0, "profiling": queue & 2 != 0},
            "svm": {kind: svm >> bit & 1 != 0 for bit, kind in enumerate(kinds)},
            "sub_group_sizes": sorted(set(sizes) - {0}),
        }


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.odd_library = os.path.join(folder.name, "odd.so")
        if WITH_OPENCL:
            subprocess.run([os.environ.get("DYNSEL_CC", "cc"), "-shared", "-fPIC", "-O1", "-o",
                            cls.odd_library, str(HERE / "odd_opencl.c"), "-lOpenCL"], check=True)

    def environment(self, more):
        left_out = ("DYNSEL_OPENCL", "NO_COLOR")
        kept = {k: v for k, v in os.environ.items() if k not in left_out}
        # Else PoCL answers with what is free at the moment, and two programs get two answers.
        return {**kept, "POCL_MEMORY_LIMIT": "1", **more}

    def odd(self, text, devices=ONE):
        """The environment for drivers that answer as the rules say."""
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return {**devices, "LD_PRELOAD": self.odd_library, "ODD": text, "ASAN_OPTIONS": asan}

    def odd_host(self, processors):
        """The environment for a host with so many processors, and without a driver."""
        library = os.path.join(self.folder, "odd_host.so")
        subprocess.run([os.environ.get("DYNSEL_CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library,
                        str(HERE / "odd_host.c"), "-ldl"], check=True)
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return {**NO_DRIVER, "LD_PRELOAD": library, "ODD_PROCESSORS": str(processors), "ASAN_OPTIONS": asan}

    def call(self, *arguments, env=ONE, stdout=subprocess.PIPE):
        done = subprocess.run([INFO, *arguments], stdout=stdout, stderr=subprocess.PIPE, check=False,
                              env=self.environment(env))
        done.stdout = (done.stdout or b"").decode()
        done.stderr = done.stderr.decode()
        if CONFIG["SANITIZE_THREAD"] == "1":  # it says so where no llvm-symbolizer is installed
            done.stderr = re.sub(r"(?m)^==\d+==WARNING: .* external symbolizer!\n", "", done.stderr)
        return done

    def info(self, *arguments, env=ONE, status=0):
        """What it prints; expects nothing on stderr."""
        done = self.call(*arguments, env=env)
        self.assertEqual((done.returncode, done.stderr), (status, ""), done)
        return done.stdout

    def json(self, *arguments, env=ONE):
        text = self.info("--json", *arguments, env=env)
        self.assertTrue(text.isascii())
        return json.loads(text)

    def devices(self, *arguments, env=ONE):
        return [r for r in self.json(*arguments, env=env)["resources"] if r["kind"] == "opencl"]

    def refuse(self, status, says, *arguments, env=ONE):
        """Expects one line on stderr, and nothing else."""
        done = self.call(*arguments, env=env)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done)
        self.assertRegex(done.stderr, r"\Adynsel-info: [^\n]+\n\Z")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)

    def asked(self, env):
        """The same devices, without dynsel."""
        done = subprocess.run([sys.executable, str(HERE / "ask_opencl.py")], check=True,
                              stdout=subprocess.PIPE, env=self.environment(env))
        return [Asked(answers) for answers in json.loads(done.stdout)]

    def screen(self, *arguments, env, columns=100, rows=40, terminal="xterm"):
        """What it prints on a terminal of that size."""
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        with subprocess.Popen([INFO, *arguments], stdout=child, stdin=child,
                              env=self.environment({**env, "TERM": terminal})) as process:
            os.close(child)
            text = b""
            while True:
                try:
                    read = os.read(parent, 65536)
                except OSError:  # how a terminal ends
                    break
                if not read:
                    break
                text += read
        os.close(parent)
        self.assertEqual(process.returncode, 0)
        return text.decode().replace("\r\n", "\n")
