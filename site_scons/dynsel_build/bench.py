# SPDX-License-Identifier: Apache-2.0
"""`scons bench` and `scons soak`: programs that are built with the rest and run only when asked for."""

import os
import re
import shlex
import shutil
import subprocess
from collections import defaultdict

from .errors import UserMistake
from .nodes import action

PHASE_BATCHES = 20
CALL_BATCHES = 100
MOST_MORE_INSTRUCTIONS = 350
COST_LINE = re.compile(r"[-+*\d]")


def variants_for(targets, chosen):
    """What bench and soak make of the variants that were asked for.

    The bench: the fragment `bench` on top, with statistics off, and on. The soak: with statistics,
    because they are compared with its own counts.
    """
    found = []
    if "bench" in targets:
        found += [_with(variant.with_fragment("bench"), f"STATISTICS={value}")
                  for variant in chosen for value in "ny"]
    if "soak" in targets:
        found += [_with(variant, "STATISTICS=y") for variant in chosen]
    return found


def _with(variant, setting):
    """The variant with one setting on top, in place of the same option's."""
    name = setting.split("=")[0] + "="
    settings = [s for s in variant.settings if not s.startswith(name)]
    return type(variant)(variant.board, variant.fragments, (*settings, setting))


def declare(base, session, builds):
    """The targets `bench` and `soak`, where they are asked for. Variants run one after the other."""
    arguments = shlex.split(session.arguments.get("ARGS", ""))
    for name, run in (("bench", _bench), ("soak", _soak)):
        ready = [build for build in builds if name in build.outside]
        if name not in session.targets:
            continue
        if not ready:
            raise UserMistake(f"there is nothing to {name} in "
                              + " or ".join(build.variant.name for build in builds))
        nodes = [node for build in ready for node in build.outside[name]]
        base.AlwaysBuild(base.Alias(name, nodes, action(_one_by_one(ready, run, arguments), None)))


def _one_by_one(builds, run, arguments):
    def action_of_all(target, source, env):
        return max([run(build, arguments) for build in builds])

    return action_of_all


def _shell(build, devices):
    return {"POCL_DEVICES": devices, **os.environ,
            "POCL_CACHE_DIR": os.path.abspath(f"{build.variant.folder}/pocl-cache")}


def _soak(build, arguments):
    """Two equal devices; not PoCL's `basic`, which does not bear several threads."""
    print(f"\n{build.variant.name}", flush=True)
    return _call([build.outside["soak"][0].path, *arguments], _shell(build, "pthread pthread"))


def _bench(build, arguments):
    """Times, then instructions, then calls: three runs, because the last two cost time."""
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
    print(f"\nas CSV: {folder}/bench.csv", flush=True)
    return status


def _call(command, env):
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, check=False).returncode


def _instructions(program, folder, env):
    """What the phases cost under callgrind, printed."""
    if not shutil.which("valgrind"):
        print("\nOpenCL instructions: not counted, valgrind is missing")
        return
    out = f"{folder}/callgrind.out"
    said = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program,
                           "--phases", str(PHASE_BATCHES)],
                          env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if said.returncode != 0:
        print("\nOpenCL instructions: not counted, valgrind says:\n" + said.stderr)
        return
    words = [line.split(" ", 2)[1:] for line in said.stdout.splitlines() if line.startswith("work ")]
    if not words:
        print("\nOpenCL instructions: no device")
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


def inclusive_costs(path):
    """Function -> instructions of all its calls together, from callgrind's output."""
    names, costs, called, after_calls = {}, defaultdict(int), None, False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith(("fn=", "cfn=")):
                number, _, name = line.split("=", 1)[1].strip().partition(" ")
                names.setdefault(number, name)
                called = names[number] if line.startswith("cfn=") else called
            elif line.startswith("calls="):
                after_calls = True
            elif after_calls and COST_LINE.match(line):
                costs[called] += int(line.split()[1])
                after_calls = False
    return costs
