"""Compares the tables of IBM model 1 with those of NLTK on random texts. NLTK counts a target word that a sentence repeats as often for each of its
occurrences, so the targets of a sentence differ here; tests/align has repeated ones."""
# program: lexical_table
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

from nltk.translate import AlignedSent, IBMModel1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the compiled tests/python/lexical_table.cpp")
    parser.add_argument("--seed", type=int, default=1, help="of the random texts (default 1)")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    compared, worst = 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        files = [pathlib.Path(name) / side for side in ("source", "target")]
        for _ in range(30):
            words, iterations = rng.choice([3, 10, 40]), rng.choice([1, 2, 5, 10])
            pairs = [([rng.randrange(words) for _ in range(rng.randint(0, 9))], rng.sample(range(words), rng.randint(1, min(words, 9))))
                     for _ in range(rng.choice([1, 5, 60]))]
            if not any(source for source, _ in pairs):
                continue
            for file, side in zip(files, zip(*pairs)):
                file.write_text("".join(" ".join(map(str, sentence)) + "\n" for sentence in side))
            expected = IBMModel1([AlignedSent(target, source) for source, target in pairs], iterations).translation_table
            result = subprocess.run([arguments.program, *files, str(iterations)], capture_output=True, text=True, check=True)
            for line in result.stdout.splitlines():
                source, target, probability = line.split()
                other = expected[int(target)][None if source == "-1" else int(source)]
                worst = max(worst, abs(float(probability) - other))
                compared += 1
    print(f"{compared} probabilities differ from NLTK's by at most {worst:.2g}")
    if compared < 5000:
        sys.exit("too few to mean anything")
    sys.exit(1 if worst > 1e-7 else 0)


if __name__ == "__main__":
    main()
