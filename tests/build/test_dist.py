# SPDX-License-Identifier: Apache-2.0
"""`scons docs` and `scons dist`, in clones of this tree: what the archive has, that it is the same from another place, and
errors. Where the packages for documents are missing it only looks at the errors that need none."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

from support import TOP, scons

from dynsel_build import docs
from dynsel_build.version import read as read_version

MOMENT = 1600000000
VERSION = read_version(TOP)
NAME = f"dynsel-{VERSION}"
MISSING = docs.missing()
CMAKE = """\
cmake_minimum_required(VERSION 3.18)
project(port C)
find_package(dynsel CONFIG REQUIRED)
file(GLOB sources *.c)
list(FILTER sources EXCLUDE REGEX original)
add_executable(port ${sources})
target_link_libraries(port PRIVATE dynsel::dynsel m)
"""


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)


class Tree(unittest.TestCase):
    """A clone of what this tree has now, and what it builds."""

    @classmethod
    def setUpClass(cls):
        cls.home = Path(tempfile.mkdtemp(prefix="dynsel-dist-"))
        cls.addClassCleanup(shutil.rmtree, cls.home)
        cls.top = cls.home / "tree"
        shutil.copytree(TOP, cls.top, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
        git(cls.top, "init", "-q")
        git(cls.top, "add", "-A")
        git(cls.top, "commit", "-q", "-m", "x")

    def refused(self, *arguments, **env):
        """The lines that scons says; it must fail."""
        status, said = scons(self.top, *arguments, env=env)
        self.assertNotEqual(status, 0, said)
        self.assertNotIn("Traceback", said)
        return said

    def replaced(self, path, old, new):
        """Changes a file for the rest of the test."""
        file = self.top / path
        text = file.read_text(encoding="utf-8")
        self.assertIn(old, text)
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        self.addCleanup(file.write_text, text, encoding="utf-8")


@unittest.skipIf(MISSING, f"the documents need {' '.join(MISSING)}")
class Release(Tree):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        status, said = scons(cls.top, "dist", env={"SOURCE_DATE_EPOCH": str(MOMENT)})
        assert status == 0, said
        cls.archive = cls.top / f"build/dist/{NAME}.tar.gz"
        with tarfile.open(cls.archive) as tar:
            cls.entries = tar.getmembers()
            cls.files = {entry.name: tar.extractfile(entry).read() for entry in cls.entries}
        cls.bill = json.loads(cls.files[f"{NAME}/{NAME}.spdx.json"])

    def test_from_another_place_it_is_the_same(self):
        other = self.home / "a longer place/again"
        shutil.copytree(self.top, other, symlinks=True)
        for folder in ("build/dist", "build/docs"):
            shutil.rmtree(other / folder)
        status, said = scons(other, "dist", env={"SOURCE_DATE_EPOCH": str(MOMENT), "LC_ALL": "C", "TZ": "Asia/Tokyo"})
        self.assertEqual(status, 0, said)
        again = (other / f"build/dist/{NAME}.tar.gz").read_bytes()
        self.assertEqual(hashlib.sha256(again).hexdigest(), hashlib.sha256(self.archive.read_bytes()).hexdigest())

    def test_it_has_what_git_tracks_and_the_manual(self):
        tracked = subprocess.run(["git", "ls-files"], cwd=self.top, text=True, capture_output=True, check=True).stdout
        for name in [*tracked.split(), "manual/html/index.html", "manual/html/reference/index.html",
                     "manual/html/doc/guide/first-program.html", "manual/man/dynsel-info.1"]:
            self.assertIn(f"{NAME}/{name}", self.files)
        self.assertEqual([e.name for e in self.entries], sorted(e.name for e in self.entries))
        for entry in self.entries:
            self.assertEqual((entry.mtime, entry.uid, entry.gid, entry.uname, entry.isfile()), (MOMENT, 0, 0, "", True))
        modes = {e.name: e.mode for e in self.entries}
        self.assertEqual((modes[f"{NAME}/bootstrap"], modes[f"{NAME}/README.md"]), (0o755, 0o644))
        self.assertEqual([name for name, text in self.files.items() if str(self.home).encode() in text], [])

    def test_guide_needs_no_network(self):
        """Whatever a browser loads by itself is there; links to click may lead out."""
        for name, text in self.files.items():
            if "/manual/html/" in name and name.endswith((".html", ".css")):
                loads = re.findall(rb"<(?:script|img|iframe)[^>]*src=\"(.*?)\"|<link[^>]*href=\"(.*?)\"|url\(([^)]*)\)|@import ([^;]*)", text)
                for found in (part for parts in loads for part in parts if part):
                    self.assertNotRegex(found, rb"^[\"']?(https?:)?//", name)

    def test_man_pages_have_all_of_the_help(self):
        said = subprocess.run([self.top / "tools/dynsel-trace", "summary", "--help"], text=True, capture_output=True, check=True)
        page = self.files[f"{NAME}/manual/man/dynsel-trace.1"].decode().replace("\\-", "-")
        for option in re.findall(r"^  (--\w+)", said.stdout, re.MULTILINE):
            self.assertIn(option, page)
        for name in ("dynsel-info", "dynsel-learned", "dynsel-replay", "dynsel-replay-plot", "dynsel-trace"):
            text = self.files[f"{NAME}/manual/man/{name}.1"].decode()
            self.assertRegex(text, rf'\.TH "{name.upper()}" "1" ')
            self.assertIn(VERSION, text)

    def test_bill_lists_each_file(self):
        """The rules of SPDX 2.3 for documents, packages, files and relationships."""
        bill, listed = self.bill, {entry["fileName"]: entry for entry in self.bill["files"]}
        self.assertEqual((bill["spdxVersion"], bill["dataLicense"], bill["SPDXID"]), ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertRegex(bill["documentNamespace"], r"^urn:[^#\s]+$")
        self.assertRegex(bill["creationInfo"]["created"], r"^2020-09-13T12:26:40Z$")
        self.assertRegex(bill["creationInfo"]["creators"][0], r"^Tool: \S+$")
        self.assertEqual(set(listed), {"./" + name.partition("/")[2] for name in self.files if not name.endswith(".spdx.json")})
        for name, entry in listed.items():
            content = self.files[f"{NAME}/{name[2:]}"]
            self.assertEqual({c["algorithm"]: c["checksumValue"] for c in entry["checksums"]},
                             {"SHA1": hashlib.sha1(content).hexdigest(), "SHA256": hashlib.sha256(content).hexdigest()})
            self.assertTrue(entry["licenseConcluded"] and entry["licenseInfoInFiles"] and entry["copyrightText"])
        self.assertEqual(listed["./examples/sepia/photo.png"]["licenseConcluded"], "LicenseRef-public-domain")
        self.assertEqual(listed["./src/base/status.c"]["licenseInfoInFiles"], ["Apache-2.0"])

    def test_bill_is_consistent(self):
        bill = self.bill
        ids = [x["SPDXID"] for x in (bill, *bill["packages"], *bill["files"])]
        self.assertEqual(len(ids), len(set(ids)))
        for name in ids:
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
        for relation in bill["relationships"]:
            self.assertIn(relation["spdxElementId"], ids)
            self.assertIn(relation["relatedSpdxElement"], ids)
            self.assertIn(relation["relationshipType"], ("DESCRIBES", "CONTAINS", "BUILD_TOOL_OF", "RUNTIME_DEPENDENCY_OF",
                                                             "OPTIONAL_DEPENDENCY_OF"))
        package = bill["packages"][0]
        self.assertEqual((package["name"], package["versionInfo"]), ("dynsel", VERSION))
        sums = sorted(c["checksumValue"] for f in bill["files"] for c in f["checksums"] if c["algorithm"] == "SHA1")
        self.assertEqual(package["packageVerificationCode"]["packageVerificationCodeValue"],
                         hashlib.sha1("".join(sums).encode()).hexdigest())
        for package in bill["packages"]:
            for field in ("downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"):
                self.assertTrue(package[field])

    def unpacked(self, folder):
        """The archive's tree in a folder of its own."""
        with tarfile.open(self.archive) as tar:
            tar.extractall(self.home / folder, filter="data") if sys.version_info >= (3, 12) else tar.extractall(
                self.home / folder)
        return self.home / folder / NAME

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("make"), "needs cmake and make")
    def test_ports_of_the_guide_run_from_an_installed_archive(self):
        """With pkg-config as their Makefiles say, and with CMake; outside of the archive's tree, which is gone then."""
        top, prefix = self.unpacked("release"), self.home / "prefix"
        # what the manual's tools were built of, so that only what differs in the archive is compiled again
        shutil.copytree(self.top / "build", top / "build", ignore=shutil.ignore_patterns("dist", "docs", ".lock"))
        status, said = scons(top, "install", f"PREFIX={prefix}")
        self.assertEqual(status, 0, said)
        self.assertNotRegex(said, r"(?m)^  CC ")
        ports = self.home / "ports"
        shutil.copytree(top / "examples/ports", ports)
        shutil.rmtree(top)
        around = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
        for name, said_first in (("kmeans", "262144 points, 40 steps"), ("cholesky", "480 x 480 in tiles of 96")):
            (ports / name / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
            said = []
            for program, *commands in (("./port", ["make", "-s", "port"]),
                                       ("made/port", ["cmake", "-S", ".", "-B", "made", f"-DCMAKE_PREFIX_PATH={prefix}"],
                                        ["cmake", "--build", "made"])):
                for command in (*commands, [program]):
                    done = subprocess.run(command, cwd=ports / name, env=around, text=True, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, check=False)
                    self.assertEqual(done.returncode, 0, f"{name}: {command}\n{done.stdout}")
                said.append(done.stdout.splitlines()[0])
            self.assertTrue(said[0].startswith(said_first), said)
            self.assertEqual(said[0], said[1])

    def test_archive_is_declared_without_git(self):
        top = self.unpacked("unpacked")
        staged = self.home / "staged"
        status, said = scons(top, "-n", "install", "PREFIX=/opt/x", f"DESTDIR={staged}")
        self.assertEqual(status, 0, said)
        for name in ("share/man/man1/dynsel-trace.1", "share/doc/dynsel/LICENSE", "share/doc/dynsel/html"):
            self.assertIn(f"{staged}/opt/x/{name}\"", said)
        self.assertNotIn("without the guide", said)
        status, said = scons(top, "dist", env={"GIT_CEILING_DIRECTORIES": str(self.home)})
        self.assertEqual(status, 2)
        self.assertIn("dynsel: dist packs what git tracks, so it needs a clone: ", said)

    def test_pretending_and_cleaning(self):
        before = self.archive.read_bytes()
        status, said = scons(self.top, "-n", "dist")
        self.assertEqual((status, self.archive.read_bytes()), (0, before), said)
        copy = self.home / "cleaned"
        shutil.copytree(self.top, copy, symlinks=True)
        status, said = scons(copy, "-c", "dist")
        self.assertEqual((status, (copy / "build/docs").exists(), (copy / f"build/dist/{NAME}.tar.gz").exists()),
                         (0, False, False), said)

    def test_function_without_comment_is_refused(self):
        # of a header that few sources include: all tools are built again, once with it and once without
        first = "\n * The device on which the function of a task or kernel that makes this call runs."
        self.replaced("include/dynsel/simulator.h", f"/**{first}", f"/*{first}")
        self.assertRegex(self.refused("docs"),
                         r"include/dynsel/simulator.h:\d+: warning: Member dynsel_simulated_running.* is not documented")

    def test_broken_link_is_refused(self):
        self.replaced("doc/memory.md", "(../include/dynsel/buffer.h)", "(../include/dynsel/bufer.h)")
        self.assertRegex(self.refused("docs"), r"doc/memory.md:\d+: \(\.\./include/dynsel/bufer.h\) leads to no file")

    def test_page_that_sphinx_refuses_is_named(self):
        self.replaced("doc/trace.md", "# The trace\n", "# The trace\n\n```{nosuch}\n```\n")
        self.assertRegex(self.refused("docs"), r"doc/trace.md:\d+: .*nosuch")


class Refused(Tree):
    def setUp(self):
        if MISSING:
            self.skipTest("the documents need " + " ".join(MISSING))

    def test_changed_tree(self):
        self.replaced("README.md", "# dynsel", "# Dynsel")
        (self.top / "new.txt").write_text("x", encoding="utf-8")
        self.addCleanup((self.top / "new.txt").unlink)
        self.assertIn("dynsel: dist packs a commit, and these files are not as in it: README.md, new.txt; commit, stash or"
                      " ignore them first\n", self.refused("dist"))

    def test_version_without_changelog(self):
        self.replaced("CHANGELOG.md", f"## {VERSION}", "## 9.9.9")
        git(self.top, "commit", "-qam", "y")
        self.addCleanup(git, self.top, "reset", "-q", "--hard", "HEAD~1")
        self.assertIn(f"CHANGELOG.md has no heading `## {VERSION}`", self.refused("dist"))

    def test_wrong_time(self):
        self.assertIn("SOURCE_DATE_EPOCH=soon: write seconds since 1970", self.refused("dist", SOURCE_DATE_EPOCH="soon"))

    def test_several_mistakes_in_version_header(self):
        self.replaced("include/dynsel/version.h", "#define DYNSEL_VERSION_MINOR", "#define DYNSEL_VERSION_MINER")
        self.assertIn("include/dynsel/version.h must define DYNSEL_VERSION_MAJOR, _MINOR and _PATCH as numbers",
                      self.refused("dist"))


class Packages(Tree):
    def test_missing_packages_are_named(self):
        """With a PATH that has nothing of them."""
        folder = self.home / "few"
        folder.mkdir()
        for program in ("gcc", "ar", "nm", "size", "ld", "as", "timeout", "sh", "python3", "env", "pkg-config", "git"):
            os.symlink(shutil.which(program), folder / program)
        status, said = scons(self.top, "docs", env={"PATH": str(folder)}, program=shutil.which("scons"))
        self.assertEqual(status, 2, said)
        self.assertIn("dynsel: the documents need doxygen python3-sphinx; on Debian and Ubuntu: apt-get install doxygen"
                      " python3-sphinx or: ./bootstrap scons docs\n", said)


if __name__ == "__main__":
    unittest.main()
