# SPDX-License-Identifier: Apache-2.0
"""Instructions of a submit through dynsel.hpp and through C, counted by Callgrind in optimized programs.

Alone it prints them: `DYNSEL_TOP=. DYNSEL_BUILD=build/native python3 tests/cpp/test_cost.py`.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP, BUILD = Path(os.environ["DYNSEL_TOP"]), Path(os.environ["DYNSEL_BUILD"])
HAS_OPENCL = "CONFIG_DYNSEL_BACKEND_OPENCL=y" in (BUILD / ".config").read_text(encoding="utf-8")
LIBRARIES = ["-pthread", *(["-lOpenCL"] if HAS_OPENCL else [])]
ROUNDS = 1000
MORE = 24  # instructions that the C++ form of a call may take on top
FORMS = ("submit", "submit_and_wait", "detach")


class Cost(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-cost-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def instructions(self, program, function):
        """For one round."""
        said = subprocess.run(["valgrind", "--tool=callgrind", f"--toggle-collect={function}",
                               "--callgrind-out-file=/dev/null", program], check=True, capture_output=True, text=True).stderr
        return int(re.search(r"Collected : (\d+)", said).group(1)) / ROUNDS

    def test_cpp_costs_what_c_costs(self):
        program = self.folder / "cost"
        subprocess.run(["g++", "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", f"-I{TOP}/include",
                        f"-I{BUILD}/gen", TOP / "tests/cpp/cost.cpp", BUILD / "libdynsel.a", *LIBRARIES, "-o", program], check=True)
        for form in FORMS:
            with self.subTest(form):
                c, cpp = (self.instructions(program, f"{form}_in_{language}") for language in ("c", "cpp"))
                print(f"{form:16} C {c:6.1f}  C++ {cpp:6.1f} instructions", flush=True)
                self.assertGreater(c, 50)
                self.assertLessEqual(cpp, c + MORE)


if __name__ == "__main__":
    unittest.main()
