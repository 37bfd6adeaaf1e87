"""Runs translate as a person would, with a model that wmt14_train trains for a moment and with one in the form of europarl_train's: lines in,
lines out, maps, alignment error rate, shortlists, bad input.  translate.py TRANSLATE WMT14_TRAIN ALIGN"""
import json
import os
import pty
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from pathlib import Path

from checks import check, check_full, check_help, finish, program, refused, run, skip

svg = "{http://www.w3.org/2000/svg}"
data = Path(os.environ.get("ATTN_DATA", Path(__file__).resolve().parents[3] / "shared/data"))


def translated(folder, text, *arguments):
    result = subprocess.run([program, folder, "--device", "cpu", *map(str, arguments)], input=text.encode(), capture_output=True)
    if result.returncode != 0:
        print(result.stderr.decode())
    return result.stdout.decode()


def cells(picture):
    return sum(path.get("d").count("z") for path in picture.iter(f"{svg}path"))


def fingerprint(words):
    value = 0xCBF29CE484222325
    for word in ["words", *words]:
        for byte in struct.pack("<Q", len(word.encode())) + word.encode():
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return str(value)


def write_recurrent(folder, source, target, says_unknown=False):
    """A coursework model of random numbers, in a folder as europarl_train leaves it; if it may, it writes nothing but <unk>."""
    folder.mkdir()
    source, target = (["<unk>", "<pad>", "<sos>", "<eos>", *words] for words in (source, target))
    rows = [-(-len(words) // 8) * 8 for words in (source, target)]
    shapes = {"encoder.embedding.table": [rows[0], 64], "embedding.table": [rows[1], 64], "decoder.0.input": [512, 192], "decoder.0.recurrent": [512, 128],
              "decoder.0.bias": [512], "attention.score.weight": [128, 128], "mix.weight": [128, 256], "output.weight": [rows[1], 128], "output.bias": [rows[1]]}
    for way in ("forward", "backward"):
        shapes |= {f"encoder.lstm.0.{way}.input": [256, 64], f"encoder.lstm.0.{way}.recurrent": [256, 64], f"encoder.lstm.0.{way}.bias": [256]}
    header = {}
    numbers, draw = b"", random.Random(3)
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        begin = len(numbers)
        values = [draw.gauss(0, 0.3) for _ in range(count)]
        if says_unknown and name == "output.bias":
            values[0] = 100
        numbers += struct.pack(f"<{count}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(numbers)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + numbers)
    for side, words in (("source", source), ("target", target)):
        (folder / f"{side}.vocab").write_text("".join(f"{word},{i}\n" for i, word in enumerate(words)))
    side = lambda name, words: {"kind": "words", "files": [f"{name}.vocab"], "vocabulary": len(words), "hash": fingerprint(words)}
    card = {"format": 1, "attn": {"version": "0.2.0", "commit": "none"}, "shape": {}, "truncate": 1000, "limit": 6, "suppress_unknown": not says_unknown, "settings": {},
            "seed": 1, "machine": {"processor": "", "device": ""}, "about": {}, "source": side("source", source), "target": side("target", target),
            "model": {"name": "input-feeding", "source_vocabulary": rows[0], "target_vocabulary": rows[1], "dropout": 0.25, "attention_dropout": 0,
                      "activation_dropout": 0, "share_embeddings": False, "tie_output": False}}
    (folder / "model.json").write_text(json.dumps(card))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    tiny = ["--generated-pairs", "300", "--epochs", "1", "--validate-every", "0", "--vocabulary", "400", "--device", "cpu", "--limit", "20"]
    for model in ("transformer", "linformer32", "additive-both"):  # small, as the bundled corpus has it
        trained = subprocess.run([sys.argv[2], *tiny, "--model", model, "--output", folder / model], capture_output=True, text=True)
        check(trained.returncode == 0, f"{model} is trained for translation {trained.stderr}")
    model = folder / "transformer"

    lines = ["The man sees a dog.", "", "We <b>eat</b> & drink \"soup\".", "   ", "Why?"]
    text = "\n".join(lines) + "\n"
    out = translated(model, text)
    check(out.count("\n") == 5 and out.split("\n")[1] == out.split("\n")[3] == "",
          "every line has a translation and empty lines stay empty")
    check(out.split("\n")[0] != "", "other lines do not become empty")
    (folder / "in.en").write_text(text)
    check(translated(model, "", folder / "in.en") == out, "a file and standard input give the same output")
    check(translated(model, text, "--batch-lines", 1) == out == translated(model, text.replace("\n", "\r\n")),
          "single lines and CRLF line endings give the same output")
    check(translated(model, "\ufeff" + text) == out, "a byte order mark is ignored")
    check(translated(model, "") == "", "empty input gives empty output")
    check_full("the translations", model, "--device", "cpu", text=text)
    check("5 lines in" in run(model, folder / "in.en", "--device", "cpu").stderr, "progress is printed on standard error")
    check(translated(folder / "linformer32", text).count("\n") == 5, "a Linformer translates")
    check(translated(folder / "additive-both", text, "--maps", folder / "looking").count("\n") == 5,
          "a recurrent model of wmt14_train translates")
    titles = [picture.find(f"{svg}title").text for picture in xml.parse(folder / "looking/0001.html").getroot().iter(f"{svg}svg")]
    check(len(titles) == 2, f"a recurrent model has maps of the source and of its past: {titles}")
    cut = subprocess.run([program, folder / "linformer32", "--device", "cpu"], input="a b " * 300, capture_output=True, text=True)
    check(cut.returncode == 0 and "line 1 has" in cut.stderr and "the first 255 are translated" in cut.stderr,
          "a too long line is truncated with a warning")

    # Maps: XML, a picture for each head, a cell for what can be seen, words as they are.
    check(translated(model, text, "--maps", folder / "maps") == out, "maps do not change translations")
    check(sorted(path.name for path in (folder / "maps").iterdir()) == ["0001.html", "0001.svg", "0003.html", "0003.svg", "0005.html", "0005.svg", "index.html"],
          "each sentence has a page and a picture, and there is an index")
    page = xml.parse(folder / "maps/0003.html").getroot()
    pictures = list(page.iter(f"{svg}svg"))
    check(len(pictures) == 12, f"2+2 layers with 2 heads give 12 pictures: {len(pictures)} pictures")
    check(all(cells(picture) > 0 for picture in pictures), "each picture has cells")
    check("We <b>eat</b> & drink \"soup\"." in "".join(page.itertext()), "the page shows the escaped sentence")
    picture = xml.parse(folder / "maps/0003.svg").getroot()
    check(picture.find(f"{svg}title").text == "decoder.layers.1.cross_attention", "the picture shows the last cross-attention layer")
    words = [element.text for element in picture.iter(f"{svg}text")]
    check("<" in "".join(words) and "</s>" in words and "eat" in "".join(words).replace("·", ""), f"the picture shows the words: {words}")
    check(not re.search(r"(href|src)=|url\(|@import", (folder / "maps/0003.html").read_text() + (folder / "maps/0003.svg").read_text()),
          "the page loads no external resources")
    page = (translated(folder / "linformer32", text, "--maps", folder / "mixed"), xml.parse(folder / "mixed/0001.html").getroot())[1]
    check("mixtures of positions" in "".join(page.itertext()) and not (folder / "mixed/0001.svg").exists(),
          "a Linformer map explains its columns")

    with open("/dev/full", "w") as full, subprocess.Popen([program, model, "--device", "cpu"], stdin=subprocess.PIPE, stdout=full,
                                                          stderr=subprocess.PIPE, text=True) as failing:
        failing.stdin.write("Hello.\n")
        failing.stdin.flush()
        try:
            status = failing.wait(timeout=60)
        except subprocess.TimeoutExpired:
            failing.kill()
            status = None
        check(status == 1 and "Is the disk full?" in failing.stderr.read(),
              f"a write error ends the program even with an open pipe: {status}")
    with subprocess.Popen([program, model, "--device", "cpu"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as waiting:
        for line, expected in zip(lines, out.splitlines()):
            waiting.stdin.write(line + "\n")
            waiting.stdin.flush()
            check(waiting.stdout.readline() == expected + "\n", "each line is translated without waiting for the next")
        waiting.stdin.close()

    # On a terminal the first translations appear long before the last lines are read.
    (folder / "many.en").write_text("The man sees a dog.\n" * 2000)
    ours, theirs = pty.openpty()
    start = time.monotonic()
    with subprocess.Popen([program, model, folder / "many.en", "--device", "cpu"], stdout=theirs, stderr=subprocess.DEVNULL) as shown:
        os.close(theirs)
        first, received = None, b""
        while True:
            try:
                some = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not some:
                break
            first = first or time.monotonic() - start
            received += some
    whole = time.monotonic() - start
    os.close(ours)
    check(received.count(b"\n") == 2000 and first < whole / 4, f"the first of 2,000 lines appears after {first:.2f} of {whole:.2f} s")

    # Search: lists of hypotheses, scores, alignments, samples, ensembles, a picture.
    check(translated(model, text, "--beam", 1) == out, "a beam of 1 equals greedy decoding")
    beam = translated(model, text, "--beam", 4)
    check(beam.count("\n") == 5 and beam.split("\n")[1] == "", "beam search gives one line per line")
    check(translated(model, text, "--beam", 4, "--batch-lines", 1) == beam, "beam search does not depend on the batch")
    best = [line.split(" ||| ") for line in translated(model, text, "--beam", 4, "--n-best", 3).splitlines()]
    check([fields[0] for fields in best] == ["0"] * 3 + ["1"] + ["2"] * 3 + ["3"] + ["4"] * 3,
          f"n-best entries start with their line number: {best}")
    check(all(len(fields) == 3 for fields in best) and [fields[1] for fields in best if fields[0] == "1"] == [""],
          "a blank line has one blank entry")
    for line, text_of in enumerate(beam.splitlines()):
        scores = [float(fields[2]) for fields in best if fields[0] == str(line)]
        check(best[[fields[0] for fields in best].index(str(line))][1] == text_of, "the first n-best entry is the translation")
        check(scores == sorted(scores, reverse=True) and all(score <= 0 for score in scores), f"scores are non-increasing: {scores}")
    scored = [line.split(" ||| ") for line in translated(model, text, "--scores").splitlines()]
    check([fields[0] for fields in scored] == out.splitlines() and all(float(fields[1]) <= 0 for fields in scored),
          "--scores prints scores of greedy translations")
    aligned = [line.split(" ||| ") for line in translated(model, text, "--alignments").splitlines()]
    check([fields[0] for fields in aligned] == out.splitlines(), "--alignments does not change translations")
    pairs = [tuple(map(int, pair.split("-"))) for pair in aligned[0][1].split()]
    check(pairs and all(i < len(lines[0].split()) and j < len(aligned[0][0].split()) for i, j in pairs), f"alignments link words: {pairs}")
    objects = [json.loads(line) for line in translated(model, text, "--json").splitlines()]
    check([one["source"] for one in objects] == lines and [one["translation"] for one in objects] == out.splitlines(),
          "JSON has source and translation of every line")
    check(all(set(one) == {"source", "translation", "complete"} for one in objects), "JSON has only the requested fields")
    asked = ["--beam", 4, "--n-best", 3, "--alignments"]
    objects = [json.loads(line) for line in translated(model, text, *asked, "--json").splitlines()]
    printed = [line.split(" ||| ") for line in translated(model, text, *asked).splitlines()]
    listed = [[str(i), one["translation"], one["score"], " ".join(f"{a}-{b}" for a, b in one["alignment"])]
              for i, all_of in enumerate(objects) for one in all_of["n_best"]]
    check(len(printed) == len(listed) == 11 and all(a[:2] == b[:2] and abs(float(a[2]) - b[2]) <= 1e-5 * abs(b[2]) and a[3].strip() == b[3] for a, b in zip(printed, listed)),
          "JSON has the printed hypotheses, scores and links")
    check(all(one["n_best"][:1] == [{key: one[key] for key in ("translation", "score", "alignment", "complete")}] for one in objects),
          "the first JSON hypothesis is the translation")
    cut = json.loads(translated(model, "The man sees a dog.\n", "--json", "--min-length", 20))
    check(cut["complete"] is False, f"an unfinished translation is marked: {cut}")
    broken = subprocess.run([program, model, "--device", "cpu", "--json"], input=b"sch\xf6n\n", capture_output=True)
    check(json.loads(broken.stdout)["source"] == "sch\ufffdn", "invalid UTF-8 gives valid JSON")
    none, reward = (translated(model, text, "--beam", 4, "--length-penalty", kind) for kind in ("none", "reward"))
    check(none.count("\n") == reward.count("\n") == 5, "--length-penalty selects the penalty")
    long = translated(model, text, "--beam", 2, "--min-length", 12, "--no-repeat", 2).splitlines()
    check(all(line == "" or (lambda words: len(set(zip(words, words[1:]))) == len(words) - 1)(line.split()) for line in long),
          f"--no-repeat 2 prevents repeated word pairs: {long}")
    drawn = translated(model, text, "--sample", "--seed", 7)
    check(drawn.count("\n") == 5 and drawn == translated(model, text, "--sample", "--seed", 7, "--batch-lines", 2), "samples repeat with their seed")
    check(drawn != translated(model, text, "--sample", "--seed", 8), "another seed gives other samples")
    check(translated(model, text, "--sample", "--top-k", 1) == out, "top-k sampling with k = 1 is greedy")
    check(translated(model, text, "--sample", "--n-best", 2, "--temperature", 0.5, "--top-p", 0.9).count("\n") == 8,
          "--n-best draws several samples")
    check(translated(model, text, "--beam", 4, "--ensemble", model) == beam, "an ensemble of one model twice equals the model")
    check(translated(model, text, "--draw", folder / "tree.svg") == out, "--draw does not change translations")
    scored = [line.split(" ||| ")[0] for line in translated(model, text, "--scores").splitlines()]
    check(scored == out.splitlines(), f"--scores does not change translations: {scored}")
    tree = xml.parse(folder / "tree.svg").getroot()
    scores = [float(element.text) for element in tree.iter(f"{svg}text") if element.get("class") == "score"]
    check(len(scores) > 4 and max(scores) <= 0 and tree.find(f"{svg}title").text == lines[0],
          f"the tree shows the scores of its hypotheses: {scores}")
    blank = subprocess.run([program, model, "--device", "cpu", "--draw", folder / "none.svg"], input="\n\n", capture_output=True, text=True)
    check(blank.returncode == 0 and "none.svg is not written" in blank.stderr and not (folder / "none.svg").exists(),
          f"no tree is written for blank lines, with a warning: {blank.stderr}")
    short = run(model, folder / "in.en", "--device", "cpu", "--limit", 3)
    check("did not end within the limit of 3 tokens" in short.stderr and len(short.stdout) < len(out),
          f"--limit limits the length: {short.stdout}")
    check(translated(model, text, "--limit", 20) == out, "the default limit is that of training")
    said = run(model, folder / "in.en", "--device", "cpu", "--min-length", 20).stderr
    check("3 translations did not end within the limit of 20 tokens" in said, f"unfinished translations are reported: {said}")
    for arguments, says in ((["--n-best", 3], "needs --beam 3 or more"), (["--temperature", 2], "--temperature requires --sample"), (["--sample", "--beam", 2], "--sample conflicts with --beam"),
                            (["--beam", 0], "--beam"), (["--shortlist-words", 5], "--shortlist-words requires --shortlist"),
                            (["--links", "target-source"], "--links requires --align"),
                            (["--json", "--reference", folder / "in.en", "--maps", folder / "x"], "conflicts with --reference"),
                            (["--beam", 2, "--reference", folder / "in.en", "--maps", folder / "x"], "--beam conflicts with --reference"),
                            (["--length-penalty", "none", "--penalty-amount", 3], "--penalty-amount conflicts with --length-penalty none"),
                            (["--draw", folder / "x.svg", "--reference", folder / "in.en", "--maps", folder / "x"], "conflicts with --reference"),
                            (["--ensemble", folder / "additive-both", "--min-length", 30], "min_length 30 exceeds the limit of 20")):
        refused(f"{arguments}", model, folder / "in.en", "--device", "cpu", *arguments, says=says)

    few = lambda: resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))  # 16 GiB, whatever the machine has
    large = subprocess.run([program, model, folder / "in.en", "--device", "cpu", "--threads", "1", "--limit", "100000", "--beam", "100"],
                           capture_output=True, text=True, preexec_fn=few)
    check(large.returncode == 1 and "out of memory: " in large.stderr and "--batch-lines, --beam or --limit" in large.stderr,
          f"running out of memory suggests options to lower: {large.stderr}")

    # Given translations, and alignments of them.
    (folder / "one.en").write_text("a b c d\nthe dog\n")
    (folder / "one.de").write_text("A B C\nder Hund\n")
    (folder / "gold").write_text("1-1 2-2 3p3 4p3\n1-1 2-2\n")
    pair = [folder / "one.en", "--reference", folder / "one.de", "--device", "cpu"]
    aligned = run(model, *pair, "--align", folder / "gold", "--maps", folder / "forced")
    rates = [float(line.split()[0]) for line in aligned.stdout.splitlines() if line.startswith("  ")]
    check(aligned.returncode == 0 and len(rates) == 2 and all(0 <= rate <= 1 for rate in rates),
          f"each cross-attention layer has an error rate: {rates}")
    check("der Hund" in "".join(xml.parse(folder / "forced/0002.html").getroot().itertext()),
          "--reference draws maps of the given translation")
    (folder / "swapped").write_text("1-1 2-2 3p3 3p4\n1-1 2-2\n")
    again = run(model, *pair, "--align", folder / "swapped", "--links", "target-source")
    check(again.stdout == aligned.stdout, "links may name the target first")
    check_full("the error rates", model, *pair, "--align", folder / "gold")
    refused("a Linformer's alignment", folder / "linformer32", *pair, "--align", folder / "gold", says="no attention over source tokens")

    # A recurrent model of words.
    recurrent = folder / "recurrent"
    write_recurrent(recurrent, ["wir", "sehen", "das", "haus"], ["we", "see", "the", "house", "."])
    out = translated(recurrent, "wir sehen das haus\n\nwir sehen es\n", "--maps", folder / "words")
    check(out.count("\n") == 3 and out.split("\n")[1] == "" and "<unk>" not in out, f"a model of words translates without <unk>: {out!r}")
    check(all(word in ("we", "see", "the", "house", ".") for word in out.split()), "translations use words of the vocabulary")
    words = [element.text for element in xml.parse(folder / "words/0003.svg").getroot().iter(f"{svg}text")]
    check({"wir", "sehen", "<unk>", "<eos>"} <= set(words), "the map of a model of words shows the words")
    (folder / "w.de").write_text("wir sehen das haus\n")
    (folder / "w.en").write_text("we see the house\n")
    (folder / "w.gold").write_text("1-1 2-2 3-3 4-4\n")
    aligned = run(recurrent, folder / "w.de", "--reference", folder / "w.en", "--align", folder / "w.gold", "--device", "cpu")
    check(aligned.returncode == 0 and aligned.stdout.rstrip().endswith("  attention"), "the attention of a model of words is aligned")
    if (data / "alignment-gold").exists():
        gold = data / "alignment-gold"
        aligned = run(recurrent, gold / "test.de", "--reference", gold / "test.en", "--align", gold / "alignment.talp", "--device", "cpu")
        check(aligned.returncode == 0 and "508 pairs" in aligned.stdout, f"a real gold file matches its text: {aligned.stderr}")
    else:
        skip(f"no alignment-gold under {data}")

    # Unknown words: never written, or replaced by what the word that is attended to means.
    unknown = folder / "unknown"
    write_recurrent(unknown, ["wir", "sehen", "das", "haus"], ["we", "see", "the", "house", "."], says_unknown=True)
    text = "wir sehen elsterwerda das\n\n"
    check(translated(unknown, text) == " ".join(["<unk>"] * 6) + "\n\n", "a model may write <unk>")
    known = translated(unknown, text, "--never-unknown")
    check("<unk>" not in known and known.count("\n") == 2, f"--never-unknown prevents <unk>: {known!r}")
    copied = translated(unknown, text, "--replace-unknown")
    check(len(copied.split()) == 6 and set(copied.split()) <= set(text.split()) and copied.endswith("\n\n"),
          f"--replace-unknown copies source words: {copied!r}")
    links = [line.split(" ||| ") for line in translated(unknown, text, "--replace-unknown", "--alignments").splitlines()]
    check(copied.split() == [text.split()[int(link.split("-")[0])] for link in links[0][1].split()],
          f"copied words are those with the most attention: {links}")
    check(json.loads(translated(unknown, text, "--replace-unknown", "--json").splitlines()[0])["translation"] == copied.split("\n")[0],
          "JSON has the replaced words")
    check(translated(recurrent, text, "--never-unknown") == translated(recurrent, text), "a folder may forbid <unk> itself")
    meanings = {"wir": "we", "sehen": "see", "das": "the", "haus": "house"}
    (folder / "words.de").write_text("".join(word + "\n" for word in meanings))
    (folder / "words.en").write_text("".join(word + "\n" for word in meanings.values()))
    learned = subprocess.run([sys.argv[3], folder / "words.de", folder / "words.en", "--save", folder / "meanings"], capture_output=True, text=True)
    check(learned.returncode == 0, "a table of words is created")
    replaced = translated(unknown, text, "--replace-unknown", folder / "meanings")
    check(replaced.split() == [meanings.get(word, word) for word in copied.split()], f"a table translates the copied words: {replaced!r}")
    refused("--replace-unknown with a subword model", folder / "transformer", folder / "in.en", "--device", "cpu", "--replace-unknown",
            says="requires a model with a vocabulary of words")
    refused("--never-unknown with --replace-unknown", unknown, folder / "in.en", "--replace-unknown", "--never-unknown",
            says="--never-unknown conflicts with --replace-unknown")
    refused("a folder without tables", unknown, folder / "in.en", "--device", "cpu", "--replace-unknown", folder / "maps",
            says="source.vocab")
    refused("a missing table", unknown, folder / "in.en", "--device", "cpu", "--replace-unknown", folder / "none", says="--replace-unknown")
    text = "\n".join(lines) + "\n"

    # Shortlists: of the model's own tokens, and of no others.
    (folder / "out.de").write_text(translated(model, text))
    for tokens, table in ((["--tokens", model], "own.table"), (["--tokens", recurrent], "other.table"), ([], "tables")):
        learned = subprocess.run([sys.argv[3], folder / "in.en", folder / "out.de", *tokens, "--save", folder / table], capture_output=True, text=True)
        check(learned.returncode == 0, f"{table} is created: status {learned.returncode}")
    out = translated(model, text, "--shortlist", folder / "own.table").split("\n")
    check(len(out) == 6 and all((line.strip() == "") == (short == "") for line, short in zip(lines, out)),
          f"with a shortlist only blank lines stay blank: {out}")
    remedy = ". Create one with `align TEXT TRANSLATION --tokens MODEL_FOLDER --save FILE`"
    for table, says in (("other.table", "was made with other tokenizers than the model"), ("tables/forward.table", "it is a table of words, or an earlier attn wrote it")):
        refused(f"a shortlist of {table}", model, folder / "in.en", "--device", "cpu", "--shortlist", folder / table, says=says + remedy)

    # Bad input.
    bad = subprocess.run([program, model, "--device", "cpu"], input=b"gut\nsch\xf6n\ngut\n", capture_output=True)
    check(bad.returncode == 0 and b"line 2 is not valid UTF-8" in bad.stderr and bad.stdout.count(b"\n") == 3,
          "invalid UTF-8 in one line does not affect the others")
    zeros = subprocess.run([program, model, "--device", "cpu"], stdin=open("/dev/zero"), capture_output=True, text=True)
    check(zeros.returncode == 1 and "line 1 of the text is longer than 16 MiB. Is the file text?" in zeros.stderr,
          f"an endless line is rejected: {zeros.stderr}")
    (folder / "utf16.en").write_text(text, encoding="utf-16")
    refused("UTF-16", model, folder / "utf16.en", "--device", "cpu", says="the text is UTF-16. Convert it to UTF-8 (iconv")
    (folder / "loop").symlink_to("loop")
    refused("a symbolic link loop", folder / "loop", says="loop/model.json: Too many levels of symbolic links")
    for file in ("model.json", "tokenizer.vocab.json", "tokenizer.merges.txt", "model.safetensors"):
        shutil.copytree(model, folder / "padded")
        os.truncate(folder / "padded" / file, 4 << 30)
        refused(f"{file}, padded to 4 GiB", folder / "padded", says=file)
        shutil.rmtree(folder / "padded")
    refused("a missing folder", folder / "none", says="is not a folder. Name the folder of a run.")
    refused("an empty folder", folder / "maps", says="there is no model.json")
    words = (recurrent / "source.vocab").read_bytes()
    (recurrent / "source.vocab").write_bytes(words + bytes(1000))
    refused("source.vocab, padded", recurrent, says=f"source.vocab is damaged: it has only NUL bytes from byte {len(words) + 1} on")
    (recurrent / "source.vocab").write_bytes(words)
    (recurrent / "target.vocab").write_text("<unk>,0\n<pad>,1\n<sos>,2\n<eos>,3\nwe,4\n")
    refused("another vocabulary", recurrent, says="is not the tokenizer of the model")
    card = json.loads((recurrent / "model.json").read_text())
    (recurrent / "model.json").write_text(json.dumps(card | {"format": 2}))
    refused("a folder of a newer format", recurrent, says="but this version reads at most")
    (recurrent / "model.json").write_text("{}")
    refused("a damaged model.json", recurrent, says="is damaged or was changed by hand")
    (model / "tokenizer.vocab.json").unlink()
    refused("a folder without its vocabulary", model, says="tokenizer.vocab.json")
    model = folder / "linformer32"
    refused("alignments without translations", model, folder / "one.en", "--align", folder / "gold", says="--align requires --reference")
    refused("--reference without --maps or --align", model, *pair, says="--maps or --align")
    refused("gold links of another text", model, *pair, "--align", folder / "w.gold", says="has 1 line, but")
    (folder / "w.gold").write_text("1-1 2-2\n1-1 x\n")
    refused("an invalid gold link", model, *pair, "--align", folder / "w.gold", says="line 2: 'x' is not a link")
    refused("a map folder inside a file", model, folder / "one.en", "--device", "cpu", "--maps", folder / "gold" / "x",
            says="Choose another")
    refused("a missing GPU", model, folder / "one.en", "--device", "cuda", "--gpu", 99, says="CUDA")
    check("--maps" in check_help(), "--help lists --maps")

finish()
