"""overlap.py TRACE: the share of the gradient sums' time, by NCCL or through the host, that overlaps with other kernels of
the process; also lists kernels and copies by time. See benchmarks/profile/kernel_trace.cpp for tracing.
"""
import argparse
import collections
import shutil
import subprocess

from kernel_times import short


def read(path):
    """(process, stream, start, end, name) of every kernel and copy."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            process, stream, start, end, name = line.rstrip("\n").split("\t", 4)
            yield int(process), int(stream), int(start), int(end), name


def joined(spans):
    """Merges overlapping and adjacent spans, sorted."""
    found = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1][1] = max(end, found[-1][1])
        else:
            found.append([start, end])
    return found


def length(spans):
    return sum(end - start for start, end in spans)


def shared(a, b):
    """The length of the intersection of two lists of merged spans."""
    total = first = 0
    for start, end in a:
        while first < len(b) and b[first][1] <= start:
            first += 1
        for other_start, other_end in b[first:]:
            if other_start >= end:
                break
            total += min(end, other_end) - max(start, other_start)
    return total


def readable(names):
    """Demangled names, if c++filt is installed."""
    if not names or shutil.which("c++filt") is None:
        return dict(zip(names, names))
    lines = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout.splitlines()
    return dict(zip(names, lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--top", type=int, default=12, help="kernels and copies to list")
    options = parser.parse_args()
    events = list(read(options.trace))
    if not events:
        raise SystemExit(f"{options.trace} has no kernels")
    for process in sorted({event[0] for event in events}):
        mine = [event for event in events if event[0] == process]
        main_stream = collections.Counter(event[1] for event in mine if not event[4].startswith("copy ")).most_common(1)[0][0]
        sums = joined([event[2:4] for event in mine if event[1] != main_stream])  # sums run on their own streams
        others = joined([event[2:4] for event in mine if event[1] == main_stream])
        every = joined([event[2:4] for event in mine])
        span = every[-1][1] - every[0][0]
        print(f"process {process}: {len(mine)} kernels and copies in {span / 1e6:.1f} ms, {100 * length(every) / span:.1f} % of them busy")
        if sums:
            print(f"  beside the main stream: {length(sums) / 1e6:.2f} ms, {100 * shared(sums, others) / length(sums):.1f} % of them while the main stream works")
    names = readable(sorted({event[4] for event in events}))
    times, calls = collections.Counter(), collections.Counter()
    for _, _, start, end, name in events:
        times[short(names[name], 80)] += end - start
        calls[short(names[name], 80)] += 1
    for name, time in times.most_common(options.top):
        print(f"{time / 1e6:10.2f} ms {calls[name]:8d} x {time / calls[name] / 1e3:8.2f} us  {name}")


if __name__ == "__main__":
    main()
