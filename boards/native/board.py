# SPDX-License-Identifier: Apache-2.0
"""Board native: the Linux host that builds is the host that runs."""

from dynsel_build.boards import Board


def describe(config):
    """The toolchain and limits for a configuration; see dynsel_build/boards.py."""
    return Board(
        cc="clang" if config["DYNSEL_COMPILER_CLANG"] else "gcc",
        packages={"gcc": "gcc", "clang": "clang", "ar": "binutils", "nm": "binutils",
                  "size": "binutils"},
        check_on_top=("clang", "sanitize"),
        check_beside=("minimal", "full"),
    )
