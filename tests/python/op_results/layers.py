"""The ops of cuda_errors.py that every model has: their results by name, as PyTorch computes them."""
import numpy as np
import torch
import torch.nn.functional as F

from op_results.operands import gradients


def linear(case, make):
    rows, inputs, outputs = case["rows"], case["in"], case["out"]
    x, weight, bias, dy = make(1, rows, inputs), make(2, outputs, inputs), make(3, outputs), make(4, rows, outputs)
    y = F.linear(x, weight, None if case.get("no_bias") else bias)
    dx = dy @ weight
    if "scale" in case:
        dx = dx * case["scale"]
    if case.get("gate"):
        dx = dx * (make(5, rows, inputs) > 0)
    dbias = make(8, outputs)
    return {"y": y.relu() if case.get("relu") else y, "dx": make.add(6, dx), "dweight": make(7, outputs, inputs) + dy.T @ x,
            "dbias": dbias if case.get("no_bias") else dbias + dy.sum(0)}


def ragged_projection(case, make):
    lengths, k, n, width, blocks = case["lengths"], case["k"], case["longest"], case["width"], case.get("blocks", 1)
    x, e, dy = make(1, sum(lengths), width), make(2, blocks * k, n), make(3, len(lengths) * k, width)
    x, e = x.requires_grad_(), e.requires_grad_()
    parts, first = [], 0
    for length in lengths:
        sentence = x[first : first + length].view(length, blocks, width // blocks).transpose(0, 1)
        parts.append((e.view(blocks, k, n)[:, :, :length] @ sentence).transpose(0, 1).reshape(k, width))
        first += length
    y = torch.cat(parts) if parts else torch.zeros(0, width)
    dx, de = gradients(y, dy, x, e) if sum(lengths) else (torch.zeros_like(x), torch.zeros_like(e))
    return {"y": y, "dx": make.add(4, dx), "dprojection": make(5, blocks * k, n) + de}


def layer_norm(case, make):
    rows, width = case["rows"], case["width"]
    x, branch, dy = make(1, rows, width, bound=2.0), make(2, rows, width), make(5, rows, width)
    gain, bias = make(3, width), make(4, width)
    inputs = [m.requires_grad_() for m in (x, branch, gain, bias)]
    z = x + make.drop(branch) if case.get("branch") else x
    epsilon = float(np.float32(1e-5))
    rms = case.get("rms")
    y = F.rms_norm(z, (width,), gain, epsilon) if rms else F.layer_norm(z, (width,), gain, bias, epsilon)
    dx, dbranch, dgain, dbias = gradients(y, dy, *inputs)
    wide = z.detach().to(make.real)
    mean = wide.mean(-1) * (0 if rms else 1)
    centred = wide - mean[:, None]
    results = {"y": y, "dx": make.add(6, dx), "dgain": make(8, width) + dgain, "dbias": make(10, width) + (0 if rms else dbias),
               "mean": mean, "inverse_deviation": (centred.square().mean(-1) + epsilon).rsqrt()}
    if case.get("branch"):
        results |= {"z": z, "dbranch": make.add(7, dbranch)}
    return results


def residual(case, make):
    shape = case["rows"], case["width"]
    return {"z": make(1, *shape) + make.drop(make(2, *shape))}


def dropout(case, make):
    return {"y": make.add(2, make.drop(make(1, case["rows"], case["width"])))}


def activation(case, make):
    rows, width = case["rows"], case["width"]
    x = make(1, rows, width, bound=case.get("bound", 3.0)).requires_grad_()
    functions = (F.relu, lambda m: F.gelu(m, approximate="tanh"), F.gelu, F.silu)  # ActivationKind
    y = functions[case["kind"]](x)
    return {"y": y, "dx": make.add(3, gradients(y, make(2, rows, width), x)[0])}


def tanh(case, make):
    rows, width = case["rows"], case["width"]
    x = make(1, rows, width, bound=case.get("bound", 2.0)).requires_grad_()
    y = torch.tanh(x)
    return {"y": y, "dx": make.add(3, gradients(y, make(2, rows, width), x)[0])}


def embedding(case, make):
    lengths, vocabulary, width, first = case["lengths"], case["vocabulary"], case["width"], case.get("first", 0)
    firsts = case.get("firsts", [first] * len(lengths))
    tokens = vocabulary - 1 - make.whole(1, sum(lengths), case.get("kinds", vocabulary))
    table = make(2, vocabulary, width).requires_grad_()
    y = F.embedding(tokens, table) * case.get("scale", 1)
    if case.get("positions"):
        places = torch.cat([torch.arange(first, first + n) for first, n in zip(firsts, lengths)]).to(y.device)
        y = y + make(3, max(firsts) + max(lengths), width)[places]
    y = make.drop(y)
    return {"y": y, "dtable": make(5, vocabulary, width) + gradients(y, make(4, sum(lengths), width), table)[0]}


def sinusoid(case, make):
    rows, width = case["rows"], case["width"]
    place = torch.arange(rows, dtype=make.real, device=make.device)[:, None]
    column = torch.arange(width, device=make.device)
    angles = place / 10000 ** ((column - column % 2).to(make.real) / width)
    return {"positions": torch.where(column % 2 == 0, angles.sin(), angles.cos()).to(make.dtype)}


def cross_entropy(case, make):
    rows, classes, amount = case["rows"], case["classes"], case.get("amount", 0.0)
    logits, labels = make(1, rows, classes, bound=case.get("bound", 4.0)).requires_grad_(), make.whole(2, rows, classes)
    log_probability = torch.log_softmax(logits.to(make.real), -1)
    nll = -log_probability.gather(1, labels[:, None]).sum()
    if case.get("others"):
        loss = (1 - amount) * nll + amount / (classes - 1) * (-log_probability.sum() - nll)
    else:
        loss = F.cross_entropy(logits.to(make.real), labels, reduction="sum", label_smoothing=amount)
    results = {"nll": 1 + nll, "loss": 2 + loss}
    if not case.get("no_gradient"):
        results["dlogits"] = gradients(loss * case.get("scale", 1), None, logits)[0]
    return results


def adam(case, make):
    count = case["count"]
    value = make(1, count, real=True).requires_grad_()
    kind = torch.optim.Adam if case.get("coupled") else torch.optim.AdamW
    optimiser = kind([value], lr=1e-2, betas=(0.9, 0.98), eps=1e-9, weight_decay=case.get("decay", 0),
                     amsgrad=case.get("amsgrad", False))
    squares = []
    for step in range(1, case.get("steps", 3) + 1):
        value.grad = make(step + 1, count, bound=4.0 if step == 1 else 1.0, real=True)
        squares.append(value.grad.square().sum())
        if case.get("clip"):
            torch.nn.utils.clip_grad_norm_([value], case["clip"])
        optimiser.step()
    state = optimiser.state[value]
    return {"value": value, "m": state["exp_avg"], "v": state["exp_avg_sq"], "squares": torch.stack(squares)}
