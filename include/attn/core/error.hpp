#pragma once
#include <sstream>
#include <stdexcept>

#include "attn/core/standard.hpp"

namespace attn {

/// Thrown for invalid input, files and shapes. The message names the problem, its place and a remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown when an allocation fails. A separate type, so that a program can suggest its own memory-saving option.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// Throws an Error whose message concatenates the parts: fail("matmul: ", rows, " rows do not fit ", width).
template <class Kind = Error, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream sentence;
  (sentence << ... << parts);
  throw Kind(sentence.str());
}

/// Calls fail(parts...) if the condition is false. Formats the parts only then.
void require(bool condition, const auto&... parts) {
  if (!condition) [[unlikely]]
    fail(parts...);
}

}  // namespace attn
