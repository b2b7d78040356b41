# SPDX-License-Identifier: Apache-2.0
"""The names that C sources declare for themselves alone, and other names for those that several have.

Sources of the library call their static functions by short words (find, refuse); in one file they would clash.
It reads code as clang-format leaves it: what stands at the file's level begins in the first column.
"""

import re
from collections import Counter

_COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
_BEGINS = r"^ ?(?:[A-Z_]+ )*"  # macros that stand for attributes
_STATIC = re.compile(_BEGINS + r"static\b[^;={(]*?\b(\w+)\s*(?:\((?!\s*(?:[A-Z_]+ )?\*)|[\[=;])", re.MULTILINE)
_POINTER = re.compile(_BEGINS + r"(?:static|typedef)\b[^;={(]*\(\s*(?:[A-Z_]+ )?\*\s*(?:const\b\s*|\*\s*)*(\w+)"
                      r"\s*(?:\[[^]]*\]\s*)?\)", re.MULTILINE)
_NO_NAME = re.compile(r"\b(?:_Alignas|__attribute__)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|^ *#(?:\\\n|[^\n])*",
                      re.MULTILINE)
_ENUM = re.compile(r"^(?:typedef )?enum\b[^{;]*\{([^}]*)\}", re.MULTILINE)
_CONSTANT = re.compile(r"(?:^|,)\s*(\w+)")
_TYPE = re.compile(r"^(?:typedef\b[^;{]*?\b(\w+);|\}\s*(\w+);)", re.MULTILINE)
_TAG = re.compile(r"^(?:typedef |static )?(?:const )?(?:struct|union|enum)\s+(\w+)\s*\{", re.MULTILINE)
_MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
_GUARDED_MACRO = re.compile(r"^#ifndef (\w+)\n#define \1\b", re.MULTILINE)
_TOKEN = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|(?:->|\.)\s*[A-Za-z_]\w*|[A-Za-z_]\w*|[{}]',
                    re.DOTALL)
_MEMBER_ENDS = re.compile(r"\s*[;,\[:)]")
_OPENS_STRUCTURE = re.compile(r"\b(?:struct|union)\b[^;{}()]*$")

# Short words that the headers of POSIX declare, too: one file includes those of all sources.
OF_SYSTEMS = frozenset("""
    abort accept access alarm bind brk calloc chown clock close connect creat dup exit fork free getpid index kill link
    listen lseek malloc nice open pause pipe poll raise rand read realloc recv remove rename select send signal sleep
    socket stat sync system time times truncate umask uname unlink wait write
""".split())


def declared(text):
    """The names at the level of a file that its includer would see, without those of its macros."""
    code = _NO_NAME.sub("", _COMMENT_OR_STRING.sub("", text))
    found = set(_STATIC.findall(code)) | set(_POINTER.findall(code)) | set(_TAG.findall(code))
    found |= {a or b for a, b in _TYPE.findall(code)}
    for constants in _ENUM.findall(code):
        found |= set(_CONSTANT.findall(constants))
    return found


def macros(text):
    """The macros of a source, without those that it only defines if nobody else has."""
    return [name for name in dict.fromkeys(_MACRO.findall(text)) if name not in _GUARDED_MACRO.findall(text)]


def clashes(texts):
    """The names that more than one of these texts declares."""
    return {name for name, count in Counter(name for text in texts for name in declared(text)).items() if count > 1}


def renamed(text, names, prefix):
    """The text with these names behind a prefix; members of structures keep theirs."""
    if not names:
        return text
    pieces, last, structures = [], 0, []
    for token in _TOKEN.finditer(text):
        word = token.group()
        if word == "{":
            structures.append(bool(_OPENS_STRUCTURE.search(text, max(0, token.start() - 200), token.start())))
        elif word == "}":
            structures = structures[:-1]
        elif word in names and not (structures and structures[-1] and _MEMBER_ENDS.match(text, token.end())):
            pieces += [text[last:token.start()], f"{prefix}_{word}"]
            last = token.end()
    return "".join(pieces) + text[last:]
