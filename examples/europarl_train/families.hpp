#pragma once
#include "attn/seq2seq.hpp"
#include "attn/transformer.hpp"
#include "run.hpp"

// The models of each family, for any device: a .cpp and a .cu call the same function.

template <class Device>
void seq2seq(Device& device, const Job& job) {
  train_recurrent<attn::PlainSeq2Seq<Device>>(device, job);
}

template <class Device>
void additive(Device& device, const Job& job) {
  train_attention<attn::AdditiveOnEncoder, attn::AdditiveOnEncoderAndPast, attn::AdditiveOnSelfAttention>(device, job);
}

template <class Device>
void multiplicative(Device& device, const Job& job) {
  train_attention<attn::MultiplicativeOnEncoder, attn::MultiplicativeOnEncoderAndPast, attn::MultiplicativeOnSelfAttention>(
      device, job);
}

template <class Device>
void scaled_dot(Device& device, const Job& job) {
  train_attention<attn::ScaledDotOnEncoder, attn::ScaledDotOnEncoderAndPast, attn::ScaledDotOnSelfAttention>(device, job);
}

template <class Device>
void key_value(Device& device, const Job& job) {
  train_attention<attn::KeyValueOnEncoder, attn::KeyValueOnEncoderAndPast, attn::KeyValueOnSelfAttention>(device, job);
}

template <class Device>
void input_feeding(Device& device, const Job& job) {
  if (job.row.name == "deeper")
    train_recurrent<attn::DeeperCourseworkModel<Device>>(device, job, attn::coursework_dropout);
  else
    train_recurrent<attn::CourseworkModel<Device>>(device, job, attn::coursework_dropout);
}

template <class Device>
void lexical(Device& device, const Job& job) {
  train_recurrent<attn::LexicalCourseworkModel<Device>>(device, job, attn::coursework_dropout);
}

template <class Device>
void transformer(Device& device, const Job& job) {
  attn::Transformer<Device, attn::small_shape> model({.source_vocabulary = job.corpus.source.padded_size(),
                                                      .target_vocabulary = job.corpus.target.padded_size(),
                                                      .dropout = {0.1f, 0.2f, 0.1f}});
  train_and_translate(device, model, job);
}
