#include "common/config_file.hpp"

#include <doctest/doctest.h>

#include "attn/core/file.hpp"
#include "common/command_line.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

/// A program with an option of each kind.
struct Program {
  Index epochs = 10;
  std::string order = "pooled";
  bool shared = true, json = false;
  std::vector<std::string> files;
  std::vector<Index> sizes;
  CLI::App app{"test"};
  TemporaryFolder folder;

  Program() {
    const AddOptions add{app, "Training"};
    add("--epochs", epochs, "Passes", whole_number(1, 100));
    add("--order", order, "Of batches", CLI::IsMember({"pooled", "shuffled"}));
    add("--shared,!--not-shared", shared, "One table");
    add("--json", json, "Or words");
    add("--file", files, "Any");
    add("--size", sizes, "Several")->delimiter(',');
    app.set_config("--config");
    prepare_command_line(app);
  }

  /// What is wrong with such a file, after its name; "" if nothing is.
  std::string read(const std::string& text, const std::string& words = "") {
    const std::string path = (folder / "options.ini").string();
    write_file(path, text);
    try {
      app.parse(words + " --config " + path, false);
    } catch (const CLI::ParseError& error) {
      CHECK(error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ConfigError));
      const std::string why = explain(app, error);
      REQUIRE(why.starts_with(path + ", "));
      return why.substr(path.size() + 2);
    }
    return "";
  }
};

std::string wrong(const std::string& text, const std::string& words = "") { return Program().read(text, words); }

}  // namespace

TEST_CASE("config file: values follow the equals sign") {
  Program program;
  CHECK(program.read("; ini\n# toml\n\n  epochs = 4 # four\r\nfile=a b, c#1.txt\n--shared=false\nfile = b\n"
                     "size=1,2\nsize=3") == "");
  CHECK((program.epochs == 4 && !program.shared));
  CHECK(program.files == std::vector<std::string>{"a b, c#1.txt", "b"});
  CHECK(program.sizes == std::vector<Index>{1, 2, 3});
  CHECK(program.read("not-shared # a flag\njson\norder='shuffled'\nfile=\" a #1=\"  # quoted\n") == "");
  CHECK((!program.shared && program.json && program.order == "shuffled"));
  CHECK(program.files == std::vector<std::string>{" a #1="});
  CHECK(program.read("\xEF\xBB\xBF"
                     "epochs=5\njson=false\n") == "");
  CHECK((program.epochs == 5 && !program.json));
}

TEST_CASE("config file: the command line overrides the file") {
  Program program;
  CHECK(program.read("epochs=3\nfile=a\nshared\norder=shuffled\n", "--epochs 5 --file b --not-shared") == "");
  CHECK((program.epochs == 5 && !program.shared && program.order == "shuffled"));
  CHECK(program.files == std::vector<std::string>{"b"});
}

TEST_CASE("config file: errors for invalid lines give file and line and remedy") {
  const std::string lines = ". Lines are name=value, where name is an option without its dashes.";
  CHECK(wrong("# passes\n\nepoch=3\n") == "line 3: unknown option --epoch; did you mean --epochs?");
  CHECK(wrong("\xEF\xBB\xBF"
              "epoch=3\n") == "line 1: unknown option --epoch; did you mean --epochs?");
  CHECK(wrong("epochs=3\nnothing-of-the-kind=3\n") == "line 2: unknown option --nothing-of-the-kind" + lines);
  CHECK(wrong("++\n") == "line 1: unknown option --++" + lines);
  CHECK(wrong("a.epochs=3\n") == "line 1: unknown option --a.epochs; did you mean --epochs?");
  CHECK(wrong("=3\n") == "line 1: '=3' names no option" + lines);
  CHECK(wrong("--\n") == "line 1: '--' names no option" + lines);
  CHECK(wrong("\n[training]\nepochs=3\n") == "line 2: [training] begins a section" + lines);
  CHECK(wrong("help\n") == "line 1: --help is allowed on the command line only");
  CHECK(wrong("config=other.ini\n") == "line 1: --config is allowed on the command line only");
  CHECK(wrong("epoch=3\n", "--nonsense") == "line 1: unknown option --epoch; did you mean --epochs?");
}

TEST_CASE("config file: errors for invalid values give file and line and remedy") {
  CHECK(wrong("epochs\n") ==
        "line 1: 'epochs' has no value. Lines are name=value, where name is an option without its dashes.");
  for (const char* none : {"epochs=\n", "epochs= # 3\n"})
    CHECK(wrong(none) == "line 1: 'epochs' has no value after its =. Give one, or remove the line.");
  for (const char* list : {"epochs=[]\n", "epochs=[1,2]", "epochs=[1 # a list that does not end\n"})
    CHECK(wrong(list) == "line 1: 'epochs' has a list. Write one line per value.");
  CHECK(wrong("order='pooled\n") == "line 1: 'order' has an unclosed quote. Close it on the same line.");
  CHECK(wrong("order='pooled' or\n") == "line 1: 'order' has text outside its quotes. Quote the whole value, or nothing.");
  const std::string range = "is not a whole number of at least 1 and at most 100";
  CHECK(wrong("json\nepochs=0\n") == "line 2: --epochs: '0' " + range);
  CHECK(wrong("epochs=3\n\nepochs=4\n") == "line 3: 'epochs' is given twice. Give it once.");
  CHECK(wrong("shared\nnot-shared\n") == "line 2: 'not-shared' is given twice. Give it once.");
  CHECK(wrong("order=any\n").starts_with("line 1: --order: any not in {"));
  CHECK(wrong("json=maybe\n") == "line 1: --json: 'maybe' is neither true nor false");
  CHECK(wrong("not-shared=maybe\n") == "line 1: --not-shared: 'maybe' is neither true nor false");
  CHECK(wrong("file=a\nsize=1\nsize=2x\n") == "line 3: --size: '2x' is not a valid value");
}
