#!/usr/bin/env python3
"""Runs the tests of a package that is built, a bounded number at once, and says what each suite cost.

    Scripts/run-tests.py [--filter REGEX]… [--skip REGEX]… [--width N] [--silence MINUTES] [--costs FILE] PROGRAM

PROGRAM is the test executable that `swift build --build-tests` makes. The runner reads the events that Swift Testing
writes, so a run that is stopped still tells which tests passed, failed and were running:

- Each suite is printed when its last test ends, each failure at once, with its messages.
- At the end: the slowest twenty tests, the seconds of CPU of each suite, and one line with the counts.
- A run is stopped when no test has started or ended for --silence minutes, not after a fixed time. Then, and when the
  program crashes, the tests that were running are named.

--width bounds how many tests run at once. The default is the number of processors: Swift's pool has one thread for each,
and a test that waits for such a thread would count the wait as its own time.

CPU is that of the test program and of the programs that it started and waited for. When several tests run at once, what
is used between two events is divided among them equally; --width 1 gives exact figures.

The exit code is that of the program; 124 after a silence, 70 where the program ended without a result, 66 where no test was found.
"""

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        events = os.path.join(folder, "events")
        os.mkfifo(events)
        return Run(options, events).result()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--filter", action="append", default=[], help="run only tests whose ID this expression finds")
    parser.add_argument("--skip", action="append", default=[], help="run no test whose ID this expression finds")
    parser.add_argument("--width", type=int, default=os.cpu_count() or 2, help="how many tests run at once")
    parser.add_argument("--silence", type=float, default=5, help="minutes without an event that end the run")
    parser.add_argument("--costs", help="write the costs of all suites to this file, as a Markdown table")
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
        parts = self.id.split("/")
        # An ID is Module.Suite/Nested/function()/File.swift:line:column.
        self.suite = parts[0] if len(parts) < 4 else "/".join(parts[:-2])
        self.state = None
        # How many of its cases run just now, and what they took; a test of one case is that case.
        self.open_cases = 0
        self.seconds = self.cpu = 0.0
        self.messages = []


class Run:
    def __init__(self, options, events):
        self.options = options
        self.tests = {}
        self.running = {}
        self.unfinished = {}
        self.last_event = time.monotonic()
        self.last_cpu = self.last_instant = 0.0
        self.ended = False
        self.stopped = None
        self.started = time.monotonic()
        self.process = self.start(events)
        self.events = events

    def start(self, events):
        command = [
            self.options.program, "--testing-library", "swift-testing", "--event-stream-version", "0",
            "--event-stream-output-path", events,
            "--experimental-maximum-parallelization-width", str(self.options.width),
        ]
        for name in ("filter", "skip"):
            for expression in getattr(self.options, name):
                command += [f"--{name}", expression]
        os.makedirs(os.path.dirname(self.options.log) or ".", exist_ok=True)
        self.log = open(self.options.log, "wb")
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)

    # Reading

    def result(self):
        adopt_orphans()
        threading.Thread(target=self.watch, daemon=True).start()
        # Opened for both, so that a program which dies before it opens its end does not keep the runner waiting.
        descriptor = os.open(self.events, os.O_RDWR)
        reader = threading.Thread(target=self.read, args=(descriptor,), daemon=True)
        reader.start()
        code = self.process.wait()
        reap_orphans()
        os.write(descriptor, b"\n{\"kind\":\"end\"}\n")
        reader.join(30)
        return self.report(code)

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
        test = self.tests.get(payload.get("testID"))
        if test is None or test.is_suite:
            if kind == "issueRecorded" and payload["issue"]["isKnown"] is False:
                self.say("✘ " + text(payload))
            return
        if kind in ("testCaseStarted", "testCaseEnded"):
            self.charge(payload["instant"]["absolute"])
            test.open_cases += 1 if kind == "testCaseStarted" else -1
            self.running[test.id] = test
            if test.open_cases == 0:
                del self.running[test.id]
        elif kind == "testEnded":
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

    def charge(self, now):
        """Divides the CPU since the last case began or ended among the cases that were running."""
        cpu = cpu_seconds(self.process.pid, self.last_cpu)
        cases = sum(test.open_cases for test in self.running.values())
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

    # Reporting

    def report(self, code):
        functions = [test for test in self.tests.values() if not test.is_suite]
        failed = [test for test in functions if test.state == "failed"]
        passed = [test for test in functions if test.state == "passed"]
        skipped = [test for test in functions if test.state == "skipped"]
        print("\nSlowest tests")
        for test in sorted(functions, key=lambda test: -test.seconds)[:20]:
            print(f"  {test.seconds:7.1f} s  {test.suite}/{test.name}")
        self.print_costs(functions)
        for reason in sorted({message for test in skipped for message in test.messages}):
            print(f"Skipped: {reason}")
        if self.stopped or not self.ended:
            print(f"\n✘ The run ended early: {self.stopped or f'the program ended with {code}'}. Running then:")
            for test in self.running.values():
                print(f"    {test.suite}/{test.name}, CPU {test.cpu:.1f} s")
            print(f"  What it printed last ({self.options.log}):")
            sys.stdout.write(tail(self.options.log))
        if failed:
            print("\nFailed")
            for test in failed:
                print(f"  ✘ {test.suite}/{test.name}")
        suites = len({test.suite for test in functions})
        unknown = len(functions) - len(failed) - len(passed) - len(skipped)
        print(
            f"\n{counted(len(functions), 'test')} in {counted(suites, 'suite')} after"
            f" {time.monotonic() - self.started:.0f} s, CPU {children_cpu():.0f} s"
            + (f", {unknown} without a result" if unknown else ""))
        print(f"{len(passed)} passed, {len(failed) + unknown} failed, {len(skipped)} skipped")
        if self.stopped:
            return 124
        if not functions:
            print("error: no test has such an ID")
            return 66
        if code == 0 and not self.ended:
            return 70
        return code if code >= 0 else 128 - code

    def print_costs(self, functions):
        costs = {}
        for test in functions:
            cost = costs.setdefault(test.suite, [0, 0.0, 0.0])
            cost[0] += 1
            cost[1] += test.seconds
            cost[2] += test.cpu
        rows = sorted(costs.items(), key=lambda item: -item[1][2])
        print("\nCPU of suites")
        for suite, (count, seconds, cpu) in rows[:20]:
            print(f"  {cpu:7.1f} s  {suite} ({counted(count, 'test')}, {seconds:.1f} s)")
        if self.options.costs:
            with open(self.options.costs, "w") as file:
                file.write("| Suite | Tests | Seconds | CPU seconds |\n| --- | ---: | ---: | ---: |\n")
                for suite, (count, seconds, cpu) in rows:
                    file.write(f"| {suite} | {count} | {seconds:.1f} | {cpu:.1f} |\n")

    def say(self, line):
        print(line, flush=True)


def text(payload):
    return " ".join(
        message["text"] for message in payload.get("messages", []) if message.get("symbol") != "details"
    ) or payload["kind"]


def place(payload):
    location = payload.get("issue", {}).get("sourceLocation")
    if not location:
        return ""
    return f"{location.get('fileID') or location.get('_filePath', '')}:{location['line']}: "


def counted(number, noun):
    return f"{number} {noun}" + ("" if number == 1 else "s")


def tail(path, lines=30):
    with open(path, "rb") as file:
        return b"".join(file.readlines()[-lines:]).decode(errors="replace")


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


def children_cpu():
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    sys.exit(main())
