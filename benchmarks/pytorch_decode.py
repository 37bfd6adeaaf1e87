"""pytorch_decode.py [--quick] [BATCH ...]: the workload of benchmarks/decode_cuda.cu in PyTorch, greedy decoding of batches
of 1, 64 and 512 sentences.

The base Transformer of pytorch_cuda_model.py in bfloat16 with a vocabulary of 50,272 and a tied output layer; sources of 31
tokens, 59 steps. Keys and values are cached, and self-attention has a fused QKV projection. Times are the best of five,
from the source on the host to the tokens on the host:

  one graph    a CUDA graph of one step, replayed 59 times; it attends to all 59 positions under a mask
  59 graphs    a CUDA graph for each step, which attends to the positions that exist
  eager        the steps of `59 graphs` without graphs
"""
import argparse
import math
import time

import torch
import torch.nn.functional as F

from pytorch_cuda_model import HEADS, LAYERS, VOCABULARY, WIDTH, Transformer

DEVICE, SOURCE, STEPS, BEGIN, FIRST_WORD = "cuda", 31, 59, 2, 4


def split_heads(x):
    return x.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2)


class GreedyDecoder:
    """Greedy decoding of a fixed number of sentences. All tensors keep their addresses, so that graphs can be replayed."""

    def __init__(self, model, sentences):
        self.model = model
        self.fused = [[torch.cat([getattr(layer.attention.queries, name), getattr(layer.attention.keys_values, name)]) for name in ("weight", "bias")]
                      for layer in model.decoder]
        def cache(length):
            return torch.zeros(LAYERS, 2, sentences, HEADS, length, WIDTH // HEADS, device=DEVICE, dtype=torch.bfloat16)
        self.own, self.memory = cache(STEPS), cache(SOURCE)
        self.token = torch.empty(sentences, 1, device=DEVICE, dtype=torch.long)
        self.position = torch.zeros(1, device=DEVICE, dtype=torch.long)
        self.all_positions = torch.arange(STEPS, device=DEVICE)
        self.result = torch.empty(sentences, STEPS, device=DEVICE, dtype=torch.long)

    def encode(self, source):
        states = self.model.encode(source)
        for i, layer in enumerate(self.model.decoder):
            for part, values in enumerate(layer.cross_attention.keys_values(states).chunk(2, -1)):
                self.memory[i, part].copy_(split_heads(values))
        self.token.fill_(BEGIN)
        self.position.zero_()

    def attend(self, module, queries, keys, values, mask=None):
        mixed = F.scaled_dot_product_attention(split_heads(queries), keys, values, attn_mask=mask)
        return module.out(mixed.transpose(1, 2).flatten(2))

    def step(self, seen=None):
        """`seen`: number of positions to attend to, including this one; None: all of them, under a mask."""
        model = self.model
        x = model.embedding(self.token) * math.sqrt(WIDTH) + model.positions[self.position]
        mask = None if seen else (self.all_positions <= self.position).view(1, 1, 1, STEPS)
        for i, layer in enumerate(model.decoder):
            queries, keys, values = F.linear(x, *self.fused[i]).chunk(3, -1)
            for part, new in enumerate((keys, values)):
                self.own[i, part].index_copy_(2, self.position, split_heads(new))
            x = layer.norm(x + self.attend(layer.attention, queries, self.own[i, 0, :, :, :seen], self.own[i, 1, :, :, :seen], mask))
            across = self.attend(layer.cross_attention, layer.cross_attention.queries(x), *self.memory[i])
            x = layer.feed_forward(layer.cross_norm(x + across))
        self.token.copy_(F.linear(x, model.embedding.weight).argmax(-1))
        self.result.index_copy_(1, self.position, self.token)
        self.position.add_(1)


def capture(work, pool=None):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        work()
    return graph


def best_milliseconds(decode, repeats):
    times = []
    for _ in range(repeats + 2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        decode()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times[2:])


def measure(model, sentences, repeats):
    source = torch.randint(FIRST_WORD, VOCABULARY, (sentences, SOURCE), generator=torch.Generator().manual_seed(3))
    decoder = GreedyDecoder(model, sentences)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):  # first calls of libraries set up state, which cannot be captured
        decoder.encode(source.to(DEVICE))
        for seen in (None, *range(1, STEPS)):
            decoder.step(seen)
    torch.cuda.synchronize()
    one = capture(decoder.step)
    each = []
    for seen in range(1, STEPS + 1):
        each.append(capture(lambda: decoder.step(seen), each[0].pool() if each else None))

    def decode(step):
        decoder.encode(source.to(DEVICE))
        for i in range(STEPS):
            step(i)
        return decoder.result.cpu()

    ways = {"one graph": lambda i: one.replay(), "59 graphs": lambda i: each[i].replay(), "eager": lambda i: decoder.step(i + 1)}
    times = [best_milliseconds(lambda: decode(step), repeats) for step in ways.values()]
    same = (decode(ways["one graph"]) == decode(ways["eager"])).float().mean().item()
    print(f"{sentences:8d}" + "".join(f"{t:14.2f}" for t in times) + f"   {100 * same:.1f} % of the tokens the same", flush=True)


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("batch", type=int, nargs="*", default=[1, 64, 512], help="sentences per batch")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    options = parser.parse_args()
    torch.manual_seed(1)
    model = Transformer().to(DEVICE, torch.bfloat16).eval()
    print(f"greedy, base, vocabulary 50,272, {STEPS} steps: {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"{'batch':>8}{'one graph, ms':>14}{'59 graphs, ms':>14}{'eager, ms':>14}")
    for sentences in options.batch:
        measure(model, sentences, 2 if options.quick else 5)


if __name__ == "__main__":
    main()
