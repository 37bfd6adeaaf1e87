"""Runs corpus_stats as a person would: small files with known figures, the figures of two papers where their data is there, and bad input."""
import gzip
import json
import os
import tempfile
from pathlib import Path

from checks import check, check_full, check_help, check_status, finish, refused, run, skip

data = Path(os.environ.get("ATTN_DATA", Path(__file__).resolve().parents[3] / "shared/data"))


def figures(*arguments):
    result = run(*arguments, "--json")
    if result.returncode != 0:
        print(result.stderr)
    return json.loads(result.stdout)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "a.en").write_text("the dog saw the cat in Berlin\nthe cat in Berlin\n\n")
    (folder / "a.de").write_text("der Hund sah die Katze in Berlin\ndie Katze in Berlin\nja\n")
    pair = [folder / "a.en", folder / "a.de"]
    for side in pair:
        (folder / f"{side.name}.gz").write_bytes(gzip.compress(side.read_bytes()))
    found = figures(*pair)
    check(found == figures(folder / "a.en.gz", folder / "a.de.gz"), "reads compressed files")
    check(found["lines"] == found["pairs"] == 3, "counts pairs")
    check([found["source"][key] for key in ("tokens", "types", "seen_once", "unknown_tokens", "vocabulary")] == [11, 6, 2, 2, 5],
          "counts source tokens, types and words seen once")
    check(found["target"]["types"] == 8 and found["target"]["seen_once"] == 4 and found["shared_words"] == 2,
          "counts target words and words shared by both vocabularies")
    check(found["source"]["length"] == {"average": 11 / 3, "average_rounded_up": 4, "shortest": 0, "longest": 7}, "reports lengths")
    check(figures(*pair, "--seen-at-least", 3)["source"]["unknown_tokens"] == 8, "--seen-at-least sets the threshold")
    table = run(*pair).stdout
    for row in (["words of the text", "11", "12"], ["in both vocabularies", "2"], ["source", "3.67", "4", "0", "7"]):
        check(any(" ".join(line.split()) == " ".join(row) for line in table.splitlines()), f"the table has {row}")
    check_full("the figures", *pair)
    check_full("the figures", *pair, "--json")
    run(*pair, "--write-vocabularies", folder)
    check((folder / "source.vocab").read_text() == "<unk>,0\n<pad>,1\n<sos>,2\n<eos>,3\nthe,4\nBerlin,5\ncat,6\nin,7\n",
          "writes vocabularies")
    check(run(*pair, "--write-vocabularies", folder / "new/folder").returncode == 0 and (folder / "new/folder/target.vocab").exists(),
          "creates the folder for vocabularies")
    refused("a vocabulary folder that is a file", *pair, "--write-vocabularies", folder / "a.en", says="cannot create the folder")

    (folder / "raw.en").write_text("We don't know what that costs in 2004, Sir.\nNo.\n")
    (folder / "raw.de").write_text("Wir wissen nicht, was das 2004 kostet, mein Herr.\nNein.\n")
    found = figures(folder / "raw.en", folder / "raw.de", "--prepare", "en-de")
    check((found["lines"], found["pairs"]) == (2, 1), "--prepare drops too short pairs")
    check((found["source"]["tokens"], found["target"]["tokens"]) == (10, 9), "--prepare splits text into words")
    check(found["source"]["numbers"] == found["target"]["numbers"] == 1, "--prepare replaces numbers by <num>")
    found = figures(folder / "raw.de", folder / "raw.en", "--prepare", "de-en")
    check((found["source"]["tokens"], found["target"]["tokens"]) == (9, 10), "--prepare works in both directions")
    check(figures(folder / "raw.en", folder / "raw.de", "--prepare", "en-de", "--most-words", 10)["pairs"] == 1,
          "--most-words keeps pairs at the limit")
    refused("a word limit below the sentence lengths", folder / "raw.en", folder / "raw.de", "--prepare", "en-de", "--most-words", 9,
            says="no pair has 7 to 20 words")
    refused("--most-words without --prepare", *pair, "--most-words", 9, says="--most-words requires --prepare")

    (folder / "empty").write_text("")
    (folder / "short").write_text("one\n")
    (folder / "bad").write_bytes(b"gut\nsch\xf6n\nja\n")
    (folder / "packed").write_bytes(b"\xfd7zXZ\x00\x00")
    refused("a missing file", folder / "none", pair[1], says="none: No such file or directory")
    refused("a folder", folder, pair[1], says="it is a folder. Name a file inside it.")
    refused("unequal files", pair[0], folder / "short", says="has 3 lines and")
    refused("invalid UTF-8", pair[0], folder / "bad", says="bad, line 2: byte 4 is not valid UTF-8")
    refused("a compressed file", folder / "packed", pair[1], says="packed is compressed. Unpack it first (xz -d).")
    refused("empty files", folder / "empty", folder / "empty", says="are empty. Give files with one sentence per line")
    refused("nothing left after preparing", folder / "short", folder / "short", "--prepare", "de-en", says="no pair has 7 to 20 words")
    refused("--vocab without --merges", *pair, "--vocab", folder / "short", says="--merges")
    refused("one file", pair[0], says="target")
    refused("a threshold of 0", *pair, "--seen-at-least", 0, says="--seen-at-least")
    for status, arguments in ((0, ["--version"]), (0, ["--help"]), (1, ["--help", "nonsense"]), (1, [folder / "none", pair[1]]), (104, [*pair, "--json=maybe"]),
                              (105, [*pair, "--seen-at-least", 0]), (106, [pair[0]]), (107, [*pair, "--vocab", folder / "short"]),
                              (109, [*pair, "--nonsense"]), (109, [*pair, pair[0]]), (114, [*pair, "--seen-at-least"])):
        check_status(status, *arguments)

if (data / "europarl-10k").exists():
    found = figures(data / "europarl-10k/train.en", data / "europarl-10k/train.de")
    check([found["source"][key] for key in ("tokens", "types", "seen_once", "vocabulary")] == [124031, 8326, 3909, 4418],
          "English figures match the paper")
    check([found["target"][key] for key in ("tokens", "types", "seen_once", "vocabulary")] == [112572, 12504, 7460, 5045],
          "German figures match the paper")
    check(found["shared_words"] == 478, "shared words match the paper")
else:
    skip(f"no europarl-10k under {data}")
if (data / "bart-bpe").exists() and (data / "wmt14").exists():
    bpe = ["--vocab", data / "bart-bpe/vocab.json", "--merges", data / "bart-bpe/merges.txt"]
    found = figures(data / "wmt14/newstest2014.en", data / "wmt14/newstest2014.de", *bpe)
    lengths = [[found[side]["length"][key] for key in ("average_rounded_up", "shortest", "longest")] for side in ("source", "target")]
    check(lengths == [[27, 4, 118], [51, 5, 168]], "token lengths match Hugging Face tokenizers with both special tokens")
else:
    skip(f"no bart-bpe and wmt14 under {data}")

check_help()
finish()
