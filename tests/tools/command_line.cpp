#include "common/command_line.hpp"

#include <doctest/doctest.h>

#include "support/files.hpp"

using namespace attn;

namespace {

struct Settings {
  Index epochs = 10;
  double rate = 1e-3;
  std::string order = "pooled";
  bool shared = true;
};

void list(const auto& add, Settings& s) {
  add("--epochs", s.epochs, "Passes", whole_number(1, 100));
  add("--rate", s.rate, "Peak", positive_number());
  add("--order", s.order, "Of batches", CLI::IsMember({"pooled", "shuffled"}));
  add("--shared,!--not-shared", s.shared, "One table");
}

/// The sentence that says what is wrong with these words, or "".
std::string wrong(Settings& settings, std::vector<std::string> words) {
  CLI::App app("test");
  list(AddOptions{app, "Training"}, settings);
  std::vector<std::string> files;
  AddOptions{app, "Training"}("--file", files, "Any");
  app.set_config("--config");
  prepare_command_line(app);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  return "";
}

}  // namespace

TEST_CASE("command line: options are parsed and written back as settings") {
  Settings settings;
  Metadata noted;
  CHECK(wrong(settings, {"--epochs", "3", "--rate", "0.25", "--not-shared"}) == "");
  CHECK((settings.epochs == 3 && settings.rate == 0.25 && settings.order == "pooled" && !settings.shared));
  list(NoteSettings{noted}, settings);
  CHECK(noted == Metadata{{"epochs", "3"}, {"rate", "0.25"}, {"order", "pooled"}, {"shared", "false"}});
}

TEST_CASE("command line: errors are sentences that suggest the closest option") {
  Settings settings;
  CHECK(wrong(settings, {"--epoch", "3"}) == "unknown option --epoch; did you mean --epochs?");
  CHECK(wrong(settings, {"--nothing-of-the-kind"}) == "unknown option --nothing-of-the-kind");
  CHECK(wrong(settings, {"more"}) == "'more' is an unexpected argument");
  CHECK(wrong(settings, {"--epochs", "0"}) == "--epochs: '0' is not a whole number of at least 1 and at most 100");
  CHECK(wrong(settings, {"--epochs", "ten"}) == "--epochs: 'ten' is not a whole number of at least 1 and at most 100");
  CHECK(wrong(settings, {"--epochs", "3x"}) == "--epochs: '3x' is not a whole number of at least 1 and at most 100");
  CHECK(wrong(settings, {"--rate", "nan"}) == "--rate: 'nan' is not a number above 0");
  CHECK(wrong(settings, {"--rate", "inf"}) == "--rate: 'inf' is not a number above 0");
}

TEST_CASE("command line: a repeated option is an error unless it is a list") {
  Settings settings;
  CHECK(wrong(settings, {"--epochs", "3", "--rate", "1", "--epochs", "3"}) == "--epochs is given twice. Give it once.");
  CHECK(wrong(settings, {"--epochs=3", "--epochs=4"}) == "--epochs is given twice. Give it once.");
  CHECK(wrong(settings, {"--shared", "--not-shared"}) == "--shared is given twice. Give it once.");
  CHECK(wrong(settings, {"--file", "a", "b", "--file", "c"}) == "");
}

TEST_CASE("command line: rejects an invalid options file") {
  Settings settings;
  const TemporaryFolder folder;
  CHECK(contains(wrong(settings, {"--config", folder.path().string()}),
                 "is actually a directory: " + folder.path().string()));
  CHECK(
      contains(wrong(settings, {"--config", (folder / "none").string()}), "does not exist: " + (folder / "none").string()));
}

TEST_CASE("command line: rejects missing values and unknown words") {
  Settings settings;
  CHECK(wrong(settings, {"--epochs"}) == "--epochs needs a value");
  CHECK(one_of({"cut", "drop"})("drop") == "");
  CHECK(one_of({"cut", "drop"})("foo") == "'foo' is not one of cut, drop");
}

TEST_CASE("command line: numbers have limits") {
  CHECK(whole_number(1, INT64_MAX)("9223372036854775807") == "");
  CHECK(whole_number(1)("1000000000") == "");
  CHECK(whole_number(1)("9223372036854775807") ==
        "'9223372036854775807' is not a whole number of at least 1 and at most 1000000000");
  CHECK(whole_number(1)("9223372036854775808") ==
        "'9223372036854775808' is not a whole number of at least 1 and at most 1000000000; it is out of range");
  CHECK(number(0, 0.99)("0.99") == "");
  CHECK(number(0, 0.99)("1") == "'1' is not a number from 0 to 0.99");
  CHECK(number(0, 0.99)("nan") == "'nan' is not a number from 0 to 0.99");
  CHECK(positive_number()("1e-30") == "");
}

TEST_CASE("command line: parses device options") {
  CLI::App app("test");
  DeviceOptions device;
  add_device_options(app, device);
  app.parse("--device cpu --threads 1 --gpu 2 --precision float --tf32", false);
  CHECK((device.device == "cpu" && device.threads == 1 && device.gpu == 2 && device.precision == "float" && device.tf32));
}

TEST_CASE("command line: wraps help lines between words") {
  CHECK(wrap("", 10, 2) == "");
  CHECK(wrap("one two", 7, 2) == "one two");
  CHECK(wrap("one two three", 7, 2) == "one two\n  three");
  CHECK(wrap("incomprehensible word", 7, 0) == "incomprehensible\nword");
}

TEST_CASE("command line: help on a topic shows its options and values") {
  CLI::App app("Trains.", "train");
  Settings settings;
  list(AddOptions{app, "Beam training"}, settings);
  Index layers = 2;
  AddOptions{app, "Beam training"}("--layers", layers, "Of both sides")->capture_default_str();
  prepare_command_line(app);
  const std::string topic =
      "Beam training:\n"
      "  --epochs INT                Passes\n"
      "  --rate FLOAT                Peak\n"
      "  --order TEXT                Of batches {pooled,shuffled}\n"
      "  --shared,--not-shared{false}\n"
      "                              One table\n"
      "  --layers INT=2              Of both sides\n";
  CHECK(help_on(app, "beam-training") == topic);
  CHECK(help_on(app, "beam") == topic);
  CHECK_FALSE(help_on(app, "bean"));
  const std::string all = help_on(app, "all").value();
  CHECK(all.starts_with("Trains.\nUsage: train [OPTIONS]\n\nOptions:\n  -h,--help "));
  CHECK(all.find("\n" + topic) != all.npos);
  CHECK(help_on(app, "") == all);  // it fits a screen
}

TEST_CASE("command line: help longer than a screen lists its topics") {
  CLI::App app("Trains.", "train");
  app.add_option("text", "Text to learn from");
  DeviceOptions device;
  add_device_options(app, device);
  std::vector<Index> numbers(20);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    AddOptions{app, "Numbers"}(("--number" + std::to_string(i)).c_str(), numbers[i], "A number");
  prepare_command_line(app);
  CHECK(help_on(app, "") ==
        "Trains.\nUsage: train [OPTIONS] [text]\n\n"
        "Positionals:\n  text                        Text to learn from\n\n"
        "Topics (--help TOPIC: one topic; --help all: everything):\n"
        "  options       --help --version\n"
        "  device        --device --threads --gpu --precision --tf32\n"
        "  numbers       --number0 --number1 --number2 --number3 --number4 --number5 --number6 --number7 ...\n");
}

TEST_CASE("command line: the word after --help is its topic") {
  const auto asked = [](std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return topic_asked_for(static_cast<int>(words.size()), pointers.data());
  };
  CHECK_FALSE(asked({"train"}));
  CHECK_FALSE(asked({"train", "--epochs", "3"}));
  CHECK(asked({"train", "--help"}) == "");
  CHECK(asked({"train", "-h", "--epochs", "3"}) == "");
  CHECK(asked({"train", "--epochs", "3", "--help", "device", "--json"}) == "device");
}
