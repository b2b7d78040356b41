# SPDX-License-Identifier: Apache-2.0
"""Board aarch64_linux: Linux on 64-bit ARM, in QEMU."""

from dynsel_build.boards import Board

MACHINE = "aarch64-linux-gnu"


def describe(config):
    """The toolchain and limits for a configuration; see dynsel_build/boards.py."""
    tools = MACHINE + "-"
    return Board(
        cc=tools + "gcc", ar=tools + "ar", nm=tools + "nm", size=tools + "size",
        runner=("qemu-aarch64", "-L", f"/usr/{MACHINE}"),
        small_runner=True,
        host_libraries=False,
        clang_target=(f"--target={MACHINE}",),
    )
