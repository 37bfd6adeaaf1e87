#include "attn/models/input_feeding.hpp"
#include "support/recurrent.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr RecurrentShape shape{.embedding = 5, .width = 6, .encoder_layers = 1, .decoder_layers = 1};
constexpr RecurrentShape deeper{.embedding = 5, .width = 6, .encoder_layers = 2, .decoder_layers = 3};

}  // namespace

TEST_CASE("input feeding: the fused op over all steps equals single steps with the same gradients") {
  const auto check = []<class M>(const Batch& batch) {
    for (const int threads : {1, 3}) {
      D device(threads);
      M model({.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords});
      Parameters<D> parameters(device, model, 1);
      shake(parameters);
      const auto run = [&](auto&& hidden) {
        Tape<D> tape(device, TapeMode::gradients());
        const auto y = hidden(tape, upload(tape, batch.source), upload(tape, batch.target_input));
        const std::vector<double> result = rows_of(y);
        model.output.loss(y, upload(tape, batch.target_output)).backward();
        std::vector<double> all = result;
        all.insert(all.end(), parameters.gradients(), parameters.gradients() + parameters.size());
        device.zero(parameters.gradients(), parameters.size());
        return all;
      };
      const auto at_once = run([&](auto&&... all) { return model.hidden(all...); });
      const auto by_steps = run([&](auto&&... all) { return model.hidden_by_steps(all...); });
      CHECK(largest_difference(at_once, by_steps) <= 1e-10);
      CHECK(largest_difference(at_once, std::vector<double>(at_once.size(), 0)) > 1e-3);
    }
  };
  const auto with = [&]<class M>() {
    check.template operator()<M>(ragged_batch());
    Batch more = ragged_batch();  // and a sentence of which nothing is written
    more.source.push_back(more.source[0]);
    more.target_input.push_back({});
    more.target_output.push_back({});
    check.template operator()<M>(more);
  };
  with.template operator()<InputFeeding<D, shape>>();
  with.template operator()<InputFeeding<D, deeper, BothWays, Multiplicative, SharedKeyValue, Lexical>>();
  with.template operator()<InputFeeding<D, shape, BothWays, DotProduct>>();
  with.template operator()<InputFeeding<D, deeper, OneWay, ScaledDot, KeyValue<4, 3>, Lexical>>();
  with.template operator()<InputFeeding<D, shape, BothWays, ReducedRank<3>>>();
  with.template operator()<InputFeeding<D, shape, BothWays, ReducedRank<2>, KeyValue<4, 7>>>();
}
