# SPDX-License-Identifier: Apache-2.0
"""What a policy needs and a backend reports is compared when a program is compiled."""

import os
import subprocess
import unittest

TOP, BUILD = os.environ["DYNSEL_TOP"], os.environ["DYNSEL_BUILD"]
TIMELESS = "(DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION)"


def compiled(assertion):
    """(status, what the compiler said) of a program with this assertion in it."""
    program = f"#include <dynsel/dynsel.h>\n{assertion}\nint main(void)\n{{\n    return 0;\n}}\n"
    result = subprocess.run(
        [os.environ["DYNSEL_CC"], "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c",
         f"-I{BUILD}/gen", f"-I{TOP}/include", "-"],
        input=program, capture_output=True, text=True, check=False)
    return result.returncode, result.stderr


class Reports(unittest.TestCase):
    def test_backend_without_required_report_does_not_compile(self):
        for reports in (TIMELESS, "0", "DYNSEL_TASK_TIME"):
            status, said = compiled(f"DYNSEL_ASSERT_REPORTS({reports}, DYNSEL_AUTO_TUNE_NEEDS);")
            self.assertNotEqual(status, 0, reports)
            self.assertIn("the backend does not report what the policy needs", said)

    def test_backend_with_required_reports_compiles(self):
        for reports, needs in ((TIMELESS, "DYNSEL_DYNAMIC_LOAD_NEEDS"), ("0", "0"),
                               ("DYNSEL_INLINE_REPORTS", "DYNSEL_AUTO_TUNE_NEEDS"), ("~0u", "0")):
            status, said = compiled(f"DYNSEL_ASSERT_REPORTS({reports}, {needs});")
            self.assertEqual(status, 0, said)


if __name__ == "__main__":
    unittest.main()
