"""PyTorch's times for `wmt14_experiment --part figures`: a forward pass at a constant number of tokens for several sentence
lengths, with the base Transformer and Linformers, encoder alone and encoder-decoder. Writes a table with the same
columns.

  python benchmarks/pytorch_inference.py --to runs/wmt14_experiment/pytorch.tsv

bfloat16 on a GPU, float on a CPU; no padding, so no masks. The encoder-decoder runs up to the decoder's hidden states, with
targets as long as the sources. The mean of 10 passes after two warm-up passes, synchronised once at the end, as for attn.
"""
import argparse
import time
from pathlib import Path

import torch

from pytorch_cuda_model import LONGEST, VOCABULARY, Transformer

FIRST_WORD, LENGTHS = 4, 7


def forward(model, text):
    """Hidden states of the decoder, or of the encoder if there is no decoder."""
    memory = model.encode(text)
    if not model.decoder:
        return memory
    x = model.embed(text)
    for layer in model.decoder:
        x = layer(x, memory)
    return x


@torch.no_grad()
def milliseconds(model, text, repeats):
    def passes(count):
        for _ in range(count):
            forward(model, text)
        if text.is_cuda:
            torch.cuda.synchronize()
    passes(2)
    start = time.perf_counter()
    passes(repeats)
    return 1e3 * (time.perf_counter() - start) / repeats


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, required=True, help="output file")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--tokens", type=int, help="tokens per forward pass (default 16,384 on a GPU, 1,024 on a CPU)")
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    torch.manual_seed(0)
    on_gpu = options.device.startswith("cuda")
    tokens = options.tokens or (16384 if on_gpu else 1024)
    kind_of_number = torch.bfloat16 if on_gpu else torch.float32
    name = torch.cuda.get_device_name(options.device) if on_gpu else f"{torch.get_num_threads()} threads"
    rows = ["whose\tkind\tk\tn\ttokens\tmilliseconds\tdevice"]
    for kind in ("encoder", "encoder-decoder"):
        for k in (0, 32, 64, 128):
            model = Transformer(k, LONGEST, encoder_only=kind == "encoder").to(options.device).to(kind_of_number).eval()
            for shift in reversed(range(LENGTHS)):
                n = tokens >> shift
                text = torch.randint(FIRST_WORD, VOCABULARY, (tokens // n, n), device=options.device)
                spent = milliseconds(model, text, options.repeats)
                rows.append(f"PyTorch\t{kind}\t{k}\t{n}\t{tokens}\t{spent:.4f}\t{name}, PyTorch {torch.__version__}")
                print(rows[-1], flush=True)
            del model
    options.to.parent.mkdir(parents=True, exist_ok=True)
    options.to.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
