#include "tests/accuracy/map_serving.h"

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
#include "tests/accuracy/figure_variant.h"
#include "tests/accuracy/load.h"
#include "tests/accuracy/map_llamacpp.h"
#include "tests/accuracy/map_training.h"
#include "tests/accuracy/serving_map.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"

namespace vram::accuracy {

double first_of(const json& c, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const double value = number(c, std::string("measured.") + name); value > 0) return value;
  return 0;
}

Measurement begin(const ServingMap& m, const std::string& sort, Figure figure) {
  Measurement out;
  out.id = text(m.c, "id");
  out.source = text(m.c, "source");
  out.family = (m.engine.empty() ? text(m.c, "engine") : m.engine) + ", " + sort;
  out.figure = figure;
  out.share = m.share.text();
  out.skipped = m.skipped;
  const bool cached = figure == Figure::kv_token || figure == Figure::kv_pool || figure == Figure::kv_tokens ||
                      figure == Figure::concurrency;
  if (cached && m.kv_unread) out.skip_for("a KV format that is no choice of the key");
  return out;
}

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
  weights = format_of_name(m, weights);
  if (find_format(weights)) m.share.set("weights", weights);
  const std::string kv = format_of(kv_given.substr(0, kv_given.find('/')));
  if (find_format(kv)) m.share.set("kv", kv == "fp16" ? "bf16" : kv);
  m.kv_unread = !kv_given.empty() && lower(kv_given) != "auto" && find_format(kv) == nullptr;
  if (const size_t slash = kv_given.find('/'); slash != std::string::npos)
    m.kv_unread = m.kv_unread || format_of(kv_given.substr(slash + 1)) != kv;
}

// --- engine and limits -----------------------------------------------------------------------------------------

std::string engine_of(const std::string& given) {
  const std::string e = lower(given);
  if (e.find("vllm.rs") != std::string::npos) return "generic";
  if (e.find("vllm") != std::string::npos) return "vllm";
  if (e.find("sglang") != std::string::npos) return "sglang";
  if (e.find("llama") != std::string::npos && e.find("exllama") == std::string::npos) return "llamacpp";
  if (e.find("tensorrt") != std::string::npos || e.find("trt") != std::string::npos) return "trtllm";
  // Whose weights and cache of a token are like any other's.
  for (const char* server :
       {"tgi", "text-generation", "lmdeploy", "aphrodite", "mlx", "mlc", "exllama", "transformers"})
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
  const double length = number(m.c, "max_model_len");
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
  const bool eager =
      graphless || said.find("enforce-eager") != std::string::npos || said.find("enforce_eager") != std::string::npos;
  if (m.engine == "vllm" && (eager || flag(m.c, "enforce_eager").value_or(false))) m.share.set("graphs", 0.0);
  double batch = given_number(m.c, {"max_num_batched_tokens"});
  if (batch == 0) batch = number_said(said, {"max_num_batched_tokens", "max-num-batched-tokens"});
  if (batch == 0) batch = number_before(lower(text(m.c, "check")), "batched tokens").value_or(0);
  if (m.engine == "vllm") set_chunks(m, batch);
  set_prefix_caching(m);
}

void set_limits(ServingMap& m) {
  const json& c = m.c;
  const double length =
      number(c, "max_model_len") > 0 ? number(c, "max_model_len") : first_of(c, {"n_ctx", "max_len", "context_len"});
  m.share.set_if("max_len", length);
  m.share.set_if("block", number(c, "block_size"));
  double utilization = number(c, "gpu_memory_utilization");
  if (utilization == 0) utilization = number(c, "mem_fraction_static");
  if (utilization == 0)
    utilization = first_of(c, {"free_gpu_memory_fraction", "kv_cache_free_gpu_mem_fraction", "kv_fraction"});
  if (utilization > 0 && utilization <= 1) m.share.set("utilization", utilization);
  double batch = number(c, "batch");
  if (batch == 0 && m.engine != "llamacpp") batch = given_number(c, {"max_num_seqs", "max_seqs"});
  if (batch == 0 && m.engine != "llamacpp") batch = number_said(said_of(c), {"max_num_seqs", "max-num-seqs"});
  m.share.set_if("max_seqs", m.engine == "llamacpp" ? 0 : std::max(batch, number(c, "measured.max_running_requests")));
  if (first_of(c, {"num_cpu_blocks"}) > 0) m.share.set("swap", 4.0);  // vllm's --swap-space
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

void set_hardware(ServingMap& m) {
  Mapping hardware(m.c);
  map_hardware(hardware);
  if (const std::string gpu = hardware.share.get("gpu"); !gpu.empty()) m.share.set("gpu", gpu);
  for (const char* rate : {"gpu_bw", "gpu_tflops"})
    if (const std::string stated = hardware.share.get(rate); !stated.empty()) m.share.set(rate, stated);
  const std::string given = text(m.c, "gpu");
  double gib = stated_gib(given);
  if (gib == 0) gib = given_number(m.c, {"total_gpu_memory_gib", "total_memory_gib", "gpu_memory_gib"});
  if (gib == 0) gib = first_number(hardware.share.get("gpu_mem")).value_or(0);
  if (const double before = number(m.c, "measured.avail_before_gb"); gib == 0 && before > 0) gib = before;
  if (gib > 0) m.share.set("gpu_mem", gib);
  m.gpu_unread = !given.empty() && gib == 0 && hardware.share.get("gpu").empty();
  const double tp = number(m.c, "tp"), pp = number(m.c, "pp"), dp = number(m.c, "dp");
  if (pp > 1) m.share.set("serve_pp", pp);
  if (dp > 1) m.share.set("serve_dp", dp);
  const double gpus = number(m.c, "n_gpus"), ep = number(m.c, "ep");
  // Attention that is data-parallel within the tensor-parallel group: sglang's and TensorRT-LLM's flags count it twice.
  const bool within = dp > 1 && tp > 1 && gpus > 0 && tp * dp > gpus;
  const double ranks = within ? std::max(1.0, tp / dp) : tp;
  if (ranks > 1) m.share.set("serve_tp", ranks);
  if (ep > 1) m.share.set("serve_ep", ep);
  if (tp <= 1 && pp <= 1 && dp <= 1 && gpus > 1 && m.engine != "llamacpp") m.share.set("serve_gpus", gpus);
}

}  // namespace

namespace {

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

}  // namespace

namespace {

// The year of the releases that take 0.92 by themselves.
constexpr double kLateYear = 2026;

/// A version without its number: "V1 (2026, version not stated)".
bool is_late(const std::string& version) {
  const double year =
      first_number(version.substr(version.find('(') == std::string::npos ? 0 : version.find('('))).value_or(0);
  return version.find("V0") == std::string::npos && year >= kLateYear;
}

/// srt/model_executor/model_runner.py, init_memory_pool: requests that sglang has room for where it is not told.
double sglang_requests(double tokens, double length) {
  return std::clamp(std::floor(tokens / length * 512), 2048.0, 4096.0);
}

}  // namespace

double cached_tokens(const json& c, const std::string& check);

void set_engine_defaults(ServingMap& m) {
  const Plan plan = read_plan(m.share.text()).plan;
  if (!plan.accelerator) return;
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
    m.share.set("max_seqs", sglang_requests(tokens, plan.max_len));
  const std::string said = text(m.c, "model") + " " + text(m.c, "notes");
  if (m.share.get("utilization").empty()) m.share.set("utilization", sglang_fraction(plan, said));
  set_free_before(m);
}

namespace {

void set_engine(ServingMap& m) {
  m.engine = engine_of(text(m.c, "engine"));
  if (m.engine.empty()) return m.skip("the engine is no choice of the key");
  m.share.set("engine", m.engine);
  const std::string given = text(m.c, "engine_version");
  std::string version = version_of(given, m.engine == "llamacpp");
  if (m.engine == "trtllm" && version.empty()) version = trtllm_release(given);
  if (version.empty()) version = release_of_date(given, m.engine);
  if (!version.empty()) m.share.set("engine_version", version);
}

// --- measured numbers ------------------------------------------------------------------------------------------

/// Bytes of a check's unit; 0 for units that are no size. What engines print as GB and MB is binary.
double bytes_of_unit(const std::string& unit) {
  const std::string u = lower(unit);
  if (u == "gib" || u == "gb" || u == "gib/gpu") return kGiB;
  if (u == "mib" || u == "mb" || u == "mib/gpu") return kMiB;
  if (u == "kib" || u == "kb") return 1024;
  return u == "b" || u == "bytes" || u == "byte" ? 1 : 0;
}

bool has_states(const Plan& plan) {
  for (const LayerKind& kind : plan.subject->kinds)
    if (kind.state_elements + kind.conv_state_elements > 0) return true;
  return false;
}

/// GiB that so many tokens take on a GPU, where every layer keeps every token.
double gib_of_tokens(const ServingMap& m, double tokens) {
  const Plan plan = read_plan(m.share.text()).plan;
  if (!plan.subject || !plan.accelerator) return 0;
  const ServingBill bill = serving_bill(plan);
  const bool grouped = m.engine == "vllm" && has_states(plan);  // printed tokens are those of one group
  const bool uniform = bill.kv_bytes_per_token == bill.kv_bytes_per_token_beyond_window && !grouped;
  return uniform ? tokens * static_cast<double>(bill.kv_bytes_per_token_per_gpu.value_or(0)) / kGiB : 0;
}

/// "triton_kv_bytes" beside "triton_max_tokens": the tokens of the same thing.
double tokens_beside(const json& c, const std::string& check) {
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return 0;
  std::string apart;
  for (size_t at = 0; at < check.size();) {
    const size_t end = std::min(check.find('_', at), check.size());
    const std::string word = check.substr(at, end - at);
    at = end + 1;
    bool plain = false;
    for (const char* usual : {"kv", "bytes", "gib", "gb", "mib", "mb", "pool", "cache", "size", "eager", "graphs"})
      plain = plain || word == usual;
    if (!plain) apart = word;
  }
  if (apart.empty()) return 0;
  for (const auto& [name, value] : measured->items())
    if (name.find(apart) != std::string::npos && name.find("tokens") != std::string::npos && value.is_number())
      return value.get<double>();
  return 0;
}

}  // namespace

double cached_tokens(const json& c, const std::string& check) {
  const bool eager = check.find("eager") != std::string::npos, graphs = check.find("graphs") != std::string::npos;
  if (const double beside = tokens_beside(c, check); beside > 0) return beside;
  if (eager) return first_of(c, {"kv_tokens_eager"});
  if (graphs) return first_of(c, {"kv_tokens_graphs"});
  // Of groups of layers the log prints what one of them has; its blocks are those of all.
  if (const double printed = first_of(c, {"kv_tokens_printed", "gpu_kv_cache_tokens", "kv_cache_tokens"}); printed > 0)
    return printed;
  const double tokens = first_of(c, {"kv_tokens", "max_total_num_tokens", "full_tokens"});
  const double requests = first_of(c, {"max_concurrency_x"}) * number(c, "max_model_len");
  if (tokens > 0 && std::fabs(tokens - requests) < 0.01 * requests) return tokens;
  const double blocks = first_of(c, {"num_gpu_blocks", "primary_blocks", "gpu_blocks"});
  double block = number(c, "block_size");
  if (block == 0) block = first_of(c, {"tokens_per_block"});
  if (blocks > 0 && block > 0) return blocks * block;
  return tokens;
}

namespace {

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

bool states_unknown(const ServingMap& m) {
  const bool told = !m.share.get("state_elements").empty() || m.share.get("arch").find("linear") != std::string::npos;
  return m.share.get("pattern").find('l') != std::string::npos && !told;
}

/// Where the printed tokens are those of one group of layers, the requests that the bytes hold say as much.
void add_cache_of_hybrid(const ServingMap& m, const json& check, double bytes, std::vector<Measurement>& out) {
  const double requests = first_of(m.c, {"max_concurrency_x"});
  if (requests == 0) return;
  ServingMap given = m;
  if (states_unknown(m)) given.skip("the states of linear layers are not known");
  given.share.set("measured_kv_pool", bytes / kGiB);
  Measurement one = begin(given, text(check, "kind"), Figure::concurrency);
  one.measured = requests;
  one.unit = "x";
  out.push_back(std::move(one));
}

/// "k_gib_swa": of window layers alone.
std::string kind_of_layers(const std::string& name) {
  for (const char* word : {"swa", "sliding", "window"})
    if (name.find(word) != std::string::npos) return "sliding";
  return name.find("full") != std::string::npos ? "full" : "";
}

/// Do vllm's equal groups of layers share the blocks, so that bytes over printed tokens are nobody's?
bool in_groups(const ServingMap& m) {
  if (m.engine != "vllm") return false;
  const Plan plan = read_plan(m.share.text()).plan;
  if (!plan.subject || !plan.accelerator) return false;
  const ServingBill bill = serving_bill(plan);
  return bill.kv_bytes_per_token != bill.kv_bytes_per_token_beyond_window || has_states(plan);
}

/// Half of the last digit of what was printed in two digits and says no more: "0.12 GB". 0: it was printed in more.
double half_digit(double printed) { return printed < 1 ? 0.005 : 0; }

/// "fp8 K / nvfp4 V": the format of the half that a check is of.
void set_half(ServingMap& m, char half) {
  const std::string given = lower(text(m.c, "kv_dtype"));
  const size_t end = given.find(std::string(" ") + half);
  if (!m.kv_unread || end == std::string::npos) return;
  const size_t slash = given.rfind('/', end);
  const std::string format = format_of(given.substr(slash == std::string::npos ? 0 : slash + 1, end));
  if (!find_format(format)) return;
  m.share.set("kv", format == "fp16" ? "bf16" : format);
  m.kv_unread = false;
}

/// KV cache: of an engine that preallocates, the bytes of a token; of llama.cpp the whole allocation.
void add_cache(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const double bytes = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  const std::string part = kind_of_layers(name);
  double tokens = part == "sliding" ? first_of(m.c, {"swa_tokens", "sliding_tokens"}) : cached_tokens(m.c, name);
  if (tokens == 0 || (part.empty() && in_groups(m))) return add_cache_of_hybrid(m, check, bytes, out);
  const bool half = begins(name, "k_") || begins(name, "v_");
  ServingMap given = m;
  if (half) set_half(given, name[0]);
  Measurement one = begin(given, text(check, "kind"), Figure::kv_token);
  one.part = part;
  one.measured = (half ? 2 : 1) * bytes / tokens;
  one.rounding = (half ? 2 : 1) * bytes_of_unit(text(check, "unit")) * half_digit(number(check, "measured")) / tokens;
  one.unit = "bytes a token";
  out.push_back(std::move(one));
}

/// "available_kv_gib_ranks01": of the ranks whose tokens are the fewest, which the first of them are where they are
/// even.
double least_of_ranks(const json& c) {
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return 0;
  for (const auto& [name, value] : measured->items())
    if (name.rfind("available_kv_gib_rank", 0) == 0 && value.is_number()) return value.get<double>();
  return 0;
}

double logged_pool_gib(const json& c) {
  const double gib = first_of(c, {"available_kv_gib", "kv_cache_size_gib", "kv_gib", "kv_gb"});
  if (gib > 0) return gib;
  if (const double least = least_of_ranks(c); least > 0) return least;
  double parts = 0;  // keys and values, of one pool or of two
  for (const auto& [k, v] :
       {std::pair{"k_gb", "v_gb"}, std::pair{"full_k_gb", "full_v_gb"}, std::pair{"swa_k_gb", "swa_v_gb"}}) {
    const double keys = first_of(c, {k}), values = first_of(c, {v});
    parts += keys + (values > 0 ? values : keys);  // the log's two halves are alike
  }
  return parts;
}

/// sglang's budget holds the states of a hybrid, too.
double logged_states_gib(const json& c) {
  const double all = first_of(c, {"state_gb", "mamba_gb", "mamba_cache_gb"});
  return all > 0 ? all : first_of(c, {"ssm_state_gb"}) + first_of(c, {"conv_state_gb"});
}

/// Does the log leave out what the states of its hybrid take?
bool tokens_alone(const ServingMap& m) {
  if (m.engine != "sglang" || logged_states_gib(m.c) > 0) return false;
  const Plan plan = read_plan(m.share.text()).plan;
  return plan.subject && has_states(plan);
}

/// A pool of as many tokens as were asked for says nothing of the memory that is left.
bool tokens_were_set(const json& c) {
  const double set = given_number(c, {"max_total_tokens", "num_gpu_blocks_override", "kv_cache_memory_bytes"});
  return set > 0 || number_said(said_of(c), {"max_total_tokens", "max-total-tokens", "num_gpu_blocks_override",
                                             "num-gpu-blocks-override", "kv-cache-memory"}) > 0;
}

/// GiB that the printed pool may be off by its last digits.
double pool_rounding(const json& c) {
  if (const double gib = first_of(c, {"available_kv_gib", "kv_cache_size_gib", "kv_gib", "kv_gb"}); gib > 0)
    return half_digit(gib);
  double off = 0;
  for (const char* name : {"k_gb", "v_gb", "full_k_gb", "full_v_gb", "swa_k_gb", "swa_v_gb"})
    if (const double gib = first_of(c, {name}); gib > 0) off += half_digit(gib);
  return off;
}

/// A release that is not named prints tokens of one group, which the newest no longer does.
bool prints_otherwise(const ServingMap& m, double tokens) {
  const double all = first_of(m.c, {"max_concurrency_x"}) * number(m.c, "max_model_len");
  return m.share.get("engine_version").empty() && in_groups(m) && tokens < 0.9 * all;
}

/// Tokens and concurrency, given the pool that the log states.
void add_capacity(const ServingMap& m, std::vector<Measurement>& out) {
  const double pool = logged_pool_gib(m.c);
  if (pool == 0 || m.engine == "llamacpp") return;
  ServingMap given = m;
  given.share.set("measured_kv_pool", pool);
  if (const double tokens = cached_tokens(m.c, ""); tokens > 0 && !prints_otherwise(m, tokens)) {
    Measurement one = begin(given, "pool given", Figure::kv_tokens);
    one.measured = tokens;
    one.rounding = tokens * pool_rounding(m.c) / pool;
    one.unit = "tokens";
    out.push_back(std::move(one));
  }
  if (const double requests = first_of(m.c, {"max_concurrency_x"}); requests > 0) {
    if (states_unknown(given)) given.skip("the states of linear layers are not known");
    Measurement one = begin(given, "pool given", Figure::concurrency);
    one.measured = requests;
    one.rounding = requests * pool_rounding(m.c) / pool;
    one.unit = "x";
    out.push_back(std::move(one));
  }
}

/// The pool from the plan alone; its error counts against the memory that the engine may use.
void add_pool(const ServingMap& m, std::vector<Measurement>& out) {
  double pool = logged_pool_gib(m.c);
  if (m.engine == "llamacpp" || m.engine == "generic") return;
  if (pool == 0) pool = gib_of_tokens(m, cached_tokens(m.c, ""));
  if (pool == 0) return;
  if (m.engine == "sglang") pool += logged_states_gib(m.c);
  Measurement one = begin(m, "pool predicted", Figure::kv_pool);
  if (tokens_alone(m)) one.part = "tokens";
  if (tokens_were_set(m.c)) one.skip_for("the pool's tokens were set");
  one.measured = pool * kGiB;
  one.unit = "GiB";
  const Plan plan = read_plan(m.share.text()).plan;
  one.relative_to = plan.utilization * plan.gpu_mem;
  if (lower(text(m.c, "model")).find("vision") != std::string::npos) one.skip_for("a vision tower's profile run");
  if (plan.subject && plan.subject->nominal_parameters == 0) one.skip_for("the weights are not known");
  if (one.skipped.empty() && plan.gpu_mem == 0) one.skipped = "the GPU's memory is not stated";
  if (m.gpu_unread) one.skip_for("the GPU is not known");
  const bool fraction = number(m.c, "mem_fraction_static") > 0;  // sglang's own choice depends on the card
  if (one.skipped.empty() && text(m.c, "gpu").empty() && number(m.c, "measured.total_gpu_memory_gib") == 0 &&
      !(fraction && number(m.c, "measured.avail_before_gb") > 0))
    one.skipped = "the GPU is not stated";
  out.push_back(std::move(one));
}

double available_gib(const json& c) {
  const double gib = first_of(c, {"available_gib", "available_gb", "free_gib", "free_gb", "free_memory_gib"});
  return gib > 0 ? gib : first_of(c, {"available_mib", "free_mib"}) / 1024;
}

/// The pool as a share of what was free before it: TensorRT-LLM's free_gpu_memory_fraction.
bool add_share_of_free(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const double free = available_gib(m.c), bytes = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  if (m.engine != "trtllm" || text(check, "name").find("fraction") == std::string::npos) return false;
  const double share = bytes > 0 && free > 0 ? bytes / kGiB / free : number(check, "measured");
  if (share <= 0 || share > 1) return false;
  Measurement one = begin(m, text(check, "kind"), Figure::pool_share);
  one.measured = share;
  out.push_back(std::move(one));
  return true;
}

/// Blocks that the longest request takes.
bool add_blocks_of_request(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name"), unit = text(check, "unit");
  const bool each = name.find("per_seq") != std::string::npos || name.find("per_req") != std::string::npos ||
                    name.find("a_seq") != std::string::npos || name.find("a_request") != std::string::npos;
  if (name.find("block") == std::string::npos || !each || bytes_of_unit(unit) > 0) return false;
  Measurement one = begin(m, text(check, "kind"), Figure::request_blocks);
  one.measured = number(check, "measured");
  one.unit = unit;
  out.push_back(std::move(one));
  return true;
}

/// vllm's CPU blocks: one request of a block at a time.
void add_swap(const ServingMap& m, std::vector<Measurement>& out) {
  const double blocks = first_of(m.c, {"num_cpu_blocks"});
  if (blocks == 0) return;
  ServingMap given = m;
  const double block = number(m.c, "block_size") > 0 ? number(m.c, "block_size") : 16;
  given.share.set("prompt", block);
  given.share.set("output", 0.0);
  Measurement one = begin(given, "independent", Figure::swap_tokens);
  one.measured = blocks * block;
  one.unit = "tokens";
  out.push_back(std::move(one));
}

/// Checks whose name says which figure of the bill they are of.
struct NamedFigure {
  const char* name;
  Figure figure;
};
constexpr NamedFigure kNamedFigures[] = {
    {"weights", Figure::weights},
    {"budget", Figure::budget},
    {"process", Figure::process},
    {"engine", Figure::weights},
    {"model_gib", Figure::weights},
    {"model_mib", Figure::weights},
    {"model_load", Figure::weights},
    {"model_mem", Figure::weights},
    {"mem_usage", Figure::weights},
    {"loaded", Figure::weights},
    {"compute", Figure::buffers},
    {"graph", Figure::buffers},
    {"activation", Figure::buffers},
    {"nonrepeating", Figure::head},
    {"host_compute", Figure::host_buffers},
    {"token_embd", Figure::host_weights},
    {"embd_on_host", Figure::host_weights},
    {"pool", Figure::pool_and_table},
    {"params", Figure::parameters},
    {"n_layer", Figure::file_layers},
    {"concurrency", Figure::concurrency},
    {"swa_cells", Figure::window_cells},
    {"swa_tokens", Figure::window_cells},
    {"swa_kv_tokens", Figure::window_cells},
    {"sliding_tokens", Figure::window_cells},
    {"sliding_pool_tokens", Figure::window_cells},
    {"window_pool_tokens", Figure::window_cells},
    {"window_tokens", Figure::window_cells},
    {"req_to_token", Figure::request_table},
    {"request_to_token", Figure::request_table},
    {"token_table", Figure::request_table},
    {"request_table", Figure::request_table},
    {"req_table", Figure::request_table},
    {"mtp", Figure::draft},
    {"draft", Figure::draft},
    {"attention_block", Figure::state_block},
    {"attn_block", Figure::state_block},
    {"hybrid_block", Figure::state_block},
    {"block_tokens", Figure::state_block},
    {"memory_pool", Figure::pool_and_table},
    {"static_pool", Figure::pool_and_table},
};

const NamedFigure* named_figure(const std::string& name) {
  for (const NamedFigure& row : kNamedFigures)
    if (begins(name, row.name)) return &row;
  return nullptr;
}

/// Of a name that begins with a word of its own: "peak_activation_gib", "total_weights".
const NamedFigure* figure_within(const std::string& name) {
  const NamedFigure* longest = nullptr;
  for (const NamedFigure& row : kNamedFigures) {
    const size_t at = name.find("_" + std::string(row.name));
    const bool longer =
        longest == nullptr || std::string_view(row.name).size() > std::string_view(longest->name).size();
    const bool captured = std::string_view(row.name) == "graph";  // "cuda_graph_gib"; llama.cpp's is a buffer
    if (at != std::string::npos && longer && !captured) longest = &row;
  }
  return longest;
}

/// A trap of a log's own number, that what one would think first misses: an answer like any other.
bool says_truth(const json& check) {
  const double predicted = number(check, "predicted"), measured = number(check, "measured");
  return predicted > 0 && std::fabs(predicted - measured) < 0.005 * measured;
}

/// Of an engine that preallocates, the bytes of a token are what a wrong formula has wrong.
void add_token_trap(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const double tokens = cached_tokens(m.c, "");
  if (tokens == 0 || in_groups(m)) return;
  Measurement one = begin(m, "trap", Figure::trap);
  one.part = "token";
  one.measured =
      (begins(name, "kv") ? 1 : 2) * number(check, "predicted") * bytes_of_unit(text(check, "unit")) / tokens;
  one.unit = "bytes a token";
  out.push_back(std::move(one));
}

/// A published formula that is wrong: what it gives must not be what the engine gives.
void add_trap(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const NamedFigure* row = named_figure(name);
  const double bytes = bytes_of_unit(text(check, "unit"));
  const bool of_cache = begins(name, "kv") || begins(name, "k_") || begins(name, "v_");
  if (of_cache && bytes > 0 && m.engine != "llamacpp") return add_token_trap(m, check, out);
  const bool cache = begins(name, "kv") && bytes > 0 && m.engine == "llamacpp";
  if (!cache && (row == nullptr || (row->figure != Figure::weights && row->figure != Figure::concurrency))) return;
  ServingMap given = m;
  const bool weights = row != nullptr && row->figure == Figure::weights;
  if (!weights) given.share.set_if("measured_kv_pool", logged_pool_gib(m.c));
  Measurement one = begin(given, "trap", Figure::trap);
  one.part = cache ? "cache" : weights ? "" : "concurrency";
  one.measured = number(check, "predicted") * (cache || weights ? bytes : 1);
  one.unit = text(check, "unit");
  out.push_back(std::move(one));
}

/// What free memory falls by where a log prints no pool.
void add_predicted_drop(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  Measurement one = begin(m, "pool predicted", Figure::pool_and_table);
  one.measured = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  one.unit = text(check, "unit");
  const Plan plan = read_plan(m.share.text()).plan;
  one.relative_to = plan.utilization * plan.gpu_mem;
  out.push_back(std::move(one));
}

/// Weights and what libraries took with them, where the log has one figure for both ("weights_plus_non_torch_gib").
bool holds_non_torch(const json& c, const json& check) {
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return false;
  for (const auto& [name, value] : measured->items())
    if (value.is_number() && value.get<double>() == number(check, "measured") && name.find("weights") == 0 &&
        name.find("non_torch") != std::string::npos)
      return true;
  return false;
}

/// "weights_tp1": of so many ranks, whatever the run's were.
void set_ranks(ServingMap& m, const std::string& name) {
  for (const auto& [word, key] : {std::pair{"_tp", "serve_tp"}, std::pair{"_pp", "serve_pp"}}) {
    const size_t at = name.find(word);
    if (at != std::string::npos && at + 3 < name.size() && is_digit(name[at + 3]))
      m.share.set(key, std::strtod(name.c_str() + at + 3, nullptr));
  }
}

void add_named_check(const ServingMap& m, const json& check, Figure figure, std::vector<Measurement>& out) {
  const std::string unit = text(check, "unit");
  const bool counted = figure == Figure::parameters || figure == Figure::file_layers ||
                       figure == Figure::window_cells || figure == Figure::state_block;
  if (figure == Figure::concurrency || (!counted && bytes_of_unit(unit) == 0)) return;  // the former of every log
  ServingMap given = m;
  if (text(check, "name").find("_fa") != std::string::npos) given.share.set("flash", 1.0);
  set_ranks(given, text(check, "name"));
  const bool of_pool = figure == Figure::pool_and_table || figure == Figure::request_table ||
                       (figure == Figure::window_cells && m.engine != "llamacpp");
  if (of_pool) {
    double pool = logged_pool_gib(m.c);
    if (pool == 0) pool = gib_of_tokens(m, cached_tokens(m.c, ""));
    if (figure == Figure::pool_and_table && pool > 0) pool += logged_states_gib(m.c);
    if (pool == 0 && figure == Figure::pool_and_table) return add_predicted_drop(m, check, out);
    if (pool == 0) return;
    given.share.set("measured_kv_pool", pool);
  }
  Measurement one = begin(given, text(check, "kind"), figure);
  const double power = unit.rfind("1e", 0) == 0 ? std::strtod(unit.c_str(), nullptr) : 1;  // "1e9" parameters
  one.measured = number(check, "measured") * std::max(power, bytes_of_unit(unit));
  one.unit = unit;
  // What TensorRT-LLM says of the GPU, not of the engine.
  if (figure == Figure::weights && number(m.c, "measured.gpu_mib_after_context") == number(check, "measured"))
    one.part = "process";
  if (figure == Figure::weights && holds_non_torch(m.c, check)) one.part = "non-torch";
  const bool stored = figure == Figure::weights || figure == Figure::head || figure == Figure::host_weights;
  const bool unread = m.share.get("weights").empty() && !text(m.c, "weight_dtype").empty();
  if (stored && one.skipped.empty() && unread) one.skipped = "a storage that is no choice of the key";
  out.push_back(std::move(one));
}

/// "kv_bytes_per_token": of a GPU, whatever the pool has.
void add_bytes_of_token(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string unit = text(check, "unit");
  const double bytes = bytes_of_unit(unit.substr(0, unit.find('/')));
  Measurement one = begin(m, text(check, "kind"), Figure::kv_token);
  one.measured = number(check, "measured") * std::max(1.0, bytes);
  one.unit = "bytes a token";
  out.push_back(std::move(one));
}

bool is_of_token(const std::string& name, const std::string& unit) {
  const bool said = name.find("per_tok") != std::string::npos || name.find("token_bytes") != std::string::npos;
  return said || unit.find("/tok") != std::string::npos;
}

/// Recurrent states of so many slots; sglang has one more to write to where none is meant (memory_pool.py, MambaPool).
void add_states(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  ServingMap given = m;
  const std::string name = text(check, "name"), unit = text(check, "unit");
  const double logged = first_of(m.c, {"max_mamba_cache_size", "n_seq_max"});
  double slots = logged > 0 ? logged + (m.engine == "sglang" ? 1 : 0) : number(m.c, "batch");
  for (const char* one : {"slot", "per_req", "per_seq", "a_request", "one_request"})
    if (name.find(one) != std::string::npos || unit.find("/req") != std::string::npos) slots = 1;
  given.share.set("concurrency", std::max(1.0, slots));
  given.share.set("prompt", 1.0);
  given.share.set("output", 0.0);
  Measurement one = begin(given, text(check, "kind"), Figure::recurrent);
  one.measured = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  one.unit = text(check, "unit");
  const auto names = [&](const char* word) { return name.find(word) != std::string::npos; };
  one.part = names("ssm") ? "scan" : names("conv") ? "convolution" : "";
  out.push_back(std::move(one));
}

/// How many states sglang's pool has room for, beside the one that nobody owns.
void add_state_slots(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  Measurement one = begin(m, text(check, "kind"), Figure::state_slots);
  one.measured = number(check, "measured");
  one.unit = text(check, "unit");
  out.push_back(std::move(one));
}

/// What so many tokens of one request need: "kv_needed_131072", of the longest where no number says of how many.
void add_cache_of_request(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  double tokens = 0;
  for (size_t i = name.find('_'); i != std::string::npos; i = name.find('_', i + 1))
    if (i + 1 < name.size() && is_digit(name[i + 1])) tokens = std::strtod(name.c_str() + i + 1, nullptr);
  if (tokens < 256) tokens = number(m.c, "max_model_len");
  if (tokens == 0) return;
  Measurement one = begin(m, text(check, "kind"), Figure::kv_token);
  one.measured = number(check, "measured") * bytes_of_unit(text(check, "unit")) / tokens;
  one.unit = "bytes a token";
  out.push_back(std::move(one));
}

bool is_of_request(const std::string& name) {
  for (const char* word : {"needed", "required", "per_request", "per_req", "one_request", "at_max_len", "for_max_len"})
    if (begins(name, "kv") && name.find(word) != std::string::npos) return true;
  return false;
}

bool is_of_states(const std::string& name) {
  for (const char* word : {"gdn_state", "ssm_state", "conv_state", "mamba", "recurrent", "rs_", "state"})
    if (begins(name, word) || name.find("_" + std::string(word)) != std::string::npos) return true;
  return false;
}

void add_check(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const bool sized = bytes_of_unit(text(check, "unit")) > 0;
  if (text(check, "kind") == "trap" && !says_truth(check)) return add_trap(m, check, out);
  if (is_of_token(name, text(check, "unit"))) return add_bytes_of_token(m, check, out);
  if (add_share_of_free(m, check, out) || add_blocks_of_request(m, check, out)) return;
  if (m.engine == "llamacpp") return add_llamacpp_check(m, check, out);
  if (sized && is_of_states(name)) return add_states(m, check, out);
  if (is_of_states(name) || name.find("mamba_cache_size") != std::string::npos) return add_state_slots(m, check, out);
  if (sized && is_of_request(name)) return add_cache_of_request(m, check, out);
  if (sized && m.engine == "trtllm" && name.find("engine_") != std::string::npos)
    return add_named_check(m, check, Figure::weights, out);
  if (const NamedFigure* row = named_figure(name)) {
    const bool sized_parameters = sized && row->figure == Figure::parameters;
    return add_named_check(m, check, sized_parameters ? Figure::weights : row->figure, out);
  }
  const bool other_pool = name.find("_kv_") != std::string::npos && tokens_beside(m.c, name) > 0;
  if (begins(name, "kv") || begins(name, "k_") || begins(name, "v_") || begins(name, "ckv") || other_pool) {
    if (sized) add_cache(m, check, out);
  } else if (const NamedFigure* row = figure_within(name)) {
    add_named_check(m, check, row->figure, out);
  }
}

/// Independent checks and traps that none of the figures is: they count as not expressed.
void add_unexpressed(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name"), kind = text(check, "kind");
  if (kind != "independent" && kind != "trap") return;
  if (kind == "trap" && number(m.c, "measured." + name) > 0 && read_figure_name(name).is_speed) return;  // add_speeds
  for (const char* elsewhere : {"cpu_blocks", "concurrency", "max_concurrency", "num_cpu_blocks"})
    if (begins(name, elsewhere)) return;
  // Tokens of a pool are a figure of every log that states it, or the predicted pool's.
  const bool pool_given = logged_pool_gib(m.c) > 0 || cached_tokens(m.c, "") > 0;
  for (const char* counted :
       {"tokens", "num_tokens", "total_tokens", "kv_tokens", "blocks", "num_gpu_blocks", "gpu_blocks"})
    if (pool_given && begins(name, counted)) return;
  Measurement one = begin(m, kind, Figure::other);
  one.unit = text(check, "unit");
  one.measured = number(check, "measured");
  one.skip_for("no figure of the bill");
  out.push_back(std::move(one));
}

ServingMap mapped(const json& c, const json& models) {
  ServingMap m{c, {}, "", ""};
  set_engine(m);
  set_model(m, models);
  set_hardware(m);
  set_storage(m);
  set_limits(m);
  set_draft(m);
  set_flags(m);
  if (m.engine == "llamacpp") set_llamacpp(m);
  set_engine_defaults(m);
  return m;
}

/// The case without the figures whose names say that something else ran.
json without_variants(const json& c, const std::vector<FigureVariant>& variants) {
  json own = c;
  for (const FigureVariant& variant : variants) own["measured"].erase(variant.name);
  return own;
}

}  // namespace

std::vector<Measurement> serving_measurements(const json& c, const json& models) {
  const std::vector<FigureVariant> variants = figure_variants(c);
  const json own = without_variants(c, variants);
  const ServingMap m = mapped(own, models);
  std::vector<Measurement> out;
  if (const json* checks = find(c, "checks"); checks && checks->is_array())
    for (const json& check : *checks) {
      const size_t before = out.size();
      add_check(m, check, out);
      if (out.size() == before) add_unexpressed(m, check, out);
    }
  add_capacity(m, out);
  add_swap(m, out);
  add_pool(m, out);
  add_speeds(m, out);
  for (const FigureVariant& variant : variants) add_speeds(mapped(variant.of_figure, models), out);
  return out;
}

}  // namespace vram::accuracy
