"""The ops of cuda_errors.py that reduce activations or multiply them: their results by name, as PyTorch computes them."""
import torch
import torch.nn.functional as F

from op_results.operands import gradients


def sentences(lengths, spare):
    """The rows of each sentence, and of all of them; `spare` rows follow each."""
    parts, first = [], 0
    for length in lengths:
        parts.append(slice(first, first + length))
        first += length + spare
    return parts, first


def softmax(case, make):
    width = case["width"]
    visible = [width] * case.get("rows", 0)
    for n, m in zip(case.get("queries", []), case.get("keys", [])):
        visible += [min(max(m - n + i + 1, 0), m) if case.get("causal") else m for i in range(n)] + [0] * case.get("spare", 0)
    rows = len(visible)
    x, dy = make(1, rows, width, bound=case.get("bound", 3.0)).requires_grad_(), make(2, rows, width)
    seen = torch.arange(width)[None] < torch.tensor(visible, dtype=torch.int64)[:, None]
    seen = seen.to(x.device)
    some = seen.any(1)
    function = F.log_softmax if case.get("log") else F.softmax
    y = torch.zeros_like(x)
    y[some] = function(x[some].masked_fill(~seen[some], -torch.inf), -1).masked_fill(~seen[some], 0)
    return {"y": y, "dx": make.add(3, gradients(y, dy, x)[0])}


def numbers_of(case, make, rows):
    width, levels = case["width"], case.get("levels", 0)
    x = make.whole(1, rows * width, levels).view(rows, width).to(make.dtype) if levels else make(1, rows, width)
    return x.requires_grad_()


def reduce_columns(case, make):
    rows = case["rows"]
    x = numbers_of(case, make, rows)
    y = (x.sum(1), x.mean(1), x.max(1).values if x.numel() else x.sum(1))[case["kind"]]  # Reduction
    return {"y": y, "dx": make.add(3, gradients(y, make(2, rows), x)[0])}


def reduce_rows(case, make):
    parts, rows = sentences(case["lengths"], case.get("spare", 0))
    x = numbers_of(case, make, rows)
    functions = (lambda m: m.sum(0), lambda m: m.mean(0), lambda m: m.max(0).values, lambda m: m[0], lambda m: m[-1])  # RowReduction
    results = [functions[case["kind"]](x[part]) if part.stop > part.start else x[:0].sum(0) for part in parts]
    y = torch.stack(results) if results else x[:0] * 1
    return {"y": y, "dx": make.add(3, gradients(y, make(2, *y.shape), x)[0])}


def repeat_rows(case, make):
    parts, rows = sentences(case["lengths"], case.get("spare", 0))
    x = make(1, len(parts), case["width"]).requires_grad_()
    owner = [s for s, n in enumerate(case["lengths"]) for _ in range(n)]
    inside = [i for part in parts for i in range(part.start, part.stop)]
    y = torch.zeros(rows, case["width"], dtype=x.dtype, device=x.device)
    y[inside] = x[owner]
    dx = [make(2, *y.shape)[part].sum(0) for part in parts]
    return {"y": y, "dx": make.add(3, torch.stack(dx) if dx else x * 1)}


def reduce_all(case, make):
    shape, scale = (case["rows"], case["width"]), case.get("scale", 1)
    dx = torch.full(shape, 0.75 * scale, dtype=make.dtype, device=make.device)
    return {"y": 1 + scale * make(1, *shape).to(make.real).sum(), "dx": make.add(3, dx)}


def ragged_product(case, make):
    spare, width, scale = case.get("spare", 0), case["width"], case.get("scale", 1)
    (queries, a_rows), (keys, b_rows) = sentences(case["queries"], spare), sentences(case["keys"], spare)
    longest = max(case["keys"], default=0)
    a, b, w = make(1, a_rows, width), make(2, b_rows, width), make(3, a_rows, longest)
    scores, mix, transposed = torch.zeros_like(w), torch.zeros_like(a), torch.zeros_like(b)
    for i, j in zip(queries, keys):
        m = j.stop - j.start
        scores[i, :m] = scale * (a[i] @ b[j].T)
        mix[i] = scale * (w[i, :m] @ b[j])
        transposed[j] = scale * (w[i, :m].T @ a[i])
    return {"scores": make.add(4, scores), "mix": make.add(5, mix), "mix_transposed": make.add(6, transposed)}


def cross_entropy_gradient(case, make):
    rows, classes, amount = case["rows"], case["classes"], case.get("amount", 0.0)
    logits, labels = make(1, rows, classes, bound=case.get("bound", 4.0)).requires_grad_(), make.whole(2, rows, classes)
    if case.get("others"):
        log_probability = torch.log_softmax(logits.to(make.real), -1)
        nll = -log_probability.gather(1, labels[:, None]).sum()
        loss = (1 - amount) * nll + amount / (classes - 1) * (-log_probability.sum() - nll)
    else:
        loss = F.cross_entropy(logits.to(make.real), labels, reduction="sum", label_smoothing=amount)
    return {"dlogits": make.add(3, gradients(loss * case.get("scale", 1) * case.get("upstream", 1), None, logits)[0])}


def kl_divergence(case, make):
    shape, scale = (case["rows"], case["classes"]), case.get("scale", 1)
    logits, target = make(1, *shape, bound=case.get("bound", 4.0)).requires_grad_(), make(2, *shape).clamp(min=0)
    loss = scale * F.kl_div(F.log_softmax(logits.to(make.real), -1), target.to(make.real), reduction="sum")
    return {"loss": 1 + loss, "dlogits": make.add(3, gradients(loss * case.get("upstream", 1), None, logits)[0])}
