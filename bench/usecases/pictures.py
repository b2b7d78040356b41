#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a folder of pictures for usecase-filter and the example gallery from PNG files with 8 bits a channel.

    bench/usecases/pictures.py [--png] FOLDER [PNG]...

Each PNG (default: examples/sepia/photo.png) becomes several PPM files, or PNG files with --png: itself, its
quarters, their quarters, and twice as large each way. Needs nothing but Python.
"""

import struct
import sys
import zlib
from pathlib import Path

PHOTO = Path(__file__).resolve().parents[2] / "examples/sepia/photo.png"
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def chunks(data):
    at = 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + length]
        at += 12 + length


def paeth(a, b, c):
    near_a, near_b, near_c = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    return a if near_a <= near_b and near_a <= near_c else b if near_b <= near_c else c


def unfilter(kind, line, above, step):
    for i, value in enumerate(line):
        left = line[i - step] if i >= step else 0
        if kind == 1:
            line[i] = (value + left) & 255
        elif kind == 2:
            line[i] = (value + above[i]) & 255
        elif kind == 3:
            line[i] = (value + (left + above[i]) // 2) & 255
        elif kind == 4:
            line[i] = (value + paeth(left, above[i], above[i - step] if i >= step else 0)) & 255


def read(path):
    """(width, rows): rows of RGB bytes."""
    data = path.read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        sys.exit(f"pictures.py: {path}: no PNG file")
    parts = list(chunks(data))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if depth != 8 or kind not in CHANNELS or interlaced:
        sys.exit(f"pictures.py: {path}: only PNG of 8 bits a channel without a palette and not interlaced can be read")
    raw = zlib.decompress(b"".join(body for name, body in parts if name == b"IDAT"))
    step = CHANNELS[kind]
    above, rows = bytearray(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        line = bytearray(raw[start + 1:start + 1 + width * step])
        unfilter(raw[start], line, above, step)
        above = line
        rows.append(rgb(line, step))
    return width, rows


def rgb(line, step):
    out = bytearray(len(line) // step * 3)
    for channel in range(3):
        out[channel::3] = line[(channel if step > 2 else 0)::step]
    return bytes(out)


def ppm(rows):
    return b"P6 %d %d 255\n" % (len(rows[0]) // 3, len(rows)) + b"".join(rows)


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(rows):
    header = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + row for row in rows), 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def part(rows, x, y, size):
    """The part at (x, y) of size by size equal ones."""
    height, width = len(rows) // size, len(rows[0]) // 3 // size
    return [row[3 * x * width:3 * (x + 1) * width] for row in rows[y * height:(y + 1) * height]]


def twice(rows):
    wide = [b"".join(row[i:i + 3] * 2 for i in range(0, len(row), 3)) for row in rows]
    return [row for row in wide for _ in range(2)]


def main(arguments):
    form, suffix = (png, "png") if arguments[:1] == ["--png"] else (ppm, "ppm")
    operands = arguments[1:] if form is png else arguments
    if not operands or operands[0].startswith("-"):
        print(__doc__.strip())
        return 0 if arguments == ["--help"] else 2
    folder = Path(operands[0])
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, rows):
        (folder / f"{name}.{suffix}").write_bytes(form(rows))

    for path in map(Path, operands[1:] or [PHOTO]):
        _, rows = read(path)
        write(path.stem, rows)
        write(f"{path.stem}-twice", twice(rows))
        for size in (2, 4):
            for y in range(size):
                for x in range(size):
                    if len(rows) >= size and len(rows[0]) >= 3 * size:
                        write(f"{path.stem}-{size}-{y}{x}", part(rows, x, y, size))
    print(f"{folder}: {len(list(folder.glob('*.' + suffix)))} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
