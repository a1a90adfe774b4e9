#pragma once

#include "engine/compute/work.h"

namespace vram {

/// Matrix products of one layer and one micro-batch on one GPU.
struct ProductSeconds {
  double forward = 0, input_gradients = 0, weight_gradients = 0;
};

/// Seconds of (m x k) times (k x n), `groups` of them in one kernel.
double product_seconds(const Rates& rates, double rate, double m, double n, double k, double groups = 1);

/// Every linear of a layer of that kind.
ProductSeconds layer_products(const Plan& plan, const Rates& rates, const LayerKind& kind);

/// The head (no head: zeros).
ProductSeconds head_products(const Plan& plan, const Rates& rates);

/// Token-expert pairs that one rank's experts work on.
double expert_pairs(const Plan& plan, const Ffn& ffn);

}  // namespace vram
