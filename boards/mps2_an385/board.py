# SPDX-License-Identifier: Apache-2.0
"""Board mps2_an385: ARM's MPS2 with a Cortex-M3, in QEMU."""

from dynsel_build.boards import Board

TOOLS = "arm-none-eabi-"


def describe(config):
    """The toolchain and limits for a configuration; see dynsel_build/boards.py."""
    return Board(
        cc=TOOLS + "gcc", ar=TOOLS + "ar", nm=TOOLS + "nm", size=TOOLS + "size",
        cflags=("-mcpu=cortex-m3", "-mthumb"),
        library_cflags=("-ffreestanding",),
        start=("boards/mps2_an385/start.c", "boards/mps2_an385/machine.c", "boards/cortex_m.c",
               "boards/semihosting.c"),
        linkflags=("-nostdlib", "-Tboards/mps2_an385/linker.ld"),
        libraries=("c", "gcc"),
        runner=("qemu-system-arm", "-M", "mps2-an385", "-icount", "shift=6,sleep=off", "-nographic",
                "-monitor", "none", "-serial", "none", "-semihosting-config",
                "enable=on,target=native", "-kernel"),
        small_runner=True,
        bare_metal=True,
        clang_target=("--target=arm-none-eabi", "-mcpu=cortex-m3", "-mthumb"),
        limits=limits(config),
        check_beside=("tiny", "tiny_in_flight", "trace", "useful"),
        # board native records in all tests
        check_few={"trace": ("trace", "examples", "submission", "boards")},
    )


# What configs/tiny.conf, tiny_in_flight.conf and useful.conf leave out.
NOT_TINY = ("DYNSEL_ASPECTS", "DYNSEL_COMMAND_GROUPS", "DYNSEL_CUSTOM_POLICIES", "DYNSEL_ERROR_DETAILS",
            "DYNSEL_STATUS_NAMES", "DYNSEL_STATISTICS", "DYNSEL_ASSERTIONS")


def tiny_limits(config):
    """The budgets for the smallest library with all policies; None in configurations that have more."""
    if any(config[option] for option in NOT_TINY) or not config["DYNSEL_OPTIMIZE_SIZE"]:
        return None
    slots = 104 * (config["DYNSEL_MAX_IN_FLIGHT"] or 0)
    learns = config["DYNSEL_POLICY_AUTO_TUNE"] and not config["DYNSEL_AUTO_TUNE_SMALL"]
    if config["DYNSEL_IN_FLIGHT_SMALL"] and (learns or config["DYNSEL_MAX_FAILURES"] != 0):
        long = 410 if learns and not config["DYNSEL_AUTO_TUNE_SHORT_TIMES"] else 0
        # of the archive 190 for polling, cancelling and bounded waits
        return {"flash": 9976 + long, "fixed_resource": 1860, "dynamic_load": 2608, "auto_tune": 5964 + long,
                "own_backend": 6570 + long, "stack": 360 if long else 340, "data": 4, "bss": 76 + slots}
    if learns or config["DYNSEL_MAX_FAILURES"] != 0:
        return None
    if config["DYNSEL_IN_FLIGHT_SMALL"]:
        # The archive: 6,040 before it told selections of an ended policy from those of the next, handed
        # out what task functions left, refused all other calls of interrupts (together 400), finished
        # profiles and gave up kinds of task (70).
        return {"flash": 6560, "fixed_resource": 1536, "own_backend": 3500, "stack": 224, "data": 4, "bss": 56 + slots}
    if config["DYNSEL_IN_FLIGHT"]:
        # 10,352 and 5,237 before it told selections apart (96, 50), handed out what task functions left
        # (376, 332), refused other calls of interrupts (376, 100), finished profiles and gave up kinds (64),
        # left the host out of the default resources (54, 54), told of lost devices at once (90, 4), asked
        # backends how long work took (36), let a submit that waits keep its handle for itself (44), took
        # reports of starts (20), let `start` tell that the work is over (20), paused where a slot is free only
        # later (4); 488 of stack before one function chose and started the work of a submit, whether it has a
        # slot or not
        return {"flash": 11636, "fixed_resource": 5800, "stack": 504, "data": 4, "bss": 56 + slots}
    # the same two reasons; 3.8 KiB are 3,891
    return None if config["DYNSEL_CUSTOM_BACKENDS"] else {
        "flash": 3891, "fixed_resource": 1024, "stack": 192, "data": 4, "bss": 48}


# option: (number, bytes). A higher number of the menu needs longer instructions, and one that is no power of two
# more of them, because of remainders: so many bytes of flash at most, measured with 1 to 1,000 of each.
HIGHER = {"DYNSEL_MAX_RESOURCES": (16, 64), "DYNSEL_MAX_IN_FLIGHT": (16, 40),
          "DYNSEL_MAX_TUNED_TASKS": (32, 16), "DYNSEL_MAX_KEY_WORDS": (2, 20)}


def with_numbers(config, tiny):
    """The same with the numbers of this configuration; the limits above are for those in HIGHER."""
    more = 0
    for option, (number, size) in HIGHER.items():
        chosen = config[option] or 0
        more += size if chosen > number or chosen & (chosen - 1) else 0
    return {name: limit if name in ("stack", "data", "bss") else limit + more for name, limit in tiny.items()}


def limits(config):
    """Bytes of the archive."""
    tiny = tiny_limits(config)
    if tiny:
        return with_numbers(config, tiny)
    # with command groups 1,552, of which 24 are for evicting what work that fails may leave valid, and for watchers,
    # and 24 for the updates that a choice expects of data
    if not config["DYNSEL_OPTIMIZE_SIZE"]:
        return {}
    # the trace names a policy and its resources at their first event
    return {"stack": 896 + (832 if config["DYNSEL_COMMAND_GROUPS"] else 0) + (128 if config["DYNSEL_TRACE"] else 0)}
