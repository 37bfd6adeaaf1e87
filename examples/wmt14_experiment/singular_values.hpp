#pragma once
#include <Eigen/SVD>

#include "attn/core/types.hpp"

/// The min(rows, cols) singular values of a row-major matrix, in descending order.
inline std::vector<double> singular_values(attn::Index rows, attn::Index cols, const std::vector<float>& matrix) {
  if (matrix.empty()) return {};
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::MatrixXd wide = Eigen::Map<const Matrix>(matrix.data(), rows, cols).cast<double>();
  const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(wide).singularValues();
  return {values.begin(), values.end()};
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
