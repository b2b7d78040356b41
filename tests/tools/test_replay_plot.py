# SPDX-License-Identifier: Apache-2.0
"""dynsel-replay-plot draws each case and resource, and says in one line what is wrong."""

import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PLOT = Path(__file__).resolve().parents[2] / "tools/dynsel-replay-plot"
TABLE = '''case,time_ns,bytes,guesses,failed,resource,count,pieces,busy_ns
"recorded",10003000,0,0,0,"gpu",1,100,5000000
"recorded",10003000,0,0,0,"worker",1,100,10000000
"no ""gpu""",20001000,0,0,0,"gpu",0,0,0
"no ""gpu""",20001000,0,0,0,"worker",1,200,20000000
'''


def plot(*arguments):
    return subprocess.run([sys.executable, PLOT, *arguments], capture_output=True, text=True, timeout=120, check=False)


class Plot(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.table = self.folder / "table.csv"
        self.table.write_text(TABLE, encoding="utf-8")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is missing")
    def test_draws(self):
        picture = self.folder / "table.svg"
        result = plot(self.table, picture)
        self.assertEqual((0, "", ""), (result.returncode, result.stdout, result.stderr))
        text = picture.read_text(encoding="utf-8")
        for name in ("recorded", 'no "gpu"', "worker", "time (ms)", "busy (%)"):
            self.assertIn(f">{name.replace('&', '&amp;')}<", text.replace("&quot;", '"'))
        self.assertIn(">10<", text)
        result = plot(self.table, self.folder / "missing/table.svg")
        self.assertEqual((1, 1), (result.returncode, result.stderr.count("\n")), result.stderr)

    def test_refuses(self):
        wrong = self.folder / "wrong.csv"
        for content, part in (("", "no table"), ("a,b\n1,2\n", "no table"), (TABLE.partition("\n")[0], "empty"),
                              (TABLE.replace("10003000", "x"), "damaged"), (TABLE[:100], "damaged")):
            wrong.write_text(content, encoding="utf-8")
            result = plot(wrong, self.folder / "table.svg")
            self.assertEqual((2, 1), (result.returncode, result.stderr.count("\n")), result.stderr)
            self.assertIn(part, result.stderr)
        self.assertEqual(2, plot(self.folder / "missing.csv", self.folder / "table.svg").returncode)
        self.assertEqual(2, plot(self.table, self.folder / "table.gif").returncode)


if __name__ == "__main__":
    unittest.main()
