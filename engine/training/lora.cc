#include "engine/training/lora.h"

#include <vector>

#include "engine/sheet.h"
#include "engine/training/bands.h"
#include "engine/training/parameters.h"
#include "engine/training/prompts.h"
#include "engine/training/states.h"
#include "engine/training/storage.h"

namespace vram {
namespace {

bool of_attention(Part part) {
  return part == Part::q || part == Part::k || part == Part::v || part == Part::qkv_other || part == Part::o;
}

bool of_mlp(Part part) { return is_dense_mlp(part) || is_shared_expert(part) || is_routed_expert(part); }

/// Inputs + outputs of one adapted matrix on one rank: A is rank × inputs, B outputs × rank (arXiv 2106.09685,
/// section 4.1), and the side that tensor parallelism cuts is cut in the adapter too.
double widths_of(const Plan& plan, const Matrix& m, double kv_heads) {
  const double cut = tensor_ranks(plan, m, kv_heads);
  const double copies = m.shard == Shard::expert ? m.copies / plan.ep : m.copies;
  return is_row_parallel(m.part) ? copies * (m.rows + m.cols / cut) : copies * (m.rows / cut + m.cols);
}

/// Inputs + outputs of all adapted matrices of a rank, of the experts or of all others.
double adapted_widths(const Plan& plan, const Stage& stage, bool experts) {
  const Model& model = *plan.subject;
  double sum = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    const double layers = layers_of_kind(model, stage, k);
    const LayerKind& kind = model.kinds[k];
    for (const Matrix& m : kind.matrices)
      if (is_adapted(plan.lora_targets, m) && (m.shard == Shard::expert) == experts)
        sum += layers * widths_of(plan, m, kind.attention.kv_heads);
  }
  if (stage.last && !experts)
    for (const Matrix& m : model.head)
      if (is_adapted(plan.lora_targets, m)) sum += m.rows / plan.tp + m.cols;  // a tied head has adapters of its own
  return sum;
}

struct State {
  const char* id;
  const char* label;
  double bits, copied_bits;  // of low-rank adapters; of what is as the base is stored
  double zero_stage;
  bool offloaded;
};

/// Copies of the base's tables, and prompts, keep the base's precision: peft casts layers of its tuners only
/// (tuners/tuners_utils.py, cast_adapter_dtype; ModulesToSaveWrapper is none).
std::vector<State> states_of(const Plan& plan) {
  const Storage storage = adapter_storage(plan);
  const bool master = storage.master > 0;
  const Storage copied = master ? storage : storage_of(plan);
  const double base = frozen_other_bits(plan);
  const bool all = plan.offload == Offload::all;
  return {{"weights", "Weights", storage.weight, base, 3, all},
          {"gradients", "Gradients", storage.gradient, base, 2, all},
          {"optimizer", "Optimizer", storage.master + storage.moment * storage.moments,
           copied.master + copied.moment * copied.moments, 1, offloads_optimizer(plan)}};
}

struct Share {
  const char* id;
  const char* label;
  Factors count;
  double shards;
  bool copied = false;  // stored as the base is
};

LineList state_leaves(Sheet& sheet, const Plan& plan, const State& state, const std::vector<Share>& shares) {
  LineList leaves(sheet, shares.size());
  for (const Share& share : shares) {
    Factors factors = share.count;
    push_bits(share.copied ? state.copied_bits : state.bits, "bytes a parameter", factors);
    if (plan.zero >= state.zero_stage && share.shards > 1)
      factors.push_back(over("n", share.shards, "ranks of the sharding group"));
    push_kept_share(plan, state.offloaded, factors);
    leaves.push_back(sheet.leaf(
        share.id, share.label, std::move(factors),
        "LoRA, arXiv 2106.09685, section 4.1; LLaMA-Adapter, 2303.16199; precision of the adapters by library",
        kStatesBand));
  }
  return leaves;
}

std::vector<Share> shares_of(const Plan& plan, const Stage& stage) {
  std::vector<Share> shares;
  const bool prompts = trains_prompts(plan);
  const double r = plan.lora_rank, dense = prompts ? 0 : adapted_widths(plan, stage, false);
  const double experts = prompts ? 0 : adapted_widths(plan, stage, true);
  if (prompts)
    shares.push_back(
        {"prompts",
         "Prompts",
         {times("P", prompt_parameters(plan, stage), "parameters of prompts and what is trained beside them")},
         plan.dense_shards(),
         true});
  if (dense > 0)
    shares.push_back(
        {"lora", "Adapters", {times("r", r, "rank"), times("i+o", dense, "inputs and outputs")}, plan.dense_shards()});
  if (experts > 0)
    shares.push_back({"lora_experts",
                      "Adapters of experts",
                      {times("r", r, "rank"), times("i+o", experts, "inputs and outputs")},
                      plan.expert_shards()});
  const double embeddings = trained_embedding_parameters(plan, stage);
  if (embeddings > 0)
    shares.push_back({"embeddings",
                      "Trained embeddings",
                      {times("P", embeddings, "parameters of their copies")},
                      plan.dense_shards(),
                      true});
  return shares;
}

}  // namespace

bool is_adapted(LoraTargets targets, const Matrix& m) {
  if (m.part == Part::head) return targets == LoraTargets::all_head;
  if (!m.linear) return false;
  switch (targets) {
    case LoraTargets::qv:
      return m.part == Part::q || m.part == Part::v;
    case LoraTargets::attention:
      return of_attention(m.part);
    case LoraTargets::mlp:
      return of_mlp(m.part);
    case LoraTargets::all:
    case LoraTargets::all_head:
      break;
  }
  return of_attention(m.part) || of_mlp(m.part) || m.part == Part::linear_mixer;
}

double trained_embedding_parameters(const Plan& plan, const Stage& stage) {
  if (!plan.train_embeddings) return 0;
  double sum = 0;  // peft's modules_to_save keeps the frozen tables and trains a copy of each
  if (stage.first)
    for (const Matrix& m : plan.subject->embedding)
      if (m.part == Part::embedding) sum += padded_vocab(plan, m.rows) * m.cols / plan.tp;
  if (stage.last)
    for (const Matrix& m : plan.subject->head)
      if (m.part == Part::head) sum += m.copies * padded_vocab(plan, m.rows) * m.cols / plan.tp;
  return sum;
}

double adapter_parameters(const Plan& plan, const Stage& stage) {
  if (trains_prompts(plan)) return prompt_parameters(plan, stage);
  return plan.lora_rank * (adapted_widths(plan, stage, false) + adapted_widths(plan, stage, true));
}

Line adapters_line(Sheet& sheet, const Plan& plan, const Stage& stage) {
  if (trains_all(plan)) return sheet.nothing("adapters", "Adapters");
  const std::vector<Share> shares = shares_of(plan, stage);
  if (shares.empty()) return sheet.nothing("adapters", "Adapters");
  LineList children(sheet);
  for (const State& state : states_of(plan))
    children.push_back(sheet.sum(state.id, state.label, state_leaves(sheet, plan, state, shares)));
  return sheet.sum("adapters", "Adapters", children);
}

LineList adapter_weights(Sheet& sheet, const Plan& plan, const Stage& stage) {
  return state_leaves(sheet, plan, states_of(plan).front(), shares_of(plan, stage));
}

}  // namespace vram
