#include "attn/train/training_monitor.hpp"

#include <doctest/doctest.h>

using namespace attn;

namespace {

struct Watch {
  Index steps = 0;  // of the whole training
  std::vector<std::string> said = {};
  TrainingMonitor watch{[this](const std::string& text) { said.push_back(text); }, steps};
  Index step = 0;

  void rate(double value) { watch.on_step({.step = ++step, .loss = 5, .rate = value}); }
  void loss(double value, int reports = 1, std::optional<double> norm = {}) {
    for (int i = 0; i < reports; ++i) watch.on_step({.step = step += 10, .loss = value, .gradient_norm = norm});
  }
  void validation(double value, std::optional<double> gain) {
    watch.on_validation({.step = step += 100, .loss = value, .source_gain = gain});
  }
  bool says(const char* words) const {
    return said.size() == 1 && said[0].find(words) != std::string::npos &&
           said[0].find("learning rate") != std::string::npos;
  }
};

}  // namespace

TEST_CASE("training monitor: says nothing about normal training") {
  Watch watch;
  for (int i = 0; i < 200; ++i) watch.loss(8 - 0.02 * i + (i % 3) * 0.1, 1, 1 + (i % 7));
  for (const double loss : {5.0, 4.0, 3.5, 3.2, 3.1, 3.1, 3.1, 3.1}) watch.validation(loss, 8 - loss);
  CHECK(watch.said.empty());
}

TEST_CASE("training monitor: reports a rising training loss once") {
  Watch watch;
  watch.loss(5, 10);
  watch.loss(4, 20);
  watch.loss(4.4, 20);
  CHECK(watch.said.empty());
  watch.loss(6.5, 20);
  CHECK(watch.says("has risen from 4.00 to 4.61"));
}

TEST_CASE("training monitor: reports exploding gradients but not one outlier") {
  Watch watch;
  watch.loss(5, 40, 1.5);
  watch.loss(5, 2, 100);
  watch.loss(5, 10, 1.5);
  CHECK(watch.said.empty());
  watch.loss(5, 3, 100);
  CHECK(watch.says("the norm of the gradients is 100.0"));
  watch.loss(5, 20, 100);
  CHECK(watch.said.size() == 1);
}

TEST_CASE("training monitor: reports a model that ignores its source at the fifth validation") {
  Watch watch;
  for (int i = 0; i < 4; ++i) watch.validation(5 - 0.2 * i, 0.05);
  CHECK(watch.said.empty());
  watch.validation(4.2, 0.05);
  CHECK(watch.says("the model ignores its source"));
}

TEST_CASE("training monitor: does not suggest a longer warm-up during warm-up") {
  Watch rising, after;
  for (int i = 1; i <= 5; ++i) {
    for (Watch* watch : {&rising, &after}) watch->rate(1e-4 * i), watch->rate(1.1e-4 * i);
    if (i == 5) after.rate(1e-4);
    for (Watch* watch : {&rising, &after}) watch->validation(5 - 0.2 * i, 0.05);
  }
  CHECK(rising.says("start again with a shorter warm-up"));
  CHECK(after.says("a longer warm-up"));
}

TEST_CASE("training monitor: waits a third of the steps if their number is known") {
  Watch watch{2100};
  double loss = 7.7;
  for (const double gain : {0.001, 0.001, 0.004, 0.017, 0.064, 0.07})
    watch.validation(loss -= 0.3, gain);  // 10,000 pairs, small: it learns later
  CHECK(watch.said.empty());
  watch.validation(loss - 0.3, 0.07);
  CHECK(watch.says("after 700 steps the model ignores its source"));
}

TEST_CASE("training monitor: reports a model that uses little of its source after three quarters of the steps") {
  // 576,924 pairs of Europarl, base, post-norm, pooled batches: the model of BLEU 1.3; one that translates is beside it
  const std::vector<std::pair<double, double>> validations = {{6.25, 0.40}, {5.46, 0.77}, {4.97, 1.18}, {4.71, 1.42},
                                                              {4.61, 1.60}, {4.51, 1.57}, {4.44, 1.59}, {4.38, 1.70}};
  Watch unknown, short_of{1100}, enough{855}, translates{855};
  for (const auto& [loss, gain] : validations) {
    for (Watch* watch : {&unknown, &short_of, &enough}) watch->validation(loss, gain);
    translates.validation(loss - 1.5, 6 - (loss - 1.5));
  }
  CHECK(unknown.said.empty());
  CHECK(short_of.said.empty());  // 800 of 1,100
  CHECK(
      enough.says("after 700 of 855 steps the model makes little use of its source (the loss per token is 4.44, and with "
                  "the sources exchanged only 1.59 higher): train for longer"));
  CHECK(translates.said.empty());
}

TEST_CASE("training monitor: reports a stalled validation loss only if the source is little used") {
  Watch little, much, none;
  for (int i = 0; i < 8; ++i) little.validation(5, 0.5), much.validation(2, 4.0), none.validation(5, {});
  CHECK(little.says("has not fallen in four validations"));
  CHECK(much.said.empty());
  CHECK(none.said.empty());
}

TEST_CASE("training monitor: reports a validation loss above that of guessing") {
  Watch watch;
  watch.validation(11, {});
  CHECK(watch.said.empty());
  watch.validation(3.4e13, {});
  CHECK(watch.says("the training has diverged"));
}
