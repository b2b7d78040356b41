# SPDX-License-Identifier: Apache-2.0
"""dynsel-trace perfetto: the JSON by the published format, and as Chrome's own engine reads it."""

import json
import os
import shutil
import subprocess
import unittest
from collections import Counter
from pathlib import Path

import trace_file as t
from support_trace import Silent, Tool
from dynsel_trace import model, perfetto, read

# What the published format asks of each phase that is used, beside ph, pid and name.
NEEDED = {"X": {"ts", "dur", "tid"}, "s": {"ts", "tid", "id", "cat"}, "f": {"ts", "tid", "id", "cat", "bp"},
          "C": {"ts", "args"}, "i": {"ts", "tid", "s"}, "M": {"args"}}


def engine_folder():
    """A folder whose node_modules has the engine of Chrome's DevTools, or None."""
    places = [Path(os.environ.get("DYNSEL_NODE_FOLDER", "/nonexistent"))]
    if shutil.which("npm"):
        root = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=False).stdout.strip()
        places.append(Path(root).parent if root else Path("/nonexistent"))
    return next((p for p in places if (p / "node_modules/@paulirish/trace_engine").is_dir()), None)


class Perfetto(Tool):
    def events(self, file):
        run = model.make(read.read(self.file(file)), Silent())
        return json.loads("".join(perfetto.events(run, Silent())))["traceEvents"]

    def example(self):
        file = t.big(900)
        for number in range(200, 208):
            file.ran(1, 500 * number, 500 * number + 900 * (number % 3), number, t.PROCESSORS)
        file.put(1, 5000, 30, 0, t.GPU, 1, (0, 4, (-10) & 0xffffffff, 0))
        file.put(1, 9000, 31, 0, t.NOBODY, 0, (*file.ticks(7000), 0x656e5f6b, 0))
        return file

    def test_each_event_has_what_the_format_asks_for(self):
        events = self.events(self.example())
        self.assertEqual({e["ph"] for e in events}, set(NEEDED))
        for event in events:
            self.assertLessEqual(NEEDED[event["ph"]] | {"pid", "name"}, set(event), event)
            self.assertTrue(all(isinstance(event[k], (int, float)) for k in ("ts", "dur", "pid", "tid") if k in event))
            self.assertGreaterEqual(event.get("dur", 0), 0)

    def test_transfers_tell_their_way(self):
        file = t.big(10)
        file.copy(1, 100, 190, 3, t.GPU, 64, 2, buffer=7)
        file.copy(1, 200, 290, 3, t.GPU, 64, 2, True, 7)
        file.copy(1, 300, 390, 3, t.GPU, 64, 2, False, 7, source=32)
        told = [(e["name"], e["args"]["buffer"]) for e in self.events(file)
                if e["ph"] == "X" and e["args"].get("bytes") == 64 and e["args"].get("buffer") == 7]
        self.assertEqual(told, [("to device", 7), ("to host", 7), ("from memory 32", 7)])

    def test_slices_lie_within_each_other_or_apart(self):
        threads = {}
        for e in self.events(self.example()):
            if e["ph"] == "X":
                threads.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
        for slices in threads.values():
            open_ends = []
            for begin, end in sorted(slices, key=lambda s: (s[0], -s[1])):
                while open_ends and open_ends[-1] <= begin:
                    open_ends.pop()
                self.assertTrue(not open_ends or end <= open_ends[-1])
                open_ends.append(end)

    def test_work_that_overlaps_gets_rows_of_its_own(self):
        file = t.TraceFile()
        file.three()
        for number, (begin, end) in enumerate(((100, 900), (200, 1000), (300, 400), (950, 1200)), 1):
            file.ran(1, begin, end, number, t.PROCESSORS)
        events = self.events(file)
        names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        rows = Counter(names[e["tid"]] for e in events if e["ph"] == "X")
        self.assertEqual(rows, {"PoCL": 3, "PoCL (2)": 1})

    def test_slice_tells_all(self):
        file = t.TraceFile()
        file.three()
        file.kind(1, 'k"\\')
        file.choice(1, 1000, 5, t.GPU, 1, t.EXPLORING, 77, [(t.HOST, 0, 16, 32, 48), (t.GPU, 16, 0, 160, 176)])
        file.start(1, 1010, 1020, 5, t.GPU)
        file.device(1, 2000, 1100, 320, 5, t.GPU)
        file.over(1, 2100, 5, t.GPU, 0, -10)
        file.mark(3000, "pass 1")
        events = self.events(file)
        work = next(e for e in events if e["name"] == 'k"\\')
        self.assertEqual((work["ts"], work["pid"]), (1.1, 2))
        self.assertAlmostEqual(work["dur"], 0.32, delta=0.0011)  # shorter by 1 ns where floats would overlap
        self.assertEqual(work["args"], {
            "piece": 5, "amount": 77, "resource": "GPU", "reason": "it got a trial run", "status": "DYNSEL_E_DEVICE",
            "estimates": {"host": {"start_ns": 0, "copy_ns": 16, "run_ns": 32, "cost_ns": 48},
                          "GPU": {"start_ns": 16, "copy_ns": 0, "run_ns": 160, "cost_ns": 176}},
            "time": "as the device timed it", "queue_ns": 80})
        counts = [(e["ts"], e["args"]["pieces"]) for e in events if e["ph"] == "C"]
        self.assertEqual(counts, [(1.01, 1), (1.42, 0)])
        self.assertEqual([(e["ts"], e["name"]) for e in events if e["ph"] == "i"], [(3.0, "pass 1")])
        self.assertEqual([(e["ph"], e["ts"]) for e in events if e["ph"] in "sf"], [("s", 0.9), ("f", 1.1)])

    def test_output_is_the_same_in_a_file(self):
        path, out = self.file(self.example()), self.folder / "out.json"
        self.run_tool("perfetto", path, "-o", str(out))
        self.assertEqual(self.run_tool("perfetto", path)[0], out.read_text(encoding="utf-8"))

    @unittest.skipUnless(shutil.which("node") and engine_folder(), "npm's @paulirish/trace_engine is not installed:"
                         " install it with -g, or name a folder that has it in node_modules by DYNSEL_NODE_FOLDER")
    def test_engine_of_chrome_reads_it(self):
        path, out = self.file(self.example()), str(self.folder / "out.json")
        self.run_tool("perfetto", path, "-o", out)
        check = str(Path(__file__).with_name("check_chrome_trace.mjs"))
        done = subprocess.run(["node", check, str(engine_folder()), out], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(len(found["flows"]), 100)
        self.assertEqual({(flow[0], len(flow)) for flow in found["flows"]}, {("choose", 2)})
        self.assertEqual({name: n for name, n in found["threads"].items() if n[0] != n[1]}, {})
        self.assertLessEqual({"program: thread 1", "policy earliest_finish: GPU", "policy earliest_finish: host",
                              "program: transfers of memory 2"}, set(found["threads"]))
        self.assertEqual(sum(n[0] for name, n in found["threads"].items() if name.startswith("policy")), 108)


if __name__ == "__main__":
    unittest.main()
