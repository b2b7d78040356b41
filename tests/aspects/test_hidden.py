# SPDX-License-Identifier: Apache-2.0
"""A device that has more than any target of the build may have: the rest is hidden from the program."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP, BUILD = Path(os.environ["DYNSEL_TOP"]), Path(os.environ["DYNSEL_BUILD"])

TABLE = """\
closed:
  text: has nothing but gpu
  source: made up for a test
  recognize: [{}]
  added_by: []
  aspects: [gpu]
  may_support_other_aspects: false
  sub_group_sizes: []
"""

# Its device has fp64, of which the closed target knows nothing.
MAIN = """\
#include <dynsel/dynsel.h>
#include <stdio.h>

static dynsel_status describe(dynsel_backend *backend, const void *handle, dynsel_device *device)
{
    (void)backend;
    (void)handle;
    device->aspects = DYNSEL_ASPECT_BIT(gpu) | DYNSEL_ASPECT_BIT(fp64);
    return DYNSEL_OK;
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static dynsel_status nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

int main(void)
{
    static const dynsel_backend_ops ops = {.name = "mine", .describe = describe, .start = start};
    static dynsel_backend mine = {&ops};
    static dynsel_round_robin_policy policy;
    const dynsel_resource resource = {&mine, NULL};
    const dynsel_options options = {.resources = &resource, .count = 1};
    dynsel_device device = {.aspects = 0};
    const dynsel_task gpu = {.function = nothing, .aspects = DYNSEL_ASPECT_BIT(gpu)};
    const dynsel_task fp64 = {.function = nothing, .aspects = DYNSEL_ASPECT_BIT(fp64)};
    printf("%d %d ", dynsel_resource_has(&resource, DYNSEL_ASPECT_gpu),
           dynsel_resource_has(&resource, DYNSEL_ASPECT_fp64));
    printf("%d ", dynsel_resource_describe(&resource, &device) == DYNSEL_OK &&
                      (device.aspects & DYNSEL_ASPECT_BIT(fp64)) != 0);
    printf("%d ", (int)dynsel_round_robin_init(&policy, &options, 0));
    printf("%d ", (int)dynsel_submit(&policy.policy, &gpu, NULL));
    printf("%d\\n", (int)dynsel_submit(&policy.policy, &fp64, NULL));
    return 0;
}
"""

E_ASPECT = -14


class Hidden(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-hidden-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "main.c").write_text(MAIN, encoding="utf-8")
        (self.folder / "table.yaml").write_text(TABLE, encoding="utf-8")
        (self.folder / "dynsel").mkdir()

    def told(self, with_table):
        """What the program says, over the library with the table's sets, or with its own."""
        if with_table:
            self.call(sys.executable, str(TOP / "tools/dynsel-aspects"), "table.yaml", "closed",
                      "-o", "dynsel/aspect_sets.h")
        libraries = ["-lOpenCL"] if "BACKEND_OPENCL 1" in (BUILD / "gen/dynsel/autoconf.h").read_text() else []
        self.call(os.environ["DYNSEL_CC"], "-std=c11", "-pthread", "main.c", str(TOP / "src/aspects/possible.c"),
                  "-I.", f"-I{BUILD}/gen", f"-I{TOP}/include", f"-I{TOP}/src", str(BUILD / "libdynsel.a"),
                  *libraries, "-o", "main")
        return [int(word) for word in self.call(*shlex.split(os.environ.get("DYNSEL_RUNNER", "")), "./main").split()]

    def call(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_what_no_target_may_have_no_resource_has(self):
        self.assertEqual(self.told(True), [1, 0, 1, 0, 0, E_ASPECT])

    def test_what_a_target_may_have_is_there(self):
        self.assertEqual(self.told(False), [1, 1, 1, 0, 0, 0])


if __name__ == "__main__":
    unittest.main()
