#include "tests/accuracy/map_serving_pool.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/plan/plan.h"
#include "engine/serving/serving.h"
#include "engine/text.h"
#include "engine/units.h"
#include "tests/accuracy/check_name.h"
#include "tests/accuracy/measured_fields.h"
#include "tests/accuracy/rank_said.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
double half_digit(double printed) {
  const bool two = std::fabs(100 * printed - std::round(100 * printed)) < 1e-6;
  return printed < 1 || (printed < 2 && two) ? 0.005 : 0;
}

namespace {

bool has_states(const Plan& plan) {
  for (const LayerKind& kind : plan.subject->kinds)
    if (kind.state_elements + kind.conv_state_elements > 0) return true;
  return false;
}

bool states_unknown(const ServingMap& m) {
  const bool told = !m.share.get("state_elements").empty() || m.share.get("arch").find("linear") != std::string::npos;
  return m.share.get("pattern").find('l') != std::string::npos && !told;
}

/// A release that is not named prints tokens of one group, which the newest no longer does.
bool prints_otherwise(const ServingMap& m, double tokens) {
  const double all = concurrency_field(m.c) * stated_length(m.c);
  return m.share.get("engine_version").empty() && in_groups(m) && tokens < 0.9 * all;
}

/// Where the printed tokens are those of one group of layers, the requests that the bytes hold say as much.
void add_cache_of_hybrid(const ServingMap& m, const json& check, double bytes, std::vector<Measurement>& out) {
  const double requests = concurrency_field(m.c);
  const double tokens = requests > 0 ? 0 : tokens_beside(m.c, twin_of(m.c, check));
  if (requests == 0 && (tokens == 0 || prints_otherwise(m, tokens))) return;
  ServingMap given = m;
  if (states_unknown(m)) given.skip("the states of linear layers are not known");
  given.share.set("measured_kv_pool", bytes / kGiB);
  Measurement one = begin(given, text(check, "kind"), requests > 0 ? Figure::concurrency : Figure::kv_tokens);
  one.measured = requests > 0 ? requests : tokens;
  one.unit = requests > 0 ? "x" : "tokens";
  out.push_back(std::move(one));
}

/// "k_gib_swa": of window layers alone.
std::string kind_of_layers(const std::string& name) {
  for (const char* word : {"swa", "sliding", "window"})
    if (name.find(word) != std::string::npos) return "sliding";
  return name.find("full") != std::string::npos ? "full" : "";
}

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

/// "available_kv_gib_ranks01": of the ranks whose tokens are the fewest, which have the least where all hold the same
/// layers, and where a pipeline's stages are even are the first of them.
double least_of_ranks(const json& c) {
  const json* measured = find(c, "measured");
  double least = 0;
  if (measured == nullptr || !measured->is_object()) return 0;
  for (const auto& [name, value] : measured->items()) {
    if (name.rfind("available_kv_gib_rank", 0) != 0 || !value.is_number()) continue;
    const double gib = value.get<double>();
    least = least == 0 || (number(c, "pp") <= 1 && gib < least) ? gib : least;
  }
  return least;
}

/// "kv_gib_a" and "kv_gib_b", "available_kv_gib_pp0": of GPUs or stages that leave different pools the smallest sets
/// the blocks of all.
double least_of_stages(const json& c) {
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return 0;
  double least = 0;
  for (const auto& [name, value] : measured->items()) {
    const size_t at = name.find("kv_gib_");
    if (!value.is_number() || at == std::string::npos || (at > 0 && name.rfind("available_", 0) != 0)) continue;
    const std::string rest = name.substr(at + 7);
    const bool letter = rest.size() == 1 && !is_digit(rest[0]);
    const bool stage = rest.size() > 2 && is_digit(rest.back()) && holds_any(rest, {"pp", "stage", "gpu"});
    if ((letter || stage) && value.get<double>() > 0 && (least == 0 || value.get<double>() < least))
      least = value.get<double>();
  }
  return least;
}

/// Does the log leave out what the states of its hybrid take?
bool tokens_alone(const ServingMap& m) {
  if (m.engine != "sglang" || logged_states_gib(m.c) > 0) return false;
  const Plan plan = read_plan(m.share.text()).plan;
  return plan.subject && has_states(plan);
}

/// A pool of as many tokens as were asked for says nothing of the memory that is left.
bool tokens_were_set(const json& c) {
  if (first_of(c, {"max_total_tokens", "num_gpu_blocks_override", "kv_cache_memory_bytes"}) > 0) return true;
  return holds_any(said_of(c), {"max_total_tokens", "max-total-tokens", "num_gpu_blocks_override",
                                "num-gpu-blocks-override", "kv-cache-memory"});
}

/// GiB that the printed pool may be off by its last digits.
double pool_rounding(const json& c) {
  if (const double gib = pool_field(c); gib > 0) return half_digit(gib);
  double off = 0;
  for (const char* name : {"k_gb", "v_gb", "k_gib", "v_gib", "full_k_gb", "full_v_gb", "swa_k_gb", "swa_v_gb"})
    if (const double gib = first_of(c, {name}); gib > 0) off += half_digit(gib);
  return off;
}

double available_gib(const json& c) {
  const double gib = first_of(c, {"available_gib", "available_gb", "free_gib", "free_gb", "free_memory_gib"});
  return gib > 0 ? gib : first_of(c, {"available_mib", "free_mib"}) / 1024;
}

/// "fraction", "kv_fraction", "free_gpu_memory_fraction"; not "bw_fraction".
bool is_share_of_memory(const std::string& name) {
  const size_t at = name.find("fraction");
  if (at == std::string::npos) return false;
  return at == 0 || name.find("free") < at || name.find("mem") < at || name.find("kv") < at;
}

}  // namespace

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
    for (const char* usual :
         {"kv", "k", "v", "bytes", "gib", "gb", "mib", "mb", "pool", "cache", "size", "eager", "graphs", "available"})
      plain = plain || word == usual;
    if (!plain) apart = word;
  }
  if (apart.empty()) return 0;
  for (const auto& [name, value] : measured->items())
    if (name.find(apart) != std::string::npos && name.find("tokens") != std::string::npos && value.is_number())
      return value.get<double>();
  return 0;
}

double cached_tokens(const json& c, const std::string& check) {
  const bool eager = check.find("eager") != std::string::npos, graphs = check.find("graphs") != std::string::npos;
  if (const double beside = tokens_beside(c, check); beside > 0) return beside;
  if (eager) return first_of(c, {"kv_tokens_eager"});
  if (graphs) return first_of(c, {"kv_tokens_graphs"});
  // Of groups of layers the log prints what one of them has; its blocks are those of all.
  if (const double printed = first_of(c, {"kv_tokens_printed", "gpu_kv_cache_tokens", "kv_cache_tokens"}); printed > 0)
    return printed;
  const double tokens = tokens_field(c);
  const double requests = concurrency_field(c) * stated_length(c);
  if (tokens > 0 && std::fabs(tokens - requests) < 0.01 * requests) return tokens;
  const double blocks = blocks_field(c);
  double block = block_size(c);
  if (block == 0) block = first_of(c, {"block_size"});
  if (blocks > 0 && block > 0) return blocks * block;
  return tokens;
}

/// Do vllm's equal groups of layers share the blocks, so that bytes over printed tokens are nobody's?
bool in_groups(const ServingMap& m) {
  if (m.engine != "vllm") return false;
  const Plan plan = read_plan(m.share.text()).plan;
  if (!plan.subject || !plan.accelerator) return false;
  const ServingBill bill = serving_bill(plan);
  return bill.kv_bytes_per_token != bill.kv_bytes_per_token_beyond_window || has_states(plan);
}

constexpr double kLeastPool = 4 << 20;  // bytes: what is smaller is a token's

/// KV cache: of an engine that preallocates, the bytes of a token; of llama.cpp the whole allocation.
void add_cache(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const double bytes = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  const std::string part = kind_of_layers(name);
  double tokens = part == "sliding" ? first_of(m.c, {"swa_tokens", "sliding_tokens"}) : cached_tokens(m.c, name);
  if (tokens == 0) tokens = tokens_beside(m.c, twin_of(m.c, check));
  if (tokens == 0 || (part.empty() && in_groups(m))) return add_cache_of_hybrid(m, check, bytes, out);
  const CheckName words = read_name(name);
  const bool keys = words.has("k"), half = keys != words.has("v");  // "k_plus_v" is of both
  ServingMap given = m;
  const auto rank = share_of_rank(m.c, name, "kv heads");
  if (rank) given.share.set("serve_tp", 1.0);
  const double whole = (half ? 2 : 1) / rank.value_or(1);
  if (half) set_half(given, keys ? 'k' : 'v');
  set_cache_format(given, name);
  Measurement one = begin(given, text(check, "kind"), Figure::kv_token);
  one.part = part;
  one.measured = whole * bytes / (bytes < kLeastPool ? 1 : tokens);
  one.rounding = whole * bytes_of_unit(text(check, "unit")) * half_digit(number(check, "measured")) / tokens;
  one.unit = "bytes a token";
  out.push_back(std::move(one));
}

bool knows_states(const ServingMap& m) {
  const Plan plan = read_plan(m.share.text()).plan;
  return plan.subject && has_states(plan) && !states_unknown(m);
}

double logged_pool_gib(const json& c) {
  const double gib = pool_field(c);
  if (gib > 0) return gib;
  if (const double least = least_of_ranks(c); least > 0) return least;
  if (const double least = least_of_stages(c); least > 0) return least;
  double parts = 0;  // keys and values, of one pool or of two
  for (const auto& [k, v] :
       {std::pair{"k_gb", "v_gb"}, {"k_gib", "v_gib"}, {"full_k_gb", "full_v_gb"}, {"swa_k_gb", "swa_v_gb"}}) {
    const double keys = first_of(c, {k}), values = first_of(c, {v});
    parts += keys + (values > 0 ? values : keys);  // the log's two halves are alike
  }
  return parts;
}

/// sglang's budget holds the states of a hybrid, too.
double logged_states_gib(const json& c) {
  const double all = first_of(c, {"state_gb", "mamba_gb", "mamba_cache_gb", "state_gib", "mamba_gib"});
  return all > 0 ? all
                 : first_of(c, {"ssm_state_gb", "ssm_state_gib", "ssm_gb", "ssm_gib"}) +
                       first_of(c, {"conv_state_gb", "conv_state_gib", "conv_gb", "conv_gib"});
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
    if (one.rounding > 0 && m.engine == "trtllm") one.rounding += read_plan(m.share.text()).plan.block;  // whole ones
    one.unit = "tokens";
    out.push_back(std::move(one));
  }
  if (const double requests = concurrency_field(m.c); requests > 0) {
    if (states_unknown(given)) given.skip("the states of linear layers are not known");
    Measurement one = begin(given, "pool given", Figure::concurrency);
    one.measured = requests;
    one.rounding = requests * pool_rounding(m.c) / pool;
    one.unit = "x";
    out.push_back(std::move(one));
  }
}

/// sglang's free memory once its pools are there: what it fell by is pool and table.
bool add_pool_end(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const double before = first_of(m.c, {"avail_after_weights_gb", "avail_after_gb"}), pool = logged_pool_gib(m.c);
  const double end = first_of(m.c, {"memory_pool_end_avail_gb", "pool_end_avail_gb", "avail_after_pool_gb"});
  if (m.engine != "sglang" || before == 0 || pool == 0 || end == 0 || number(check, "measured") != end) return false;
  ServingMap given = m;
  given.share.set("measured_kv_pool", pool);
  Measurement one = begin(given, text(check, "kind"), Figure::pool_and_table);
  one.measured = (before - end - logged_states_gib(m.c)) * kGiB;
  one.unit = text(check, "unit");
  out.push_back(std::move(one));
  return true;
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
  const std::string gpu = lower(text(m.c, "gpu"));
  const bool unsaid = gpu.empty() || gpu.rfind("not stated", 0) == 0 || gpu.rfind("unknown", 0) == 0;
  if (one.skipped.empty() && unsaid && number(m.c, "measured.total_gpu_memory_gib") == 0 &&
      !(fraction && number(m.c, "measured.avail_before_gb") > 0))
    one.skipped = "the GPU is not stated";
  out.push_back(std::move(one));
}

/// The pool as a share of what was free before it: TensorRT-LLM's free_gpu_memory_fraction.
bool add_share_of_free(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const double free = available_gib(m.c), bytes = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  if (m.engine != "trtllm" || !is_share_of_memory(text(check, "name"))) return false;
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
  const bool blocks = name.find("block") != std::string::npos || name.find("page") != std::string::npos;
  if (!blocks || !each || bytes_of_unit(unit) > 0) return false;
  Measurement one = begin(m, text(check, "kind"), Figure::request_blocks);
  one.measured = number(check, "measured");
  one.unit = unit;
  out.push_back(std::move(one));
  return true;
}

/// TensorRT-LLM's blocks of a log that says what was free before them: its share of that is the pool.
bool add_blocks_of_free(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const Plan plan = read_plan(m.share.text()).plan;
  const double free = available_gib(m.c), block = plan.block;
  const bool plain = name == "blocks" || name == "num_blocks" || name == "primary_blocks" || name == "kv_blocks";
  if (m.engine != "trtllm" || !plain || free == 0 || block <= 0) return false;
  ServingMap given = m;
  given.share.set("measured_kv_pool", plan.utilization * free);
  Measurement one = begin(given, text(check, "kind"), Figure::kv_tokens);
  one.measured = number(check, "measured") * block;
  one.unit = "tokens";
  out.push_back(std::move(one));
  return true;
}

/// "block", "block_mib", or in "MiB/block": bytes of one, of so many tokens.
bool add_block(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name"), unit = text(check, "unit");
  const double bytes = number(check, "measured") * bytes_of_unit(unit.substr(0, unit.find('/')));
  double tokens = block_size(m.c);
  if (tokens == 0) tokens = first_of(m.c, {"block_size"});
  if (tokens == 0 && m.engine == "vllm") tokens = read_plan(m.share.text()).plan.block;
  const bool plain = name == "block" || name == "block_size" || name == "kv_block";
  const bool named = holds_any(name, {"per_block", "a_block", "block_mib", "block_kib", "block_mb", "block_bytes"});
  if ((!plain && !named && unit.find("/block") == std::string::npos) || bytes == 0 || tokens == 0) return false;
  Measurement one = begin(m, text(check, "kind"), Figure::kv_token);
  one.measured = bytes / tokens;
  one.unit = "bytes a token";
  out.push_back(std::move(one));
  return true;
}

/// A pool of an engine that the plan's choices do not have: bytes of a token, where the log has its tokens.
bool add_pool_of_other(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const double bytes = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  if (m.engine != "generic" || bytes == 0 || text(check, "name").find("pool") != 0) return false;
  const double tokens = cached_tokens(m.c, "");
  Measurement one = begin(m, text(check, "kind"), Figure::kv_token);
  one.measured = tokens > 0 ? bytes / tokens : 0;
  one.unit = "bytes a token";
  if (tokens == 0) one.skip_for("an engine that the key has no choice for allocates it");
  out.push_back(std::move(one));
  return true;
}

}  // namespace vram::accuracy
