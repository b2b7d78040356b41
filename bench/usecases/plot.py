#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of doc/results.md from the CSV files of the use cases, as PNG.

Writes figures.md beside them, with the origin of each figure. Needs matplotlib (Debian: python3-matplotlib).
"""

import argparse
import csv
import sys
from pathlib import Path

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy
    from PIL import Image
except ImportError:  # --help works without it
    matplotlib = None

# Okabe and Ito's colours, which colour-blind people can tell apart
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
POLICIES = {"oracle": (BLACK, "-", "o"), "auto_tune": (BLUE, "-", "s"), "auto_tune_whole_time": (SKY, "--", "D"),
            "earliest_finish": (RED, "-", "h"), "dynamic_load": (GREEN, "-", "^"), "round_robin": (ORANGE, "-", "v"),
            "fixed": (BLACK, ":", "x")}
PEER_POLICY = (PURPLE, "-", "P")  # of another runtime, such as "starpu_dmda"
RESOURCES = ((BLACK, "o"), (BLUE, "s"), (RED, "^"), (GREEN, "D"), (ORANGE, "v"), (PURPLE, "P"), (SKY, "X"))
ORACLE, CLAIM, PEER = 1.0, 0.95, 0.875
NS_PER_US = 1e3
COMMON = ("record", "task", "x", "unit")  # columns of a file that are no policy's
COLOURS = 32  # of a PNG: those of lines and areas, and enough for soft edges


class Table:
    """The figures of one file, a row each, and its lines about the machine."""

    def __init__(self, path):
        self.name = path.stem
        with open(path, encoding="utf-8", newline="") as file:
            lines = list(file)
        words = (line[1:].split(None, 1) for line in lines if line.startswith("#"))
        self.facts, self.devices = {}, []
        for key, value in words:
            self.facts[key] = value.strip()
            self.devices += [value.strip()] if key == "device" else []
        self.rows, self.peer = self.read(lines), []

    @staticmethod
    def read(lines):
        rows = []
        for line in csv.DictReader(line for line in lines if not line.startswith("#")):
            for column in (name for name in line if name not in COMMON and line[name]):
                policy, _, resource = column.partition(" ")
                rows.append({"record": line["record"], "task": line["task"], "x": float(line["x"]),
                             "unit": line["unit"], "policy": policy, "resource": resource,
                             "value": float(line[column])})
        return rows

    def add_peer(self, path):
        """The figures of the same work with another runtime (bench/peers/starpu_compare)."""
        if path.exists():
            with open(path, encoding="utf-8", newline="") as file:
                self.peer = self.read(list(file))

    def of(self, record, **wanted):
        return [row for row in self.rows if row["record"] == record
                and all(row[key] == value for key, value in wanted.items())]

    def values(self, record, key):
        """The different values in a column, in the order of the file."""
        return list(dict.fromkeys(row[key] for row in self.of(record)))

    def origin(self):
        """The origin of these figures, in Markdown."""
        facts = [("machine", f"{self.facts.get('processor', '?')}, {self.facts.get('machine', '?')}"),
                 *(("device", device) for device in self.devices),
                 ("build", f"{self.facts.get('compiler', '?')}, {self.facts.get('configuration', '?')}"),
                 ("date", self.facts.get("date", "?")), ("command", f"`{self.facts.get('command', '?')}`")]
        return "".join(f"- {name}: {value}\n" for name, value in facts)

    def machine(self):
        where = self.facts.get("configuration", "").rsplit(", ", 3)[0]  # what csv.c adds to the label
        where = self.facts.get("processor", "") if where in ("", "not named") else where
        return f"{where}, {self.facts.get('date', '')[:10]}"


def short(name):
    """A device's name without the parts that PoCL adds."""
    for driver in ("pthread-", "basic-", "cpu-"):
        if name.startswith(driver):
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


def legend_below(made, axes, inches=0.5):
    """Places the legend below the axis' label, for which matplotlib 3.6 has no option."""
    height = made.get_size_inches()[1] - 1.4
    axes.legend(loc="upper center", bbox_to_anchor=(0.45, -inches / height), ncol=3, frameon=False, fontsize=9)


class Out:
    """The folder for figures, and the names of those of one table."""

    def __init__(self, folder, svg):
        self.folder, self.svg, self.drawn = folder, svg, []


def save_png(made, path):
    """Saves with a palette of the most frequent colours, which makes a quarter of the size."""
    made.set_dpi(130)
    made.draw_without_rendering()  # a legend below takes its room only in the second layout
    made.canvas.draw()
    pixels = numpy.asarray(made.canvas.buffer_rgba())[..., :3].astype(int)
    colours, place, count = numpy.unique(pixels @ (1 << 16, 1 << 8, 1), return_inverse=True, return_counts=True)
    colours = colours[:, None] >> (16, 8, 0) & 255
    palette = colours[numpy.argsort(-count, kind="stable")[:COLOURS]]
    nearest = ((colours[:, None] - palette) ** 2).sum(axis=2).argmin(axis=1)
    image = Image.fromarray(nearest[place].reshape(pixels.shape[:2]).astype(numpy.uint8), "P")
    image.putpalette(palette.astype(numpy.uint8).tobytes())
    image.save(path, optimize=True)


def save(made, out, name):
    out.drawn.append((name, made.axes[0].get_title(loc="left").strip()))
    save_png(made, out.folder / f"{name}.png")
    print(out.folder / f"{name}.png")
    if out.svg:
        made.savefig(out.folder / f"{name}.svg", metadata={"Date": None})
        print(out.folder / f"{name}.svg")
    plt.close(made)


def lines_of_claims(axes):
    for share, style, text in ((ORACLE, "-", "oracle"), (CLAIM, "--", "budget 95 %"),
                               (PEER, ":", "best published 87.5 %")):
        axes.axvline(100 * share, color=BLACK, linestyle=style, linewidth=1.2, label=text)


def bars(table, out, name, title, rows, unit, scale=1.0, claims=False):
    """One bar a row, with its value at the right edge."""
    made, axes = figure(title, table, height=(2.1 if claims else 1.5) + 0.34 * len(rows))
    most = max(scale * row["value"] for row in rows)
    most = max(most, 100) if claims else most
    for i, row in enumerate(rows):
        axes.barh(i, scale * row["value"], color=POLICIES.get(row["policy"], PEER_POLICY)[0], height=0.62)
        axes.annotate(f"{scale * row['value']:.1f}", (1.17 * most, i), va="center", ha="right", fontsize=9)
    axes.set_yticks(range(len(rows)), [who(row) for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.18 * most)
    axes.set_xlabel(unit)
    if claims:
        lines_of_claims(axes)
        legend_below(made, axes)
    save(made, out, name)


def mix(table):
    return "A mix of small kernels" if "small" in table.name else "A mix of kernels"


def shares(table, out):
    rows = table.of("share", policy="oracle") + [row for row in table.of("share") if row["policy"] != "oracle"]
    bars(table, out, f"{table.name}-shares", f"{mix(table)}: share of the oracle after warm-up", rows,
         "time that the oracle needs / time that was needed, in %", scale=100, claims=True)


def scale_regret(axes):
    """Percent beside the budget, from the smallest to many times as long; x from few runs to many."""
    axes.axhline(5, color="#888888", linestyle="--", linewidth=1, label="5 % worse")
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=10)
    low, high = axes.get_ylim()
    ticks = [tick for tick in (-50, -20, -10, -5, 0, 5, 10, 20, 50, 100, 200, 500, 1000, 10000, 100000)
             if low <= tick <= high]
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()


def course(table, out):
    rows = table.of("course")
    totals = {row["resource"]: row["value"] for row in table.of("total", policy="fixed")}
    single = min(totals, key=totals.get)
    base = {row["x"]: row["value"] for row in rows if row["policy"] == "fixed" and row["resource"] == single}
    made, axes = figure(f"{mix(table)}: regret of the whole run, against {short(single)} alone", table)
    for policy, (colour, line, _) in POLICIES.items():
        points = [(row["x"], 100 * (row["value"] / base[row["x"]] - 1)) for row in rows if row["policy"] == policy]
        if policy != "fixed" and points:
            axes.plot(*zip(*points), color=colour, linestyle=line, label=policy, linewidth=1.8)
    axes.axhline(0, color=RED, linestyle=":", label=f"best single resource: {short(single)}")
    scale_regret(axes)
    axes.set_xlabel("pieces of work so far, from the first on")
    axes.set_ylabel("more time than the best single resource, in %")
    legend_below(made, axes)
    save(made, out, f"{table.name}-regret")


def kinds(table, out):
    """Before x = 1 a kind has not run often enough to repay that its other resources were tried."""
    made, axes = figure(f"{mix(table)}: regret of each kind of work, with all that was tried", table)
    for policy in table.values("kind_regret", "policy"):
        colour, _, marker = POLICIES[policy]
        rows = table.of("kind_regret", policy=policy)
        axes.plot([row["x"] for row in rows], [100 * row["value"] for row in rows], marker, color=colour,
                  label=policy, markersize=5, markerfacecolor="none", markeredgewidth=1.4)
    axes.margins(y=0.1)
    axes.axvline(1, color=BLACK, linestyle=":", linewidth=1.2, label="runs that repay what is tried")
    scale_regret(axes)
    axes.set_xlabel("runs of the kind, by those that repay what is tried")
    axes.set_ylabel("more time than the best single\nresource of the kind, in %")
    legend_below(made, axes)
    save(made, out, f"{table.name}-kinds")


def alone(table, out):
    tasks = table.values("alone", "task")
    made, axes = figure(f"{mix(table)}: each kind of work on each resource alone", table,
                        height=2 + 0.17 * len(tasks))
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
    save(made, out, f"{table.name}-alone")


def sizes(axes, table):
    """Each size that was measured, but not so many that their names touch."""
    measured = sorted({row["x"] for row in table.of("alone")})
    axes.set_xscale("log", base=2)
    axes.set_xticks(measured, [f"{size:.0f}" if size < 1024 else f"{size / 1024:.0f} Ki" for size in measured])
    axes.minorticks_off()


def tiny(table, out):
    made, axes = figure("Tiny work: time by size, from the host's memory to the host's memory", table)
    for i, resource in enumerate(table.values("alone", "resource")):
        rows = table.of("alone", resource=resource)
        colour, marker = RESOURCES[i % len(RESOURCES)]
        axes.plot([row["x"] for row in rows], [row["value"] / NS_PER_US for row in rows], "-" + marker, color=colour,
                  label=f"{short(resource)} alone", markersize=5)
    best = {}
    for row in table.of("alone"):
        best[row["x"]] = min(best.get(row["x"], row["value"]), row["value"])
    axes.plot(list(best), [value / NS_PER_US for value in best.values()], color=YELLOW, linewidth=7, alpha=0.55,
              zorder=0, label="oracle: the best of them")
    rows = table.of("mean", policy="auto_tune")
    axes.plot([row["x"] for row in rows], [row["value"] / NS_PER_US for row in rows], "--x", color=ORANGE,
              label="auto_tune, mean with all that it tries", markersize=6)
    for row in table.of("crossing"):
        axes.axvline(row["x"], color="#888888", linestyle=":", label=f"crossing: {row['x']:.0f} elements")
    sizes(axes, table)
    axes.set_yscale("log")
    axes.set_xlabel("elements")
    axes.set_ylabel("time of one piece of work, in µs")
    axes.legend(frameon=False, fontsize=9)
    save(made, out, "tiny")


def found(table, out):
    made, axes = figure("Tiny work: how often a policy took the best resource", table)
    for policy in table.values("best_chosen", "policy"):
        if policy == "oracle":
            continue
        rows = table.of("best_chosen", policy=policy)
        colour, line, marker = POLICIES[policy]
        axes.plot([row["x"] for row in rows], [100 * row["value"] for row in rows], line, marker=marker, color=colour,
                  label=policy)
    sizes(axes, table)
    axes.set_ylim(-4, 104)
    axes.set_xlabel("elements")
    axes.set_ylabel("runs after warm-up on the best, in %")
    legend_below(made, axes)
    save(made, out, "tiny-choices")


def scale(table, out):
    made, axes = figure(f"Equal work over N equal {'host workers' if 'workers' in table.name else 'devices'}", table)
    most = max(row["x"] for row in table.of("speedup"))
    axes.plot([1, most], [1, most], color=BLACK, label="N")
    axes.plot([1, most], [CLAIM, CLAIM * most], color=BLACK, linestyle="--", linewidth=1, label="budget 0.95 N")
    for policy in ("round_robin", "dynamic_load"):
        colour, line, marker = POLICIES[policy]
        for situation, face in (("quiet", colour), ("intruded", "none")):
            rows = table.of("speedup", policy=policy, task=situation)
            text = policy if situation == "quiet" else f"{policy}, one device slowed by foreign work"
            axes.plot([row["x"] for row in rows], [row["value"] for row in rows], line, marker=marker, color=colour,
                      markerfacecolor=face, label=text, markersize=8)
    axes.set_xticks(sorted({row["x"] for row in table.of("speedup")}))
    axes.set_ylim(0)
    axes.set_xlabel("devices")
    axes.set_ylabel("throughput, times one device")
    axes.legend(frameon=False, fontsize=9)
    save(made, out, table.name)


def trouble(table, out):
    kinds = table.values("moved_away", "task")
    policies = [policy for policy in table.values("moved_away", "policy")
                if policy not in ("fixed_resource", "by_hand")]
    made, axes = figure("A device in trouble: how long a policy goes on sending work there", table)
    width = 0.8 / len(policies)
    times = [row["value"] for row in table.of("moved_away") if row["value"] > 0]
    most = 10 * max(times + [1])
    for i, policy in enumerate(policies):
        for k, kind in enumerate(kinds):
            value = table.of("moved_away", policy=policy, task=kind)[0]["value"]
            there = table.of("sent_there", policy=policy, task=kind)[0]["value"]
            never = value < 0
            place = k + (i - (len(policies) - 1) / 2) * width
            axes.bar(place, most if never else max(value, 0.012), width * 0.9, color=POLICIES[policy][0],
                     hatch="//" if never else None, edgecolor="white", label=policy if k == 0 else None)
            axes.annotate(f"{'never' if never else f'{value:.3g} ms'}\n{there:.0f} sent",
                          (place, most if never else max(value, 0.012)), (0, 3), textcoords="offset points",
                          ha="center", fontsize=7)
    axes.set_yscale("log")
    axes.set_ylim(0.01, most * 8)
    axes.set_xticks(range(len(kinds)), [f"becomes {kind}" if kind == "slow" else f"is {kind}" for kind in kinds])
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("until the policy has moved away, in ms")
    legend_below(made, axes, 0.3)
    save(made, out, "trouble")


def trouble_over_time(table, out):
    """A panel for each kind of trouble; 0 is its begin, a triangle its end."""
    kinds = table.values("throughput", "task")
    if not kinds:
        return
    made, axes = figure("A device in trouble: throughput of all devices over time", table,
                        height=1.2 + 1.75 * len(kinds))
    title, machine = axes.get_title(loc="left").strip(), table.machine()
    made.clear()
    panels = made.subplots(len(kinds), 1, sharex=True, sharey=True)
    panels[0].set_title(f"{title}\n", fontsize=11, loc="left")
    panels[0].text(0, 1.04, machine, transform=panels[0].transAxes, fontsize=8, color="#555555")
    last = 0
    for axes, kind in zip(panels, kinds):
        for policy in table.values("throughput", "policy"):
            own = {"by_hand": (PURPLE, "--"), "fixed_resource": (RED, ":")}
            colour, line = own.get(policy) or POLICIES[policy][:2]
            begin, end = (table.of(record, policy=policy, task=kind)[0]["value"] for record in ("begins", "ends"))
            points = [(row["x"] - begin, row["value"]) for row in table.of("throughput", policy=policy, task=kind)]
            x, y = zip(*(points[:-1] or points))  # the last bin is not whole
            axes.plot(x, y, color=colour, linestyle=line, label=policy, linewidth=1.5)
            if end >= 0:
                axes.plot([end - begin], [numpy.interp(end - begin, x, y)], "^", color=colour, markersize=8)
            if policy != "fixed_resource":
                last = max(last, x[-1])
        axes.axvline(0, color=BLACK, linewidth=1.2)
        axes.set_ylabel(kind if kind != "slow" else "becomes slow")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    panels[0].set_ylim(0)
    panels[0].set_xlim(right=last * 1.02)
    panels[-1].set_xlabel("ms since the trouble began (line at 0); a triangle: its end, after two thirds of the work")
    made.supylabel("completed pieces of work/s", fontsize=10)
    panels[-1].legend(loc="upper center", bbox_to_anchor=(0.45, -0.4), ncol=5, frameon=False, fontsize=9)
    save(made, out, "trouble-over-time")


def beside_peer(table, out):
    """The rates of all policies, and of the same work with another runtime."""
    rows = table.of("rate") + [row for row in table.peer if row["record"] == "rate"]
    bars(table, out, f"{table.name}-peer", f"{table.name}, with dynsel and with StarPU", rows, f"{rows[0]['unit']}/s")


def image_filter(table, out):
    bars(table, out, "filter", "An image filter over a folder of pictures", table.of("rate"), "Mpixel/s")


def nstream(table, out):
    bars(table, out, "nstream", "The triad nstream", table.of("rate"), "GB/s")


def passes(table, out):
    """Each resource and policy, by the best single resource and by the oracle."""
    title = {"matmul": "A product of matrices in tiles", "cholesky": "A Cholesky factorization in tiles",
             "stencil": "A stencil in parts that exchange border rows",
             "stream-tiny": "A stream of tiny work"}.get(table.name)
    title = title or f"A stream of independent work, {table.name.rpartition('-')[2]} in flight"
    rows = [row for row in table.of("rate") if row["policy"] != "oracle"]
    bars_of = (("share_first", ORANGE, "best single, first 20 passes"),
               ("share_later", BLUE, "best single, from pass 5 on"), ("share_oracle", GREEN, "oracle, median pass"))
    values = [row["value"] for record, _, _ in bars_of for row in table.of(record)]
    most = 100 * max(values + [1])
    made, axes = figure(f"{title}: share of the best and of the oracle", table, height=1.9 + 0.62 * len(rows))
    for i, row in enumerate(rows):
        for k, (record, colour, text) in enumerate(bars_of):
            for share in table.of(record, policy=row["policy"], resource=row["resource"]):
                place = i + (k - 1) * 0.27
                axes.barh(place, 100 * share["value"], color=colour, height=0.25, label=text if i == 0 else None)
                axes.annotate(f"{100 * share['value']:.1f}", (1.12 * most, place), va="center", ha="right", fontsize=8)
    axes.axvline(100, color=BLACK, linewidth=1.2)
    axes.set_yticks(range(len(rows)), [who(row) for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.13 * most)
    axes.set_xlabel("time that it needs / time that was needed, in %")
    legend_below(made, axes)
    save(made, out, table.name)


PASSES = ("matmul", "cholesky", "stencil", "stream-1", "stream-8", "stream-64", "stream-tiny")
FIGURES = {"mix": (shares, course, kinds, alone), "mix-small": (shares, kinds), "tiny": (tiny, found),
           "scale": (scale,), "scale-workers": (scale,), "trouble": (trouble, trouble_over_time),
           "filter": (image_filter,), "nstream": (nstream,),
           **{name: (passes,) for name in PASSES}}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", type=Path,
                        help="output of run_all for one machine: mix.csv, tiny.csv, ...; missing files are skipped. "
                             "With starpu-nstream.csv, ... of bench/peers/starpu_compare, both are shown")
    parser.add_argument("out", metavar="OUT", type=Path, nargs="?",
                        help="folder for the figures and figures.md; default: FOLDER")
    parser.add_argument("--svg", action="store_true", help="also write each figure as SVG")
    options = parser.parse_args(arguments)
    if matplotlib is None:
        print("plot.py: matplotlib is missing; on Debian and Ubuntu: apt-get install python3-matplotlib",
              file=sys.stderr)
        return 1
    folder, out = options.folder, Out(options.out or options.folder, options.svg)
    found = [name for name in FIGURES if (folder / f"{name}.csv").exists()]
    if not found:
        print(f"plot.py: {folder}: it has none of {', '.join(f'{name}.csv' for name in FIGURES)}; first run"
              f" bench/usecases/run_all {folder}", file=sys.stderr)
        return 1
    out.folder.mkdir(parents=True, exist_ok=True)
    page = []
    for name in found:
        table = Table(folder / f"{name}.csv")
        table.add_peer(folder / f"starpu-{name}.csv")
        out.drawn.clear()
        for draw in FIGURES[name] + ((beside_peer,) if table.peer else ()):
            draw(table, out)
        page += [f"![{title}]({figure}.png)\n" for figure, title in out.drawn] + [table.origin()]
    (out.folder / "figures.md").write_text("\n".join(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
