#pragma once
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/checkpoint/safetensors_header.hpp"
#include "attn/core/checksum.hpp"
#include "attn/core/error.hpp"
#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"

// A safetensors file: 8 bytes of header length, a JSON header with the dtype, shape and offsets of each tensor, then the
// tensors. Compatible with Python's `safetensors` in both directions.

namespace attn {

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
    const OpenFile file(path_, O_RDONLY);
    struct stat status {};
    file.check(::fstat(file.handle(), &status) == 0, "cannot read ");
    require(S_ISREG(status.st_mode), "cannot read ", path_.string(), ": it is not a file");
    const auto size = static_cast<std::size_t>(status.st_size);
    require(size >= 8, path_.string(), ": ", size,
            " bytes are too few for a safetensors file; it is cut off or has another format");
    void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.handle(), 0);
    file.check(bytes != MAP_FAILED, "cannot map ");
    mapping_ = {static_cast<const char*>(bytes), [size](const char* start) { ::munmap(const_cast<char*>(start), size); }};

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
    std::vector<T> copy(static_cast<std::size_t>(tensor.elements()));
    read<T>(name, tensor.shape, copy);
    return copy;
  }

  /// Copies a tensor's numbers to `into`; throws Error unless its type is T and its shape `shape`.
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
  std::filesystem::path path_;
  std::shared_ptr<const char> mapping_;
  std::vector<TensorView> tensors_;
  Metadata metadata_;
};

}  // namespace attn
