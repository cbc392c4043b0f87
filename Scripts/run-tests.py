#!/usr/bin/env python3
"""Runs the tests of a package that is built, a bounded number at once, and says what each suite cost.

    Scripts/run-tests.py [--filter REGEX]… [--skip REGEX]… [--apart REGEX]… [--width N] [--silence MINUTES] [--costs FILE] [--again N] PROGRAM

PROGRAM is the test executable that `swift build --build-tests` makes. The runner reads the events that Swift Testing
writes, so a run that is stopped still tells which tests passed, failed and were running:

- Each suite is printed when its last test ends, each failure at once, with its messages.
- At the end: the slowest twenty tests, the seconds of CPU of each suite, and one line with the counts.
- A run is stopped when no test has started or ended for --silence minutes, not after a fixed time. Then, and when the
  program crashes, the tests that were running are named.

--width bounds how many tests run at once. The default is the number of processors: Swift's pool has one thread for each,
and a test that waits for such a thread would count the wait as its own time. A test that waits for a server or for another
program holds its thread meanwhile, so --apart has the tests that an expression finds run by a second process beside the first:
the processors then have work. It is without effect beside --filter.

CPU is that of the test program and of the programs that it started and waited for. When several tests run at once, what
is used between two events is divided among them equally; --width 1 gives exact figures. Swift Testing does not tell when a
test without arguments begins to run, and tells its end after the next test has begun: time in which no test with arguments
ran is that of the next test without arguments that ends. "Between tests" is the rest.

With --again N, up to N tests that failed run once more, alone. One that passes then is unsteady: it is listed with its
messages, and does not fail the run. A test that depends on time may fail on a busy machine; it is a defect all the same.

The temporary folder of the tests (TMPDIR) is one of this run, and is removed at its end.

The exit code is that of the program; 124 after a silence, 70 where the program ended without a result, 66 where no test was found.
"""

import argparse
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
from test_report import counted, place, report, text  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")
STARTED = time.monotonic()


def main():
    options = arguments()
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="ocd-", ignore_cleanup_errors=True) as folder:
        # A server that tests start runs as another user, and must get at its folder below.
        os.chmod(folder, 0o755)
        options.scratch = os.path.join(folder, "tmp")
        os.mkdir(options.scratch)
        os.chmod(options.scratch, 0o1777)
        runs = []
        for number, (filters, skips) in enumerate(shares(options), 1):
            events = os.path.join(folder, f"events-{number}")
            os.mkfifo(events)
            stem, suffix = os.path.splitext(options.log)
            log = options.log if number == 1 else f"{stem}-{number}{suffix}"
            runs.append(Run(options, events, filters, skips, log))
        for run in runs:
            run.process.wait()
        reap_orphans()
        for run in runs:
            run.finish_reading()
        return report(options, runs, repeat(options, folder, runs), STARTED)


def repeat(options, folder, runs):
    """Runs the tests that failed once more, alone; their states by ID."""
    failed = [test for run in runs for test in run.functions if test.state == "failed"]
    if not failed or len(failed) > options.again or any(run.stopped or not run.ended or run.has_stray_issue for run in runs):
        return {}
    print(f"\nOnce more, alone: {counted(len(failed), 'test')}")
    events = os.path.join(folder, "events-again")
    os.mkfifo(events)
    stem, suffix = os.path.splitext(options.log)
    options.width = 1
    # An ID ends with the place in the file, which is not a part of what filters see.
    filters = ["^" + re.escape(test.id.rsplit("/", 1)[0]) + "(/|$)" for test in failed]
    run = Run(options, events, filters, [], f"{stem}-again{suffix}")
    run.process.wait()
    run.finish_reading()
    return {test.id: test.state for test in run.functions}


def shares(options):
    """What each process runs, as expressions of tests to take and to leave out."""
    if options.filter or not options.apart:
        return [(options.filter, options.skip)]
    return [([], options.skip + options.apart)] + [([expression], options.skip) for expression in options.apart]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--filter", action="append", default=[], help="run only tests whose ID this expression finds")
    parser.add_argument("--skip", action="append", default=[], help="run no test whose ID this expression finds")
    parser.add_argument("--apart", action="append", default=[], help="run the tests whose ID this finds in a process of their own")
    parser.add_argument("--width", type=int, default=os.cpu_count() or 2, help="how many tests run at once")
    parser.add_argument("--silence", type=float, default=5, help="minutes without an event that end the run")
    parser.add_argument("--costs", help="write the costs of all suites to this file, as a Markdown table")
    parser.add_argument("--again", type=int, default=0, help="run up to so many failed tests once more, alone")
    parser.add_argument("--log", default=".build/tests.log", help="what the program prints goes here")
    options = parser.parse_args()
    if options.width < 1:
        parser.error("--width takes a whole number from 1")
    if not os.access(options.program, os.X_OK):
        parser.error(f"{options.program} is no program; build it first: swift build --build-tests")
    return options


class Test:
    """One test function or suite, as the program's list of tests describes it."""

    def __init__(self, record):
        self.id = record["id"]
        self.name = record.get("displayName") or record["name"]
        self.is_suite = record["kind"] == "suite"
        self.is_parameterized = record.get("isParameterized", False)
        parts = self.id.split("/")
        # An ID is Module.Suite/Nested/function()/File.swift:line:column.
        self.suite = parts[0] if len(parts) < 4 else "/".join(parts[:-2])
        self.state = None
        # How many of its cases run just now, and what they took; a test of one case is that case.
        self.open_cases = 0
        self.seconds = self.cpu = 0.0
        self.messages = []


class Run:
    """One process that runs tests, and what it tells of them."""

    def __init__(self, options, events, filters, skips, log):
        self.options = options
        self.tests = {}
        self.running = {}
        self.unfinished = {}
        self.last_event = time.monotonic()
        self.last_cpu = self.last_instant = 0.0
        # In which no case was running: seconds, CPU, and the test before whose next case it was.
        self.pauses = []
        # The seconds and the CPU before the first test: the program is loaded, and arguments of all tests are made.
        self.preparation = (0.0, 0.0)
        self.ended = False
        # Whether there was an issue that belongs to no test.
        self.has_stray_issue = False
        self.ended_after = self.stopped = None
        # Opened for both, so that a program which dies before it opens its end does not keep the runner waiting.
        self.descriptor = os.open(events, os.O_RDWR)
        self.log = log
        self.started = time.monotonic()
        self.process = self.start(events, filters, skips)
        self.reader = threading.Thread(target=self.read, args=(self.descriptor,), daemon=True)
        self.reader.start()
        threading.Thread(target=self.watch, daemon=True).start()

    def start(self, events, filters, skips):
        command = [
            self.options.program, "--testing-library", "swift-testing", "--event-stream-version", "0",
            "--event-stream-output-path", events,
            "--experimental-maximum-parallelization-width", str(self.options.width),
        ]
        for name, expressions in (("filter", filters), ("skip", skips)):
            for expression in expressions:
                command += [f"--{name}", expression]
        os.makedirs(os.path.dirname(self.log) or ".", exist_ok=True)
        with open(self.log, "wb") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=os.environ | {"TMPDIR": self.options.scratch})

    @property
    def functions(self):
        return [test for test in self.tests.values() if not test.is_suite]

    # Reading

    def finish_reading(self):
        os.write(self.descriptor, b"\n{\"kind\":\"end\"}\n")
        self.reader.join(30)

    def read(self, descriptor):
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            for line in stream:
                if not line.strip():
                    continue
                record = json.loads(line)
                if record["kind"] == "end":
                    return
                if record["kind"] == "test":
                    test = Test(record["payload"])
                    self.tests[test.id] = test
                elif record["kind"] == "event":
                    self.event(record["payload"])

    def event(self, payload):
        self.last_event = time.monotonic()
        kind = payload["kind"]
        if kind == "runStarted":
            for test in self.tests.values():
                if not test.is_suite:
                    self.unfinished.setdefault(test.suite, set()).add(test.id)
        if kind == "runEnded":
            self.ended = True
            self.ended_after = time.monotonic() - STARTED
        if kind == "runStarted":
            self.last_instant = payload["instant"]["absolute"]
            self.last_cpu = cpu_seconds(self.process.pid, 0.0)
            self.preparation = (time.monotonic() - self.started, self.last_cpu)
        test = self.tests.get(payload.get("testID"))
        if test is None or test.is_suite:
            if kind == "issueRecorded" and payload["issue"]["isKnown"] is False:
                self.has_stray_issue = True
                self.say("✘ " + text(payload))
            return
        if kind in ("testCaseStarted", "testCaseEnded"):
            self.charge(payload["instant"]["absolute"], test)
            test.open_cases += 1 if kind == "testCaseStarted" else -1
            self.running[test.id] = test
            if test.open_cases == 0:
                del self.running[test.id]
        elif kind == "testEnded":
            if not test.is_parameterized:
                # It has no cases, and its start is told before its turn comes: what passed since the last event was its own.
                self.running[test.id] = test
                test.open_cases = 1
                self.charge(payload["instant"]["absolute"], test)
                del self.running[test.id]
                test.seconds += sum(pause[0] for pause in self.pauses)
                test.cpu += sum(pause[1] for pause in self.pauses)
                self.pauses = []
            test.state = test.state or "passed"
            self.finish(test)
        elif kind in ("testSkipped", "testCancelled"):
            test.state = test.state or "skipped"
            test.messages.append(text(payload))
            self.finish(test)
        elif kind == "issueRecorded":
            if payload["issue"]["isKnown"]:
                return
            if test.state != "failed":
                self.say(f"✘ {test.suite}/{test.name}")
            test.state = "failed"
            test.messages.append(text(payload))
            self.say("    " + place(payload) + text(payload).replace("\n", "\n    "))

    def charge(self, now, next_test):
        """Divides the CPU since the last case began or ended among the cases that were running."""
        cpu = cpu_seconds(self.process.pid, self.last_cpu)
        cases = sum(test.open_cases for test in self.running.values())
        if cases == 0:
            self.pauses.append((now - self.last_instant, cpu - self.last_cpu, next_test))
        for test in self.running.values():
            test.cpu += (cpu - self.last_cpu) * test.open_cases / cases
            test.seconds += (now - self.last_instant) * test.open_cases
        self.last_cpu = cpu
        self.last_instant = now

    def finish(self, test):
        rest = self.unfinished.get(test.suite)
        if rest is None:
            return
        rest.discard(test.id)
        if rest:
            return
        tests = [other for other in self.tests.values() if other.suite == test.suite and not other.is_suite]
        states = [other.state for other in tests]
        mark = "✘" if "failed" in states else "✔" if "passed" in states else "–"
        skipped = states.count("skipped")
        self.say(
            f"{mark} {test.suite}: {counted(len(tests), 'test')}"
            + (f", {skipped} skipped" if skipped else "")
            + f", {sum(other.seconds for other in tests):.1f} s, CPU {sum(other.cpu for other in tests):.1f} s")

    def watch(self):
        """Ends a run in which nothing has happened for too long."""
        while self.process.poll() is None:
            time.sleep(1)
            silent = time.monotonic() - self.last_event
            if silent > self.options.silence * 60 and self.stopped is None:
                self.stopped = f"no test started or ended for {silent / 60:.0f} minutes"
                self.process.send_signal(signal.SIGABRT)
                time.sleep(60)
                self.process.kill()

    def say(self, line):
        print(line, flush=True)


def cpu_seconds(pid, otherwise):
    """Seconds of the processor of a process and of its children that have ended; only Linux tells."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return sum(int(field) for field in fields[11:15]) / TICK
    except (OSError, IndexError):
        return otherwise


def adopt_orphans():
    """Has servers that the tests start, and that leave their parent, count as the runner's children: Linux only."""
    try:
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    except (OSError, AttributeError):
        pass


def reap_orphans(seconds=5):
    """Waits for adopted processes to end, so that their CPU counts."""
    deadline = time.monotonic() + seconds
    try:
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.05)
    except ChildProcessError:
        pass


if __name__ == "__main__":
    sys.exit(main())
