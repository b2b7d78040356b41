# SPDX-License-Identifier: Apache-2.0
"""Board s390x_linux: Linux on IBM Z, which is big-endian, in QEMU."""

from dynsel_build.boards import Board

MACHINE = "s390x-linux-gnu"


def describe(config):
    """The toolchain and limits for a configuration; see dynsel_build/boards.py."""
    tools = MACHINE + "-"
    return Board(
        cc=tools + "gcc", ar=tools + "ar", nm=tools + "nm", size=tools + "size",
        runner=("qemu-s390x", "-L", f"/usr/{MACHINE}"),
        small_runner=True,
        host_libraries=False,
        clang_target=(f"--target={MACHINE}",),
    )
