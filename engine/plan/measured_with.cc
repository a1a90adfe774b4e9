#include "engine/plan/measured_with.h"

#include <algorithm>

#include "engine/plan/percent.h"
#include "engine/plan/texts.h"

namespace vram {
namespace {

constexpr Key kFigures[] = {
    Key::measured_allocated, Key::measured_reserved,  Key::measured_device, Key::measured_tokens_per_second,
    Key::measured_kv_pool,   Key::measured_kv_tokens, Key::measured_ttft,   Key::measured_tpot};

bool differs(const Plan& a, const Plan& b, Key key) {
  if (a.has(key) != b.has(key)) return true;
  return a.has(key) && value_text(a, key) != value_text(b, key);
}

bool names(std::string_view pairs, std::string_view key) {
  for (const std::string_view pair : split(pairs, '&')) {
    if (pair.substr(0, pair.find('=')) == key) return true;
  }
  return false;
}

}  // namespace

bool is_measured(const Plan& plan) {
  return std::any_of(std::begin(kFigures), std::end(kFigures), [&](Key key) { return plan.has(key); });
}

Plan plan_when_measured(const Plan& plan) {
  Plan base = plan;
  for (const std::string_view pair : split(plan.measured_with, '&')) {
    const size_t equals = pair.find('=');
    const Field* row = find_field(percent_decode(pair.substr(0, equals)));
    if (row == nullptr || row->group == Group::measured) continue;
    const std::string value = equals == std::string_view::npos ? "" : percent_decode(pair.substr(equals + 1));
    if (value.empty()) {
      clear_value(base, row->key);
    } else {
      Message refused;
      set_value(base, row->key, value, &refused);
    }
  }
  return base;
}

void keep_measured_with(const Plan& before, Plan& changed) {
  const bool measured_anew =
      std::any_of(std::begin(kFigures), std::end(kFigures), [&](Key key) { return differs(before, changed, key); });
  if (measured_anew) return clear_value(changed, Key::measured_with);
  if (!is_measured(before)) return;
  std::string with = before.measured_with;
  for (const Field& row : fields()) {
    if (row.group == Group::measured || row.group == Group::view) continue;
    if (!differs(before, changed, row.key) || names(with, row.name)) continue;
    if (!with.empty()) with += '&';
    with.append(row.name).append("=");
    if (before.has(row.key)) with += percent_encode(value_text(before, row.key));
  }
  if (!with.empty()) set_value(changed, Key::measured_with, with, nullptr);
}

}  // namespace vram
