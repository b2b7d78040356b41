# SPDX-License-Identifier: Apache-2.0
"""Runs a test program in bounded time, with its output in a log, and a stamp if it passed.

The limit is processor time, which does not depend on the load of the machine. A program that waits forever
uses none, so there is also a longer limit on the clock.

A signal that ends scons also ends the running tests, whose result is then unknown.

LeakSanitizer searches for leaks in a process of its own, which once in some thousand runs crashes on
a thread that is ending (google/sanitizers issue 1170). Such a run is repeated, because it says nothing
about the test; a leak, a failed test and a crash of the program itself are not repeated.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

from . import link_if_it_fits

SECONDS = 240  # of processor time for each process of a test, unless a board has another limit
BUILDS_SECONDS = 360  # for tests that build
PATIENCE = 5  # the limit on the clock, in multiples of it
TAIL = 40
TRIES = 3
SILENT_SECONDS = 5  # after which a run says on a terminal that it goes on; elsewhere after
LINE_SECONDS = 60
TRACER_CRASHED = b"\nTracer caught signal "
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # SCons starts nothing more after these

_lock = threading.Lock()  # for the two below
_running = set()
_interrupted = False


def progress():
    """What to say about all runs; report.py has it."""
    return ""


def watch_signals():
    """From here on, a signal that ends scons also ends its tests.

    SCons installs its own handlers while it builds, so signals are read from a pipe.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    threading.Thread(target=_wait_for_signal, args=(reader,), daemon=True).start()


def _wait_for_signal(reader):
    global _interrupted
    while os.read(reader, 1)[0] not in ENDING:
        pass
    with _lock:
        _interrupted = True
        for process in _running:
            process.terminate()


def interrupted():
    """Whether such a signal has come."""
    return _interrupted


@dataclass(frozen=True)
class Run:
    """stem: path of log and stamp, without .log and .ok. seconds: of processor time."""

    stem: str
    command: tuple
    env: dict
    seconds: int = SECONDS
    patience: int = PATIENCE


def run(spec):
    """Returns 0 if it passed; else prints the end of its output."""
    log = spec.stem + ".log"
    os.makedirs(os.path.dirname(log), exist_ok=True)
    if link_if_it_fits.is_note(spec.command[-1]):
        _write(log, link_if_it_fits.NOTE)
        return _stamp(spec, "left out\n")
    status = _attempt(spec, log)
    for _ in range(1, TRIES):
        if status == 0 or not _tracer_crashed(log):
            break
        print(f"  AGAIN {spec.stem}: LeakSanitizer itself crashed")
        status = _attempt(spec, log)
    if status == 0:
        return _stamp(spec, "passed\n")
    if not _interrupted:
        _show(spec, status)
    return status


def _attempt(spec, log):
    command = ["timeout", "-k", "5", str(_on_the_clock(spec)), "prlimit", f"--cpu={spec.seconds}:", *spec.command]
    with open(log, "wb") as out:
        with _lock:
            if _interrupted:
                return -signal.SIGTERM
            process = subprocess.Popen(command, env=spec.env, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT)
            _running.add(process)
        status = _wait(process, spec.stem)
        with _lock:
            _running.remove(process)
        return status


def _wait(process, stem):
    began = time.monotonic()
    while True:
        try:
            return process.wait(timeout=SILENT_SECONDS)
        except subprocess.TimeoutExpired:
            _tell(stem, round(time.monotonic() - began))


def _tell(stem, seconds):
    """On a terminal a line that the next one overwrites, which is always longer; else now and then a line."""
    if sys.stdout.isatty():
        sys.stdout.write(f"\033[K  ....  {seconds} s{progress()}\r")
    elif seconds % LINE_SECONDS < SILENT_SECONDS:
        sys.stdout.write(f"  ....  {stem}, {seconds} s\n")
    sys.stdout.flush()


def _tracer_crashed(log):
    with open(log, "rb") as f:
        return TRACER_CRASHED in f.read()


def _write(log, text):
    with open(log, "wb") as out:
        out.write(text)


def _stamp(spec, text):
    with open(spec.stem + ".ok", "w", encoding="utf-8") as ok:
        ok.write(text)
    return 0


def _show(spec, status):
    """One write, so that the reports of parallel tests do not mix."""
    sys.stdout.write("\n".join(account(spec, status, TAIL)) + "\n")
    sys.stdout.flush()


def account(spec, status, length):
    """Why a run failed, what repeats its random choices, and so many of the last lines of its log."""
    log = spec.stem + ".log"
    with open(log, encoding="utf-8", errors="replace") as f:
        lines = f.read().splitlines()
    seeds = "".join(f", {line}" for line in lines[:-length] if line.startswith("DYNSEL_TEST_SEED="))
    return [f"FAILED  {spec.stem}: {_reason(spec, status)}{seeds}; the end of {log}:",
            *("    " + line for line in lines[-length:])]


def _on_the_clock(spec):
    return spec.seconds * spec.patience


def _reason(spec, status):
    if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        return f"not done after {spec.seconds} s of processor time, so it loops or is too slow"
    if status in (124, 137, -signal.SIGKILL):  # the last: it ignored SIGTERM
        return f"not done after {_on_the_clock(spec)} s on the clock, so it waits for an event that does not come"
    return f"killed by signal {status - 128 if status > 128 else -status}" if status > 128 or status < 0 \
        else f"exit status {status}"
