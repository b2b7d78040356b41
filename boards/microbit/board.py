# SPDX-License-Identifier: Apache-2.0
"""Board microbit: the BBC micro:bit with a Cortex-M0, in QEMU."""

from dynsel_build.boards import Board

TOOLS = "arm-none-eabi-"


def describe(config):
    """The toolchain and limits for a configuration; see dynsel_build/boards.py."""
    return Board(
        cc=TOOLS + "gcc", ar=TOOLS + "ar", nm=TOOLS + "nm", size=TOOLS + "size",
        cflags=("-mcpu=cortex-m0", "-mthumb"),
        library_cflags=("-ffreestanding",),
        start=("boards/microbit/start.c", "boards/microbit/machine.c", "boards/cortex_m.c",
               "boards/semihosting.c"),
        linkflags=("-nostdlib", "-Tboards/microbit/linker.ld"),
        libraries=("c", "gcc"),
        runner=("qemu-system-arm", "-M", "microbit", "-icount", "shift=6,sleep=off", "-nographic",
                "-monitor", "none", "-serial", "none", "-semihosting-config",
                "enable=on,target=native", "-kernel"),
        small_runner=True,
        bare_metal=True,
        clang_target=("--target=arm-none-eabi", "-mcpu=cortex-m0", "-mthumb"),
        limits=limits(config),
    )


def limits(config):
    """Bytes of stack; what the compiler optimizes for speed is not limited."""
    return {"stack": 1088 + (256 if config["DYNSEL_COMMAND_GROUPS"] else 0)} if config["DYNSEL_OPTIMIZE_SIZE"] else {}
