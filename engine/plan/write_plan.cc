#include "engine/plan/percent.h"
#include "engine/plan/plan.h"

namespace vram {

std::string write_plan(const Plan& plan, bool view_keys) {
  std::string share = "v=1";
  for (const Field& row : fields()) {
    if (!plan.has(row.key) || (row.group == Group::view && !view_keys)) continue;
    share.append("&").append(row.name).append("=").append(percent_encode(value_text(plan, row.key)));
  }
  for (const auto& [name, pair] : plan.unknown) share.append("&").append(pair);
  return share;
}

}  // namespace vram
