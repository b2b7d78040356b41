# SPDX-License-Identifier: Apache-2.0
"""Texts: mistakes, units, tables, progress."""

import sys
import time


class Mistake(Exception):
    """What the user has to know, in one line."""


def printable(text):
    return "".join(c if c.isprintable() else "?" for c in text)


def short_time(ns):
    """Three digits and a unit."""
    if ns < 0:
        return "-" + short_time(-ns)
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= 0.9995 * size:
            return f"{ns / size:.3g} {unit}" if ns < 999.5 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.3g} ns" if ns < 999.5 else f"{ns:.0f} ns"


def short_bytes(count):
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}" if count < 999.5 * size else f"{count / size:.0f} {unit}"
    return f"{count} B"


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def count_of(number, noun):
    return f"{number} {noun}" + ("" if number == 1 else "s")


def table(rows, indent="  ", left=1):
    """Lines of a table with a head; the first `left` columns are aligned to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [(indent + "  ".join(cell.ljust(width) if i < left else cell.rjust(width)
                                for i, (cell, width) in enumerate(zip(row, widths)))).rstrip()
            for row in rows]


def wrapped(text, first, indent, width=100):
    """Lines of at most `width` characters; a word that is longer has a line of its own."""
    lines, line = [], first
    for word in text.split(" "):
        if len(line) + len(word) + 1 > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    return [*lines, line.rstrip()]


class Progress:
    """Tells on stderr how far it is, if that is a terminal and it takes longer than a second."""

    def __init__(self):
        self.next = time.monotonic() + 1 if sys.stderr.isatty() else float("inf")
        self.shown = False

    def at(self, what, done, of):
        now = time.monotonic()
        if now >= self.next:
            self.next, self.shown = now + 0.2, True
            share = f" {100 * done // of} %" if of else ""
            print(f"\r\x1b[Kdynsel-trace: {what}{share}", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.shown = False
