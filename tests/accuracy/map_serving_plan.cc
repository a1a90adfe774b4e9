#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/plan/plan.h"
#include "engine/serving/runtime.h"
#include "engine/serving/serving.h"
#include "engine/serving/vllm_run.h"
#include "engine/text.h"
#include "engine/units.h"
#include "tests/accuracy/engine_defaults.h"
#include "tests/accuracy/map_llamacpp.h"
#include "tests/accuracy/map_serving_pool.h"
#include "tests/accuracy/map_training.h"
#include "tests/accuracy/serving_map.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {

namespace {

/// Checkpoints that name their format hold no 16-bit weights, whatever type the engine computes in.
std::string format_of_name(const ServingMap& m, const std::string& weights) {
  const std::string name = lower(text(m.c, "model")), named = format_of(name);
  const bool plain = weights.empty() || weights == "bf16" || weights == "fp16" || m.engine == "llamacpp";
  const bool undone = name.find("unquantized") != std::string::npos || name.find("dequant") != std::string::npos;
  return plain && !undone && !named.empty() ? named : weights;
}

void set_storage(ServingMap& m) {
  const std::string given = text(m.c, "weight_dtype"), kv_given = text(m.c, "kv_dtype");
  std::string weights = format_of(given);
  if (m.engine == "llamacpp" && (lower(given) == "q4" || weights == "int4")) weights = "q4_k_m";  // most that are so
  if (m.engine == "llamacpp" && (lower(given) == "q8" || weights == "int8")) weights = "q8_0";
  if (weights == "int4" && lower(text(m.c, "engine")).find("mlc") != std::string::npos) weights = "q4f16_1";
  weights = format_of_name(m, weights);
  // Experts stored in MXFP4 stay so in any file (llama.cpp, src/llama-quant.cpp; all of gpt-oss's are as large).
  const bool kept = lower(given).find("mxfp4") != std::string::npos || m.share.get("model").rfind("gpt-oss", 0) == 0;
  if (m.engine == "llamacpp" && kept && !weights.empty() && weights != "fp32") weights = "mxfp4";
  if (find_format(weights)) m.share.set("weights", weights);
  std::string kv = format_of(kv_given.substr(0, std::min(kv_given.find('/'), kv_given.find(" and "))));
  if (lower(kv_given) == "i8") kv = "int8";  // ggml's plain type
  if (find_format(kv)) m.share.set("kv", kv == "fp16" ? "bf16" : kv);
  m.kv_unread = !kv_given.empty() && lower(kv_given) != "auto" && find_format(kv) == nullptr;
  if (const size_t slash = kv_given.find('/'); slash != std::string::npos)
    m.kv_unread = m.kv_unread || format_of(kv_given.substr(slash + 1)) != kv;
}

std::string engine_of(const std::string& given) {
  const std::string e = lower(given);
  if (e.find("vllm.rs") != std::string::npos) return "generic";
  if (e.find("vllm") != std::string::npos) return "vllm";
  if (e.find("sglang") != std::string::npos) return "sglang";
  for (const char* around : {"koboldcpp", "lm studio", "lmstudio", "gpt4all"})  // programs around it
    if (e.find(around) != std::string::npos) return "llamacpp";
  if (e.find("llama") != std::string::npos && e.find("exllama") == std::string::npos) return "llamacpp";
  if (e.find("tensorrt") != std::string::npos || e.find("trt") != std::string::npos) return "trtllm";
  // Whose weights and cache of a token are like any other's.
  for (const char* server : {"tgi", "text-generation", "lmdeploy", "aphrodite", "mlx", "mlc", "exllama", "transformers",
                             "deepspeed", "lightllm"})
    if (e.find(server) != std::string::npos) return "generic";
  return "";
}

/// One layer more, as EAGLE's draft is, where the case says that one was loaded.
void set_draft(ServingMap& m) {
  const std::string said = said_of(m.c), speculative = lower(text(m.c, "speculative"));
  const bool apart = m.engine == "sglang";  // whose draft has a pool of its own
  if (!apart && said.find("eagle") != std::string::npos) m.share.set("draft_layers", 1.0);
  double drafted = first_of(m.c, {"num_speculative_tokens", "draft_tokens", "rs_seq", "n_rs_seq"});
  if (drafted == 0)
    drafted = number_said(said, {"num_speculative_tokens", "speculative tokens", "rs_seq", "draft_tokens"});
  if (drafted == 0) drafted = number_before(said, "drafted tokens").value_or(0);
  // "speculative_config mtp, 1 token"
  if (const size_t at = said.find("speculative"); drafted == 0 && at != std::string::npos)
    drafted = number_before(said.substr(at), " token").value_or(0);
  if (drafted == 0 && !speculative.empty()) drafted = first_number(speculative).value_or(1);  // "MTP, 1 draft layer"
  m.share.set_if("draft_tokens", drafted);
}

/// A pass of the first engine that does not cut prompts takes the longest whole.
void set_chunks(ServingMap& m, double batch) {
  const double length = stated_length(m.c);
  const bool first = m.share.get("engine_version").find("V0") != std::string::npos;
  if (batch == 0 && first && length > 0 && !switched(m.c, "chunked prefill").value_or(true))
    batch = std::max(length, 2048.0);
  m.share.set_if("batch_tokens", batch);
}

/// Cached prefixes of a hybrid keep a state more a request, whether or not one is found.
void set_prefix_caching(ServingMap& m) {
  if (m.engine == "sglang" && !switched(m.c, "radix cache").value_or(true)) m.share.set("prefix_hit", 0.0);
  if (m.engine != "vllm" || !switched(m.c, "prefix caching").value_or(false)) return;
  m.share.set("prefix", 1.0);
}

// vllm#1926, 0.2.7: before, every step was launched kernel by kernel.
constexpr double kVllmGraphs = 2007;

/// What a case says of how the engine was started.
void set_flags(ServingMap& m) {
  const std::string said = said_of(m.c);
  const bool graphless = release_number(read_plan(m.share.text()).plan) < kVllmGraphs;
  const bool eager = graphless || switched(m.c, "enforce eager").value_or(false);
  if (m.engine == "vllm" && eager) m.share.set("graphs", 0.0);
  double batch = first_of(m.c, {"max_num_batched_tokens"});
  if (batch == 0) batch = number_said(said, {"max_num_batched_tokens", "max-num-batched-tokens"});
  if (batch == 0) batch = number_before(lower(text(m.c, "check")), "batched tokens").value_or(0);
  if (m.engine == "vllm") set_chunks(m, batch);
  set_prefix_caching(m);
}

/// Before 0.11 an engine that is told of no tokens of a batch is built for the longest prompts of all its requests
/// (docs/source/memory.md, "max_num_tokens"), 2048 of build.py's and from 0.8 on 1024 of trtllm-build's each.
double built_tokens(const ServingMap& m, const std::string& said, double batch) {
  const double release = release_number(read_plan(m.share.text()).plan);
  if (batch == 0 || release >= 11e3) return 0;
  double input = first_of(m.c, {"max_input_len"});
  if (input == 0) input = number_said(said, {"max_input_len", "max-input-len", "max_input"});
  return batch * (input > 0 ? input : release < 8e3 ? 2048 : 1024);
}

/// TensorRT-LLM's engines are built for so many requests and tokens of a batch.
void set_built_limits(ServingMap& m, double& batch) {
  const std::string said = said_of(m.c);
  if (batch == 0) batch = first_of(m.c, {"max_batch_size"});
  if (batch == 0) batch = number_said(said, {"max_batch_size", "max-batch-size", "max_batch"});
  double tokens = first_of(m.c, {"max_num_tokens"});
  if (tokens == 0) tokens = number_said(said, {"max_num_tokens", "max-num-tokens"});
  m.share.set_if("batch_tokens", tokens > 0 ? tokens : built_tokens(m, said, batch));
}

void set_limits(ServingMap& m) {
  const json& c = m.c;
  m.share.set_if("max_len", stated_length(c));
  m.share.set_if("block", block_size(c));
  double utilization = number(c, "gpu_memory_utilization");
  if (utilization == 0) utilization = number(c, "mem_fraction_static");
  if (utilization == 0)
    utilization = first_of(c, {"free_gpu_memory_fraction", "kv_cache_free_gpu_mem_fraction", "kv_fraction",
                               "gpu_fraction", "free_fraction"});
  if (utilization > 0 && utilization <= 1) m.share.set("utilization", utilization);
  double batch = number(c, "batch");
  if (batch == 0 && m.engine != "llamacpp") batch = first_of(c, {"max_num_seqs", "max_seqs"});
  if (batch == 0 && m.engine != "llamacpp") batch = number_said(said_of(c), {"max_num_seqs", "max-num-seqs"});
  if (m.engine == "trtllm") set_built_limits(m, batch);
  m.share.set_if("max_seqs", m.engine == "llamacpp" ? 0 : std::max(batch, number(c, "measured.max_running_requests")));
}

constexpr double kSmallestCard = 4;  // GiB

/// GiB of the card, as its name or what is said of it has them: "80GB class (71.30 = 0.9 x 79.22 GiB)", not those that
/// were free or are of a part ("58.4 GiB of KV").
double stated_gib(std::string given) {
  given = lower(given);
  double most = 0;
  for (size_t at = given.find("gib"); at != std::string::npos; at = given.find("gib", at + 1)) {
    const bool free = given.compare(at + 3, 5, " free") == 0 || given.compare(at + 3, 4, " of ") == 0;
    if (!free) most = std::max(most, number_before(given.substr(0, at + 3), "gib").value_or(0));
    std::fill(given.begin(), given.begin() + static_cast<long>(at) + 3, ' ');
  }
  return most >= kSmallestCard ? most : 0;
}

/// "65520 MB", as torch has a device's memory: all that an engine sees.
double stated_mb(const std::string& given) {
  for (size_t at = given.find(" MB"); at != std::string::npos; at = given.find(" MB", at + 1)) {
    const double mb = number_before(given.substr(0, at + 3), " mb").value_or(0);
    if (mb >= kSmallestCard * 1024) return mb / 1024;
  }
  return 0;
}

/// "memory capped to 40.47 GiB": what the engine may use, which is its share of the card.
double uncapped_gib(const ServingMap& m, double gib) {
  const double share = number(m.c, "gpu_memory_utilization");
  const bool capped = holds_any(lower(text(m.c, "gpu")), {"capped to", "limited to", "capped at", "limited at"});
  return capped && share > 0 && share < 1 ? gib / share : gib;
}

double ranks_of_data(const json& c) { return std::max(number(c, "dp"), number(c, "dp_attention")); }

/// Attention that is data-parallel within the tensor-parallel group: sglang's and TensorRT-LLM's flags count it twice.
bool divides_attention(const json& c) {
  const double tp = number(c, "tp"), dp = ranks_of_data(c), gpus = number(c, "n_gpus");
  return dp > 1 && tp > 1 && gpus > 0 && tp * dp > gpus;
}

void set_hardware(ServingMap& m) {
  Mapping hardware(m.c);
  map_hardware(hardware);
  if (const std::string gpu = hardware.share.get("gpu"); !gpu.empty()) m.share.set("gpu", gpu);
  for (const char* rate : {"gpu_bw", "gpu_tflops"})
    if (const std::string stated = hardware.share.get(rate); !stated.empty()) m.share.set(rate, stated);
  if (!m.share.get("gpu_tflops").empty())
    m.share.set_if("watts", first_number(hardware.share.get("watts")).value_or(0));
  const std::string given = text(m.c, "gpu");
  double gib = uncapped_gib(m, stated_gib(given));
  if (gib == 0) gib = stated_mb(given);
  if (gib == 0) gib = first_of(m.c, {"total_gpu_memory_gib", "total_memory_gib", "gpu_memory_gib"});
  if (gib == 0) gib = first_number(hardware.share.get("gpu_mem")).value_or(0);
  if (const double before = number(m.c, "measured.avail_before_gb"); gib == 0 && before > 0) gib = before;
  if (gib > 0) m.share.set("gpu_mem", gib);
  const bool kind_alone = lower(given).find("ascend") != std::string::npos && !first_number(given);
  m.gpu_unread = !given.empty() && gib == 0 && (hardware.share.get("gpu").empty() || kind_alone);
  const double tp = number(m.c, "tp"), pp = number(m.c, "pp");
  const double dp = ranks_of_data(m.c);
  if (pp > 1) m.share.set("serve_pp", pp);
  if (dp > 1) m.share.set("serve_dp", dp);
  const double gpus = number(m.c, "n_gpus"), ep = number(m.c, "ep");
  const double ranks = divides_attention(m.c) ? std::max(1.0, tp / dp) : tp;
  if (ranks > 1) m.share.set("serve_tp", ranks);
  if (ep > 1) m.share.set("serve_ep", ep);
  // trtllm's ranks with attention of their own never keep every expert each (its enable_attention_dp).
  const bool mixture = read_plan(m.share.text()).plan.experts > 0;
  if (m.engine == "trtllm" && mixture && dp > 1 && ep == 0) m.share.set("serve_ep", dp);
  if (tp <= 1 && pp <= 1 && dp <= 1 && gpus > 1 && m.engine != "llamacpp") m.share.set("serve_gpus", gpus);
}

/// Of sglang's logs it is known what was free before loading: what is visible is that, the context and NCCL's memory.
void set_free_before(ServingMap& m) {
  const double after = first_of(m.c, {"avail_after_weights_gb", "avail_after_gb"}),
               taken_by_weights = first_of(m.c, {"mem_usage_gb"});
  double before = first_of(m.c, {"avail_before_gb"});
  if (before == 0 && after > 0 && taken_by_weights > 0) before = after + taken_by_weights;
  if (before == 0) return;
  const Plan plan = read_plan(m.share.text()).plan;
  Sheet sheet;
  const RuntimeLines lines = runtime_lines(sheet, plan, replica_of(plan), whole_model(plan));
  double taken = static_cast<double>(lines.context.bytes);
  for (const Line& line : lines.buffers.children)
    if (std::string_view(line.id) == "communication") taken += static_cast<double>(line.bytes);
  m.share.set("gpu_mem", before + taken / kGiB);
}

// The year of the releases that take 0.92 by themselves.
constexpr double kLateYear = 2026;

/// A version without its number: "V1 (2026, version not stated)".
bool is_late(const std::string& version) {
  const double year =
      first_number(version.substr(version.find('(') == std::string::npos ? 0 : version.find('('))).value_or(0);
  return version.find("V0") == std::string::npos && year >= kLateYear;
}

// srt/model_executor/model_runner_kv_cache_mixin.py, MAMBA_CACHE_SIZE_MAX_RUNNING_REQUESTS_RATIO: states to a request.
constexpr double kStatesOfRequest = 3;

/// srt/model_executor/model_runner.py, init_memory_pool: requests that sglang has room for where it is not told.
double sglang_requests(const ServingMap& m, double tokens, double length) {
  const double requests = std::clamp(std::floor(tokens / length * 512), 2048.0, 4096.0);
  const double states = first_of(m.c, {"max_mamba_cache_size", "state_slots", "mamba_slots"});
  const bool radix = switched(m.c, "radix cache").value_or(true);
  return states > 0 ? std::min(requests, std::floor(states / (radix ? kStatesOfRequest : 1))) : requests;
}

/// Unsloth says so, or keeps another swap than vllm's own beside a checkpoint of its own.
bool runs_in_unsloth(const json& c) {
  const bool own = lower(text(c, "model")).rfind("unsloth/", 0) == 0;
  const std::string said = lower(text(c, "engine") + text(c, "engine_version") + text(c, "notes"));
  return holds_any(said, {"unsloth"}) || (own && swap_beside_usual(c) > 0);
}

/// unsloth_zoo/vllm_utils.py, load_vllm: sequences by what weights leave of the budget, and batches of one request.
void set_unsloth(ServingMap& m, const Plan& plan) {
  if (m.engine != "vllm" || !runs_in_unsloth(m.c) || plan.gpu_mem <= 0 || !plan.subject) return;
  const ServingBill bill = serving_bill(plan);
  const double left = plan.utilization * plan.gpu_mem - static_cast<double>(bill.weights_bytes_per_gpu.value_or(0));
  if (m.share.get("max_seqs").empty()) m.share.set("max_seqs", unsloth_sequences(left / kGiB));
  if (m.share.get("batch_tokens").empty()) m.share.set_if("batch_tokens", stated_length(m.c));
}

/// What the engine's version chooses where the case says nothing.
void set_engine_defaults(ServingMap& m) {
  const Plan plan = read_plan(m.share.text()).plan;
  if (!plan.accelerator) return;
  set_unsloth(m, plan);
  if (m.engine == "vllm") {
    Plan said = plan;
    if (text(m.c, "engine_version").find("V0") != std::string::npos) said.engine_version += " V0";
    const VllmLimits limits = vllm_limits(said);
    if (m.share.get("batch_tokens").empty()) m.share.set("batch_tokens", limits.batch_tokens);
    if (m.share.get("max_seqs").empty()) m.share.set("max_seqs", limits.max_seqs);
    const bool known = !plan.engine_version.empty() || is_late(text(m.c, "engine_version"));
    if (known && m.share.get("utilization").empty()) m.share.set("utilization", vllm_utilization(plan));
  }
  if (m.engine == "trtllm" && m.share.get("max_seqs").empty()) m.share.set("max_seqs", trtllm_slots(plan));
  if (m.engine != "sglang") return;
  const double tokens = cached_tokens(m.c, "");
  if (m.share.get("max_seqs").empty() && tokens > 0 && plan.max_len > 0)
    m.share.set("max_seqs", sglang_requests(m, tokens, plan.max_len));
  const std::string said = text(m.c, "model") + " " + text(m.c, "notes");
  const double attention = divides_attention(m.c) ? ranks_of_data(m.c) : 1;
  if (m.share.get("utilization").empty()) m.share.set("utilization", sglang_fraction(plan, said, attention));
  set_free_before(m);
}

/// "V0, May 2025": the first engine, of the release of that day.
std::string vllm_of_date(const std::string& given) {
  const std::string version = release_of_date(given, "vllm");
  return version.empty() || given.find("V0") == std::string::npos ? version : version + "V0";
}

void set_engine(ServingMap& m) {
  m.engine = engine_of(text(m.c, "engine"));
  if (m.engine.empty()) return m.skip("the engine is no choice of the key");
  m.share.set("engine", m.engine);
  const std::string given = text(m.c, "engine_version");
  std::string version = version_of(given, m.engine == "llamacpp");
  if (m.engine == "trtllm" && version.empty()) version = trtllm_release(given);
  if (version.rfind("0.1.dev", 0) == 0) version.clear();  // built from sources that have no tags
  if (version.empty() && m.engine == "vllm") version = vllm_of_date(given);
  for (const std::string& day : {given, text(m.c, "date")})
    if (version.empty()) version = release_of_date(day, m.engine);
  if (version.empty() && m.engine == "llamacpp") version = llamacpp_of_issue(text(m.c, "source"));
  if (!version.empty()) m.share.set("engine_version", version);
}

}  // namespace

ServingMap map_serving_plan(const json& c, const json& models) {
  ServingMap m{c, {}, "", ""};
  set_engine(m);
  set_model(m, models);
  set_hardware(m);
  set_storage(m);
  set_stored(m);
  set_limits(m);
  set_draft(m);
  set_flags(m);
  if (m.engine == "llamacpp") set_llamacpp(m);
  set_engine_defaults(m);
  return m;
}

}  // namespace vram::accuracy
