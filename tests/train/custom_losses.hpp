#pragma once
#include "attn/tape/losses.hpp"
#include "attn/transformer.hpp"

// Small Transformers whose losses a user wrote.

namespace custom_losses {

using namespace attn;

using Device = Cpu<double>;
using Base =
    Transformer<Device, TransformerShape{.encoder_layers = 1, .decoder_layers = 1, .width = 8, .heads = 2, .inner = 16}>;

struct Wrapped {
  using DeviceType = Device;
  using Options = TransformerOptions;

  Base base;

  explicit Wrapped(const Options& options) : base(options) {}
  void for_each_parameter(auto&& visit) { base.for_each_parameter(visit); }
};

/// The loss takes no options.
struct WithoutOptions : Wrapped {
  using Wrapped::Wrapped;
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch) const { return base.loss(tape, batch); }
};

/// The loss has a second term, of the states that words are predicted from.
struct WithActivity : Wrapped {
  using Wrapped::Wrapped;
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) const {
    const auto [source, target, labels] = upload(tape, batch);
    const auto states = base.hidden(tape, source, target);
    return base.output.loss(states, labels, options) + 0.5 * mean(square(states)).named("activity");
  }
};

/// The same without options.
struct WithActivityWithoutOptions : WithActivity {
  using WithActivity::WithActivity;
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch) const { return WithActivity::loss(tape, batch); }
};

}  // namespace custom_losses
