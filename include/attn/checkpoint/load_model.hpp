#pragma once
#include "attn/checkpoint/safetensors.hpp"
#include "attn/checkpoint/tensor_names.hpp"
#include "attn/core/network.hpp"
#include "attn/core/thread_pool.hpp"

namespace attn {

/// A tensor of a file, or a range of its rows, that fills a parameter or the next rows of one.
struct StoredPart {
  std::string name;                // of the tensor
  bool transposed = false;         // stored as columns x rows, like GPT-2's weights
  Index first_row = 0, rows = -1;  // of the tensor after transposition; -1: all remaining rows
  Index tensor_rows = -1;          // required rows of the tensor after transposition; -1: any
};

struct LoadOptions {
  /// Maps a parameter to its tensors in the file; by default, one of the same name. Several parts are concatenated by rows
  /// (separate queries, keys and values); without parts, the parameter keeps its values.
  std::function<std::vector<StoredPart>(const std::string& parameter)> parts_of = [](const std::string& parameter) {
    return std::vector<StoredPart>{{parameter}};
  };
  /// Whether a tensor without a parameter may be ignored; otherwise it is an Error.
  std::function<bool(const std::string& tensor)> allow_left_over = [](const std::string&) { return false; };
  bool allow_not_finite = false;  // NaN and infinity
  /// false: loads the parameters whose name and shape match; the others keep their values.
  bool strict = true;
};

/// The differences between a file and a model.
struct LoadReport {
  std::vector<std::string> missing;     // parameters that kept their values
  std::vector<std::string> unexpected;  // tensors that no parameter uses
};

namespace checkpoint {

std::vector<Index> shape_of(const auto& entry) {
  return entry.cols == 1 ? std::vector<Index>{entry.rows} : std::vector<Index>{entry.rows, entry.cols};
}

/// A parameter and the parts of the file that fill it.
struct Wanted {
  std::string name;
  Index rows, cols;
  std::vector<StoredPart> parts;
};

/// The rows and columns of a tensor; a vector is a single column.
inline std::pair<Index, Index> extents_of(const TensorView& tensor, bool transposed) {
  const Index rows = tensor.shape.empty() ? 1 : tensor.shape[0], cols = tensor.shape.size() < 2 ? 1 : tensor.shape[1];
  return transposed ? std::pair(cols, rows) : std::pair(rows, cols);
}

/// Throws Error unless the file has all parts, in the parameter's shape.
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
    const auto [tensor_rows, tensor_cols] = extents_of(tensor, part.transposed);
    if (tensor.shape.empty() || tensor.shape.size() > 2 || tensor_cols != wanted.cols ||
        (part.tensor_rows >= 0 && tensor_rows != part.tensor_rows))
      refuse(part, "the file belongs to another model");
    if (part.rows < 0) part.rows = std::max<Index>(tensor_rows - part.first_row, 0);
    if (part.first_row < 0 || part.first_row + part.rows > tensor_rows)
      refuse(part, "rows ", part.first_row, " to ", part.first_row + part.rows, " are not in it");
    rows += part.rows;
  }
  if (wanted.parts.empty() || rows == wanted.rows) return;
  if (wanted.parts.size() == 1 && tensor_names::has_row_per_word(wanted.name))
    refuse(wanted.parts[0], "the file's model has a vocabulary of ", rows, ", this one of ", wanted.rows,
           ". Use the tokenizer of the file's model.");
  refuse(wanted.parts.back(), wanted.parts.size() == 1 ? "" : "its parts do not add up to its rows; ",
         "the file belongs to another model");
}

/// Throws Error unless every part exists in the right shape and no tensor is left over. If loading is not strict, reports
/// mismatches instead.
inline LoadReport check_tensors(const SafetensorsFile& file, std::span<Wanted> all, const LoadOptions& options) {
  std::vector<std::string> parameters, missing, used, left_over, tensors;
  LoadReport report;
  for (Wanted& wanted : all) {
    parameters.push_back(wanted.name);
    try {
      if (!options.strict) check_shapes(file, wanted);
    } catch (const Error&) {
      wanted.parts.clear();  // the parameter keeps its values
    }
    if (wanted.parts.empty()) report.missing.push_back(wanted.name);
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
  if (!options.strict) {
    require(report.missing.size() < all.size() || all.empty(), file.path().string(),
            ": no tensor has the name and shape of a parameter; the file holds ", tensor_names::first_few(tensors),
            ", the model has ", tensor_names::first_few(parameters));
    report.unexpected = left_over;
  } else if (!missing.empty() || !left_over.empty()) {
    std::string sentence = file.path().string() + ": the file belongs to another model: ";
    if (!missing.empty()) sentence += "there is no tensor " + tensor_names::first_few(missing);
    if (!missing.empty() && !left_over.empty()) sentence += "; ";
    if (!left_over.empty()) sentence += "the model has no parameter " + tensor_names::first_few(left_over);
    require(used.empty() || missing.size() < used.size(), sentence,
            tensors.empty() ? "; it holds no tensors" : "; no names match");
    fail(sentence, tensor_names::explanation(missing, left_over, parameters, tensors));
  }
  for (Wanted& wanted : all) check_shapes(file, wanted);
  return report;
}

template <class Real>
bool all_finite(std::span<const Real> numbers) {
  bool finite = true;
  for (const Real number : numbers) finite &= std::isfinite(number);  // no early exit, so that the loop vectorizes
  return finite;
}

/// Whether read_parts looks for numbers that are not finite: never, while it reads, or before it changes a parameter.
enum class CheckFinite { no, reading, first };

/// Fills parameter i, into[i], with its parts. Threads share the work in cache-sized pieces.
template <class Real>
void read_parts(const SafetensorsFile& file, std::span<const Wanted> all, CheckFinite finite,
                std::span<const std::span<Real>> into) {
  struct Piece {
    const StoredPart* part;
    const TensorView* tensor;
    Index cols, first;  // of the part's numbers
    std::span<Real> numbers;
  };
  constexpr Index kPiece = Index{1} << 16;
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::span<Real> rest = into[i];
    for (const StoredPart& part : all[i].parts) {
      const Index count = part.rows * all[i].cols, most = part.transposed ? count : kPiece;
      const TensorView& tensor = file[part.name];
      for (Index first = 0; first < count; first += most)
        pieces.push_back(
            {&part, &tensor, all[i].cols, first,
             rest.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(most, count - first)))});
      rest = rest.subspan(static_cast<std::size_t>(count));
    }
  }
  const auto read = [&](const Piece& piece, std::span<Real> numbers, bool check) {
    const auto& [part, stored_tensor, cols, first, to] = piece;
    const TensorView& tensor = *stored_tensor;
    if (part->transposed) {
      const Index stored_cols = extents_of(tensor, true).first;
      std::vector<Real> stored(static_cast<std::size_t>(tensor.elements()));
      convert_numbers<Real>(tensor.dtype, tensor.bytes, stored);
      for (Index row = 0; row < part->rows; ++row)
        for (Index col = 0; col < cols; ++col)
          numbers[static_cast<std::size_t>(row * cols + col)] =
              stored[static_cast<std::size_t>(col * stored_cols + part->first_row + row)];
    } else {
      const auto* bytes = static_cast<const char*>(tensor.bytes);
      convert_numbers(tensor.dtype, bytes + (part->first_row * cols + first) * size_of(tensor.dtype), numbers);
    }
    if (!check || all_finite<Real>(numbers)) return;
    const auto bad = std::ranges::find_if_not(numbers, [](Real number) { return std::isfinite(number); });
    fail(
        file.path().string(), ": tensor '", part->name, "' contains ", *bad,
        ": it is not finite, or too large for the model's type. Use an earlier checkpoint, or load with allow_not_finite.");
  };
  ThreadPool pool(static_cast<int>(std::min(all_threads(), std::ssize(pieces))));
  if (finite == CheckFinite::first) {
    std::vector<std::vector<Real>> scratch(static_cast<std::size_t>(pool.threads()));
    pool.run(std::ssize(pieces), [&](Index i, int thread) {
      const Piece& piece = pieces[static_cast<std::size_t>(i)];
      auto& numbers = scratch[static_cast<std::size_t>(thread)];
      numbers.resize(piece.numbers.size());
      read(piece, numbers, true);
    });
  }
  pool.run(std::ssize(pieces), [&](Index i, int) {
    const Piece& piece = pieces[static_cast<std::size_t>(i)];
    read(piece, piece.numbers, finite == CheckFinite::reading);
  });
}

}  // namespace checkpoint

/// Loads all parameters of a network from a file, or none on error. Missing parameters, other shapes and unexpected tensors
/// are Errors that name them and suggest the file's kind of model. LoadOptions::strict = false reports them instead.
LoadReport load_model(const SafetensorsFile& file, auto& network, const LoadOptions& options = {}) {
  auto& parameters = parameters_of(network);
  using Device = std::remove_reference_t<decltype(parameters.device())>;
  using Real = typename Device::Real;
  std::vector<checkpoint::Wanted> wanted;
  for (const auto& entry : parameters.entries())
    wanted.push_back({entry.name, entry.rows, entry.cols, options.parts_of(entry.name)});
  const LoadReport report = checkpoint::check_tensors(file, wanted, options);

  constexpr bool on_host = std::is_same_v<typename Device::Memory, HostMemory>;  // then without a copy
  const Buffer<Real, HostMemory> copy(on_host ? 0 : parameters.size(), "the weights of a file");
  Real* const all = on_host ? parameters.values() : copy.data();
  std::vector<std::span<Real>> into;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& entry = parameters.entries()[i];
    const std::span<Real> numbers(all + entry.offset, static_cast<std::size_t>(padded_size(entry.size())));
    std::ranges::fill(numbers.subspan(static_cast<std::size_t>(entry.size())), Real(0));
    into.push_back(numbers.first(static_cast<std::size_t>(entry.size())));
    if (!on_host && wanted[i].parts.empty()) std::ranges::copy(parameters.read(entry), into.back().begin());
  }
  using checkpoint::CheckFinite;
  const CheckFinite finite = options.allow_not_finite ? CheckFinite::no
                             : on_host                ? CheckFinite::first
                                                      : CheckFinite::reading;
  checkpoint::read_parts<Real>(file, wanted, finite, into);
  if (!on_host) parameters.device().upload(parameters.values(), all, parameters.size());
  parameters.refresh();
  return report;
}

template <class Model>
LoadReport load_model(const std::filesystem::path& path, Network<Model>& network, const LoadOptions& options = {}) {
  return load_model(SafetensorsFile(path), network, options);
}

}  // namespace attn
