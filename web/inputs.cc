#include "web/inputs.h"

#include <algorithm>
#include <array>

namespace vram {
namespace {

/// What a first look needs.
constexpr std::array kEssential = {
    Key::gpus,       Key::method,    Key::framework, Key::precision,   Key::optimizer,   Key::tp,
    Key::pp,         Key::cp,        Key::zero,      Key::seq,         Key::micro_batch, Key::global_batch,
    Key::recompute,  Key::attention, Key::loss,      Key::offload,     Key::lora_rank,   Key::lora_targets,
    Key::base,       Key::tokens,    Key::mfu,       Key::engine,      Key::weights,     Key::kv,
    Key::serve_gpus, Key::prompt,    Key::output,    Key::concurrency, Key::max_len,     Key::utilization,
    Key::derate};

/// What a model or GPU made from nothing needs first.
constexpr std::array kModelFromNothing = {Key::params,   Key::layers, Key::hidden, Key::heads,
                                          Key::kv_heads, Key::ffn,    Key::vocab,  Key::gated};
constexpr std::array kGpuFromNothing = {Key::gpu_mem, Key::gpu_tflops, Key::gpu_bw};

template <class List>
bool holds(const List& list, Key key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

constexpr std::array kTargets = {Key::qps, Key::ttft, Key::tpot};

bool is_essential(const App& app, Key key) {
  const Plan& plan = app.plan();
  if (plan.view == View::plan && (is_asked(field(key)) || holds(kTargets, key))) return true;
  if (key == Key::ep) return plan.experts > 0;
  if (plan.model == "custom" && !is_given(app, Key::arch) && holds(kModelFromNothing, key)) return true;
  if (plan.gpu == "custom" && holds(kGpuFromNothing, key)) return true;
  return holds(kEssential, key);
}

}  // namespace

bool is_asked(const Field& row) { return row.section == "Question" && row.key != Key::question; }

bool is_shown(const App& app, Key key) {
  return is_essential(app, key) || is_given(app, key) || app.drafts.contains(key);
}

}  // namespace vram
