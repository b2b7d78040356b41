# SPDX-License-Identifier: Apache-2.0
"""dynsel-info --json: every fact of it a second time, from OpenCL itself."""

import json
import random
import re
import struct
import unittest

from support_info import (COLLECTIVES, COMPILER, CONFIG, C_VERSION, Case, ECC, EXTENSIONS, GENERIC, GPU,
                          IL, IMAGE, LINKER, NAME, NEEDS_DEVICES, NO_DRIVER, ONE, PLATFORM, QUEUE,
                          SANITIZED, SIZES, SUB_GROUPS, SVM, THREE, TOP, TWO, TYPE, UNIFIED, USM,
                          VENDOR, WELCOMING, WITH_OPENCL, configured_aspects, rules)

from dynsel_build import aspects
from dynsel_build.trees import own
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
        for turn in range(3 if SANITIZED else 12):
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
        catalogue = aspects.catalogue(own(TOP))
        known = configured_aspects()
        found = self.json(env=NO_DRIVER)
        self.assertEqual(found["targets"], [
            {"name": t.name, "in_build": CONFIG[t.symbol.removeprefix("DYNSEL_")] == "1",
             "aspects": [a for a in known if a in t.aspects],
             "may_support_other_aspects": t.may_support_other_aspects} for t in catalogue.targets])
        for resource in found["resources"]:
            self.assertEqual((resource["target"], resource["accepted"]),
                             ({"name": "host", "in_build": True}, True))
            self.assertEqual((resource["memory"]["domain"], resource["memory"]["shares_host_memory"]),
                             ("host", True))

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
                self.assertEqual(set(groups["hidden"]), there - self.possible(found["targets"]))

    def possible(self, table):
        """What some target of this build has or may have."""
        chosen = [t for t in table if t["in_build"]]
        closed = all(not t["may_support_other_aspects"] for t in chosen)
        return {a for t in chosen for a in t["aspects"]} if closed else set(configured_aspects())

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
                          (b"over \xe0\x80\xaf \xf0\x80\x80\xaf \xed\xbf\xbf!",
                           "over \ufffd\ufffd\ufffd \ufffd\ufffd\ufffd\ufffd \ufffd\ufffd\ufffd!"),
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

if __name__ == "__main__":
    unittest.main()
