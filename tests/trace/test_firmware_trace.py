# SPDX-License-Identifier: Apache-2.0
"""The trace of the example firmware: written through the emulator, and read as doc/trace.md says."""

import os
import shlex
import struct
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path

FILE_HEAD = struct.Struct("=8sIHHQQQQIIII")
RING_HEAD = struct.Struct("=IIQQII")
RECORD = struct.Struct("=QIBBH16s")
POLICY_NAME, RESOURCE_NAME, KIND = 1, 2, 6
CHOICE, START, RAN, END, HEALTH = 16, 21, 22, 24, 30


def run_firmware(trace):
    return subprocess.run([*shlex.split(os.environ["DYNSEL_RUNNER"]), f"{os.environ['DYNSEL_BIN']}/firmware",
                           *(["-append", str(trace)] if trace else [])],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, check=False)


class Trace:
    """All boards of this test and the host that reads are little-endian."""

    def __init__(self, path):
        data = path.read_bytes()
        head = FILE_HEAD.unpack_from(data)
        assert head[:4] == (b"dynselTR", 0x01020304, 1, RECORD.size), head
        assert head[-1] == zlib.crc32(data[:FILE_HEAD.size - 4])
        self.first_ticks, self.first_ns, self.last_ticks, self.last_ns = head[4:8]
        self.rings, at = [], FILE_HEAD.size
        for number in range(head[9]):
            ring = RING_HEAD.unpack_from(data, at)
            assert ring[:2] == (0x01020304, number), ring
            assert ring[5] == zlib.crc32(data[at:at + RING_HEAD.size - 4])
            at += RING_HEAD.size
            records = data[at:at + ring[3] * RECORD.size]
            assert ring[4] == zlib.crc32(records)
            self.rings.append((ring[2], list(RECORD.iter_unpack(records))))
            at += len(records)
        assert at == len(data)

    def records(self, event):
        return [record for _, ring in self.rings for record in ring if record[2] == event]

    def names(self, event):
        return {record[5].rstrip(b"\0").decode() for record in self.records(event)}


class FirmwareTrace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_trace_is_written_and_can_be_read(self):
        path = self.folder / "firmware.trace"
        done = run_firmware(path)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"trace written to {path}\n", done.stdout)
        trace = Trace(path)
        self.assertEqual(len(trace.rings), 2)
        self.assertLessEqual({"fast", "slow"}, trace.names(RESOURCE_NAME))
        self.assertLessEqual({"auto_tune"}, trace.names(POLICY_NAME))
        self.assertEqual(len(trace.records(KIND)), 2)
        for event in (CHOICE, START, END):
            self.assertTrue(trace.records(event), event)
        written, ring = trace.rings[1]
        self.assertGreater(written, len(ring))  # the oldest are lost
        times = [record[0] for record in ring]
        self.assertEqual(times, sorted(times))
        self.assertTrue(trace.first_ticks <= times[0] <= times[-1] <= trace.last_ticks)

    def test_trace_that_cannot_be_written_is_a_failure(self):
        done = run_firmware(self.folder / "nowhere" / "firmware.trace")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("WRONG: the trace cannot be written to", done.stdout)

    def test_no_trace_is_written_without_a_name(self):
        done = run_firmware(None)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("trace", done.stdout)


if __name__ == "__main__":
    unittest.main()
