#include "attn/text/wire_format.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"
#include "text/sentencepiece_bytes.hpp"

using namespace attn;

TEST_CASE("wire format: reads fields of every type in message order") {
  const std::string message = wire::number(1, 300) + wire::bytes(2, "abc") + wire::real(3, -1.5f) +
                              wire::varint(4 << 3 | 1) + std::string(8, '\1') + wire::number(536870911, ~0ULL) +
                              wire::bytes(5, "");
  WireReader in(message);
  REQUIRE(in.next());
  CHECK(in.field() == 1);
  CHECK(in.number() == 300);
  REQUIRE(in.next());
  CHECK(in.field() == 2);
  CHECK(in.bytes() == "abc");
  REQUIRE(in.next());
  CHECK(in.field() == 3);
  CHECK(in.real() == -1.5f);
  REQUIRE(in.next());
  CHECK(in.field() == 4);  // eight bytes, which nothing here reads
  REQUIRE(in.next());
  CHECK(in.field() == 536870911);
  CHECK(in.number() == ~0ULL);
  REQUIRE(in.next());
  CHECK(in.bytes().empty());
  CHECK(!in.next());
  CHECK(!WireReader("").next());
}

TEST_CASE("wire format: writes fields as the format specifies") {
  using namespace std::string_literals;
  CHECK(wire::varint(0) == "\0"s);
  CHECK(wire::varint(300) == "\xAC\x02");
  CHECK(wire::varint(~0ULL) == std::string(9, '\xFF') + "\x01");
  CHECK(wire::number(1, 150) == "\x08\x96\x01");
  CHECK(wire::number(16, 1) == "\x80\x01\x01");
  CHECK(wire::bytes(2, "testing") == "\x12\x07testing");
  CHECK(wire::real(3, 1.f) == "\x1D\0\0\x80\x3F"s);
  CHECK(wire::real(4, -2.0) == "\x21\0\0\0\0\0\0\0\xC0"s);
}

TEST_CASE("wire format: truncated fields and wrong lengths and unknown types are errors") {
  const auto read = [](std::string_view message) {
    for (WireReader in(message); in.next();) CHECK(in.field() > 0);
  };
  CHECK(contains(error_of([&] { read("\x0a"); }), "byte 1: 1 bytes should follow, but only 0 do"));
  CHECK(contains(error_of([&] { read("\x0a\x05zwei"); }), "byte 2: 5 bytes should follow, but only 4 do"));
  CHECK(contains(error_of([&] { read(wire::varint(1 << 3 | 2) + wire::varint(1ULL << 60) + "abc"); }),
                 "1152921504606846976 bytes should follow, but only 3 do"));
  CHECK(contains(error_of([&] { read(wire::varint(1 << 3 | 2) + wire::varint(~0ULL)); }),
                 "18446744073709551615 bytes should follow, but only 0 do"));
  CHECK(contains(error_of([&] { read("\x0d\x01\x02"); }), "byte 1: 4 bytes should follow, but only 2 do"));
  CHECK(contains(error_of([&] { read("\x09\x01\x02"); }), "byte 1: 8 bytes should follow, but only 2 do"));
  CHECK(contains(error_of([&] { read(std::string("\x08") + std::string(10, '\x80')); }), "a number of more than 64 bits"));
  CHECK(contains(error_of([&] { read(std::string_view("\0\1", 2)); }), "there is no field 0"));
  CHECK(contains(error_of([&] { read(wire::varint(1ULL << 40)); }), "there is no field 137438953472"));
  for (const char* group : {"\x0b", "\x0c", "\x0e", "\x0f"})
    CHECK(contains(error_of([&] { read(group); }), "has the unknown type"));
}

TEST_CASE("wire format: a field is not read as another type") {
  const std::string message = wire::number(7, 1);
  WireReader in(message);
  REQUIRE(in.next());
  CHECK(contains(error_of([&] { in.bytes(); }), "field 7 should be bytes, but has another type"));
  CHECK(contains(error_of([&] { in.real(); }), "field 7 should be a float"));
  const std::string text = wire::bytes(7, "x");
  WireReader other(text);
  REQUIRE(other.next());
  CHECK(contains(error_of([&] { other.number(); }), "field 7 should be a whole number"));
}
