#include <algorithm>
#include <span>

#include "engine/advice/diagnose/calibrate.h"
#include "engine/advice/diagnose/case.h"
#include "engine/advice/diagnose/settings.h"
#include "engine/advice/remedies.h"

namespace vram {
namespace {

constexpr size_t kMost = 5, kAll = 64;

bool is_in(std::span<const std::string_view> list, std::string_view id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

/// Changes that act on what the symptom is of; the rest save memory, too, but not there.
bool suits(Symptom symptom, std::string_view id) {
  static constexpr std::string_view kStates[] = {"zero_1",
                                                 "zero_2",
                                                 "zero_3",
                                                 "fsdp",
                                                 "lora",
                                                 "qlora",
                                                 "optimizer_8bit",
                                                 "offload_optimizer",
                                                 "tensor_parallel",
                                                 "pipeline_parallel",
                                                 "more_gpus",
                                                 "together"};
  static constexpr std::string_view kWork[] = {"attention_flash",     "fused_optimizer",   "sequence_parallel",
                                               "recompute_selective", "recompute_full",    "micro_batch_half",
                                               "micro_batch_one",     "loss_chunked",      "loss_fused",
                                               "tensor_parallel",     "pipeline_parallel", "together"};
  static constexpr std::string_view kLong[] = {"attention_flash",     "loss_chunked",      "loss_fused",
                                               "recompute_selective", "recompute_full",    "micro_batch_half",
                                               "micro_batch_one",     "sequence_parallel", "tensor_parallel"};
  switch (symptom) {
    case Symptom::at_start:
      return is_in(kStates, id);
    case Symptom::long_sample:
      return is_in(kLong, id);
    case Symptom::fragmentation:
      return id == "expandable_segments";
    case Symptom::after_steps:
      return is_in(kWork, id);
    default:
      return false;
  }
}

bool apply_fragment(const std::string& change, Plan& plan) {
  const PlanReading changed = read_plan(write_plan(plan, true) + "&" + change);
  if (!changed.answerable) return false;
  plan = changed.plan;
  return true;
}

void add_calibration(const Case& c, Finding& cure) {
  Plan changed = c.plan;
  if (!c.peak || !apply_fragment(cure.change, changed)) return;
  const TrainingBill after = training_bill(changed);
  const std::optional<Calibrated> now = calibrated(c.training, after, *c.peak);
  if (!now) return;
  const bool fits = now->device <= static_cast<double>(after.capacity_bytes);
  cure.text += std::string(" Shifted by what was measured: ") + (c.measured.failed ? "at least " : "") +
               c.shown(now->device) + " of " + c.shown(static_cast<double>(after.capacity_bytes)) +
               (fits ? "." : ", still too much.");
}

/// "Keep the KV cache in fp8: needs 7 GiB a GPU ...": what it saves is said of the plan that ran alone.
void leave_out_figures(Finding& cure) {
  cure.text = cure.text.substr(0, cure.text.find(": ")) + ".";
  cure.saves_bytes.reset();
  cure.time_ratio.reset();
}

void add_training_cures(Case& c) {
  std::vector<Finding> cures;
  for (Finding& cure : training_remedies(c.plan, c.training, kAll)) {
    if (c.measured.fixed_segments && std::string_view(cure.id) == "expandable_segments") continue;
    if (!suits(c.symptom, cure.id) || (c.assumed && std::string_view(cure.id) == "together")) continue;
    cures.push_back(std::move(cure));
  }
  std::stable_sort(cures.begin(), cures.end(), [](const Finding& a, const Finding& b) {
    return a.saves_bytes.value_or(0) > b.saves_bytes.value_or(0);
  });
  if (cures.size() > kMost) cures.resize(kMost);
  for (Finding& cure : cures) {
    c.assumed ? leave_out_figures(cure) : add_calibration(c, cure);
    c.findings.push_back(std::move(cure));
  }
}

/// Of a server: what acts on where it failed.
bool suits_server(const Case& c, std::string_view id) {
  static constexpr std::string_view kRoom[] = {"weights_fp8",     "weights_int4", "kv_fp8",  "serve_gpus",
                                               "utilization_up",  "prefix_cache", "max_len", "batch_tokens_half",
                                               "gpu_layers_half", "n_cpu_moe"};
  static constexpr std::string_view kWork[] = {"batch_tokens_half", "max_seqs_half", "ubatch_half",     "flash_on",
                                               "graphs_none",       "serve_gpus",    "gpu_layers_half", "n_cpu_moe",
                                               "weights_fp8",       "weights_int4"};
  static constexpr std::string_view kCache[] = {"kv_fp8",          "max_len",   "max_seqs_half",
                                                "gpu_layers_half", "n_cpu_moe", "serve_gpus"};
  if (c.measured.stage == "kv" && std::string_view(c.measured.tool) == "llama.cpp") return is_in(kCache, id);
  static constexpr std::string_view kOthers[] = {"graphs_none", "utilization_up", "batch_tokens_half", "max_seqs_half"};
  if (c.assumed && !is_engine_of_plan(c.measured.tool) && is_in(kOthers, id)) return false;
  const bool start = c.symptom == Symptom::at_start;
  const bool share_taken = c.measured.budget && c.measured.free && *c.measured.free < *c.measured.budget;
  if (share_taken && (c.measured.stage == "start" || id == "utilization_up")) return false;  // others hold the GPU
  return start ? is_in(kRoom, id) : is_in(kWork, id);
}

/// The pool after a change, by the difference between what was measured and what is modelled now.
void add_serving_calibration(const Case& c, Finding& cure) {
  const std::optional<uint64_t>& was = c.serving_bill.kv_budget_bytes_per_gpu;
  Plan changed = c.plan;
  if (!c.measured.kv_pool || c.plan.has(Key::measured_kv_pool) || !was || *was == 0) return;
  if (!apply_fragment(cure.change, changed)) return;
  const std::optional<uint64_t> is = serving_bill(changed).kv_budget_bytes_per_gpu;
  if (!is) return;
  const double pool = static_cast<double>(*is) + *c.measured.kv_pool - static_cast<double>(*was);
  cure.text += " Shifted by what was measured: " + c.shown(std::max(0.0, pool)) + " for the KV cache of a GPU.";
}

/// Where no bill tells how much each saves: what costs least comes first.
void cheapest_first(std::vector<Finding>& cures) {
  static constexpr std::string_view kOrder[] = {
      "kv_fp8",      "max_len",  "utilization_up", "graphs_none", "batch_tokens_half", "max_seqs_half",
      "ubatch_half", "flash_on", "weights_fp8",    "serve_gpus",  "weights_int4"};
  const auto place = [](const Finding& cure) {
    return std::find(std::begin(kOrder), std::end(kOrder), std::string_view(cure.id)) - std::begin(kOrder);
  };
  std::stable_sort(cures.begin(), cures.end(), [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
}

void add_serving_cures(Case& c) {
  size_t most = kMost;
  std::vector<Finding> cures = serving_cures(c.plan, c.serving_bill);
  if (c.assumed) cheapest_first(cures);
  for (Finding& cure : cures) {
    if (most == 0 || !suits_server(c, cure.id)) continue;
    --most;
    c.assumed ? leave_out_figures(cure) : add_serving_calibration(c, cure);
    c.findings.push_back(std::move(cure));
  }
}

}  // namespace

void add_cures(Case& c) {
  if (c.symptom == Symptom::none || c.symptom == Symptom::leak) return;
  c.serving ? add_serving_cures(c) : add_training_cures(c);
}

}  // namespace vram
