"""Compares attn's SentencePiece with the original: ids, pieces and decoded text of models trained here, on text of every kind."""
# program: sentencepiece_ids
import argparse
import io
import random
import subprocess
import sys
import tempfile
import pathlib

try:
    import sentencepiece
except ImportError as missing:
    print(f"skipped: {missing}; run scripts/setup.sh test")
    sys.exit(77)

WORDS = ("the dog sleeps under an old tree and nobody knows why it will not eat potatoes today translation "
         "Straße Mädchen größer Übersetzung Donaudampfschifffahrt weiß schön Äpfel für können müßte daß "
         "élève naïve français cœur señor São Łódź žluťoučký İstanbul ğüş Ελληνικά Ωραία "
         "привет мир объявление Київ עברית שלום العربية مرحبا नमस्ते दुनिया ไทยภาษา "
         "中文 翻译 机器翻译 今天 天气 很好 我们 日本語 こんにちは カタカナ ｶﾀｶﾅ 한국어 안녕하세요 "
         "1984 3,14 2.000 ½ ² ① Ⅳ ™ … “quoted” «guillemets» - – — don't l'eau C++ a/b e-mail@x.org http://x.y/?z=1").split()
ODD = ["ＦＵＬＬ　ｗｉｄｔｈ", "ﬁ ﬂ ﬃ", "e\u0301 a\u0308 o\u0302\u0323", "\u1e9b\u0323", "\u212b \u2126", "\u0130", "㍿ ㌀ ㈱",
       "😀 👩‍👩‍👧‍👦 🇩🇪 👍🏽", "☺︎ ☺️", "\u200b\u200d\ufeff zero", "\u00a0nb\u202fsp\u3000", "tab\tline\nreturn\rfeed\fx", "\u2028\u2029",
       "\x00nul\x00", "\x01\x02\x1f\x7f\x80\x9f", "\u2581already▁marked▁▁", "<unk>", "<s> text </s>", "<0x41>", "<user> x<user>y <ext>", "<",
       ">>deu<< Guten Tag", "ﷺ", "a" * 300, "▁", "", " ", "   ", "\t \n", "  lead and trail  ", "many    spaces   inside", "\ufffd",
       "\U0010ffff \U000e0001", "가각", "\u1100\u1161", "ﾊﾟ ｶﾞ", "ＡＢＣ１２３", "ª º", "…...", "e" + "\u0301" * 50]
BAD = [b"\xff", b"ab\xc3", b"\xc3\x28x", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\xaf", b"\xe4\xb8", b"x \xf0\x9f\x98 y", b"\x80\x80 \xbf",
       b"\xf4\x90\x80\x80", b"good \xfe bad", b"\xef\xbf\xbd"]


def texts(count):
    draw = random.Random(5)
    lines = [draw.choice((" ", " ", " ", "  ", "")).join(draw.choices(WORDS, k=draw.randint(1, 14))) for _ in range(count)]
    some = [chr(code) for code in range(0x20, 0x3100)] + [chr(code) for code in range(0xf900, 0x10000)] + list("😀🎉🇫👩𝔸𝟙𐍈")
    characters = ["".join(draw.choices(some, k=draw.randint(1, 20))) for _ in range(count)]
    mixed = [draw.choice(ODD).join((a, draw.choice(ODD))) for a in lines[:count // 2]]
    return [text.encode() for text in lines + characters + mixed + ODD + WORDS] + BAD + [
        bytes(draw.randrange(256) for _ in range(draw.randint(1, 12))) for _ in range(count // 4)] + [
        a.encode() + draw.choice(BAD) for a in lines[:200]] + [
        "".join(word[draw.randint(0, 2):draw.randint(2, 9)] for word in draw.choices(WORDS, k=40000)).encode()]


def train(**options):
    draw = random.Random(3)
    made = [a[:draw.randint(1, 6)] + b[draw.randint(0, 4):] for a, b in (draw.choices(WORDS, k=2) for _ in range(2000))]
    corpus = [" ".join(draw.choices(WORDS + made, k=10)) for _ in range(1500)]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus), model_writer=model, minloglevel=2, num_threads=2, **options)
    return model.getvalue()


MODELS = {
    "unigram": {"vocab_size": 500},
    "unigram, identity": {"vocab_size": 400, "normalization_rule_name": "identity"},
    "unigram, bytes": {"vocab_size": 650, "byte_fallback": True, "character_coverage": 0.98},
    "unigram, nfkc_cf, symbols": {"vocab_size": 400, "normalization_rule_name": "nfkc_cf", "pad_id": 3, "unk_id": 1, "bos_id": -1, "eos_id": 0,
                                  "user_defined_symbols": ["<user>", "<ext>", "ＦＵ"], "control_symbols": ["<ctl>"], "character_coverage": 0.98},
    "unigram, suffix": {"vocab_size": 400, "treat_whitespace_as_suffix": True, "unk_surface": "??"},
    "unigram, spaces kept": {"vocab_size": 400, "remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True,
                             "split_by_whitespace": False},
    "unigram, no prefix": {"vocab_size": 400, "add_dummy_prefix": False, "character_coverage": 0.98, "required_chars": "<>"},
    "bpe": {"model_type": "bpe", "vocab_size": 500, "character_coverage": 0.98},
    "bpe, identity, bytes": {"model_type": "bpe", "vocab_size": 700, "normalization_rule_name": "identity", "byte_fallback": True},
    "bpe, symbols, spaces kept": {"model_type": "bpe", "vocab_size": 450, "user_defined_symbols": ["<user>", "dog", "中"],
                                  "remove_extra_whitespaces": False, "add_dummy_prefix": False, "normalization_rule_name": "nmt_nfkc_cf"},
}


def unused(serialized):
    """The model with every third of its last pieces not in use, as a threshold on their counts leaves them."""
    def varint(at):
        number = shift = 0
        while True:
            byte = serialized[at]
            number, shift, at = number | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return number, at

    changed, at, count = b"", 0, 0
    while serialized[at:at + 1] == b"\x0a":  # field 1: the pieces come first
        length, start = varint(at + 1)
        piece = serialized[start:start + length]
        count += 1
        if count > 100 and count % 3 == 0:
            piece += b"\x18\x05"  # field 3, the kind: the last one counts
        assert len(piece) < 128
        changed += bytes([0x0a, len(piece)]) + piece
        at = start + length
    return changed + serialized[at:]


def attn(program, what, path, lines):
    done = subprocess.run([program, what, path], input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"failed: {what} of {path}: {done.stderr}")
    return done.stdout.split("\n")[:-1]


def compare(name, what, asked, ours, theirs):
    if len(ours) != len(theirs):
        sys.exit(f"failed: {name}: {len(ours)} answers for {len(theirs)} questions")
    wrong = [case for case in zip(asked, ours, theirs) if case[1] != case[2]]
    for question, our, their in wrong[:5]:
        print(f"{name}, {what}: {question!r}\n  attn          {our!r}\n  sentencepiece {their!r}")
    if wrong:
        sys.exit(f"failed: {name}: {what} of {len(wrong)} of {len(asked)} differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the built sentencepiece_ids")
    program = parser.parse_args().program
    lines = texts(2000)
    asked = [line.hex() for line in lines]
    models = {name: train(**options) for name, options in MODELS.items()}
    models["bpe, unused pieces"] = unused(models["bpe"])
    models["unigram, unused pieces"] = unused(models["unigram"])

    with tempfile.TemporaryDirectory() as folder:
        for name, serialized in models.items():
            path = pathlib.Path(folder) / "model.spm"
            path.write_bytes(serialized)
            original = sentencepiece.SentencePieceProcessor(model_proto=serialized)
            ids = [original.encode(line) for line in lines]
            ours = [[int(number) for number in line.split()] for line in attn(program, "ids", path, asked)]
            compare(name, "ids", lines, ours, ids)
            unknown = sum(original.unk_id() in sentence for sentence in ids)

            pieces = [[piece.encode().hex() for piece in original.encode(line, out_type=str)] for line in lines]
            compare(name, "pieces", lines, [line.split() for line in attn(program, "pieces", path, asked)], pieces)

            draw = random.Random(7)
            ids += [draw.choices(range(original.vocab_size()), k=draw.randint(0, 12)) for _ in range(2000)]
            texts_of = [original.decode(sentence).encode().hex() or "-" for sentence in ids]
            compare(name, "text", ids, attn(program, "text", path, [" ".join(map(str, sentence)) for sentence in ids]), texts_of)

            joined = pieces[:3000] + [[draw.choice(["▁", "▁x", "𐀀", "<unk>", "zebra", "</s>"]).encode().hex() for _ in range(4)] for _ in range(200)]
            strings = [[bytes.fromhex(piece).decode() for piece in sentence] for sentence in joined]
            compare(name, "joined pieces", strings, attn(program, "joined", path, [" ".join(sentence) for sentence in joined]),
                    [original.decode_pieces(sentence).encode().hex() or "-" for sentence in strings])
            print(f"{name}: {original.vocab_size()} pieces; ids and pieces of {len(lines)} texts, {unknown} with unknown characters, "
                  f"and the text of {len(ids)} sentences of ids are equal")


if __name__ == "__main__":
    main()
