# SPDX-License-Identifier: Apache-2.0
"""The worst-case stack of each public function: frames from GCC, added up along the calls.

The call graph comes from GCC's -fcallgraph-info=su, one .ci file beside each object. The targets of a call
through a pointer come from the objects: a call of an operation may reach the functions in that slot of any
constant table of operations, a call of a parameter the functions whose address that object takes. Functions
of the program (task functions, its tables, libc, the driver) are named and not counted. A tail call releases
the caller's frame.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from . import elf

INDIRECT = "__indirect_call"
# A call of a task function may reach one of the library: that of all command groups.
OWN = {("src/submission/call_task.h", "function"): ("", "dynsel_group_run")}
NOTHING = frozenset()


@dataclass
class Function:
    """A compiled function."""

    name: str
    place: str
    object: str
    frame: int
    bounded: bool
    is_global: bool
    calls: set = field(default_factory=set)       # keys of functions, here and outside
    indirect: set = field(default_factory=set)    # places of calls through pointers
    jumps: set = field(default_factory=set)       # of `calls`, those with a tail call
    returned: set = field(default_factory=set)    # of `calls`, those with a call that returns


@dataclass(frozen=True)
class Deepest:
    """The stack of a function and all that it calls."""

    bytes: int
    chain: tuple               # (key, bytes of its frame that count), outermost first
    outside: frozenset         # functions outside the library that it may call
    users: frozenset           # operations and callbacks of the user's program that it may call


class Graph:
    """All functions of a library; `mistakes` has a line for each unbounded use of stack."""

    def __init__(self, objects, interface):
        self.functions, self.mistakes = {}, []
        self._interface, self._texts = interface, {}
        self._tables = defaultdict(set)    # operation -> keys of functions in the tables
        self._taken = defaultdict(set)     # object -> keys of functions whose address it takes
        self._variables = defaultdict(set)  # object -> names of variables
        self._elves = {path: elf.Object(path) for path in objects}
        for path in objects:
            self._read_calls(path)
        for path in objects:
            self._read_object(path, self._elves[path])
        self._deepest = {}
        for function in self.functions.values():
            self._check(function)

    def public(self):
        """C name -> Deepest, for the functions that the public headers declare."""
        return {f.name: self.deepest(key) for key, f in sorted(self.functions.items(), key=lambda i: i[1].name)
                if f.is_global and f.name in self._interface.functions}

    # Reading

    def _read_calls(self, path):
        """Nodes and edges of a .ci file."""
        text = Path(path).with_suffix(".ci").read_text(encoding="utf-8")
        for title, label in re.findall(r'^node: { title: "([^"]+)" label: "([^"]+)" }$', text, re.M):
            name, place, size = label.split("\\n")[:3]
            count, kind = re.match(r"(\d+) bytes \(([\w,]+)\)", size).groups()
            key = _key(path, title)
            self.functions[key] = Function(name, place, path, int(count), kind != "dynamic", key[0] == "")
        edges = re.findall(r'^edge: { sourcename: "([^"]+)" targetname: "([^"]+)"(?: label: "([^"]+)")? }$',
                           text, re.M)
        for caller, target, place in edges:
            function = self.functions[_key(path, caller)]
            if target == INDIRECT:
                function.indirect.add(place)
            else:
                function.calls.add(_key(path, target))

    def _read_object(self, path, obj):
        """Tables of operations, taken addresses, and calls that the compiler added."""
        kinds = self._kinds_of_tables(path)
        for relocation in obj.relocations:
            section = relocation.section
            target = self._target(path, obj, relocation.symbol)
            if not section.flags & elf.ALLOCATED or section.name.startswith((".eh_frame", ".ARM")):
                continue
            if section.flags & elf.EXECUTABLE:
                self._note_in_code(path, obj, relocation, target)
            elif target in self.functions:
                self._note_in_data(path, obj, relocation, target, kinds)
        self._variables[path] = {s.name for s in obj.symbols if s.type == elf.OBJECT
                                 or (s.section is None and ("", s.name) not in self.functions)}

    def _note_in_code(self, path, obj, relocation, target):
        caller = _holder(obj, relocation, elf.FUNCTION)
        function = self.functions.get(_key_of(path, self.functions, caller.removesuffix(".cold")))
        if function is None or target is None:
            return
        if target in function.calls:
            (function.jumps if obj.is_jump(relocation) else function.returned).add(target)
            return
        if target in self.functions:
            self._taken[path].add(target)
        elif target[1].startswith("__"):
            function.calls.add(target)

    def _note_in_data(self, path, obj, relocation, target, kinds):
        table = _holder(obj, relocation, elf.OBJECT)
        kind = kinds.get(re.sub(r"\.\d+$", "", table))
        if kind is None:
            self._taken[path].add(target)
            return
        symbol = next(s for s in obj.symbols if s.name == table)
        offset = (relocation.offset - symbol.value) % self._interface.table_bytes[kind]
        self._tables[self._interface.slots[kind][offset]].add(target)

    def _kinds_of_tables(self, path):
        """Name of a variable -> its type, for tables of operations."""
        source = self._source_of(path)
        names = "|".join(self._interface.slots) or "(?!)"
        return {name: kind for kind, name in re.findall(rf"\b({names})\s+(\w+)\s*(?:\[[^\]]*\]\s*)?=", source)}

    def _target(self, path, obj, symbol):
        """The key of what a relocation refers to; None when it is no function."""
        if symbol.type == elf.SECTION:
            symbol = next((s for s in obj.symbols if s.type == elf.FUNCTION and s.section is symbol.section
                           and not s.name.endswith(".cold")), None)
        if symbol is None or symbol.type == elf.OBJECT or not symbol.name:
            return None
        return _key_of(path, self.functions, symbol.name)

    # Following

    def _check(self, function):
        if not function.bounded:
            self.mistakes.append(f"{function.place}: {function.name}() needs stack of unbounded size (a"
                                 " variable-length array or alloca); use an array of constant size")

    def deepest(self, key, above=()):
        """The deepest chain from a function on."""
        if key in above:
            self._note_cycle(above[above.index(key):])
            return Deepest(0, (), NOTHING, NOTHING)
        if key not in self.functions:
            return Deepest(0, (), frozenset([key[1]]), NOTHING)
        if key not in self._deepest:
            self._deepest[key] = self._follow(key, (*above, key))
        return self._deepest[key]

    def _follow(self, key, above):
        function, users, targets = self.functions[key], set(), set()
        for place in sorted(function.indirect):
            found, asks_user = self._behind_pointer(function, place)
            targets |= found
            users |= asks_user
        jumps = function.jumps - function.returned - targets
        worst, below = Deepest(function.frame, ((key, function.frame),), NOTHING, NOTHING), []
        for target in sorted(targets | function.calls):
            frame = 0 if target in jumps else function.frame
            deeper = self.deepest(target, above)
            below.append(deeper)
            if frame + deeper.bytes > worst.bytes:
                worst = Deepest(frame + deeper.bytes, ((key, frame), *deeper.chain), NOTHING, NOTHING)
        return Deepest(worst.bytes, worst.chain, NOTHING.union(*(d.outside for d in below)),
                       NOTHING.union(users, *(d.users for d in below)))

    def _note_cycle(self, cycle):
        """Adds a line for a cycle, once."""
        first = cycle.index(min(cycle))
        cycle = cycle[first:] + cycle[:first]
        names = [self.functions[key].name + "()" for key in (*cycle, cycle[0])]
        line = f"{self.functions[cycle[0]].place}: recursion without a bound: {' -> '.join(names)}; use a loop"
        if line not in self.mistakes:
            self.mistakes.append(line)

    def _behind_pointer(self, function, place):
        """(keys, names of the user's functions) that a call through a pointer may reach."""
        name, is_member = self._called_at(place)
        operations = {slot for slots in self._interface.slots.values() for slot in slots.values()}
        if name in operations and is_member:
            return self._tables[name], NOTHING if self._tables[name] else {name}
        if name in self._interface.callbacks:
            own = OWN.get((place.rsplit(":", 2)[0], name))
            return {own} & self.functions.keys(), {name}
        if self._is_of_driver(place, name):
            return {("", name)}, NOTHING
        found, users = self._passed_around(function, place, operations)
        if not (found or users) or name in self._variables[function.object]:
            line = (f"{place}: {function.name}() calls through the pointer {name!r}, whose targets are unknown;"
                    " use a table of operations (a const ..._ops) or a parameter")
            if line not in self.mistakes:
                self.mistakes.append(line)
        return found, users

    def _is_of_driver(self, place, name):
        """Whether the variable is a function whose address comes from a driver."""
        text = self._text_of(place.rsplit(":", 2)[0])
        types = "|".join(re.findall(r"typedef[^;{}]*\(\s*CL_API_CALL\s*\*\s*(\w+)\s*\)", text))
        return bool(types) and re.search(rf"\b(?:{types})\s+{name}\b", text) is not None

    def _passed_around(self, function, place, operations):
        """For a parameter: the functions whose address this object takes, and the operations that it reads."""
        read = re.findall(r"(?:->|\.)(\w+)\b(?!\s*[(=])", self._text_of(place.rsplit(":", 2)[0]))
        slots = operations.intersection(read)
        found = self._taken[function.object].union(*(self._tables[slot] for slot in slots))
        return found, {slot for slot in slots if not self._tables[slot]}


    # Sources

    def _source_of(self, path):
        """The text of the source of an object, which its .ci file names first."""
        with open(Path(path).with_suffix(".ci"), encoding="utf-8") as f:
            named = re.match(r'graph: { title: "([^"]+)"', f.readline())
        return self._text_of(named.group(1)) if named else ""

    def _called_at(self, place):
        """(name of the pointer, whether it is a member) of the call that begins at file:line:column."""
        path, line, column = place.rsplit(":", 2)
        lines = self._text_of(path).split("\n")[int(line) - 1:][:8]
        text = " ".join([lines[0][int(column) - 1:], *lines[1:]]) if lines else ""
        found = re.match(r"\(?\*?\s*((?:\w+\s*(?:\[[^\]]*\]|\(\))?\s*(?:->|\.)\s*)*)(\w+)", text)
        return (found.group(2), bool(found.group(1))) if found else (text[:20], False)

    def _text_of(self, path):
        if path not in self._texts:
            self._texts[path] = Path(path).read_text(encoding="utf-8") if Path(path).is_file() else ""
        return self._texts[path]


def _key(path, title):
    """(object, symbol) of a local function, ("", symbol) of a global one."""
    source, colon, name = title.rpartition(":")
    return (path, name) if colon else ("", title.removeprefix("*"))


def _key_of(path, functions, name):
    return (path, name) if (path, name) in functions else ("", name)


def _holder(obj, relocation, kind):
    """The function or variable that a relocation stands in; the compiler gives each its own section."""
    return next((s.name for s in obj.symbols if s.type == kind and s.section is relocation.section
                 and (s.value & ~(kind == elf.FUNCTION)) <= relocation.offset < s.value + s.size), "")
