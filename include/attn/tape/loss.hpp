#pragma once
#include "attn/tape/tape.hpp"

namespace attn {

/// A weighted sum of terms, each computed from activations. Losses can be added and scaled:
///
///     Loss<Device> loss = cross_entropy(logits, labels) + 0.1 * mean(square(states));
///     loss.backward();
///
/// Terms are evaluated lazily, by value() or backward(), so a fused term computes value and gradient in one pass.
/// backward() starts the gradients. A Loss is a view: it is valid as long as its tape.
template <class Device>
class Loss {
 public:
  using Real = typename Device::Real;

  /// Two sums on the device: sums[0] for the reported value and sums[1] for the minimised one. They differ for smoothed
  /// cross-entropy.
  struct Term {
    void (*run)(Term*, Tape<Device>&, const double* weight) = nullptr;  // adds to sums; with a weight, starts the gradient
    std::string_view name = "";
    double normalizer = 1;  // value = sums[1] / normalizer
    Index labels = 0;       // predictions of a cross-entropy
    bool learns = false;    // whether something it depends on has a gradient
    Real* sums = nullptr;   // 2
    bool own_sums = false, computed = false;
  };
  struct Sums {
    double nll, loss;
  };

  Loss() = default;

  /// A loss of one term. compute(tape, sums, weight) adds the value to sums[0] and sums[1]. If weight is not null, it also
  /// starts the gradient of *weight times the normalised value. The closure may hold views only.
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
    terms_ = {tape.template node<Weighted>(Weighted{term, 1}), 1};
  }

  /// Computes the gradients of all parameters and activations this loss depends on. Once per tape. Later value() is free.
  void backward() {
    Tape<Device>& on = tape();
    require(on.recording(),
            "backward: this tape does not record. Create it with TapeMode::training(seed, step) or TapeMode::gradients().");
    require(!on.ran_backward(),
            "backward: this tape's backward pass has already run. Add losses up before backward(), or compute the loss "
            "again on a new tape.");
    bool learns = false;
    for_each([&](Term& term, double) { learns |= term.learns; });
    require(
        learns,
        "backward: this loss depends on no trainable parameter: its parameters are frozen, or its network was made with "
        "Inference{}");
    for_each([&](Term& term, double weight) {
      if (term.learns && weight != 0)
        compute(term, &weight);
      else if (!term.computed)
        compute(term, nullptr);
    });
    on.start_backward();  // a term may have parameters only
    on.backward();
  }

  /// The minimised value. Waits for the device.
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

  /// Calls visit(term, total weight) once for each term.
  template <std::invocable<Term&, double> Visit>
  void for_each(const Visit& visit) const {
    check_tape();
    for (const auto& [term, weight] : terms_) visit(*term, weight);
  }

  /// Names the last term for logs. The name must outlive the loss.
  Loss named(std::string_view name) const {
    check_tape();
    if (!terms_.empty()) terms_.back().term->name = name;
    return *this;
  }

  /// The same terms, each weighted by factor(term).
  template <std::invocable<const Term&> Factor>
  Loss scaled(const Factor& factor) const {
    Loss result = *this;
    result.terms_ = copy(terms_, {});
    for (auto& [term, weight] : result.terms_) weight *= factor(*term);
    return result;
  }

  /// Makes term i add its sums to to[2 i] and to[2 i + 1] on the device, instead of its own memory. Call this before
  /// anything is computed.
  void add_sums_to(Real* to) {
    for_each([&](Term& term, double) { term.sums = to, to += 2; });
  }

  /// Computes the terms that are not computed yet, without gradients.
  void evaluate() {
    for_each([&](Term& term, double) {
      if (!term.computed) compute(term, nullptr);
    });
  }

  friend Loss operator+(const Loss& a, const Loss& b) {
    a.check_tape(), b.check_tape();
    require(a.tape_ == nullptr || b.tape_ == nullptr || &*a.tape_ == &*b.tape_,
            "loss: cannot add losses of different tapes. Call backward() on each.");
    Loss sum = a.tape_ == nullptr ? b : a;
    sum.terms_ = sum.copy(a.terms_, b.terms_);
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
  };

  void check_tape() const {
    if (tape_ != nullptr) tape_.check();
  }
  Tape<Device>& tape() const {
    require(tape_ != nullptr, "loss: no terms. Create one with cross_entropy or mean.");
    tape_.check();
    return *tape_;
  }
  Term& first() const {
    tape();
    return *terms_.front().term;
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

  /// The terms of a, followed by those of b that a lacks. Weights of a term in both add up.
  std::span<Weighted> copy(std::span<const Weighted> a, std::span<const Weighted> b) const {
    check_tape();
    if (tape_ == nullptr) return {};
    Weighted* all = (*tape_).device.tape_nodes.template array<Weighted>(std::ssize(a) + std::ssize(b));
    Weighted* end = std::uninitialized_copy(a.begin(), a.end(), all);
    for (const Weighted& entry : b) {
      Weighted* same = std::find_if(all, end, [&](const Weighted& earlier) { return earlier.term == entry.term; });
      if (same == end)
        new (end++) Weighted(entry);
      else
        same->weight += entry.weight;
    }
    return std::span(all, end);
  }

  TapePointer<Tape<Device>> tape_;
  std::span<Weighted> terms_;  // each term once
};

}  // namespace attn
