# SPDX-License-Identifier: Apache-2.0
"""The example gallery, as a user calls it: pictures, what it keeps for the next run, mistakes."""

import fcntl
import json
import os
import pty
import random
import re
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/sepia"))
import png  # noqa: E402

GALLERY = Path(os.environ["DYNSEL_BIN"]) / "gallery"
TOOL = TOP / "tools/dynsel-learned"
CONFIG = dict(re.findall(r"^#define CONFIG_DYNSEL_(\w+) (\d+)$",
                         (Path(os.environ["DYNSEL_BUILD"]) / "gen/dynsel/autoconf.h").read_text(encoding="utf-8"), re.M))
WITH_OPENCL = CONFIG["BACKEND_OPENCL"] == "1"
WITH_TEXTS = CONFIG["ERROR_TEXTS"] == "1"
MOST_IN_FLIGHT = min(int(CONFIG["MAX_BUFFERS"]) // 2, int(CONFIG["MAX_IN_FLIGHT"]))
NEEDS_OPENCL = unittest.skipUnless(WITH_OPENCL, "needs OpenCL")
ONE, TWO = {"POCL_DEVICES": "pthread"}, {"POCL_DEVICES": "pthread basic"}
NONE = {"OCL_ICD_VENDORS": str(TOP / "tests/opencl/icd/none")}
FILTERS, SHARES, RADIUS, AREA = ("grey", "edges", "blur"), (77, 150, 29), 4, 65536
EVIL = "evil\x1b[31m\x07"


def noise(width, height, channels=3, seed=1):
    r = random.Random(seed)
    return [[tuple(r.randint(0, 255) for _ in range(channels)) for _ in range(width)] for _ in range(height)]


def brightness(pixel):
    return (sum(s * c for s, c in zip(SHARES, pixel)) + 128) // 256


def filtered(name, rows):
    """What a filter makes of a picture, a third time."""
    height, width = len(rows), len(rows[0])

    def at(x, y):
        return brightness(rows[min(max(y, 0), height - 1)][min(max(x, 0), width - 1)])

    def result(x, y):
        if name == "grey":
            return (at(x, y),) * 3
        if name == "edges":
            across, down = (sum(s * (f(1, i) - f(-1, i)) for i, s in ((-1, 1), (0, 2), (1, 1)))
                            for f in (lambda a, i: at(x + a, y + i), lambda a, i: at(x + i, y + a)))
            return (min(255, abs(across) + abs(down)),) * 3
        near = [rows[j][i] for j in range(max(0, y - RADIUS), min(height, y + RADIUS + 1))
                for i in range(max(0, x - RADIUS), min(width, x + RADIUS + 1))]
        return tuple((sum(p[c] for p in near) + len(near) // 2) // len(near) for c in range(3))

    return [[result(x, y) + rows[y][x][3:] for x in range(width)] for y in range(height)]


class Table:
    """What the program printed: for each resource the pieces by filter, and the trials."""

    def __init__(self, text):
        rows = re.findall(r"^ *(\d*)  (\S.*?) +(\d+) +(\d+) +(\d+) +(\d+) +[\d.]+ +[\d.]+ % +[\d.]+$", text, re.M)
        self.rows = {name: dict(zip((*FILTERS, "trials"), map(int, numbers))) for _, name, *numbers in rows}
        self.total = self.rows.pop("total")
        self.first = tuple(map(int, re.search(r"^First 20 pictures +(\d+) +(\d+) ", text, re.M).groups()))

    def devices(self):
        return [name for name in self.rows if not name.startswith(("host", "worker"))]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.put("in.png", noise(8, 8))

    def put(self, name, rows, **how):
        (self.folder / name).write_bytes(png.encode(rows, **how))
        return rows

    def gallery(self, *arguments, env=(), **how):
        around = {k: v for k, v in os.environ.items() if k != "DYNSEL_OPENCL"}
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        done = subprocess.run([GALLERY, *arguments], cwd=self.folder, text=True, check=False, timeout=300,
                              env={**around, **ONE, **dict(env)}, **how)
        if CONFIG["SANITIZE_THREAD"] == "1" and done.stderr:  # it says so where no llvm-symbolizer is installed
            done.stderr = re.sub(r"(?m)^==\d+==WARNING: .* external symbolizer!\n", "", done.stderr)
        return done

    def run_it(self, *arguments, env=()):
        done = self.gallery(*arguments, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def refuse(self, status, says, *arguments, env=()):
        """One line on stderr, nothing else."""
        done = self.gallery(*arguments, env=env)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done)
        self.assertRegex(done.stderr, r"\Agallery: [^\n]+\n\Z")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)
        self.assertTrue(done.stderr.rstrip("\n").isprintable(), done.stderr)

    def shown(self, name="learned.bin"):
        done = subprocess.run([sys.executable, TOOL, "show", "--json", name], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)


    def over_opencl(self, source):
        """The environment in which functions of this source are called in place of OpenCL's."""
        library = self.folder / "over.so"
        subprocess.run([os.environ.get("DYNSEL_CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library,
                        TOP / "tests" / source], check=True)
        return {"LD_PRELOAD": str(library), "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


class Pictures(Case):
    def test_each_filter_is_right_whatever_the_devices(self):
        pictures = {"a.png": self.put("a.png", noise(23, 17, 4), kind=png.RGBA), "b.png": self.put("b.png", noise(1, 9)),
                    "c.png": self.put("c.png", noise(37, 5))}
        for devices, env in ((2, TWO), (1, ONE), (0, NONE)) if WITH_OPENCL else ((0, {}),):
            with self.subTest(devices=devices):
                out = self.folder / f"out{devices}"
                out.mkdir()
                text = self.run_it("--repeat", "9", "--output", out, *pictures, env=env)
                table = Table(text)
                self.assertEqual(len(table.devices()), devices)
                self.assertIn("host", table.rows)
                self.assertIn("worker 0", table.rows)
                for name in FILTERS:
                    self.assertEqual(table.total[name], 27)
                    self.assertEqual(sum(row[name] for row in table.rows.values()), 27)
                self.assertEqual(table.first[0], 60)
                self.assertRegex(text, r"(?m)^The rest +21 ")
                self.assertEqual("the host does all the work" in text, devices == 0)
                self.assertEqual(len(list(out.iterdir())), 9)
                for name, rows in pictures.items():
                    for which in FILTERS:
                        _, result = png.decode((out / f"{name[:-4]}-{which}.png").read_bytes())
                        self.assertEqual(result, filtered(which, rows), (name, which))

    def test_each_resource_alone(self):
        rows = self.put("in.png", noise(13, 11))
        names = list(Table(self.run_it("in.png")).rows)
        for number, name in enumerate(names):
            for only in (str(number), name):
                if names.count(name) == 1:
                    text = self.run_it("--only", only, "--output", ".", "in.png")
                    self.assertEqual(list(Table(text).rows), [name])
                    self.assertRegex(text, rf"(?m)^ *{number}  {re.escape(name)} ")
                    _, result = png.decode((self.folder / "in-blur.png").read_bytes())
                    self.assertEqual(result, filtered("blur", rows))

    def test_compare_runs_each_alone_and_all_together(self):
        text = self.run_it("--compare", "--repeat", "2", "in.png")
        names = list(Table(text).rows)
        alone = re.search(r"^ *#  Alone .*\n((?:.*\n)+?)    all together +[\d.]+ +[\d.]+ +[\d.]+ times the best alone$", text,
                          re.M).group(1)
        self.assertEqual([line.split("  ")[1] for line in alone.splitlines()], names)

    def test_folders_and_files(self):
        (self.folder / "some").mkdir()
        for name in ("some/b.png", "some/a.png", "some/c.txt"):
            self.put(name, noise(4, 4))
        self.assertIn("Pictures  3,", self.run_it("some", "in.png"))
        self.assertIn("Pictures  2,", self.run_it("some/"))

    def test_all_numbers_in_flight(self):
        for number in (1, 2, MOST_IN_FLIGHT):
            self.assertEqual(Table(self.run_it("--in-flight", str(number), "--repeat", "20", "in.png")).total["blur"], 20)

    def test_results_replace_files_and_leave_no_others(self):
        (self.folder / "in-grey.png").write_bytes(b"old")
        self.run_it("--output", ".", "in.png")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         ["in-blur.png", "in-edges.png", "in-grey.png", "in.png"])
        png.decode((self.folder / "in-grey.png").read_bytes())

    @NEEDS_OPENCL
    def test_a_wrong_result_is_told_with_its_origin(self):
        self.refuse(1, ["in.png: a wrong result of blur: pixel 0,0 differs", "pthread", "--only"], "--only", "pthread",
                    "in.png", env=self.over_opencl("gallery/narrow_blur.c"))

    @NEEDS_OPENCL
    def test_a_device_that_fails_is_told_once(self):
        broken = self.over_opencl("sepia/broken_opencl.c")
        for how, says in (("lost:1", ["in.png: ", "pthread"]), ("build", "a device cannot run the filters; leave it out")):
            self.refuse(1, says, "--only", "pthread", "--repeat", "9", "in.png", env={**broken, "BROKEN": how})

    def test_help(self):
        text = self.run_it("--help")
        for option in ("--repeat", "--in-flight", "--learned", "--only", "--compare", "--output", "overwritten",
                       "DYNSEL_OPENCL", "Exit status"):
            self.assertIn(option, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 90)


class Learned(Case):
    def learn(self):
        """Runs it until each filter was measured on two resources, which depends on the times."""
        for repeat in (500, 2000, 10000, 30000, 100000, 100000):  # each run earns its own trial runs
            self.run_it("--learned", "learned.bin", "--repeat", str(repeat), "tiny.png")
            table = self.shown()
            if all(len([t for t in kind["times"] if t["samples"] >= 2]) >= 2 for kind in table["kinds"]):
                return
        self.fail(f"not all was tried: {table}")

    def test_the_second_run_starts_settled(self):
        self.put("tiny.png", noise(2, 2))
        text = self.run_it("--learned", "learned.bin", "tiny.png")
        self.assertIn("learned.bin: nothing known yet\n", text)
        first = Table(text)
        self.assertEqual(first.total["trials"], len(FILTERS))  # nothing was known of any
        os.remove(self.folder / "learned.bin")
        self.learn()
        for _ in range(5):  # the first piece of each filter: the later ones may be trials again
            text = self.run_it("--learned", "learned.bin", "tiny.png")
            self.assertIn("table loaded from learned.bin: 3 kinds; settled\n", text)
            second = Table(text)
            self.assertEqual((second.total["trials"], second.first), (0, (3, 0)))
            # A start on processors through OpenCL takes longer than this work on the host. (Not so for certain with
            # sanitizers, which slow the two down unequally.)
            if (WITH_OPENCL and CONFIG.get("SANITIZE_THREAD") != "1" and CONFIG.get("SANITIZE") != "1"
                    and all(CONFIG.get(a) == "1" for a in ("ASPECTS", "ASPECT_CPU", "ASPECT_HOST"))):
                for name in FILTERS:
                    self.assertEqual(sum(second.rows[d][name] for d in second.devices()), 0)

    @unittest.skipUnless(WITH_OPENCL and all(CONFIG.get(a) == "1" for a in ("ASPECTS", "ASPECT_CPU", "ASPECT_HOST")),
                         "nothing says which device is faster")
    def test_large_pictures_begin_on_the_device_and_tiny_ones_on_a_worker(self):
        self.put("tiny.png", noise(2, 2))
        self.put("large.png", noise(300, 300))
        for picture, devices in (("tiny.png", 0), ("large.png", 1)):
            first = Table(self.run_it(picture))
            for name in FILTERS:
                self.assertEqual(sum(first.rows[d][name] for d in first.devices()), devices, picture)
                self.assertEqual(sum(row[name] for n, row in first.rows.items() if n.startswith("worker")), 1 - devices)

    def test_dynsel_learned_shows_it(self):
        self.run_it("--learned", "learned.bin", "in.png")
        table = self.shown()
        self.assertEqual(sorted(kind["id"] for kind in table["kinds"]), [1, 2, 3])
        self.assertEqual(table["generation"], 1)
        for kind in table["kinds"]:
            self.assertEqual({point["amount"] for times in kind["times"] for point in times["points"]}, {64})
        self.run_it("--learned", "learned.bin", "in.png")
        self.assertEqual(self.shown()["generation"], 2)

    def test_a_save_leaves_the_table_before_it(self):
        for _ in range(2):
            self.run_it("--learned", "learned.bin", "in.png")
        data = (self.folder / "learned.bin").read_bytes()
        (self.folder / "learned.bin").write_bytes(data[:AREA + 100])  # the second save is cut short
        self.assertEqual(self.shown()["generation"], 1)
        self.assertIn("table loaded from", self.run_it("--learned", "learned.bin", "in.png"))
        self.assertEqual(self.shown()["generation"], 2)

    def test_a_damaged_table_is_told_and_learned_anew(self):
        self.run_it("--learned", "learned.bin", "in.png")
        data = (self.folder / "learned.bin").read_bytes()
        for damaged in (data[:20], data[:100], data[:-1], data[:300] + b"x" + data[301:], bytes(8) + data[8:]):
            (self.folder / "learned.bin").write_bytes(damaged)
            done = self.gallery("--learned", "learned.bin", "in.png")
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stderr, r"\Agallery: --learned learned.bin: [^\n]+; all is learned anew\n\Z")
            self.assertIn("nothing known yet", done.stdout)
            self.assertEqual(len(self.shown()["kinds"]), 3)
        (self.folder / "learned.bin").write_bytes(b"")
        self.assertIn("nothing known yet", self.run_it("--learned", "learned.bin", "in.png"))

    @NEEDS_OPENCL
    def test_another_device_is_not_settled(self):
        self.run_it("--learned", "learned.bin", "in.png", env=NONE)
        self.assertIn("some devices or filters are new", self.run_it("--learned", "learned.bin", "in.png"))

    def test_other_files_are_left_alone(self):
        before = (self.folder / "in.png").read_bytes()
        self.refuse(1, ["--learned in.png", "something else", "give another name"], "--learned", "in.png", "in.png")
        self.assertEqual((self.folder / "in.png").read_bytes(), before)
        (self.folder / "disk").write_bytes(bytes(3 * AREA))  # such as an image that begins with zeros
        self.refuse(1, ["--learned disk", "something else"], "--learned", "disk", "in.png")
        self.assertEqual((self.folder / "disk").read_bytes(), bytes(3 * AREA))

    def test_files_that_cannot_be_written(self):
        self.refuse(1, ["--learned no/where", "cannot be written"], "--learned", "no/where", "in.png")
        self.refuse(1, ["--learned .", "cannot be written"], "--learned", ".", "in.png")
        done = self.gallery("--learned", "/dev/full", "in.png")
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, r"\Agallery: --learned /dev/full: cannot be written: No space left on device[^\n]*\n\Z")


class Mistakes(Case):
    def test_pictures(self):
        (self.folder / "empty").mkdir()
        (self.folder / "text.png").write_bytes(b"no picture, but long enough")
        (self.folder / "cut.png").write_bytes((self.folder / "in.png").read_bytes()[:60])
        self.refuse(2, "pictures are missing")
        self.refuse(2, "empty", "")
        self.refuse(1, "missing.png: cannot be read: No such file", "--learned", "learned.bin", "in.png", "missing.png")
        self.assertFalse((self.folder / "learned.bin").exists())
        self.refuse(1, ["text.png: this is no PNG file", "convert it"], "in.png", "text.png")
        self.refuse(1, "cut.png: a damaged PNG file", "cut.png")
        self.refuse(1, "empty: there is no *.png", "empty")
        self.refuse(1, "cannot be read", EVIL + ".png")

    def test_options(self):
        for option, wrong in (("--repeat", ("0", "100001", "x", "-1", "")), ("--in-flight", ("0", "x", "1.5"))):
            for value in wrong:
                self.refuse(2, [f"{option} {value}: give a number from 1 to", "gallery --help"], option, value, "in.png")
        self.refuse(2, [f"from 1 to {MOST_IN_FLIGHT}", "CONFIG_DYNSEL_MAX_"], "--in-flight", str(MOST_IN_FLIGHT + 1), "in.png")
        self.refuse(2, "'--nonsense'", "--nonsense", "in.png")
        self.refuse(2, "needs a value", "in.png", "--learned")
        self.refuse(2, "takes no value", "--compare=1", "in.png")
        self.refuse(2, "--learned: the name is empty", "--learned", "", "in.png")
        self.refuse(2, "give one of them", "--compare", "--only", "0", "in.png")
        self.refuse(2, "give one of them", "--learned", "learned.bin", "--only", "0", "in.png")
        self.refuse(2, ["--only nobody: no such resource", "0 host", "1 worker 0"], "--only", "nobody", "in.png")
        self.refuse(2, "--only 99: no such resource", "--only", "99", "in.png")
        self.refuse(2, "several resources", "--only", "o", "in.png")

    def test_output(self):
        self.refuse(1, ["--output nowhere: there is no such folder", "make it"], "--output", "nowhere", "in.png")
        self.refuse(1, "--output in.png: there is no such folder", "--output", "in.png", "in.png")
        done = self.gallery("--output", "/proc", "in.png")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Agallery: /proc/in-[a-z]+.png: cannot be written: [^\n]+\n\Z")

    def test_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            for arguments in (("--help",), ("in.png",)):
                done = self.gallery(*arguments, stdout=full)
                self.assertEqual((done.returncode, done.stderr), (1, "gallery: standard output cannot be written\n"))

    @NEEDS_OPENCL
    def test_a_selector_that_fits_nothing(self):
        done = self.gallery("in.png", env={"DYNSEL_OPENCL": "name=nowhere"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("No OpenCL device fits DYNSEL_OPENCL: the host does all the work.", done.stdout)
        self.refuse(1, "dynsel-info" if not WITH_TEXTS else "colour", "in.png", env={"DYNSEL_OPENCL": "colour=red"})


class Terminal(Case):
    def on_terminal(self, columns, *arguments):
        """What a terminal of that width gets."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        got = []

        def read():
            try:
                while data := os.read(ours, 65536):
                    got.append(data)
            except OSError:  # the other side is closed
                pass

        reader = threading.Thread(target=read)
        reader.start()
        try:
            done = self.gallery(*arguments, stdout=theirs, stderr=theirs, env={**TWO, "TERM": "xterm"})
        finally:
            os.close(theirs)
            reader.join()
            os.close(ours)
        self.assertEqual(done.returncode, 0)
        return b"".join(got).decode()

    def test_tables_fit(self):
        for columns in (80, 120):
            text = self.on_terminal(columns, "--compare", "in.png")
            lines = [line.split("\033[K")[-1] for line in text.splitlines()]
            self.assertLessEqual(max(map(len, lines)), columns, text)
            table = [line for line in lines if re.search(r"\d+\.\d %", line)]
            self.assertEqual(len({len(line) for line in table}), 1, text)

    def test_progress_is_shown_where_it_takes_long(self):
        self.assertIn("Filtering [", self.on_terminal(100, "--repeat", "20000", "in.png"))
        self.assertNotIn("Filtering", self.gallery("--repeat", "20000", "in.png").stderr)


if __name__ == "__main__":
    unittest.main()
