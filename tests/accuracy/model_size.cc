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

bool is_dense(const Plan& plan) {
  return plan.subject->architecture.experts == 0 && plan.subject->has_shape && plan.kv_lora_rank == 0;
}

double billions_of(const Plan& plan) { return plan.subject->nominal_parameters / 1e9; }

/// The dense preset whose size is the nearest, of that family where `family` is none.
std::string nearest(double billions, const std::string& family) {
  std::string best;
  double least = 0;
  for (const PresetRow& row : model_presets()) {
    if (!family.empty() && compact(row.id).rfind(family, 0) != 0) continue;
    const Plan plan = read_plan("model=" + std::string(row.id)).plan;
    if (!plan.subject || !is_dense(plan)) continue;
    const double off = std::fabs(std::log(billions_of(plan) / billions));
    if (!best.empty() && off >= least) continue;
    best = row.id;
    least = off;
  }
  return best;
}

double off_by(const std::string& preset, double billions) {
  if (preset.empty()) return HUGE_VAL;
  return std::fabs(std::log(billions_of(read_plan("model=" + preset).plan) / billions));
}

/// "30B-A3B" is a mixture, whose size says little of its speed.
bool is_mixture(const std::string& name) {
  const std::string all = lower(name);
  for (size_t at = all.find("-a"); at != std::string::npos; at = all.find("-a", at + 1))
    if (at + 2 < all.size() && is_digit(all[at + 2])) return true;
  return holds_any(all, {"moe", "8x7b", "8x22b"});
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
  const double billions = stated_size(m, name);
  if (billions == 0 || is_mixture(name) || name.find(';') != std::string::npos) return;
  const std::string family = family_of(name), kin = family.size() < 3 ? "" : nearest(billions, family);
  if (off_by(kin, billions) < kSameSize) {
    m.share.set("model", kin);
  } else {
    const std::string other = nearest(billions, "");
    if (off_by(other, billions) > std::log(kScalable)) return;
    m.share.set("model", other);
    m.share.set("params", billions * 1e9);
  }
  m.skipped.clear();
}

}  // namespace vram::accuracy
