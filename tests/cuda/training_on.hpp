#pragma once
#include "attn/decode/forced.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/decode/search.hpp"
#include "attn/optim/adam.hpp"
#include "attn/optim/averaged.hpp"
#include "attn/train/checkpoint.hpp"
#include "cuda/backend.hpp"

template <class Device, class Model>
class TrainingOn : public Training {
 public:
  TrainingOn(Device& device, std::uint64_t seed)
      : device_(device),
        model_({.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary, .dropout = {0.1f, 0.1f, 0.1f}}),
        parameters_(device, model_, seed),
        adam_(parameters_, {.beta2 = 0.98, .clip_norm = 1}),
        averaged_(parameters_, adam_, 0.75) {}

  Sums gradients(const attn::Batch& batch, std::uint64_t number) override {
    device_.zero(parameters_.gradients(), parameters_.size());
    attn::Tape<Device> tape(device_, attn::TapeMode::training(1, number));
    auto loss = model_.loss(tape, batch, {.amount = 0.1});
    loss.backward();
    const auto sums = loss.read();
    return {sums.nll, sums.loss};
  }
  Sums step(const attn::Batch& batch, double rate) override {
    const Sums sums = gradients(batch, static_cast<std::uint64_t>(adam_.steps()) + 1);
    averaged_.step(rate);
    return sums;
  }
  attn::Index steps() const override { return adam_.steps(); }
  std::vector<Named> parameters() const override {
    return all([&](const auto& entry) { return parameters_.read(entry); });
  }
  std::vector<Named> gradients_of_parameters() const override {
    return all([&](const auto& entry) { return parameters_.read_gradient(entry); });
  }
  void exchange_with_average() override { averaged_.exchange(); }
  bool computes_with_its_parameters() const override {
    std::vector<typename Device::Scalar> copy(static_cast<std::size_t>(parameters_.size()));
    std::vector<typename Device::Real> values(copy.size());
    device_.download(copy.data(), parameters_.compute(), parameters_.size());
    device_.download(values.data(), parameters_.values(), parameters_.size());
    for (std::size_t i = 0; i < copy.size(); ++i) {
      const auto number = static_cast<double>(values[i]);
      const double expected = sizeof(copy[i]) == 2 ? rounded(number, Precision::bfloat16) : number;
      if (static_cast<double>(copy[i]) != expected) return false;
    }
    return true;
  }
  void round_parameters() override {
    for (const auto& entry : parameters_.entries()) {
      auto numbers = parameters_.read(entry);
      for (auto& number : numbers)
        number = static_cast<typename Device::Real>(rounded(static_cast<double>(number), Precision::bfloat16));
      parameters_.write(entry, numbers);
    }
  }
  std::vector<std::vector<attn::Token>> translate(const attn::Sentences& source) const override {
    return attn::greedy(device_, model_, source, {.begin = 2, .end = 3, .limit = 24});
  }
  std::vector<std::vector<attn::Hypothesis>> search(const attn::Sentences& source) const override {
    return attn::beam_search(device_, model_, source, {.begin = 2, .end = 3, .limit = 24, .beam = 4, .n_best = 2});
  }
  std::vector<std::vector<attn::Hypothesis>> graph_beam_search(const attn::Sentences& source,
                                                               const attn::SearchOptions& options) const override {
    if constexpr (attn::SupportsGraphBeam<Model>)
      return attn::graph_beam_search(device_, model_, source, options);
    else
      attn::fail("this model does not support graph beam search");
  }
  std::vector<std::vector<attn::Hypothesis>> stepwise_search(const attn::Sentences& source,
                                                             const attn::SearchOptions& options) const override {
    attn::ModelSteps<Device, Model> steps(device_, model_, source, options.limit, options.rows());
    return attn::beam_search(steps, options);
  }
  std::vector<std::vector<double>> forced(const attn::Sentences& source, const attn::Sentences& target) const override {
    return attn::forced_log_probabilities(device_, model_, {.begin = 2, .end = 3}, source, target);
  }
  std::vector<Numbers> select(const attn::Sentences& source,
                              const std::vector<std::vector<attn::Index>>& selections) const override {
    attn::Tape<Device> tape(device_);
    auto state = model_.start(tape, attn::upload(tape, source), static_cast<attn::Index>(selections.size()) + 1, 3);
    std::vector<Numbers> rows;
    for (std::size_t t = 0; t <= selections.size(); ++t) {
      if (t > 0) state.select(selections[t - 1]);
      std::vector<attn::Token> words;  // the same for hypotheses of one sentence
      for (const attn::Index sentence : state.active())
        words.push_back(static_cast<attn::Token>(4 + (7 * sentence + 5 * static_cast<attn::Index>(t)) % (kVocabulary - 4)));
      attn::Tape<Device> step(device_);
      const auto logits = attn::next_logits(step, model_, state, words);
      std::vector<typename Device::Scalar> copy(static_cast<std::size_t>(logits.rows * logits.cols));
      device_.download(copy.data(), logits.data, logits.rows * logits.cols);
      rows.assign(static_cast<std::size_t>(logits.rows), {});
      for (std::size_t i = 0; i < copy.size(); ++i)
        rows[i / static_cast<std::size_t>(logits.cols)].push_back(static_cast<double>(copy[i]));
    }
    return rows;
  }
  void save(const std::filesystem::path& path) override {
    attn::TrainState state;
    state.step = adam_.steps();
    attn::save_training(path, parameters_, adam_, state);
  }
  void load(const std::filesystem::path& path) override {
    attn::load_training(attn::SafetensorsFile(path), parameters_, adam_);
  }

 private:
  template <class Read>
  std::vector<Named> all(const Read& read) const {
    std::vector<Named> result;
    for (const auto& entry : parameters_.entries()) {
      const auto numbers = read(entry);
      result.push_back({entry.name, Numbers(numbers.begin(), numbers.end())});
    }
    return result;
  }

  Device& device_;
  Model model_;
  attn::Parameters<Device> parameters_;
  attn::Adam<Device> adam_;
  attn::Averaged<Device> averaged_;
};
