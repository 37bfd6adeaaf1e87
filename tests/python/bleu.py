"""Compares attn's corpus BLEU with sacrebleu, line for line, on random and hostile hypothesis sets."""
# program: bleu_score
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

from sacrebleu.metrics import BLEU

SPACES = [chr(c) for c in [*range(9, 14), *range(28, 33), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F,
                           0x205F, 0x3000]]
NO_SPACES = ["\u200b", "\u200c", "\u2060", "\ufeff", "\u180e", "\x1b", "\x7f", "\x01"]
WORDS = ["the", "The", "a", "house", "Haus", "is", "ist", "old", "alt", "und", "naïve", "Größe", "don't", "well-known", "東京", "пример",
         "3", "1,000.50", "3.14", "1990-1995", "10-", "-5", "2.", ".5", ",7", "7,", "U.S.", "e.g.,", "...", ".,.,", "1.,2", "५.५", "٣,٤",
         "&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;amp;quot;", "&", "&apos;", "<skipped>", "<skip<skipped>ped>", "<b>",
         "-\n", "-\r\n", "-", "--", "–", "—", "„", "“", "”", "’", "«", "»", "…", "¿", "。", "、", "%", "50%", "$5", "#1", "@", "a@b.c",
         "http://a.b/c?d=e&f", "(x)", "[y]", "{z}", "~", "`", "^", "_", "|", "\\", "/", "*", "+", "=", ":", ";", "!", "?", '"', "'",
         "I'm", "e\u0301", "\U0001f600", "\U0001d7d8.\U0001d7d9", "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape"),
         b"\xff\xc2".decode("utf-8", "surrogateescape"), b"\xe2\x80".decode("utf-8", "surrogateescape")]
ALPHABET = list("ab01.,-&;<>\"' \n\t") + ["é", "…", "\u00a0", "\u2003", "\u200b", "&amp;", "&lt;"]


def sentence(rng, words, separators, most):
    return "".join(rng.choice(words) + rng.choice(separators) for _ in range(rng.randint(0, most)))


def disturb(rng, reference, words):
    pieces = reference.split(" ")
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(pieces))
        change = rng.randrange(4)
        if change == 0:
            pieces[at] = rng.choice(words)
        elif change == 1:
            pieces.insert(at, rng.choice(words))
        elif change == 2 and len(pieces) > 1:
            del pieces[at]
        else:
            other = rng.randrange(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]
    return " ".join(pieces)


def fixed_sets():
    yield [""], [""]
    yield ["", ""], ["a b c d", "e"]
    yield ["a b c d", "e"], ["", ""]
    yield [" \u00a0\u2003 "], ["\u3000"]
    yield ["one"], ["one"]
    yield ["one", "two", "three", "four"], ["one", "two", "three", "four"]
    yield ["a b"], ["a b"]
    yield ["a b c"], ["a b c"]
    yield ["a b c d"], ["a b c d"]
    yield ["a b c d e"], ["e d c b a"]
    yield ["x y z w v"], ["a b c d e"]
    yield ["the the the the the"], ["the cat sat on the mat"]
    yield ["The cat"], ["the cat"]
    yield ["a" * 5000 + " b c d"], ["a" * 5000 + " b c d"]
    yield ["word-\n"], ["word-"]
    yield ["wo-\nrd a b c\n"], ["word a b c"]
    yield ["<skipped>"], ["<skipped>"]
    for space in SPACES + NO_SPACES:
        yield [f"a{space}b c, d{space}", f"{space}e."], ["a b c, d", "e."]
    for code in range(1, 128):
        yield [f"x{chr(code)}y 1{chr(code)}2 {chr(code)}.5 end", chr(code)], [f"x {chr(code)} y 1 {chr(code)} 2 . 5 end", chr(code)]


def random_sets(rng):
    plain = ["the", "a", "man", "dog", "sees", "old", "new", "house", ".", ",", "12", "3.5", "well-known"]
    for i in range(400):
        words, separators = [(plain, [" "]), (WORDS, [" ", " ", "", "\t"]), (WORDS, SPACES + NO_SPACES + [""]), (ALPHABET, [""])][i % 4]
        count, most = rng.choice([1, 2, 5, 40]), rng.choice([1, 4, 12, 40])
        references = [sentence(rng, words, separators, most) for _ in range(count)]
        if rng.random() < 0.8:
            hypotheses = [disturb(rng, reference, words) for reference in references]
        else:
            hypotheses = [sentence(rng, words, separators, most) for _ in range(count)]
        yield hypotheses, references


def score(program, folder, hypotheses, references):
    for name, sentences in (("hypotheses", hypotheses), ("references", references)):
        (folder / name).write_bytes(b"".join(s.encode("utf-8", "surrogateescape") + b"\0" for s in sentences))
    return subprocess.run([program, folder / "hypotheses", folder / "references"], capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the compiled tests/python/bleu_score.cpp")
    parser.add_argument("--seed", type=int, default=1, help="of the random sets (default 1)")
    arguments = parser.parse_args()
    failures = compared = positive = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for hypotheses, references in [*fixed_sets(), *random_sets(random.Random(arguments.seed))]:
            metric = BLEU()
            expected = metric.corpus_score(hypotheses, [references])
            signature = str(metric.get_signature()).rsplit("|version:", 1)[0]
            result = score(arguments.program, folder, hypotheses, references)
            lines = result.stdout.splitlines() + ["", ""]
            compared += 1
            positive += expected.score > 0
            if result.returncode or lines[0] != str(expected) or not lines[1].startswith(signature + "|version:attn-"):
                failures += 1
                print(f"set {compared}: hypotheses {hypotheses!r}\n  references {references!r}\n  sacrebleu {expected} {signature}\n"
                      f"  attn      {result.stdout}{result.stderr}")
        unequal = score(arguments.program, folder, ["a", "b"], ["a"])
        if unequal.returncode == 0 or "2 hypotheses" not in unequal.stderr or "1 references" not in unequal.stderr:
            failures += 1
            print("unequal counts were not refused:", unequal.stdout, unequal.stderr)
    print(f"{compared} hypothesis sets ({positive} with a score above 0) compared with sacrebleu: {failures} differ")
    if compared < 200 or positive < 100:
        sys.exit("too few sets to mean anything")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
