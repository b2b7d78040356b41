# SPDX-License-Identifier: Apache-2.0
"""Sections, symbols and relocations of an ELF object, of 32 or 64 bits and either byte order."""

import struct
from dataclasses import dataclass
from pathlib import Path

ALLOCATED, EXECUTABLE = 2, 4             # flags of a section
SYMBOLS, RELA, REL = 2, 4, 9             # types of a section
OBJECT, FUNCTION, SECTION = 1, 2, 3      # types of a symbol
ARM, X86_64, AARCH64, RISCV = 40, 62, 183, 243
_JUMPS = {ARM: (29, 30, 102), AARCH64: (282,)}  # relocations that stand in jumps, never in calls
UNDEFINED = 0                            # section number of a symbol that stands elsewhere


@dataclass(frozen=True)
class Section:
    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int


@dataclass(frozen=True)
class Symbol:
    name: str
    type: int
    section: int
    value: int
    size: int


@dataclass(frozen=True)
class Relocation:
    section: int    # the one that is patched
    offset: int     # where in it
    symbol: Symbol
    type: int


class Object:
    """sections, symbols, relocations, machine (as ELF numbers them), word (bytes of a pointer)."""

    def __init__(self, path):
        self._data = Path(path).read_bytes()
        if self._data[:4] != b"\x7fELF":
            raise ValueError(f"{path} is no ELF object")
        self._order = "<" if self._data[5] == 1 else ">"
        self.word = 8 if self._data[4] == 2 else 4
        self.machine = self._table("H", 0x12, 1)[0][0]
        self.sections = self._sections()
        self.symbols = self._symbols()
        self.relocations = [r for s in self.sections for r in self._relocations(s)]

    def is_jump(self, relocation):
        """Whether it stands in a jump to a function and not in a call: the caller's frame is gone by then.

        False where that is not known for the machine.
        """
        at = self.sections[relocation.section].offset + relocation.offset
        if self.machine in _JUMPS:
            return relocation.type in _JUMPS[self.machine]
        if self.machine == X86_64:
            return relocation.type in (2, 4) and self._data[at - 1] == 0xE9
        if self.machine == RISCV and relocation.type in (17, 18, 19):  # of the pair, the second
            word = self._table("I", at if relocation.type == 17 else at + 4, 1)[0][0]
            return word >> 7 & 31 == 0
        return False

    # How

    def _table(self, layout, offset, count):
        layout = struct.Struct(self._order + layout)
        return [layout.unpack_from(self._data, offset + i * layout.size) for i in range(count)]

    def _text(self, section, offset):
        start = section.offset + offset
        return self._data[start:self._data.index(b"\0", start)].decode()

    def _sections(self):
        wide = self.word == 8
        offset = self._table("Q" if wide else "I", 0x28 if wide else 0x20, 1)[0][0]
        _, count, names = self._table("HHH", 0x3A if wide else 0x2E, 1)[0]
        rows = self._table("IIQQQQIIQQ" if wide else "IIIIIIIIII", offset, count)
        raw = [Section("", row[1], row[2], *row[4:8]) for row in rows]
        return [Section(self._text(raw[names], row[0]), *(s.type, s.flags, s.offset, s.size, s.link, s.info))
                for row, s in zip(rows, raw)]

    def _symbols(self):
        section = next((s for s in self.sections if s.type == SYMBOLS), None)
        if section is None:
            return []
        if self.word == 8:
            rows = [(name, info, at, value, size) for name, info, _, at, value, size
                    in self._table("IBBHQQ", section.offset, section.size // 24)]
        else:
            rows = [(name, info, at, value, size) for name, value, size, info, _, at
                    in self._table("IIIBBH", section.offset, section.size // 16)]
        names = self.sections[section.link]
        return [Symbol(self._text(names, name), info & 15, at, value, size)
                for name, info, at, value, size in rows]

    def _relocations(self, section):
        if section.type not in (REL, RELA):
            return []
        wide, added = self.word == 8, section.type == RELA
        layout = ("QQ" if wide else "II") + (("q" if wide else "i") if added else "")
        size = struct.calcsize(self._order + layout)
        shift = 32 if wide else 8
        return [Relocation(section.info, row[0], self.symbols[row[1] >> shift], row[1] & ((1 << shift) - 1))
                for row in self._table(layout, section.offset, section.size // size)]
