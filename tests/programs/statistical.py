"""Runs statistical on a small corpus that is translated word by word, so that the right answer is known: word-for-word translation scores 100,
unknown words are copied, and the table repeats the neural rows.  statistical.py STATISTICAL"""
import json
import random
import tempfile
from pathlib import Path

from checks import check, check_help, finish, refused, run

english = "we you they now here never always want see have a the one large small new old house debate vote report budget law today".split()
german = "wir ihr sie jetzt hier nie immer wollen sehen haben ein das eins gross klein neu alt haus debatte abstimmung bericht haushalt recht heute".split()


def write_pairs(folder, name, count, more=()):
    draw = random.Random(count)
    pairs = [[draw.randrange(len(english)) for _ in range(draw.randint(3, 8))] for _ in range(count)]
    for language, words in (("en", english), ("de", german)):
        lines = [" ".join(words[i] for i in ids) for ids in pairs] + list(more)
        (folder / f"{name}.{language}").write_text("".join(line + "\n" for line in lines))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    data = folder / "data"
    (data / "europarl-10k").mkdir(parents=True)
    write_pairs(data / "europarl-10k", "train", 400)
    write_pairs(data / "europarl-10k", "val", 40)
    write_pairs(data / "europarl-10k", "test", 20, more=["elsterwerda liebenwerda schwarzheide ruhland"])
    neural = folder / "coursework.json"
    neural.write_text(json.dumps({"rows": [{"title": "input feeding", "paper": {"bleu": {"test": 10.91}}, "runs": [{"tests": {"test": {"bleu": 11}}}, {"tests": {"test": {"bleu": 13}}}]}]}))
    short = ["--data", data, "--epochs", 2, "--threads", 1]
    result = run(*short, "--neural", neural, "--output", folder / "out")
    check(result.returncode == 0, f"succeeds {result.stderr}")
    reference = (data / "europarl-10k/test.en").read_text()
    check((folder / "out/translations.word-for-word.txt").read_text() == reference, "word for word translates every word")
    table = (folder / "out/statistical.md").read_text()
    check("| word for word | | 100.00 |" in table, "word for word scores 100")
    check("| input feeding | 10.91 | 12.00 |" in table, "the table has the neural rows with their mean")
    for system in ("noisy-channel", "weighted"):
        lines = (folder / f"out/translations.{system}.txt").read_text().splitlines()
        check(len(lines) == 21 and sorted(lines[20].split()) == sorted(reference.splitlines()[20].split()),
              f"{system} copies unknown words")
    monotone = run(*short, "--distortion-limit", 0, "--output", folder / "monotone")
    check(monotone.returncode == 0 and (folder / "monotone/translations.weighted.txt").read_text().splitlines()[20] == reference.splitlines()[20],
          "a distortion limit of 0 keeps the source order")
    samples = (folder / "out/samples.md").read_text()
    check(samples.count("| reference |") == 20 and samples.count("| noisy channel |") == 20, "20 samples are printed")
    again = run(*short, "--output", folder / "again")
    check(all((folder / "out" / f"translations.{system}.txt").read_bytes() == (folder / "again" / f"translations.{system}.txt").read_bytes() for system in ("noisy-channel", "weighted")),
          "the same command gives the same translations")
    refused("a missing folder", "--data", folder / "none", "--output", folder / "no", says="--data")
    refused("a missing table", *short, "--neural", folder / "none.json", says="--neural")
    check("--stack-size" in check_help(), "--help lists --stack-size")

finish()
