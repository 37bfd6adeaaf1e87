#pragma once
#include "attn/core/error.hpp"
#include "attn/seq2seq.hpp"
#include "attn/transformer.hpp"
#include "model_names.hpp"
#include "papers/recurrent_models.hpp"

// From a model's name (model_names.hpp) to its type: use.operator()<Model>() is called for the type of that name, and compiled for
// all of them. Most of a file's compile time is the same for one model as for many, so one file compiles them all.

template <class Device, class Use>
auto with_transformer(std::string_view name, std::string_view size, const Use& use) {
  using namespace attn;
  using namespace papers;
  const auto with = [&]<class Attention>() {
    return size == "base" ? use.template operator()<Transformer<Device, base_shape, Attention>>()
                          : use.template operator()<Transformer<Device, small_shape, Attention>>();
  };
  if (name == "transformer") return with.template operator()<Full<>>();
  if (name == "linformer32") return with.template operator()<Linformer<32>>();
  if (name == "linformer64") return with.template operator()<Linformer<64>>();
  if (name == "linformer128") return with.template operator()<Linformer<128>>();
  fail("there is no Transformer of the name ", name);
}

template <class Device, class Use>
auto with_recurrent(std::string_view name, const Use& use) {
  using namespace attn;
  using namespace papers;
  if (name == "seq2seq") return use.template operator()<PlainSeq2Seq<Device>>();
  if (name == "additive-encoder") return use.template operator()<AdditiveOnEncoder<Device>>();
  if (name == "additive-both") return use.template operator()<AdditiveOnEncoderAndPast<Device>>();
  if (name == "additive-self") return use.template operator()<AdditiveOnSelfAttention<Device>>();
  if (name == "multiplicative-encoder") return use.template operator()<MultiplicativeOnEncoder<Device>>();
  if (name == "multiplicative-both") return use.template operator()<MultiplicativeOnEncoderAndPast<Device>>();
  if (name == "multiplicative-self") return use.template operator()<MultiplicativeOnSelfAttention<Device>>();
  if (name == "scaled-dot-encoder") return use.template operator()<ScaledDotOnEncoder<Device>>();
  if (name == "scaled-dot-both") return use.template operator()<ScaledDotOnEncoderAndPast<Device>>();
  if (name == "scaled-dot-self") return use.template operator()<ScaledDotOnSelfAttention<Device>>();
  if (name == "key-value-encoder") return use.template operator()<KeyValueOnEncoder<Device>>();
  if (name == "key-value-both") return use.template operator()<KeyValueOnEncoderAndPast<Device>>();
  if (name == "key-value-self") return use.template operator()<KeyValueOnSelfAttention<Device>>();
  if (name == "input-feeding") return use.template operator()<CourseworkModel<Device>>();
  if (name == "input-feeding-deeper") return use.template operator()<DeeperCourseworkModel<Device>>();
  if (name == "input-feeding-lexical") return use.template operator()<LexicalCourseworkModel<Device>>();
  fail("there is no recurrent model of the name ", name);
}
