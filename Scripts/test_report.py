"""What run-tests.py prints when all its runs have ended."""

import os
import sys
import time


def report(options, runs, repeated, started):
    functions = [test for run in runs for test in run.functions]
    unsteady = [test for test in functions if test.state == "failed" and repeated.get(test.id) == "passed"]
    failed = [test for test in functions if test.state == "failed" and test not in unsteady]
    passed = [test for test in functions if test.state == "passed"]
    skipped = [test for test in functions if test.state == "skipped"]
    print("\nSlowest tests")
    for test in sorted(functions, key=lambda test: -test.seconds)[:20]:
        print(f"  {test.seconds:7.1f} s  {test.suite}/{test.name}")
    print_costs(functions, options.costs)
    print_pauses(runs)
    for reason in sorted({message for test in skipped for message in test.messages}):
        print(f"Skipped: {reason}")
    # A process that found none of its tests says so with a code of its own.
    runs = [run for run in runs if run.functions or len(runs) == 1]
    for run in runs:
        if run.stopped or not run.ended:
            reason = run.stopped or f"the program ended with {run.process.returncode}"
            print(f"\n✘ The run ended early: {reason}. Running then:")
            for test in run.running.values():
                print(f"    {test.suite}/{test.name}, CPU {test.cpu:.1f} s")
            print(f"  What it printed last ({run.log}):")
            sys.stdout.write(tail(run.log))
    if failed:
        print("\nFailed")
        for test in failed:
            print(f"  ✘ {test.suite}/{test.name}")
    if unsteady:
        print("\nUnsteady: failed beside other tests, and passed alone")
        for test in unsteady:
            print(f"  ~ {test.suite}/{test.name}")
            for message in test.messages:
                print("    " + message.replace("\n", "\n    "))
    passed += unsteady
    suites = len({test.suite for test in functions})
    unknown = len(functions) - len(failed) - len(passed) - len(skipped)
    print(
        f"\n{counted(len(functions), 'test')} in {counted(suites, 'suite')} after"
        f" {time.monotonic() - started:.0f} s, CPU {children_cpu():.0f} s"
        + (f", {unknown} without a result" if unknown else ""))
    print(f"{len(passed)} passed, {len(failed) + unknown} failed, {len(skipped)} skipped")
    if any(run.stopped for run in runs):
        return 124
    if not functions:
        print("error: no test has such an ID")
        return 66
    codes = [run.process.returncode or (0 if run.ended else 70) for run in runs]
    if unsteady and not failed and not unknown:
        return 0
    code = next((code for code in codes if code != 0), 0)
    return code if code >= 0 else 128 - code


def print_costs(functions, file_name):
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
    if file_name:
        with open(file_name, "w") as file:
            file.write("| Suite | Tests | Seconds | CPU seconds |\n| --- | ---: | ---: | ---: |\n")
            for suite, (count, seconds, cpu) in rows:
                file.write(f"| {suite} | {count} | {seconds:.1f} | {cpu:.1f} |\n")


def print_pauses(runs):
    """What passed before the first tests, and while no test was running."""
    for number, run in enumerate(runs, 1):
        seconds, cpu = run.preparation
        print(f"\nProcess {number}: {seconds:.1f} s before its first test, CPU {cpu:.1f} s", end="")
        print(f"; ended after {run.ended_after:.0f} s" if run.ended_after else "", end="")
    pauses = [pause for run in runs for pause in run.pauses]
    seconds, cpu = sum(pause[0] for pause in pauses), sum(pause[1] for pause in pauses)
    print(f"\nBetween tests {seconds:.1f} s, CPU {cpu:.1f} s" + ("; longest before" if pauses else ""))
    for seconds, _, test in sorted(pauses, key=lambda pause: -pause[0])[:5]:
        print(f"  {seconds:7.1f} s  {test.suite}/{test.name}")


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


def children_cpu():
    times = os.times()
    return times.children_user + times.children_system
