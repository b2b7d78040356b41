# SPDX-License-Identifier: Apache-2.0
"""Board native: the Linux host that builds is the host that runs."""

import platform

from dynsel_build.boards import Board

KIB = 1024


def describe(config):
    """The toolchain and limits for a configuration; see dynsel_build/boards.py."""
    return Board(
        cc="clang" if config["DYNSEL_COMPILER_CLANG"] else "gcc",
        limits=limits(config),
        check_on_top=("clang", "sanitize", "tsan"),
        # tsan is built with Clang, too, sanitize has the assertions that full has, emulated boards run the long tests
        # of groups with interrupts, one file has the code of many, and the long tests of little are those of examples
        check_short=("clang", "full", "interrupts", "one_file", "tiny", "tiny_in_flight"),
        # as one file the sources see each other's names and macros: what uses most of them shows what that changes;
        # serving has a fake of its peers, and is the same with every MPI library
        check_few={"one_file": ("base", "boards", "build", "groups", "opencl", "policies", "submission"),
                   "mpi": ("mpi", "serving"), "mpich": ("mpi",)},
        check_beside=("minimal", "full", "interrupts", "one_file", "tiny", "tiny_in_flight", "mpi", "mpich"),
    )


def limits(config):
    """Bytes of the archive on x86-64 with GCC; what else the sizes depend on is not limited."""
    measured = (platform.machine() == "x86_64" and config["DYNSEL_COMPILER_GCC"]
                and not (config["DYNSEL_SANITIZE"] or config["DYNSEL_SANITIZE_THREAD"] or config["DYNSEL_COVERAGE"]))
    if not measured or config["DYNSEL_OPTIMIZE_DEBUG"] or config["DYNSEL_ONE_FILE"]:
        return {}
    in_flight, opencl = config["DYNSEL_IN_FLIGHT"], config["DYNSEL_BACKEND_OPENCL"]
    threads, aspects = config["DYNSEL_BACKEND_THREADS"], config["DYNSEL_ASPECTS"]
    groups, small = config["DYNSEL_COMMAND_GROUPS"], config["DYNSEL_OPTIMIZE_SIZE"]
    # Backend mpi, with what serves; a message of it stands on the stack.
    ranks = config["DYNSEL_BACKEND_MPI"]
    text_of_ranks, rodata_of_ranks = ((36, 7) if groups else (18, 3)) if ranks else (0, 0)
    # while a command group is started whose time is wanted, that is known on the stack (the tables of hosts); another
    # set of resources is looked up beside that
    stack = (2 + (1.25 if opencl else 0) + ((3.25 if config["DYNSEL_RESOURCE_SETS"] else 2.5) if groups else 0)
             + (2.75 if ranks else 0))
    # a choice lists the backends that cannot run a command group, and what has to be copied to each resource; a table
    # that was learned is matched with the resources
    stack += max(config["DYNSEL_MAX_RESOURCES"] - 16, 0) * (30 if groups else 5) / KIB
    # What survives failures of data takes 5 KiB of the groups', and what they wait for and who uses a buffer 4;
    # looks that fail, old versions and drivers asked again take 4 of OpenCL's, the times of work on devices 4;
    # pinned memory and queues for transfers take 4 of what groups add to it. What groups depend on by name, copies
    # from and to memory, parts and empty commands take 3. Memory objects, events, logs and files of the program take
    # 10 of what groups add to OpenCL's, and trials of work-groups 2. What data will still be updated takes 2 of
    # earliest_finish and of groups, and the end of work that nobody looks at 1; waits that start other work
    # take 1 of groups.
    return {
        "text": ((11 if small else 15) + (7 if in_flight else 0)
                 + (9 if config["DYNSEL_POLICY_AUTO_TUNE"] else 0)
                 # 2 of it in groups, 3 for shared processors, 3 for what starts take, 5 for one resource alone
                 + (35 if config["DYNSEL_POLICY_EARLIEST_FINISH"] else 0)
                 + (14 if config["DYNSEL_LEARNED_TABLES"] else 0)
                 + (1 if config["DYNSEL_CONTEXT_INTERRUPTS"] else 0)
                 + (2 if config["DYNSEL_RESOURCE_STATES"] else 0) + (3 if config["DYNSEL_TIME_LIMITS"] else 0)
                 + ((8 if groups else 4) if config["DYNSEL_REPEAT"] else 0)
                 + (3 if config["DYNSEL_SHADOW_CHECK"] else 0) + (10 if config["DYNSEL_TRACE"] else 0)
                 + (3 if config["DYNSEL_STATISTICS"] else 0) + (4 if threads else 0)
                 + (4 if config["DYNSEL_CONTEXT_THREADS"] and in_flight else 0)  # fork() and cancelled threads
                 + (3 if aspects else 0) + (25 if opencl else 0)
                 + ((4 if groups else 3) if config["DYNSEL_RESOURCE_SETS"] else 0)
                 + (3 if config["DYNSEL_PASS_BETWEEN_DOMAINS"] else 0)
                 + ((59 if small else 76) + (36 if opencl else 0) if groups else 0) + text_of_ranks) * KIB,
        "rodata": (6 + (1 if config["DYNSEL_RESOURCE_STATES"] else 0) + (1 if config["DYNSEL_TIME_LIMITS"] else 0)
                   + ((2 if groups else 1) if config["DYNSEL_REPEAT"] else 0)
                   + (1 if threads else 0) + (4 if aspects else 0)
                   + (2 if config["DYNSEL_LEARNED_TABLES"] else 0)
                   + (15 if opencl else 0)
                   + (10 + (9 if opencl else 0) if groups else 0) + rodata_of_ranks) * KIB,
        "stack": stack * KIB,
    }
