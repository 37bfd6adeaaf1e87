"""Runs attn and PyTorch on this machine's GPU and prints Markdown tables: each workload with PyTorch's best time,
attn's requirement and goal; then a breakdown of a training step. Fails if attn misses a requirement."""
import argparse
import json
import subprocess
import sys
from pathlib import Path

UNITS = {"ms": ("seconds", 1e3), "us": ("seconds", 1e6), "GiB": ("memory_gib", 1)}  # key of the measurement, and its factor

# name, title, unit, requirement for attn on an H200, which detects regressions, goal (a name: no slower than that measurement)
ROWS = [
    ("train", "training, 88 ragged sentences, Transformer", "ms", 7.4, 5.8),
    ("linformer32", "the same, Linformer k = 32", "ms", 8.2, "train"),
    ("linformer64", "the same, Linformer k = 64", "ms", 8.2, "train"),
    ("fixed", "training, 88 x 256 + 88 x 256 tokens, Transformer", "ms", 27.5, 23),
    ("fixed", "its peak memory", "GiB", 7.5, 6),
    ("attention 88x64", "attention, forward + backward, 88 x 64 tokens", "us", 66, 60),
    ("attention 88x256", "the same, 88 x 256", "us", 231, 208),
    ("attention 32x1024", "the same, 32 x 1024", "us", 814, 662),
    ("attention 4x8192", "the same, 4 x 8192", "us", 5390, 4203),
    ("attention 88x64 causal", "causal, 88 x 64", "us", 66, 60),
    ("attention 88x256 causal", "causal, 88 x 256", "us", 185, 165),
    ("attention 32x1024 causal", "causal, 32 x 1024", "us", 572, 468),
    ("attention 4x8192 causal", "causal, 4 x 8192", "us", 2915, 2291),
    ("attention 88x64 tf32", "attention in TF32, 88 x 64", "us", None, None),
    ("attention 88x256 tf32", "the same, 88 x 256", "us", None, None),
    ("attention 32x1024 tf32", "the same, 32 x 1024", "us", None, None),
    ("encoder 128", "encoder, 65,536 tokens, n = 128, Transformer", "ms", 5.6, 4.7),
    ("encoder 1024", "the same, n = 1,024", "ms", 7.3, 6),
    ("encoder 16384", "the same, n = 16,384", "ms", 38.5, 31),
    ("encoder 128 linformer", "encoder, 65,536 tokens, n = 128, Linformer k = 128", "ms", 8, 6),
    ("encoder 1024 linformer", "the same, n = 1,024", "ms", 8, 6),
    ("encoder 16384 linformer", "the same, n = 16,384", "ms", 8, 6),
]
# Requirements and goals for a build without wgmma on an H200: the attention, projection and training kernels of other GPUs.
WITHOUT_WGMMA = {
    "train": (9.5, 8.5), "linformer32": (10.5, 9.5), "linformer64": (10.5, 9.5), "fixed": (35, 31),
    "attention 88x64": (100, None), "attention 88x256": (400, None), "attention 32x1024": (1350, None), "attention 4x8192": (8500, None),
    "encoder 128": (7, 6), "encoder 1024": (10, 8), "encoder 16384": (55, 42),
}
FLATNESS = 1.05  # Linformer encoder: slowest n over fastest n
FLAT = [name for name, *_ in ROWS if name.endswith(" linformer")]


def measurements(command, record):
    """The JSON lines of a program. Prints and records them immediately, so that an interrupted run keeps its results."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        for line in filter(lambda line: line.startswith("{"), program.stdout):
            lines.append(json.loads(line))
            print(line, end="", file=sys.stderr, flush=True)
            if record:
                record.write(line)
                record.flush()
    if program.returncode != 0:
        print(f"{command[0]} ended with {program.returncode}", file=sys.stderr)
    return lines


def recorded(path):
    return [json.loads(line) for line in open(path) if line.startswith("{")]


def best(lines, name, number="seconds"):
    """The line with this name and the smallest number, or None."""
    return min((line for line in lines if line["name"] == name and number in line), key=lambda line: line[number], default=None)


def show(line, number="seconds", scale=1.0):
    """A number of a line with about three digits, or a dash if it is missing."""
    if line is None or number not in line:
        return "-"
    value = line[number] * scale
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def how(line):
    return f" ({line['mode'].removeprefix('PyTorch ')})" if line else ""


def table(head, rows):
    rows = list(rows)
    for cells in (head, ["---"] * len(head), *rows) if rows else ():
        print("|", " | ".join(map(str, cells)), "|")
    print(end="\n" if rows else "")


def verdict(value, must, goal):
    if must is None:
        return ""
    if value is None or value > must:
        return "**missed**"
    return "goal" if goal is not None and value <= goal else "must"


def speed(attn, torch, wants, work=None):
    """Rows of workload, PyTorch, attn, ratio, must, goal, verdict."""
    rows = []

    def add(words, unit, ours, theirs, number, scale, must, goal):
        value = ours and ours[number] * scale
        ratio = f"{theirs[number] / ours[number]:.2f}" if ours and theirs else "-"
        limits = [show({"seconds": limit} if limit else None) for limit in (must, goal)]
        rows.append([f"{words}, {unit}", show(theirs, number, scale) + how(theirs), show(ours, number, scale), ratio, *limits,
                     verdict(value, must, goal)])

    for name, words, unit, must, goal in work or ROWS:
        if wants(name):
            number, scale = UNITS[unit]
            if isinstance(goal, str):
                other = best(attn, goal)
                goal = other and other[number] * scale
            add(words, unit, best(attn, name, number), best(torch, name, number), number, scale, must, goal)
    if (work is None or FLAT[0] in [name for name, *_ in work]) and all(map(wants, FLAT)):
        spreads = []
        for lines in (attn, torch):
            times = [line["seconds"] for line in (best(lines, name) for name in FLAT) if line]
            spreads.append({"seconds": max(times) / min(times), "mode": "eager"} if len(times) == len(FLAT) else None)
        add("Linformer's encoder, slowest n over fastest", "times", *spreads, "seconds", 1, FLATNESS, None)
    return rows


FLOORS = {"train": "floor train", "linformer32": "floor train", "linformer64": "floor train", "fixed": "floor fixed"}
STEP = ["training step", "kernels + copies + sets", "ms", "host, ms", "GPU alone (graphs), ms", "TFLOP", "TFLOP/s",
        "its matrix products alone, ms", "times that", "tokens/s", "GiB taken (held)"]


def steps(attn, torch, floors):
    """Breakdown of a training step: launches, host time, GPU time alone, arithmetic, and the floor (a PyTorch measurement)."""
    for name, floor in floors.items():
        line, least = best(attn, name), best(torch, floor)
        if line:
            nodes = [line.get(kind, "-") for kind in ("kernels", "copies", "memory_sets")]
            yield [name, f"{nodes[0]} + {nodes[1]} + {nodes[2]}", show(line, scale=1e3), show(line, "host_seconds", 1e3),
                   show(line, "graph_seconds", 1e3), show(line, "flop", 1e-12), show(line, "tflops"), show(least, scale=1e3),
                   f"{line['seconds'] / least['seconds']:.2f}" if least else "-", f"{line['tokens'] / line['seconds']:,.0f}",
                   f"{line['memory_gib']:.2f} ({line['reserved_gib']:.2f})"]


def kernels(attn, torch):
    """Attention and encoders: forward alone, launched individually, in a graph."""
    for line in (line for line in attn if line["name"].startswith(("attention", "encoder")) and "seconds" in line):
        theirs = best(torch, line["name"], "forward_seconds")
        yield [line["name"], show(line, scale=1e6), show(line, "forward_seconds", 1e6), show(theirs, "forward_seconds", 1e6) + how(theirs),
               show(line, "launched_seconds", 1e6), show(line, "graph_seconds", 1e6), line["kernels"], show(line, "tflops")]


def finish(attn, torch, rows):
    """Prints PyTorch's modes and failures. Exits with the status."""
    print("PyTorch's ways, ms:", "; ".join(f"{m['name']} {m['mode'].removeprefix('PyTorch ')} {show(m, scale=1e3)}" for m in torch if "seconds" in m))
    for line in attn + torch:
        for trouble in ("failed", "graph_failed"):
            if trouble in line:
                print(f"\n{line['name']}, {line['mode']}, {trouble}: {line[trouble]}")
    missed = [row[0] for row in rows if "missed" in row[-1]] + [f"{line['name']} (failed)" for line in attn if "failed" in line]
    sys.exit("missed: " + "; ".join(missed) if missed else 0)



def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", default="build/cuda/benchmarks", help="folder of attn's compiled benchmarks")
    parser.add_argument("--only", default="", help="name prefixes, comma-separated: train, fixed, linformer, attention, encoder")
    parser.add_argument("--quick", action="store_true", help="fewer batches and repeats, no torch.compile")
    parser.add_argument("--all-modes", action="store_true", help="also PyTorch modes that were always slower")
    parser.add_argument("--record", type=Path, help="write measurements to this file immediately, one JSON line each")
    parser.add_argument("--attn-from", type=Path, metavar="FILE", help="take attn's side from an earlier record")
    parser.add_argument("--pytorch-from", type=Path, metavar="FILE", help="take PyTorch's side from an earlier record: while tuning only")
    options = parser.parse_args()
    shared = ["--only", options.only] if options.only else []
    shared += ["--quick"] if options.quick else []
    peer = [sys.executable, str(Path(__file__).parent / "pytorch_cuda.py"), *shared] + (["--all-modes"] if options.all_modes else [])
    record = options.record.open("w") if options.record else None
    lines = recorded(options.attn_from) if options.attn_from else measurements([f"{options.programs}/transformer_cuda", *shared], record)
    attn = [line for line in lines if line["mode"] == "attn"]
    lines = recorded(options.pytorch_from) if options.pytorch_from else measurements(peer, record)
    torch = [line for line in lines if line["mode"] != "attn"]

    gpu, version = next((m for m in attn if "gpu" in m), {}), next((m["torch"] for m in torch if "torch" in m), "-")
    print(f"{gpu.get('gpu', '-')}, {'wgmma' if gpu.get('wgmma', True) else 'mma.sync'} attention kernels, CUDA {gpu.get('cuda', '-')}, PyTorch {version}{', quick' if options.quick else ''}\n")
    work = None if gpu.get("wgmma", True) else [(name, words, unit, *(WITHOUT_WGMMA.get(name, (None, None)) if unit != "GiB" else (must, goal)))
                                                for name, words, unit, must, goal in ROWS]
    rows = speed(attn, torch, lambda name: name.startswith(tuple(options.only.split(","))), work)
    table(["workload", "PyTorch's best", "attn", "times as good", "must reach", "goal", "reached"], rows)
    table(STEP, steps(attn, torch, FLOORS))
    table(["attention, encoders", "us", "forward, us", "PyTorch's forward, us", "launched, us", "graph, us", "kernels", "TFLOP/s"], kernels(attn, torch))
    finish(attn, torch, rows)


if __name__ == "__main__":
    main()
