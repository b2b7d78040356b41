# SPDX-License-Identifier: Apache-2.0
"""An archive and headers of different configurations do not link; of the same, they do."""

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
    return dynsel_fixed_resource_init(&policy, NULL, 0) == DYNSEL_OK ? 0 : 1;
}
"""


class Link(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-link-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "dynsel").mkdir()
        (self.folder / "main.c").write_text(PROGRAM, encoding="utf-8")

    def link(self, header):
        """(status, what the linker said) of a program against the variant's archive."""
        (self.folder / "dynsel/autoconf.h").write_text(header, encoding="utf-8")
        libraries = ["-lOpenCL"] if "#define CONFIG_DYNSEL_BACKEND_OPENCL 1\n" in header else []
        command = [os.environ["DYNSEL_CC"], "-std=c11", "-pthread", "main.c", "-I.", f"-I{BUILD}/gen",
                   f"-I{TOP}/include", str(BUILD / "libdynsel.a"), *libraries, "-o", "main"]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        return result.returncode, result.stderr

    def test_same_configuration(self):
        status, said = self.link(HEADER)
        self.assertEqual(status, 0, said)

    def test_other_configuration(self):
        other = re.sub("CONFIG_TAG c[0-9a-f]{8}", "CONFIG_TAG c0badc0de", HEADER)
        self.assertNotEqual(other, HEADER)
        status, said = self.link(other)
        self.assertNotEqual(status, 0)
        self.assertIn("c0badc0de", said)


if __name__ == "__main__":
    unittest.main()
