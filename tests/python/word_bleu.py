"""Compares BLEU on words with NLTK and with Moses' multi-bleu.perl: the one that the environment variable ATTN_MULTI_BLEU names, or the one
that scripts/setup.sh puts in the virtual environment. Without it compares with sacrebleu, without tokeniser and smoothing, and counts as
skipped: sacrebleu computes the same only of text whose white space is ASCII's."""
# program: metric_scores
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings

from nltk.translate.bleu_score import corpus_bleu
from sacrebleu.metrics import BLEU
from support.hostile_text import fixed_sets, random_set, write

INSTALLED = pathlib.Path(sys.prefix) / "multi-bleu.perl"
PERL = os.environ.get("ATTN_MULTI_BLEU") or (str(INSTALLED) if INSTALLED.exists() else None)


def ours(program, folder, metric, hypotheses, references):
    paths = [folder / f"text.{i}" for i in range(1 + len(references))]
    for path, text in zip(paths, [hypotheses, *references]):
        write(path, text)
    lines = subprocess.run([str(a) for a in [program, metric, 0, 0, 1, *paths]], capture_output=True, text=True).stdout.splitlines()
    return float(lines[2])


def nltk(hypotheses, references):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an order has no match
        return 100 * float(corpus_bleu([[r.split() for r in line] for line in zip(*references)], [h.split() for h in hypotheses]))


def multi_bleu(folder, hypotheses, references, lower):
    for stale in folder.glob("reference*"):
        stale.unlink()
    for i, text in enumerate(references):
        (folder / f"reference{i}").write_bytes(b"".join(s.encode("utf-8", "surrogateescape") + b"\n" for s in text))
    result = subprocess.run(["perl", PERL, *(["-lc"] if lower else []), str(folder / "reference")], capture_output=True,
                            input=b"".join(s.encode("utf-8", "surrogateescape") + b"\n" for s in hypotheses))
    if b"division by zero" in result.stderr:  # nothing was translated
        return 0.0
    return float(re.match(rb"BLEU = ([0-9.]+)", result.stdout).group(1))


def instead_of_perl(hypotheses, references, lower):
    """sacrebleu's score, None where its white space is not Perl's."""
    change = (lambda s: re.sub("[A-Z]", lambda m: m.group().lower(), s)) if lower else (lambda s: s)
    texts = [[change(s) for s in text] for text in [hypotheses, *references]]
    if any(s.split() != [w for w in re.split("[ \t\n\v\f\r]+", s) if w] for text in texts for s in text):
        return None
    return BLEU(tokenize="none", smooth_method="none", force=True).corpus_score(texts[0], texts[1:]).score


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the compiled tests/python/metric_scores.cpp")
    parser.add_argument("--seed", type=int, default=1, help="of the random sets (default 1)")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    sets = [(h, [r]) for h, r in fixed_sets()]
    for i in range(500):
        systems, references = random_set(rng, i, 1, rng.choice([1, 1, 2, 3]))
        sets.append((systems[0], references))
    compared, positive, differ = {"nltk": 0, "multi-bleu": 0, "multi-bleu-lc": 0}, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for hypotheses, references in sets:
            hypotheses = [s.replace("\n", " ") for s in hypotheses]  # a file of lines cannot hold them
            references = [[s.replace("\n", " ") for s in text] for text in references]
            for metric in compared:
                if metric == "nltk":
                    expected, bound = nltk(hypotheses, references), 1e-9
                elif PERL:
                    expected, bound = multi_bleu(folder, hypotheses, references, metric.endswith("-lc")), 0.005 + 1e-9
                else:
                    expected, bound = instead_of_perl(hypotheses, references, metric.endswith("-lc")), 1e-9
                if expected is None:
                    continue
                found = ours(arguments.program, folder, metric, hypotheses, references)
                compared[metric] += 1
                positive += expected > 0.01
                if abs(found - expected) > bound:
                    differ += 1
                    print(f"{metric}: hypotheses {hypotheses!r}\n  references {references!r}\n  expected {expected}\n  attn     {found}")
    print(f"{compared} sets ({positive} with a score above 0) compared with NLTK and {'multi-bleu.perl' if PERL else 'sacrebleu'}: {differ} differ")
    if min(compared.values()) < 200 or positive < 300:
        sys.exit("too few sets to mean anything")
    if not differ and not PERL:
        print("skipped: no multi-bleu.perl; run scripts/setup.sh test, or set ATTN_MULTI_BLEU")
        sys.exit(77)
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
