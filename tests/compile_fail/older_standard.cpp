// refused: attn needs C..20: compile with
// with: -std=c++17
#include <attn/transformer.hpp>
