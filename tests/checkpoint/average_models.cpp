#include "attn/checkpoint/average_models.hpp"

#include <doctest/doctest.h>

#include "attn/train/checkpoint_callback.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

void save(const std::filesystem::path& path, const std::vector<float>& weight, const std::vector<float>& bias) {
  save_safetensors(path, std::vector{tensor_view<float>("weight", weight, {1, std::ssize(weight)}),
                                     tensor_view<float>("bias", bias, {std::ssize(bias)})});
}

}  // namespace

TEST_CASE("average models: the average is computed per tensor") {
  const TemporaryFolder folder;
  const auto a = folder / "a", b = folder / "b", mean = folder / "mean";
  save(a, {1, 2, 3}, {4});
  save(b, {3, -2, 1e30f}, {5});
  average_models({a, b}, mean, {{"from", "two"}});
  const SafetensorsFile file(mean);
  CHECK(file.values<float>("weight") == std::vector<float>{2, 0, 5e29f});
  CHECK(file.values<float>("bias") == std::vector<float>{4.5});
  CHECK(file["weight"].shape == std::vector<Index>{1, 3});
  CHECK(file.metadata().at("from") == "two");
  average_models({a}, mean);
  CHECK(SafetensorsFile(mean).values<float>("weight") == std::vector<float>{1, 2, 3});
}

TEST_CASE("average models: models with different tensors are rejected and nothing is written") {
  const TemporaryFolder folder;
  const auto a = folder / "a", b = folder / "b", mean = folder / "mean";
  save(a, {1, 2, 3}, {4});
  save(b, {1, 2}, {4});
  CHECK_THROWS_WITH_AS(average_models({a, b}, mean), doctest::Contains("belong to different models: tensor 'weight'"),
                       Error);
  save_safetensors(b, std::vector{tensor_view<float>("weight", std::vector<float>{1, 2, 3}, {1, 3})});
  CHECK_THROWS_WITH_AS(average_models({a, b}, mean), doctest::Contains("belong to different models"), Error);
  CHECK_THROWS_WITH_AS(average_models({b, a}, mean), doctest::Contains("belong to different models"), Error);
  CHECK_THROWS_WITH_AS(average_models({}, mean), doctest::Contains("no files"), Error);
  CHECK(!std::filesystem::exists(mean));
}

TEST_CASE("average models: the best models keep their files and the others are deleted") {
  const TemporaryFolder folder;
  const auto write = [](const std::filesystem::path& path) { write_file(path, "model"); };
  {
    BestModels best(folder / "", 2);
    for (const auto& [step, value] : {std::pair(100, 5.0), {200, 4.0}, {300, 4.5}, {400, 6.0}})
      if (best.wants(value)) best.add({step, value}, write);
    REQUIRE(best.entries().size() == 2);
    CHECK(best.entries()[0].step == 200);
    CHECK(best.entries()[1].step == 300);
  }
  CHECK(!std::filesystem::exists(folder / "best/100.safetensors"));
  CHECK(!std::filesystem::exists(folder / "best/400.safetensors"));
  BestModels resumed(folder / "", 2);  // knows them
  REQUIRE(resumed.entries().size() == 2);
  CHECK(resumed.entries()[1].value == 4.5);
  CHECK(!resumed.wants(4.6));
  CHECK(resumed.wants(4.4));
  resumed.add({500, 1.0 / 3}, write);
  CHECK(resumed.files() == std::vector{folder / "best/500.safetensors", folder / "best/200.safetensors"});
  CHECK(BestModels(folder / "", 2).entries()[0].value == 1.0 / 3);
  CHECK(!std::filesystem::exists(folder / "best/300.safetensors"));
  CHECK(!BestModels(folder / "", 0).wants(-1));
  write(folder / "best/mean.safetensors");
  write(folder / "best/mine.safetensors");
  BestModels::remove(folder / "");
  CHECK(BestModels(folder / "", 2).entries().empty());
  CHECK(!std::filesystem::exists(folder / "best/500.safetensors"));
  CHECK(!std::filesystem::exists(folder / "best/mean.safetensors"));
  CHECK(std::filesystem::remove(folder / "best/mine.safetensors"));  // is not the run's
  BestModels::remove(folder / "");
  CHECK(!std::filesystem::exists(folder / "best"));
}
