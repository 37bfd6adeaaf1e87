#include "attn/attention/policy.hpp"

#include "attn/attention/linformer.hpp"
#include "attn/attention/multi_head.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

/// A score of a user's own.
struct Sharp {
  static float scale(int) { return 4; }
};

/// A policy of a user's own: keys and values pass through a learned layer first. It states no gradient.
struct Mixed {
  using Score = Sharp;
  static constexpr bool causal_allowed = true;

  template <class Device, int Width, int Heads>
  struct LengthProjection {
    Linear<Device, Width, Width> mix;
    KeysValues<Device> operator()(KeysValues<Device> all) const { return {mix(all.keys), mix(all.values), all.rows}; }
    void for_each_parameter(auto&& visit) { visit("mix", mix); }
  };
};

}  // namespace

static_assert(MultiHeadScore<Sharp> && !GlobalScore<Sharp, D, 8, 8> && AttentionPolicy<Mixed, D, 8, 2>);
static_assert(MultiHeadScore<DotProduct> && MultiHeadScore<ScaledDot>);
static_assert(!MultiHeadScore<Multiplicative> && !MultiHeadScore<ReducedRank<2>> && !MultiHeadScore<Additive<2>>);
static_assert(GlobalScore<DotProduct, D, 8, 8> && GlobalScore<ScaledDot, D, 8, 8> && GlobalScore<Multiplicative, D, 8, 6> &&
              GlobalScore<ReducedRank<2>, D, 8, 6> && GlobalScore<Additive<2>, D, 8, 6>);
static_assert(Full<>::causal_allowed && !Linformer<3>::causal_allowed);

TEST_CASE_TEMPLATE("policy: gradients of a user-defined policy come from its parts", Layer, MultiHead<D, 8, 2, Mixed>,
                   MultiHead<D, 8, 2, Mixed, Mask::causal>) {
  D device;
  Layer layer;
  Input<D, 8> input(5);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters, 0.1);
  CHECK(parameters.find("0.projection.mix.weight").size() == 64);
  check_gradients(parameters, [&](Tape<D>& tape) {
    return mixture(tape, layer(input(tape), upload(tape, sentences({{1, 1, 1}, {1, 1}})).rows));
  });
}

TEST_CASE("policy: score scales have the documented values") {
  CHECK(DotProduct::scale(64) == 1);
  CHECK(ScaledDot::scale(64) == 0.125f);
}
