# program: safetensors_copy
"""Files written by Python's safetensors, copied through attn's reader and writer, are read back equal by Python."""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

GENERATOR = torch.Generator().manual_seed(1)


def random(*shape, dtype):
    if dtype == torch.int64:
        return torch.randint(-(2**62), 2**62, shape, generator=GENERATOR)
    return torch.randn(shape, generator=GENERATOR, dtype=torch.float64).to(dtype)


def files():
    """name -> (tensors, metadata)"""
    dtypes = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i64": torch.int64}
    every = {f"{name}.{'x'.join(map(str, shape))}": random(*shape, dtype=dtype)
             for name, dtype in dtypes.items() for shape in ((), (1,), (7,), (3, 5), (2, 1, 3), (1, 1, 1, 1))}
    edges = {name: torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, torch.finfo(dtype).tiny / 2,
                                 torch.finfo(dtype).max], dtype=dtype)
             for name, dtype in dtypes.items() if dtype.is_floating_point}
    edges["i64"] = torch.tensor([0, -1, 2**63 - 1, -(2**63)])
    empty = {f"{name}.{'x'.join(map(str, shape))}": torch.empty(shape, dtype=dtype)
             for name, dtype in dtypes.items() for shape in ((0,), (0, 4), (4, 0), (2, 0, 3))}
    names = ["ä/ö/ü", "中文.weight", "🦊", "a b", 'quote"back\\slash', "line\nbreak", "tab\t", "nul\0", "", "e\u0301", "é",
             "layers.10.weight", "layers.2.weight", "__metadata", "\u2028"]
    named = {name: torch.full((2,), float(i)) for i, name in enumerate(names)}
    patterns = torch.arange(-(2**15), 2**15).to(torch.int16)
    halves = {"f16": patterns.view(torch.float16), "bf16": patterns.clone().view(torch.bfloat16)}
    others = {str(dtype): torch.tensor([[0, 1, 1]]).to(dtype)
              for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.float8_e4m3fn, torch.float8_e5m2)}
    return {
        "all numbers of 16 bits": (halves, None),
        "types that attn only copies": (others, None),
        "every type and rank": (every, {"format": "pt"}),
        "edges of each type": (edges, None),
        "empty tensors": (empty, {"epoch": "3"}),
        "empty among full": ({**empty, **every}, {}),
        "names": (named, {"größe": "中文 🦊 \"\\\n\0", "": ""}),
        "nothing": ({}, {"only": "metadata"}),
        "nothing at all": ({}, None),
        "many": ({f"layers.{i}.weight": random(i % 7, 3, dtype=torch.float32) for i in range(2000)}, None),
    }


def same(a, b):
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # compare bits, so that NaN equals itself and -0 is not 0
    return (a.dtype == b.dtype and a.shape == b.shape
            and torch.equal(a.view(bits[a.element_size()]), b.view(bits[b.element_size()])))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the built safetensors_copy")
    parser.add_argument("--data", help="not used")
    program = parser.parse_args().program

    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        source, copy, again = (Path(folder) / name for name in ("source", "copy", "again"))
        for name, (tensors, metadata) in files().items():
            save_file(tensors, source, metadata)
            for start, end in ((source, copy), (copy, again)):
                done = subprocess.run([program, start, end], capture_output=True, text=True)
                if done.returncode != 0:
                    break
            problems = []
            if done.returncode != 0:
                problems.append(f"safetensors_copy failed: {done.stderr.strip()}")
            else:
                result = load_file(copy)
                if result.keys() != tensors.keys():
                    problems.append(f"names differ: {sorted(result.keys() ^ tensors.keys())}")
                problems += [f"tensor {key!r} differs" for key in result.keys() & tensors.keys() if not same(result[key], tensors[key])]
                with safe_open(copy, "pt") as file:
                    found = {key: value for key, value in file.metadata().items() if not key.startswith("attn.checksum.")}
                    if found != (metadata or {}) or len(file.metadata()) != len(found) + 2:
                        problems.append(f"metadata differs: {file.metadata()!r} instead of {metadata!r} and two checksums")
                # Every float's value as attn converts it, beside torch's.
                subprocess.run([program, "--as-f64", copy, again], check=True)
                for key, wide in load_file(again).items():
                    if not torch.equal(wide.nan_to_num(nan=7e77), result[key].double().nan_to_num(nan=7e77)):
                        problems.append(f"tensor {key!r}: other values as double")
                subprocess.run([program, copy, again], check=True)
                if int.from_bytes(copy.read_bytes()[:8], "little") % 8:
                    problems.append("the header's length is not a multiple of 8")
                if copy.read_bytes() != again.read_bytes():
                    problems.append("a copy of the copy has other bytes")
            failures += bool(problems)
            print(f"{'FAILED' if problems else 'ok'}: {name} ({len(tensors)} tensors)", *problems, sep="\n  ")

        # What Python would refuse, attn refuses: no file is written.
        source.write_bytes(b"\x10\0\0\0\0\0\0\0{\"a\":")
        refused = Path(folder) / "refused"
        done = subprocess.run([program, source, refused], capture_output=True, text=True)
        if done.returncode == 0 or str(source) not in done.stderr or refused.exists():
            failures += 1
            print("FAILED: a damaged file was not refused")
    if failures:
        sys.exit(f"{failures} files did not survive the round trip")


if __name__ == "__main__":
    main()
