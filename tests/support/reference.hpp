#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "support/tensor.hpp"

/// The numbers of PyTorch in tests/files/ops.safetensors, which tests/python/reference.py wrote: reference("linear/x").
Numbers reference(const std::string& name);
std::vector<std::int32_t> reference_integers(const std::string& name);

/// How far a result in T may be from PyTorch's in double.
template <class T>
inline constexpr double kReferenceTolerance = sizeof(T) == 8 ? 1e-10 : 5e-6;
