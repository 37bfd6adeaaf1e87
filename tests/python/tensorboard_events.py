# program: tensorboard_run
"""TensorBoard reads from the event files of a training what its log.jsonl has, and so it does after the training was resumed, once where it
had stopped and once, as after a crash, before that; a training that begins again forgets the earlier one's."""
import argparse
import json
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError as missing:
    print(f"skipped: {missing}; run scripts/setup.sh test")
    sys.exit(77)

FIELDS = {"step": ("training", ["loss", "rate", "tokens_per_second", "gradient_norm"]),
          "validation": ("validation", ["loss", "perplexity", "score", "source_gain"])}


def logged(folder):
    """tag -> [(step, value)], of the log: what came after a step from which the training went on again is left out."""
    series = {}
    for line in (folder / "log.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "start":
            series = {tag: [point for point in points if point[0] <= event["step"]] for tag, points in series.items()}
        group, fields = FIELDS.get(event["event"], ("", []))
        for field in fields:
            if field in event:
                series.setdefault(f"{group}/{field}", []).append((event["step"], struct.unpack("f", struct.pack("f", event[field]))[0]))
    return series


def shown(folder):
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the built tensorboard_run")
    program = parser.parse_args().program
    failures = []

    def compare(folder, what, files, last):
        log, board = logged(folder), shown(folder)
        found = sorted(path.name for path in folder.glob("events.out.tfevents.*"))
        good = log == board and len(found) == files and len(log) == 8 and board["validation/loss"][-1][0] == last
        print("ok  " if good else "FAIL", what, "" if good else f"\nlog {log}\nboard {board}\nfiles {found}")
        if not good:
            failures.append(what)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([program, folder, "2"], check=True)
        compare(folder, "a training's figures are those of its log", 1, 4)
        shutil.copy(folder / "training.safetensors", folder / "kept")
        subprocess.run([program, folder, "4", "resume"], check=True)
        compare(folder, "one that goes on has a second file", 2, 8)
        shutil.copy(folder / "kept", folder / "training.safetensors")
        subprocess.run([program, folder, "3", "resume"], check=True)
        compare(folder, "steps that are made again replace those that were", 3, 6)
        (folder / "events.out.tfevents.9999999998.elsewhere").write_bytes(b"")  # of another program, from a clock that is ahead
        subprocess.run([program, folder, "1"], check=True)
        compare(folder, "a new one removes its files, and no others", 2, 2)
    sys.exit(f"{len(failures)} checks failed" if failures else 0)


if __name__ == "__main__":
    main()
