#pragma once
#include <cmath>
#include <span>
#include <string>

#include "attn/train/progress.hpp"

namespace attn {

/// Mean and standard deviation of one figure over several runs, as tables give them: of seeds, of repetitions.
struct RunStatistics {
  double mean = 0, deviation = 0;  // deviation: of a sample, its sum of squares divided by runs - 1; 0 for one run
  std::size_t runs = 0;

  explicit RunStatistics(std::span<const double> values) : runs(values.size()) {
    for (const double value : values) mean += value / static_cast<double>(runs);
    for (const double value : values) deviation += (value - mean) * (value - mean);
    if (runs > 1) deviation = std::sqrt(deviation / static_cast<double>(runs - 1));
  }

  /// "10.91 ± 0.12"; the mean alone where there is one run.
  std::string to_string(int decimals) const {
    return format_decimals(mean, decimals) + (runs > 1 ? " ± " + format_decimals(deviation, decimals) : "");
  }
};

}  // namespace attn
