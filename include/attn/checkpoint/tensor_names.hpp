#pragma once
#include <initializer_list>

#include "attn/core/format_count.hpp"

namespace attn::tensor_names {

using Names = std::span<const std::string>;

/// 'a', 'b', 'c' and 4 more.
inline std::string first_few(Names names) {
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 3); ++i) list += (i == 0 ? "'" : ", '") + names[i] + "'";
  return names.size() <= 3 ? list : list + " and " + std::to_string(names.size() - 3) + " more";
}

inline bool any_with(Names names, std::string_view part) {
  return std::ranges::any_of(names, [&](const std::string& name) { return name.find(part) != name.npos; });
}

/// Replaces our parts of a name by those of another library, each once and in this order.
inline std::string renamed(std::string name,
                           std::initializer_list<std::pair<std::string_view, std::string_view>> ours_and_theirs) {
  for (const auto& [ours, theirs] : ours_and_theirs)
    if (const auto at = name.find(ours); at != name.npos) name.replace(at, ours.size(), theirs);
  return name;
}

/// Whether a tensor has one row per token: an embedding table or the output layer.
inline bool has_row_per_word(std::string_view name) {
  return name.ends_with("embedding.table") || name == "output.weight" || name == "output.bias";
}

/// Whether a tensor of a training checkpoint belongs to the optimizer (adam.m): no parameter has its first name component.
/// Models that share embeddings have no source_embedding, but it never belongs to an optimizer.
inline bool of_optimiser(std::string_view name, Names parameters) {
  const std::string_view first = name.substr(0, name.find('.') + 1);
  return !first.empty() && first != "source_embedding." &&
         std::ranges::none_of(parameters, [&](const std::string& parameter) { return parameter.starts_with(first); });
}

/// The number of layers, numbered from 0, after a prefix.
inline Index layers(Names names, std::string_view prefix) {
  Index count = 0;
  for (const std::string& name : names) {
    const std::size_t dot = name.starts_with(prefix) ? name.find('.', prefix.size()) : name.npos;
    if (dot == name.npos) continue;
    const auto number = parse_index(std::string_view(name).substr(prefix.size(), dot - prefix.size()));
    if (number) count = std::max(count, *number + 1);
  }
  return count;
}

/// The kind of model with these names; empty if unknown.
inline std::string_view kind_of_model(Names names) {
  const bool encoder = any_with(names, "encoder.layers."), decoder = any_with(names, "decoder.layers.");
  if (any_with(names, "lstm")) return "an LSTM model";
  return encoder && decoder ? "a Transformer" : encoder ? "an encoder" : decoder ? "a language model" : "";
}

/// Guesses which model options explain the difference between a file's tensors and the parameters.
inline std::string explanation(Names missing, Names left_over, Names parameters, Names tensors) {
  struct Choice {
    std::string_view part, when_missing, when_left_over;
  };
  static constexpr Choice choices[] = {
      {"source_embedding.table", "the file's model shares its embeddings: set share_embeddings",
       "the file's model has separate embeddings: unset share_embeddings"},
      {"output.weight", "the file's model ties its output to the target embedding: set tie_output",
       "the file's model has separate output weights: unset tie_output"},
      {"coder.norm.", "the file's model normalises after its sub-layers: use PostNorm",
       "the file's model has final norms: use PreNorm if it normalises before its sub-layers (PyTorch's norm_first=True), "
       "PostNormAndFinal if after them (norm_first=False)"},
      {".projection.", "the file's model has full attention: use Full", "the file's model is a Linformer: use Linformer"},
  };
  std::string sentence;
  const auto add = [&](const auto&... parts) {
    sentence += "; ";
    (sentence.append(parts), ...);
  };
  if (const auto ours = kind_of_model(parameters), theirs = kind_of_model(tensors); ours != theirs && !theirs.empty()) {
    add("the file contains ", theirs, ours.empty() ? "" : ", this model is ", ours);
    return sentence;
  }
  for (const auto& [part, when_missing, when_left_over] : choices) {
    const bool lacks = any_with(missing, part), has = any_with(left_over, part);
    if (part == ".projection." && (lacks || has) && any_with(parameters, part) && any_with(tensors, part))
      continue;  // both are Linformers, with another depth or another sharing
    if (lacks) add(when_missing);
    if (has) add(when_left_over);
  }
  for (const std::string_view prefix : {"encoder.layers.", "decoder.layers.", "encoder.lstm.", "decoder."}) {
    const Index ours = layers(parameters, prefix), theirs = layers(tensors, prefix);
    if (ours == theirs || ours == 0 || theirs == 0) continue;
    add("the file's model has ", counted(theirs, "layer"), " ", prefix, ", this one ", std::to_string(ours));
  }
  if (sentence.empty() && any_with(parameters, ".projection.") && any_with(tensors, ".projection."))
    add("the Linformer of the file's model shares its projections differently: use another Sharing");
  return sentence;
}

}  // namespace attn::tensor_names
