#pragma once
#include <nlohmann/json.hpp>

#include "attn/core/file.hpp"
#include "attn/text/byte_bpe.hpp"

namespace attn {

namespace detail {

/// The tokens of vocab.json, a JSON object token: id, in id order.
inline std::vector<std::string> read_vocabulary(const std::filesystem::path& path) {
  using nlohmann::json;
  std::unordered_map<std::string, Token> seen;
  const auto check = [&](int depth, json::parse_event_t event, json& key) {
    require(depth <= 8, path.string(), ": nests lists too deeply; it must be a JSON object of token: id");
    if (event == json::parse_event_t::key && depth == 1)
      require(seen.emplace(key.get<std::string>(), 0).second, path.string(), ": duplicate token ", key.dump());
    return true;
  };
  const std::string text = read_file(path);
  const std::size_t nul = text.find('\0');  // the parser would stop there
  require(nul == text.npos, path.string(), ": not valid JSON from byte ", nul + 1, " on: the file may be damaged");
  json vocabulary;
  try {
    vocabulary = json::parse(text, check);
  } catch (const json::parse_error& error) {
    fail(path.string(), ": not valid JSON from byte ", error.byte, " on: the file may be damaged or cut short");
  } catch (const json::exception& error) {
    fail(path.string(), ": ", error.what());
  }
  require(vocabulary.is_object(), path.string(), ": must be a JSON object of token: id");

  std::vector<std::string> tokens(vocabulary.size());
  std::vector<bool> taken(tokens.size());
  for (const auto& [token, id] : vocabulary.items()) {
    require(id.is_number_unsigned() && id.get<std::uint64_t>() < tokens.size(), path.string(), ": the token '", token,
            "' has the id ", id.dump(), ": ids must be the whole numbers from 0 to ", tokens.size() - 1, ", each once");
    const auto place = id.get<std::size_t>();
    require(!taken[place], path.string(), ": the tokens '", tokens[place], "' and '", token, "' have the same id ", place);
    taken[place] = true;
    tokens[place] = token;
  }
  return tokens;
}

/// The merges of merges.txt: one `left right` per line in rank order. Lines that start with #version are comments.
inline std::vector<Merge> read_merges(const std::filesystem::path& path, const std::vector<std::string>& tokens) {
  std::unordered_map<std::string_view, Token> ids;
  for (const std::string& token : tokens) ids.emplace(token, static_cast<Token>(ids.size()));

  const std::string contents = read_text_file(path);
  std::string_view rest = contents;
  std::vector<Merge> merges;
  std::unordered_map<std::string_view, Index> first_seen;
  for (Index number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("#version")) continue;

    const std::size_t space = line.find(' ');
    const bool two = space != line.npos && space > 0 && space + 1 < line.size() && line.find(' ', space + 1) == line.npos;
    require(two, path.string(), ", line ", number, ": '", line, "' is not two tokens with one space between them");
    const auto [repeated, is_new] = first_seen.emplace(line, number);
    require(is_new, path.string(), ", line ", number, ": repeats the merge of line ", repeated->second);

    const auto id_of = [&](std::string_view token) {
      const auto found = ids.find(token);
      require(found != ids.end(), path.string(), ", line ", number, ": '", token,
              "' is not in the vocabulary. Check that the two files belong together.");
      return found->second;
    };
    const std::string_view left = line.substr(0, space), right = line.substr(space + 1);
    const std::string result = std::string(left) + std::string(right);
    merges.push_back({id_of(left), id_of(right), id_of(result)});
  }
  return merges;
}

}  // namespace detail

/// Reads vocab.json and merges.txt of GPT-2, BART or save_byte_bpe.
inline ByteBpe load_byte_bpe(const std::filesystem::path& vocab_json, const std::filesystem::path& merges_txt) {
  std::vector<std::string> tokens = detail::read_vocabulary(vocab_json);
  std::vector<Merge> merges = detail::read_merges(merges_txt, tokens);
  try {
    return ByteBpe(std::move(tokens), std::move(merges));
  } catch (const Error& error) {
    fail(vocab_json.string(), ": ", error.what());
  }
}

/// Writes the two files in the format of load_byte_bpe and Hugging Face.
inline void save_byte_bpe(const ByteBpe& bpe, const std::filesystem::path& vocab_json,
                          const std::filesystem::path& merges_txt) {
  const auto& tokens = bpe.tokens();
  std::string vocabulary = "{";
  for (std::size_t id = 0; id < tokens.size(); ++id)
    vocabulary += (id == 0 ? "" : ", ") + nlohmann::json(tokens[id]).dump() + ": " + std::to_string(id);
  std::string merges = "#version: 0.2\n";
  for (const auto& [left, right, result] : bpe.merges())
    merges += tokens[static_cast<std::size_t>(left)] + ' ' + tokens[static_cast<std::size_t>(right)] + '\n';
  write_file(vocab_json, vocabulary + "}");
  write_file(merges_txt, merges);
}

}  // namespace attn
