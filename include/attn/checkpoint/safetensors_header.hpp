#pragma once
#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/checkpoint/tensor_view.hpp"
#include "attn/core/checksum.hpp"
#include "attn/core/error.hpp"

namespace attn {

// Files written by attn have two checksums in their metadata: one of the tensor data; one of the header, with its own
// digits set to zero. If damage hits the name of one, the other still detects it.
namespace safetensors {

inline constexpr std::string_view kDataChecksum = "attn.checksum.data", kHeaderChecksum = "attn.checksum.header";
inline constexpr std::string_view kNoChecksum = "0000000000000000";

/// The position of the header checksum's digits; npos if there is none. Inside another string, the quotation marks would be
/// escaped.
inline std::size_t place_of_checksum(std::string_view header) {
  const std::string before = "\"" + std::string(kHeaderChecksum) + "\":\"";
  const std::size_t found = header.find(before);
  const bool fits = found != header.npos && header.size() - found - before.size() >= kNoChecksum.size();
  return fits ? found + before.size() : header.npos;
}

inline std::string checksum_of_header(std::string_view header, std::size_t place) {
  std::string text(header);
  text.replace(place, kNoChecksum.size(), kNoChecksum);
  Checksum sum;
  sum.add(text.data(), std::ssize(text));
  return sum.text();
}

/// Formats a value for an error message.
inline std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', true);  // ASCII can be cut anywhere
  if (text.size() > 80) text.replace(77, std::string::npos, "...");
  return text;
}

/// Parses and checks the header of a file; `data` is the rest of the file.
class Header {
 public:
  Header(const std::filesystem::path& path, std::string_view header, std::string_view data) : path_(path.string()) {
    const nlohmann::json entries = parse(header);
    for (const auto& [name, entry] : entries.items()) {
      if (name == "__metadata__")
        read_metadata(entry);
      else
        tensors.push_back(read_tensor(name, entry, data));
    }
    sort_and_check(data);
    verify(header, data);
  }

  std::vector<TensorView> tensors;  // in the order of their data
  Metadata metadata;                // without the checksums

 private:
  nlohmann::json parse(std::string_view header) const {
    using nlohmann::json;
    std::set<std::string> names[2];  // tensor names; keys of one entry
    const auto check = [&](int depth, json::parse_event_t event, json& key) {
      require(depth <= 4, path_, ": the header nests its lists too deeply; the file is damaged or not a safetensors file");
      if (event != json::parse_event_t::key || depth > 2) return true;
      if (depth == 1) names[1].clear();
      require(names[depth - 1].insert(key.get<std::string>()).second, path_,  // json would silently keep the last
              depth == 1 ? ": two tensors are named " : ": an entry of the header repeats the key ", shown(key));
      return true;
    };
    json entries;
    try {
      entries = json::parse(header, check);
    } catch (const json::parse_error& error) {
      fail(path_, ": the header is not JSON (see its byte ", error.byte,
           "); the file is damaged or not a safetensors file");
    } catch (const json::exception&) {
      fail(path_, ": the header has a number that is too large; the file is damaged or not a safetensors file");
    }
    require(entries.is_object(), path_, ": the header is not a JSON object; the file is not a safetensors file");
    return entries;
  }
  void read_metadata(const nlohmann::json& entry) {
    require(entry.is_object(), path_, ": __metadata__ is not a JSON object");
    for (const auto& [key, value] : entry.items()) {
      require(value.is_string(), path_, ": __metadata__: the value of '", key, "' is not a string");
      metadata[key] = value.get<std::string>();
    }
  }
  TensorView read_tensor(const std::string& name, const nlohmann::json& entry, std::string_view data) const {
    const auto check = [&](bool ok, const auto&... parts) { require(ok, path_, ": tensor '", name, "': ", parts...); };
    constexpr auto most = std::numeric_limits<Index>::max();
    const auto numbers = [&](const char* field) {
      check(entry.contains(field) && entry[field].is_array(), "its ", field, " is missing or not a list");
      std::vector<Index> list;
      for (const auto& number : entry[field]) {
        if (!number.is_number_unsigned() || number.get<std::uint64_t>() > std::uint64_t{most})
          check(false, "its ", field, " has the entry ", shown(number), ", which is not a whole number of at least 0");
        list.push_back(number.get<Index>());
      }
      return list;
    };

    check(entry.is_object(), "its entry is not a JSON object");
    check(entry.contains("dtype") && entry["dtype"].is_string(), "its dtype is missing or not a string");
    const auto dtype = std::ranges::find(every_dtype, entry["dtype"].get<std::string>(), name_of);
    if (dtype == std::end(every_dtype))
      check(false, "attn cannot read its dtype ", shown(entry["dtype"]), "; convert it to F64, F32, BF16, F16 or I64");

    const std::vector<Index> shape = numbers("shape"), place = numbers("data_offsets");
    Index bytes = size_of(*dtype);
    for (const Index extent : shape) {
      if (extent != 0 && bytes > most / extent)
        check(false, "its shape ", shown(entry["shape"]), " is larger than any file");
      bytes *= extent;
    }
    if (place.size() != 2 || place[0] > place[1])
      check(false, "its data_offsets ", shown(entry["data_offsets"]), " are not a begin and an end");
    check(place[1] <= std::ssize(data), "its data ends at byte ", place[1], ", but the file has only ", data.size(),
          " bytes of data; it is cut off");
    if (place[1] - place[0] != bytes)
      check(false, "its shape ", shown(entry["shape"]), " of ", name_of(*dtype), " needs ", bytes,
            " bytes, but its data_offsets span ", place[1] - place[0]);
    return {name, *dtype, shape, data.data() + place[0]};
  }
  /// The format requires tensors to cover the data without gaps or overlaps.
  void sort_and_check(std::string_view data) {
    // Of tensors with the same start, all but the last must be empty.
    std::ranges::sort(tensors, {}, [](const TensorView& tensor) { return std::pair(tensor.bytes, tensor.elements()); });
    const char* end = data.data();
    for (const TensorView& tensor : tensors) {
      const auto* begin = static_cast<const char*>(tensor.bytes);
      require(begin >= end, path_, ": tensor '", tensor.name, "' overlaps the one before it; the file is damaged");
      require(begin == end, path_, ": ", begin - end, " bytes before tensor '", tensor.name, "' belong to no tensor");
      end = begin + tensor.elements() * size_of(tensor.dtype);
    }
    const auto rest = data.data() + data.size() - end;
    require(rest == 0, path_, ": ", rest, " bytes at the end belong to no tensor; the file is damaged");
  }
  /// Verifies the checksums, if any: only attn writes them.
  void verify(std::string_view header, std::string_view data) {
    const auto of_data = metadata.extract(std::string(kDataChecksum));
    const auto of_header = metadata.extract(std::string(kHeaderChecksum));
    if (!of_data && !of_header) return;
    constexpr const char* remedy =
        "; the file is damaged. Use another copy. (A program that changes the file must remove the entries "
        "'attn.checksum...' from its metadata.)";
    require(of_data && of_header, path_, ": one of its two checksums is missing", remedy);
    const std::size_t place = place_of_checksum(header);
    require(place != header.npos && of_header.mapped() == checksum_of_header(header, place), path_,
            ": the header does not match its checksum", remedy);
    Checksum sum;
    sum.add(data.data(), std::ssize(data));
    require(of_data.mapped() == sum.text(), path_, ": the tensors do not match their checksum", remedy);
  }

  std::string path_;
};

}  // namespace safetensors
}  // namespace attn
