#pragma once
#include "attn/checkpoint/json.hpp"
#include "attn/checkpoint/safetensors.hpp"
#include "attn/core/parameters.hpp"

// Parameter groups in a checkpoint: the metadata "training.groups" is a JSON list that covers all parameters which are
// frozen or not in the default group:
//
//   [{"names": ["encoder.weight", "encoder.bias"], "rate": 0.1, "weight_decay": 0.01, "frozen": false}]

namespace attn::checkpoint {

/// The group of one parameter.
struct GroupState {
  GroupOptions options = {};
  bool frozen = false;
  bool operator==(const GroupState&) const = default;
};

/// "rate 0.1, frozen".
inline std::string to_string(const GroupState& state) {
  std::ostringstream text;
  text << "rate " << state.options.rate;
  if (state.options.weight_decay) text << ", weight_decay " << *state.options.weight_decay;
  if (state.options.decay_vectors) text << ", decay_vectors";
  text << (state.frozen ? ", frozen" : ", not frozen");
  return text.str();
}

/// The value of "training.groups"; empty if all parameters are in the default group.
template <class Device>
std::string write_groups(const Parameters<Device>& parameters) {
  std::vector<GroupState> groups;
  nlohmann::json list = nlohmann::json::array();
  for (const auto& entry : parameters.entries()) {
    const GroupState state{entry.group, entry.frozen};
    if (state == GroupState{}) continue;
    const auto at = std::ranges::find(groups, state);
    const auto index = static_cast<std::size_t>(at - groups.begin());
    if (at == groups.end()) {
      groups.push_back(state);
      nlohmann::json group = {{"rate", state.options.rate}, {"frozen", state.frozen}};
      if (state.options.weight_decay) group["weight_decay"] = *state.options.weight_decay;
      if (state.options.decay_vectors) group["decay_vectors"] = true;
      list.push_back(std::move(group));
    }
    list[index]["names"].push_back(entry.name);
  }
  return list.empty() ? "" : list.dump();
}

/// The groups of these parameters in a checkpoint; the default if the checkpoint has none, as in older versions.
template <class Device>
std::vector<GroupState> read_groups(const SafetensorsFile& file, const Parameters<Device>& parameters) {
  std::vector<GroupState> states(parameters.entries().size());
  const auto text = file.metadata().find("training.groups");
  if (text == file.metadata().end()) return states;
  const nlohmann::json list = parse_json(text->second);
  bool damaged = !list.is_array();
  try {
    for (const nlohmann::json& group : list) {
      GroupState state{{.rate = group.at("rate").get<double>(), .decay_vectors = group.value("decay_vectors", false)},
                       group.at("frozen").get<bool>()};
      if (group.contains("weight_decay")) state.options.weight_decay = group["weight_decay"].get<double>();
      for (const nlohmann::json& name : group.at("names"))
        states.at(static_cast<std::size_t>(&parameters.find(name.get<std::string>()) - parameters.entries().data())) =
            state;
    }
  } catch (const nlohmann::json::exception&) {
    damaged = true;
  }
  require(!damaged, file.path().string(), ": its metadata 'training.groups' is damaged; use another checkpoint");
  return states;
}

/// Restores a checkpoint's groups if the program has set none; groups set by the program must match the checkpoint.
template <class Device>
void restore_groups(const SafetensorsFile& file, Parameters<Device>& parameters) {
  const std::vector<GroupState> saved = read_groups(file, parameters);
  std::vector<GroupState> now;
  for (const auto& entry : parameters.entries()) now.push_back({entry.group, entry.frozen});
  if (now == saved) return;
  if (now == std::vector<GroupState>(now.size())) {
    for (std::size_t i = 0; i < saved.size(); ++i) parameters.restore_group(i, saved[i].options, saved[i].frozen);
    return;
  }
  std::size_t i = 0;
  while (now[i] == saved[i]) ++i;
  fail(file.path().string(), ": it was saved with other parameter groups: '", parameters.entries()[i].name, "' had ",
       to_string(saved[i]), ", and this program sets ", to_string(now[i]),
       ". Set the same groups, set none to restore those of the checkpoint, or set them after loading.");
}

}  // namespace attn::checkpoint
