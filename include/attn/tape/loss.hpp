#pragma once
#include <algorithm>
#include <concepts>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "attn/tape/tape.hpp"

namespace attn {

/// A loss: a weighted sum of terms, each computed from activations. Losses add up and scale:
///
///     Loss<Device> loss = cross_entropy(logits, labels) + 0.1 * mean(square(states));
///     loss.backward();
///
/// A term is computed when value() or backward() needs it, so that a fused term computes value and gradient in one pass.
/// Gradients start in backward(). A Loss is a view: it lives as long as its tape.
template <class Device>
class Loss {
 public:
  using Real = typename Device::Real;

  /// Two sums on the device: of the value that is reported, and of the value that is minimised. They differ where
  /// cross-entropy is smoothed.
  struct Term {
    void (*run)(Term*, Tape<Device>&, const double* weight) = nullptr;  // adds to sums; with a weight, starts the gradient
    std::string_view name = "";
    double normalizer = 1;  // value = sums[1] / normalizer
    Index labels = 0;       // predictions of a cross-entropy
    bool learns = false;    // something it depends on has a gradient
    Real* sums = nullptr;   // 2
    bool own_sums = false, computed = false;
  };
  struct Sums {
    double nll, loss;
  };

  Loss() = default;

  /// A loss of one term: compute(tape, sums, weight) adds its value to sums[0] and sums[1] and, if weight is not null, starts
  /// the gradient of *weight times its normalised value. The closure holds views only.
  template <class Compute>
  Loss(Tape<Device>& tape, std::string_view name, double normalizer, bool learns, Compute compute, Index labels = 0)
      : tape_(&tape) {
    static_assert(std::is_trivially_destructible_v<Compute>, "attn: Loss: a term's closure may hold views only");
    struct Holder : Term {
      explicit Holder(Compute c) : closure(std::move(c)) {}
      Compute closure;
    };
    auto* term = new (tape.device.tape_nodes.allocate(sizeof(Holder))) Holder(std::move(compute));
    term->run = [](Term* self, Tape<Device>& on, const double* weight) {
      static_cast<Holder*>(self)->closure(on, self->sums, weight);
    };
    term->name = name;
    term->normalizer = normalizer;
    term->labels = labels;
    term->learns = learns;
    terms_ = tape.template node<Weighted>(Weighted{term, 1, nullptr});
  }

  /// Computes gradients of all parameters and activations this loss depends on, once per tape. Afterwards value() costs nothing.
  void backward() {
    Tape<Device>& on = tape();
    require(on.recording(),
            "backward: this tape does not record; begin it with TapeMode::training(seed, step) or TapeMode::gradients()");
    require(!on.ran_backward(),
            "backward: this tape's backward pass has run already; add losses up before backward(), or "
            "compute the loss again on a new tape");
    bool learns = false;
    for_each([&](Term& term, double) { learns |= term.learns; });
    require(learns,
            "backward: nothing this loss depends on learns: its parameters are frozen, or its network was made with "
            "Inference{}");
    for_each([&](Term& term, double weight) {
      if (term.learns && weight != 0)
        compute(term, &weight);
      else if (!term.computed)
        compute(term, nullptr);
    });
    on.backward();
  }

  /// The value that is minimised. Waits for the device.
  double value() {
    double sum = 0;
    for_each([&](Term& term, double weight) { sum += weight * read(term).loss / term.normalizer; });
    return sum;
  }
  /// The sums of the first term: negative log-likelihood and smoothed loss of a cross-entropy.
  Sums read() { return read(first()); }
  /// Mean negative log-likelihood per label of the first term, a cross-entropy.
  double mean() { return read().nll / static_cast<double>(std::max<Index>(labels(), 1)); }
  Index labels() { return first().labels; }

  /// visit(term, weight) for each term, once, with its weight in the sum.
  template <std::invocable<Term&, double> Visit>
  void for_each(const Visit& visit) const {
    if (tape_ != nullptr) tape_.check();
    for (const Weighted* entry = terms_; entry != nullptr; entry = entry->next) {
      const Weighted* before = terms_;
      while (before->term != entry->term) before = before->next;
      if (before != entry) continue;  // visited
      double weight = 0;
      for (const Weighted* same = entry; same != nullptr; same = same->next)
        if (same->term == entry->term) weight += same->weight;
      visit(*entry->term, weight);
    }
  }

  /// Names its last term for logs. The name must outlive the loss.
  Loss named(std::string_view name) const {
    const Weighted* last = terms_;
    while (last != nullptr && last->next != nullptr) last = last->next;
    if (last != nullptr) last->term->name = name;
    return *this;
  }

  /// The same terms, each weighted by factor(term).
  template <std::invocable<const Term&> Factor>
  Loss scaled(const Factor& factor) const {
    Loss result = *this;
    result.terms_ = copy(*this, factor, nullptr);
    return result;
  }

  /// Adds the sums of term i to to[2 i] and to[2 i + 1] on the device instead of memory of its own. Call it before anything is
  /// computed.
  void add_sums_to(Real* to) {
    for_each([&](Term& term, double) { term.sums = to, to += 2; });
  }

  /// Computes the first term, without gradients.
  void evaluate_first() { compute(first(), nullptr); }

  /// Computes terms that are not computed yet, without gradients.
  void evaluate() {
    for_each([&](Term& term, double) {
      if (!term.computed) compute(term, nullptr);
    });
  }

  friend Loss operator+(const Loss& a, const Loss& b) {
    require(a.tape_ == nullptr || b.tape_ == nullptr || &*a.tape_ == &*b.tape_,
            "loss: losses of different tapes cannot be added: each tape has a backward pass of its own");
    Loss sum = a;
    if (a.tape_ == nullptr) sum.tape_ = b.tape_;
    const auto one = [](const Term&) { return 1.0; };
    sum.terms_ = copy(a, one, copy(b, one, nullptr));
    return sum;
  }
  friend Loss operator*(double factor, const Loss& a) {
    return a.scaled([=](const Term&) { return factor; });
  }
  friend Loss operator*(const Loss& a, double factor) { return factor * a; }
  friend Loss operator/(const Loss& a, double divisor) { return (1 / divisor) * a; }
  friend Loss operator-(const Loss& a) { return -1 * a; }
  friend Loss operator-(const Loss& a, const Loss& b) { return a + -1 * b; }
  Loss& operator+=(const Loss& other) { return *this = *this + other; }

 private:
  struct Weighted {
    Term* term;
    double weight;
    const Weighted* next;
  };

  Tape<Device>& tape() const {
    require(tape_ != nullptr, "loss: it has no term; make one with cross_entropy or mean");
    tape_.check();
    return *tape_;
  }
  Term& first() const {
    tape();
    return *terms_->term;
  }
  void compute(Term& term, const double* weight) {
    Tape<Device>& on = tape();
    if (term.sums == nullptr) term.sums = on.template array<Real>(2), term.own_sums = true;
    if (term.own_sums) on.device.zero(term.sums, 2);
    term.run(&term, on, weight);
    term.computed = true;
  }
  Sums read(Term& term) {
    if (!term.computed) compute(term, nullptr);
    Real host[2];
    tape().device.download(host, term.sums, 2);
    return {static_cast<double>(host[0]), static_cast<double>(host[1])};
  }

  /// The terms of a, scaled, before those of `next`. A term's first node comes first.
  template <class Factor>
  static const Weighted* copy(const Loss& a, const Factor& factor, const Weighted* next) {
    if (a.terms_ == nullptr) return next;
    return copy_from(*a.tape_, a.terms_, factor, next);
  }
  template <class Factor>
  static const Weighted* copy_from(Tape<Device>& tape, const Weighted* from, const Factor& factor, const Weighted* next) {
    const Weighted* rest = from->next == nullptr ? next : copy_from(tape, from->next, factor, next);
    return tape.template node<Weighted>(Weighted{from->term, factor(*from->term) * from->weight, rest});
  }

  TapePointer<Tape<Device>> tape_;
  const Weighted* terms_ = nullptr;
};

}  // namespace attn
