# SPDX-License-Identifier: Apache-2.0
"""Checks text files: UTF-8 without a byte order mark and without control characters."""

import codecs
import re

# Characters that YAML does not allow.
_NOT_ALLOWED = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def decode(path, data):
    """(the text, None) or ("", the error as a line)."""
    if data.startswith(codecs.BOM_UTF8):
        return "", f"{path}:1: a byte order mark; save the file as UTF-8 without one"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        return "", f"{path}:{line}: not UTF-8 text; save the file as UTF-8"
    match = _NOT_ALLOWED.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
        return "", f"{path}:{line}: the character U+{ord(match.group()):04X} is not allowed; delete it"
    return text, None
