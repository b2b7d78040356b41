# SPDX-License-Identifier: Apache-2.0
"""The library's RAM as a formula: what stands in the archive, and what a program holds.

The layouts below are those of the structures in include/ and src/, member by member, for a machine
with these pointers; tests/build/test_size.py compares them with what the compiler makes of them.
So a structure that grows is noticed here before a product notices.
"""

import re
from dataclasses import dataclass

from . import elf


@dataclass(frozen=True)
class Machine:
    """Bytes of a pointer, of the C library's locks where there are threads, and of a dynsel_status."""

    pointer: int
    mutex: int = 0
    condition: int = 0
    status: int = 4


HOST_64 = Machine(8, 40, 48)        # Linux with glibc on x86-64, s390x, ppc64
HOST_AARCH64 = Machine(8, 48, 48)
BARE_32 = Machine(4)                # RISC-V without threads
BARE_ARM = Machine(4, status=2)     # its ABI makes enumerations as short as they can be


@dataclass(frozen=True)
class Type:
    size: int
    align: int

    def times(self, count):
        return Type(self.size * count, self.align)


def struct(*members, align=1):
    """The type with these members in this order."""
    offset = 0
    for member in members:
        offset = _up(offset, member.align) + member.size
        align = max(align, member.align)
    return Type(_up(offset, align), align)


def _up(offset, align):
    return -(-offset // align) * align


BYTE, HALF, WORD, LONG = (Type(n, n) for n in (1, 2, 4, 8))
NOTHING = Type(0, 1)

# What the size of a command group depends on.
GROUP = ("MAX_REQUIREMENTS", "MAX_DEPENDENCIES", "MAX_ARGUMENTS", "ARGUMENT_BYTES")
USES = ("MAX_REQUIREMENTS", "MAX_DEPENDENCIES", "MAX_STAGED")  # and that of what it does to buffers


@dataclass(frozen=True)
class Term:
    """Variables of the archive; `formula` says where the bytes come from if not from one number."""

    text: str
    variables: tuple
    section: str     # data or bss
    bytes: int
    formula: str = ""


class Formula:
    """terms   of the archive
    held    (type, bytes, formula) of what a program keeps itself
    numbers option -> number, of the options in the formulas
    """

    def __init__(self, config, machine):
        self._config, self._machine = config, machine
        self._pointer = Type(machine.pointer, machine.pointer)
        self._status = Type(machine.status, machine.status)
        self.numbers = {}
        self.terms = [t for t in self._terms() if t.bytes]
        self.held = self._held()

    def bytes(self, section):
        return sum(t.bytes for t in self.terms if t.section == section)

    def limits(self):
        """For board.py: the archive's .data and .bss are exactly these."""
        return {"data": self.bytes("data"), "bss": self.bytes("bss")}

    def sizes(self):
        """Type -> bytes, of what a program holds."""
        return {name: size for name, size, _ in self.held}

    # The archive

    def _terms(self):
        is_set, pointer = self._config.is_set, self._pointer.size
        yield Term("each thread's state" if is_set("DYNSEL_CONTEXT_THREADS") else "state",
                   ("dynsel_thread_state",), "bss", self._thread().size)
        if is_set("DYNSEL_BACKEND_INLINE"):
            yield Term("backend inline", ("dynsel_inline_backend",), "data", pointer)
        if is_set("DYNSEL_CONTEXT_THREADS"):
            yield Term("waking", ("wakes", "sleepers"), "bss", 8)
        if is_set("DYNSEL_CONTEXT_INTERRUPTS"):
            if not is_set("DYNSEL_IN_FLIGHT_SMALL"):
                yield Term("waking", ("wakes",), "bss", 4)
            if is_set("DYNSEL_HAS_HOSTED"):
                yield Term("signals in place of interrupts", ("depth", "sleeping", "outside"), "bss", 8 + 128)
        yield Term("lives of policies", ("lives",), "bss", 4)
        if is_set("DYNSEL_STATISTICS"):
            yield Term("counting", ("taken",), "bss", 4)
        if is_set("DYNSEL_IN_FLIGHT"):
            yield self._per("slots of work in flight", ("dynsel_slots",), self._slot(), "MAX_IN_FLIGHT")
            if is_set("DYNSEL_IN_FLIGHT_SMALL"):
                words = WORD.times(6 if is_set("DYNSEL_STATISTICS") else 3)
                yield Term("of the table as a whole", ("dynsel_in_flight",), "bss", words.size)
            else:
                yield Term("most in flight", ("dynsel_most_in_use", "dynsel_slot_refusals"), "bss", 8)
                if is_set("DYNSEL_STATISTICS"):
                    yield Term("in flight now", ("dynsel_slots_in_use",), "bss", 4)
        if is_set("DYNSEL_COMMAND_GROUPS"):
            yield from self._memory()
        if is_set("DYNSEL_BACKEND_THREADS"):
            yield from self._threads()
        if is_set("DYNSEL_BACKEND_OPENCL"):
            yield from self._opencl()

    def _number(self, name):
        self.numbers[name] = self._config[f"DYNSEL_{name}"]
        return self.numbers[name]

    def _per(self, text, variables, each, name, formula=""):
        return Term(text, variables, "bss", each.size * self._number(name),
                    f"{formula or each.size} x {name}")

    def _threads(self):
        yield Term("backend threads", ("dynsel_threads_backend", "dynsel_threads_if_started"), "data",
                   2 * self._pointer.size)
        yield Term("its state", ("lock", "running", "users", "started"), "bss", self._machine.mutex + 9)
        bare, each = _line_through(lambda n: self._worker(8 * n), 0)
        yield self._per("workers with their queues", ("workers",), self._worker(self._number("THREADS_QUEUE")),
                        "THREADS_WORKERS", f"({bare} + {each // 8} x THREADS_QUEUE, by 64)")

    def _memory(self):
        lock, static_lock = self._lock(), self._lock(is_static=True)
        yield Term("order of command groups", ("dynsel_memory_lock", "dynsel_order_entries", "untold",
                                               "dynsel_pending_operations", "dynsel_pending_count", "registered"), "bss",
                   self._pointer.size + 5 * 4)
        yield Term("what command groups wait for", ("of_staging", "of_nothing", "heap_count", "copies_out_count", "due",
                                                    "watcher_count", "dynsel_watch_looks", "last"), "bss", 8 * 4)
        yield self._per("those to look at", ("heap",), HALF, "MAX_IN_FLIGHT")
        yield Term("copies to the host that they wait for", ("copies_out_watched",), "bss",
                   4 * -(-self._number("MAX_BUFFERS") // 32), "4 for each 32 of MAX_BUFFERS")
        yield self._by_numbers("command groups in flight", ("dynsel_groups",), "MAX_IN_FLIGHT", self._group, *GROUP)
        yield self._by_numbers("what they do to buffers", ("dynsel_all_uses",), "MAX_IN_FLIGHT", self._uses, *USES)
        yield self._by_numbers("buffers", ("dynsel_buffers",), "MAX_BUFFERS", self._buffer,
                               "MAX_READERS", "MAX_DOMAINS", "BUFFER_INSIDE_BYTES")
        due = struct(self._selection(), LONG)
        yield Term("reports of what was brought back", ("due", "dynsel_readback_due", "telling"), "bss",
                   8 + due.size * self._number("MAX_REQUIREMENTS"), f"8 + {due.size} x MAX_REQUIREMENTS")
        yield self._per("staging buffers", ("staging",), self._staging(), "STAGING_COUNT")
        yield Term("turns of staging", ("takes", "turns"), "bss", 4 + 4 * self._number("MAX_DOMAINS"),
                   "4 + 4 x MAX_DOMAINS")
        yield Term("ends of buffers", ("home", "home_lock"), "bss",
                   self._uses(*(self._number(name) for name in USES)).size + static_lock)
        yield Term("backend of host accessors", ("backend",), "data", self._pointer.size)
        yield Term("policy of host accessors", ("policy",), "bss", self._policy(self._number("MAX_RESOURCES")).size)
        yield self._per("memory domains", ("dynsel_domains",), self._domain(), "MAX_DOMAINS")
        if self._config.is_set("DYNSEL_SVM"):
            yield from self._svm()
        if self._config.is_set("DYNSEL_PROGRESS_THREAD"):
            yield Term("thread that starts what waits", ("lock", "thread", "runs", "ends"), "bss",
                       lock + self._pointer.size + 5)

    def _svm(self):
        pool = struct(self._pointer.times(2), WORD, HALF, BYTE, self._pointer.times(2))
        yield Term("pools of shared memory", ("pools", "pools_lock"), "bss",
                   pool.size * (1 + self._number("MAX_DOMAINS")) + self._lock(is_static=True),
                   f"{pool.size} x (1 + MAX_DOMAINS), about")
        block = struct(self._pointer.times(2), WORD, HALF, BYTE.times(2))
        yield self._per("blocks of shared memory", ("blocks",), block, "SVM_BLOCKS")
        yield Term("their lock", ("blocks_lock",), "bss", self._lock(is_static=True))
        yield self._per("shared memory of the host", ("host_memory",), BYTE, "SVM_HOST_BYTES")

    def _by_numbers(self, text, variables, times, layout, *names):
        """A table whose entries depend on numbers themselves; they are padded to 16 bytes at most."""
        numbers = [self._number(name) for name in names]
        bare = layout(*[0] * len(names)).size
        each = [(layout(*[16 * (one is name) for one in names]).size - bare) // 16 for name in names]
        parts = " + ".join([str(bare), *(f"{n} x {name}" if n > 1 else name for n, name in zip(each, names))])
        return self._per(text, variables, layout(*numbers), times, f"({parts}, about)")

    def _opencl(self):
        table, platforms, entries = self._opencl_table()
        lock = self._lock()
        yield Term("backend opencl", ("dynsel_opencl_backend",), "data", self._pointer.size)
        yield Term("its state", ("dynsel_opencl_lock", "dynsel_opencl_known"), "bss",
                   lock + table.size - platforms.size - entries.size)
        yield Term("texts of drivers", ("answer",), "bss", 4096)
        yield Term("texts of mistakes", ("texts", "turn"), "bss", 4 * 96 + 4)
        yield self._per("platforms", (), self._opencl_platform(), "OPENCL_MAX_PLATFORMS")
        yield self._per("devices", (), self._opencl_entry(), "OPENCL_MAX_DEVICES")
        if self._config.is_set("DYNSEL_COMMAND_GROUPS"):
            yield from self._opencl_kernels()

    def _opencl_kernels(self):
        devices, kernels = self._number("OPENCL_MAX_DEVICES"), self._number("OPENCL_MAX_KERNELS")
        identity, kernel, lock = struct(self._pointer.times(7)), self._opencl_kernel(0), self._lock(is_static=True)
        each = self._opencl_kernel(self._number("MAX_ARGUMENTS"))
        argument = self._opencl_kernel(1).size - kernel.size
        table = struct(WORD, identity.times(kernels), each.times(kernels * devices))
        yield Term("kernels", ("table", "table_lock"), "bss", lock + table.size,
                   f"({identity.size} + ({kernel.size} + {argument} x MAX_ARGUMENTS) x OPENCL_MAX_DEVICES)"
                   " x OPENCL_MAX_KERNELS, about")
        text = self._number("OPENCL_BUILD_LOG_BYTES")
        log = struct(identity, BYTE.times(text))
        yield Term("logs of compilers", ("logs", "logs_lock"), "bss", lock + log.size * devices,
                   f"({identity.size} + OPENCL_BUILD_LOG_BYTES) x OPENCL_MAX_DEVICES, about")
        yield Term("store for binaries", ("store", "store_lock"), "bss", lock + 6 * self._pointer.size)
        yield Term("counts of copies", ("copies", "dynsel_opencl_releases"), "bss", 8)

    # Layouts, private

    def _lock(self, is_static=False):
        """Without threads a lock is a byte, and nothing where the compiler sees that nobody reads it."""
        return self._machine.mutex if self._config.is_set("DYNSEL_CONTEXT_THREADS") else 0 if is_static else 1

    def _error(self):
        words = WORD.times(3 if self._config.is_set("DYNSEL_COMMAND_GROUPS") else 2)
        return struct(self._status, words, self._pointer.times(3))

    def _kept_error(self):
        return self._error() if self._config.is_set("DYNSEL_ERROR_DETAILS") else self._status

    def _thread(self):
        settles = (self._config.is_set("DYNSEL_POLICY_AUTO_TUNE")
                   and not self._config.is_set("DYNSEL_AUTO_TUNE_SMALL"))
        tuned = (WORD.times(2), BYTE.times(3), self._pointer, WORD) if settles else ()
        recording = WORD.times(3) if self._config.is_set("DYNSEL_COMMAND_GROUPS") else NOTHING
        return struct(self._error(), WORD.times(4), recording, *tuned)

    def _busy_word(self):
        """A word that threads change all the time has a cache line."""
        return struct(WORD, BYTE.times(60) if self._config.is_set("DYNSEL_CONTEXT_THREADS") else NOTHING)

    def _event(self):
        return struct(self._pointer.times(2))

    def _selection(self):
        return struct(self._pointer, WORD, BYTE.times(4), WORD.times(3))

    def _work(self):
        return struct(self._pointer.times(4), WORD, BYTE.times(2), WORD, LONG.times(2), self._event(),
                      self._kept_error())

    def _slot(self):
        if self._config.is_set("DYNSEL_IN_FLIGHT_SMALL"):
            took = LONG if self._config.is_set("DYNSEL_POLICY_AUTO_TUNE") else NOTHING
            return struct(WORD, BYTE.times(2), self._selection(), took, self._work())
        cache_line = 64 if self._config.is_set("DYNSEL_CONTEXT_THREADS") else self._pointer.size
        waits = (BYTE.times(2), WORD.times(2)) if self._config.is_set("DYNSEL_COMMAND_GROUPS") else ()
        return struct(WORD.times(2), self._selection(), self._status, BYTE.times(2), *waits, self._work(),
                      align=cache_line)

    def _worker(self, queued):
        name = BYTE.times(len("worker 63") + 1)
        queue = self._pointer.times(queued)
        return struct(Type(self._machine.mutex, 8), Type(self._machine.condition, 8), WORD.times(2),
                      BYTE, self._pointer, name, queue, align=64)

    def _range(self):
        return struct(self._pointer.times(3), WORD)

    def _memory_copy(self):
        return struct(self._pointer.times(3), BYTE.times(2))

    def _movement(self):
        return struct(LONG.times(2), WORD.times(3))

    def _buffer(self, readers, domains, inside):
        size = self._pointer
        copy = struct(self._memory_copy(), self._pointer.times(2), WORD.times(3), BYTE)
        copy_out = struct(BYTE.times(5), WORD, self._pointer, self._event(), LONG.times(2))
        writer = struct(self._selection(), WORD)
        failures = struct(WORD.times(4), self._error().times(2))
        return struct(WORD.times(2), self._pointer, size.times(2), self._range(), WORD.times(6 + readers),
                      failures, BYTE.times(3), WORD.times(3), copy_out, self._error(), writer, copy.times(domains),
                      self._movement(), Type(inside, 16 if inside else 1))

    def _domain(self):
        return struct(self._pointer, WORD.times(2), BYTE, LONG, self._movement())

    def _argument(self):
        return struct(self._pointer.times(3), BYTE.times(2), HALF)

    def _command(self):
        launch = struct(self._pointer, self._range().times(3), self._pointer.times(2))
        return struct(BYTE, self._pointer, launch, self._pointer.times(2), self._pointer.times(2 * 6 + 4))

    def _staging(self):
        given = struct(self._pointer.times(2), self._memory_copy())
        return struct(self._memory_copy(), self._pointer, WORD.times(3), given)

    def _group(self, requirements, dependencies, arguments, values):
        bound = struct(self._pointer.times(2), WORD.times(3))
        return struct(self._pointer, self._error(), self._pointer.times(2), self._command(), self._aspects(1),
                      WORD.times(8 + 5), self._pointer, LONG, HALF, BYTE.times(9), self._pointer, WORD.times(5),
                      HALF.times(2), LONG.times(3), WORD.times(dependencies), bound.times(requirements),
                      self._argument().times(arguments), Type(values, 16))

    def _uses(self, requirements, dependencies, staged):
        staging = struct(self._memory_copy(), HALF, BYTE.times(5))
        use = struct(self._pointer, WORD.times(3), self._pointer, BYTE.times(11), WORD)
        number = HALF if self._number("MAX_IN_FLIGHT") * self._number("MAX_REQUIREMENTS") < 65536 else WORD
        former = struct(number.times(2), HALF)
        return struct(WORD.times(12), self._pointer, BYTE.times(5), WORD.times(dependencies + requirements),
                      use.times(requirements), former.times(requirements), staging.times(staged))

    def _opencl_platform(self):
        return struct(self._pointer.times(2), WORD.times(2), BYTE.times(128 + 64))

    def _opencl_entry(self):
        place = struct(BYTE.times(2 + 16), WORD.times(4))
        pointer = self._pointer if self._config.is_set("DYNSEL_COMMAND_GROUPS") else NOTHING
        shared = (self._pointer, BYTE) if self._config.is_set("DYNSEL_SVM") else ()
        return struct(WORD.times(5), self._pointer.times(4), WORD.times(3), BYTE.times(6), LONG, pointer, *shared,
                      LONG, WORD.times(2), LONG, self._aspects(1), place,
                      BYTE.times(2 * 128 + 3 * 64 + 176))

    def _opencl_kernel(self, arguments):
        size = self._pointer
        shape, was_set = struct(WORD, size.times(6)), struct(size, BYTE.times(1 + 16))
        return struct(WORD, BYTE, self._pointer.times(2), WORD, size.times(4), LONG, WORD, shape,
                      was_set.times(arguments), self._error())

    def _opencl_table(self):
        """(all of it, its platforms, its entries)"""
        platforms = self._opencl_platform().times(self._config["DYNSEL_OPENCL_MAX_PLATFORMS"])
        entries = self._opencl_entry().times(self._config["DYNSEL_OPENCL_MAX_DEVICES"])
        return struct(BYTE, WORD.times(5), struct(self._pointer, LONG, WORD), platforms, entries), platforms, entries

    # Layouts that a program holds

    def _held(self):
        resources = self._number("MAX_RESOURCES")
        found = [("dynsel_selection", self._selection().size, ""),
                 ("dynsel_submission", struct(self._pointer, WORD.times(4), self._event(), self._kept_error()).size, "")]
        kinds = [("", "dynsel_policy", self._policy), ("FIXED_RESOURCE", "dynsel_fixed_resource_policy", self._fixed),
                 ("ROUND_ROBIN", "dynsel_round_robin_policy", self._round_robin),
                 ("DYNAMIC_LOAD", "dynsel_dynamic_load_policy", self._dynamic_load)]
        for option, name, layout in kinds:
            if not option or self._config.is_set(f"DYNSEL_POLICY_{option}"):
                fixed, each = _line_through(layout, resources)
                found.append((name, layout(resources).size, f"{fixed} + {self._each(each)} x MAX_RESOURCES"))
        if self._config.is_set("DYNSEL_POLICY_AUTO_TUNE"):
            found.append(self._auto_tune_row(resources))
        return [*found, *(self._held_for_groups() if self._config.is_set("DYNSEL_COMMAND_GROUPS") else ())]

    def _held_for_groups(self):
        submission = struct(self._pointer, WORD.times(4), self._event(), self._error())
        kernel = struct(self._pointer.times(8), WORD, self._aspects(1))
        accessor = struct(self._pointer, WORD, BYTE.times(3), WORD.times(2), self._range().times(2))
        return [("dynsel_buffer", WORD.size, ""), ("dynsel_accessor", accessor.size, ""),
                ("dynsel_host_accessor", struct(self._pointer.times(2), submission).size, ""),
                ("dynsel_kernel", kernel.size, "")]

    def _each(self, size):
        """Bytes for each resource, as text."""
        if not self._config.is_set("DYNSEL_STATISTICS"):
            return str(size)
        return f"({size - 16 * self._number('COUNTING_THREADS')} + 16 x COUNTING_THREADS)"

    def _auto_tune_row(self, resources):
        tasks = self._number("MAX_TUNED_TASKS")
        bare, each = _line_through(lambda r: self._auto_tune(r, 0), resources)
        task, tuned = _line_through(self._tuned_task, resources)
        key_words = self._number("MAX_KEY_WORDS")
        text = (f"{bare} + {self._each(each)} x MAX_RESOURCES + ({task - 4 * key_words} + 4 x MAX_KEY_WORDS"
                f" + {tuned} x MAX_RESOURCES) x MAX_TUNED_TASKS")
        return "dynsel_auto_tune_policy", self._auto_tune(resources, tasks).size, text

    def _aspects(self, count):
        """So many sets of aspects."""
        if not self._config.is_set("DYNSEL_ASPECTS"):
            return NOTHING
        return (WORD if len(self._config.aspects().aspects) <= 32 else LONG).times(count)

    def _queue(self):
        health = WORD if self._config.is_set("DYNSEL_LOSES_RESOURCES") else NOTHING
        if self._config.is_set("DYNSEL_IN_FLIGHT_SMALL"):
            timed = (WORD, LONG) if self._config.is_set("DYNSEL_POLICY_AUTO_TUNE") else ()
            return struct(self._pointer, health, *timed)
        in_flight = self._config.is_set("DYNSEL_IN_FLIGHT")
        return struct(self._pointer, health, *((WORD.times(3), LONG, self._pointer) if in_flight else ()))

    def _policy(self, resources):
        aspects = self._config.is_set("DYNSEL_ASPECTS")
        counted = self._config["DYNSEL_COUNTING_THREADS"] if self._config.is_set("DYNSEL_STATISTICS") else 0
        ranges = LONG.times(3) if counted and self._config.is_set("DYNSEL_COMMAND_GROUPS") else NOTHING
        words = WORD.times(6 if self._config.is_set("DYNSEL_LOSES_RESOURCES") else 4)
        return struct(self._pointer.times(2), words, self._kept_error(), WORD if aspects else NOTHING,
                      self._aspects(resources), self._pointer.times(2 * resources),
                      self._queue().times(resources), WORD.times(4 * counted * resources), ranges)

    def _fixed(self, resources):
        return struct(self._policy(resources), WORD)

    def _round_robin(self, resources):
        return struct(self._policy(resources), WORD.times(1 + resources))

    def _dynamic_load(self, resources):
        return struct(self._policy(resources), self._busy_word().times(resources))

    def _auto_tune(self, resources, tasks):
        small = self._config.is_set("DYNSEL_AUTO_TUNE_SMALL")
        return struct(self._policy(resources), LONG, WORD.times((2 if small else 4) + resources),
                      self._tuned_task(resources).times(tasks))

    def _tuned_task(self, resources):
        key_words = max(1, self._config["DYNSEL_MAX_KEY_WORDS"])
        if self._config.is_set("DYNSEL_AUTO_TUNE_SMALL"):
            resource = struct(WORD, HALF, BYTE)
            return struct(WORD.times(4), self._pointer, WORD.times(key_words), self._aspects(1), WORD, LONG,
                          resource.times(resources))
        groups = self._config.is_set("DYNSEL_COMMAND_GROUPS")
        resource = struct(LONG.times(3), WORD, HALF, BYTE.times(2), *((HALF.times(4), LONG) if groups else ()))
        aspects = (WORD.times(2),) if self._config.is_set("DYNSEL_ASPECTS") else ()
        return struct(WORD.times(5), WORD.times(key_words), *aspects, WORD.times(3),
                      self._busy_word(), WORD.times(5 if groups else 4), LONG.times(2), BYTE.times(5),
                      resource.times(resources))


def _line_through(layout, count):
    """(fixed, each): what a layout costs beside and for each of `count`; odd counts may need padding."""
    each = (layout(count + 2).size - layout(count).size) // 2
    return layout(count).size - each * count, each


def compare(formula, found):
    """Lines for what the formula has wrong; found: (variable, section, bytes) of each of the archive."""
    known = {v for term in formula.terms for v in term.variables}
    lines = [f"{name} has {size} bytes in .{section}, and the formula does not know it"
             for name, section, size in found if name not in known]
    for section in ("data", "bss"):
        there = sum(size for _, where, size in found if where == section)
        if there != formula.bytes(section):
            lines.append(f".{section} has {there} bytes, and the formula says {formula.bytes(section)}")
    return lines


def variables(objects):
    """(variable, section, bytes) of each variable in RAM, from objects with a section for each."""
    found = []
    for path in objects:
        obj = elf.Object(path)
        for symbol in obj.symbols:
            match = re.match(r"\.[st]?(data|bss)\b(?!\.rel\.ro)", symbol.section.name if symbol.section else "")
            if match and symbol.size:
                name = re.sub(r"\.\d+$", "", symbol.name).rpartition(".")[2]  # of a function's own
                found.append((name, match.group(1), symbol.size))
    return sorted(found)
