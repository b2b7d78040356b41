# SPDX-License-Identifier: Apache-2.0
"""dynsel-trace html: the page holds what the trace says, and works in a browser without network."""

import base64
import html
import json
import re
import shutil
import struct
import subprocess
import unittest
import zlib

import trace_file as t
from support_trace import Silent, Tool
from dynsel_trace import model, page, parts, read
from dynsel_trace.analysis import Analysis

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FORMS = {"I": "I", "H": "H", "B": "B", "d": "d", "f": "f"}
NO_TIME = 0xffffffff

# Drives the page as a user does, and leaves what came out in the title.
DRIVER = """
<script>
function wheel(x, y) {
  const canvas = document.getElementById("rows");
  const box = canvas.getBoundingClientRect();
  const where = {clientX: box.left + x, clientY: box.top + y};
  canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -500, cancelable: true, ...where}));
}
function pointer(type, x, y) {
  const canvas = document.getElementById("rows");
  const box = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new PointerEvent(type, {pointerId: 1, clientX: box.left + x, clientY: box.top + y}));
}
function press(key) {
  document.dispatchEvent(new KeyboardEvent("keydown", {key}));
}
function colourAt(x, y) {
  const canvas = document.getElementById("rows");
  const ratio = canvas.width / view.width;
  const [r, g, b] = canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data;
  return "#" + [r, g, b].map((n) => n.toString(16).padStart(2, "0")).join("");
}
function drive() {
  HTMLCanvasElement.prototype.setPointerCapture = () => {};
  const out = {};
  const span = () => view.to - view.from;
  out.whole = span();
  const [left, middle] = middleOf(3, "end");
  const colour = kindColour(arrays.kind[3]);
  out.colours = [colourAt(left - 9, middle), colour, colourAt(left + 9, middle) === colour];
  wheel(GUTTER + 50, 100);
  out.wheeled = span();
  press("ArrowRight");
  out.moved = view.from;
  press("0");
  out.all = span();
  draw();
  const row = [...arrays.number].indexOf(4);
  const [x, y] = middleOf(row, "begin");
  pointer("pointermove", x + 3, y);
  out.tip = document.getElementById("tip").innerText;
  pointer("pointerdown", x + 3, y);
  pointer("pointerup", x + 3, y);
  out.pinned = view.pinned === null ? null : arrays.number[view.pinned];
  out.pin = document.getElementById("pin").innerText;
  draw();
  press(".");
  out.next = arrays.number[view.pinned];
  press(",");
  press(",");
  out.slow = document.getElementById("pin").innerText;
  press(".");
  press(".");
  press("f");
  out.zoomed = span();
  draw();
  press("Escape");
  out.unpinned = view.pinned;
  document.querySelector("#legend button").click();
  out.highlight = view.highlight;
  const select = document.getElementById("parts");
  out.parts = [...select.options].map((option) => option.text);
  select.value = "2";
  select.dispatchEvent(new Event("change"));
  out.part = [view.from, view.to, document.querySelectorAll("#kinds tbody tr").length];
  draw();
  out.sentences = document.getElementById("sentences").innerText;
  document.querySelector("#worst tbody tr")?.click();
  out.jumped = view.pinned === null ? null : arrays.number[view.pinned];
  out.resources = performance.getEntriesByType("resource").length;
  document.documentElement.dataset.out = JSON.stringify(out);
}
window.addEventListener("error", (event) => { document.documentElement.dataset.error = event.message; });
const waiting = setInterval(() => {
  if (document.documentElement.dataset.ready) {
    clearInterval(waiting);
    drive();
  }
}, 10);
</script>
"""


class Page(Tool):
    def example(self):
        """The GPU with three pieces, of which the second is slow because PoCL got it for a trial."""
        file = t.TraceFile(span=100_000)
        file.three()
        for kind, name in ((1, "fast</script>"), (2, "slow")):
            file.kind(kind, name)
        known = [(t.PROCESSORS, 0, 16, 9600, 9616), (t.GPU, 32, 0, 960, 992)]
        for number, (at, resource, kind, took) in enumerate((
                (10_000, t.GPU, 1, 960), (20_000, t.PROCESSORS, 1, 16_000), (50_000, t.GPU, 2, 4800),
                (60_000, t.GPU, 1, 20_000), (85_000, t.GPU, 1, 960)), 1):
            reason = t.EXPLORING if resource == t.PROCESSORS else t.FINISH
            file.choice(1, at, number, resource, kind, reason, 1 << 33, known)
            file.start(1, at + 10, at + 100, number, resource)
            file.device(2, at + took + 250, at + 200, took, number, resource)
            file.over(2, at + took + 300, number, resource, took)
        file.depends(1, 60_050, 4, 3, t.GPU)
        file.copy(1, 50_100, 50_190, 3, t.GPU, 1 << 30, 2, True)
        file.wait(1, 60_200, 81_000, 4, t.GPU)
        file.mark(5000, "one")
        file.mark(45_000, "two")
        return file

    def page_of(self, file, *arguments):
        out = self.folder / "out.html"
        self.run_tool("html", self.file(file), "-o", str(out), *arguments)
        return out.read_text(encoding="utf-8")

    def decoded(self, text):
        """(meta, arrays)"""
        meta = json.loads(re.search(r'id="meta">(.*?)</script>', text, re.DOTALL)[1])
        data = zlib.decompress(base64.b64decode(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1]))
        return meta, {name: struct.unpack_from(f"<{count}{FORMS[code]}", data, at)
                      for name, (code, at, count) in meta["arrays"].items()}

    def test_page_is_alone(self):
        text = self.page_of(self.example())
        self.assertNotRegex(text, r"(?i)https?:|@import|url\(|import\(|fetch\(|<link(?! rel=\"icon\" href=\"data:,\")")
        self.assertNotRegex(text, r"@(STYLE|META|DATA|SCRIPT)@")
        self.assertEqual(text.count("</script>"), 3)
        self.assertNotIn("fast</script>", text)

    def test_arrays_hold_the_pieces(self):
        meta, arrays = self.decoded(self.page_of(self.example()))
        self.assertEqual(arrays["number"], (1, 2, 3, 4, 5))
        self.assertEqual(arrays["lane"], (2, 1, 2, 2, 2))
        fast = "fast</script>"
        self.assertEqual([meta["kinds"][k] for k in arrays["kind"]], [fast, fast, "slow", fast, fast])
        self.assertEqual(arrays["amount"], (float(1 << 33),) * 5)
        self.assertEqual(arrays["begin"], (10_200, 20_200, 50_200, 60_200, 85_200))
        self.assertEqual(arrays["end"], (11_160, 36_200, 55_000, 80_200, 86_160))
        self.assertEqual((arrays["choice_at"][1], arrays["start_at"][1], arrays["since"][1]), (20_000, 20_100, 20_010))
        self.assertEqual(arrays["estimate_first"], (0, 2, 4, 6, 8, 10))
        self.assertEqual(arrays["estimate_lane"][:2], (1, 2))
        self.assertEqual([arrays[f"estimate_{n}"][:2] for n in ("start", "copy", "run", "cost")],
                         [(0, 2), (1, 0), (600, 60), (601, 62)])
        self.assertEqual((arrays["depends_row"], arrays["depends_on"]), ((3,), (2,)))
        self.assertEqual((arrays["copy_memory"], arrays["copy_bytes"], arrays["copy_row"]),
                         ((2 | 128,), (float(1 << 30),), (2,)))
        self.assertEqual((arrays["wait_row"], arrays["wait_begin"], arrays["wait_end"]), ((3,), (60_200,), (81_000,)))
        self.assertEqual(meta["marks"], [[5000.0, "one"], [45_000.0, "two"]])
        self.assertEqual(arrays["better"][1], 2)
        self.assertAlmostEqual(arrays["lost"][1], 16_200 - 32 - 960)

    def test_parts_have_numbers_of_their_own(self):
        meta, _ = self.decoded(self.page_of(self.example()))
        self.assertEqual([part["name"] for part in meta["parts"]], ["the whole trace", "one", "two"])
        whole, one, two = meta["parts"]
        self.assertEqual([sum(u[1] for u in part["usage"]) for part in meta["parts"]], [5, 2, 3])
        self.assertEqual((one["stretches"], two["span"]), ([[5000.0, 45_000.0]], 55_000))
        self.assertEqual([len(part["worst"]) for part in (one, two)], [1, 1])
        self.assertIn("1 piece of fast</script> went to PoCL, where it ran 17 times as long as on GPU: ", " ".join(one["sentences"]))
        self.assertNotIn("PoCL, where", " ".join(two["sentences"]))
        self.assertEqual(sum(u[2] for u in whole["usage"]), 960 + 16_000 + 4800 + 20_000 + 960)

    def test_restricted_page(self):
        meta, arrays = self.decoded(self.page_of(self.example(), "--part", "two"))
        self.assertEqual((arrays["number"], meta["view"], [p["name"] for p in meta["parts"]]),
                         ((3, 4, 5), [45_000.0, 100_000.0], ["what was asked for"]))

    def test_long_times_keep_their_order(self):
        file = t.TraceFile(span=3600 * 10**9)
        file.three()
        for number, begin in enumerate((1000, 10**9, 3599 * 10**9), 1):
            file.ran(1, begin, begin + 10**6, number, t.HOST)
        meta, arrays = self.decoded(self.page_of(file))
        for begin, found in zip((1000, 10**9, 3599 * 10**9), arrays["begin"]):
            self.assertLess(abs(found * meta["unit"] - begin), 1000)

    def test_pieces_that_overlap_have_levels(self):
        file = t.TraceFile()
        file.three()
        for number, (begin, end) in enumerate(((100, 900), (200, 1000), (300, 400), (950, 1200), (1300, 1400)), 1):
            file.ran(1, begin, end, number, t.PROCESSORS)
        _, arrays = self.decoded(self.page_of(file))
        self.assertEqual(arrays["level"], (0, 1, 2, 0, 0))

    def test_many_pieces_are_packed_well(self):
        file = t.big(30_000)
        trace = read.read(self.file(file))
        run = model.make(trace, Silent())
        texts = page.page(Analysis(run, Silent()), trace, parts.stretches_of(run, None, None, None), Silent())
        self.assertLess(sum(map(len, texts)) / trace.count(), 12)  # of 25 MB for a million

    @unittest.skipUnless(BROWSER, "no browser is installed: chromium")
    def test_works_in_a_browser(self):
        text = self.page_of(self.example()).replace("</body>", DRIVER + "</body>")
        path = self.folder / "driven.html"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1300,900",
                               f"--user-data-dir={self.folder}/profile", "--virtual-time-budget=4000", "--dump-dom",
                               path.as_uri()], capture_output=True, text=True, check=False, timeout=60)
        self.assertNotIn("data-error", done.stdout)
        found = re.search(r'data-out="([^"]*)"', done.stdout)
        self.assertTrue(found, done.stdout[:300] + done.stderr)
        out = json.loads(html.unescape(found[1]))
        self.assertEqual((out["whole"], out["all"]), (100_000, 100_000))
        self.assertEqual(out["colours"][0], out["colours"][1])
        self.assertFalse(out["colours"][2])
        self.assertLess(out["wheeled"], 60_000)
        self.assertGreater(out["moved"], 0)
        self.assertIn("copied 1.00 GiB to the host in 90 ns", out["slow"])
        for part in ("piece 4: fast</script>, amount 8589934592", "to GPU: it is predicted to finish first",
                     "ran 20.0 us (as the device timed it), over 20.2 us after its choice", "waited 100 ns",
                     "the program waited 20.8 us for it", "PoCL", "came out"):
            self.assertIn(part, out["tip"])
        self.assertEqual((out["pinned"], out["next"], out["unpinned"], out["highlight"]), (4, 5, None, 0))
        self.assertIn("piece 3: slow", out["pin"])
        self.assertLess(out["zoomed"], 6000)
        self.assertEqual(out["parts"], ["the whole trace: 100 us", "one: 40.0 us", "two: 55.0 us"])
        self.assertEqual(out["part"], [45_000, 100_000, 2])
        self.assertIn("%", out["sentences"])
        self.assertEqual((out["jumped"], out["resources"]), (4, 0))


if __name__ == "__main__":
    unittest.main()
