"""What compiling costs.

compile_cost.py record LOG COMMAND...   runs a compiler's command and appends its object and costs to LOG
compile_cost.py report LOG              prints seconds per target and the slowest translation units
compile_cost.py below SECONDS COMMAND...  runs the command, up to three times; fails unless one takes less than SECONDS of processor time
"""

import os
import re
import sys
import time


def run(command):
    """Exit status, seconds on the clock, peak memory in MB and processor seconds of a command and the processes it starts."""
    start = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss counts bytes there, KiB elsewhere
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
    cost = {}  # of each object, its last compilation: seconds, MB, processor seconds
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

    print(f"\nCompile cost, {root}. Processor seconds are those of the clock on an idle machine.")
    print(f"\n{'seconds':>9} {'processor s':>11} {'MB':>6} {'files':>6}  target")
    for target, parts in sorted(targets.items(), key=lambda item: -sum(numbers[2] for numbers in item[1])):
        row(parts, target)
    row(cost.values(), "all")
    print(f"\n{'seconds':>9} {'processor s':>11} {'MB':>6} {'':6}  slowest translation units")
    for name, numbers in sorted(cost.items(), key=lambda item: -item[1][2])[:10]:
        seconds, memory, busy = numbers
        print(f"{seconds:9.1f} {busy:11.1f} {memory:6.0f} {'':6}  {re.sub(r'CMakeFiles/.+?[.]dir/|[.]o$', '', name)}")
    return 0


def below(limit, *command):
    # Judged by processor seconds: those of the clock when the machine is idle, and less lengthened by other programs when not. What
    # shares the processor's cores lengthens them too, half as much again within minutes: the best of three runs is the program's own.
    for _ in range(3):
        status, seconds, memory, busy = run(command)
        if status != 0:
            return status
        print(f"{busy:.2f} s of processor time, {seconds:.2f} s on the clock, {memory:.0f} MB; the limit is {limit} s")
        if busy < float(limit):
            return 0
    return 1


if __name__ == "__main__":
    modes = {"record": record, "report": report, "below": below}
    if len(sys.argv) < 3 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    sys.exit(modes[sys.argv[1]](*sys.argv[2:]))
