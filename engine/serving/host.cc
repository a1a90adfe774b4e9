#include "engine/serving/host.h"

#include <algorithm>
#include <cmath>

#include "engine/serving/kv_cache.h"
#include "engine/serving/llamacpp_buffer.h"
#include "engine/serving/weights.h"

namespace vram {

LineList host_lines(Sheet& sheet, const Plan& plan) {
  LineList lines(sheet);
  const ServingStage stage = host_stage(plan);
  if (plan.subject->has_shape && (stage.count > 0 || stage.has_embedding)) {
    lines.push_back(weights_line(sheet, weight_parcels(plan, Replica{}, stage)));
    const std::vector<CacheGroup> groups = cache_groups(plan, Replica{}, stage);
    if (!groups.empty()) {
      Line cache = demand_line(sheet, plan, groups, plan.concurrency);
      cache.id = "kv_cache";
      cache.label = "KV cache";
      lines.push_back(cache);
    }
    lines.push_back(host_compute_line(sheet, plan));
    if (const Line outputs = llamacpp_output_line(sheet, plan); outputs.bytes > 0) lines.push_back(outputs);
  }
  if (plan.swap > 0) {
    lines.push_back(sheet.leaf("swap", "Swap", {times("", plan.swap, "B a GPU"), times("n", plan.serve_gpus, "GPUs")},
                               "KV blocks of waiting requests: vllm --swap-space, a GPU"));
  }
  return lines;
}

double swapped_requests(const Plan& plan, const Replica& replica, const StageCapacity& stage) {
  const double each = stage.demand.each.all();
  return plan.swap > 0 && each > 0 ? std::floor(plan.swap / each) * replica.dp : 0;
}

double host_memory_bytes(const Plan& plan) {
  return plan.host_mem * std::ceil(plan.serve_gpus / std::max(1.0, plan.node));
}

}  // namespace vram
