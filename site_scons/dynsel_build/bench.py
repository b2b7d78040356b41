# SPDX-License-Identifier: Apache-2.0
"""`scons bench` and `scons soak`: programs that only these targets run."""

import csv
import os
import re
import shlex
import shutil
import subprocess
from collections import defaultdict
from dataclasses import replace

from . import config as configs
from .errors import UserMistake, install_hint
from .nodes import action

PHASE_BATCHES = 20
CALL_BATCHES = 100
MOST_MORE_INSTRUCTIONS = 350
STARPU = "starpu-1.3"
LEAST_TIMES_LESS = 5
CLONE = re.compile(r"\.(constprop|isra|part)\.\d+")  # a function that the compiler derived from another
COST_LINE = re.compile(r"[-+*\d]")


def variants_for(trees, targets, chosen):
    """The variants that bench and soak derive from the chosen ones.

    The bench: the fragment `bench` on top, with statistics and the trace off, and on; `bench_small`
    without shared memory. The soak: with statistics, which are compared with its own counts.
    """
    found = []
    if "bench" in targets:
        for variant in chosen:
            base = variant.with_fragment(_fragment(trees, variant))
            found += [_with(base, "STATISTICS=n"), _with(_with(base, "STATISTICS=y"), "TRACE=y")]
    if "soak" in targets:
        found += [_with(variant, "STATISTICS=y") for variant in chosen]
    return found


def _fragment(trees, variant):
    config = configs.load(trees, variant.board, variant.layers(trees), variant.name)
    return "bench" if config.is_set("DYNSEL_SVM") else "bench_small"


def _with(variant, setting):
    """The variant with one setting, which replaces an earlier one of the same option."""
    name = setting.split("=")[0] + "="
    settings = [s for s in variant.settings if not s.startswith(name)]
    return replace(variant, settings=(*settings, setting))


def declare(base, session, builds):
    """The targets `bench`, `soak` and `usecases`, if named. Variants run one after the other."""
    arguments = shlex.split(session.arguments.get("ARGS", ""))
    for name, run in (("bench", _bench), ("soak", _soak)):
        ready = [build for build in builds if name in build.outside]
        if name not in session.targets:
            continue
        if not ready:
            _refuse(name, builds)
        nodes = [node for build in ready for node in build.outside[name]]
        nodes += [program for build in ready for program, _, _ in build.soaked if name == "soak"]
        base.AlwaysBuild(base.Alias(name, nodes, action(_one_by_one(ready, run, arguments), None)))
    if "usecases" in session.targets and not any("usecases" in build.outside for build in builds):
        _refuse("usecases", builds)
    for name in {"bench", "usecases"} & set(session.targets):
        base.Alias(name, [build.outside.get("usecases", []) for build in builds])


NEEDS = {
    "bench": "a host: use BOARD=native",
    "soak": "threads, the inline backend and custom policies: use BOARD=native without CONF",
    "usecases": "all policies and backends and larger tables: use CONF=usecases",
}


def _refuse(name, builds):
    raise UserMistake(f"{' and '.join(build.variant.name for build in builds)}: no program for the target {name};"
                      f" it needs {NEEDS[name]}")


def _one_by_one(builds, run, arguments):
    def action_of_all(target, source, env):
        return max([run(build, arguments) for build in builds])

    return action_of_all


def _shell(build, devices):
    return {"POCL_DEVICES": devices, **os.environ,
            "POCL_CACHE_DIR": os.path.abspath(f"{build.variant.folder}/pocl-cache")}


def _soak(build, arguments):
    """Runs over two equal devices; PoCL's `basic` does not support several threads."""
    print(f"\n{build.variant.name}", flush=True)
    status = _call([build.outside["soak"][0].path, *arguments], _shell(build, "pthread pthread"))
    for _, command, settings in build.soaked:
        if status == 0:
            print(f"\n{os.path.relpath(command[-1])}", flush=True)
            status = _call(command, {**os.environ, **{name: str(value) for name, value in settings.items()}})
    return status


def _bench(build, arguments):
    """Measures times, instructions and calls in three runs, because counting takes time."""
    program, *layer = [node.path for node in build.outside["bench"]]
    folder = f"{build.variant.folder}/bench"
    shell = _shell(build, "basic pthread")
    print(flush=True)
    status = _call([program, "--label", build.variant.name, "--csv", f"{folder}/bench.csv",
                    *arguments], shell)
    if status == 0 and layer:
        _instructions(program, folder, shell)
        status = _call([program, "--calls", str(CALL_BATCHES)],
                       {**shell, "OPENCL_LAYERS": os.path.abspath(layer[0])})
        _starpu(folder, shell)
    print(f"\nas CSV: {folder}/bench.csv", flush=True)
    return status


def _call(command, env):
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, check=False).returncode


def _instructions(program, folder, env):
    """Prints the instructions of each phase, counted by callgrind."""
    if not shutil.which("valgrind"):
        print(f"\nOpenCL instructions: not counted, valgrind is missing; {install_hint('valgrind')}")
        return
    out = f"{folder}/callgrind.out"
    said = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program,
                           "--phases", str(PHASE_BATCHES)],
                          env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if said.returncode != 0:
        print("\nOpenCL instructions: not counted, valgrind failed:\n" + said.stderr)
        return
    words = [line.split(" ", 2)[1:] for line in said.stdout.splitlines() if line.startswith("work ")]
    if not words:
        print("\nOpenCL instructions: not counted, no device was found")
        return
    _print_instructions(" ".join(words[0]), words[1:], inclusive_costs(out))


def _print_instructions(device, phases, costs):
    each = {function: costs[function] / int(submits) for submits, function in phases}
    detached = each["bench_phase_detached"] - each["bench_phase_hand"]
    waited = each["bench_phase_wait"] - each["bench_phase_hand_wait"]
    print(f"\nInstructions of one OpenCL submit on {device}, counted by callgrind\n")
    print(f"{'':34} {'by hand':>9} {'dynsel':>9} {'more':>9}  budget")
    over = detached - MOST_MORE_INSTRUCTIONS
    budget = "met" if over <= 0 else f"MISSED by {over:.0f} (limit {MOST_MORE_INSTRUCTIONS})"
    print(f"{'detached':34} {each['bench_phase_hand']:9.0f} {each['bench_phase_detached']:9.0f}"
          f" {detached:+9.0f}  {budget}")
    print(f"{'handle and wait':34} {each['bench_phase_hand_wait']:9.0f}"
          f" {each['bench_phase_wait']:9.0f} {waited:+9.0f}  -", flush=True)
    if "bench_phase_groups" in each:
        hand, groups = each["bench_phase_groups_hand"], each["bench_phase_groups"]
        print(f"{'command group, in a chain':34} {hand:9.0f} {groups:9.0f} {groups - hand:+9.0f}  -", flush=True)


def inclusive_costs(path):
    """Function -> instructions of all its calls, from callgrind's output."""
    names, costs, called, after_calls = {}, defaultdict(int), None, False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith(("fn=", "cfn=")):
                number, _, name = line.split("=", 1)[1].strip().partition(" ")
                names.setdefault(number, CLONE.sub("", name))
                called = names[number] if line.startswith("cfn=") else called
            elif line.startswith("calls="):
                after_calls = True
            elif after_calls and COST_LINE.match(line):
                costs[called] += int(line.split()[1])
                after_calls = False
    return costs


def _starpu(folder, env):
    """Compares the chains of command groups with StarPU, if it is installed."""
    if not os.path.exists(f"{folder}/bench.csv"):
        return
    with open(f"{folder}/bench.csv", encoding="utf-8", newline="") as file:
        ours = [row for row in csv.DictReader(file) if row["table"] == "groups"]
    if not ours:
        return
    peer = f"{folder}/starpu"
    flags = _said(["pkg-config", "--cflags", "--libs", STARPU], env) if shutil.which("pkg-config") else None
    if flags is None:
        print(f"\nStarPU: not measured, pkg-config finds no {STARPU}; {install_hint('libstarpu-dev')}")
        return
    if _said(["cc", "-O2", "bench/peers/starpu.c", "-o", peer, *shlex.split(flags), "-lOpenCL"], env) is None:
        print("\nStarPU: not measured, bench/peers/starpu.c does not compile")
        return
    print("\nOne of those kernels through StarPU, and what each adds to the kernel by hand; the budget is "
          f"{LEAST_TIMES_LESS} times\nless than StarPU adds\n\n{'':34} {'hand ns':>9} {'starpu ns':>9}"
          f" {'dynsel ns':>9} {'starpu +':>9} {'dynsel +':>9}  budget")
    for device in ("basic", "pthread"):
        _beside_starpu(device, _starpu_times(peer, device, env), ours)


def _said(command, env):
    """The output of a command; None if it fails."""
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def _starpu_times(peer, device, env):
    """{"chain": ns, ...}. STARPU_NCPU=0 makes the OpenCL device the only worker."""
    said = _said([os.path.abspath(peer)], {**env, "POCL_DEVICES": device, "STARPU_OPENCL_ON_CPUS": "1",
                                           "STARPU_NCPU": "0", "STARPU_SILENT": "1"}) or ""
    return {what: float(ns) for what, ns in re.findall(r"^starpu opencl (\w+) ([\d.]+)$", said, re.M)}


def _beside_starpu(device, theirs, ours):
    for row in ours:
        name, _, what = row["subject"].partition(", ")
        if not name.startswith(device):
            continue
        if what not in theirs:
            print(f"{row['subject']:34} not measured: StarPU has no OpenCL worker")
            continue
        hand, dynsel = float(row["reference_ns"]), float(row["measured_ns"])
        limit = hand + (theirs[what] - hand) / LEAST_TIMES_LESS
        budget = "met" if dynsel <= limit else f"MISSED by {dynsel - limit:.1f} ns (limit {limit:.1f})"
        print(f"{row['subject']:34} {hand:9.1f} {theirs[what]:9.1f} {dynsel:9.1f}"
              f" {theirs[what] - hand:9.1f} {dynsel - hand:9.1f}  {budget}", flush=True)
