# SPDX-License-Identifier: Apache-2.0
"""Board native: the Linux host that builds is the host that runs."""

from dynsel_build.boards import Board

KIB = 1024


def describe(config):
    """The toolchain and limits for a configuration; see dynsel_build/boards.py."""
    return Board(
        cc="clang" if config["DYNSEL_COMPILER_CLANG"] else "gcc",
        packages={"gcc": "gcc", "clang": "clang", "ar": "binutils", "nm": "binutils",
                  "size": "binutils"},
        limits=limits(config),
        check_on_top=("clang", "sanitize", "tsan"),
        check_beside=("minimal", "full", "interrupts"),
    )


def limits(config):
    """Bytes of the archive on x86-64 with GCC; what else the sizes depend on is not limited.

    `bss` is the formula for the library's RAM: what the help texts of the options promise.
    """
    measured = config["DYNSEL_COMPILER_GCC"] and not (config["DYNSEL_SANITIZE"]
                                                  or config["DYNSEL_SANITIZE_THREAD"])
    if not measured or config["DYNSEL_OPTIMIZE_DEBUG"]:
        return {}
    in_flight, opencl = config["DYNSEL_IN_FLIGHT"], config["DYNSEL_BACKEND_OPENCL"]
    threads = config["DYNSEL_BACKEND_THREADS"]
    bss = 384
    bss += 192 * config["DYNSEL_MAX_IN_FLIGHT"] if in_flight else 0
    if threads:
        bss += 128 + config["DYNSEL_THREADS_WORKERS"] * (192 + 8 * config["DYNSEL_THREADS_QUEUE"])
    if opencl:
        bss += 400 * config["DYNSEL_OPENCL_MAX_DEVICES"]
        bss += 160 * config["DYNSEL_OPENCL_MAX_PLATFORMS"] + 2 * KIB
    return {
        "text": ((10 if config["DYNSEL_OPTIMIZE_SIZE"] else 14) + (7 if in_flight else 0)
                 + (7 if config["DYNSEL_POLICY_AUTO_TUNE"] else 0)
                 + (2 if config["DYNSEL_STATISTICS"] else 0) + (4 if threads else 0)
                 + (16 if opencl else 0)) * KIB,
        "rodata": (5 + (1 if threads else 0) + (8 if opencl else 0)) * KIB,
        "data": (1 + (2 if opencl else 0)) * KIB,
        "bss": bss,
        "stack": 1280 if opencl else 256 + (256 if threads else 0),
    }
