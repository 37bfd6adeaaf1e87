"""Writes the numbers of PyTorch (float64, CPU) that the C++ tests compare attn with: tests/files/*.safetensors.

    python tests/python/reference.py            writes the files again: the same PyTorch gives the same bytes
    python tests/python/reference.py --check    computes everything again and compares with the files, to 1e-9

transformer, transformer_prenorm, linformer: a 2+2-layer model, written out in references/, on four sentence pairs.
    parameter/NAME, gradient/NAME         all parameters, and the gradients of loss[0]
    source/tokens, source/offsets         sentences packed end to end; sentence i is tokens[offsets[i]] to tokens[offsets[i + 1]]
    target/tokens, target/offsets         the decoder's inputs: begin, then the sentence
    labels                                the sentence, then end; packed as the inputs are
    encoder/output, decoder/output        packed rows, before the output layer (with the final norm of the pre-norm model)
    loss                                  mean over labels: smoothing 0.1 as PyTorch defines it; none; 0.1 as fairseq defines it
    adam/NAME, adam/losses, adam/norms    after ten steps of Adam on loss[0], clipped at norm 1; loss and norm before each step
    adamw/NAME, adamw/losses              after ten steps of AdamW, decay 0.01, not clipped (transformer only)

lstm: torch.nn.LSTM over packed sequences, by CASE (layers, directions, initial states); sentences packed end to end, as above.
    CASE/x, CASE/offsets, CASE/h0, CASE/c0      h0 and c0, of [layer, sentence, width], where the case has initial states
    CASE/parameter/LAYER.DIRECTION.NAME         NAME: input, recurrent, bias (the sum of PyTorch's two)
    CASE/y, CASE/last_h, CASE/last_c            rows, and [layer, sentence, width]; both directions side by side in the width
    CASE/gradient/...                           of all of these: given for y, last_h and last_c, computed for the others

seq2seq: recurrent models of words 4, states 6, written out in references/, by CASE; sentences packed end to end, as above.
    source/tokens, source/offsets, target/tokens, target/offsets, labels      one batch for all cases
    CASE/parameter/NAME, CASE/gradient/NAME     all parameters, and the gradients of the loss
    CASE/logits, CASE/loss                      of every label; mean over labels

ops: single functions; OP/..., inputs under their names, gradients under gradient/... for the output's gradient `gradient/y`.
"""
import argparse
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from references.ops import ops_file
from references.recurrent import lstm_file, seq2seq_file
from references.transformer import model_file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    parser.add_argument("--files", type=Path, default=Path(__file__).resolve().parent.parent / "files", help="their folder")
    options = parser.parse_args()

    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # sums in one order, so that the bytes repeat
    torch.use_deterministic_algorithms(True)
    contents = {
        "transformer": model_file(adamw=True),
        "transformer_prenorm": model_file(prenorm=True),
        "linformer": model_file(linformer=True),
        "lstm": lstm_file(),
        "seq2seq": seq2seq_file(),
        "ops": ops_file(),
    }
    failures = 0
    options.files.mkdir(parents=True, exist_ok=True)
    for name, (tensors, about) in contents.items():
        path = options.files / f"{name}.safetensors"
        tensors = {key: value.detach().contiguous().clone() for key, value in tensors.items()}
        assert all(value.isfinite().all() for value in tensors.values()), name
        if not options.check:
            save_file(tensors, path, {"about": about})  # one entry: the order of several is random
            path.chmod(0o644)
            print(f"{path}: {len(tensors)} tensors, {path.stat().st_size} bytes")
            continue
        stored = load_file(path)
        wrong = sorted(stored.keys() ^ tensors.keys())
        wrong += [key for key in stored.keys() & tensors.keys() if stored[key].shape != tensors[key].shape
                  or not torch.allclose(stored[key], tensors[key], rtol=1e-9, atol=1e-9)]
        print(f"{path}: {'differs: ' + ', '.join(wrong) if wrong else 'as PyTorch ' + torch.__version__ + ' computes it'}")
        failures += bool(wrong)
    if failures:
        sys.exit(f"{failures} files are not what PyTorch computes")


if __name__ == "__main__":
    main()
