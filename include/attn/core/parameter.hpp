#pragma once
#include <list>

#include "attn/core/memory.hpp"

namespace attn {

/// The distribution of a parameter's initial values. Assign to `parameter.initial` before you create the model's Parameters
/// to change it.
struct Initializer {
  enum class Kind { constant, uniform, normal } kind = Kind::constant;
  double scale = 0;  // the constant; the bound of the uniform distribution; the standard deviation

  static constexpr Initializer zero() { return {}; }
  static constexpr Initializer constant(double value) { return {Kind::constant, value}; }
  static constexpr Initializer uniform(double bound) { return {Kind::uniform, bound}; }
  static constexpr Initializer normal(double deviation) { return {Kind::normal, deviation}; }
  /// Uniform within sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).
  static Initializer xavier(Index fan_in, Index fan_out) {
    return uniform(std::sqrt(6.0 / static_cast<double>(fan_in + fan_out)));
  }

  double draw(Random& random) const {
    if (kind == Kind::constant) return scale;
    return kind == Kind::uniform ? random.uniform(-scale, scale) : scale * random.normal();
  }
};

/// Parameters are aligned to this number of elements in the flat buffers, enough for every vector unit. A block never
/// holds two parameters, so optimisers keep per-parameter settings in a table with one entry per block.
inline constexpr Index kParameterBlock = 64;

/// A parameter's size in the flat buffers, including padding.
constexpr Index padded_size(Index size) { return (size + kParameterBlock - 1) / kParameterBlock * kParameterBlock; }

/// Parameter::note of a parameter that no for_each_parameter visited, until ParameterWalk::note_unvisited says where it is:
/// an empty text. Its address ends in 0x5b, so that no bool, with the padding after it, looks like this pointer.
alignas(256) inline constexpr char kEmptyTexts[256] = {};
inline constexpr const char* kUnvisited = kEmptyTexts + 0x5b;

/// A learned matrix. The layer sets its shape; Parameters allocates all parameters of a model in flat buffers and binds
/// the pointers.
template <class Device>
struct Parameter {
  using DeviceType = Device;
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;

  Index rows = 0, cols = 0;
  Initializer initial{};
  Scalar* value = nullptr;   // rows x cols, in the precision of the model's computation
  Real* gradient = nullptr;  // rows x cols, accumulates
  bool frozen = false;       // its values do not change, and no gradient is computed
  const char* note = kUnvisited;

  Index size() const { return rows * cols; }
  /// Whether the backward pass computes a gradient for it.
  bool learns() const { return gradient != nullptr && !frozen; }

  /// The values and gradients. Throws an Error if they are not allocated. A parameter of size 0 stands for an absent one
  /// and needs no memory.
  Scalar* values() const {
    if (value == nullptr && size() != 0) [[unlikely]]
      fail("a parameter of ", rows, " x ", cols,
           " has no memory. Create a Network of its model before you use the model. If you have one, a for_each_parameter "
           "does not visit this parameter or its layer",
           note, ".");
    return value;
  }
  Real* gradients() const {
    if (gradient == nullptr && size() != 0) [[unlikely]]
      fail("a parameter of ", rows, " x ", cols,
           " has no gradient: its network was made for inference, or does not exist yet. Create the Network or the "
           "Parameters with a seed.");
    return gradient;
  }
  MatrixOn<Device, const Scalar> matrix() const { return {values(), rows, cols}; }
  MatrixOn<Device, Real> gradient_matrix() const { return {gradients(), rows, cols}; }

  /// A view of some rows as a parameter.
  Parameter row_range(Index first, Index count) const {
    const auto from = [&](auto* numbers) { return numbers == nullptr ? nullptr : numbers + first * cols; };
    return {count, cols, initial, from(value), from(gradient), frozen, note};
  }
};

/// Collects a model's parameters with their paths, as in "encoder.layers.0.attention.in.weight". Each layer lists its
/// members once, in `for_each_parameter(visit)`: visit("weight", weight) for a parameter, visit("norm", norm) for a layer.
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

  void operator()(std::string_view name, auto& layer) {
    const std::size_t length = prefix_.size();
    prefix_.append(name).append(".");
    layer.for_each_parameter(*this);
    note_unvisited(layer);
    prefix_.resize(length);
  }

  /// If `notes` is set, finds parameters inside the layer object that were not visited, and notes their place for errors.
  template <class Layer>
  void note_unvisited(Layer& layer) {
    if (notes == nullptr) return;
    auto* const begin = reinterpret_cast<std::byte*>(std::addressof(layer));
    for (std::size_t at = 0; at + sizeof(Parameter<Device>) <= sizeof(Layer); at += alignof(Parameter<Device>)) {
      Parameter<Device> there;  // a copy, because the bytes may be of another type
      std::memcpy(static_cast<void*>(&there), begin + at, sizeof there);
      const bool bound = there.value != nullptr || there.gradient != nullptr;
      if (there.note != kUnvisited || bound || there.rows <= 0 || there.cols <= 0) continue;
      auto* const parameter = reinterpret_cast<Parameter<Device>*>(begin + at);
      std::string text = ": it is a member of ";
      text += prefix_.empty() ? "the model" : "'" + prefix_.substr(0, prefix_.size() - 1) + "'";
      const Found* before = nullptr;
      bool visited = false;
      for (const Found& one : found) {
        visited = visited || one.parameter == parameter;
        if (reinterpret_cast<std::byte*>(one.parameter) >= begin && one.parameter < parameter &&
            (before == nullptr || before->parameter < one.parameter))
          before = &one;
      }
      if (visited) continue;
      if (before != nullptr) text += ", declared after '" + before->name + "'";
      parameter->note = notes->emplace_back(std::move(text)).c_str();
    }
  }

  /// Makes a parameter share the values of another. Both have been visited.
  void tie(Parameter<Device>& parameter, Parameter<Device>& to) {
    for (const Parameter<Device>* one : {&parameter, &to})
      require(std::ranges::any_of(found, [one](const Found& entry) { return entry.parameter == one; }),
              "tying a parameter of ", one->rows, " x ", one->cols,
              " that for_each_parameter has not visited yet. Call visit.tie after visiting both parameters.");
    for (Found& entry : found)
      if (entry.parameter == &parameter) {
        require(parameter.rows == to.rows && parameter.cols == to.cols, "tying ", entry.name, ": its shape ",
                parameter.rows, " x ", parameter.cols, " differs from ", to.rows, " x ", to.cols,
                ", the shape it should share");
        require(&owner(to) != &parameter, "tying ", entry.name, ": it would be tied to itself");
        entry.tied_to = &to;
      }
  }

  /// The parameter that owns the values: follows `tied_to` to the end.
  Parameter<Device>& owner(Parameter<Device>& parameter) const {
    for (const Found& entry : found)
      if (entry.parameter == &parameter && entry.tied_to != nullptr) return owner(*entry.tied_to);
    return parameter;
  }

  /// Throws an Error if two parameters have the same name: a file could not tell them apart.
  void require_unique_names() const {
    std::map<std::string_view, const Found*> by_name;
    for (const Found& entry : found) {
      const auto [at, inserted] = by_name.emplace(entry.name, &entry);
      const auto shape = [](const Found& one) {
        return std::to_string(one.parameter->rows) + " x " + std::to_string(one.parameter->cols);
      };
      require(inserted, "two parameters of the model are named '", entry.name, "': parameter ",
              at->second - found.data() + 1, " of ", shape(*at->second), " and parameter ", &entry - found.data() + 1,
              " of ", shape(entry), ", in the order of for_each_parameter; give each its own name there");
    }
  }

  std::vector<Found> found;
  std::list<std::string>* notes = nullptr;  // must outlive the model's use

 private:
  std::string prefix_;
};

/// A contiguous part of a model's flat gradient buffer.
template <class Real>
struct GradientRange {
  Real* first = nullptr;
  Index count = 0;
  bool operator==(const GradientRange&) const = default;
};

/// The range of the gradients of a layer's parameters. Empty if they are not contiguous because another layer owns some of
/// them.
template <class Device, class Layer>
GradientRange<typename Device::Real> gradient_range(const Layer& layer) {
  ParameterWalk<Device> walk;
  const_cast<Layer&>(layer).for_each_parameter(walk);  // does not change the layer
  typename Device::Real *first = nullptr, *last = nullptr;
  Index count = 0;
  for (const auto& [name, parameter, tied_to] : walk.found) {
    if (parameter->size() == 0 || parameter->gradient == nullptr) continue;
    const Index size = padded_size(parameter->size());
    first = first == nullptr ? parameter->gradient : std::min(first, parameter->gradient);
    last = std::max(last, parameter->gradient + size);
    count += size;
  }
  if (last - first != count) return {};
  return {first, count};
}

}  // namespace attn
