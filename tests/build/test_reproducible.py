# SPDX-License-Identifier: Apache-2.0
"""The same sources and configuration give the same bytes: in another folder, later, for another user."""

import os
import shutil
import unittest

import support
from support import scons

# With debug information, which likes to tell where it was made; with Clang the sources that it takes least to build.
VARIANTS = ("native+debug", "native+clang+minimal+debug")
ARCHIVES = [f"build/{variant}/libdynsel.a" for variant in VARIANTS]


def built(case, name, umask, time, **variables):
    """Path -> bytes of each archive, from a tree of its own."""
    top = support.library_tree(name)
    case.addCleanup(shutil.rmtree, top)
    for path in top.rglob("*"):
        os.utime(path, (time, time))
    before = os.umask(umask)
    try:
        status, said = scons(top, *ARCHIVES, "VARIANTS=" + ",".join(VARIANTS), env=variables)
    finally:
        os.umask(before)
    case.assertEqual(status, 0, said)
    return {archive: (top / archive).read_bytes() for archive in ARCHIVES}


class Reproducible(unittest.TestCase):
    def test_two_builds_are_identical(self):
        first = built(self, "", 0o022, 1_000_000_000)
        second = built(self, "-elsewhere, in a folder with a longer name", 0o077, 1_500_000_000, LANG="C.UTF-8",
                       TZ="Asia/Tokyo", USER="somebody", HOSTNAME="elsewhere")
        for archive in ARCHIVES:
            with self.subTest(archive):
                self.assertGreater(len(first[archive]), 100_000)
                self.assertTrue(first[archive] == second[archive], "the bytes differ")


if __name__ == "__main__":
    unittest.main()
