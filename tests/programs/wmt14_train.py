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

from checks import check, check_full, check_help, check_status, finish, last_of_each, program, refused, run, skip

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
    check(result.returncode == 0, "training on the bundled corpus succeeds")
    check("2 threads" in result.stdout and "memory: parameters" in result.stdout, "the device and memory are printed before training")
    check("BLEU = " in result.stdout and "tok:13a" in result.stdout, "BLEU is printed with its signature")
    for file in ("model.json", "model.safetensors", "training.safetensors", "tokenizer.vocab.json", "tokenizer.merges.txt", "log.jsonl", "curve.svg", "translations.txt", "report.html", "maps/0001.svg"):
        check((folder / "whole" / file).exists(), f"{file} is written")
    events = [json.loads(line) for line in (folder / "whole/log.jsonl").read_text().splitlines()]
    check(events[0]["event"] == "start" and events[-1]["event"] == "test", "the log begins with the settings and ends with the score")
    samples = [event for event in events if event["event"] == "samples"]
    check([len(event["samples"]) for event in samples] == [4, 4, 4, 8] and samples[0]["step"] < samples[2]["step"] == samples[3]["step"],
          "the log has translations of every validation and of the test")
    page = (folder / "whole/report.html").read_text()
    check("BLEU of the test" in page and html.escape(samples[3]["samples"][7]["source"]).replace("&#x27;", "&#39;") in page and page.count("<iframe") == 2,
          "the report shows scores, translations and attention maps")
    check(events[0]["device"] == "2 threads" and events[0]["memory"] > 2**20, "the log names the device and the memory")
    board = [path.read_bytes() for path in sorted((folder / "whole").glob("events.out.tfevents.*"))]
    check(len(board) == 2 and b"training/tokens_per_second" in board[0] and board[0].count(b"validation/loss") == 3 and b"test/bleu" in board[1],
          "TensorBoard files have the figures of training and test")
    card = json.loads((folder / "whole/model.json").read_text())
    check(card["model"]["name"] == "transformer-small" and card["shape"]["norm"] == "post" and card["source"]["hash"] == card["target"]["hash"] and
          card["machine"]["device"] == "2 threads" and card["seed"] == 1 and card["settings"]["rate"] == "0.002",
          "model.json describes model, settings and machine")
    losses = validation_losses(folder / "whole")
    check(len(losses) == 3 and losses[2] < losses[0], "validation improves from epoch to epoch")
    check(len((folder / "whole/translations.txt").read_text().splitlines()) == 500, "every test sentence is translated")

    # What is given and what the recipe suggests is said; the best recipe translates the test with a beam.
    check("settings: --size small --norm post --dropout 0.0 --epochs 3 --batch 32 --batch-unit sentences --order pooled --smoothing 0.1 --schedule warmup-cosine "
          "--rate 0.002 --warmup 10 --validate-every 0 --average-best 0 --test-beam 1\n" in result.stdout,
          "the settings are printed in the order of the options")
    check("on 500 unseen sentences, greedy: BLEU = " in result.stdout and events[-1]["beam"] == 1,
          "the output names greedy decoding of the test")
    result = run(*tiny, "--recipe", "best", "--not-shared", "--output", folder / "best")
    check(" --shared=false --epochs 3 " in result.stdout and " --average-best 0 --test-beam 8\n" in result.stdout and
          "on 500 unseen sentences, with a beam of 8: BLEU = " in result.stdout,
          f"the best recipe uses a beam {result.stdout} {result.stderr}")
    greedy = run(*tiny, "--recipe", "best", "--not-shared", "--test-beam", 1, "--output", folder / "best_greedy")
    check("greedy: BLEU = " in greedy.stdout and tensors(folder / "best") == tensors(folder / "best_greedy"),
          "the test beam does not change the weights")
    check((folder / "best/translations.txt").read_text() != (folder / "best_greedy/translations.txt").read_text(),
          "the test beam changes the translations")

    # With bf16 matrix products it learns what it learns in float; a processor that has none is told so before anything is written.
    result = run(*tiny, "--precision", "bf16", "--output", folder / "low")
    if result.returncode == 0:
        low = validation_losses(folder / "low")
        check("2 threads, bf16 matrix products" in result.stdout, "the output names bf16 matrix products")
        check(len(low) == 3 and low != losses and abs(low[2] - losses[2]) < 0.05 * losses[2],
              f"bf16 matrix products give similar losses: {low} and {losses}")
    else:
        check("without instructions for bf16 matrix products" in result.stderr and not (folder / "low").exists(),
              "a processor without bf16 instructions is reported")

    (folder / "many").write_text("a b\n" * 410_000)
    many = ["--train-source", folder / "many", "--train-target", folder / "many", "--vocabulary", "300", "--device", "cpu"]
    for recipe, expected in (("best", "--epochs 12 .* --validate-every 2000 --average-best 4 --test-beam 8"), ("library", "--epochs 10 .* --validate-every 1000 --average-best 0 --test-beam 1")):
        process = subprocess.Popen([program, *many, "--recipe", recipe, "--output", folder / "many_run"], stdout=subprocess.PIPE, text=True)
        said = next((line for line in process.stdout if line.startswith("settings: ")), "")
        process.kill()
        process.communicate()
        shutil.rmtree(folder / "many_run", ignore_errors=True)
        check(re.search(expected, said), f"the recipe {recipe} for 410,000 pairs is {said}")

    # The memory that is planned has the text in it.
    def planned(lines):
        for side in ("en", "de"):
            (folder / f"wide.{side}").write_text(("a b " * 512 + "\n") * lines)
        wide = ["--train-source", folder / "wide.en", "--train-target", folder / "wide.de", "--vocabulary", 300, "--size", "small", "--truncate", 8, "--batch", 8,
                "--device", "cpu", "--threads", 2, "--output", folder / "wide"]
        process = subprocess.Popen([program, *map(str, wide)], stdout=subprocess.PIPE, text=True)
        said = next((line for line in process.stdout if line.startswith("memory: ")), "")
        process.kill()
        process.communicate()
        shutil.rmtree(folder / "wide", ignore_errors=True)
        return float(re.search(r"; host memory up to ([\d.]+) GiB, text included$", said.strip()).group(1))
    ballast = bytearray(200 << 20)  # the memory of the program that starts a training does not count
    little, much = planned(100), planned(24 << 10)
    del ballast
    check(little < 96 / 1024 <= much + 0.005, f"the memory plan includes the text: {much} GiB for 96 MiB and {little} GiB for little text")

    # For machines: the log's lines, and nothing else; people read standard error.
    result = run(*tiny, "--json", "--output", folder / "json")
    check(result.returncode == 0 and result.stdout == (folder / "json/log.jsonl").read_text(),
          "--json prints the lines of the log on standard output")
    said = [json.loads(line)["event"] for line in result.stdout.splitlines()]
    check(said[0] == "start" and said[-1] == "test" and {"step", "validation", "samples", "trained"} <= set(said),
          f"the lines of the log contain every event: {sorted(set(said))}")
    check("BLEU = " in result.stderr and "memory: parameters" in result.stderr, "--json moves the messages to standard error")
    check_full("the lines of the log", *tiny, "--json", "--output", folder / "lost")
    check_full("the progress", *tiny, "--output", folder / "unsaid")
    check('"event":"test"' in (folder / "unsaid/log.jsonl").read_text(), "a full disk on standard output does not end training")

    # Averages of the weights, and BLEU as what tells the best model.
    result = run(*tiny, "--log-gradients", "--average-decay", "0.9", "--average-best", 2, "--validate-with", "bleu", "--output", folder / "averaged")
    events = [json.loads(line) for line in (folder / "averaged/log.jsonl").read_text().splitlines()]
    validations = [event for event in events if event["event"] == "validation"]
    check(result.returncode == 0 and all("score" in event and "source_gain" in event for event in validations), "validation can use BLEU")
    norms = [(event["gradient_norm"], event["gradient_norms"]) for event in events if event["event"] == "step"]
    check(norms and all({"encoder.layers.0", "decoder.layers.1"} <= of.keys() and abs(sum(n * n for n in of.values()) / whole**2 - 1) < 1e-4
                        for whole, of in norms), "--log-gradients logs the gradient norm of each layer")
    check('"gradient_norms"' not in (folder / "whole/log.jsonl").read_text(), "gradient norms of layers are logged only on request")
    best = -1
    for event in validations:
        check(event["best"] == (event["score"] > best), f"the best model has the highest BLEU: {event}")
        best = max(best, event["score"])
    check(validations[2]["loss"] != losses[2], "averaged weights have their own loss")
    check(len(list((folder / "averaged/best").glob("*.safetensors"))) in (2, 3) and "mean of the 2 best models: validation score" in result.stdout,
          "the two best models are kept and averaged")

    # Masked input tokens: the setting is printed, recorded, and compared on resume.
    masked = [*tiny, "--mask-tokens", 0.2, "--output", folder / "masked"]
    result = run(*masked)
    check(result.returncode == 0 and " --mask-tokens 0.2 " in result.stdout and tensors(folder / "masked") != tensors(folder / "whole"),
          f"--mask-tokens is printed and changes the training {result.stdout} {result.stderr}")

    def recorded():
        start = (folder / "masked/log.jsonl").read_text().splitlines()[0]
        return [json.loads(text)["settings"]["mask-tokens"] for text in ((folder / "masked/model.json").read_text(), start)]
    check(recorded() == ["0.2", "0.2"], "model.json and the log record --mask-tokens")
    refused("resuming without masks", *masked, "--mask-tokens", 0, "--resume", says="the run started with mask-tokens 0.2, not 0.0")
    check(run(*masked, "--epochs", 4, "--resume").returncode == 0 and recorded() == ["0.2", "0.2"], "a resumed run keeps --mask-tokens")
    for value in (-0.1, 1, "nan"):
        refused(f"--mask-tokens {value}", *tiny, "--mask-tokens", value, "--output", folder / "x",
                says=f"--mask-tokens: '{value}' is not a number from 0 to 0.99")

    # Fine-tuning: from the weights and with the tokenizer of another run.
    finer = ["--generated-pairs", 200, "--epochs", 1, "--rate", "1e-4", "--warmup", 1, "--batch", 32, "--limit", 20, "--device", "cpu", "--threads", 2]
    result = run(*finer, "--start-from", folder / "whole", "--output", folder / "finer")
    check(result.returncode == 0 and validation_losses(folder / "finer")[0] < losses[2] + 0.1,
          "--start-from begins with the weights of another run")
    cards = [json.loads((folder / one / "model.json").read_text()) for one in ("whole", "finer")]
    check(cards[0]["source"]["hash"] == cards[1]["source"]["hash"] and cards[1]["settings"]["start-from"] == str(folder / "whole"),
          "--start-from uses and records the tokenizer of another run")
    first = validation_losses(folder / "finer")[0]
    check(len(validation_losses(folder / "finer")) == 2 and abs(first - losses[2]) < 1e-3,
          f"the initial validation loss is that of the other run: {first} and {losses[2]}")
    check("initial weights" not in result.stdout, "the initial weights are improved")
    worse = ["0.5" if word == "1e-4" else word for word in finer] + ["--schedule", "constant", "--epochs", 2, "--start-from", folder / "whole", "--output", folder / "worse"]
    result = run(*worse)
    check(result.returncode == 0 and "no validation improved on the initial weights: the model keeps them" in result.stdout,
          f"a run without improvement reports it: {validation_losses(folder / 'worse')}")
    check(tensors(folder / "worse") == tensors(folder / "whole"), "a run without improvement keeps the initial weights")
    refused("another size", *finer, "--size", "medium", "--start-from", folder / "whole", "--output", folder / "x", says="conflicts with --start-from")
    refused("--start-from with the output folder", *finer, "--start-from", folder / "finer", "--output", folder / "finer", "--overwrite",
            says="are the same folder")
    refused("text of another length", *tiny[2:], "--train-source", folder / "whole/translations.txt", "--train-target", folder / "whole/log.jsonl", "--output",
            folder / "finer", "--overwrite", says="lines")
    check((folder / "finer/model.safetensors").exists() and (folder / "finer/training.safetensors").exists(),
          "a rejected command removes nothing")
    (folder / "early").mkdir()
    (folder / "early/model.json").write_text((folder / "whole/model.json").read_text())
    for file in ("tokenizer.vocab.json", "tokenizer.merges.txt"):
        (folder / "early" / file).write_bytes((folder / "whole" / file).read_bytes())
    refused("a run without validation", *tiny, "--resume", "--output", folder / "early", says="Start again (--overwrite)")
    # What replaces a run leaves nothing of it.
    stale = ["report.html", "translations.txt", "curve.svg", "best/mean.safetensors", "maps/0009.svg"]
    for file in stale:
        (folder / "worse" / file).parent.mkdir(exist_ok=True)
        (folder / "worse" / file).write_text("stale")
    others = ["notes.txt", "translations.mine.txt", "maps/mine.svg", "best/mine.safetensors"]
    for file in others:
        (folder / "worse" / file).write_text("mine")
    check(run(*finer, "--vocabulary", 400, "--overwrite", "--output", folder / "worse").returncode == 0, "--overwrite replaces a run")
    check(not any((folder / "worse" / file).exists() and (folder / "worse" / file).read_text() == "stale" for file in stale),
          "--overwrite removes all files of the old run")
    check(all((folder / "worse" / file).read_text() == "mine" for file in others), "--overwrite keeps files of others")
    check(run(*finer, "--epochs", 2, "--resume", "--output", folder / "finer").returncode == 0, "fine-tuning resumes without --start-from")
    card = json.loads((folder / "finer/model.json").read_text())
    check("vocabulary" not in card["settings"] and card["settings"]["start-from"] == str(folder / "whole"),
          "a resumed run keeps its starting point")
    check("--start-from" in card["about"]["command"] and "--resume" in card["about"]["resumed"],
          f"model.json has the commands: {card['about']}")
    refused("--resume with --start-from", *finer, "--resume", "--start-from", folder / "whole", "--output", folder / "finer",
            says="--resume conflicts with --start-from")
    refused("a folder without a run", *finer, "--start-from", folder, "--output", folder / "x", says="model.json")

    # A vocabulary for each language: learnt, resumed, translated with, scored and started from.
    apart = [*tiny, "--separate-vocabularies", "--epochs", 2, "--output", folder / "apart"]
    result = run(*apart)
    check(result.returncode == 0 and "; vocabularies of 400 and 400\n" in result.stdout and "settings: --separate-vocabularies " in result.stdout,
          f"training with separate vocabularies succeeds {result.stdout} {result.stderr}")
    card = json.loads((folder / "apart/model.json").read_text())
    check(card["source"]["hash"] != card["target"]["hash"] and card["settings"]["separate-vocabularies"] == "true" and card["settings"]["shared"] == "false" and
          not card["model"]["share_embeddings"] and not card["model"]["tie_output"],
          f"separate vocabularies give two tokenizers and no shared table: {card['model']}")
    words = {side: set(json.loads((folder / f"apart/{side}.vocab.json").read_text())) for side in ("source", "target")}
    check("Ġthe" in words["source"] - words["target"] and "Ġder" in words["target"] - words["source"],
          "each vocabulary has the words of its language")
    tools = Path(program).parents[1] / "tools"
    test = json.loads([line for line in (folder / "apart/log.jsonl").read_text().splitlines() if '"event":"samples"' in line][-1])["samples"]
    for side, key in (("en", "source"), ("de", "reference")):
        (folder / f"apart.{side}").write_text("".join(sample[key] + "\n" for sample in test))
    translated = subprocess.run([tools / "translate", folder / "apart", folder / "apart.en", "--device", "cpu"], capture_output=True, text=True)
    check(translated.returncode == 0 and translated.stdout == "".join(sample["translation"] + "\n" for sample in test),
          f"translate opens separate vocabularies: {translated.stderr}")
    scored = subprocess.run([tools / "score", "--model", folder / "apart", "--source", folder / "apart.en", "--target", folder / "apart.de"], capture_output=True, text=True)
    check(scored.returncode == 0 and "perplexity" in scored.stdout, f"score opens separate vocabularies: {scored.stdout} {scored.stderr}")
    losses_before = validation_losses(folder / "apart")
    joint = last_of_each(*[word for word in apart if word != "--separate-vocabularies"])
    check(run(*joint, "--epochs", 3, "--resume").returncode == 0 and validation_losses(folder / "apart")[:2] == losses_before,
          "a run resumes with its separate vocabularies")
    refused("resuming with one vocabulary", *apart, "--resume", "--output", folder / "whole", says="has one vocabulary for both languages. Omit --separate-vocabularies")
    refused("resuming with one table", *joint, "--resume", "--shared", says="--shared conflicts with one vocabulary per language")
    refused("--shared with separate vocabularies", *apart, "--shared", says="--separate-vocabularies conflicts with --shared")
    result = run(*finer, "--start-from", folder / "apart", "--output", folder / "apart_finer")
    card = [json.loads((folder / one / "model.json").read_text()) for one in ("apart", "apart_finer")]
    check(result.returncode == 0 and [card[0][side]["hash"] for side in ("source", "target")] == [card[1][side]["hash"] for side in ("source", "target")],
          f"another run starts from both vocabularies: {result.stderr}")
    refused("--start-from and vocabularies", *finer, "--separate-vocabularies", "--start-from", folder / "whole", "--output", folder / "x",
            says="--start-from conflicts with --vocab, --merges, --vocabulary and --separate-vocabularies")

    # Interrupted in the middle of an epoch, and resumed: the same bits.
    process = subprocess.Popen([program, *tiny, "--output", folder / "parts"], stdout=subprocess.PIPE, text=True)
    while not (folder / "parts/log.jsonl").exists() or '"step"' not in (folder / "parts/log.jsonl").read_text():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output = process.communicate()[0]
    check("--resume" in output and process.returncode == 130, "an interrupted run prints how to resume and exits with 130")
    refused("an existing run", *tiny, "--output", folder / "parts", says="Resume it (--resume), replace it (--overwrite)")
    result = run(*tiny, "--output", folder / "parts", "--resume")
    check(result.returncode == 0, "an interrupted run resumes")
    check((folder / "parts/model.safetensors").read_bytes() == (folder / "whole/model.safetensors").read_bytes(),
          "a resumed run ends with the bits of an uninterrupted run")
    check(len(list((folder / "parts").glob("events.out.tfevents.*"))) == 3, "a resumed run adds a TensorBoard file")
    refused("resuming with another setting", *tiny, "--output", folder / "parts", "--resume", "--seed", 2, says="the run started with seed 1, not 2")
    refused("resuming with another text", *tiny, "--output", folder / "parts", "--resume", "--generated-pairs", 301, says="the run started with training text")
    refused("resuming with another vocabulary", *tiny, "--output", folder / "parts", "--resume", "--vocabulary", 410, says="the run started with vocabulary 400, not 410")
    shutil.copytree(folder / "parts", folder / "padded")
    os.truncate(folder / "padded/training.safetensors", 4 << 30)
    refused("a checkpoint padded to 4 GiB", *tiny, "--output", folder / "padded", "--resume", says="bytes at the end belong to no tensor; the file is damaged")
    shutil.rmtree(folder / "padded")
    refused("resuming a missing run", *tiny, "--output", folder / "nothing", "--resume", says="nothing is not a folder")
    check(not (folder / "nothing").exists(), "a rejected resume creates no folder")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        output = folder / number.name
        process = subprocess.Popen([program, *tiny, "--output", output], stdout=subprocess.PIPE, text=True)
        while not (output / "log.jsonl").exists() or '"step"' not in (output / "log.jsonl").read_text():
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate()
        check(process.returncode == 128 + number and (output / "training.safetensors").exists(), f"{number.name} saves a checkpoint")

    # Killed and resumed: each step and validation is logged once, and the time of training is that of both parts.
    output = folder / "killed"
    longer = last_of_each(*tiny, "--epochs", 60, "--validate-every", 5, "--output", output)
    process = subprocess.Popen([program, *longer], stdout=subprocess.DEVNULL)
    while not (output / "log.jsonl").exists() or (output / "log.jsonl").read_text().count('"validation"') < 4:
        time.sleep(0.01)
    process.kill()
    process.wait()
    result = run(*longer, "--epochs", 12, "--resume")
    events = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines() if line.endswith("}")]
    for kind in ("step", "validation"):
        steps = [event["step"] for event in events if event["event"] == kind]
        check(len(steps) > 4 and steps == sorted(set(steps)), f"after a kill each {kind} is logged once: {steps}")
    seconds = [event["seconds"] for event in events if "seconds" in event]
    check(result.returncode == 0 and seconds == sorted(seconds) and events[-2]["event"] != "start",
          f"the logged time continues after a kill: {result.stderr}")

    # A folder that goes away.
    output = folder / "removed"
    process = subprocess.Popen([program, *last_of_each(*tiny, "--epochs", 1000, "--output", output)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (output / "training.safetensors").exists():
        time.sleep(0.01)
    shutil.rmtree(output, ignore_errors=True)
    said = process.communicate()
    check(process.returncode == 1 and "removed" in said[1] and "written to" not in said[0],
          f"removing the folder ends training with 1: {said[1]}")

    # Whoever reads its output may go: it stops as if asked to. While the test is translated there is nothing to save.
    for form, word in (([], "parameters"), (["--json"], '"event":"step"')):
        output = folder / f"pipe{len(form)}"
        process = subprocess.Popen([program, *last_of_each(*tiny, *form, "--epochs", 1000, "--output", output)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while word not in process.stdout.readline():
            pass
        process.stdout.close()
        check(process.wait() == 141 and (output / "training.safetensors").exists(),
              f"a closed output pipe {form} stops the run and saves a checkpoint")

    # While batches are planned there is nothing to save: a signal ends the program at once.
    process = subprocess.Popen([program, "--generated-pairs", "100000", "--vocabulary", "400", "--device", "cpu", "--output", folder / "planned"], stdout=subprocess.DEVNULL)
    while not (folder / "planned/model.json").exists():
        time.sleep(0.001)
    time.sleep(0.1)
    planning = not (folder / "planned/log.jsonl").exists()
    process.send_signal(signal.SIGTERM)
    process.wait()
    if planning:
        check(process.returncode == -signal.SIGTERM and not (folder / "planned/log.jsonl").exists(),
              "SIGTERM ends the program before training")
    else:
        skip("the batches were planned in 0.1 s")

    # Files of one's own, and every model.
    (folder / "a.en").write_text("".join(f"the number {i} .\n" for i in range(40)))
    (folder / "a.de").write_text("".join(f"die Zahl {i} .\n" for i in range(40)))
    own = ["--train-source", folder / "a.en", "--train-target", folder / "a.de", "--epochs", 1, "--vocabulary", 300, "--limit", 20, "--size", "small", "--device", "cpu"]
    models = run("--model", "none").stderr.split("\n  ")[1:]
    models[-1] = models[-1].split("\n")[0]
    check(len(models) == 21 and {"transformer", "linformer128", "seq2seq", "key-value-self", "input-feeding-plain"} < set(models),
          f"the error lists all models: {models}")
    sizes = {}
    for model in models:
        sized = [word for word in own if word not in ("--size", "small")] if model not in models[:4] else own
        result = run(*sized, "--model", model, "--output", folder / model)
        check(result.returncode == 0 and result.stdout.count(f"\n{model}") == 1, f"{model} trains on files {result.stderr}")
        sizes[model] = re.search(r": ([\d,]+) parameters", result.stdout).group(1)
    check(len(set(sizes.values())) == len(models), f"all models have different sizes: {sizes}")
    for side, words in (("en", "the number one .\n"), ("de", "die Zahl eins .\n")):
        (folder / f"valid.{side}").write_text(words * 3)
    validated = [*own, "--valid-source", folder / "valid.en", "--valid-target", folder / "valid.de", "--output", folder / "validated"]
    check(run(*validated).returncode == 0, "a given validation text is used")
    for side, words in (("en", "the number one .\n"), ("de", "die Zahl eins .\n")):
        (folder / f"test.{side}").write_text(words + words[:3] * 50 + "\n")
    cut, test = [*own, "--truncate", 12, "--output", folder / "cut"], ["--test-source", folder / "test.en", "--test-target", folder / "test.de"]
    result = run(*cut, *test)
    check("2 sentences of the test, source or target, exceed 11 tokens" in result.stdout,
          f"a truncated test sentence is reported: {result.stdout}")
    refused("resuming without the test text", *cut, "--resume", "--epochs", 2, says="used the test text .../test.en. Pass it again (--test-source)")
    result = run(*cut, *test, "--resume", "--epochs", 2)
    check("2 sentences of the test" in result.stdout, "a resumed run scores the test again")
    refused("resuming without the training text", "--output", folder / "cut", "--resume", says="used the training text .../a.en. Pass it again")
    (folder / "valid.de").write_text("die Zahl zwei .\n" * 3)
    refused("resuming with another validation text", *validated, "--epochs", 2, "--resume", says="the run started with validation text")
    (folder / "valid.de").write_text("die Zahl eins .\n" * 3)
    check(run(*validated, "--epochs", 2, "--resume").returncode == 0, "a run resumes with the same validation text")
    learnt = {}
    for model in ("additive-both", "input-feeding"):
        check(run(*tiny, "--model", model, "--output", folder / (model + "_tiny")).returncode == 0, f"{model} trains on the bundled corpus")
        learnt[model] = validation_losses(folder / (model + "_tiny"))
        check(len(learnt[model]) == 3 and learnt[model] == sorted(learnt[model], reverse=True),
              f"{model} improves from epoch to epoch: {learnt[model]}")
    sizes = (*tiny[:2], *tiny[4:], "--model", "input-feeding", "--width", 48, "--embedding", 24, "--layers", "1+2", "--output", folder / "sized")
    result = run(*sizes, "--epochs", 1)
    check(result.returncode == 0, f"a recurrent model takes its sizes from the command line: {result.stderr}")
    model = json.loads((folder / "sized" / "model.json").read_text())
    check(model["model"]["recurrent_shape"] == {"embedding": 24, "width": 48, "encoder_layers": 1, "decoder_layers": 2},
          f"and records them: {model['model']}")
    check(model["shape"] == {"embedding": 24, "width": 48, "encoder_layers": 1, "decoder_layers": 2}, f"the model has these sizes: {model['shape']}")
    check(run(*sizes, "--epochs", 2, "--resume").returncode == 0, "a resumed run has them too")
    refused("layers that do not fit", *tiny, "--model", "seq2seq", "--layers", "1+2", "--output", folder / "none", "--overwrite",
            says="Seq2Seq: the decoder's 2 layers start with the states of the encoder's 1")
    refused("heads for a recurrent model", "--model", "seq2seq", "--heads", 2, says="--heads requires a Transformer or Linformer, not seq2seq")
    (folder / "options.ini").write_text("epochs=1\nmodel=linformer32\nsize=small\n")
    check("linformer32-small-pre: " in run("--config", folder / "options.ini", *own[:4], "--vocabulary", 300, "--output", folder / "config").stdout,
          "--config reads options from a file")
    (folder / "options.ini").write_text("epoch=1\n")
    refused("an unknown name in an options file", "--config", folder / "options.ini", *own,
            says="options.ini, line 1: unknown option --epoch; did you mean --epochs?")
    check_status(110, "--config", folder / "options.ini", *own)
    (folder / "options.ini").write_text("size=small\ndropout=2\n")
    refused("an invalid value in an options file", "--config", folder / "options.ini", *own,
            says="options.ini, line 2: --dropout: '2' is not a number from 0 to")
    check_status(105, "--config", folder / "none.ini", *own)
    check_status(114, "--epochs", 1, "--epochs=1")

    # Several training files, some of them compressed, and what becomes of blank lines.
    (folder / "b.en").write_text("one more\n\nand another\n")
    (folder / "b.de").write_text("noch eins\nleer\nund noch eins\n")
    subprocess.run(["gzip", folder / "b.en"], check=True)
    result = run("--train-source", folder / "a.en", folder / "b.en.gz", "--train-target", folder / "a.de", folder / "b.de", *own[4:], "--output", folder / "several")
    check(result.returncode == 0 and "41 training pairs" in result.stdout and "dropped 1 pair of the training text with a blank side" in result.stdout,
          f"several training files are combined {result.stdout[-300:]} {result.stderr}")
    (folder / "empty.en").write_text("")
    (folder / "blank.en").write_text("\n \n")
    for name in ("empty", "blank"):
        refused(f"an {name} training text", "--train-source", folder / f"{name}.en", "--train-target", folder / f"{name}.en", "--output", folder / "none",
                says="too few for training and validation")
    refused("an empty validation text", *own, "--valid-source", folder / "empty.en", "--valid-target", folder / "empty.en", "--output", folder / "none",
            says="the validation text")
    refused("an empty test text", *own, "--test-source", folder / "empty.en", "--test-target", folder / "empty.en", "--output", folder / "none", says="the test text")
    check(not (folder / "none/log.jsonl").exists(), "empty texts are rejected before training")

    # On a GPU, where there is one: close to the CPU, the same bits again, every model, and a training that changes its place.
    own[-1] = "auto"
    own += ["--overwrite"]
    if "GPU 0: " in run(*own, "--output", folder / "gpu").stdout:
        tiny_gpu = ["cuda" if word == "cpu" else word for word in tiny]
        for precision, near in (("bf16", 0.05), ("float", 0.01)):
            for again in ("", "_again"):
                check(run(*tiny_gpu, "--precision", precision, "--output", folder / (precision + again)).returncode == 0,
                      f"training in {precision} on the GPU succeeds")
            on_gpu = validation_losses(folder / precision)
            check(len(on_gpu) == 3 and abs(on_gpu[2] - losses[2]) < near * losses[2],
                  f"{precision} on the GPU gives the losses of the CPU: {on_gpu} and {losses}")
            check((folder / precision / "model.safetensors").read_bytes() == (folder / (precision + "_again") / "model.safetensors").read_bytes(),
                  f"{precision} on the GPU gives the same bits every time")
            for model in models:
                sized = [word for word in own if word not in ("--size", "small")] if model not in models[:4] else own
                result = run(*sized, "--model", model, "--precision", precision, "--output", folder / model)
                check(result.returncode == 0, f"{model} trains in {precision} on the GPU {result.stderr}")
            for model, losses_on_cpu in learnt.items():
                run(*tiny_gpu, "--model", model, "--precision", precision, "--output", folder / (model + precision))
                on_gpu = validation_losses(folder / (model + precision))
                check(len(on_gpu) == 3 and abs(on_gpu[2] - losses_on_cpu[2]) < near * losses_on_cpu[2],
                      f"{model} gives the losses of the CPU: {on_gpu} and {losses_on_cpu}")
        moving = [word for word in tiny if word not in ("--epochs", "3", "--device", "cpu")] + ["--schedule", "constant", "--output", folder / "moving"]
        for epochs, place in enumerate((["cpu"], ["cuda"], ["cuda", "--precision", "float", "--tf32"], ["cpu"]), 1):
            result = run(*moving, "--epochs", epochs, "--device", *place, *(["--resume"] if epochs > 1 else []))
            check(result.returncode == 0, f"epoch {epochs} on {place} succeeds: {result.stderr}")
        moved = validation_losses(folder / "moving")
        check(len(moved) == 4 and moved == sorted(moved, reverse=True), f"a run that moves between devices keeps improving: {moved}")

    (folder / "short.de").write_text("eins\n")
    (folder / "bad.de").write_bytes(b"gut\n" * 3 + b"sch\xf6n\n" + b"gut\n" * 36)
    refused("unequal files", "--train-source", folder / "a.en", "--train-target", folder / "short.de", "--output", folder / "unequal", says="has 40 lines and")
    refused("invalid UTF-8", "--train-source", folder / "a.en", "--train-target", folder / "bad.de", "--output", folder / "bad",
            says="bad.de, line 4: byte 4 is not valid UTF-8")
    refused("a missing file", "--train-source", folder / "none.en", "--train-target", folder / "a.de", says="none.en")
    for option in ("valid", "test"):
        refused(f"the bundled corpus with a {option} text", *tiny, f"--{option}-source", folder / "a.en", f"--{option}-target", folder / "a.de",
                says="the bundled corpus has its own")
    for text in (["--train-source", folder / "a.en", "--train-target", folder / "a.de"], ["--shards", folder]):
        refused(f"the bundled corpus's size with {text[0]}", "--generated-pairs", 300, *text, says="--generated-pairs sets the size of the bundled corpus")
    refused("a source without a target", "--train-source", folder / "a.en",
            says="--train-source and --train-target need the same number of files")
    refused("an unknown option", "--epoch", 3, says="unknown option --epoch; did you mean --epochs?")
    refused("an extra argument", "train", says="'train' is an unexpected argument")
    refused("a word instead of a number", "--epochs", "ten", says="'ten' is not a whole number of at least 1")
    refused("a too large number", "--accumulate", 9223372036854775807,
            says="'9223372036854775807' is not a whole number of at least 1 and at most")
    refused("a too long warm-up", "--warmup", 9223372036854775807,
            says="'9223372036854775807' is not a whole number of at least 1 and at most")
    twice = subprocess.run([program, "--epochs", "1", "--epochs", "2"], capture_output=True, text=True)
    check(twice.returncode != 0 and "--epochs is given twice" in twice.stderr, f"a repeated option is rejected: {twice.stderr}")
    refused("a folder as options file", "--config", folder, says=f"is actually a directory: {folder}")
    (folder / "loop").symlink_to("loop")
    resumes = [word for word in own if word != "--overwrite"]
    for options in ([*own, "--output"], [*resumes, "--resume", "--output"]):
        refused("a symbolic link loop", *options, folder / "loop/run", says="Too many levels of symbolic links")
    (folder / "utf16.en").write_text("".join(f"the number {i} .\n" for i in range(40)), encoding="utf-16")
    refused("UTF-16", "--train-source", folder / "utf16.en", "--train-target", folder / "a.de", "--output", folder / "bad", says="utf16.en is UTF-16. Convert it to UTF-8")
    with open(folder / "padded.en", "w") as padded:
        padded.write("the number .\n")
        padded.truncate(4 << 30)
    refused("a file of zeros", "--train-source", folder / "padded.en", "--train-target", folder / "a.de", "--output", folder / "bad",
            says="longer than 16 MiB")
    check(not (folder / "bad").exists() and not (folder / "unequal").exists(), "a rejected run creates no folder")
    refused("a rate of NaN", "--rate", "nan", says="'nan' is not a number above 0")
    refused("too many threads", "--threads", 10000, says="is not a whole number of at least 0 and at most")
    check(run("--version").stdout.startswith("attn 0."), "--version prints the version")
    refused("an unknown model", "--model", "rnn", says="rnn")
    refused("an unknown recipe", "--recipe", "none", says="--recipe")
    refused("a rate of 0", "--rate", 0, says="--rate")
    refused("a batch with an ambiguous unit", "--batch", 4096, says="--batch 4096 requires --batch-unit tokens or --batch-unit sentences")
    refused("too long sentences for a Linformer", "--model", "linformer32", "--truncate", 300, says="at most 256 for a Linformer")
    refused("a size for a recurrent model", "--model", "seq2seq", "--size", "base",
            says="--size requires a Transformer or Linformer, not seq2seq")
    refused("an unknown device", "--device", "tpu", says="tpu")
    refused("TF32 without float", "--tf32", says="--tf32 requires --precision float")
    refused("a missing GPU", "--device", "cuda", "--gpu", 99, says="CUDA")
    large = ["--generated-pairs", "20000", "--vocabulary", "400", "--batch", "20000", "--batch-unit", "sentences", "--device", "cpu", "--threads", "2", "--output", folder / "large"]
    limited = subprocess.run([program, *large], capture_output=True, text=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29)))
    check(limited.returncode == 1 and "out of memory: activations need" in limited.stderr and "--batch" in limited.stderr,
          "a too large batch names the memory and the option to lower")
    check(not (folder / "large/log.jsonl").exists(), "a too large batch is reported before the first step")
    (folder / "file").write_text("")
    refused("an output folder that is a file", *own, "--output", folder / "file", says="Choose another")
    (folder / "read-only").mkdir()
    (folder / "read-only").chmod(0o555)  # which does not stop root, but /sys does
    read_only = folder / "read-only" if os.geteuid() != 0 else "/sys"
    refused("a read-only output folder", *own, "--output", f"{read_only}/run", says="Choose another")
    if os.path.exists("/dev/full"):
        (folder / "full").mkdir()
        os.symlink("/dev/full", folder / "full/log.jsonl")
        refused("a full disk", *own, "--output", folder / "full", says="is the disk full?")
    else:
        skip("this system has no /dev/full")
    help_text = check_help()
    check("--resume" in help_text and "WMT14" in help_text, "--help lists --resume")

finish()
