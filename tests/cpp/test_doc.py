# SPDX-License-Identifier: Apache-2.0
"""What doc/cpp.md shows stands in the examples, and what it names exists."""

import re
import textwrap
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
DOC = (TOP / "doc/cpp.md").read_text(encoding="utf-8")
EXAMPLES = [path.read_text(encoding="utf-8") for path in sorted((TOP / "examples/cpp").glob("*.cpp"))]
IN_C, IN_CPP = ("".join(path.read_text(encoding="utf-8") for path in sorted((TOP / "include/dynsel").glob(pattern)))
                for pattern in ("*.h", "*.hpp"))

# What stands in front of a name where it is declared.
DECLARED = (r"\b(class|struct|namespace|using|auto|bool|constexpr [\w:]+|selection>>|status|[&>]|\w+_list|"
            r"\w+_group)")


def shifted(text):
    """The text as it may stand in an example, deeper by some columns."""
    return [textwrap.indent(text, " " * columns) for columns in (0, 4, 8)]


class Doc(unittest.TestCase):
    def test_code_stands_in_the_examples(self):
        blocks = re.findall(r"```cpp\n(.*?)```", DOC, re.DOTALL)
        self.assertGreater(len(blocks), 4)
        for block in blocks:
            with self.subTest(block[:60]):
                self.assertTrue(any(one in example for one in shifted(block) for example in EXAMPLES))

    def test_names_exist(self):
        """Those in the text; code is compiled elsewhere."""
        text = re.sub(r"```.*?```|^    .*$", "", DOC, flags=re.DOTALL | re.MULTILINE)
        for name in sorted(set(re.findall(r"\b(?:dynsel|DYNSEL)_\w+", text)) - {"DYNSEL_EXCEPTIONS"}):
            with self.subTest(name):
                self.assertTrue(re.search(rf"\b{name}\b", IN_C))
        for name in sorted(set(re.findall(r"\bdynsel::(\w+)", text))):
            with self.subTest(name):
                self.assertTrue(re.search(rf"{DECLARED} (\[\[nodiscard\]\] )?{name}\b", IN_CPP))

    def test_links_lead_somewhere(self):
        for target in re.findall(r"\]\(([\w./-]+)\)", DOC):
            self.assertTrue((TOP / "doc" / target).exists(), target)

    def test_programs_are_built(self):
        built = (TOP / "examples/cpp/SConscript").read_text(encoding="utf-8")
        for name in re.findall(r"^    build/native/bin/(\w+)", DOC, re.MULTILINE):
            self.assertIn(f'"{name}"', built)


if __name__ == "__main__":
    unittest.main()
