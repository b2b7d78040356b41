# SPDX-License-Identifier: Apache-2.0
"""SCons environments: commands, flags, and the process environment."""

import os
import re
import shutil
import subprocess
from functools import lru_cache

from SCons.Script import Environment

from .errors import UserMistake, install_hint
from .trees import at

# Variables that a build takes over from the shell; no other can change the result.
SHELL_VARIABLES = ("PATH", "HOME", "TERM", "LANG", "LC_ALL", "TMPDIR",
                   "CCACHE_DIR", "CCACHE_DISABLE", "CCACHE_BASEDIR", "CCACHE_MAXSIZE")

WARNINGS = (
    "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wundef", "-Wswitch-enum", "-Walloca", "-Wvla",
    "-Wmissing-prototypes", "-Wstrict-prototypes", "-Werror",
)

C_ONLY = ("-Wmissing-prototypes", "-Wstrict-prototypes")  # of these

# <dynsel/dynsel.hpp> needs neither exceptions nor run-time types, so what includes it here does without.
CPP_FLAGS = ("-std=c++17", "-Wpedantic", "-fno-exceptions", "-fno-rtti")

OPTIMIZATION = {
    "DYNSEL_OPTIMIZE_SPEED": ["-O2"],
    "DYNSEL_OPTIMIZE_SIZE": ["-Os"],
    "DYNSEL_OPTIMIZE_DEBUG": ["-Og", "-g3"],
}

SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g"]
# With other TLS models the linker replaces an addition by an instruction that sets no flags, and GCC's code
# then takes the address of a thread-local variable for null.
GCC_SANITIZERS = ["-ftls-model=local-exec"]
THREAD_SANITIZER = ["-fsanitize=thread", "-fno-omit-frame-pointer", "-g"]
FRAMES = "-fstack-usage"  # writes a file beside each object
COVERAGE = ["--coverage", "-fprofile-update=atomic"]

# pkg-config module -> Debian package
LIBRARY_PACKAGES = {
    "cmocka": "libcmocka-dev",
    "libpng": "libpng-dev",
    "OpenCL": "ocl-icd-opencl-dev",
    "ompi-c": "libopenmpi-dev",
    "mpich": "libmpich-dev",
}


def shell_environment():
    return {name: os.environ[name] for name in SHELL_VARIABLES if name in os.environ}


def base_environment(verbose, build):
    """The environment that all others are cloned from, because creating one is slow.

    build: the folder for what is built
    """
    env = Environment(tools=["cc", "cxx", "link", "ar", "install"], ENV=shell_environment(), BUILD=build)
    env.Decider("content")
    if not verbose:
        env["CCCOMSTR"] = "  CC    $TARGET"
        env["CXXCOMSTR"] = "  CXX   $TARGET"
        env["LINKCOMSTR"] = "  LINK  $TARGET"
        env["ARCOMSTR"] = "  AR    $TARGET"
    env["RANLIBCOM"] = ""  # ar's flag s makes the index
    return env


def variant_environment(base, variant, config, board):
    """Compiler and flags of one variant, without those of components."""
    for tool in (board.cc, board.ar):
        require_program(tool, board.packages)
    common = [*board.cflags, *sanitizers(config)]
    threads = ["-pthread"] if config["DYNSEL_CONTEXT_THREADS"] else []
    gen = at(f"{variant.folder}/gen")
    scripts = ["-Lboards"] if board.bare_metal else []  # where linker scripts find what they include
    return base.Clone(
        CC=board.cc, CXX=cpp_compiler(board.cc), LINK=board.cc, AR=board.ar,
        CFLAGS=["-std=c11", *C_ONLY],
        CXXFLAGS=list(CPP_FLAGS),
        CCFLAGS=[*(w for w in WARNINGS if w not in C_ONLY), *_optimization(config), "-ffunction-sections", "-fdata-sections",
                 *common, *threads],
        LINKFLAGS=["-Wl,--gc-sections", *common, *threads, *scripts, *board.linkflags, *_counting(config)],
        CPPDEFINES=list(board.cppdefines),
        CPPPATH=[base.Dir(gen), base.Dir("#include")],
        ARFLAGS=["rcsD"],
        MISSING=[],  # nodes that fail for missing packages
    )


def cpp_compiler(cc):
    """The C++ compiler beside a C compiler."""
    return re.sub(r"gcc$", "g++", re.sub(r"clang$", "clang++", cc))


def cpp_package(cc):
    """The Debian package that has it; g++ also brings the library that clang++ uses."""
    return "g++" if cc in ("gcc", "clang") else f"g++-{cc.removesuffix('-gcc')}"


def position_independent(config):
    """Flags for the library's own sources: what is linked into a shared object, and not exported from there."""
    return ["-fPIC", "-fvisibility=hidden"] if config["DYNSEL_PIC"] else []


def sanitizers(config):
    """Flags for compiler and linker."""
    return ((SANITIZERS if config["DYNSEL_SANITIZE"] else [])
            + (GCC_SANITIZERS if config["DYNSEL_SANITIZE"] and config["DYNSEL_COMPILER_GCC"] else [])
            + (THREAD_SANITIZER if config["DYNSEL_SANITIZE_THREAD"] else []))


def _optimization(config):
    for name, flags in OPTIMIZATION.items():
        if config[name]:
            return flags
    raise UserMistake("a member of the choice DYNSEL_OPTIMIZE has no flags; add it to OPTIMIZATION in site_scons/dynsel_build/toolchain.py")


def _counting(config):
    return COVERAGE[:1] if config["DYNSEL_COVERAGE"] else []


def require_program(name, packages):
    """Refuses a missing program with a line that names its package."""
    if shutil.which(name) is None:
        raise UserMistake(f"{name} is missing; {install_hint(packages.get(name, name))}")


@lru_cache(maxsize=None)
def library_flags(module):
    """The flags of a library from pkg-config, or None if it is not installed."""
    if shutil.which("pkg-config") is None:
        raise UserMistake(f"pkg-config is missing; {install_hint('pkg-config')}")
    answer = subprocess.run(["pkg-config", "--cflags", "--libs", module],
                            capture_output=True, text=True, check=False)
    return answer.stdout.strip() if answer.returncode == 0 else None


@lru_cache(maxsize=None)
def pointer_bytes(cc, flags):
    """The size of a pointer for this compiler, from its predefined macros."""
    answer = subprocess.run([cc, *flags, "-dM", "-E", "-x", "c", os.devnull], capture_output=True,
                            text=True, check=True)
    return int(re.search(r"__SIZEOF_POINTER__ (\d+)", answer.stdout).group(1))
