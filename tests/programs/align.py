"""Runs align as a person would: a tiny text whose links are known, gold alignments, saved tables, real text where it is there, and bad input."""
import json
import os
import struct
import tempfile
from pathlib import Path

from checks import check, check_full, check_help, finish, refused, run, skip

data = Path(os.environ.get("ATTN_DATA", Path(__file__).resolve().parents[3] / "shared/data"))



def write_marian(folder, source, target):
    """A folder of Hugging Face's MarianMTModel as far as its tokenizers need it: each word is a token."""
    folder.mkdir()
    field = lambda number, value: bytes([number << 3 | 2, len(value)]) + value
    piece = lambda text, kind: field(1, field(1, text.encode()) + b"\x15" + struct.pack("<f", -1) + bytes([3 << 3, kind]))
    for side, words in (("source", source), ("target", target)):
        (folder / f"{side}.spm").write_bytes(piece("<unk>", 2) + b"".join(piece("\u2581" + word, 1) for word in words))
    tokens = ["</s>", "<unk>", *("\u2581" + word for word in source + target), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}))
    config = {"model_type": "marian", "activation_function": "swish", "d_model": 8, "scale_embedding": True}
    for side in ("encoder", "decoder"):
        config |= {f"{side}_layers": 1, f"{side}_attention_heads": 2, f"{side}_ffn_dim": 16}
    (folder / "config.json").write_text(json.dumps(config))
    header = json.dumps({"model.shared.weight": {"dtype": "F32", "shape": [len(tokens), 8], "data_offsets": [0, 32 * len(tokens)]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(32 * len(tokens)))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "a.en").write_text("the house\nthe book\na book\na red house\n")
    (folder / "a.de").write_text("das haus\ndas buch\nein buch\nein rotes haus\n")
    (folder / "b.en").write_text("house the\n\n")
    (folder / "b.de").write_text("das haus\n\n")
    pair, others = [folder / "a.en", folder / "a.de"], ["--pairs", folder / "b.en", folder / "b.de"]
    result = run(*pair, "--iterations", 20)
    check([result.stderr.count(f"{way}, iteration") for way in ("source to target", "target to source")] == [20, 20],
          "prints the iterations of each direction")
    check(result.stdout.splitlines() == ["0-0 1-1", "0-0 1-1", "0-0 1-1", "0-0 1-1 2-2"], "links of the training text count from 0")
    likelihoods = [float(line.split()[-1]) for line in result.stderr.splitlines()]
    check(len(likelihoods) == 40 and likelihoods[:20] == sorted(likelihoods[:20]), "the likelihood rises in each direction")
    check(run(*pair, *others, "--iterations", 20).stdout.splitlines() == ["0-1 1-0", ""],
          "--pairs aligns other pairs and an empty pair has no links")
    same = {run(*pair, "--threads", threads).stdout for threads in (1, 2, 3)}
    check(len(same) == 1, "links do not depend on the number of threads")

    (folder / "gold").write_text("2-1 1-2\n\n")
    table = run(*pair, *others, "--iterations", 20, "--gold", folder / "gold").stdout.splitlines()
    check(table[-1].split() == ["grow-diag-final-and", "0.000", "1.000", "1.000"], "the error rate against gold links is printed")
    check_full("the error rates", *pair, *others, "--gold", folder / "gold")
    check_full("the links", *pair)
    (folder / "gold").write_text("1-1 2-2\n\n")
    check(run(*pair, *others, "--iterations", 20, "--gold", folder / "gold").stdout.splitlines()[-1].split()[1] == "1.000",
          "the error rate is 1 if no link is correct")
    run(*pair, "--save", folder / "tables")
    check(sorted(p.name for p in (folder / "tables").iterdir()) == ["backward.table", "forward.table", "source.vocab", "target.vocab"],
          "--save writes the tables")
    source, target = (sorted(set(path.read_text().split())) for path in pair)
    write_marian(folder / "marian", source, target)
    learned = run(*pair, "--tokens", folder / "marian", "--save", folder / "tokens.table")
    check(learned.returncode == 0, f"a table of the tokens of an OPUS-MT folder is saved: status {learned.returncode}")
    rows = struct.unpack_from("<q", (folder / "tokens.table").read_bytes(), len("attn lexical table 2\n"))[0] if learned.returncode == 0 else 0
    check(rows == 2 + len(source) + 2, f"the table has a row for each source token of the vocabulary: {rows} rows")
    (folder / "raw.en").write_text("The House, the book.\nA book!\n")
    (folder / "raw.de").write_text("Das Haus, das Buch.\nEin Buch!\n")
    check(run(folder / "raw.en", folder / "raw.de", "--raw").stdout.splitlines()[1].count("-") > 0, "--raw splits raw text into words")
    check(len(run(*pair, "--first", 2).stdout.splitlines()) == 2, "--first limits the pairs")

    (folder / "empty").write_text("")
    (folder / "blank").write_text("\n\n\n\n")
    (folder / "bad").write_bytes(b"gut\nsch\xf6n\n")
    refused("a missing file", folder / "none", pair[1], says="none: No such file or directory")
    refused("--pairs with one file", *pair, "--pairs", folder / "b.en", says="--pairs requires two files")
    refused("unequal files", pair[0], folder / "b.de", says="has 4 lines and")
    refused("empty files", folder / "empty", folder / "empty", says="is empty. Give files with one sentence per line")
    refused("the text has no words", folder / "blank", pair[1], says="the text has no words")
    refused("invalid UTF-8", folder / "bad", folder / "b.de", says="line 2: byte 4 is not valid UTF-8")
    refused("gold links of another text", *pair, "--gold", folder / "gold", says="has 2 lines for 4 pairs")
    (folder / "gold").write_text("3-1\n\n")
    refused("gold links outside the sentence", *pair, *others, "--gold", folder / "gold",
            says="the gold alignment of line 1 links source word 3")
    unlearned = lambda *arguments: "log-likelihood" not in run(*pair, *arguments).stderr
    check(unlearned("--gold", folder / "empty") and unlearned(*others, "--gold", folder / "gold"), "gold errors are found before training")
    refused("--links without --gold", *pair, "--links", "target-source", says="--links requires --gold")
    refused("an output folder inside a file", *pair, "--save", folder / "gold" / "tables", says="cannot create the folder")
    (folder / "full/forward.table").mkdir(parents=True)
    refused("a folder with the name of a table", *pair, "--save", folder / "full", says="forward.table: it is not a plain file")
    refused("a file in a missing folder", *pair, "--tokens", folder, "--save", folder / "none/table",
            says="none/table: No such file or directory")
    check(unlearned("--save", folder / "gold" / "tables") and unlearned("--save", folder / "full"),
          "an output path that cannot be written is found before training")
    refused("an unknown symmetrization", *pair, "--symmetrize", "grow", says="grow")
    refused("no iterations", *pair, "--iterations", 0, says="'0' is not a whole number of at least 1")

if (data / "europarl-10k").exists() and (data / "alignment-gold").exists():
    gold = data / "alignment-gold"
    table = run(data / "europarl-10k/train.en", data / "europarl-10k/train.de", "--pairs", gold / "test.en", gold / "test.de",
                "--gold", gold / "alignment.talp", "--links", "target-source").stdout.splitlines()
    check([line.split()[-3] for line in table[1:]] == ["0.498", "0.436", "0.432", "0.486", "0.383"], "the error rates match docs/results")
else:
    skip(f"no europarl-10k and alignment-gold under {data}")

check_help()
finish()
