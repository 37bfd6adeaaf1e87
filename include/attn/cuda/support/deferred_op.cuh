#pragma once
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace attn {

/// An op that waits because the next op may fuse it: a product in a decoder fuses the layer norm of its input. Otherwise the device
/// runs it before anything else reaches the stream, so the delay is not observable.
class DeferredOp {
 public:
  template <class Device, class Args>
  void set(Device& device, const Args& args, void (*run)(Device&, const Args&)) {
    static_assert(std::is_trivially_copyable_v<Args> && sizeof(Args) <= sizeof(args_));
    std::memcpy(args_, &args, sizeof(Args));
    device_ = &device;
    call_ = reinterpret_cast<void (*)()>(run);
    run_ = [](const DeferredOp& op) {
      Args arguments;
      std::memcpy(&arguments, op.args_, sizeof(Args));
      reinterpret_cast<void (*)(Device&, const Args&)>(op.call_)(*static_cast<Device*>(op.device_), arguments);
    };
  }

  /// The arguments of the deferred op if `run` runs it, else null. The op stays deferred.
  template <class Device, class Args>
  const Args* arguments_of(void (*run)(Device&, const Args&)) const {
    return run_ != nullptr && call_ == reinterpret_cast<void (*)()>(run) ? reinterpret_cast<const Args*>(args_) : nullptr;
  }

  void run() {
    if (run_ == nullptr) return;
    const DeferredOp op = *this;
    forget();
    op.run_(op);
  }
  void forget() { run_ = nullptr; }

 private:
  alignas(std::max_align_t) std::byte args_[256] = {};
  void* device_ = nullptr;
  void (*call_)() = nullptr;
  void (*run_)(const DeferredOp&) = nullptr;
};

}  // namespace attn
