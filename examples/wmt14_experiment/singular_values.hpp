#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "attn/core/types.hpp"

/// The min(rows, cols) singular values of a row-major matrix, in descending order. One-sided Jacobi: rotates pairs of
/// columns until all are orthogonal; the values are then the column norms. Small values are as accurate as large ones.
inline std::vector<double> singular_values(attn::Index rows, attn::Index cols, const std::vector<float>& matrix) {
  const auto m = static_cast<std::size_t>(std::max(rows, cols)), n = static_cast<std::size_t>(std::min(rows, cols));
  std::vector<std::vector<double>> columns(n, std::vector<double>(m));  // of the matrix or its transpose
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i) columns[j][i] = matrix[rows >= cols ? i * n + j : j * m + i];
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  constexpr int kSweeps = 60;  // about ten suffice
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < kSweeps; ++sweep) {
    rotated = false;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double a = dot(columns[p], columns[p]), b = dot(columns[q], columns[q]), c = dot(columns[p], columns[q]);
        if (c == 0 || std::abs(c) <= 1e-12 * std::sqrt(a) * std::sqrt(b)) continue;
        rotated = true;
        const double zeta = (b - a) / (2 * c);
        const double tangent = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1, zeta));
        const double cosine = 1 / std::hypot(1, tangent), sine = cosine * tangent;
        for (std::size_t i = 0; i < m; ++i) {
          const double x = columns[p][i], y = columns[q][i];
          columns[p][i] = cosine * x - sine * y;
          columns[q][i] = sine * x + cosine * y;
        }
      }
  }
  std::vector<double> values;
  for (const auto& column : columns) values.push_back(std::sqrt(dot(column, column)));
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

/// Cumulative share of the sum: entry i is the share of the i largest values.
inline std::vector<double> cumulated_share(const std::vector<double>& values) {
  std::vector<double> share{0};
  for (const double value : values) share.push_back(share.back() + value);
  const double all = share.back();
  for (double& one : share) one = all > 0 ? one / all : 0;
  return share;
}

/// Linear interpolation of a curve with equally spaced points on [0, 1].
inline double interpolated(const std::vector<double>& curve, double place) {
  const double at = place * static_cast<double>(curve.size() - 1);
  const auto left = std::min(static_cast<std::size_t>(at), curve.size() - 2);
  const double weight = at - static_cast<double>(left);
  return (1 - weight) * curve[left] + weight * curve[left + 1];
}
