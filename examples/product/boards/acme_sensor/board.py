# SPDX-License-Identifier: Apache-2.0
"""Board acme_sensor: as mps2_an385, but with less memory."""

from dataclasses import replace

from dynsel_build.boards import like


def describe(config):
    """The toolchain and limits for a configuration; see dynsel_build/boards.py."""
    board = like("mps2_an385", config)
    own = {"-Tboards/mps2_an385/linker.ld": "-Tboards/acme_sensor/linker.ld"}
    return replace(board, linkflags=tuple(own.get(flag, flag) for flag in board.linkflags),
                   limits={"stack": 2048}, check_beside=("acme_small",))
