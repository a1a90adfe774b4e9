#include "engine/model/config_json.h"
#include "engine/plan/model_basis.h"

namespace vram {

/// Every key is given first; resolve() then drops those that `custom` and `arch` give anyway.
Plan plan_of_architecture(const Architecture& architecture) {
  Plan plan;
  const auto give = [&plan](Key key) { plan.given.set(static_cast<size_t>(key)); };
  plan.model = "custom";
  give(Key::model);
  plan.arch = write_arch(architecture);
  if (!plan.arch.empty()) give(Key::arch);
#define VRAM_KEY(name)           \
  plan.name = architecture.name; \
  give(Key::name);
  VRAM_ARCHITECTURE_KEYS(VRAM_KEY)
#undef VRAM_KEY
  resolve(plan);
  return plan;
}

}  // namespace vram
