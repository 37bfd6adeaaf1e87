#pragma once
#include "attn/nn/layer_input.hpp"
#include "attn/ops/move_rows.hpp"
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/columns.hpp"
#include "attn/tape/gather_rows.hpp"
#include "attn/tape/lstm.hpp"

namespace attn {

/// One LSTM layer in one direction (formula in ops/lstm.hpp). torch.nn.LSTM, with one bias for the sum of its two. As there,
/// weights start uniform within ±1 / sqrt(Width).
template <class Device, int In = dynamic, int Width = dynamic>
struct Lstm : LstmWeights<Device> {
  static_assert((In > 0 || In == dynamic) && (Width > 0 || Width == dynamic), "attn: Lstm: widths must be positive");
  using State = LstmState<Device, Width>;

  Lstm() requires(In != dynamic && Width != dynamic) : Lstm(In, Width) {}
  Lstm(Size<In> in, Size<Width> width)
      : LstmWeights<Device>{
            {4 * width, in, initial(width)}, {4 * width, width, initial(width)}, {4 * width, 1, initial(width)}} {}

  Size<Width> width() const { return this->recurrent.cols; }

  /// x: the rows of all sentences. initial: one row per sentence, or empty for 0.
  LstmResult<Device, Width> operator()(Variable<Device, In> x, const TimeMajor& layout, State initial = {}) const {
    const auto y = make_lstm_result(x.tape(), layout, width(), x, initial.h, initial.c, *this);
    run(x, layout, initial, y);
    return {output_of("Lstm", y.h), y.last};
  }

  void run(Variable<Device, In> x, const TimeMajor& layout, State initial, LstmResult<Device, Width> y) const {
    check_input("Lstm", this->input.cols, x);
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
  static Initializer initial(int width) { return Initializer::uniform(1 / std::sqrt(static_cast<double>(width))); }
};

/// Two LSTMs of half the width, one per direction, with concatenated results. Schuster and Paliwal 1997; torch.nn.LSTM(In,
/// Width / 2, bidirectional=True).
template <class Device, int In = dynamic, int Width = dynamic>
struct BidirectionalLstm {
  static_assert(Width == dynamic || Width % 2 == 0,
                "attn: BidirectionalLstm: each direction outputs half the width, so it must be even");
  static constexpr int half = fraction(Width, 2);
  using State = LstmState<Device, Width>;  // of both directions, concatenated like the results

  Lstm<Device, In, half> forward, backward;

  BidirectionalLstm() requires(In != dynamic && Width != dynamic) = default;
  BidirectionalLstm(Size<In> in, Size<Width> width) : forward(in, width / 2), backward(in, width / 2) {
    require(width % 2 == 0, "BidirectionalLstm: each direction outputs half the width, so it must be even, not ",
            int(width));
  }

  Size<Width> width() const { return 2 * forward.width(); }

  LstmResult<Device, Width> operator()(Variable<Device, In> x, const TimeMajor& layout, State initial = {}) const {
    const auto y = make_lstm_result(x.tape(), layout, width(), x, initial.h, initial.c, *this);
    run(x, layout, initial, y);
    return {output_of("BidirectionalLstm", y.h), y.last};
  }

  void run(Variable<Device, In> x, const TimeMajor& layout, State initial, LstmResult<Device, Width> y) const {
    using Half = Variable<Device, half>;
    check_input("BidirectionalLstm", forward.input.cols, x);
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
template <class Device, int In = dynamic, int Width = dynamic, int Layers = dynamic,
          template <class, int, int> class Layer = Lstm>
struct LstmStack {
  using States = LstmStates<Device, Width>;
  struct Result {
    Variable<Device, Width> h;  // of the last layer
    States last;                // of every layer
  };

  Layer<Device, In, Width> first;
  std::vector<Layer<Device, Width, Width>> others;
  float dropout = 0;  // between layers

  explicit LstmStack(float rate = 0) requires(In != dynamic && Width != dynamic && Layers != dynamic)
      : LstmStack(In, Width, Layers, rate) {}
  LstmStack(Size<In> in, Size<Width> width, Size<Layers> layers, float rate = 0)
      : first(in, width), others(static_cast<std::size_t>(layers - 1), {width, width}), dropout(rate) {}

  std::size_t size() const { return others.size() + 1; }

  Result operator()(Variable<Device, In> x, const TimeMajor& layout, const States& initial = {}) const {
    Tape<Device>& tape = x.tape();
    require(initial.empty() || initial.size() == size(), "LstmStack: initial states of ", initial.size(),
            " layers for a stack of ", size());
    Result result{{}, make_states(tape, size(), first.width(), layout.rows.count)};
    const auto next = [&](const auto& layer, const auto& input, std::size_t i) {
      auto& last = result.last[i];
      const auto before = initial.empty() ? LstmState<Device, Width>{} : initial[i];
      result.h = tape.result(layout.rows.rows, first.width(), input, before.h, before.c, layer);
      if (result.h.slot == nullptr) last.h.slot = last.c.slot = nullptr;  // neither the layer nor its inputs learn
      layer.run(input, layout, before, {result.h, last});
      result.h.layer = "LstmStack";
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
template <class Device, int Width = dynamic, int Layers = dynamic>
struct LearnedStates {
  Parameter<Device> h, c;

  LearnedStates() requires(Width != dynamic && Layers != dynamic) : LearnedStates(Width, Layers) {}
  LearnedStates(Size<Width> width, Size<Layers> layers)
      : h{layers, width, Initializer::normal(1)}, c{layers, width, Initializer::normal(1)} {}

  LstmStates<Device, Width> operator()(Tape<Device>& tape, Index sentences) const {
    const auto states = empty_states<Width>(tape, static_cast<std::size_t>(h.rows));
    const std::int32_t offsets[] = {0, static_cast<std::int32_t>(sentences)};
    const Ragged rows = upload_offsets(tape, offsets, 1);
    auto* layer = tape.device.tape_nodes.template array<Token>(sentences);  // takes nothing from the heap
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
template <class Device, int Width = dynamic>
class RowCache {
 public:
  /// Starts with these rows in the first places, or with 0 if `initial` is empty.
  RowCache(Tape<Device>& tape, Index places, Size<Width> width, Variable<Device, Width> initial)
      : rows_(tape.constant(tape.matrix(places, width))) {
    if (initial.value.empty())
      tape.device.zero(rows_.value);
    else
      write(tape, initial, nullptr);
  }

  /// The rows at these places (on the device). With null, a view of the first `count` places, valid until the next write.
  Variable<Device, Width> read(Tape<Device>& tape, const std::int32_t* place, Index count) const {
    require(!tape.recording(), "RowCache: the tape records gradients. Decode on a tape that does not record.");
    if (place == nullptr) return tape.constant(rows_.value.row_range(0, count));
    return gather_rows<Device>(tape, rows_, place, count);
  }
  void write(Tape<Device>& tape, Variable<Device, Width> rows, const std::int32_t* place) {
    move_rows(tape.device, {.from = rows.value, .to = {rows_.value}, .to_row = place, .count = rows.rows()});
  }

 private:
  Variable<Device, Width> rows_;
};

/// The states of an LSTM stack between decoding steps. Each sentence's states are one row, [h; c] of every layer, so they
/// move together.
template <class Device, int Width = dynamic>
class LstmCache {
 public:
  using States = LstmStates<Device, Width>;

  /// Starts with these states in the first places, or with 0 for empty ones.
  LstmCache(Tape<Device>& tape, Index places, std::size_t layers, Size<Width> width, const States& initial)
      : layers_(layers), rows_(tape, places, 2 * static_cast<Index>(layers) * width, in_rows(tape, initial)) {}

  /// The states at these places (on the device), as in RowCache::read.
  States read(Tape<Device>& tape, const std::int32_t* place, Index count) const {
    return cut_states<Width>(tape, rows_.read(tape, place, count).value, layers_);
  }
  void write(Tape<Device>& tape, const States& states, const std::int32_t* place) {
    rows_.write(tape, in_rows(tape, states), place);
  }

 private:
  /// Copies nothing if each sentence's states already form one row, as LstmStack writes them.
  static Variable<Device> in_rows(Tape<Device>& tape, const States& states) {
    if (states.empty() || states[0].h.value.empty()) return {};
    const Matrix<typename Device::Scalar>& first = states[0].h.value;
    const Index cols = 2 * std::ssize(states) * first.cols;
    const Variable<Device> there = tape.constant({first.data, first.rows, cols, first.stride});
    const auto same = [](const auto& a, const auto& b) {
      return a.value.data == b.value.data && a.value.stride == b.value.stride;
    };
    if (std::ranges::equal(states, cut_states<Width>(tape, there.value, states.size()),
                           [&](const auto& a, const auto& b) { return same(a.h, b.h) && same(a.c, b.c); }))
      return there;
    const Variable<Device> copy = tape.make(first.rows, cols);
    const auto places = cut_states<Width>(tape, copy.value, states.size());
    const auto put = [&](const auto& from, const auto& to) {
      if (from.value.empty())
        tape.device.zero(to.value);
      else
        move_rows(tape.device, {.from = from.value, .to = {to.value}, .count = to.rows()});
    };
    for (std::size_t i = 0; i < states.size(); ++i) put(states[i].h, places[i].h), put(states[i].c, places[i].c);
    return copy;
  }

  std::size_t layers_;
  RowCache<Device> rows_;
};

}  // namespace attn
