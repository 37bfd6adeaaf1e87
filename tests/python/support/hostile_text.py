"""Sentences that a metric may stumble over: white space of every kind, punctuation, numbers, bytes that are no UTF-8, CJK, emoji, combining marks."""
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
MORE_WORDS = ["👩‍👩‍👧", "🇩🇪", "Z̤͔̈́a̡l", "e\u0301\u0302", "한국어", "私は学生です。", "(hi)", "(hi", "hi)", "«oui»", "a" * 300, "x", "é", "!", "!!", "?!"]
ALPHABET = list("ab01.,-&;<>\"' \n\t") + ["é", "…", "\u00a0", "\u2003", "\u200b", "&amp;", "&lt;"]
PLAIN = ["the", "a", "man", "dog", "sees", "old", "new", "house", ".", ",", "12", "3.5", "well-known"]


def sentence(rng, words, separators, most):
    return "".join(rng.choice(words) + rng.choice(separators) for _ in range(rng.randint(0, most)))


def disturb(rng, reference, words):
    """The sentence with up to four words replaced, added, left out or exchanged."""
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
    """Pairs of hypotheses and references."""
    yield [""], [""]
    yield ["", ""], ["a b c d", "e"]
    yield ["a b c d", "e"], ["", ""]
    yield [" \u00a0\u2003 "], ["\u3000"]
    yield ["one"], ["one"]
    yield ["x"], ["x"]
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


def random_set(rng, i, systems=1, references=1):
    """Lists of that many texts, systems and references, all of as many sentences."""
    words, separators = [(PLAIN, [" "]), (WORDS + MORE_WORDS, [" ", " ", "", "\t"]), (WORDS, SPACES + NO_SPACES + [""]), (ALPHABET, [""])][i % 4]
    count, most = rng.choice([1, 2, 5, 40]), rng.choice([1, 4, 12, 40])
    first = [sentence(rng, words, separators, most) for _ in range(count)]

    def another(near):
        if rng.random() < near:
            return [disturb(rng, line, words) for line in first]
        return [sentence(rng, words, separators, most) for _ in range(count)]

    return [another(0.8) for _ in range(systems)], [first] + [another(0.8) for _ in range(references - 1)]


def write(path, sentences):
    """For the test programs: every sentence ends with a zero byte."""
    path.write_bytes(b"".join(s.encode("utf-8", "surrogateescape") + b"\0" for s in sentences))
