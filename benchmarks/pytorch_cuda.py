"""GPU benchmark for PyTorch: the base Transformer and the Linformer, optimised as far as PyTorch allows.

Width 512, 6+6 layers, 8 heads, inner 2048, vocabulary 50,272, post-norm, dropout 0.1, one embedding for both languages;
bfloat16 by autocast, fused AdamW. Prints one JSON line per measurement, with the names of benchmarks/transformer_cuda.cu;
`seconds` is a median:

  train, linformer32, linformer64    a training step over ragged batches of 88 sentences, mean over the batches
  fixed                              a training step over 88 sentences of 256 tokens on both sides
  attention 88x64 [causal] ...       scaled_dot_product_attention, forward and backward, in a CUDA graph
  attention 88x64 tf32 ...           the same in float, with products in TF32
  encoder 128 [linformer] ...        inference over 65,536 tokens in sentences of that length
  floor train, floor fixed           only the matrix products of a training step, in a CUDA graph
"""
import argparse
import functools
import gc
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from pytorch_cuda_model import HEADS, INNER, LAYERS, PAD, VOCABULARY, WIDTH, Transformer
from pytorch_transformer import lengths

DEVICE = "cuda"
FIRST_WORD, SENTENCES, FIXED_LENGTH, ENCODER_TOKENS = 4, 88, 256, 65536
ATTENTION_SIZES = ((88, 64), (88, 256), (32, 1024), (4, 8192))
ENCODER_LENGTHS = (128, 1024, 16384)


def padded_batch(i):
    """Source, target and source mask, and the number of tokens without padding."""
    counts = lengths(2 * i + 1, SENTENCES, 31), lengths(2 * i + 2, SENTENCES, 59)
    generator = torch.Generator().manual_seed(i)
    sides = []
    for side in counts:
        tokens = torch.randint(FIRST_WORD, VOCABULARY, (SENTENCES, max(side)), generator=generator)
        sides.append(tokens.masked_fill_(torch.arange(max(side)) >= torch.tensor(side)[:, None], PAD).to(DEVICE))
    source, target = sides
    return (source, target, source != PAD), sum(counts[0]) + sum(counts[1])


def pack(source, target, real):
    """The same batch without padding. Drops the last token of targets and the first of labels."""
    def layout(counts):
        positions = torch.cat([torch.arange(int(count), device=DEVICE) for count in counts])
        return positions, (F.pad(counts.cumsum(0), (1, 0)).to(torch.int32), int(counts.max()))
    counts = (target != PAD).sum(1) - 1
    keep = torch.arange(target.shape[1] - 1, device=DEVICE) < counts[:, None]
    return (source[real], *layout(real.sum(1)), target[:, :-1][keep], *layout(counts), target[:, 1:][keep])


def training_step(model, loss_of, **adam):
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True, **adam)

    def step(batch):
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = loss_of(*batch)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
    return step


def pass_seconds(step, data, repeats):
    """Median seconds per step over passes of the data, synchronised after each pass."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        for batch in data:
            step(batch)
        torch.cuda.synchronize()
        seconds.append((time.perf_counter() - start) / len(data))
    return statistics.median(seconds)


def train(mode, k, options):
    model = Transformer(k).to(DEVICE)
    data, tokens = zip(*(padded_batch(i) for i in range(6 if options.quick else 24)))
    loss_of = model.loss
    if mode.startswith("packed"):
        data, loss_of = [pack(*batch) for batch in data], model.packed_loss
    if mode.endswith("compile"):
        loss_of = torch.compile(loss_of, dynamic=True)
    step = training_step(model, loss_of, betas=(0.9, 0.98))
    for batch in (*data, *data[:6]):
        step(batch)
    torch.cuda.synchronize()
    return {"seconds": pass_seconds(step, data, 3 if options.quick else 5), "tokens": statistics.mean(tokens)}


def train_fixed(mode, k, options):
    torch.cuda.reset_peak_memory_stats()
    model = Transformer(k).to(DEVICE)
    batch = [torch.randint(FIRST_WORD, VOCABULARY, (SENTENCES, FIXED_LENGTH + more), device=DEVICE) for more in (0, 1)]
    step = training_step(model, torch.compile(model.loss) if mode == "compile" else model.loss, capturable=True)
    for _ in range(5):
        step(batch)
    torch.cuda.synchronize()
    seconds = pass_seconds(step, [batch], 3 if options.quick else 10)
    return {"seconds": seconds, "target_tokens_per_second": SENTENCES * FIXED_LENGTH / seconds,
            "memory_gib": torch.cuda.max_memory_allocated() / 2**30, "reserved_gib": torch.cuda.max_memory_reserved() / 2**30}


def seconds_in_turn(works, rounds):
    """Median seconds of each work by CUDA events. They take turns: the GPU's frequency follows the load, so it is the same for all."""
    seconds = [[] for _ in works]
    for _ in range(rounds):
        for work, measured in zip(works, seconds):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            work()
            end.record()
            torch.cuda.synchronize()
            measured.append(start.elapsed_time(end) * 1e-3)
    return [statistics.median(measured) for measured in seconds]


def graph_seconds(work, repeats):
    """Median seconds of work captured in a CUDA graph, without host cost."""
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return seconds_in_turn([graph.replay], repeats)[0]


def attention(backend, sentences, length, causal, options, dtype=torch.bfloat16):
    shape = (sentences, HEADS, length, WIDTH // HEADS)
    operands = [torch.randn(shape, device=DEVICE, dtype=dtype, requires_grad=True) for _ in range(3)]
    dy = torch.randn(shape, device=DEVICE, dtype=dtype)
    repeats = 3 if options.quick else 20

    def forward():
        return F.scaled_dot_product_attention(*operands, is_causal=causal)
    with sdpa_kernel([backend]):
        with torch.no_grad():
            ahead = graph_seconds(forward, repeats)
        return {"seconds": graph_seconds(lambda: torch.autograd.grad(forward(), operands, dy), repeats), "forward_seconds": ahead}


@torch.no_grad()
def encoders(k, options):
    """Seconds of an encoder's forward pass by sentence length."""
    def encoder(length):
        model = Transformer(k, length, encoder_only=True).to(DEVICE).to(torch.bfloat16).eval()
        text = torch.randint(FIRST_WORD, VOCABULARY, (ENCODER_TOKENS // length, length), device=DEVICE)
        return lambda: model.encode(text)
    works = [encoder(length) for length in ENCODER_LENGTHS]
    for work in works * 3:
        work()
    return dict(zip(ENCODER_LENGTHS, seconds_in_turn(works, 3 if options.quick else 10)))


@torch.no_grad()
def floor(source, target, options):
    """The matrix products of all linear layers for these row counts: forward and both gradients."""
    attend, feed_forward = [(3 * WIDTH, WIDTH), (WIDTH, WIDTH)], [(INNER, WIDTH), (WIDTH, INNER)]
    encoder = [(source, *shape) for shape in attend + feed_forward]
    decoder = [(target, *shape) for shape in attend + [(WIDTH, WIDTH)] * 2 + feed_forward] + [(source, 2 * WIDTH, WIDTH)]
    shapes = (encoder + decoder) * LAYERS + [(target, VOCABULARY, WIDTH)]
    memory = {}

    def matrix(kind, *shape):  # one per kind and shape: the products' results are not needed
        if (kind, shape) not in memory:
            memory[kind, shape] = torch.randn(shape, device=DEVICE, dtype=torch.bfloat16)
        return memory[kind, shape]

    def products():
        for rows, out, width in shapes:
            x, weight, y = matrix("in", rows, width), matrix("in", out, width), matrix("in", rows, out)
            torch.mm(x, weight.t(), out=matrix("out", rows, out))
            torch.mm(y.t(), x, out=matrix("out", out, width))
            torch.mm(y, weight, out=matrix("out", rows, width))
    seconds = graph_seconds(products, 3 if options.quick else 20)
    flop = sum(6 * rows * out * width for rows, out, width in shapes)
    return {"seconds": seconds, "flop": flop, "tflops": flop / seconds * 1e-12, "kernels": 3 * len(shapes)}


def measurements(options):
    """(name, mode, measure) of all measurements. Slow modes that were never PyTorch's best only run with --all-modes."""
    compiled = not options.quick
    def modes(usual, more):
        return [mode for mode in usual + (more if options.all_modes else ()) if compiled or "compile" not in mode]
    for mode in modes(("eager", "packed", "packed+compile"), ("compile",)):
        yield "train", mode, lambda: train(mode, 0, options)
    for k in (32, 64):
        for mode in modes(("eager",), ("compile",)):
            yield f"linformer{k}", mode, lambda: train(mode, k, options)
    for mode in modes(("eager", "compile"), ()):
        yield "fixed", mode, lambda: train_fixed(mode, 0, options)
    for sentences, length in ATTENTION_SIZES:
        for causal in (False, True):
            for mode, backend in (("cuDNN", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION)):
                yield (f"attention {sentences}x{length}{' causal' if causal else ''}", mode,
                       lambda: attention(backend, sentences, length, causal, options))
    for sentences, length in ATTENTION_SIZES[:3]:
        for mode, backend in (("memory-efficient", SDPBackend.EFFICIENT_ATTENTION), ("products and softmax", SDPBackend.MATH)):
            yield (f"attention {sentences}x{length} tf32", mode,
                   lambda: attention(backend, sentences, length, False, options, torch.float32))
    for k, suffix in ((0, ""), (128, " linformer")):
        measured = functools.cache(lambda: encoders(k, options))
        for length in ENCODER_LENGTHS:
            yield f"encoder {length}{suffix}", "eager", lambda: {"seconds": measured()[length], "tokens": ENCODER_TOKENS}
    counts = [sum(lengths(2 * i + 1, SENTENCES, 31)) for i in range(24)], [sum(lengths(2 * i + 2, SENTENCES, 59)) for i in range(24)]
    rows = round(statistics.mean(counts[0])), round(statistics.mean(counts[1])) - SENTENCES
    yield "floor train", "matrix products", lambda: floor(*rows, options)
    yield "floor fixed", "matrix products", lambda: floor(SENTENCES * FIXED_LENGTH, SENTENCES * FIXED_LENGTH, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="name prefixes of the measurements to run, comma-separated")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, no torch.compile")
    parser.add_argument("--all-modes", action="store_true", help="also run modes that were always slower")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    print(json.dumps({"name": "machine", "mode": "PyTorch", "torch": torch.__version__}), flush=True)
    for name, mode, measure in measurements(options):
        if not name.removeprefix("floor ").startswith(tuple(options.only.split(","))):
            continue
        start = time.perf_counter()
        try:
            line = measure()
        except Exception as error:  # this machine may lack a backend or compiler
            line = {"failed": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps({"name": name, "mode": f"PyTorch {mode}", **line}), flush=True)
        print(f"{name}, {mode}: {time.perf_counter() - start:.1f} s in all", file=sys.stderr, flush=True)
        gc.collect()
        torch._dynamo.reset()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
