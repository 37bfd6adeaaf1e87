#pragma once
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/file.hpp"
#include "attn/core/types.hpp"

// A safetensors file: 8 bytes of header length, a JSON header that gives every tensor's dtype, shape and place, the
// tensors. Python's `safetensors` reads what is written here, and the other way round.

namespace attn {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian; so must the machine be");

/// The types of numbers that attn stores.
enum class DType { f64, i64, f32, bf16 };

inline std::string_view name_of(DType dtype) {
  constexpr std::string_view names[] = {"F64", "I64", "F32", "BF16"};
  return names[static_cast<int>(dtype)];
}

/// Bytes a number takes.
inline Index size_of(DType dtype) {
  constexpr Index sizes[] = {8, 8, 4, 2};
  return sizes[static_cast<int>(dtype)];
}

/// The DType of a C++ type; a type of one's own (a 16-bit float) joins by specialising it.
template <class T>
inline constexpr DType dtype_of =
    [] { static_assert(sizeof(T) == 0, "no DType for this type: specialise attn::dtype_of"); }();
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<float> = DType::f32;

/// A named tensor whose numbers, row by row, live elsewhere.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Index> shape;
  const void* bytes = nullptr;

  Index elements() const {
    Index count = 1;
    for (const Index extent : shape) count *= extent;
    return count;
  }
};

/// The view of numbers in memory under a name: tensor_view<float>("output.bias", bias, {8000}).
template <class T>
TensorView tensor_view(std::string name, std::span<const T> values, std::vector<Index> shape) {
  TensorView view{std::move(name), dtype_of<T>, std::move(shape), values.data()};
  require(view.elements() == std::ssize(values), "tensor '", view.name, "': its shape has ", view.elements(),
          " elements, but there are ", values.size(), " values");
  return view;
}

using Metadata = std::map<std::string, std::string>;

/// Writes tensors and metadata to a file; a failed or interrupted save leaves the old file as it was (see replace_file).
inline void save_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                             const Metadata& metadata = {}) {
  std::vector<const TensorView*> order;  // wide types first: then each tensor is aligned, as the header is
  for (const TensorView& tensor : tensors) order.push_back(&tensor);
  std::ranges::stable_sort(order, std::greater{}, [](const TensorView* tensor) { return size_of(tensor->dtype); });

  auto header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  Index offset = 0;
  for (const TensorView* tensor : order) {
    require(tensor->name != "__metadata__", path.string(), ": '__metadata__' cannot be a tensor's name");
    require(!header.contains(tensor->name), path.string(), ": two tensors are named '", tensor->name, "'");
    require(std::ranges::all_of(tensor->shape, [](Index extent) { return extent >= 0; }), path.string(), ": tensor '",
            tensor->name, "' has a negative extent in its shape");
    const Index end = offset + tensor->elements() * size_of(tensor->dtype);
    header[tensor->name] = {{"dtype", name_of(tensor->dtype)}, {"shape", tensor->shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    fail(path.string(), ": a tensor's name or an entry of the metadata is not UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');

  replace_file(path, [&](OpenFile& file) {
    const std::uint64_t length = text.size();
    file.write(&length, sizeof length);
    file.write(text.data(), static_cast<Index>(length));
    for (const TensorView* tensor : order) file.write(tensor->bytes, tensor->elements() * size_of(tensor->dtype));
  });
}

/// A safetensors file mapped into memory. Opening reads the header and checks all of it; views live as long as this does.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const Metadata& metadata() const { return metadata_; }

  /// All tensors, in the order of their data.
  std::span<const TensorView> tensors() const { return tensors_; }

  /// The tensor of that name, or nullptr.
  const TensorView* find(std::string_view name) const {
    const auto found = std::ranges::find(tensors_, name, &TensorView::name);
    return found == tensors_.end() ? nullptr : &*found;
  }

  /// The tensor of that name; an Error when there is none.
  const TensorView& operator[](std::string_view name) const {
    const TensorView* tensor = find(name);
    require(tensor, path_.string(), ": there is no tensor '", name, "' among its ", tensors_.size());
    return *tensor;
  }

  /// A copy of a tensor's numbers; an Error unless T is their type.
  template <class T>
  std::vector<T> values(std::string_view name) const {
    const TensorView& tensor = (*this)[name];
    std::vector<T> copy(static_cast<std::size_t>(tensor.elements()));
    read<T>(name, tensor.shape, copy);
    return copy;
  }

  /// Copies a tensor's numbers to where they are needed; an Error unless T is their type and `shape` their shape.
  template <class T>
  void read(std::string_view name, const std::vector<Index>& shape, std::span<T> into) const {
    const TensorView& tensor = (*this)[name];
    require(tensor.dtype == dtype_of<T>, path_.string(), ": tensor '", name, "' holds ", name_of(tensor.dtype), ", but ",
            name_of(dtype_of<T>), " is needed");
    require(tensor.shape == shape && tensor.elements() == std::ssize(into), path_.string(), ": tensor '", name,
            "' has the shape ", nlohmann::json(tensor.shape), ", but ", nlohmann::json(shape), " is needed (", into.size(),
            " numbers); the file belongs to another model");
    if (!into.empty()) std::memcpy(into.data(), tensor.bytes, into.size_bytes());
  }

 private:
  nlohmann::json parse(std::string_view header) const;
  TensorView read_tensor(const std::string& name, const nlohmann::json& entry, std::string_view data) const;
  void sort_and_check(std::string_view data);

  std::filesystem::path path_;
  std::shared_ptr<const char> mapping_;
  std::vector<TensorView> tensors_;
  Metadata metadata_;
};

inline SafetensorsFile::SafetensorsFile(std::filesystem::path path) : path_(std::move(path)) {
  const OpenFile file(path_, O_RDONLY);
  struct stat status {};
  file.check(::fstat(file.handle(), &status) == 0, "cannot read ");
  require(S_ISREG(status.st_mode), "cannot read ", path_.string(), ": it is not a file");
  const auto size = static_cast<std::size_t>(status.st_size);
  require(size >= 8, path_.string(), ": ", size,
          " bytes are too few for a safetensors file; it is cut off or something else");
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.handle(), 0);
  file.check(bytes != MAP_FAILED, "cannot map ");
  mapping_ = {static_cast<const char*>(bytes), [size](const char* start) { ::munmap(const_cast<char*>(start), size); }};

  std::uint64_t length = 0;
  std::memcpy(&length, mapping_.get(), sizeof length);
  require(length <= size - 8, path_.string(), ": the header should take ", length, " bytes, but only ", size - 8,
          " follow; the file is cut off or not a safetensors file");
  const std::string_view header(mapping_.get() + 8, length);
  const std::string_view data(header.data() + length, size - 8 - length);

  const nlohmann::json entries = parse(header);
  for (const auto& [name, entry] : entries.items()) {
    if (name != "__metadata__") {
      tensors_.push_back(read_tensor(name, entry, data));
      continue;
    }
    require(entry.is_object(), path_.string(), ": __metadata__ is not a JSON object");
    for (const auto& [key, value] : entry.items()) {
      require(value.is_string(), path_.string(), ": __metadata__: the value of '", key, "' is not a string");
      metadata_[key] = value.get<std::string>();
    }
  }
  sort_and_check(data);
}

inline nlohmann::json SafetensorsFile::parse(std::string_view header) const {
  using nlohmann::json;
  std::set<std::string> names;
  const auto unique = [&](int depth, json::parse_event_t event, json& key) {  // of two equal names json would keep the last
    if (depth == 1 && event == json::parse_event_t::key) {
      require(names.insert(key.get<std::string>()).second, path_.string(), ": two tensors are named ", key);
    }
    return true;
  };
  json entries;
  try {
    entries = json::parse(header, unique);
  } catch (const json::parse_error& error) {
    fail(path_.string(), ": the header is not JSON (see its byte ", error.byte,
         "); the file is damaged or not a safetensors file");
  }
  require(entries.is_object(), path_.string(), ": the header is not a JSON object; the file is not a safetensors file");
  return entries;
}

inline TensorView SafetensorsFile::read_tensor(const std::string& name, const nlohmann::json& entry,
                                               std::string_view data) const {
  const auto check = [&](bool ok, const auto&... parts) {
    require(ok, path_.string(), ": tensor '", name, "': ", parts...);
  };
  constexpr auto most = std::numeric_limits<Index>::max();
  const auto numbers = [&](const char* field) {
    check(entry.contains(field) && entry[field].is_array(), "its ", field, " is missing or not a list");
    std::vector<Index> list;
    for (const auto& number : entry[field]) {
      check(number.is_number_unsigned() && number.get<std::uint64_t>() <= std::uint64_t{most}, "its ", field,
            " has the entry ", number, ", which is not a count");
      list.push_back(number.get<Index>());
    }
    return list;
  };

  check(entry.is_object(), "its entry is not a JSON object");
  check(entry.contains("dtype") && entry["dtype"].is_string(), "its dtype is missing or not a string");
  constexpr DType known[] = {DType::f64, DType::i64, DType::f32, DType::bf16};
  const auto dtype = std::ranges::find(known, entry["dtype"].get<std::string>(), name_of);
  check(dtype != std::end(known), "attn cannot read its dtype ", entry["dtype"], "; convert it to F64, F32, BF16 or I64");

  const std::vector<Index> shape = numbers("shape");
  Index bytes = size_of(*dtype);
  for (const Index extent : shape) {
    check(extent == 0 || bytes <= most / extent, "its shape ", entry["shape"], " is larger than any file");
    bytes *= extent;
  }
  const std::vector<Index> place = numbers("data_offsets");
  check(place.size() == 2 && place[0] <= place[1], "its data_offsets ", entry["data_offsets"],
        " are not a begin and an end");
  check(place[1] <= std::ssize(data), "its data ends at byte ", place[1], ", but the file has only ", data.size(),
        " bytes of data; it is cut off");
  check(place[1] - place[0] == bytes, "its shape ", entry["shape"], " of ", name_of(*dtype), " needs ", bytes,
        " bytes, but its data_offsets span ", place[1] - place[0]);
  return {name, *dtype, shape, data.data() + place[0]};
}

/// The format demands that the tensors cover the data without gaps and overlaps: nothing hides in a file.
inline void SafetensorsFile::sort_and_check(std::string_view data) {
  // Of tensors that begin at one byte, all but the last must be empty.
  std::ranges::sort(tensors_, {}, [](const TensorView& tensor) { return std::pair(tensor.bytes, tensor.elements()); });
  const char* end = data.data();
  for (const TensorView& tensor : tensors_) {
    const auto* begin = static_cast<const char*>(tensor.bytes);
    require(begin >= end, path_.string(), ": tensor '", tensor.name, "' overlaps the one before it; the file is damaged");
    require(begin == end, path_.string(), ": ", begin - end, " bytes before tensor '", tensor.name,
            "' belong to no tensor");
    end = begin + tensor.elements() * size_of(tensor.dtype);
  }
  const auto rest = data.data() + data.size() - end;
  require(rest == 0, path_.string(), ": ", rest, " bytes at the end belong to no tensor; the file is damaged");
}

}  // namespace attn
