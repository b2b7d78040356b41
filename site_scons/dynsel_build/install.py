# SPDX-License-Identifier: Apache-2.0
"""`scons install`: archive, headers, and files for pkg-config and CMake.

One prefix holds one variant: an installation replaces each file of the one before.
"""

import os
import re
import shutil
from pathlib import Path

from . import components, install_product, toolchain
from .errors import UserMistake
from .header import tag
from .version import read as read_version

HEADERS = ("*.h", "*.hpp", "*.def")  # of the interface
TEMPLATES = ("dynselConfig.cmake", "dynselConfigVersion.cmake")

# pkg-config module -> (CMake's lines that find it, its target). CMake's own package MPI takes the machine's default
# library, which need not be the one that the archive was compiled for.
CMAKE_PACKAGES = {
    "OpenCL": ("find_dependency(OpenCL)\n", "OpenCL::OpenCL"),
    **{module: ("find_dependency(PkgConfig)\n"
                f"pkg_check_modules(DYNSEL_MPI REQUIRED IMPORTED_TARGET {module})\n", "PkgConfig::DYNSEL_MPI")
       for module in components.MPI_LIBRARIES},
}


def root_of(prefix, destdir):
    """The folder to install to."""
    if not os.path.isabs(prefix):
        raise UserMistake(f"PREFIX={prefix}: write an absolute path, because it goes into dynsel.pc")
    return os.path.abspath(os.path.join(destdir, prefix.lstrip("/")) if destdir else prefix)


def declare(build, top, prefix, destdir="", pages=None):
    """Nodes for every installed file; `scons -c install` removes them.

    pages: the folder with the guide and the man pages, None for an installation without them
    """
    root, env = root_of(prefix, destdir), build.env.Clone(INSTALL=copy)
    packages = [build.written(f"package/{name}", text) for name, text in _packages(build, top).items()]
    pc = build.written(f"package{prefix}/dynsel.pc", _pc(build, top, prefix))
    return [
        env.Install(f"{root}/bin", build.programs.get("dynsel-info", [])),
        env.Install(f"{root}/bin", [env.File(str(Path(top) / f"tools/dynsel-{name}")) for name in ("learned", "trace")]),
        *[env.Install(f"{root}/share/dynsel/{folder}", [env.File(str(file)) for file in _files(top, f"tools/{folder}")])
          for folder in ("dynsel_trace", "dynsel_trace/page")],
        env.Install(f"{root}/lib", [build.archive, *build.side_archives.values()]),
        env.Install(f"{root}/lib/pkgconfig", pc),
        env.Install(f"{root}/lib/cmake/dynsel", packages),
        env.Install(f"{root}/include/dynsel", public_headers(build, top)),
        env.Install(f"{root}/bin", _replay(build, top)),
        *install_product.declare(build, env, root, prefix, read_version(top)),
        *_documents(env, top, root, pages),
    ]


def _documents(env, top, root, pages):
    """The licence and the changelog; the guide and the man pages of a folder, if there is one."""
    texts = [env.File(str(Path(top, name))) for name in ("LICENSE", "CHANGELOG.md")]
    nodes = [env.Install(f"{root}/share/doc/dynsel", texts)]
    if pages:
        man = [env.File(str(path)) for path in sorted(pages.glob("man/*.1"))]
        nodes.append(env.Install(f"{root}/share/man/man1", man))
        guide = env.Install(f"{root}/share/doc/dynsel", env.Dir(str(pages / "html")))
        env.Clean(guide, f"{root}/share/doc/dynsel/html")
        nodes.append(guide)
    return nodes


def _files(top, folder):
    return sorted(path for path in (Path(top) / folder).iterdir() if path.is_file())


def _replay(build, top):
    """The tool, and what draws its tables."""
    tool = build.programs.get("dynsel-replay", [])
    return [*tool, build.env.File(str(Path(top) / "tools/dynsel-replay-plot"))] if tool else []


def public_headers(build, top):
    """The interface of a variant: what stands in the tree, and what is generated."""
    written = [path for pattern in HEADERS for path in sorted((Path(top) / "include/dynsel").glob(pattern))]
    return [*(build.env.File(str(path)) for path in written), *build.public_headers]


def copy(target, source, env):
    """Sets permissions independent of the umask. A folder replaces what is there."""
    if os.path.isdir(source):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, copy_function=lambda a, b: copy(b, a, env))
        for folder, _, _ in os.walk(target):
            os.chmod(folder, 0o755)
        return 0
    shutil.copy2(source, target)
    os.chmod(target, 0o755 if os.path.basename(os.path.dirname(target)) == "bin" else 0o644)
    return 0


def replaced(build, root):
    """A note if the folder holds another configuration, which is replaced; else None."""
    try:
        text = Path(root, "lib/pkgconfig/dynsel.pc").read_text(encoding="utf-8")
    except OSError:
        return None
    found = {name: value for name, value in re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE)}
    if found.get("configuration") == tag(build.config):
        return None
    return (f"{root} had dynsel's variant {found.get('variant', 'of an older version')}; it has"
            f" {build.variant.name} now: one PREFIX holds one variant")


def _flags(build):
    """Flags that every user of the archive needs to compile and link."""
    machine = [flag for flag in build.board.cflags if flag.startswith("-m")]
    return machine + toolchain.sanitizers(build.config)


def _pc(build, top, prefix):
    """The archive is static, so each user needs its libraries: Requires, not Requires.private."""
    prefix = prefix.replace(" ", "\\ ")
    threads = ["-pthread"] if build.config["DYNSEL_CONTEXT_THREADS"] else []
    flags = " ".join(_flags(build) + threads)
    return (f"prefix={prefix}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n"
            f"board={build.variant.board}\nvariant={build.variant.name}\n"
            f"configuration={tag(build.config)}\n"
            f"pic={'yes' if build.config['DYNSEL_PIC'] else 'no'}\n\n"
            f"Name: dynsel\nDescription: Picks a device for each piece of work, without a heap"
            f" (variant {build.variant.name})\nVersion: {read_version(top)}\n"
            f"Requires: {' '.join(build.user_libs)}\n"
            f"Cflags: -I${{includedir}} {flags}\nLibs: -L${{libdir}} -ldynsel {flags}\n")


def _packages(build, top):
    """Name -> text of the files for CMake."""
    packages = [CMAKE_PACKAGES[lib] for lib in build.user_libs]
    if build.config["DYNSEL_CONTEXT_THREADS"]:
        packages.append(("find_dependency(Threads)\n", "Threads::Threads"))
    needed = [lines for lines, _ in packages]
    version = read_version(top)
    major, minor, _ = version.split(".")
    values = {
        "VERSION": version, "MAJOR": major, "MINOR": minor,
        "PIC": "ON" if build.config["DYNSEL_PIC"] else "OFF", "BOARD": build.variant.board, "VARIANT": build.variant.name,
        "FLAGS": ";".join(_flags(build)),
        "DEPENDENCIES": "".join(["include(CMakeFindDependencyMacro)\n", *needed] if needed else []),
        "LIBRARIES": ";".join(target for _, target in packages),
        "POINTER_BYTES": toolchain.pointer_bytes(build.board.cc, tuple(build.board.cflags)),
    }
    return {name: _filled(Path(top) / f"site_scons/cmake/{name}.in", values) for name in TEMPLATES}


def _filled(template, values):
    text = template.read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda match: str(values[match.group(1)]), text)
