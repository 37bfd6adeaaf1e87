#pragma once
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "attn/core/format_count.hpp"
#include "attn/core/network.hpp"
#include "attn/decode/attention_maps.hpp"
#include "attn/decode/forced.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/decode/longest_translation.hpp"
#include "attn/decode/model_steps.hpp"
#include "attn/decode/next_token.hpp"
#include "attn/optim/adam.hpp"
#include "attn/optim/averaged.hpp"
#include "attn/parallel/data_parallel.hpp"
#include "attn/parallel/same_everywhere.hpp"
#include "attn/run/any_model.hpp"
#include "attn/run/model_options.hpp"
#include "attn/run/model_registry.hpp"
#include "attn/train/average_models.hpp"
#include "attn/train/checkpoint_callback.hpp"
#include "attn/train/learning_watch.hpp"
#include "attn/train/marian.hpp"
#include "attn/train/memory_plan.hpp"
#include "attn/train/plan_steps.hpp"
#include "attn/train/progress.hpp"
#include "attn/train/run_log.hpp"
#include "attn/train/tensorboard.hpp"
#include "attn/train/trainer.hpp"
#include "attn/version.hpp"

namespace attn {

/// How devices of one type are made; specialised where the backend is included (run/cpu_models.hpp, run/cuda_models.cuh):
/// name, make(options), and keep(device, options), which saves what the next run on such a device can use.
template <class Device>
struct DeviceMaker;

/// A model of one type, on a device of its own.
template <class Model>
class ModelOn : public AnyModel {
  using Device = typename Model::DeviceType;
  using Options = typename Model::Options;

 public:
  ModelOn(const ModelSpec& spec, const Options& options, const DeviceOptions& device, std::optional<std::uint64_t> seed)
      : spec_(spec),
        device_options_(device),
        device_(DeviceMaker<Device>::make(device)),
        network_(make(*device_, options, seed)) {
    require(!seed || device.precision != "int8",
            "int8 weights are for translating; train in float or bf16, and translate with the precision int8");
  }

  const ModelSpec& spec() const override { return spec_; }
  nlohmann::json shape() const override { return describe_shape(**network_); }
  Index parameters() const override { return network_->parameters.count(); }
  std::string device() const override { return device_->description(); }

  void load(const std::filesystem::path& weights) override { load_model(SafetensorsFile(weights), network_->parameters); }
  void load_marian(const std::filesystem::path& weights, std::span<const Token> never) override {
    attn::load_marian(SafetensorsFile(weights), network_->parameters, never);
  }

  void freeze(const std::string& name) override { network_->freeze(name); }

  std::vector<std::vector<Token>> translate(const Sentences& source, const GreedyOptions& options, Index worker) override {
    return greedy(device_of(worker), network_->model, source, options);
  }
  Index longest_translation() const override { return attn::longest_translation<Model>(); }
  Index workers() override {
    if constexpr (requires { Device::beside(*device_); })
      while (std::ssize(workers_) < device_->threads()) workers_.push_back(Device::beside(*device_));
    return std::max<Index>(1, std::ssize(workers_));
  }
  std::unique_ptr<DecodingSteps> start(const Sentences& source, Index limit, Index hypotheses, std::span<const Token> among,
                                       Index worker) override {
    return std::make_unique<ModelSteps<Device, Model>>(device_of(worker), network_->model, source, limit, hypotheses,
                                                       among);
  }
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

  TrainingOutcome train(const TrainingRun& run) override;

 private:
  void use_mean_of_best(const TrainingRun& run, const BestModels& best, Batches& validation, RunLog* log);
  /// What all ranks of a training must agree on.
  CommonSettings in_common(const TrainingRun& run, const TrainState& state, const Batches& training) const {
    std::string settings;
    for (const auto& [name, value] : run.metadata) settings += name + " " + value + "\n";
    const Parameters<Device>& parameters = network_->parameters;
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
  static std::unique_ptr<Network<Model>> make(Device& device, const Options& options, std::optional<std::uint64_t> seed) {
    if (seed) return std::make_unique<Network<Model>>(device, options, *seed);
    return std::make_unique<Network<Model>>(device, options, Inference{});
  }

  Device& device_of(Index worker) { return worker < 0 ? *device_ : *workers_[static_cast<std::size_t>(worker)]; }

  ModelSpec spec_;
  DeviceOptions device_options_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Network<Model>> network_;
  std::vector<std::unique_ptr<Device>> workers_;  // one a core, made when they are asked for
};

template <class Model>
TrainingOutcome ModelOn<Model>::train(const TrainingRun& run) {
  Parameters<Device>& parameters = network_->parameters;
  Communicator alone;
  DataParallel<Device> ranks(run.ranks ? *run.ranks : alone, parameters, run.parallel);
  const bool leads = ranks.communicator().leads();
  Adam<Device> adam(parameters, run.adam, ranks.share());
  Averaged optimiser(*network_, adam, run.average_decay);
  Batches training(run.training, run.special_tokens, run.batches);
  Batches validation(run.validation, run.special_tokens, run.validation_batches);
  const Index together = run.train.accumulate * ranks.ranks();
  TrainState state;
  if (run.resume)
    state = load_training(SafetensorsFile(run.folder / "training.safetensors"), parameters, optimiser, &ranks);
  const Index steps = plan_steps(state, run.train, training.batches_per_epoch(), together);
  TrainOptions options = run.train;
  if (run.score) options.score = [&] { return run.score(*this); };
  Trainer trainer(*network_, optimiser, run.schedule(steps, width_of(**network_)), options, &ranks);
  trainer.state = state;
  require_same_everywhere(ranks.communicator(), in_common(run, trainer.state, training));
  const Index first = trainer.state.step, epoch = trainer.state.position.epoch;

  // Later epochs are dealt alike: a few rows more, if any, are taken when they come.
  const MemoryPlan plan =
      plan_memory(*network_, optimiser, training.largest(epoch, std::clamp<Index>(run.train.epochs - epoch, 1, 3)),
                  validation.largest(0, 1));
  if (run.say)
    run.say(spec_.name + ": " + counted(parameters.count(), "parameter") +
            (parameters.trainable_count() == parameters.count()
                 ? ""
                 : ", " + format_count(parameters.trainable_count()) + " of them trainable") +
            ", " + device_->description() + ", " + counted(steps, "step") + " of " +
            counted(run.batches.size, run.batches.unit == BatchUnit::tokens ? "token" : "sentence") +
            (together > 1 ? " x " + std::to_string(together) : "") +
            (ranks.communicator().alone()
                 ? ""
                 : " on " + std::to_string(ranks.ranks()) + " ranks by " + ranks.communicator().name()) +
            (run.resume ? ", going on at step " + format_count(first) : "") + "\nmemory: " + plan.to_string());

  std::optional<RunLog> log;  // the first rank's
  std::optional<TensorBoard> board;
  if (leads) {
    const std::optional<Index> resumed_at = run.resume ? std::optional(first) : std::nullopt;
    log.emplace(run.folder / "log.jsonl", run.folder / "curve.svg", run.title, resumed_at);
    log->echo = run.log_line;
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
  ranks.communicator().meet();  // nobody reads what the first rank removes
  CheckpointCallback checkpoints(run.folder, trainer, run.metadata, run.average_best);
  const std::unique_ptr<Callback> progress =
      leads && run.progress ? run.progress(first, steps) : std::make_unique<Callback>();
  LearningWatch watch([&](const std::string& text) { progress->on_warning(text), log->on_warning(text); }, steps);
  if (run.begin) run.begin();
  const auto start = std::chrono::steady_clock::now();
  if (leads)
    trainer.run(training, validation, {progress.get(), &*log, &*board, &checkpoints, &watch});
  else
    trainer.run(training, validation, {&checkpoints});
  if (!ranks.communicator().any(run.train.stop()))
    use_mean_of_best(run, checkpoints.best, validation, log ? &*log : nullptr);
  ranks.communicator().meet();  // all files are there
  DeviceMaker<Device>::keep(*device_, device_options_);
  return {trainer.state, steps, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

/// The mean of the best models becomes the model, if it is better than the best one by what told them apart.
template <class Model>
void ModelOn<Model>::use_mean_of_best(const TrainingRun& run, const BestModels& best, Batches& validation, RunLog* log) {
  if (best.entries().size() < 2) return;
  const auto mean = BestModels::mean_of(run.folder), model = run.folder / "model.safetensors";
  if (log != nullptr) average_models(best.files(), mean, run.metadata);
  if (run.ranks) run.ranks->meet();
  const bool by_score = run.train.best_by == BestBy::score;
  const auto value_of = [&](const std::filesystem::path& weights) {
    load(weights);
    return by_score ? run.score(*this) : perplexity(*network_, validation, run.ranks).mean();
  };
  const double before = value_of(model), after = value_of(mean);
  const bool better = by_score ? after > before : after < before;
  const char* what = by_score ? "score" : "loss";
  if (log == nullptr) return;
  if (better) std::filesystem::rename(mean, model);
  log->write({{"event", "mean"}, {"models", best.entries().size()}, {what, after}, {"before", before}});
  if (run.say)
    run.say("the mean of the " + std::to_string(best.entries().size()) + " best models: validation " + what + " " +
            format_decimals(after, 3) + ", before " + format_decimals(before, 3) +
            (better ? "; it is the model now" : "; the model stays"));
}

template <class Model>
void ModelRegistry::add(const std::string& name, std::function<typename Model::Options(const ModelSpec&)> options) {
  using Maker = DeviceMaker<typename Model::DeviceType>;
  probes_[Maker::name] = [](const DeviceOptions& device) { Maker::make(device); };
  if (!options) options = [](const ModelSpec& spec) { return options_from(spec, typename Model::Options{}); };
  add(name, Maker::name, [options](const ModelSpec& spec, const DeviceOptions& device, std::optional<std::uint64_t> seed) {
    return std::make_unique<ModelOn<Model>>(spec, options(spec), device, seed);
  });
}

}  // namespace attn
