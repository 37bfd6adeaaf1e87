#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "cuda/devices.hpp"
#include "cuda/relative_error.hpp"

// What a device owns: its memory, and nothing of another's.

namespace {

attn::Batch batch_of(attn::Index sentences, attn::Index length, std::uint64_t seed) {
  attn::Random random(seed);
  attn::Batch batch;
  for (attn::Index i = 0; i < sentences; ++i) {
    std::vector<attn::Token> words;
    for (attn::Index j = 0; j < length; ++j) words.push_back(static_cast<attn::Token>(random.below(kVocabulary)));
    batch.source.push_back(words);
    batch.target_input.push_back(words);
    batch.target_output.push_back(words);
  }
  return batch;
}

Numbers parameters_of(const Training& training) {
  Numbers all;
  for (const Named& one : training.parameters()) all.insert(all.end(), one.numbers.begin(), one.numbers.end());
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("device: memory use does not grow after the largest batch", Device, CudaFloat, CudaBfloat16) {
  if (!is_here<Device>()) return;
  const auto device = Device::make();
  for (const Kind kind : {Kind::transformer, Kind::linformer, Kind::wide_heads}) {
    const auto training = device->training(kind, 1);
    for (int i = 0; i < 3; ++i) training->step(batch_of(24, 40, 1), 1e-3);
    const std::size_t held = device->held();
    CHECK(held > 0);
    attn::Random random(3);
    for (std::uint64_t i = 0; i < 100; ++i) {
      const auto sums = training->step(batch_of(1 + random.below(24), random.below(41), i), 1e-3);
      REQUIRE(std::isfinite(sums.loss));
    }
    CHECK(device->held() == held);
  }
}

TEST_CASE_TEMPLATE("device: an allocation failure names the request and the device remains usable", Device, CudaFloat,
                   CudaBfloat16) {
  if (!is_here<Device>()) return;
  const auto device = Device::make();
  const auto training = device->training(Kind::transformer, 1);
  const auto before = training->gradients(batch_of(3, 5, 1), 1);
  const std::string sentence = device->out_of_memory();
  CAPTURE(sentence);
  CHECK(sentence.find("out of GPU memory: activations need 33554432 MiB more") != std::string::npos);
  CHECK(sentence.find("lower the batch size") != std::string::npos);
  const auto after = training->gradients(batch_of(3, 5, 1), 1);
  CHECK(after.loss == before.loss);
}

TEST_CASE_TEMPLATE("device: several devices in one process do not interfere", Device, CpuFloat, CudaFloat, CudaBfloat16) {
  if (!is_here<Device>()) return;
  const auto train = [](Training& training, Training* other) {
    for (std::uint64_t step = 1; step <= 5; ++step) {
      training.step(batch_of(4, 20, step), 1e-3);
      if (other != nullptr) other->step(batch_of(24, 40, step), 1e-3);
    }
    return parameters_of(training);
  };
  const auto one = Device::make(), two = Device::make(), three = Device::make();
  const Numbers alone = train(*one->training(Kind::transformer, 1), nullptr);
  const auto mine = two->training(Kind::transformer, 1), other = three->training(Kind::linformer, 2);
  CHECK(same_bits(train(*mine, other.get()), alone));
  if (Device::on_gpu) {
    const auto in_float = make_cuda_float();
    const auto different = in_float->training(Kind::wide_heads, 3);
    CHECK(same_bits(train(*one->training(Kind::transformer, 1), different.get()), alone));
  }
}

// A new thread's calls of CUDA are for GPU 0, and those of the thread that made the devices for the last of them.
template <class Device>
static void check_any_thread(const std::vector<int>& gpus) {
  const auto learn = [](Training& training, std::uint64_t first) {
    for (std::uint64_t step = first; step < first + 3; ++step) training.step(batch_of(4, 20, step), 1e-3);
    return training.translate(batch_of(3, 9, 7).source);
  };
  std::vector<std::unique_ptr<Backend>> devices;
  std::vector<std::unique_ptr<Training>> trainings;
  for (const int gpu : gpus) devices.push_back(Device::make(gpu));
  for (const auto& device : devices) trainings.push_back(device->training(Kind::transformer, 1));
  const auto device_alone = Device::make(gpus[0]);
  const auto alone = device_alone->training(Kind::transformer, 1);
  learn(*alone, 1);
  const auto expected = learn(*alone, 4);

  std::vector<std::string> errors(devices.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < devices.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        learn(*trainings[i], 1);
      } catch (const attn::Error& error) {
        errors[i] = error.what();
      }
    });
  threads.clear();  // waits for them
  for (const std::string& error : errors) CHECK(error == "");
  for (const auto& training : trainings) {
    CHECK(learn(*training, 4) == expected);
    CHECK(same_bits(parameters_of(*training), parameters_of(*alone)));
  }
  std::jthread([&] { trainings.clear(), devices.clear(); }).join();
}

TEST_CASE_TEMPLATE("device: any thread may use and destroy a device", Device, CudaFloat, CudaBfloat16) {
  if (!is_here<Device>()) return;
  check_any_thread<Device>({0, 0});
}

TEST_CASE_TEMPLATE("device: one process can use one device per GPU", Device, CudaFloat, CudaBfloat16) {
  if (!is_here<Device>()) return;
  if (gpus() < 2) {
    MESSAGE("skipped: this machine has one GPU");
    return;
  }
  check_any_thread<Device>({0, 1});
  check_any_thread<Device>({1, 0, 1});
}

// Kernels are the process's, and so is the shared memory that one may ask for: these cases ask for different amounts.
TEST_CASE_TEMPLATE("device: threads with separate devices get the same results as alone", Device, CpuFloat, CudaFloat,
                   CudaBfloat16) {
  if (!is_here<Device>()) return;
  std::vector<OpCase> cases = cases_of("input_feeding");
  for (const OpCase& test : cases_of("lstm")) cases.push_back(test);
  std::erase_if(cases, [](const OpCase& test) { return test.settings.contains("large"); });
  REQUIRE(cases.size() > 20);
  std::vector<Results> alone;
  for (const OpCase& test : cases) alone.push_back(device_under_test<Device>().run(test, Device::precision));

  // All cases on a device of their own, from the first quarter's, second's... on; what is not as it was.
  std::atomic<int> compared = 0;
  const auto run_all = [&](std::size_t quarter) {
    std::string different;
    try {
      const auto device = Device::make();
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::size_t at = (i + quarter * cases.size() / 4) % cases.size();
        const Results again = device->run(cases[at], Device::precision);
        for (std::size_t j = 0; j < again.size(); ++j, ++compared)
          if (!same_bits(again[j].numbers, alone[at][j].numbers))
            different += cases[at].op + ", " + cases[at].name + ": " + again[j].name + ", off by " +
                         std::to_string(1e6 * relative_error(again[j].numbers, alone[at][j].numbers).worst) +
                         " millionths; ";
      }
    } catch (const attn::Error& error) {
      different += error.what();
    }
    return different;
  };
  CHECK(run_all(1) == "");  // nor does the order matter
  std::string different[4];
  std::vector<std::jthread> threads;
  for (std::size_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] { different[thread] = run_all(thread); });
  threads.clear();  // waits for them
  for (const std::string& found : different) CHECK(found == "");
  CHECK(compared > 5 * 400);
}

TEST_CASE("device: TF32 rounds the operands of products only if enabled") {
  if (!is_here<CudaFloat>()) return;
  const auto rounding = make_cuda_tf32();
  double worst = 0, worst_without = 0;
  for (const OpCase& test : cases_of("linear")) {
    const Results expected = truth().run(test, Precision::float32);
    const Results results = rounding->run(test, Precision::float32);
    const Results without = device_under_test<CudaFloat>().run(test, Precision::float32);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      worst = std::max(worst, relative_error(results[i].numbers, expected[i].numbers).mean);
      worst_without = std::max(worst_without, relative_error(without[i].numbers, expected[i].numbers).mean);
    }
  }
  CHECK(worst_without < 2e-6);
  CHECK(worst > 1e-5);
  CHECK(worst < 2e-3);  // 10 bits after the point, of two operands
}

TEST_CASE("device: the error on a machine without a GPU says what is missing") {
  const std::string why = no_gpu();
  if (why.empty()) {
    CHECK(!make_cuda_float()->description().empty());
    return;
  }
  CAPTURE(why);
  CHECK(why.find("attn needs a driver") != std::string::npos);
  std::string sentence;
  try {
    make_cuda_float();
  } catch (const attn::Error& error) {
    sentence = error.what();
  }
  CHECK(sentence.find(why) != std::string::npos);
}
