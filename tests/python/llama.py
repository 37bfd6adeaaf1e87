"""Compares attn's Llama with Hugging Face's, of random weights: logits of every token, and greedy continuations."""
# program: llama_logits
import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import LlamaConfig, LlamaForCausalLM
except ImportError as missing:
    print(f"skipped: {missing}; run scripts/setup.sh test")
    sys.exit(77)

PROMPTS = [[7], [1, 2, 3, 4, 5], [70, 3, 3, 3], [0, 70], list(range(40))]
MORE = 20


def run(program, weights, prompts, tied, *numbers):
    output = subprocess.run([program, weights, prompts, tied, *map(str, numbers)], check=True, capture_output=True, text=True).stdout.splitlines()
    rows = sum(map(len, PROMPTS))
    logits = torch.tensor([[float(number) for number in line.split()] for line in output[:rows]])
    return logits, [[int(token) for token in line.split()] for line in output[rows:]]


def compare(program, seed, tied, bias, theta=10000, epsilon=1e-5):
    torch.manual_seed(seed)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=71, hidden_size=48, intermediate_size=80, num_hidden_layers=3,
                                         num_attention_heads=6, num_key_value_heads=2, rms_norm_eps=epsilon, rope_theta=float(theta),
                                         attention_bias=bias, tie_word_embeddings=tied, bos_token_id=0, eos_token_id=0)).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # far from the initial values: no gain is 1, and texts are not dull
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
        weights = folder / "model.safetensors"
        prompts = folder / "prompts"
        prompts.write_text("".join(" ".join(map(str, prompt)) + "\n" for prompt in PROMPTS))
        ours, texts = run(program, weights, prompts, "tied" if tied else "untied", theta, epsilon)
        error = ((ours - logits).abs().max() / logits.abs().max()).item()
        kind = f"{'tied' if tied else 'untied'}{', with biases' if bias else ''}, rope_theta {theta}, rms_norm_eps {epsilon}"
        assert ours.shape == logits.shape and error < 1e-4, f"{kind}: logits differ by {error}, relative to the largest"
        assert texts == continued, f"{kind}: {texts} instead of {continued}"
        print(f"{kind}: {len(logits)} rows of logits, at most {error:.1e} apart, relative to {logits.abs().max():.1f}; "
              f"{len(texts)} texts of {MORE} tokens equal")

        if tied:  # the output layer of an untied model may be the table, but a tied model does not drop another output layer
            ours, texts = run(program, weights, prompts, "untied", theta, epsilon)
            assert texts == continued, f"tied weights in an untied model: {texts}"
        else:
            refused = subprocess.run([program, weights, prompts, "tied"], check=False, capture_output=True, text=True)
            assert refused.returncode == 1 and "no parameter 'lm_head.weight'" in refused.stderr, refused.stderr
        deeper = folder / "deeper.safetensors"
        save_file(load_file(weights) | {"model.layers.3.input_layernorm.weight": torch.ones(48)}, deeper)
        refused = subprocess.run([program, deeper, prompts, "tied" if tied else "untied"], check=False, capture_output=True, text=True)
        assert refused.returncode == 1 and "no parameter 'model.layers.3.input_layernorm.weight'" in refused.stderr, refused.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    compare(program, 1, tied=False, bias=False)
    compare(program, 1, tied=True, bias=False)
    compare(program, 2, tied=False, bias=True)
    compare(program, 5, tied=False, bias=False, theta=500000, epsilon=1e-2)


if __name__ == "__main__":
    main()
