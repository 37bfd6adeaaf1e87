"""Runs europarl_train as a person would, on a small corpus of the form that it reads: every row of both experiments, several at a time,
interrupted and resumed, and bad input; and, where the real data is there, a few steps on that."""
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from checks import check, check_full, check_help, finish, last_of_each, program, refused, run, skip

data = Path(os.environ.get("ATTN_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
attention = ["seq2seq"] + [f"{score}-{place}" for score in ("additive", "multiplicative", "scaled-dot", "key-value") for place in ("encoder", "both", "self")]
coursework = ["baseline", "deeper", "lexical", "transformer"]
english = "we you they now here never always want see have a the one large small new old house debate vote report budget law today".split()
german = "wir ihr sie jetzt hier nie immer wollen sehen haben ein das eins gross klein neu alt haus debatte abstimmung bericht haushalt recht heute".split()
specials = ["<unk>", "<pad>", "<sos>", "<eos>"]


def pairs(count, seed):
    """Sentences of 8 to 12 words, translated word by word."""
    draw = random.Random(seed)
    for _ in range(count):
        ids = [draw.randrange(len(english)) for _ in range(draw.randint(8, 12))]
        yield " ".join(english[i] for i in ids), " ".join(german[i] for i in ids)


def write_pairs(folder, name, count, seed):
    text = list(pairs(count, seed))
    (folder / f"{name}.en").write_text("".join(en + "\n" for en, _ in text))
    (folder / f"{name}.de").write_text("".join(de + "\n" for _, de in text))


def encoded(words, sentence):
    return " ".join(str(i) for i in [2, *(4 + words.index(word) for word in sentence.split()), 3])


def make_corpus(folder):
    for name in ("europarl", "europarl-10k", "europarl-seed003"):
        (folder / name).mkdir(parents=True)
    for name, count in (("train", 400), ("val", 40), ("test", 20)):
        write_pairs(folder / "europarl-10k", name, count, count)
    write_pairs(folder / "europarl", "train.1999", 300, 1)
    write_pairs(folder / "europarl", "train.2000", 300, 2)
    write_pairs(folder / "europarl", "test", 20, 3)
    for language, words in (("en", english), ("de", german)):
        (folder / f"europarl-seed003/{language}.vocab").write_text("".join(f"{word},{i}\n" for i, word in enumerate(specials + words)))
    for name, count in (("dev", 40), ("test", 20)):
        lines = (f"{encoded(english, en)}\t{encoded(german, de)}\n" for en, de in pairs(count, 10 + count))
        (folder / f"europarl-seed003/proc.{name}.tsv").write_text("".join(lines))


def losses(folder, kind="validation"):
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [event["loss"] for event in events if event["event"] == kind]


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    make_corpus(folder / "data")
    common = ["--data", folder / "data", "--device", "cpu", "--threads", 2]

    # Every row learns, and the tables tell of it.
    few = {"attention": ["--epochs", 2, "--epoch-batches", 15, "--batch", 20], "coursework": ["--epochs", 2, "--rate", 0.001]}
    for experiment, rows in (("attention", attention), ("coursework", coursework)):
        out = folder / experiment
        result = run("--experiment", experiment, *few[experiment], *common, "--jobs", 2, "--output", out)
        check(result.returncode == 0, f"{experiment} succeeds")
        print(result.stdout[-3000:], result.stderr)
        table = json.loads((out / f"{experiment}.json").read_text())
        check([row["row"] for row in table["rows"]] == rows, "the table has every row in order")
        check(all(key in table for key in ("command", "seeds", "commit", "machine", "settings")) and "--jobs 2" in table["command"],
              "the table records command, seeds, commit, machine and settings")
        text = (out / f"{experiment}.md").read_text()
        for row in rows:
            found = losses(out / experiment / row / "seed1")
            check(len(found) == 2 and found[1] < found[0] < 3.9, f"{row} learns: {found}")
            check(f"`{row}`" in text and (out / experiment / f"{row}.svg").exists(), f"{row} has a table line and a learning curve")
            for file in ("model.safetensors", "model.json", "source.vocab", "target.vocab", "curve.svg", "outcome.json", "maps/index.html", "maps/0010.html"):
                check((out / experiment / row / "seed1" / file).exists(), f"{row} has {file}")
        board = b"".join(path.read_bytes() for path in (out / experiment / rows[0] / "seed1").glob("events.out.tfevents.*"))
        check(board.count(b"validation/loss") == 2 and b"test/bleu_" + next(iter(table["rows"][0]["runs"][0]["tests"])).encode() in board,
              "TensorBoard files contain the test BLEU")
        pictures = {row: (out / experiment / row / "seed1/maps/0001.svg").exists() for row in rows}
        check(pictures == {row: row != "seq2seq" for row in rows}, f"only models with attention have attention pictures: {pictures}")
        words = (out / experiment / rows[1] / "seed1/translations").with_suffix(".test.txt" if experiment == "coursework" else ".wmt.txt").read_text().split()[:3]
        page = (out / experiment / rows[1] / "seed1/maps/0001.html").read_text()
        check(all(f">{word}<" in page.replace("&lt;", "<").replace("&gt;", ">") for word in words),
              f"the attention page shows the words: {words}")
        for test in table["rows"][0]["runs"][0]["tests"]:
            lines = (out / experiment / rows[0] / f"seed1/translations.{test}.txt").read_text().splitlines()
            check(len(lines) == 20, f"every sentence of the {test} text is translated")
    check("10.77" in (folder / "attention/attention.md").read_text() and "12.68" in (folder / "coursework/coursework.md").read_text(),
          "the table has the papers' figures")
    figure = (folder / "coursework/coursework/figure1.svg").read_text()
    check(all(f"{row}, {side}" in figure for row in ("baseline", "deeper") for side in ("training", "validation")),
          "figure 1 has the curves of both models")
    check("attends to padding" in (folder / "coursework/coursework.md").read_text(), "the table names the paper's error")
    check(not any((folder / f"{name}/{name}-samples.md").exists() for name in ("coursework", "attention")),
          "another test text has no sample sentences of the paper")
    card = json.loads((folder / "coursework/coursework/lexical/seed1/model.json").read_text())
    check(card["about"]["row"] == "lexical" and card["model"]["source_vocabulary"] == 32 and card["source"]["language"] == "de",
          "model.json describes the model")

    # Scores of the last epoch's model stand beside those of the best; what does not end within the limit counts as the paper counts it.
    result = run("--rows", "baseline", "--epochs", 3, "--rate", 0.003, "--limit", 5, *common, "--output", folder / "short")
    scores = json.loads((folder / "short/coursework.json").read_text())["rows"][0]["runs"][0]["tests"]["test"]
    check(result.returncode == 0 and scores["bleu"] == 0 < scores["sacrebleu"],
          f"unfinished translations count as empty lines in the paper's BLEU: {scores}")
    check(scores["last_bleu"] == 0 < scores["last_sacrebleu"], "unfinished translations of the last model count as empty lines too")

    for says, never in (("--never-unknown", True), ("--unknown", False)):
        result = run("--experiment", "attention", "--rows", "seq2seq", "--steps", 2, "--batch", 20, "--maps", 0, says, *common, "--output", folder / says)
        card = json.loads((folder / says / "attention/seq2seq/seed1/model.json").read_text())
        check(result.returncode == 0 and card["suppress_unknown"] == never, f"{says} decides whether <unk> is written")

    # Rows by name, several seeds: the same seed gives the same bits alone and beside others, however it was cut.
    some = ["--rows", "baseline,lexical", "--epochs", 2, "--seeds", "1,2", *common]
    check(run(*some, "--jobs", 2, "--output", folder / "two").returncode == 0, "two rows with two seeds run in parallel")
    check(run(*some, "--output", folder / "one").returncode == 0, "two rows with two seeds run one after the other")
    place = "coursework/lexical/seed2/model.safetensors"
    check((folder / "two" / place).read_bytes() == (folder / "one" / place).read_bytes(), "parallel and sequential runs give the same bits")
    rows = json.loads((folder / "two/coursework.json").read_text())["rows"]
    check([len(row["runs"]) for row in rows] == [2, 2] and " ± " in (folder / "two/coursework.md").read_text(),
          "the table has means and deviations")

    process = subprocess.Popen([program, *last_of_each(*some, "--jobs", 2, "--output", folder / "cut")], stdout=subprocess.PIPE, text=True)
    log = folder / "cut/coursework/lexical/seed2/log.jsonl"
    while process.poll() is None and not (log.exists() and '"step"' in log.read_text()):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output = process.communicate()[0]
    check(process.returncode == 130 and "--resume" in output, "an interrupted experiment prints how to resume")
    result = run(*some, "--resume", "--output", folder / "cut")
    check(result.returncode == 0 and (folder / "cut" / place).read_bytes() == (folder / "one" / place).read_bytes(),
          "a resumed experiment ends with the same bits")
    before = log.stat().st_mtime_ns
    result = run(*some, "--resume", "--output", folder / "cut")
    check(result.returncode == 0 and log.stat().st_mtime_ns == before and "baseline" in result.stdout,
          "resuming finished runs only writes the table")
    check_full("the progress", *some, "--resume", "--output", folder / "cut")
    refused("finished runs with other settings", *some, "--resume", "--clip", 3, "--output", folder / "cut",
            says="baseline/seed1: the run started with clip 4.0, not 3.0")
    os.remove(folder / "cut/coursework/lexical/seed2/outcome.json")
    refused("resuming with another setting", *some, "--resume", "--clip", 3, "--output", folder / "cut", says="the run started with clip 4.0, not 3.0")

    # A folder that is used: runs are replaced or gone on with where that is asked for, and the table keeps those of other rows and seeds.
    short, out = ["--epochs", 1, "--maps", 0, *common], folder / "used"
    table = lambda: [(row["row"], [run["seed"] for run in row["runs"]]) for row in json.loads((out / "coursework.json").read_text())["rows"]]
    check(run("--rows", "lexical", *short, "--output", out).returncode == 0 and table() == [("lexical", [1])], "a single row runs")
    before = (out / "coursework/lexical/seed1/model.safetensors").read_bytes()
    refused("an existing run", "--rows", "baseline,lexical", *short, "--output", out,
            says="lexical/seed1 already contains a run. Resume it (--resume), replace it (--overwrite), or choose another folder (--output)")
    check(not (out / "coursework/baseline").exists(), "an existing run is rejected before training")
    check(run("--rows", "baseline", *short, "--output", out).returncode == 0 and table() == [("baseline", [1]), ("lexical", [1])],
          "another row is added to the table")
    check(run("--rows", "baseline", "--seeds", 2, *short, "--output", out).returncode == 0 and
          table() == [("baseline", [2, 1]), ("lexical", [1])],
          "another seed is added to the table")
    refused("another row with other settings", "--rows", "transformer", *short, "--output", out, "--rate", 0.5,
            says="a run of the same table, was trained with rate 0.0003, not 0.5. Use its options, or another folder (--output)")
    refused("--resume with --overwrite", *short, "--resume", "--overwrite", says="--resume conflicts with --overwrite")
    check(run("--rows", "lexical", *short, "--overwrite", "--output", out).returncode == 0 and len(table()) == 2, "--overwrite replaces the run")
    check((out / "coursework/lexical/seed1/model.safetensors").read_bytes() == before, "the replacement has the same bits")
    result = run("--rows", "baseline,lexical", "--seeds", "1,2", *short, "--epochs", 2, "--resume", "--output", out)
    check(result.returncode == 0 and all(run["epochs"] == 2 for row in json.loads((out / "coursework.json").read_text())["rows"] for run in row["runs"]),
          f"finished runs resume for another epoch {result.stderr}")
    check((out / place).read_bytes() == (folder / "one" / place).read_bytes(), "runs extended by an epoch have the bits of longer runs")

    if shutil.which("xz"):
        for file in (folder / "data/europarl").glob("train.*"):
            subprocess.run(["xz", file], check=True)
        result = run("--experiment", "attention", "--rows", "seq2seq", "--steps", 5, "--batch", 20, *common, "--output", folder / "packed")
        check(result.returncode == 0 and "600 training pairs" in result.stdout, "compressed training files are read")
    else:
        skip("no xz; scripts/setup.sh test installs it")

    refused("an unknown experiment", "--experiment", "wmt", *common, says="wmt")
    refused("an unknown row", "--rows", "baseline,linformer", *common, says="'linformer' is not a row of coursework, which has baseline, deeper, lexical, transformer")
    refused("a row of the other experiment", "--rows", "seq2seq", *common, says="'seq2seq' is not a row of coursework")
    refused("a repeated row", "--rows", "baseline,baseline", *common, says="names one twice")
    refused("a missing folder", "--data", folder / "none", "--output", folder / "no", says="--data")
    refused("a missing GPU", "--device", "cuda", "--gpu", 99, says="CUDA")
    bad = folder / "bad"
    make_corpus(bad)
    with open(bad / "europarl-10k/train.en", "a") as file:
        file.write("one more\n")
    refused("unequal files", "--data", bad, "--output", folder / "no", says="Parallel files need the same number of lines")
    (bad / "europarl-seed003/de.vocab").write_text("".join(f"{word},{i}\n" for i, word in enumerate(specials + german[:5])))
    refused("another vocabulary", "--experiment", "attention", "--data", bad, "--output", folder / "no", says="Use the vocabulary that the file was created with.")
    (bad / "europarl-seed003/de.vocab").write_bytes((folder / "data/europarl-seed003/de.vocab").read_bytes() + bytes(1000))
    refused("a vocabulary padded with NUL bytes", "--experiment", "attention", "--data", bad, "--output", folder / "no",
            says="de.vocab is damaged: it has only NUL bytes from byte")
    (bad / "europarl-seed003/de.vocab").write_text("eins\n")
    refused("no vocabulary", "--experiment", "attention", "--data", bad, "--output", folder / "no", says="is not `word,id`")
    (folder / "loops").mkdir()
    (folder / "loops/europarl-10k").symlink_to("europarl-10k")
    refused("a symbolic link loop as text folder", "--data", folder / "loops", "--output", folder / "no",
            says="loops/europarl-10k: Too many levels of symbolic links")
    (folder / "no/coursework/baseline/seed1").mkdir(parents=True)
    (folder / "no/coursework/baseline/seed1/outcome.json").symlink_to("outcome.json")
    refused("a symbolic link loop as result", *common, "--rows", "baseline", "--resume", "--output", folder / "no",
            says="seed1/outcome.json: Too many levels of symbolic links")
    help_text = check_help()
    check("--seeds" in help_text and "europarl-seed003" in help_text, "--help shows an example")

    if (data / "europarl-10k").exists() and (data / "europarl-seed003").exists():
        real = ["--data", data, "--device", "cpu"]
        result = run("--rows", "baseline", "--steps", 100, "--training-pairs", 1000, *real, "--output", folder / "real")
        check(result.returncode == 0 and "5,048 words of de, 4,421 of en" in result.stdout, "the coursework data is read")
        check("bericht von frau randzio-plath" in (folder / "real/coursework-samples.md").read_text(),
              "the coursework run has the paper's sample sentences")
        found = losses(folder / "real/coursework/baseline/seed1", "step")
        check(found[-1] < 0.85 * found[0], f"the training loss falls on the coursework data: {found[0]} to {found[-1]}")
        result = run("--experiment", "attention", "--rows", "additive-encoder", "--steps", 3, "--training-pairs", 3000, *real, "--output", folder / "real")
        check(result.returncode == 0 and "2,150 of the WMT test" in result.stdout, f"the data of Chittersu is read {result.stderr}")
        samples = (folder / "real/attention-samples.md").read_text()
        check(samples.count("| a model, paper |") == 8 and samples.count("| additive-encoder, here |") == 8 and "| line 392 |" in samples,
              "the comparison of attentions has the paper's sample sentences")
    else:
        skip(f"no europarl-10k and europarl-seed003 under {data}")

finish()
