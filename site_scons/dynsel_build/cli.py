# SPDX-License-Identifier: Apache-2.0
"""The command line: variables, help text, and commands that build nothing."""

import re
from . import boards, config as configs, grammar, variants
from .errors import UserMistake, unknown

# name -> (targets that use it, or None for all; line in the help text)
ARGUMENTS = {
    "BOARD": (None, "boards to build for (default native)"),
    "CONF": (None, "fragments on top of each board, in this order (default none)"),
    "VARIANTS": (None, "names of variants, instead of BOARD and CONF"),
    "PRODUCT": (None, "folders of products, with boards, fragments, targets and sources on top (doc/products.md)"),
    "O": (None, "the folder for what is built, in place of build/ (of the first product, if there is one)"),
    "VERBOSE": (None, "1 prints complete command lines (default 0)"),
    "SAVE": (("menuconfig", "guiconfig", "savedefconfig"), "where to save: the name of a fragment, or defconfig"),
    "PREFIX": (("install",), "installation folder (default /usr/local)"),
    "DESTDIR": (("install",), "staging folder in front of PREFIX, for packaging (default empty)"),
    "RANDOM": (("matrix",), "number of random configurations, instead of one for each option"),
    "SEED": (("matrix",), "seed of the random configurations (default a new one each time)"),
    "ARGS": (("bench", "soak"), "arguments for the program, such as --help"),
    "A": (("diffconfig",), "the first variant to compare"),
    "B": (("diffconfig",), "the second variant to compare"),
    "why": (None, "why=SYMBOL: its value, its origin, the conditions that block it"),
}

OF_DYNSEL = ("footprint", "format")  # targets that change dynsel's own files


class Session:
    """One call of scons: its arguments and configurations."""

    def __init__(self, trees, arguments, targets, pretends=False):
        """pretends: writes nothing, as with -n."""
        self.trees, self.top, self.pretends = trees, trees.top, pretends
        self.arguments = dict(arguments)
        self.targets = list(targets)
        self._loaded = {}

    def check_arguments(self, pairs):
        """Refuses unknown, duplicate and unused arguments, which scons alone ignores."""
        wrong = [self._unknown(name, value) for name, value in pairs if name not in ARGUMENTS]
        names = [name for name, _ in pairs]
        wrong += [f"{n}= is given twice; join the values with commas" for n in sorted(set(names))
                  if names.count(n) > 1]
        for name in self.arguments:
            targets = ARGUMENTS.get(name, (None,))[0]
            if targets and not set(targets) & set(self.targets):
                wrong.append(f"{name}= works only with the target {' or '.join(targets)}")
        for name in ("RANDOM", "SEED"):
            if not re.fullmatch("0|[1-9][0-9]{0,17}", self.arguments.get(name, "1")):
                wrong.append(f"{name}={grammar.shorten(self.arguments[name])}: write a number of at most"
                             f" {grammar.LONGEST_NUMBER} digits")
        if "SEED" in self.arguments and "RANDOM" not in self.arguments:
            wrong.append("SEED= needs RANDOM=<number of configurations>")
        if self.arguments.get("VERBOSE", "0") not in ("0", "1"):
            wrong.append(f"VERBOSE={self.arguments['VERBOSE']}: write 0 or 1")
        if self.trees.products:
            wrong += [f"{target} changes dynsel's own files; call it without PRODUCT={self.arguments['PRODUCT']}"
                      for target in OF_DYNSEL if target in self.targets]
        if wrong:
            raise UserMistake(wrong)

    def _unknown(self, name, value):
        """The error for an unknown variable, which often is an option of the menu."""
        bare = name.upper().removeprefix("CONFIG_").removeprefix("DYNSEL_")
        options = configs.parse_kconfig(self.trees, variants.DEFAULT_BOARD).syms
        if f"DYNSEL_{bare}" in options or bare in options:
            return (f"{name} is an option, not a variable; put it into a fragment, or try it with"
                    f" VARIANTS={variants.DEFAULT_BOARD}~{bare}={value}")
        return unknown("variable", name, ARGUMENTS)

    def chosen(self):
        return variants.chosen(self.trees, self.arguments)

    def load(self, variant):
        """The configuration of a variant; read once."""
        if variant not in self._loaded:
            self._loaded[variant] = configs.load(self.trees, variant.board, variant.layers(self.trees),
                                                 variant.name)
        return self._loaded[variant]

    def load_all(self, wanted):
        """The configurations of all of them, or their errors together."""
        mistakes = []
        for variant in wanted:
            try:
                self.load(variant)
            except UserMistake as e:
                mistakes += e.lines
        if mistakes:
            raise UserMistake(dict.fromkeys(mistakes))
        return {variant: self._loaded[variant] for variant in wanted}

    def board(self, variant):
        return boards.describe(self.trees, variant.board, self.load(variant))


HELP = """\
Usage: scons [target...] [VARIABLE=value...]
A variant is a board with fragments on top, built in build/<board>[+<fragment>...]/:
  scons                                build/native
  scons BOARD=a,b CONF=debug,clang     build/a+debug+clang and build/b+debug+clang
  scons VARIANTS=native,native+clang   build/native and build/native+clang
  scons VARIANTS=native~ERROR_TEXTS=n  with one option changed, without a file
  scons PRODUCT=../acme O=/tmp/out     /tmp/out/native, with a tree of your own on top of this one
Its configuration is boards/<board>/defconfig, then configs/<fragment>.conf in the order of CONF.

Targets that build
  (none), all     the library, the examples, compile_commands.json
  test            build and run the tests of the library and its examples; with PRODUCT those of the product
  check           test, also other compilers and configurations, the build and documents; all gates
  demo, gallery   build and run the main example; and one that learns, twice; `ranks` with CONF=mpi: over processes
  bench, soak     measure the cost of a submit; ten million submits from several threads must add up
  usecases        build the programs of doc/results.md; use CONF=usecases for full tables and speed
  matrix          the short tests, with each option of the menu flipped, or with RANDOM=20
  coverage        the lines and branches that the library's tests reach: a table; the rest in a list
  size, footprint flash, RAM and stack, within the board's limits; the same for the tables of doc/footprint.md
  docs, dist      guide, reference and man pages in build/docs; the archive of a release in build/dist
  misra           check MISRA C:2012 in the library; doc/misra.md lists the deviations
  amalgamation    the library as one C file, with its headers: build/<variant>/amalgamation
  install         archive, headers, tools, files for pkg-config and CMake, into PREFIX
  -c              remove what the same command line builds; alone: the variant's folder
Targets that configure or check; each must be the only target
  menuconfig, guiconfig   edit the options; save to SAVE (default: CONF's only fragment, else defconfig)
  savedefconfig           the same without a menu
  <board>_defconfig       check a board's defconfig, write build/<board>/.config
  why=SYMBOL              the value of an option, its origin, the conditions that block it, its help
  diffconfig A=x B=y      the differences between two variants
  kconfig-lint, layers, format   check the menu; check the layers of src/; format the sources

Variables [value in this call]
{variables}
Boards: {boards}    Fragments: {fragments}
From the environment: {shell}
"""


def help_text(session, shell_variables):
    """`scons -h`."""
    def line(name, text):
        value = session.arguments.get(name)
        return f"  {name:9} {text}" + (f"   [{value}]" if value is not None else "")

    return HELP.format(
        variables="\n".join(line(name, text) for name, (_, text) in ARGUMENTS.items()
                            if name not in ("A", "B", "why")),
        boards=" ".join(boards.names(session.trees)),
        fragments=" ".join(variants.fragment_names(session.trees)),
        shell=" ".join(shell_variables))


# Commands that build nothing. Each must be the only target.

def find_command(session):
    """The function of the command among the targets; None if there is none."""
    if "why" in session.arguments:
        if session.targets or not session.arguments["why"]:
            raise UserMistake("why= takes one option and no target: scons why=MAX_RESOURCES")
        return _why
    names = [t for t in session.targets if t in COMMANDS or t.endswith("_defconfig")]
    if not names:
        return None
    if len(session.targets) > 1:
        raise UserMistake(f"{names[0]} must be the only target; run `scons {names[0]}` first, then the others")
    if names[0] in COMMANDS:
        return COMMANDS[names[0]]
    return lambda s: _defconfig(s, names[0][: -len("_defconfig")])


def _why(session):
    from . import explain

    for variant in session.chosen():
        print("\n".join(explain.why(session.load(variant), session.arguments["why"])))


def _diffconfig(session):
    from . import explain

    if not {"A", "B"} <= set(session.arguments):
        raise UserMistake("diffconfig compares two variants: scons diffconfig A=native B=native+minimal")
    a, b = (variants.parse(session.trees, session.arguments[n], f"{n}: ") for n in "AB")
    loaded = session.load_all([a, b])
    print("\n".join(explain.diff(loaded[a], loaded[b])))


def _defconfig(session, board):
    """As in Linux, but stores nothing: each call names the board."""
    variant = variants.parse(session.trees, board)
    path = write_config(session, variant)
    print(f"{board}: {configs.defconfig(session.trees, board)} is valid; its values are in {path}")
    print(f"build it with: {session.trees.scons(variant.arguments())}"
          f"   change it with: {session.trees.scons(variant.arguments(), 'menuconfig')}")


def write_config(session, variant):
    """build/<variant>/.config, for reading."""
    path = session.trees.real(f"{variant.folder}/.config")
    text = config_text(session.load(variant))
    if not session.pretends:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return f"{variant.folder}/.config"


def config_text(config):
    """The full .config, for readers and for tools that know the format. It is never read back."""
    first = f"# Generated for the variant {config.variant_name}; output only: the build never reads it.\n"
    return first + "".join(s.config_string for s in config.symbols().values())


def _lint(session):
    from . import lint

    found = lint.lint(session.trees)
    if found:
        raise UserMistake(found)
    print("kconfig-lint: no errors found")


def _layers(session):
    from . import layers

    found = layers.lint(session.top)
    if found:
        raise UserMistake(found)
    print("layers: no errors found")


def _format(session):
    from . import gates

    trouble = gates.format_in_place(session.top, session.pretends)
    if trouble:
        raise UserMistake(trouble)


def _menu(which):
    def command(session):
        from . import menu

        menu.open_menu(session, which)
    return command


def _savedefconfig(session):
    from . import menu

    menu.savedefconfig(session)


COMMANDS = {
    "menuconfig": _menu("menuconfig"),
    "guiconfig": _menu("guiconfig"),
    "savedefconfig": _savedefconfig,
    "diffconfig": _diffconfig,
    "kconfig-lint": _lint,
    "layers": _layers,
    "format": _format,
}
