#pragma once
#include "attn/core/network.hpp"
#include "attn/decode/decoder_model.hpp"

namespace attn {

/// The meaning of a map's rows or columns: tokens of one side, or mixtures of several tokens, such as the Linformer's
/// projections.
enum class Side { source, target, mixtures };

/// The attention weights of one head of one layer for one sentence pair.
struct AttentionMap {
  std::string layer;  // name in the model and in checkpoints: "decoder.layers.0.cross_attention"
  int head = 0, heads = 1;
  Side of = Side::target;  // rows: the queries
  Side at = Side::source;  // columns: the keys
  Index rows = 0, cols = 0;
  std::vector<float> weights;  // rows x cols; a row sums to 1, or to 0 if it has no keys

  float operator()(Index row, Index col) const { return weights[static_cast<std::size_t>(row * cols + col)]; }
  /// Whether this is cross-attention: target queries over source keys.
  bool translates() const { return of == Side::target && at == Side::source; }
};

/// Averages the heads of each layer into one map. Heads of a layer must be adjacent, as attention_maps returns them.
inline std::vector<AttentionMap> mean_of_heads(std::span<const AttentionMap> maps) {
  std::vector<AttentionMap> means;
  for (const AttentionMap& map : maps) {
    if (map.head == 0) {
      means.push_back(map);
      means.back().heads = 1;
      means.back().weights.assign(map.weights.size(), 0);
    }
    for (std::size_t i = 0; i < map.weights.size(); ++i)
      means.back().weights[i] += map.weights[i] / static_cast<float>(map.heads);
  }
  return means;
}

namespace detail {

/// Visits a model like ParameterWalk and records the path of every layer.
template <class Device>
class LayerNames {
 public:
  void operator()(std::string_view, Parameter<Device>&) {}
  void operator()(std::string_view name, auto& layer) {
    const std::size_t length = path_.size();
    if (length > 0) path_ += '.';
    path_ += name;
    found_.emplace_back(id_of(layer), path_);
    layer.for_each_parameter(*this);
    path_.resize(length);
  }
  void tie(Parameter<Device>&, Parameter<Device>&) {}

  /// The path of a layer, or "" if it has none.
  std::string of(const LayerId& id) const {
    const auto found = std::ranges::find(found_, id, &std::pair<LayerId, std::string>::first);
    return found == found_.end() ? "" : found->second;
  }

 private:
  std::string path_;
  std::vector<std::pair<LayerId, std::string>> found_;
};

/// The maps of the recorded calls of a model's layers.
template <class Device>
std::vector<AttentionMap> maps_of(const Device& device, const std::vector<AttentionWeights<Device>>& calls,
                                  const LayerNames<Device>& names, const Text& read, const Text& written) {
  const auto layout_of = [](const Ragged& rows, const Text& text) { return rows.begin == text.rows.begin; };
  std::vector<AttentionMap> maps;
  std::vector<std::pair<LayerId, std::size_t>> first_map;  // index in `maps` of each layer's first map
  for (const auto& call : calls) {
    // A layer that decodes step by step calls once per target token; each call adds a row.
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
    AttentionMap* const map = maps.data() + known->second;  // of head 0; the other heads follow
    require(map->cols == call.keys.longest && map->heads == call.heads, "attention_maps: ", map->layer,
            " attended twice, with different numbers of keys or heads. Use one layer per attention.");
    const Index count = call.weights.rows * call.weights.cols, queries = call.weights.rows / call.heads;
    std::vector<typename Device::Real> numbers(static_cast<std::size_t>(count));
    device.download(numbers.data(), call.weights.data, count);
    for (Index row = 0; row < call.weights.rows; ++row) {
      AttentionMap& of_head = map[row / queries];
      const auto* from = numbers.data() + row * call.weights.cols;
      for (Index j = 0; j < map->cols; ++j) of_head.weights.push_back(static_cast<float>(from[j]));
      ++of_head.rows;
    }
  }
  return maps;
}

}  // namespace detail

/// The weights of every attention head while the model reads `source` and decodes the given `target` (teacher forcing).
/// Both include their special tokens; `target` is the decoder input. One map per head, layers in order of first use.
/// Attention keeps its weights only for this call.
///
/// To see the attention of a translation, pass the model's output as the target.
template <class Device, class Model>
std::vector<AttentionMap> attention_maps(Device& device, Model& model, std::span<const Token> source,
                                         std::span<const Token> target) {
  static_assert(HasHidden<Model, Device>, "attn: attention_maps: a model has  hidden(tape, source, target) const;");
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
  return detail::maps_of(device, calls, names, read, written);
}

/// Takes sentences without special tokens and adds these as in training.
template <class Device, class Model>
std::vector<AttentionMap> attention_maps(Device& device, Model& model, const SpecialTokens& special_tokens,
                                         std::span<const Token> source, std::span<const Token> target) {
  Sentences read;
  special_tokens.add_source(read, source);
  std::vector<Token> written{special_tokens.begin};
  written.insert(written.end(), target.begin(), target.end());
  return attention_maps(device, model, read[0], written);
}

template <class Model>
std::vector<AttentionMap> attention_maps(Network<Model>& network, const SpecialTokens& special_tokens,
                                         std::span<const Token> source, std::span<const Token> target) {
  return attention_maps(network.device(), *network, special_tokens, source, target);
}

}  // namespace attn
