#include "engine/training/prompts.h"

#include <algorithm>

#include "engine/training/parameters.h"

namespace vram {
namespace {

// Llama's 30 topmost of 32 layers have prompts of 10 tokens (arXiv 2303.16199, section 4.1); litgpt, adapter.py, counts
// from below: adapter_start_layer, adapter_prompt_length.
constexpr size_t kFirstLayer = 2;
constexpr double kPromptLength = 10;

bool cut_outputs(const Matrix& m) { return m.shard != Shard::replicated && !is_row_parallel(m.part); }

/// A bias and a scale of each output of every linear, and the norms (litgpt, adapter_v2.py, adapter_filter).
double scales_and_norms(const Plan& plan, const std::vector<Matrix>& matrices) {
  double sum = 0;
  for (const Matrix& m : matrices) {
    const double ranks = m.shard == Shard::expert ? plan.ep * plan.etp : cut_outputs(m) ? plan.tp : 1;
    if (m.part == Part::head)
      sum += 2 * padded_vocab(plan, m.rows) / ranks;  // a tied head has its own
    else if (m.linear)
      sum += 2 * m.copies * m.rows / ranks;
    else if (m.part == Part::norm)
      sum += m.count();
  }
  return sum;
}

/// The stage without the layers below the lowest prompt.
Stage prompted_part(const Stage& stage) {
  Stage part = stage;
  for (LayerRange& range : part.ranges) {
    const size_t skipped = std::min(range.count, kFirstLayer - std::min(kFirstLayer, range.first));
    range.first += skipped;
    range.count -= skipped;
  }
  return part;
}

}  // namespace

double differentiated_layers(const Plan& plan, const Stage& stage, size_t kind) {
  const Stage& part = plan.method == Method::adapter ? prompted_part(stage) : stage;
  return layers_of_kind(*plan.subject, part, kind);
}

double prompt_parameters(const Plan& plan, const Stage& stage) {
  const Model& model = *plan.subject;
  const Stage prompted = prompted_part(stage);
  double sum = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    const LayerKind& kind = model.kinds[k];
    sum += layers_of_kind(model, prompted, k) * (kPromptLength * plan.hidden + kind.attention.heads);
    if (plan.method == Method::adapter_v2)
      sum += layers_of_kind(model, stage, k) * scales_and_norms(plan, kind.matrices);
  }
  if (plan.method == Method::adapter_v2 && stage.last) sum += scales_and_norms(plan, model.head);
  return sum;
}

}  // namespace vram
