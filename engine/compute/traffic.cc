#include "engine/compute/traffic.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/compute/achieved.h"
#include "engine/compute/links.h"
#include "engine/compute/recomputed.h"
#include "engine/training/training.h"

namespace vram {
namespace {

constexpr double kActivationBytes = 2;  // activations travel in 16 bit under every precision but fp32

double activation_bytes(const Plan& plan) { return plan.precision == Precision::fp32 ? 4 : kActivationBytes; }

double gradient_bytes(const Plan& plan) { return plan.grad_dtype == GradDtype::fp32 ? 4 : 2; }

Traffic traffic(Line line, const Link& link) {
  Traffic one;
  one.line = std::move(line);
  one.link = link.name;
  if (link.gb_s > 0) one.seconds = static_cast<double>(one.line.bytes) / (link.gb_s * 1e9);
  one.exposed_seconds = one.seconds;
  return one;
}

/// What does not fit under `cover` seconds of arithmetic; some of it never does, since it takes turns with kernels.
void hide_under(Traffic& one, double cover) {
  one.cover_seconds = cover;
  one.exposed_seconds = std::max(kUnhidden * one.seconds, one.seconds - cover);
}

double layers_of_a_stage(const Plan& plan) {
  const auto layers = static_cast<double>(plan.subject->layers.size());
  return layers / plan.pp;
}

/// Narayanan et al. 2021 (arXiv 2104.04473) section 3.2: two all-reduces a layer forward, two backward, each
/// 2 (t - 1) / t of b s h; sequence parallelism splits each into a reduce-scatter and an all-gather of the same volume
/// (arXiv 2205.05198 section 4.2.2). Full recomputation repeats the forward ones. The layer waits for them, but for
/// Megatron-LM's backward ones, which run beside the gradients of the weights (core/tensor_parallel/layers.py).
Traffic tensor_parallel(Sheet& sheet, const Plan& plan, const MicroBatchWork& work) {
  constexpr double kBackward = 2;
  const double reductions = plan.recompute == Recompute::full ? 6 : 4;
  const double times_a_step = layers_of_a_stage(plan) * plan.micro_batches();
  Traffic one = traffic(
      sheet.leaf(
          "tp", "Tensor parallel",
          {times("l", layers_of_a_stage(plan), "layers of a stage"), times("m", plan.micro_batches(), "micro-batches"),
           times("n", reductions, "all-reduces a layer"), times("2", 2, "reduce-scatter and all-gather"),
           times("r - 1", plan.tp - 1, "other ranks"), times("T", plan.tokens_per_micro_batch(), "tokens"),
           times("h", plan.subject->architecture.hidden, "hidden"), times("b", activation_bytes(plan), "B"),
           over("t", plan.tp, "tensor parallel")},
          "arXiv 2104.04473 section 3.2; arXiv 2205.05198 section 4.2.2"),
      ring_link(plan, {plan.tp, 1}));
  one.seconds += times_a_step * reductions * 2 * kMessageSeconds;
  one.exposed_seconds = one.seconds;
  if (plan.framework != Framework::megatron) return one;
  Traffic backward;
  backward.seconds = one.seconds * kBackward / reductions;
  hide_under(backward, work.weight_gradients * plan.micro_batches());
  one.exposed_seconds += backward.exposed_seconds - backward.seconds;
  return one;
}

/// arXiv 2104.04473 section 4.1: b s h forward and its gradient backward, for every micro-batch and model chunk; with
/// sequence parallelism each rank sends its own share. An interleaved schedule sends while it works on another chunk
/// (Megatron-LM, core/pipeline_parallel/schedules.py, overlap_p2p_communication).
Traffic pipeline_parallel(Sheet& sheet, const Plan& plan) {
  Traffic one = traffic(
      sheet.leaf(
          "pp", "Pipeline parallel",
          {times("2", 2, "activations forward, gradients backward"), times("m", plan.micro_batches(), "micro-batches"),
           times("v", std::max(1.0, plan.vpp), "model chunks"), times("T", plan.tokens_per_micro_batch(), "tokens"),
           times("h", plan.subject->architecture.hidden, "hidden"), times("b", activation_bytes(plan), "B"),
           over("sp", plan.sp ? plan.tp : 1, "sequence parallel")},
          "arXiv 2104.04473 section 4.1"),
      pair_link(plan, {plan.pp, plan.gpus / plan.pp}));
  one.exposed_seconds = plan.vpp > 1 ? kUnhidden * one.seconds : one.seconds;
  return one;
}

/// K and V travel around the ring once forward, and again with their gradients backward (ring attention, arXiv
/// 2310.01889, section 3). Hidden under core attention as far as that lasts.
Traffic context_parallel(Sheet& sheet, const Plan& plan, const MicroBatchWork& work) {
  double kv_elements = 0;  // summed over layers
  for (uint8_t kind : plan.subject->layers) {
    const Attention& a = plan.subject->kinds[kind].attention;
    kv_elements += a.kv_heads * (a.qk_head_dim + a.v_head_dim);
  }
  Traffic one = traffic(
      sheet.leaf(
          "cp", "Context parallel",
          {times("m", plan.micro_batches(), "micro-batches"),
           times("3", 3, "K and V forward; again, and their gradients, backward"),
           times("r - 1", plan.cp - 1, "other ranks"), times("T", plan.tokens_per_micro_batch(), "tokens a rank"),
           times("kv", kv_elements, "K and V elements, all layers"), times("b", activation_bytes(plan), "B"),
           over("p", plan.pp, "pipeline parallel"), over("t", plan.tp, "tensor parallel")},
          "arXiv 2310.01889 section 3"),
      ring_link(plan, {plan.cp, plan.tp}));
  hide_under(one, (work.forward.attention + work.backward.attention) * plan.micro_batches());
  return one;
}

/// Chance that none of `experts` lies on a given one of so many nodes.
double missed_by(double experts, double nodes) {
  double missed = 1;
  for (double expert = 0; expert < experts; ++expert) missed *= 1 - 1 / nodes;
  return missed;
}

/// The same where a token's experts lie in a few groups of them, each on its own node or nodes, or several on one
/// (DeepSeek-V3, arXiv 2412.19437, section 2.1.2).
double missed_by_groups(const Architecture& a, double nodes) {
  const double groups = a.expert_groups, chosen = a.groups_per_token, of_a_node = groups / nodes;
  if (of_a_node <= 1) return 1 - chosen / groups * (1 - missed_by(a.experts_per_token, chosen / of_a_node));
  double missed = 1;
  for (double group = 0; group < chosen; ++group) missed *= std::max(0.0, 1 - of_a_node / (groups - group));
  return missed;
}

/// Nodes that a token's experts lie on, besides its own, on average.
double other_nodes(double nodes, const Architecture& a) {
  const double missed = a.groups_per_token > 0 ? missed_by_groups(a, nodes) : missed_by(a.experts_per_token, nodes);
  return (nodes - 1) * (1 - missed);
}

/// A share of the way of tokens to their experts and back, forward and backward (GShard, arXiv 2006.16668, section
/// 3.2); recomputing the layer sends them again. DualPipe sends one micro-batch's while another's are worked on (arXiv
/// 2412.19437, section 3.2.1); else the layer waits.
Traffic expert_traffic(Sheet& sheet, const Plan& plan, const MicroBatchWork& work, Factor copies, bool between_nodes) {
  const Architecture& a = plan.subject->architecture;
  const char* id = between_nodes ? "ep_nodes" : "ep";
  Factors factors = {times("l", plan.subject->moe_layers(), "expert layers"),
                     times("m", plan.micro_batches(), "micro-batches"),
                     times("n", recomputes_dispatch(plan) ? 6 : 4, "dispatches and combinations"),
                     copies,
                     times("T", plan.tokens_per_micro_batch(), "tokens"),
                     times("h", a.moe_latent > 0 ? a.moe_latent : a.hidden, "hidden"),
                     times("b", activation_bytes(plan), "B"),
                     over("p", plan.pp, "pipeline parallel"),
                     over("sp", plan.sp ? plan.tp : 1, "sequence parallel")};
  const RankGroup ranks{plan.ep, plan.etp};
  if (!between_nodes) {
    const double near = ranks_in_a_node(plan, ranks);
    factors.push_back(times("r - 1", near - 1, "other ranks"));
    factors.push_back(over("e", near, "ranks of a node"));
  }
  Traffic one = traffic(
      sheet.leaf(id, between_nodes ? "Expert parallel, between nodes" : "Expert parallel", std::move(factors),
                 between_nodes ? "DeepEP, README: a token goes to each node once" : "arXiv 2006.16668 section 3.2"),
      between_nodes ? pair_link(plan, {plan.gpus, 1}) : pair_link(plan, {ranks_in_a_node(plan, ranks), plan.etp}));
  if (plan.schedule == Schedule::dualpipe) hide_under(one, work.total() * plan.micro_batches());
  return one;
}

void add_expert_parallel(Sheet& sheet, const Plan& plan, const MicroBatchWork& work, std::vector<Traffic>& out) {
  const double topk = plan.subject->architecture.experts_per_token, near = ranks_in_a_node(plan, {plan.ep, plan.etp});
  if (near > 1) out.push_back(expert_traffic(sheet, plan, work, times("k", topk, "experts a token"), false));
  if (near < plan.ep) {
    const double others = other_nodes(plan.ep / near, plan.subject->architecture);
    out.push_back(expert_traffic(sheet, plan, work, times("k", others, "other nodes a token goes to"), true));
  }
}

/// Parameters that are cut alike, and the ranks that hold the same part of them.
struct Replicas {
  const char* id;
  const char* label;
  const char* outer_id;  // between sharding groups
  const char* outer_label;
  double parameters, trained;  // of the whole model
  Factors cut;                 // how many ranks one copy is cut over
  double shards, groups;       // ranks of one sharding group, and how many such groups there are
  double stride;
};

Factors over_ranks(const Replicas& r, Factors factors) {
  factors.push_back(times("r - 1", r.shards - 1, "other ranks"));
  factors.push_back(over("d", r.shards, "data parallel"));
  factors.append(r.cut);
  return factors;
}

/// Gradients are reduced after every micro-batch where a rank keeps only its share of them, else once a step: they
/// accumulate locally.
double reductions_a_step(const Plan& plan) { return plan.zero >= 2 ? plan.micro_batches() : 1; }

/// FSDP gathers for every micro-batch: forward and backward, or (SHARD_GRAD_OP, here ZeRO 2) forward only.
double gathers_a_step(const Plan& plan) {
  if (plan.zero >= 3) return 2 * plan.micro_batches();
  const bool fsdp = plan.framework == Framework::fsdp || plan.framework == Framework::fsdp2;
  return plan.zero == 2 && fsdp ? plan.micro_batches() : 1;
}

/// ZeRO (arXiv 1910.02054) section 7: an all-reduce moves 2 (d - 1) / d of the gradients; stages 1 and 2 replace it by
/// a reduce-scatter of gradients and an all-gather of parameters, stage 3 gathers parameters forward and again backward
/// for every micro-batch: 3 x the parameters.
Line data_parallel_line(Sheet& sheet, const Plan& plan, const Replicas& r) {
  const double gathered = plan.zero >= 1 ? activation_bytes(plan) : gradient_bytes(plan);
  LineList parts(sheet);
  parts.push_back(
      sheet.leaf("gather", plan.zero >= 1 ? "Parameters gathered" : "Reduced gradients gathered",
                 over_ranks(r, {times("P", plan.zero >= 3 ? r.parameters : r.trained, "parameters"),
                                times("b", gathered, "B"), times("n", gathers_a_step(plan), "times a step")}),
                 "arXiv 1910.02054 section 7"));
  parts.push_back(
      sheet.leaf("reduce", "Gradients reduced",
                 over_ranks(r, {times("P", r.trained, "trained parameters"), times("b", gradient_bytes(plan), "B"),
                                times("n", reductions_a_step(plan), "times a step")}),
                 "arXiv 1910.02054 section 7"));
  return sheet.group(r.id, r.label, parts);
}

/// Hybrid sharding (FSDP's HYBRID_SHARD): every rank's share of the gradients is all-reduced between sharding groups.
Line between_groups_line(Sheet& sheet, const Plan& plan, const Replicas& r) {
  Factors factors = {times("P", r.trained, "trained parameters"),
                     times("b", gradient_bytes(plan), "B"),
                     times("n", reductions_a_step(plan), "times a step"),
                     times("2", 2, "reduce-scatter and all-gather"),
                     times("g - 1", r.groups - 1, "other groups"),
                     over("g", r.groups, "sharding groups"),
                     over("d", r.shards, "ranks of a group")};
  factors.append(r.cut);
  return sheet.leaf(r.outer_id, r.outer_label, std::move(factors),
                    "torch.distributed.fsdp, ShardingStrategy.HYBRID_SHARD");
}

/// Stage 3 prefetches under all arithmetic; else only the last micro-batch's backward pass hides what is sent.
double cover_of(const Plan& plan, const MicroBatchWork& work) {
  if (gathers_a_step(plan) > 1 || reductions_a_step(plan) > 1) return work.total() * plan.micro_batches();
  return work.backward.total() + work.repeated.total();
}

/// DeepSpeed's ZeRO 3 gathers parameter by parameter and reaches one card's bandwidth: 16 to 18 GB/s of 25 on 1,536 and
/// 2,240 A100 (arXiv 2104.04473, table 2, micro-batches of one sequence).
Link sharding_link(const Plan& plan, const RankGroup& ranks) {
  const bool by_parameter = plan.framework == Framework::deepspeed && plan.zero >= 3;
  return by_parameter ? pair_link(plan, ranks) : ring_link(plan, ranks);
}

void add_replicas(Sheet& sheet, const Plan& plan, const Replicas& r, const MicroBatchWork& work,
                  std::vector<Traffic>& out) {
  if (r.parameters <= 0) return;
  if (r.shards > 1) {
    out.push_back(traffic(data_parallel_line(sheet, plan, r), sharding_link(plan, {r.shards, r.stride})));
    hide_under(out.back(), cover_of(plan, work));
  }
  if (r.groups > 1) {
    out.push_back(traffic(between_groups_line(sheet, plan, r), ring_link(plan, {r.groups, r.stride * r.shards})));
    hide_under(out.back(), cover_of(plan, work));
  }
}

double expert_parameters(const Model& model) {
  double parameters = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k)
    parameters += model.layers_of_kind(k, 0, model.layers.size()) * model.kinds[k].expert_parameters();
  return parameters * model.scale();
}

void add_data_parallel(Sheet& sheet, const Plan& plan, const MicroBatchWork& work, std::vector<Traffic>& out) {
  const double total = plan.subject->nominal_parameters;
  const double experts = std::min(total, expert_parameters(*plan.subject));
  const bool full = plan.method == Method::full;  // adapters count with the dense part
  const double trained = full ? total - experts : trained_parameters(plan);
  const Factor stages = over("p", plan.pp, "pipeline parallel");
  const double ranks = plan.dp() * plan.cp, expert_ranks = plan.gpus / (plan.etp * plan.ep * plan.pp);
  const double shards = plan.zero >= 1 ? std::min(std::max(1.0, plan.dense_shards()), ranks) : ranks;
  add_replicas(sheet, plan,
               {"dp",
                "Data parallel",
                "dp_groups",
                "Data parallel, between sharding groups",
                total - experts,
                trained,
                {over("t", plan.tp, "tensor parallel"), stages},
                shards,
                ranks / shards,
                plan.tp},
               work, out);
  add_replicas(sheet, plan,
               {"dp_experts",
                "Data parallel, experts",
                "",
                "",
                experts,
                full ? experts : 0,
                {over("e", plan.etp * plan.ep, "ranks of an expert group"), stages},
                expert_ranks,
                1,
                plan.etp * plan.ep},
               work, out);
}

/// ZeRO-Offload (arXiv 2101.06840) section 4.1: gradients go to the host, updated 16-bit parameters come back. Not
/// hidden.
Traffic offload(Sheet& sheet, const Plan& plan) {
  const double shards = plan.tp * plan.pp * (plan.zero >= 1 ? plan.dp() * plan.cp : 1);
  return traffic(
      sheet.leaf("offload", "Optimizer offload",
                 {times("P", trained_parameters(plan), "trained parameters"),
                  times("b", gradient_bytes(plan) + activation_bytes(plan), "B: gradients out, parameters back"),
                  times("f", plan.offload_fraction, "offloaded"), over("d", shards, "ranks that share it")},
                 "arXiv 2101.06840 section 4.1"),
      host_link(plan));
}

}  // namespace

std::vector<Traffic> step_traffic(Sheet& sheet, const Plan& plan, const MicroBatchWork& work) {
  std::vector<Traffic> all;
  const Model& model = *plan.subject;
  const bool steps = plan.micro_batches() > 0 && plan.dp() > 0;
  if (!steps) return all;
  if (plan.tp > 1 && model.has_shape) all.push_back(tensor_parallel(sheet, plan, work));
  if (plan.pp > 1 && model.has_shape) all.push_back(pipeline_parallel(sheet, plan));
  if (plan.cp > 1 && model.has_shape) all.push_back(context_parallel(sheet, plan, work));
  if (plan.ep > 1 && model.has_shape) add_expert_parallel(sheet, plan, work, all);
  add_data_parallel(sheet, plan, work, all);
  if (plan.offload == Offload::optimizer || plan.offload == Offload::all) all.push_back(offload(sheet, plan));
  std::erase_if(all, [](const Traffic& one) { return one.line.too_large; });
  return all;
}

double exposed_seconds(const std::vector<Traffic>& traffic) {
  double seconds = 0;
  for (const Traffic& one : traffic) seconds += one.exposed_seconds;
  return seconds;
}

}  // namespace vram
