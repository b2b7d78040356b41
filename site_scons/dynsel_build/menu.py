# SPDX-License-Identifier: Apache-2.0
"""menuconfig, guiconfig and savedefconfig: Kconfiglib's menus on layers.

The menus read and write one full .config. Here they start from the assignments of the layers, so that an
option without an assignment keeps following its default, and they save the difference in one layer.
"""

import errno
import importlib
import os
import sys

import kconfiglib as kl

from . import config as configs, variants
from .errors import UserMistake
from .save import Target

DEFCONFIG = "defconfig"


def target_of(session):
    """The file to save to, so that the same command line builds the saved configuration."""
    target = _chosen_target(session)
    target.pretends = session.pretends
    return target


def _chosen_target(session):
    chosen = session.chosen()
    if len(chosen) != 1:
        raise UserMistake("one variant at a time can be configured, not "
                          + " and ".join(v.name for v in chosen))
    variant = chosen[0]
    if variant.settings:
        raise UserMistake(f"{variant.name} has settings, which belong to no file; name the variant without ~")
    name = session.arguments.get("SAVE")
    if name is None:
        name = _obvious(variant)
    if name == DEFCONFIG:
        return Target(session.trees, variants.Variant(variant.board, build=variant.build),
                      _writable(session.trees, configs.defconfig(session.trees, variant.board)), [])
    return _fragment_target(session, variant, name)


def _obvious(variant):
    """The target without SAVE=: a file that `scons` with the same CONF reads."""
    if len(variant.fragments) > 1:
        raise UserMistake(f"{variant.name} has several fragments; choose the one to save to:"
                          f" SAVE={variant.fragments[-1]}, SAVE=<new name> or SAVE={DEFCONFIG}")
    return variant.fragments[0] if variant.fragments else DEFCONFIG


def _fragment_target(session, variant, name):
    if not name.replace("_", "").replace("-", "").isalnum():
        raise UserMistake(f"SAVE={name}: use letters, digits, - and _ for a fragment's name")
    if name in variant.fragments[:-1]:
        raise UserMistake(f"SAVE={name}: save to the last fragment of CONF, because fragments"
                          f" after {name} would hide the change")
    variant = variant.with_fragment(name)
    below = configs.layers_of(session.trees, variant.board, variant.fragments[:-1])
    return Target(session.trees, variant, _writable(session.trees, configs.fragment_path(session.trees, name)), below)


def _writable(trees, path):
    """The path; with products only their files are changed."""
    if trees.products and not trees.owner(path):
        raise UserMistake(f"{path} is dynsel's, and the product {trees.products[0].root} changes only its own files;"
                          f" save to a fragment of the product: SAVE=<new name> writes {trees.products[0].root}/configs/")
    return path


def savedefconfig(session):
    """The configuration of BOARD and CONF, as few lines as possible, into the target."""
    target = target_of(session)
    print(target.save(session.load(session.chosen()[0]).values()))


def open_menu(session, which):
    """Opens menuconfig or guiconfig. The files must be valid, because lost assignments cannot be saved."""
    target = target_of(session)
    layers = configs.layers_of(session.trees, target.variant.board, session.chosen()[0].fragments)
    if target.path not in [layer.path for layer in layers]:
        layers.append(configs.Layer(target.path, target.text()))
    start = configs.load(session.trees, target.variant.board, layers, target.variant.name, _MenuKconfig,
                         complete=False)
    start.kconf.become_menu(target)
    _run_menu(which, start.kconf, target)


def _run_menu(which, kconf, target):
    if which == "menuconfig" and not _can_draw():
        raise UserMistake(f"menuconfig needs a terminal on which it can draw (TERM is"
                          f" {os.environ.get('TERM', 'not set')}); without one, edit {target.path}"
                          " and check it with: scons why=SYMBOL")
    os.environ["KCONFIG_CONFIG"] = target.path
    try:
        module = importlib.import_module(which)
    except ImportError as e:
        package = "python3-tk" if which == "guiconfig" else "python3-kconfiglib"
        raise UserMistake(f"{which} needs {e.name}; on Debian and Ubuntu: apt-get install {package}"
                          ) from e
    _teach(module)
    getattr(module, which)(kconf)
    if kconf.said:
        print(kconf.said)


def _can_draw():
    """Whether stdin and stdout are a terminal that curses knows and whose cursor can be placed."""
    import curses

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        curses.setupterm()
    except curses.error:
        return False
    return curses.tigetstr("cup") is not None


def _teach(module):
    """Adapts the menus, which expect a full .config with a line for each option.

    There, an option without a line is new and unsaved; here it follows its default and needs neither a
    mark in the menu nor a question at the end.
    """
    plain = module._node_str
    module._node_str = lambda node: plain(node).replace(" (NEW)", "")
    module._needs_save = lambda: False


class _MenuKconfig(kl.Kconfig):
    """A Kconfig that the menus read from and write to layers."""

    target = None
    said = ""

    def become_menu(self, target):
        self.target = target
        title = f"dynsel: {target.variant.name}, saved to {target.path}"
        self.top_node.prompt = (title, self.y)

    def load_config(self, filename=None, replace=True, verbose=None):
        """Reads nothing at the start, because the layers are loaded. 'O' in the menu reads a file."""
        if filename is None:
            return f"Configuration of {self.target.variant.name}"
        return super().load_config(filename, replace, verbose)

    def write_config(self, filename=None, header=None, save_old=True, verbose=None):
        """Saves the difference; errors become OSError, which the menus show."""
        if filename is not None and os.path.normpath(filename) != self.target.path:
            raise OSError(errno.EINVAL, f"this menu saves to {self.target.path}; to save elsewhere,"
                          " leave and start it with SAVE=name", filename)
        try:
            self.said = self.target.save({s.name: s.str_value for s in self.unique_defined_syms})
        except UserMistake as e:
            raise OSError(errno.EINVAL, str(e), self.target.path) from e
        return f"{self.target.variant.name} is configured"

    def write_min_config(self, filename, header=None):
        """'D' in the menu: every save is minimal."""
        return self.write_config(filename, header)
