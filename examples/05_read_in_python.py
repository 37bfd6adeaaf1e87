"""05_read_in_python.py MODEL: reads the file of 05_loading_into_python, runs the encoder in PyTorch and compares."""

import sys

import torch
from safetensors import safe_open

TORCH_NAMES = {  # attn's names of an encoder layer's parameters, and torch.nn.TransformerEncoderLayer's
    "attention.in.weight": "self_attn.in_proj_weight",
    "attention.in.bias": "self_attn.in_proj_bias",
    "attention.out.weight": "self_attn.out_proj.weight",
    "attention.out.bias": "self_attn.out_proj.bias",
    "attention_norm.gain": "norm1.weight",
    "attention_norm.bias": "norm1.bias",
    "feed_forward.up.weight": "linear1.weight",
    "feed_forward.up.bias": "linear1.bias",
    "feed_forward.down.weight": "linear2.weight",
    "feed_forward.down.bias": "linear2.bias",
    "feed_forward_norm.gain": "norm2.weight",
    "feed_forward_norm.bias": "norm2.bias",
}


def positions(length, width):
    rates = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=2).reshape(length, width).float()


with safe_open(sys.argv[1], framework="pt") as file:
    about = file.metadata()
    tensors = {name: file.get_tensor(name) for name in file.keys()}
for name in sorted(tensors):
    print(f"{str(tuple(tensors[name].shape)):>12}  {name}")

table = tensors["source_embedding.table"]
width = table.shape[1]
tokens = torch.tensor([int(token) for token in about["tokens"].split()])
x = table[tokens] * width**0.5 + positions(len(tokens), width)

layer = 0
while f"encoder.layers.{layer}.attention.in.weight" in tensors:
    names = {torch_name: f"encoder.layers.{layer}.{name}" for name, torch_name in TORCH_NAMES.items()}
    inner = tensors[names["linear1.weight"]].shape[0]
    module = torch.nn.TransformerEncoderLayer(width, int(about["heads"]), inner, dropout=0, batch_first=True)
    module.load_state_dict({torch_name: tensors[name] for torch_name, name in names.items()})
    x = module(x[None])[0]
    layer += 1

expected = torch.tensor([float(number) for number in about["state"].split()])
difference = (x[-1] - expected).abs().max().item()
print(f"{layer} encoder layers in PyTorch; the last state begins", *(f"{number:.6g}" for number in x[-1, :3].tolist()))
print(f"largest difference from attn's: {difference:.1e}")
sys.exit(difference > 1e-4)
