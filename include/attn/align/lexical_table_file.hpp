#pragma once
#include "attn/align/lexical_table.hpp"
#include "attn/core/checksum.hpp"
#include "attn/core/file.hpp"

namespace attn {

/// The hashes of the tokenizers that a table's ids belong to; 0: not recorded.
struct TableTokenizers {
  std::uint64_t source = 0, target = 0;
  bool operator==(const TableTokenizers&) const = default;
};

namespace detail {

inline constexpr std::string_view lexical_table_title = "attn lexical table 2\n";
inline constexpr std::string_view older_table_title = "attn lexical table 1\n";  // without tokenizers

inline std::pair<LexicalTable, TableTokenizers> read_lexical_table(const std::filesystem::path& path) {
  const std::string contents = read_file(path);
  std::string_view rest = contents;
  const bool older = rest.starts_with(older_table_title);
  require(older || rest.starts_with(lexical_table_title), path.string(),
          " is not a lexical table of this version. Create one with save_lexical_table or `align --save`.");
  rest.remove_prefix(lexical_table_title.size());
  const auto damaged = [&] { fail(path.string(), " is damaged: its size does not match its header. Create it again."); };
  std::int64_t sizes[3] = {};
  if (rest.size() < sizeof sizes) damaged();
  std::memcpy(sizes, rest.data(), sizeof sizes);
  rest.remove_prefix(sizeof sizes);
  const auto [rows, entries, wanted] = sizes;
  const auto most = std::ssize(rest);
  std::array<TableTokenizers, 1> tokenizers;
  const Index before = older ? 0 : sizeof tokenizers;
  if (rows < 2 || rows > most || entries < 0 || entries > most || before + rows * 8 + entries * 8 != most) damaged();
  require(static_cast<std::int64_t>(Checksum(rest.data(), most).value()) == wanted, path.string(),
          " is damaged: its checksum does not match. Create it again.");
  std::vector<Index> offsets(static_cast<std::size_t>(rows));
  std::vector<Token> targets(static_cast<std::size_t>(entries));
  std::vector<float> probabilities(static_cast<std::size_t>(entries));
  const auto take = [&](auto& values) {
    const std::size_t size = values.size() * sizeof values[0];
    if (size > 0) std::memcpy(values.data(), rest.data(), size);
    rest.remove_prefix(size);
  };
  if (!older) take(tokenizers);
  take(offsets), take(targets), take(probabilities);
  return {{std::move(offsets), std::move(targets), std::move(probabilities)}, tokenizers[0]};
}

}  // namespace detail

/// Writes a table: title, number of rows and entries, checksum of the rest, tokenizers, offsets, targets and probabilities.
/// Numbers are in native byte order, little-endian on all supported platforms.
inline void save_lexical_table(const LexicalTable& table, const std::filesystem::path& path,
                               const TableTokenizers& tokenizers = {}) {
  const std::span<const Index> offsets(table.offsets());
  const auto bytes = [](const auto& values) { return std::as_bytes(std::span(values)); };
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(&tokenizers, 1)), bytes(offsets),
                                              bytes(table.targets()), bytes(table.probabilities())};
  Checksum sum;
  for (const auto& part : parts) sum.add(part.data(), std::ssize(part));
  const std::int64_t sizes[] = {std::ssize(offsets), table.entries(), static_cast<std::int64_t>(sum.value())};
  replace_file(path, [&](OpenFile& file) {
    file.write(detail::lexical_table_title.data(), std::ssize(detail::lexical_table_title));
    file.write(sizes, sizeof sizes);
    for (const auto& part : parts) file.write(part.data(), std::ssize(part));
  });
}

/// Reads a file of save_lexical_table. Throws if it is damaged.
inline LexicalTable load_lexical_table(const std::filesystem::path& path) { return detail::read_lexical_table(path).first; }

/// Same, but throws unless the table belongs to these tokenizers.
inline LexicalTable load_lexical_table(const std::filesystem::path& path, const TableTokenizers& tokenizers) {
  auto [table, theirs] = detail::read_lexical_table(path);
  const char* remedy = ". Create one with `align TEXT TRANSLATION --tokens MODEL_FOLDER --save FILE`.";
  require(theirs != TableTokenizers{}, path.string(),
          " does not name its tokenizers: it is a table of words, or an earlier attn wrote it", remedy);
  require(theirs == tokenizers, path.string(), " was made with other tokenizers than the model", remedy);
  return std::move(table);
}

}  // namespace attn
