"""Compares folders of Hugging Face's MarianMTModel, of random weights, opened by attn: source ids, log-probabilities, greedy and beam search
with scores, limits."""
# program: marian_translations
import argparse
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

try:
    import sentencepiece
    import torch
    from transformers import GenerationConfig, MarianConfig, MarianMTModel, MarianTokenizer
except ImportError as missing:
    print(f"skipped: {missing}; run scripts/setup.sh test")
    sys.exit(77)
warnings.filterwarnings("ignore")  # sacremoses is recommended, but not used

ENGLISH = "the old dog sleeps under a tree and nobody knows why it will not eat its potatoes today because they are cold".split()
GERMAN = "der alte Hund schläft unter einem Baum und niemand weiß warum er heute seine Kartoffeln nicht frißt weil sie kalt sind".split()
MOST = 40  # tokens of a translation, with its begin and end


def train(words, seed, **options):
    draw = random.Random(seed)
    made = words + [a[:3] + b[2:] for a, b in (draw.choices(words, k=2) for _ in range(300))]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter([" ".join(draw.choices(made, k=9)) for _ in range(800)]), model_writer=model,
                                             vocab_size=120, minloglevel=2, num_threads=1, **options)
    return model.getvalue()


def write_tokenizer(folder, separate):
    """source.spm, target.spm and their vocabularies in an order of its own, with codes of languages; the tokenizer and its sizes."""
    (folder / "source.spm").write_bytes(train(ENGLISH, 1))
    (folder / "target.spm").write_bytes(train(GERMAN, 2, model_type="bpe" if separate else "unigram"))
    pieces = [[p.id_to_piece(i) for i in range(p.vocab_size())] for p in
              (sentencepiece.SentencePieceProcessor(model_file=str(folder / name)) for name in ("source.spm", "target.spm"))]
    names = [pieces[0], pieces[1]] if separate else [pieces[0] + pieces[1]]
    for name, tokens in zip(("vocab.json", "target_vocab.json"), names):
        tokens = [token for token in dict.fromkeys(tokens) if token not in ("<unk>", "<s>", "</s>")]
        random.Random(3).shuffle(tokens)
        tokens = ["</s>", "<unk>", ">>deu<<", ">>nld<<", *tokens]
        while separate and len(tokens) < 140:
            tokens.append(f"▁word{len(tokens)}")
        (folder / name).write_text(json.dumps({token: i for i, token in enumerate([*tokens, "<pad>"])}, indent=2))
    files = {"source_spm": str(folder / "source.spm"), "target_spm": str(folder / "target.spm"), "vocab": str(folder / "vocab.json")}
    if separate:
        files |= {"target_vocab_file": str(folder / "target_vocab.json"), "separate_vocabs": True}
    tokenizer = MarianTokenizer(**files)
    return tokenizer, [len(json.loads((folder / name).read_text())) for name in ("vocab.json", "target_vocab.json")[:len(names)]]


def lively(model, end):
    """Random weights whose translations are neither dull nor endless: what a layer adds to all words alike is small, attention is sharp, and
    the last norm's gains are of both signs, else the word just written would be the most probable next one, the tables being tied."""
    for name, parameter in model.named_parameters():
        if "embed_positions" in name:
            continue
        parameter.normal_()
        if parameter.dim() == 1:
            parameter.mul_(0.1).add_(1 if name.endswith("norm.weight") else 0)
        else:
            sharp = 1.5 if "q_proj" in name or "k_proj" in name else 0.8 if "encoder_attn.out_proj" in name else 1.4 if "v_proj" in name else 2
            parameter.mul_((1 if "embed" in name or "shared" in name else sharp) / parameter.shape[-1] ** 0.5)
        if name.endswith("fc2.weight"):
            parameter.sub_(parameter.mean(-1, keepdim=True)).mul_(0.7)
    model.model.decoder.layers[-1].final_layer_norm.weight.normal_().mul_(3)
    model.final_logits_bias.normal_().mul_(0.3)
    model.get_output_embeddings().weight[0] = 0  # the end is always as probable as a word of this logit
    model.final_logits_bias[0, 0] = end


def translations(model, tokenizer, lines):
    """What transformers makes of the lines with a beam of 1, of 4, and as the folder says (0): by beam, the words' ids, the texts and the scores.
    None where they are dull: most of them alike, or few that end by themselves."""
    found = {}
    padded = tokenizer(lines, return_tensors="pt", padding=True)
    for beam, how in ((1, {"num_beams": 1}), (4, {"num_beams": 4, "length_penalty": 1.0}), (0, {})):
        if beam == 4 and model.generation_config.no_repeat_ngram_size and model.generation_config.renormalize_logits:
            continue  # with renormalize_logits transformers gives the probability of repetitions to the others; greedily that changes nothing
        with torch.no_grad():
            made = model.generate(**padded, **how, return_dict_in_generate=True, output_scores=True)
        tokens = words(made.sequences, tokenizer)
        if len({tuple(sentence) for sentence in tokens}) <= len(lines) / 3 or ended(tokens) <= len(lines) / 4:
            return None
        scores = getattr(made, "sequences_scores", None)
        found[beam] = tokens, tokenizer.batch_decode(made.sequences, skip_special_tokens=True, use_source_tokenizer=False), None if scores is None else scores.tolist()
    return found


def words(sequences, tokenizer):
    return [[token for token in sentence if token not in (0, tokenizer.pad_token_id)] for sentence in sequences.tolist()]


def ended(sentences):
    return sum(len(sentence) < MOST - 2 for sentence in sentences)


def make(folder, lines, seed, shape, activation, separate=False, end=6.5, renormalize=True, forbidden=(), **generation):
    encoder, decoder, width, heads, inner = shape
    tokenizer, sizes = write_tokenizer(folder, separate)
    pad = tokenizer.pad_token_id
    config = MarianConfig(vocab_size=sizes[0], decoder_vocab_size=sizes[-1], encoder_layers=encoder, decoder_layers=decoder, d_model=width,
                          encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=inner, decoder_ffn_dim=inner,
                          activation_function=activation, scale_embedding=True, max_position_embeddings=512, pad_token_id=pad, eos_token_id=0,
                          decoder_start_token_id=pad, forced_eos_token_id=0, share_encoder_decoder_embeddings=not separate)
    model = MarianMTModel(config).eval()
    model.generation_config = GenerationConfig(pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=0,
                                               bad_words_ids=[[pad], *([word] for word in forbidden)], max_length=MOST, renormalize_logits=renormalize, **generation)
    for torch_seed in range(seed, seed + 40):  # which weights are not dull depends on the vocabulary, and so on sentencepiece's version
        torch.manual_seed(torch_seed)
        with torch.no_grad():
            lively(model, end)
        expected = translations(model, tokenizer, lines)
        if expected:
            model.save_pretrained(folder)
            return model, tokenizer, expected
    sys.exit(f"failed: the translations of all weights from seed {seed} to {torch_seed} are dull")


def attn(program, what, folder, lines, *more):
    done = subprocess.run([program, what, folder, *map(str, more)], input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"failed: {what}: {done.stderr}")
    return done.stdout.split("\n")[:-1]


def ids_of(lines):
    return [[int(number) for number in line.split()] for line in lines]


def same(what, asked, ours, theirs):
    assert len(ours) == len(theirs), f"{what}: {len(ours)} answers for {len(theirs)} questions"
    wrong = [case for case in zip(asked, ours, theirs) if case[1] != case[2]]
    for question, our, their in wrong[:3]:
        print(f"{what}: {question!r}\n  attn         {our!r}\n  transformers {their!r}")
    if wrong:
        sys.exit(f"failed: {what}: {len(wrong)} of {len(asked)} differ")


def lines_to_translate():
    draw = random.Random(9)
    lines = [" ".join(draw.choices(ENGLISH, k=draw.randint(1, 12))) for _ in range(24)]
    return lines + [">>deu<< the dog", ">>nld<<sleeps", "Ünknown 中文 and 😀😀 words", "  spaces   inside ", "ＦＵＬＬ dog…", "dog", "potatoes, 42!"]


def compare(program, name, folder, lines, model, tokenizer, expected):
    theirs = [tokenizer(line).input_ids for line in lines]
    assert all(ids[-1] == 0 for ids in theirs)
    same(f"{name}: source ids", lines, ids_of(attn(program, "ids", folder, lines)), [ids[:-1] for ids in theirs])

    draw = random.Random(4)
    targets = [draw.choices(range(4, 100), k=draw.randint(0, 9)) for _ in range(8)]
    asked = [f"{' '.join(map(str, source[:-1]))} | {' '.join(map(str, target))}" for source, target in zip(theirs, targets)]
    with torch.no_grad():
        logits = torch.cat([model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[tokenizer.pad_token_id, *target]])).logits[0]
                            for source, target in zip(theirs, targets)])
    assert logits.std() > 1
    rows = torch.tensor([[float(number) for number in line.split()] for line in attn(program, "logits", folder, asked)], dtype=torch.float64)
    error = (rows - torch.log_softmax(logits.double(), -1)).abs().max().item()
    assert error < 1e-4, f"{name}: log-probabilities differ by {error}"

    worst = 0
    for beam, (tokens, texts, scores) in expected.items():
        output = translated(program, folder, lines, beam)
        same(f"{name}: beam {beam}", lines, [ids for _, ids, _ in output], tokens)
        same(f"{name}: text, beam {beam}", lines, [text for _, _, text in output], texts)
        if scores:
            worst = max(worst, max(abs(ours - theirs) for (ours, _, _), theirs in zip(output, scores)))
    assert worst < 1e-4, f"{name}: scores differ by {worst}"
    print(f"{name}: source ids of {len(lines)} lines equal; {len(rows)} rows of log-probabilities at most {error:.1e} apart (logits of "
          f"{logits.abs().max():.1f}); scores at most {worst:.1e} apart, translations equal, of a beam of {', of '.join(map(str, expected))} (0: as the folder says; {ended(tokens)} end by themselves)")


def translated(program, folder, lines, beam):
    """Of each line the score, the ids and the text."""
    found = [line.split("| ", 2) for line in attn(program, "translate", folder, lines, beam)]
    return [(float(score), [int(number) for number in ids.split()], text) for score, ids, text in found]


def compare_limits(program, folder, lines, model, tokenizer):
    """How long translations become, by what generation_config.json says of it."""
    pad = tokenizer.pad_token_id
    lines = lines[:9]
    padded = tokenizer(lines, return_tensors="pt", padding=True)
    for how in ({}, {"max_length": 2}, {"max_length": 3}, {"max_new_tokens": 1}, {"max_new_tokens": 7}, {"min_length": 30}, {"num_beams": 3}, {"num_beams": 3, "max_length": 2}):
        for forced in (0, None):
            model.generation_config = GenerationConfig(pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=forced, bad_words_ids=[[pad]], **how)
            model.generation_config.save_pretrained(folder)
            with torch.no_grad():
                theirs = words(model.generate(**padded), tokenizer)
            same(f"limit {how}, forced end {forced}", lines, [ids for _, ids, _ in translated(program, folder, lines, 0)], theirs)
    print("limits equal")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    lines = lines_to_translate()
    tiny, base = (6, 2, 256, 8, 1536), (6, 6, 512, 8, 2048)
    draw = random.Random(6)
    forbidden = draw.sample(range(2, 150), 40)
    for name, seed, arguments in (("tiny, swish", 1, dict(shape=tiny, activation="swish", num_beams=6, length_penalty=0.6)),
                                  ("tiny, relu, separate vocabularies", 2, dict(shape=tiny, activation="relu", separate=True, num_beams=3, early_stopping=True)),
                                  ("tiny, gelu", 4, dict(shape=tiny, activation="gelu", end=7.2, num_beams=4, early_stopping="never")),
                                  ("tiny, relu, some words forbidden", 5, dict(shape=tiny, activation="relu", num_beams=1, no_repeat_ngram_size=2, min_length=7)),
                                  ("tiny, relu, forbidden words keep their probability", 6, dict(shape=tiny, activation="relu", num_beams=4, renormalize=False, forbidden=forbidden[:20], suppress_tokens=forbidden[20:])),
                                  ("tiny, relu, forbidden words lose it", 6, dict(shape=tiny, activation="relu", num_beams=4, forbidden=forbidden[:20], suppress_tokens=forbidden[20:])),
                                  ("tiny, relu, min_length and no_repeat with a beam", 7, dict(shape=tiny, activation="relu", num_beams=4, renormalize=False, no_repeat_ngram_size=2, min_length=7)),
                                  ("base, swish", 3, dict(shape=base, activation="swish", end=7.2, num_beams=4))):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            model, tokenizer, expected = make(folder, lines, seed, **arguments)
            compare(program, name, folder, lines, model, tokenizer, expected)
            if name == "tiny, swish":
                compare_limits(program, folder, lines, model, tokenizer)


if __name__ == "__main__":
    main()
