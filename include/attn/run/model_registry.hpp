#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/run/any_model.hpp"
#include "attn/run/device_options.hpp"
#include "attn/run/model_presets.hpp"

namespace attn {

/// Makes models by their names. A program adds one of its own with one line:
///
///     models().add<MyModel<Cpu<float>>>("mine");
///
/// and, in a .cu file, the same for Cuda<float> and Cuda<bfloat16>. That line is what compiles the model, so it stands in a
/// file that includes attn/run/model_on.hpp and the backend.
class ModelRegistry {
 public:
  /// Makes a model: to train, with first weights drawn from a seed; or without one, to load weights into.
  using Make =
      std::function<std::unique_ptr<AnyModel>(const ModelSpec&, const DeviceOptions&, std::optional<std::uint64_t>)>;

  /// A type under a name. Its options are made from the description by options_from (run/model_options.hpp), or by `options`.
  template <class Model>
  void add(const std::string& name, std::function<typename Model::Options(const ModelSpec&)> options = {});

  void add(const std::string& name, const std::string& backend, Make make) { makers_[{name, backend}] = std::move(make); }

  /// An Error, now, where there is no such device or it cannot do what the options ask of it.
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

  /// The model that a description names, on the device that the options name.
  std::unique_ptr<AnyModel> make(const ModelSpec& spec, const DeviceOptions& device = {},
                                 std::optional<std::uint64_t> seed = {}) const {
    const std::string on = backend(device);
    const auto preset = registered(spec.name) ? std::nullopt : find_preset(spec.name);
    const auto found = makers_.find({preset ? preset->architecture : spec.name, on});
    if (found != makers_.end()) {
      ModelSpec shaped = spec;
      if (preset) shaped.shape = preset->shape;
      auto model = found->second(shaped, device, seed);
      return model;
    }
    if (contains(spec.name)) fail("this program has no ", spec.name, " for ", on, "; choose another device or precision");
    std::string known;
    for (const std::string& name : names()) known += (known.empty() ? "" : ", ") + name;
    fail("this program knows no model of the name '", spec.name, "'; it knows ", known,
         ". A model of one's own is added with models().add<Model>(name)");
  }

 private:
  bool registered(const std::string& name) const {
    for (const auto& [key, make] : makers_)
      if (key.first == name) return true;
    return false;
  }

  std::map<std::pair<std::string, std::string>, Make> makers_;
  std::map<std::string, std::function<void(const DeviceOptions&)>> probes_;  // of backends: make a device
};

/// The models of this program: those of the library (run/library_models.hpp), and what the program adds.
#ifdef ATTN_COMPILED
ModelRegistry& models();  // attn::compiled has them
#else
inline ModelRegistry& models();  // run/models.hpp compiles them
#endif

}  // namespace attn
