"""The ops of cuda_errors.py on heads of queries and keys: their results by name, as PyTorch computes them."""
import torch

from op_results.operands import gradients
from op_results.reductions import sentences


def rotary(case, make):
    """As apply_rotary_pos_emb of transformers: products, then one sum, in the type that is computed with."""
    parts, rows = sentences(case["lengths"], case.get("spare", 0))
    heads, width = case["heads"], case["width"]
    firsts = case.get("firsts", [case.get("first", 0)] * len(parts))
    positions = torch.zeros(rows, dtype=torch.int64)
    for part, first in zip(parts, firsts):
        positions[part] = first + torch.arange(part.stop - part.start)
    most = max(case["firsts"]) if "firsts" in case else case.get("first", 0)
    table = make(3, most + max(case["lengths"], default=0), width)
    angles = table[positions.to(table.device)] if rows else table.new_zeros(0, width)
    sine, cosine = angles[:, None].chunk(2, -1)
    x, dy = make(1, rows, heads * width).requires_grad_(), make(2, rows, heads * width)
    a, b = x.view(rows, heads, width).chunk(2, -1)
    y = torch.cat([a * cosine + -b * sine, b * cosine + a * sine], -1).view(rows, heads * width)
    inside = [i for part in parts for i in range(part.start, part.stop)]
    return {"y": make.add(4, y)[inside], "dx": make.add(5, gradients(y, dy, x)[0])[inside]}


def repeat_heads(case, make):
    rows, heads, width, times = case["rows"], case["heads"], case["width"], case["times"]
    x, dy = make(1, rows, heads * width).requires_grad_(), make(2, rows, times * heads * width)
    y = x.view(rows, heads, width).repeat_interleave(times, 1).view(rows, times * heads * width)
    return {"y": y, "dx": make.add(3, gradients(y, dy, x)[0])}
