#pragma once
#include <bit>

#include "attn/core/error.hpp"

namespace attn {

/// The number that these bytes, at most eight, have in the wire format.
inline std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// Reads a message in the wire format of Protocol Buffers, field by field:
///
///     for (WireReader in(bytes); in.next();)
///       if (in.field() == 1) name = in.bytes();
///
/// Returned values are views of the message. Checks every length before reading, and throws if a field is read as another
/// type.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message), size_(message.size()) {}

  /// Advances to the next field; false at the end.
  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t key = varint();
    require(key >> 3 > 0 && key >> 3 < (1U << 29), "byte ", position(), ": there is no field ", key >> 3);
    field_ = static_cast<int>(key >> 3);
    type_ = static_cast<Type>(key & 7);
    if (type_ == Type::varint)
      number_ = varint();
    else if (type_ == Type::fixed64)
      number_ = little_endian(take(8));
    else if (type_ == Type::fixed32)
      number_ = little_endian(take(4));
    else if (type_ == Type::bytes)
      bytes_ = take(varint());
    else
      fail("byte ", position(), ": field ", field_, " has the unknown type ", key & 7);
    return true;
  }

  int field() const { return field_; }

  std::string_view bytes() const { return is(Type::bytes, "bytes"), bytes_; }
  std::uint64_t number() const { return is(Type::varint, "a whole number"), number_; }
  float real() const { return is(Type::fixed32, "a float"), std::bit_cast<float>(static_cast<std::uint32_t>(number_)); }

 private:
  enum class Type : unsigned { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  std::size_t position() const { return size_ - rest_.size(); }

  void is(Type type, const char* what) const {
    require(type_ == type, "before byte ", position(), ": field ", field_, " should be ", what, ", but has another type");
  }

  /// Base-128 varint: seven bits per byte, lowest first; the last byte is below 128.
  std::uint64_t varint() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      number |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return number;
    }
    fail("byte ", position(), ": a number of more than 64 bits");
  }

  std::string_view take(std::uint64_t count) {
    require(count <= rest_.size(), "byte ", position(), ": ", count, " bytes should follow, but only ", rest_.size(),
            " do");
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
  std::size_t size_;
  int field_ = 0;
  Type type_ = Type::varint;
  std::uint64_t number_ = 0;
  std::string_view bytes_;
};

/// Writes the wire format. Concatenated fields form a message; bytes(5, real(2, 1.5f)) is a nested message.
namespace wire {

inline std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  return bytes + static_cast<char>(number);
}
inline std::string little_endian(std::uint64_t number, int size) {
  std::string bytes;
  for (int shift = 0; shift < 8 * size; shift += 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}
inline std::string fixed32(std::uint32_t number) { return little_endian(number, 4); }
inline std::string fixed64(std::uint64_t number) { return little_endian(number, 8); }

inline std::string number(unsigned field, std::uint64_t value) { return varint(field << 3) + varint(value); }
inline std::string bytes(unsigned field, std::string_view value) {
  return varint(field << 3 | 2) + varint(value.size()) + std::string(value);
}
inline std::string real(unsigned field, float value) {
  return varint(field << 3 | 5) + fixed32(std::bit_cast<std::uint32_t>(value));
}
inline std::string real(unsigned field, double value) {
  return varint(field << 3 | 1) + fixed64(std::bit_cast<std::uint64_t>(value));
}

}  // namespace wire

}  // namespace attn
