#include "attn/checkpoint/safetensors.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "support/files.hpp"

using namespace attn;
namespace fs = std::filesystem;

namespace {

std::string file_of(const std::string& header, const std::string& data = "") {
  std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

/// What opening a file with these bytes says; the sentence always names the file.
std::string complaint(const std::string& bytes) {
  const TemporaryFolder folder;
  write_file(folder / "model.safetensors", bytes);
  try {
    SafetensorsFile file(folder / "model.safetensors");
  } catch (const Error& error) {
    const std::string sentence = error.what();
    CHECK(sentence.find((folder / "model.safetensors").string()) != std::string::npos);
    return sentence;
  }
  return "no complaint";
}

std::string complaint(const std::string& header, const std::string& data) { return complaint(file_of(header, data)); }

template <class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no complaint";
}

bool has(const std::string& sentence, const std::string& part) {
  const bool found = sentence.find(part) != std::string::npos;
  if (!found) MESSAGE("'", sentence, "' lacks '", part, "'");
  return found;
}

}  // namespace

TEST_CASE("safetensors: restores tensors of any type and shape") {
  const TemporaryFolder folder;
  const std::vector<float> weights{1.5F, -2.25F, 3e-40F, -0.0F, 5, 6};
  const std::vector<double> precise{0.1, -1e300};
  const std::vector<std::int64_t> steps{-9'000'000'000'000'000'001};
  const std::vector<std::uint16_t> half{0x3f80, 0xc000, 0x7fc0};
  const std::vector<TensorView> tensors{
      {"half", DType::bf16, {3}, half.data()},      tensor_view<float>("layers.0.weight", weights, {2, 3}),
      tensor_view<float>("leer", {}, {0, 7}),       tensor_view<double>("Größe/中文 \"quoted\"\n", precise, {2, 1}),
      tensor_view<std::int64_t>("step", steps, {}),
  };
  const Metadata metadata{{"tokenizer", "sha256:ab"}, {"naïve", "ünïcode"}};
  save_safetensors(folder / "model.safetensors", tensors, metadata);

  const SafetensorsFile file(folder / "model.safetensors");
  CHECK(file.metadata() == metadata);
  CHECK(file.tensors().size() == 5);
  CHECK(file.values<float>("layers.0.weight") == weights);
  CHECK(std::signbit(file.values<float>("layers.0.weight")[3]));
  CHECK(file["layers.0.weight"].shape == std::vector<Index>{2, 3});
  CHECK(file.values<float>("leer").empty());
  CHECK(file["leer"].shape == std::vector<Index>{0, 7});
  CHECK(file.values<double>("Größe/中文 \"quoted\"\n") == precise);
  CHECK(file.values<std::int64_t>("step") == steps);
  CHECK(file["step"].shape.empty());
  CHECK(file["half"].dtype == DType::bf16);
  CHECK(std::memcmp(file["half"].bytes, half.data(), 6) == 0);
  CHECK(file.find("nothing") == nullptr);
  for (const TensorView& tensor : file.tensors()) {
    CHECK(reinterpret_cast<std::uintptr_t>(tensor.bytes) % static_cast<std::uintptr_t>(size_of(tensor.dtype)) == 0);
  }
}

TEST_CASE("safetensors: the bytes match the format") {
  const TemporaryFolder folder;
  const std::vector<float> one{1};
  save_safetensors(folder / "x", std::vector{tensor_view<float>("a", one, {1})});
  std::string header =
      R"({"__metadata__":{"attn.checksum.data":"43f53a0e8b854d17","attn.checksum.header":"d6ce56f4291d7c59"},)"
      R"("a":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  CHECK(read_file(folder / "x") == file_of(header, std::string("\0\0\x80\x3f", 4)));

  save_safetensors(folder / "empty", {});
  CHECK(SafetensorsFile(folder / "empty").tensors().empty());
}

TEST_CASE("safetensors: reads unaligned data of other writers") {
  const TemporaryFolder folder;
  const double value = 2.5;
  const std::string bytes = "ab" + std::string(reinterpret_cast<const char*>(&value), 8);
  write_file(folder / "x", file_of(R"({"b":{"dtype":"F64","shape":[1],"data_offsets":[2,10]},
                                        "a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]} })",
                                   bytes));
  CHECK(SafetensorsFile(folder / "x").values<double>("b") == std::vector{2.5});
}

TEST_CASE("safetensors: reading values checks name and type") {
  const TemporaryFolder folder;
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  save_safetensors(folder / "x", std::vector{tensor_view<float>("w", six, {2, 3})});
  const SafetensorsFile file(folder / "x");
  CHECK(file.values<float>("w") == six);
  CHECK(has(message_of([&] { file.values<double>("w"); }), "'w' holds F32, but F64 is needed"));
  CHECK(has(message_of([&] { file.values<float>("v"); }), "no tensor 'v'"));
}

TEST_CASE("safetensors: views outlive moved and replaced files") {
  const TemporaryFolder folder;
  const std::vector<float> old_values{1, 2}, new_values{3, 4};
  save_safetensors(folder / "x", std::vector{tensor_view<float>("w", old_values, {2})});
  SafetensorsFile first(folder / "x");
  const void* bytes = first["w"].bytes;
  const SafetensorsFile file = std::move(first);
  save_safetensors(folder / "x", std::vector{tensor_view<float>("w", new_values, {2})});
  CHECK(file["w"].bytes == bytes);
  CHECK(file.values<float>("w") == old_values);
  CHECK(SafetensorsFile(folder / "x").values<float>("w") == new_values);
}

TEST_CASE("safetensors: a failed save keeps the old file and leaves no other") {
  const TemporaryFolder folder;
  const std::vector<float> values{1};
  const std::vector<TensorView> tensors{tensor_view<float>("w", values, {1})};
  save_safetensors(folder / "x", tensors);
  const std::string before = read_file(folder / "x");

  SUBCASE("full disk") {
    if (!fs::exists("/dev/full")) {
      MESSAGE("skipped: there is no /dev/full here");
      return;
    }
    fs::create_symlink("/dev/full", folder / "x.partial");
    const std::string sentence = message_of([&] { save_safetensors(folder / "x", tensors); });
    CHECK(has(sentence, "cannot write " + (folder / "x").string() + ": "));
    CHECK(has(sentence, std::strerror(ENOSPC)));
    CHECK_FALSE(fs::is_symlink(folder / "x.partial"));
  }
  SUBCASE("invalid tensors") {
    const std::vector<TensorView> twice{tensors[0], tensors[0]};
    CHECK(has(message_of([&] { save_safetensors(folder / "x", twice); }), "two tensors are named 'w'"));
    const std::vector<TensorView> reserved{tensor_view<float>("__metadata__", values, {1})};
    CHECK(has(message_of([&] { save_safetensors(folder / "x", reserved); }), "__metadata__"));
    const std::vector<TensorView> latin1{tensor_view<float>("gr\xfc\xdf", values, {1})};
    CHECK(has(message_of([&] { save_safetensors(folder / "x", latin1); }), "not UTF-8"));
    const std::vector<TensorView> negative{{"w", DType::f32, {-1}, values.data()}};
    CHECK(has(message_of([&] { save_safetensors(folder / "x", negative); }), "'w' has a negative extent"));
  }
  CHECK(read_file(folder / "x") == before);
  CHECK_FALSE(fs::exists(folder / "x.partial"));
}

TEST_CASE("safetensors: saving to a missing folder or a directory fails and stale partial files are replaced") {
  const TemporaryFolder folder;
  CHECK(has(message_of([&] { save_safetensors(folder / "no/such/x", {}); }), "such does not exist. Create it."));
  fs::create_directory(folder / "taken");
  CHECK(has(message_of([&] { save_safetensors(folder / "taken", {}); }), "taken: Is a directory"));
  CHECK_FALSE(fs::exists(folder / "taken.partial"));

  write_file(folder / "y.partial", std::string(1000, 'x'));  // what an interrupted save left behind
  save_safetensors(folder / "y", {});
  CHECK(SafetensorsFile(folder / "y").tensors().empty());
  CHECK_FALSE(fs::exists(folder / "y.partial"));
}

TEST_CASE("safetensors: a view must match the size of its shape") {
  const std::vector<float> five(5);
  CHECK(has(message_of([&] { tensor_view<float>("w", five, {2, 3}); }), "'w': its shape has 6 elements, but there are 5"));
}

TEST_CASE("safetensors: rejects missing and truncated files and other formats") {
  const TemporaryFolder folder;
  CHECK(has(message_of([&] { SafetensorsFile file(folder / "nothing"); }), "cannot open " + (folder / "nothing").string()));
  CHECK(has(message_of([&] { SafetensorsFile file((folder / "")); }), "it is not a file"));
  CHECK(has(complaint(""), "0 bytes are too few"));
  CHECK(has(complaint("1234567"), "7 bytes are too few"));
  CHECK(has(complaint(file_of("{}").substr(0, 9)), "header should take 2 bytes, but only 1 follow"));
  CHECK(has(complaint("This is a text file, not tensors."), "cut off or not a safetensors file"));
  CHECK(has(complaint(std::string(8, '\xff') + "{}"), "header should take 18446744073709551615 bytes, but only 2"));
  CHECK(has(complaint(file_of("")), "not JSON"));
  CHECK(has(complaint(file_of("{\"a\":")), "not JSON (see its byte 6"));
  CHECK(has(complaint(file_of("{\"\xff\":1}")), "not JSON"));
  CHECK(has(complaint(file_of("[1, 2]")), "not a JSON object"));
  CHECK(has(complaint(file_of(std::string(100'000, '['))), "nests its lists too deep"));
}

TEST_CASE("safetensors: rejects inconsistent headers") {
  const std::string eight(8, 'x');
  const auto entry = [](const std::string& shape, const std::string& place, const std::string& dtype = "F32") {
    return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + place + "}";
  };
  const auto one = [&](const std::string& shape, const std::string& place, const std::string& dtype = "F32") {
    return complaint("{\"w\":" + entry(shape, place, dtype) + "}", eight);
  };
  const auto two = [&](const std::string& first, const std::string& second) {
    return complaint("{\"a\":" + entry("[1]", first) + ",\"b\":" + entry("[1]", second) + "}", eight);
  };
  CHECK(one("[2]", "[0,8]") == "no complaint");
  CHECK(two("[0,4]", "[4,8]") == "no complaint");

  CHECK(has(one("[4]", "[0,16]"), "'w': its data ends at byte 16, but the file has only 8"));
  CHECK(has(one("[1]", "[8,12]"), "'w': its data ends at byte 12"));
  CHECK(has(one("[3]", "[0,8]"), "'w': its shape [3] of F32 needs 12 bytes, but its data_offsets span 8"));
  CHECK(has(one("[]", "[0,8]"), "needs 4 bytes"));
  CHECK(has(one("[0]", "[0,8]"), "needs 0 bytes"));
  CHECK(has(one("[2]", "[8,0]"), "'w': its data_offsets [8,0] are not a begin and an end"));
  CHECK(has(one("[2]", "[0]"), "not a begin and an end"));
  CHECK(has(one("[2]", "[-8,0]"), "'w': its data_offsets has the entry -8"));
  CHECK(has(one("[2]", "[0,18446744073709551615]"), "has the entry 18446744073709551615"));
  CHECK(has(one("[2]", "\"0,8\""), "its data_offsets is missing or not a list"));
  CHECK(has(one("[-2]", "[0,8]"), "its shape has the entry -2"));
  CHECK(has(one("[2.0]", "[0,8]"), "its shape has the entry 2.0"));
  CHECK(has(one("[4611686018427387904,4]", "[0,8]"), "larger than any file"));
  CHECK(has(one("[4]", "[0,8]", "F4"), "'w': attn cannot read its dtype \"F4\""));
  CHECK(has(one("[2]", "[0,8]", "f32"), "cannot read its dtype \"f32\""));

  CHECK(has(two("[0,4]", "[0,4]"), "overlaps"));
  CHECK(has(one("[1]", "[4,8]"), "4 bytes before tensor 'w' belong to no tensor"));
  CHECK(has(one("[1]", "[0,4]"), "4 bytes at the end belong to no tensor"));
  CHECK(has(complaint(R"({"a":)" + entry("[2]", "[0,8]") + R"(,"b":)" + entry("[1]", "[4,8]") + "}", eight),
            "tensor 'b' overlaps"));
  CHECK(has(complaint("{\"w\":" + entry("[2]", "[0,8]") + ",\"w\":" + entry("[2]", "[0,8]") + "}", eight),
            "two tensors are named \"w\""));

  CHECK(has(complaint(R"({"w":3})", ""), "'w': its entry is not a JSON object"));
  CHECK(has(complaint(R"({"w":{"shape":[0],"data_offsets":[0,0]}})", ""), "'w': its dtype is missing"));
  CHECK(has(complaint(R"({"w":{"dtype":"F32","data_offsets":[0,0]}})", ""), "'w': its shape is missing"));
  CHECK(has(complaint(R"({"w":{"dtype":"F32","shape":[0]}})", ""), "'w': its data_offsets is missing"));
  CHECK(has(complaint(R"({"__metadata__":[]})", ""), "__metadata__ is not a JSON object"));
  CHECK(has(complaint(R"({"__metadata__":{"epoch":3}})", ""), "'epoch' is not a string"));

  CHECK(has(one("[1e999]", "[0,8]"), "a number that is too large"));
  CHECK(has(one("[1e99]", "[0,8]"), "its shape has the entry 1e+99, which is not a whole number of at least 0"));
  CHECK(has(one("[1152921504606846976]", "[0,4611686018427387904]"), "its data ends at byte 4611686018427387904"));
  CHECK(has(complaint(R"({"__metadata__":{"a":"1","a":"2"}})", ""), "repeats the key \"a\""));
  CHECK(has(complaint(R"({"w":{"dtype":"F32","dtype":"F64","shape":[0],"data_offsets":[0,0]}})", ""), "\"dtype\""));
  CHECK(has(complaint("{\"w\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}", ""), "too deep"));
  CHECK(has(complaint("{\"w\":{\"dtype\":\"" + std::string(100'000, 'F') + "\",\"shape\":[],\"data_offsets\":[0,0]}}", ""),
            "FFF...; convert it"));
  const std::string bytes("\0\0\0\0\0\0\0\x10{}", 10);  // 2^60 bytes of header
  CHECK(has(complaint(bytes), "header should take 1152921504606846976 bytes, but only 2 follow"));
}
