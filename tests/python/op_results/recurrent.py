"""The recurrent ops of cuda_errors.py: their results by name, as PyTorch computes them."""
import math

import torch
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence


def lstm(case, make):
    lengths, inputs, width, states = case["lengths"], case["in"], case["width"], case.get("states", False)
    rows, bound = sum(lengths), 1 / math.sqrt(width)
    x, initial = make(1, rows, inputs), [make(stream, len(lengths), width) for stream in (5, 6)]
    weights = [make(2, 4 * width, inputs, bound=bound), make(3, 4 * width, width, bound=bound), make(4, 4 * width, bound=bound)]
    x, h0, c0, *weights = [m.requires_grad_() for m in (x, *(initial if states else map(torch.zeros_like, initial)), *weights)]
    living, first, places = [i for i, n in enumerate(lengths) if n], 0, []  # PyTorch takes no empty sentences
    for n in lengths:
        places.append(torch.arange(first, first + n, device=x.device).flip(0) if case.get("reverse") else
                      torch.arange(first, first + n, device=x.device))
        first += n
    h, last_h, last_c = torch.zeros_like(x[:, :1]).expand(rows, width), h0, c0
    if living:
        packed = pack_sequence([x[places[i]] for i in living], enforce_sorted=False)
        packed, (end_h, end_c) = recurrence(packed, [m[living][None] for m in (h0, c0)], weights)
        padded, _ = pad_packed_sequence(packed, batch_first=True)
        walked = torch.cat([padded[j, : lengths[i]] for j, i in enumerate(living)])
        h = torch.empty_like(walked).index_copy(0, torch.cat([places[i] for i in living]), walked)
        at = torch.tensor(living, device=x.device)
        last_h, last_c = h0.index_copy(0, at, end_h[0]), c0.index_copy(0, at, end_c[0])
    dh, dlast = make(7, rows, width), [make(stream, len(lengths), width) for stream in (8, 10)]
    outer = [dh * (not case.get("no_dh"))] + [d * (not case.get("no_last")) for d in dlast]
    results = {"h": h, "last_h": last_h, "last_c": last_c}
    asked = (x, h0, c0, *weights)
    found = torch.autograd.grad((h, last_h, last_c), asked, outer, allow_unused=True) if living else (None, *outer[1:], None, None, None)
    dx, dh0, dc0, dinput, drecurrent, dbias = (torch.zeros_like(m) if d is None else d for m, d in zip(asked, found))
    results |= {"dx": make.add(11, dx), "dinput": make(14, *dinput.shape) + dinput,
                "drecurrent": make(15, *drecurrent.shape) + drecurrent, "dbias": make(16, 4 * width) + dbias}
    return results | ({"dh0": make.add(12, dh0), "dc0": make.add(13, dc0)} if states else {})


def recurrence(packed, states, weights):
    """torch.nn.LSTM over packed sentences, with these weights."""
    module = torch.nn.LSTM(weights[0].shape[1], weights[1].shape[1], device=weights[0].device, dtype=weights[0].dtype)
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")  # its two biases are only ever added
    return torch.func.functional_call(module, dict(zip(names, (*weights, torch.zeros_like(weights[2])))), (packed, tuple(states)))


def gather_rows(case, make):
    rows, places, width = case["rows"], case["places"], case["width"]
    row = torch.arange(rows, device=make.device) * 7 % places
    return {"dfrom": make.add(3, torch.zeros_like(make(1, places, width)).index_copy(0, row, make(2, rows, width)))}
