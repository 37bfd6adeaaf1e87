"""Attention for cuda_errors.py: its results by name, as PyTorch computes them."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from op_results.operands import gradients


def attention(case, make):
    heads, width, values = case["heads"], case["heads"] * case["head_width"], case["heads"] * case.get("value_width", case["head_width"])
    causal, bound = case.get("causal", False), case.get("bound", 1.0)
    rows, key_rows = sum(case["queries"]), sum(case["keys"]) + case.get("spare", 0) * len(case["keys"])
    q, k = make(1, rows, width, bound=bound), make(2, key_rows, width, bound=bound)
    v, dy = make(3, key_rows, values), make(4, rows, values)
    results = {name: [] for name in ("y", "lse", "dq", "dk", "dv")}
    starts = [make.add(stream, torch.zeros_like(m)) for stream, m in ((5, q), (6, k), (7, v))]
    for of_queries, of_keys in sentences(case):
        split = [x.view(len(x), heads, x.shape[1] // heads).transpose(0, 1).contiguous().requires_grad_()  # heads x rows x head width
                 for x in (q[of_queries], k[of_keys], v[of_keys])]
        y, lse = attend(case, make, *split, np.arange(of_queries.start, of_queries.stop), rows, causal)
        upper = dy[of_queries].view(-1, heads, values // heads).transpose(0, 1)
        grads = gradients(y, upper, *split) if split[0].numel() and split[1].numel() else map(torch.zeros_like, split)
        whole = [x.transpose(0, 1).reshape(x.shape[1], -1 if x.numel() else heads * x.shape[2]) for x in (y.detach(), *grads)]
        results["y"].append(whole[0])
        results["lse"].append(lse.detach().T)
        for name, x, start, place in zip(("dq", "dk", "dv"), whole[1:], starts, (of_queries, of_keys, of_keys)):
            results[name].append(x + start[place] if case.get("add") else x)
    return {name: torch.cat(parts) if parts else torch.zeros(0) for name, parts in results.items()}


def sentences(case):
    """The rows of each sentence's queries and keys."""
    first = first_key = 0
    for n, m in zip(case["queries"], case["keys"]):
        yield slice(first, first + n), slice(first_key, first_key + m)
        first, first_key = first + n, first_key + m + case.get("spare", 0)


def visible(case, n, m, device):
    """Which keys each query sees, and whether it sees any."""
    seen = torch.ones(n, m, dtype=torch.bool, device=device)
    if case.get("causal"):
        seen = seen.tril(m - n)
    return seen, seen.any(-1)


def attend(case, make, q, k, v, rows, all_rows, causal):
    """One sentence: y and the log-sum-exp of each row's scores."""
    (heads, n, width), m = q.shape, k.shape[1]
    scale = 1 / math.sqrt(width)
    seen, sees = visible(case, n, m, q.device)
    with torch.no_grad():
        scores = scale * (q.to(make.real) @ k.to(make.real).transpose(1, 2))
        lse = torch.logsumexp(scores.masked_fill(~seen, -math.inf), -1)
    if n == 0 or m == 0:
        return v.new_zeros(heads, n, v.shape[2]), lse
    if not case.get("dropout") and (not causal or n == m):
        return F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0], lse
    scores = (q @ k.transpose(1, 2) * scale).masked_fill(~(seen | ~sees[:, None]), -math.inf)
    weights = torch.softmax(scores, -1) * sees[:, None]
    if case.get("dropout"):
        weights = torch.stack([make.drop(w, make.factors(h * all_rows + rows, m)) for h, w in enumerate(weights)])
    return weights @ v, lse


def attention_weights(case, make):
    heads, width, bound = case["heads"], case["heads"] * case["head_width"], case.get("bound", 1.0)
    rows, key_rows = sum(case["queries"]), sum(case["keys"]) + case.get("spare", 0) * len(case["keys"])
    q, k = make(1, rows, width, bound=bound), make(2, key_rows, width, bound=bound)
    weights = torch.zeros(heads, rows, max(case["keys"], default=0), dtype=make.real, device=make.device)
    for of_queries, of_keys in sentences(case):
        a, b = (x.view(len(x), heads, width // heads).transpose(0, 1) for x in (q[of_queries], k[of_keys]))
        scores = a @ b.transpose(1, 2) / math.sqrt(width // heads)
        weights[:, of_queries, : b.shape[1]] = softmax_of_seen(case, make, scores)
    return {"weights": weights}


def softmax_of_seen(case, make, scores):
    """In float, as autocast has it; 0 where a query does not see a key."""
    seen, sees = visible(case, *scores.shape[-2:], scores.device)
    hidden = ~(seen | ~sees[:, None])
    return torch.softmax(scores.to(make.real).masked_fill(hidden, -math.inf), -1) * sees[:, None]


def additive_attention(case, make):
    width, values, bound = case["width"], case.get("value_width", case["width"]), case.get("bound", 1.0)
    rows, key_rows = sum(case["queries"]), sum(case["keys"]) + case.get("spare", 0) * len(case["keys"])
    q, k = make(1, rows, width, bound=bound), make(2, key_rows, width, bound=bound)
    v, dy, u = make(3, key_rows, values), make(4, rows, values), make(8, width, bound=case.get("weight", 1.0))
    results = {name: [] for name in ("y", "lse", "weights", "dq", "dk", "dv")}
    starts = [make.add(stream, torch.zeros_like(m)) for stream, m in ((5, q), (6, k), (7, v))]
    du = torch.zeros(width, dtype=make.real, device=make.device)
    for of_queries, of_keys in sentences(case):
        inputs = [x.clone().requires_grad_() for x in (q[of_queries], k[of_keys], v[of_keys], u)]
        n, m = len(inputs[0]), len(inputs[1])
        scores = torch.tanh(inputs[0][:, None] + inputs[1][None]) @ inputs[3]
        weights = softmax_of_seen(case, make, scores)
        y = weights.to(make.dtype) @ inputs[2]
        *grads, du_part = gradients(y, dy[of_queries], *inputs) if n and m else map(torch.zeros_like, inputs)
        du += du_part
        results["y"].append(y)
        results["lse"].append(torch.logsumexp(scores.to(make.real).masked_fill(~visible(case, n, m, u.device)[0], -math.inf), -1))
        results["weights"].append(F.pad(weights, (0, max(case["keys"]) - m)))
        for name, x, start, place in zip(("dq", "dk", "dv"), grads, starts, (of_queries, of_keys, of_keys)):
            results[name].append(x + start[place] if case.get("add") else x)
    whole = {name: torch.cat(parts) if parts else torch.zeros(0) for name, parts in results.items()}
    return whole | {"du": make(10, width) + du.to(make.dtype)}
