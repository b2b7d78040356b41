# SPDX-License-Identifier: Apache-2.0
"""menuconfig in a pseudo terminal: it really opens, and what it saves is what is built next."""

import os
import pty
import select
import shutil
import signal
import tempfile
import time
import unittest
from pathlib import Path

import support

SECONDS = 20


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, top, *arguments, term="xterm"):
        self.seen = ""
        self.process, self.fd = pty.fork()
        if self.process == 0:
            os.chdir(top)
            os.environ.update(TERM=term, LANG="C.UTF-8", LINES="30", COLUMNS="100")
            os.execvp("scons", ["scons", "-Q", *arguments])

    def expect(self, text):
        """Reads until this text has appeared."""
        end = time.monotonic() + SECONDS
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            data = self._read() if ready else b""
            if not data:
                self._give_up(f"{text!r} did not appear in: {self.seen!r}")
            self.seen += data.decode("utf-8", "replace")
        self.seen = self.seen.split(text, 1)[1]

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def status(self):
        """Reads to the end; the exit status."""
        while True:
            data = self._read()
            if not data:
                break
            self.seen += data.decode("utf-8", "replace")
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def _read(self):
        try:
            return os.read(self.fd, 4096)
        except OSError:  # how Linux says that the other end is closed
            return b""

    def _give_up(self, why):
        os.kill(self.process, signal.SIGKILL)
        self.status()
        raise AssertionError(why)


class Menuconfig(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = support.build_tree()
        cls.addClassCleanup(shutil.rmtree, cls.top)

    def test_new_fragment_is_saved(self):
        terminal = Terminal(self.top, "menuconfig", "SAVE=small")
        terminal.expect("saved to configs/small.conf")
        terminal.send("/max_resources\n")
        terminal.expect("Resources per policy")
        terminal.send("\n")
        terminal.expect("Resources per policy")
        terminal.send("\x7f\x7f7\nq")
        terminal.expect("Save configuration?")
        terminal.send("y")
        terminal.expect("saved configs/small.conf (1 line); build it with: scons CONF=small")
        self.assertEqual(terminal.status(), 0)
        self.assertEqual((self.top / "configs/small.conf").read_text(), "CONFIG_DYNSEL_MAX_RESOURCES=7\n")
        status, said = support.scons(self.top, "CONF=small")
        self.assertEqual(status, 0, said)
        header = (self.top / "build/native+small/gen/dynsel/autoconf.h").read_text()
        self.assertIn("#define CONFIG_DYNSEL_MAX_RESOURCES 7\n", header)

    def test_plain_menuconfig_changes_what_plain_scons_builds(self):
        defconfig = self.top / "boards/native/defconfig"
        before = defconfig.read_text()
        terminal = Terminal(self.top, "menuconfig")
        terminal.expect("saved to boards/native/defconfig")
        terminal.send("/dynsel_assertions\n")
        terminal.expect("Assertions inside the library")
        terminal.send(" q")
        terminal.expect("Save configuration?")
        terminal.send("y")
        terminal.expect("saved boards/native/defconfig (2 lines); build it with: scons\r\n")
        self.assertEqual(terminal.status(), 0)
        self.assertEqual(defconfig.read_text(), before + "CONFIG_DYNSEL_ASSERTIONS=y\n")
        status, said = support.scons(self.top)
        self.assertEqual(status, 0, said)
        header = (self.top / "build/native/gen/dynsel/autoconf.h").read_text()
        self.assertIn("#define CONFIG_DYNSEL_ASSERTIONS 1\n", header)
        defconfig.write_text(before)

    def test_targets_and_aspects_are_in_the_menu(self):
        terminal = Terminal(self.top, "menuconfig", "CONF=debug", "SAVE=debug")
        terminal.expect("Device aspects")
        terminal.send("/dynsel_target_unknown\n")
        terminal.expect("unknown: a device that nothing is known of")
        terminal.send("/dynsel_aspect_fp16\n")
        terminal.expect("fp16: computes with half precision")
        terminal.send("q")
        terminal.expect("No changes to save")
        self.assertEqual(terminal.status(), 0)

    def test_menu_repairs_configuration_without_target(self):
        path = self.top / "configs/none.conf"
        support.write(path, "CONFIG_DYNSEL_TARGET_UNKNOWN=n\n")
        self.addCleanup(path.unlink)
        terminal = Terminal(self.top, "menuconfig", "CONF=none")
        terminal.expect("saved to configs/none.conf")
        terminal.send("/dynsel_target_unknown\n")
        terminal.expect("unknown: a device that nothing is known of")
        terminal.send(" q")
        terminal.expect("Save configuration?")
        terminal.send("y")
        terminal.expect("saved configs/none.conf")
        self.assertEqual(terminal.status(), 0)
        self.assertNotIn("=n", path.read_text(encoding="utf-8"))

    def test_unchanged_menu_quits_without_question(self):
        before = support.snapshot(self.top, "configs")
        terminal = Terminal(self.top, "menuconfig", "CONF=debug")
        terminal.expect("saved to configs/debug.conf")
        terminal.send("q")
        terminal.expect("No changes to save")
        self.assertEqual(terminal.status(), 0)
        self.assertEqual(support.snapshot(self.top, "configs"), before)

    def test_product_has_its_part_of_the_menu_and_its_files(self):
        place = Path(tempfile.mkdtemp(prefix="acme-"))
        self.addCleanup(shutil.rmtree, place)
        support.write(place / "SConstruct", f'SConscript("{self.top}/SConstruct")\n')
        support.write(place / "Kconfig", 'config ACME_FAST\n\tbool "Faster than light"\n\thelp\n\t  No cost.\n')
        before = support.snapshot(self.top, "configs")
        terminal = Terminal(place, "menuconfig", "SAVE=light")
        terminal.expect("saved to")
        terminal.expect(f"Product {place.name}")
        terminal.send("/acme_fast\n")
        terminal.expect("Faster than light")
        terminal.send(" q")
        terminal.expect("Save configuration?")
        terminal.send("y")
        terminal.expect("configs/light.conf (1 line); build it with: scons CONF=light\r\n")
        self.assertEqual(terminal.status(), 0)
        self.assertEqual((place / "configs/light.conf").read_text(), "CONFIG_ACME_FAST=y\n")
        self.assertEqual(support.snapshot(self.top, "configs"), before)

    def test_dumb_terminal_is_refused(self):
        for term in ("dumb", "no-such-terminal"):
            terminal = Terminal(self.top, "menuconfig", term=term)
            terminal.expect(f"menuconfig needs a terminal on which it can draw (TERM is {term})")
            self.assertEqual(terminal.status(), 2)

    def test_menu_refuses_wrong_files(self):
        support.write(self.top / "configs/wrong.conf", "CONFIG_DYNSEL_MAX_RESOURCES=0\n")
        terminal = Terminal(self.top, "menuconfig", "CONF=wrong")
        terminal.expect("configs/wrong.conf:1: CONFIG_DYNSEL_MAX_RESOURCES=0 is out of range")
        self.assertEqual(terminal.status(), 2)
        (self.top / "configs/wrong.conf").unlink()


if __name__ == "__main__":
    unittest.main()
