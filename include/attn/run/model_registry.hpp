#pragma once
#include "attn/run/any_model.hpp"
#include "attn/run/device_options.hpp"

namespace attn {

/// Creates models by name. A program registers its own with one line:
///
///     models().add<MyModel<Cpu<float>>>("mine");
///
/// In a .cu file, register it for Cuda<float> and Cuda<bfloat16>. This line instantiates the model, so the file must
/// include attn/run/model_on.hpp and the backend.
class ModelRegistry {
 public:
  /// Creates a model: with a seed, initialized for training; without one, ready for load().
  using Make =
      std::function<std::unique_ptr<AnyModel>(const ModelSpec&, const DeviceOptions&, std::optional<std::uint64_t>)>;

  /// Registers a model type. options_from (run/model_options.hpp) or `options` converts the spec to its options.
  template <class Model>
  void add(const std::string& name, std::function<typename Model::Options(const ModelSpec&)> options = {});

  void add(const std::string& name, const std::string& backend, Make make) { makers_[{name, backend}] = std::move(make); }

  /// Throws Error if the device does not exist or does not support the options.
  void check(const DeviceOptions& device) const {
    const auto probe = probes_.find(backend(device));
    if (probe != probes_.end()) probe->second(device);
  }

  bool contains(const std::string& name) const {
    if (registered(name)) return true;
    const auto preset = find_preset(name);
    return preset && registered(preset->architecture);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [key, make] : makers_)
      if (all.empty() || all.back() != key.first) all.push_back(key.first);
    return all;
  }

  std::unique_ptr<AnyModel> make(const ModelSpec& spec, const DeviceOptions& device = {},
                                 std::optional<std::uint64_t> seed = {}) const {
    const std::string on = backend(device);
    const auto preset = registered(spec.name) ? std::nullopt : find_preset(spec.name);
    const auto found = makers_.find({preset ? preset->architecture : spec.name, on});
    if (found != makers_.end()) {
      ModelSpec shaped = spec;
      if (preset) shaped.shape = preset->shape;
      return found->second(shaped, device, seed);
    }
    if (contains(spec.name)) fail("this program has no ", spec.name, " for ", on, ". Choose another device or precision.");
    std::string known;
    for (const std::string& name : names()) known += (known.empty() ? "" : ", ") + name;
    fail("unknown model '", spec.name, "'; this program knows ", known, ". ",
         is_recurrent(spec.name) ? "Link attn::compiled, which has the recurrent models."
                                 : "Register it before you open the folder: models().add<Model>(\"" + spec.name + "\")");
  }

 private:
  bool registered(const std::string& name) const {
    return std::ranges::any_of(makers_, [&](const auto& maker) { return maker.first.first == name; });
  }

  std::map<std::pair<std::string, std::string>, Make> makers_;
  std::map<std::string, std::function<void(const DeviceOptions&)>> probes_;  // per backend: creates a device
};

/// The models of this program: those of the library and those it adds. attn::compiled or run/models.hpp defines it.
ModelRegistry& models();

}  // namespace attn
