#include <set>

#include "cuda/model_cases.hpp"
#include "cuda/relative_error.hpp"
#include "support/files.hpp"

// Decoding with whole models: Cuda<float> and Cuda<bfloat16> beside Cpu<double>, with the same parameters.

TEST_CASE_TEMPLATE("decoding: learns to reverse on the device and translates as on the CPU", Device, CudaFloat,
                   CudaBfloat16) {
  if (!is_here<Device>()) return;
  const TemporaryFolder folder;
  for (const Kind kind : {Kind::transformer, Kind::linformer}) {
    CAPTURE(static_cast<int>(kind));
    const auto here = device_under_test<Device>().training(kind, 1);
    constexpr int kSteps = 1200;
    double nll = 0;
    for (int step = 1; step <= kSteps; ++step) {
      const auto batch = task(static_cast<std::uint64_t>(step), 4);
      nll = here->step(batch, 3e-3 * std::min({1.0, step / 50.0, 2.0 * (kSteps - step + 1) / kSteps})).nll /
            static_cast<double>(batch.target_output.tokens.size());
    }
    CHECK(nll < 1);  // about log 37 = 3.6 before anything is learned; labels are smoothed and neurons dropped to the end

    const auto test = task(12345, 4);
    const auto translations = here->translate(test.source);
    int right = 0;
    for (std::size_t i = 0; i < translations.size(); ++i) {
      const auto source = test.source[static_cast<attn::Index>(i)];
      right += translations[i] == std::vector<attn::Token>(source.rbegin(), source.rend());
    }
    CHECK(right >= 24);  // of 32
    here->save(folder / "model");
    const auto cpu = truth().training(kind, 2);
    cpu->load(folder / "model");
    if (kFloat<Device>) CHECK(cpu->translate(test.source) == translations);
    const auto found = here->search(test.source), expected = cpu->search(test.source);
    attn::Sentences best;
    for (const auto& list : found) best.push_back(list.at(0).tokens);
    const auto forced = here->forced(test.source, best);
    std::size_t same = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      same += found[i].at(0).tokens == expected[i].at(0).tokens;
      double sum = 0;
      for (std::size_t t = 0; t < found[i][0].token_log_probabilities.size(); ++t) sum += forced[i][t];
      CHECK(std::abs(sum - found[i][0].log_probability) <= (kFloat<Device> ? 1e-3 : 1.0));
    }
    CHECK(same >= (kFloat<Device> ? found.size() : found.size() * 2 / 3));  // rounding may turn a close decision
    CHECK(here->translate(attn::Sentences{{}}).size() == 1);
  }
}

TEST_CASE_TEMPLATE("decoding: CUDA-graph beam search finds the hypotheses of ordinary beam search", Device, CpuFloat,
                   CudaFloat, CudaBfloat16) {
  if (!is_here<Device>()) return;
  std::vector<std::pair<attn::Index, attn::Index>> lengths;
  for (attn::Index i = 0; i < 24; ++i) lengths.emplace_back(i * 7 % 30, 0);
  const auto source = batch_of(lengths, 3).source;
  attn::SearchOptions options{.begin = 2, .end = 3, .limit = 24, .beam = 4, .n_best = 2};
  for (attn::Token token = 9; token < kVocabulary; ++token) options.never.push_back(token);  // so that ends are frequent
  int varied = 0;
  for (const Kind kind : {Kind::transformer, Kind::linformer, Kind::wide_heads})
    for (const attn::Index beam : {1, 4, 16}) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(beam);
      options.beam = beam, options.n_best = std::min<attn::Index>(beam, 2);
      const auto here = device_under_test<Device>().training(kind, 5);
      const auto held = here->graph_beam_search(source, options), stepwise = here->stepwise_search(source, options);
      REQUIRE(held.size() == stepwise.size());
      std::set<std::size_t> sizes;
      attn::Sentences best;
      for (std::size_t i = 0; i < held.size(); ++i) {
        best.push_back(held[i].at(0).tokens);
        sizes.insert(held[i][0].tokens.size());
        if (!kFloat<Device>) continue;  // rounding may turn a close decision
        REQUIRE(held[i].size() == stepwise[i].size());
        for (std::size_t j = 0; j < held[i].size(); ++j) {
          CHECK(held[i][j].tokens == stepwise[i][j].tokens);
          CHECK(std::abs(held[i][j].log_probability - stepwise[i][j].log_probability) <= 1e-4);
        }
      }
      const auto forced = here->forced(source, best);
      for (std::size_t i = 0; i < held.size(); ++i) {
        double sum = 0;
        for (std::size_t t = 0; t < held[i][0].token_log_probabilities.size(); ++t) sum += forced[i][t];
        CHECK(std::abs(sum - held[i][0].log_probability) <= (kFloat<Device> ? 1e-3 : 1.0));
      }
      varied += sizes.size() > 2;
    }
  CHECK(varied > 2);  // else sentences do not end at different steps
}

TEST_CASE_TEMPLATE("decoding: row selection repeats and reorders and removes rows", Device, CpuFloat, CpuBfloat16,
                   CudaFloat, CudaBfloat16) {
  if (!is_here<Device>()) return;
  using Rows = std::vector<attn::Index>;
  auto source = batch_of({{12, 0}, {0, 0}, {1, 0}, {33, 0}}, 1).source;
  for (const Kind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    const auto here = device_under_test<Device>().training(kind, 5), cpu = truth().training(kind, 5);
    const std::vector<Rows> selections{{3, 0, 3, 1, 3}, {4, 1, 2, 0, 1, 3}};  // of sentences 3, 0, 3, 3, 0, 1
    const auto rows = here->select(source, selections), right = cpu->select(source, selections);
    REQUIRE(rows.size() == 6);
    for (std::size_t i = 0; i < rows.size(); ++i)
      CHECK(relative_error(rows[i], right[i]).mean <= (kFloat<Device> ? 1e-4 : 0.05));
    const double same = kFloat<Device> ? 1e-5 : 0.02;  // hypotheses of one sentence, all given the same words
    CHECK(relative_error(rows[2], rows[0]).mean <= same);
    CHECK(relative_error(rows[3], rows[0]).mean <= same);
    CHECK(relative_error(rows[4], rows[1]).mean <= same);
    CHECK(relative_error(right[1], right[0]).mean > 0.01);
    const auto turned = here->select(source, {{2, 0, 3, 1}}), straight = here->select(source, {{0, 1, 2, 3}});
    for (const auto& [to, from] : {std::pair{0, 2}, {1, 0}, {2, 3}, {3, 1}})
      CHECK(relative_error(turned[static_cast<std::size_t>(to)], straight[static_cast<std::size_t>(from)]).mean <= same);
  }
}

TEST_CASE_TEMPLATE("decoding: recurrent decoders translate as on the CPU", Device, CpuFloat, CpuBfloat16, CudaFloat,
                   CudaBfloat16) {
  if (!is_here<Device>()) return;
  const TemporaryFolder folder;
  for (const Kind kind : kRecurrent) {
    CAPTURE(static_cast<int>(kind));
    const auto here = device_under_test<Device>().training(kind, 3), cpu = truth().training(kind, 4);
    for (std::uint64_t step = 1; step <= 60; ++step) here->step(task(step, 4), 5e-3);
    here->save(folder / "model");
    cpu->load(folder / "model");
    auto source = task(777).source;
    source.push_back({});
    const auto translations = here->translate(source), expected = cpu->translate(source);
    REQUIRE(translations.size() == expected.size());
    CHECK(std::set(expected.begin(), expected.end()).size() > 8);  // of 33: they depend on the source
    std::size_t same = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) same += translations[i] == expected[i];
    CHECK(same >= (kFloat<Device> ? expected.size() : expected.size() * 2 / 3));  // rounding may turn a close decision
  }
}
