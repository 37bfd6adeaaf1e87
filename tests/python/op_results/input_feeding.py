"""Input feeding for cuda_errors.py: its results by name, as PyTorch computes them, sentence by sentence."""
import math

import numpy as np
import torch


def input_feeding(case, make):
    targets, sources, width, layers = case["targets"], case["sources"], case["width"], case.get("layers", 1)
    mixed, rows, places, bound = case.get("value", width), sum(targets), sum(sources), 1 / math.sqrt(width)
    value = mixed + case.get("more", 0)
    keys, values, mix = make(1, places, width), make(2, places, value), make(3, width, width + mixed, bound=bound)
    gates = make(4, rows, 4 * width)
    inputs = [make(20 + l, 4 * width, width, bound=bound) for l in range(layers)]
    recurrents = [make(30 + l, 4 * width, width, bound=bound) for l in range(layers)]
    biases = [make(40 + l, 4 * width, bound=bound) for l in range(layers)]
    asked = [m.requires_grad_() for m in (keys, values, mix, gates, *inputs, *recurrents)]
    factors = make.factors(np.arange(rows), width) if case.get("dropout") else None

    def drop(x, row):
        return x if factors is None else (x.to(make.real) * factors[row]).to(make.dtype)

    fed, contexts, row, first = [], [], 0, 0
    for n, m in zip(targets, sources):
        k, v = keys[first : first + m], values[first : first + m]
        a, h, c = keys.new_zeros(width), [keys.new_zeros(width)] * layers, [keys.new_zeros(width)] * layers
        for row in range(row, row + n):
            x = a
            for l in range(layers):
                z = (gates[row] if l == 0 else biases[l]) + inputs[l] @ x + recurrents[l] @ h[l]
                i, f, g, o = z.view(4, width)
                c = [*c[:l], f.sigmoid() * c[l] + i.sigmoid() * g.tanh(), *c[l + 1 :]]
                h = [*h[:l], o.sigmoid() * c[l].tanh(), *h[l + 1 :]]
                x = drop(h[l], row)
            context = torch.softmax(0.5 * (k @ h[-1]), 0) @ v if m else v.sum(0)
            a = drop(torch.tanh(mix @ torch.cat([h[-1], context[:mixed]])), row)
            fed.append(a)
            contexts.append(context)
        row, first = row + (n > 0), first + m
    fed = torch.stack(fed) if fed else keys.new_zeros(0, width)
    contexts = torch.stack(contexts) if contexts else keys.new_zeros(0, value)
    outer = [make(5, rows, width) * (not case.get("no_dfed")), make(6, rows, value)]
    found = torch.autograd.grad((fed, contexts), asked, outer, allow_unused=True) if rows else [None] * len(asked)
    dkeys, dvalues, dmix, dgates, *others = (torch.zeros_like(m) if d is None else d for m, d in zip(asked, found))
    results = {"fed": fed, "context": contexts, "dkeys": dkeys, "dvalues": dvalues, "dmix": dmix, "dgates": dgates}
    for l in range(layers):
        results |= {f"dinput{l}": others[l], f"drecurrent{l}": others[layers + l]}
    return results
