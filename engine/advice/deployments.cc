#include "engine/advice/deployments.h"

#include <algorithm>

#include "engine/advice/change.h"
#include "engine/advice/layouts.h"
#include "engine/compute/links.h"
#include "engine/formats.h"
#include "engine/plan/fault_list.h"

namespace vram {
namespace {

using Words = std::vector<std::string_view>;

double bits_of(std::string_view id) {
  const Format* format = find_format(id);
  return format != nullptr ? format->bits : 16;
}

/// The plan's own format and the narrower ones of `among`.
Words narrower(std::string_view own, const Words& among) {
  Words words = {own};
  for (const std::string_view id : among) {
    if (bits_of(id) < bits_of(own)) words.push_back(id);
  }
  return words;
}

Words weight_formats(const Plan& plan) {
  if (plan.engine == Engine::llamacpp) return narrower(plan.weights, {"q8_0", "q6_k", "q4_k_m"});
  const std::string_view eight = plan.accelerator->fp8_tflops > 0 ? "fp8" : "int8";
  Words words = {eight, "awq"};
  if (plan.accelerator->fp4_tflops > 0) words.push_back("nvfp4");
  return narrower(plan.weights, words);
}

Words cache_formats(const Plan& plan) {
  return narrower(plan.kv, plan.engine == Engine::llamacpp ? Words{"q8_0"} : Words{"fp8"});
}

std::vector<double> replica_sizes(const Plan& plan, bool fixed) {
  if (fixed) return {plan.serve_gpus};
  std::vector<double> sizes;
  const double joined = joined_gpus(plan);
  for (double size = 1; size <= joined; ++size) {
    if (divides(size, joined)) sizes.push_back(size);
  }
  for (const double times : {2.0, 4.0, 8.0}) sizes.push_back(joined * times);
  return sizes;
}

void add_with_formats(const Plan& plan, Deployment deployment, std::vector<Deployment>& out) {
  for (const std::string_view weights : weight_formats(plan)) {
    for (const std::string_view kv : cache_formats(plan)) {
      deployment.weights = weights;
      deployment.kv = kv;
      out.push_back(deployment);
    }
  }
}

/// `ranks` GPUs of one stage.
void add_of_stage(const Plan& plan, double ranks, double pp, std::vector<Deployment>& out) {
  const bool experts = plan.experts > 1 && plan.engine != Engine::llamacpp;
  for (double tp = 1; tp <= std::min(ranks, joined_gpus(plan)); ++tp) {
    if (!divides(tp, ranks) || (tp < ranks && !experts)) continue;
    const double dp = ranks / tp;
    add_with_formats(plan, {tp, pp, dp, 1, {}, {}}, out);
    if (experts && ranks > 1) add_with_formats(plan, {tp, pp, dp, ranks, {}, {}}, out);
  }
}

}  // namespace

std::vector<Deployment> deployments(const Plan& plan, bool fixed) {
  std::vector<Deployment> out;
  for (const double size : replica_sizes(plan, fixed)) {
    if (plan.engine == Engine::llamacpp) {
      add_with_formats(plan, {size, 1, 1, 1, {}, {}}, out);
      continue;
    }
    for (double pp = 1; pp <= std::min(size, std::max(1.0, plan.layers)); ++pp) {
      if (divides(pp, size)) add_of_stage(plan, size / pp, pp, out);
    }
  }
  return out;
}

void deploy(const Deployment& deployment, Plan& plan) {
  plan.given.reset(static_cast<size_t>(Key::serve_gpus));
  put(plan, Key::serve_tp, plan.serve_tp, deployment.tp);
  put(plan, Key::serve_pp, plan.serve_pp, deployment.pp);
  put(plan, Key::serve_dp, plan.serve_dp, deployment.dp);
  put(plan, Key::serve_ep, plan.serve_ep, deployment.ep);
  put(plan, Key::weights, plan.weights, deployment.weights);
  put(plan, Key::kv, plan.kv, deployment.kv);
  resolve(plan);
}

}  // namespace vram
