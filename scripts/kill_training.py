"""Kills a training on the bundled corpus at random moments, resumes it, and compares the result with an uninterrupted training:

    python3 scripts/kill_training.py build/cpu/examples/wmt14_train --kills 200

Most kills are SIGKILL, the others SIGTERM and SIGINT. If the training ends before the last kill, another one begins. The bytes of
model.safetensors and translations.txt, the losses in log.jsonl and the names of the files must be those of the uninterrupted
training, and the log must have each step and each validation once.
"""
import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TRAINING = """--generated-pairs 300 --vocabulary 300 --layers 1+1 --width 16 --heads 2 --inner 32 --dropout 0.1 --batch 16 --batch-unit sentences
  --warmup 10 --validate-every 5 --average-decay 0.9 --limit 15 --threads 1""".split()
SIGNALS = [signal.SIGKILL] * 3 + [signal.SIGTERM, signal.SIGINT]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program", help="wmt14_train")
parser.add_argument("--kills", type=int, default=200, help="number of kills (200)")
parser.add_argument("--seed", type=int, default=1, help="seed of the moments and signals (1); timing still varies")
parser.add_argument("--epochs", type=int, default=40, help="of each training (40)")
parser.add_argument("--device", default="cpu", help="cpu or cuda (cpu)")
options = parser.parse_args()
random.seed(options.seed)


def start(output, *arguments):
    command = [options.program, *TRAINING, "--device", options.device, "--epochs", str(options.epochs), "--output", str(output), *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def result(output):
    """Everything that must not depend on kills."""
    events = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]
    return {
        "steps": [(event["step"], event["tokens"], event["loss"], event["rate"]) for event in events if event["event"] == "step"],
        "validations": [(event["step"], event["loss"], event["best"]) for event in events if event["event"] == "validation"],
        "test scores": {(event["bleu"], event["perplexity"]) for event in events if event["event"] == "test"},
        "files": {file.name for file in output.iterdir() if not file.name.startswith("events.out.tfevents.")},  # one per start
        **{name: (output / name).read_bytes() for name in ("model.safetensors", "translations.txt")}}


def tokens_and_losses(steps):
    """Tokens up to each step of a log, and losses by the first and last step of their mean."""
    tokens, losses, last = {0: 0}, {}, 0
    for step, count, loss, rate in steps:
        if step <= last:
            sys.exit(f"log.jsonl has step {step} after step {last}")
        tokens[step] = tokens[last] + count
        losses[last + 1, step] = (loss, rate)
        last = step
    return tokens, losses


def differences(expected, found):
    wrong = [what for what in expected if what != "steps" and expected[what] != found[what]]
    # SIGTERM and SIGINT end the mean of a log entry early, so the killed training may have more entries. Their tokens count each step.
    (tokens, losses), (found_tokens, found_losses) = map(tokens_and_losses, (expected["steps"], found["steps"]))
    if any(found_tokens.get(step) != count for step, count in tokens.items()):
        wrong.append("tokens per step")
    if any(losses[steps] != found_losses[steps] for steps in losses.keys() & found_losses.keys()):
        wrong.append("training losses")
    return wrong


def phase(output, starts, status):
    """When a process was killed that found `starts` start events in the log."""
    log = (output / "log.jsonl").read_text() if (output / "log.jsonl").exists() else ""
    if log.count('"event":"start"') == starts:
        return "before the first step"
    return "test" if status < 0 and '"event":"trained"' in log.rpartition('"event":"start"')[2] else "training"


def killed_training(output, most):
    """Trains with at most `most` kills. Returns the signal and the phase of each."""
    kills = []
    while True:
        resumed = (output / "training.safetensors").exists()
        starts = (output / "log.jsonl").read_text().count('"event":"start"') if resumed else 0
        process = start(output, "--resume" if resumed else "--overwrite")
        errors, number = "", None
        try:
            errors = process.communicate(timeout=random.uniform(0, longest) if len(kills) < most else None)[1]
        except subprocess.TimeoutExpired:
            number = random.choice(SIGNALS)
            process.send_signal(number)
            try:
                errors = process.communicate(timeout=60)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                sys.exit(f"{number.name} does not end the training within 60 s")
        if process.returncode == 0:
            return kills
        # The default action of a signal before the training and during its test; saved and 128 + signal in between.
        if number is None or process.returncode not in (-number, 128 + number):
            sys.exit(f"after {len(kills)} kills: {' '.join(process.args)} ends with {process.returncode}: {errors}")
        kills.append((number.name, phase(output, starts, process.returncode)))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    began = time.monotonic()
    whole = start(folder / "whole")
    if errors := whole.communicate()[1]:
        print(errors, file=sys.stderr)
    if whole.returncode != 0:
        sys.exit(whole.returncode)
    seconds = time.monotonic() - began
    # Half of this passes between kills on average; 0.2 s of it are lost to the start and the repeated steps.
    longest = 2 * (seconds / options.kills + 0.2)
    expected = result(folder / "whole")
    print(f"uninterrupted: {expected['steps'][-1][0]} steps, {seconds:.0f} s; kills every {longest / 2:.2f} s on average", flush=True)

    kills, trainings = [], 0
    while len(kills) < options.kills:
        output = folder / f"killed{trainings}"
        kills += killed_training(output, options.kills - len(kills))
        trainings += 1
        if wrong := differences(expected, result(output)):
            sys.exit(f"training {trainings} differs from the uninterrupted one after {len(kills)} kills in all: {', '.join(wrong)}")
    signals, phases = Counter(number for number, _ in kills), Counter(when for _, when in kills)
    print(f"{len(kills)} kills in {trainings} trainings, {time.monotonic() - began:.0f} s: {dict(signals)}, {dict(phases)}. "
          "Models, translations and losses are identical to those of the uninterrupted training.")
