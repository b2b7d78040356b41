# SPDX-License-Identifier: Apache-2.0
"""The guide's sources for Sphinx, made of the documents of the tree, and of what the tools say of themselves."""

import json
import os
import re
import shutil
from pathlib import Path

import yaml

from . import links
from .errors import UserMistake

ROOT = "README.md"  # becomes index.html
FILES = "files"     # where the guide keeps the files of the tree that its pages name
HEADERS = "include/dynsel/"
REFERENCE = "reference.md"  # a page with the list of headers

# tool -> (its commands with help of their own, what it does)
TOOLS = {
    "dynsel-info": ((), "list devices, their targets and aspects"),
    "dynsel-learned": (("show", "merge", "diff", "emit", "check"), "work with learned tables"),
    "dynsel-replay": ((), "repeat a traced run, also with other policies and devices"),
    "dynsel-replay-plot": ((), "draw the table of dynsel-replay what-if"),
    "dynsel-trace": (("summary", "perfetto", "html"), "show a trace"),
}


def navigation(top):
    """{section: pages that exist}, the tools' pages too."""
    text = Path(top, "site_scons/docs/navigation.yaml").read_text(encoding="utf-8")
    listed = {section: [p for p in pages if p.startswith("tools/") or p == REFERENCE or Path(top, p).exists()]
              for section, pages in yaml.safe_load(text).items()}
    pages = {page for section in listed.values() for page in section}
    lost = [path for path in links.documents(top)
            if re.fullmatch(r"doc/(guide/)?[^/]+\.md", path) and path not in pages]
    if lost:
        raise UserMistake([f"{path} is not in the guide: add it to site_scons/docs/navigation.yaml" for path in lost])
    return listed


def stage(top, to, version, helps):
    """Writes Sphinx' source folder. helps: {(tool, command or ""): text of --help}."""
    broken = links.lint(top)
    if broken:
        raise UserMistake(broken)
    sections = navigation(top)
    pages = {page for section in sections.values() for page in section} | {ROOT}
    to = Path(to)
    shutil.rmtree(to, ignore_errors=True)
    (to / "_extra").mkdir(parents=True)
    (to / "_static").mkdir()
    shutil.copy(Path(top, "site_scons/docs/conf.py"), to)
    shutil.copy(Path(top, "site_scons/docs/guide.css"), to / "_static")
    man = [(f"tools/{tool}", tool, purpose) for tool, (_, purpose) in TOOLS.items()]
    (to / "made.json").write_text(json.dumps({"version": version, "man": man}), encoding="utf-8")
    for page in sorted(pages):
        text = (tool_page(page, helps) if page.startswith("tools/") else
                headers_page(top) if page == REFERENCE else _page(top, to, page, pages))
        if page == ROOT:
            text += _toctrees(sections)
        target = to / ("index.md" if page == ROOT else page)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def _toctrees(sections):
    return "".join("\n```{toctree}\n:hidden:\n:caption: " + section + "\n\n"
                   + "".join(f"/{page[:-len('.md')]}\n" for page in pages)
                   + "```\n" for section, pages in sections.items() if pages)


def _page(top, to, page, pages):
    """A document with its links as the guide has them."""
    text = Path(top, page).read_text(encoding="utf-8")
    pieces, end = [], 0
    for match, is_image, words, target in links.links(text):
        pieces.append(text[end:match.start()])
        pieces.append(_link(top, to, page, pages, is_image, words, target) or match.group(0))
        end = match.end()
    return "".join(pieces) + text[end:]


def _link(top, to, page, pages, is_image, words, target):
    """The text of a link in the guide; None: as it is."""
    file, _, anchor = target.partition("#")
    if not file:
        return None
    here = os.path.dirname(page)
    aim = os.path.normpath(os.path.join(here, file))
    if is_image:
        _copy(Path(top, aim), to / aim)
        return None
    for name in (aim, f"{aim}/README.md"):
        if name in pages:
            path = os.path.relpath("index.md" if name == ROOT else name, here or ".")
            return f"[{words}]({path}{'#' + anchor if anchor else ''})"
    return _html_link(here, _outside_page(top, to, aim), words)


def _html_link(here, aim, words):
    """Plain HTML: Sphinx looks only at links between pages. Code keeps its look."""
    words = re.sub(r"`([^`]*)`", r"<code>\1</code>", words)
    return f'<a href="{os.path.relpath(aim, here or ".")}">{words}</a>' if aim else words


def _outside_page(top, to, aim):
    """Where the guide has a file that is no page of it; None for folders."""
    if aim.rstrip("/") == HEADERS.rstrip("/"):
        return "reference/files.html"
    if aim.startswith(HEADERS) and aim.endswith(".h"):
        return f"reference/{_doxygen_name(aim[len(HEADERS):])}.html"
    if Path(top, aim).is_dir():
        return None
    path = f"{FILES}/{aim}" if aim.endswith((".html", ".png", ".svg")) else f"{FILES}/{aim}.txt"
    _copy(Path(top, aim), to / "_extra" / path)
    return path


def _doxygen_name(header):
    return header.replace("_", "__").replace(".", "_8")


def _copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def headers_page(top):
    """The list of the public headers, with the first sentence of each."""
    rows = []
    for header in sorted(Path(top, HEADERS).glob("*.h")):
        comment = re.search(r"/\*\*(.*?)\*/", header.read_text(encoding="utf-8"), re.DOTALL).group(1)
        words = " ".join(line.strip(" *") for line in comment.split("\n")).split(". ")[0].strip().rstrip(".:")
        rows.append(f'| <a href="reference/{_doxygen_name(header.name)}.html">{header.name}</a> | {_escaped(words)} |')
    return ("# Reference of the headers\n\nEach header is a manual of its own, in plain text; these pages are made of"
            " the same comments.\n\n| header | |\n|---|---|\n" + "\n".join(rows)
            + '\n\n<a href="reference/globals.html">All functions, types and macros</a>\n')


def _escaped(text):
    return re.sub(r"([<>|_*\[\]`])", r"\\\1", text)


def tool_page(page, helps):
    """The page of a tool, also its man page: what it says of itself."""
    tool = Path(page).stem
    commands, _ = TOOLS[tool]
    text = f"# {tool}\n\n## Description\n\n{_literal(helps[tool, ''])}"
    for command in commands:
        text += f"\n## {tool} {command}\n\n{_literal(helps[tool, command])}"
    others = ", ".join(f"{other}(1)" for other in TOOLS if other != tool)
    return text + f"\n## See also\n\n{others}\n"


def _literal(text):
    return f"```text\n{text.rstrip()}\n```\n"
