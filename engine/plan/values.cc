#include "engine/plan/values.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "engine/model/config_json.h"
#include "engine/plan/made.h"
#include "engine/plan/texts.h"
#include "engine/plan/words.h"
#include "engine/units.h"

namespace vram {
namespace {

/// Calls `visit` with the member of the key.
template <class AnyPlan, class Visit>
// NOLINTNEXTLINE(readability-function-size): one line a row of the table
void with_member(AnyPlan& plan, Key key, Visit&& visit) {
  switch (key) {
#define VRAM_FIELD(kind, type, name, ...) \
  case Key::name:                         \
    return visit(plan.name);
#include "engine/plan/fields.def"
#undef VRAM_FIELD
    case Key::count_:
      return;
  }
}

std::optional<Value> in_range(const Field& field, std::optional<double> number, double unit) {
  if (!number || *number < field.least * unit || *number > field.most * unit) return std::nullopt;
  if (field.kind == FieldKind::count && *number != std::floor(*number)) return std::nullopt;
  return Value{*number, "", false};
}

std::optional<Value> read_size_or_share(const Field& field, std::string_view text) {
  if (text.empty() || text.back() != '%') return in_range(field, read_size(text, kGiB), kGiB);
  const auto share = read_number(text);
  if (!share || *share < 0 || *share > 100) return std::nullopt;
  return Value{*share, "", true};
}

std::optional<Value> read_choice(const Field& field, std::string_view text) {
  const auto found = std::find(field.words.begin(), field.words.end(), text);
  if (found == field.words.end()) return std::nullopt;
  return Value{static_cast<double>(found - field.words.begin()), std::string(text), false};
}

/// Texts with a grammar; an empty one stands for "none" in all but the names.
/// Pairs of keys and values: every key is one of the table.
std::string read_pairs(std::string_view text) {
  for (const std::string_view pair : split(text, '&')) {
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || find_field(pair.substr(0, equals)) == nullptr) return "";
  }
  return std::string(text);
}

std::optional<Value> read_text(Key key, std::string_view text) {
  if (key == Key::model || key == Key::gpu)
    return text.empty() ? std::nullopt : std::optional(Value{0, std::string(text)});
  if (text.empty() || key == Key::vs) return Value{0, std::string(text)};
  Value value;
  switch (key) {
    case Key::pattern:
      value.text = read_pattern(text);
      break;
    case Key::stages:
      value.text = read_stages(text);
      break;
    case Key::recompute_modules:
      value.text = read_recompute_modules(text);
      break;
    case Key::engine_version:
      value.text = read_version(text);
      break;
    case Key::gpus_among:
      value.text = read_gpus_among(text);
      break;
    case Key::measured_with:
      value.text = read_pairs(text);
      break;
    case Key::made:
      value.text = read_made(text) ? std::string(text) : "";
      break;
    default:
      value.text = read_config(text, /*partial=*/true).ok ? std::string(text) : "";
      break;  // arch
  }
  if (value.text.empty()) return std::nullopt;
  return value;
}

/// "1000", "1e15".
std::string bound_text(double value) {
  double power = 1e6;
  for (int exponent = 6; exponent <= 18; ++exponent, power *= 10) {
    if (value == power) return "1e" + std::to_string(exponent);
  }
  return write_number(value);
}

std::string accepted_text(Key key) {
  switch (key) {
    case Key::model:
      return "a model of the presets, or custom";
    case Key::gpu:
      return "an accelerator of the presets, or custom";
    case Key::pattern:
      return "a run of layer kinds such as 5s1f: s sliding, f full, l linear, m state space, x none";
    case Key::stages:
      return "whole numbers of layers with commas, as in 20,20,20,20";
    case Key::recompute_modules:
      return "a list of core_attn, moe_act, layernorm, mla_up_proj, mlp, moe, shared_experts, with commas";
    case Key::engine_version:
      return "a version such as 0.9.1, a build such as b9849, or a month such as 2026-03";
    case Key::vs:
    case Key::measured_with:
      return "a share string, percent-encoded";
    case Key::made:
      return "what the page writes, as in 0.1.0,71.5,45.3,9f2c";
    case Key::gpus_among:
      return "a list of accelerators of the presets, with commas, or all";
    default:
      return "JSON of config.json fields";
  }
}

std::string joined(Words words) {
  std::string list;
  for (const std::string_view word : words) {
    if (!list.empty()) list += ", ";
    list += word;
  }
  return list;
}

}  // namespace

std::optional<Value> read_value(const Field& field, std::string_view text) {
  switch (field.kind) {
    case FieldKind::count:
    case FieldKind::number:
    case FieldKind::share:
      return in_range(field, read_number(text), 1);
    case FieldKind::size:
      return in_range(field, read_size(text, kGiB), kGiB);
    case FieldKind::size_or_share:
      return read_size_or_share(field, text);
    case FieldKind::rate:
      return in_range(field, read_rate(text), 1);
    case FieldKind::flag:
      if (text != "0" && text != "1") return std::nullopt;
      return Value{text == "1" ? 1.0 : 0.0, "", false};
    case FieldKind::choice:
      return read_choice(field, text);
    case FieldKind::text:
      return read_text(field.key, text);
  }
  return std::nullopt;
}

std::string accepted_values(const Field& field) {
  const std::string range = " from " + bound_text(field.least) + " to " + bound_text(field.most);
  switch (field.kind) {
    case FieldKind::count:
      return "a whole number" + range;
    case FieldKind::number:
      return "a number" + range;
    case FieldKind::share:
      return "a share" + range + ", or a percentage";
    case FieldKind::size:
      return "a size" + range + " " + std::string(field.unit) + ", or with a unit, as in 80GB";
    case FieldKind::size_or_share:
      return "a size" + range + " GiB, one with a unit, or a percentage of the weights";
    case FieldKind::rate:
      return "a rate" + range + " GB/s, or with a unit, as in 400Gb/s";
    case FieldKind::flag:
      return "0 or 1";
    case FieldKind::choice:
      return "one of " + joined(field.words);
    case FieldKind::text:
      return accepted_text(field.key);
  }
  return "";
}

void store_value(Plan& plan, Key key, const Value& value) {
  with_member(plan, key, [&value](auto& member) {
    using Member = std::remove_reference_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, std::string>) {
      member = value.text;
    } else if constexpr (std::is_same_v<Member, bool>) {
      member = value.number != 0;
    } else if constexpr (std::is_enum_v<Member>) {
      member = static_cast<Member>(static_cast<int>(value.number));
    } else {
      member = value.number;
    }
  });
  if (key != Key::reserve) return;
  plan.reserve_share = value.is_share ? value.number : 0;
  plan.reserve = value.is_share ? 0 : value.number;
}

Value load_value(const Plan& plan, Key key) {
  Value value;
  with_member(plan, key, [&value](const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, std::string>) {
      value.text = member;
    } else {
      value.number = static_cast<double>(member);
    }
  });
  if (key != Key::reserve || plan.reserve_share == 0) return value;
  return {plan.reserve_share, "", true};
}

std::string value_text(const Plan& plan, Key key) {
  const Field& row = field(key);
  const Value value = load_value(plan, key);
  if (value.is_share) return write_share(value.number);
  switch (row.kind) {
    case FieldKind::size:
    case FieldKind::size_or_share:
      return write_size(value.number, kGiB);
    case FieldKind::text:
      return value.text;
    case FieldKind::choice:
      return value.text.empty() ? std::string(row.words[static_cast<size_t>(value.number)]) : value.text;
    default:
      return write_number(value.number);
  }
}

}  // namespace vram
