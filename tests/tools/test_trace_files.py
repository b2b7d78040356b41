# SPDX-License-Identifier: Apache-2.0
"""dynsel-trace: files that are damaged, foreign or empty, and outputs that cannot be written."""

import os
import shutil
import struct
import unittest
import zlib
from pathlib import Path

import trace_file as t
from support_trace import TOP, TOOL, Silent, Tool, text
from dynsel_trace import model, page, perfetto, read, summary  # noqa: F401
from dynsel_trace.analysis import Analysis
from dynsel_trace.parts import stretches_of

VIEWS = ("summary", "perfetto", "html")


def small(order="<"):
    file = t.TraceFile(order, span=10_000)
    file.three()
    file.kind(1, "k")
    file.mark(500, "a")
    for number in range(1, 4):
        file.choice(1, 1000 * number, number, t.GPU, 1, t.FINISH, 7, [(t.HOST, 0, 0, 160, 160), (t.GPU, 0, 16, 32, 48)])
        file.start(1, 1000 * number, 1000 * number + 50, number, t.GPU)
        file.copy(1, 1000 * number, 1000 * number + 90, number, t.GPU, 64)
        file.depends(1, 1000 * number, number, number - 1, t.GPU)
        file.device(2, 1000 * number + 500, 1000 * number + 100, 320, number, t.GPU)
        file.over(2, 1000 * number + 600, number, t.GPU, 320)
        file.wait(1, 1000 * number + 200, 1000 * number + 650, number, t.GPU)
    return file


def all_views(path):
    """The troubles of the file, after all views of it were made."""
    trace = read.read(path)
    run = model.make(trace, Silent())
    whole = stretches_of(run, None, None, None)
    found = Analysis(run, Silent())
    summary.summary(found, trace, whole, list(run.policies))
    list(perfetto.events(run, Silent()))
    list(page.page(found, trace, whole, Silent()))
    return trace.troubles


class Damaged(Tool):
    def test_both_byte_orders_show_the_same(self):
        little, big = (self.run_tool("summary", self.file(small(order), order))[0] for order in "<>")
        self.assertEqual(little, big)
        self.assertIn("3 x 320 ns", big)

    def test_cut_at_each_byte(self):
        data = small().data()
        names_end = 64 + 32 + struct.unpack_from("<Q", data, 64 + 16)[0] * 32
        for length in range(len(data)):
            path = self.file(data[:length])
            if length < 64:
                says = rf"cut short at offset {length}," if length else "it is empty"
                with self.assertRaisesRegex(text.Mistake, says):
                    read.read(path)
            else:
                trace = read.read(path)
                self.assertEqual(len(trace.troubles), 1, length)
                self.assertIn(f"cut short at offset {length},", trace.troubles[0])
                self.assertNotIn("\n", trace.troubles[0])
                self.assertEqual(trace.count(), len([1 for at in self.ends(data) if at <= length]), length)
                if length % 96 == 1 or length in (names_end, len(data) - 1):
                    all_views(path)

    @staticmethod
    def ends(data):
        """Where each record ends."""
        at = 64
        while at < len(data):
            count = struct.unpack_from("<Q", data, at + 16)[0]
            yield from range(at + 64, at + 33 + count * 32, 32)
            at += 32 + count * 32

    def test_torn_file_is_shown_with_a_warning_and_status_1(self):
        data = small().data()
        for view in VIEWS:
            path, out = self.file(data[:-40]), str(self.folder / "out")
            said, err = self.run_tool(view, path, *([] if view == "summary" else ["-o", out]), status=1)
            self.assertRegex(err, rf"\Adynsel-trace: \S+: cut short at offset {len(data) - 40}, within ring 2: 4"
                                  r" of its 6 records are shown\n\Z")
            shown = said if view == "summary" else Path(out).read_text(encoding="utf-8")
            self.assertIn('"piece":3' if view == "perfetto" else "3 pieces of work", shown)

    def test_each_damaged_byte_is_told(self):
        data = small().data()
        for at in [*range(0, 96), *range(96, len(data), 61)]:
            bad = data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:]
            try:
                troubles = all_views(self.file(bad))
            except text.Mistake as e:
                self.assertNotIn("\n", str(e))
            else:
                self.assertTrue(troubles, f"a damaged byte at {at} is taken")

    def test_records_of_nonsense_are_coped_with(self):
        chance = t.random.Random(7)
        for seed in range(24):
            file = small("<>"[seed % 2])
            for ring in (0, 1, 2):
                for _ in range(12):
                    event = chance.choice([*model.EVENTS.values(), 0, 255])
                    words = [chance.choice((0, 1, 2, 7007, chance.getrandbits(32), 0xffffffff)) for _ in range(4)]
                    file.put(ring, chance.randrange(10_000), event, chance.choice((0, 1, 2, 5, 0xffffffff)),
                             chance.choice((0, 1, 2, 9, 255)), chance.choice((0, 1, 2, 65535)), words)
                chance.shuffle(file.rings[ring])
            all_views(self.file(file))

    def test_foreign_files(self):
        for data, says in ((b"", "no trace of dynsel: it is empty"), (b"\x7fELF" + bytes(100), "no trace of dynsel"),
                           (b"dynselLT" + bytes(100), "no trace of dynsel"),
                           (small().data(version=2), "version 2 .* version 1"),
                           (small().data(record_bytes=40), "records of 40 bytes"),
                           (small().data()[:60] + bytes(4) + small().data()[64:], "head is damaged"),
                           (small().data()[:8] + bytes(4) + small().data()[12:], "byte order")):
            for view in VIEWS:
                self.refuse(2, says, view, self.file(data), *([] if view == "summary" else ["-o", "/nonexistent/x"]))
        self.refuse(2, "cannot be read: No such file", "summary", "/nonexistent")
        self.refuse(2, "cannot be read: Is a directory", "summary", str(self.folder))

    def test_wrong_checksums(self):
        data = bytearray(small().data())
        data[-10] ^= 1
        out, err = self.run_tool("summary", self.file(bytes(data)), status=1)
        self.assertIn("3 pieces of work", out)
        self.assertRegex(err, r"\A[^\n]*the checksum of ring 2, whose records begin at offset \d+, differs[^\n]*\n\Z")
        ring = data.index(struct.pack("<II", t.ORDER, 2))
        data[ring + 20] ^= 1
        _, err = self.run_tool("summary", self.file(bytes(data)), status=1)
        self.assertRegex(err, rf"the head of ring 2 at offset {ring} is damaged")
        _, err = self.run_tool("summary", self.file(small().data() + b"xy"), status=1)
        self.assertIn("2 bytes behind the last ring", err)

    def test_a_count_without_end_reads_no_further(self):
        data = bytearray(small().data())
        data[80:88] = struct.pack("<Q", 1 << 60)
        data[92:96] = struct.pack("<I", zlib.crc32(data[64:92]))
        self.assertRegex(read.read(self.file(bytes(data))).troubles[0],
                         rf"cut short at offset {len(data)}, within ring 0: \d+ of its {1 << 60} records are shown")

    def test_empty_traces(self):
        no_span = t.TraceFile(span=0)
        no_span.three()
        no_span.ran(1, 0, 0, 1, t.HOST)
        only_mark = t.TraceFile()
        only_mark.mark(10, "x")
        for file in (t.TraceFile(threads=0), t.TraceFile(), no_span, only_mark, t.TraceFile(span=0)):
            self.assertEqual(all_views(self.file(file)), [])
        self.assertIn("The trace has no work.", self.run_tool("summary", self.file(t.TraceFile()))[0])
        backward = t.TraceFile(span=-1000)
        backward.ran(1, 0, 0, 1, t.HOST)
        self.assertIn("the clock ran backward", self.run_tool("summary", self.file(backward))[0])


class Written(Tool):
    def test_output_that_cannot_be_written(self):
        path = self.file(small())
        for view in ("perfetto", "html"):
            self.refuse(1, "/nonexistent/x: cannot be written: No such file", view, path, "-o", "/nonexistent/x")
            self.refuse(2, "this is the trace", view, path, "-o", path)
            if os.path.exists("/dev/full"):
                self.refuse(1, "/dev/full: cannot be written: No space left", view, path, "-o", "/dev/full")
        self.assertTrue(Path(path).read_bytes().startswith(b"dynselTR"))

    def test_names_of_files_may_be_any(self):
        path = self.folder / "a\udcff<b>.trace"
        path.write_bytes(small().data())
        for view in VIEWS:
            self.run_tool(view, str(path), *([] if view == "summary" else ["-o", str(self.folder / "o\udcfe")]))
        self.assertIn("a?\\u003cb>.trace", (self.folder / "o\udcfe").read_text(encoding="utf-8"))

    def test_what_is_written_in_part_is_removed(self):
        """Interrupted, or the disk is full."""
        for limit in (0, 4096):
            out = self.folder / "out.html"
            code = ("import resource, runpy, sys, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
                    f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}));"
                    "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')")
            _, err = self.run_tool("-c", code, str(TOOL), "html", self.file(small()), "-o", str(out), status=1,
                                   program="-B")
            self.assertEqual(err, f"dynsel-trace: {out}: cannot be written: File too large\n")
            self.assertFalse(out.exists())

    def test_a_file_that_cannot_be_opened_is_left(self):
        out = self.folder / "folder"
        out.mkdir()
        self.refuse(1, "cannot be written: Is a directory", "html", self.file(small()), "-o", str(out))
        self.assertTrue(out.is_dir())

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full here")
    def test_standard_output_that_is_full(self):
        for view in ("summary", "perfetto"):
            out, err = self.run_tool("-c", "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], stdout=open("
                                     "'/dev/full', 'w')).returncode)", "python3", str(TOOL), view, self.file(small()),
                                     status=1, program="-B")
            self.assertEqual((out, err), ("", "dynsel-trace: stdout: cannot be written: No space left on device\n"))

    def test_mistakes_are_one_line(self):
        for arguments, says in (([], "COMMAND"), (["blow", "x"], "invalid choice"), (["html", "x"], "-o"),
                                (["summary"], "FILE"), (["summary", "x", "--nope"], "--nope")):
            self.refuse(2, says, *arguments)

    def test_help_is_everywhere(self):
        for command in ([], *([view] for view in VIEWS)):
            self.assertIn("Exit status: 0", self.run_tool(*command, "--help")[0])

    def test_works_where_it_is_installed(self):
        root = self.folder / "opt"
        (root / "bin").mkdir(parents=True)
        shutil.copy(TOOL, root / "bin")
        shutil.copytree(TOP / "tools/dynsel_trace", root / "share/dynsel/dynsel_trace")
        out, _ = self.run_tool("html", self.file(small()), "-o", str(self.folder / "x.html"),
                               program=root / "bin/dynsel-trace")
        self.assertEqual(out, "")
        self.assertGreater((self.folder / "x.html").stat().st_size, 10_000)


if __name__ == "__main__":
    unittest.main()
