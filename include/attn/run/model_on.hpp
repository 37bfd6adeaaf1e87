#pragma once
#include <memory>
#include <optional>

#include "attn/core/network.hpp"
#include "attn/decode/attention_maps.hpp"
#include "attn/decode/forced.hpp"
#include "attn/decode/next_token.hpp"
#include "attn/run/model_on_device.hpp"
#include "attn/run/model_options.hpp"
#include "attn/run/model_registry.hpp"

namespace attn {

/// A model of one type that owns its device.
template <class Model>
class ModelOn final : public ModelOnDevice<typename Model::DeviceType> {
  using Device = typename Model::DeviceType;
  using Options = typename Model::Options;
  using ModelOnDevice<Device>::device_;

 public:
  ModelOn(const ModelSpec& spec, const Options& options, const DeviceOptions& device, std::optional<std::uint64_t> seed)
      : ModelOnDevice<Device>(spec, device), network_(make(*device_, options, seed)) {
    require(!seed || device.precision != "int8",
            "cannot train with int8 weights. Train in float or bf16, and translate with the precision int8.");
  }

  nlohmann::json shape() const override { return describe_shape(**network_); }
  SearchEngine& engine() override { return engine_; }
  Index longest_translation() const override { return attn::longest_translation<Model>(); }
  std::vector<std::vector<double>> log_probabilities(const SpecialTokens& special_tokens, const Sentences& source,
                                                     const Sentences& target) override {
    return forced_log_probabilities(*device_, network_->model, special_tokens, source, target);
  }
  std::vector<double> next_token(const SpecialTokens& special_tokens, std::span<const Token> source,
                                 std::span<const Token> target) override {
    return attn::next_token(*device_, network_->model, special_tokens, source, target);
  }
  std::vector<AttentionMap> attention_maps(const SpecialTokens& special_tokens, std::span<const Token> source,
                                           std::span<const Token> target) override {
    return attn::attention_maps(*device_, network_->model, special_tokens, source, target);
  }

 private:
  Parameters<Device>& values() const override { return network_->parameters; }
  BatchLoss<Device> batch_loss() const override { return *network_; }
  Index width() const override { return width_of(**network_); }

  static std::unique_ptr<Network<Model>> make(Device& device, const Options& options, std::optional<std::uint64_t> seed) {
    if (seed) return std::make_unique<Network<Model>>(device, options, *seed);
    return std::make_unique<Network<Model>>(device, options, Inference{});
  }

  std::unique_ptr<Network<Model>> network_;
  ModelEngine<Device, Model> engine_{*device_, network_->model};
};

template <class Model>
void ModelRegistry::add(const std::string& name, std::function<typename Model::Options(const ModelSpec&)> options) {
  static_assert(check_decoder_model<Model>());
  using Maker = DeviceMaker<typename Model::DeviceType>;
  probes_[Maker::name] = Maker::check;
  if (!options) options = [](const ModelSpec& spec) { return options_from(spec, typename Model::Options{}); };
  add(name, Maker::name, [options](const ModelSpec& spec, const DeviceOptions& device, std::optional<std::uint64_t> seed) {
    return std::make_unique<ModelOn<Model>>(spec, options(spec), device, seed);
  });
}

}  // namespace attn
