#pragma once
#include <ostream>

#include "attn/core/error.hpp"

namespace attn {

/// What was printed is written, or an Error says that it is not: a program that ends well has said all that it had to say.
inline void require_written(std::ostream& out, const char* what) {
  require(out.flush().good(), "cannot write ", what, " to standard output; is the disk full?");
}

}  // namespace attn
