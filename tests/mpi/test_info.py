# SPDX-License-Identifier: Apache-2.0
"""dynsel-info under the launcher of an MPI program: the first process lists the resources of all, and alone prints."""

import json
import os
import shlex
import subprocess
import tempfile
import unittest

INFO = os.path.join(os.environ["DYNSEL_BIN"], "dynsel-info")
START = shlex.split(os.environ["DYNSEL_MPI"])
RANKS = 3
ONE_DEVICE = {"POCL_DEVICES": "pthread"}


class Ranks(unittest.TestCase):
    def call(self, *arguments, count=RANKS, status=0):
        """What the ranks write to standard output; count: None: no launcher."""
        start = [] if count is None else [*START, str(count)]
        said = subprocess.run([*start, INFO, *arguments], env={**os.environ, **ONE_DEVICE}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)
        self.assertEqual(said.returncode, status, said.stdout + said.stderr)
        return said.stdout, said.stderr

    def resources(self, **how):
        """Without what is measured anew each time."""
        listed = json.loads(self.call("--json", **how)[0])["resources"]
        return [{key: value for key, value in resource.items() if key != "times"} for resource in listed]

    def test_the_first_lists_the_resources_of_all(self):
        alone, all_of_them = self.resources(count=None), self.resources()
        own = [r for r in all_of_them if r["kind"] != "rank"]
        others = [r for r in all_of_them if r["kind"] == "rank"]
        self.assertEqual(own, alone)
        self.assertEqual({r["rank"] for r in own}, {0})
        self.assertEqual(sorted({r["rank"] for r in others}), list(range(1, RANKS)))
        kinds = {r["type"]: r for r in own if r["kind"] != "workers"}
        for rank in range(1, RANKS):
            found = [r for r in others if r["rank"] == rank]
            self.assertEqual([r["type"] for r in found], list(kinds))
            for resource in found:
                like = kinds[resource["type"]]
                self.assertEqual(resource["aspects"], like["aspects"])
                self.assertEqual((resource["chosen"], resource["accepted"]), (True, like["accepted"]))
                self.assertTrue(resource["name"])

    def test_one_rank_has_what_a_program_alone_has(self):
        self.assertEqual(self.resources(count=1), self.resources(count=None))

    def test_the_table_has_a_block_for_each(self):
        lines = self.call()[0].splitlines()
        for rank in range(1, RANKS):
            self.assertTrue(any(line.startswith(f"rank {rank} ") and "usable: target" in line for line in lines), lines)
        self.assertEqual(sum(line.startswith("Built for") for line in lines), 1)
        self.assertNotIn("\033", "".join(lines))

    def test_only_the_first_prints(self):
        self.assertEqual(self.call("--help")[0], self.call("--help", count=None)[0])
        self.assertEqual(self.call("--version")[0], self.call("--version", count=None)[0])

    def test_only_the_first_complains(self):
        _, said = self.call("--nonsense", status=2)
        self.assertEqual(said.count("no option is named"), 1, said)
        _, said = self.call("--device", "index=", status=2)
        self.assertEqual(said.count("dynsel-info: "), 1, said)

    def test_a_check_is_of_all(self):
        self.assertEqual(self.call("--check")[0], "")

    def test_a_file_that_cannot_be_written_ends_all(self):
        _, said = self.call("--trace", "/nowhere/at/all", status=1)
        self.assertEqual(said.count("dynsel-info: "), 1, said)

    def test_the_trial_leaves_out_other_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            self.call("--trace", f"{folder}/run.trace")
            self.assertTrue(os.path.getsize(f"{folder}/run.trace"))


if __name__ == "__main__":
    unittest.main()
