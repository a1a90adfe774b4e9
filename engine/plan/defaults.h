#pragma once

#include "engine/model/architecture.h"
#include "engine/plan/plan.h"

// Defaults that take more than an expression in the field table. Each looks only at keys above its own.
namespace vram {

/// At least 1, and whole: the default of a size that is a quotient of others.
double whole(double value);

double default_kv_heads(const Plan& p, const Architecture& base);
double default_head_dim(const Plan& p, const Architecture& base);
Library default_library(const Plan& p);
Precision default_precision(const Plan& p);
GradDtype default_grad_dtype(const Plan& p);
Moments default_moments(const Plan& p);
double default_zero(const Plan& p);
double default_seq(const Plan& p);
Kernels default_kernels(const Plan& p);
Residual default_residual(const Plan& p);
/// The checkpoint's storage format, else bf16.
std::string_view default_weights(const Architecture& base);
/// serve_tp, serve_pp and serve_dp stand below serve_gpus: only what was given of them counts.
double default_serve_gpus(const Plan& p);
double default_serve_tp(const Plan& p);
double default_block(const Plan& p);
double default_utilization(const Plan& p);
bool default_graphs(const Plan& p);

}  // namespace vram
