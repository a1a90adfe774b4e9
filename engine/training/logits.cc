#include "engine/training/logits.h"

#include <algorithm>

#include "engine/sheet.h"
#include "engine/training/activations.h"
#include "engine/training/bands.h"
#include "engine/training/parameters.h"
#include "engine/training/states.h"
#include "engine/training/storage.h"

namespace vram {
namespace {

/// Bytes of all copies of one logit at the fullest moment, computing in 16 bit and in fp32.
struct LogitBytes {
  double half, fp32;
};

double bytes_of(const Plan& plan, LogitBytes bytes) { return compute_bytes(plan) == 4 ? bytes.fp32 : bytes.half; }

// Peaks over the state before the head, PyTorch 2.6; measured on the libraries' own loss code.
LogitBytes full_loss_bytes(const Plan& plan) {
  switch (plan.library) {
    case Library::megatron:  // core/tensor_parallel/cross_entropy.py: logits and their fp32 softmax
      return {6, 8};
    case Library::litgpt:  // fp32 logits and log-softmax, see litgpt_lines
      return {8, 8};
    case Library::nanogpt:  // cross_entropy on the model's own logits, which are returned: logits, log-softmax,
                            // gradients
      return {8, 16};
    case Library::unsloth:  // its own cross-entropy works in place
      return {8, 10};
    case Library::torchtitan:  // cross_entropy(logits.float()), logits not kept; cut along the vocabulary its backward
                               // is `(grad_input + exp(x)) * grad_output`: four fp32 tensors
                               // (torch/distributed/tensor/parallel/loss.py)
      return plan.tp > 1 ? LogitBytes{16, 16} : LogitBytes{12, 12};
    case Library::torchtune:  // measured on the README's rows with packing
    case Library::hf:         // loss/loss_utils.py: bf16 logits, fp32 copy, log-softmax, gradient
      return {14, 16};
  }
  return {14, 16};
}

LogitBytes chunked_loss_bytes(const Plan& plan) {
  if (plan.library == Library::litgpt) return {4, 8};  // utils.py, chunked_cross_entropy: logits, log-softmax
  if (plan.library == Library::torchtune)              // modules/loss/ce_chunked_output_loss.py, four chunks; compiled,
    return plan.compile ? LogitBytes{2, 4} : LogitBytes{7, 9};  // the logits are all that stays (one row of its README)
  return {4 + 2, 4 + 4};  // the log-softmax of every chunk stays, its transient is one chunk's
}

double vocabulary(const Plan& plan) {
  for (const Matrix& m : plan.subject->head)
    if (m.part == Part::head) return padded_vocab(plan, m.rows);
  return padded_vocab(plan, plan.vocab);
}

/// Gradient of the head's weight, `bytes` of an element.
Line head_gradient_leaf(Sheet& sheet, const Plan& plan, double bytes, const char* note) {
  return sheet.leaf(
      "head_gradient", "Gradient of the head",
      {times("V", vocabulary(plan), "vocabulary"), times("h", plan.subject->architecture.hidden, "hidden"),
       times("B", bytes, "bytes each"), over("tp", plan.tp, "tensor parallel")},
      note, kLogitsBand);
}

/// Fused with the head, no copy of the logits outlives its chunk (Liger kernels, arXiv 2410.10989, section 3.2):
/// the chunk's size is chosen so that it has as many elements as the hidden states.
LineList fused_lines(Sheet& sheet, const Plan& plan) {
  Factors factors;
  push_tokens(plan, factors);
  factors.push_back(times("h", plan.subject->architecture.hidden, "hidden"));
  factors.push_back(times("B", 2 * compute_bytes(plan), "gradient of the hidden states, chunk of logits"));
  LineList lines(sheet, {sheet.leaf("chunk", "A chunk of logits", std::move(factors),
                                    "Liger kernels, arXiv 2410.10989, section 3.2", kLogitsBand)});
  if (trains_all(plan))
    lines.push_back(
        head_gradient_leaf(sheet, plan, compute_bytes(plan), "Liger kernels, ops/fused_linear_cross_entropy.py"));
  return lines;
}

void push_logits(const Plan& plan, double bytes, Factors& factors) {
  push_tokens(plan, factors);
  factors.push_back(times("V", vocabulary(plan), "vocabulary"));
  factors.push_back(times("B", bytes, "bytes a logit"));
  if (plan.tp > 1) factors.push_back(over("tp", plan.tp, "tensor parallel"));
}

Line copies_leaf(Sheet& sheet, const Plan& plan, double bytes) {
  Factors factors;
  push_logits(plan, bytes, factors);
  return sheet.leaf("copies", "Copies of the logits", std::move(factors),
                    "logits, their fp32 copy, softmax and gradient, by library and loss; measured on PyTorch 2.6",
                    kLogitsBand);
}

/// Losses of prediction modules come before the model's own and wait for its backward: with their fp32 softmax, in
/// place with the logits that hold it.
Line predictions_leaf(Sheet& sheet, const Plan& plan, double modules) {
  Factors factors = {times("n", modules, "predictions")};
  push_logits(plan, plan.loss == Loss::inplace ? compute_bytes(plan) : 4, factors);
  return sheet.leaf("predictions", "Softmax of predictions", std::move(factors),
                    "Megatron-LM, core/transformer/multi_token_prediction.py, process_mtp_loss", kLogitsBand);
}

constexpr double kLitgptChunk = 128;  // positions: litgpt, utils.py, chunked_cross_entropy; finetune/lora.py

/// Gradients of one chunk's log-softmax and logits, fp32 both.
Line chunk_leaf(Sheet& sheet, const Plan& plan) {
  return sheet.leaf(
      "chunk", "Gradients of a chunk",
      {times("b", plan.micro_batch, "sequences"), times("c", std::min(kLitgptChunk, plan.seq), "tokens a chunk"),
       times("V", vocabulary(plan), "vocabulary"), times("B", 8, "bytes a logit")},
      "litgpt, utils.py, chunked_cross_entropy", kLogitsBand);
}

/// The head is a k-bit matrix there, expanded in the precision it was quantised from, fp16, and from that to bf16.
Line expanded_head_leaf(Sheet& sheet, const Plan& plan) {
  return sheet.leaf(
      "expanded_head", "Expanded head",
      {times("V", vocabulary(plan), "vocabulary"), times("h", plan.subject->architecture.hidden, "hidden"),
       times("B", 4, "bytes of an fp16 and a bf16 copy")},
      "Lightning, fabric/plugins/precision/bitsandbytes.py, _quantize_weight", kLogitsBand);
}

/// Lightning's precision plugin turns a model's outputs to fp32 (fabric/plugins/precision/half.py, convert_output).
/// Fullest is either the loss, with fp32 logits and log-softmax and one chunk's gradients, or the head's backward, with
/// fp32 logits, their 16-bit gradients and a head that is expanded.
LineList litgpt_lines(Sheet& sheet, const Plan& plan) {
  LineList loss(sheet, {copies_leaf(sheet, plan, bytes_per_logit(plan)), chunk_leaf(sheet, plan)});
  if (trains_all(plan) || plan.base != Base::nf4) return loss;
  LineList head(sheet, {copies_leaf(sheet, plan, 4 + 2), expanded_head_leaf(sheet, plan)});
  return total_bytes(head) > total_bytes(loss) ? std::move(head) : std::move(loss);
}

LineList loss_lines(Sheet& sheet, const Plan& plan, const Stage& stage) {
  if (plan.loss == Loss::fused) return fused_lines(sheet, plan);
  if (plan.library == Library::litgpt && plan.loss == Loss::full) return litgpt_lines(sheet, plan);
  LineList lines(sheet, {copies_leaf(sheet, plan, bytes_per_logit(plan))});
  if (const double modules = prediction_modules(plan, stage); modules > 0)
    lines.push_back(predictions_leaf(sheet, plan, modules));
  // The head runs a chunk at a time, too: while the logits' gradients wait, its weight's gradient and one chunk's to be
  // added to it.
  if (plan.loss == Loss::chunked && plan.library == Library::torchtune && trains_all(plan))
    lines.push_back(
        head_gradient_leaf(sheet, plan, 2 * compute_bytes(plan), "torchtune, modules/transformer.py, chunked_output"));
  return lines;
}

/// Input in fp32 and normalised copy of the final norm, its output (the head's input), the last layer's output.
Line final_norm_leaf(Sheet& sheet, const Plan& plan) {
  const double e = compute_bytes(plan);
  const bool fused = plan.kernels == Kernels::fused || plan.compile || plan.subject->architecture.norm != "rmsnorm";
  Factors factors;
  push_tokens(plan, factors);
  factors.push_back(times("h", plan.subject->architecture.hidden, "hidden"));
  factors.push_back(times("B", fused ? 2 * e : 4 + 3 * e, "bytes each"));
  if (plan.sp && plan.tp > 1) factors.push_back(over("tp", plan.tp, "tensor parallel"));
  return sheet.leaf("final_norm", "Final norm", std::move(factors), "as a norm of the layers", kLogitsBand);
}

/// The head is a linear with a scale, too.
Line unscaled_leaf(Sheet& sheet, const Plan& plan) {
  Factors factors;
  push_tokens(plan, factors);
  factors.push_back(times("V", vocabulary(plan), "vocabulary"));
  factors.push_back(times("B", compute_bytes(plan), "bytes each"));
  if (plan.tp > 1) factors.push_back(over("tp", plan.tp, "tensor parallel"));
  return sheet.leaf("unscaled", "Logits before their scale", std::move(factors),
                    "litgpt, adapter_v2.py, AdapterV2Linear", kLogitsBand);
}

/// The head reads the whole sequence: Megatron's gathered copy is the buffer of its own that it reuses.
Line head_input_leaf(Sheet& sheet, const Plan& plan) {
  Factors factors;
  push_tokens(plan, factors);
  factors.push_back(times("h", plan.subject->architecture.hidden, "hidden"));
  factors.push_back(times("B", 2 * compute_bytes(plan), "bytes of it and of its gradient"));
  return sheet.leaf("head_input", "Gathered input of the head", std::move(factors),
                    "torchtitan, models/llama3/parallelize.py: the head's input is gathered along the sequence",
                    kLogitsBand);
}

}  // namespace

double bytes_per_logit(const Plan& plan) {
  double bytes = bytes_of(plan, full_loss_bytes(plan));
  // On the model's own logits: those, log-softmax and two gradients (transformers before 4.45, models/gpt_bigcode; the
  // code of Qwen-7B); under autocast the cross-entropy casts them itself.
  if (plan.loss == Loss::uncast) bytes = std::min(bytes, bytes_of(plan, {runs_autocast(plan) ? 12.0 : 8.0, 16}));
  // Compiled, what works in place does no more (core/fusions/fused_cross_entropy.py); torchtitan's keeps the logits and
  // makes their gradient.
  if (plan.loss == Loss::compiled && plan.library == Library::megatron) bytes = bytes_of(plan, {10, 8});
  if (plan.loss == Loss::compiled && plan.library == Library::torchtitan) bytes = bytes_of(plan, {4, 8});
  if (plan.loss == Loss::inplace)  // 16-bit logits become gradients
    bytes = bytes_of(plan, plan.library == Library::megatron ? LogitBytes{4, 6} : LogitBytes{8, 10});
  if (plan.loss == Loss::chunked) bytes = std::min(bytes, bytes_of(plan, chunked_loss_bytes(plan)));
  if (plan.compile && plan.library == Library::torchtune)  // its README rows, compiled
    bytes = std::min(bytes, bytes_of(plan, {8, 10}));
  return bytes;
}

bool has_logit_blocks(const Plan& plan) {
  const bool copies = plan.loss == Loss::full || plan.loss == Loss::inplace || plan.loss == Loss::uncast;
  return plan.library == Library::hf && copies && plan.subject->has_shape;
}

uint64_t logit_blocks_bytes(const Plan& plan) {
  if (!has_logit_blocks(plan)) return 0;
  // loss/loss_utils.py, forward and backward: 16-bit logits 2, in fp32 4, shifted 4; their gradients 4 and, not in
  // place, log-softmax 4. 18 and 14 bytes; figures of nvidia-smi give 17 to 21 and 14 to 19. Uncast every block is of
  // one size and serves again.
  const double blocks = plan.loss == Loss::full ? 18 : plan.loss == Loss::inplace ? 14 : 0;
  Factors factors;
  push_logits(plan, std::max(0.0, blocks - bytes_per_logit(plan)), factors);
  return product(factors, kLogitsBand).bytes;
}

Line logits_line(Sheet& sheet, const Plan& plan, const Stage& stage, bool in_loss) {
  if (!in_loss || !stage.last || !plan.subject->has_shape) return sheet.nothing("logits", "Logits and loss");
  LineList lines = loss_lines(sheet, plan, stage);
  if (plan.method == Method::adapter_v2) lines.push_back(unscaled_leaf(sheet, plan));
  lines.push_back(final_norm_leaf(sheet, plan));
  if (plan.sp && plan.tp > 1 && plan.library == Library::torchtitan) lines.push_back(head_input_leaf(sheet, plan));
  return sheet.sum("logits", "Logits and loss", lines, "copies of the logits by library and loss");
}

}  // namespace vram
