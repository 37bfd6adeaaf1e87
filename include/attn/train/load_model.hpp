#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "attn/core/network.hpp"
#include "attn/core/parameters.hpp"
#include "attn/train/safetensors.hpp"
#include "attn/train/tensor_names.hpp"

namespace attn {

/// A tensor of a file, or some of its rows, as a parameter or the next rows of one.
struct StoredPart {
  std::string name;                // of the tensor
  bool transposed = false;         // its columns are the parameter's rows, as GPT-2 has its weights
  Index first_row = 0, rows = -1;  // of the tensor, once transposed; -1: all from there
  Index tensor_rows = -1;          // that the tensor has to have, once transposed; -1: any
};

struct LoadOptions {
  /// Where a file has a parameter of the model: under the same name unless told otherwise. Several parts follow one another
  /// (queries, keys and values that the model has in one matrix); without any the parameter keeps its numbers.
  std::function<std::vector<StoredPart>(const std::string& parameter)> parts_of = [](const std::string& parameter) {
    return std::vector<StoredPart>{{parameter}};
  };
  /// Whether a tensor that no parameter asks for is passed over; else it is an Error.
  std::function<bool(const std::string& tensor)> allow_left_over = [](const std::string&) { return false; };
  bool allow_not_finite = false;  // NaN and infinity
};

namespace checkpoint {

template <class Entry>
std::vector<Index> shape_of(const Entry& entry) {
  return entry.cols == 1 ? std::vector<Index>{entry.rows} : std::vector<Index>{entry.rows, entry.cols};
}

/// A parameter, and the parts of the file that are to fill it.
struct Wanted {
  std::string name;
  Index rows, cols;
  std::vector<StoredPart> parts;
};

/// A tensor as a matrix, one row after another; a vector is a column.
struct StoredMatrix {
  const TensorView* tensor;
  Index rows, cols;  // once transposed
};
inline StoredMatrix matrix_of(const TensorView& tensor, bool transposed) {
  const Index rows = tensor.shape.empty() ? 1 : tensor.shape[0], cols = tensor.shape.size() < 2 ? 1 : tensor.shape[1];
  return transposed ? StoredMatrix{&tensor, cols, rows} : StoredMatrix{&tensor, rows, cols};
}

/// An Error unless the parts' shapes make up the parameter's.
inline void check_shapes(const SafetensorsFile& file, Wanted& wanted) {
  Index rows = 0;
  const auto refuse = [&](const StoredPart& part, const auto&... reason) {
    const Wanted needed{"", part.tensor_rows < 0 ? wanted.rows : part.tensor_rows, wanted.cols, {}};
    fail(file.path().string(), ": tensor '", part.name, "' has the shape ", nlohmann::json(file[part.name].shape),
         part.transposed ? ", transposed" : "", ", but ", nlohmann::json(shape_of(needed)), " is needed for '", wanted.name,
         "'; ", reason...);
  };
  for (StoredPart& part : wanted.parts) {
    const TensorView& tensor = file[part.name];
    require(is_floating(tensor.dtype), file.path().string(), ": tensor '", part.name, "' holds ", name_of(tensor.dtype),
            ", but a parameter needs F64, F32, F16 or BF16");
    const StoredMatrix matrix = matrix_of(tensor, part.transposed);
    if (tensor.shape.empty() || tensor.shape.size() > 2 || matrix.cols != wanted.cols ||
        (part.tensor_rows >= 0 && matrix.rows != part.tensor_rows))
      refuse(part, "the file belongs to another model");
    if (part.rows < 0) part.rows = std::max<Index>(matrix.rows - part.first_row, 0);
    if (part.first_row < 0 || part.first_row + part.rows > matrix.rows)
      refuse(part, "rows ", part.first_row, " to ", part.first_row + part.rows, " are not in it");
    rows += part.rows;
  }
  if (wanted.parts.empty() || rows == wanted.rows) return;
  if (wanted.parts.size() == 1 && tensor_names::has_row_per_word(wanted.name))
    refuse(wanted.parts[0], "the file's model has a vocabulary of ", rows, ", this one of ", wanted.rows,
           ": make it with the tokenizer of the file's model");
  refuse(wanted.parts.back(), wanted.parts.size() == 1 ? "" : "its parts together have other rows; ",
         "the file belongs to another model");
}

/// An Error unless every part is there, of the right shape, and nothing is left over.
inline void check_tensors(const SafetensorsFile& file, std::span<Wanted> all, const LoadOptions& options) {
  std::vector<std::string> parameters, missing, used, left_over, tensors;
  for (const Wanted& wanted : all) {
    parameters.push_back(wanted.name);
    for (const StoredPart& part : wanted.parts) {
      if (file.find(part.name) == nullptr) missing.push_back(part.name);
      used.push_back(part.name);
    }
  }
  std::ranges::sort(used);
  const bool training = file.metadata().contains("training.step");
  for (const TensorView& tensor : file.tensors()) {
    tensors.push_back(tensor.name);
    if (std::ranges::binary_search(used, tensor.name) || options.allow_left_over(tensor.name)) continue;
    if (training && tensor_names::of_optimiser(tensor.name, parameters)) continue;
    left_over.push_back(tensor.name);
  }
  if (!missing.empty() || !left_over.empty()) {
    std::string sentence = file.path().string() + ": the file belongs to another model: ";
    if (!missing.empty()) sentence += "there is no tensor " + tensor_names::first_few(missing);
    if (!missing.empty() && !left_over.empty()) sentence += "; ";
    if (!left_over.empty()) sentence += "the model has no parameter " + tensor_names::first_few(left_over);
    require(used.empty() || missing.size() < used.size(), sentence,
            tensors.empty() ? "; it holds no tensors" : "; no name is in common");
    fail(sentence, tensor_names::explanation(missing, left_over, parameters, tensors));
  }
  for (Wanted& wanted : all) check_shapes(file, wanted);
}

/// The part's rows, to where the parameter has them.
template <class Real>
void read_part(const SafetensorsFile& file, const StoredPart& part, bool allow_not_finite, std::span<Real> into) {
  const TensorView& tensor = file[part.name];
  const auto [whole, rows, cols] = matrix_of(tensor, part.transposed);
  if (part.transposed) {
    std::vector<Real> numbers(static_cast<std::size_t>(tensor.elements()));
    convert_numbers<Real>(tensor.dtype, tensor.bytes, numbers);
    for (Index row = 0; row < part.rows; ++row)
      for (Index col = 0; col < cols; ++col)
        into[static_cast<std::size_t>(row * cols + col)] =
            numbers[static_cast<std::size_t>(col * rows + part.first_row + row)];
  } else {
    const auto* bytes = static_cast<const char*>(tensor.bytes);
    convert_numbers(tensor.dtype, bytes + part.first_row * cols * size_of(tensor.dtype), into);
  }
  if (allow_not_finite) return;
  const auto bad = std::ranges::find_if_not(into, [](Real number) { return std::isfinite(number); });
  require(bad == into.end(), file.path().string(), ": tensor '", part.name, "' holds ", bad == into.end() ? Real{} : *bad,
          ", which is no weight, or a number too large for the model's type; take an earlier checkpoint, or load with "
          "allow_not_finite");
}

/// All parts of what is wanted, one after another.
template <class Real>
void read_parts(const SafetensorsFile& file, const Wanted& wanted, bool allow_not_finite, std::span<Real> into) {
  for (const StoredPart& part : wanted.parts) {
    const auto count = static_cast<std::size_t>(part.rows * wanted.cols);
    read_part(file, part, allow_not_finite, into.first(count));
    into = into.subspan(count);
  }
}

}  // namespace checkpoint

/// Loads a model's parameters from a file, all of them or, when anything is wrong, none. A parameter that the file lacks, or
/// has in another shape, is an Error that says which, and what kind of model the file's may be; so is a tensor too many.
template <class Device>
void load_model(const SafetensorsFile& file, Parameters<Device>& parameters, const LoadOptions& options = {}) {
  using Real = typename Device::Real;
  std::vector<checkpoint::Wanted> wanted;
  for (const auto& entry : parameters.entries())
    wanted.push_back({entry.name, entry.rows, entry.cols, options.parts_of(entry.name)});
  checkpoint::check_tensors(file, wanted, options);

  std::vector<Real> all(static_cast<std::size_t>(parameters.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& entry = parameters.entries()[i];
    const std::span<Real> numbers = std::span(all).subspan(static_cast<std::size_t>(entry.offset));
    if (wanted[i].parts.empty()) std::ranges::copy(parameters.read(entry), numbers.begin());
    checkpoint::read_parts(file, wanted[i], options.allow_not_finite, numbers);
  }
  parameters.device().upload(parameters.values(), all.data(), parameters.size());
  parameters.refresh();
}

template <class Model>
void load_model(const std::filesystem::path& path, Network<Model>& network, const LoadOptions& options = {}) {
  load_model(SafetensorsFile(path), network.parameters, options);
}

}  // namespace attn
