"""Runs score as a person would: known scores, several references and systems, JSON, a model's perplexity, and bad input. tests/python/metrics.py compares the scores
themselves with sacrebleu."""
import gzip
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import check, check_full, check_help, finish, program, refused, run

REFERENCE = ["The old man sees the dog in a garden.", "Three birds are singing today.", "It is raining today.", "We do not know that."]
A = ["The old man sees a dog in the garden.", "Three birds sing.", "It is raining today.", "We do not know."]
B = ["The old man sees the dog in a park.", "Three birds are singing.", "It rains today.", "We know nothing at all."]


def piped(text, *arguments):
    return subprocess.run([program, *map(str, arguments)], input=text, capture_output=True)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for file, lines in {"r": REFERENCE, "a": A, "b": B}.items():
        (folder / file).write_text("\n".join(lines) + "\n")
    r, a, b = folder / "r", folder / "a", folder / "b"

    lines = piped(a.read_bytes(), r).stdout.decode().splitlines()
    check(lines[0] == "BLEU = 48.45 95.8/65.0/43.8/33.3 (BP = 0.882 ratio = 0.889 hyp_len = 24 ref_len = 27)",
          "BLEU of standard input is printed as in sacreBLEU")
    check(lines[1].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attn-") and len(lines) == 2, "BLEU has a signature")
    lines = run(r, b, "--system", a, "--metric", "bleu,chrf").stdout.splitlines()
    check(lines[0].startswith("BLEU = 50.51 ") and lines[1].startswith("nrefs:2|"), "two references are supported")
    check(lines[2] == "chrF2 = 71.59" and "|nc:6|nw:0|space:no|" in lines[3], "chrF is printed after BLEU")
    lines = run(r, "-i", a, "-m", "multi-bleu", "-m", "multi-bleu-lc", "-m", "nltk").stdout.splitlines()
    check(lines == ["multi-bleu = 42.35", "multi-bleu -lc = 42.35", "NLTK = 41.12"],
          "multi-bleu, multi-bleu -lc and NLTK have no signature")
    check(run(r, "-i", r, "-m", "bleu,chrf++").stdout.count("= 100.00") == 2, "a text compared with itself scores 100")

    table = run(r, "--system", a, b, "-m", "bleu,chrf", "--paired-bootstrap", "--samples", 200).stdout.splitlines()
    check(table[0].split() == ["system", *"BLEU (μ ± 95% CI)".split(), *"chrF2 (μ ± 95% CI)".split()], "several systems give a table")
    check("48.45 (48.05 ± 28.55)" in table[1] and "67.15 (66.96 ± 18.99)" in table[1] and "p =" not in table[1],
          "the first system is the baseline")
    check("50.70 (48.60 ± 31.60) (p = 0.3881)" in table[2] and "61.60 (61.33 ± 22.57) (p = 0.2886)" in table[2],
          "intervals and p-values match sacreBLEU")
    check(table[1].index("67.15") == table[2].index("61.60"), "the table is aligned in columns")
    check(any("|bs:200|seed:12345|" in line for line in table), "signatures contain the resampling settings")
    check("(μ = 49.47 ± 27.26)" in run(r, "-i", a, "--bootstrap").stdout, "a single system has an interval")
    other = run(r, "--system", a, b, "--paired-bootstrap", "--seed", 7).stdout
    check("|seed:7|" in other and other != run(r, "--system", a, b, "--paired-bootstrap").stdout, "another seed draws other samples")

    found = json.loads(run(r, "--system", a, b, "-m", "bleu,nltk", "--paired-bootstrap", "--json").stdout)
    check([m["metric"] for m in found] == ["BLEU", "NLTK"] and "signature" in found[0] and "signature" not in found[1], "JSON has every metric")
    rows = found[0]["systems"]
    check(abs(rows[0]["score"] - 48.44900676388032) < 1e-12 and "p_value" not in rows[0] and 0 < rows[1]["p_value"] < 1,
          "JSON has every system in full precision")
    check(rows[1]["system"] == str(b) and {"score", "details", "mean", "interval"} <= rows[1].keys(), "JSON names the systems")

    with gzip.open(folder / "packed.gz", "wb") as file:
        file.write(a.read_bytes())
    check(run(r, "-i", folder / "packed.gz").stdout.startswith("BLEU = 48.45 "), "a compressed file is read")
    (folder / "odd").write_text("\n\n\t \u00a0\n😀 \u0301\n")
    lines = run(r, "-i", folder / "odd", "-m", "bleu,chrf,chrf++,nltk").stdout.splitlines()
    check([line.split()[2] for line in lines if " = " in line] == ["0.00"] * 4, "empty lines and emoji score 0")

    check_full("the scores", r, text="\n".join(A))
    check_full("the scores", r, "--system", a, b)
    check_full("the scores", r, "--system", a, "--json")

    # How probable a model finds given translations.
    english = ["the dog sees one man .", "the man sees two dogs .", "we see the dog .", "the dog sleeps ."] * 8
    german = ["der Hund sieht einen Mann .", "der Mann sieht zwei Hunde .", "wir sehen den Hund .", "der Hund schläft ."] * 8
    (folder / "t.en").write_text("\n".join(english) + "\n")
    (folder / "t.de").write_text("\n".join(german) + "\n")
    model, texts = folder / "model", ["--source", folder / "t.en", "--target", folder / "t.de", "--device", "cpu"]
    trained = subprocess.run([sys.argv[2], "--train-source", folder / "t.en", "--train-target", folder / "t.de", "--test-source", folder / "t.en", "--test-target",
                              folder / "t.de", "--epochs", "2", "--vocabulary", "300", "--limit", "20", "--device", "cpu", "--output", model], capture_output=True, text=True)
    check(trained.returncode == 0, f"a model is trained {trained.stderr}")
    logged = [json.loads(line) for line in (model / "log.jsonl").read_text().splitlines()][-1]["perplexity"]
    said = run("--model", model, *texts).stdout
    check(said.startswith(f"perplexity = {logged:.4f} (log P = -") and "32 pairs, " in said,
          f"the perplexity equals that of training, {logged}: {said}")
    result = run("--model", model, *texts, "--log-probabilities")
    each = [float(line) for line in result.stdout.splitlines()]
    check(len(each) == 32 and max(each) < 0 and abs(each[0] - each[4]) < 1e-3 and "perplexity = " in result.stderr,
          "each pair has a line with log P")
    found = json.loads(run("--model", model, *texts, "--log-probabilities", "--json").stdout)
    check([m["metric"] for m in found] == ["perplexity"] and [row["system"] for row in found[0]["systems"]] == [str(folder / "t.de")],
          "JSON has the same structure for any options")
    row = found[0]["systems"][0]
    check(row["pairs"] == 32 and all(abs(a - b) < 1e-4 for a, b in zip(row["log_probabilities"], each)), "JSON has log P of each pair")
    check(abs(row["score"] - math.exp(-sum(each) / row["tokens"])) < 1e-4 * logged,
          "the perplexity is the exponential of the mean per token")
    (folder / "long.en").write_text(" ".join(["dog"] * 400) + "\nthe dog\n")
    (folder / "long.de").write_text("der Hund\n" + " ".join(["Hund"] * 400) + "\n")
    result = run("--model", model, "--source", folder / "long.en", "--target", folder / "long.de", "--device", "cpu")
    check(result.returncode == 0 and "score: 2 sentences exceed 255 tokens: the rest is not scored" in result.stderr,
          f"truncated sentences are counted {result.stderr}")
    check_full("the scores", "--model", model, *texts)
    refused("a model without pairs", "--model", model, says="--model, --source and --target require each other")
    refused("pairs without a model", *texts, says="--model, --source and --target require each other")
    refused("pairs and a reference", r, "--model", model, *texts, says="conflicts with references and --system")
    for option in (["--metric", "chrf"], ["--paired-bootstrap"], ["--samples", 100], ["--seed", 7]):
        refused(f"a model and {option[0]}", "--model", model, *texts, *option, says=f"{option[0]} conflicts with --model")
    refused("texts of different lengths", "--model", model, "--source", folder / "t.en", "--target", r, says="has 32 lines and")
    refused("a folder without a model", "--model", folder, *texts, says="model.json")

    (folder / "empty").write_text("")
    (folder / "short").write_text("one\n")
    (folder / "bad").write_bytes(b"gut\nsch\xf6n\nja\nnein\n")
    refused("a missing reference", folder / "none", "-i", a, says="none: No such file or directory")
    refused("a missing system", r, "-i", folder / "none", says="none: No such file or directory")
    refused("unequal texts", r, "-i", folder / "short", says="short has 1 line and")
    refused("unequal references", r, folder / "short", "-i", a, says="short has 1 line and")
    refused("an empty text", r, "-i", folder / "empty", says="empty is empty. Give one sentence per line")
    refused("invalid UTF-8", r, "-i", folder / "bad", says="line 2: byte 4 is not valid UTF-8")
    refused("an unknown metric", r, "-i", a, "-m", "rouge", says="unknown metric 'rouge'. Use one of bleu")
    refused("an unknown option", r, "--metrics", "bleu", says="unknown option --metrics; did you mean --metric?")
    refused("no reference", says="reference is required")
    refused("no samples", r, "-i", a, "--samples", 0, says="'0' is not a whole number of at least 1")
    result = piped(b"", r)
    check(result.returncode != 0 and b"is empty" in result.stderr, "empty standard input is an error")

check_help()
finish()
