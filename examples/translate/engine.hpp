#pragma once
#include <memory>
#include <span>
#include <vector>

#include "attn/core/sentences.hpp"
#include "attn/decode/attention_maps.hpp"
#include "model_folder.hpp"
#include "place.hpp"

/// A trained model on its device, whatever their types. Tokens go in and come out without special tokens.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::vector<std::vector<attn::Token>> translate(const attn::Sentences& source) = 0;
  /// Where it looks while it reads the one and writes the other.
  virtual std::vector<attn::AttentionMap> look(std::span<const attn::Token> source,
                                               std::span<const attn::Token> target) = 0;
};

/// The model of a folder, on the place that the command line names.
std::unique_ptr<Engine> make_engine(const ModelFolder& folder, const Place& place);
