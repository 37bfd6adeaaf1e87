"""What the reference models share: the sentences, and a linear layer."""
import torch

SOURCE_VOCABULARY, TARGET_VOCABULARY = 23, 29
BEGIN, END, FIRST_WORD = 2, 3, 4
# Source and target words of each pair. The second is one word long on either side, the third has nothing to say (its decoder
# sees one row), the fourth fills all n columns of the Linformer's projections.
LENGTHS = [(5, 6), (1, 1), (7, 0), (12, 9)]


def make_batch(generator):
    words = [torch.randint(FIRST_WORD, size, (length,), generator=generator)
             for pair in LENGTHS for size, length in zip((SOURCE_VOCABULARY, TARGET_VOCABULARY), pair)]
    begin, end = torch.tensor([BEGIN]), torch.tensor([END])
    return {"source": words[0::2], "target": [torch.cat([begin, y]) for y in words[1::2]],
            "labels": [torch.cat([y, end]) for y in words[1::2]]}


def offsets(sentences):
    return torch.tensor([0] + [len(s) for s in sentences]).cumsum(0)


def linear(p, name, x):
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]
