#pragma once
#include "attn/train/terminal.hpp"

namespace attn {

/// Mean and standard deviation of one metric over several runs, such as seeds or repetitions.
struct RunStatistics {
  double mean = 0, deviation = 0;  // sample standard deviation (divisor: runs - 1); 0 for one run
  std::size_t runs = 0;

  explicit RunStatistics(std::span<const double> values) : runs(values.size()) {
    for (const double value : values) mean += value / static_cast<double>(runs);
    for (const double value : values) deviation += (value - mean) * (value - mean);
    if (runs > 1) deviation = std::sqrt(deviation / static_cast<double>(runs - 1));
  }

  /// "10.91 ± 0.12", or only the mean for one run.
  std::string to_string(int decimals) const {
    return format_decimals(mean, decimals) + (runs > 1 ? " ± " + format_decimals(deviation, decimals) : "");
  }
};

}  // namespace attn
