# SPDX-License-Identifier: Apache-2.0
"""Board virt_riscv32: QEMU's own RISC-V machine with an RV32IMAC core."""

from dynsel_build.boards import Board

TOOLS = "riscv64-unknown-elf-"
# Of the older specification, where what reaches the control registers is a part of "i": the
# compiler's libraries are ordered by such names.
CORE = ("-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2")


def describe(config):
    """The toolchain and limits for a configuration; see dynsel_build/boards.py."""
    return Board(
        cc=TOOLS + "gcc", ar=TOOLS + "ar", nm=TOOLS + "nm", size=TOOLS + "size",
        cflags=(*CORE, "--specs=picolibc.specs"),
        library_cflags=("-ffreestanding",),
        start=("boards/virt_riscv32/start.c", "boards/virt_riscv32/machine.c",
               "boards/semihosting.c"),
        linkflags=("-nostdlib", "-Tboards/virt_riscv32/linker.ld"),
        libraries=("c", "gcc"),
        runner=("qemu-system-riscv32", "-M", "virt", "-bios", "none", "-icount",
                "shift=6,sleep=off", "-nographic", "-monitor", "none", "-serial", "none",
                "-semihosting-config", "enable=on,target=native", "-kernel"),
        small_runner=True,
        bare_metal=True,
        clang_target=("--target=riscv32-unknown-elf", "-march=rv32imac", "-mabi=ilp32"),
        limits=limits(config),
    )


def limits(config):
    """Bytes of stack; what the compiler optimizes for speed is not limited."""
    if not config["DYNSEL_OPTIMIZE_SIZE"]:
        return {}
    # the trace names a policy and its resources at their first event
    return {"stack": 896 + (976 if config["DYNSEL_COMMAND_GROUPS"] else 0) + (128 if config["DYNSEL_TRACE"] else 0)}
