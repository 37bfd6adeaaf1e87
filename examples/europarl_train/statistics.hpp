#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "attn/train/progress.hpp"

/// Mean and standard deviation of a row's runs.
struct Statistics {
  double mean = 0, deviation = 0;
  std::size_t runs = 0;

  explicit Statistics(const std::vector<double>& values) : runs(values.size()) {
    for (const double value : values) mean += value / static_cast<double>(runs);
    for (const double value : values) deviation += (value - mean) * (value - mean);
    if (runs > 1) deviation = std::sqrt(deviation / static_cast<double>(runs - 1));
  }

  /// "10.91 ± 0.12"; the mean alone where there is one run.
  std::string to_string(int decimals) const {
    return attn::format_decimals(mean, decimals) + (runs > 1 ? " ± " + attn::format_decimals(deviation, decimals) : "");
  }
};
