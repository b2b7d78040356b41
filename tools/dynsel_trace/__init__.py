# SPDX-License-Identifier: Apache-2.0
"""The parts of dynsel-trace: read a file, make a run of it, work out what it shows, show it."""
