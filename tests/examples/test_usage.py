# SPDX-License-Identifier: Apache-2.0
"""Every example explains itself, takes no nonsense, notices a full disk, and prints what a terminal bears."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BIN = Path(os.environ["DYNSEL_BIN"])
TOP = Path(os.environ["DYNSEL_TOP"])
PHOTO = str(TOP / "examples/sepia/photo.png")
# What each prints something with.
EXAMPLES = {"adopt": (), "first": (), "custom_backend": (), "custom_policy": (), "precision": (), "placeholder": (), "views": (),
            "iterators": (), "sepia": ("--list",)}
EVIL = "\x1b[31mevil\x07\x9b\x7f"  # \x9b is two bytes here, and a control character all the same
RAW = b"raw\x9b\xff"


class Usage(unittest.TestCase):
    def run_it(self, example, *arguments, stdout=subprocess.PIPE, **variables):
        """Without the search for leaks, whose tracer may crash and say so (google/sanitizers 1170)."""
        asan = variables.pop("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "")) + ":detect_leaks=0"
        return subprocess.run([BIN / example, *arguments], stdout=stdout, stderr=subprocess.PIPE,
                              check=False, env={**os.environ, **variables, "ASAN_OPTIONS": asan})

    def assert_printable(self, said):
        text = said.decode("utf-8")
        self.assertEqual([c for c in text if not c.isprintable() and c not in "\n"], [], text)

    def test_help(self):
        for example in EXAMPLES:
            with self.subTest(example):
                done = self.run_it(example, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertTrue(done.stdout.decode().startswith(f"Usage: {example}"), done.stdout)

    def test_wrong_arguments(self):
        for example in EXAMPLES:
            wrong = [("--nonsense",), ("-z",), ("--help=1",), ("--\x1b]0;title\x07",)]
            for arguments in wrong + ([] if example == "sepia" else [("extra",), ("",), ("--", "extra")]):
                with self.subTest(example, arguments=arguments):
                    done = self.run_it(example, *arguments)
                    self.assertEqual((done.returncode, done.stdout), (2, b""))
                    self.assertIn(example.encode(), done.stderr)
                    self.assert_printable(done.stderr)
        for example in ("placeholder", "views", "iterators"):
            for arguments in (("--policy",), ("--policy", EVIL), ("--devices", "colour=" + EVIL), ("--devices",)):
                with self.subTest(example, arguments=arguments):
                    done = self.run_it(example, *arguments)
                    self.assertEqual((done.returncode, done.stdout), (2, b""))
                    self.assert_printable(done.stderr)

    def test_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            for example, arguments in EXAMPLES.items():
                for given in (arguments, ("--help",)):
                    with self.subTest(example, arguments=given):
                        done = self.run_it(example, *given, stdout=full)
                        self.assertEqual((done.returncode, done.stderr.decode()),
                                         (1, f"{example}: standard output cannot be written\n"))

    def test_names_of_devices(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "odd.so")
            subprocess.run([os.environ.get("DYNSEL_CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library,
                            TOP / "tests/tools/odd_opencl.c"], check=True)
            asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
            for name in (EVIL.encode(), RAW):
                odd = ";".join(f"{part} {question:x} {(name + bytes([0])).hex()}"
                               for part, questions in (("pthread", (0x102B, 0x102C, 0x102D)), ("platform", (0x902,)))
                               for question in questions)
                given = {"LD_PRELOAD": library, "ODD": odd, "ASAN_OPTIONS": asan}
                plain = name.split(b"m")[-1][:3].decode()  # evi, raw
                for example, arguments in {**EXAMPLES, "sepia": ("--list",)}.items():
                    with self.subTest(example, name=name):
                        done = self.run_it(example, *arguments, **given)
                        self.assertEqual(done.returncode, 0, done)
                        self.assert_printable(done.stdout + done.stderr)
                        if example in ("first", "placeholder", "views", "sepia"):
                            self.assertIn(plain, done.stdout.decode())

    def test_names_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = os.path.join(folder, "in" + EVIL + ".png")
            os.symlink(PHOTO, picture)
            done = self.run_it("sepia", "--device", "host", "--output", picture + ".out.png", picture)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn(b"in?[31mevil", done.stdout)
            self.assert_printable(done.stdout + done.stderr)
            done = self.run_it("sepia", "--device", "host", picture + "missing")
            self.assertEqual(done.returncode, 1)
            self.assert_printable(done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
