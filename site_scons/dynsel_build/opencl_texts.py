# SPDX-License-Identifier: Apache-2.0
"""Headers that host and OpenCL C share, as string literals to prepend to OpenCL programs."""

import re

ITERATORS = "include/dynsel/iterators.h"


def iterators_header(text):
    """<dynsel/opencl_iterators.h>, from the text of <dynsel/iterators.h>."""
    lines = literals([*_of_opencl(bare(text)), "#line 1"]).splitlines()
    return ("/* SPDX-License-Identifier: Apache-2.0 */\n"
            "/* Generated from <dynsel/iterators.h>. */\n"
            "#ifndef DYNSEL_OPENCL_ITERATORS_H\n#define DYNSEL_OPENCL_ITERATORS_H\n\n"
            "/** <dynsel/iterators.h> for OpenCL C: a string literal, for the front of a source. More than 4095\n"
            " * characters are an extension of the compiler, so that -Wpedantic warns of them elsewhere. */\n"
            "#define DYNSEL_OPENCL_ITERATORS __extension__"
            + "".join(f" \\\n    {line}" for line in lines) + "\n\n#endif\n")


def _of_opencl(lines):
    """Removes the host's branch of each #if __OPENCL_C_VERSION__, which contains no other #if."""
    kept, in_host, resolved = [], False, False
    for line in lines:
        if line.startswith("#if") and "__OPENCL_C_VERSION__" in line:
            resolved = True
        elif resolved and line in ("#else", "#endif"):
            in_host, resolved = line == "#else", line == "#else"
        elif not in_host:
            kept.append(line)
    return kept


def literals(lines):
    """A C string literal for each line, with a line end."""
    return "".join(f"{c_string(line)[:-1]}\\n\"\n" for line in lines)


def bare(header):
    """The lines of a header without comments, guard and includes, with macros in one line."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    text = re.sub(r"\\\n", " ", text)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#include")]
    return lines[2:-1]  # the guard


def c_string(text):
    """A string literal in plain ASCII, and without trigraphs."""
    return '"' + "".join(_c_character(byte) for byte in text.encode("utf-8")) + '"'


def _c_character(byte):
    if chr(byte) in '"\\?':
        return "\\" + chr(byte)
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
