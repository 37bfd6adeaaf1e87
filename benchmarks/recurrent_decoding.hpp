#pragma once
#include "attn/decode/greedy.hpp"
#include "draw_weights.hpp"
#include "recurrent_workload.hpp"
#include "run.hpp"

/// Times greedy decoding of 64 sentences with the length of the training sentences, from the source to the tokens on the
/// host. Prints a line "decode ...".
template <class Model, class Device>
void measure_decoding(Run& run, const std::string& mode, Device& device, const RecurrentWork& work) {
  constexpr attn::Index kSentences = 64;
  run("decode " + std::string(work.name), [&](const std::string& name) {
    attn::Network<Model> network(device, work.options, attn::Inference{});
    draw_weights(network);
    attn::Random random(1);
    const attn::Sentences source =
        random_sentences(std::vector<attn::Index>(kSentences, work.length), work.options.source_vocabulary, random);
    const auto decode = [&] { attn::greedy(device, *network, source, {.begin = 2, .end = -1, .limit = work.length}); };
    decode();
    std::vector<double> seconds;
    const double enough = run.quick ? 0.5 : 2;
    for (double spent = 0; spent < enough || seconds.size() < 3; spent += seconds.back())
      seconds.push_back(host_seconds(decode));
    Run::print({{"name", name},
                {"mode", mode},
                {"seconds", median(seconds)},
                {"least_seconds", *std::min_element(seconds.begin(), seconds.end())},
                {"repeats", seconds.size()},
                {"tokens", kSentences * work.length}});
  });
}
