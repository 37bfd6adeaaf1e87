"""Compares BLEU with several references, chrF, chrF++, confidence intervals and paired bootstrap with sacrebleu, as it prints them."""
# program: metric_scores
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
from support.hostile_text import fixed_sets, random_set, write
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

METRICS = {"bleu": BLEU, "chrf": CHRF, "chrf++": lambda: CHRF(word_order=2)}


def ours(program, folder, metric, samples, seed, systems, references):
    paths = []
    for i, text in enumerate([*systems, *references]):
        paths.append(folder / f"text.{i}")
        write(paths[-1], text)
    arguments = [program, metric, samples, seed, len(systems), *paths]
    return subprocess.run([str(a) for a in arguments], capture_output=True).stdout.decode("utf-8").splitlines()


def signature(text):
    """attn's signature names attn's version."""
    return str(text).rsplit("|version:", 1)[0]


def of_one_system(name, system, references, samples, seed):
    """What sacrebleu prints of one system, its numbers, its signature; None where it cannot compute an interval."""
    metric = METRICS[name]()
    os.environ["SACREBLEU_SEED"] = str(seed)
    try:
        score = metric.corpus_score(system, references, n_bootstrap=max(samples, 1))
    except TypeError:  # its exact mean of a chrF of 0 and others is none
        return None
    numbers = [score.score] + ([float(score._mean), float(score._ci)] if samples else [])
    return signature(metric.get_signature()), [score.format()], [numbers]


def of_several_systems(name, systems, references, samples, seed):
    os.environ["SACREBLEU_SEED"] = str(seed)
    named = [(str(i), system) for i, system in enumerate(systems)]
    signatures, scores = PairedTest(named, {name: METRICS[name]()}, references, test_type="bs", n_samples=samples)()
    (key,) = signatures
    cells, numbers = [], []
    for result in scores[key]:
        cell = f"{result.score:.2f} ({result.mean:.2f} ± {result.ci:.2f})"
        if result.p_value is not None:
            cell += f" (p = {result.p_value:.4f})" + ("" if result.p_value > 0.05 else "*")
        cells.append(cell)
        numbers.append([float(n) for n in (result.score, result.mean, result.ci, result.p_value) if n is not None])
    return signature(signatures[key]), cells, numbers


def near(a, b):
    return len(a) == len(b) and all(abs(x - y) <= 1e-12 * max(1, abs(y)) for x, y in zip(a, b))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the compiled tests/python/metric_scores.cpp")
    parser.add_argument("--seed", type=int, default=1, help="of the random sets (default 1)")
    arguments = parser.parse_args()
    if int(numpy.__version__.split(".")[0]) < 2:
        print("skipped: sacrebleu computes in another precision with numpy 1; install numpy 2")
        sys.exit(77)
    rng = random.Random(arguments.seed)
    compared, differ, positive, stars, left_out = 0, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def compare(metric, systems, references, samples, seed):
            nonlocal compared, differ, positive, stars, left_out
            if len(systems) == 1:
                expected = of_one_system(metric, systems[0], references, samples, seed)
            else:
                expected = of_several_systems(metric, systems, references, samples, seed)
            if expected is None:
                left_out += 1
                return
            lines = ours(arguments.program, folder, metric, samples, seed, systems, references)
            found = (lines[0].rsplit("|version:attn-", 1)[0] if lines else "", lines[1::2], [[float(x) for x in l.split()] for l in lines[2::2]])
            compared += 1
            positive += expected[2][0][0] > 0
            stars += sum("*" in cell for cell in expected[1])
            same = found[:2] == expected[:2] and len(found[2]) == len(expected[2]) and all(map(near, found[2], expected[2]))
            if not same:
                differ += 1
                print(f"{metric}, {samples} samples, seed {seed}: systems {systems!r}\n  references {references!r}\n  sacrebleu {expected}\n  attn      {found}")

        for hypotheses, references in fixed_sets():
            for metric in METRICS:
                compare(metric, [hypotheses], [references], 0, 12345)
        for i in range(200):
            systems, references = random_set(rng, i, 1, rng.choice([1, 2, 3, 5]))
            for metric in METRICS:
                compare(metric, systems, references, 0, 12345)
        for i in range(200):
            systems, references = random_set(rng, i, rng.choice([1, 2, 3]), rng.choice([1, 1, 2]))
            for metric in METRICS:
                compare(metric, systems, references, rng.choice([2, 39, 40, 100, 1000]), rng.choice([12345, 1, 7, 2**32 + 5]))
    print(f"{compared} sets ({positive} with a score above 0, {stars} significant differences; sacrebleu has no interval for {left_out} more) "
          f"compared with sacrebleu: {differ} differ")
    if compared < 1000 or positive < 500 or stars < 50:
        sys.exit("too few sets to mean anything")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
