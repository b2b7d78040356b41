# SPDX-License-Identifier: Apache-2.0
"""`scons coverage`: the lines and branches of the library that its tests reach, by folder.

The fragment `coverage` makes the compiler add counters. All tests run again each time, after the counts of earlier
runs are deleted.
"""

import json
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path, PurePath

from .errors import UserMistake
from .nodes import action, finish, missing
from .trees import at

FRAGMENT = "coverage"
COUNTED = ("line", "branch")
UNTAKEN = "untaken.txt"


def variants_for(chosen):
    """The variants that coverage derives from the chosen ones."""
    return [variant.with_fragment(FRAGMENT) for variant in chosen]


def declare(base, builds):
    """The target `coverage`."""
    for build in builds:
        if not build.config["DYNSEL_COVERAGE"]:
            continue
        folder = build.variant.folder
        for counts in Path(folder).glob("obj/**/*.gcda"):
            counts.unlink()
        if not shutil.which("gcovr"):
            base.Alias("coverage", missing(base, "gcovr"))
        for node in build.tests:
            base.AlwaysBuild(node)
        report = base.Command(at(f"{folder}/coverage/summary.json"), build.tests, action(_report_on(folder), None))
        base.AlwaysBuild(report)
        base.Alias("coverage", report)


def _report_on(folder):
    def report(target, source, env):
        reports = Path(target[0].path).parent
        said = subprocess.run(
            ["gcovr", "--root", ".", "--filter", "src/", "--json-summary", target[0].path, "--json", reports / "lines.json",
             "--html-details", reports / "index.html", f"{folder}/obj"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if said.returncode != 0:
            return finish(None, said.stdout.splitlines() or [f"gcovr ended with {said.returncode}"])
        missed = untaken(json.loads((reports / "lines.json").read_text(encoding="utf-8"))["files"], _source_line)
        (reports / UNTAKEN).write_text("".join(f"{line}\n" for line in missed), encoding="utf-8")
        print(f"\n{PurePath(folder).name}: coverage of the library by its tests\n")
        print("\n".join(table(json.loads(Path(target[0].path).read_text(encoding="utf-8"))["files"])))
        print(f"\nNever taken, by file and line: {reports / UNTAKEN}\nWith the sources: {reports / 'index.html'}", flush=True)
        return 0

    return report


def _source_line(name, number):
    return Path(name).read_text(encoding="utf-8").splitlines()[number - 1].strip()


def table(files):
    """The rows of the table: each folder of src, most untaken branches first, and the total."""
    sums = defaultdict(lambda: defaultdict(int))
    for file in files:
        for name in (str(PurePath(file["filename"]).parent.relative_to("src")), "all"):
            sums[name]["files"] += 1
            for what in COUNTED:
                sums[name][what] += file[f"{what}_total"]
                sums[name][f"{what} reached"] += file[f"{what}_covered"]
    if not sums:
        raise UserMistake("no counts were found; remove the variant with `scons -c coverage` and run `scons coverage` again")
    width = max(map(len, ["folder", *sums]))
    rows = [f"{'folder':{width}}  files   lines  reached   branches  reached  untaken"]

    def last_is_all_else_most_untaken(item):
        name, found = item
        return name == "all", found["branch reached"] - found["branch"], name

    for name, found in sorted(sums.items(), key=last_is_all_else_most_untaken):
        lines, branches = (_percent(found[f"{what} reached"], found[what]) for what in COUNTED)
        rows.append(f"{name:{width}}  {found['files']:5}  {found['line']:6}  {lines:>7}   {found['branch']:8}"
                    f"  {branches:>7}  {found['branch'] - found['branch reached']:7}")
    return rows


def untaken(files, source_line):
    """The lines `file:line: gap: source` of lines never reached and branches never taken.

    source_line: gives the text of a line, by file name and number.
    """
    found = []
    for file in sorted(files, key=lambda file: file["file"]):
        for line in file["lines"]:
            if line.get("gcovr/noncode"):
                continue
            counts = [branch["count"] for branch in line["branches"]]
            if line["count"] == 0:
                gap = "line never reached"
            elif 0 in counts:
                gap = f"{counts.count(0)} of {len(counts)} branches never taken"
            else:
                continue
            found.append(f"{file['file']}:{line['line_number']}: {gap}: {source_line(file['file'], line['line_number'])}")
    return found


def _percent(reached, of):
    """Rounds down: 100 means all."""
    return "-" if of == 0 else f"{1000 * reached // of / 10} %"
