# SPDX-License-Identifier: Apache-2.0
"""`scons install`: archive, headers and a pkg-config file."""

import os
from pathlib import Path

from SCons.Script import Value

from .errors import UserMistake
from .nodes import action

VERSION = "0.1.0"


def declare(build, top, prefix, destdir):
    """Nodes for every file that is installed; `scons -c install` takes them away again."""
    if not os.path.isabs(prefix):
        raise UserMistake(f"PREFIX={prefix}: an absolute path is needed, because it goes into dynsel.pc")
    root = os.path.join(destdir, prefix.lstrip("/")) if destdir else prefix
    root = os.path.abspath(root)
    headers = sorted(p for pattern in ("*.h", "*.def")
                     for p in (Path(top) / "include/dynsel").glob(pattern))
    pc = build.env.Command(f"#{build.variant.folder}/dynsel.pc", Value(_pc(build, prefix)),
                           action(_write, "  GEN   $TARGET"))
    return [
        _install(build, f"{root}/lib", build.archive),
        _install(build, f"{root}/lib/pkgconfig", pc),
        _install(build, f"{root}/include/dynsel", [build.env.File(str(h)) for h in headers]),
        _install(build, f"{root}/include/dynsel", build.public_headers),
    ]


def _install(build, folder, nodes):
    return build.env.Install(folder, nodes)


def _write(target, source, env):
    Path(target[0].path).write_text(source[0].read(), encoding="utf-8")


def _pc(build, prefix):
    """The archive is static, so what it needs is needed by each user: Requires, not .private."""
    prefix = prefix.replace(" ", "\\ ")
    threads = " -pthread" if build.config["DYNSEL_CONTEXT_THREADS"] else ""
    return (f"prefix={prefix}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n"
            f"Name: dynsel\nDescription: Picks a device for each piece of work, without a heap"
            f" (variant {build.variant.name})\nVersion: {VERSION}\n"
            f"Requires: {' '.join(build.user_libs)}\n"
            f"Cflags: -I${{includedir}}{threads}\nLibs: -L${{libdir}} -ldynsel{threads}\n")
