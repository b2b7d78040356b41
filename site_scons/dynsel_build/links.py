# SPDX-License-Identifier: Apache-2.0
"""Links of the documents: whether each leads to a file, and to a heading of it."""

import os
import re
from pathlib import Path

from .errors import did_you_mean

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:")  # a scheme: not looked at
SKIPPED = {"build", "manual", ".git", ".ci"}


def documents(top):
    """All Markdown files of the tree, by path from top."""
    found = []
    for folder, names, files in os.walk(top):
        names[:] = sorted(n for n in names if n not in SKIPPED)
        found += [str(Path(folder, name).relative_to(top)) for name in sorted(files) if name.endswith(".md")]
    return sorted(found)


def without_code(text):
    """The text with code replaced by blanks, of the same length and with the same lines."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    text = re.sub(r"^( *)(```+|~~~+).*?\n\1\2 *$", blank, text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(?<=\n\n)(?:(?: {4}.*)?\n)+", _blank_indented, text)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", blank, text, flags=re.DOTALL)


def _blank_indented(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def slugs(text):
    """The anchors of a document's headings, as code hosts and Sphinx make them."""
    found = set()
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", _without_blocks(text), re.MULTILINE):
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = 1
        unique = slug
        while unique in found:
            unique, count = f"{slug}-{count}", count + 1
        found.add(unique)
    return found


def _without_blocks(text):
    return re.sub(r"^( *)(```+).*?\n\1\2 *$", "", text, flags=re.DOTALL | re.MULTILINE)


def links(text):
    """(offset, whether it is an image, text, target) of each link that stays in the tree."""
    plain = without_code(text)
    for match in LINK.finditer(text):
        inside = plain[match.start():match.end()]
        if inside.strip() and not OUTSIDE.match(match.group(3)):
            if plain[match.start(3):match.end(3)] == match.group(3):
                yield match, bool(match.group(1)), match.group(2), match.group(3)


def lint(top):
    """One line for each broken link: file, line, what is missing."""
    texts = {path: Path(top, path).read_text(encoding="utf-8") for path in documents(top)}
    return [line for path, text in texts.items() for line in _broken(top, path, text, texts)]


def _broken(top, path, text, texts):
    for match, _, _, target in links(text):
        line = text.count("\n", 0, match.start()) + 1
        file, _, anchor = target.partition("#")
        aim = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not Path(top, aim).exists() or aim.startswith(".."):
            yield f"{path}:{line}: ({target}) leads to no file{did_you_mean(aim, texts)}"
        elif anchor and aim in texts and anchor not in slugs(texts[aim]):
            yield f"{path}:{line}: ({target}): {aim} has no heading #{anchor}{did_you_mean(anchor, slugs(texts[aim]))}"
