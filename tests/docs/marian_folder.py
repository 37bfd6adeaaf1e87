"""marian_folder.py FOLDER: writes a small MarianMT folder of random weights, in the layout of Hugging Face, without their libraries.

The biases of the output layer outweigh the rest. As no token may repeat, every translation is "ab b", which opus_mt.expected has.
"""
import json
import math
import random
import struct
import sys
from pathlib import Path

WIDTH, INNER, POSITIONS = 8, 16, 40
VOCABULARY = ["</s>", "<unk>", "\u2581", "a", "b", "\u2581ab", "\u2581b", "<pad>"]
BIASES = [20, 0, 0, 0, 0, 60, 40, 0]  # "ab", then "b", then the end


def sentencepiece_model():
    """ModelProto with repeated SentencePiece {1: piece, 2: score, 3: type}, in protobuf's wire format."""
    pieces = b""
    for piece, score, kind in [("<unk>", 0, 2), *((piece, -1, 1) for piece in VOCABULARY[2:-1])]:
        text = piece.encode()
        message = b"\x0a" + bytes([len(text)]) + text + b"\x15" + struct.pack("<f", score) + b"\x18" + bytes([kind])
        pieces += b"\x0a" + bytes([len(message)]) + message
    return pieces


def tensors():
    """Name, extents and numbers of each tensor, under the names of MarianMTModel."""
    draw = random.Random(1)

    def normal(*extents, around=0):
        return extents, [draw.gauss(around, 0.3) for _ in range(math.prod(extents))]

    def linear(name, outputs, inputs):
        yield f"{name}.weight", *normal(outputs, inputs)
        yield f"{name}.bias", *normal(outputs)

    def norm(name):
        yield f"{name}.weight", *normal(WIDTH, around=1)
        yield f"{name}.bias", *normal(WIDTH)

    for side, attentions in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "encoder_attn"])):
        layer = f"model.{side}.layers.0"
        for attention in attentions:
            for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                yield from linear(f"{layer}.{attention}.{part}", WIDTH, WIDTH)
            yield from norm(f"{layer}.{attention}_layer_norm")
        yield from linear(f"{layer}.fc1", INNER, WIDTH)
        yield from linear(f"{layer}.fc2", WIDTH, INNER)
        yield from norm(f"{layer}.final_layer_norm")
    yield "model.shared.weight", *normal(len(VOCABULARY), WIDTH)
    yield "final_logits_bias", (1, len(VOCABULARY)), BIASES


def safetensors():
    header, data = {}, b""
    for name, extents, numbers in tensors():
        begin = len(data)
        data += struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": list(extents), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
pad = VOCABULARY.index("<pad>")
(folder / "config.json").write_text(json.dumps({
    "model_type": "marian", "d_model": WIDTH, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": INNER, "decoder_ffn_dim": INNER, "activation_function": "swish",
    "scale_embedding": True, "vocab_size": len(VOCABULARY), "max_position_embeddings": POSITIONS, "eos_token_id": 0, "pad_token_id": pad,
    "decoder_start_token_id": pad, "forced_eos_token_id": 0}))
(folder / "generation_config.json").write_text(json.dumps({
    "num_beams": 1, "no_repeat_ngram_size": 1, "max_length": POSITIONS, "bad_words_ids": [[pad]], "eos_token_id": 0, "pad_token_id": pad,
    "decoder_start_token_id": pad, "forced_eos_token_id": 0}))
(folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(VOCABULARY)}))
for name in ("source.spm", "target.spm"):
    (folder / name).write_bytes(sentencepiece_model())
(folder / "model.safetensors").write_bytes(safetensors())
