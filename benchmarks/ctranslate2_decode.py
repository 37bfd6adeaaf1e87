"""CPU decoding benchmark for CTranslate2, with the same workload as benchmarks/decode_cpu.cpp. Prints one JSON line per
measurement.
Needs: pip install ctranslate2 numpy"""
import argparse
import json
import math
import random
import tempfile
import time
from pathlib import Path

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec, common_spec

WIDTH, INNER, LAYERS, HEADS, VOCABULARY, STEPS = 512, 2048, 6, 8, 32000, 59


def base_model():
    """Transformer base with random weights: post-norm, ReLU, one shared embedding table."""
    drawn = np.random.default_rng(0)
    spec = TransformerSpec.from_config((LAYERS, LAYERS), HEADS, pre_norm=False, activation=common_spec.Activation.RELU)

    def matrix(rows, cols):
        return (drawn.standard_normal((rows, cols)) / math.sqrt(cols)).astype(np.float32)

    def linear(layer, out, width):
        layer.weight, layer.bias = matrix(out, width), np.zeros(out, np.float32)

    def norm(layer):
        layer.gamma, layer.beta = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)

    rates = np.exp(np.arange(WIDTH // 2) * (-math.log(10000.0) / (WIDTH // 2 - 1)))
    angles = np.arange(512)[:, None] * rates[None]
    table, positions = matrix(VOCABULARY, WIDTH), np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = spec.decoder.projection.weight = table
    spec.encoder.position_encodings.encodings = spec.decoder.position_encodings.encodings = positions
    spec.decoder.projection.bias = np.zeros(VOCABULARY, np.float32)
    for part in (spec.encoder, spec.decoder):
        for layer in part.layer:
            linear(layer.self_attention.linear[0], 3 * WIDTH, WIDTH)
            linear(layer.self_attention.linear[1], WIDTH, WIDTH)
            norm(layer.self_attention.layer_norm)
            if part is spec.decoder:
                linear(layer.attention.linear[0], WIDTH, WIDTH)
                linear(layer.attention.linear[1], 2 * WIDTH, WIDTH)
                linear(layer.attention.linear[2], WIDTH, WIDTH)
                norm(layer.attention.layer_norm)
            linear(layer.ffn.linear_0, INNER, WIDTH)
            linear(layer.ffn.linear_1, WIDTH, INNER)
            norm(layer.ffn.layer_norm)
    words = ["<unk>", "<s>", "</s>"] + [f"w{i}" for i in range(3, VOCABULARY)]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.add_source_eos = spec.config.add_source_bos = False
    return spec


def lengths(seed, count, mean):
    """The same lengths as in benchmarks/workload.hpp."""
    state = seed

    def uniform():
        nonlocal state
        state = (6364136223846793005 * state + 1442695040888963407) & (2**64 - 1)
        return ((state >> 11) + 0.5) / 2**53

    drawn = []
    for _ in range(count):
        normal = math.sqrt(-2 * math.log(uniform())) * math.cos(2 * math.pi * uniform())
        drawn.append(max(3, min(256, round(math.exp(math.log(mean) - 0.18 + 0.6 * normal)))))
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "ctranslate2_base", help="cache folder for the models")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--batches", default="1,8,32,64")
    parser.add_argument("--beams", default="1,4")
    parser.add_argument("--modes", default="float32,int8")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for mode in options.modes.split(","):
        folder = options.folder / mode
        if not (folder / "model.bin").exists():
            folder.mkdir(parents=True, exist_ok=True)
            spec = base_model()
            spec.validate()
            spec.optimize(quantization=None if mode == "float32" else mode)
            spec.save(str(folder))
        translator = ctranslate2.Translator(str(folder), device="cpu", compute_type=mode, intra_threads=options.threads, inter_threads=1)
        for beam in map(int, options.beams.split(",")):
            for batch in map(int, options.batches.split(",")):
                words = random.Random(1)
                source = [[f"w{words.randrange(4, VOCABULARY)}" for _ in range(n)] for n in ([31] if batch == 1 else lengths(1, batch, 31))]
                wall = cores = float("inf")
                for run in range(options.runs + 1):
                    start, before = time.perf_counter(), time.process_time()
                    found = translator.translate_batch(
                        source, beam_size=beam, min_decoding_length=STEPS, max_decoding_length=STEPS, max_batch_size=0)
                    if run:
                        wall, cores = min(wall, time.perf_counter() - start), min(cores, time.process_time() - before)
                    assert all(len(one.hypotheses[0]) == STEPS for one in found)
                print(json.dumps({"mode": mode, "beam": beam, "batch": batch, "seconds": wall, "core_seconds": cores,
                                  "version": ctranslate2.__version__}), flush=True)


if __name__ == "__main__":
    main()
