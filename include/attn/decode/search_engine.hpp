#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "attn/core/sentences.hpp"
#include "attn/decode/decoder_model.hpp"
#include "attn/decode/search.hpp"

namespace attn {

/// Translates batches of sentences, given with special tokens. Hides the type of a model or an ensemble from the
/// translator. One virtual call runs a whole search.
class SearchEngine {
 public:
  virtual ~SearchEngine() = default;

  /// The hypotheses of each sentence (decode/search.hpp). Workers 0, 1, ... may search concurrently; worker -1 searches
  /// alone and uses the whole device.
  virtual std::vector<std::vector<Hypothesis>> search(const Sentences& source, const SearchOptions& options, Index worker,
                                                      std::vector<SearchTree>* trees) = 0;

  /// Starts stepwise decoding, for ensembles. Each worker has at most one at a time.
  virtual std::unique_ptr<DecodingSteps> start(const Sentences& source, const SearchOptions& options, Index worker) = 0;

  /// Workers to use for this number of batches; 1 means that worker -1 takes the batches in turn.
  virtual Index workers(Index /* batches */) { return 1; }
  /// Sentences per batch, given the number of hypotheses per sentence.
  virtual Index batch_size(Index /* hypotheses */) const { return 64; }
  /// Host threads for encoding and decoding text.
  virtual Index text_threads() const { return 1; }

  std::mutex mutex;  // held during a search, so that threads take turns
};

/// A model on its device. Further worker devices are created on first use; Device chooses their number.
template <class Device, class Model>
class ModelEngine final : public SearchEngine {
  static_assert(check_decoder_model<Model>());

 public:
  ModelEngine(Device& device, const Model& model) : device_(device), model_(model) {}

  std::vector<std::vector<Hypothesis>> search(const Sentences& source, const SearchOptions& options, Index worker,
                                              std::vector<SearchTree>* trees) override {
    return beam_search(device(worker), model_, source, options, trees);
  }
  std::unique_ptr<DecodingSteps> start(const Sentences& source, const SearchOptions& options, Index worker) override {
    check_options(options, source.size());
    return std::make_unique<ModelSteps<Device, Model>>(device(worker), model_, source, options.limit, options.rows(),
                                                       options.allowed_tokens);
  }
  Index workers(Index batches) override {
    const Index count = device_.workers(batches);
    while (count > 1 && std::ssize(workers_) < count) workers_.push_back(Device::like(device_));
    return count;
  }
  Index batch_size(Index hypotheses) const override { return device_.decoding_batch(hypotheses); }
  Index text_threads() const override { return device_.text_threads(); }

 private:
  Device& device(Index worker) { return worker < 0 ? device_ : *workers_[static_cast<std::size_t>(worker)]; }

  Device& device_;
  const Model& model_;
  std::vector<std::unique_ptr<Device>> workers_;
};

}  // namespace attn
