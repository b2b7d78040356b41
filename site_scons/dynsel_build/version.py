# SPDX-License-Identifier: Apache-2.0
"""The version, from include/dynsel/version.h, the only place where it is written."""

import re
from pathlib import Path

from .errors import UserMistake

HEADER = "include/dynsel/version.h"


def read(top):
    """Such as "0.1.0"."""
    text = Path(top, HEADER).read_text(encoding="utf-8")
    found = [re.search(rf"^#define DYNSEL_VERSION_{part} +(\d+)\b", text, re.MULTILINE)
             for part in ("MAJOR", "MINOR", "PATCH")]
    if not all(found):
        raise UserMistake(f"{HEADER} must define DYNSEL_VERSION_MAJOR, _MINOR and _PATCH as numbers")
    return ".".join(match.group(1) for match in found)
