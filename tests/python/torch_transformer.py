"""Compares attn's Transformer with torch.nn.Transformer, of random weights loaded by PyTorch's names: logits of every target token."""
# program: torch_transformer_logits
import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
    from safetensors.torch import save_file
except ImportError as missing:
    print(f"skipped: {missing}; run scripts/setup.sh test")
    sys.exit(77)

WIDTH, VOCABULARY = 24, 31
PAIRS = [([3, 4, 5], [6, 7]), ([9], [1, 2, 3, 4, 5, 6]), (list(range(30)), [0]), ([1, 1, 1, 1], [30, 30, 2])]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    for norm, activation in (("post", "relu"), ("pre", "gelu")):
        torch.manual_seed(1)
        tables = {side: torch.nn.Embedding(VOCABULARY, WIDTH) for side in ("source", "target")}
        output = torch.nn.Linear(WIDTH, VOCABULARY)
        model = torch.nn.Transformer(WIDTH, nhead=4, num_encoder_layers=2, num_decoder_layers=3, dim_feedforward=40, dropout=0, activation=activation,
                                     batch_first=True, norm_first=norm == "pre").eval()
        with torch.no_grad():
            for parameter in [*model.parameters(), *output.parameters()]:  # no bias is 0, no gain is 1
                parameter.add_(0.2 * torch.randn_like(parameter))
            logits = torch.cat([output(model(tables["source"](torch.tensor([source])), tables["target"](torch.tensor([target])),
                                             tgt_mask=model.generate_square_subsequent_mask(len(target)), tgt_is_causal=True))[0]
                                for source, target in PAIRS])
        state = model.state_dict() | {"output.weight": output.weight, "output.bias": output.bias}
        state |= {f"{side}_embedding.table": table.weight for side, table in tables.items()}
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            save_file({name: tensor.detach().contiguous() for name, tensor in state.items()}, folder / "torch.safetensors")
            (folder / "pairs").write_text("".join(f"{' '.join(map(str, source))} | {' '.join(map(str, target))}\n" for source, target in PAIRS))
            done = subprocess.run([program, folder / "torch.safetensors", norm, folder / "pairs"], capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"failed: {done.stderr}")
        ours = torch.tensor([[float(number) for number in line.split()] for line in done.stdout.splitlines()])
        error = (ours - logits).abs().max().item()
        assert ours.shape == logits.shape and error < 1e-4, f"{norm}-norm: logits differ by {error}"
        print(f"{norm}-norm, {activation}: {len(logits)} rows of logits, at most {error:.1e} apart (of {logits.abs().max():.1f})")


if __name__ == "__main__":
    main()
