#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/memory.hpp"
#include "attn/core/parameter.hpp"

namespace attn {

/// Walks a model's layers and notes every parameter under its path, as in "encoder.layers.0.attention.in.weight". A layer
/// names its members once, in `for_each_parameter(visit)`: visit("weight", weight) for a parameter, visit("norm", norm) for
/// a layer.
template <class Device>
class ParameterWalk {
 public:
  struct Found {
    std::string name;
    Parameter<Device>* parameter;
    Parameter<Device>* tied_to = nullptr;
  };

  void operator()(std::string_view name, Parameter<Device>& parameter) {
    found.push_back({prefix_ + std::string(name), &parameter});
  }

  template <class Layer>
  void operator()(std::string_view name, Layer& layer) {
    const std::size_t length = prefix_.size();
    prefix_.append(name).append(".");
    layer.for_each_parameter(*this);
    prefix_.resize(length);
  }

  /// Makes a parameter that was visited before share the values of another.
  void tie(Parameter<Device>& parameter, Parameter<Device>& to) {
    for (Found& entry : found)
      if (entry.parameter == &parameter) {
        require(parameter.rows == to.rows && parameter.cols == to.cols, "tying ", entry.name, ": its shape ",
                parameter.rows, " x ", parameter.cols, " differs from ", to.rows, " x ", to.cols,
                ", the shape it should share");
        require(&owner(to) != &parameter, "tying ", entry.name, ": it would be tied to itself");
        entry.tied_to = &to;
      }
  }

  /// Whose values a parameter has: its own, or those of what it is tied to, or of what that is tied to.
  Parameter<Device>& owner(Parameter<Device>& parameter) const {
    for (const Found& entry : found)
      if (entry.parameter == &parameter && entry.tied_to != nullptr) return owner(*entry.tied_to);
    return parameter;
  }

  std::vector<Found> found;

 private:
  std::string prefix_;
};

/// In place of a seed: a model that is used, not trained. It has no gradients, and its numbers are 0 until they are loaded.
struct Inference {};

/// All parameters of a model in one flat buffer, their gradients in another, in the order in which the model names them:
/// clipping, Adam, zeroing, averaging and saving are one call each. Binds the model to that memory; must outlive its use.
template <class Device>
class Parameters {
 public:
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;

  struct Entry {
    std::string name;
    Index offset, rows, cols;  // a parameter of one column is a vector
    bool shared = false;       // other parameters are tied to it
    Index size() const { return rows * cols; }
  };

  /// Lays out the model's memory and draws its initial values from the seed.
  template <class Model>
  Parameters(Device& device, Model& model, std::uint64_t seed) : device_(device), trained_(true) {
    const auto walk = lay_out(model);
    std::size_t next = 0;
    for (const auto& [name, parameter, tied_to] : walk.found) {
      if (tied_to != nullptr) continue;
      draw(parameter->initial, entries_[next], Random(seed, next));
      ++next;
    }
    refresh();
  }

  /// The memory of a model that is only used.
  template <class Model>
  Parameters(Device& device, Model& model, Inference) : device_(device), trained_(false) {
    lay_out(model);
    refresh();
  }
  Parameters(const Parameters&) = delete;
  ~Parameters() {
    if constexpr (kHeld)
      if (!trained_) device_.weights().forget(compute(), size_);
  }

  const std::vector<Entry>& entries() const { return entries_; }
  Index size() const { return size_; }  // of each flat buffer, gaps between parameters included
  Index count() const {                 // of the values that are learned
    Index total = 0;
    for (const Entry& entry : entries_) total += entry.size();
    return total;
  }

  Real* values() const { return values_.data(); }
  Real* gradients() const {
    require(trained_,
            "this model was made for inference and has no gradients; to train it, give a seed instead of "
            "Inference{}");
    return gradients_.data();
  }
  Scalar* compute() const {  // what the model computes with: the values themselves, or their low-precision copy
    if constexpr (kSeparate)
      return compute_.data();
    else
      return values_.data();
  }
  Device& device() const { return device_; }

  const Entry& find(std::string_view name) const {
    for (const Entry& entry : entries_)
      if (entry.name == name) return entry;
    fail("the model has no parameter named ", name);
  }

  /// Host copies of a parameter's values and gradient, and new values for it.
  std::vector<Real> read(const Entry& entry) const { return download(values_.data() + entry.offset, entry.size()); }
  std::vector<Real> read_gradient(const Entry& entry) const { return download(gradients() + entry.offset, entry.size()); }
  void write(const Entry& entry, const std::vector<Real>& numbers) {
    require(static_cast<Index>(numbers.size()) == entry.size(), "writing ", entry.name, ": ", numbers.size(),
            " numbers for a parameter of ", entry.size());
    device_.upload(values_.data() + entry.offset, numbers.data(), entry.size());
    refresh();
  }

  /// Brings what was made of the values up to date with them: the low-precision copy, where there is one; and, of a model
  /// made for inference, what a device that packs weights has packed.
  void refresh() {
    if constexpr (kSeparate) convert(device_, values_.data(), compute_.data(), size_);
    if constexpr (kHeld)
      if (!trained_) device_.weights().hold(compute(), size_);
  }

 private:
  static constexpr bool kSeparate = !std::is_same_v<Scalar, Real>;
  static constexpr bool kHeld = requires(Device & device, Scalar* values) { device.weights().hold(values, Index{}); };

  /// Takes the memory of all parameters, sets it to 0 and binds the model to it.
  template <class Model>
  ParameterWalk<Device> lay_out(Model& model) {
    ParameterWalk<Device> walk;
    model.for_each_parameter(walk);
    for (const auto& [name, parameter, tied_to] : walk.found) {
      if (tied_to != nullptr) continue;
      entries_.push_back({name, size_, parameter->rows, parameter->cols});
      size_ += room_of(parameter->size());
    }
    values_ = Buffer<Real, typename Device::Memory>(device_, size_, "parameters");
    if (trained_) gradients_ = Buffer<Real, typename Device::Memory>(device_, size_, "gradients of parameters");
    if constexpr (kSeparate) compute_ = Buffer<Scalar, typename Device::Memory>(device_, size_, "low-precision parameters");
    device_.zero(values_.data(), size_);
    if (trained_) device_.zero(gradients_.data(), size_);
    std::size_t next = 0;
    for (const auto& [name, parameter, tied_to] : walk.found)
      if (tied_to == nullptr) bind(*parameter, entries_[next++].offset);
    for (const auto& [name, parameter, tied_to] : walk.found) {
      if (tied_to == nullptr) continue;
      const Parameter<Device>& owner = walk.owner(*tied_to);
      for (Entry& entry : entries_) entry.shared = entry.shared || compute() + entry.offset == owner.value;
      parameter->value = owner.value;
      parameter->gradient = owner.gradient;
    }
    return walk;
  }
  void bind(Parameter<Device>& parameter, Index offset) {
    parameter.value = compute() + offset;
    parameter.gradient = trained_ ? gradients_.data() + offset : nullptr;
  }
  void draw(const Initial& initial, const Entry& entry, Random random) {
    std::vector<Real> numbers(static_cast<std::size_t>(entry.size()));
    for (Real& number : numbers) number = static_cast<Real>(initial.draw(random));
    device_.upload(values_.data() + entry.offset, numbers.data(), entry.size());
  }
  std::vector<Real> download(const Real* from, Index count) const {
    std::vector<Real> numbers(static_cast<std::size_t>(count));
    device_.download(numbers.data(), from, count);
    return numbers;
  }

  Device& device_;
  bool trained_;  // has gradients
  std::vector<Entry> entries_;
  Index size_ = 0;
  Buffer<Real, typename Device::Memory> values_, gradients_;
  Buffer<Scalar, typename Device::Memory> compute_;
};

}  // namespace attn
