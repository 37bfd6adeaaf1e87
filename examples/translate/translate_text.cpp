#include <unistd.h>

#include <iostream>
#include <optional>

#include "attn/data/parallel_text.hpp"
#include "counter.hpp"
#include "jobs.hpp"
#include "map_folder.hpp"

using namespace attn;

namespace {

/// Translates lines as they come and writes them in their order.
class Writer {
 public:
  Writer(const Options& options, const ModelFolder& folder, Engine& engine) : folder_(folder), engine_(engine) {
    if (!options.maps.empty()) maps_.emplace(options.maps, "--maps", folder.source, folder.target);
  }

  void write(const std::vector<std::string>& lines) {
    Sentences sentences;
    for (const std::string& line : lines) sentences.push_back(tokens(line, done_ + sentences.size() + 1));
    Sentences some;  // those that are not empty
    for (Index i = 0; i < sentences.size(); ++i)
      if (sentences.length(i) > 0) some.push_back(sentences[i]);
    const auto translations = engine_.translate(some);
    for (Index i = 0, next = 0; i < sentences.size(); ++i) {
      ++done_;
      if (sentences.length(i) > 0) {
        const auto& translation = translations[static_cast<std::size_t>(next++)];
        std::cout << folder_.target.decode(translation);
        if (maps_) maps_->add(done_, sentences[i], translation, engine_.look(sentences[i], translation));
      }
      std::cout << '\n';
    }
    std::cout << std::flush;
    require(std::cout.good(), "cannot write the translations to standard output; is the disk full?");
  }

  void finish() const {
    if (maps_) maps_->finish();
  }
  Index done() const { return done_; }

 private:
  std::vector<Token> tokens(const std::string& line, Index number) const {
    if (line.find_first_not_of(" \t") == line.npos) return {};  // to a byte-level tokenizer spaces are tokens too
    auto all = folder_.source.encode(line);
    if (static_cast<Index>(all.size()) <= folder_.truncate) return all;
    std::cerr << "translate: line " << number << " has " << all.size() << " tokens; the first " << folder_.truncate
              << " are translated, as many as the model was trained with\n";
    all.resize(static_cast<std::size_t>(folder_.truncate));
    return all;
  }

  const ModelFolder& folder_;
  Engine& engine_;
  std::optional<MapFolder> maps_;
  Index done_ = 0;
};

/// Lines of a pipe or a terminal are translated before all are there; a bad one is refused after those before it are written.
void translate_stream(LineReader reader, std::size_t together, Writer& writer) {
  std::vector<std::string> lines;
  try {
    for (std::string line; reader.next(line);) {
      lines.push_back(line);
      if (lines.size() < together) continue;
      writer.write(lines);
      lines.clear();
    }
  } catch (const Error&) {
    writer.write(lines);
    throw;
  }
  writer.write(lines);
}

}  // namespace

void translate_text(const Options& options, const ModelFolder& folder, Engine& engine) {
  const auto together = static_cast<std::size_t>(options.together > 0                       ? options.together
                                                 : options.text.empty() && ::isatty(0) != 0 ? 1
                                                                                            : 1024);
  Writer writer(options, folder, engine);
  if (options.text.empty()) {
    translate_stream(LineReader("/dev/stdin"), together, writer);
  } else {
    const auto lines = read_lines(options.text);
    Counter counter(static_cast<Index>(lines.size()));
    for (std::size_t first = 0; first < lines.size(); first += together) {
      const auto from = lines.begin() + static_cast<std::ptrdiff_t>(first);
      writer.write({from, from + static_cast<std::ptrdiff_t>(std::min(together, lines.size() - first))});
      counter.update(writer.done());
    }
  }
  writer.finish();
}
