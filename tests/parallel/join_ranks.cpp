#include "attn/parallel/join_ranks.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"
#include "support/files.hpp"

namespace {

/// A variable of the environment, while it is there.
struct Set {
  const char* name;
  Set(const char* name, const std::string& value) : name(name) { ::setenv(name, value.c_str(), 1); }
  ~Set() { ::unsetenv(name); }
  Set(const Set&) = delete;
};

std::string refusal() {
  return error_of([] { attn::join_ranks(0.05); });
}

}  // namespace

TEST_CASE("join ranks: a process started alone is alone") { CHECK(attn::join_ranks()->alone()); }

TEST_CASE("join ranks: reports invalid rank numbers and a missing folder") {
  const TemporaryFolder folder;
  {
    const Set ranks("ATTN_RANKS", "2");
    CHECK(contains(refusal(), "but not ATTN_HANDSHAKE"));
    const Set handshake("ATTN_HANDSHAKE", (folder / "here").string());
    CHECK(contains(refusal(), "neither ATTN_RANK nor SLURM_PROCID"));
    for (const char* text : {"foo", "1x", "", " 1"}) {
      const Set rank("ATTN_RANK", text);
      CHECK(contains(refusal(), "'" + std::string(text) + "', not a whole number"));
    }
    const Set rank("ATTN_RANK", "2");
    {
      const Set timeout("ATTN_HEARTBEAT_TIMEOUT", "0");
      CHECK(contains(refusal(), "ATTN_HEARTBEAT_TIMEOUT is 0"));
    }
    CHECK(contains(refusal(), "rank 2 is not one of 2 ranks"));
  }
  const Set handshake("ATTN_HANDSHAKE", (folder / "here").string());
  const Set rank("ATTN_RANK", "0"), ranks("ATTN_RANKS", "2");
  CHECK(contains(refusal(), "rank 1 on an unknown machine has not answered"));
}
