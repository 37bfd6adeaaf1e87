#pragma once
#include <deque>

#include "attn/checkpoint/load_model.hpp"
#include "attn/checkpoint/saved_groups.hpp"
#include "attn/train/trainer.hpp"

namespace attn {

// Checkpoints are safetensors files with each parameter under its name in the model, readable by Python's `safetensors`.
// A training checkpoint also holds the optimizer's state and the position of the training.

namespace checkpoint {

/// Formats a number so that it reads back with the same bits.
inline std::string exact(double value) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::hex).ptr;
  return {digits, end};
}

/// Parses a number of the metadata, at least `least`; `format...` are further arguments of std::from_chars.
template <class Number, class... Format>
Number number(const SafetensorsFile& file, const std::string& key, Number least = 0, Format... format) {
  const auto found = file.metadata().find(key);
  require(found != file.metadata().end(), file.path().string(), ": its metadata has no '", key,
          "'. It contains a model, but no training to resume.");
  std::string_view text = found->second;
  if (text.starts_with("0x")) text.remove_prefix(2);  // the prefix that iostreams write for hexadecimal
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format...);
  require(error == std::errc{} && end == text.data() + text.size() && value >= least, file.path().string(),
          ": its metadata has '", text.substr(0, 40), "' as ", key,
          ", which is not a valid number. Use another checkpoint.");
  return value;
}

/// Host copies of tensors that are saved together.
template <class Real>
class Tensors {
 public:
  Tensors() = default;
  Tensors(Tensors&&) = default;  // no copies: their views would refer to the original

  void add(std::string name, std::vector<Real> numbers, std::vector<Index> shape) {
    numbers_.push_back(std::move(numbers));
    views_.push_back(tensor_view<Real>(std::move(name), numbers_.back(), std::move(shape)));
  }
  void save(const std::filesystem::path& path, const Metadata& metadata) const { save_safetensors(path, views_, metadata); }

  /// The name of the first tensor with NaN or infinity, or "".
  std::string first_not_finite() const {
    for (std::size_t i = 0; i < views_.size(); ++i)
      if (!std::ranges::all_of(numbers_[i], [](Real number) { return std::isfinite(number); })) return views_[i].name;
    return "";
  }

 private:
  std::deque<std::vector<Real>> numbers_;
  std::vector<TensorView> views_;
};

/// The device of a network or of parameters.
template <class Trained>
using DeviceOf = std::remove_reference_t<decltype(parameters_of(std::declval<Trained&>()).device())>;

template <class Device>
Tensors<typename Device::Real> copy_of(const Parameters<Device>& parameters) {
  Tensors<typename Device::Real> tensors;
  for (const auto& entry : parameters.entries()) tensors.add(entry.name, parameters.read(entry), shape_of(entry));
  return tensors;
}

/// Saves a training, given a copy of its parameters. With several ranks, the first one writes.
template <class Device>
void save_training(const std::filesystem::path& path, Tensors<typename Device::Real> tensors,
                   const Parameters<Device>& parameters, const AnyOptimiser<Device>& optimiser, const TrainState& state,
                   Metadata metadata, const DataParallel<Device>* ranks) {
  using Real = typename Device::Real;
  optimiser.for_each_state([&](const std::string& name, const Real* state, Index count) {
    std::vector<Real> numbers(static_cast<std::size_t>(count));
    parameters.device().download(numbers.data(), state, count);
    if (ranks != nullptr) numbers = ranks->whole(std::move(numbers));
    const Index size = std::ssize(numbers);
    tensors.add(optimiser.name() + "." + name, std::move(numbers), {size});
  });
  if (ranks != nullptr && !ranks->communicator().leads()) return;
  metadata["training.optimiser"] = optimiser.name();
  if (const std::string rules = optimiser.rules(); !rules.empty()) metadata["training.rules"] = rules;
  if (const std::string groups = write_groups(parameters); !groups.empty()) metadata["training.groups"] = groups;
  metadata["training.best"] = exact(state.best);
  const std::pair<const char*, Index> numbers[] = {
      {"step", state.step},      {"epoch", state.position.epoch}, {"batch", state.position.batch},
      {"stale", state.stale},    {"validated", state.validated},  {"together", state.batches_per_step},
      {"surplus", state.surplus}};
  for (const auto& [key, value] : numbers) metadata[std::string("training.") + key] = std::to_string(value);
  tensors.save(path, metadata);
}

}  // namespace checkpoint

/// Saves the parameters of a network with optional metadata; load_model loads them.
void save_model(const std::filesystem::path& path, const auto& network, const Metadata& metadata = {}) {
  const auto tensors = checkpoint::copy_of(parameters_of(network));
  const std::string bad = tensors.first_not_finite();
  require(bad.empty(), "cannot save ", path.string(), ": parameter '", bad, "' is not finite");
  tensors.save(path, metadata);
}

/// Saves a training: the model, the optimizer's states under its name ("adam.m") and the position. All ranks must call it;
/// any number of ranks can resume from the file.
template <class Trained, class Device = checkpoint::DeviceOf<Trained>>
void save_training(const std::filesystem::path& path, const Trained& network,
                   const std::type_identity_t<AnyOptimiser<Device>>& optimiser, const TrainState& state,
                   const Metadata& metadata = {}, const DataParallel<Device>* ranks = nullptr) {
  const Parameters<Device>& parameters = parameters_of(network);
  checkpoint::save_training(path, checkpoint::copy_of(parameters), parameters, optimiser, state, metadata, ranks);
}

/// Loads a training; the next step is bitwise the same as without the stop. Restores parameter groups and frozen
/// parameters, unless the program has set groups; those must match the checkpoint. Groups may change afterwards.
template <class Trained, class Device = checkpoint::DeviceOf<Trained>>
TrainState load_training(const SafetensorsFile& file, Trained& network,
                         const std::type_identity_t<AnyOptimiser<Device>>& optimiser,
                         const DataParallel<Device>* ranks = nullptr) {
  using Real = typename Device::Real;
  Parameters<Device>& parameters = parameters_of(network);
  TrainState state;
  const auto number = [&](const char* key) { return checkpoint::number<Index>(file, key); };
  state.step = number("training.step");
  state.position = {number("training.epoch"), number("training.batch")};
  constexpr double lowest = std::numeric_limits<double>::lowest();  // minus a score can be negative
  state.best = checkpoint::number(file, "training.best", lowest, std::chars_format::hex);
  state.stale = number("training.stale");
  state.validated = state.step;
  if (file.metadata().contains("training.validated")) {  // absent in files of older versions
    state.validated = number("training.validated");
    state.batches_per_step = number("training.together");
    state.surplus = checkpoint::number(file, "training.surplus", std::numeric_limits<Index>::min());
  }
  const auto saved = [&](const char* key, const std::string& otherwise) {
    const auto found = file.metadata().find(key);
    return found == file.metadata().end() ? otherwise : found->second;
  };
  const std::string by = saved("training.optimiser", optimiser.name()), rules = saved("training.rules", "");
  require(by == optimiser.name(), file.path().string(), ": it was trained with ", by, ", not ", optimiser.name(),
          ". Resume with the same optimiser.");
  require(rules == optimiser.rules(), file.path().string(), ": it was trained with the rules '", rules, "', not '",
          optimiser.rules(), "'. Resume with the same rules.");
  checkpoint::restore_groups(file, parameters);
  load_model(file, parameters);
  optimiser.for_each_state([&](const std::string& name, Real* state, Index count) {
    const std::string tensor = optimiser.name() + "." + name;
    const bool part = ranks != nullptr && count < parameters.size();
    const Index size = part ? parameters.size() : count;
    require(file.find(tensor) != nullptr, file.path().string(), " has no state '", tensor,
            "': the optimiser had other options. Resume with the same.");
    checkpoint::Wanted wanted{tensor, size, 1, {{tensor}}};
    checkpoint::check_shapes(file, wanted);
    std::vector<Real> numbers(static_cast<std::size_t>(size));
    const std::span<Real> into(numbers);
    checkpoint::read_parts<Real>(file, {&wanted, 1}, checkpoint::CheckFinite::no, {&into, 1});
    parameters.device().upload(state, numbers.data() + (part ? ranks->first_of_share() : 0), count);
  });
  optimiser.set_steps(state.step);
  return state;
}

}  // namespace attn
