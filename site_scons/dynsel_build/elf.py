# SPDX-License-Identifier: Apache-2.0
"""Sections, symbols and relocations of an ELF object, read with pyelftools."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from .errors import UserMistake, install_hint

ALLOCATED, EXECUTABLE = 2, 4                                    # flags of a section
OBJECT, FUNCTION, SECTION = "STT_OBJECT", "STT_FUNC", "STT_SECTION"  # types of a symbol
_JUMPS = {"EM_ARM": (29, 30, 102), "EM_AARCH64": (282,)}  # relocations of jumps


@dataclass(frozen=True, eq=False)
class Section:
    name: str
    flags: int
    offset: int    # in the file
    size: int


@dataclass(frozen=True, eq=False)
class Symbol:
    name: str
    type: str
    section: Section | None    # None: undefined or absolute
    value: int
    size: int


@dataclass(frozen=True, eq=False)
class Relocation:
    section: Section    # of the patched place
    offset: int         # where in it
    symbol: Symbol
    type: int


class Object:
    """sections, symbols, relocations."""

    def __init__(self, path):
        self._data = Path(path).read_bytes()
        file = _reader()(BytesIO(self._data))
        self._order, self._machine = "little" if file.little_endian else "big", file["e_machine"]
        found = list(file.iter_sections())
        self.sections = [Section(s.name, s["sh_flags"], s["sh_offset"], s["sh_size"]) for s in found]
        self.symbols = [self._symbol(s) for table in found if table["sh_type"] == "SHT_SYMTAB"
                        for s in table.iter_symbols()]
        self.relocations = [
            Relocation(self.sections[table["sh_info"]], r["r_offset"], self.symbols[r["r_info_sym"]], r["r_info_type"])
            for table in found if table["sh_type"] in ("SHT_REL", "SHT_RELA") for r in table.iter_relocations()]

    def is_jump(self, relocation):
        """Whether it is a jump to a function (a tail call) and not a call; False on unknown machines.
        """
        at = relocation.section.offset + relocation.offset
        if self._machine in _JUMPS:
            return relocation.type in _JUMPS[self._machine]
        if self._machine == "EM_X86_64":
            return relocation.type in (2, 4) and self._data[at - 1] == 0xE9
        if self._machine == "EM_RISCV" and relocation.type in (17, 18, 19):  # of the pair, the second
            at += 0 if relocation.type == 17 else 4
            return int.from_bytes(self._data[at:at + 4], self._order) >> 7 & 31 == 0
        return False

    def _symbol(self, symbol):
        number = symbol["st_shndx"]  # a word such as SHN_UNDEF if it is not a section
        section = self.sections[number] if isinstance(number, int) else None
        return Symbol(symbol.name, symbol["st_info"]["type"], section, symbol["st_value"], symbol["st_size"])


def _reader():
    try:
        from elftools.elf.elffile import ELFFile
    except ImportError as e:
        raise UserMistake(f"Python's module elftools is missing; {install_hint('python3-pyelftools')}") from e
    return ELFFile
