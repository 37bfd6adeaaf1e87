"""Runs wmt14_experiment as a person would, on a corpus of a few hundred sentences: all parts, stopped and gone on with, each alone;
its figures from times that are there already, and, once, measured."""
import json
import re
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from checks import check, check_full, check_help, finish, program, refused, run

MODELS = ("transformer", "linformer32", "linformer64")
HEAD = "whose\tkind\tk\tn\ttokens\tmilliseconds\tdevice"
tiny = ["--generated-pairs", "200", "--epochs", "2", "--validate-every", "0", "--warmup", "5", "--batch", "32", "--vocabulary", "400",
        "--limit", "20", "--device", "cpu", "--threads", "1"]
without_figures = ["--part", "train,tables,samples,singular-values"]


def rows_of(markdown, beginning):
    """Cells of the rows of a Markdown table that begin with some words."""
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in markdown.splitlines() if line.startswith(f"| {beginning}")]


def lines_of(picture):
    """How many points each line of an SVG picture has."""
    root = ElementTree.fromstring(picture.read_text())
    return [len(line.get("points").split()) for line in root.iter("{http://www.w3.org/2000/svg}polyline")]


def times(whose, lengths, device="this"):
    rows = [HEAD]
    for kind in ("encoder", "encoder-decoder"):
        for k in (0, 32, 64, 128):
            rows += [f"{whose}\t{kind}\t{k}\t{n}\t{lengths[-1]}\t{1 + k / 100 + n / 1000:.4f}\t{device}" for n in lengths]
    return "\n".join(rows) + "\n"


with tempfile.TemporaryDirectory() as name:
    folder = Path(name) / "experiment"

    # Stopped in the middle of each model, by every signal that asks for it, and gone on with by the same command.
    command = [program, *map(str, [*tiny, *without_figures, "--sentences", 3, "--samples", 5, "--output", folder])]
    for model, number in (("transformer", signal.SIGHUP), ("linformer32", signal.SIGTERM), ("linformer32", signal.SIGINT)):
        log = folder / model / "log.jsonl"
        starts = log.read_text().count('"start"') if log.exists() else 0
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and (not log.exists() or log.read_text().count('"start"') == starts or '"step"' not in log.read_text().split('"start"')[-1]):
            time.sleep(0.01)
        process.send_signal(number)
        output, errors = process.communicate()
        check(process.returncode == 128 + number and "stopped in the part train. Repeat the command to resume it" in output,
              f"{number!r} stops the experiment, which prints how to resume {errors}")
        check((folder / model / "training.safetensors").exists() and not (folder / model / "report.html").exists(),
              f"the training of {model} is saved without a report")
    check((folder / "transformer/report.html").exists(), "the model stopped before is trained now")
    first = (folder / "transformer/model.safetensors").stat().st_mtime_ns
    refused("tables before training", "--part", "samples", "--output", Path(name) / "nothing", says="Run the part train first")
    result = subprocess.run(command, capture_output=True, text=True)
    print(result.stdout, result.stderr)
    check(result.returncode == 0 and "transformer is trained already" in result.stdout and "resuming at step" in result.stdout,
          "the same command resumes")
    check((folder / "transformer/model.safetensors").stat().st_mtime_ns == first, "a trained model is not trained again")

    # Before there is anything to save, a signal ends it at once.
    process = subprocess.Popen([program, "--generated-pairs", "200000", "--device", "cpu", "--output", Path(name) / "reading"], stdout=subprocess.DEVNULL)
    while not (Path(name) / "reading").exists():
        time.sleep(0.001)
    process.send_signal(signal.SIGTERM)
    check(process.wait() == -signal.SIGTERM and not (Path(name) / "reading/transformer").exists(),
          "SIGTERM ends the program while it reads its text")

    whole = run(*tiny, "--part", "train", "--output", Path(name) / "whole")
    check(whole.returncode == 0 and whole.stdout.count("training pairs of") == 1, "the text is encoded once for all models")
    for model in MODELS:
        same = [(Path(name) / one / model / "model.safetensors").read_bytes() for one in ("whole", "experiment")]
        check(same[0] == same[1], f"{model} has the bits of an uninterrupted run")

    # Tables: the program's figures beside the paper's.
    page = (folder / "tables.md").read_text()
    table3, table4 = (page.split("## ")[i] for i in (1, 2))
    for model, title, paper in zip(MODELS, ("Transformer", "Linformer, k = 32", "Linformer, k = 64"),
                                   (("3.41", "18.68", "29.92", "0.221", "14.3"), ("3.96", "14.15", "30.08", "0.205", "13.2"), ("3.84", "15.18", "27.74", "0.209", "13.4"))):
        events = [json.loads(line) for line in (folder / model / "log.jsonl").read_text().splitlines()]
        test = [event for event in events if event["event"] == "test"][-1]
        losses = [event["perplexity"] for event in events if event["event"] == "validation"]
        row = rows_of(table3, title)[0]
        check(row[2:] == [f"{min(losses):.2f}", f"{test['perplexity']:.2f}", paper[0], f"{test['bleu']:.2f}", paper[1], paper[2]],
              f"table 3 has the figures of {model}: {row}")
        row, spent = rows_of(table4, title)[0], sum(event["seconds"] for event in events if event["event"] == "trained")
        check(row[1:3] == ["2", "14"] and (row[4], row[7]) == paper[3:] and row[6] == f"{spent / 3600:.3f}",
              f"table 4 has the figures of {model}: {row}")
        check(0.2 * min(losses) < test["perplexity"] < 5 * min(losses), "the test perplexity is close to the validation perplexity")
    check("scores its first translation against all 3,003 references" in page and "- command: `wmt14_experiment" in page and "32 sentences here and 88" in page,
          "the page explains the differences from the paper")

    # Translations side by side.
    samples = (folder / "samples.md").read_text()
    check(len(re.findall(r"^Line \d+$", samples, re.M)) == 5 and samples.count("| Linformer, k = 64 |") == 5,
          "the samples have five sentences and three models")
    source = (folder / "test.source.txt").read_text().splitlines()
    place = int(re.search(r"^Line (\d+)$", samples, re.M).group(1))
    check(rows_of(samples, "source")[0][1] == source[place - 1], "the sampled lines are those of the test")
    reference = (folder / "test.target.txt").read_text().splitlines()
    shown = "The school yard renovation was originally planned, so_to_say."
    (folder / "test.source.txt").write_text("\n".join(source[:7] + [shown] + source[8:]) + "\n")
    check(run("--part", "samples", "--samples", 1, "--output", folder).returncode == 0, "a part runs alone with only a folder")
    check_full("the progress", "--part", "samples", "--samples", 1, "--output", folder)
    samples = (folder / "samples.md").read_text()
    check("The paper's examples" in samples and "\nLine 8\n" in samples and "so\\_to\\_say" in samples, "the paper's examples are found in the test")
    (folder / "test.source.txt").write_text("\n".join(source[:7]) + "\n")
    (folder / "test.target.txt").write_text("\n".join(reference[:7]) + "\n")
    refused("translations of another text", "--part", "samples", "--output", folder, says="but the test text has")

    # Singular values: curves from 0 to 1 that never fall.
    table = [line.split("\t") for line in (folder / "singular-values.tsv").read_text().splitlines()]
    curves = {}
    for weights, looks, layer, matrices, values, at, share in table[1:]:
        curves.setdefault((weights, looks, layer), []).append(float(share))
        check(matrices == "6", "a curve averages three sentences and two heads") if at == "0.000000" else None
    check(len(curves) == 2 * 3 * 2 and {looks for _, looks, _ in curves} == {"encoder", "decoder", "cross"},
          f"every layer has a curve: {list(curves)}")
    check(all(curve[0] == 0 and curve[-1] == 1 and curve == sorted(curve) and len(curve) == 65 for curve in curves.values()),
          "curves rise from 0 to 1")
    check(lines_of(folder / "singular-values.svg") == [65, 65, 65, 2],
          "the figure has the encoder layers, the untrained model and the diagonal")
    result = run("--part", "singular-values", "--output", folder)
    check("exist already" in result.stdout and result.returncode == 0, "existing curves are not computed again")

    # Figures, of times that are there; PyTorch's and the paper's beside them.
    lengths = [16384 >> i for i in reversed(range(7))]
    (folder / "inference.tsv").write_text(times("attn", lengths))
    figures = ["--part", "figures", "--tokens", 16384, "--device", "cpu", "--output", folder]
    result = run(*figures)
    check(result.returncode == 0 and "pytorch_inference.py writes them" in result.stdout,
          f"figures are drawn from existing times {result.stderr}")
    check(lines_of(folder / "figure1.svg") == [7] * 4 and lines_of(folder / "figure2.svg") == [7] * 6, "figure 2 has the paper's two lines")
    (folder / "pytorch.tsv").write_text(times("PyTorch", lengths, "theirs"))
    run(*figures)
    check(lines_of(folder / "figure1.svg") == [7] * 8 and lines_of(folder / "figure2.svg") == [7] * 10,
          "the figures have PyTorch's lines if measured")
    check("PyTorch: Linformer, k = 128" in (folder / "figure1.svg").read_text(), "the figures name PyTorch's lines")
    (folder / "pytorch.tsv").write_text(HEAD + "\nPyTorch\tencoder\t0\tmany\t128\t1\tx\n")
    refused("a damaged table", *figures, says="'many' is not a number")
    (folder / "pytorch.tsv").unlink()
    check((folder / "inference.tsv").read_text() == times("attn", lengths), "existing measurements are kept")

    # Measured: a part of it is there.
    lengths = [128 >> i for i in reversed(range(7))]
    kept = [row for row in times("attn", lengths, "1 thread").splitlines() if not re.match(r"attn\tencoder\t64\t", row)]
    (folder / "inference.tsv").write_text("\n".join(kept) + "\n")
    result = run("--part", "figures", "--tokens", 128, "--repeats", 1, "--device", "cpu", "--threads", 1, "--output", folder)
    rows = (folder / "inference.tsv").read_text().splitlines()
    check(result.returncode == 0 and len(rows) == 1 + 8 * 7 and rows[: len(kept)] == kept, f"missing measurements are made {result.stderr}")
    measured = [row.split("\t") for row in rows[len(kept):]]
    check(all(row[:3] == ["attn", "encoder", "64"] and float(row[5]) > 0 for row in measured) and
          [int(row[3]) for row in measured] == lengths,
          f"the new rows are complete: {measured}")

    (folder / "inference.tsv").write_text("\n".join(row.replace("1 thread", "another") for row in kept) + "\n")
    refused("times of another device", "--part", "figures", "--tokens", 128, "--repeats", 1, "--device", "cpu", "--threads", 1, "--output", folder,
            says="has times of another, but this is 1 thread")

    # The sweep over k: run again, it trains nothing and draws the same figure.
    sweep = [*tiny, "--part", "k", "--k", "4,8", "--lengths", "8,16", "--output", Path(name) / "sweep"]
    first, again = run(*sweep), run(*sweep)
    table = [row.split("\t") for row in (Path(name) / "sweep/k.tsv").read_text().splitlines()]
    check(first.returncode == 0 and [row[:2] for row in table[1:]] == [["8", "4"], ["8", "8"], ["16", "4"], ["16", "8"]],
          f"the sweep has a row for each length and k: {table} {first.stderr}")
    check(lines_of(Path(name) / "sweep/k.svg") == [2] * 4, "the figure has BLEU and loss for each length")
    check(again.stdout.count("is trained already") == 4 and "\nstep" not in again.stdout, "a finished sweep is not trained again")
    for tokens, k, loss, bleu in table[1:]:
        run_folder = Path(name) / f"sweep/k/k-{k}-tokens-{tokens}"
        model = json.loads((run_folder / "model.json").read_text())
        events = [json.loads(line) for line in (run_folder / "log.jsonl").read_text().splitlines()]
        check(model["model"]["name"].startswith("linformer") and model["truncate"] == int(tokens) - 1 and
              loss == f"{min(event['loss'] for event in events if event['event'] == 'validation'):.4f}" and
              bleu == f"{events[-1]['bleu']:.2f}", f"k = {k} with {tokens} tokens has the figures of its log: {loss}, {bleu}")

    # With --join, pairs are joined: the same text has fewer and longer pairs.
    joined = run(*tiny, "--part", "k", "--k", "4", "--lengths", "32", "--join", "30", "--output", Path(name) / "joined")
    row = (Path(name) / "joined/k.tsv").read_text().splitlines()[1].split("\t")
    pairs = [int(re.search(r"([\d,]+) training pairs", result.stdout)[1].replace(",", "")) for result in (first, joined)]
    check(joined.returncode == 0 and row[:2] == ["32", "4"] and row[4] == "30", f"a joined sweep says so: {row} {joined.stderr}")
    check(pairs[1] < 0.5 * pairs[0] and (Path(name) / "joined/k/k-4-tokens-32-words-30/report.html").exists(), f"pairs are joined: {pairs}")
    refused("joining for one of two lengths", *tiny, "--part", "k", "--lengths", "8,16", "--join", "4",
            says="--join needs one number for each of --lengths: 2")

    loops = Path(name) / "loops"
    loops.mkdir()
    (loops / "test.target.txt").symlink_to("test.target.txt")
    refused("a symbolic link loop", "--part", "samples", "--output", loops, says="Too many levels of symbolic links")
    refused("another setting for a trained model", *tiny, "--epochs", 3, *without_figures, "--output", folder,
            says="was trained with epochs 2, not 3")
    refused("an unknown part", "--part", "table", says="table")
    refused("tokens that cannot be halved", "--tokens", 300, says="300 is not a power of 2")
    (Path(name) / "options.ini").write_text("\nsentences=0\n")
    refused("an invalid line in an options file", "--config", Path(name) / "options.ini",
            says="options.ini, line 2: --sentences: '0' is not a whole number of at least 1")
    refused("too long sentences for a Linformer", "--truncate", 300, says="at most 256 for a Linformer")
    refused("tables without results", "--part", "tables", "--output", Path(name) / "nothing", says="Run the part train first")
    paper = run(*[word for word in tiny[:2]], "--recipe", "paper", "--size", "small", "--epochs", 1, "--warmup", 5, "--vocabulary", 400, "--limit", 20,
                "--device", "cpu", "--threads", 1, "--part", "train", "--output", Path(name) / "paper")
    check(paper.returncode == 0 and "settings: --size small --norm post --dropout 0.1 --epochs 1 --batch 88 --batch-unit sentences --order shuffled --smoothing 0.0 "
          "--schedule warmup-cosine --rate 0.0001 --warmup 5 --validate-every 0 --average-best 0 --test-beam 1\n" in paper.stdout,
          f"the paper recipe has the paper's settings {paper.stdout[:600]} {paper.stderr}")
    check("singular-values" in check_help(), "--help lists the parts")

finish()
