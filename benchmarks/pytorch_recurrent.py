"""Benchmark of recurrent models in PyTorch: training steps (loss, backward pass, clipping, Adam), and greedy decoding of 64
sentences ("decode ..."), from the source to the tokens on the host.

All sentences of a batch have the same length, so there is no padding. Prints one JSON line per measurement, with the names of
benchmarks/recurrent.cpp and recurrent_cuda.cu; `seconds` is a median, `least_seconds` the minimum. Modes:

  eager        float32
  fused        float32, Adam in one kernel
  autocast     like fused, in bfloat16
  graph        CUDA: like autocast, with a training step or all decoding steps in one CUDA graph
"""
import argparse
import contextlib
import json
import math
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

FIRST_WORD = 4
DECODED = 64  # sentences


class Scores(nn.Module):
    """Attention of decoder states over a memory. States and contexts are [time, batch, width]."""

    def __init__(self, kind, width):
        super().__init__()
        self.kind, self.width = kind, width
        if kind == "additive":
            self.keys, self.queries, self.v = nn.Linear(width, width, False), nn.Linear(width, width, False), nn.Linear(width, 1, False)
        elif kind == "multiplicative":
            self.keys = nn.Linear(width, width, False)

    def forward(self, states, memory, mask=None):
        values = memory.transpose(0, 1)
        if self.kind == "additive":
            squashed = torch.tanh(self.keys(values)[:, None] + self.queries(states).transpose(0, 1)[:, :, None])
            scores = self.v(squashed).squeeze(-1)
        else:
            keys = self.keys(values) if self.kind == "multiplicative" else values / math.sqrt(self.width)
            scores = states.transpose(0, 1) @ keys.transpose(1, 2)
        if mask is not None:
            scores = scores.masked_fill(mask, -1e9)
        return (scores.softmax(-1) @ values).transpose(0, 1)


class Comparison(nn.Module):
    """Chittersu's models: two bidirectional encoder layers, two decoder layers, attention over the encoder and, with `back`, the past."""

    def __init__(self, kind, back, words=128, width=64, source=14546, target=22892):
        super().__init__()
        self.width = width
        self.source, self.target = nn.Embedding(source, words), nn.Embedding(target, words)
        self.encoder, self.decoder = nn.LSTM(words, width, 2, bidirectional=True), nn.LSTM(words, width, 2)
        self.initial = nn.Parameter(torch.randn(2, 4, 1, width))
        self.states, self.hidden, self.cell = (nn.Linear(2 * width, width, False) for _ in range(3))
        self.attention, self.past = Scores(kind, width), Scores(kind, width) if back else None
        self.output = nn.Linear((3 if back else 2) * width, target)

    def read(self, source):
        count = source.shape[1]
        h, last = self.encoder(self.source(source), tuple(self.initial.expand(-1, -1, count, -1).contiguous()))
        begin = [project(both.unflatten(0, (2, 2)).transpose(1, 2).flatten(2)) for both, project in zip(last, (self.hidden, self.cell))]
        return self.states(h), tuple(begin)

    def forward(self, source, target):
        memory, begin = self.read(source)
        y, _ = self.decoder(self.target(target), begin)
        seen = [y, self.attention(y, memory)]
        if self.past is not None:
            steps = torch.arange(len(y), device=y.device)
            hidden = steps[:, None] <= steps  # a state attends to those before it; the first attends uniformly
            seen.append(self.past(y, y, hidden))
        return self.output(torch.cat(seen, -1))

    def translate(self, source, steps):
        memory, state = self.read(source)
        word, words, before = source.new_full((1, source.shape[1]), FIRST_WORD), [], []
        for _ in range(steps):
            y, state = self.decoder(self.target(word), state)
            seen = [y, self.attention(y, memory)]
            if self.past is not None:
                seen.append(self.past(y, torch.cat(before)) if before else y)
                before.append(y)
            word = self.output(torch.cat(seen, -1)).argmax(-1)
            words.append(word)
        return torch.cat(words)


class InputFeeding(nn.Module):
    """The Edinburgh coursework's model: Luong's general attention with input feeding, optionally with the lexical model."""

    def __init__(self, source=5048, target=4420, words=64, width=128, encoder=1, decoder=1, lexical=False):
        super().__init__()
        self.words, self.width = words, width
        self.source, self.target = nn.Embedding(source, words), nn.Embedding(target, words)
        self.encoder = nn.LSTM(words, width // 2, encoder, bidirectional=True)
        self.cells = nn.ModuleList(nn.LSTMCell(words + width if i == 0 else width, width) for i in range(decoder))
        self.keys, self.mix, self.output = nn.Linear(width, width, False), nn.Linear(2 * width, width, False), nn.Linear(width, target)
        self.lexical = nn.Linear(words, words, False) if lexical else None
        self.lexical_output = nn.Linear(words, target) if lexical else None

    def drop(self, x):
        return F.dropout(x, 0.25, self.training)

    def read(self, source):
        words = self.drop(self.source(source))
        memory = self.drop(self.encoder(words)[0]).transpose(0, 1)  # batch first, for the products of attention
        states = [(memory.new_zeros(source.shape[1], self.width),) * 2 for _ in self.cells]
        return words.transpose(0, 1), memory, self.keys(memory).transpose(1, 2), states

    def step(self, word, fed, states, memory, keys):
        x = torch.cat([word, fed], 1)
        for i, cell in enumerate(self.cells):
            states[i] = cell(x, states[i])
            x = self.drop(states[i][0])
        h = states[-1][0]
        weights = (h[:, None] @ keys).softmax(-1)
        return self.drop(torch.tanh(self.mix(torch.cat([h, (weights @ memory).squeeze(1)], 1)))), weights

    def lexical_logits(self, weights, words):
        average = torch.tanh(weights @ words).transpose(0, 1)
        return self.lexical_output(torch.tanh(self.lexical(average)) + average)

    def forward(self, source, target):
        words, memory, keys, states = self.read(source)
        fed, outputs, weights = states[0][0], [], []
        for word in self.drop(self.target(target)):
            fed, looked = self.step(word, fed, states, memory, keys)
            outputs.append(fed)
            weights.append(looked)
        logits = self.output(torch.stack(outputs))
        return logits if self.lexical is None else logits + self.lexical_logits(torch.cat(weights, 1), words)  # all steps at once

    def translate(self, source, steps):
        words, memory, keys, states = self.read(source)
        fed, word, written = states[0][0], source.new_full((source.shape[1],), FIRST_WORD), []
        for _ in range(steps):
            fed, looked = self.step(self.target(word), fed, states, memory, keys)
            logits = self.output(fed)
            word = (logits if self.lexical is None else logits + self.lexical_logits(looked, words)[0]).argmax(-1)
            written.append(word)
        return torch.stack(written)


class Large(nn.Module):
    """Encoder with a bidirectional first layer and three unidirectional ones, four decoder layers, multiplicative attention."""

    def __init__(self, vocabulary=32000, width=1024):
        super().__init__()
        self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(vocabulary, width)
        self.first, self.others = nn.LSTM(width, width // 2, 1, bidirectional=True), nn.LSTM(width, width, 3)
        self.decoder, self.attention = nn.LSTM(width, width, 4), Scores("multiplicative", width)
        self.output = nn.Linear(2 * width, vocabulary)

    def forward(self, source, target):
        h = self.read(source)
        y = self.decoder(self.target(target))[0]
        return self.output(torch.cat([y, self.attention(y, h)], -1))

    def read(self, source):
        return self.others(self.first(self.source(source))[0])[0]

    def translate(self, source, steps):
        h, state, word, words = self.read(source), None, source.new_full((1, source.shape[1]), FIRST_WORD), []
        for _ in range(steps):
            y, state = self.decoder(self.target(word), state)
            word = self.output(torch.cat([y, self.attention(y, h)], -1)).argmax(-1)
            words.append(word)
        return torch.cat(words)


# name: model, sentences, length
WORK = {f"comparison {kind} {'both' if back else 'encoder'}": (lambda kind=kind, back=back: Comparison(kind, back), 300, 20)
        for kind in ("additive", "multiplicative", "dot") for back in (False, True)}
WORK |= {"coursework baseline": (InputFeeding, 10, 13),
         "coursework lexical": (lambda: InputFeeding(lexical=True), 10, 13),
         "coursework deeper": (lambda: InputFeeding(encoder=2, decoder=3), 10, 13),
         "input feeding": (lambda: InputFeeding(32000, 32000, 512, 512, 2, 2), 128, 30),
         "large": (Large, 128, 50)}


def training_step(name, way, device):
    make, sentences, length = WORK[name]
    torch.manual_seed(0)
    model = make().to(device).train()
    optimiser = torch.optim.Adam(model.parameters(), 1e-3, fused=way != "eager", capturable=way == "graph")
    source = torch.randint(FIRST_WORD, model.source.num_embeddings, (length, sentences), device=device)
    target = torch.randint(FIRST_WORD, model.target.num_embeddings, (length + 1, sentences), device=device)
    low = way in ("autocast", "graph")

    def step():
        with torch.autocast(device, torch.bfloat16) if low else contextlib.nullcontext():
            loss = F.cross_entropy(model(source, target[:-1]).flatten(0, 1), target[1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 4.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        return loss.detach()
    return step, 2 * sentences * length


def decoding(name, way, device):
    make, _, length = WORK[name]
    torch.manual_seed(0)
    model = make().to(device).eval()
    source = torch.randint(FIRST_WORD, model.source.num_embeddings, (length, DECODED), device=device)
    low = way in ("autocast", "graph")

    def decode():
        with torch.no_grad(), torch.autocast(device, torch.bfloat16) if low else contextlib.nullcontext():
            return model.translate(source, length)
    if way != "graph":
        return lambda: decode().tolist(), DECODED * length
    replay, words = captured(decode)
    return lambda: (replay(), words.tolist()), DECODED * length


def captured(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    return graph.replay, result


def measure(name, way, device, seconds):
    if name.startswith("decode "):
        step, tokens = decoding(name.removeprefix("decode "), way, device)
    else:
        step, tokens = training_step(name, way, device)
        if way == "graph":
            step, _ = captured(step)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    times = []
    for i in range(1000):
        wait()
        start = time.perf_counter()
        step()
        wait()
        if i >= (3 if device == "cuda" else 1):
            times.append(time.perf_counter() - start)
        if len(times) >= 3 and sum(times) > seconds:
            break
    return {"seconds": statistics.median(times), "least_seconds": min(times), "repeats": len(times), "tokens": tokens}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device", choices=("cpu", "cuda"))
    parser.add_argument("--only", default="", help="name prefixes, comma-separated")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.device == "cpu":
        torch.set_num_threads(options.threads)
    print(json.dumps({"name": "machine", "mode": "PyTorch", "torch": torch.__version__, "threads": torch.get_num_threads()}), flush=True)
    for name in (name for name in [*WORK, *(f"decode {name}" for name in WORK)] if name.startswith(tuple(options.only.split(",")))):
        for way in ("eager", "autocast") + (() if name.startswith("decode ") else ("fused",)) + (("graph",) if options.device == "cuda" else ()):
            line = {"name": name, "mode": f"PyTorch {way}"}
            try:
                line |= measure(name, way, options.device, 1 if options.quick else 2)
            except Exception as error:  # this version of PyTorch may not support the mode
                line["failed"] = f"{type(error).__name__}: {error}"[:300]
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
