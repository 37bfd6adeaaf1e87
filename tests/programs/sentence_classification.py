"""Runs sentence_classification on the bundled corpus: the encoders learn the task, the bag of words cannot, and the files are written."""
import csv
import tempfile
from pathlib import Path

from checks import check, finish, refused, run

with tempfile.TemporaryDirectory() as folder:
    output = Path(folder) / "run"
    tiny = ("--layers", 1, "--batch-tokens", 1024, "--steps", 500, "--lengths", 16, "--linformer-k", 8)
    result = run(*tiny, "--output", output)
    check(result.returncode == 0, "a run exits with 0")
    if result.returncode:
        print(result.stderr)
    rows = {row["model"]: float(row["accuracy"]) for row in csv.DictReader(open(f"{output}.csv"))}
    print(rows)
    check(rows["Transformer"] > 0.8, "the Transformer's accuracy is above 0.8")
    check(rows["Linformer k=8"] > 0.7, "the Linformer's accuracy is above 0.7")
    check(0.4 < rows["bag of words"] < 0.6, "the bag of words stays at chance level")

    short = ("--layers", 1, "--width", 16, "--batch-tokens", 256, "--steps", 30, "--test-examples", 20)
    run(*short, "--lengths", "16,32", "--output", output)
    for name in ("accuracy", "time", "memory"):
        picture = Path(f"{output}-{name}.svg")
        check(picture.exists() and "Linformer k=8" in picture.read_text(), f"writes the figure {picture.name}")
    refused("a folder without text", "--data", folder, says="cannot find train*.en")
    refused("sequences longer than the text", "--lengths", 1000000, says="Lower --lengths")
finish()
