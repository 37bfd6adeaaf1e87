#include "options.hpp"

#include <fstream>

#include "attn/core/checksum.hpp"
#include "attn/core/file.hpp"

using namespace attn;

namespace {

/// Adds the bytes of a file.
void add_file(Checksum& sum, const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  require(in.is_open(), "cannot read ", path.string(), ". Check the path and its permissions.");
  std::vector<char> space(1 << 20);
  while (in.read(space.data(), std::ssize(space)), in.gcount() > 0) sum.add(space.data(), in.gcount());
}

std::string checksum_of(const std::filesystem::path& path) {
  Checksum sum;
  add_file(sum, path);
  return sum.text();
}

}  // namespace

std::string made_of(const Options& o) {
  std::string words = "text";
  for (const PairFiles& files : o.text.files) {
    words += files.format == PairFormat::lines ? " lines" : files.format == PairFormat::tsv ? " tsv" : " csv";
    for (const auto& file : {files.source, files.target}) {
      if (file.empty()) continue;
      if (!is_file(file)) return "";
      words += " " + checksum_of(file);
    }
    if (files.format != PairFormat::lines) words += " " + files.source_column + "," + files.target_column;
  }
  words += o.vocab.empty() ? "; " + std::to_string(o.vocabulary) + (o.separate ? " tokens each" : " tokens") + " learnt"
                           : "; tokenizer " + checksum_of(o.vocab) + " " + checksum_of(o.merges);
  const auto add = [&](const char* name, auto value) {
    words += std::string("; ") + name + " " + std::to_string(static_cast<Index>(value));
  };
  add("longest", o.shards.longest);
  add("shard-pairs", o.shards.pairs);
  add("too-long", o.shards.too_long);
  add("invalid", o.text.rules.invalid);
  add("blank", o.text.rules.blank);
  add("duplicates", o.text.rules.duplicates);
  add("unequal", o.text.unequal);
  return words;
}
