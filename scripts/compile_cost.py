"""Cost of compilation.

compile_cost.py record LOG COMMAND...   runs a compiler command and appends its object file and cost to LOG
compile_cost.py report LOG              prints seconds per target and the slowest translation units
compile_cost.py below RATIO REFERENCE COMMAND...  compares the command with the compilation of the file REFERENCE by the same command;
                                        fails if it takes more than RATIO times as much processor time
"""

import os
import re
import sys
import time


def run(command):
    """Exit status, wall-clock seconds, peak memory in MB and processor seconds of a command and its child processes."""
    start = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss is in bytes on macOS, in KiB elsewhere
    seconds = time.monotonic() - start
    return os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss / unit, usage.ru_utime + usage.ru_stime


def record(log, *command):
    status, seconds, memory, busy = run(command)
    if status == 0 and "-o" in command:
        line = f"{command[command.index('-o') + 1]}\t{seconds:.2f}\t{memory:.0f}\t{busy:.2f}\n"
        with open(log, "a", buffering=len(line) + 1) as file:  # one write, so that parallel compilations do not mix
            file.write(line)
    return status


def report(log):
    root = os.path.dirname(log)
    cost = {}  # last compilation of each object: seconds, MB, processor seconds
    for line in open(log):
        name, *numbers = line.rstrip("\n").split("\t")
        if os.path.exists(os.path.join(root, name)):
            cost[name] = tuple(map(float, numbers))
    targets = {}
    for name, numbers in cost.items():
        target = re.search(r"CMakeFiles/(.+?)\.dir/", name)
        targets.setdefault(target[1] if target else name, []).append(numbers)

    def row(parts, name):
        seconds, memory, busy = zip(*parts)
        print(f"{sum(seconds):9.1f} {sum(busy):11.1f} {max(memory):6.0f} {len(parts):6}  {name}")

    print(f"\nCompile cost, {root}. On an idle machine, processor seconds equal wall-clock seconds.")
    print(f"\n{'seconds':>9} {'processor s':>11} {'MB':>6} {'files':>6}  target")
    for target, parts in sorted(targets.items(), key=lambda item: -sum(numbers[2] for numbers in item[1])):
        row(parts, target)
    row(cost.values(), "all")
    print(f"\n{'seconds':>9} {'processor s':>11} {'MB':>6} {'':6}  slowest translation units")
    for name, numbers in sorted(cost.items(), key=lambda item: -item[1][2])[:10]:
        seconds, memory, busy = numbers
        print(f"{seconds:9.1f} {busy:11.1f} {memory:6.0f} {'':6}  {re.sub(r'CMakeFiles/.+?[.]dir/|[.]o$', '', name)}")
    return 0


def below(ratio, reference, *command):
    # A ratio holds on fast and slow machines, seconds do not. Other programs on the same cores increase processor time by up to half,
    # so both take turns and the shortest run of each counts.
    source = command.index("-c") + 1
    commands = [command, (*command[:source], reference, *command[source + 1 :])]
    shortest = [float("inf")] * 2
    for _ in range(5):
        for which, each in enumerate(commands):
            status, _, memory, busy = run(each)
            if status != 0:
                return status
            shortest[which] = min(shortest[which], busy)
        print(f"{shortest[0]:.2f} s of processor time; {reference} alone takes {shortest[1]:.2f} s, and {ratio} times that is the limit")
        if shortest[0] < float(ratio) * shortest[1]:
            return 0
    return 1


if __name__ == "__main__":
    modes = {"record": record, "report": report, "below": below}
    if len(sys.argv) < 3 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    sys.exit(modes[sys.argv[1]](*sys.argv[2:]))
