#pragma once

#include "engine/plan/plan.h"

namespace vram {

/// Megatron-LM's selective recomputation repeats core attention unless `recompute_modules` names other modules only.
bool recomputes_core_attention(const Plan& plan);

/// What else of a layer it repeats: the layer with the matrices, norms and activations of those modules alone
/// (Megatron-LM, core/transformer/transformer_config.py, recompute_modules).
LayerKind recomputed_modules(const Plan& plan, const LayerKind& kind);

/// The modules send tokens to their experts again.
bool recomputes_dispatch(const Plan& plan);

}  // namespace vram
