# SPDX-License-Identifier: Apache-2.0
"""What `scons install` adds for products: their headers, and files for pkg-config and CMake.

Their archives are installed with dynsel's, from which each of these files takes flags and libraries.
"""

import os

from .product_build import INCLUDE

PC = """\
prefix={prefix}
libdir=${{prefix}}/lib
includedir=${{prefix}}/include

Name: {name}
Description: The part of the product {name} that is built with dynsel (variant {variant})
Version: {version}
Requires: dynsel = {version}
Cflags: -I${{includedir}}
Libs: -L${{libdir}} -l{name}
"""

CMAKE = """\
# Made by dynsel's `scons install`: find_package({name} CONFIG) gives the target {name}::{name}, and dynsel::dynsel.
include(CMakeFindDependencyMacro)
find_dependency(dynsel {version} EXACT CONFIG)
if(NOT TARGET {name}::{name})
  get_filename_component(_{identifier}_prefix "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)
  add_library({name}::{name} STATIC IMPORTED)
  set_target_properties({name}::{name} PROPERTIES
    IMPORTED_LOCATION "${{_{identifier}_prefix}}/lib/lib{name}.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES "C"
    INTERFACE_INCLUDE_DIRECTORIES "${{_{identifier}_prefix}}/include"
    INTERFACE_LINK_LIBRARIES dynsel::dynsel)
  unset(_{identifier}_prefix)
endif()
"""


def declare(build, env, root, prefix, version):
    """Nodes for the installed files of all products. env: copies as install.py does."""
    return [node for product in build.trees.products for node in _of(build, env, product, root, prefix, version)]


def _of(build, env, product, root, prefix, version):
    nodes = [_header(build, env, product, path, root) for path in build.trees.files(f"{INCLUDE}/**/*.h")
             if build.trees.owner(path) == product]
    if product.name not in build.side_archives:
        return nodes
    name = product.name
    values = {"name": name, "identifier": "".join(c if c.isalnum() else "_" for c in name),
              "variant": build.variant.name, "version": version, "prefix": prefix.replace(" ", "\\ ")}
    pc = build.written(f"package{prefix}/{name}.pc", PC.format(**values))
    cmake = build.written(f"package/{name}Config.cmake", CMAKE.format(**values))
    return [*nodes, env.Install(f"{root}/lib/pkgconfig", pc), env.Install(f"{root}/lib/cmake/{name}", cmake)]


def _header(build, env, product, path, root):
    folder = os.path.dirname(os.path.relpath(path, f"{product.root}/{INCLUDE}"))
    return env.Install(os.path.normpath(f"{root}/include/{folder}"), env.File(str(build.trees.real(path))))
