#pragma once
#include "attn/core/parameter.hpp"
#include "attn/core/parameter_groups.hpp"

namespace attn {

/// Pass this instead of a seed for inference: no gradients, and all values are 0 until they are loaded.
struct Inference {
  operator std::optional<std::uint64_t>() const { return {}; }  // no seed
};

template <class T>
concept SeedOrInference = std::convertible_to<T, std::optional<std::uint64_t>>;

/// All parameters of a model in one flat buffer and their gradients in another, in the model's order: clipping, Adam,
/// zeroing, averaging and saving take one call each. Binds the model to that memory, so it must outlive the model's use.
/// The model must stay at its address while parameters are frozen or grouped.
template <class Device>
class Parameters {
 public:
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;

  struct Entry {
    std::string name;
    Index offset, rows, cols;  // a parameter with one column is a vector
    bool shared = false;       // other parameters are tied to it
    bool frozen = false;       // not updated
    GroupOptions group = {};
    Index size() const { return rows * cols; }
    /// Biases and norm gains are vectors: weight decay skips them by default.
    bool is_vector() const { return rows <= 1 || cols <= 1; }
  };

  /// Allocates the model's memory and draws its initial values from the seed; without a seed, it is for inference.
  Parameters(Device& device, auto& model, std::optional<std::uint64_t> seed) : device_(device), trained_(seed.has_value()) {
    ParameterWalk<Device> walk;
    walk.notes = &notes_;
    model.for_each_parameter(walk);
    walk.note_unvisited(model);
    lay_out(walk);
    if (seed) draw(*seed);
    refresh();
  }
  Parameters(const Parameters&) = delete;
  ~Parameters() {
    if constexpr (kCaches)
      if (!trained_) device_.weights().forget(compute(), size_);
  }

  const std::vector<Entry>& entries() const { return entries_; }
  Index size() const { return size_; }  // of each flat buffer, including gaps between parameters
  Index count() const {                 // of values, without gaps
    Index total = 0;
    for (const Entry& entry : entries_) total += entry.size();
    return total;
  }
  Index trainable_count() const {  // of values that are not frozen
    Index total = 0;
    for (const Entry& entry : entries_) total += entry.frozen ? 0 : entry.size();
    return total;
  }

  Real* values() const { return values_.data(); }
  /// The gradients, for modification. Optimisers read them with step_gradients().
  Real* gradients() {
    gradients_changed_ = true;
    device_.gradients.end_sum();
    return step_gradients();
  }
  const Real* gradients() const { return step_gradients(); }
  Real* step_gradients() const {
    require(trained_,
            "this model was made for inference and has no gradients; to train it, give a seed instead of "
            "Inference{}");
    return gradients_.data();
  }
  /// Optimisers call this first in each step. Throws an Error if there are no new gradients since the last step, or if two
  /// passes of this step, or this step and the last one, used the same dropout masks.
  void begin_step() {
    const bool changed = std::exchange(gradients_changed_, false);
    const bool backward = std::exchange(passes_, device_.gradients.passes) != device_.gradients.passes;
    require(backward || changed, "step: no backward pass since the last step; call backward() of a loss first");
    if (!backward) return;
    const bool repeated = std::exchange(device_.gradients.repeated_masks, false);
    device_.gradients.end_sum();
    const RandomKey key = device_.gradients.dropout_key, last = std::exchange(dropout_key_, key);
    require(key == RandomKey{} || key != last,
            "step: this step repeats the dropout masks of the last one. Number the steps: TapeMode::training(seed, step).");
    require(!repeated, "step: two backward passes whose gradients add up have the same dropout masks. Number the passes: ",
            "TapeMode::training(seed, pass).");
  }
  Scalar* compute() const {  // the values in compute precision: the values themselves or their low-precision copy
    if constexpr (kSeparate)
      return compute_.data();
    else
      return values_.data();
  }
  Device& device() const { return device_; }

  const Entry& find(std::string_view name) const {
    const auto found = std::ranges::find(entries_, name, &Entry::name);
    require(found != entries_.end(), "the model has no parameter named ", name);
    return *found;
  }

  /// Sets the group of the parameters selected by a path or pattern (core/parameter_groups.hpp), by a layer of the model or
  /// by a parameter. Later calls override earlier ones. Tied parameters have the group of the parameter that owns their
  /// values.
  void group(const auto& which, const GroupOptions& options) {
    const Selection selected = select(which);
    check_group(options, named_[selected[0]].name);
    bool any = false;
    for (const std::size_t i : selected)
      if (!named_[i].tied) entries_[named_[i].entry].group = options, any = true;
    const Named& first = named_[selected[0]];
    require(any, "group: '", first.name, "' is tied to '", entries_[first.entry].name, "'. Group that parameter instead.");
    ++groups_version_;
  }

  /// Excludes parameters from training: their values and optimiser state do not change. Freezing one of several tied
  /// parameters freezes the shared values; unfreezing one unfreezes them all.
  void freeze(const auto& which, bool frozen = true) {
    for (const std::size_t i : select(which)) set_frozen(named_[i].entry, frozen);
  }
  void unfreeze(const auto& which) { freeze(which, false); }

  /// Restores the group and frozen flag of one entry from a checkpoint.
  void restore_group(std::size_t entry, const GroupOptions& options, bool frozen) {
    check_group(options, entries_.at(entry).name);
    entries_[entry].group = options;
    set_frozen(entry, frozen);
  }

  /// Increases with every change of a group or a frozen flag.
  Index groups_version() const { return groups_version_; }

  /// The indices of the entries selected by a name. Skips tied names.
  std::vector<std::size_t> entries_named(std::string_view pattern) const {
    std::vector<std::size_t> indices;
    for (const std::size_t i : select(pattern))
      if (!named_[i].tied) indices.push_back(named_[i].entry);
    return indices;
  }

  /// Copies a parameter's values and gradient to the host, and uploads new values.
  std::vector<Real> read(const Entry& entry) const { return download(values_.data() + offset(entry), entry.size()); }
  std::vector<Real> read_gradient(const Entry& entry) const {
    return download(step_gradients() + offset(entry), entry.size());
  }
  void write(const Entry& entry, const std::vector<Real>& numbers) {
    require(static_cast<Index>(numbers.size()) == entry.size(), "writing ", entry.name, ": ", numbers.size(),
            " numbers for a parameter of ", entry.size());
    device_.upload(values_.data() + offset(entry), numbers.data(), entry.size());
    refresh();
  }

  /// Updates everything derived from the values: the low-precision copy, if any, and, for inference, the packed weights of
  /// devices that pack them.
  void refresh() {
    if constexpr (kSeparate) convert(device_, values_.data(), compute_.data(), size_);
    if constexpr (kCaches)
      if (!trained_) device_.weights().cache(compute(), size_);
  }

 private:
  static constexpr bool kSeparate = !std::is_same_v<Scalar, Real>;
  static constexpr bool kCaches = requires(Device & device, Scalar* values) { device.weights().cache(values, Index{}); };

  /// A parameter's name and the entry that owns its values.
  struct Named {
    std::string name;
    Parameter<Device>* parameter;
    std::size_t entry;
    bool tied;
  };
  using Selection = std::vector<std::size_t>;  // indices of named_, at least one

  Index offset(const Entry& entry) const {
    require(entry.offset + entry.size() <= size_, "'", entry.name, "' is not a parameter of this model");
    return entry.offset;
  }

  template <class Which>
  Selection select(const Which& which) const {
    static constexpr bool kLayer = requires(Which & layer, ParameterWalk<Device> & walk) {
      layer.for_each_parameter(walk);
    };
    static constexpr bool kParameter = std::is_same_v<Which, Parameter<Device>>;
    static_assert(kLayer || kParameter || std::is_convertible_v<const Which&, std::string_view>,
                  "attn: group, freeze, unfreeze: pass a name, a layer of the model, or one of its parameters");
    Selection selected;
    if constexpr (kLayer || kParameter) {
      ParameterWalk<Device> walk;
      walk("", const_cast<Which&>(which));  // does not change it
      for (std::size_t i = 0; i < named_.size(); ++i)
        for (const auto& one : walk.found)
          if (one.parameter == named_[i].parameter) selected.push_back(i);
      require(!selected.empty(),
              "group, freeze, unfreeze: the model has no parameters of this layer. Pass a layer of the network itself, as "
              "in network.freeze(network->encoder).");
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

  /// Allocates the memory of all parameters, zeroes it and binds the model to it.
  void lay_out(const ParameterWalk<Device>& walk) {
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
    for (const auto& [name, parameter, tied_to] : walk.found)
      for (std::size_t i = 0; tied_to != nullptr && i < entries_.size(); ++i) {
        if (named_[i].parameter != &walk.owner(*tied_to)) continue;
        entries_[i].shared = true;
        named_.push_back({name, parameter, i, true});
      }
    for (const Named& one : named_) {
      const Index offset = entries_[one.entry].offset;
      one.parameter->value = compute() + offset;
      one.parameter->gradient = trained_ ? gradients_.data() + offset : nullptr;
    }
  }
  void draw(std::uint64_t seed) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      Random random(seed, i);
      std::vector<Real> numbers(static_cast<std::size_t>(entries_[i].size()));
      for (Real& number : numbers) number = static_cast<Real>(named_[i].parameter->initial.draw(random));
      device_.upload(values_.data() + entries_[i].offset, numbers.data(), entries_[i].size());
    }
  }
  std::vector<Real> download(const Real* from, Index count) const {
    std::vector<Real> numbers(static_cast<std::size_t>(count));
    device_.download(numbers.data(), from, count);
    return numbers;
  }

  Device& device_;
  bool trained_;  // has gradients
  std::vector<Entry> entries_;
  std::vector<Named> named_;  // the owners, in the order of entries_, then tied parameters
  Index groups_version_ = 0;
  Index size_ = 0;
  bool gradients_changed_ = false;
  std::uint64_t passes_ = 0;      // backward passes of the device at the last step
  RandomKey dropout_key_;         // of the last step
  std::list<std::string> notes_;  // of unvisited parameters
  Buffer<Real, typename Device::Memory> values_, gradients_;
  Buffer<Scalar, typename Device::Memory> compute_;
};

}  // namespace attn
