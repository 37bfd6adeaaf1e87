#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace attn {

/// What attn throws when a user's input, file or shape is wrong: one sentence that says what, where, and what to change.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The Error where memory ends, so that a program can name the option of its own that saves some.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// Throws Error with the parts written one after another: fail("matmul: ", rows, " rows do not fit ", width).
template <class Kind = Error, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream sentence;
  (sentence << ... << parts);
  throw Kind(sentence.str());
}

/// fail(parts...) unless the condition holds; the parts are only formatted when it does not.
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(parts...);
}

}  // namespace attn
