#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/sentencepiece_model.hpp"

// Models of SentencePiece in bytes: what its readers' tests read.

namespace attn::wire {

inline std::string piece(std::string_view text, float score, SentencePieceModel::PieceKind kind) {
  return bytes(1, bytes(1, text) + real(2, score) + number(3, static_cast<std::uint64_t>(kind)));
}

/// Rules that make "A" an "a", U+3000 a space, and "--" nothing: a double array of the five nodes that takes.
inline std::string rules() {
  std::vector<std::uint32_t> units(0x400);
  const auto offset = [](std::uint32_t to) { return to << 10; };
  units[0] = offset(0x100);
  const auto leaf = [&](std::uint32_t node, unsigned char label, std::uint32_t at, std::uint32_t value) {
    units[node] = label | 1U << 8 | offset(node ^ at);
    units[at] = 1U << 31 | value;
  };
  leaf(0x100 ^ 'A', 'A', 0x3C0, 0);
  units[0x100 ^ '-'] = '-' | offset((0x100 ^ '-') ^ 0x200);
  leaf(0x200 ^ '-', '-', 0x3C1, 4);
  units[0x100 ^ 0xE3] = 0xE3 | offset((0x100 ^ 0xE3) ^ 0x280);
  units[0x280 ^ 0x80] = 0x80 | offset((0x280 ^ 0x80) ^ 0x380);
  leaf(0x380 ^ 0x80, 0x80, 0x3C2, 2);
  std::string table;
  for (const std::uint32_t unit : units) table += fixed32(unit);
  using namespace std::string_literals;
  return fixed32(static_cast<std::uint32_t>(table.size())) + table + "a\0 \0\0"s;
}

}  // namespace attn::wire
