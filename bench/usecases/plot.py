#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of doc/results.md from the CSV files of the use cases, as SVG and PNG.

    bench/usecases/plot.py FOLDER [OUT]

FOLDER: what run_all left for one machine: mix.csv, tiny.csv, ... Those that are not there are left out.
OUT: where the figures go; default: FOLDER. Needs matplotlib (Debian: python3-matplotlib).
"""

import csv
import sys
from pathlib import Path

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("plot.py: matplotlib is missing (Debian: apt install python3-matplotlib)")

# Okabe and Ito's colours, which colour-blind people can tell apart
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
POLICIES = {"oracle": (BLACK, "-", "o"), "auto_tune": (BLUE, "-", "s"), "auto_tune_whole_time": (SKY, "--", "D"),
            "dynamic_load": (GREEN, "-", "^"), "round_robin": (ORANGE, "-", "v"), "fixed": (RED, ":", "x")}
RESOURCES = ((BLACK, "o"), (BLUE, "s"), (RED, "^"), (GREEN, "D"), (ORANGE, "v"), (PURPLE, "P"), (SKY, "X"))
ORACLE, CLAIM, PEER = 1.0, 0.95, 0.875
NS_PER_US = 1e3


class Table:
    """The rows of one file, and what it says about the machine."""

    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            lines = list(file)
        words = (line[1:].split(None, 1) for line in lines if line.startswith("#"))
        self.facts, self.devices = {}, []
        for key, value in words:
            self.facts[key] = value.strip()
            self.devices += [value.strip()] if key == "device" else []
        self.rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        for row in self.rows:
            row["x"], row["value"] = float(row["x"]), float(row["value"])

    def of(self, record, **wanted):
        return [row for row in self.rows if row["record"] == record
                and all(row[key] == value for key, value in wanted.items())]

    def values(self, record, key):
        """What occurs in a column, in the order of the file."""
        return list(dict.fromkeys(row[key] for row in self.of(record)))

    def machine(self):
        where = self.facts.get("configuration", "").split(",")[0]
        where = self.facts.get("processor", "") if where in ("", "not named") else where
        return f"{where}, {self.facts.get('date', '')[:10]}"


def short(name):
    """A device's name without what PoCL adds."""
    if name.startswith("pthread-"):
        return "PoCL" + (name[name.index(" #"):] if " #" in name else "")
    return name


def who(row):
    return row["policy"] + (f" {short(row['resource'])}" if row["resource"] else "")


def figure(title, table, width=8.0, height=4.6):
    plt.rcParams.update({"font.size": 10, "axes.grid": True, "grid.color": "#dddddd", "axes.axisbelow": True,
                         "svg.hashsalt": "dynsel", "svg.fonttype": "none"})
    made, axes = plt.subplots(figsize=(width, height), layout="constrained")
    axes.set_title(f"{title}\n", fontsize=11, loc="left")
    axes.text(0, 1.015, table.machine(), transform=axes.transAxes, fontsize=8, color="#555555")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return made, axes


def save(made, out, name):
    for kind in ("svg", "png"):
        path = out / f"{name}.{kind}"
        metadata = {"Date": None} if kind == "svg" else {}
        made.savefig(path, dpi=130, metadata=metadata)
        print(path)
    plt.close(made)


def shares(table, out):
    rows = table.of("share")
    labels = [who(row) for row in rows]
    made, axes = figure("A mix of kernels: share of the oracle after warm-up", table, height=1.6 + 0.42 * len(rows))
    for i, row in enumerate(rows):
        axes.barh(i, 100 * row["value"], color=POLICIES[row["policy"]][0], height=0.62)
        axes.annotate(f"{100 * row['value']:.1f} %", (100 * row["value"], i), (4, 0), textcoords="offset points",
                      va="center", fontsize=9)
    axes.set_yticks(range(len(rows)), labels)
    axes.invert_yaxis()
    axes.set_xlim(0, max(118, 100 * max(row["value"] for row in rows) + 10))
    axes.set_xlabel("time that the oracle needs / time that was needed, in %")
    for share, style, text in ((ORACLE, "-", "oracle"), (CLAIM, "--", "budget 95 %"),
                               (PEER, ":", "best published 87.5 %")):
        axes.axvline(100 * share, color=BLACK, linestyle=style, linewidth=1.2, label=text)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22 if len(rows) < 8 else -0.16), ncol=3, frameon=False,
                fontsize=9)
    save(made, out, "mix-shares")


def course(table, out):
    rows = table.of("course")
    totals = {row["resource"]: row["value"] for row in table.of("total", policy="fixed")}
    single = min(totals, key=totals.get)
    base = {row["x"]: row["value"] for row in rows if row["policy"] == "fixed" and row["resource"] == single}
    made, axes = figure(f"A mix of kernels: regret of the whole run, against {short(single)} alone", table)
    for policy, (colour, line, _) in POLICIES.items():
        points = [(row["x"], 100 * (row["value"] / base[row["x"]] - 1)) for row in rows if row["policy"] == policy]
        if policy != "fixed" and points:
            axes.plot(*zip(*points), color=colour, linestyle=line, label=policy, linewidth=1.8)
    axes.axhline(0, color=RED, linestyle=":", label=f"best single resource: {short(single)}")
    axes.axhline(5, color="#888888", linestyle="--", linewidth=1, label="5 % worse")
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=100)
    axes.set_xlabel("pieces of work so far, from the first on")
    axes.set_ylabel("more time than the best single resource, in %")
    axes.legend(frameon=False, fontsize=9)
    save(made, out, "mix-regret")


def alone(table, out):
    tasks = table.values("alone", "task")
    made, axes = figure("A mix of kernels: each kind of work on each resource alone", table, height=2 + 0.17 * len(tasks))
    for i, resource in enumerate(table.values("alone", "resource")):
        rows = table.of("alone", resource=resource)
        colour, marker = RESOURCES[i % len(RESOURCES)]
        axes.plot([row["value"] / NS_PER_US for row in rows], [tasks.index(row["task"]) for row in rows], marker,
                  color=colour, label=short(resource), markersize=5, markerfacecolor="none", markeredgewidth=1.4)
    axes.set_yticks(range(len(tasks)), tasks, fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("time from the host's memory to the host's memory, in µs")
    axes.set_ylabel("kernel / elements / operations each")
    axes.legend(frameon=False, fontsize=9)
    save(made, out, "mix-alone")


FIGURES = {"mix": (shares, course, alone)}


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print(__doc__.strip())
        return 0 if arguments == ["--help"] else 2
    folder, out = Path(arguments[0]), Path(arguments[-1])
    found = [name for name in FIGURES if (folder / f"{name}.csv").exists()]
    if not found:
        print(f"plot.py: {folder}: none of {', '.join(f'{name}.csv' for name in FIGURES)} is there", file=sys.stderr)
        return 1
    out.mkdir(parents=True, exist_ok=True)
    for name in found:
        table = Table(folder / f"{name}.csv")
        for draw in FIGURES[name]:
            draw(table, out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
