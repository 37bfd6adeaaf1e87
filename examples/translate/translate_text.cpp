#include <unistd.h>

#include <fstream>
#include <iostream>
#include <optional>

#include "attn/data/parallel_text.hpp"
#include "attn/decode/attention_folder.hpp"
#include "attn/train/line_counter.hpp"
#include "jobs.hpp"

using namespace attn;

namespace {

/// Lines of a file or of standard input, whatever bytes they hold.
std::vector<std::string> some_lines(std::istream& in, std::size_t most) {
  std::vector<std::string> lines;
  for (std::string line; lines.size() < most && std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

void translate_text(const Options& options, FolderTranslator& translator) {
  std::ifstream file;
  if (!options.text.empty()) file.open(options.text, std::ios::binary);
  std::istream& in = options.text.empty() ? std::cin : file;
  require(in.good(), "cannot read ", options.text.string(), "; check the path and its permissions");
  const auto together = static_cast<std::size_t>(options.together > 0                       ? options.together
                                                 : options.text.empty() && ::isatty(0) != 0 ? 1
                                                                                            : 1024);
  std::optional<AttentionFolder> maps;
  if (!options.maps.empty()) maps.emplace(options.maps, translator.card().source, translator.card().target);
  Index done = 0;
  translator.options.warn = [&](Index line, const std::string& what) {
    std::cerr << "translate: line " << done + line << " " << what << "\n";
  };
  LineCounter counter(std::cerr, ::isatty(2) != 0);
  for (auto lines = some_lines(in, together); !lines.empty(); lines = some_lines(in, together)) {
    for (const Translation& translation : translator.translate(lines)) {
      std::cout << translation.text << '\n';
      ++done;
      if (maps && !translation.source.empty())
        maps->add(done, translation.source, translation.target,
                  translator.attention_maps(translation.source, translation.target));
    }
    std::cout << std::flush;
    require(std::cout.good(), "cannot write the translations to standard output; is the disk full?");
    if (!options.text.empty()) counter.update(done);
  }
  if (!options.text.empty()) counter.finish(done);
  if (maps) maps->finish();
}
