"""The base Transformer and the Linformer in PyTorch, padded or packed, for benchmarks/pytorch_cuda.py.

Post-norm, sinusoidal positions, one embedding for both languages, a separate output layer.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, INNER, LAYERS, VOCABULARY, DROPOUT = 512, 8, 2048, 6, 50272, 0.1
PAD, LONGEST = 1, 16384


class Attention(nn.Module):
    """k > 0: Linformer attention, with keys and values of at most n positions projected to length k."""

    def __init__(self, k=0, n=256):
        super().__init__()
        self.queries, self.keys_values, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.k = k
        if k:
            self.mix_keys, self.mix_values = (nn.Parameter(torch.randn(k, n) / math.sqrt(n)) for _ in range(2))

    def forward(self, x, memory, mask=None, causal=False, real=None):
        sentences, length = memory.shape[:2]
        queries = self.queries(x).view(sentences, -1, HEADS, WIDTH // HEADS).transpose(1, 2)
        keys_values = self.keys_values(memory)
        if self.k:
            if real is not None:
                keys_values = keys_values * real[..., None]
            keys, values = keys_values.chunk(2, -1)
            mask = None
            keys = self.mix_keys[:, :length].to(keys.dtype) @ keys
            values = self.mix_values[:, :length].to(values.dtype) @ values
        else:
            keys, values = keys_values.chunk(2, -1)
        keys = keys.view(sentences, -1, HEADS, WIDTH // HEADS).transpose(1, 2)
        values = values.view(sentences, -1, HEADS, WIDTH // HEADS).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, is_causal=causal)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def packed(self, x, rows, memory, memory_rows, causal):
        """Without padding: `rows` are sentence offsets and the longest sentence."""
        from torch.nn.attention.varlen import varlen_attn
        queries = self.queries(x).view(-1, HEADS, WIDTH // HEADS)
        keys, values = self.keys_values(memory).view(-1, 2, HEADS, WIDTH // HEADS).unbind(1)
        window = (-1, 0) if causal else (-1, -1)
        mixed = varlen_attn(queries, keys, values, rows[0], memory_rows[0], rows[1], memory_rows[1], window_size=window)
        return self.out(mixed.flatten(1))


class Layer(nn.Module):
    """An encoder layer, or with `across` a decoder layer with cross-attention."""

    def __init__(self, across, k=0, n=256):
        super().__init__()
        self.across = across
        self.attention, self.norm = Attention(0 if across else k, n), nn.LayerNorm(WIDTH)
        if across:
            self.cross_attention, self.cross_norm = Attention(k, n), nn.LayerNorm(WIDTH)
        self.up, self.down, self.feed_forward_norm = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH), nn.LayerNorm(WIDTH)
        self.dropout = nn.Dropout(DROPOUT)

    def feed_forward(self, x):
        return self.feed_forward_norm(x + self.dropout(self.down(F.relu(self.up(x)))))

    def forward(self, x, memory=None, mask=None, real=None):
        if self.across:
            x = self.norm(x + self.dropout(self.attention(x, x, causal=True)))
            x = self.cross_norm(x + self.dropout(self.cross_attention(x, memory, mask, real=real)))
        else:
            x = self.norm(x + self.dropout(self.attention(x, x, mask, real=real)))
        return self.feed_forward(x)

    def packed(self, x, rows, memory=None, memory_rows=None):
        x = self.norm(x + self.dropout(self.attention.packed(x, rows, x, rows, self.across)))
        if self.across:
            x = self.cross_norm(x + self.dropout(self.cross_attention.packed(x, rows, memory, memory_rows, False)))
        return self.feed_forward(x)


class Transformer(nn.Module):
    def __init__(self, k=0, n=256, encoder_only=False):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.encoder = nn.ModuleList(Layer(False, k, n) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(Layer(True, k, n) for _ in range(0 if encoder_only else LAYERS))
        self.output = nn.Linear(WIDTH, VOCABULARY)
        self.dropout = nn.Dropout(DROPOUT)
        angles = torch.arange(LONGEST)[:, None] / 10000 ** (torch.arange(0, WIDTH, 2) / WIDTH)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).flatten(1))

    def embed(self, tokens, positions=None):
        table = self.positions[: tokens.shape[1]] if positions is None else self.positions[positions]
        return self.dropout(self.embedding(tokens) * math.sqrt(WIDTH) + table)

    def encode(self, source, mask=None, real=None):
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, mask=mask, real=real)
        return x

    def loss(self, source, target, real=None):
        """Mean cross-entropy. `real` masks the padding of the source; None: all rows are equally long."""
        mask = None if real is None else real[:, None, None, :]
        memory = self.encode(source, mask, real)
        x = self.embed(target[:, :-1])
        for layer in self.decoder:
            x = layer(x, memory, mask, real)
        return F.cross_entropy(self.output(x).flatten(0, 1), target[:, 1:].flatten(), ignore_index=-100 if real is None else PAD)

    def packed_loss(self, source, source_positions, source_rows, target, target_positions, target_rows, labels):
        memory = self.embed(source, source_positions)
        for layer in self.encoder:
            memory = layer.packed(memory, source_rows)
        x = self.embed(target, target_positions)
        for layer in self.decoder:
            x = layer.packed(x, target_rows, memory, source_rows)
        return F.cross_entropy(self.output(x), labels)
