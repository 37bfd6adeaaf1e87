"""The operands of cuda_errors.py, and what its ops have in common."""
import math

import numpy as np
import torch

np.seterr(over="ignore")  # 32-bit numbers wrap around

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


# --- the numbers of include/attn/core/random.hpp ------------------------------------------------------------------------------


def scramble(x):
    x = np.asarray(x, np.uint32)
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def derive(key, index):
    index = np.asarray(index, np.uint64)
    low = scramble(key[0] + scramble((index & np.uint64(0xFFFFFFFF)).astype(np.uint32)) + np.uint32(0x9E3779B9))
    return low, scramble(key[1] ^ scramble((index >> np.uint64(32)).astype(np.uint32) + low))


def key_of_seed(seed):
    return derive((np.uint32(0x243F6A88), np.uint32(0x85A308D3)), seed)


def random_bits(key, counter):
    return scramble(scramble(np.asarray(counter, np.uint32) ^ key[0]) + key[1])


class Operands:
    """Makes a case's operands, rounded to a precision, in the type that is computed with."""

    def __init__(self, case, precision, dtype, device):
        self.case, self.precision, self.dtype, self.device = case, PRECISIONS[precision], dtype, device
        self.real = torch.float64 if dtype == torch.float64 else torch.float32  # statistics, losses, gradients of parameters

    def __call__(self, stream, *shape, bound=1.0, real=False):
        bits = random_bits(key_of_seed(stream), np.arange(math.prod(shape))) >> np.uint32(8)
        numbers = torch.from_numpy((bound * (bits.astype(np.float64) * 2.0**-23 - 1)).astype(np.float32)).view(shape)
        numbers = numbers if real else numbers.to(self.precision)
        return numbers.to(self.device, self.real if real else self.dtype)

    def whole(self, stream, count, below):
        bits = random_bits(key_of_seed(stream), np.arange(count)).astype(np.uint64)
        return torch.from_numpy(((bits * np.uint64(below)) >> np.uint64(32)).astype(np.int64)).to(self.device)

    def factors(self, rows, columns):
        """Dropout's factors, as attn's masks have them."""
        rate = np.float32(self.case.get("dropout", 0))
        low, high = derive(key_of_seed(9), np.asarray(rows))
        kept = random_bits((low[:, None], high[:, None]), np.arange(columns)[None]) >= np.uint32(float(rate) * 2**32)
        return torch.from_numpy(kept * np.float64(np.float32(1) / (np.float32(1) - rate))).to(self.device, self.real)

    def drop(self, x, factors=None):
        """One rounding, as torch's own dropout has."""
        if not self.case.get("dropout"):
            return x
        factors = self.factors(np.arange(len(x)), x.shape[1]) if factors is None else factors
        return (x.to(self.real) * factors).to(self.dtype)

    def add(self, stream, gradient):
        return gradient + self(stream, *gradient.shape) if self.case.get("add") else gradient


def gradients(y, dy, *inputs):
    return torch.autograd.grad(y, inputs, dy, allow_unused=True)
