"""Compares attn's GPT-2 with Hugging Face's, of random weights: logits of every token, and greedy continuations."""
# program: gpt2_logits
import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import GPT2Config, GPT2LMHeadModel
except ImportError as missing:
    print(f"skipped: {missing}; run scripts/setup.sh test")
    sys.exit(77)

PROMPTS = [[7], [1, 2, 3, 4, 5], [70, 3, 3, 3], [0, 70], list(range(40))]
MORE = 20


def run(program, weights, prompts):
    output = subprocess.run([program, weights, prompts], check=True, capture_output=True, text=True).stdout.splitlines()
    rows = sum(map(len, PROMPTS))
    logits = torch.tensor([[float(number) for number in line.split()] for line in output[:rows]])
    return logits, [[int(token) for token in line.split()] for line in output[rows:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program

    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=71, n_positions=64, n_embd=48, n_layer=3, n_head=4,
                                       bos_token_id=0, eos_token_id=0)).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # far from where it began: no bias is 0, no gain is 1, and texts are not dull
            parameter.add_(0.15 * torch.randn_like(parameter))
        logits = torch.cat([model(torch.tensor([prompt])).logits[0] for prompt in PROMPTS])
        continued = []
        for prompt in PROMPTS:
            text = list(prompt)
            for _ in range(MORE):
                text.append(model(torch.tensor([text])).logits[0, -1].argmax().item())
            continued.append(text[len(prompt):])
    assert len({tuple(text) for text in continued}) == len(PROMPTS) and all(len(set(text)) > 2 for text in continued), continued

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model.save_pretrained(folder)
        prompts = folder / "prompts"
        prompts.write_text("".join(" ".join(map(str, prompt)) + "\n" for prompt in PROMPTS))
        bare = folder / "bare.safetensors"  # as the files of the smallest GPT-2 have their names
        save_file({name.removeprefix("transformer."): tensor for name, tensor in load_file(folder / "model.safetensors").items()}, bare)
        whole = load_file(folder / "model.safetensors")
        masks = {"transformer.h.0.attn.bias": torch.ones(1, 1, 64, 64), "transformer.h.0.attn.masked_bias": torch.tensor(-1e4)}
        masked, deeper = folder / "masked.safetensors", folder / "deeper.safetensors"  # as older files are, and of a model with a layer more
        save_file(whole | masks, masked)
        save_file(whole | {"transformer.h.3.ln_1.bias": torch.zeros(48)}, deeper)
        refused = subprocess.run([program, deeper, prompts], check=False, capture_output=True, text=True)
        assert refused.returncode == 1 and "no parameter 'transformer.h.3.ln_1.bias'" in refused.stderr, f"{deeper.name}: {refused.stderr}"
        for weights in (folder / "model.safetensors", bare, masked):
            ours, texts = run(program, weights, prompts)
            error = (ours - logits).abs().max().item()
            assert ours.shape == logits.shape and error < 1e-4, f"{weights.name}: logits differ by {error}"
            assert texts == continued, f"{weights.name}: {texts} instead of {continued}"
            print(f"{weights.name}: {len(logits)} rows of logits, at most {error:.1e} apart (of {logits.abs().max():.1f}); "
                  f"{len(texts)} texts of {MORE} tokens equal")


if __name__ == "__main__":
    main()
