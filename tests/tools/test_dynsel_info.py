# SPDX-License-Identifier: Apache-2.0
"""The program dynsel-info, as a user calls it: forms, widths, odd drivers, mistakes."""

import fcntl
import json
import os
import pty
import random
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
from dynsel_build import aspect_list, aspects, targets  # noqa: E402

HERE = Path(__file__).resolve().parent
INFO = os.path.join(os.environ["DYNSEL_BIN"], "dynsel-info")
with open(os.path.join(os.environ["DYNSEL_BUILD"], "gen/dynsel/autoconf.h"), encoding="utf-8") as header:
    CONFIG = dict(re.findall(r"^#define (?:CONFIG_)?DYNSEL_(\w+) (.*)$", header.read(), re.MULTILINE))
WITH_OPENCL = CONFIG["BACKEND_OPENCL"] == "1"
MOST_DEVICES = int(CONFIG.get("OPENCL_MAX_DEVICES", 0))
NEEDS_DEVICES = unittest.skipUnless(MOST_DEVICES >= 3, "needs OpenCL, and room for three devices")
WELCOMING = unittest.skipUnless(CONFIG.get("TARGET_UNKNOWN") == "1", "needs the target unknown")
NO_DRIVER = {"OCL_ICD_VENDORS": str(TOP / "tests/opencl/icd/none")}
ONE = {"POCL_DEVICES": "pthread"}
TWO = {"POCL_DEVICES": "pthread basic"}
THREE = {"POCL_DEVICES": "pthread pthread basic"}

TYPE, IMAGE, ECC, COMPILER, QUEUE, NAME, VENDOR, DRIVER, EXTENSIONS, UNIFIED, C_VERSION, LINKER = (
    0x1000, 0x1016, 0x1024, 0x1028, 0x102A, 0x102B, 0x102C, 0x102D, 0x1030, 0x1035, 0x103D, 0x103E)
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
        return {**{k: v for k, v in os.environ.items() if k not in left_out}, **more}

    def odd(self, text, devices=ONE):
        """The environment for drivers that answer as the rules say."""
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return {**devices, "LD_PRELOAD": self.odd_library, "ODD": text, "ASAN_OPTIONS": asan}

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


class Json(Case):
    def compare(self, env):
        """Everything that --json says of OpenCL devices with what OpenCL itself answers."""
        found, wanted = self.devices("--device", "all;emulator", env=env), self.asked(env)
        self.assertEqual(len(found), len(wanted))
        for device, asked in zip(found, wanted):
            self.assertEqual(device["aspects"]["all"], asked.aspects(), device["name"])
            memory = device["memory"]
            flat = {**{k: device[k] for k in ("compute_units", "queue", "svm", "sub_group_sizes")},
                    **{k: v for k, v in memory.items() if k != "domain"}}
            self.assertEqual(flat, asked.facts(), device["name"])
            for key in ("name", "vendor", "platform", "driver_version", "opencl_version",
                        "opencl_c_version"):
                self.assertEqual(device[key].strip(), asked.text(key).strip())

    @NEEDS_DEVICES
    def test_it_agrees_with_opencl(self):
        for env in (ONE, TWO, THREE):
            self.compare(env)
        self.compare(self.odd(rules("basic", GPU), THREE))

    @NEEDS_DEVICES
    def test_it_agrees_with_opencl_whatever_drivers_answer(self):
        seed = random.randrange(2 ** 32)
        print(f"seed {seed}")
        r = random.Random(seed)
        for turn in range(10):
            text = rules("pthread", self.random_answers(r))
            with self.subTest(seed=seed, turn=turn, odd=text):
                self.compare(self.odd(text))

    @staticmethod
    def random_answers(r):
        extensions = ["cl_khr_fp16", "cl_khr_fp64", "cl_khr_int64_base_atomics",
                      "cl_khr_int64_extended_atomics", "cl_khr_subgroups", "cl_intel_subgroups",
                      "cl_intel_unified_shared_memory", "cl_khr_3d_image_writes",
                      "cl_khr_integer_dot_product", "cl_khr_priority_hints", "cl_khr_command_buffer"]
        decoys = [name + "_not" for name in extensions] + ["not_" + name for name in extensions]
        listed = [e for e in extensions + decoys if r.random() < 0.5]
        r.shuffle(listed)
        answers = {question: r.choice([None, 0, 1, 1, 5, b"\1"]) for question in
                   (IMAGE, ECC, COMPILER, UNIFIED, LINKER, SUB_GROUPS, COLLECTIVES, GENERIC)}
        answers.update({question: r.choice([None, r.randrange(16), r.randrange(16), b"\1\0\0\0"])
                        for question in (SVM, QUEUE, *USM.values())})
        sizes = [r.choice([0, 8, 16, 32, 64]) for _ in range(r.randrange(5))]
        return {**answers, TYPE: r.choice([1, 2, 3, 4, 8, 16]),
                EXTENSIONS: r.choice([" ".join(listed), "", " " + "  ".join(listed) + " "]),
                IL: r.choice([None, "", "SPIR-V_1.2 ", "SPIR_1.2"]),
                C_VERSION: r.choice(["OpenCL C 1.2 x", "OpenCL C 2.0", "OpenCL C 3.0", ""]),
                SIZES: r.choice([None, struct.pack(f"{len(sizes)}Q", *sizes)]),
                NAME: r.choice(["A device", "Emulated device", "oclgrind 21"])}

    @NEEDS_DEVICES
    def test_its_fields_are_those_that_are_documented(self):
        text = (TOP / "tools/dynsel-info/json.h").read_text(encoding="utf-8").split("#ifndef")[0]
        words = set(re.findall(r"\b[a-z]\w+\b", text))
        names = set()

        def collect(piece):
            if isinstance(piece, dict):
                names.update(piece)
                for value in piece.values():
                    collect(value)
            elif isinstance(piece, list):
                for value in piece:
                    collect(value)

        found = self.json()
        collect(found)
        self.assertLess({"resources", "sub_group_sizes", "domain", "nearer_target"}, names)
        self.assertEqual(names - words, set())
        self.assertEqual((found["format"], found["configuration"]),
                         (1, json.loads(CONFIG["CONFIG_HASH_TEXT"])))
        self.assertEqual(found["aspects"], configured_aspects())

    def test_its_targets_are_those_of_the_table(self):
        catalogue = aspects.catalogue(TOP)
        known = configured_aspects()
        found = self.json(env=NO_DRIVER)
        self.assertEqual(found["targets"], [
            {"name": t.name, "in_build": CONFIG[t.symbol.removeprefix("DYNSEL_")] == "1",
             "aspects": [a for a in known if a in t.aspects],
             "may_support_other_aspects": t.may_support_other_aspects} for t in catalogue.targets])
        for resource in found["resources"]:
            self.assertEqual((resource["target"], resource["accepted"]),
                             ({"name": "host", "in_build": True}, True))
            self.assertEqual(resource["memory"]["domain"], "host")

    @NEEDS_DEVICES
    def test_promised_extra_and_broken_follow_from_the_target(self):
        for env in (TWO, self.odd(rules("basic", GPU), THREE)):
            found = self.json(env=env)
            promises = {t["name"]: t["aspects"] for t in found["targets"]}
            for resource in found["resources"]:
                promised = promises[resource["target"]["name"]]
                groups = resource["aspects"]
                there = set(groups["all"])
                self.assertEqual(set(groups["promised"]), there & set(promised))
                self.assertEqual(set(groups["extra"]), there - set(promised))
                self.assertEqual(set(groups["broken"]), set(promised) - there)

    @NEEDS_DEVICES
    @WELCOMING
    def test_the_target_outside_the_build_that_says_most_is_named(self):
        platform = {PLATFORM: "NVIDIA CUDA"}
        for answers, name in ((GPU, "nvidia_h200_gpu"), ({**GPU, NAME: "Other"}, "nvidia_gpu"),
                              ({**GPU, SVM: 0}, "nvidia_gpu"), ({**GPU, TYPE: 8}, None)):
            env = self.odd(rules("platform", platform) + ";" + rules("pthread", answers))
            device = self.devices(env=env)[0]
            self.assertEqual((device["nearer_target"], device["target"]["name"]), (name, "unknown"))
            self.assertEqual(bool(device["hint"]), name is not None)

    @NEEDS_DEVICES
    def test_any_bytes_in_names(self):
        for raw, read in ((b'a"b\\c/d\'e', 'a"b\\c/d\'e'),
                          (b"tab\there\nand\x1b[31mred\x7f!", "tab\there\nand\x1b[31mred\x7f!"),
                          ("Grüße 设备 😀".encode(), "Grüße 设备 😀"),
                          (b"bad \xff\xfe\xc3 end", "bad \ufffd\ufffd\ufffd end"),
                          (b"long \xc0\xaf \xed\xa0\x80 \xf5x", "long \ufffd\ufffd \ufffd\ufffd\ufffd \ufffdx")):
            env = self.odd(";".join([rules("pthread", {NAME: raw + b"\0", VENDOR: raw + b"\0"}),
                                     rules("platform", {PLATFORM: raw + b"\0"})]))
            device = self.devices(env=env)[0]
            self.assertEqual((device["name"], device["vendor"], device["platform"]), (read,) * 3)
            for text in (self.info(env=env), self.screen(env={**env, "NO_COLOR": "1"})):
                self.assertEqual([c for c in text if not c.isprintable() and c != "\n"], [])

    @NEEDS_DEVICES
    def test_verdicts(self):
        found = self.devices("--device", "index=1", env=TWO)
        self.assertEqual([(d["index"], d["chosen"], d["verdict"]) for d in found],
                         [(0, False, "not_selected"), (1, True, "chosen")])
        found = self.devices(env=self.odd(rules("pthread", {NAME: "An emulator"}), TWO))
        self.assertEqual(sorted((d["verdict"], d["index"]) for d in found if not d["chosen"]),
                         [("emulator", None)])
        found = self.json("--device", "1", env=TWO)
        self.assertEqual((found["selector"], found["selector_from"]), ("1", "--device"))
        found = self.json(env={**TWO, "DYNSEL_OPENCL": "1"})
        self.assertEqual((found["selector"], found["selector_from"]), ("1", "DYNSEL_OPENCL"))
        self.assertEqual([r["chosen"] for r in found["resources"] if r["kind"] == "opencl"], [False, True])

    @NEEDS_DEVICES
    def test_each_number_chooses_its_device(self):
        env = self.odd(rules("basic", {NAME: "An emulator"}), THREE)
        indexed = [d for d in self.devices(env=env) if d["index"] is not None]
        self.assertEqual([d["index"] for d in indexed], [0, 1])
        for device in indexed:
            chosen = [d["index"] for d in self.devices("--device", str(device["index"]), env=env)
                      if d["chosen"]]
            self.assertEqual(chosen, [device["index"]])

    @unittest.skipUnless(WITH_OPENCL, "needs OpenCL")
    def test_a_platform_without_devices(self):
        found = self.json(env={"POCL_DEVICES": "nonsense"})
        if found["empty_platforms"]:  # PoCL 3.1 offers none for a name that it does not know
            self.assertRegex(found["note"], "a driver is installed")
        else:
            self.assertRegex(found["note"], "No OpenCL device")

    def test_without_a_driver(self):
        found = self.json(env=NO_DRIVER)
        kinds = [k for k, b in (("host", "INLINE"), ("workers", "THREADS")) if CONFIG[f"BACKEND_{b}"] == "1"]
        self.assertEqual([r["kind"] for r in found["resources"]], kinds)
        self.assertIn("install one" if WITH_OPENCL else "without its OpenCL backend", found["note"])
        self.assertIsNone(found["problem"])


class People(Case):
    @NEEDS_DEVICES
    def test_it_fits_one_screen(self):
        text = self.screen(env={**self.odd(rules("basic", GPU), THREE), "NO_COLOR": "1"})
        lines = text.split("\n")
        self.assertLess(len(lines), 40, text)  # with the prompt
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertIn("NVIDIA H200", text)
        self.assertEqual([line for line in lines if line != line.rstrip()], [])

    @NEEDS_DEVICES
    def test_lists_are_wrapped_at_the_width(self):
        for columns in (60, 80, 100, 200):
            text = self.screen(env={**TWO, "NO_COLOR": "1"}, columns=columns)
            lines = text.split("\n")
            words = {w for line in lines for w in line.split()}
            self.assertLessEqual(max(map(len, lines)), columns, text)
            for device in self.devices(env=TWO):
                self.assertEqual(set(device["aspects"]["all"]) - words, set())

    @NEEDS_DEVICES
    def test_colours_only_on_a_terminal(self):
        coloured = self.screen(env=TWO)
        self.assertIn("\033[", coloured)
        plain = self.screen(env={**TWO, "NO_COLOR": "1"})
        self.assertNotIn("\033", plain)
        self.assertEqual(re.sub(r"\033\[\d+m", "", coloured), plain)
        self.assertNotIn("\033", self.screen(env=TWO, terminal="dumb"))
        self.assertEqual(self.info(env=TWO), plain)

    @NEEDS_DEVICES
    def test_what_is_left_out_says_why_in_one_line(self):
        name = re.escape(self.devices()[0]["name"])
        text = self.info("--device", "gpu")
        self.assertRegex(text, rf"(?m)^opencl 0 +{name} +left out: the selector does not fit$")
        self.assertRegex(text, r"\ABuilt for [^\n]*; OpenCL devices by --device gpu\n")
        self.assertNotIn("driver", text)

    @NEEDS_DEVICES
    def test_a_device_has_all_that_matters(self):
        device, text = self.devices()[0], self.info()
        for part in (device["name"], device["vendor"], device["platform"], device["driver_version"],
                     f"target {device['target']['name']}", "GiB", "domain 1", "the host's own",
                     "in order, out of order, profiling", "SVM: coarse-grain, fine-grain, atomics",
                     CONFIG["CONFIG_HASH_TEXT"].strip('"')):
            self.assertIn(part, " ".join(text.split()))
        text = self.info(env=self.odd(rules("pthread", {SIZES: struct.pack("3Q", 32, 8, 8)})))
        self.assertIn("sub-groups of 8, 32", " ".join(text.split()))

    @NEEDS_DEVICES
    def test_devices_of_one_domain_name_each_other(self):
        text = self.info(env=TWO)
        domains = [d["memory"]["domain"] for d in self.devices(env=TWO)]
        self.assertEqual("the same as of opencl 1" in text, domains[0] == domains[1])

    def test_without_a_driver(self):
        text = " ".join(self.info(env=NO_DRIVER).split())
        self.assertIn("pocl-opencl-icd" if WITH_OPENCL else "CONFIG_DYNSEL_BACKEND_OPENCL=y", text)

    def test_version(self):
        for option in ("--version", "-V"):
            self.assertIn(f"configuration {CONFIG['CONFIG_HASH_TEXT'].strip(chr(34))}, ", self.info(option))

    def test_help(self):
        for arguments in (("--help",), ("-h",), ("--json", "--help")):
            text = self.info(*arguments)
            self.assertTrue(text.startswith("Usage: dynsel-info"))
            self.assertLessEqual(max(map(len, text.split("\n"))), 100)
            for option in ("--device", "--json", "--emit-target", "--check", "--version"):
                self.assertIn(option, text)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            for form in ((), ("--json",), ("--help",)):
                done = self.call(*form, env=NO_DRIVER, stdout=full)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "dynsel-info: standard output cannot be written\n"))


class EmitTarget(Case):
    def entries(self, text):
        """The table with these entries behind it, as the build reads it: {name: Target} of the new ones."""
        before = (TOP / targets.PATH).read_text(encoding="utf-8")
        table = targets.read("table", (before + "\n" + text).encode(), all_aspects(),
                             aspects.backends(TOP), aspect_list.PATH)
        return {t.name: t for t in table if f"\n{t.name}:" not in before}

    @NEEDS_DEVICES
    def test_an_entry_has_what_was_measured(self):
        device = self.devices()[0]
        text = self.info("--emit-target", "--device", "0")
        (entry,) = self.entries(text).values()
        self.assertEqual(list(entry.aspects), device["aspects"]["all"])
        self.assertEqual(entry.recognize, ({"backend": "opencl", "platform": device["platform"],
                                            "vendor": device["vendor"], "type": "cpu",
                                            "name": device["name"]},))
        self.assertEqual((entry.added_by, entry.may_support_other_aspects, entry.sub_group_sizes),
                         ((), True, ()))
        self.assertRegex(entry.source, rf"^measured with dynsel-info on {re.escape(device['name'])}, driver"
                                       rf" {re.escape(device['driver_version'])}, \d{{4}}-\d\d-\d\d$")
        self.assertIn("  # Measured on one device", text)
        self.assertTrue(entry.name.startswith(device["vendor"].lower() + "_cpu_"))
        self.assertLessEqual(max(map(len, text.split("\n")[6:])), 100)

    @NEEDS_DEVICES
    def test_one_for_each_chosen_device(self):
        self.assertEqual(len(self.entries(self.info("--emit-target", env=TWO))), 2)
        self.assertEqual(len(self.entries(self.info("--emit-target", "--device", "1", env=TWO))), 1)

    @NEEDS_DEVICES
    def test_equal_devices_have_one_entry(self):
        text = self.info("--emit-target", env={"POCL_DEVICES": "pthread pthread"})
        (name,) = self.entries(text)
        self.assertIn(f"# OpenCL device 1 is equal to device 0: see {name}.\n", text)

    @NEEDS_DEVICES
    def test_a_taken_name_gets_a_number(self):
        answers = {**GPU, NAME: "GPU H200"}
        unlike = rules("basic", answers) + ";" + rules("pthread", {**answers, NAME: "gpu  (H200)"})
        found = self.entries(self.info("--emit-target", env=self.odd(unlike, TWO)))
        self.assertEqual(list(found), ["nvidia_gpu_h200", "nvidia_gpu_h200_2"])
        table = aspects.catalogue(TOP).targets
        name = next(t.name for t in table if re.fullmatch(r"[a-z]+_gpu", t.name))
        env = self.odd(rules("pthread", {**GPU, VENDOR: name.split("_")[0], NAME: "gpu"}))
        self.assertEqual(list(self.entries(self.info("--emit-target", env=env))), [name + "_2"])

    @NEEDS_DEVICES
    def test_a_device_that_the_table_knows(self):
        platform = rules("platform", {PLATFORM: "NVIDIA CUDA"}) + ";"
        text = self.info("--emit-target", env=self.odd(platform + rules("pthread", GPU)))
        self.assertRegex(text, r"\A# The target nvidia_\w*gpu recognizes this device already, and it"
                               r" keeps what that promises.\n")
        lacking = self.odd(platform + rules("pthread", {**GPU, EXTENSIONS: "cl_khr_fp16"}))
        self.assertIn("but it breaks what that promises", self.info("--emit-target", env=lacking))

    @NEEDS_DEVICES
    def test_sub_group_sizes(self):
        sizes = {SIZES: struct.pack("4Q", 32, 8, 16, 8)}
        (entry,) = self.entries(self.info("--emit-target", env=self.odd(rules("pthread", sizes)))).values()
        self.assertEqual(entry.sub_group_sizes, (8, 16, 32))

    @NEEDS_DEVICES
    def test_odd_names_are_taken_by_the_table(self):
        odd = ["", "   ", "No", "null", "1.5", "~", "- x", "{a: b}", "'", '"', "\\", '"\\"', "# x: y", "a: b",
               "x" * 120, "9 lives", "Grüße", "设备", "a\tb\nc", "\x1b[31mred", "%", "@home", "`", "$(shell ls)",
               "&a *b !c", "$HOME", "100%", "Ünï", b"\xff\xfe", b"abc\xffdefg\xffhi"]
        seed = random.randrange(2 ** 32)
        print(f"seed {seed}")
        r = random.Random(seed)
        odd += [bytes(r.randrange(1, 256) for _ in range(r.randrange(1, 60))) for _ in range(8)]
        for raw in odd:
            raw = (raw if isinstance(raw, bytes) else raw.encode()) + b"\0"
            answers = {key: raw for key in (NAME, VENDOR, DRIVER)}
            text = rules("pthread", answers) + ";" + rules("platform", {PLATFORM: raw})
            with self.subTest(seed=seed, raw=raw):
                done = self.call("--emit-target", env=self.odd(text))
                if "emulator" in done.stderr:
                    continue
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                (entry,) = self.entries(done.stdout).values()
                self.assertRegex(entry.name, r"\A[a-z][a-z0-9_]{0,63}\Z")
                (way,) = entry.recognize
                instead = ("unnamed device", "unknown vendor", "unnamed platform")
                for part in (v for k, v in way.items() if k in ("name", "vendor", "platform")):
                    self.assertTrue(part.encode() in raw or part in instead, part)

    def test_without_a_device(self):
        self.refuse(1, "install one" if WITH_OPENCL else "CONFIG_DYNSEL_BACKEND_OPENCL=y", "--emit-target",
                    env=NO_DRIVER)

    @NEEDS_DEVICES
    def test_when_nothing_is_chosen(self):
        self.refuse(1, ["--device 'gpu'", "--device all"], "--emit-target", "--device", "gpu")
        self.refuse(1, ["DYNSEL_OPENCL 'gpu'"], "--emit-target", env={**ONE, "DYNSEL_OPENCL": "gpu"})


class Check(Case):
    @NEEDS_DEVICES
    @WELCOMING
    def test_nothing_is_said_where_all_is_kept(self):
        for env in (NO_DRIVER, ONE, TWO):
            self.assertEqual(self.info("--check", env=env), "")
        self.assertEqual(self.info("-c", "-d", "0"), "")

    @NEEDS_DEVICES
    def test_nothing_chosen_is_not_a_pass(self):
        self.refuse(1, "--device 'gpu' chooses none", "--check", "--device", "gpu")
        self.refuse(1, "No OpenCL device", "--check", "--device", "all", env=NO_DRIVER)


class Usage(Case):
    def test_wrong_options(self):
        for arguments, says in ((("--jsn",), "did you mean '--json'"), (("--emit",), "--help"),
                                (("--chekc",), "did you mean '--check'"), (("--frobnicate",), "'--frobnicate'"),
                                (("--devices=all",), "did you mean '--device'"), (("-x",), "'-x'"),
                                (("gpu",), "--device 'gpu'"), (("-",), "'-'"), (("",), "''"),
                                (("--json=1",), "--json takes no value"),
                                (("--json", "--check"), "--json and --check"),
                                (("-e", "-c"), "--emit-target and --check"),
                                (("--device",), "needs a selector"), (("--device", ""), "needs a selector"),
                                (("--device=",), "needs a selector"), (("-d", " "), "needs a selector"),
                                (("-d", "all", "--device=gpu"), "twice"),
                                (("--" + "x" * 3000,), "no option"),
                                (("--two\nlines\x1b",), "'--two?lines?'")):
            self.refuse(2, [says, "dynsel-info --help"], *arguments)

    @unittest.skipUnless(WITH_OPENCL, "needs OpenCL")
    def test_wrong_selectors(self):
        for env in (ONE, NO_DRIVER):
            self.refuse(2, ["--device 'name=;'", "dynsel-info --help"], "-dname=;", env=env)
            self.refuse(2, "DYNSEL_OPENCL 'colour=red'", env={**env, "DYNSEL_OPENCL": "colour=red"})

    @unittest.skipIf(WITH_OPENCL, "dynsel is built with OpenCL")
    def test_a_selector_where_there_is_no_backend(self):
        self.refuse(1, "without its OpenCL backend", "--device", "gpu")

    @unittest.skipUnless(WITH_OPENCL and MOST_DEVICES < 3, "there is room for three devices")
    def test_more_devices_than_fit(self):
        done = self.call(env=THREE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not all OpenCL devices are listed", done.stderr)


if __name__ == "__main__":
    unittest.main()
