# SPDX-License-Identifier: Apache-2.0
"""Runs a test program as the ranks of an MPI program: ranks.py <library> <ranks> [recovers] <program> [argument ...]

The ranks share this machine, also with fewer processors than ranks, and none is bound to a processor. Each inherits
the environment and the limits of this process. The exit status is 0 if every rank ended with 0, else that of the first
rank with another one, or 128 and the signal that ended it.

recovers: a rank may be killed (SIGKILL), which does not count and leaves the others alive; so not rank 0. Open MPI's
mpirun says nothing about exit statuses then: each rank leaves its own in a file.

Nothing stays behind: what the launcher leaves, whatever ended it, is a child of this process, which kills it.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGES = {"ompi-c": "openmpi-bin", "mpich": "mpich"}  # pkg-config module -> the Debian package of its launcher
RECOVERS = "recovers"
THIS = "site_scons/dynsel_build/ranks.py"
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LEFT_SECONDS = 3  # for processes to end by themselves
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",  # containers have no other user
    # one machine: without networks, and without looking for ssh, it starts in half the time
    "OMPI_MCA_btl": "self,vader", "OMPI_MCA_pml": "ob1", "OMPI_MCA_plm": "isolated",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",  # needs ptrace, which containers refuse with a message
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
}
# Keeps a rank's exit status, or the signal that killed it, and ends as it did.
KEEPS_STATUS = """\
"$@"
status=$?
echo $status >"$DYNSEL_RANKS/$OMPI_COMM_WORLD_RANK"
[ $status != 137 ] || kill -KILL $$
exit $status
"""


def launcher(module):
    """The launcher of the library of a pkg-config module, or None."""
    names = {"ompi-c": ("mpirun.openmpi", "mpirun"), "mpich": ("mpiexec.mpich", "mpirun")}[module]
    return next((name for name in names if shutil.which(name)), None)


def command(module, count=None, recovers=False):
    """What stands in front of a test program; without a count in front of that."""
    words = [] if count is None else [str(count), *([RECOVERS] if recovers else [])]
    return [sys.executable, os.path.abspath(__file__), module, *words]


def _launch(module, count, recovers, program, folder):
    """The launcher's command line and environment. Runs at the same time would make and remove the same folder."""
    start = launcher(module)
    if start is None:
        sys.exit(f"no launcher of {module} is in the PATH")
    if module == "mpich":
        return [start, "-launcher", "fork", "-n", count, *program], os.environ
    options = ["--bind-to", "none", *(["--enable-recovery"] if recovers else [])]
    keeps = ["sh", "-c", KEEPS_STATUS, "sh"] if recovers else []
    return [start, *options, "-n", count, *keeps, *program], {**OPEN_MPI, "OMPI_MCA_orte_tmpdir_base": folder, **os.environ}


class _Ended(BaseException):
    """This process was asked to end."""


def _run(module, count, recovers, program, folder):
    """The launcher's exit status, as a shell says it."""
    command_line, variables = _launch(module, count, recovers, program, folder)
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # until there is a process to end
    for number in ENDING:
        signal.signal(number, _raise_ended)
    # in a session of its own it gets one signal, from here: a second one while it ends its ranks confuses mpirun
    process = subprocess.Popen(command_line, env={**variables, "DYNSEL_RANKS": folder}, stdin=subprocess.DEVNULL,
                               start_new_session=True, preexec_fn=_in_launcher)  # pylint: disable=subprocess-popen-preexec-fn
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        status = process.wait()
    except _Ended as e:
        process.terminate()
        status = -e.args[0]
    _end_children()
    return status if status >= 0 else 128 - status


def _raise_ended(number, _):
    for ignored in ENDING:
        signal.signal(ignored, signal.SIG_IGN)
    raise _Ended(number)


def _in_launcher():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _end_children():
    """Waits a little for all that is left, then kills it. Each child that ends leaves its own to this process."""
    give_up = time.monotonic() + LEFT_SECONDS
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            if time.monotonic() > give_up:
                for child in _children():
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.01)


def _children():
    own, found = str(os.getpid()), []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1] == own:
                found.append(int(path.parent.name))
        except OSError:
            continue  # it has ended
    return found


def _kept_status(folder, count):
    """That of a run with --enable-recovery, whose launcher returns 0 whatever happens."""
    for rank in range(int(count)):
        path = Path(folder, str(rank))
        status = int(path.read_text(encoding="utf-8")) if path.exists() else 1
        if status not in ((0,) if rank == 0 else (0, 128 + signal.SIGKILL)):
            print(f"ranks.py: rank {rank} of {count} "
                  + (f"ended with status {status}" if path.exists() else "ended without a status"))
            return status
    return 0


def main(arguments):
    module, count, *program = arguments
    recovers = program[0] == RECOVERS
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        status = _run(module, count, recovers, program[1:] if recovers else program, folder)
        return (status or _kept_status(folder, count)) if recovers else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
