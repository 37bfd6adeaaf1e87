#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "command_line.hpp"

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
    return rounded(mean, decimals) + (runs > 1 ? " ± " + rounded(deviation, decimals) : "");
  }
};
