"""Runs attn, PyTorch and attn again on this machine's CPU, and prints a Markdown table."""
import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

WORK = {"train_step": "training step, 32 sentences", "greedy": "greedy decoding, 64 sentences"}
GOALS = {"train_step": 2, "greedy": 3}
GOAL_MODES = {"train_step": "eager", "greedy": "all sentences to the end"}  # a padded batch; decoding with caches only


def measurements(command):
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def processor():
    try:
        names = [line.split(":", 1)[1].strip() for line in subprocess.run(["lscpu"], stdout=subprocess.PIPE, text=True).stdout.splitlines()
                 if line.startswith("Model name")]
        return names[0] if names else platform.machine()
    except OSError:
        return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", default="build/cpu/benchmarks", help="folder of attn's compiled benchmarks")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    here = Path(__file__).parent
    attn_before = measurements([f"{options.programs}/transformer_cpu", str(options.repeats)])
    torch = measurements([sys.executable, str(here / "pytorch_transformer.py"), "--repeats", str(options.repeats)])
    attn_after = measurements([f"{options.programs}/transformer_cpu", str(options.repeats)])

    version = next(m["torch"] for m in torch if m.get("name") == "machine")
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores; PyTorch {version}; seconds, medians of {options.repeats}\n")
    print("| work | PyTorch, how | PyTorch, s | attn, s | times as fast | attn, tokens/s | attn with bf16 matrix products, s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    reached = True
    for name, work in WORK.items():
        ours = [m for m in attn_before + attn_after if m.get("name") == name and m["mode"] == "attn"]
        seconds = max(m["seconds"] for m in ours)  # the slower of both runs
        low = max((m["seconds"] for m in attn_before + attn_after if m.get("name") == name and m["mode"] == "attn bf16"), default=None)
        for peer in (m for m in torch if m.get("name") == name and not m.get("best")):
            ratio = peer["seconds"] / seconds
            goal = f" (goal {GOALS[name]})" if peer["mode"] == GOAL_MODES[name] else ""
            reached &= not goal or ratio >= GOALS[name]
            print(f"| {work} | {peer['mode']} | {peer['seconds']:.3f} | {seconds:.3f} | {ratio:.2f}{goal} | {ours[0]['tokens'] / seconds:,.0f} | {f'{low:.3f}' if low else '-'} |")
    for failed in (m for m in torch if "failed" in m):
        print(f"\nPyTorch, {failed['mode']}: {failed['failed']}")
    sys.exit(0 if reached else "a goal was missed")


if __name__ == "__main__":
    main()
