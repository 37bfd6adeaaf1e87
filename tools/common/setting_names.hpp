#pragma once
#include "attn/data/batches.hpp"
#include "attn/ops/cross_entropy.hpp"
#include "attn/optim/non_finite.hpp"
#include "attn/train/train_options.hpp"
#include "common/schedule.hpp"

namespace attn {

/// The preset shapes of Transformers (run/model_spec.hpp).
enum class ModelSize { small, medium, base, big };

/// Where layers normalise: after or before each sub-layer.
enum class NormPosition { post, pre };

/// Where the gradients of several ranks are summed.
enum class SumOn { any, nccl, host };

template <class Enum>
struct SettingName {
  std::string_view name;
  Enum value;
};

/// The names of an enumeration's values on the command line and in model.json, in the order of --help.
template <class Enum>
inline constexpr std::array<SettingName<Enum>, 0> setting_names{};
template <>
inline constexpr std::array<SettingName<ModelSize>, 4> setting_names<ModelSize>{
    {{"small", ModelSize::small}, {"medium", ModelSize::medium}, {"base", ModelSize::base}, {"big", ModelSize::big}}};
template <>
inline constexpr std::array<SettingName<NormPosition>, 2> setting_names<NormPosition>{
    {{"post", NormPosition::post}, {"pre", NormPosition::pre}}};
template <>
inline constexpr std::array<SettingName<BatchUnit>, 2> setting_names<BatchUnit>{
    {{"sentences", BatchUnit::sentences}, {"tokens", BatchUnit::tokens}}};
template <>
inline constexpr std::array<SettingName<BatchOrder>, 3> setting_names<BatchOrder>{
    {{"pooled", BatchOrder::pooled}, {"shuffled", BatchOrder::shuffled}, {"sequential", BatchOrder::sequential}}};
template <>
inline constexpr std::array<SettingName<Smoothing>, 2> setting_names<Smoothing>{
    {{"all", Smoothing::uniform}, {"others", Smoothing::others}}};
template <>
inline constexpr std::array<SettingName<ScheduleKind>, 4> setting_names<ScheduleKind>{
    {{"inverse-sqrt", ScheduleKind::inverse_sqrt},
     {"warmup-cosine", ScheduleKind::warmup_cosine},
     {"step", ScheduleKind::step},
     {"constant", ScheduleKind::constant}}};
template <>
inline constexpr std::array<SettingName<NonFinite>, 2> setting_names<NonFinite>{
    {{"stop", NonFinite::stop}, {"skip", NonFinite::skip}}};
template <>
inline constexpr std::array<SettingName<BestBy>, 2> setting_names<BestBy>{
    {{"loss", BestBy::loss}, {"bleu", BestBy::score}}};
template <>
inline constexpr std::array<SettingName<SumOn>, 3> setting_names<SumOn>{
    {{"auto", SumOn::any}, {"nccl", SumOn::nccl}, {"host", SumOn::host}}};

template <class Enum>
std::string_view setting_name(Enum value) {
  for (const auto& entry : setting_names<Enum>)
    if (entry.value == value) return entry.name;
  fail("setting_names: a value has no name");
}

/// The value of a name; nullopt if there is none.
template <class Enum>
std::optional<Enum> setting_value(std::string_view name) {
  const auto& names = setting_names<Enum>;
  const auto found = std::ranges::find(names, name, &SettingName<Enum>::name);
  return found == names.end() ? std::nullopt : std::optional(found->value);
}

}  // namespace attn
