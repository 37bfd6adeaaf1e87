#pragma once
#include <cstdint>
#include <vector>

/// Attention shapes for the tests of every backend. After each sentence's keys there are `spare` rows of no sentence;
/// beside every operand there are `gap` columns of another matrix.
struct AttentionCase {
  const char* name;
  std::vector<std::int32_t> queries, keys;  // lengths of the sentences
  int heads, head_width;
  bool causal = false;
  float dropout = 0;
  std::int32_t spare = 0, gap = 0;

  int width() const { return heads * head_width; }
};

inline const std::vector<AttentionCase>& attention_cases() {
  static const std::vector<AttentionCase> cases = {
      {"no sentences", {}, {}, 2, 4},
      {"one token", {1}, {1}, 1, 4},
      {"one token that looks back", {1}, {1}, 2, 3, true},
      {"self", {5, 3}, {5, 3}, 2, 4},
      {"self with an empty sentence and one of one token", {4, 0, 1, 3}, {4, 0, 1, 3}, 3, 5},
      {"looking back", {6, 1, 4}, {6, 1, 4}, 4, 7, true},
      {"looking back with dropout", {6, 0, 4}, {6, 0, 4}, 2, 5, true, 0.3f},
      {"cross", {3, 1, 5}, {6, 4, 1}, 2, 4},
      {"cross into empty memory", {2, 3, 1}, {0, 2, 0}, 2, 3},
      {"cross from an empty sentence", {0, 2}, {3, 1}, 3, 1},
      {"cross with dropout", {3, 2}, {9, 5}, 4, 2, false, 0.5f},
      {"cached: one query and more keys", {1, 1, 1}, {4, 1, 7}, 2, 7, true, 0, 3},
      {"cached: two queries and more keys", {2, 2}, {5, 3}, 1, 5, true, 0, 1, 2},
      {"looking back at fewer keys than queries", {4, 3}, {2, 0}, 2, 3, true},
      {"one query a sentence, with dropout", {1, 0, 1, 1}, {4, 2, 1, 7}, 2, 3, false, 0.4f},
      {"slices of wider matrices", {4, 2}, {4, 2}, 2, 5, true, 0.2f, 0, 3},
      {"more queries than a block", {70, 3}, {70, 3}, 1, 3, true, 0.1f},
      {"more queries than two blocks into a short memory", {131}, {4}, 2, 2},
      {"more hidden queries than a block", {70}, {3}, 1, 2, true},
  };
  return cases;
}
