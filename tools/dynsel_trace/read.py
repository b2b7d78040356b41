# SPDX-License-Identifier: Apache-2.0
"""The file of a trace, as doc/trace.md has it."""

import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from .text import Mistake, count_of

MAGIC, VERSION, ORDER = b"dynselTR", 1, 0x01020304
HEAD, RING, RECORD = "8sIHHQQQQIIII", "IIQQII", "QIBBHIIII"
HEAD_BYTES, RING_BYTES, RECORD_BYTES = 64, 32, 32


@dataclass
class Ring:
    number: int    # 0: the names
    written: int   # records, also those that are lost
    kept: int      # records, also those that a tear took
    records: memoryview

    def count(self):
        return len(self.records) // RECORD_BYTES

    def lost(self):
        return max(self.written - self.kept, 0)


@dataclass
class Trace:
    path: str
    order: str       # of the bytes: "<" or ">"
    first_ticks: int
    first_ns: int
    last_ticks: int
    last_ns: int
    error_ns: int
    rings: list = field(default_factory=list)
    troubles: list = field(default_factory=list)   # damage: a line each

    def count(self):
        return sum(ring.count() for ring in self.rings)

    def unpack(self, ring):
        """(ticks, piece, event, resource, policy, four words) of each record."""
        return struct.iter_unpack(self.order + RECORD, ring.records)


def take_head(path, data):
    """(the trace, how many rings follow)."""
    if data[:8] != MAGIC[:len(data)] or not data:
        raise Mistake(f"{path}: this is no trace of dynsel{': it is empty' if not data else ''}")
    if len(data) < HEAD_BYTES:
        raise Mistake(f"{path}: cut short at offset {len(data)}, within the head of {HEAD_BYTES} bytes:"
                      " nothing can be shown")
    order = next((o for o in "<>" if struct.unpack_from(o + "I", data, 8)[0] == ORDER), None)
    if order is None:
        raise Mistake(f"{path}: the head is damaged: offset 8 tells no byte order")
    (_, _, version, record_bytes, first_ticks, first_ns, last_ticks, last_ns, error_ns, rings, _,
     crc) = struct.unpack_from(order + HEAD, data)
    if version != VERSION:
        raise Mistake(f"{path}: version {version} of the format: this tool reads version {VERSION}; use the"
                      " tool of the library that wrote it")
    if zlib.crc32(data[:HEAD_BYTES - 4]) != crc:
        raise Mistake(f"{path}: the head is damaged: its checksum at offset {HEAD_BYTES - 4} differs")
    if record_bytes != RECORD_BYTES:
        raise Mistake(f"{path}: records of {record_bytes} bytes at offset 14: this tool reads {RECORD_BYTES}")
    return Trace(path, order, first_ticks, first_ns, last_ticks, last_ns, error_ns), rings


def take_ring(trace, data, at, number):
    """Where the next one begins, or None after a tear: then whole records before it were taken."""
    if at + RING_BYTES > len(data):
        trace.troubles.append(f"cut short at offset {len(data)}, within the head of ring {number}:"
                              " what stands before it is shown")
        return None
    order, named, written, count, records_crc, crc = struct.unpack_from(trace.order + RING, data, at)
    if order != ORDER or zlib.crc32(data[at:at + RING_BYTES - 4]) != crc or named != number:
        trace.troubles.append(f"the head of ring {number} at offset {at} is damaged: what stands before it is"
                              " shown")
        return None
    begin, end = at + RING_BYTES, at + RING_BYTES + count * RECORD_BYTES
    whole = begin + (min(end, len(data)) - begin) // RECORD_BYTES * RECORD_BYTES
    ring = Ring(number, written, count, data[begin:whole])
    trace.rings.append(ring)
    if end > len(data):
        trace.troubles.append(f"cut short at offset {len(data)}, within ring {number}: {ring.count()} of its"
                              f" {count_of(count, 'record')} are shown")
        return None
    if zlib.crc32(ring.records) != records_crc:
        trace.troubles.append(f"the checksum of ring {number}, whose records begin at offset {begin}, differs:"
                              " they are shown, and some may be wrong")
    return end


def read(path):
    """Mistakes are raised; of a damaged file what is whole comes back, with its troubles."""
    try:
        data = memoryview(Path(path).read_bytes())
    except OSError as e:
        raise Mistake(f"{path}: cannot be read: {e.strerror}") from e
    except MemoryError as e:
        raise Mistake(f"{path}: it does not fit in memory") from e
    trace, rings = take_head(path, data)
    at = HEAD_BYTES
    for number in range(rings):
        at = take_ring(trace, data, at, number)
        if at is None:
            return trace
    if at != len(data):
        trace.troubles.append(f"{count_of(len(data) - at, 'byte')} behind the last ring, from offset {at} on,"
                              " are left out")
    return trace
