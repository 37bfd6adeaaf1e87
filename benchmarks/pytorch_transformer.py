"""CPU benchmark for PyTorch: training steps and greedy decoding of a Transformer, optimised as far as PyTorch allows.

Width 256, 3+3 layers, 4 heads, inner 1024, vocabulary 8,000, post-norm, dropout 0.1, float32, no shared weights. Prints one
JSON line per measurement. `seconds` is the median over the repeats of the time of one training step (mean over the batches)
or of one decoding of all sentences, `cpu_seconds` the processor time of all threads in it (if it is much less than seconds
times threads, other programs used the cores). `tokens` excludes padding: source and target tokens in training, generated
tokens in decoding.
"""
import argparse
import json
import math
import os
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, INNER, LAYERS, VOCABULARY, DROPOUT = 256, 4, 1024, 3, 8000, 0.1
PAD, BEGIN, FIRST_WORD = 1, 2, 4
LONGEST = 257


def lengths(seed, count, mean):
    """`count` sentence lengths from 3 to 256, log-normal with sigma 0.6; portable 64-bit arithmetic."""
    state = seed

    def uniform():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state // 2**11 + 0.5) / 2**53

    drawn = []
    for _ in range(count):
        radius = math.sqrt(-2 * math.log(uniform()))
        normal = radius * math.cos(2 * math.pi * uniform())
        drawn.append(min(256, max(3, round(math.exp(math.log(mean) - 0.18 + 0.6 * normal)))))
    return drawn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.queries, self.keys_values = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, memory, mask=None, causal=False):
        queries = self.queries(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        keys, values = self.keys_values(memory).unflatten(-1, (2, HEADS, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, is_causal=causal)
        return self.out(mixed.transpose(1, 2).flatten(2))


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, mask=None, causal=False):
        queries, keys, values = self.project(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, is_causal=causal)
        return self.out(mixed.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x):
        return self.down(F.relu(self.up(x)))


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.feed_forward = SelfAttention(), FeedForward()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, mask):
        x = self.norms[0](x + self.dropout(self.attention(x, mask)))
        return self.norms[1](x + self.dropout(self.feed_forward(x)))


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attention, self.cross_attention, self.feed_forward = SelfAttention(), Attention(), FeedForward()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, memory, mask):
        x = self.norms[0](x + self.dropout(self.self_attention(x, causal=True)))
        x = self.norms[1](x + self.dropout(self.cross_attention(x, memory, mask)))
        return self.norms[2](x + self.dropout(self.feed_forward(x)))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.source_embedding, self.target_embedding = (nn.Embedding(VOCABULARY, WIDTH) for _ in range(2))
        self.encoder = nn.ModuleList(EncoderLayer() for _ in range(LAYERS))
        self.decoder = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))
        self.output = nn.Linear(WIDTH, VOCABULARY)
        self.dropout = nn.Dropout(DROPOUT)
        angles = torch.arange(LONGEST)[:, None] / 10000 ** (torch.arange(0, WIDTH, 2) / WIDTH)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).flatten(1))

    def embed(self, embedding, tokens, first=0):
        positions = self.positions[first : first + tokens.shape[1]]
        return self.dropout(embedding(tokens) * math.sqrt(WIDTH) + positions)

    def encode(self, source, mask):
        x = self.embed(self.source_embedding, source)
        for layer in self.encoder:
            x = layer(x, mask)
        return x

    def loss(self, source, mask, target, labels, real=None):
        """Mean cross-entropy of the labels that are not padding; `real` selects their rows before the output layer."""
        memory = self.encode(source, mask)
        x = self.embed(self.target_embedding, target)
        for layer in self.decoder:
            x = layer(x, memory, mask)
        x = x.flatten(0, 1)
        if real is not None:
            return F.cross_entropy(self.output(x[real]), labels.flatten()[real])
        return F.cross_entropy(self.output(x), labels.flatten(), ignore_index=PAD)


def padded(counts, generator):
    tokens = torch.randint(FIRST_WORD, VOCABULARY, (len(counts), max(counts)), generator=generator)
    return tokens.masked_fill_(torch.arange(max(counts)) >= torch.tensor(counts)[:, None], PAD)


def training_batch(i, sentences=32):
    """A target of n tokens is n rows of the decoder: `begin` and n - 1 words in, n words out."""
    source_lengths, target_lengths = lengths(2 * i + 1, sentences, 31), lengths(2 * i + 2, sentences, 59)
    generator = torch.Generator().manual_seed(i)
    source, labels = padded(source_lengths, generator), padded(target_lengths, generator)
    target = torch.cat([torch.full((sentences, 1), BEGIN), labels[:, :-1]], 1)
    mask = (source != PAD)[:, None, None, :]
    return (source, mask, target, labels), sum(source_lengths) + sum(target_lengths), source.numel() + target.numel()


def measure(work, repeats, parts=1):
    """Median seconds of one of `parts` equal parts of the work, after a warm-up run that compiles and allocates."""
    work()
    wall, processor = [], []
    for _ in range(repeats):
        start = time.perf_counter(), time.process_time()
        work()
        wall.append((time.perf_counter() - start[0]) / parts)
        processor.append((time.process_time() - start[1]) / parts)
    return {"seconds": statistics.median(wall), "cpu_seconds": statistics.median(processor)}


def measure_training(mode, batches, repeats):
    torch.manual_seed(0)
    model = Transformer().train()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    loss_of = torch.compile(model.loss, dynamic=True) if mode == "compiled" else model.loss
    data = [training_batch(i) for i in range(batches)]
    if mode == "output on real rows":
        data = [((*tensors, (tensors[3] != PAD).flatten().nonzero().squeeze(1)), *counts) for tensors, *counts in data]

    def epoch():
        for tensors, *_ in data:
            optimiser.zero_grad(set_to_none=True)
            loss_of(*tensors).backward()
            optimiser.step()

    times = measure(epoch, repeats, batches)
    return {"name": "train_step", **times, "tokens": sum(d[1] for d in data) / batches,
            "padded_tokens": sum(d[2] for d in data) / batches, "mode": mode}


@torch.inference_mode()
def greedy(model, source, limits, drop_finished):
    """Greedy translations of given lengths: a sentence ends at its limit. Every step computes one row per sentence."""
    count, longest = len(source), int(limits.max())
    mask = (source != PAD)[:, None, None, :]
    memory = model.encode(source, mask)
    crossing = [layer.cross_attention.keys_values(memory).unflatten(-1, (2, HEADS, -1)).permute(2, 0, 3, 1, 4).contiguous()
                for layer in model.decoder]  # [2, sentences, heads, source, width of a head]
    cache = torch.empty(LAYERS, 2, count, HEADS, longest, WIDTH // HEADS)
    translations = torch.full((count, longest), PAD)
    alive, tokens = torch.arange(count), torch.full((count, 1), BEGIN)
    for position in range(longest):
        x = model.embed(model.target_embedding, tokens, position)
        for layer, own, other in zip(model.decoder, cache, crossing):
            attention = layer.self_attention
            queries, keys, values = attention.project(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
            own[0, :, :, position], own[1, :, :, position] = keys[:, :, 0], values[:, :, 0]
            mixed = F.scaled_dot_product_attention(queries, own[0, :, :, : position + 1], own[1, :, :, : position + 1])
            x = layer.norms[0](x + attention.out(mixed.transpose(1, 2).flatten(2)))
            attention = layer.cross_attention
            queries = attention.queries(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            mixed = F.scaled_dot_product_attention(queries, other[0], other[1], attn_mask=mask)
            x = layer.norms[1](x + attention.out(mixed.transpose(1, 2).flatten(2)))
            x = layer.norms[2](x + layer.feed_forward(x))
        tokens = model.output(x).argmax(-1)
        translations[alive, position] = tokens[:, 0]
        if drop_finished:
            unfinished = limits[alive] > position + 1
            left = int(unfinished.sum())
            if 0 < left <= 0.8 * len(alive):  # moving the caches costs time: wait until it pays off
                keep = unfinished.nonzero().squeeze(1)
                alive, tokens, mask = alive[keep], tokens[keep], mask[keep]
                cache = cache.index_select(2, keep)
                crossing = [other.index_select(1, keep) for other in crossing]
    return translations.masked_fill_(torch.arange(longest) >= limits[:, None], PAD)


def measure_decoding(drop_finished, repeats, sentences=64):
    torch.manual_seed(0)
    model = Transformer().eval()
    for module in model.modules():
        if isinstance(module, nn.Linear):  # with few rows, column-major weights are a third faster
            module.weight.data = module.weight.data.T.contiguous().T
    source = padded(lengths(1, sentences, 31), torch.Generator().manual_seed(0))
    limits = torch.tensor(lengths(2, sentences, 59))
    times = measure(lambda: greedy(model, source, limits, drop_finished), repeats)
    return {"name": "greedy", **times, "tokens": int(limits.sum()), "steps": int(limits.max()),
            "mode": "finished sentences dropped" if drop_finished else "all sentences to the end"}


def report(measurements):
    """Prints each measurement, then repeats the fastest with "best": true."""
    done = []
    for name, measure in measurements:
        try:
            done.append(measure())
            print(json.dumps(done[-1]), flush=True)
        except Exception as error:  # torch.compile needs a compiler, which may be missing
            print(json.dumps({"mode": name, "failed": f"{type(error).__name__}: {error}"[:300]}), flush=True)
    if done:
        print(json.dumps(min(done, key=lambda m: m["seconds"]) | {"best": True}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batches", type=int, default=4, help="training batches of 32 sentences")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(json.dumps({"name": "machine", "torch": torch.__version__, "threads": options.threads}), flush=True)
    modes = ("eager", "compiled", "output on real rows")
    report([(mode, lambda mode=mode: measure_training(mode, options.batches, options.repeats)) for mode in modes])
    report([("greedy", lambda drop=drop: measure_decoding(drop, options.repeats)) for drop in (False, True)])


if __name__ == "__main__":
    main()
