#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "attn/core/matrix.hpp"
#include "attn/core/memory.hpp"
#include "attn/core/ragged.hpp"
#include "attn/core/random.hpp"

using Numbers = std::vector<double>;  // row-major, on the host

inline constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();  // exposes values that an op does not set

/// `count` random numbers of a seed, uniform in [-bound, bound].
inline Numbers random_numbers(attn::Index count, std::uint64_t seed, double bound = 1) {
  attn::Random random(seed);
  Numbers numbers(static_cast<std::size_t>(count));
  for (double& number : numbers) number = random.uniform(-bound, bound);
  return numbers;
}

/// A device matrix that owns its memory. With a gap it is a column slice of a wider matrix, whose other columns no op may
/// modify.
template <class Device>
class Tensor {
 public:
  using Scalar = typename Device::Scalar;

  Tensor(Device& device, attn::Index rows, attn::Index cols, double fill = kUnset, attn::Index gap = 0)
      : Tensor(device, rows, cols, Numbers(static_cast<std::size_t>(rows * cols), fill), gap) {}
  Tensor(Device& device, attn::Index rows, attn::Index cols, const Numbers& numbers, attn::Index gap = 0)
      : device_(&device), memory_(device, rows * (cols + 2 * gap) + 1), gap_(gap) {
    view_ = attn::Matrix<Scalar>(memory_.data(), rows, cols + 2 * gap).columns(gap, cols);
    std::vector<Scalar> all(static_cast<std::size_t>(memory_.size()), kOutside);
    device.upload(memory_.data(), all.data(), memory_.size());
    write(numbers);
  }

  attn::Matrix<Scalar> view() const { return view_; }
  Scalar* data() const { return view_.data; }
  attn::Index rows() const { return view_.rows; }
  attn::Index cols() const { return view_.cols; }
  operator attn::Matrix<Scalar>() const { return view_; }
  operator attn::Matrix<const Scalar>() const { return view_; }

  void write(const Numbers& numbers) {
    const std::vector<Scalar> host(numbers.begin(), numbers.end());
    for (attn::Index i = 0; i < rows(); ++i) device_->upload(view_.row(i), host.data() + i * cols(), cols());
  }
  Numbers read() const {
    std::vector<Scalar> host(static_cast<std::size_t>(rows() * cols()));
    for (attn::Index i = 0; i < rows(); ++i) device_->download(host.data() + i * cols(), view_.row(i), cols());
    return Numbers(host.begin(), host.end());
  }
  /// Whether the columns outside the slice and the number after the last row are unchanged.
  bool outside_untouched() const {
    std::vector<Scalar> all(static_cast<std::size_t>(memory_.size()));
    device_->download(all.data(), memory_.data(), memory_.size());
    const attn::Index stride = cols() + 2 * gap_;
    for (attn::Index i = 0; i < memory_.size(); ++i) {
      const attn::Index column = i % stride - gap_;
      const bool inside = i < rows() * stride && column >= 0 && column < cols();
      if (!inside && all[static_cast<std::size_t>(i)] != kOutside) return false;
    }
    return true;
  }

 private:
  static constexpr Scalar kOutside = Scalar(777);

  Device* device_;
  attn::Buffer<Scalar, typename Device::Memory> memory_;
  attn::Index gap_;
  attn::Matrix<Scalar> view_;
};

/// An array of integers on a device: tokens, labels, offsets.
template <class Device>
class Integers {
 public:
  Integers(Device& device, const std::vector<std::int32_t>& numbers)
      : device_(device), size_(static_cast<attn::Index>(numbers.size())), memory_(device, size_ + 1) {
    device.upload(memory_.data(), numbers.data(), size_);
  }
  std::int32_t* data() const { return memory_.data(); }
  std::vector<std::int32_t> read() const {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(size_));
    device_.download(numbers.data(), memory_.data(), size_);
    return numbers;
  }

 private:
  Device& device_;
  attn::Index size_;
  attn::Buffer<std::int32_t, typename Device::Memory> memory_;
};

/// Consecutive sentences of the given lengths, each followed by `spare` unused rows, as in a cache. Without spare rows it
/// is a packed batch with one array of offsets, as outside of tests.
template <class Device>
class Layout {
 public:
  Layout(Device& device, const std::vector<std::int32_t>& lengths, std::int32_t spare = 0)
      : begin_(device, places(lengths, spare, false)), end_(device, places(lengths, spare, true)) {
    const std::int32_t* end = spare == 0 ? begin_.data() + 1 : end_.data();
    ragged_ = {begin_.data(), end, static_cast<attn::Index>(lengths.size()), 0, 0};
    for (const std::int32_t length : lengths) {
      ragged_.rows += length;
      ragged_.longest = std::max<attn::Index>(ragged_.longest, length);
    }
    rows_ = ragged_.rows + spare * ragged_.count;
  }
  operator attn::Ragged() const { return ragged_; }
  attn::Index rows() const { return rows_; }  // rows of a matrix with this layout, including spare rows

 private:
  static std::vector<std::int32_t> places(const std::vector<std::int32_t>& lengths, std::int32_t spare, bool ends) {
    std::vector<std::int32_t> result;
    std::int32_t at = 0;
    for (const std::int32_t length : lengths) {
      result.push_back(ends ? at + length : at);
      at += length + spare;
    }
    if (!ends) result.push_back(at);
    return result;
  }

  Integers<Device> begin_, end_;
  attn::Ragged ragged_;
  attn::Index rows_ = 0;
};

/// The largest absolute difference; infinite if the lengths differ or a number is NaN.
inline double distance(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] == b[i] ? 0 : std::abs(a[i] - b[i]);
    most = std::max(most, std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference);
  }
  return most;
}

inline double dot(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline Numbers sum_of(const Numbers& a, const Numbers& b) {
  Numbers sum = a;
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] += b[i];
  return sum;
}

inline Numbers joined(const std::vector<Numbers>& parts) {
  Numbers all;
  for (const Numbers& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline bool same_bits(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}
