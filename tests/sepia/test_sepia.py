# SPDX-License-Identifier: Apache-2.0
"""The example sepia, as a user calls it: pictures, options, mistakes, devices that fail."""

import fcntl
import os
import pty
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import png  # noqa: E402

SEPIA = os.path.join(os.environ["DYNSEL_BIN"], "sepia")
HERE = os.path.dirname(os.path.abspath(__file__))
PHOTO = os.path.join(HERE, "../../examples/sepia/photo.png")
SHARES = ((0.393, 0.769, 0.189), (0.349, 0.686, 0.168), (0.272, 0.534, 0.131))
with open(os.path.join(os.environ["DYNSEL_BUILD"], "gen/dynsel/autoconf.h"), encoding="utf-8") as header:
    CONFIG = dict(re.findall(r"^#define CONFIG_DYNSEL_(\w+) (.*)$", header.read(), re.MULTILINE))


def configured(name):
    return int(CONFIG.get(name, 0))


WITH_OPENCL = configured("BACKEND_OPENCL")
WITH_TEXTS = configured("ERROR_TEXTS")
POLICIES = [p for p in ("round_robin", "fixed_resource") if configured("POLICY_" + p.upper())]
# The pictures of these tests go to the host and two devices.
ROOM = configured("MAX_RESOURCES") >= 3 and configured("OPENCL_MAX_DEVICES") >= 2
NEEDS_ALL = unittest.skipUnless(WITH_OPENCL and len(POLICIES) == 2 and ROOM,
                                "needs OpenCL, both policies, and room for host and two devices")
TWO = {"POCL_DEVICES": "pthread basic"}
ONE = {"POCL_DEVICES": "pthread"}


def toned(pixel):
    """One pixel as it should come out: 3 or 4 samples of 8 bits."""
    return tuple(min(255, int(sum(s * v for s, v in zip(share, pixel)) + 0.5))
                 for share in SHARES) + tuple(pixel[3:])


def noise(width, height, channels=3, most=255, seed=1):
    """A picture without structure, so that a pixel in a wrong place shows."""
    r = random.Random(seed)
    return [[tuple(r.randint(0, most) for _ in range(channels)) for _ in range(width)]
            for _ in range(height)]


class Case(unittest.TestCase):
    """A folder for each test, and sepia called in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("none"))
        self.nothing = {"OCL_ICD_VENDORS": self.path("none")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return name

    def picture(self, name="in.png", width=37, height=23, **how):
        self.put(name, png.encode(noise(width, height), **how))
        return name

    def environment(self, more):
        return {**{k: v for k, v in os.environ.items() if k != "DYNSEL_OPENCL"}, **more}

    def sepia(self, *arguments, env=(), cwd=None):
        done = subprocess.run([SEPIA, *arguments], cwd=cwd or self.folder, capture_output=True,
                              text=True, env=self.environment(dict(env)), check=False)
        if configured("SANITIZE_THREAD"):  # it says so where no llvm-symbolizer is installed
            done.stderr = re.sub(r"(?m)^==\d+==WARNING: .* external symbolizer!\n", "", done.stderr)
        return done

    def tone(self, *arguments, env=(), out="out.png"):
        """Calls it, expects success; returns what it printed and the picture."""
        done = self.sepia("-o", out, *arguments, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        with open(self.path(out), "rb") as f:
            return done.stdout, png.decode(f.read())

    def refuse(self, status, says, *arguments, env=()):
        """Calls it, expects one line on stderr and nothing left behind."""
        before = sorted(os.listdir(self.folder))
        done = self.sepia(*arguments, env=env)
        self.assertEqual(done.returncode, status, done)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Asepia: [^\n]+\n\Z")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def compare(self, rows, expected, tolerance=1):
        self.assertEqual((len(rows), len(rows[0])), (len(expected), len(expected[0])))
        for y, (row, wanted) in enumerate(zip(rows, expected)):
            for x, (a, b) in enumerate(zip(row, wanted)):
                self.assertEqual(len(a), len(b))
                if max(abs(i - j) for i, j in zip(a, b)) > tolerance:
                    self.fail(f"pixel {x},{y} is {a}, not {b}")


def tiles_by_resource(text):
    """The table: {name: tiles}."""
    rows = re.findall(r"^ *(?:\d+|)  (\S.*?) +(\d+) +[\d.]+ %", text, re.MULTILINE)
    return {name: int(tiles) for name, tiles in rows if name != "total"}


class Pictures(Case):
    """Every kind of PNG, toned on the host."""

    def check(self, rows, expected, **how):
        self.put("in.png", png.encode(rows, **how))
        _, (_, result) = self.tone("in.png", "-d", "host", "-t", "7x5")
        self.compare(result, [[toned(p) for p in row] for row in expected])

    def test_rgb_and_rgba_with_8_bits(self):
        for kind in (png.RGB, png.RGBA):
            rows = noise(37, 23, png.CHANNELS[kind])
            self.check(rows, rows, kind=kind)

    def test_interlaced(self):
        for width, height in ((37, 23), (1, 1), (3, 2), (8, 8)):
            rows = noise(width, height)
            self.check(rows, rows, interlaced=True)

    def test_16_bits(self):
        for kind in (png.RGB, png.RGBA):
            rows = noise(19, 11, png.CHANNELS[kind], 65535)
            self.check(rows, [[tuple((s * 255 + 32767) // 65535 for s in p) for p in row]
                              for row in rows], depth=16, kind=kind)

    def test_gray(self):
        for depth in (1, 2, 4, 8):
            most = 2 ** depth - 1
            rows = noise(19, 11, 1, most)
            self.check(rows, [[(p[0] * 255 // most,) * 3 for p in row] for row in rows],
                       depth=depth, kind=png.GRAY)

    def test_gray_with_alpha(self):
        rows = noise(19, 11, 2)
        self.check(rows, [[(p[0],) * 3 + (p[1],) for p in row] for row in rows],
                   kind=png.GRAY_ALPHA)

    def test_palette(self):
        for depth in (1, 2, 4, 8):
            colours = noise(2 ** depth, 1, seed=2)[0]
            rows = noise(19, 11, 1, 2 ** depth - 1)
            palette = png.chunk(b"PLTE", bytes(s for c in colours for s in c))
            self.check(rows, [[colours[p[0]] for p in row] for row in rows], depth=depth,
                       kind=png.PALETTE, extra=palette)

    def test_palette_with_transparency(self):
        colours = [(10, 20, 30), (200, 100, 50)]
        extra = png.chunk(b"PLTE", bytes(s for c in colours for s in c)) + png.chunk(b"tRNS", b"\x40")
        rows = noise(9, 4, 1, 1)
        self.check(rows, [[colours[p[0]] + ((0x40, 255)[p[0]],) for p in row] for row in rows],
                   depth=1, kind=png.PALETTE, extra=extra)

    def test_a_transparent_colour(self):
        rows = noise(9, 4)
        rows[2][3] = (1, 2, 3)
        self.check(rows, [[p + (0 if p == (1, 2, 3) else 255,) for p in row] for row in rows],
                   extra=png.chunk(b"tRNS", b"\0\1\0\2\0\3"))

    def test_one_pixel(self):
        self.check([[(255, 255, 255)]], [[(255, 255, 255)]])

    def test_one_row_and_one_column(self):
        for width, height in ((300, 1), (1, 300)):
            rows = noise(width, height)
            self.check(rows, rows)


class Options(Case):
    """What the options do."""

    def test_output_is_derived_from_the_input(self):
        os.mkdir(self.path("sub"))
        self.picture("sub/my.photo.png")
        self.assertEqual(self.sepia("-q", "-d", "host", "sub/my.photo.png").returncode, 0)
        self.assertTrue(os.path.exists(self.path("my.photo-sepia.png")))

    def test_input_may_be_the_output(self):
        rows = noise(20, 20)
        self.put("same.png", png.encode(rows))
        _, (_, result) = self.tone("-d", "host", "same.png", out="same.png")
        self.compare(result, [[toned(p) for p in row] for row in rows])

    def test_a_link_is_followed(self):
        self.picture("real.png")
        os.symlink("real.png", self.path("link.png"))
        self.tone("-d", "host", "link.png", out="link.png")
        self.assertTrue(os.path.islink(self.path("link.png")))
        self.assertEqual(sorted(os.listdir(self.folder)), ["link.png", "none", "real.png"])

    def test_output_to_a_device(self):
        done = self.sepia("-d", "host", "-o", "/dev/null", self.picture())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(os.path.isfile("/dev/null"))

    def test_mode_follows_the_umask_or_the_file_that_is_replaced(self):
        self.picture()
        self.tone("-d", "host", "in.png")
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(os.stat(self.path("out.png")).st_mode & 0o777, 0o666 & ~mask)
        os.chmod(self.path("out.png"), 0o600)
        self.tone("-d", "host", "in.png")
        self.assertEqual(os.stat(self.path("out.png")).st_mode & 0o777, 0o600)

    def test_quiet_prints_nothing(self):
        for env in (TWO, self.nothing) if ROOM else (self.nothing,):
            done = self.sepia("--quiet", self.picture(), env=env)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_repeat_does_the_work_again_and_not_twice(self):
        rows = noise(37, 23)
        self.put("in.png", png.encode(rows))
        said, (_, result) = self.tone("in.png", "--repeat", "5", "--tile", "10", "-d", "host")
        self.assertEqual(tiles_by_resource(said), {"host": 60})
        self.compare(result, [[toned(p) for p in row] for row in rows])

    def test_host_in_any_case(self):
        said, _ = self.tone("-d", " HOST ", self.picture())
        self.assertEqual(list(tiles_by_resource(said)), ["host"])

    def test_tiles_of_any_size(self):
        rows = noise(37, 23)
        self.put("in.png", png.encode(rows))
        for tile in ("1", "36", "37", "38x23", "5X64", "32768"):
            said, (_, result) = self.tone("in.png", "-t", tile, "-d", "host")
            self.compare(result, [[toned(p) for p in row] for row in rows])
            self.assertIn("difference from the reference: ", said)

    def test_a_large_picture_gets_larger_tiles(self):
        self.put("in.png", png.encode([[(1, 2, 3)] * 32768 for _ in range(2)]))
        said, _ = self.tone("in.png", "-d", "host")
        self.assertIn("256 of 128 x 2", said)

    def test_help(self):
        done = self.sepia("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in ("--policy", "--device", "--repeat", "--tile", "--list", "--output",
                       "--quiet", "--help"):
            self.assertIn(option, done.stdout)
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 100)

    def test_output_that_cannot_be_printed(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([SEPIA, "--help"], stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 1)

    def test_progress_is_drawn_and_erased(self):
        drawn = self.progress(0)
        self.assertRegex(drawn, rb"\rToning +\[#*\.*\] +\d+ %  \d+ of 819200 tiles")
        self.assertTrue(drawn.endswith(b"\r\x1b[K"), drawn[-80:])

    def test_progress_fits_into_the_terminal(self):
        for columns in (100, 60, 40, 20):
            drawn = self.progress(columns)
            lines = drawn.replace(b"\x1b[K", b"").split(b"\r")
            self.assertLess(max(len(line) for line in lines), columns, drawn[:200])
            self.assertIn(b"%", drawn)

    def progress(self, columns):
        """What is drawn on a terminal that is so wide; 0: it does not say."""
        self.picture(width=64, height=64)
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen([SEPIA, "-d", "host", "-t", "1", "-r", "200", "-o", "out.png", "in.png"],
                              cwd=self.folder, stdout=subprocess.DEVNULL, stderr=side,
                              env=self.environment({"TERM": "xterm"})) as process:
            os.close(side)
            drawn = b""
            while True:
                try:
                    some = os.read(main, 65536)
                except OSError:
                    break
                if not some:
                    break
                drawn += some
        os.close(main)
        self.assertEqual(process.returncode, 0)
        return drawn


@NEEDS_ALL
class Devices(Case):
    """Host and OpenCL devices."""

    def check(self, *arguments, env):
        rows = noise(61, 47)
        self.put("in.png", png.encode(rows))
        said, (_, result) = self.tone("in.png", "-t", "8", *arguments, env=env)
        self.compare(result, [[toned(p) for p in row] for row in rows])
        return tiles_by_resource(said), said

    def test_host_and_two_devices_share_the_tiles(self):
        tiles, said = self.check(env=TWO)
        self.assertEqual(list(tiles.values()), [16, 16, 16], said)
        self.assertEqual(list(tiles)[0], "host")
        self.assertEqual(sorted(name.split("-")[0] for name in tiles), ["basic", "host", "pthread"])
        self.assertRegex(said, r"Largest difference from the reference: [01] of 255\.")

    def test_host_and_one_device(self):
        tiles, said = self.check(env=ONE)
        self.assertEqual(list(tiles.values()), [24, 24], said)

    def test_no_device(self):
        tiles, said = self.check(env=self.nothing)
        self.assertEqual(tiles, {"host": 48})
        self.assertIn("No OpenCL device was found: the host does all the work.\n", said)

    def test_devices_without_the_host(self):
        tiles, said = self.check("-d", "all", env=TWO)
        self.assertEqual(list(tiles.values()), [24, 24], said)
        self.assertNotIn("host", tiles)

    def test_selectors(self):
        for arguments, count in ((("-d", "host;name=basic"), 2), (("-d", "host", "-d", "basic"), 2),
                                 (("-d", "cpu,index=1"), 1), (("-d", " host ; all ;"), 3),
                                 (("-d", "host"), 1)):
            tiles, said = self.check(*arguments, env=TWO)
            self.assertEqual(len(tiles), count, said)

    def test_selector_of_the_environment(self):
        tiles, _ = self.check(env={**TWO, "DYNSEL_OPENCL": "name=basic"})
        self.assertEqual(len(tiles), 2)
        self.refuse(1, ["DYNSEL_OPENCL: ", "--list"], "in.png",
                    env={**TWO, "DYNSEL_OPENCL": "name=nonsense"})

    def test_fixed_resource(self):
        for index in range(3):
            tiles, said = self.check("-p", f"fixed_resource:{index}", env=TWO)
            self.assertEqual([t > 0 for t in tiles.values()], [i == index for i in range(3)], said)

    def test_round_robin_from_an_offset(self):
        tiles, said = self.check("-p", "round-robin:2", "-t", "61x12", env=TWO)
        self.assertEqual(list(tiles.values()), [1, 1, 2], said)

    @unittest.skipUnless(configured("POLICY_DYNAMIC_LOAD"), "needs dynamic_load")
    def test_dynamic_load(self):
        tiles, said = self.check("-p", "dynamic_load", env=TWO)
        self.assertEqual(sum(tiles.values()), sum(self.check(env=TWO)[0].values()), said)
        self.refuse(2, ["leave out"], "in.png", "-p", "dynamic_load:1")

    @unittest.skipUnless(configured("POLICY_AUTO_TUNE"), "needs auto_tune")
    def test_auto_tune_tries_every_resource(self):
        tiles, said = self.check("-p", "auto_tune", "-t", "16", env=TWO)
        self.assertTrue(all(count >= 2 for count in tiles.values()), said)
        self.refuse(2, ["leave out"], "in.png", "-p", "auto_tune:1")

    @unittest.skipUnless(configured("POLICY_EARLIEST_FINISH"), "needs earliest_finish")
    def test_earliest_finish(self):
        tiles, said = self.check("-p", "earliest-finish", env=TWO)
        self.assertEqual(sum(tiles.values()), sum(self.check(env=TWO)[0].values()), said)
        self.assertIn("placed by earliest_finish", said)
        self.refuse(2, ["leave out"], "in.png", "-p", "earliest_finish:1")

    def test_busy_times_are_told(self):
        said, _ = self.tone(PHOTO, env=TWO)  # a small picture takes the host less than what is printed
        rows = re.findall(r"^ *\d+  .* %  +([\d.]+) +\d+ +\d+ % [#.]{10}$", said, re.MULTILINE)
        self.assertEqual(len(rows), 3, said)
        self.assertTrue(all(float(ms) > 0 for ms in rows), said)

    def test_the_photograph(self):
        said, (_, result) = self.tone(PHOTO, "-r", "3", env=TWO)
        with open(PHOTO, "rb") as f:
            _, rows = png.decode(f.read())
        self.compare(result, [[toned(p) for p in row] for row in rows])
        self.assertEqual(list(tiles_by_resource(said).values()), [48, 48, 48])

    def test_list(self):
        done = self.sepia("--list", env=TWO)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^ +0  host .*chosen")
        self.assertRegex(done.stdout, r"(?m)^ +[12]  pthread.*chosen")
        self.assertRegex(done.stdout, r"(?m)^ +[12]  basic.*chosen")

    def test_list_with_a_selector(self):
        done = self.sepia("--list", "-d", "name=basic", env=TWO)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^ +-  host ")
        self.assertRegex(done.stdout, r"(?m)^ +-  pthread")
        self.assertRegex(done.stdout, r"(?m)^ +0  basic.*chosen")

    def test_list_without_devices(self):
        done = self.sepia("--list", env=self.nothing)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("No OpenCL device was found.", done.stdout)


@NEEDS_ALL
class BrokenDevices(Case):
    """Devices that fail on the way: a right picture or none."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.library = os.path.join(folder.name, "broken.so")
        subprocess.run([os.environ.get("DYNSEL_CC", "cc"), "-shared", "-fPIC", "-O1", "-o",
                        cls.library, os.path.join(HERE, "broken_opencl.c")], check=True)

    def broken(self, how):
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return {**TWO, "LD_PRELOAD": self.library, "BROKEN": how, "ASAN_OPTIONS": asan}

    def check_redone(self, how, *arguments):
        rows = noise(61, 47)
        self.put("in.png", png.encode(rows))
        done = self.sepia("-t", "8", "-o", "out.png", *arguments, "in.png", env=self.broken(how))
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stderr, r"\Asepia: \d+ tiles failed and are done again on the host: "
                                      r"[^\n]+\n\Z")
        with open(self.path("out.png"), "rb") as f:
            self.compare(png.decode(f.read())[1], [[toned(p) for p in row] for row in rows])
        tiles = tiles_by_resource(done.stdout)
        self.assertGreater(tiles["host, for failed"], 0)
        self.assertEqual(sum(tiles.values()), 48 * (3 if "-r" in arguments else 1))
        return done

    def assert_tells(self, done, code, *texts):
        """The cause, as far as this configuration has texts."""
        for text in texts if WITH_TEXTS else (code,):
            self.assertIn(text, done.stderr)

    def test_a_kernel_that_cannot_be_enqueued(self):
        done = self.check_redone("enqueue:5")
        self.assert_tells(done, "-6", "clEnqueueNDRangeKernel", "CL_OUT_OF_HOST_MEMORY")

    def test_events_that_end_with_an_error(self):
        self.check_redone("event:5")
        self.check_redone("event:7", "-r", "3")

    def test_events_that_cannot_be_retained(self):
        for how in ("retain:1", "retain:2", "retain:5"):
            done = self.check_redone(how)
            self.assert_tells(done, "-6", "clRetainEvent", "CL_OUT_OF_HOST_MEMORY")
        self.check_redone("retain:7", "-r", "3", "-d", "all")

    def test_a_lost_device(self):
        done = self.check_redone("lost:4")
        self.assert_tells(done, "-5", "lost" if "lost" in done.stderr else "CL_OUT_OF_RESOURCES")
        self.check_redone("lost:30", "-r", "3")
        self.check_redone("lost:1", "-d", "all")

    def test_nothing_works(self):
        self.check_redone("enqueue:1")
        self.check_redone("event:1")
        self.check_redone("event:1", "-p", "fixed_resource:1")
        self.check_redone("enqueue:1", "-d", "all")

    def test_complaints_do_not_go_into_the_picture_where_stderr_is_closed(self):
        rows = noise(61, 47)
        self.put("in.png", png.encode(rows))
        done = subprocess.run(["sh", "-c", '"$0" "$@" 2>&-', SEPIA, "-t", "8", "-o", "out.png", "in.png"],
                              cwd=self.folder, stdout=subprocess.DEVNULL, check=False,
                              env=self.environment(self.broken("enqueue:5")))
        self.assertEqual(done.returncode, 0)
        with open(self.path("out.png"), "rb") as f:
            self.compare(png.decode(f.read())[1], [[toned(p) for p in row] for row in rows])

    def test_a_wrong_result_is_not_written(self):
        self.picture(width=61, height=47)
        self.refuse(1, ["a wrong result", "differs by 128 of 255"], "-t", "8", "-o", "out.png",
                    "in.png", env=self.broken("pixel:3"))

    def test_a_program_that_does_not_build(self):
        self.picture()
        done = self.sepia("in.png", env=self.broken("build"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assert_tells(done, "-11", "CL_BUILD_PROGRAM_FAILURE")
        self.assertIn("--device", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.png", "none"])


class BadInput(Case):
    """One line that names cause and remedy, a status, and no file."""

    def test_files_that_are_no_picture(self):
        os.mkdir(self.path("folder.png"))
        whole = png.encode(noise(37, 23))
        for name, data, says in (
                ("text.png", b"This is a text, and not a picture at all.\n", "no PNG file"),
                ("short.png", b"\x89PNG", "cut off"),
                ("photo.jpg", b"\xff\xd8\xff\xe0 and so on", "a JPEG file"),
                ("empty.png", b"", "is empty"),
                ("signature.png", whole[:8], "cut off"),
                ("header.png", whole[:20], "cut off"),
                ("pixels.png", whole[:len(whole) // 2], "cut off"),
                ("end.png", whole[:-12], "cut off"),
                ("crc.png", whole[:60] + b"XXXX" + whole[64:], "damaged")):
            self.put(name, data)
            self.refuse(1, [name, says], "-d", "host", name)
        self.refuse(1, ["missing.png", "No such file"], "-d", "host", "missing.png")
        self.refuse(1, ["folder.png", "is a directory"], "-d", "host", "folder.png")
        self.refuse(1, "No such file", "-d", "host", "")

    def test_huge_headers(self):
        pixels = png.chunk(b"IDAT", b"x") + png.chunk(b"IEND", b"")
        for width, height in ((100000, 100000), (32769, 1), (1, 32769), (20000, 20000),
                              (2 ** 31 - 1, 2 ** 31 - 1)):
            self.put("huge.png", png.header(width, height) + pixels)
            before = time.monotonic()
            self.refuse(1, "huge.png", "-d", "host", "huge.png")
            self.assertLess(time.monotonic() - before, 5)
        self.put("huge.png", png.header(100000, 100000) + pixels)
        self.refuse(1, ["100000 x 100000", "32768"], "-d", "host", "huge.png")

    def test_more_tiles_than_the_table_holds(self):
        self.picture(width=130, height=70)
        self.refuse(1, ["9100 tiles", "4096", "--tile 2 "], "-d", "host", "-t", "1", "in.png")
        self.tone("-d", "host", "-t", "2", "in.png")

    def test_output_that_cannot_be_written(self):
        self.picture()
        os.mkdir(self.path("folder"))
        for output, says in (("missing/out.png", "No such file"), ("folder", "is a directory"),
                             ("/proc/out.png", "--output"), ("in.png/out.png", "--output"),
                             ("x" * 300, "--output")):
            self.refuse(1, [output, says], "-d", "host", "-o", output, "in.png")

    def test_output_over_the_limit_of_files(self):
        self.picture(width=200, height=200)
        before = sorted(os.listdir(self.folder))
        uncounted = {"GCOV_PREFIX": os.devnull}  # the limit would cut off the counts of coverage, too
        done = subprocess.run([SEPIA, "-d", "host", "in.png"], cwd=self.folder, capture_output=True,
                              text=True, env=self.environment(uncounted), check=False, preexec_fn=lambda:
                              resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        done.stderr = re.sub(r"(?m)^profiling:[^\n]+\n", "", done.stderr) if configured("COVERAGE") else done.stderr
        self.assertRegex(done.stderr, r"\Asepia: in-sepia.png: cannot be written: [^\n]+\n\Z")
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_output_that_is_read_only(self):
        self.picture()
        self.put("out.png", b"precious")
        os.chmod(self.path("out.png"), 0o400)
        self.refuse(1, "Permission denied", "-d", "host", "-o", "out.png", "in.png")
        os.mkdir(self.path("locked"), 0o500)
        self.refuse(1, "Permission denied", "-d", "host", "-o", "locked/out.png", "in.png")

    def test_an_old_output_stays_when_the_new_one_fails(self):
        self.put("text.png", b"no picture")
        self.put("out.png", b"precious")
        self.refuse(1, "no PNG file", "-d", "host", "-o", "out.png", "text.png")
        with open(self.path("out.png"), "rb") as f:
            self.assertEqual(f.read(), b"precious")

    def test_wrong_usage(self):
        self.picture()
        for arguments, says in (
                ((), "a picture is missing"),
                (("in.png", "other.png"), "'other.png' is too many"),
                (("-l", "in.png"), "--list takes no picture"),
                (("--frobnicate", "in.png"), "'--frobnicate'"),
                (("-x", "in.png"), "'-x'"),
                (("--quiet=3", "in.png"), "takes no value"),
                (("in.png", "--tile"), "needs a value"),
                (("in.png", "-o", ""), "--output"),
                (("in.png", "-o", "-"), "--output"),
                (("in.png", "-d", ""), "--device"),
                (("in.png", "-d", "x" * 2000), "--device"),
                (("in.png", "-d", "host,cpu"), "host stands alone; put ';' around it"),
                (("in.png", "-d", "all; host ,cpu; all"), "host stands alone"),
                (("in.png", "-d", "all;cpu , HOST"), "host stands alone"),
                (("in.png", "-o", "a", "-p", "two\nlines\x1b"), "'two?lines?'"),
                (("in.png", "-p", POLICIES[0][:-2]), f"did you mean '{POLICIES[0]}'"),
                (("in.png", "-p", ""), "there are: "),
                (("in.png", "-p", "y" * 3000), "there are: "),
                (("in.png", "-p", "y" * 3000), ", ".join(POLICIES))):
            self.refuse(2, [says, "sepia --help"], *arguments)
        for policy in POLICIES:
            for index in ("", "x", "-1", "99999999999999999999", configured("MAX_RESOURCES")):
                self.refuse(2, ["after ':'", "sepia --help"], "in.png", "-p", f"{policy}:{index}")
        for number in ("0", "-1", "4294967297", "99999999999999999999", "x", "", "3x", "x3",
                       "1x2x3", "0x10", "1.5", "1e3", " 8", "8 "):
            self.refuse(2, "--tile", "in.png", "-t", number)
        for number in ("0", "-3", "100001", "99999999999999999999", "many", "", "1x1", "+1"):
            self.refuse(2, "--repeat", "in.png", "-r", number)

    @unittest.skipIf(configured("MAX_RESOURCES") == 1, "each index but 0 is wrong usage here")
    def test_an_index_past_the_resources(self):
        self.picture()
        for policy in POLICIES:
            self.refuse(1, ["the highest index is 0", "--list"], "in.png", "-p", f"{policy}:1",
                        "-d", "host")

    @NEEDS_ALL
    def test_resources_that_are_not_there(self):
        self.picture()
        if configured("MAX_RESOURCES") > 3:  # else it is wrong usage
            self.refuse(1, ["the highest index is 2"], "in.png", "-p", "round_robin:3", env=TWO)
        self.refuse(1, ["--device 'name=nonsense'", "--list"], "in.png", "-d", "name=nonsense", env=TWO)
        self.refuse(1, ["--device 'gpu'", "--list"], "in.png", "-d", "host;gpu", env=self.nothing)
        self.refuse(2, ["--device '", "sepia --help"], "in.png", "-d", "platform=;;=,")
        self.refuse(2, "did you mean 'round_robin'", "in.png", "-p", "round_robim")

    @unittest.skipUnless(WITH_OPENCL and not ROOM, "there is room for host and two devices")
    def test_more_devices_than_the_table_holds(self):
        self.picture()
        self.refuse(1, ["the OpenCL devices: ", "CONFIG_DYNSEL_" if WITH_TEXTS else "full"],
                    "in.png", env=TWO)
        self.refuse(1, "--device 'all'", "in.png", "-d", "host;all", env=TWO)
        self.tone("in.png", "-d", "host", env=TWO)

    @unittest.skipIf(WITH_OPENCL, "dynsel is built with OpenCL")
    def test_a_device_where_there_is_no_backend(self):
        self.picture()
        self.refuse(1, "without its OpenCL backend", "in.png", "-d", "gpu")


class Interrupted(Case):
    """No file stays, whatever ends the program."""

    def test_signals(self):
        self.picture(width=64, height=64)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with subprocess.Popen([SEPIA, "-d", "host", "-t", "1", "-r", "100000", "-o", "out.png",
                                   "in.png"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, env=self.environment({})) as process:
                self.wait_for_part()
                process.send_signal(number)
                said = process.stderr.read()
            self.assertEqual((process.returncode, said), (-number, b""))
            self.assertEqual(sorted(os.listdir(self.folder)), ["in.png", "none"])

    def wait_for_part(self):
        end = time.monotonic() + 30
        while not any(name.endswith(".part") for name in os.listdir(self.folder)):
            self.assertLess(time.monotonic(), end, "no temporary file")
            time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
