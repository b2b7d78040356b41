# SPDX-License-Identifier: Apache-2.0
"""Where the guide and the man pages are: a release has them in manual/, `scons docs` makes them in build/docs."""

from pathlib import Path

RELEASED, MADE = "manual", "build/docs"


def place(top):
    """The folder with html/ and man/, or None."""
    for folder in (RELEASED, MADE):
        if Path(top, folder, "html/index.html").exists() and Path(top, folder, "man").is_dir():
            return Path(top, folder)
    return None
