#include "engine/compute/links.h"

#include <algorithm>
#include <cmath>

#include "engine/compute/achieved.h"

namespace vram {
namespace {

Link inside(const Plan& plan, double span) {
  const Accelerator& chip = *plan.accelerator;
  const bool bridge_too_small = chip.link_gpus > 0 && span > chip.link_gpus && !plan.has(Key::link_bw);
  if (bridge_too_small && chip.pcie_gb_s > 0) return {"pcie", chip.pcie_gb_s * kPcieShare};
  if (chip.link_is_pcie) return {"pcie", plan.link_bw * kPcieShare};
  return {chip.vendor.empty() || chip.vendor == "NVIDIA" ? "nvlink" : "link", plan.link_bw * kLinkShare};
}

}  // namespace

double ranks_in_a_node(const Plan& plan, const RankGroup& group) {
  return std::min(std::max(1.0, std::floor(joined_gpus(plan) / group.stride)), group.size);
}

double joined_gpus(const Plan& plan) {
  const Accelerator& chip = *plan.accelerator;
  return chip.link_gpus > plan.node ? chip.link_gpus : plan.node;
}

Link ring_link(const Plan& plan, const RankGroup& group) {
  const Link link = inside(plan, std::min(group.span(), joined_gpus(plan)));
  if (group.span() <= joined_gpus(plan)) return link;
  const double cards = plan.net_bw * kNetworkShare * ranks_in_a_node(plan, group);
  return {"network", ranks_in_a_node(plan, group) > 1 && link.gb_s > 0 ? std::min(cards, link.gb_s) : cards};
}

Link pair_link(const Plan& plan, const RankGroup& group) {
  if (group.span() <= joined_gpus(plan)) return inside(plan, group.span());
  return {"network", plan.net_bw * kNetworkShare};
}

Link host_link(const Plan& plan) { return {"pcie", plan.accelerator->pcie_gb_s * kPcieShare}; }

}  // namespace vram
