#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/network.hpp"
#include "attn/core/sentences.hpp"
#include "attn/data/batches.hpp"
#include "attn/decode/attention_map.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

namespace detail {

/// Walks a model as ParameterWalk does, and notes the path of every layer.
template <class Device>
class LayerNames {
 public:
  void operator()(std::string_view, Parameter<Device>&) {}
  template <class Layer>
  void operator()(std::string_view name, Layer& layer) {
    const std::size_t length = path_.size();
    if (length > 0) path_ += '.';
    path_ += name;
    found_.emplace_back(id_of(layer), path_);
    layer.for_each_parameter(*this);
    path_.resize(length);
  }
  void tie(Parameter<Device>&, Parameter<Device>&) {}

  /// The path of a layer, or "" of one that has none.
  std::string of(const LayerId& id) const {
    for (const auto& [known, path] : found_)
      if (known == id) return path;
    return "";
  }

 private:
  std::string path_;
  std::vector<std::pair<LayerId, std::string>> found_;
};

/// Adds what a call saw to the maps of its layer, `first` being the first of them: further rows, of as many columns.
template <class Device>
void add_rows(Device& device, const AttentionWeights<Device>& seen, Index keys, AttentionMap* first) {
  using Real = typename Device::Real;
  const Index count = seen.weights.rows * seen.weights.cols;
  std::vector<Real> numbers(static_cast<std::size_t>(count));
  device.download(numbers.data(), seen.weights.data, count);
  const Index rows = seen.weights.rows / seen.heads;
  for (Index row = 0; row < seen.weights.rows; ++row) {
    AttentionMap& map = first[row / rows];
    const Real* from = numbers.data() + row * seen.weights.cols;
    for (Index j = 0; j < keys; ++j) map.weights.push_back(static_cast<float>(from[j]));
    ++map.rows;
  }
}

}  // namespace detail

/// Where every head of every attention layer looks while the model reads `source` and writes a given target of which it is
/// fed `target`, as in training: `source` and `target` with their special tokens. One map for each head, layers in the order in which
/// they first look. For any model with `hidden(tape, source, target)`; when nobody asks, attention keeps no weights and this costs nothing.
///
/// A translation of the model's own shows what the model saw while it wrote it: give what it wrote as the target.
template <class Device, class Model>
std::vector<AttentionMap> attention_maps(Device& device, Model& model, std::span<const Token> source,
                                         std::span<const Token> target) {
  Sentences from, to;
  from.push_back(source);
  to.push_back(target);
  std::vector<AttentionWeights<Device>> calls;
  Tape<Device> tape(device);
  tape.attention_weights = &calls;
  const Text read = upload(tape, from), written = upload(tape, to);
  model.hidden(tape, read, written);

  detail::LayerNames<Device> names;
  model.for_each_parameter(names);
  const auto layout_of = [](const Ragged& rows, const Text& text) { return rows.begin == text.rows.begin; };
  std::vector<AttentionMap> maps;
  std::vector<std::pair<LayerId, std::size_t>> first_map;  // of each layer
  for (const auto& call : calls) {
    // A layer that walks the target step by step calls once for each, and each call adds a row.
    auto known = std::find_if(first_map.begin(), first_map.end(),
                              [&](const auto& entry) { return call.layer != LayerId{} && entry.first == call.layer; });
    if (known == first_map.end()) {
      AttentionMap map;
      map.layer = names.of(call.layer);
      if (map.layer.empty()) map.layer = "attention " + std::to_string(first_map.size() + 1);
      map.heads = call.heads;
      map.of = layout_of(call.queries, read) ? Side::source : Side::target;
      map.at = !call.positions ? Side::mixtures : layout_of(call.keys, written) ? Side::target : Side::source;
      map.cols = call.keys.longest;
      first_map.emplace_back(call.layer, maps.size());
      for (map.head = 0; map.head < map.heads; ++map.head) maps.push_back(map);
      known = first_map.end() - 1;
    }
    AttentionMap* map = maps.data() + known->second;
    require(map->cols == call.keys.longest && map->heads == call.heads, "attention_maps: ", map->layer,
            " looked twice, and at another number of keys or with other heads the second time; give each look a layer");
    detail::add_rows(device, call, map->cols, map);
  }
  return maps;
}

/// The same of sentences without their special tokens, which are added as in training.
template <class Device, class Model>
std::vector<AttentionMap> attention_maps(Device& device, Model& model, const SpecialTokens& special_tokens,
                                         std::span<const Token> source, std::span<const Token> target) {
  Sentences read;
  special_tokens.add_source(read, source);
  std::vector<Token> written{special_tokens.begin};
  written.insert(written.end(), target.begin(), target.end());
  return attention_maps(device, model, read[0], written);
}

/// The same with a network, on its device.
template <class Model>
std::vector<AttentionMap> attention_maps(Network<Model>& network, const SpecialTokens& special_tokens,
                                         std::span<const Token> source, std::span<const Token> target) {
  return attention_maps(network.device(), *network, special_tokens, source, target);
}

}  // namespace attn
