"""Runs training steps and greedy decoding of recurrent models with attn and PyTorch, and prints Markdown tables. On a CPU,
each workload runs with attn, PyTorch and attn again, and the slower attn run counts. On a GPU (--cuda), each program
runs once. Both in float, and with bf16 matrix products if supported. Fails if attn's best mode misses the required
speed-up over PyTorch's best."""
import argparse
import os
import sys
from pathlib import Path

from versus_pytorch import processor
from versus_pytorch_cuda import STEP, best, finish, how, measurements, recorded, show, speed, steps, table

# name: title, required speed-up over PyTorch on a CPU, required ms on an H200, goal in ms
ROWS = {
    "comparison additive encoder": ("300 x 20 + 20, additive, encoder", 2, None, None),
    "comparison additive both": ("the same, encoder and past", 2, 3, 2),
    "comparison multiplicative encoder": ("multiplicative, encoder", 2, None, None),
    "comparison multiplicative both": ("the same, encoder and past", 2, None, None),
    "comparison dot encoder": ("scaled dot, encoder", 2, None, None),
    "comparison dot both": ("the same, encoder and past", 2, None, None),
    "coursework baseline": ("10 x 13 + 13, input feeding", 4, 2.5, 1.5),
    "coursework lexical": ("the same, lexical", 4, 3, 2),
    "coursework deeper": ("the same, 2 + 3 layers", 4, 4, 2.5),
    "input feeding": ("128 x 30 + 30, input feeding, width 512, 2 + 2 layers", 2, 12, 7),
    "large": ("128 x 50 + 50, width 1024, 4 + 4 layers", None, 32, 27),
}


DECODING = 5  # required speed-up of greedy decoding over a usual PyTorch loop, one step after the other


def decoded(attn, torch, asked):
    """Prints the table of greedy decoding. Returns the names that missed the requirement."""
    rows, missed = [], []
    for name in (f"decode {name}" for name in ROWS):
        ours, graph = best(attn, name), best([line for line in torch if line["mode"] == "PyTorch graph"], name)
        theirs = best([line for line in torch if line["mode"] != "PyTorch graph"], name)
        if name.startswith(asked) and ours and theirs:
            missed += [name] if theirs["seconds"] < DECODING * ours["seconds"] else []
            rows.append([name.removeprefix("decode "), show(theirs, scale=1e3) + how(theirs), show(graph, scale=1e3), show(ours, scale=1e3) + how(ours).replace("attn ", ""), times(theirs, ours),
                         DECODING, f"{ours['tokens'] / ours['seconds']:,.0f}"])
    table(["greedy decoding, 64 sentences", "PyTorch, ms", "PyTorch, all steps a graph, ms", "attn, ms", "times as fast", "must reach", "tokens/s"], rows)
    return missed


def times(theirs, ours):
    return f"{theirs['seconds'] / ours['seconds']:.2f}" if theirs and ours else "-"


def on_cpu(options, names, decoding):
    program, peer = f"{options.programs}/recurrent", [sys.executable, str(Path(__file__).parent / "pytorch_recurrent.py"), "cpu"]
    attn, torch = [], []
    for name in names + decoding:
        asked = ["--only", name] + (["--quick"] if options.quick else [])
        before, theirs, after = (measurements([*command, *asked], options.record) for command in ([program], peer, [program]))
        for mode in ("attn", "attn bf16", "attn int8"):
            runs = [line for line in before + after if line["name"] == name and line["mode"] == mode and "seconds" in line]
            attn += [max(runs, key=lambda line: line["seconds"])] if runs else []
        torch += [line for line in theirs if "torch" in line or line["name"] == name]
    version = next(line["torch"] for line in torch if "torch" in line)
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores; PyTorch {version}; medians, ms\n")
    rows, missed = [], []
    for name in names:
        words, must, _, _ = ROWS[name]
        high, low = (best([line for line in attn if line["mode"] == mode], name) for mode in ("attn", "attn bf16"))
        their_low = best([line for line in torch if line["mode"] == "PyTorch autocast"], name)
        their_high = best([line for line in torch if line["mode"] != "PyTorch autocast"], name)
        ours, theirs = best(attn, name), best(torch, name)
        missed += [name] if must and theirs["seconds"] < must * ours["seconds"] else []
        rows.append([words, show(their_high, scale=1e3) + how(their_high), show(high, scale=1e3), times(their_high, high), show(their_low, scale=1e3),
                     show(low, scale=1e3), times(their_low, low), times(theirs, ours), must or "-", show(ours, "flop", 1e-9), show(ours, "gflops"),
                     f"{ours['tokens'] / ours['seconds']:,.0f}"])
    table(["training step", "PyTorch, float", "attn, float", "times as fast", "PyTorch, bf16", "attn, bf16", "times as fast", "attn's best, times as fast as PyTorch's",
           "must reach", "GFLOP", "GFLOP/s", "tokens/s"], rows)
    missed += decoded(attn, torch, tuple(decoding) or "-")
    for line in (line for line in torch if "failed" in line):
        print(f"{line['name']}, {line['mode']}, failed: {line['failed']}")
    sys.exit("missed: " + "; ".join(missed) if missed else 0)


def on_gpu(options, names, decoding):
    asked = (["--only", options.only] if options.only else []) + (["--quick"] if options.quick else [])
    peer = [sys.executable, str(Path(__file__).parent / "pytorch_recurrent.py"), "cuda", *asked]
    ours = recorded(options.attn_from) if options.attn_from else measurements([f"{options.programs}/recurrent_cuda", *asked], options.record)
    theirs = recorded(options.pytorch_from) if options.pytorch_from else measurements(peer, options.record)
    attn, torch = ([line for line in lines if line["mode"].startswith(side)] for lines, side in ((ours, "attn"), (theirs, "PyTorch")))
    gpu, version = next((m for m in attn if "gpu" in m), {}), next((m["torch"] for m in torch if "torch" in m), "-")
    print(f"{gpu.get('gpu', '-')}, CUDA {gpu.get('cuda', '-')}, PyTorch {version}{', quick' if options.quick else ''}\n")
    lowest = [line for line in attn if line["mode"] == "attn"]  # bfloat16
    rows = speed(lowest, torch, lambda name: name in names, [(name, words, "ms", *limits) for name, (words, _, *limits) in ROWS.items()])
    table(["workload", "PyTorch's best", "attn", "times as good", "must reach", "goal", "reached"], rows)
    table(STEP, steps(lowest, torch, dict.fromkeys(names, "")))
    table(["in float", *STEP[1:]], steps([line for line in attn if line["mode"] == "attn float"], torch, dict.fromkeys(names, "")))
    missed = decoded(lowest, torch, tuple(decoding) or "-")
    finish(attn, torch, rows + [[name, "**missed**"] for name in missed])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuda", action="store_true", help="on the GPU")
    parser.add_argument("--programs", help="folder of attn's compiled benchmarks")
    parser.add_argument("--only", default="", help="name prefixes, comma-separated: comparison, coursework, input feeding, large, decode")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--record", type=argparse.FileType("w"), help="write measurements to this file immediately, one JSON line each")
    parser.add_argument("--attn-from", type=Path, metavar="FILE", help="GPU: take attn's side from an earlier record")
    parser.add_argument("--pytorch-from", type=Path, metavar="FILE", help="GPU: take PyTorch's side from an earlier record")
    options = parser.parse_args()
    options.programs = options.programs or ("build/cuda/benchmarks" if options.cuda else "build/cpu/benchmarks")
    names = [name for name in ROWS if name.startswith(tuple(options.only.split(","))) and (options.cuda or ROWS[name][1])]
    decoding = [name for name in (f"decode {name}" for name in ROWS) if name.startswith(tuple(options.only.split(",")))]
    (on_gpu if options.cuda else on_cpu)(options, names, decoding)


if __name__ == "__main__":
    main()
