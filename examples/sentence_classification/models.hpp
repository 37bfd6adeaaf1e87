#pragma once
// The classifiers: sequence to one vector, then a linear layer with two outputs.

#include "../build_your_own/device.hpp"
#include "attn/attention/linformer.hpp"
#include "attn/models/text_encoder.hpp"
#include "attn/tape/reductions.hpp"

/// The mean of an encoder's states. `Attention` is Full<> for the Transformer and Linformer<> for the Linformer.
template <class Attention>
struct EncoderClassifier {
  using DeviceType = Device;
  using Options = attn::TextEncoderOptions;
  attn::TextEncoder<Device, attn::dynamic_shape, Attention, attn::PreNorm> encoder;
  attn::Linear<Device> head;

  explicit EncoderClassifier(const Options& options) : encoder(options), head(options.shape.width, 2) {}
  attn::Variable<Device> operator()(attn::Tape<Device>& tape, const attn::Text& text) const {
    return head(mean_rows(encoder(tape, text), text.rows));
  }
  void for_each_parameter(auto&& visit) { visit("encoder", encoder), visit("head", head); }
};

/// The baseline: the mean of the embeddings. It ignores word order and cannot compare two words.
struct BagOfWords {
  using DeviceType = Device;
  using Options = attn::TextEncoderOptions;
  attn::WordEmbedding<Device> embedding;
  attn::Linear<Device> head;

  explicit BagOfWords(const Options& options)
      : embedding(options.vocabulary, options.shape.width), head(options.shape.width, 2) {}
  attn::Variable<Device> operator()(attn::Tape<Device>& tape, const attn::Text& text) const {
    return head(mean_rows(embedding(tape, text), text.rows));
  }
  void for_each_parameter(auto&& visit) { visit("embedding", embedding), visit("head", head); }
};
