#pragma once
#ifdef ATTN_CHECKED
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>
#endif

#include "attn/core/error.hpp"

namespace attn {

// A checked build (-DATTN_CHECKED) tracks live tapes: use of an activation or a loss after its tape throws an Error. Other
// builds store a plain pointer.

#ifdef ATTN_CHECKED
class LiveTapes {
 public:
  static std::uint64_t begin() {
    const std::lock_guard lock(all().mutex_);
    all().numbers_.push_back(++all().last_);
    return all().last_;
  }
  static void end(std::uint64_t number) {
    const std::lock_guard lock(all().mutex_);
    std::erase(all().numbers_, number);
  }
  static bool contains(std::uint64_t number) {
    const std::lock_guard lock(all().mutex_);
    return std::ranges::find(all().numbers_, number) != all().numbers_.end();
  }

 private:
  static LiveTapes& all() {
    static LiveTapes tapes;
    return tapes;
  }
  std::mutex mutex_;
  std::vector<std::uint64_t> numbers_;
  std::uint64_t last_ = 0;
};

/// Registers a tape while it lives.
struct TapeLife {
  const std::uint64_t number = LiveTapes::begin();
  TapeLife() = default;
  TapeLife(const TapeLife&) = delete;
  ~TapeLife() { LiveTapes::end(number); }
};
#else
struct TapeLife {};
#endif

/// A pointer from an activation or a loss to its tape.
template <class Tape>
class TapePointer {
 public:
  TapePointer() = default;
  TapePointer(Tape* tape) : tape_(tape) {
#ifdef ATTN_CHECKED
    if (tape != nullptr) number_ = tape->life.number;
#endif
  }
  bool operator==(std::nullptr_t) const { return tape_ == nullptr; }
  Tape& operator*() const { return *tape_; }
  void check() const {
#ifdef ATTN_CHECKED
    require(
        LiveTapes::contains(number_),
        "an activation or a loss is used after its tape has ended. Keep the Tape alive, or compute it again on a new one.");
#endif
  }

 private:
  Tape* tape_ = nullptr;
#ifdef ATTN_CHECKED
  std::uint64_t number_ = 0;
#endif
};

}  // namespace attn
