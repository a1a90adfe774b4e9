#include "engine/advice/change.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/plan/measured_with.h"
#include "engine/serving/capacity.h"
#include "engine/units.h"

namespace vram {
namespace {

using Changes = std::vector<Change>;

void add(Changes& out, bool applies, Change change) {
  if (applies) out.push_back(std::move(change));
}

/// The plan's own global batch, kept while the micro-batch or the number of ranks changes.
std::pair<Key, std::string> same_global_batch(const Plan& plan) {
  return {Key::global_batch, write_number(plan.global_batch)};
}

bool whole_ratio(double a, double b) { return b > 0 && a / b == std::floor(a / b); }

void add_free(const Plan& plan, Changes& out) {
  add(out, plan.load_whole,
      {"load_share", "Load a rank's share of the weights alone, as under zero.Init", {{Key::load_whole, "0"}}});
  add(out, plan.attention == AttentionKernel::eager,
      {"attention_flash", "Use FlashAttention, which keeps no score matrix", {{Key::attention, "flash"}}});
  add(out, !plan.fused_optimizer,
      {"fused_optimizer", "Use a fused optimizer, which needs no temporaries", {{Key::fused_optimizer, "1"}}});
  add(out, plan.tp > 1 && !plan.sp && plan.framework == Framework::megatron,
      {"sequence_parallel", "Divide norms and the residual stream over the tensor-parallel GPUs", {{Key::sp, "1"}}});
  const bool whole_logits = plan.loss != Loss::chunked && plan.loss != Loss::fused;
  add(out, whole_logits, {"loss_chunked", "Work out the loss in chunks of the sequence", {{Key::loss, "chunked"}}});
  add(out, whole_logits,
      {"loss_fused", "Fuse the head with the loss, so that no logits are stored", {{Key::loss, "fused"}}});
  add(out, plan.allocator == Allocator::default_,
      {"expandable_segments",
       "Let the allocator's segments grow, which fragments less",
       {{Key::allocator, "expandable"}}});
}

void add_recomputation(const Plan& plan, Changes& out) {
  add(out, plan.recompute == Recompute::none,
      {"recompute_selective", "Recompute core attention in backward", {{Key::recompute, "selective"}}});
  add(out, plan.recompute != Recompute::full,
      {"recompute_full", "Recompute whole layers in backward", {{Key::recompute, "full"}}});
}

void add_batch(const Plan& plan, Changes& out) {
  const double half = std::floor(plan.micro_batch / 2);
  add(out, plan.micro_batch > 3 && whole_ratio(plan.micro_batch, 2),
      {"micro_batch_half",
       "Halve the micro-batch and accumulate gradients",
       {{Key::micro_batch, write_number(half)}, same_global_batch(plan)}});
  add(out, plan.micro_batch > 1,
      {"micro_batch_one",
       "Work on one sequence at a time and accumulate gradients",
       {{Key::micro_batch, "1"}, same_global_batch(plan)}});
}

void add_offload(const Plan& plan, Changes& out) {
  add(out, plan.offload == Offload::none && plan.method == Method::full,
      {"offload_optimizer", "Keep optimizer states in host memory", {{Key::offload, "optimizer"}}});
}

void add_sharding(const Plan& plan, Changes& out) {
  const bool many = plan.dp() > 1;
  const bool stages = plan.framework == Framework::deepspeed;
  const bool fixed = plan.framework == Framework::megatron;
  add(out, many && plan.zero < 1 && (stages || fixed),
      {"zero_1", "Shard optimizer states over the data-parallel GPUs", {{Key::zero, "1"}}});
  add(out, many && plan.zero < 2 && stages, {"zero_2", "Shard gradients as well", {{Key::zero, "2"}}});
  add(out, many && plan.zero < 3 && stages, {"zero_3", "Shard weights as well", {{Key::zero, "3"}}});
  add(out, many && plan.framework == Framework::ddp,
      {"fsdp", "Shard weights, gradients and optimizer states over all GPUs", {{Key::framework, "fsdp"}}});
  add(out, plan.optimizer == Optimizer::adamw && plan.method == Method::full,
      {"optimizer_8bit", "Keep the moments in 8 bits", {{Key::optimizer, "adamw8bit"}}, "8-bit moments: usually none"});
}

void add_parallelism(const Plan& plan, Changes& out) {
  const double tp = plan.tp * 2, pp = plan.pp * 2, ranks = plan.pp * plan.cp;
  const bool megatron = plan.framework == Framework::megatron;
  const std::string twice = write_number(tp);
  add(out, megatron && tp <= plan.node && whole_ratio(plan.gpus, tp * ranks),
      {"tensor_parallel",
       "Share every matrix between " + twice + " GPUs",
       {{Key::tp, twice}, same_global_batch(plan)}});
  add(out, megatron && whole_ratio(plan.gpus, plan.tp * pp * plan.cp),
      {"pipeline_parallel",
       "Spread the layers over " + write_number(pp) + " pipeline stages",
       {{Key::pp, write_number(pp)}, same_global_batch(plan)}});
}

/// More GPUs, and a layout that uses them: FSDP where the framework shards nothing or only optimizer states.
void add_gpus(const Plan& plan, Changes& out) {
  const bool one_rank_layout = plan.tp * plan.pp * plan.cp * plan.ep == 1;
  const bool reshard = one_rank_layout && plan.zero < 3 && plan.framework != Framework::fsdp2;
  for (double factor : {2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
    const std::string gpus = write_number(plan.gpus * factor);
    Change more{"more_gpus", "Spread the job over " + show_grouped(plan.gpus * factor) + " GPUs", {{Key::gpus, gpus}}};
    if (reshard) {
      more.text += " with FSDP";
      more.settings.push_back({Key::framework, "fsdp"});
    }
    out.push_back(std::move(more));
  }
}

void add_less(const Plan& plan, Changes& out) {
  add(out, plan.method == Method::full,
      {"lora", "Train LoRA adapters only", {{Key::method, "lora"}}, "only adapters are trained"});
  add(out, plan.method != Method::qlora,
      {"qlora",
       "Train LoRA adapters on a 4-bit base",
       {{Key::method, "qlora"}},
       "only adapters are trained, on a 4-bit base"});
}

struct Card {
  const char* name;
  std::shared_ptr<const Accelerator> sheet;
};

/// What a plan that does not fit may be moved to, smallest first.
std::vector<Card> cards_on_offer() {
  std::vector<Card> cards;
  for (const auto& [id, name] : {std::pair("rtx-5090-32gb", "RTX 5090"),
                                 {"l40s", "L40S"},
                                 {"a100-sxm4-80gb", "A100"},
                                 {"h100-sxm5-80gb", "H100"},
                                 {"h200-sxm-141gb", "H200"},
                                 {"b200-180gb", "B200"},
                                 {"b300-288gb", "B300"},
                                 {"mi300x-192gb", "MI300X"},
                                 {"mi355x-288gb", "MI355X"}})
    if (auto sheet = find_accelerator(id)) cards.push_back({name, std::move(sheet)});
  return cards;
}

/// What stands beside weights and KV cache, and the share the engine takes of the GPU.
void add_runtime(const Plan& plan, Changes& out) {
  const bool takes_share = preallocates(plan), llamacpp = plan.engine == Engine::llamacpp;
  const auto half = [](double value) { return write_number(std::floor(value / 2)); };
  add(out, llamacpp && !plan.flash,
      {"flash_on", "Use flash attention, which keeps no score matrix", {{Key::flash, "1"}}});
  add(out, takes_share && plan.batch_tokens >= 2048,
      {"batch_tokens_half",
       "Work on half as many tokens at a time (" + half(plan.batch_tokens) + ")",
       {{Key::batch_tokens, half(plan.batch_tokens)}}});
  add(out, takes_share && plan.max_seqs >= 32,
      {"max_seqs_half",
       "Admit half as many requests at a time (" + half(plan.max_seqs) + ")",
       {{Key::max_seqs, half(plan.max_seqs)}}});
  add(out, llamacpp && plan.ubatch >= 128,
      {"ubatch_half", "Halve the micro-batch of a prompt (-ub)", {{Key::ubatch, half(plan.ubatch)}}});
  add(out, takes_share && plan.graphs, {"graphs_none", "Capture no CUDA graphs", {{Key::graphs, "0"}}});
  add(out, takes_share && plan.utilization < 0.95 && plan.engine != Engine::trtllm,
      {"utilization_up", "Let the engine take 95% of the GPU", {{Key::utilization, "0.95"}}});
}

/// What llama.cpp leaves to the processor.
void add_to_host(const Plan& plan, Changes& out) {
  if (plan.engine != Engine::llamacpp) return;
  const double routed = plan.subject != nullptr ? plan.subject->moe_layers() : 0;
  for (const double share : {0.25, 0.5, 0.75, 1.0}) {
    const double layers = std::ceil(share * plan.layers);
    add(out, routed > 0 && plan.n_cpu_moe < layers,
        {"n_cpu_moe",
         "Keep the experts of " + show_grouped(layers) + " layers in host memory (--n-cpu-moe)",
         {{Key::n_cpu_moe, write_number(layers)}}});
  }
  add(out, plan.gpu_layers >= 2,
      {"gpu_layers_half",
       "Leave half of the layers to the processor (-ngl)",
       {{Key::gpu_layers, write_number(std::floor(plan.gpu_layers / 2))}}});
}

void add_serving_gpus(const Plan& plan, Changes& out) {
  for (double factor : {2.0, 4.0, 8.0, 16.0}) {
    const std::string gpus = write_number(plan.serve_gpus * factor);
    Change more{"serve_gpus",
                "Serve each replica from " + show_grouped(plan.serve_gpus * factor) + " GPUs",
                {{Key::serve_gpus, gpus}}};
    if (plan.has(Key::serve_tp)) more.settings.push_back({Key::serve_tp, write_number(plan.serve_tp * factor)});
    out.push_back(std::move(more));
  }
}

}  // namespace

std::string fragment(const Change& change) {
  std::string text;
  for (const auto& [key, value] : change.settings) {
    if (!text.empty()) text += '&';
    text.append(field(key).name).append("=").append(value);
  }
  return text;
}

bool apply(const Change& change, Plan& plan) {
  const std::optional<Plan> measured = is_measured(plan) ? std::optional<Plan>(plan) : std::nullopt;
  for (const auto& [key, value] : change.settings) {
    Message refused;
    if (!set_value(plan, key, value, &refused)) return false;
  }
  if (measured) keep_measured_with(*measured, plan);
  return true;
}

std::vector<Change> training_changes(const Plan& plan) {
  Changes out;
  add_free(plan, out);
  add_recomputation(plan, out);
  add_batch(plan, out);
  add_offload(plan, out);
  add_sharding(plan, out);
  add_parallelism(plan, out);
  add_gpus(plan, out);
  add_less(plan, out);
  return out;
}

std::vector<CardChange> larger_cards(const Plan& plan) {
  static const std::vector<Card> cards = cards_on_offer();
  std::vector<CardChange> out;
  const double gb = plan.accelerator->marketed_bytes / kGB;
  const bool amd = plan.accelerator->vendor == "AMD";
  for (const Card& card : cards) {
    const double more = card.sheet->marketed_bytes / kGB;
    if (amd != (card.sheet->vendor == "AMD") || !(gb > 0) || more <= gb) continue;
    const std::string text = std::string("Train on ") + card.name + " of " + show_fixed(more, 0) + " GB";
    out.push_back({{"other_gpu", text, {{Key::gpu, card.sheet->id}}}, card.sheet});
  }
  return out;
}

std::vector<Change> training_reversals(const Plan& plan) {
  Changes out;
  add(out, plan.recompute != Recompute::none, {"recompute_none", "Recompute nothing", {{Key::recompute, "none"}}});
  const double twice = plan.micro_batch * 2;
  add(out, whole_ratio(plan.global_batch, twice * plan.dp()),
      {"micro_batch_twice",
       "Work on twice as many sequences at once",
       {{Key::micro_batch, write_number(twice)}, same_global_batch(plan)}});
  add(out, plan.offload != Offload::none, {"offload_none", "Offload nothing", {{Key::offload, "none"}}});
  add(out, plan.zero == 3 && plan.framework != Framework::megatron,
      {"zero_less", "Keep whole weights on every GPU", {{Key::zero, "2"}}});
  add(out, plan.tp > 1, {"no_tensor_parallel", "Do without tensor parallelism", fewer_ranks(plan, Key::tp, 1)});
  add(out, plan.pp > 1, {"no_pipeline", "Do without pipeline stages", fewer_ranks(plan, Key::pp, 1)});
  return out;
}

std::vector<std::pair<Key, std::string>> fewer_ranks(const Plan& plan, Key key, double ranks) {
  std::vector<std::pair<Key, std::string>> settings = {{key, write_number(ranks)}};
  if (key == Key::pp && plan.vpp > 1) settings.emplace_back(Key::vpp, "1");
  if (key == Key::pp && plan.schedule != Schedule::one_f_one_b) settings.emplace_back(Key::schedule, "1f1b");
  const double dp = plan.dp() * (key == Key::pp ? plan.pp : plan.tp) / ranks;
  const bool divides = whole_ratio(plan.global_batch, plan.micro_batch * dp);
  settings.emplace_back(Key::global_batch, write_number(divides ? plan.global_batch : plan.micro_batch * dp));
  return settings;
}

std::vector<Change> serving_changes(const Plan& plan) {
  Changes out;
  const bool wide_kv = plan.kv == "bf16" || plan.kv == "fp16" || plan.kv == "fp32";
  const bool wide_weights = plan.weights == "bf16" || plan.weights == "fp16" || plan.weights == "fp32";
  const bool gguf = plan.engine == Engine::llamacpp;
  const char *const eight = gguf ? "q8_0" : "fp8", *const four = gguf ? "q4_k_m" : "awq";
  const double request = plan.prompt + plan.output;
  add(out, plan.prefix > 0 && plan.prefix_hit < 1,
      {"prefix_cache", "Keep the shared prefix in the cache once", {{Key::prefix_hit, "1"}}});
  std::vector<std::pair<Key, std::string>> kv = {{Key::kv, eight}};
  if (plan.has(Key::kv_values)) kv.emplace_back(Key::kv_values, eight);
  add(out, wide_kv, {"kv_fp8", std::string("Keep the KV cache in ") + eight, kv, "usually small; check long contexts"});
  add(out, plan.engine == Engine::static_ && plan.max_len > request,
      {"max_len",
       "Reserve no more than a request needs",
       {{Key::max_len, write_number(request)}},
       "longer requests are refused"});
  add_runtime(plan, out);
  add(out, wide_weights,
      {"weights_fp8", std::string("Keep the weights in ") + eight, {{Key::weights, eight}}, "usually small"});
  add(out, wide_weights || plan.weights == eight,
      {"weights_int4", "Quantise the weights to 4 bits", {{Key::weights, four}}, "noticeable on small models"});
  add_to_host(plan, out);
  add_serving_gpus(plan, out);
  return out;
}

}  // namespace vram
