# SPDX-License-Identifier: Apache-2.0
"""dynsel-trace: what it reads of a trace, and what the summary says of it."""

import re
import unittest

import trace_file as t
from support_trace import TOP, Tool
from dynsel_trace import findings, model, parts


def header(name, pattern, flags=re.DOTALL):
    return re.findall(pattern, (TOP / "include/dynsel" / name).read_text(encoding="utf-8"), flags)


class Names(unittest.TestCase):
    """The tables of the tool are those of the library."""

    def test_events(self):
        (events,) = header("trace.h", r"typedef enum dynsel_trace_event \{(.*?)\} dynsel_trace_event;")
        found = {name: int(number) for name, number in re.findall(r"DYNSEL_TRACE_(\w+) = (\d+)[,\s/]", events)}
        self.assertEqual({name: found[name] for name in model.EVENTS}, model.EVENTS)
        self.assertEqual({found[name] for name in set(found) - set(model.EVENTS)}, model.FOR_REPLAY)

    def test_reasons(self):
        texts = header("selection.h", r'X\(DYNSEL_REASON_\w+,\s+(?:\\\n\s*)?"([^"]*)"\)')
        self.assertEqual(tuple(texts), model.REASONS)

    def test_statuses(self):
        found = header("status.h", r"X\((DYNSEL_\w+), (-?\d+),")
        self.assertEqual([(model.status_name(int(number)), name) for name, number in found if
                          model.status_name(int(number)) != name], [])

    def test_states(self):
        self.assertEqual(tuple(header("resource_states.h", r'X\(DYNSEL_RESOURCE_\w+, "([^"]*)"\)')), model.STATES)

    def test_tool_knows_the_sizes_of_the_document(self):
        said = (TOP / "doc/trace.md").read_text(encoding="utf-8")
        self.assertIn("A head of 64 bytes", said)
        self.assertRegex(said, r"a head of 32\s+bytes")


class Times(Tool):
    """Where the time of a piece is from, and what is made of clocks that differ."""

    def pieces(self, file):
        return {p.number: p for p in self.run_of(file).pieces}

    def test_wait_without_a_policy(self):
        """As the library records it where all work is complete when the submit returns."""
        file = t.TraceFile()
        file.three()
        file.choice(1, 1000, 1, t.GPU, 7)
        file.ran(1, 1010, 1500, 1, t.GPU)
        file.wait(1, 1600, 1600, 1, 255, policy=0)
        found = self.pieces(file)[1]
        self.assertEqual((found.policy, found.resource), (1, t.GPU))

    def test_best_source_counts(self):
        for order in "<>":
            file = t.TraceFile(order)
            file.three()
            file.kind(7, "loop")
            for number in range(1, 5):
                file.choice(1, 1000 * number, number, t.GPU, 7, amount=1 << 40)
                file.start(1, 1000 * number + 10, 1000 * number + 20, number, t.GPU)
            file.device(1, 1900, 1100, 320, 1, t.GPU)
            file.ran(1, 1090, 1500, 1, t.GPU)
            file.ran(1, 2090, 2500, 2, t.GPU)
            file.over(1, 1800, 1, t.GPU, 555)
            file.over(1, 2800, 2, t.GPU, 555)
            file.over(1, 3800, 3, t.GPU, 555)
            file.over(1, 4800, 4, t.GPU, status=-11)
            found = self.pieces(file)
            times = {n: (p.source, p.begin, p.end) for n, p in found.items()}
            self.assertEqual(times, {1: (model.DEVICE, 1100, 1420), 2: (model.RAN, 2090, 2500),
                                     3: (model.TOOK, 3245, 3800), 4: (model.BOUND, 4010, 4800)})
            self.assertEqual((found[4].status, found[1].amount, found[1].queue_ns()), (-11, 1 << 40, 80))

    def test_device_that_begins_before_its_submit_is_moved(self):
        file = t.TraceFile()
        file.three()
        for number, begin in ((1, 950), (2, 1700), (3, 500), (4, 1200)):
            file.start(1, 1000, 1050, number, t.GPU)
            file.device(1, 1900, begin, 320, number, t.GPU, error=100)
            file.over(1, 1950, number, t.GPU)
        found = {n: (p.begin, p.moved) for n, p in self.pieces(file).items()}
        self.assertEqual(found, {1: (1000, True), 2: (1630, True), 3: (600, True), 4: (1200, False)})
        run = self.run_of(file)
        self.assertEqual((run.moved, run.doubtful), (3, 1))
        self.assertRegex(self.run_tool("summary", self.file(file))[0],
                         r"3 device times [^;]* moved [^;]*clocks; 1 of them lie")

    def test_lost_records_leave_what_is_known(self):
        file = t.TraceFile()
        file.three()
        file.over(1, 500, 1, t.GPU, 100)          # no choice, no start
        file.ran(2, 600, 700, 2, t.HOST)          # no choice, no end
        file.choice(1, 800, 3, t.GPU, 9)          # nothing but the choice, of a kind without name
        file.wait(1, 850, 900, 4, t.PROCESSORS)   # only waited for
        file.start(1, 900, 950, 5, t.GPU)         # does not end
        file.written[1] = 1_000_000
        out, _ = self.run_tool("summary", self.file(file))
        self.assertIn("thread 1: its ring overflowed, the oldest 999996 records are lost", out)
        self.assertIn("(choice lost)", out)
        self.assertIn("GPU: 0 failed, 2 whose end is unknown", out)
        for view in ("perfetto", "html"):
            self.run_tool(view, self.file(file), "-o", str(self.folder / "out"))

    def test_ends_that_were_seen_late_are_put_in_order(self):
        """Where the resource works in order; the host sees all ends at 9000."""
        for bits, begins in ((2 | 4, (1000, 3000, 5000)), (4, (5000, 7000, 7000))):
            file = t.TraceFile(span=10_000)
            file.policy(1, "p", [("GPU", "opencl", bits)])
            for number, took in ((1, 4000), (2, 2000), (3, 2000)):
                file.start(1, 990 + number, 995 + number, number, 0)
                file.over(1, 9000, number, 0, took)
            file.start(1, 995, 999, 4, 0)
            file.device(1, 9000, 7008, 1600, 4, 0)
            found = self.pieces(file)
            if bits & 2:
                self.assertEqual([found[n].end for n in (1, 2, 3)], [4991, 5008, 7008])
            else:
                self.assertEqual([found[n].begin for n in (1, 2, 3)], list(begins))

    def test_last_estimate_of_a_resource_counts(self):
        file = t.TraceFile()
        file.three()
        file.choice(1, 1000, 1, t.GPU, 1, estimates=[(t.GPU, 0, 0, 160, 160), (t.HOST, 0, 0, 16, 16),
                                                     (t.GPU, 0, 0, 320, 320)])
        self.assertEqual(self.pieces(file)[1].estimates, [(t.GPU, 0, 0, 320, 320), (t.HOST, 0, 0, 16, 16)])

    def test_names_stand_apart_and_alike_names_get_numbers(self):
        file = t.TraceFile()
        file.policy(3, "p" * 48, [("GPU", "opencl", 4), ("GPU", "opencl", 4), ("a\x1b[31m", "x", 8)])
        file.kind(1, "same")
        file.kind(2, "same")
        file.put(0, 0, 6, 5, 0, 0, (77, 0, 1, 2))
        run = self.run_of(file)
        self.assertEqual([r.name for r in run.policies[3].resources.values()], ["GPU", "GPU #2", "a?[31m"])
        self.assertEqual((run.policies[3].name, run.kinds),
                         ("p" * 48, {1: "same", 2: "same #2", 5: "id 77, 2 key words"}))

    def test_waits_that_lie_in_each_other_count_once(self):
        file = t.TraceFile()
        file.three()
        file.ran(1, 100, 200, 1, t.HOST)
        file.wait(1, 2000, 3000, 1, t.HOST)
        for event, since, at in ((39, 1000, 4000), (40, 5000, 5500), (41, 6000, 6300)):
            file.put(1, at, event, 0, t.NOBODY, 0, (*file.ticks(since), 0, 0))
        out, _ = self.run_tool("summary", self.file(file))
        self.assertRegex(out, r"\nthread 1 +0 +- +0 +- +4 +3\.8 us ")

    def test_accesses_of_the_program_are_no_work(self):
        file = t.TraceFile()
        file.three()
        file.policy(2, model.ACCESSORS, [("host", "inline", 8)])
        file.ran(1, 100, 200, 1, t.HOST)
        file.ran(1, 300, 400, 2, t.HOST, policy=2)
        file.copy(1, 250, 290, 2, t.HOST, 64, policy=2)
        file.depends(1, 260, 2, 1, t.HOST, policy=2)
        file.wait(1, 200, 400, 2, t.HOST, policy=2)
        run = self.run_of(file)
        self.assertEqual(([p.number for p in run.pieces], list(run.policies), [c[2] for c in run.copies]), ([1], [1], [None]))
        for view in ("html", "perfetto"):
            self.run_tool(view, self.file(file), "-o", str(self.folder / "out"))

    def test_unknown_events_and_impossible_times_are_left_out(self):
        file = t.TraceFile()
        file.three()
        file.put(1, 10, 99)
        file.put(1, -3000, 24)
        run = self.run_of(file)
        self.assertEqual(run.pieces, [])
        self.assertRegex("\n".join(run.notes),
                         r"1 record with a time outside .*\n1 record of an event unknown .* \(99\)")


class Shown(Tool):
    def trial_runs(self, trials=20, good=100, gap=4000, estimate=True):
        """nstream mostly on the GPU (900 ns), but also on PoCL (9 times slower), where it is tried."""
        file = t.TraceFile(span=(trials + good) * gap + 10_000)
        file.three()
        file.kind(1, "nstream")
        known = [(t.PROCESSORS, 0, 0, 4480, 4480), (t.GPU, 0, 0, 896, 896)] if estimate else ()
        at = 1000
        for number in range(1, trials + good + 1):
            is_trial = number % ((trials + good) // trials) == 0 and number <= trials * ((trials + good) // trials)
            resource, took = (t.PROCESSORS, 8064) if is_trial else (t.GPU, 896)
            file.choice(1, at, number, resource, 1, t.EXPLORING if is_trial else t.FINISH, 1000, known)
            file.start(1, at + 16, at + 32, number, resource)
            file.device(1, at + 64 + took, at + 48, took, number, resource)
            file.over(1, at + 80 + took, number, resource, took)
            at += gap
        return file

    def test_sentence_of_trial_runs_is_true(self):
        analysis, whole = self.analysis_of(self.trial_runs())
        said = findings.findings(analysis, whole)
        lost = 20 * (8064 + 48 - 896)  # the wait for the submit does not count there
        self.assertIn(f"20 pieces of nstream went to PoCL, where they ran 9.0 times as long as on GPU (median):"
                      f" {lost / 1000:.0f} us lost; all were trial runs.", said)
        idle = 100 - round(100 * 100 * 896 / (120 * 4000 + 10_000))
        self.assertTrue(any(re.match(rf"{idle - 1}|{idle} % of the time GPU was idle", s) for s in said), said)
        self.assertTrue(all(s[0].isupper() or s[0].isdigit() for s in said))

    def test_sentence_of_wrong_estimates(self):
        file = t.TraceFile(span=1_000_000)
        file.three()
        file.kind(1, "k")
        for number in range(1, 41):
            resource, took = (t.PROCESSORS, 16000) if number % 2 else (t.GPU, 1600)
            file.choice(1, 20_000 * number, number, resource, 1, t.FINISH, 0,
                        [(t.PROCESSORS, 0, 0, 800, 800), (t.GPU, 0, 0, 1600, 1600)])
            file.start(1, 20_000 * number, 20_000 * number + 10, number, resource)
            file.over(1, 20_000 * number + took + 10, number, resource, took)
        analysis, whole = self.analysis_of(file)
        said = " ".join(findings.findings(analysis, whole))
        self.assertIn("20 pieces of k went to PoCL, where they ran 10 times as long as on GPU", said)
        self.assertIn("the reason for 100 % of them: it is predicted to finish first, and their runs were estimated at"
                      " 800 ns and took 16 us on average.", said)

    def test_no_choice_is_blamed_without_measured_times(self):
        file = t.TraceFile()
        file.three()
        file.kind(1, "k")
        for number in range(1, 9):       # the GPU is never timed: its times are bounds
            resource = t.PROCESSORS if number % 2 else t.GPU
            file.choice(1, 2000 * number, number, resource, 1, t.TURN)
            file.start(1, 2000 * number, 2000 * number + 10, number, resource)
            file.over(1, 2000 * number + (1500 if number % 2 else 100), number, resource, 1400 if number % 2 else 0)
        analysis, whole = self.analysis_of(file)
        self.assertEqual(analysis.worst(whole, 5), [])
        self.assertIn("<100 ns", self.run_tool("summary", self.file(file))[0])
        self.assertIn("none that can be shown", self.run_tool("summary", self.file(file))[0])

    def test_what_delays_all_is_not_blamed_on_the_choice(self):
        """What depends on other work, and ends that were seen late: then only what was known of the start counts."""
        known = [(t.PROCESSORS, 0, 160, 800, 960), (t.GPU, 320, 0, 1600, 1920)]
        losses = {}
        for name, dependent, timed in (("free", False, True), ("dependent", True, True), ("seen late", False, False)):
            file = t.TraceFile(span=200_000)
            file.three()
            file.kind(1, "k")
            file.start(1, 10, 20, 1, t.GPU)
            for number, (resource, took) in enumerate(((t.GPU, 1600), (t.PROCESSORS, 8000)), 2):
                at = 20_000 * number
                file.choice(1, at, number, resource, 1, t.FINISH, 0, known)
                if dependent:
                    file.depends(1, at, number, 1, resource)
                file.start(1, at + 10, at + 20, number, resource)
                if timed:
                    file.device(1, at + 15_000, at + 5000, took, number, resource)
                file.over(1, at + 15_000, number, resource, took)
            analysis, whole = self.analysis_of(file)
            losses[name] = {p.number: p.loss.lost for p in analysis.worst(whole, 5)}
        here = 160 + 8000 - (320 + 1600)
        self.assertEqual(losses, {"free": {3: 13_000 - 1920}, "dependent": {3: here}, "seen late": {3: here}})

    def test_bottleneck_is_told_if_it_is_sure(self):
        for timed in (True, False):
            file = t.TraceFile(span=10_000)
            file.three()
            file.start(1, 10, 20, 1, t.GPU)
            file.over(1, 9990, 1, t.GPU, 9950 if timed else 0)
            said = findings.findings(*self.analysis_of(file))
            told = [s for s in said if "bottleneck" in s]
            self.assertEqual(len(told), timed)
            self.assertTrue(not timed or told[0].startswith("100 % of the time GPU ran work: "), told)

    def test_work_whose_end_is_unknown_may_have_run(self):
        for ends in (True, False):
            file = t.TraceFile(span=10_000)
            file.three()
            file.start(1, 100, 200, 1, t.PROCESSORS)
            if ends:
                file.over(1, 1100, 1, t.PROCESSORS)
            analysis, whole = self.analysis_of(file)
            self.assertEqual(analysis.nothing_ran(whole), 9000 if ends else 100)

    def test_sentences_name_the_policy_where_two_worked(self):
        file = t.TraceFile(span=10_000)
        for number in (1, 2, 3):
            file.three(number, f"policy {number}")
        file.ran(1, 100, 200, 1, t.HOST, 1)
        self.assertIn("GPU got no work.", findings.findings(*self.analysis_of(file)))
        file.ran(1, 300, 400, 2, t.HOST, 2)
        said = findings.findings(*self.analysis_of(file))
        self.assertEqual(said[1:], ["GPU of policy 1 got no work.", "GPU of policy 2 got no work."])

    def test_time_of_several_threads_is_no_share(self):
        file = t.TraceFile(span=10_000)
        file.three()
        for ring in (1, 2):
            file.start(ring, 100, 9000, ring, t.GPU)
            file.over(ring, 9500, ring, t.GPU, 400)
        self.assertIn("The program spent 17.8 us submitting, in 2 threads.", findings.findings(*self.analysis_of(file)))

    def test_mean_is_shown_where_it_differs_much(self):
        file = t.TraceFile()
        file.three()
        for kind, last in ((1, 1100), (2, 9000)):
            file.kind(kind, "kind")
            for number, took in enumerate((1000, 1000, last)):
                piece = 10 * kind + number
                file.choice(1, 10_000 * piece, piece, t.HOST, kind)
                file.ran(1, 10_000 * piece, 10_000 * piece + took, piece, t.HOST)
        out, _ = self.run_tool("summary", self.file(file))
        self.assertRegex(out, r"\n  kind +3 x 1 us\n")
        self.assertRegex(out, r"\n  kind #2 +3 x 1 us \(3\.67 us\)\n")

    def test_builds_are_not_counted_as_runs_nor_as_submits(self):
        file = t.TraceFile(span=20_000)
        file.three()
        file.kind(1, "k")
        file.choice(1, 1000, 1, t.GPU, 1)
        file.put(1, 9000, 31, 0, t.NOBODY, 0, (*file.ticks(1500), 0x6b, 0))
        file.start(1, 1100, 9500, 1, t.GPU)
        file.over(1, 12_000, 1, t.GPU, 10_800)
        analysis, whole = self.analysis_of(file)
        (piece,) = analysis.run.pieces
        self.assertEqual((piece.begin, piece.end), (9000, 12_000))
        host = analysis.host(whole)[1]
        self.assertEqual((host.submit, host.build), (900, 7500))

    def test_amounts_that_are_far_are_not_compared(self):
        file = t.TraceFile()
        file.three()
        file.kind(1, "k")
        for number, (resource, amount, took) in enumerate(((t.HOST, 1000, 9000), (t.GPU, 100, 900), (t.GPU, 1050, 1000),
                                                           (t.HOST, 50000, 90000)), 1):
            file.choice(1, 100_000 * number, number, resource, 1, t.TURN, amount)
            file.ran(1, 100_000 * number, 100_000 * number + took, number, resource)
        analysis, whole = self.analysis_of(file)
        self.assertEqual([(p.number, p.loss.lost, p.loss.better) for p in analysis.worst(whole, 5)], [(1, 8000, t.GPU)])

    def test_usage_adds_up(self):
        file = t.TraceFile(span=10_000)
        file.three()
        file.start(1, 1000, 1200, 1, t.GPU)               # accepted at 1200, runs from 3000 to 4000
        file.copy(1, 2000, 3500, 1, t.GPU, 1 << 20)       # of which 2000 to 3000 counts
        file.copy(1, 4200, 4300, 1, t.GPU, 512, is_out=True)
        file.device(1, 4200, 3000, 992, 1, t.GPU)
        file.over(1, 5000, 1, t.GPU)
        file.ran(2, 6000, 7000, 2, t.HOST)
        file.ran(2, 6500, 7500, 3, t.HOST)                # at the same time: counts once
        analysis, whole = self.analysis_of(file)
        usage = analysis.usage(whole)
        gpu, host = usage[1, t.GPU], usage[1, t.HOST]
        self.assertEqual((gpu.run, gpu.move, gpu.wait, gpu.idle()), (992, 1100, 800, 10_000 - 992 - 1100 - 800))
        self.assertEqual((host.run, host.pieces, host.idle()), (1500, 2, 8500))
        self.assertEqual((gpu.bytes_in, gpu.bytes_out, gpu.queued), (1 << 20, 512, 1800))
        self.assertEqual(analysis.nothing_ran(whole), 10_000 - 992 - 1500)

    def test_each_policy_has_the_time_of_its_turns(self):
        file = t.TraceFile(span=10_000)
        file.three(1, "auto_tune")
        file.three(2, "earliest_finish")
        for at, piece, policy in ((1000, 1, 1), (2000, 2, 1), (4000, 3, 2), (6000, 4, 1)):
            file.choice(1, at, piece, t.GPU, 1, policy=policy)
            file.put(1, at + 500, 22, piece, t.GPU, policy, (*file.ticks(at), 0, 0))
        analysis, whole = self.analysis_of(file)
        usage = analysis.usage(whole)
        self.assertEqual((usage[1, t.GPU].span, usage[2, t.GPU].span), (1500 + 500, 500))
        self.assertEqual((usage[1, t.GPU].run, usage[2, t.GPU].run), (1500, 500))

    def test_accesses_of_the_program_are_no_policys_work(self):
        file = t.TraceFile(span=10_000)
        file.three()
        file.policy(2, "host accessors", [("host accessors", "host accessors", 1)])
        file.choice(1, 1000, 1, t.GPU, 1)
        file.choice(1, 2000, 2, 0, 9, policy=2)
        analysis, whole = self.analysis_of(file)
        self.assertEqual([p.number for p in analysis.run.pieces], [1])
        self.assertEqual((list(analysis.run.policies), 9 in analysis.run.kinds), ([1], False))

    def test_summary_has_all_parts_and_fits_the_terminal(self):
        out, err = self.run_tool("summary", self.file(self.trial_runs()))
        for part in (r"^490 us from 5\.000000 s of the machine's clock on; 120 pieces of work; 852 records, none lost$",
                     r"^policy earliest_finish: 120 pieces in [0-9.]+ [mu]?s$", r"^  PoCL +20 +17 % ",
                     r"^  nstream +20 x 8\.06 us +100 x 896 ns$", r"^thread 1 +120 +100 ns +120 +16 ns ",
                     r"^  piece \d+: nstream, amount 1000, at .*: 7\.22 us lost$",
                     r"^    to PoCL: it got a trial run$", r"^    GPU +0 ns +0 ns +896 ns +896 ns$",
                     r"^    came out: over after 8\.11 us; it runs 8\.06 us \(as the device timed it\)$",
                     r"^    better: GPU: over after 896 ns; it runs 896 ns there, as others of its kind do$"):
            self.assertRegex(out, re.compile(part, re.MULTILINE))
        self.assertLessEqual(max(map(len, out.splitlines())), 120)
        self.assertEqual((err, out.count("lost\n    to")), ("", 5))

    def test_output_without_unicode(self):
        self.run_tool("summary", self.file(self.trial_runs()), env={"PYTHONIOENCODING": "ascii"})

    def test_policy_restricts(self):
        file = self.trial_runs()
        file.policy(2, "round_robin", [("other", "inline", 8)])
        path = self.file(file)
        self.assertNotIn("round_robin", self.run_tool("summary", path, "--policy", "earliest_finish")[0])
        self.assertNotIn("earliest_finish:", self.run_tool("summary", path, "--policy", "2")[0])
        self.refuse(2, "--policy x: no such policy.* earliest_finish, round_robin", "summary", path, "--policy", "x")


class Parts(Tool):
    def passes(self):
        file = t.TraceFile(span=50_000)
        file.three()
        file.kind(1, "k")
        for i, name in enumerate(("one", "two", "one")):
            file.mark(10_000 * (i + 1), name)
        for number in range(1, 5):
            file.choice(1, 10_000 * number + 100 - 9000 * (number == 4), number, t.HOST, 1)
            file.ran(1, 10_000 * number + 200, 10_000 * number + 200 + 100 * number, number, t.HOST)
        file.ran(2, 900, 1000, 9, t.HOST)
        return file

    def test_marks_split_the_run(self):
        run = self.run_of(self.passes())
        found = parts.parts_of(run)
        self.assertEqual(found, {parts.BEFORE: [(0, 10_000)], "one": [(10_000, 20_000), (30_000, 50_000)],
                                 "two": [(20_000, 30_000)]})
        self.assertEqual([p.number for p in parts.restricted(run, found["one"]).pieces], [1, 3, 4])
        self.assertEqual([p.number for p in parts.restricted(run, found[parts.BEFORE]).pieces], [9])

    def test_views_are_restricted(self):
        path = self.file(self.passes())
        for arguments, pieces in (((), 5), (("--part", "two"), 1), (("--part", "one"), 3), (("--from", "two"), 3),
                                  (("--to", "two"), 2), (("--from", "one", "--to", "one"), 2)):
            out, _ = self.run_tool("summary", path, *arguments)
            self.assertIn(f"policy earliest_finish: {pieces} piece", out, arguments)

    def test_mistakes_name_the_marks(self):
        path = self.file(self.passes())
        self.refuse(2, "no mark three in the trace; its marks: one, two", "summary", path, "--part", "three")
        self.refuse(2, "no mark two after two", "html", path, "-o", str(self.folder / "x"), "--from", "two", "--to",
                    "two")
        self.refuse(2, "--part cannot be used", "perfetto", path, "--part", "one", "--to", "two")
        self.refuse(2, "it has none", "summary", self.file(t.TraceFile()), "--to", "x")

    def test_time_of_which_records_are_lost_is_left_out(self):
        file = self.passes()
        del file.rings[1][:5]
        file.written[1] = len(file.rings[1]) + 5
        run = self.run_of(file)
        self.assertEqual(run.lost(), 5)
        self.assertEqual(parts.stretches_of(run, None, None, None), [(run.known_from, 50_000)])
        self.assertGreater(run.known_from, 0)
        self.assertNotIn(parts.BEFORE, parts.parts_of(run))


if __name__ == "__main__":
    unittest.main()
