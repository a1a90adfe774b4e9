#include "engine/serving/runtime.h"

#include <algorithm>

#include "engine/hardware/context.h"
#include "engine/serving/llamacpp.h"
#include "engine/serving/vllm_run.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kHalf = 2;  // bytes of a 16-bit activation

// Captured graphs a layer. Fitted on six logs of 28 to 61 layers: 0.49 (28), 0.60 (32), 0.65 (34), 0.72 GiB (40), up to
// 1.2 GiB (61).
constexpr double kGraphBytesALayer = 18.5 * kMiB;

// NCCL channels and the custom all-reduce's buffers where more than one GPU works together: non-torch memory of
// start-up logs is 0.2 to 1.8 GiB above that of one GPU.
constexpr double kCommunicationBytes = 0.5 * kGiB;

Line nothing(const char* id, const char* label) { return leaf(id, label, {times("", 0, "B")}); }

// What libraries allocate outside PyTorch while loading and profiling: 0.01 to 0.35 GiB in vllm's logs from 0.6.6 on.
constexpr double kNonTorchBytes = 0.1875 * kGiB;

bool torch_engine(const Plan& plan) { return plan.engine != Engine::llamacpp; }

/// gate and up (2 ffn), their product (ffn), and three copies of the hidden state: reproduces vllm's profile runs
/// without chunked prefill to 0.5% (2.07 GiB at 20,000 and 2.99 GiB at 29,000 tokens of Llama-3.1-8B).
double dense_elements(const Ffn& ffn, double width, double hidden, double tp) {
  return (ffn.gated ? 3 : 2) * width / tp + 3 * hidden;
}

/// vllm fused_moe.py: intermediate_cache1 and 3 share memory, cache2 is the activation.
double moe_elements(const Ffn& ffn, double hidden, const Replica& replica) {
  const double width = ffn.expert_width / (replica.tp * replica.dp / std::min(replica.ep, replica.tp * replica.dp));
  const double routed = ffn.experts_per_token * (std::max((ffn.gated ? 2 : 1) * width, hidden) + width);
  return routed + dense_elements(ffn, ffn.shared_width, hidden, replica.tp);
}

double widest_layer_elements(const Model& model, const Replica& replica) {
  double most = 3 * model.architecture.hidden;
  for (const LayerKind& kind : model.kinds) {
    const double hidden = model.architecture.hidden;
    const double elements = kind.ffn.kind == FfnKind::moe
                                ? moe_elements(kind.ffn, hidden, replica)
                                : dense_elements(kind.ffn, kind.ffn.width, hidden, replica.tp);
    most = std::max(most, elements);
  }
  return most;
}

Line layer_line(const Plan& plan, const Replica& replica, double batch, double sequences) {
  const double tokens = std::min(batch, std::max(1.0, sequences * std::max(1.0, plan.max_len)));
  return leaf("activations", "Activations",
              {times("T", tokens, "tokens of a batch"),
               times("a", widest_layer_elements(*plan.subject, replica), "elements of the widest layer"),
               times("", kHalf, "B")},
              "gate, up, product and hidden states of the widest layer; fitted on vllm profile runs", 0.3);
}

/// vllm's profile run: the larger of a full batch through the widest layer and of sampling for every sequence.
Line vllm_activations(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const VllmRun run = vllm_run(plan);
  Line layer = layer_line(plan, replica, run.tokens, run.sequences);
  if (!stage.has_head) return layer;
  Line sampler =
      leaf("activations", "Activations",
           {times("n", std::min(run.sequences, run.tokens), "sequences"),
            times("V", plan.subject->architecture.vocab, "logits"), times("", run.bytes_a_logit, "B a logit")},
           "the sampler's copies of the logits, not divided by tp; vllm start-up logs and vllm#32558", 0.3);
  return sampler.bytes > layer.bytes ? sampler : layer;
}

/// llama.cpp's compute buffer, on every device. Reproduces logs of seven models to 1%.
Line llamacpp_activations(const Plan& plan) {
  const Architecture& a = plan.subject->architecture;
  const double context = std::max(1.0, plan.concurrency * request_tokens(plan));
  Line logits = leaf("activations", "Compute buffer",
                     {times("u", plan.ubatch, "tokens of a micro-batch"), times("", 4, "B"),
                      times("V + h", a.vocab + a.hidden, "logits and hidden")},
                     "llama.cpp compute buffer: logits of a micro-batch in fp32", 0.1);
  if (plan.flash) return logits;
  Line scores = leaf("activations", "Compute buffer",
                     {times("u", plan.ubatch, "tokens of a micro-batch"), times("", 4, "B"),
                      times("a", a.heads * context + context + (fuses_qkv(a) ? 6 : 4) * a.hidden,
                            "scores, mask and hidden")},
                     "llama.cpp compute buffer without flash attention: scores in fp32", 0.1);
  return scores.bytes > logits.bytes ? scores : logits;
}

Line activations_line(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  if (plan.engine == Engine::llamacpp) return llamacpp_activations(plan);
  if (plan.engine == Engine::vllm) return vllm_activations(plan, replica, stage);
  return layer_line(plan, replica, plan.batch_tokens, plan.max_seqs);
}

Line graphs_line(const Plan& plan, const ServingStage& stage) {
  if (!plan.graphs || !torch_engine(plan)) return nothing("graphs", "CUDA graphs");
  return leaf("graphs", "CUDA graphs",
              {times("L", static_cast<double>(stage.count), "layers"), times("", kGraphBytesALayer, "B a layer")},
              "fitted on start-up logs of vllm and sglang, 28 to 61 layers", 0.5);
}

Line buffers_line(const Plan& plan, const Replica& replica) {
  std::vector<Line> children;
  if (plan.engine == Engine::sglang && plan.max_len > 0) {
    children.push_back(
        leaf("request_table", "Request to token table",
             {times("n", plan.max_seqs, "requests"), times("s", plan.max_len, "tokens"), times("", 4, "B")},
             "sglang memory_pool.py, ReqToTokenPool", 0.01));
  }
  if (plan.engine == Engine::vllm) {
    children.push_back(leaf("non_torch", "Outside PyTorch", {times("", kNonTorchBytes, "B")},
                            "non-torch memory of vllm start-up logs, 0.01 to 0.35 GiB", 0.8));
  }
  if (replica.tp * replica.dp * replica.pp > 1 && torch_engine(plan)) {
    children.push_back(leaf("communication", "Communication", {times("", kCommunicationBytes, "B")},
                            "NCCL channels and all-reduce buffers", 1));
  }
  return children.empty() ? nothing("buffers", "Buffers") : group("buffers", "Buffers", std::move(children));
}

Line context_line(const Plan& plan) {
  return leaf("context", "CUDA context", {times("", context_bytes(*plan.accelerator), "B")},
              "total - free before loading, of vllm start-up logs", 0.3);
}

}  // namespace

RuntimeLines runtime_lines(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  return {activations_line(plan, replica, stage), graphs_line(plan, stage), buffers_line(plan, replica),
          context_line(plan)};
}

}  // namespace vram
