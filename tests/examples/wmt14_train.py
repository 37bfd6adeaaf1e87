"""Runs wmt14_train as a person would: a short training, the same one interrupted and resumed, files of one's own, bad input, and,
where the program is built with CUDA and finds a GPU, the same on the GPU."""
import html
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from checks import check, check_full, check_help, check_status, finish, program, refused, run

tiny = ["--generated-pairs", "300", "--epochs", "3", "--validate-every", "0", "--warmup", "10", "--batch", "32", "--vocabulary", "400",
        "--limit", "20", "--device", "cpu", "--threads", "2"]


def validation_losses(folder):
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [event["loss"] for event in events if event["event"] == "validation"]


def tensors(folder):
    data = (folder / "model.safetensors").read_bytes()
    return data[8 + int.from_bytes(data[:8], "little"):]


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    result = run(*tiny, "--output", folder / "whole")
    print(result.stdout, result.stderr)
    check(result.returncode == 0, "a training on the bundled corpus ends well")
    check("2 threads" in result.stdout and "memory: parameters" in result.stdout, "and says beforehand where it runs and what memory it takes")
    check("BLEU = " in result.stdout and "tok:13a" in result.stdout, "and prints BLEU with its signature")
    for file in ("model.json", "model.safetensors", "training.safetensors", "tokenizer.vocab.json", "tokenizer.merges.txt", "log.jsonl", "curve.svg", "translations.txt", "report.html", "maps/0001.svg"):
        check((folder / "whole" / file).exists(), f"and writes {file}")
    events = [json.loads(line) for line in (folder / "whole/log.jsonl").read_text().splitlines()]
    check(events[0]["event"] == "start" and events[-1]["event"] == "test", "the log begins with the settings and ends with the score")
    samples = [event for event in events if event["event"] == "samples"]
    check([len(event["samples"]) for event in samples] == [4, 4, 4, 8] and samples[0]["step"] < samples[2]["step"] == samples[3]["step"],
          "and has translations of every validation and of the test")
    page = (folder / "whole/report.html").read_text()
    check("BLEU of the test" in page and html.escape(samples[3]["samples"][7]["source"]).replace("&#x27;", "&#39;") in page and page.count("<iframe") == 2,
          "the report shows scores, translations and attention maps")
    check(events[0]["device"] == "2 threads" and events[0]["memory"] > 2**20, "and names the device and the memory")
    board = [path.read_bytes() for path in sorted((folder / "whole").glob("events.out.tfevents.*"))]
    check(len(board) == 2 and b"training/tokens_per_second" in board[0] and board[0].count(b"validation/loss") == 3 and b"test/bleu" in board[1],
          "TensorBoard's files have the training's figures and the test's")
    card = json.loads((folder / "whole/model.json").read_text())
    check(card["model"]["name"] == "transformer-small" and card["shape"]["norm"] == "post" and card["source"]["hash"] == card["target"]["hash"] and
          card["machine"]["device"] == "2 threads" and card["seed"] == 1 and card["settings"]["rate"] == "0.002", "model.json says what was trained, how and where")
    losses = validation_losses(folder / "whole")
    check(len(losses) == 3 and losses[2] < losses[0], "validation improves from epoch to epoch")
    check(len((folder / "whole/translations.txt").read_text().splitlines()) == 500, "every test sentence is translated")

    # What is given and what the recipe suggests is said; the best recipe translates the test with a beam.
    check("settings: --size small --norm post --dropout 0.0 --epochs 3 --batch 32 --batch-unit sentences --order pooled --smoothing 0.1 --schedule warmup-cosine "
          "--rate 0.002 --warmup 10 --validate-every 0 --average-best 0 --test-beam 1\n" in result.stdout, "the settings are said, in the order of the options")
    check("on 500 unseen sentences, greedy: BLEU = " in result.stdout and events[-1]["beam"] == 1, "and that the test is translated greedily")
    result = run(*tiny, "--recipe", "best", "--not-shared", "--output", folder / "best")
    check(" --shared=false --epochs 3 " in result.stdout and " --average-best 0 --test-beam 8\n" in result.stdout and
          "on 500 unseen sentences, with a beam of 8: BLEU = " in result.stdout, f"the best recipe has a beam {result.stdout} {result.stderr}")
    greedy = run(*tiny, "--recipe", "best", "--not-shared", "--test-beam", 1, "--output", folder / "best_greedy")
    check("greedy: BLEU = " in greedy.stdout and tensors(folder / "best") == tensors(folder / "best_greedy"), "of the same weights")
    check((folder / "best/translations.txt").read_text() != (folder / "best_greedy/translations.txt").read_text(), "other translations")

    # With bf16 matrix products it learns what it learns in float; a processor that has none is told so before anything is written.
    result = run(*tiny, "--precision", "bf16", "--output", folder / "low")
    if result.returncode == 0:
        low = validation_losses(folder / "low")
        check("2 threads, bf16 matrix products" in result.stdout, "bf16 matrix products are said to be that")
        check(len(low) == 3 and low != losses and abs(low[2] - losses[2]) < 0.05 * losses[2], f"and teach what those of float do: {low} beside {losses}")
    else:
        check("without instructions for bf16 matrix products" in result.stderr and not (folder / "low").exists(), "a processor without them says so")

    (folder / "many").write_text("a b\n" * 410_000)
    many = ["--train-source", folder / "many", "--train-target", folder / "many", "--vocabulary", "300", "--device", "cpu"]
    for recipe, expected in (("best", "--epochs 12 .* --validate-every 2000 --average-best 4 --test-beam 8"), ("library", "--epochs 10 .* --validate-every 1000 --average-best 0 --test-beam 1")):
        process = subprocess.Popen([program, *many, "--recipe", recipe, "--output", folder / "many_run"], stdout=subprocess.PIPE, text=True)
        said = next((line for line in process.stdout if line.startswith("settings: ")), "")
        process.kill()
        process.communicate()
        shutil.rmtree(folder / "many_run", ignore_errors=True)
        check(re.search(expected, said), f"for a text of 410,000 pairs the recipe {recipe} is {said}")

    # For machines: the log's lines, and nothing else; people read standard error.
    result = run(*tiny, "--json", "--output", folder / "json")
    check(result.returncode == 0 and result.stdout == (folder / "json/log.jsonl").read_text(), "with --json standard output has the lines of the log")
    said = [json.loads(line)["event"] for line in result.stdout.splitlines()]
    check(said[0] == "start" and said[-1] == "test" and {"step", "validation", "samples", "trained"} <= set(said), f"which are {sorted(set(said))}")
    check("BLEU = " in result.stderr and "memory: parameters" in result.stderr, "and standard error the words")
    check_full("the lines of the log", *tiny, "--json", "--output", folder / "lost")
    check_full("how the training went", *tiny, "--output", folder / "unsaid")
    check('"event":"test"' in (folder / "unsaid/log.jsonl").read_text(), "but the training goes on to its end, and its log has the score")

    # Averages of the weights, and BLEU as what tells the best model.
    result = run(*tiny, "--average-decay", "0.9", "--average-best", 2, "--validate-with", "bleu", "--output", folder / "averaged")
    events = [json.loads(line) for line in (folder / "averaged/log.jsonl").read_text().splitlines()]
    validations = [event for event in events if event["event"] == "validation"]
    check(result.returncode == 0 and all("score" in event and "source_gain" in event for event in validations), "validation can be by BLEU")
    best = -1
    for event in validations:
        check(event["best"] == (event["score"] > best), f"the best model is the one of the highest BLEU: {event}")
        best = max(best, event["score"])
    check(validations[2]["loss"] != losses[2], "averaged weights have a loss of their own")
    check(len(list((folder / "averaged/best").glob("*.safetensors"))) in (2, 3) and "the mean of the 2 best models: validation score" in result.stdout,
          "two best models are kept, and their mean is looked at")

    # Fine-tuning: from the weights and with the tokenizer of another run.
    finer = ["--generated-pairs", 200, "--epochs", 1, "--rate", "1e-4", "--warmup", 1, "--batch", 32, "--limit", 20, "--device", "cpu", "--threads", 2]
    result = run(*finer, "--start-from", folder / "whole", "--output", folder / "finer")
    check(result.returncode == 0 and validation_losses(folder / "finer")[0] < losses[2] + 0.1, "a run begins with the weights of another")
    cards = [json.loads((folder / one / "model.json").read_text()) for one in ("whole", "finer")]
    check(cards[0]["source"]["hash"] == cards[1]["source"]["hash"] and cards[1]["settings"]["start-from"] == str(folder / "whole"), "with its tokenizer, and says so")
    first = validation_losses(folder / "finer")[0]
    check(len(validation_losses(folder / "finer")) == 2 and abs(first - losses[2]) < 1e-3, f"whose validation loss is the first to beat: {first} beside {losses[2]}")
    check("started from" not in result.stdout, "and is beaten")
    worse = ["0.5" if word == "1e-4" else word for word in finer] + ["--schedule", "constant", "--epochs", 2, "--start-from", folder / "whole", "--output", folder / "worse"]
    result = run(*worse)
    check(result.returncode == 0 and "no validation was better than that of the weights it started from: they are the model" in result.stdout,
          f"a run that only gets worse says so: {validation_losses(folder / 'worse')}")
    check(tensors(folder / "worse") == tensors(folder / "whole"), "and keeps the weights that it began with")
    refused("another size", *finer, "--size", "medium", "--start-from", folder / "whole", "--output", folder / "x", says="does not fit --start-from")
    refused("the folder that it starts from", *finer, "--start-from", folder / "finer", "--output", folder / "finer", "--overwrite", says="are one folder")
    refused("text of another length", *tiny[2:], "--train-source", folder / "whole/translations.txt", "--train-target", folder / "whole/log.jsonl", "--output",
            folder / "finer", "--overwrite", says="lines")
    check((folder / "finer/model.safetensors").exists() and (folder / "finer/training.safetensors").exists(), "what cannot begin removes nothing")
    (folder / "early").mkdir()
    (folder / "early/model.json").write_text((folder / "whole/model.json").read_text())
    for file in ("tokenizer.vocab.json", "tokenizer.merges.txt"):
        (folder / "early" / file).write_bytes((folder / "whole" / file).read_bytes())
    refused("a run that had not validated", *tiny, "--resume", "--output", folder / "early", says="begin again (--overwrite)")
    # What replaces a run leaves nothing of it.
    stale = ["report.html", "translations.txt", "curve.svg", "best/mean.safetensors", "maps/0009.svg"]
    for file in stale:
        (folder / "worse" / file).parent.mkdir(exist_ok=True)
        (folder / "worse" / file).write_text("stale")
    others = ["notes.txt", "translations.mine.txt", "maps/mine.svg", "best/mine.safetensors"]
    for file in others:
        (folder / "worse" / file).write_text("mine")
    check(run(*finer, "--vocabulary", 400, "--overwrite", "--output", folder / "worse").returncode == 0, "a run replaces another")
    check(not any((folder / "worse" / file).exists() and (folder / "worse" / file).read_text() == "stale" for file in stale), "of which nothing is left")
    check(all((folder / "worse" / file).read_text() == "mine" for file in others), "and what is no run's stays")
    check(run(*finer, "--epochs", 2, "--resume", "--output", folder / "finer").returncode == 0, "fine-tuning goes on without --start-from")
    card = json.loads((folder / "finer/model.json").read_text())
    check("vocabulary" not in card["settings"] and card["settings"]["start-from"] == str(folder / "whole"), "and still says what it started from")
    check("--start-from" in card["about"]["command"] and "--resume" in card["about"]["resumed"], f"by which commands: {card['about']}")
    refused("two beginnings", *finer, "--resume", "--start-from", folder / "whole", "--output", folder / "finer", says="--start-from begins one")
    refused("a folder without a run", *finer, "--start-from", folder, "--output", folder / "x", says="model.json")

    # Interrupted in the middle of an epoch, and resumed: the same bits.
    process = subprocess.Popen([program, *tiny, "--output", folder / "parts"], stdout=subprocess.PIPE, text=True)
    while not (folder / "parts/log.jsonl").exists() or '"step"' not in (folder / "parts/log.jsonl").read_text():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output = process.communicate()[0]
    check("--resume" in output and process.returncode == 130, "an interrupted training says how to go on, and does not end with 0")
    refused("what would replace a run", *tiny, "--output", folder / "parts", says="go on with it (--resume), replace it (--overwrite)")
    result = run(*tiny, "--output", folder / "parts", "--resume")
    check(result.returncode == 0, "it goes on")
    check((folder / "parts/model.safetensors").read_bytes() == (folder / "whole/model.safetensors").read_bytes(),
          "and ends with the bits of the training that was not interrupted")
    check(len(list((folder / "parts").glob("events.out.tfevents.*"))) == 3, "and with a file more for TensorBoard")
    refused("resuming with another setting", *tiny, "--output", folder / "parts", "--resume", "--seed", 2, says="it was begun with seed 1, not 2")
    refused("resuming with another text", *tiny, "--output", folder / "parts", "--resume", "--generated-pairs", 301, says="it was begun with training text")
    refused("resuming with another vocabulary", *tiny, "--output", folder / "parts", "--resume", "--vocabulary", 410, says="it was begun with vocabulary 400, not 410")
    refused("resuming what never began", *tiny, "--output", folder / "nothing", "--resume", says="nothing is not a folder")
    check(not (folder / "nothing").exists(), "and leaves no folder")
    process = subprocess.Popen([program, *tiny, "--output", folder / "ended"], stdout=subprocess.PIPE, text=True)
    while not (folder / "ended/log.jsonl").exists() or '"step"' not in (folder / "ended/log.jsonl").read_text():
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    check(process.returncode == 143 and (folder / "ended/training.safetensors").exists(), "SIGTERM, as Slurm and docker send it, loses nothing either")

    # Whoever reads its output may go: it stops as if asked to. While the test is translated there is nothing to save.
    for form, word in (([], "parameters"), (["--json"], '"event":"step"')):
        output = folder / f"pipe{len(form)}"
        process = subprocess.Popen([program, *tiny, *form, "--epochs", "1000", "--output", output], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while word not in process.stdout.readline():
            pass
        process.stdout.close()
        check(process.wait() == 141 and (output / "training.safetensors").exists(), f"an output {form} that nobody reads any more stops it, and nothing is lost")

    # While batches are planned there is nothing to save: a signal ends the program at once.
    process = subprocess.Popen([program, "--generated-pairs", "100000", "--vocabulary", "400", "--device", "cpu", "--output", folder / "planned"], stdout=subprocess.DEVNULL)
    while not (folder / "planned/model.json").exists():
        time.sleep(0.001)
    time.sleep(0.1)
    planning = not (folder / "planned/log.jsonl").exists()
    process.send_signal(signal.SIGTERM)
    process.wait()
    if planning:
        check(process.returncode == -signal.SIGTERM and not (folder / "planned/log.jsonl").exists(), "SIGTERM ends what has not begun to train")
    else:
        print("skipped: the batches were planned in 0.1 s")

    # Files of one's own, and every model.
    (folder / "a.en").write_text("".join(f"the number {i} .\n" for i in range(40)))
    (folder / "a.de").write_text("".join(f"die Zahl {i} .\n" for i in range(40)))
    own = ["--train-source", folder / "a.en", "--train-target", folder / "a.de", "--epochs", 1, "--vocabulary", 300, "--limit", 20, "--size", "small", "--device", "cpu"]
    models = run("--model", "none").stderr.split("\n  ")[1:]
    models[-1] = models[-1].split("\n")[0]
    check(len(models) == 20 and {"transformer", "linformer128", "seq2seq", "key-value-self", "input-feeding-lexical"} < set(models), f"there are {models}")
    sizes = {}
    for model in models:
        sized = [word for word in own if word not in ("--size", "small")] if model not in models[:4] else own
        result = run(*sized, "--model", model, "--output", folder / model)
        check(result.returncode == 0 and result.stdout.count(f"\n{model}") == 1, f"{model} trains on files {result.stderr}")
        sizes[model] = re.search(r": ([\d,]+) parameters", result.stdout).group(1)
    check(len(set(sizes.values())) == len(models), f"and no two names are one model: {sizes}")
    for side, words in (("en", "the number one .\n"), ("de", "die Zahl eins .\n")):
        (folder / f"valid.{side}").write_text(words * 3)
    validated = [*own, "--valid-source", folder / "valid.en", "--valid-target", folder / "valid.de", "--output", folder / "validated"]
    check(run(*validated).returncode == 0, "validates with a text of its own")
    for side, words in (("en", "the number one .\n"), ("de", "die Zahl eins .\n")):
        (folder / f"test.{side}").write_text(words + words[:3] * 50 + "\n")
    cut, test = [*own, "--truncate", 12, "--output", folder / "cut"], ["--test-source", folder / "test.en", "--test-target", folder / "test.de"]
    result = run(*cut, *test)
    check("2 sentences of the test, of both languages, of more than 11 tokens" in result.stdout, f"a test sentence that is cut is told: {result.stdout}")
    refused("resuming without the test text", *cut, "--resume", "--epochs", 2, says="was begun with a test text, .../test.en: give it again (--test-source)")
    result = run(*cut, *test, "--resume", "--epochs", 2)
    check("2 sentences of the test" in result.stdout, "and with it the test is scored again")
    refused("resuming without the training text", "--output", folder / "cut", "--resume", says="was begun with a training text, .../a.en: give it again")
    (folder / "valid.de").write_text("die Zahl zwei .\n" * 3)
    refused("resuming with another validation text", *validated, "--epochs", 2, "--resume", says="it was begun with validation text")
    (folder / "valid.de").write_text("die Zahl eins .\n" * 3)
    check(run(*validated, "--epochs", 2, "--resume").returncode == 0, "and with the same one it goes on")
    learnt = {}
    for model in ("additive-both", "input-feeding"):
        check(run(*tiny, "--model", model, "--output", folder / (model + "_tiny")).returncode == 0, f"{model} trains on the bundled corpus")
        learnt[model] = validation_losses(folder / (model + "_tiny"))
        check(len(learnt[model]) == 3 and learnt[model] == sorted(learnt[model], reverse=True), f"and improves from epoch to epoch: {learnt[model]}")
    (folder / "options.ini").write_text("epochs=1\nmodel=linformer32\nsize=small\n")
    check("linformer32-small-pre: " in run("--config", folder / "options.ini", *own[:4], "--vocabulary", 300, "--output", folder / "config").stdout,
          "options come from a file too")
    (folder / "options.ini").write_text("epoch=1\n")
    refused("an unknown name in such a file", "--config", folder / "options.ini", *own, says="options.ini, line 1: there is no option --epoch; did you mean --epochs?")
    check_status(110, "--config", folder / "options.ini", *own)
    (folder / "options.ini").write_text("size=small\ndropout=2\n")
    refused("a value that is none", "--config", folder / "options.ini", *own, says="options.ini, line 2: --dropout: '2' is not a number from 0 to")
    check_status(103, "--config", folder / "none.ini", *own)

    # Several training files, some of them compressed, and what becomes of blank lines.
    (folder / "b.en").write_text("one more\n\nand another\n")
    (folder / "b.de").write_text("noch eins\nleer\nund noch eins\n")
    subprocess.run(["gzip", folder / "b.en"], check=True)
    result = run("--train-source", folder / "a.en", folder / "b.en.gz", "--train-target", folder / "a.de", folder / "b.de", *own[4:], "--output", folder / "several")
    check(result.returncode == 0 and "41 training pairs" in result.stdout and "1 pair of the training text with a blank side: left out" in result.stdout,
          f"several files train as one {result.stdout[-300:]} {result.stderr}")
    (folder / "empty.en").write_text("")
    (folder / "blank.en").write_text("\n \n")
    for name in ("empty", "blank"):
        refused(f"an {name} training text", "--train-source", folder / f"{name}.en", "--train-target", folder / f"{name}.en", "--output", folder / "none",
                says="too few to train on and to validate with")
    refused("an empty validation text", *own, "--valid-source", folder / "empty.en", "--valid-target", folder / "empty.en", "--output", folder / "none",
            says="the validation text")
    refused("an empty test text", *own, "--test-source", folder / "empty.en", "--test-target", folder / "empty.en", "--output", folder / "none", says="the test text")
    check(not (folder / "none/log.jsonl").exists(), "before anything is trained")

    # On a GPU, where there is one: close to the CPU, the same bits again, every model, and a training that changes its place.
    own[-1] = "auto"
    own += ["--overwrite"]
    if "GPU 0: " in run(*own, "--output", folder / "gpu").stdout:
        tiny_gpu = ["cuda" if word == "cpu" else word for word in tiny]
        for precision, near in (("bf16", 0.05), ("float", 0.01)):
            for again in ("", "_again"):
                check(run(*tiny_gpu, "--precision", precision, "--output", folder / (precision + again)).returncode == 0, f"{precision} on the GPU")
            on_gpu = validation_losses(folder / precision)
            check(len(on_gpu) == 3 and abs(on_gpu[2] - losses[2]) < near * losses[2], f"and learns what the CPU learns: {on_gpu} beside {losses}")
            check((folder / precision / "model.safetensors").read_bytes() == (folder / (precision + "_again") / "model.safetensors").read_bytes(),
                  "with the same bits every time")
            for model in models:
                sized = [word for word in own if word not in ("--size", "small")] if model not in models[:4] else own
                result = run(*sized, "--model", model, "--precision", precision, "--output", folder / model)
                check(result.returncode == 0, f"{model} in {precision} on the GPU {result.stderr}")
            for model, losses_on_cpu in learnt.items():
                run(*tiny_gpu, "--model", model, "--precision", precision, "--output", folder / (model + precision))
                on_gpu = validation_losses(folder / (model + precision))
                check(len(on_gpu) == 3 and abs(on_gpu[2] - losses_on_cpu[2]) < near * losses_on_cpu[2],
                      f"{model} learns what it learns on the CPU: {on_gpu} beside {losses_on_cpu}")
        moving = [word for word in tiny if word not in ("--epochs", "3", "--device", "cpu")] + ["--schedule", "constant", "--output", folder / "moving"]
        for epochs, place in enumerate((["cpu"], ["cuda"], ["cuda", "--precision", "float", "--tf32"], ["cpu"]), 1):
            result = run(*moving, "--epochs", epochs, "--device", *place, *(["--resume"] if epochs > 1 else []))
            check(result.returncode == 0, f"epoch {epochs} on {place}: {result.stderr}")
        moved = validation_losses(folder / "moving")
        check(len(moved) == 4 and moved == sorted(moved, reverse=True), f"a training that moves goes on learning: {moved}")

    (folder / "short.de").write_text("eins\n")
    (folder / "bad.de").write_bytes(b"gut\n" * 3 + b"sch\xf6n\n" + b"gut\n" * 36)
    refused("unequal files", "--train-source", folder / "a.en", "--train-target", folder / "short.de", "--output", folder / "unequal", says="has 40 lines and")
    refused("invalid UTF-8", "--train-source", folder / "a.en", "--train-target", folder / "bad.de", "--output", folder / "bad",
            says="bad.de, line 4: byte 4 is not valid UTF-8")
    refused("a missing file", "--train-source", folder / "none.en", "--train-target", folder / "a.de", says="none.en")
    for option in ("valid", "test"):
        refused(f"the bundled corpus with a {option} text", *tiny, f"--{option}-source", folder / "a.en", f"--{option}-target", folder / "a.de",
                says="the bundled corpus has its own validation and test texts")
    for text in (["--train-source", folder / "a.en", "--train-target", folder / "a.de"], ["--shards", folder]):
        refused(f"the bundled corpus's size with {text[0]}", "--generated-pairs", 300, *text, says="--generated-pairs is the size of the bundled corpus")
    refused("half a pair of files", "--train-source", folder / "a.en", says="--train-source and --train-target go together")
    refused("an unknown option", "--epoch", 3, says="there is no option --epoch; did you mean --epochs?")
    refused("a word too many", "train", says="'train' is one word too many")
    refused("a word for a number", "--epochs", "ten", says="'ten' is not a whole number of at least 1")
    refused("a rate that is no number", "--rate", "nan", says="'nan' is not a number above 0")
    refused("more threads than cores", "--threads", 10000, says="is not a whole number of at least 0 and at most")
    check(run("--version").stdout.startswith("attn 0."), "--version")
    refused("an unknown model", "--model", "rnn", says="rnn")
    refused("a rate of 0", "--rate", 0, says="--rate")
    refused("a batch that may be of tokens", "--batch", 4096, says="--batch 4096 alone would be 4096 sentences: add --batch-unit tokens, or --batch-unit sentences")
    refused("a Linformer of longer sentences", "--model", "linformer32", "--truncate", 300, says="at most 256 for a Linformer")
    refused("a recurrent model's size", "--model", "seq2seq", "--size", "base", says="--size is an option of Transformers and Linformers, not of seq2seq")
    refused("an unknown device", "--device", "tpu", says="tpu")
    refused("TF32 without float", "--tf32", says="--tf32 goes with --precision float")
    refused("a GPU that is not there", "--device", "cuda", "--gpu", 99, says="CUDA")
    large = ["--generated-pairs", "20000", "--vocabulary", "400", "--batch", "20000", "--batch-unit", "sentences", "--device", "cpu", "--threads", "2", "--output", folder / "large"]
    limited = subprocess.run([program, *large], capture_output=True, text=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29)))
    check(limited.returncode == 1 and "out of memory: activations need" in limited.stderr and "--batch" in limited.stderr,
          "too large a batch: says what does not fit, and the option to lower")
    check(not (folder / "large/log.jsonl").exists(), "and says so before the first step")
    (folder / "file").write_text("")
    refused("an output folder that is a file", *own, "--output", folder / "file", says="choose another")
    (folder / "read-only").mkdir()
    (folder / "read-only").chmod(0o555)  # which does not stop root, but /sys does
    read_only = folder / "read-only" if os.geteuid() != 0 else "/sys"
    refused("a read-only output folder", *own, "--output", f"{read_only}/run", says="choose another")
    if os.path.exists("/dev/full"):
        (folder / "full").mkdir()
        os.symlink("/dev/full", folder / "full/log.jsonl")
        refused("a full disk", *own, "--output", folder / "full", says="is the disk full?")
    help_text = check_help()
    check("--resume" in help_text and "WMT14" in help_text, "--help teaches")

finish()
