#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>

#include "engine/advice/remedies.h"
#include "engine/compute/links.h"
#include "engine/compute/step_time.h"
#include "engine/training/storage.h"
#include "engine/units.h"

namespace vram {
namespace {

using Findings = std::vector<Finding>;

/// Weights, gradients and optimizer states of the whole model, once.
double state_bytes(const Plan& plan) {
  const auto kept = [](const Storage& s) {
    return s.weight + s.gradient + s.master + s.moment * std::min(s.moments, s.matrix_moments);
  };
  const double trained = trained_parameters(plan);
  if (plan.method == Method::full) return trained * kept(storage_of(plan)) / 8;
  return (plan.subject->nominal_parameters * frozen_linear_bits(plan) + trained * kept(adapter_storage(plan))) / 8;
}

void about_fewest_gpus(const Plan& plan, const TrainingBill& training, Findings& out) {
  const double capacity = static_cast<double>(training.capacity_bytes), states = state_bytes(plan);
  if (!(capacity > 0) || !(states > capacity)) return;
  const double gpus = std::ceil(states / capacity), nodes = std::ceil(gpus / plan.node);
  out.push_back(notice(Severity::info, "fewest_gpus",
                       "Weights, gradients and optimizer states take " + shown_bytes(plan, states) + ": at least " +
                           show_grouped(gpus) + " GPUs hold them, " + show_grouped(nodes) +
                           (nodes == 1 ? " node of " : " nodes of ") + show_grouped(plan.node) +
                           ", before any activation."));
}

/// Seconds of a step whose GPUs are joined by PCIe alone. 0: unknown.
double seconds_over_pcie(const Plan& plan) {
  auto unlinked = std::make_shared<Accelerator>(*plan.accelerator);
  unlinked->link_is_pcie = true;
  unlinked->link_gpus = 0;
  Plan slower = plan;
  slower.accelerator = unlinked;
  slower.link_bw = unlinked->pcie_gb_s;
  Sheet sheet(Detail::totals);
  std::vector<Traffic> traffic;
  return unlinked->pcie_gb_s > 0 ? step_seconds(sheet, slower, traffic).total() : 0;
}

void about_tensor_parallelism(const Plan& plan, const ComputeFigures& compute, Findings& out) {
  const double step = compute.step.total();
  const Link link = ring_link(plan, {plan.tp, 1});
  const std::string ranks = show_grouped(plan.tp) + " GPUs";
  if (plan.tp <= 1 || !plan.subject->has_shape || !(step > 0)) return;
  if (std::string_view(link.name) == "network") {
    out.push_back(notice(Severity::warning, "tp_across_nodes",
                         "Tensor parallelism over " + ranks + " leaves the node of " + show_grouped(plan.node) +
                             ": every layer waits for the network, " +
                             show_fixed(100 * compute.step.network / step, 0) + "% of a step."));
  } else if (std::string_view(link.name) == "pcie") {
    out.push_back(notice(Severity::warning, "tp_over_pcie",
                         "Tensor parallelism over " + ranks + " shares PCIe: its messages are " +
                             show_fixed(100 * compute.step.link / step, 0) + "% of a step."));
  } else if (const double slower = seconds_over_pcie(plan); slower > step) {
    out.push_back(notice(Severity::info, "tp_in_the_node",
                         "Tensor parallelism over " + ranks + " stays inside the node. Over PCIe instead of " +
                             show_fixed(plan.link_bw, 0) + " GB/s a step would take " + show_fixed(slower / step, 1) +
                             " times as long."));
  }
}

const Traffic* find(const ComputeFigures& compute, std::string_view id) {
  for (const Traffic& one : compute.traffic) {
    if (id == one.line.id) return &one;
  }
  return nullptr;
}

/// Bandwidth of the network at which a line's messages last as long as the arithmetic beside them.
void about_the_network(const Plan& plan, const ComputeFigures& compute, Findings& out) {
  constexpr double kBitsAByte = 8;
  double needed = 0;  // GB/s a GPU
  const char* most = "";
  for (const Traffic& one : compute.traffic) {
    const bool across = std::string_view(one.link) == "network";
    const double hidden_from = across && one.cover_seconds > 0 ? plan.net_bw * one.seconds / one.cover_seconds : 0;
    if (hidden_from > needed) most = one.line.label;
    needed = std::max(needed, hidden_from);
  }
  if (!(needed > 0)) return;
  const bool enough = needed <= plan.net_bw;
  out.push_back(notice(enough ? Severity::info : Severity::warning, "network_needed",
                       std::string(most) + " traffic hides behind arithmetic from " +
                           show_fixed(kBitsAByte * needed, 0) + " Gb/s a GPU; the network has " +
                           show_fixed(kBitsAByte * plan.net_bw, 0) + "."));
}

void about_sharded_weights(const Plan& plan, const ComputeFigures& compute, Findings& out) {
  const Traffic* sharded = find(compute, "dp");
  if (plan.zero < 3 || sharded == nullptr) return;
  const double bytes = static_cast<double>(sharded->line.bytes) / plan.micro_batches();
  out.push_back(notice(
      Severity::info, "zero_3_traffic",
      "ZeRO 3 gathers weights twice and reduces gradients once for every micro-batch: " + shown_bytes(plan, bytes) +
          " a GPU, " + show_duration(sharded->seconds / plan.micro_batches()) + " over the " + sharded->link + "."));
}

void about_host_memory(const Plan& plan, const TrainingBill& training, Findings& out) {
  if (!training.host_bytes_per_node || training.host_verdict == Verdict::exceeds) return;
  out.push_back(notice(Severity::info, "host_memory",
                       "Offloading puts " + shown_bytes(plan, static_cast<double>(*training.host_bytes_per_node)) +
                           " into the host memory of each node" +
                           (plan.host_mem > 0 ? ", which has " + shown_bytes(plan, plan.host_mem) : "") + "."));
}

/// Hoffmann et al. 2022 (arXiv 2203.15556), table 3: about 20 tokens a parameter.
void about_tokens(const Plan& plan, Findings& out) {
  constexpr double kTokensAParameter = 20;
  const double parameters = plan.subject->active_parameters > 0
                                ? plan.subject->active_parameters * plan.subject->scale()
                                : plan.subject->nominal_parameters;
  const double tokens = plan.has(Key::tokens) ? plan.tokens : plan.dataset * plan.epochs;
  if (!(tokens > 0) || !(parameters > 0) || plan.method != Method::full) return;
  out.push_back(notice(Severity::info, "chinchilla_tokens",
                       "For " + show_count(parameters) + " parameters " + show_count(kTokensAParameter * parameters) +
                           " tokens are compute-optimal (Chinchilla, 20 a parameter); the run has " +
                           show_count(tokens) + ", " + show_fixed(tokens / parameters, tokens < parameters ? 2 : 0) +
                           " a parameter."));
}

/// A given MFU holds for the plan's own recomputation.
void about_given_mfu(const Plan& plan, Findings& out) {
  if (!knows_mfu(plan) || !plan.subject->has_shape) return;
  const char* other = plan.recompute == Recompute::none ? "full" : "none";
  Plan changed = plan;
  Message refused;
  if (!set_value(changed, Key::recompute, other, &refused)) return;
  const std::optional<double> ratio = time_ratio(plan, changed);
  if (!ratio) return;
  const double percent = 100 * std::fabs(*ratio - 1);
  Finding finding = notice(Severity::info, "mfu_under_recomputation",
                           "The given MFU is read as measured with recompute=" + value_text(plan, Key::recompute) +
                               "; with " + other + " the same tokens would take " + show_fixed(percent, 0) +
                               (*ratio > 1 ? "% longer." : "% less time."),
                           std::string("recompute=") + other);
  finding.time_ratio = ratio;
  out.push_back(std::move(finding));
}

}  // namespace

void about_the_cluster(const Plan& plan, const TrainingBill& training, const ComputeFigures& compute, Findings& out) {
  if (!training.faults.empty()) return;
  about_fewest_gpus(plan, training, out);
  about_tensor_parallelism(plan, compute, out);
  about_the_network(plan, compute, out);
  about_sharded_weights(plan, compute, out);
  about_host_memory(plan, training, out);
  about_tokens(plan, out);
  about_given_mfu(plan, out);
}

}  // namespace vram
