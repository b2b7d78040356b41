# SPDX-License-Identifier: Apache-2.0
"""Writes and reads PNG files with nothing but zlib."""

import struct
import zlib

GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
SIGNATURE = b"\x89PNG\r\n\x1a\n"
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
         (0, 1, 1, 2))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def header(width, height, depth=8, kind=RGB, interlaced=False):
    return SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0,
                                                  1 if interlaced else 0))


def pack(samples, depth):
    """One row of samples as bytes."""
    if depth == 16:
        return struct.pack(f">{len(samples)}H", *samples)
    bits = "".join(format(s, f"0{depth}b") for s in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def encode(rows, depth=8, kind=RGB, interlaced=False, extra=b""):
    """rows: lists of pixels, a pixel is a tuple of samples. extra: chunks before the pixels."""
    width, height = len(rows[0]), len(rows)
    passes = ADAM7 if interlaced else ((0, 0, 1, 1),)
    raw = bytearray()
    for x0, y0, dx, dy in passes:
        for row in rows[y0::dy]:
            pixels = row[x0::dx]
            if pixels:
                raw += b"\0" + pack([s for p in pixels for s in p], depth)
    return (header(width, height, depth, kind, interlaced) + extra +
            chunk(b"IDAT", zlib.compress(bytes(raw))) + chunk(b"IEND", b""))


def _paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def _unfilter(kind, line, before, step):
    for i, value in enumerate(line):
        a = line[i - step] if i >= step else 0
        c = before[i - step] if i >= step else 0
        b = before[i]
        line[i] = (value + (0, a, b, (a + b) // 2, _paeth(a, b, c))[kind]) & 255
    return line


def decode(data):
    """(channels, rows of pixels) of an 8-bit PNG that is not interlaced."""
    assert data[:8] == SIGNATURE
    at, packed, ended = 8, b"", False
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and interlaced == 0
        elif kind == b"IDAT":
            packed += body
        ended = kind == b"IEND"
        at += 12 + length
    assert ended
    step = CHANNELS[colour]
    raw, rows, before = zlib.decompress(packed), [], bytes(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        line = bytearray(raw[start + 1:start + 1 + width * step])
        before = _unfilter(raw[start], line, before, step)
        rows.append([tuple(before[i:i + step]) for i in range(0, len(before), step)])
    return step, rows
