#pragma once
#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/format_count.hpp"
#include "attn/core/types.hpp"

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

/// An embedding's table, or the output's numbers.
inline bool has_row_per_word(std::string_view name) {
  return name.ends_with("embedding.table") || name == "output.weight" || name == "output.bias";
}

/// A training's file has more than the model: what stands under a first name that none of the model's parameters has
/// (adam.m). Where a model shares its embeddings source_embedding is such a name too, but always of a model.
inline bool of_optimiser(std::string_view name, Names parameters) {
  const std::string_view first = name.substr(0, name.find('.') + 1);
  return !first.empty() && first != "source_embedding." &&
         std::ranges::none_of(parameters, [&](const std::string& parameter) { return parameter.starts_with(first); });
}

/// How many layers, numbered from 0, names have after a prefix.
inline Index layers(Names names, std::string_view prefix) {
  Index count = 0;
  for (const std::string& name : names) {
    Index number = 0;
    if (!name.starts_with(prefix)) continue;
    const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (error == std::errc{} && end != name.data() + name.size() && *end == '.') count = std::max(count, number + 1);
  }
  return count;
}

/// Which of the choices that a model is made with would explain why a file's tensors are others than its parameters.
inline std::string explanation(Names missing, Names left_over, Names parameters, Names tensors) {
  struct Choice {
    std::string_view part, when_missing, when_left_over;
  };
  static constexpr Choice choices[] = {
      {"source_embedding.table", "the file's model shares its embeddings: set share_embeddings",
       "the file's model has a table for each language: unset share_embeddings"},
      {"output.weight", "the output's weights of the file's model are the target's table: set tie_output",
       "the output of the file's model has weights of its own: unset tie_output"},
      {"coder.norm.", "the file's model normalises after its sub-layers: take PostNorm",
       "the file's model normalises the end of its stacks: take PreNorm if it normalises before its sub-layers (PyTorch's "
       "norm_first=True), PostNormAndFinal if after them (norm_first=False); the file does not say which"},
      {".projection.", "the file's model attends to all words: take Full",
       "the file's model is a Linformer: take Linformer"},
  };
  std::string sentence;
  const auto say = [&](const auto&... parts) {
    sentence += "; ";
    (sentence.append(parts), ...);
  };
  for (const auto& [part, when_missing, when_left_over] : choices) {
    const bool lacks = any_with(missing, part), has = any_with(left_over, part);
    if (part == ".projection." && (lacks || has) && any_with(parameters, part) && any_with(tensors, part))
      continue;  // both are Linformers: of other depths, or they share otherwise
    if (lacks) say(when_missing);
    if (has) say(when_left_over);
  }
  for (const std::string_view prefix : {"encoder.layers.", "decoder.layers.", "encoder.lstm.", "decoder."}) {
    const Index ours = layers(parameters, prefix), theirs = layers(tensors, prefix);
    if (ours == theirs || ours == 0 || theirs == 0) continue;
    say("the file's model has ", counted(theirs, "layer"), " ", prefix, ", this one ", std::to_string(ours));
  }
  if (sentence.empty() && any_with(parameters, ".projection.") && any_with(tensors, ".projection."))
    say("the Linformer of the file's model shares its projections otherwise: take another Sharing");
  return sentence;
}

}  // namespace attn::tensor_names
