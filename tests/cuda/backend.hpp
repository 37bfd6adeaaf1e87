#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attn/data/batches.hpp"
#include "attn/decode/search_options.hpp"
#include "cuda/op_case.hpp"

// nvcc must not see Eigen, and need not see doctest: the tests, compiled by the C++ compiler, know devices as Backends,
// which cpu.cpp, float.cu and bfloat16.cu make from one template (backend_on.hpp).

struct Named {
  std::string name;
  Numbers numbers;
};

/// Transformers, the third pre-norm with heads of 64; and recurrent models, whose decoders are fed what they saw, or are not.
enum class Kind {
  transformer,
  linformer,
  wide_heads,
  additive_on_past,
  multiplicative_on_self_attention,
  key_value,
  coursework,
  deeper_coursework,
  lexical_coursework,
  plain_coursework
};

inline constexpr attn::Index kVocabulary = 37, kLongest = 48;  // of each language; of the linformer's sentences

/// A model of small size with its parameters and Adam, on a device. Dropout is on in training.
class Training {
 public:
  struct Sums {
    double nll, loss;
  };
  virtual ~Training() = default;

  /// The gradients of one batch, from 0; `number` names the dropout masks.
  virtual Sums gradients(const attn::Batch& batch, std::uint64_t number) = 0;
  /// A step of Adam: its masks are those of its number.
  virtual Sums step(const attn::Batch& batch, double rate) = 0;
  virtual attn::Index steps() const = 0;
  virtual std::vector<Named> parameters() const = 0;
  virtual std::vector<Named> gradients_of_parameters() const = 0;
  /// The model gets the moving average of its parameters over the steps, decay 0.75; once more, and it has its own again.
  virtual void exchange_with_average() = 0;
  /// Whether the numbers that the model computes with are the parameters, rounded.
  virtual bool computes_with_its_parameters() const = 0;
  /// Rounds its parameters to bfloat16.
  virtual void round_parameters() = 0;
  virtual std::vector<std::vector<attn::Token>> translate(const attn::Sentences& source) const = 0;
  /// The best two of a beam of 4; log P of each token of given translations, in one pass.
  virtual std::vector<std::vector<attn::Hypothesis>> search(const attn::Sentences& source) const = 0;
  /// With these options, by steps that are repeated, if its model allows it; and by single steps.
  virtual std::vector<std::vector<attn::Hypothesis>> graph_beam_search(const attn::Sentences& source,
                                                                       const attn::SearchOptions& options) const = 0;
  virtual std::vector<std::vector<attn::Hypothesis>> stepwise_search(const attn::Sentences& source,
                                                                     const attn::SearchOptions& options) const = 0;
  virtual std::vector<std::vector<double>> forced(const attn::Sentences& source, const attn::Sentences& target) const = 0;
  /// The logits of the last step, row by row, where each step's rows are selected from those of the step before.
  virtual std::vector<Numbers> select(const attn::Sentences& source,
                                      const std::vector<std::vector<attn::Index>>& selections) const = 0;
  virtual void save(const std::filesystem::path& path) = 0;
  virtual void load(const std::filesystem::path& path) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string description() const = 0;
  virtual Results run(const OpCase& test, Precision precision) = 0;
  virtual std::unique_ptr<Training> training(Kind kind, std::uint64_t seed) = 0;
  /// Bytes that the device holds beside parameters and optimiser state.
  virtual std::size_t held() const = 0;
  /// What it says when more memory is asked for than any machine has.
  virtual std::string out_of_memory() = 0;
};

std::unique_ptr<Backend> make_cpu_double();
std::unique_ptr<Backend> make_cpu_float();
std::unique_ptr<Backend> make_cpu_bfloat16();  // with bf16 matrix products
std::unique_ptr<Backend> make_cuda_float(int gpu = 0);
std::unique_ptr<Backend> make_cuda_tf32();
std::unique_ptr<Backend> make_cuda_bfloat16(int gpu = 0);
int gpus();
/// Why there is no GPU to test on; empty where there is one.
std::string no_gpu();
