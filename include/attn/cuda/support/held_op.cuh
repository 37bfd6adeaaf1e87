#pragma once
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace attn {

/// An op whose kernel waits for the op after it, which may do its work too: a decoder's layer norm, which the product that reads it takes in.
/// A device runs it before anything else reaches the stream, so that nobody can tell.
class HeldOp {
 public:
  template <class Device, class Args>
  void hold(Device& device, const Args& args, void (*run)(Device&, const Args&)) {
    static_assert(std::is_trivially_copyable_v<Args> && sizeof(Args) <= sizeof(args_));
    std::memcpy(args_, &args, sizeof(Args));
    device_ = &device;
    call_ = reinterpret_cast<void (*)()>(run);
    run_ = [](const HeldOp& op) {
      Args held;
      std::memcpy(&held, op.args_, sizeof(Args));
      reinterpret_cast<void (*)(Device&, const Args&)>(op.call_)(*static_cast<Device*>(op.device_), held);
    };
  }

  /// Its arguments, if `run` is what runs it; none: null. It waits on.
  template <class Device, class Args>
  const Args* arguments_of(void (*run)(Device&, const Args&)) const {
    return run_ != nullptr && call_ == reinterpret_cast<void (*)()>(run) ? reinterpret_cast<const Args*>(args_) : nullptr;
  }

  void run() {
    if (run_ == nullptr) return;
    const HeldOp op = *this;
    forget();
    op.run_(op);
  }
  void forget() { run_ = nullptr; }

 private:
  alignas(std::max_align_t) std::byte args_[256] = {};
  void* device_ = nullptr;
  void (*call_)() = nullptr;
  void (*run_)(const HeldOp&) = nullptr;
};

}  // namespace attn
