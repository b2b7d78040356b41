# SPDX-License-Identifier: Apache-2.0
"""dynsel in the builds of Zephyr and ESP-IDF, as far as it can be tested without them: Kconfiglib loads the menu as
their tools do, and CMake builds the module and the component with their macros and headers stubbed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import kconfiglib
import yaml

TOP = Path(__file__).resolve().parents[2]
STUBS = Path(__file__).resolve().parent
SMALL = "CONFIG_DYNSEL_IN_FLIGHT_SMALL=y\nCONFIG_DYNSEL_ERROR_TEXTS=n\nCONFIG_DYNSEL_MAX_IN_FLIGHT=8\n"


class System:
    """The tests of one system: its menu, and its build."""

    folder_of_stub = ""
    menu, switch, environment = "", "", {}

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-rtos-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def configure(self, lines, optimizes_size=False):
        """Writes .config and autoconf.h of a project with these lines; fails for each warning of Kconfiglib."""
        (self.folder / "Kconfig").write_text(self.menu, encoding="utf-8")
        size = f"CONFIG_{self.size}=y\n" if optimizes_size else ""
        (self.folder / "prj.conf").write_text(self.switch + size + lines, encoding="utf-8")
        around = {"srctree": str(self.folder), "KCONFIG_WARN_UNDEF": "y", "CONFIG_": "CONFIG_", **self.environment}
        before = {name: os.environ.get(name) for name in around}
        os.environ.update(around)
        try:
            kconf = kconfiglib.Kconfig("Kconfig", warn_to_stderr=False)
            kconf.warn_assign_undef = True
            kconf.load_config("prj.conf")
            for sym in kconf.unique_defined_syms:
                sym.str_value  # pylint: disable=pointless-statement # it warns
            kconf.write_config(str(self.folder / ".config"))
            kconf.write_autoconf(str(self.folder / "autoconf.h"))
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        self.assertEqual(kconf.warnings, [])
        return kconf

    def run_here(self, *command, status=0):
        done = subprocess.run(command, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}")
        return done.stdout

    def cmake(self, status=0):
        return self.run_here("cmake", "-G", "Unix Makefiles", "-S", str(STUBS / self.folder_of_stub), "-B", "made",
                             f"-DDYNSEL_TOP={TOP}", f"-DDOTCONFIG={self.folder}/.config", f"-DPYTHON={sys.executable}",
                             f"-DPYTHON_EXECUTABLE={sys.executable}", f"-DAUTOCONF_H={self.folder}/autoconf.h",
                             status=status)

    def works(self):
        self.cmake()
        said = self.run_here("cmake", "--build", "made")
        self.assertNotIn("`.dynsel", said)  # the linker of both systems reports sections that their scripts lack
        self.assertIn("40 done, 0 failed", self.run_here("made/program"))

    def test_defaults_work(self):
        self.configure("")
        self.works()

    def test_small_configuration_works(self):
        self.configure(SMALL, optimizes_size=True)
        self.works()
        text = next((self.folder / "made").rglob("dynsel/include/dynsel/autoconf.h")).read_text("utf-8")
        self.assertIn("#define CONFIG_DYNSEL_MAX_IN_FLIGHT 8\n", text)
        self.assertIn("#define CONFIG_DYNSEL_OPTIMIZE_SIZE 1\n", text)
        self.assertIn("#define CONFIG_DYNSEL_BACKEND_OPENCL 0\n", text)

    def test_every_option_has_the_value_of_the_menu(self):
        """Ours has each bool, as 0 or 1; theirs has those that are 1."""
        self.configure(SMALL)
        self.cmake()
        ours = next((self.folder / "made").rglob("dynsel/include/dynsel/autoconf.h")).read_text("utf-8")
        theirs = re.findall(r"^#define CONFIG_(DYNSEL_\w+) (.*)$", (self.folder / "autoconf.h").read_text("utf-8"), re.M)
        values = dict(re.findall(r"^#define CONFIG_(DYNSEL_\w+) (.*)$", ours, re.M))
        self.assertGreater(len(theirs), 20)
        for name, value in theirs:
            if not name.startswith("DYNSEL_ON_"):
                self.assertEqual(values[name], value, name)
        ones = {name for name, value in theirs if value == "1"}
        self.assertEqual({name for name, value in values.items() if value == "1"} - ones, set())
        self.assertIn("0", values.values())

    def test_a_wrong_config_is_refused(self):
        self.configure("")
        path = self.folder / ".config"
        text = path.read_text("utf-8")
        for changed, said in ((text + "CONFIG_DYNSEL_" "MAX_INFLIGHT=3\n", "did you mean DYNSEL_MAX_IN_FLIGHT?"),
                              (text.replace("CONFIG_DYNSEL=y\n", ""), "enable dynsel in the menu")):
            path.write_text(changed, encoding="utf-8")
            done = subprocess.run([TOP / "tools/dynsel-amalgamation", "--config", path, "--name", "x", "--output",
                                   self.folder / "out"], text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, f"^dynsel: {path}: .*{re.escape(said)}")
            self.assertFalse((self.folder / "out").exists())

    def test_a_second_run_changes_no_file(self):
        self.configure("")
        self.cmake()
        times = {path: path.stat().st_mtime_ns for path in (self.folder / "made").rglob("dynsel/**/*.[ch]")}
        self.cmake()
        self.assertGreater(len(times), 40)
        self.assertEqual(times, {path: path.stat().st_mtime_ns for path in times})


class Zephyr(System, unittest.TestCase):
    folder_of_stub, size = "zephyr", "SIZE_OPTIMIZATIONS"
    switch = "CONFIG_DYNSEL=y\n"
    environment = {"ZEPHYR_DYNSEL_KCONFIG": str(TOP / "zephyr/Kconfig"), "BOARD": "qemu_cortex_m3"}
    menu = """
mainmenu "Zephyr Kernel Configuration"

config SIZE_OPTIMIZATIONS
	bool "Optimize for size"

menu "dynsel"

osource "$(ZEPHYR_DYNSEL_KCONFIG)"

config ZEPHYR_DYNSEL_MODULE
	bool
	default y

endmenu
"""

    def test_module_yml_names_files(self):
        module = yaml.safe_load((TOP / "zephyr/module.yml").read_text("utf-8"))
        self.assertEqual(module["name"], "dynsel")
        self.assertEqual(set(module["build"]), {"cmake", "kconfig"})
        self.assertTrue((TOP / module["build"]["cmake"] / "CMakeLists.txt").is_file())
        self.assertTrue((TOP / module["build"]["kconfig"]).is_file())

    def test_nothing_is_built_unless_enabled(self):
        self.switch = ""
        kconf = self.configure("")
        self.assertEqual([s.name for s in kconf.unique_defined_syms if s.name.startswith("DYNSEL") and s.str_value == "y"], [])
        self.cmake()
        self.assertEqual(list((self.folder / "made").rglob("dynsel.c")), [])


class EspIdf(System, unittest.TestCase):
    folder_of_stub, size = "esp_idf", "COMPILER_OPTIMIZATION_SIZE"
    environment = {"COMPONENT_KCONFIG": str(TOP / "esp_idf/dynsel/Kconfig")}
    menu = """
mainmenu "Espressif IoT Development Framework Configuration"

config COMPILER_OPTIMIZATION_SIZE
	bool "Optimize for size"

menu "Component config"
source "$(COMPONENT_KCONFIG)"
endmenu
"""

    def test_manifest_is_of_this_version(self):
        sys.path.insert(0, str(TOP / "site_scons"))
        from dynsel_build.version import read as read_version
        manifest = yaml.safe_load((TOP / "esp_idf/dynsel/idf_component.yml").read_text("utf-8"))
        self.assertEqual(manifest["version"], read_version(TOP))
        self.assertEqual(manifest["license"], "Apache-2.0")


if __name__ == "__main__":
    unittest.main()
