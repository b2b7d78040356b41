# SPDX-License-Identifier: Apache-2.0
"""The symbols that the archive of a bare-metal board may need: the port, four memory functions, and the
compiler's runtime without floating point, 64-bit division and atomic operations.
"""

import re
import subprocess
from pathlib import Path

MEMORY = {"memcpy", "memset", "memmove", "memcmp"}

# Parts of the compiler's runtime, by their names on ARM and on other machines.
NOT_WANTED = (
    (r"__(atomic|sync)_\w+", "this processor has no such atomic instruction; use src/port/atomic.h"),
    (r"__aeabi_[dfc]\w+|__aeabi_u?[il]2[df]|__(?!ashl|ashr|lshr)\w+[sdtx]f[0-9a-z]*",
     "the library uses no floating point; use integers"),
)

# Objects that may divide 64-bit numbers, off the path of a submit -> where.
MAY_DIVIDE = {
    "auto_tune_times.o": "the mean of a resource's times, once for each time that is reported, and only"
                         " with DYNSEL_AUTO_TUNE_EXPLORE_PERCENT=0",
}
DIVISION = r"__aeabi_(u?ldivmod|ldiv0)|__u?(div|mod|divmod)di[34]"


def port_functions(top):
    """The functions that <dynsel/port.h> demands from the program."""
    text = (Path(top) / "include/dynsel/port.h").read_text(encoding="utf-8")
    return set(re.findall(r"\b(dynsel_port_\w+)\(", text)) | {"dynsel_now_ns"}


def complaints(top, board, archive):
    """One line for each object and symbol that is not allowed."""
    defined, needed = _symbols(board.nm, archive)
    runtime, _ = _symbols(board.nm, _runtime(board))
    allowed = defined | port_functions(top) | MEMORY
    found = []
    for place, symbol in needed:
        if symbol in allowed:
            continue
        if re.fullmatch(DIVISION, symbol):
            if place.rpartition(":")[2] not in MAY_DIVIDE:
                found.append(f"{place} needs {symbol}: 64-bit division is slow on this machine; off the path"
                             " of a submit, add the object to MAY_DIVIDE in site_scons/dynsel_build/freestanding.py")
            continue
        reason = next((why for pattern, why in NOT_WANTED if re.fullmatch(pattern, symbol)), None)
        if reason or symbol not in runtime:
            found.append(f"{place} needs {symbol}: {reason or 'bare metal has only the port, memcpy, memset, memmove and memcmp'}")
    return found


def _runtime(board):
    said = subprocess.run([board.cc, *board.cflags, "-print-libgcc-file-name"], capture_output=True,
                          text=True, check=True).stdout
    return said.strip()


def _symbols(nm, path):
    """(names that are defined, [(archive:object, name that is needed)])."""
    listing = subprocess.run([nm, "-A", path], capture_output=True, text=True, check=True).stdout
    defined, needed = set(), []
    for line in listing.splitlines():
        place, _, rest = line.rpartition(":")
        words = rest.split()
        if words[-2:-1] in (["U"], ["w"]):
            needed.append((place, words[-1]))
        elif len(words) >= 2:
            defined.add(words[-1])
    return defined, needed
