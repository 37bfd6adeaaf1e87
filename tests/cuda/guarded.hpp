#pragma once
#include <cstring>

#include "cuda/op_case.hpp"

/// A matrix on a device with memory around it that no op may touch: `gap` columns on either side, more before and after,
/// and the rows that are not in use, if some are not. All of that is NaN: an op that lets what it read there into a result
/// is found as surely as one that writes there.
template <class Device, class T>
class Guarded {
 public:
  /// Without numbers it holds NaN, so that what an op forgets to set is noticed.
  Guarded(Device& device, attn::Index rows, attn::Index cols, const Numbers& numbers = {}, attn::Index gap = 0,
          std::vector<bool> in_use = {})
      : device_(&device),
        in_use_(std::move(in_use)),
        stride_(cols + 2 * gap),
        memory_(device, 2 * kAround + rows * stride_),
        view_(memory_.data() + kAround + gap, rows, cols, stride_) {
    if (in_use_.empty()) in_use_.assign(static_cast<std::size_t>(rows), true);
    before_.assign(static_cast<std::size_t>(memory_.size()), number(kUnset));
    for (attn::Index i = 0; i < rows * cols && !numbers.empty(); ++i)
      if (in_use_[static_cast<std::size_t>(i / cols)]) before_[place(i)] = number(numbers[static_cast<std::size_t>(i)]);
    device.upload(memory_.data(), before_.data(), memory_.size());
  }

  attn::Matrix<T> view() const { return view_; }
  T* data() const { return view_.data; }
  operator attn::Matrix<T>() const { return view_; }
  operator attn::Matrix<const T>() const { return view_; }

  /// The rows in use; an Error where anything else has changed.
  Numbers read(const char* name) const {
    std::vector<T> now(before_.size());
    device_->download(now.data(), memory_.data(), memory_.size());
    std::vector<bool> inside(now.size(), false);
    Numbers numbers;
    for (attn::Index i = 0; i < view_.rows * view_.cols; ++i) {
      if (!in_use_[static_cast<std::size_t>(i / view_.cols)]) continue;
      inside[place(i)] = true;
      numbers.push_back(static_cast<double>(static_cast<Wide>(now[place(i)])));
    }
    for (std::size_t i = 0; i < now.size(); ++i)
      attn::require(inside[i] || std::memcmp(&now[i], &before_[i], sizeof(T)) == 0, name, ": number ",
                    static_cast<attn::Index>(i) - (view_.data - memory_.data()),
                    " from its beginning, which is not its own, "
                    "has changed; rows are ",
                    view_.cols, " of ", stride_, " numbers");
    return numbers;
  }

 private:
  using Wide = std::conditional_t<sizeof(T) == 8, double, float>;
  static constexpr attn::Index kAround = 512;  // numbers: a matrix without a gap stays aligned

  static T number(double x) { return static_cast<T>(static_cast<Wide>(x)); }
  std::size_t place(attn::Index i) const {
    return static_cast<std::size_t>(view_.data - memory_.data() + i / view_.cols * stride_ + i % view_.cols);
  }

  Device* device_;
  std::vector<bool> in_use_;
  attn::Index stride_;
  attn::Buffer<T, typename Device::Memory> memory_;
  attn::Matrix<T> view_;
  std::vector<T> before_;
};

/// A matrix as models compute with, and one of statistics or gradients of parameters.
template <class Device>
using Activations = Guarded<Device, typename Device::Scalar>;
template <class Device>
using Reals = Guarded<Device, typename Device::Real>;
