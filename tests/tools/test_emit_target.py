# SPDX-License-Identifier: Apache-2.0
"""dynsel-info --emit-target: the table takes what it prints, whatever drivers call their devices."""

import random
import re
import struct
import unittest

from support_info import (Case, DRIVER, EXTENSIONS, GPU, NAME, NEEDS_DEVICES, NO_DRIVER, ONE, PLATFORM,
                          SIZES, TOP, TWO, TYPE, VENDOR, WITH_OPENCL, all_aspects, rule, rules)

from dynsel_build import aspect_list, aspects, targets
from dynsel_build.trees import own
class EmitTarget(Case):
    def entries(self, text):
        """The table with these entries behind it, as the build reads it: {name: Target} of the new ones."""
        before = (TOP / targets.PATH).read_text(encoding="utf-8")
        table = targets.read("table", (before + "\n" + text).encode(), all_aspects(),
                             aspects.backends(own(TOP)), aspect_list.PATH)
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
        table = aspects.catalogue(own(TOP)).targets
        name = next(t.name for t in table if re.fullmatch(r"[a-z]+_gpu", t.name))
        env = self.odd(rules("pthread", {**GPU, VENDOR: name.split("_")[0], NAME: "gpu"}))
        self.assertEqual(list(self.entries(self.info("--emit-target", env=env))), [name + "_2"])

    @NEEDS_DEVICES
    def test_how_names_are_made(self):
        words = "one two three four five six seven eight nine ten"
        for vendor, kind, name, made in (
                ("No", 1, "no", "opencl_no"),
                ("3dfx Interactive", 4, "Voodoo-2", "opencl_3dfx_gpu_voodoo_2"),
                ("Maker (R)", 8, "MAKER X1(TM)", "maker_accelerator_x1_tm"),
                ("Maker", 2, words, "maker_cpu_one_two_three_four_five_six_seven"),
                ("Maker", 2, "x" * 120, "maker_cpu_" + "x" * 23),
                ("y" * 40, 2, "x" * 40, "y" * 23 + "_cpu")):
            env = self.odd(rules("pthread", {VENDOR: vendor, TYPE: kind, NAME: name}))
            self.assertEqual(list(self.entries(self.info("--emit-target", env=env))), [made])

    @NEEDS_DEVICES
    def test_the_longest_plain_part_of_a_name_is_recognized(self):
        for raw, part in ((b"ab \xff abcdef \xff abc", "abcdef"), (b"ab\tcd \xffe", "ab"),
                          (b" x  y \x01", "x  y")):
            (entry,) = self.entries(self.info("--emit-target", env=self.odd(
                rules("pthread", {NAME: raw + b"\0"})))).values()
            self.assertEqual(entry.recognize[0]["name"], part)

    @NEEDS_DEVICES
    def test_a_device_that_the_table_knows(self):
        platform = rules("platform", {PLATFORM: "NVIDIA CUDA"}) + ";"
        text = self.info("--emit-target", env=self.odd(platform + rules("pthread", GPU)))
        self.assertTrue(text.startswith("# The target nvidia_h200_gpu recognizes this device already, and what"
                                        " it promises is true.\n"))
        lacking = self.odd(platform + rules("pthread", {**GPU, EXTENSIONS: "cl_khr_fp16"}))
        self.assertIn("# The target nvidia_gpu recognizes this device already, but promises aspects that it lacks.\n",
                      self.info("--emit-target", env=lacking))

    @NEEDS_DEVICES
    def test_sub_group_sizes(self):
        sizes = {SIZES: struct.pack("4Q", 32, 8, 16, 8)}
        (entry,) = self.entries(self.info("--emit-target", env=self.odd(rules("pthread", sizes)))).values()
        self.assertEqual(entry.sub_group_sizes, (8, 16, 32))

    @NEEDS_DEVICES
    def test_odd_names_are_taken_by_the_table(self):
        odd = ["", "No", "null", "   ", "1.5", "~", "- x", "{a: b}", "'", '"', "\\", '"\\"', "# x: y", "a: b",
               "x" * 120, "9 lives", "Grüße", "设备", "a\tb\nc", "\x1b[31mred", "%", "@home", "`", "$(shell ls)",
               "&a *b !c", "$HOME", "100%", "Ünï", b"\xff\xfe", b"abc\xffdefg\xffhi"]
        seed = random.randrange(2 ** 32)
        print(f"seed {seed}")
        r = random.Random(seed)
        odd += [bytes(r.randrange(1, 256) for _ in range(r.randrange(1, 60))) for _ in range(8)]
        for first, second in zip(odd[::2], odd[1::2]):
            pair = [(raw if isinstance(raw, bytes) else raw.encode()) + b"\0" for raw in (first, second)]
            text = ";".join(rules(part, {key: raw for key in (NAME, VENDOR, DRIVER)})
                            for part, raw in zip(("pthread", "basic"), pair))
            with self.subTest(seed=seed, pair=pair):
                self.check_entries(pair, self.odd(f"{text};{rule('platform', PLATFORM, pair[0])}", TWO))

    def check_entries(self, names, env):
        """That devices with such names get entries which recognize them."""
        found = self.entries(self.info("--emit-target", env=env))
        self.assertEqual(len(found), 2)
        instead = ("unnamed device", "unknown vendor", "unnamed platform")
        for name, entry in found.items():
            self.assertRegex(name, r"\A[a-z][a-z0-9_]{0,63}\Z")
            (way,) = entry.recognize
            for part in (v for k, v in way.items() if k in ("name", "vendor", "platform")):
                self.assertTrue(part in instead or any(part.encode() in raw for raw in names), part)

    def test_without_a_device(self):
        self.refuse(1, "install one" if WITH_OPENCL else "CONFIG_DYNSEL_BACKEND_OPENCL=y", "--emit-target",
                    env=NO_DRIVER)

    @NEEDS_DEVICES
    def test_when_nothing_is_chosen(self):
        self.refuse(1, ["--device 'gpu'", "--device all"], "--emit-target", "--device", "gpu")
        self.refuse(1, ["DYNSEL_OPENCL 'gpu'"], "--emit-target", env={**ONE, "DYNSEL_OPENCL": "gpu"})

if __name__ == "__main__":
    unittest.main()
