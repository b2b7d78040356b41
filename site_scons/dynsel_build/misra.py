# SPDX-License-Identifier: Apache-2.0
"""`scons misra`: checks the library against the rules of MISRA C:2012 that cppcheck's addon knows.

doc/misra.md lists the deviations. A violation that is not listed fails, and so does a listed deviation that
no longer occurs.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from SCons.Script import Value
from SCons.Tool import CScanner

from .gates import readings
from .nodes import action, finish, missing
from .trees import at

DEVIATIONS = "doc/misra.md"
EVERYWHERE = "everywhere"
# Together they compile every source that a host can compile; a source is checked in the first one.
FRAGMENTS = ("full", "interrupts", "minimal", "tiny_in_flight", "tiny", "trace~TRACE_TO_HOOK=y", "mpi")
# cppcheck would start the first python3 of the PATH, twice for each source; where that is a script which looks for the
# interpreter first, this takes two fifths of the time.
COMMAND = ["cppcheck", "--addon=misra", f"--addon-python={sys.executable}", "--quiet", "--std=c11", "--enable=style",
           "--suppress=missingIncludeSystem", "--template={file}:{line}: {id}"]

_FINDING = re.compile(r"(.+):(\d+): misra-c2012-(\d+\.\d+)")
_TROUBLE = re.compile(r"internalError|syntaxError|preprocessorErrorDirective|[Ff]ailed|Traceback")
_ROW = re.compile(r"\| *(\d+\.\d+) *\| *(mandatory|required|advisory) *\| *([^|]+?) *\| *([^|]+?) *\|")


def declare(base, top, builds):
    """The node that compares all violations with the deviations."""
    reports, seen = [], set()
    for build in builds:
        for env, source in build.compiled_for_library():
            if source.srcnode().path not in seen:
                seen.add(source.srcnode().path)
                reports.append(_report(base, build, env, source))
    doc = Path(top) / DEVIATIONS
    skipped = [f"{path}: no checked configuration compiles it; add one to FRAGMENTS in"
               " site_scons/dynsel_build/misra.py" for path in _sources(top) if path not in seen]

    def check(target, source, env):
        findings = [line for r in reports for line in Path(r[0].path).read_text(encoding="utf-8").splitlines()]
        text = doc.read_text(encoding="utf-8") if doc.exists() else ""
        return finish(target[0].path, skipped + compare(findings, text))

    against = [Value(doc.read_bytes() if doc.exists() else ""), Value(skipped)]
    node = base.Command(at(f"{base['BUILD']}/gates/misra.ok"), [*reports, *against],
                        action(check, "  MISRA the library, against " + DEVIATIONS))
    return node


def _sources(top):
    return sorted(str(path.relative_to(top)) for path in Path(top).glob("src/**/*.c"))


def _report(base, build, env, source):
    """A node with the violations in one source and its headers."""
    stem = f"{base['BUILD']}/gates/misra/{source.srcnode().path}"
    command = [*COMMAND, f"--cppcheck-build-dir={stem}.dir", *readings(source.srcnode().path),
               *env.subst("$_CPPDEFFLAGS $_CPPINCFLAGS").split(), source.srcnode().path]

    def look(target, source, env):
        shutil.rmtree(f"{stem}.dir", ignore_errors=True)
        Path(f"{stem}.dir").mkdir(parents=True)
        answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                check=False)
        shutil.rmtree(f"{stem}.dir")
        lines = answer.stdout.splitlines()
        trouble = [line for line in lines if _TROUBLE.search(line) and not _FINDING.fullmatch(line)]
        if answer.returncode or trouble:
            return finish(None, trouble or lines or [f"cppcheck ended with {answer.returncode}"])
        Path(target[0].path).write_text("".join(sorted({line + "\n" for line in lines})), encoding="utf-8")
        return 0

    node = base.Command(at(f"{stem}.txt"), [source, Value(json.dumps(command))],
                        action(look, f"  MISRA {source.srcnode().path}"),
                        source_scanner=CScanner, CPPPATH=env["CPPPATH"])
    base.Depends(node, build.generated)
    base.Depends(node, [] if shutil.which("cppcheck") else list(missing(base, "cppcheck")))
    return node


def compare(findings, text):
    """Errors for violations without a deviation, and for deviations without a violation.

    findings: lines "path:line: misra-c2012-rule"; other lines are ignored.
    """
    deviations, said = _deviations(text)
    used = set()
    for path, line, rule in sorted(_parsed(findings), key=lambda f: (f[0], int(f[1]), f[2])):
        row = next((d for d in deviations if d["rule"] == rule and _covers(d, path)), None)
        if row is None:
            said.append(f"{path}:{line}: MISRA C:2012 rule {rule} is violated; correct the code, or list a"
                        f" deviation with its reason in {DEVIATIONS}")
        else:
            used.update((row["line"], place) for place in row["places"] if _is_in(path, place))
    said += [f"{DEVIATIONS}:{d['line']}: no violation of rule {d['rule']}"
             f"{'' if place == EVERYWHERE else ' in ' + place}; delete it"
             for d in deviations for place in d["places"] if (d["line"], place) not in used]
    return said


def _parsed(findings):
    """(path, line, rule) of each, once; generated files are named generated/..."""
    matches = (_FINDING.fullmatch(line) for line in findings)
    return {(re.sub(r"^.*/gen/(?=dynsel/|generated/)", "generated/", m[1]), m[2], m[3]) for m in matches if m}


def _deviations(text):
    found, said = [], []
    for number, line in enumerate(text.splitlines(), 1):
        match = _ROW.fullmatch(line.strip())
        if match:
            rule, category, places, _ = match.groups()
            found.append({"rule": rule, "line": number, "places": places.replace("`", "").split(", ")})
            if category == "mandatory":
                said.append(f"{DEVIATIONS}:{number}: rule {rule} is mandatory, so no deviation is allowed; correct the code")
        elif re.match(r"\| *\d+\.\d+ *\|", line):
            said.append(f"{DEVIATIONS}:{number}: write | rule | required or advisory | everywhere, or"
                        " files and folders | reason |")
    return found, said


def _covers(deviation, path):
    return any(_is_in(path, place) for place in deviation["places"])


def _is_in(path, place):
    return place == EVERYWHERE or path == place or (place.endswith("/") and path.startswith(place))
