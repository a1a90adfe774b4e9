#include "engine/training/logits.h"

#include <algorithm>

#include "engine/training/activations.h"
#include "engine/training/parameters.h"
#include "engine/training/states.h"
#include "engine/training/storage.h"
#include "engine/training/sum_line.h"

namespace vram {
namespace {

// Peaks over the state before the head, PyTorch 2.6, bytes a logit in bf16; measured on the libraries' own loss code.
double full_loss_bytes(Library library) {
  switch (library) {
    case Library::megatron:  // core/tensor_parallel/cross_entropy.py: bf16 logits and their fp32 softmax
    case Library::litgpt:    // cross_entropy on bf16 logits: logits, log-softmax, gradient
      return 6;
    case Library::nanogpt:  // the same, and the logits are returned
    case Library::unsloth:  // its own cross-entropy works in place
      return 8;
    case Library::torchtitan:  // cross_entropy(logits.float()), logits not kept
      return 12;
    case Library::torchtune:  // measured on the README's rows with packing
    case Library::hf:         // loss/loss_utils.py: bf16 logits, fp32 copy, log-softmax, gradient
      return 14;
  }
  return 14;
}

double chunked_loss_bytes(const Plan& plan) {
  if (plan.library == Library::litgpt) return 4;  // litgpt/utils.py, chunked_cross_entropy: bf16 logits, log-softmax
  if (plan.library == Library::torchtune)         // modules/loss/ce_chunked_output_loss.py, four chunks; compiled,
    return plan.compile ? 2 : 7;                  // the bf16 logits are all that stays (one row of torchtune's README)
  return 4 + 2;                                   // the log-softmax of every chunk stays, its transient is one chunk's
}

/// Fused with the head, no copy of the logits outlives its chunk (Liger kernels, arXiv 2410.10989, section 3.2):
/// the chunk's size is chosen so that it has as many elements as the hidden states.
std::vector<Line> fused_lines(const Plan& plan) {
  Factors factors;
  push_tokens(plan, factors);
  factors.push_back(times("h", plan.subject->architecture.hidden, "hidden"));
  factors.push_back(times("B", 2 * compute_bytes(plan), "gradient of the hidden states, chunk of logits"));
  std::vector<Line> lines = lines_of(leaf("chunk", "A chunk of logits", std::move(factors),
                                          "Liger kernels, arXiv 2410.10989, section 3.2", kLogitsBand));
  if (!trains_all(plan)) return lines;
  for (const Matrix& m : plan.subject->head) {
    if (m.part != Part::head) continue;
    lines.push_back(leaf("head_gradient", "Gradient of the head",
                         {times("V", padded_vocab(plan, m.rows), "vocabulary"), times("h", m.cols, "hidden"),
                          times("B", compute_bytes(plan), "bytes each"), over("tp", plan.tp, "tensor parallel")},
                         "Liger kernels, ops/fused_linear_cross_entropy.py", kLogitsBand));
  }
  return lines;
}

double vocabulary(const Plan& plan) {
  for (const Matrix& m : plan.subject->head)
    if (m.part == Part::head) return padded_vocab(plan, m.rows);
  return padded_vocab(plan, plan.vocab);
}

/// `heads`: the model's own, and one of each prediction module, whose logits live at the same time.
Line copies_leaf(const Plan& plan, double heads) {
  Factors factors;
  if (heads != 1) factors.push_back(times("n", heads, "predictions"));
  push_tokens(plan, factors);
  factors.push_back(times("V", vocabulary(plan), "vocabulary"));
  factors.push_back(times("B", bytes_per_logit(plan), "bytes a logit"));
  if (plan.tp > 1) factors.push_back(over("tp", plan.tp, "tensor parallel"));
  return leaf("copies", "Copies of the logits", std::move(factors),
              "logits, their fp32 copy, softmax and gradient, by library and loss; measured on PyTorch 2.6",
              kLogitsBand);
}

/// Input in fp32 and normalised copy of the final norm, its output (the head's input), the last layer's output.
Line final_norm_leaf(const Plan& plan) {
  const double e = compute_bytes(plan);
  const bool fused = plan.kernels == Kernels::fused || plan.compile || plan.subject->architecture.norm != "rmsnorm";
  Factors factors;
  push_tokens(plan, factors);
  factors.push_back(times("h", plan.subject->architecture.hidden, "hidden"));
  factors.push_back(times("B", fused ? 2 * e : 4 + 3 * e, "bytes each"));
  if (plan.sp && plan.tp > 1) factors.push_back(over("tp", plan.tp, "tensor parallel"));
  return leaf("final_norm", "Final norm", std::move(factors), "as a norm of the layers", kLogitsBand);
}

/// The head reads the whole sequence: Megatron's gathered copy is the buffer of its own that it reuses.
Line head_input_leaf(const Plan& plan) {
  Factors factors;
  push_tokens(plan, factors);
  factors.push_back(times("h", plan.subject->architecture.hidden, "hidden"));
  factors.push_back(times("B", 2 * compute_bytes(plan), "bytes of it and of its gradient"));
  return leaf("head_input", "Gathered input of the head", std::move(factors),
              "torchtitan, models/llama3/parallelize.py: the head's input is gathered along the sequence", kLogitsBand);
}

}  // namespace

double bytes_per_logit(const Plan& plan) {
  double bytes = full_loss_bytes(plan.library);
  if (plan.loss == Loss::inplace) bytes = plan.library == Library::megatron ? 4 : 8;  // bf16 logits become gradients
  if (plan.loss == Loss::chunked) bytes = std::min(bytes, chunked_loss_bytes(plan));
  if (plan.compile && plan.library == Library::torchtune) bytes = std::min(bytes, 8.0);  // its README rows, compiled
  return compute_bytes(plan) == 4 ? bytes + 2 : bytes;
}

Line logits_line(const Plan& plan, const Stage& stage, bool in_loss) {
  if (!in_loss || !stage.last || !plan.subject->has_shape) return sum_line("logits", "Logits and loss", {});
  std::vector<Line> lines =
      plan.loss == Loss::fused ? fused_lines(plan) : lines_of(copies_leaf(plan, 1 + prediction_modules(plan, stage)));
  lines.push_back(final_norm_leaf(plan));
  if (plan.sp && plan.tp > 1 && plan.library == Library::torchtitan) lines.push_back(head_input_leaf(plan));
  return sum_line(
      "logits", "Logits and loss", std::move(lines),
      "copies of the logits by library and loss; band 40%: nine in ten of 31 measured figures that are mostly "
      "logits are within 33%");
}

}  // namespace vram
