#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/parameter.hpp"

namespace attn {

/// Walks a model's layers and notes every parameter under its path, as in "encoder.layers.0.attention.in.weight". A layer
/// names its members once, in `for_each_parameter(visit)`: visit("weight", weight) for a parameter, visit("norm", norm) for
/// a layer.
template <class Device>
class ParameterWalk {
 public:
  struct Found {
    std::string name;
    Parameter<Device>* parameter;
    Parameter<Device>* tied_to = nullptr;
  };

  void operator()(std::string_view name, Parameter<Device>& parameter) {
    found.push_back({prefix_ + std::string(name), &parameter});
  }

  template <class Layer>
  void operator()(std::string_view name, Layer& layer) {
    const std::size_t length = prefix_.size();
    prefix_.append(name).append(".");
    layer.for_each_parameter(*this);
    prefix_.resize(length);
  }

  /// Makes a parameter that was visited before share the values of another.
  void tie(Parameter<Device>& parameter, Parameter<Device>& to) {
    for (Found& entry : found)
      if (entry.parameter == &parameter) {
        require(parameter.rows == to.rows && parameter.cols == to.cols, "tying ", entry.name, ": its shape ",
                parameter.rows, " x ", parameter.cols, " differs from ", to.rows, " x ", to.cols,
                ", the shape it should share");
        require(&owner(to) != &parameter, "tying ", entry.name, ": it would be tied to itself");
        entry.tied_to = &to;
      }
  }

  /// Whose values a parameter has: its own, or those of what it is tied to, or of what that is tied to.
  Parameter<Device>& owner(Parameter<Device>& parameter) const {
    for (const Found& entry : found)
      if (entry.parameter == &parameter && entry.tied_to != nullptr) return owner(*entry.tied_to);
    return parameter;
  }

  /// Two parameters of one name could not be told apart in a file.
  void require_unique_names() const {
    std::map<std::string_view, const Found*> by_name;
    for (const Found& entry : found) {
      const auto [at, inserted] = by_name.emplace(entry.name, &entry);
      const auto shape = [](const Found& one) {
        return std::to_string(one.parameter->rows) + " x " + std::to_string(one.parameter->cols);
      };
      require(inserted, "two parameters of the model are named '", entry.name, "': parameter ",
              at->second - found.data() + 1, " of ", shape(*at->second), " and parameter ", &entry - found.data() + 1,
              " of ", shape(entry), ", in the order of for_each_parameter; give each its own name there");
    }
  }

  std::vector<Found> found;

 private:
  std::string prefix_;
};

}  // namespace attn
