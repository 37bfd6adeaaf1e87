#pragma once
#include "attn/ops/move_rows.hpp"
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/columns.hpp"
#include "attn/tape/gather_rows.hpp"
#include "attn/tape/lstm.hpp"

namespace attn {

/// One LSTM layer in one direction (formula in ops/lstm.hpp). torch.nn.LSTM, with one bias for the sum of its two. As there,
/// weights start uniform within ±1 / sqrt(Width).
template <class Device, int In, int Width>
struct Lstm : LstmWeights<Device> {
  static_assert(In > 0 && Width > 0, "attn: Lstm: widths must be positive");
  static constexpr int width = Width;
  using State = LstmState<Device, Width>;

  Lstm() : LstmWeights<Device>{{4 * Width, In, initial()}, {4 * Width, Width, initial()}, {4 * Width, 1, initial()}} {}

  /// x: the rows of all sentences. initial: one row per sentence, or empty for 0.
  LstmResult<Device, Width> operator()(Variable<Device, In> x, const TimeMajor& layout, State initial = {}) const {
    const auto y = make_lstm_result<Width>(x.tape(), layout, x, initial.h, initial.c, *this);
    run(x, layout, initial, y);
    return y;
  }

  void run(Variable<Device, In> x, const TimeMajor& layout, State initial, LstmResult<Device, Width> y) const {
    lstm(x, layout, std::array{direction(initial, y)});
  }
  LstmDirection<Device> direction(State initial, LstmResult<Device, Width> y, bool reverse = false) const {
    return {*this, {initial.h, initial.c}, {y.h, {y.last.h, y.last.c}}, reverse};
  }

  void for_each_parameter(auto&& visit) {
    visit("input", this->input);
    visit("recurrent", this->recurrent);
    visit("bias", this->bias);
  }

 private:
  static Initializer initial() { return Initializer::uniform(1 / std::sqrt(static_cast<double>(Width))); }
};

/// Two LSTMs of half the width, one per direction, with concatenated results. Schuster and Paliwal 1997; torch.nn.LSTM(In,
/// Width / 2, bidirectional=True).
template <class Device, int In, int Width>
struct BidirectionalLstm {
  static_assert(Width % 2 == 0, "attn: BidirectionalLstm: each direction gives half of the width, so it must be even");
  static constexpr int width = Width;
  using State = LstmState<Device, Width>;  // of both directions, concatenated like the results

  Lstm<Device, In, Width / 2> forward, backward;

  LstmResult<Device, Width> operator()(Variable<Device, In> x, const TimeMajor& layout, State initial = {}) const {
    const auto y = make_lstm_result<Width>(x.tape(), layout, x, initial.h, initial.c, *this);
    run(x, layout, initial, y);
    return y;
  }

  void run(Variable<Device, In> x, const TimeMajor& layout, State initial, LstmResult<Device, Width> y) const {
    using Half = Variable<Device, Width / 2>;
    const auto halves = [&](Variable<Device, Width> whole) {
      return whole.value.empty() ? std::array<Half, 2>{} : split<2>(whole);
    };
    const auto h = halves(y.h), last_h = halves(y.last.h), last_c = halves(y.last.c);
    const auto h0 = halves(initial.h), c0 = halves(initial.c);
    // The slices' gradients are slices of these gradients. This entry, recorded first, frees them after both directions.
    x.tape().on_backward(std::array<Variable<Device>, 3>{y.h, y.last.h, y.last.c}, [](Tape<Device>&, auto, auto, auto) {});
    lstm(x, layout,
         std::array{forward.direction({h0[0], c0[0]}, {h[0], {last_h[0], last_c[0]}}),
                    backward.direction({h0[1], c0[1]}, {h[1], {last_h[1], last_c[1]}}, true)});
  }

  bool learns() const { return forward.learns() || backward.learns(); }

  void for_each_parameter(auto&& visit) {
    visit("forward", forward);
    visit("backward", backward);
  }
};

/// A stack of LSTM layers with dropout between them. torch.nn.LSTM's num_layers.
template <class Device, int In, int Width, int Layers, template <class, int, int> class Layer = Lstm>
struct LstmStack {
  static_assert(Layers > 0, "attn: LstmStack: a stack needs at least one layer");
  using States = LstmStates<Device, Width, Layers>;
  struct Result {
    Variable<Device, Width> h;  // of the last layer
    States last;                // of every layer
  };

  Layer<Device, In, Width> first;
  std::array<Layer<Device, Width, Width>, Layers - 1> others;
  float dropout = 0;  // between layers

  explicit LstmStack(float rate = 0) : dropout(rate) {}

  Result operator()(Variable<Device, In> x, const TimeMajor& layout, const States& initial = {}) const {
    Tape<Device>& tape = x.tape();
    Result result{{}, make_states<Width, Layers>(tape, layout.rows.count)};
    const auto next = [&](const auto& layer, const auto& input, std::size_t i) {
      auto& last = result.last[i];
      result.h = tape.result(layout.rows.rows, Width, input, initial[i].h, initial[i].c, layer);
      if (result.h.slot == nullptr) last.h.slot = last.c.slot = nullptr;  // neither the layer nor its inputs learn
      layer.run(input, layout, initial[i], {result.h, last});
    };
    next(first, x, 0);
    for (std::size_t i = 0; i < others.size(); ++i)
      next(others[i], Variable<Device, Width>(attn::dropout(result.h, dropout)), i + 1);
    return result;
  }

  void for_each_parameter(auto&& visit) {
    visit("0", first);
    for (std::size_t i = 0; i < others.size(); ++i) visit(std::to_string(i + 1), others[i]);
  }
};

/// Initial states that are learned: one row per layer, the same for every sentence.
template <class Device, int Width, int Layers>
struct LearnedStates {
  Parameter<Device> h{Layers, Width, Initializer::normal(1)};
  Parameter<Device> c{Layers, Width, Initializer::normal(1)};

  LstmStates<Device, Width, Layers> operator()(Tape<Device>& tape, Index sentences) const {
    LstmStates<Device, Width, Layers> states;
    const std::int32_t offsets[] = {0, static_cast<std::int32_t>(sentences)};
    const Ragged rows = upload_offsets(tape, offsets, 1);
    auto* layer = tape.device.tape_nodes.template array<Token>(sentences);
    for (std::size_t i = 0; i < states.size(); ++i) {
      std::fill_n(layer, sentences, static_cast<Token>(i));
      const Text text{tape.upload(layer, sentences), rows};
      states[i] = {embedding(tape, text, h, 1, {}, 0, 0), embedding(tape, text, c, 1, {}, 0, 0)};
    }
    return states;
  }

  void for_each_parameter(auto&& visit) {
    visit("h", h);
    visit("c", c);
  }
};

/// One row per sentence, kept between decoding steps in memory of a tape that outlives them. Each sentence has a place. A
/// finished sentence leaves the list of places; nothing moves. A row that two hypotheses continue is read twice and written
/// to two places.
template <class Device, int Width>
class RowCache {
 public:
  /// Starts with these rows in the first places, or with 0 if `initial` is empty.
  RowCache(Tape<Device>& tape, Index places, Variable<Device, Width> initial)
      : rows_(tape.constant(tape.matrix(places, Width))) {
    if (initial.value.empty())
      tape.device.zero(rows_.value);
    else
      write(tape, initial, one_step(tape, initial.rows()).order);
  }

  /// The rows at these places (on the device). With null, a view of the first `count` places, valid until the next write.
  Variable<Device, Width> read(Tape<Device>& tape, const std::int32_t* place, Index count) const {
    require(!tape.recording(), "RowCache: the tape records gradients. Decode on a tape that does not record.");
    if (place == nullptr) return tape.constant(rows_.value.row_range(0, count));
    return gather_rows<Device>(tape, rows_, place, count);
  }
  void write(Tape<Device>& tape, Variable<Device, Width> rows, const std::int32_t* place) {
    scatter_rows(tape.device, {.from = rows.value, .row = place, .to = rows_.value});
  }

 private:
  Variable<Device, Width> rows_;
};

/// The states of an LSTM stack between decoding steps. Each sentence's states are one row, [h; c] of every layer, so they
/// move together.
template <class Device, int Width, int Layers>
class LstmCache {
 public:
  using States = LstmStates<Device, Width, Layers>;

  /// Starts with these states in the first places, or with 0 for empty ones.
  LstmCache(Tape<Device>& tape, Index places, const States& initial) : rows_(tape, places, in_rows(tape, initial)) {}

  /// The states at these places (on the device), as in RowCache::read.
  States read(Tape<Device>& tape, const std::int32_t* place, Index count) const {
    return cut_states<Width, Layers>(tape, rows_.read(tape, place, count).value);
  }
  void write(Tape<Device>& tape, const States& states, const std::int32_t* place) {
    rows_.write(tape, in_rows(tape, states), place);
  }

 private:
  using Row = Variable<Device, 2 * Layers * Width>;

  /// Copies nothing if each sentence's states already form one row, as LstmStack writes them.
  static Row in_rows(Tape<Device>& tape, const States& states) {
    const Matrix<typename Device::Scalar>& first = states[0].h.value;
    if (first.empty()) return {};
    const Row there = tape.constant({first.data, first.rows, Row::width, first.stride});
    const auto same = [](const auto& a, const auto& b) {
      return a.value.data == b.value.data && a.value.stride == b.value.stride;
    };
    if (std::ranges::equal(states, cut_states<Width, Layers>(tape, there.value),
                           [&](const auto& a, const auto& b) { return same(a.h, b.h) && same(a.c, b.c); }))
      return there;
    const Row copy = tape.make(first.rows, Row::width);
    const auto places = cut_states<Width, Layers>(tape, copy.value);
    const auto put = [&](const auto& from, const auto& to) {
      if (from.value.empty())
        tape.device.zero(to.value);
      else
        dropout(tape.device, {.x = from.value, .y = {to.value}, .dropout = {}});
    };
    for (std::size_t i = 0; i < Layers; ++i) put(states[i].h, places[i].h), put(states[i].c, places[i].c);
    return copy;
  }

  RowCache<Device, Row::width> rows_;
};

}  // namespace attn
