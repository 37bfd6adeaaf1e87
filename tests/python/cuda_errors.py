"""Records how far PyTorch is from the truth in every case of tests/files/op_cases.json: tests/files/pytorch_errors.json.

    python tests/python/cuda_errors.py --device cuda    on a machine with a GPU; what attn's kernels are measured with
    python tests/python/cuda_errors.py --device cpu     what attn's Cpu<float> is measured with
    python tests/python/cuda_errors.py --new --device ...    only cases that the file lacks
    python tests/python/cuda_errors.py --check          computes the CPU's errors again, and compares

The truth is the same computation in float64, on operands that were rounded to the precision first. For each result of a case the
file has two numbers: the norm of the error over the norm of the truth, and its largest element over the truth's root mean square.
Where the truth is 0, as is the gradient of a query that sees one key, they are divided by 1, the size of the operands. On a GPU
attn may have twice the first and four times the second.

PyTorch's way in bfloat16 is that of autocast: products, attention and norms on bfloat16, losses and statistics in float32.
"""
import argparse
import json
import platform
import sys
from pathlib import Path

import torch

from op_results.attention import additive_attention, attention, attention_weights
from op_results.heads import repeat_heads, rotary
from op_results.input_feeding import input_feeding
from op_results.layers import (activation, adam, cross_entropy, dropout, embedding, layer_norm, linear, ragged_projection, residual, sinusoid,
                               tanh)
from op_results.operands import PRECISIONS, Operands
from op_results.recurrent import gather_rows, lstm
from op_results.reductions import (cross_entropy_gradient, kl_divergence, ragged_product, reduce_all, reduce_columns, reduce_rows,
                                   repeat_rows, softmax)

FILES = Path(__file__).resolve().parent.parent / "files"
RECORD = FILES / "pytorch_errors.json"


OPS = {op.__name__: op for op in (attention, attention_weights, additive_attention, linear, ragged_projection, lstm, input_feeding,
                                  gather_rows, layer_norm, residual, dropout, activation, tanh, embedding, sinusoid, cross_entropy, adam,
                                  softmax, reduce_columns, reduce_rows, repeat_rows, reduce_all, ragged_product, cross_entropy_gradient,
                                  kl_divergence, rotary, repeat_heads)}


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
    """What is missing, and what is wrong: errors of other processors and releases differ, but not by much. Where one processor's do differ
    much, the file has them beside the others, under its architecture. Without the large cases."""
    names = {name_of(case) for case in cases if case["op"] in OPS}
    wrong = [f"{name} ({device})" for device in ("cpu", "cuda") for section in [contents[device]] for name in sorted(names ^ section["errors"].keys())]
    stored = contents["cpu"]["errors"] | contents.get(f"cpu {platform.machine()}", {"errors": {}})["errors"]
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
    parser.add_argument("--new", action="store_true", help="record only the cases that the file lacks, and leave the others as they are")
    parser.add_argument("--to", type=Path, default=RECORD, help="where to write the file, with what the old one has of the other device")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("cuda_errors.py: PyTorch finds no GPU")

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    cases = json.loads((FILES / "op_cases.json").read_text())
    contents = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if options.check:
        wrong = compare(cases, contents)
        sys.exit(f"{RECORD} is not what PyTorch computes; record it again: " + ", ".join(wrong) if wrong else 0)
    known = contents[options.device]["errors"] if options.new else {}
    recorded = known | errors_of([case for case in cases if name_of(case) not in known], options.device)
    found = {name: recorded[name] for name in map(name_of, cases) if name in recorded}
    where = torch.cuda.get_device_name() if options.device == "cuda" else "the CPU"
    contents[options.device] = {"made with": f"PyTorch {torch.__version__.split('+')[0]} on {where}", "errors": found}
    options.to.write_text(text_of(contents))
    print(f"{options.to}: the errors of {len(found)} cases, of {contents[options.device]['made with']}")


if __name__ == "__main__":
    main()
