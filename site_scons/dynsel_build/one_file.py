# SPDX-License-Identifier: Apache-2.0
"""`scons amalgamation`, and variants that compile the library as one file."""

from pathlib import Path

from SCons.Script import Value

from . import amalgamation, components, install, private_names, toolchain
from .header import tag
from .nodes import action
from .trees import at

FOLDER = "amalgamation"
WARNINGS = ("-Wall", "-Wextra", "-Werror")  # what a user's build has; the sources alone are compiled with more


def source(build):
    """build/<variant>/amalgamation/dynsel.c, after all components are declared."""
    env = build.env
    top, folder = Path(env.Dir("#").abspath), build.variant.folder
    names = [str(node.srcnode().path) for node in build.library_sources]
    generated = build.trees.real(folder) / "gen"
    about = {"variant": build.variant.name, "tag": tag(build.config), "flags": flags(build)}

    def write(target, source, env):  # pylint: disable=unused-argument
        text = amalgamation.text(top, generated, names, **about)
        Path(target[0].path).write_text(text, encoding="utf-8")

    headers = [env.File(str(path)) for path in sorted((top / "src").rglob("*.h"))]
    makers = [env.File(module.__file__) for module in (amalgamation, private_names)]
    return env.Command(at(f"{folder}/{FOLDER}/dynsel.c"),
                       [*build.library_sources, *headers, *build.generated, *makers, Value(repr((names, about)))],
                       action(write, "  GEN   $TARGET"))


def flags(build):
    """What a program needs to compile and link it, besides the folder of the headers."""
    threads = ["-pthread"] if build.config["DYNSEL_CONTEXT_THREADS"] else []
    return " ".join([*threads, *(f"$(pkg-config --cflags --libs {lib})" if lib in components.MPI_LIBRARIES else f"-l{lib}"
                                 for lib in build.user_libs)])


def declare(build):
    """All files of the amalgamation; `scons -c amalgamation` removes them."""
    env, top = build.env.Clone(INSTALL=install.copy), Path(build.env.Dir("#").abspath)
    folder = at(f"{build.variant.folder}/{FOLDER}")
    return [
        build.amalgamation(),
        env.Install(folder, env.File(str(top / "LICENSE"))),
        env.Install(f"{folder}/include/dynsel", install.public_headers(build, top)),
    ]


def environment(library_env):
    """Flags for its object: it is compiled as its users do."""
    kept = [flag for flag in library_env["CCFLAGS"] if flag not in toolchain.WARNINGS]
    return library_env.Clone(CCFLAGS=[*WARNINGS, *kept])
