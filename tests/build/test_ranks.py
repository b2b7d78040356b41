# SPDX-License-Identifier: Apache-2.0
"""How a test runs as ranks: exit statuses, killed ranks, and that nothing stays behind. The launchers are scripts."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import support  # finds dynsel_build
from dynsel_build import ranks

# Like mpirun: the exit status is that of the first rank with another one than 0, or 0 with --enable-recovery.
MPIRUN = r"""#!/bin/sh
recovery=
while [ "$1" != -n ]; do
    [ "$1" != --enable-recovery ] || recovery=1
    shift
done
count=$2
shift 2
rank=0
while [ $rank -lt $count ]; do
    OMPI_COMM_WORLD_RANK=$rank "$@" &
    pids="$pids $!"
    rank=$((rank + 1))
done
first=0
for pid in $pids; do
    wait $pid || { status=$?; [ $first != 0 ] || first=$status; }
done
[ -z "$recovery" ] || exit 0
exit $first
"""
DEAF = "#!/bin/sh\ntrap '' TERM\nsleep 1000 & echo $! >\"$FOLDER/left\"\nwhile true; do sleep 0.1; done\n"
LEAVES = "#!/bin/sh\nsetsid sleep 1000 & echo $! >\"$FOLDER/left\"\nexit 4\n"
LOSES = "#!/bin/sh\nexit 0\n"


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.write("mpirun.openmpi", MPIRUN)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def start(self, script, count=3, recovers=False, module="ompi-c", path=None):
        program = self.write("program", f"#!/bin/sh\n{script}\n")
        variables = {"PATH": path or f"{self.folder}:{os.environ['PATH']}", "FOLDER": str(self.folder)}
        return subprocess.Popen([*ranks.command(module, count, recovers), program], env=variables, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run_ranks(self, script, **how):
        process = self.start(script, **how)
        said, _ = process.communicate(timeout=60)
        return process.returncode, said

    def is_alive(self):
        """Whether what a launcher has left lives; a zombie does not."""
        try:
            pid = (self.folder / "left").read_text(encoding="utf-8").strip()
            return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def test_all_ranks_run_in_the_environment_of_the_test(self):
        status, said = self.run_ranks('echo "rank $OMPI_COMM_WORLD_RANK in $FOLDER"')
        self.assertEqual(status, 0, said)
        self.assertEqual(sorted(said.splitlines()), [f"rank {rank} in {self.folder}" for rank in range(3)])

    def test_open_mpi_may_run_as_root_and_with_few_processors(self):
        _, said = self.run_ranks("env", count=1)
        for line in ("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1"):
            self.assertIn(line + "\n", said)

    def test_any_failed_rank_fails(self):
        for rank in range(3):
            status, _ = self.run_ranks(f"[ $OMPI_COMM_WORLD_RANK != {rank} ] || exit 7")
            self.assertEqual(status, 7)

    def test_killed_rank_fails(self):
        status, _ = self.run_ranks("[ $OMPI_COMM_WORLD_RANK != 1 ] || kill -KILL $$")
        self.assertEqual(status, 137)

    def test_killed_rank_passes_where_the_test_kills(self):
        status, said = self.run_ranks("[ $OMPI_COMM_WORLD_RANK != 1 ] || kill -KILL $$", recovers=True)
        self.assertEqual(status, 0, said)

    def test_failures_count_where_the_test_kills(self):
        for script, status, says in (("exit 5", 5, "rank 1 of 3 ended with status 5"),
                                     ("kill -SEGV $$", 139, "rank 1 of 3 ended with status 139")):
            found, said = self.run_ranks(f"[ $OMPI_COMM_WORLD_RANK != 1 ] || {script}", recovers=True)
            self.assertEqual(found, status)
            self.assertIn(says, said)

    def test_killed_first_rank_fails(self):
        status, said = self.run_ranks("[ $OMPI_COMM_WORLD_RANK != 0 ] || kill -KILL $$", recovers=True)
        self.assertEqual(status, 137)
        self.assertIn("rank 0 of 3 ended with status 137", said)

    def test_rank_that_did_not_run_fails(self):
        self.write("mpirun.openmpi", LOSES)
        status, said = self.run_ranks("exit 0", recovers=True)
        self.assertEqual(status, 1)
        self.assertIn("rank 0 of 3 ended without a status", said)

    def test_missing_launcher_is_named(self):
        status, said = self.run_ranks("exit 0", module="mpich", path=str(self.folder))
        self.assertEqual((status, said), (1, "no launcher of mpich is in the PATH\n"))

    def test_what_the_launcher_leaves_is_killed(self):
        self.write("mpirun.openmpi", LEAVES)
        status, _ = self.run_ranks("exit 0")
        self.assertEqual(status, 4)
        self.assertFalse(self.is_alive())

    def test_interruption_ends_everything(self):
        self.write("mpirun.openmpi", DEAF)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            (self.folder / "left").unlink(missing_ok=True)
            process = self.start("exit 0")
            while not (self.folder / "left").exists() or not self.is_alive():
                time.sleep(0.01)
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + number)
            self.assertFalse(self.is_alive())


if __name__ == "__main__":
    unittest.main()
