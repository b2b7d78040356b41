# SPDX-License-Identifier: Apache-2.0
"""Links a test program; if it is too large for the board's memory, writes a note in its place.

For variants whose tables may have any size: in the board's own configuration a test that does not fit
is an error. Arguments: the complete command of the linker.
"""

import re
import subprocess
import sys
from pathlib import Path

NOTE = b"left out: too large for the board's memory\n"
TOO_LARGE = re.compile(r"will not fit in region|region .* overflowed by|no room is left for the stack")


def is_note(path):
    """Whether the file is the note in place of a program."""
    with open(path, "rb") as f:
        return f.read(len(NOTE)) == NOTE


def main(command):
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0 and TOO_LARGE.search(done.stderr):
        target = command[command.index("-o") + 1]
        Path(target).write_bytes(NOTE)
        print(f"  left out, too large for the board's memory: {target}", flush=True)
        return 0
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
