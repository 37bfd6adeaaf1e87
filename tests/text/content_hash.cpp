#include "attn/text/content_hash.hpp"

#include "support/files.hpp"

using namespace attn;

namespace {

template <class... Parts>
std::uint64_t hash_of(const Parts&... parts) {
  ContentHash hash;
  (hash.add(parts), ...);
  return hash.value();
}

}  // namespace

TEST_CASE("content hash: known values are stable so that checkpoints stay readable") {
  CHECK(hash_of() == 0xcbf29ce484222325ULL);
  CHECK(hash_of(std::uint64_t{1}) == 0x89cd31291d2aefa4ULL);
  CHECK(hash_of("foobar") == 0xb277229a2d9d19f2ULL);
}

TEST_CASE("content hash: depends on order and boundaries") {
  CHECK(hash_of("ab", "c") != hash_of("a", "bc"));
  CHECK(hash_of("a", "b") != hash_of("b", "a"));
  CHECK(hash_of("") != hash_of());
  CHECK(hash_of("a", "b") == hash_of("a", "b"));
}
