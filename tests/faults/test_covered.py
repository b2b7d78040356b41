#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fault layer knows each OpenCL function that the library calls."""

import os
import re
import unittest
from pathlib import Path

TOP = Path(os.environ["DYNSEL_TOP"])


def names(text, pattern):
    return set(re.findall(pattern, text))


class Covered(unittest.TestCase):
    def test_each_function_that_is_called_is_known(self):
        known = names((TOP / "tests/faults/functions.h").read_text(encoding="utf-8"), r"X\((cl\w+)\)")
        sources = list((TOP / "src/backends/opencl").glob("*.c"))
        self.assertTrue(sources)
        for source in sources:
            text = source.read_text(encoding="utf-8")
            code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
            called = names(code, r'\b(cl[A-Z]\w+)\(') | names(code, r'"(cl[A-Z]\w+)"')
            self.assertLessEqual(called, known, source.name)


if __name__ == "__main__":
    unittest.main()
