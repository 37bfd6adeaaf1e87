"""Measures the speed-up of two single-core processes over one: two_processes.py PROGRAM [--record FILE]

PROGRAM is data_parallel, built with MPI. Both run three times in turn, and the medians count. The machine should be idle.
Exits with 1 if two processes are less than 1.8 times as fast as one. --record writes the measurements for scaling_model.py
--check.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

WANTED = 1.8


def measure(program, repeats, ranks, cores):
    """Runs the program with each rank pinned to its own core."""
    pin = ["sh", "-c", f'set -- {" ".join(map(str, cores))} "$@"; shift ${{OMPI_COMM_WORLD_LOCAL_RANK:-0}}; core=$1; '
           f'shift $(({ranks} - ${{OMPI_COMM_WORLD_LOCAL_RANK:-0}})); exec taskset -c $core "$@"', "sh", program, str(repeats)]
    start = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*start, *pin], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        sys.exit(f"{program} on {ranks} ranks ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def middle(lines):
    return {name: statistics.median(line[name] for line in lines) if isinstance(value, float) else value for name, value in lines[0].items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5, help="repeats of each measurement per turn")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit("two_processes.py needs two cores")
    lines = {ranks: [] for ranks in (1, 2)}
    for _ in range(arguments.turns):
        for ranks in lines:
            lines[ranks].append(measure(arguments.program, arguments.repeats, ranks, cores[:ranks]))
    one, two = (middle(lines[ranks]) for ranks in (1, 2))
    speed = lambda line, step: line["tokens"] / line[step]
    ratio = speed(two, "step") / speed(one, "step")
    print(f"one process: {speed(one, 'step'):,.0f} tokens/s, two: {speed(two, 'step'):,.0f} tokens/s "
          f"(sums after the backward pass: {speed(two, 'step_after'):,.0f})")
    print(f"sums of {sum(two['layers']) + two['rest']:,} bytes take {1e3 * two['sum']:.1f} ms of a step's {1e3 * two['step']:.1f} ms")
    print(f"{ratio:.2f} times the speed of one process; at least {WANTED} required")
    if arguments.record:
        arguments.record.write_text(json.dumps({"one": one, "several": [two]}, indent=1) + "\n")
    sys.exit(0 if ratio >= WANTED else 1)


if __name__ == "__main__":
    main()
