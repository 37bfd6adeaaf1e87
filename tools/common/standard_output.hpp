#pragma once
#include <ostream>

#include "attn/core/error.hpp"

namespace attn {

/// Flushes the output and throws Error if it could not be written.
inline void require_written(std::ostream& out, const char* what) {
  require(out.flush().good(), "cannot write ", what, " to standard output. Is the disk full?");
}

}  // namespace attn
