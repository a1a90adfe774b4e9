#include "tests/accuracy/model_size.h"

#include <cmath>

#include "engine/plan/plan.h"
#include "engine/preset_table.h"
#include "engine/text.h"
#include "tests/accuracy/model_kin.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

constexpr double kSameSize = 0.08;  // published counts of one nominal size differ by so much
constexpr double kScalable = 1.5;   // further from its size a shape is another

/// Behind the publisher, up to the first digit or mark: "qwen" of "Qwen/Qwen3Guard-Gen-8B".
std::string family_of(const std::string& name) {
  const size_t slash = name.substr(0, name.find(' ')).rfind('/');
  std::string out;
  for (const char c : lower(name.substr(slash == std::string::npos ? 0 : slash + 1))) {
    if (!is_letter(c) && c != '-') break;
    if (c != '-') out += c;
  }
  return out;
}

/// A shape that any number of ranks divides.
bool is_usual(const Plan& plan) {
  const int heads = static_cast<int>(plan.kv_heads);
  return plan.subject->has_shape && (heads & (heads - 1)) == 0;
}

double billions_of(const Plan& plan) { return plan.subject->nominal_parameters / 1e9; }

double off_by(const std::string& preset, double billions, double active) {
  if (preset.empty()) return HUGE_VAL;
  const Plan plan = read_plan("model=" + preset).plan;
  const double off = std::fabs(std::log(billions_of(plan) / billions));
  return active > 0 ? off + std::fabs(std::log(plan.subject->active_parameters / 1e9 / active)) : off;
}

/// The preset whose size, and of a mixture what a token meets of it, is the nearest; of that family where one is given.
std::string nearest(double billions, double active, const std::string& family) {
  std::string best;
  double least = 0;
  for (const PresetRow& row : model_presets()) {
    if (!family.empty() && compact(row.id).rfind(family, 0) != 0) continue;
    const Plan plan = read_plan("model=" + std::string(row.id)).plan;
    if (!plan.subject || (family.empty() && !is_usual(plan)) ||
        (plan.subject->architecture.experts > 0) != (active > 0))
      continue;
    const double off = off_by(std::string(row.id), billions, active);
    if (!best.empty() && off >= least) continue;
    best = row.id;
    least = off;
  }
  return best;
}

/// 3 of "30B-A3B" and "30B.A3B"; 0 of a model that is no mixture.
double active_billions(const std::string& name) {
  const std::string all = lower(name);
  for (size_t at = all.find('a', 1); at != std::string::npos; at = all.find('a', at + 1))
    if ((all[at - 1] == '-' || all[at - 1] == '.') && at + 1 < all.size() && is_digit(all[at + 1]))
      return first_number(all.substr(at)).value_or(0);
  return 0;
}

/// A mixture of which only the whole is stated.
bool is_unsized(const std::string& name) {
  return active_billions(name) == 0 && holds_any(lower(name), {"moe", "8x7b", "8x22b"});
}

double stated_size(const ServingMap& m, const std::string& name) {
  for (const char* field : {"params_b", "measured.params_b", "parameters_b"})
    if (const double billions = number(m.c, field); billions > 0) return billions;
  return stated_billions(name);
}

}  // namespace

void set_model_of_size(ServingMap& m) {
  if (m.skipped != "the model is no preset") return;
  const std::string name = text(m.c, "model");
  const double billions = stated_size(m, name), active = active_billions(name);
  if (billions == 0 || is_unsized(name) || name.find(';') != std::string::npos) return;
  const std::string family = family_of(name), kin = family.size() < 3 ? "" : nearest(billions, active, family);
  if (off_by(kin, billions, active) < kSameSize) {
    m.share.set("model", kin);
  } else {
    const std::string other = nearest(billions, active, "");
    if (off_by(other, billions, active) > std::log(kScalable)) return;
    m.share.set("model", other);
    m.share.set("params", billions * 1e9);
  }
  m.skipped.clear();
}

}  // namespace vram::accuracy
