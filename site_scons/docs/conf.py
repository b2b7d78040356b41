# SPDX-License-Identifier: Apache-2.0
# Sphinx' configuration for the guide and the man pages, copied beside the pages that dynsel_build/guide.py writes.
import json
from pathlib import Path

_made = json.loads((Path(__file__).parent / "made.json").read_text(encoding="utf-8"))

project = "dynsel"
release = version = _made["version"]
author = "the authors of dynsel"
today = release  # in place of the day of the build, so that the man pages are the same on each
root_doc = "index"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 6
suppress_warnings = ["myst.header"]  # headings that skip a level are for who reads the text
html_theme = "furo"
html_title = f"dynsel {release}"
html_static_path = ["_static"]
html_css_files = ["guide.css"]
html_extra_path = ["_extra"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_last_updated_fmt = None
pygments_style = "friendly"
pygments_dark_style = "monokai"
highlight_language = "none"
man_pages = [(page, name, text, "", 1) for page, name, text in _made["man"]]
man_show_urls = False

# Debian 12's Furo has no dark colours for browsers that ask for them.
html_theme_options = {
    "dark_css_variables": {f"color-{name}": value for name, value in {
        "foreground-primary": "#d4d6d8", "foreground-secondary": "#a2a6ab", "foreground-muted": "#868b92",
        "foreground-border": "#666", "background-primary": "#141618", "background-secondary": "#1b1e20",
        "background-hover": "#22262a", "background-hover--transparent": "#22262a00", "background-border": "#34383c",
        "background-item": "#444", "brand-primary": "#5aa2f2", "brand-content": "#6cacf3", "problematic": "#f0706c",
        "highlighted-background": "#083563", "admonition-background": "#1a1c1e", "card-background": "#1a1c1e",
        "highlight-on-target": "#333300",
    }.items()},
}
