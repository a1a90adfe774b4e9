#pragma once

#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace vram {

/// What a plan's architecture and subject were made from, so that a plan whose model did not change keeps them:
/// a layout search resolves a hundred thousand plans of one model.
struct ModelBasis {
  std::string model, arch;
  Architecture merged;  // the plan's model keys on top of base_architecture
  double params = 0;    // nominal count that was given, 0 where it was not
  std::vector<ModelFault> base_faults, subject_faults;
};

/// Sets base_architecture from `model` and `arch`; null where there is no such model.
void load_base(Plan& plan);
/// Sets subject from base_architecture and the plan's model keys, and `params` where it is not given.
void build_subject(Plan& plan);
/// Sets accelerator from `gpu`; null where there is no such accelerator.
void load_accelerator(Plan& plan);

// clang-format off
// Keys of the table that are fields of Architecture under the same name.
#define VRAM_ARCHITECTURE_KEYS(X)                                                                                     \
  X(layers)                                                                                                           \
  X(hidden)                                                                                                           \
  X(heads) X(kv_heads) X(head_dim) X(ffn) X(vocab) X(max_positions) X(gated) X(tied) X(qkv_bias) X(qk_norm)           \
      X(learned_positions) X(experts) X(experts_per_token) X(expert_ffn) X(shared_experts) X(shared_ffn)              \
          X(dense_layers) X(moe_every) X(q_lora_rank) X(kv_lora_rank) X(nope_head_dim) X(rope_head_dim) X(v_head_dim) \
              X(window) X(pattern) X(state_elements) X(mtp_layers) X(extra_params)
// clang-format on

}  // namespace vram
