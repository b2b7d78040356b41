# SPDX-License-Identifier: Apache-2.0
"""What Doxygen sees of a header: the same lines, with the commands that the comments imply."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "site_scons/docs"))

from header_filter import filtered  # noqa: E402


class Filter(unittest.TestCase):
    def test_function(self):
        said = filtered("x.h", """\
/** Says hello. */
/**
 * Opens it.
 *
 * device, name: not NULL; see <dynsel/task.h> and <dynsel/autoconf.h>.
 * other: not a parameter.
 * Errors: DYNSEL_E_FULL (_MAX_A, or
 *     more).
 * May block: no.
 *
 *     name: code;
 */
int open(struct device *device, const char *name[4]);
""")
        self.assertEqual(said, """\
/** @file x.h Says hello. */
/**
 * Opens it.
 *
 * @param device,name not NULL; see @ref task.h "dynsel/task.h" and \\<dynsel/autoconf.h\\>.
 * other: not a parameter.
 * @heading{Errors} DYNSEL_E_FULL (\\_MAX_A, or
 *     more).
 * @heading{May block} no.
 *
 *     name: code;
 */
int open(struct device *device, const char *name[4]);
""")

    def test_comment_behind_a_member_belongs_to_it(self):
        said = filtered("x.h", "struct a {\n    int b; /* one */\n    int\n        c;    /* two\n              lines */\n"
                               "    /* of the next */\n    int d; /**< three */\n};\n")
        self.assertEqual(said, "struct a {\n    int b; /**< one */\n    int\n        c;    /**< two\n              lines */\n"
                               "    /* of the next */\n    int d; /**< three */\n};\n")

    def test_lines_stay_where_they_are(self):
        for path in sorted((TOP / "include/dynsel").glob("*.h")):
            text = path.read_text(encoding="utf-8")
            with self.subTest(path.name):
                self.assertEqual(filtered(path.name, text).count("\n"), text.count("\n"))


if __name__ == "__main__":
    unittest.main()
