// Opens a folder of Hugging Face's MarianMTModel for tests/python/marian.py:
//     marian_translations ids FOLDER       source ids of each line of standard input, without the end
//     marian_translations text FOLDER      the text of each line of target ids
//     marian_translations logits FOLDER    of lines `source ids | target ids`: log-probabilities of all tokens after each target token
//     marian_translations translate FOLDER [BEAM]   translations of lines: their score (nan of greedy ones), a bar, ids, a bar, the
//                                                   text; BEAM 0: as the folder says
#include <iostream>
#include <iterator>
#include <sstream>

#include "attn/run/open_translator.hpp"
#include "common/search_changes.hpp"

using namespace attn;

namespace {

std::vector<Token> numbers(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<Token>(in), {}};
}

std::ostream& operator<<(std::ostream& out, const std::vector<Token>& ids) {
  for (const Token id : ids) out << id << ' ';
  return out;
}

void print_log_probabilities(const FolderTranslator& translator, const std::string& line) {
  const auto& [source, target] = std::pair(translator.config().source, translator.config().target);
  const auto bar = line.find('|');
  Sentences sentences;
  special_tokens_of(source, target).add_source(sentences, numbers(line.substr(0, bar)));
  const auto words = numbers(line.substr(bar + 1));
  const auto steps =
      translator.model().engine().start(sentences, {.limit = static_cast<Index>(words.size()) + 1, .beam = 1}, -1);
  std::vector<double> row;
  for (std::size_t i = 0; i <= words.size(); ++i) {
    steps->log_probabilities({i == 0 ? target.begin() : words[i - 1]}, row);
    for (const double number : row) std::cout << number << ' ';
    std::cout << '\n';
  }
}

}  // namespace

int main(int count, char** arguments) try {
  std::ios::sync_with_stdio(false);
  std::cout.precision(9);
  require(count >= 3, "marian_translations: needs what to do and a folder");
  const std::string what = arguments[1];
  FolderTranslator translator = open_translator(arguments[2], {.device = "cpu", .threads = 1});
  if (count > 3 && std::stoi(arguments[3]) > 0)
    translator.options.search =
        SearchChanges{.beam = std::stoi(arguments[3]), .score = ScoreKind::length}.of(translator.options.search);
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  if (what == "translate") {
    for (const Translation& translation : translator.translate(lines))
      std::cout << translation.n_best.at(0).score << " | " << translation.target << "| " << translation.text << '\n';
    return 0;
  }
  for (const std::string& line : lines) {
    if (what == "ids") std::cout << translator.config().source.encode(line) << '\n';
    if (what == "text") std::cout << translator.config().target.decode(numbers(line)) << '\n';
    if (what == "logits") print_log_probabilities(translator, line);
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
