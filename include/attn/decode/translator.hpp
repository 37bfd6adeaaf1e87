#pragma once
#include "attn/decode/translate_lines.hpp"

namespace attn {

/// Translates strings with a model of a type known at compile time. open_translator (run/open_translator.hpp) loads the
/// model of a folder instead. Thread-safe.
template <class Device, class Model, Tokenizer SourceTokenizer, Tokenizer TargetTokenizer = SourceTokenizer>
class Translator {
 public:
  static_assert(
      !requires(const Model& model) { *model; },
      "attn: Translator: pass a Network without its device:  Translator(network, source, target)");
  static_assert(check_decoder_model<Model>());

  Translator(Device& device, const Model& model, const SourceTokenizer& source, const TargetTokenizer& target,
             TranslatorOptions options = {})
      : engine_(std::make_unique<ModelEngine<Device, Model>>(device, model)),
        source_(source),
        target_(target),
        options_(std::move(options)) {
    options_.limit = std::min(options_.limit, longest_translation<Model>());
    require(target.size() <= model.output.weight.rows, "Translator: the target tokenizer has ", target.size(),
            " tokens, but the model's output ", model.output.weight.rows,
            ". Pass the tokenizer that the model was trained with.");
  }
  Translator(const Network<Model>& network, const SourceTokenizer& source, const TargetTokenizer& target,
             TranslatorOptions options = {})
      : Translator(network.device(), *network, source, target, std::move(options)) {}
  // Temporary tokenizers are rejected: the translator keeps references to them.
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

  /// Also returns tokens, and as many hypotheses as options.search requests.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const {
    return translate_lines(lines, source_, target_, options_, *engine_);
  }

 private:
  std::unique_ptr<ModelEngine<Device, Model>> engine_;
  const SourceTokenizer& source_;
  const TargetTokenizer& target_;
  TranslatorOptions options_;
};

template <class Model, Tokenizer SourceTokenizer, Tokenizer TargetTokenizer>
Translator(const Network<Model>&, const SourceTokenizer&, const TargetTokenizer&, TranslatorOptions = {})
    -> Translator<typename Model::DeviceType, Model, SourceTokenizer, TargetTokenizer>;

}  // namespace attn
