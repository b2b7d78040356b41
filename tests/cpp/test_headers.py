# SPDX-License-Identifier: Apache-2.0
"""test_macros.cpp uses every macro that the public headers define, so that a new one is tried in C++, too."""

import os
import re
import unittest
from pathlib import Path

TOP = Path(os.environ["DYNSEL_TOP"])
GENERATED = Path(os.environ["DYNSEL_BUILD"]) / "gen/dynsel"
HEADERS = [*sorted((TOP / "include/dynsel").glob("*.h")), *sorted(GENERATED.glob("*.h"))]
USES = re.sub(r"/\*.*?\*/", "", (TOP / "tests/cpp/test_macros.cpp").read_text(encoding="utf-8"), flags=re.DOTALL)
# Names for the macros themselves, and what is a header's guard or an option.
INTERNAL = re.compile(r"\w+_|\w+_H|CONFIG_\w+|__\w+|DYNSEL_(WORD|NO_NAME|NO_SUCH_ASPECT|TRAIT)_\w+|DYNSEL_SECOND")


def macros():
    """The public macros: those that are not internal, and that the headers leave defined."""
    texts = "".join(path.read_text(encoding="utf-8") for path in HEADERS)
    defined = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", texts, re.MULTILINE))
    undefined = set(re.findall(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", texts, re.MULTILINE))
    return {name for name in defined - undefined if not INTERNAL.fullmatch(name)}


class Macros(unittest.TestCase):
    def test_each_is_used_in_cpp(self):
        self.assertGreater(len(macros()), 50)
        missing = sorted(name for name in macros() if not re.search(rf"\b{name}\b", USES))
        self.assertEqual(missing, [], "use them in tests/cpp/test_macros.cpp")


if __name__ == "__main__":
    unittest.main()
