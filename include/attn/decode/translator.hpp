#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attn/decode/greedy.hpp"
#include "attn/decode/longest_translation.hpp"
#include "attn/decode/search.hpp"
#include "attn/decode/translate_lines.hpp"

namespace attn {

/// Strings in, strings out, with a model whose type the program names. open_translator (run/open_translator.hpp) does the
/// same for a model that a folder names. One thread at a time.
template <class Device, class Model, Tokenizer SourceTokenizer, Tokenizer TargetTokenizer = SourceTokenizer>
class Translator {
 public:
  static_assert(
      !requires(const Model& model) { *model; },
      "attn: Translator: takes a Network alone, which knows its device:  Translator(network, source, target)");

  Translator(Device& device, const Model& model, const SourceTokenizer& source, const TargetTokenizer& target,
             TranslatorOptions options = {})
      : device_(device), model_(model), source_(source), target_(target), options_(std::move(options)) {
    options_.limit = std::min(options_.limit, longest_translation<Model>());
    if constexpr (requires { model.output.weight.rows; })
      require(target.size() <= model.output.weight.rows, "Translator: a tokenizer of ", target.size(),
              " tokens for a model that writes ", model.output.weight.rows, ": give it the one it was trained with");
  }
  Translator(const Network<Model>& network, const SourceTokenizer& source, const TargetTokenizer& target,
             TranslatorOptions options = {})
      : Translator(network.device(), *network, source, target, std::move(options)) {}
  // It refers to the tokenizers: they live as long as it does.
  Translator(Device&, const Model&, const SourceTokenizer&&, const TargetTokenizer&, TranslatorOptions = {}) = delete;
  Translator(Device&, const Model&, const SourceTokenizer&, const TargetTokenizer&&, TranslatorOptions = {}) = delete;
  Translator(Device&, const Model&, const SourceTokenizer&&, const TargetTokenizer&&, TranslatorOptions = {}) = delete;
  Translator(const Network<Model>&, const SourceTokenizer&&, const TargetTokenizer&, TranslatorOptions = {}) = delete;
  Translator(const Network<Model>&, const SourceTokenizer&, const TargetTokenizer&&, TranslatorOptions = {}) = delete;
  Translator(const Network<Model>&, const SourceTokenizer&&, const TargetTokenizer&&, TranslatorOptions = {}) = delete;

  std::vector<std::string> operator()(const std::vector<std::string>& lines) const {
    std::vector<std::string> texts;
    for (Translation& translation : translate(lines)) texts.push_back(std::move(translation.text));
    return texts;
  }

  /// The same with tokens beside the text, and as many hypotheses as options.search asks for.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const {
    return translate_lines(lines, source_, target_, options_,
                           [&](const Sentences& batch, std::span<const Index> places) { return decode(batch, places); });
  }

 private:
  std::vector<std::vector<Hypothesis>> decode(const Sentences& batch, std::span<const Index> lines) const {
    if (options_.search) {
      SearchOptions how = search_options_of(options_, target_, lines);
      how.among = tokens_among(options_, target_, batch, how.prefixes);
      return search(device_, model_, batch, how);
    }
    return as_hypotheses(
        greedy(device_, model_, batch,
               {target_.begin(), target_.end(), options_.limit, options_.never, tokens_among(options_, target_, batch)}),
        options_.limit);
  }

  Device& device_;
  const Model& model_;
  const SourceTokenizer& source_;
  const TargetTokenizer& target_;
  TranslatorOptions options_;
};

template <class Model, Tokenizer SourceTokenizer, Tokenizer TargetTokenizer>
Translator(const Network<Model>&, const SourceTokenizer&, const TargetTokenizer&, TranslatorOptions = {})
    -> Translator<typename Model::DeviceType, Model, SourceTokenizer, TargetTokenizer>;

}  // namespace attn
