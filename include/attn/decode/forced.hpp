#pragma once
#include "attn/core/network.hpp"
#include "attn/decode/decoder_model.hpp"

namespace attn {

/// Log P of each target token given the source and the preceding target tokens: one list for each pair, the end token last.
/// Sentences come without special tokens, which are added as in training. One teacher-forced pass. Language models work
/// too: their texts are the targets. The sum of a list is the log-probability that search reports for the same translation.
template <class Device, class Model>
std::vector<std::vector<double>> forced_log_probabilities(Device& device, const Model& model,
                                                          const SpecialTokens& special_tokens, const Sentences& source,
                                                          const Sentences& target) {
  static_assert(HasHidden<Model, Device> || HasTextHidden<Model, Device>,
                "attn: forced_log_probabilities: a model has  hidden(tape, source, target) const;");
  using Real = typename Device::Real;
  const Batch batch = Batch::of(source, target, special_tokens);
  Tape<Device> tape(device);
  const auto hidden = [&] {
    if constexpr (HasTextHidden<Model, Device>)
      return model.hidden(tape, upload(tape, batch.target_input));
    else
      return model.hidden(tape, upload(tape, batch.source), upload(tape, batch.target_input));
  }();
  const Index vocabulary = model.output.weight.rows, rows = hidden.rows();
  for (const Token label : batch.target_output.tokens)
    require(label >= 0 && label < vocabulary, "forced_log_probabilities: token ", label, " is not in a vocabulary of ",
            vocabulary);
  const Token* labels = tape.upload(batch.target_output.tokens.data(), rows);
  std::vector<Real> found(static_cast<std::size_t>(rows));
  const Index at_once = std::max<Index>(Device::logits_at_once / vocabulary, 1);
  for (Index first = 0; first < rows; first += at_once) {
    const Index count = std::min(at_once, rows - first);
    Tape<Device> chunk(device);
    const auto logits = model.output.logits(chunk.constant(hidden.value.row_range(first, count))).value;
    Token* best = chunk.template array<Token>(count);
    Real* log_probabilities = chunk.template array<Real>(count);
    top_k(device, {.logits = logits,
                   .best = {best, count, 1},
                   .log_probabilities = {log_probabilities, count, 1},
                   .only = labels + first});
    device.download(found.data() + first, log_probabilities, count);
  }
  std::vector<std::vector<double>> result;
  const auto& offsets = batch.target_output.offsets;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    result.emplace_back(found.begin() + offsets[i], found.begin() + offsets[i + 1]);
  return result;
}

template <class Model>
std::vector<std::vector<double>> forced_log_probabilities(const Network<Model>& network,
                                                          const SpecialTokens& special_tokens, const Sentences& source,
                                                          const Sentences& target) {
  return forced_log_probabilities(network.device(), *network, special_tokens, source, target);
}

}  // namespace attn
