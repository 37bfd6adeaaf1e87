#include "attn/train/checkpoint.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "attn/cpu.hpp"
#include "attn/nn/linear.hpp"
#include "attn/optim/adam.hpp"
#include "attn/train/checkpoint_callback.hpp"
#include "support/files.hpp"

using namespace attn;
namespace fs = std::filesystem;

namespace {

using Host = Cpu<float>;
constexpr double infinity = std::numeric_limits<double>::infinity(), nan_value = std::numeric_limits<double>::quiet_NaN();

struct Layer : Linear<Host, 3, 2> {
  using DeviceType = Host;
  Loss<Host> loss(Tape<Host>&, const Batch&) const { return {}; }  // never called
};

struct Training {
  Host device;
  Network<Layer> network{device, 1};
  Parameters<Host>& parameters = network.parameters;
  Adam<Host> adam{parameters};
  Trainer<Host> trainer{network, adam, ConstantRate{}};
  TrainState& state = trainer.state;
  TemporaryFolder folder;
  fs::path model = folder / "model.safetensors", training = folder / "training.safetensors";
  CheckpointCallback<Host> callback{folder / "", trainer, {{"name", "linear"}}};

  Training() { state = {.step = 7, .position = {1, 2}, .best = 0.1, .stale = 3}; }

  void set_bias(double number) { parameters.write(parameters.find("bias"), {0, static_cast<float>(number)}); }
  /// What resuming says when an entry of the metadata is this.
  std::string complaint(const std::string& key, const std::string& value) {
    save_training(training, parameters, adam, state);
    const SafetensorsFile file(training);
    Metadata metadata = file.metadata();
    metadata.at(key) = value;
    save_safetensors(folder / "changed", file.tensors(), metadata);
    return load_changed();
  }
  std::string load_changed() {
    return error_of([&] { load_training(SafetensorsFile(folder / "changed"), parameters, adam); });
  }
};

}  // namespace

TEST_CASE("checkpoint: removing its files during training ends the run") {
  for (const bool whole : {false, true}) {
    Training run;
    run.callback.on_validation({.step = 1, .loss = 1, .value = 1, .best = true});
    run.callback.on_validation({.step = 2, .loss = 1, .value = 1});
    if (whole)
      fs::remove_all(run.folder.path());
    else
      fs::remove(run.training);
    CHECK(contains(error_of([&] { run.callback.on_validation({.step = 3, .loss = 1, .value = 1}); }),
                   "were removed during the training. Start again"));
  }
}

TEST_CASE("checkpoint: the folder is created before training or rejected") {
  Training run;
  CheckpointCallback checkpoints(run.folder / "new/folder", run.trainer);
  CHECK(fs::is_directory(run.folder / "new/folder"));
  write_file(run.folder / "file", "");
  CHECK(contains(error_of([&] { CheckpointCallback(run.folder / "file", run.trainer); }), "cannot create the folder"));
}

TEST_CASE("checkpoint: restores the training position") {
  Training run;
  for (const double best : {0.1, 0.0, 1e300, 5e-324, infinity}) {
    run.state.best = best;
    save_training(run.training, run.parameters, run.adam, run.state);
    const TrainState state = load_training(SafetensorsFile(run.training), run.parameters, run.adam);
    CHECK(state.step == 7);
    CHECK(state.position.epoch == 1);
    CHECK(state.position.batch == 2);
    CHECK(state.best == best);
    CHECK(state.stale == 3);
  }
  CHECK(run.complaint("training.best", "0x1.8p+1") == "");  // as iostreams write it
  CHECK(run.complaint("training.best", "inf") == "");
}

TEST_CASE("checkpoint: non-numeric metadata are a clear error") {
  Training run;
  for (const char* value : {"", "seven", "7x", "-7", " 7", "7.5", "99999999999999999999"}) {
    CAPTURE(value);
    const std::string sentence = run.complaint("training.step", value);
    CHECK(contains(sentence, (run.folder / "changed").string() + ": its metadata has '" + value + "' as training.step"));
    CHECK(contains(sentence, "Use another checkpoint"));
  }
  for (const char* key : {"training.epoch", "training.batch", "training.stale"})
    CHECK(contains(run.complaint(key, "x"), "'x' as " + std::string(key)));
  for (const char* value : {"", "best", "nan", "-inf", "1p+0 "})
    CHECK(contains(run.complaint("training.best", value), "as training.best"));
}

TEST_CASE("checkpoint: rejects a file padded with NUL bytes") {
  Training run;
  REQUIRE(run.complaint("training.step", "7") == "");
  for (const std::uintmax_t more : {std::uintmax_t{1}, std::uintmax_t{4} << 30}) {  // a hole takes no space
    std::filesystem::resize_file(run.folder / "changed", std::filesystem::file_size(run.folder / "changed") + more);
    CHECK(contains(run.load_changed(), "at the end belong to no tensor; the file is damaged"));
  }
}

TEST_CASE("checkpoint: rejects optimiser state of another shape") {
  Training run;
  save_training(run.training, run.parameters, run.adam, run.state);
  const SafetensorsFile file(run.training);
  std::vector<TensorView> tensors(file.tensors().begin(), file.tensors().end());
  for (TensorView& tensor : tensors)
    if (tensor.name.ends_with(".m")) tensor.shape = {64, 2};
  save_safetensors(run.folder / "changed", tensors, file.metadata());
  CHECK(contains(error_of([&] { load_training(SafetensorsFile(run.folder / "changed"), run.parameters, run.adam); }),
                 ".m' has the shape [64,2], but [128] is needed for 'adam.m'"));
}

TEST_CASE("checkpoint: finds the first parameter with NaN or infinity") {
  Training run;
  CHECK(checkpoint::copy_of(run.parameters).first_not_finite() == "");
  run.set_bias(-infinity);
  CHECK(checkpoint::copy_of(run.parameters).first_not_finite() == "bias");
  run.parameters.write(run.parameters.find("weight"), {0, 0, 0, 0, 0, static_cast<float>(nan_value)});
  CHECK(checkpoint::copy_of(run.parameters).first_not_finite() == "weight");
}

TEST_CASE("checkpoint callback: keeps the best model and the last training state with metadata") {
  Training run;
  run.set_bias(1);
  run.callback.on_validation({.step = 7, .loss = 2, .best = true});
  run.set_bias(2);
  run.callback.on_validation({.step = 8, .loss = 3, .best = false});
  const SafetensorsFile model(run.model), training(run.training);
  CHECK(model.values<float>("bias")[1] == 1);
  CHECK(training.values<float>("bias")[1] == 2);
  CHECK(model.metadata() == Metadata{{"name", "linear"}});
  CHECK(training.metadata().at("name") == "linear");
  run.set_bias(3);
  run.callback.on_end();
  CHECK(SafetensorsFile(run.training).values<float>("bias")[1] == 3);
  CHECK(SafetensorsFile(run.model).values<float>("bias")[1] == 1);
}

TEST_CASE("checkpoint callback: non-finite values end training and keep the last good checkpoint") {
  Training run;
  run.set_bias(1);
  run.callback.on_validation({.step = 7, .loss = 2, .best = true});
  const std::string model = read_file(run.model), training = read_file(run.training);
  run.state.step = 9;

  std::string sentence;
  SUBCASE("a parameter at a validation") {
    run.set_bias(nan_value);
    sentence = error_of([&] { run.callback.on_validation({.step = 9, .loss = nan_value, .best = false}); });
    CHECK(contains(sentence, "step 9: parameter 'bias' is no longer finite"));
  }
  SUBCASE("a parameter at the end") {
    run.set_bias(infinity);
    sentence = error_of([&] { run.callback.on_end(); });
    CHECK(contains(sentence, "step 9: parameter 'bias' is no longer finite"));
  }
  SUBCASE("a parameter at a report") {
    run.set_bias(nan_value);
    run.callback.on_step({.step = 8, .loss = 3});
    sentence = error_of([&] { run.callback.on_step({.step = 9, .loss = nan_value}); });
    CHECK(contains(sentence, "step 9: parameter 'bias' is no longer finite"));
  }
  SUBCASE("the training loss alone") {
    sentence = error_of([&] { run.callback.on_step({.step = 9, .loss = infinity}); });
    CHECK(contains(sentence, "step 9: the training loss is inf"));
  }
  SUBCASE("the validation loss alone") {
    sentence = error_of([&] { run.callback.on_validation({.step = 9, .loss = -infinity, .best = true}); });
    CHECK(contains(sentence, "step 9: the validation loss is -inf"));
  }
  CHECK(contains(sentence, "the last good checkpoint, " + run.training.string()));
  CHECK(read_file(run.model) == model);
  CHECK(read_file(run.training) == training);
}

TEST_CASE("checkpoint callback: non-finite values before the first checkpoint are an error") {
  Training run;
  run.set_bias(nan_value);
  const std::string sentence = error_of([&] { run.callback.on_validation({.step = 1, .loss = 1, .best = true}); });
  CHECK(contains(sentence, "Start again with a lower learning rate"));
  CHECK_FALSE(fs::exists(run.model));
  CHECK_FALSE(fs::exists(run.training));
}
