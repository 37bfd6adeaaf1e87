"""Runs tokenize as a person would: every format, every rule with its count, stopping and going on, bad input; then trains on the shards."""
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from checks import check, check_full, check_help, finish, program, refused, run, skip

data = Path(os.environ.get("ATTN_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
train = sys.argv[2]


def made(*arguments):
    result = run(*arguments)
    if result.returncode != 0:
        print(result.stdout, result.stderr)
    check(result.returncode == 0, "succeeds: " + " ".join(str(a) for a in arguments[1:3]))
    return result.stdout


def card(folder):
    return json.loads((folder / "corpus.json").read_text())


def shards(folder):
    return [path.read_bytes() for path in sorted(folder.glob("*.shard"))]


def says(output, line):
    check(any(" ".join(found.split()) == line for found in output.splitlines()), f"prints '{line}'")


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    english = [f"The {noun} number {i} is {color}." for i in range(40) for noun in ("cat", "dog") for color in ("red", "green")]
    german = [f"{noun} Nummer {i} ist {color}." for i in range(40) for noun in ("Die Katze", "Der Hund") for color in ("rot", "grün")]
    (folder / "a.en").write_text("\n".join(english) + "\n")
    with gzip.open(folder / "a.de.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(german) + "\n")
    (folder / "a.tsv").write_text("".join(f"{e}\t{d}\n" for e, d in zip(english, german)))
    quoted = [f'"{e[:-1]},\n""yes""."' for e in english]
    (folder / "a.csv").write_text("en,de\n" + "".join(f"{e},{d}\n" for e, d in zip(quoted, german)))
    pair = ["--source", folder / "a.en", "--target", folder / "a.de.gz", "--vocabulary", 300]

    output = made(folder / "lines", *pair, "--shard-pairs", 64)
    says(output, "160 pairs read, 160 kept, of " + f"{card(folder / 'lines')['tokens']:,} tokens")
    says(output, f"3 shards in {folder / 'lines'}, 3 of them new")
    check(card(folder / "lines")["complete"] and card(folder / "lines")["pairs"] == 160, "corpus.json describes the corpus")
    says(made(folder / "lines", *pair, "--shard-pairs", 64), f"3 shards in {folder / 'lines'}, 0 of them new")
    check_full("the summary", folder / "lines", *pair, "--shard-pairs", 64)
    made(folder / "threads", *pair, "--shard-pairs", 64, "--threads", 7)
    check(shards(folder / "lines") == shards(folder / "threads"), "the shards do not depend on the number of threads")
    made(folder / "tsv", "--tsv", folder / "a.tsv", "--vocabulary", 300, "--shard-pairs", 64)
    check(shards(folder / "lines") == shards(folder / "tsv"), "a TSV file gives the same shards")
    made(folder / "csv", "--csv", folder / "a.csv", "--vocabulary", 300)
    check(card(folder / "csv")["pairs"] == 160 and card(folder / "csv")["tokens"] > card(folder / "tsv")["tokens"], "a CSV with quotes, commas and line breaks is read")
    given = ["--vocab", folder / "lines/tokenizer.vocab.json", "--merges", folder / "lines/tokenizer.merges.txt"]
    made(folder / "given", *pair[:4], *given, "--shard-pairs", 64)
    check(shards(folder / "lines") == shards(folder / "given"), "a given tokenizer gives the same shards")
    made(folder / "separate", *pair, "--separate-vocabularies")
    check((folder / "separate/target.vocab.json").exists(), "each language can have its own tokenizer")

    rows = [b"one two\teins zwei", b"sch\xf6n\tbad", b" \tblank", b"one two\teins zwei", b"one " * 50 + b"\tlang", b"last\tletzte"]
    (folder / "odd.tsv").write_bytes(b"\n".join(rows) + b"\n")
    odd = ["--tsv", folder / "odd.tsv", *given, "--longest", 40]
    output = made(folder / "odd", *odd, "--duplicates", "drop")
    for line in ("6 pairs read, 3 kept", "1 pair of invalid UTF-8: dropped", "1 pair with a blank side: dropped", "1 pair repeated: dropped", "1 sentence too long: cut"):
        check(line in output, f"prints '{line}'")
    output = made(folder / "odd", *odd, "--invalid", "repair", "--blank", "keep", "--too-long", "drop", "--overwrite")
    for line in ("6 pairs read, 5 kept", "1 pair of invalid UTF-8: repaired", "1 pair with a blank side: kept", "1 pair too long: dropped"):
        check(line in output, f"prints '{line}'")
    refused("invalid UTF-8 with --invalid refuse", folder / "x", *odd, "--invalid", "refuse",
            says="odd.tsv, line 2: byte 4 is not valid UTF-8")
    (folder / "short").write_text("eins\n")
    unequal = ["--source", folder / "a.en", "--target", folder / "short", *given]
    refused("unequal files", folder / "x", *unequal, says="has 160 lines and")
    output = made(folder / "unequal", *unequal, "--unequal", "drop")
    check("1 pair read, 1 kept" in output and "159 lines without a counterpart: dropped" in output,
          "--unequal drop drops and counts the rest")
    (folder / "blank").write_text("\n")
    refused("a text without kept pairs", folder / "x", "--source", folder / "blank", "--target", folder / "blank", *given,
            says="the rules keep no pairs of the text (1 were read)")
    for columns in ("1", "1,2,3", "2,2"):
        refused(f"columns {columns}", folder / "x", "--tsv", folder / "blank", "--columns", columns, says="--columns requires two columns")
    refused("an unknown rule", folder / "x", *odd, "--too-long", "foo", says="--too-long: 'foo' is not one of cut, drop")
    refused("no text", folder / "x", says="no text. Give --source")
    refused("a source without a target", folder / "x", "--source", folder / "a.en", says="need the same number of files")
    refused("--vocab without --merges", folder / "x", *pair, "--vocab", given[1], says="--vocab and --merges require each other")
    refused("a missing column", folder / "x", "--csv", folder / "a.csv", "--columns", "en,fr",
            says="its first row has no column 'fr'; it has 'en', 'de'")

    # a run that is stopped ends at once, and goes on when it is repeated
    def stop(process, number, what):
        process.send_signal(number)
        try:
            check(process.wait(2) == -number, f"{number!r} ends the process at once: {what}")
        except subprocess.TimeoutExpired:
            process.kill()
            check(False, f"{number!r} ends the process at once: {what}; it exited with {process.wait()}")

    def start(output, *arguments):
        return subprocess.Popen([program, str(output), *map(str, arguments)], stdout=subprocess.DEVNULL)

    (folder / "long.tsv").write_text("".join(f"{e}\t{d}\n" for _ in range(500) for e, d in zip(english, german)))
    long = ["--tsv", folder / "long.tsv", *given, "--shard-pairs", 4000]
    made(folder / "whole", *long)
    for number in (signal.SIGKILL, signal.SIGTERM):
        output = folder / number.name
        process = start(output, *long)
        while process.poll() is None and len(list(output.glob("*.shard"))) < 3:
            time.sleep(0.001)
        stop(process, number, "encoding")
        result = subprocess.run([train, "--shards", str(output), "--output", str(folder / "y")], capture_output=True, text=True)
        check("is incomplete: the command that created it was stopped" in result.stderr, "an incomplete corpus is rejected for training")
        said = made(output, *long)
        check("0 of them new" not in said and "20 of them new" not in said, "a repeated command keeps the finished shards")
        check(shards(folder / "whole") == shards(output), "a resumed corpus has the same shards")

    os.mkfifo(folder / "pipe.tsv")  # a text whose end does not come
    process = start(folder / "piped", "--tsv", folder / "pipe.tsv", "--vocabulary", 300)
    with open(folder / "pipe.tsv", "w") as pipe:  # opens once the program reads
        pipe.write("one\teins\n")
        pipe.flush()
        stop(process, signal.SIGTERM, "reading")
    draw = random.Random(1)
    with open(folder / "words.tsv", "w") as file:  # many different words: merges take long
        for _ in range(20000):
            file.write(" ".join("".join(draw.choices("abcdefghij", k=12)) for _ in range(10)) + "\tx\n")
    process = start(folder / "learning", "--tsv", folder / "words.tsv", "--vocabulary", 60000)
    time.sleep(1)
    stop(process, signal.SIGTERM, "learning a tokenizer")
    check(not (folder / "learning/corpus.json").exists(), "a stopped run leaves no tokenizer")

    # what is in a folder is replaced if that is asked for, and what was made is known by its text, not by names and sizes
    pairs = dict(zip(("en", "de"), (["one two three", "four five"], ["eins zwei drei", "vier fünf"])))
    for side, lines in pairs.items():
        (folder / f"s.{side}").write_text("\n".join(lines) + "\n")
    small = ["--source", folder / "s.en", "--target", folder / "s.de", "--vocabulary", 270, "--shard-pairs", 1]
    made(folder / "own", *small)
    before = shards(folder / "own")
    other = [*small[:4], "--vocabulary", 280]
    refused("another tokenizer in the folder", folder / "own", *other, says="contains a corpus of another text, or with other rules")
    refused("another text", folder / "own", *pair, says="replace it (--overwrite)")
    (folder / "s.en").write_text("one two three\nfour nine\n")  # as long as before
    refused("an edit that keeps the length", folder / "own", *small, says="contains a corpus of another text")
    check(shards(folder / "own") == before, "a rejected command changes nothing")
    (folder / "s.en").write_text("\n".join(pairs["en"]) + "\n")
    (folder / "moved.en").write_text("\n".join(pairs["en"]) + "\n")
    says(made(folder / "own", "--source", folder / "moved.en", *small[2:]), f"2 shards in {folder / 'own'}, 0 of them new")
    made(folder / "own", *other, "--overwrite")
    check(len(shards(folder / "own")) == 1 and card(folder / "own")["pairs"] == 2,
          "--overwrite replaces the corpus and removes its old shards")

    # a damaged shard is found when the corpus is opened, though its tokens are still some of the vocabulary, and is made again
    made(folder / "damaged", *pair, "--shard-pairs", 64)
    good = shards(folder / "damaged")
    path = folder / "damaged/00001.shard"
    data_of = bytearray(path.read_bytes())
    data_of[-2] ^= 1
    path.write_bytes(data_of)
    result = subprocess.run([train, "--shards", str(folder / "damaged"), "--output", str(folder / "y2")], capture_output=True, text=True)
    check(result.returncode == 1 and "00001.shard is damaged: its checksum does not match. Repeat the command that created it" in result.stderr,
          f"a shard with a changed token is rejected: {result.stderr}")
    says(made(folder / "damaged", *pair, "--shard-pairs", 64), f"3 shards in {folder / 'damaged'}, 1 of them new")
    check(shards(folder / "damaged") == good, "a damaged shard is rebuilt with the same bytes")

    options = ["--epochs", 1, "--batch", 16, "--batch-unit", "sentences", "--size", "small", "--truncate", 64, "--limit", 8, "--threads", 2]
    files = ["--train-source", folder / "a.en", "--train-target", folder / "a.de.gz", *given]
    results = []
    for source, output in ((files, folder / "run1"), (["--shards", folder / "lines"], folder / "run2")):
        results.append(subprocess.run([train, *map(str, [*source, *options, "--output", output])], capture_output=True, text=True))
        if results[-1].returncode != 0:
            print(results[-1].stdout, results[-1].stderr)
    check(all(result.returncode == 0 for result in results), "wmt14_train trains on files and on shards")
    logs = [[json.loads(line) for line in (folder / run / "log.jsonl").read_text().splitlines()] for run in ("run1", "run2")]
    losses = [[event["loss"] for event in log if event["event"] in ("step", "validation")] for log in logs]
    check(len(losses[0]) > 1 and losses[0] == losses[1], "files and shards give the same losses bit for bit")
    check(all(0 <= event["waiting"] <= 1 for log in logs for event in log if event["event"] == "step"),
          "the log has the time spent waiting for batches")
    kept = {path: path.read_bytes() for one in ("run1", "lines") for path in (folder / one).glob("tokenizer.*")}
    for more in ([], ["--overwrite"]):
        refused(f"the folder of a model {more}", folder / "run1", *small, *more, says="contains a trained model (model.json)")
        result = subprocess.run([train, *map(str, ["--shards", folder / "lines", *options, *more, "--output", folder / "lines"])], capture_output=True, text=True)
        check(result.returncode == 1 and "contains shards (corpus.json)" in result.stderr, f"wmt14_train rejects a corpus folder {more}")
    check(len(kept) == 4 and all(path.read_bytes() == data_of for path, data_of in kept.items()), "rejected commands keep the tokenizers")
    made(folder / "older", *pair, "--separate")
    check(shards(folder / "older") == shards(folder / "separate"), "--separate is an alias of --separate-vocabularies")
    separate = ["--shards", folder / "separate", *options]
    result = subprocess.run([train, *map(str, [*separate, "--output", folder / "run3"])], capture_output=True, text=True)
    kept = json.loads((folder / "run3/model.json").read_text())
    check(result.returncode == 0 and "; vocabularies of 300 and 300" in result.stdout and
          [kept[side]["hash"] for side in ("source", "target")] == [card(folder / "separate")[side]["hash"] for side in ("source", "target")] and
          not kept["model"]["share_embeddings"] and not kept["model"]["tie_output"], f"wmt14_train trains on shards of separate vocabularies: {result.stderr}")
    result = subprocess.run([train, *map(str, [*separate, "--shared", "--output", folder / "z"])], capture_output=True, text=True)
    check("--shared conflicts with one vocabulary per language" in result.stderr,
          f"--shared is rejected for separate vocabularies {result.stderr}")
    result = subprocess.run([train, "--shards", str(folder / "lines"), "--vocabulary", "500"], capture_output=True, text=True)
    check("--shards conflicts with" in result.stderr, "--vocabulary is rejected for shards")

if (data / "bart-bpe").exists() and (data / "wmt14").exists():
    with tempfile.TemporaryDirectory() as name:
        bart = ["--vocab", data / "bart-bpe/vocab.json", "--merges", data / "bart-bpe/merges.txt"]
        output = made(Path(name), "--source", data / "wmt14/newstest2014.en", "--target", data / "wmt14/newstest2014.de", *bart)
        rows = {line.split()[0]: line.split()[2:] for line in output.splitlines() if line.startswith(("source", "target"))}
        check(rows == {"source": ["27", "4", "118"], "target": ["51", "5", "168"]}, "token lengths match Hugging Face tokenizers")
else:
    skip(f"no bart-bpe and wmt14 under {data}")

check_help()
finish()
