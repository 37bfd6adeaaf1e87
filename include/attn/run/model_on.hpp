#pragma once
#include "attn/checkpoint/average_models.hpp"
#include "attn/decode/forced.hpp"
#include "attn/decode/next_token.hpp"
#include "attn/optim/adam.hpp"
#include "attn/optim/averaged.hpp"
#include "attn/parallel/data_parallel.hpp"
#include "attn/run/gpu_utilisation.hpp"
#include "attn/run/model_options.hpp"
#include "attn/run/model_registry.hpp"
#include "attn/train/checkpoint_callback.hpp"
#include "attn/train/memory_plan.hpp"
#include "attn/train/run_log.hpp"
#include "attn/train/tensorboard.hpp"
#include "attn/train/trainer.hpp"
#include "attn/train/training_monitor.hpp"
#include "attn/version.hpp"

namespace attn {

/// Creates devices of one type: name, make(options), and check(options), which throws Error if make() would. The headers of
/// the backends specialize it (run/cpu_models.hpp, run/cuda_models.cuh).
template <class Device>
struct DeviceMaker;

/// The part of ModelOn that is the same for all models of a device: above all, training. It is compiled once per device.
template <class Device>
class ModelOnDevice : public AnyModel {
 public:
  ModelOnDevice(const ModelSpec& spec, const DeviceOptions& device)
      : spec_(spec), device_(DeviceMaker<Device>::make(device)) {}

  const ModelSpec& spec() const override { return spec_; }
  Index parameters() const override { return values().count(); }
  std::string device() const override { return device_->description(); }
  void load(const SafetensorsFile& weights, const LoadOptions& options = {}) override {
    load_model(weights, values(), options);
  }
  void freeze(const std::string& name) override { values().freeze(name); }
  TrainingOutcome train(const TrainingRun& run) override;

 protected:
  virtual Parameters<Device>& values() const = 0;
  virtual BatchLoss<Device> batch_loss() const = 0;
  virtual Index width() const = 0;

  ModelSpec spec_;
  std::unique_ptr<Device> device_;

 private:
  /// Replaces the model by the mean of the best models if that is better by the same criterion.
  void use_mean_of_best(const TrainingRun& run, const BestModels& best, Batches& validation, RunLog* log) {
    if (best.entries().size() < 2) return;
    const auto mean = BestModels::mean_of(run.folder), model = run.folder / "model.safetensors";
    if (log != nullptr) average_models(best.files(), mean, run.metadata);
    if (run.ranks) run.ranks->barrier();
    const bool by_score = run.train.best_by == BestBy::score;
    const auto value_of = [&](const std::filesystem::path& weights) {
      load(SafetensorsFile(weights));
      return by_score ? run.score(*this) : loss_of_text(*device_, batch_loss(), validation, run.ranks).value;
    };
    const double before = value_of(model), after = value_of(mean);
    const bool better = by_score ? after > before : after < before;
    const char* what = by_score ? "score" : "loss";
    if (log == nullptr) return;
    if (better) std::filesystem::rename(mean, model);
    log->write({{"event", "mean"}, {"models", best.entries().size()}, {what, after}, {"before", before}});
    if (run.print)
      run.print("mean of the " + std::to_string(best.entries().size()) + " best models: validation " + what + " " +
                format_decimals(after, 3) + ", before " + format_decimals(before, 3) +
                (better ? "; the mean is now the model" : "; the model is unchanged"));
  }
  /// Settings that must be equal on all ranks of a training.
  CommonSettings in_common(const TrainingRun& run, const TrainState& state, const Batches& training) const {
    std::string settings;
    for (const auto& [name, value] : run.metadata) settings += name + " " + value + "\n";
    const Parameters<Device>& parameters = values();
    typename Device::Real squares = 0;
    const Buffer<typename Device::Real, typename Device::Memory> total(*device_, 1);
    sum_of_squares(*device_, {.x = parameters.values(), .count = parameters.size(), .total = total.data()});
    device_->download(&squares, total.data(), 1);
    return {{"version", ATTN_VERSION},
            {"model", spec_.name + " of " + std::to_string(parameters.count()) + " parameters"},
            {"setting", settings},
            {"folder", std::filesystem::absolute(run.folder).lexically_normal().string()},
            {"device", DeviceMaker<Device>::name},
            {"batches", std::to_string(training.batches_per_epoch())},
            {"step", std::to_string(state.step)},
            {"weights", "whose squares add up to " + checkpoint::exact(static_cast<double>(squares))}};
  }
};

template <class Device>
TrainingOutcome ModelOnDevice<Device>::train(const TrainingRun& run) {
  Parameters<Device>& parameters = values();
  const BatchLoss<Device> loss = batch_loss();
  Communicator alone;
  DataParallel<Device> ranks(run.ranks ? *run.ranks : alone, parameters, run.parallel);
  const bool leads = ranks.communicator().leads();
  Adam<Device> adam(parameters, run.adam, ranks.share());
  Averaged<Device> optimiser(parameters, adam, run.average_decay);
  Batches training(run.training, run.special_tokens, run.batches);
  Batches validation(run.validation, run.special_tokens, run.validation_batches);
  const Index together = run.train.accumulate * ranks.ranks();
  TrainState state;
  if (run.resume)
    state = load_training(SafetensorsFile(run.folder / "training.safetensors"), parameters, optimiser, &ranks);
  const Index steps = plan_steps(state, run.train, training.batches_per_epoch(), together);
  TrainOptions options = run.train;
  if (run.score) options.score = [&] { return run.score(*this); };
  Trainer<Device> trainer(parameters, loss, optimiser, run.schedule(steps, width()), options, &ranks);
  trainer.state = state;
  require_same_everywhere(ranks.communicator(), in_common(run, trainer.state, training));
  const Index first = trainer.state.step, epoch = trainer.state.position.epoch;

  // Later epochs use similar batches; slightly larger ones allocate on demand.
  const MemoryPlan plan = plan_memory<Device>(parameters, loss, optimiser,
                                              training.largest(epoch, std::clamp<Index>(run.train.epochs - epoch, 1, 3)),
                                              validation.largest(0, 1));
  if (run.print)
    run.print(spec_.name + ": " + counted(parameters.count(), "parameter") +
              (parameters.trainable_count() == parameters.count()
                   ? ""
                   : ", " + format_count(parameters.trainable_count()) + " of them trainable") +
              ", " + device_->description() + ", " + counted(steps, "step") + " of " +
              counted(run.batches.size, run.batches.unit == BatchUnit::tokens ? "token" : "sentence") +
              (together > 1 ? " x " + std::to_string(together) : "") +
              (ranks.communicator().alone()
                   ? ""
                   : " on " + std::to_string(ranks.ranks()) + " ranks by " + ranks.communicator().name()) +
              (run.resume ? ", resuming at step " + format_count(first) : "") + "\nmemory: " + plan.to_string());

  std::optional<RunLog> log;  // on the first rank only
  std::optional<TensorBoard> board;
  if (leads) {
    const std::optional<Index> resumed_at = run.resume ? std::optional(first) : std::nullopt;
    log.emplace(run.folder / "log.jsonl", run.folder / "curve.svg", run.title, resumed_at);
    log->echo = run.log_line;
    if constexpr (requires { device_->pci_bus_id(); }) log->gpu_utilisation = GpuUtilisation(device_->pci_bus_id());
    board.emplace(run.folder, resumed_at);
    log->write({{"event", "start"},
                {"step", first},
                {"settings", run.metadata},
                {"device", device_->description()},
                {"ranks", ranks.ranks()},
                {"communicator", ranks.communicator().name()},
                {"parameters", parameters.count()},
                {"memory", plan.total()}});
    if (!run.resume) BestModels::remove(run.folder);
  }
  ranks.communicator().barrier();  // before any rank reads files that the first one removes
  CheckpointCallback<Device> checkpoints(run.folder, trainer, run.metadata, run.average_best);
  const std::unique_ptr<Callback> progress =
      leads && run.progress ? run.progress(first, steps) : std::make_unique<Callback>();
  TrainingMonitor watch([&](const std::string& text) { progress->on_warning(text), log->on_warning(text); }, steps);
  if (run.begin) run.begin();
  if (leads)  // save before `progress` translates samples, which can take long
    trainer.run(training, validation, {&*log, &*board, &checkpoints, progress.get(), &watch});
  else
    trainer.run(training, validation, {&checkpoints});
  if (!ranks.communicator().any(run.train.stop()))
    use_mean_of_best(run, checkpoints.best, validation, log ? &*log : nullptr);
  ranks.communicator().barrier();  // all files are complete
  return {trainer.state, steps, log ? log->seconds() : 0};
}

/// A model of one type that owns its device.
template <class Model>
class ModelOn final : public ModelOnDevice<typename Model::DeviceType> {
  using Device = typename Model::DeviceType;
  using Options = typename Model::Options;
  using ModelOnDevice<Device>::device_;

 public:
  ModelOn(const ModelSpec& spec, const Options& options, const DeviceOptions& device, std::optional<std::uint64_t> seed)
      : ModelOnDevice<Device>(spec, device), network_(std::make_unique<Network<Model>>(*device_, options, seed)) {
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
