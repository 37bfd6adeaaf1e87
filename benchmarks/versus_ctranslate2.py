"""Runs decoding with attn and CTranslate2 in turn on this machine's CPU, and prints a Markdown table with the best time of
each.
Needs: pip install ctranslate2 numpy"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from versus_pytorch import processor

# Required speed-up of attn's best mode over CTranslate2's int8, from times in ms on two cores of a Neoverse-V1.
MUST = {(1, 1): 302 / 150, (1, 8): 510 / 320, (1, 32): 1541 / 950, (1, 64): 3042 / 1500,
        (4, 1): 410 / 270, (4, 8): 1479 / 950, (4, 32): 5271 / 3300}


def measure(command, seconds, name, clock):
    os.environ["OMP_WAIT_POLICY"] = "passive"  # CTranslate2 is faster with it; attn does not use OpenMP
    for line in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            key = (found["beam"], found["batch"], f"{name} {found['mode']}")
            seconds[key] = min(seconds.get(key, float("inf")), found[clock])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/cpu/benchmarks/decode_cpu", help="attn's compiled benchmark")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3, help="runs per turn")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batches", default="1,8,32,64")
    parser.add_argument("--beams", default="1,4")
    parser.add_argument("--core-seconds", action="store_true",
                        help="compare processor time instead of wall-clock time; for a single thread on a shared machine")
    options = parser.parse_args()
    clock = "core_seconds" if options.core_seconds else "seconds"
    given = ["--runs", str(options.runs), "--threads", str(options.threads)]
    here, seconds = Path(__file__).parent, {}
    for _ in range(options.turns):
        for beam in options.beams.split(","):
            for batch in options.batches.split(","):
                work = given + ["--beams", beam, "--batches", batch]
                measure([options.program] + work, seconds, "attn", clock)
                measure([sys.executable, str(here / "ctranslate2_decode.py")] + work, seconds, "CTranslate2", clock)

    modes = [name for name in ("CTranslate2 float32", "CTranslate2 int8", "attn float", "attn bf16", "attn int8")
             if any(key[2] == name for key in seconds)]
    unit = "ms on cores" if options.core_seconds else "ms"
    print(f"{processor()}, {options.threads} threads; {unit}, best of {options.turns} x {options.runs}\n")
    print("| beam | batch | " + " | ".join(modes) + " | attn's best, times as fast as CTranslate2's | must reach |")
    print("| --- " * (len(modes) + 4) + "|")
    reached = True
    for beam, batch in sorted({key[:2] for key in seconds}):
        row = [seconds[beam, batch, mode] for mode in modes]
        best = {side: min(s for s, mode in zip(row, modes) if mode.startswith(side)) for side in ("attn", "CTranslate2")}
        ratio, must = best["CTranslate2"] / best["attn"], MUST.get((beam, batch))
        reached &= must is None or ratio >= must
        print(f"| {beam} | {batch} | " + " | ".join(f"{s * 1e3:.0f}" for s in row) + f" | {ratio:.2f} | {f'{must:.2f}' if must else ''} |")
    sys.exit(0 if reached else "a goal was missed")


if __name__ == "__main__":
    main()
