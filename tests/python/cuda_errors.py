"""Records how far PyTorch is from the truth in every case of tests/files/op_cases.json: tests/files/pytorch_errors.json.

    python tests/python/cuda_errors.py --device cuda    on a machine with a GPU; what attn's kernels are measured with
    python tests/python/cuda_errors.py --device cpu     what attn's Cpu<float> is measured with
    python tests/python/cuda_errors.py --check          computes the CPU's errors again, and compares

The truth is the same computation in float64, on operands that were rounded to the precision first. For each result of a case the
file has two numbers: the norm of the error over the norm of the truth, and its largest element over the truth's root mean square.
Where the truth is 0, as is the gradient of a query that sees one key, they are divided by 1, the size of the operands. On a GPU
attn may have twice the first and four times the second.

PyTorch's way in bfloat16 is that of autocast: products, attention and norms on bfloat16, losses and statistics in float32.
"""
import argparse
import json
import math
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from op_results.input_feeding import input_feeding
from op_results.recurrent import gather_rows, lstm

FILES = Path(__file__).resolve().parent.parent / "files"
RECORD = FILES / "pytorch_errors.json"
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


# --- the numbers of include/attn/core/random.hpp ------------------------------------------------------------------------------


def scramble(x):
    x = np.asarray(x, np.uint32)
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def derive(key, index):
    index = np.asarray(index, np.uint64)
    low = scramble(key[0] + scramble((index & np.uint64(0xFFFFFFFF)).astype(np.uint32)) + np.uint32(0x9E3779B9))
    return low, scramble(key[1] ^ scramble((index >> np.uint64(32)).astype(np.uint32) + low))


def key_of_seed(seed):
    return derive((np.uint32(0x243F6A88), np.uint32(0x85A308D3)), seed)


def random_bits(key, counter):
    return scramble(scramble(np.asarray(counter, np.uint32) ^ key[0]) + key[1])


class Operands:
    """Makes a case's operands, rounded to a precision, in the type that is computed with."""

    def __init__(self, case, precision, dtype, device):
        self.case, self.precision, self.dtype, self.device = case, PRECISIONS[precision], dtype, device
        self.real = torch.float64 if dtype == torch.float64 else torch.float32  # statistics, losses, gradients of parameters

    def __call__(self, stream, *shape, bound=1.0, real=False):
        bits = random_bits(key_of_seed(stream), np.arange(math.prod(shape))) >> np.uint32(8)
        numbers = torch.from_numpy((bound * (bits.astype(np.float64) * 2.0**-23 - 1)).astype(np.float32)).view(shape)
        numbers = numbers if real else numbers.to(self.precision)
        return numbers.to(self.device, self.real if real else self.dtype)

    def whole(self, stream, count, below):
        bits = random_bits(key_of_seed(stream), np.arange(count)).astype(np.uint64)
        return torch.from_numpy(((bits * np.uint64(below)) >> np.uint64(32)).astype(np.int64)).to(self.device)

    def factors(self, rows, columns):
        """Dropout's factors, as attn's masks have them."""
        rate = np.float32(self.case.get("dropout", 0))
        low, high = derive(key_of_seed(9), np.asarray(rows))
        kept = random_bits((low[:, None], high[:, None]), np.arange(columns)[None]) >= np.uint32(float(rate) * 2**32)
        return torch.from_numpy(kept * np.float64(np.float32(1) / (np.float32(1) - rate))).to(self.device, self.real)

    def drop(self, x, factors=None):
        """One rounding, as torch's own dropout has."""
        if not self.case.get("dropout"):
            return x
        factors = self.factors(np.arange(len(x)), x.shape[1]) if factors is None else factors
        return (x.to(self.real) * factors).to(self.dtype)

    def add(self, stream, gradient):
        return gradient + self(stream, *gradient.shape) if self.case.get("add") else gradient


def gradients(y, dy, *inputs):
    return torch.autograd.grad(y, inputs, dy, allow_unused=True)


# --- the ops: results by name -------------------------------------------------------------------------------------------------


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
    y = F.layer_norm(z, (width,), gain, bias, float(np.float32(1e-5)))
    dx, dbranch, dgain, dbias = gradients(y, dy, *inputs)
    wide = z.detach().to(make.real)
    centred = wide - wide.mean(-1, keepdim=True)
    results = {"y": y, "dx": make.add(6, dx), "dgain": make(8, width) + dgain, "dbias": make(10, width) + dbias,
               "mean": wide.mean(-1), "inverse_deviation": (centred.square().mean(-1) + float(np.float32(1e-5))).rsqrt()}
    if case.get("branch"):
        results |= {"z": z, "dbranch": make.add(7, dbranch)}
    return results


def residual(case, make):
    shape = case["rows"], case["width"]
    return {"z": make(1, *shape) + make.drop(make(2, *shape))}


def dropout(case, make):
    return {"y": make.add(2, make.drop(make(1, case["rows"], case["width"])))}


def tanh(case, make):
    rows, width = case["rows"], case["width"]
    x = make(1, rows, width, bound=case.get("bound", 2.0)).requires_grad_()
    y = torch.tanh(x)
    return {"y": y, "dx": make.add(3, gradients(y, make(2, rows, width), x)[0])}


def embedding(case, make):
    lengths, vocabulary, width, first = case["lengths"], case["vocabulary"], case["width"], case.get("first", 0)
    tokens = vocabulary - 1 - make.whole(1, sum(lengths), case.get("kinds", vocabulary))
    table = make(2, vocabulary, width).requires_grad_()
    y = F.embedding(tokens, table) * case.get("scale", 1)
    if case.get("positions"):
        places = torch.cat([torch.arange(first, first + n) for n in lengths]).to(y.device)
        y = y + make(3, first + max(lengths), width)[places]
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


OPS = {op.__name__: op for op in (attention, attention_weights, additive_attention, linear, ragged_projection, lstm, input_feeding,
                                  gather_rows, layer_norm, residual, dropout, tanh, embedding, sinusoid, cross_entropy, adam)}


# --- errors -------------------------------------------------------------------------------------------------------------------


def error(result, truth):
    """[norm of the error, its largest element], relative; see the top of the file, and tests/cuda/relative_error.hpp."""
    result, truth = (m.detach().to("cpu", torch.float64).flatten() for m in (result, truth))
    finite = truth.isfinite()
    assert (result[~finite] == truth[~finite]).all() and result.isfinite().equal(finite)
    result, truth = result[finite], truth[finite]
    if len(truth) == 0:
        return [0.0, 0.0]
    size = truth.square().mean().sqrt().item()
    size = size if size > 1e-9 else 1.0
    difference = result - truth
    return [difference.square().mean().sqrt().item() / size, difference.abs().max().item() / size]


def name_of(case):
    return f"{case['op']}: {case['name']}"


def errors_of(cases, device):
    found = {}
    for case in cases:
        if case["op"] not in OPS:  # exact: nothing to record
            continue
        entry = found[name_of(case)] = {}
        for precision, dtype in PRECISIONS.items():
            truth = OPS[case["op"]](case, Operands(case, precision, torch.float64, device))
            result = OPS[case["op"]](case, Operands(case, precision, dtype, device))
            entry[precision] = {name: [float(f"{e:.2g}") for e in error(result[name], truth[name])] for name in truth}
    return found


def text_of(contents):
    """One line a case."""
    devices = []
    for device, section in contents.items():
        lines = [f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in section["errors"].items()]
        devices.append(f'  "{device}": {{"made with": {json.dumps(section["made with"])}, "errors": {{\n' + ",\n".join(lines) + "\n  }}")
    return "{\n" + ",\n".join(devices) + "\n}\n"


def compare(cases, contents):
    """What is missing, and what is wrong: errors of other processors and releases differ, but not by much. Without the large cases."""
    names = {name_of(case) for case in cases if case["op"] in OPS}
    wrong = [f"{name} ({device})" for device, section in contents.items() for name in sorted(names ^ section["errors"].keys())]
    stored = contents["cpu"]["errors"]
    for name, entry in errors_of([case for case in cases if "large" not in case], "cpu").items():
        for precision, unit in (("float32", 2.0**-24), ("bfloat16", 2.0**-9)):
            ours, theirs = stored.get(name, entry)[precision], entry[precision]
            if ours.keys() != theirs.keys() or any(
                    max(a, unit) > 8 * max(b, unit) or max(b, unit) > 8 * max(a, unit)
                    for result in ours for a, b in zip(ours[result], theirs[result])):
                wrong.append(f"{name} in {precision}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    parser.add_argument("--to", type=Path, default=RECORD, help="where to write the file, with what the old one has of the other device")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("cuda_errors.py: PyTorch finds no GPU")

    np.seterr(over="ignore")  # 32-bit numbers wrap around
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    cases = json.loads((FILES / "op_cases.json").read_text())
    contents = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if options.check:
        wrong = compare(cases, contents)
        sys.exit(f"{RECORD} is not what PyTorch computes; record it again: " + ", ".join(wrong) if wrong else 0)
    found = errors_of(cases, options.device)
    where = torch.cuda.get_device_name() if options.device == "cuda" else "the CPU"
    contents[options.device] = {"made with": f"PyTorch {torch.__version__.split('+')[0]} on {where}", "errors": found}
    options.to.write_text(text_of(contents))
    print(f"{options.to}: the errors of {len(found)} cases, of {contents[options.device]['made with']}")


if __name__ == "__main__":
    main()
