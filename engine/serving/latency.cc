#include "engine/serving/latency.h"

#include <algorithm>
#include <cmath>

#include "engine/compute/compute.h"
#include "engine/compute/links.h"
#include "engine/formats.h"
#include "engine/largest.h"
#include "engine/serving/cache_groups.h"
#include "engine/serving/experts.h"
#include "engine/serving/kernels.h"
#include "engine/serving/llamacpp_buffer.h"
#include "engine/serving/roofline.h"
#include "engine/serving/vllm_run.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

// Two channels of DDR5-5600 at seven tenths, as one memory's bandwidth is reached by processors of desktops.
constexpr double kHostBytesASecond = 64e9;

constexpr double kOffloadedBatch = 32;  // tokens: ggml-cuda.cu, ggml_backend_cuda_device_offload_op

/// A model without a shape: 2 FLOPs a parameter.
double token_flops(const Plan& plan, double context) {
  const Model& model = *plan.subject;
  return model.has_shape ? forward_flops_per_token(model, context) : 2 * model.nominal_parameters;
}

/// Bytes that a token's way through dense layers moves between kernels on one of `tp` GPUs, in 16 bit: gate and up are
/// written, read, and their product is (6 ffn); around them two norms, two residual sums, query, key, value and the
/// attention's output (16 h, which only the inner ones share).
/// Of each of its experts the same, and what it says is written, read and added up (4 h). `experts_apart`: else the
/// share of experts' products has theirs.
double activation_bytes(const Model& model, double tp, bool experts_apart) {
  double elements = 0;
  const double hidden = model.architecture.hidden;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    const LayerKind& kind = model.kinds[k];
    const bool mixture = kind.ffn.kind == FfnKind::moe;
    if (mixture && !experts_apart) continue;
    const double mlp =
        mixture ? kind.ffn.experts_per_token * (6 * kind.ffn.expert_width / tp + 4 * hidden) : 6 * kind.ffn.width / tp;
    elements += (mlp + 16 * hidden) * model.layers_of_kind(k, 0, model.layers.size());
  }
  return 2 * elements;
}

/// Without flash attention: a token's scores against `context` others, which kernels pass on in fp32 (written, read by
/// the softmax, written, read).
double score_bytes(const Model& model, double context) {
  double scores = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    const LayerKind& kind = model.kinds[k];
    if (kind.mixer != Mixer::full && kind.mixer != Mixer::sliding) continue;
    scores += kind.attention.heads * context * model.layers_of_kind(k, 0, model.layers.size());
  }
  return 4 * 4 * scores;
}

/// Products of a token with its experts.
double expert_token_flops(const Model& model) {
  double parameters = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    const LayerKind& kind = model.kinds[k];
    if (kind.ffn.kind != FfnKind::moe || kind.ffn.experts <= 0) continue;
    parameters += kind.expert_parameters() * kind.ffn.experts_per_token / kind.ffn.experts *
                  model.layers_of_kind(k, 0, model.layers.size());
  }
  return 2 * parameters;
}

/// Heads that FlashMLA's sparse kernels work on at once: a rank's fewer ones are padded (vllm's
/// mla/flashmla_sparse.py), on Blackwell until FlashInfer's take them (vllm#33451, 0.16). sglang's GLM-5.2 on eight
/// H200 shows no such loss.
double sparse_heads(const Plan& plan) {
  constexpr double kOnHopper = 64, kOnBlackwell = 128, kFlashinfer = 16e3;
  if (plan.accelerator->vendor != "NVIDIA" || plan.engine != Engine::vllm) return 1;
  if (!plan.accelerator->family.starts_with("NVIDIA Blackwell")) return kOnHopper;
  return release_number(plan) < kFlashinfer ? kOnBlackwell : 1;
}

/// What a step multiplies beyond a prompt's attention: latents are not expanded for it, each head meets them as they
/// are stored, keys of their rank and the rotated part, values of the rank (vllm's v1/attention/backends/mla/common.py,
/// forward_mqa, and its like in sglang and TensorRT-LLM).
double absorbed_flops(const Plan& plan, double tp, double context) {
  const Model& model = *plan.subject;
  const double topk = model.architecture.index_topk;
  double products = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    const Attention& a = model.kinds[k].attention;
    if (model.kinds[k].mixer != Mixer::full || a.kv_lora_rank <= 0) continue;
    const bool sparse = topk > 0 && a.index_head_dim > 0;
    const double heads = sparse ? tp * round_up(a.heads / tp, sparse_heads(plan)) : a.heads;
    const double more = heads * (2 * a.kv_lora_rank + a.rope_head_dim) - a.heads * (a.qk_head_dim + a.v_head_dim);
    const double attended = sparse ? std::min(topk, context) : context;
    products += attended * std::max(0.0, more) * model.layers_of_kind(k, 0, model.layers.size());
  }
  return 2 * products;
}

/// Share of the products without experts' that a checkpoint of fewer bits leaves in 16: attention in NVFP4 and MXFP4
/// mixtures.
double unquantised_share(const Plan& plan, const Replica& replica) {
  double wide = 0, all = 0;
  for (const WeightParcel& parcel : weight_parcels(plan, replica, whole_model(plan))) {
    const WeightSection section = parcel.section;
    if (section != WeightSection::attention && section != WeightSection::mlp && section != WeightSection::mixer)
      continue;
    all += parcel.elements / parcel.divisor;
    if (parcel.bits >= 16) wide += parcel.elements / parcel.divisor;
  }
  return all > 0 ? wide / all : 0;
}

/// KV of one request that a step reads, and states, which it writes back as well.
double cache_bytes_read(const std::vector<CacheGroup>& groups, double context) {
  double bytes = 0;
  for (const CacheGroup& group : groups) {
    const double tokens = group.window > 0 ? std::min(group.window, context) : context;
    bytes += group.layers * (group.bits_per_token() * tokens / 8 + 2 * group.state_bytes);
  }
  return bytes;
}

/// One forward pass at a time: everything that its duration is made of.
class Pass {
 public:
  Pass(const Plan& plan, const Replica& replica)
      : plan_(plan), replica_(replica), roof_(roofline(plan, replica)), model_(*plan.subject) {
    const Replica one_stage{replica.tp, 1, replica.dp, replica.ep};
    groups_ = read_groups(plan, one_stage, whole_model(plan));
    if (plan.gpu_bw > 0)
      moved_ = activation_bytes(model_, replica.tp, roof_.expert_flops > 0) /
               (plan.gpu_bw * 1e9 * bandwidth_share(plan, 16));
    if (roof_.expert_flops > 0) expert_token_flops_ = expert_token_flops(model_);
    if (roof_.flops16 != roof_.flops) unquantised_ = unquantised_share(plan, one_stage);
    const ServingStage host = host_stage(plan), all = whole_model(plan);
    const ServingStage gpu = {host.count, all.count - host.count, !host.has_head, !host.has_head,
                              false,      host.more_experts};
    for (const ReadBytes& read : weight_bytes_read(plan, one_stage, gpu)) {
      const double seconds = read.bytes / (plan.gpu_bw * 1e9 * bandwidth_share(plan, read.bits));
      (read.draft ? draft_seconds_ : read.experts ? expert_seconds_ : seconds_) += seconds;
      if (read.head) head_seconds_ += seconds;
    }
    if (host.count == 0 && host.more_experts == 0) return;
    // Layers in host memory are worked on there.
    const ServingStage there = {0, host.count, false, host.has_head, false, 0, host.more_experts};
    for (const ReadBytes& read : weight_bytes_read(plan, Replica{}, there)) {
      if (read.host_experts)
        host_expert_bytes_ += read.bytes;
      else
        (read.experts ? expert_seconds_ : seconds_) += read.bytes / kHostBytesASecond;
    }
  }

  /// Products of `tokens` that each see `context` before them.
  double compute(double tokens, double context) const {
    if (roof_.flops <= 0) return 0;
    const double experts = expert_token_flops_ > 0 ? expert_token_flops_ / roof_.expert_flops : 0;
    const double products = token_flops(plan_, 0), scores = token_flops(plan_, context) - products;
    const double others =
        (products - expert_token_flops_) * ((1 - unquantised_) / roof_.flops + unquantised_ / roof_.flops16);
    const double stored = plan_.engine == Engine::llamacpp && !plan_.flash ? score_bytes(model_, context) : 0;
    return tokens * ((others + scores / roof_.flops16 + experts) / replica_.tp + moved_ +
                     stored / (plan_.gpu_bw * 1e9 * bandwidth_share(plan_, 16)));
  }
  /// Of a step's latents, where an engine is a server.
  double absorbed(double tokens, double context) const {
    const bool serves = plan_.engine != Engine::llamacpp && plan_.engine != Engine::generic;
    if (roof_.flops16 <= 0 || !serves) return 0;
    return tokens * absorbed_flops(plan_, replica_.tp, context) / roof_.flops16 / replica_.tp;
  }
  /// Weights read, of experts those that `tokens` of each data-parallel rank meet: all ranks share them.
  double weights(double tokens) const {
    const Architecture& a = model_.architecture;
    const double share = plan_.engine == Engine::llamacpp ? rows_share(plan_, tokens) : 1;
    const double others = seconds_ * share + (host_expert_bytes_ > 0 ? host_experts(tokens) : 0);
    if (expert_seconds_ <= 0) return others;
    const double touched = touched_experts(a.experts, a.experts_per_token, tokens * replica_.dp);
    return others +
           expert_seconds_ * share * (replica_.ep > 1 ? fullest_rank(a.experts, replica_.ep, touched) : touched);
  }
  double cache(double requests, double context) const {
    return requests * cache_bytes_read(groups_, context) / (plan_.gpu_bw * 1e9 * bandwidth_share(plan_, 16));
  }
  /// An all-reduce behind every mixer and every MLP (arXiv 1909.08053, section 3), in 16 bit: 2 (n - 1) / n of the
  /// bytes pass each GPU.
  double reduces(double tokens, double passes = 1) const {
    if (replica_.tp <= 1) return 0;
    const double count = half_layers(model_);
    const double bytes = tokens * model_.architecture.hidden * 2 * 2 * (replica_.tp - 1) / replica_.tp;
    return count * (passes * roof_.reduce_seconds + (roof_.link_bytes > 0 ? bytes / roof_.link_bytes : 0));
  }
  /// Every token goes to its experts on other GPUs and comes back in 16 bit, or to all of them at once. The ranks of a
  /// tensor-parallel group have it already: they add up what their experts say as they would without ep.
  double dispatches(double tokens, double passes = 1) const {
    if (replica_.ep <= 1 || replica_.dp <= 1 || roof_.link_bytes <= 0) return 0;
    const double copies = std::min(model_.architecture.experts_per_token, replica_.ep - 1);
    const double bytes = tokens / replica_.tp * copies * model_.architecture.hidden * 2 * 2;
    return model_.moe_layers() * (2 * passes * roof_.reduce_seconds + bytes / roof_.link_bytes);
  }
  /// Each token is drafted in a pass of its own: the draft's layers, of whose experts `requests` meet some, and the
  /// head (vllm, v1/spec_decode/eagle.py, propose; sglang, srt/speculative/eagle_worker.py, draft_forward).
  double drafts(double requests) const {
    const Architecture& a = model_.architecture;
    const double layers = draft_layer_count(plan_) / std::max(1.0, static_cast<double>(model_.layers.size()));
    if (layers <= 0) return 0;
    const double touched = touched_experts(a.experts, a.experts_per_token, requests * replica_.dp);
    const double own = draft_seconds_ * touched + layers * (kernel_seconds(plan_) + reduces(requests));
    return plan_.draft_tokens * (own + head_seconds_);
  }
  const Replica& replica() const { return replica_; }
  double launches(double tokens) const { return stage_seconds(plan_, replica_) + kernel_seconds(plan_, tokens); }

 private:
  /// llama.cpp's routed experts in host memory: read there, or, of batches that the GPU works out, those that are met
  /// are copied to it for every micro-batch (ggml-backend.cpp, ggml_backend_sched_compute_splits).
  double host_experts(double tokens) const {
    const Architecture& a = model_.architecture;
    const double batch = std::min(tokens, plan_.ubatch), link = host_link(plan_).gb_s * 1e9;
    const double bytes = touched_experts(a.experts, a.experts_per_token, batch) * host_expert_bytes_;
    const bool copied = batch >= kOffloadedBatch && link > 0;
    return std::max(1.0, tokens / plan_.ubatch) * bytes / (copied ? link : kHostBytesASecond);
  }

  const Plan& plan_;
  const Replica& replica_;
  const Roofline roof_;
  const Model& model_;
  std::vector<CacheGroup> groups_;
  double moved_ = 0;                         // seconds a token
  double unquantised_ = 0;                   // share of products, without experts'
  double expert_token_flops_ = 0;            // where experts' products have a share of their own
  double seconds_ = 0, expert_seconds_ = 0;  // of the weights, all stages
  double draft_seconds_ = 0, head_seconds_ = 0;
  double host_expert_bytes_ = 0;  // n_cpu_moe's
};

/// Tokens of a prompt that are not found in the cache.
double new_tokens(const Plan& plan) { return plan.prompt - std::min(plan.prefix, plan.prompt) * plan.prefix_hit; }

/// Tokens of prompts that go through the model together: llama.cpp cuts batches into micro-batches
/// (src/llama-context.cpp, llama_context::decode).
double most_together(const Plan& plan) {
  const double most = plan.engine == Engine::llamacpp ? std::min(plan.batch_tokens, plan.ubatch) : plan.batch_tokens;
  return std::max(1.0, most);
}

// Of the four micro-batches that have copies, three are at work together: 8B and 70B on 2 to 8 RTX 3090 and 4090,
// prompts of 512 to 8192 tokens (XiongjieDai/GPU-Benchmarks-on-LLM-Inference).
constexpr double kMicroBatchesAtOnce = 3;

/// Of the time of one micro-batch after the other, where llama.cpp's GPUs follow each other with several.
double overlapped(const Plan& plan, const Replica& replica, double passes) {
  if (passes <= 1 || !copies_inputs(plan, replica)) return 1;
  const double stages = std::min(replica.pp, kMicroBatchesAtOnce);
  return (passes + stages - 1) / (passes * stages);
}

/// A prompt in `passes` of the model, each of which reads the weights, as long as the GPU works on it.
double worked_seconds(const Plan& plan, const Pass& pass, double passes) {
  const double tokens = new_tokens(plan);
  if (tokens <= 0 || pass.compute(1, 1) <= 0) return 0;
  const double context = plan.prompt - tokens / 2, each = tokens / passes;
  const double caches = plan.engine == Engine::llamacpp ? passes * pass.cache(1, context) : 0;
  // vllm's sparse attention meets latents as they are stored in prompts, too (mla/flashmla_sparse.py).
  const bool sparse = plan.engine == Engine::vllm && plan.subject->architecture.index_topk > 0;
  const double compute = pass.compute(tokens, context) + (sparse ? pass.absorbed(tokens, context) : 0);
  const double worked = compute + caches + passes * (pass.weights(each) + pass.launches(each));
  const double apart = plan.engine == Engine::llamacpp ? overlapped(plan, pass.replica(), passes) : 1;
  return worked * apart + pass.reduces(tokens, passes) + pass.dispatches(tokens, passes);
}

/// ... and no shorter than the host takes to launch it.
double prefill_seconds(const Plan& plan, const Pass& pass, double passes) {
  const double worked = worked_seconds(plan, pass, passes);
  return worked > 0 ? std::max(worked, passes * prompt_launch_seconds(plan)) : 0;
}

// A host launches ahead while steps are under way: of a pass of its own 0.6 are left (fitted with kernels.cc).
constexpr double kLaunchedAhead = 0.6;

/// What each prompt takes of a loaded server's time: n/O requests end with a step, and as many come into one pass.
double loaded_prefill_seconds(const Plan& plan, const Pass& pass, double batch, double most) {
  const double passes = new_tokens(plan) / most, worked = worked_seconds(plan, pass, passes);
  if (worked <= 0) return 0;
  const double together = std::clamp(batch / std::max(1.0, plan.output), 1.0, std::max(1.0, 1 / passes));
  return std::max(worked, kLaunchedAhead * loaded_launch_seconds(plan) * std::max(passes, 1 / together));
}

/// The mean over prompts that come at one moment, in the order they came. The first is begun as soon as it is there and
/// alone; those of each further pass are done together, and no sooner than the host has launched it.
double burst_prefill_seconds(const Plan& plan, const Pass& pass, double batch, double most) {
  const double first = prefill_seconds(plan, pass, ceil_div(new_tokens(plan), most)), others = batch - 1;
  if (others <= 0) return first;
  const double together = std::min(others, std::max(1.0, std::floor(most / std::max(1.0, new_tokens(plan)))));
  const double worked = worked_seconds(plan, pass, new_tokens(plan) / most) * (others + together) / 2;
  const double launched = prompt_launch_seconds(plan) * (others / together + 1) / 2;
  return first + others / batch * std::max(worked, launched);
}

/// Tokens that one step of speculative decoding yields: 1 + a + a^2 ... + a^k (arXiv 2211.17192, equation 1).
double tokens_a_step(const Plan& plan) {
  double tokens = 1, accepted = 1;
  for (double i = 0; i < plan.draft_tokens; ++i) {
    accepted *= plan.acceptance;
    tokens += accepted;
  }
  return tokens;
}

/// Requests of one data-parallel rank in one stage at one time. llama.cpp's are one batch, which goes through the
/// stages one after the other (src/llama-context.cpp, llama_context::decode: a micro-batch of all sequences).
double requests_together(const Plan& plan, const Replica& replica, double requests) {
  const double batches = plan.engine == Engine::llamacpp ? 1 : replica.pp;
  return std::max(1.0, requests / (replica.dp * batches));
}

void fill_step(const Plan& plan, const Pass& pass, double batch, Latency& result) {
  const double context = plan.prompt + plan.output / 2, checked = batch * (1 + plan.draft_tokens);
  const double latents = plan.kv_lora_rank > 0 ? pass.absorbed(checked, context) : 0;
  const double compute = pass.compute(checked, context) + latents;
  const double memory = pass.weights(checked) + pass.cache(batch, context);
  result.compute_bound = compute > memory;
  // Added, not overlapped: vllm on an L4 takes 57, 61 and 98 ms a step with 1, 10 and 63 requests of Qwen2.5-7B.
  result.step_seconds = compute + memory + pass.reduces(checked) + pass.dispatches(checked) + pass.launches(checked) +
                        (plan.draft_tokens > 0 ? pass.drafts(batch) : 0) + batch * request_seconds(plan);
  result.step_seconds = std::max(result.step_seconds, step_launch_seconds(plan));
}

Latency latency_of(const Plan& plan, const Replica& replica, const Pass& pass, double requests) {
  Latency result;
  const double batch = requests_together(plan, replica, requests), most = most_together(plan);
  fill_step(plan, pass, batch, result);
  result.prefill_seconds = prefill_seconds(plan, pass, ceil_div(new_tokens(plan), most));
  // While a request writes its tokens, each other one is replaced once and prefilled.
  const double packed = loaded_prefill_seconds(plan, pass, batch, most);
  const double own = result.step_seconds / tokens_a_step(plan), output = std::max(1.0, plan.output);
  result.token_seconds = own + (batch - 1) * packed / output;
  // A request comes in the middle of a step. The share of time that prefills take, P n / (O t + P n), makes a queue of
  // them: M/D/1, as far as a share is a load.
  const double wait = batch * packed / (2 * output * own) * packed;
  result.first_token_seconds =
      server_seconds(plan) + result.prefill_seconds + (batch > 1 ? wait + result.step_seconds / 2 : 0);
  result.packed_seconds = prefill_seconds(plan, pass, new_tokens(plan) / most) * batch / std::max(1.0, requests);
  result.burst_seconds =
      std::max(result.first_token_seconds, server_seconds(plan) + burst_prefill_seconds(plan, pass, batch, most));
  result.burst_seconds = std::max(result.burst_seconds, server_seconds(plan) + admission_seconds(plan) * requests / 2);
  return result;
}

}  // namespace

Latency latency(const Plan& plan, const Replica& replica, double requests) {
  if (roofline(plan, replica).weight_bytes <= 0) return {};
  return latency_of(plan, replica, Pass(plan, replica), requests);
}

double requests_in_time(const Plan& plan, const Replica& replica, double tpot, double ttft, double limit) {
  const Pass pass(plan, replica);
  const auto meets = [&](double requests) {
    const Latency times = latency_of(plan, replica, pass, requests);
    return (tpot <= 0 || times.token_seconds <= tpot) && (ttft <= 0 || times.first_token_seconds <= ttft);
  };
  return largest_that(0, std::max(1.0, limit), meets);
}

double requests_per_second(const Plan& plan, const Latency& times, double requests) {
  const double cycle = plan.output * times.token_seconds + times.prefill_seconds;
  return cycle > 0 ? requests / cycle : 0;
}

}  // namespace vram
