#include "engine/compute/traffic.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/training/training.h"

namespace vram {
namespace {

constexpr double kActivationBytes = 2;  // activations travel in 16 bit under every precision but fp32

double activation_bytes(const Plan& plan) { return plan.precision == Precision::fp32 ? 4 : kActivationBytes; }

double gradient_bytes(const Plan& plan) { return plan.grad_dtype == GradDtype::fp32 ? 4 : 2; }

struct Link {
  const char* name = "";
  double gb_s = 0;
};

/// Ranks are laid out tp, cp, ep, dp, pp (Megatron-LM's default order): a group of `span` consecutive ranks stays
/// inside a node, or inside the GPUs that one NVLink domain joins, if it is no larger.
Link link_for(const Plan& plan, double span) {
  const Accelerator& chip = *plan.accelerator;
  const double joined = chip.link_gpus > plan.node ? chip.link_gpus : plan.node;
  if (span > joined) return {"network", plan.net_bw};
  const bool bridge_too_small = chip.link_gpus > 0 && span > chip.link_gpus && !plan.has(Key::link_bw);
  if (bridge_too_small && chip.pcie_gb_s > 0) return {"pcie", chip.pcie_gb_s};
  if (chip.link_is_pcie) return {"pcie", plan.link_bw};
  return {chip.vendor.empty() || chip.vendor == "NVIDIA" ? "nvlink" : "link", plan.link_bw};
}

Traffic traffic(Line line, Link link) {
  Traffic one;
  one.line = std::move(line);
  one.link = link.name;
  if (link.gb_s > 0) one.seconds = static_cast<double>(one.line.bytes) / (link.gb_s * 1e9);
  one.exposed_seconds = one.seconds;
  return one;
}

/// What does not fit under `cover` seconds of arithmetic.
void hide_under(Traffic& one, double cover) { one.exposed_seconds = std::max(0.0, one.seconds - cover); }

double layers_of_a_stage(const Plan& plan) {
  const auto layers = static_cast<double>(plan.subject->layers.size());
  return layers / plan.pp;
}

/// Narayanan et al. 2021 (arXiv 2104.04473) section 3.2: two all-reduces a layer forward, two backward, each
/// 2 (t - 1) / t of b s h; sequence parallelism splits each into a reduce-scatter and an all-gather of the same volume
/// (arXiv 2205.05198 section 4.2.2). Full recomputation repeats the forward ones. Not hidden.
Traffic tensor_parallel(const Plan& plan) {
  const double reductions = plan.recompute == Recompute::full ? 6 : 4;
  return traffic(leaf("tp", "Tensor parallel",
                      {times("l", layers_of_a_stage(plan), "layers of a stage"),
                       times("m", plan.micro_batches(), "micro-batches"),
                       times("n", reductions, "all-reduces a layer"),
                       times("2", 2, "reduce-scatter and all-gather"),
                       times("r - 1", plan.tp - 1, "other ranks"),
                       times("T", plan.tokens_per_micro_batch(), "tokens"),
                       times("h", plan.subject->architecture.hidden, "hidden"),
                       times("b", activation_bytes(plan), "B"),
                       over("t", plan.tp, "tensor parallel")},
                      "arXiv 2104.04473 section 3.2; arXiv 2205.05198 section 4.2.2"),
                 link_for(plan, plan.tp));
}

/// arXiv 2104.04473 section 4.1: b s h forward and its gradient backward, for every micro-batch and model chunk; with
/// sequence parallelism each rank sends its own share. Hidden but for the filling of the pipeline, which is the bubble.
Traffic pipeline_parallel(const Plan& plan) {
  Traffic one = traffic(leaf("pp", "Pipeline parallel",
                             {times("2", 2, "activations forward, gradients backward"),
                              times("m", plan.micro_batches(), "micro-batches"),
                              times("v", std::max(1.0, plan.vpp), "model chunks"),
                              times("T", plan.tokens_per_micro_batch(), "tokens"),
                              times("h", plan.subject->architecture.hidden, "hidden"),
                              times("b", activation_bytes(plan), "B"),
                              over("sp", plan.sp ? plan.tp : 1, "sequence parallel")},
                             "arXiv 2104.04473 section 4.1"),
                        link_for(plan, plan.gpus));
  one.exposed_seconds = 0;
  return one;
}

/// K and V travel around the ring once forward, and again with their gradients backward (ring attention, arXiv
/// 2310.01889, section 3). Hidden under core attention as far as that lasts.
Traffic context_parallel(const Plan& plan, double attention_seconds) {
  double kv_elements = 0;  // summed over layers
  for (uint8_t kind : plan.subject->layers) {
    const Attention& a = plan.subject->kinds[kind].attention;
    kv_elements += a.kv_heads * (a.qk_head_dim + a.v_head_dim);
  }
  Traffic one = traffic(leaf("cp", "Context parallel",
                             {times("m", plan.micro_batches(), "micro-batches"),
                              times("3", 3, "K and V forward; again, and their gradients, backward"),
                              times("r - 1", plan.cp - 1, "other ranks"),
                              times("T", plan.tokens_per_micro_batch(), "tokens a rank"),
                              times("kv", kv_elements, "K and V elements, all layers"),
                              times("b", activation_bytes(plan), "B"),
                              over("p", plan.pp, "pipeline parallel"),
                              over("t", plan.tp, "tensor parallel")},
                             "arXiv 2310.01889 section 3"),
                        link_for(plan, plan.tp * plan.cp));
  hide_under(one, attention_seconds);
  return one;
}

double expert_layers(const Model& model) {
  double layers = 0;
  for (uint8_t kind : model.layers) layers += model.kinds[kind].ffn.kind == FfnKind::moe ? 1 : 0;
  return layers;
}

/// Tokens go to their experts and come back, forward and backward (GShard, arXiv 2006.16668, section 3.2). Not hidden.
Traffic expert_parallel(const Plan& plan) {
  const double topk = plan.subject->architecture.experts_per_token;
  return traffic(leaf("ep", "Expert parallel",
                      {times("l", expert_layers(*plan.subject), "expert layers"),
                       times("m", plan.micro_batches(), "micro-batches"),
                       times("4", 4, "dispatch and combine, forward and backward"),
                       times("r - 1", plan.ep - 1, "other ranks"),
                       times("T", plan.tokens_per_micro_batch(), "tokens"),
                       times("k", topk, "experts a token"),
                       times("h", plan.subject->architecture.hidden, "hidden"),
                       times("b", activation_bytes(plan), "B"),
                       over("e", plan.ep, "expert parallel"),
                       over("p", plan.pp, "pipeline parallel"),
                       over("sp", plan.sp ? plan.tp : 1, "sequence parallel")},
                      "arXiv 2006.16668 section 3.2"),
                 link_for(plan, plan.etp * plan.ep));
}

/// Parameters that are cut alike, and over how many ranks their gradients are reduced.
struct Replicas {
  const char* id;
  const char* label;
  double parameters, trained;  // of the whole model
  Factors cut;     // how many ranks one copy is cut over
  double ranks;                // that hold the same part
};

Factors over_ranks(const Replicas& r, Factors factors) {
  factors.push_back(times("r - 1", r.ranks - 1, "other ranks"));
  factors.push_back(over("d", r.ranks, "data parallel"));
  factors.append(r.cut.begin(), r.cut.end());
  return factors;
}

/// ZeRO (arXiv 1910.02054) section 7: an all-reduce moves 2 (d - 1) / d of the gradients; stages 1 and 2 replace it by
/// a reduce-scatter of gradients and an all-gather of parameters. Once a step: gradients accumulate locally.
Line reduce_line(const Plan& plan, const Replicas& r) {
  const double gathered = plan.zero >= 1 ? activation_bytes(plan) : gradient_bytes(plan);
  return leaf(r.id, r.label,
              over_ranks(r, {times("P", r.trained, "trained parameters"),
                             times("b", gradient_bytes(plan) + gathered, "B reduce-scattered and gathered")}),
              "arXiv 1910.02054 section 7");
}

/// Stage 3: parameters gathered forward and again backward, gradients reduce-scattered, for every micro-batch: 3 x the
/// parameters (arXiv 1910.02054 section 7.2.2).
Line gather_line(const Plan& plan, const Replicas& r) {
  std::vector<Line> parts;
  parts.push_back(leaf("gather", "Parameters gathered",
                       over_ranks(r, {times("P", r.parameters, "parameters"),
                                      times("b", activation_bytes(plan), "B"),
                                      times("2", 2, "forward and backward"),
                                      times("m", plan.micro_batches(), "micro-batches")}),
                       "arXiv 1910.02054 section 7.2.2"));
  parts.push_back(leaf("reduce", "Gradients reduced",
                       over_ranks(r, {times("P", r.trained, "trained parameters"),
                                      times("b", gradient_bytes(plan), "B"),
                                      times("m", plan.micro_batches(), "micro-batches")}),
                       "arXiv 1910.02054 section 7.2.2"));
  return group(r.id, r.label, std::move(parts));
}

Traffic data_parallel(const Plan& plan, const Replicas& r, double compute_seconds) {
  Line line = plan.zero >= 3 ? gather_line(plan, r) : reduce_line(plan, r);
  Traffic one = traffic(std::move(line), link_for(plan, plan.gpus / plan.pp));
  // Stage 3 prefetches under all arithmetic; else only the last micro-batch's backward pass, two thirds of it, hides.
  const double last_backward = compute_seconds * 2 / 3 / std::max(1.0, plan.micro_batches());
  hide_under(one, plan.zero >= 3 ? compute_seconds : last_backward);
  return one;
}

double expert_parameters(const Model& model) {
  double parameters = 0;
  for (uint8_t kind : model.layers) parameters += model.kinds[kind].expert_parameters();
  return parameters * model.scale();
}

void add_data_parallel(const Plan& plan, double compute_seconds, std::vector<Traffic>& out) {
  const double total = plan.subject->nominal_parameters;
  const double experts = std::min(total, expert_parameters(*plan.subject));
  const bool full = plan.method == Method::full;  // adapters count with the dense part
  const double trained = full ? total - experts : trained_parameters(plan);
  const Factor stages = over("p", plan.pp, "pipeline parallel");
  const Replicas dense{"dp", "Data parallel", total - experts, trained,
                       {over("t", plan.tp, "tensor parallel"), stages}, plan.dp() * plan.cp};
  const Replicas routed{"dp_experts", "Data parallel, experts", experts, full ? experts : 0,
                        {over("e", plan.etp * plan.ep, "ranks of an expert group"), stages},
                        plan.gpus / (plan.etp * plan.ep * plan.pp)};
  for (const Replicas& replicas : {dense, routed}) {
    if (replicas.parameters > 0 && replicas.ranks > 1) out.push_back(data_parallel(plan, replicas, compute_seconds));
  }
}

/// ZeRO-Offload (arXiv 2101.06840) section 4.1: gradients go to the host, updated 16-bit parameters come back. Not
/// hidden.
Traffic offload(const Plan& plan) {
  const double shards = plan.tp * plan.pp * (plan.zero >= 1 ? plan.dp() * plan.cp : 1);
  return traffic(leaf("offload", "Optimizer offload",
                      {times("P", trained_parameters(plan), "trained parameters"),
                       times("b", gradient_bytes(plan) + activation_bytes(plan), "B: gradients out, parameters back"),
                       times("f", plan.offload_fraction, "offloaded"), over("d", shards, "ranks that share it")},
                      "arXiv 2101.06840 section 4.1"),
                 {"pcie", plan.accelerator->pcie_gb_s});
}

}  // namespace

std::vector<Traffic> step_traffic(const Plan& plan, double compute_seconds, double attention_share) {
  std::vector<Traffic> all;
  const Model& model = *plan.subject;
  const bool steps = plan.micro_batches() > 0 && plan.dp() > 0;
  if (!steps) return all;
  if (plan.tp > 1 && model.has_shape) all.push_back(tensor_parallel(plan));
  if (plan.pp > 1 && model.has_shape) all.push_back(pipeline_parallel(plan));
  if (plan.cp > 1 && model.has_shape) all.push_back(context_parallel(plan, compute_seconds * attention_share));
  if (plan.ep > 1 && model.has_shape) all.push_back(expert_parallel(plan));
  add_data_parallel(plan, compute_seconds, all);
  if (plan.offload == Offload::optimizer || plan.offload == Offload::all) all.push_back(offload(plan));
  std::erase_if(all, [](const Traffic& one) { return one.line.too_large; });
  return all;
}

double exposed_seconds(const std::vector<Traffic>& traffic) {
  double seconds = 0;
  for (const Traffic& one : traffic) seconds += one.exposed_seconds;
  return seconds;
}

}  // namespace vram
