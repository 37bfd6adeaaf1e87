#pragma once
#include <cstddef>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/parameter.hpp"

namespace attn {

/// Collects a model's parameters with their paths, as in "encoder.layers.0.attention.in.weight". Each layer lists its
/// members once, in `for_each_parameter(visit)`: visit("weight", weight) for a parameter, visit("norm", norm) for a layer.
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

  void operator()(std::string_view name, auto& layer) {
    const std::size_t length = prefix_.size();
    prefix_.append(name).append(".");
    layer.for_each_parameter(*this);
    note_unvisited(layer);
    prefix_.resize(length);
  }

  /// If `notes` is set, finds parameters inside the layer object that were not visited, and notes their place for errors.
  template <class Layer>
  void note_unvisited(Layer& layer) {
    if (notes == nullptr) return;
    auto* const begin = reinterpret_cast<std::byte*>(std::addressof(layer));
    for (std::size_t at = 0; at + sizeof(Parameter<Device>) <= sizeof(Layer); at += alignof(Parameter<Device>)) {
      const char* note = nullptr;
      std::memcpy(&note, begin + at + offsetof(Parameter<Device>, note), sizeof note);
      if (note != kUnvisited) continue;
      auto* const parameter = reinterpret_cast<Parameter<Device>*>(begin + at);
      std::string text = ": it is a member of ";
      text += prefix_.empty() ? "the model" : "'" + prefix_.substr(0, prefix_.size() - 1) + "'";
      const Found* before = nullptr;
      bool visited = false;
      for (const Found& one : found) {
        visited = visited || one.parameter == parameter;
        if (reinterpret_cast<std::byte*>(one.parameter) >= begin && one.parameter < parameter &&
            (before == nullptr || before->parameter < one.parameter))
          before = &one;
      }
      if (visited) continue;
      if (before != nullptr) text += ", declared after '" + before->name + "'";
      parameter->note = notes->emplace_back(std::move(text)).c_str();
    }
  }

  /// Makes an already visited parameter share the values of another.
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

  /// The parameter that owns the values: follows `tied_to` to the end.
  Parameter<Device>& owner(Parameter<Device>& parameter) const {
    for (const Found& entry : found)
      if (entry.parameter == &parameter && entry.tied_to != nullptr) return owner(*entry.tied_to);
    return parameter;
  }

  /// Throws an Error if two parameters have the same name: a file could not tell them apart.
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
  std::list<std::string>* notes = nullptr;  // must outlive the model's use

 private:
  std::string prefix_;
};

}  // namespace attn
