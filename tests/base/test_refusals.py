# SPDX-License-Identifier: Apache-2.0
"""Each refusal because of a full table names the option that sizes it, its value, and the value that would do."""

import os
import re
import unittest
from pathlib import Path

TOP = Path(os.environ["DYNSEL_TOP"])
KCONFIG = "".join(p.read_text(encoding="utf-8") for p in (TOP / "src").rglob("Kconfig*"))

# What no option sizes: the program's own arrays, a device's memory, a limit of the interface.
WITHOUT_OPTION = (
    "an area is too small",
    "the device's memory is full",
    "workers run, more than fit",
    "devices are chosen: give more room",
    "a command comes after {} events",
    "a command group has at most 8 key words",
    "the driver has no {} KiB of shared memory",
    "the log has {} bytes",
    "the file needs {} bytes of memory",
    "a buffer is larger than the memory that rank {} gave",
    "{} resources are there, more than fit",
)


def calls(text):
    """The statements of a source that name DYNSEL_E_FULL, and the words of their texts."""
    for statement in re.sub(r"/\*.*?\*/", "", text, flags=re.S).split(";"):
        words = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', statement))
        if "DYNSEL_E_FULL" in statement and " " in words and not words.startswith("the enqueued"):
            yield statement, words


class Refusals(unittest.TestCase):
    def test_texts_of_full_tables_name_option_and_remedy(self):
        count = 0
        for path in sorted((TOP / "src").rglob("*.c")):
            for call, words in calls(path.read_text(encoding="utf-8")):
                if any(known in words for known in WITHOUT_OPTION):
                    continue
                with self.subTest(path=str(path.relative_to(TOP)), text=words):
                    self.assertRegex(call, r"DYNSEL_OPTION(_IS)?\(")
                    self.assertRegex(words, r"\bset (it|them)\b")
                    self.assertIn("{}", words)
                count += 1
        self.assertGreater(count, 15)

    def test_options_of_texts_exist(self):
        for path in sorted((TOP / "src").rglob("*.c")):
            for name in re.findall(r"DYNSEL_OPTION(?:_IS)?\(\s*(\w+)", path.read_text(encoding="utf-8")):
                with self.subTest(path=str(path.relative_to(TOP)), option=name):
                    self.assertRegex(KCONFIG, rf"\nconfig DYNSEL_{name}\n")

    def test_no_text_tells_to_raise_an_option_without_its_value(self):
        for path in sorted((TOP / "src").rglob("*.c")):
            text = re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8"))
            with self.subTest(path=str(path.relative_to(TOP))):
                self.assertNotRegex(text, r'"[^"\n]*\braise CONFIG_')


if __name__ == "__main__":
    unittest.main()
