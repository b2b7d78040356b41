# SPDX-License-Identifier: Apache-2.0
"""doc/stability.md says of each public header how stable it is, and the changelog has this version."""

import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "site_scons"))

from dynsel_build.version import read as read_version  # noqa: E402


class Stability(unittest.TestCase):
    def test_each_header_is_listed_once(self):
        text = (TOP / "doc/stability.md").read_text(encoding="utf-8")
        by_header = text[text.index("## By header"):text.index("In all headers:")]
        listed = re.findall(r"`(\w+\.(?:h|hpp|def))`", by_header)
        self.assertEqual(sorted(listed), sorted(p.name for p in (TOP / "include/dynsel").iterdir()))

    def test_changelog_begins_with_this_version(self):
        text = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^## (\S+)", text, re.MULTILINE)[0], read_version(TOP))


if __name__ == "__main__":
    unittest.main()
