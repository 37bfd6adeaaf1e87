#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/memory.hpp"
#include "attn/core/parameter.hpp"
#include "attn/core/parameter_groups.hpp"
#include "attn/core/parameter_walk.hpp"

namespace attn {

/// In place of a seed: a model that is used, not trained. It has no gradients, and its numbers are 0 until they are loaded.
struct Inference {};

/// All parameters of a model in one flat buffer, their gradients in another, in the order in which the model names them:
/// clipping, Adam, zeroing, averaging and saving are one call each. Binds the model to that memory; must outlive its use.
/// The model must stay at its address while parameters are frozen or grouped.
template <class Device>
class Parameters {
 public:
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;

  struct Entry {
    std::string name;
    Index offset, rows, cols;  // a parameter of one column is a vector
    bool shared = false;       // other parameters are tied to it
    bool frozen = false;       // is not updated
    GroupOptions group = {};
    Index size() const { return rows * cols; }
    /// Biases and the gains of norms are vectors: weight decay skips them by default.
    bool is_vector() const { return rows <= 1 || cols <= 1; }
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
  Index count() const {                 // of all values
    Index total = 0;
    for (const Entry& entry : entries_) total += entry.size();
    return total;
  }
  Index trainable_count() const {  // of those that are not frozen
    Index total = 0;
    for (const Entry& entry : entries_) total += entry.frozen ? 0 : entry.size();
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

  /// Sets the group of all parameters that a name selects (core/parameter_groups.hpp: a path, or a pattern with `*`), or
  /// of a layer or parameter of the model. Later calls override earlier ones. Tied parameters have the group of the
  /// parameter that owns their values.
  template <class Which>
  void group(const Which& which, const GroupOptions& options) {
    const Selection selected = select(which);
    check_group(options, named_[selected[0]].name);
    bool any = false;
    for (const std::size_t i : selected)
      if (!named_[i].tied) entries_[named_[i].entry].group = options, any = true;
    const Named& first = named_[selected[0]];
    require(any, "group: '", first.name, "' is tied to '", entries_[first.entry].name,
            "', whose group applies to the shared values; group that parameter");
    ++groups_version_;
  }

  /// Excludes parameters from training: their values, and the optimiser's states for them, do not change. Freezing one of
  /// several tied parameters freezes the values that all of them share; unfreezing one unfreezes them all.
  template <class Which>
  void freeze(const Which& which) {
    for (const std::size_t i : select(which)) set_frozen(named_[i].entry, true);
  }
  template <class Which>
  void unfreeze(const Which& which) {
    for (const std::size_t i : select(which)) set_frozen(named_[i].entry, false);
  }

  /// Sets all of one entry, as a checkpoint has it.
  void restore_group(std::size_t entry, const GroupOptions& options, bool frozen) {
    check_group(options, entries_.at(entry).name);
    entries_[entry].group = options;
    set_frozen(entry, frozen);
  }

  /// Changes whenever a group or a frozen parameter does.
  Index groups_version() const { return groups_version_; }

  /// The indices of the entries that a name selects; tied names select none.
  std::vector<std::size_t> entries_named(std::string_view pattern) const {
    std::vector<std::size_t> indices;
    for (const std::size_t i : select(pattern))
      if (!named_[i].tied) indices.push_back(named_[i].entry);
    return indices;
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

  /// A name of a parameter, and the entry that has its values.
  struct Named {
    std::string name;
    Parameter<Device>* parameter;
    std::size_t entry;
    bool tied;
  };
  using Selection = std::vector<std::size_t>;  // indices of named_, at least one

  template <class Which>
  Selection select(const Which& which) const {
    static constexpr bool kLayer = requires(Which & layer, ParameterWalk<Device> & walk) {
      layer.for_each_parameter(walk);
    };
    static constexpr bool kParameter = std::is_same_v<Which, Parameter<Device>>;
    static_assert(
        kLayer || kParameter || std::is_convertible_v<const Which&, std::string_view>,
        "attn: group, freeze, unfreeze: give the name of parameters, a layer of the model, or one of its parameters");
    Selection selected;
    if constexpr (kLayer || kParameter) {
      ParameterWalk<Device> walk;
      if constexpr (kParameter)
        walk("", const_cast<Which&>(which));
      else
        const_cast<Which&>(which).for_each_parameter(walk);  // only looks
      for (std::size_t i = 0; i < named_.size(); ++i)
        for (const auto& one : walk.found)
          if (one.parameter == named_[i].parameter) selected.push_back(i);
      require(!selected.empty(), "group, freeze, unfreeze: the model has no parameters of this layer; give a layer of the ",
              "network itself, as in network.freeze(network->encoder)");
    } else {
      const std::string_view pattern = which;
      for (std::size_t i = 0; i < named_.size(); ++i)
        if (matches_name(pattern, named_[i].name)) selected.push_back(i);
      if (selected.empty()) {
        std::vector<std::string> names;
        for (const Named& one : named_) names.push_back(one.name);
        fail_no_match(pattern, names);
      }
    }
    return selected;
  }
  void set_frozen(std::size_t entry, bool frozen) {
    entries_[entry].frozen = frozen;
    for (const Named& one : named_)
      if (one.entry == entry) one.parameter->frozen = frozen;
    ++groups_version_;
  }

  /// Takes the memory of all parameters, sets it to 0 and binds the model to it.
  template <class Model>
  ParameterWalk<Device> lay_out(Model& model) {
    ParameterWalk<Device> walk;
    model.for_each_parameter(walk);
    walk.require_unique_names();
    for (const auto& [name, parameter, tied_to] : walk.found) {
      if (tied_to != nullptr) continue;
      named_.push_back({name, parameter, entries_.size(), false});
      entries_.push_back({name, size_, parameter->rows, parameter->cols, false, false, {}});
      size_ += padded_size(parameter->size());
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
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (named_[i].parameter != &owner) continue;
        entries_[i].shared = true;
        named_.push_back({name, parameter, i, true});
      }
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
  std::vector<Named> named_;  // first those of entries_, then tied ones
  Index groups_version_ = 0;
  Index size_ = 0;
  Buffer<Real, typename Device::Memory> values_, gradients_;
  Buffer<Scalar, typename Device::Memory> compute_;
};

}  // namespace attn
