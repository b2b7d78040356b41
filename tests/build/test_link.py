# SPDX-License-Identifier: Apache-2.0
"""An archive and headers of different configurations do not link; of the same, they do. Programs
without command groups keep nothing of what the OpenCL backend does with memory."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP, BUILD = Path(os.environ["DYNSEL_TOP"]), Path(os.environ["DYNSEL_BUILD"])
HEADER = (BUILD / "gen/dynsel/autoconf.h").read_text(encoding="utf-8")

PROGRAM = """
#include <dynsel/dynsel.h>

int main(void)
{
    dynsel_fixed_resource_policy policy = {0};
    return dynsel_fixed_resource_init(&policy, NULL, 0) == DYNSEL_OK
           && dynsel_policy_deinit(&policy.policy) == DYNSEL_OK ? 0 : 1;
}
"""


# What a program has to call to have what the OpenCL backend does with memory.
GROUPS = """
#include <dynsel/dynsel.h>

int main(void)
{
    dynsel_fixed_resource_policy policy = {0};
    return dynsel_fixed_resource_init(&policy, NULL, 0) == DYNSEL_OK
           && %s == DYNSEL_OK ? 0 : 1;
}
"""
CALLS = ["dynsel_submit_command_group(&policy.policy, 0, 0, 0)",
         "dynsel_kernel_prepare(&policy.policy, 0, 0, 0, 0)"]


def has(feature):
    return f"#define CONFIG_DYNSEL_{feature} 1\n" in HEADER


class Link(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-link-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "dynsel").mkdir()

    def link(self, header, program=PROGRAM):
        """(status, what the linker said) of a program against the variant's archive."""
        (self.folder / "main.c").write_text(program, encoding="utf-8")
        (self.folder / "dynsel/autoconf.h").write_text(header, encoding="utf-8")
        libraries = ["-lOpenCL"] if has("BACKEND_OPENCL") else []
        libraries += ["-lmpi"] if has("MPI_OPENMPI") else ["-lmpich"] if has("MPI_MPICH") else []
        command = [os.environ["DYNSEL_CC"], "-std=c11", "-pthread", "main.c", "-I.", f"-I{BUILD}/gen",
                   f"-I{TOP}/include", str(BUILD / "libdynsel.a"), *libraries, "-o", "main"]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        return result.returncode, result.stderr

    def test_same_configuration_links(self):
        status, said = self.link(HEADER)
        self.assertEqual(status, 0, said)

    def test_other_configuration_does_not_link(self):
        other = re.sub("CONFIG_TAG c[0-9a-f]{8}", "CONFIG_TAG c0badc0de", HEADER)
        self.assertNotEqual(other, HEADER)
        status, said = self.link(other)
        self.assertNotEqual(status, 0)
        self.assertIn("dynsel_fixed_resource_init.of_headers_c0badc0de.take_library_and_headers_from_one_build", said)
        if has("COMPILER_GCC"):
            ours = re.search("CONFIG_TAG (c[0-9a-f]{8})", HEADER).group(1)
            for text in (f"configuration.{ours}", "configuration.c0badc0de",
                         "dynsel_headers_and_library_differ.take_both_from_one_build"):
                self.assertIn(text, said)

    def keeps(self, program):
        """Whether the program has the OpenCL backend's operations on memory."""
        status, said = self.link(HEADER, program)
        self.assertEqual(status, 0, said)
        names = subprocess.run(["nm", "--defined-only", "main"], cwd=self.folder, capture_output=True,
                               text=True, check=True).stdout.split()
        self.assertIn("dynsel_opencl_backend", names)
        kept = [name in names for name in ("dynsel_opencl_memory", "dynsel_opencl_launch",
                                           "dynsel_opencl_take_kernel", "dynsel_opencl_end_memory")]
        self.assertEqual(len(set(kept)), 1, kept)
        return kept[0]

    @unittest.skipIf(has("ONE_FILE"), "one object has them always")
    @unittest.skipUnless(has("BACKEND_OPENCL") and has("COMMAND_GROUPS"), "no command groups on OpenCL")
    def test_program_without_command_groups_links_none(self):
        self.assertFalse(self.keeps(PROGRAM))
        for call in CALLS:
            self.assertTrue(self.keeps(GROUPS % call), call)


if __name__ == "__main__":
    unittest.main()
