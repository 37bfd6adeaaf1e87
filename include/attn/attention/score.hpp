#pragma once
#include <cmath>
#include <concepts>

namespace attn {

// Score policies: how well a query q and a key k of width d match.

/// q · k. Luong et al. 2015.
struct Dot {
  static constexpr const char* name = "dot";
  static double scale(int) { return 1; }
};

/// q · k / sqrt(d). Vaswani et al. 2017.
struct ScaledDot {
  static constexpr const char* name = "scaled dot";
  static double scale(int width) { return 1 / std::sqrt(static_cast<double>(width)); }
};

template <class Policy>
concept ScoreHasName = requires {
  { Policy::name } -> std::convertible_to<const char*>;
};
template <class Policy>
concept ScoreHasScale = requires(int width) {
  { Policy::scale(width) } -> std::convertible_to<double>;
};
template <class Policy>
concept Score = ScoreHasName<Policy> && ScoreHasScale<Policy>;

static_assert(Score<Dot>);
static_assert(Score<ScaledDot>);

}  // namespace attn
