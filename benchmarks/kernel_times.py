"""kernel_times.py [--steps N] FILE: a table of kernels, their calls and times, from the output of Nsight Compute:

    ncu --csv --page raw --metrics gpu__time_duration.sum --log-file FILE PROGRAM...

--steps: number of profiled steps; calls and times are per step. benchmarks/gpu_profile.sh runs both commands.
"""
import argparse
import csv
import re

METRIC = "gpu__time_duration.sum"
MICROSECONDS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1.0, "usecond": 1.0, "ms": 1e3, "msecond": 1e3, "s": 1e6, "second": 1e6}
PRODUCTS = re.compile(r"nvjet|cutlass|gemm|xmma|splitk", re.IGNORECASE)  # of cuBLASLt


def short(name, width=100):
    """Strips return type, parameters and namespaces: void attn::kernels::adam<float>(float *) becomes adam<float>."""
    name = re.sub(r"\(anonymous namespace\)::|<unnamed>::|\battn::(kernels::)?|^void ", "", name)
    depth = 0
    for i, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0 and i > 0:
            name = name[:i]
            break
    name = re.sub(r"\((int|bool|unsigned int|long)\)", "", name)  # casts in template arguments
    return name if len(name) <= width else name[: width - 3] + "..."


def launches(path):
    """(kernel, microseconds) of every launch, in order."""
    with open(path, newline="") as file:
        rows = csv.reader(line for line in file if line.startswith('"'))
        head = next(rows)
        units = dict(zip(head, next(rows)))
        for row in rows:
            cells = dict(zip(head, row))
            yield short(cells["Kernel Name"]), float(cells[METRIC].replace(",", "")) * MICROSECONDS[units[METRIC]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--steps", type=int, default=1)
    options = parser.parse_args()
    kernels, groups = {}, {}
    for name, time in launches(options.file):
        for sums, key in ((kernels, name), (groups, "matrix products" if PRODUCTS.search(name) else "everything else")):
            calls, total = sums.get(key, (0, 0.0))
            sums[key] = calls + 1, total + time
    everything = sum(time for _, time in groups.values())
    print("| kernel | calls | us | us a call | share |\n| --- | --- | --- | --- | --- |")
    for name, (calls, time) in [*sorted(kernels.items(), key=lambda item: -item[1][1]), *sorted(groups.items()),
                                ("all", (sum(calls for calls, _ in groups.values()), everything))]:
        print(f"| {name} | {calls / options.steps:g} | {time / options.steps:.1f} | {time / calls:.1f} | {100 * time / everything:.1f} % |")


if __name__ == "__main__":
    main()
