"""Compares attn's byte-level BPE with Hugging Face's tokenizers: words, ids, decoding and training."""
# program: byte_bpe_ids
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"]
BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False)

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--program", required=True, help="the built byte_bpe_ids")
parser.add_argument("--data", required=True, type=pathlib.Path, help="the folder with bart-bpe/ and wmt14/")
options = parser.parse_args()


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def lines_of(path):
    """Lines end with a newline and nothing else, whatever Python thinks of U+2028."""
    return path.read_bytes().decode().split("\n")[:-1]


def attn(what, vocab, merges, texts, *more):
    """The program's answer to each text."""
    lines = "".join(escaped(text) + "\n" for text in texts)
    command = [options.program, what, str(vocab), str(merges), *more]
    done = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"failed: {what}: the program stopped with {done.returncode}")
    return done.stdout.decode().split("\n")[:-1]


def numbers(lines):
    return [[int(number) for number in line.split()] for line in lines]


def compare(what, texts, ours, theirs):
    if len(ours) != len(theirs):
        sys.exit(f"failed: {what}: {len(ours)} answers for {len(theirs)} texts")
    wrong = [(text, our, their) for text, our, their in zip(texts, ours, theirs) if our != their]
    for text, our, their in wrong[:5]:
        print(f"{what}: {text!r}\n  attn       {our!r}\n  tokenizers {their!r}")
    if wrong:
        sys.exit(f"failed: {what}: {len(wrong)} of {len(texts)} differ")
    print(f"{what}: {len(texts)} equal")


def byte_level_tokenizer(vocab, merges):
    tokenizer = Tokenizer(models.BPE.from_file(str(vocab), str(merges)))
    tokenizer.pre_tokenizer = BYTE_LEVEL
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def ids_of(tokenizer, texts):
    return [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]


def words_of(text):
    """Bytes of each word: a word comes with one letter a byte."""
    return [len(word) for word, _ in BYTE_LEVEL.pre_tokenize_str(text)]


def is_letter(code):
    return len(words_of("a" + chr(code))) == 1


def scalar_values():
    return (code for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)


def all_code_points():
    """Every code point beside a letter, a number, a sign, a space, itself and an apostrophe; eight to a text."""
    texts, text = [], ""
    for code in scalar_values():
        c = chr(code)
        text += f"a{c}a1{c}1!{c}! {c}  {c}{c}'s{c}'ll"
        if code % 8 == 7:
            texts.append(text)
            text = ""
    return texts


def hostile_texts(pool):
    """Thousands of texts that no sane person would write, of code points from the pool."""
    dice = random.Random(14)
    spaces = [chr(code) for code in (9, 10, 11, 12, 13, 32, 0x85, 0xA0, 0x1680, 0x2003, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)]
    almost = [chr(code) for code in (0, 1, 0x1C, 0x1F, 0x7F, 0x80, 0xAD, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xFFFD)]
    edges = [chr(code) for code in (0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFE, 0xFFFF, 0x10000, 0x1FFFF, 0x10FFFF)]
    marks = [chr(code) for code in (*range(0x300, 0x370), 0x20DD, 0xFE0F, 0x1F3FD, 0xE0101)]
    endings = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "'", "''", "\u2019s", "'\u017f", "'x", "'l", "'r", "'v"]
    names = ["<s>", "</s>", "<pad>", "<unk>", "<mask>", "<|endoftext|>", "<", "\\n", "\\", "\\\\", '"']
    by_category = {}
    for code in pool:
        by_category.setdefault(unicodedata.category(chr(code)), []).append(chr(code))
    parts = [spaces, almost, edges, marks, endings, names, list("abcxyzABC"), list("0123456789"), [" "], ["\n", "\r\n"]]
    parts += [members for category, members in by_category.items() if category != "Cs"]

    texts = ["", " ", "\n", "\0", "\0\0 \0", "  ", "\t\n ", " '", "a" * 5000, " " * 5000, "\u0301" * 999, "1" * 999, "ab" * 3000]
    texts += ["\n" * 100 + "x", "'s" * 500, " 's" * 500, "e\u0301" * 300, "\U0001F468\u200D\U0001F469\u200D\U0001F467" * 50, "\u00e4" * 4000]
    for kind in parts:
        for _ in range(60):
            texts.append("".join(dice.choice(kind) for _ in range(dice.randint(1, 30))))
    for _ in range(4000):
        kinds = dice.sample(parts, dice.randint(1, 6))
        texts.append("".join(dice.choice(dice.choice(kinds)) for _ in range(dice.randint(1, 40))))
    for _ in range(1000):
        texts.append("".join(dice.choice(pool_character) * dice.randint(1, 9) for pool_character in dice.sample(parts, 8)))
    return texts


def check_training(name, lines, size):
    """The trainer learns what theirs learns; their tokenizer reads the files and finds the same ids."""
    with tempfile.TemporaryDirectory() as folder:
        vocab, merges = pathlib.Path(folder, "vocab.json"), pathlib.Path(folder, "merges.txt")
        attn("train", vocab, merges, lines, str(size))
        theirs = Tokenizer(models.BPE())
        theirs.pre_tokenizer = BYTE_LEVEL
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        theirs.train_from_iterator(lines, trainers.BpeTrainer(
            vocab_size=size, min_frequency=2, special_tokens=SPECIALS, initial_alphabet=alphabet, show_progress=False))
        model = json.loads(theirs.to_str())["model"]
        # Before 0.20 a merge was written as one string.
        expected = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
        learned = merges.read_text(encoding="utf-8").split("\n")[1:-1]
        compare(f"merges learned from {name}", expected, learned, expected)
        if json.loads(vocab.read_text(encoding="utf-8")) != model["vocab"]:
            sys.exit(f"failed: vocabulary learned from {name}: ids differ")
        reader = byte_level_tokenizer(vocab, merges)
        compare(f"ids with merges learned from {name}", lines, numbers(attn("ids", vocab, merges, lines)), ids_of(reader, lines))


def main():
    # Tables of another Unicode version differ in letters added since; those cannot be compared.
    same_unicode = is_letter(0x1C89) and not is_letter(0x88F)  # new in Unicode 16 and in 17
    if same_unicode:
        pool = list(scalar_values())
    else:
        print(f"tokenizers {tokenizers.__version__} does not know Unicode 16, as attn does: keeping to Unicode 3.2")
        pool = [code for code in scalar_values() if unicodedata.ucd_3_2_0.category(chr(code)) != "Cn"]
    hostile = hostile_texts(pool)
    check_training("hostile text", hostile, 1000)

    bart = options.data / "bart-bpe"
    news = [options.data / "wmt14" / f"newstest{year}.{language}" for year in (2013, 2014) for language in ("en", "de")]
    missing = [path for path in (bart, *news) if not path.exists()]
    if missing:
        print("skipped the rest: there is no", *missing)
        sys.exit(77)
    vocab, merges = bart / "vocab.json", bart / "merges.txt"
    theirs = byte_level_tokenizer(vocab, merges)

    if same_unicode:
        texts = all_code_points()
        compare("words, all code points", texts, numbers(attn("words", vocab, merges, texts)), [words_of(text) for text in texts])
    compare("words, hostile", hostile, numbers(attn("words", vocab, merges, hostile)), [words_of(text) for text in hostile])

    for path in news:
        lines = lines_of(path)
        ids = ids_of(theirs, lines)
        compare(f"ids, {path.name}", lines, numbers(attn("ids", vocab, merges, lines)), ids)
        compare(f"text, {path.name}", ids, attn("text", vocab, merges, [" ".join(map(str, i)) for i in ids]), list(map(escaped, lines)))
    check_training("newstest2013, both languages", [line for path in news[:2] for line in lines_of(path)], 8000)

    ids = ids_of(theirs, hostile)
    compare("ids, hostile", hostile, numbers(attn("ids", vocab, merges, hostile)), ids)

    # Ids at random are rarely whole characters.
    dice = random.Random(15)
    ids += [[dice.randrange(theirs.get_vocab_size()) for _ in range(dice.randint(1, 20))] for _ in range(3000)]
    theirs.add_special_tokens([AddedToken(name, normalized=False) for name in (*SPECIALS, "<mask>")])
    decoded = [theirs.decode(i, skip_special_tokens=True) for i in ids]
    ours = attn("text", vocab, merges, [" ".join(map(str, i)) for i in ids])
    compare("text, hostile and random ids", ids, ours, [escaped(text) for text in decoded])
    compare("ids with special tokens, hostile", hostile, numbers(attn("specials", vocab, merges, hostile)), ids_of(theirs, hostile))


if __name__ == "__main__":
    main()
