#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "support/tensor.hpp"

/// Reference values of PyTorch from tests/files/ops.safetensors (written by tests/python/reference.py):
/// reference("linear/x").
Numbers reference(const std::string& name);
std::vector<std::int32_t> reference_integers(const std::string& name);

/// Tolerance of results in T against PyTorch's in double.
template <class T>
inline constexpr double kReferenceTolerance = sizeof(T) == 8 ? 1e-10 : 5e-6;
