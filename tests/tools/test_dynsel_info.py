# SPDX-License-Identifier: Apache-2.0
"""dynsel-info as a user calls it: the list for people, the check, mistakes."""

import os
import re
import struct
import subprocess
import sys
import unittest

from support_info import (CONFIG, Case, DRIVER, GPU, MOST_DEVICES, NAME, NEEDS_DEVICES, NO_DRIVER, ONE, PLATFORM,
                          SIZES, THREE, TOP, TWO, VENDOR, VERSION, WELCOMING, WITH_OPENCL, rules)


MOST_WORKERS = int(CONFIG.get("THREADS_WORKERS") or 0) if CONFIG["BACKEND_THREADS"] == "1" else 0


def settled(text):
    """Without how the library times work on a device: it measures that in each call."""
    return re.sub(r'(?ms)^  times .*?(?=^  \w|\Z)|"times": \{.*?\}', "", text)


class People(Case):
    @NEEDS_DEVICES
    def test_it_fits_one_screen(self):
        text = self.screen(env={**self.odd(rules("basic", GPU), THREE), "NO_COLOR": "1"})
        lines = text.split("\n")
        wrapped = text.count("(promises\n")  # behind long names of processors
        self.assertLess(len(lines), 40 + wrapped, text)  # with the prompt
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
        self.assertEqual(settled(re.sub(r"\033\[\d+m", "", coloured)), settled(plain))
        self.assertNotIn("\033", self.screen(env=TWO, terminal="dumb"))
        self.assertEqual(settled(self.info(env=TWO)), settled(plain))

    @NEEDS_DEVICES
    def test_a_reset_follows_a_colour(self):
        """And nothing else: words without a colour have no sequence around them."""
        for env in (TWO, self.odd(rules("pthread", GPU))):
            found = re.findall(r"\033\[(\d+)m([^\033]*)", self.screen(env=env))
            self.assertGreater(len(found), 4)
            self.assertEqual({code == "0" for code, _ in found[1::2]}, {True})
            self.assertEqual({code == "0" for code, _ in found[::2]}, {False})

    @NEEDS_DEVICES
    def test_what_is_left_out_says_why_in_one_line(self):
        name = re.escape(self.devices()[0]["name"])
        text = self.info("--device", "gpu")
        self.assertRegex(text, rf"(?m)^opencl 0 +{name} +excluded: the selector does not fit$")
        self.assertRegex(text, r"\ABuilt for [^\n]*; OpenCL devices by --device gpu\n")
        self.assertNotIn("driver", text)

    @NEEDS_DEVICES
    def test_a_device_has_all_that_matters(self):
        device, text = self.devices()[0], self.info()
        for part in (device["name"], device["vendor"], device["platform"], device["driver_version"],
                     " ".join(device["opencl_version"].split()[:2]) + "; ",
                     f"target {device['target']['name']}", "GiB", "domain 1", "the host's own",
                     "in order, out of order, profiling", "SVM: coarse-grain, fine-grain, atomics",
                     CONFIG["CONFIG_HASH_TEXT"].strip('"')):
            self.assertIn(part, " ".join(text.split()))
        text = self.info(env=self.odd(rules("pthread", {SIZES: struct.pack("3Q", 32, 8, 8)})))
        self.assertIn("sub-groups of 8, 32", " ".join(text.split()))

    @NEEDS_DEVICES
    def test_an_old_device_is_left_out(self):
        for version, reason in (("OpenCL 1.1 odd", "its OpenCL is too old (OpenCL 1.1 odd), and 1.2 is needed"),
                                ("OpenCl", "its driver does not tell which OpenCL it has (OpenCl), and 1.2 is needed"),
                                (None, "its driver does not tell which OpenCL it has (unknown)")):
            env = self.odd(rules("basic", {VERSION: version}), TWO)
            self.assertIn("excluded: " + reason, " ".join(self.info(env=env).split()))
            old, = [device for device in self.devices(env=env) if device["verdict"] == "too_old"]
            self.assertIn(reason, old["reason"])
            self.assertEqual((old["chosen"], old["opencl_version"]), (False, version or ""))
            self.assertEqual(self.info("--check", env=env), "")
            self.refuse(1, "chooses none", "--check", "--device", "name=basic", env=env)
        env = self.odd(rules("platform", {0x901: "OpenCL 1.0 odd"}), ONE)
        self.assertIn("its platform's OpenCL is too old (OpenCL 1.0 odd)", " ".join(self.info(env=env).split()))

    @NEEDS_DEVICES
    def test_nothing_that_a_terminal_should_not_get(self):
        evil = "\x1b[31mevil\x07\x9b\x7f"
        odd = rules("pthread", {NAME: evil, VENDOR: evil, DRIVER: evil, VERSION: "OpenCL 3.0 " + evil})
        for extra in (rules("platform", {PLATFORM: evil}), rules("pthread", {VERSION: evil}),
                      rules("platform", {0x901: evil}), rules("platform", {0x901: "OpenCL 1.0 " + evil})):
            env = self.odd(extra + ";" + odd, ONE)
            for form in ((), ("--check",), ("--emit-target",), ("--json",), ("--device", "name=" + evil),
                         ("--device", "colour=" + evil)):
                done = self.call(*form, env=env)
                said = done.stdout + done.stderr
                self.assertEqual([c for c in said if not c.isprintable() and c != "\n"], [], said)

    @NEEDS_DEVICES
    def test_devices_of_one_domain_name_each_other(self):
        env = self.odd(rules("basic", GPU), THREE)
        blocks = re.split(r"(?m)^opencl ", self.info(env=env))[1:]
        devices = self.devices(env=env)
        self.assertEqual(len({d["memory"]["domain"] for d in devices}), 2)
        for device, block in zip(devices, blocks):
            same = [str(d["index"]) for d in devices if d["memory"]["domain"] == device["memory"]["domain"]
                    and d is not device]
            named = re.search("the same as of opencl (.*)", block)
            self.assertEqual(named.group(1).split(", ") if named else [], same)

    def test_without_a_driver(self):
        text = " ".join(self.info(env=NO_DRIVER).split())
        self.assertIn("pocl-opencl-icd" if WITH_OPENCL else "CONFIG_DYNSEL_BACKEND_OPENCL=y", text)

    @unittest.skipUnless(0 < MOST_WORKERS < 64, "needs room for more workers")
    def test_processors_without_a_worker_are_told(self):
        for processors, hint in ((MOST_WORKERS, None), (MOST_WORKERS + 1, f"CONFIG_DYNSEL_THREADS_WORKERS={MOST_WORKERS + 1}"),
                                 (100, "CONFIG_DYNSEL_THREADS_WORKERS=64 is the most")):
            env = self.odd_host(processors)
            text = " ".join(self.info(env=env).split())
            workers, = (r for r in self.json(env=env)["resources"] if r["kind"] == "workers")
            self.assertEqual((workers["workers"], workers["compute_units"]), (MOST_WORKERS, processors))
            idle = f"{processors - MOST_WORKERS} processors have no worker: {hint}"
            self.assertEqual(workers["hint"], idle if hint else "")
            self.assertEqual(f" hint {idle} " in text + " ", hint is not None, text)

    def test_version(self):
        for option in ("--version", "-V"):
            self.assertIn(f"configuration {CONFIG['CONFIG_HASH_TEXT'].strip(chr(34))}, ", self.info(option))

    def test_help(self):
        for arguments in (("--help",), ("-h",), ("--json", "--help")):
            text = self.info(*arguments)
            self.assertTrue(text.startswith("Usage: dynsel-info"))
            self.assertLessEqual(max(map(len, text.split("\n"))), 100)
            for option in ("--device", "--json", "--emit-target", "--check", "--trace", "--version"):
                self.assertIn(option, text)
            self.assertIn("as wide as the terminal, and 100 columns in a file or pipe", text)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            for form in ((), ("--json",), ("--help",)):
                done = self.call(*form, env=NO_DRIVER, stdout=full)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "dynsel-info: standard output cannot be written\n"))


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


CAN_TRY = CONFIG.get("TRACE_TO_RINGS") == CONFIG.get("POLICY_ROUND_ROBIN") == "1"


class Trial(Case):
    def setUp(self):
        self.trace = os.path.join(self.folder, "run.trace")

    def pieces(self, *arguments):
        """How many pieces each resource got."""
        done = subprocess.run([sys.executable, str(TOP / "tools/dynsel-trace"), "summary", self.trace, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, encoding="utf-8")
        return [int(found) for found in re.findall(r"(?m)^  \S.*? {2,}(\d+) +\d+ % ", done.stdout)]

    @NEEDS_DEVICES
    @WELCOMING
    @unittest.skipUnless(CAN_TRY, "needs traces and round_robin")
    def test_each_resource_gets_its_pieces(self):
        for env, arguments in ((ONE, ()), (TWO, ("--json",)), (NO_DRIVER, ())):
            listed = self.json(env=env)["resources"]
            count = sum(max(r["workers"], 1) for r in listed if r["chosen"])
            printed = self.info(*arguments, "--trace", self.trace, env=env)
            self.assertEqual([r["name"] for r in listed if r["kind"] == "opencl" and r["name"] not in printed], [])
            self.assertEqual(self.pieces(), [32] * count)
            for part in ("one by one", "together"):
                self.assertEqual(self.pieces("--part", part), [16] * count)

    @NEEDS_DEVICES
    @WELCOMING
    @unittest.skipUnless(CAN_TRY, "needs traces and round_robin")
    def test_a_device_that_fails_is_named(self):
        env = {**self.odd("", TWO), "ODD_MARKER": "basic"}
        name, = (d["name"] for d in self.devices(env=env) if "basic" in d["name"])
        done = self.call("--trace", self.trace, env=env)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"\Adynsel-info: --trace: {re.escape(name)}: [^\n]+\n\Z")

    @unittest.skipUnless(CAN_TRY, "needs traces and round_robin")
    def test_a_file_that_cannot_be_written(self):
        self.refuse(1, "No such file", "--trace", os.path.join(self.folder, "none/run.trace"), env=NO_DRIVER)
        done = self.call("--trace", "/dev/full", env=NO_DRIVER)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Adynsel-info: --trace /dev/full: [^\n]+\n\Z")

    @unittest.skipIf(CAN_TRY, "dynsel is built with traces and round_robin")
    def test_a_build_that_cannot_try(self):
        self.refuse(2, "CONFIG_DYNSEL_TRACE", "--trace", self.trace, env=NO_DRIVER)


class Usage(Case):
    def test_wrong_options(self):
        for arguments, says in ((("--jsn",), "did you mean '--json'"), (("--emit",), "--help"),
                                (("--chekc",), "did you mean '--check'"), (("--dev", "gpu"), "did you mean '--device'"),
                                (("--frobnicate",), "'--frobnicate'"),
                                (("--devices=all",), "did you mean '--device'"), (("-x",), "'-x'"),
                                (("gpu",), "--device 'gpu'"), (("-",), "'-'"), (("",), "''"),
                                (("--json=1",), "--json takes no value"),
                                (("--json", "--check"), "--json and --check"),
                                (("-e", "-c"), "--emit-target and --check"),
                                (("--device",), "needs a selector"), (("--device", ""), "needs a selector"),
                                (("--device=",), "needs a selector"), (("-d", " "), "needs a selector"),
                                (("-d", "all", "--device=gpu"), "twice"),
                                (("--" + "x" * 3000,), "no option"),
                                (("-jx",), "'-x', in '-jx'"), (("-jxd0",), "'-x', in '-jxd0'"),
                                (("-json",), "'-s', in '-json' (did you mean '--json'?)"),
                                (("-check",), "'-k', in '-check' (did you mean '--check'?)"),
                                (("-jc",), "--json and --check"), (("-jd",), "needs a selector"),
                                (("-" + "x" * 3000,), "'-x', in"), (("-x\x1b",), "'-x', in '-x?'"),
                                (("--trace",), "needs a file"), (("-t", ""), "needs a file"),
                                (("-t", "a", "--trace=b"), "twice"), (("-ct", "a"), "--check and --trace"),
                                (("-ta", "-e"), "--emit-target and --trace"),
                                (("--two\nlines\x1b",), "'--two?lines?'")):
            self.refuse(2, [says, "dynsel-info --help"], *arguments)

    def test_joined_letters(self):
        self.assertEqual(settled(self.info("-jj")), settled(self.info("--json")))
        self.assertEqual(self.info("-jh"), self.info("--help"))
        if WITH_OPENCL:
            wanted = settled(self.info("--json", "--device", "all"))
            for arguments in (("-jdall",), ("-jd", "all"), ("-dall", "-j")):
                self.assertEqual(settled(self.info(*arguments)), wanted)

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
