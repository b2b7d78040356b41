# SPDX-License-Identifier: Apache-2.0
"""Our menu in another build system: its .config, or sdkconfig, in place of a board and fragments.

It computed the values; here nothing is computed again. What it leaves out is n, or a number that is switched off.
"""

import re
import shutil
from pathlib import Path

from . import amalgamation, aspects, components, generated, grammar
from .errors import UserMistake, did_you_mean
from .header import tag
from .trees import own

HOSTS = ("zephyr/Kconfig", "esp_idf/dynsel/Kconfig")  # their menus, which have options of their own
SWITCH = "DYNSEL"
_OPTION = re.compile(r"^(?:menu)?config (DYNSEL\w*)\n\t(bool|int|hex|string)\b", re.MULTILINE)
_KINDS = {"bool": "bool", "string": "text"}


class ForeignConfiguration:
    """Has what generated.py, components.py and header.py ask of a Configuration."""

    def __init__(self, top, path, name):
        self.variant_name = name
        self.catalogue = aspects.catalogue(own(top))
        generated_options = [s for s in (*self.catalogue.target_symbols(), *(a.symbol for a in self.catalogue.aspects))]
        self._kinds = {**_options(top, ["Kconfig", "src/**/Kconfig*"]), **dict.fromkeys(generated_options, "bool")}
        self._values = _assigned(path)
        known = {**self._kinds, **_options(top, HOSTS)}
        mistakes = [f"{path}: no option of this dynsel is named {grammar.PREFIX}{option}"
                    f"{did_you_mean(option, known)}; configure again" for option in self._values if option not in known]
        if self._values.get(SWITCH) != "y":
            mistakes.append(f"{path}: {grammar.PREFIX}{SWITCH} is not set; enable dynsel in the menu")
        if mistakes:
            raise UserMistake(mistakes)

    def entries(self):
        return [(name, kind, self._values.get(name, "n" if kind == "bool" else "")) for name, kind in self._kinds.items()]

    def __getitem__(self, name):
        if name not in self._kinds:
            raise UserMistake(f"no option named {name}{did_you_mean(name, self._kinds)}")
        value = self._values.get(name)
        if self._kinds[name] == "bool":
            return value == "y"
        if self._kinds[name] == "text":
            return value or ""
        return int(value, 0) if value else None

    def is_set(self, name):
        return self._values.get(name) == "y"

    def aspects(self):
        return aspects.select(self.catalogue, self.is_set)


def _options(top, patterns):
    """Option -> kind, of the Kconfig files with these names."""
    paths = [path for pattern in patterns for path in sorted(Path(top).glob(pattern))]
    return {name: _KINDS.get(kind, "number") for path in paths
            for name, kind in _OPTION.findall(path.read_text(encoding="utf-8"))}


def _assigned(path):
    """Option -> value as text, of our options in a .config."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as e:
        raise UserMistake(f"{path}: cannot be read: {e.strerror}") from e
    found = {}
    for name, value in re.findall(rf"^{grammar.PREFIX}(DYNSEL\w*)=(.*)$", text, re.MULTILINE):
        found[name] = grammar.unquote(value) if value.startswith('"') else value
    return found


def write(top, config_path, name, folder):
    """Writes dynsel.c and include/ for a .config into a folder; files that are as they should be are left alone."""
    top, folder = Path(top), Path(folder)
    config = ForeignConfiguration(top, config_path, name)
    sources, libs = components.sources_of(top, config)
    if libs:
        raise UserMistake(f"{config_path}: this configuration needs {' and '.join(libs)}; switch off what uses it")
    for path, text in generated.private_files(top, config).items():
        _write(folder / "private" / path, text)
    for path in sorted(p for pattern in ("*.h", "*.hpp", "*.def") for p in (top / "include/dynsel").glob(pattern)):
        _copy(path, folder / "include/dynsel" / path.name)
    for path, text in generated.public_headers(top, config).items():
        _write(folder / "include/dynsel" / path, text)
    _write(folder / "dynsel.c", amalgamation.text(top, folder / "private", sources, name, tag(config)))


def _copy(source, target):
    if not target.exists() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _write(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
