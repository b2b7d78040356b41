# SPDX-License-Identifier: Apache-2.0
"""dynsel-learned: what it shows of a table that the library wrote, and what it writes itself."""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TOOL = TOP / "tools/dynsel-learned"
CC = os.environ.get("DYNSEL_CC", "cc")
GENERATED = Path(os.environ["DYNSEL_BUILD"]) / "gen" if "DYNSEL_BUILD" in os.environ else TOP / "build/native/gen"
HEADER = (TOP / "tests/policies/learned_golden.h").read_text(encoding="utf-8")
GOLDEN = bytes(int(byte, 16) for byte in re.findall(r"\b0x([0-9a-f]{2})\b", HEADER))
DRIVER_AT, TIME_AT, GENERATION_AT = 40 + 112, len(GOLDEN) - 5, 16


def sealed(data):
    """With the right checksums."""
    data = bytearray(data)
    data[32:36] = struct.pack("<I", zlib.crc32(data[40:]))
    data[36:40] = struct.pack("<I", zlib.crc32(data[:36]))
    return bytes(data)


def changed(at, new, data=GOLDEN):
    return sealed(data[:at] + new + data[at + len(new):])


def with_generation(number, data=GOLDEN):
    return changed(GENERATION_AT, struct.pack("<I", number), data)


class Learned(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dynsel-learned-"))
        self.addCleanup(lambda: [*map(os.unlink, self.folder.iterdir()), self.folder.rmdir()])

    def file(self, data, name="table.bin"):
        path = self.folder / name
        path.write_bytes(data)
        return str(path)

    def run_tool(self, *arguments, status=0):
        """(stdout, stderr)."""
        done = subprocess.run([sys.executable, str(TOOL), *arguments], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout, done.stderr

    def test_show_has_devices_and_times(self):
        out, _ = self.run_tool("show", self.file(GOLDEN))
        self.assertIn("[0] Maker GPU 1, driver 1.0, backend bench", out)
        self.assertRegex(out, r"\n9 \+gpu +1000000 +123 ms +-\n")
        self.assertRegex(out, r"\n8 640 480 +500 +6 us +-\n")
        self.assertRegex(out, r"\n7 +268435456 +8 us +80 us\n")
        self.assertLessEqual(max(map(len, out.splitlines())), 100)

    def test_json_has_all_numbers(self):
        table = json.loads(self.run_tool("show", "--json", self.file(GOLDEN))[0])
        self.assertEqual((table["version"], table["generation"], len(table["devices"])), (2, 1, 2))
        self.assertEqual(table["devices"][0]["driver"], "1.0")
        kind = next(k for k in table["kinds"] if k["id"] == 7)
        self.assertEqual(kind["times"][0]["points"][0], {"amount": 1 << 26, "time_ns": 2000, "samples": 5})
        self.assertEqual([k["aspects"] for k in table["kinds"] if k["id"] == 9], [["gpu"]])

    def test_control_characters_are_not_shown(self):
        path = self.file(changed(DRIVER_AT, b"\x1b[31m\n"))
        for arguments in (["show", path], ["show", "--json", path], ["emit", path, "--name", "x"]):
            self.assertNotIn("\x1b", self.run_tool(*arguments)[0])

    def test_check_says_what_is_wrong(self):
        out, _ = self.run_tool("check", self.file(GOLDEN))
        self.assertRegex(out, r"^\S+: valid: version 2, generation 1, \d+ bytes, 2 devices, 4 kinds of task\n$")
        for data, part in ((b"", "no learned table"), (GOLDEN[:-1], "cut short"), (GOLDEN[:20], "cut short"),
                           (changed(8, b"\3"), "version 3"), (GOLDEN[:50] + b"x" + GOLDEN[51:], "checksum"),
                           (GOLDEN[:21] + b"\1" + GOLDEN[22:], "head is damaged"),
                           (changed(24, b"\5"), "ends within a record"), (changed(24, b"\3"), "behind the last"),
                           (changed(TIME_AT + 4, b"\0"), "bounds"), (changed(len(GOLDEN) - 36, b"\0"), "bounds")):
            out, _ = self.run_tool("check", self.file(data), status=1)
            self.assertEqual(out.count("\n"), 1)
            self.assertIn(part, out)

    def test_each_damaged_byte_is_found(self):
        script = (f"import importlib.machinery as m, importlib.util as u, sys\n"
                  f"sys.dont_write_bytecode = True\n"
                  f"l = m.SourceFileLoader('tool', {str(TOOL)!r})\n"
                  f"t = u.module_from_spec(u.spec_from_loader('tool', l)); sys.modules['tool'] = t; l.exec_module(t)\n"
                  f"good = bytes.fromhex({GOLDEN.hex()!r})\n"
                  f"t.parse(good)\n"
                  f"for bad in [good[:i] + bytes([good[i] ^ 255]) + good[i + 1:] for i in range(len(good))] + "
                  f"[good[:i] for i in range(len(good))]:\n"
                  f"    try:\n        t.parse(bad)\n    except t.Mistake:\n        continue\n"
                  f"    sys.exit('a damaged table is taken')\n")
        subprocess.run([sys.executable, "-c", script], check=True)

    def test_newest_area_of_image_counts(self):
        other = with_generation(2, changed(TIME_AT, struct.pack("<I", 160000)))
        for image in (GOLDEN.ljust(1024, b"\xff") + other, other.ljust(1024, b"\0") + GOLDEN):
            self.assertIn("generation 2", self.run_tool("check", self.file(image))[0])
        self.assertIn("generation 1", self.run_tool("check", self.file(GOLDEN.ljust(1024) + other[:-1]))[0])

    def test_diff_lists_differences(self):
        same, slower = self.file(GOLDEN, "a"), self.file(changed(TIME_AT, struct.pack("<I", 160000)), "b")
        self.assertEqual(self.run_tool("diff", same, same)[0], "")
        out, _ = self.run_tool("diff", same, slower, status=1)
        self.assertEqual(out, "! kind 7, amount 268435456, host, backend bench: 80 us -> 160 us (+100 percent)\n")
        self.assertEqual(self.run_tool("diff", "--percent", "100", same, slower)[0], "")
        out, _ = self.run_tool("diff", same, self.file(changed(DRIVER_AT, b"2"), "c"), status=1)
        self.assertIn("- device Maker GPU 1, driver 1.0, backend bench\n", out)
        self.assertIn("+ device Maker GPU 1, driver 2.0, backend bench\n", out)

    def test_merge_takes_newer_times_and_all_devices(self):
        newer = with_generation(5, changed(TIME_AT, struct.pack("<I", 160000)))
        other_driver = with_generation(3, changed(DRIVER_AT, b"2"))
        out = str(self.folder / "merged")
        for order in ([GOLDEN, newer, other_driver], [newer, other_driver, GOLDEN]):
            files = [self.file(data, f"in{i}") for i, data in enumerate(order)]
            self.run_tool("merge", out, *files)
            table = json.loads(self.run_tool("show", "--json", out)[0])
            self.assertEqual((table["generation"], len(table["devices"]), len(table["kinds"])), (6, 3, 4))
            host = next(i for i, d in enumerate(table["devices"]) if d["name"] == "host")
            kind = next(k for k in table["kinds"] if k["id"] == 7)
            times = next(t for t in kind["times"] if t["device"] == host)
            self.assertEqual(times["points"][2]["time_ns"], 160000)
            self.assertEqual(sorted(d["driver"] for d in table["devices"]), ["", "1.0", "2.0"])
        self.run_tool("merge", out, self.file(GOLDEN))
        self.assertEqual(Path(out).read_bytes(), with_generation(2))

    def test_generations_count_round(self):
        last, first = with_generation(0xffffffff), with_generation(0, changed(TIME_AT, struct.pack("<I", 160000)))
        out = str(self.folder / "merged")
        self.run_tool("merge", out, self.file(last, "last"), self.file(first, "first"))
        self.assertIn("160 us", self.run_tool("show", out)[0])
        self.assertIn("generation 0,", self.run_tool("check", self.file(last + first))[0])

    def test_emitted_array_compiles_and_is_the_table(self):
        path = self.file(changed(DRIVER_AT, b"*/??/\\"))
        out, _ = self.run_tool("emit", path, "--name", "learned_table")
        source = self.folder / "table.c"
        source.write_text(out, encoding="utf-8")
        subprocess.run([CC, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", str(source)],
                       check=True)
        array = out[out.index("{"):]
        self.assertEqual(bytes(int(b, 16) for b in re.findall(r"0x(\w\w)", array)), Path(path).read_bytes())
        _, error = self.run_tool("emit", path, "--name", "no name", status=2)
        self.assertIn("no name of C", error)

    def test_mistakes_are_one_line(self):
        for arguments in ([], ["emit", "x"], ["show", "/nonexistent"], ["check", "/nonexistent"], ["blow"],
                          ["show", self.file(b"other")], ["diff", self.file(GOLDEN, "g"), "/nonexistent"]):
            out, error = self.run_tool(*arguments, status=2)
            self.assertEqual((out, error.count("\n")), ("", 1))
            self.assertTrue(error.startswith("dynsel-learned: "))
        self.run_tool("merge", "/nonexistent/out", self.file(GOLDEN), status=1)

    def test_help_is_everywhere(self):
        for command in ([], ["show"], ["merge"], ["diff"], ["emit"], ["check"]):
            self.assertIn("Exit status: 0", self.run_tool(*command, "--help")[0])

    def test_sources_in_document_compile(self):
        text = (TOP / "doc/learned-tables.md").read_text(encoding="utf-8")
        sources = re.findall(r"```c\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(sources), 2)
        for source in sources:
            file = self.folder / "doc.c"
            file.write_text("#define _POSIX_C_SOURCE 200809L\n" + source, encoding="utf-8")
            subprocess.run([CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{TOP}/include",
                            f"-I{GENERATED}", f"-I{GENERATED}/include", str(file)], check=True)

    def test_document_has_the_sizes_of_the_code(self):
        text = (TOP / "doc/learned-tables.md").read_text(encoding="utf-8")
        code = (TOP / "src/policies/learned_table_parts.h").read_text(encoding="utf-8")
        for name, said in (("HEAD", r"The head, (\d+) bytes"), ("DEVICE", r"Then the devices, (\d+) bytes"),
                           ("ASPECT", r"aspects that kinds need, (\d+) bytes")):
            size = re.search(rf"DYNSEL_LEARNED_{name}_BYTES = (\d+)", code)[1]
            self.assertEqual(re.search(said, text)[1], size)


if __name__ == "__main__":
    unittest.main()
