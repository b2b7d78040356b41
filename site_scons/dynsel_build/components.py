# SPDX-License-Identifier: Apache-2.0
"""What the SConscripts of src/ declare, read without SCons: for builds of other kinds than ours."""

from pathlib import Path

from .errors import UserMistake

MPI = "MPI"  # in `libs`: the MPI library that the configuration chooses
# Their pkg-config modules, and the option that chooses each; ranks.py knows their launchers.
MPI_LIBRARIES = {"ompi-c": "DYNSEL_MPI_OPENMPI", "mpich": "DYNSEL_MPI_MPICH"}


def holds(config, condition):
    """Whether a condition of component(), program() or test() is true in a configuration.

    A symbol, with ! in front for its opposite, with >=N for a number at least so large; | between two: one is enough.
    """
    if "|" in condition:
        return any(holds(config, part) for part in condition.split("|"))
    symbol, at_least, number = condition.partition(">=")
    if at_least:
        return int(config[symbol] or 0) >= int(number)  # a number that is switched off is none
    return not config[symbol[1:]] if symbol.startswith("!") else config[symbol]


def mpi_library(config):
    """The pkg-config module of the MPI library, or None without backend mpi."""
    return next((module for module, option in MPI_LIBRARIES.items() if config[option]), None)


def modules(config, libs):
    """The pkg-config modules of `libs`."""
    return [mpi_library(config) if lib == MPI else lib for lib in libs]


def sources_of(top, config):
    """(paths below `top`, in the order of the archive; the pkg-config modules that they need)."""
    reader = _Reader(config)
    reader.read(Path(top) / "src/SConscript")
    return [str(path.relative_to(top)) for path in reader.sources], reader.libs


class _Reader:
    """Runs SConscripts with functions of its own in place of SCons'."""

    def __init__(self, config):
        self.config, self.sources, self.libs = config, [], []

    def read(self, path):
        def component(_name, sources, when=(), libs=()):
            conditions = [when] if isinstance(when, str) else when
            if all(holds(self.config, condition) for condition in conditions):
                self.sources += [path.parent / source for source in sources]
                self.libs += [lib for lib in modules(self.config, libs) if lib not in self.libs]

        def deeper(paths, exports=()):
            del exports
            for name in paths:
                self.read(path.parent / name)

        try:
            text = path.read_text(encoding="utf-8")
        except OSError as e:
            raise UserMistake(f"{path}: cannot be read: {e.strerror}") from e
        functions = {"Import": lambda *names: None, "SConscript": deeper, "component": component}
        exec(compile(text, str(path), "exec"), functions)  # pylint: disable=exec-used # it is our own build file
