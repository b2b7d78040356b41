# SPDX-License-Identifier: Apache-2.0
"""Errors of the user: one line each, with the nearest valid name."""


class UserMistake(Exception):
    """One or more lines that state an error and its remedy; ends the build with status 2."""

    def __init__(self, lines):
        self.lines = [lines] if isinstance(lines, str) else list(lines)
        super().__init__("\n".join(self.lines))


def nearest(name, known, cutoff=0.55):
    """The most similar of the known names, or None if none is similar.

    cutoff: the least similarity, from 0 to 1, by difflib.
    """
    import difflib  # only needed for errors

    folded = {}
    for candidate in known:
        folded.setdefault(candidate.upper(), candidate)
    found = difflib.get_close_matches(name.upper(), list(folded), n=1, cutoff=cutoff)
    return folded[found[0]] if found else None


def did_you_mean(name, known):
    """'; did you mean X?' or nothing, to append to an error."""
    best = nearest(name, known)
    return f"; did you mean {best}?" if best else ""


def install_hint(package):
    return f"on Debian and Ubuntu: apt-get install {package}"


def unknown(kind, name, known, where=""):
    """The text for an unknown board, fragment, variable or target."""
    listed = ", ".join(sorted(known)) or "none"
    return f"{where}no {kind} named {name!r}{did_you_mean(name, known)} (there are: {listed})"
