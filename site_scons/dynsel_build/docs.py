# SPDX-License-Identifier: Apache-2.0
"""`scons docs`: the guide, the reference of the public headers, and the man pages of the tools, in build/docs."""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from . import guide, manual, opencl_texts, variants
from .errors import UserMistake, install_hint
from .header import autoconf
from .nodes import action, finish
from .version import read as read_version

FOLDER = manual.MADE
HTML, MAN = f"{FOLDER}/html", f"{FOLDER}/man"
REFERENCE = "native+full"  # the reference has all parts of the interface that this variant has
PACKAGES = {"doxygen": "doxygen", "sphinx-build": "python3-sphinx"}
MODULES = {"myst_parser": "python3-myst-parser", "furo": "furo"}  # of the Python that runs Sphinx

_MEMBER = re.compile(r"warning: Member .*\(variable\) of (struct|union) \w+ is not documented\.$")


def missing():
    """The packages that are not here."""
    packages = [package for command, package in PACKAGES.items() if not shutil.which(command)]
    if not packages:
        python = _sphinx_python()
        packages = [package for module, package in MODULES.items()
                    if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode]
    return packages


def _sphinx_python():
    """The interpreter of the first line of sphinx-build."""
    with open(shutil.which("sphinx-build"), "rb") as script:
        first = script.readline().decode(errors="replace")
    found = re.match(r"#! *(\S*python[\d.]*)", first)
    return found.group(1) if found else sys.executable


def declare(base, session, builds):
    """The alias docs, and its node."""
    packages = [] if session.pretends else missing()
    if packages:
        raise UserMistake(f"the documents need {' '.join(packages)}; {install_hint(' '.join(packages))}"
                          " or: ./bootstrap scons docs")
    build = next(b for b in builds if b.variant.name == variants.DEFAULT_BOARD)
    tools = {name: f"tools/{name}" if Path(session.top, "tools", name).is_file() else build.programs[name][0].abspath
             for name in guide.TOOLS}
    config = session.load(variants.parse(session.trees, REFERENCE))

    def make(target, source, env):
        try:
            _make(session.top, tools, config)
        except UserMistake as e:
            return finish(None, e.lines)
        print(f"docs: {HTML}/index.html, {MAN}/*.1")
        return 0

    programs = [node for name in tools for node in build.programs.get(name, [])]
    nodes = base.Command(f"#{HTML}/index.html", programs, action(make, "  DOCS  build/docs"))
    base.AlwaysBuild(base.Alias("docs", nodes), nodes)
    base.Clean(nodes, FOLDER)
    return nodes


def _make(top, tools, config):
    folder = Path(top, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    helps = {(tool, command): _help(path, command) for tool, path in tools.items()
             for command in ("", *guide.TOOLS[tool][0])}
    guide.stage(top, folder / "source", read_version(top), helps)
    for old in (HTML, MAN, f"{FOLDER}/doctrees"):
        shutil.rmtree(Path(top, old), ignore_errors=True)
    Path(top, HTML).mkdir(parents=True)
    _doxygen(top, config)
    _sphinx(top, "html", HTML)
    _sphinx(top, "man", MAN)
    for name in (".buildinfo", ".doctrees"):
        Path(top, HTML, name).unlink(missing_ok=True)
    broken = broken_links(Path(top, HTML))
    if broken:
        raise UserMistake(broken)


def _help(path, command):
    words = [path, *([command] if command else []), "--help"]
    said = subprocess.run(words, text=True, capture_output=True, check=False, env={**os.environ, "COLUMNS": "90"})
    if said.returncode:
        raise UserMistake(f"{' '.join(words)} ended with status {said.returncode}: {said.stderr.strip()}")
    return said.stdout


def _sphinx(top, builder, to):
    source = f"{FOLDER}/source"
    said = subprocess.run(["sphinx-build", "-q", "-n", "-W", "--keep-going", "-b", builder, "-d", f"{FOLDER}/doctrees",
                           source, to], cwd=top, text=True, capture_output=True, check=False)
    if said.returncode or said.stderr:
        lines = [line.replace(f"{top}/{source}/", "") for line in said.stderr.splitlines() if line]
        raise UserMistake(lines or [f"sphinx-build ended with status {said.returncode}"])


def _doxygen(top, config):
    """Writes the reference; each warning is an error, but members of structures need no comment."""
    generated = Path(top, FOLDER, "gen/dynsel")
    generated.mkdir(parents=True, exist_ok=True)
    chosen = config.aspects()
    iterators = Path(top, opencl_texts.ITERATORS).read_text(encoding="utf-8")
    for name, text in {"autoconf": autoconf(config), "aspect_names": chosen.names_header(),
                       "aspect_sets": chosen.sets_header(),
                       "opencl_iterators": opencl_texts.iterators_header(iterators)}.items():
        (generated / f"{name}.h").write_text(text, encoding="utf-8")
    settings = Path(top, "site_scons/docs/Doxyfile").read_text(encoding="utf-8") + "\n".join([
        "INPUT = include/dynsel site_scons/docs/mainpage.dox", f"OUTPUT_DIRECTORY = {HTML}", f"PROJECT_NUMBER = {read_version(top)}",
        f"INCLUDE_PATH = include {FOLDER}/gen", "STRIP_FROM_PATH = include .",
        f'FILTER_PATTERNS = "*.h={sys.executable} site_scons/docs/header_filter.py"',
        "HTML_EXTRA_STYLESHEET = site_scons/docs/reference.css", ""])
    said = subprocess.run(["doxygen", "-"], cwd=top, input=settings, text=True, capture_output=True, check=False)
    lines = [line.replace(f"{top}/", "") for line in said.stderr.splitlines() if line and not _MEMBER.search(line)]
    if said.returncode or lines:
        raise UserMistake(lines or [f"doxygen ended with status {said.returncode}"])


class _Page(HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self):
        super().__init__()
        self.anchors, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.links.append((value, self.getpos()[0]))


def broken_links(folder):
    """One line for each link between the HTML files of a folder that leads nowhere."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        if guide.FILES not in path.relative_to(folder).parts:
            pages[path] = _Page()
            pages[path].feed(path.read_text(encoding="utf-8"))
    return [line for path, page in pages.items() for line in _broken(folder, path, page, pages)]


def _broken(folder, path, page, pages):
    in_reference = path.parent.name == "reference"  # Doxygen lists members of unnamed structures without a place
    for link, line in page.links:
        file, _, anchor = unquote(link).partition("#")
        file = file.partition("?")[0]
        if re.match(r"[a-z]+:", link):
            continue
        aim = Path(os.path.normpath(path.parent / file)) if file else path
        where = f"{path.relative_to(folder)}:{line}"
        if not aim.exists():
            yield f"{where}: {link} leads to no file"
        elif anchor and not in_reference and aim in pages and anchor not in pages[aim].anchors:
            yield f"{where}: {link}: there is no such place on that page"
