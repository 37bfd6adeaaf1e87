#pragma once
#include <nlohmann/json.hpp>
#include <set>

#include "attn/checkpoint/tensor_view.hpp"
#include "attn/core/checksum.hpp"
#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"

// A safetensors file: 8 bytes of header length, a JSON header with the dtype, shape and offsets of each tensor, then the
// tensors. Compatible with Python's `safetensors` in both directions.

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
  return Checksum(text.data(), std::ssize(text)).text();
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
    const auto format = std::ranges::find(dtype_formats, entry["dtype"].get<std::string>(), &DTypeFormat::first);
    if (format == std::end(dtype_formats))
      check(false, "attn cannot read its dtype ", shown(entry["dtype"]), "; convert it to F64, F32, BF16, F16 or I64");

    const auto dtype = static_cast<DType>(format - dtype_formats);
    const std::vector<Index> shape = numbers("shape"), place = numbers("data_offsets");
    Index bytes = size_of(dtype);
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
      check(false, "its shape ", shown(entry["shape"]), " of ", name_of(dtype), " needs ", bytes,
            " bytes, but its data_offsets span ", place[1] - place[0]);
    return {name, dtype, shape, data.data() + place[0]};
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
    require(of_data.mapped() == Checksum(data.data(), std::ssize(data)).text(), path_,
            ": the tensors do not match their checksum", remedy);
  }

  std::string path_;
};

}  // namespace safetensors

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian; so must the machine be");

/// Writes tensors, metadata and checksums to a file. If saving fails or is interrupted, the old file stays intact (see
/// replace_file).
inline void save_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                             Metadata metadata = {}) {
  std::vector<const TensorView*> order;  // widest types first, which aligns every tensor
  for (const TensorView& tensor : tensors) order.push_back(&tensor);
  std::ranges::stable_sort(order, std::greater{}, [](const TensorView* tensor) { return size_of(tensor->dtype); });

  auto header = nlohmann::json::object();
  Index offset = 0;
  Checksum data;
  for (const TensorView* tensor : order) {
    require(tensor->name != "__metadata__", path.string(), ": '__metadata__' cannot be a tensor's name");
    require(!header.contains(tensor->name), path.string(), ": two tensors are named '", tensor->name, "'");
    require(std::ranges::all_of(tensor->shape, [](Index extent) { return extent >= 0; }), path.string(), ": tensor '",
            tensor->name, "' has a negative extent in its shape");
    const Index bytes = tensor->elements() * size_of(tensor->dtype);
    data.add(tensor->bytes, bytes);
    header[tensor->name] = {
        {"dtype", name_of(tensor->dtype)}, {"shape", tensor->shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  metadata[std::string(safetensors::kDataChecksum)] = data.text();
  metadata[std::string(safetensors::kHeaderChecksum)] = safetensors::kNoChecksum;
  header["__metadata__"] = metadata;
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    fail(path.string(), ": a tensor's name or an entry of the metadata is not UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::size_t place = safetensors::place_of_checksum(text);
  text.replace(place, safetensors::kNoChecksum.size(), safetensors::checksum_of_header(text, place));

  replace_file(path, [&](OpenFile& file) {
    const std::uint64_t length = text.size();
    file.write(&length, sizeof length);
    file.write(text.data(), static_cast<Index>(length));
    for (const TensorView* tensor : order) file.write(tensor->bytes, tensor->elements() * size_of(tensor->dtype));
  });
}

/// A memory-mapped safetensors file. Opening checks the header, and the checksums if attn wrote the file. Views are valid
/// as long as this object lives.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(std::filesystem::path path) : path_(std::move(path)) {
    std::size_t size = 0;
    mapping_ = map_file(path_, size);
    require(size >= 8, path_.string(), ": ", size,
            " bytes are too few for a safetensors file; it is cut off or has another format");
    std::uint64_t length = 0;
    std::memcpy(&length, mapping_.get(), sizeof length);
    require(length <= size - 8, path_.string(), ": the header should take ", length, " bytes, but only ", size - 8,
            " follow; the file is cut off or not a safetensors file");
    const std::string_view header(mapping_.get() + 8, length);
    const std::string_view data(header.data() + length, size - 8 - length);

    safetensors::Header read(path_, header, data);
    tensors_ = std::move(read.tensors);
    metadata_ = std::move(read.metadata);
  }

  const std::filesystem::path& path() const { return path_; }
  const Metadata& metadata() const { return metadata_; }

  /// All tensors, in the order of their data.
  std::span<const TensorView> tensors() const { return tensors_; }

  /// The tensor of that name, or nullptr.
  const TensorView* find(std::string_view name) const {
    const auto found = std::ranges::find(tensors_, name, &TensorView::name);
    return found == tensors_.end() ? nullptr : &*found;
  }

  /// The tensor of that name; throws Error if there is none.
  const TensorView& operator[](std::string_view name) const {
    const TensorView* tensor = find(name);
    require(tensor, path_.string(), ": no tensor '", name, "' among its ", counted(tensors_.size(), "tensor"));
    return *tensor;
  }

  /// A copy of a tensor's numbers; throws Error if its type is not T.
  template <class T>
  std::vector<T> values(std::string_view name) const {
    const TensorView& tensor = (*this)[name];
    require(tensor.dtype == dtype_of<T>, path_.string(), ": tensor '", name, "' holds ", name_of(tensor.dtype), ", but ",
            name_of(dtype_of<T>), " is needed");
    std::vector<T> copy(static_cast<std::size_t>(tensor.elements()));
    if (!copy.empty()) std::memcpy(copy.data(), tensor.bytes, copy.size() * sizeof(T));
    return copy;
  }

 private:
  std::filesystem::path path_;
  std::shared_ptr<const char> mapping_;
  std::vector<TensorView> tensors_;
  Metadata metadata_;
};

}  // namespace attn
