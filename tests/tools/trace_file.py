# SPDX-License-Identifier: Apache-2.0
"""Writes traces as the library does, without it: small ones, torn ones, big ones, of both byte orders."""

import random
import struct
import zlib

ORDER, MAGIC = 0x01020304, b"dynselTR"
FIRST_NS, TICKS_PER_NS = 5_000_000_000, 2   # the ticks begin at FIRST_TICKS
FIRST_TICKS = 7_000
HOST, PROCESSORS, GPU = 0, 1, 2
FIXED, TURN, PROFILING, EXPLORING, BEST, FINISH = 1, 5, 7, 8, 9, 11
NOBODY = 255
NAMES = {"policy": 1, "resource": 2, "backend": 3, "kind": 4}


def low_high(value):
    return value & 0xffffffff, value >> 32


class TraceFile:
    """Times are in ns since the begin of the trace."""

    def __init__(self, order="<", span=1_000_000, threads=2):
        self.order, self.span, self.rings, self.written, self.error = order, span, {}, {}, 100
        for number in range(threads + 1):
            self.rings[number] = []

    def put(self, ring, at, event, piece=0, resource=0, policy=1, words=(0, 0, 0, 0)):
        self.rings[ring].append(struct.pack(self.order + "QIBBHIIII", FIRST_TICKS + int(at * TICKS_PER_NS), piece,
                                            event, resource, policy, *words))

    def ticks(self, at):
        return low_high(FIRST_TICKS + int(at * TICKS_PER_NS))

    def text(self, ring, at, event, text, piece=0, policy=0):
        data = text.encode()
        for part in range(len(data) // 16 + 1 if len(data) < 48 else 3):
            words = struct.unpack(self.order + "IIII", data[16 * part:16 * part + 16].ljust(16, b"\0"))
            self.put(ring, at, event, piece, part, policy, words)

    def policy(self, number, name, resources):
        """resources: (name, backend, bits of DYNSEL_TRACE_RESOURCE)"""
        self.text(0, 0, NAMES["policy"], name, policy=number)
        for index, (own, backend, bits) in enumerate(resources):
            self.put(0, 0, 5, index, index, number, (bits, 0, 0, 0))
            self.text(0, 0, NAMES["resource"], own, index, number)
            self.text(0, 0, NAMES["backend"], backend, index, number)

    def three(self, number=1, name="earliest_finish"):
        """A policy with the host, the processors by OpenCL, and a GPU."""
        self.policy(number, name, [("host", "inline", 1 | 2 | 8), ("PoCL", "opencl", 8), ("GPU", "opencl", 2 | 4)])

    def kind(self, kind, name):
        self.put(0, 0, 6, kind, 0, 0, (kind, 0, 1, 0))
        self.text(0, 0, NAMES["kind"], name, kind)

    def choice(self, ring, at, piece, resource, kind, reason=FINISH, amount=0, estimates=(), policy=1, at_once=True):
        """estimates: (resource, start, copy, run, cost) in ns"""
        if estimates:
            self.put(ring, at - 100, 17, piece, NOBODY, policy, (*low_high(FIRST_NS + int(at)), 7, 1))
        for other, *times in estimates:
            self.put(ring, at - 50, 20, piece, other, policy, [t // 16 for t in times])
        self.put(ring, at, 16, piece, resource, policy, (kind, reason | at_once << 16, *low_high(amount)))

    def start(self, ring, since, at, piece, resource, policy=1):
        self.put(ring, at, 21, piece, resource, policy, (*self.ticks(since), 0, 0))

    def ran(self, ring, since, at, piece, resource, policy=1):
        self.put(ring, at, 22, piece, resource, policy, (*self.ticks(since), 0, 0))

    def device(self, ring, at, begin, length, piece, resource, error=100, policy=1):
        self.put(ring, at, 23, piece, resource, policy, (*low_high(FIRST_NS + int(begin)), length // 16, error))

    def over(self, ring, at, piece, resource, took=0, status=0, policy=1):
        self.put(ring, at, 24, piece, resource, policy, (*low_high(int(took)), status & 0xffffffff, 0))

    def wait(self, ring, since, at, piece, resource, policy=1):
        self.put(ring, at, 29, piece, resource, policy, (*self.ticks(since), 0, 0))

    def copy(self, ring, since, at, piece, resource, count, domain=1, is_out=False, buffer=1, policy=1,
             source=0):
        """source: the domain that the data are passed on from"""
        what = count | buffer << 40 | domain << 56 | is_out << 63
        what |= (source - 1 << 51 | 1 << 62) if source else 0
        self.put(ring, at, 27, piece, resource, policy, (*self.ticks(since), *low_high(what)))

    def depends(self, ring, at, piece, on, resource, policy=1):
        self.put(ring, at, 26, piece, resource, policy, (on, 0, 0, 0))

    def mark(self, at, text, ring=1):
        self.text(ring, at, 32, text)

    def head(self, version=1, record_bytes=32, rings=None):
        head = struct.pack(self.order + "8sIHHQQQQIII", MAGIC, ORDER, version, record_bytes, FIRST_TICKS, FIRST_NS,
                           FIRST_TICKS + self.span * TICKS_PER_NS, FIRST_NS + self.span, self.error,
                           len(self.rings) if rings is None else rings, 0)
        return head + struct.pack(self.order + "I", zlib.crc32(head))

    def data(self, **of_head):
        out = [self.head(**of_head)]
        for number, records in self.rings.items():
            body = b"".join(records)
            head = struct.pack(self.order + "IIQQI", ORDER, number, self.written.get(number, len(records)),
                               len(records), zlib.crc32(body))
            out += [head + struct.pack(self.order + "I", zlib.crc32(head)), body]
        return b"".join(out)


def big(records, seed=1):
    """Work of four kinds on three resources, about so many records: mostly trial runs go wrong."""
    chance, count = random.Random(seed), max(records // 9, 1)
    gap = 20_000
    file = TraceFile(span=(count + 10) * gap, threads=2)
    file.three()
    kinds = {1: ("nstream", 9_000), 2: ("dgemm", 30_000), 3: ("transpose", 15_000), 4: ("sparse", 4_000)}
    for kind, (name, _) in kinds.items():
        file.kind(kind, name)
    slower = (6, 3, 1)
    free = [0, 0, 0]
    at = 1000
    for number in range(1, count + 1):
        if number % max(count // 4, 1) == 1:
            file.mark(at, f"pass {number // max(count // 4, 1)}")
        kind = chance.choice((1, 1, 1, 2, 3, 4))
        amount = 1 << chance.randrange(10, 14)
        trial = chance.random() < 0.04
        resource = chance.choice((HOST, PROCESSORS)) if trial else GPU if chance.random() < 0.9 else PROCESSORS
        alone = int(kinds[kind][1] * slower[resource] * amount / 4096 * chance.uniform(0.9, 1.1)) // 16 * 16
        guesses = [(i, max(free[i] - at, 0), 0 if i == HOST else 2000, kinds[kind][1] * slower[i] * amount // 4096)
                   for i in range(3)]
        file.choice(1, at, number, resource, kind, EXPLORING if trial else FINISH, amount,
                    [(*g, sum(g[1:])) for g in guesses[:3 if number % 2 else 2]])
        begin = max(free[resource], at + 800)
        if resource == HOST:
            file.ran(1, begin, begin + alone, number, resource)
        else:
            if chance.random() < 0.15:
                file.copy(1, at + 100, at + 1500, number, resource, 4 * amount, resource, chance.random() < 0.3)
            file.start(1, at + 200, at + 700, number, resource)
            if number > 3 and chance.random() < 0.2:
                file.depends(1, at + 200, number, number - 3, resource)
            file.device(2, begin + alone + 300, begin, alone, number, resource)
        file.over(1 if resource == HOST else 2, begin + alone + 400, number, resource, alone)
        free[resource] = begin + alone
        at += gap if resource != HOST else gap + alone
        if number % 3 == 0:
            file.wait(1, at - gap // 2, at - 300, number, resource)
    file.span = max(at, *free) + 20_000
    return file
