#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/network.hpp"
#include "attn/core/parameters.hpp"
#include "attn/optim/optimiser.hpp"
#include "attn/train/load_model.hpp"
#include "attn/train/safetensors.hpp"
#include "attn/train/saved_groups.hpp"
#include "attn/train/trainer.hpp"

namespace attn {

// A checkpoint is a safetensors file: each parameter under its name in the model, readable by Python's `safetensors`. One
// from which training can go on also holds the optimiser's state and where the training stood.

namespace checkpoint {

/// Numbers that come back with the same bits.
inline std::string exact(double value) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::hex).ptr;
  return {digits, end};
}

inline const std::string& entry(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  require(found != file.metadata().end(), file.path().string(), ": its metadata has no '", key,
          "'; it holds a model, but not a training to resume");
  return found->second;
}

/// A number of the metadata, `least` or more; `format...` is what std::from_chars takes beside the digits.
template <class Number, class... Format>
Number number(const SafetensorsFile& file, const std::string& key, Number least = 0, Format... format) {
  std::string_view text = entry(file, key);
  if (text.starts_with("0x")) text.remove_prefix(2);  // what iostreams write before hexadecimal digits
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format...);
  require(error == std::errc{} && end == text.data() + text.size() && value >= least, file.path().string(),
          ": its metadata has '", text.substr(0, 40), "' as ", key,
          ", which is not a number of a training; take another checkpoint");
  return value;
}

/// Host copies of tensors, to be saved together.
template <class Real>
class Tensors {
 public:
  Tensors() = default;
  Tensors(Tensors&&) = default;  // a copy's views would be the original's

  void add(std::string name, std::vector<Real> numbers, std::vector<Index> shape) {
    numbers_.push_back(std::move(numbers));
    views_.push_back(tensor_view<Real>(std::move(name), numbers_.back(), std::move(shape)));
  }
  void save(const std::filesystem::path& path, const Metadata& metadata) const { save_safetensors(path, views_, metadata); }

  /// The name of the first tensor that holds NaN or infinity, or "".
  std::string first_not_finite() const {
    for (std::size_t i = 0; i < views_.size(); ++i)
      if (!std::ranges::all_of(numbers_[i], [](Real number) { return std::isfinite(number); })) return views_[i].name;
    return "";
  }

 private:
  std::deque<std::vector<Real>> numbers_;
  std::vector<TensorView> views_;
};

template <class Device>
Tensors<typename Device::Real> copy_of(const Parameters<Device>& parameters) {
  Tensors<typename Device::Real> tensors;
  for (const auto& entry : parameters.entries()) tensors.add(entry.name, parameters.read(entry), shape_of(entry));
  return tensors;
}

/// Saves a training of which the parameters are copied already. Of several ranks the first one writes.
template <class Device, Optimiser Optim>
void save_training(const std::filesystem::path& path, Tensors<typename Device::Real> tensors,
                   const Parameters<Device>& parameters, Optim& optimiser, const TrainState& state, Metadata metadata,
                   const DataParallel<Device>* ranks) {
  optimiser.for_each_state([&](const std::string& name, const auto& buffer) {
    std::vector<typename Device::Real> numbers(static_cast<std::size_t>(buffer.size()));
    parameters.device().download(numbers.data(), buffer.data(), buffer.size());
    if (ranks != nullptr) numbers = ranks->whole(std::move(numbers));
    const Index size = std::ssize(numbers);
    tensors.add(std::string(Optim::name) + "." + name, std::move(numbers), {size});
  });
  if (ranks != nullptr && !ranks->communicator().leads()) return;
  metadata["training.optimiser"] = Optim::name;
  if (const std::string rules = optimiser_rules(optimiser); !rules.empty()) metadata["training.rules"] = rules;
  if (const std::string groups = write_groups(parameters); !groups.empty()) metadata["training.groups"] = groups;
  metadata["training.step"] = std::to_string(state.step);
  metadata["training.epoch"] = std::to_string(state.position.epoch);
  metadata["training.batch"] = std::to_string(state.position.batch);
  metadata["training.best"] = exact(state.best);
  metadata["training.stale"] = std::to_string(state.stale);
  metadata["training.validated"] = std::to_string(state.validated);
  metadata["training.together"] = std::to_string(state.together);
  metadata["training.surplus"] = std::to_string(state.surplus);
  tensors.save(path, metadata);
}

}  // namespace checkpoint

/// Saves a model's parameters, with whatever its user should know of it as metadata; load_model loads them.
template <class Device>
void save_model(const std::filesystem::path& path, const Parameters<Device>& parameters, const Metadata& metadata = {}) {
  const auto tensors = checkpoint::copy_of(parameters);
  const std::string bad = tensors.first_not_finite();
  require(bad.empty(), path.string(), " is not written: parameter '", bad,
          "' is not finite, and load_model would refuse it");
  tensors.save(path, metadata);
}

template <class Model>
void save_model(const std::filesystem::path& path, const Network<Model>& network, const Metadata& metadata = {}) {
  save_model(path, network.parameters, metadata);
}

/// Saves a training: the model, the optimiser's states under its name ("adam.m"), and where it stands. On several ranks all
/// call it; any number of them can go on from the file.
template <class Device, Optimiser Optim>
void save_training(const std::filesystem::path& path, const Parameters<Device>& parameters, Optim& optimiser,
                   const TrainState& state, const Metadata& metadata = {}, const DataParallel<Device>* ranks = nullptr) {
  checkpoint::save_training(path, checkpoint::copy_of(parameters), parameters, optimiser, state, metadata, ranks);
}

/// Loads all of it; the next step has the bits it would have had without the stop. Restores the parameter groups and what is
/// frozen if the program has set none; groups that it has set must be the checkpoint's. They may change afterwards.
template <class Device, Optimiser Optim>
TrainState load_training(const SafetensorsFile& file, Parameters<Device>& parameters, Optim& optimiser,
                         const DataParallel<Device>* ranks = nullptr) {
  using Real = typename Device::Real;
  TrainState state;
  const auto number = [&](const char* key) { return checkpoint::number<Index>(file, key); };
  state.step = number("training.step");
  state.position = {number("training.epoch"), number("training.batch")};
  constexpr double lowest = std::numeric_limits<double>::lowest();  // minus a score, or a loss
  state.best = checkpoint::number(file, "training.best", lowest, std::chars_format::hex);
  state.stale = number("training.stale");
  state.validated = state.step;
  if (file.metadata().contains("training.validated")) {  // else an older version wrote it
    state.validated = number("training.validated");
    state.together = number("training.together");
    state.surplus = checkpoint::number(file, "training.surplus", std::numeric_limits<Index>::min());
  }
  const auto by = file.metadata().find("training.optimiser");
  require(by == file.metadata().end() || by->second == Optim::name, file.path().string(), ": it was trained by ",
          by == file.metadata().end() ? "" : by->second, ", so ", Optim::name,
          " cannot go on; resume with the same optimiser");
  const auto rules = file.metadata().find("training.rules");
  const std::string saved_rules = rules == file.metadata().end() ? "" : rules->second;
  require(saved_rules == optimiser_rules(optimiser), file.path().string(), ": it was trained with the rules '", saved_rules,
          "', not '", optimiser_rules(optimiser), "'; resume with the same rules");
  checkpoint::restore_groups(file, parameters);
  load_model(file, parameters);
  optimiser.for_each_state([&](const std::string& name, const auto& buffer) {
    const std::string tensor = std::string(Optim::name) + "." + name;
    const bool part = ranks != nullptr && buffer.size() < parameters.size();
    const Index size = part ? parameters.size() : buffer.size();
    checkpoint::Wanted wanted{tensor, size, 1, {{tensor}}};
    checkpoint::check_shapes(file, wanted);
    std::vector<Real> numbers(static_cast<std::size_t>(size));
    checkpoint::read_parts<Real>(file, wanted, true, numbers);
    parameters.device().upload(buffer.data(), numbers.data() + (part ? ranks->first_of_share() : 0), buffer.size());
  });
  optimiser.set_steps(state.step);
  return state;
}

}  // namespace attn
