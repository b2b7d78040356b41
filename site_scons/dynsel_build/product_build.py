# SPDX-License-Identifier: Apache-2.0
"""The functions of a product's SConscript: component(), program() and test(), for one variant."""

from .errors import UserMistake
from .products import SCONSCRIPT
from .toolchain import FRAMES, position_independent
from .trees import at

INCLUDE = "include"


class ProductBuild:
    """The nodes of one product. Its sources see the public headers of dynsel and of all products."""

    def __init__(self, build, product):
        """build: the VariantBuild of the same variant."""
        self.product, self._build = product, build
        self._objects = build.product_objects.setdefault(product.name, [])
        self.env, self.test_env = build.env.Clone(), build.test_env.Clone()
        folders = [build.env.Dir(at(f"{p.root}/{INCLUDE}")) for p in build.trees.products]
        for env in (self.env, self.test_env):
            env.Prepend(CPPPATH=folders)
            env["OBJECTS"] = f"products/{product.name}/"
        self._component_env = self.env.Clone()
        self._component_env.Append(CCFLAGS=[FRAMES, *build.board.library_cflags, *self._same_everywhere(),
                                            *position_independent(build.config)])
        self._path = at(f"{build.variant.folder}/lib{product.name}.a")
        self.archive = [build.env.File(self._path)]
        self.programs = []

    def read(self):
        """Reads the SConscript, if there is one."""
        script = f"{self.product.root}/{SCONSCRIPT}"
        if not self._build.trees.real(script).is_file():
            return
        self._build.product_archives.insert(0, self.archive)  # a product may use the ones in front of it
        exports = {"component": self.component, "program": self.program, "test": self.test,
                   "config": self._build.config}
        try:
            self.env.SConscript(at(script), exports=exports)
        except UserMistake as e:
            raise UserMistake([f"{script}: {line}" for line in e.lines]) from e
        self._build.side_archives[self.product.name] = self.env.StaticLibrary(self._path, self._objects)

    def component(self, name, sources, when=(), libs=()):
        """A part of lib<product>.a: its sources are compiled if all symbols in `when` are set.

        libs: pkg-config modules of its sources, which each user links with.
        """
        if self._build.wanted(when):
            env = self._build.with_libraries(self._component_env, libs)
            self._objects += [self._build.object_of(env, source) for source in sources]
            self._build.user_libs += [lib for lib in libs if lib not in self._build.user_libs]

    def program(self, name, sources, **more):
        """build/<variant>/bin/<name>, linked with the products and the library; as program() of dynsel."""
        if name in self._build.programs:
            raise UserMistake(f"dynsel or another product has a program {name}; choose another name")
        self._build.program(name, sources, product=self, **more)
        self.programs += self._build.programs.get(name, [])

    def test(self, source, **more):
        """A test of `scons test`, linked with the products and the library; as test() of dynsel."""
        self._build.test(source, product=self, **more)

    def _same_everywhere(self):
        """Keeps the product's path out of the debug information."""
        root = self._build.trees.real(self.product.root)
        return ["$(", f"-ffile-prefix-map={root}={self.product.name}", "$)"]
