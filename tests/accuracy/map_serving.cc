#include "tests/accuracy/map_serving.h"

#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/plan/plan.h"
#include "engine/units.h"
#include "tests/accuracy/map_training.h"
#include "tests/accuracy/model_name.h"

namespace vram::accuracy {
namespace {

/// A case on its way to a share string.
struct ServingMap {
  const json& c;
  Share share;
  std::string skipped;
  std::string engine;

  void skip(std::string why) {
    if (skipped.empty()) skipped = std::move(why);
  }
};

double first_of(const json& c, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const double value = number(c, std::string("measured.") + name); value > 0) return value;
  return 0;
}

// --- model -----------------------------------------------------------------------------------------------------

bool is_uniform(const json& facts) {
  const double layers = number(facts, "num_hidden_layers"), full = number(facts, "num_full_attention_layers");
  return number(facts, "kv_lora_rank") == 0 && number(facts, "num_experts") == 0 && (full == 0 || full == layers) &&
         number(facts, "hidden_size") > 0 && number(facts, "intermediate_size") > 0 && number(facts, "vocab_size") > 0;
}

/// A model that is no preset, of the facts beside the cases; only where every layer is alike.
bool set_facts(ServingMap& m, const json& models, const std::string& name) {
  if (!models.is_array()) return false;
  for (const json& facts : models) {
    const std::string repository = text(facts, "hf_repo");
    const std::string id = compact(repository.substr(repository.find('/') + 1));
    if (id.empty() || compact(name).find(id.substr(0, id.find("instruct"))) == std::string::npos) continue;
    if (!is_uniform(facts)) return false;
    m.share.set("model", "custom");
    m.share.set("gated", 1.0);
    const std::pair<const char*, const char*> keys[] = {
        {"num_hidden_layers", "layers"},  {"hidden_size", "hidden"},
        {"num_attention_heads", "heads"}, {"num_key_value_heads", "kv_heads"},
        {"head_dim", "head_dim"},         {"intermediate_size", "ffn"},
        {"vocab_size", "vocab"}};
    for (const auto& [field, key] : keys) m.share.set_if(key, number(facts, field));
    if (flag(facts, "tie_word_embeddings").value_or(false)) m.share.set("tied", 1.0);
    m.share.set_if("params", number(facts, "params_total_published_exact"));
    return true;
  }
  return false;
}

void set_model(ServingMap& m, const json& models) {
  std::string name = text(m.c, "model");
  if (const size_t bar = name.find(" / "); bar != std::string::npos) name = name.substr(0, bar);
  if (const size_t teacher = lower(name).find("distill"); teacher != std::string::npos) name = name.substr(teacher + 7);
  const std::string preset = preset_within(name.substr(0, name.find('(')));
  const std::string inferred = preset.empty() ? preset_within(name) : preset;
  if (!inferred.empty())
    m.share.set("model", inferred);
  else if (!set_facts(m, models, name))
    m.skip("the model is no preset");
}

// --- storage ---------------------------------------------------------------------------------------------------

struct Word {
  const char* word;
  const char* format;
};
constexpr Word kFormats[] = {{"nvfp4", "nvfp4"}, {"mxfp4", "mxfp4"}, {"fp4", "nvfp4"}, {"gptq", "gptq"},
                             {"awq", "awq"},     {"nf4", "nf4"},     {"bnb", "nf4"},   {"int4", "int4"},
                             {"fp8", "fp8"},     {"int8", "int8"},   {"bf16", "bf16"}, {"fp16", "fp16"},
                             {"f16", "fp16"},    {"fp32", "fp32"}};

/// "q4_k_m" where a text names a GGUF type; "?" where that type is not one of the engine's.
std::string gguf_type(const std::string& given) {
  const std::string all = lower(given);
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    const bool begins = i == 0 || !std::isalnum(static_cast<unsigned char>(all[i - 1]));
    const bool quantised = all[i] == 'q' || (all[i] == 'i' && all[i + 1] == 'q');
    const size_t digit = all[i] == 'i' ? i + 2 : i + 1;
    if (!begins || !quantised || digit >= all.size() || !std::isdigit(static_cast<unsigned char>(all[digit]))) continue;
    size_t end = digit;
    while (end < all.size() && (std::isalnum(static_cast<unsigned char>(all[end])) || all[end] == '_')) ++end;
    const std::string type = all.substr(i, end - i);
    if (type.find('_') == std::string::npos) continue;  // "Qwen" sizes are no types
    return find_format(type) ? type : "?";
  }
  return "";
}

std::string format_of(const std::string& given) {
  if (const std::string type = gguf_type(given); !type.empty()) return type;
  const std::string all = lower(given);
  for (const Word& row : kFormats)
    if (all.find(row.word) != std::string::npos) return row.format;
  return "";
}

void set_storage(ServingMap& m) {
  if (lower(text(m.c, "weight_dtype")).find(" only") != std::string::npos) m.skip("a mixed checkpoint");
  std::string weights = format_of(text(m.c, "weight_dtype"));
  if (m.engine == "llamacpp")
    if (const std::string named = format_of(text(m.c, "model")); !named.empty()) weights = named;
  if (find_format(weights)) m.share.set("weights", weights);
  const std::string kv = format_of(text(m.c, "kv_dtype").substr(0, text(m.c, "kv_dtype").find('/')));
  if (find_format(kv)) m.share.set("kv", kv == "fp16" ? "bf16" : kv);
}

// --- engine and limits -----------------------------------------------------------------------------------------

std::string engine_of(const std::string& given) {
  const std::string e = lower(given);
  if (e.find("vllm.rs") != std::string::npos) return "generic";
  if (e.find("vllm") != std::string::npos) return "vllm";
  if (e.find("sglang") != std::string::npos) return "sglang";
  if (e.find("llama") != std::string::npos) return "llamacpp";
  if (e.find("tensorrt") != std::string::npos || e.find("trt") != std::string::npos) return "trtllm";
  return "";
}

void set_limits(ServingMap& m) {
  const json& c = m.c;
  const double length =
      number(c, "max_model_len") > 0 ? number(c, "max_model_len") : first_of(c, {"n_ctx", "max_len", "context_len"});
  m.share.set_if("max_len", length);
  m.share.set_if("block", number(c, "block_size"));
  double utilization = number(c, "gpu_memory_utilization");
  if (utilization == 0) utilization = number(c, "mem_fraction_static");
  if (utilization > 0 && utilization <= 1) m.share.set("utilization", utilization);
  const double batch = number(c, "batch");
  m.share.set_if("max_seqs", m.engine == "llamacpp" ? 0 : std::max(batch, number(c, "measured.max_running_requests")));
  if (m.engine != "llamacpp" || length == 0) return;
  m.share.set_if("ubatch", number(c, "measured.n_ubatch"));
  const double slots = std::max(1.0, batch);
  m.share.set("concurrency", slots);
  m.share.set("prompt", std::floor(length / slots));
  m.share.set("output", 0.0);
  m.share.set("flash", number(c, "measured.flash_attn"));  // off unless the log says so: llama.cpp's default till 2025
}

void set_hardware(ServingMap& m) {
  Mapping hardware(m.c);
  map_hardware(hardware);
  if (const std::string gpu = hardware.share.get("gpu"); !gpu.empty()) m.share.set("gpu", gpu);
  const std::string given = text(m.c, "gpu");
  double gib = number_before(given, "gib").value_or(0);
  if (gib == 0) gib = number(m.c, "measured.total_gpu_memory_gib");
  if (gib == 0) gib = first_number(hardware.share.get("gpu_mem")).value_or(0);
  if (gib > 0) m.share.set("gpu_mem", gib);
  const double tp = number(m.c, "tp"), pp = number(m.c, "pp"), dp = number(m.c, "dp");
  if (pp > 1) m.share.set("serve_pp", pp);
  if (dp > 1) m.share.set("serve_dp", dp);
  if (tp > 1) m.share.set("serve_tp", tp);
}

void set_engine(ServingMap& m) {
  m.engine = engine_of(text(m.c, "engine"));
  if (m.engine.empty()) return m.skip("the engine is no choice of the key");
  m.share.set("engine", m.engine);
  const std::string version = text(m.c, "engine_version");
  if (!version.empty() && std::isdigit(static_cast<unsigned char>(version[0])))
    m.share.set("engine_version", version.substr(0, version.find_first_of(" /x")));
}

// --- measured numbers ------------------------------------------------------------------------------------------

/// Bytes of a check's unit; 0 for units that are no size.
double bytes_of_unit(const std::string& unit) {
  if (unit == "GiB") return kGiB;
  if (unit == "MiB") return kMiB;
  if (unit == "B") return 1;
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
  return out;
}

double cached_tokens(const json& c, const std::string& check) {
  const bool eager = check.find("eager") != std::string::npos, graphs = check.find("graphs") != std::string::npos;
  if (eager) return first_of(c, {"kv_tokens_eager"});
  if (graphs) return first_of(c, {"kv_tokens_graphs"});
  const double blocks = first_of(c, {"num_gpu_blocks", "primary_blocks", "gpu_blocks"});
  double block = number(c, "block_size");
  if (block == 0) block = first_of(c, {"tokens_per_block"});
  if (blocks > 0 && block > 0) return blocks * block;
  return first_of(c, {"kv_tokens"});
}

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

/// KV cache: of an engine that preallocates, the bytes of a token; of llama.cpp the whole allocation.
void add_cache(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const double bytes = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  if (m.engine == "llamacpp") {
    if (begins(name, "k_mib") || begins(name, "v_mib") || begins(name, "kv_full") || begins(name, "kv_swa")) return;
    Measurement one = begin(m, text(check, "kind"), Figure::kv_pool);
    one.measured = bytes;
    one.unit = text(check, "unit");
    out.push_back(std::move(one));
    return;
  }
  const double tokens = cached_tokens(m.c, name);
  if (tokens == 0) return;
  const bool half = begins(name, "k_gib") || begins(name, "v_gib");
  Measurement one = begin(m, text(check, "kind"), Figure::kv_token);
  one.measured = (half ? 2 : 1) * bytes / tokens;
  one.unit = "bytes a token";
  out.push_back(std::move(one));
}

/// llama.cpp prints full and sliding layers, or K and V, apart: their sum is the cache.
void add_split_cache(const ServingMap& m, std::vector<Measurement>& out) {
  double mib = number(m.c, "measured.kv_full_mib") + number(m.c, "measured.kv_swa_mib");
  if (mib == 0) mib = number(m.c, "measured.k_mib") + number(m.c, "measured.v_mib");
  if (m.engine != "llamacpp" || mib == 0) return;
  Measurement one = begin(m, "independent", Figure::kv_pool);
  one.measured = mib * kMiB;
  one.unit = "MiB";
  out.push_back(std::move(one));
}

double logged_pool_gib(const json& c) {
  const double gib = first_of(c, {"available_kv_gib", "kv_cache_size_gib", "kv_gib", "kv_gb"});
  return gib > 0 ? gib : first_of(c, {"k_gb"}) + first_of(c, {"v_gb"});
}

/// Tokens and concurrency, given the pool that the log states.
void add_capacity(const ServingMap& m, std::vector<Measurement>& out) {
  const double pool = logged_pool_gib(m.c);
  if (pool == 0 || m.engine == "llamacpp") return;
  ServingMap given = m;
  given.share.set("measured_kv_pool", pool);
  if (const double tokens = cached_tokens(m.c, ""); tokens > 0) {
    Measurement one = begin(given, "pool given", Figure::kv_tokens);
    one.measured = tokens;
    one.unit = "tokens";
    out.push_back(std::move(one));
  }
  if (const double requests = first_of(m.c, {"max_concurrency_x"}); requests > 0) {
    Measurement one = begin(given, "pool given", Figure::concurrency);
    one.measured = requests;
    one.unit = "x";
    out.push_back(std::move(one));
  }
}

/// The pool from the plan alone; its error counts against the memory that the engine may use.
void add_pool(const ServingMap& m, std::vector<Measurement>& out) {
  const double pool = logged_pool_gib(m.c);
  if (pool == 0 || m.engine == "llamacpp" || m.engine == "generic") return;
  Measurement one = begin(m, "pool predicted", Figure::kv_pool);
  one.measured = pool * kGiB;
  one.unit = "GiB";
  const Plan plan = read_plan(m.share.text()).plan;
  one.relative_to = plan.utilization * plan.gpu_mem;
  if (one.skipped.empty() && plan.gpu_mem == 0) one.skipped = "the GPU's memory is not stated";
  if (one.skipped.empty() && text(m.c, "gpu").empty() && number(m.c, "measured.total_gpu_memory_gib") == 0)
    one.skipped = "the GPU is not stated";
  out.push_back(std::move(one));
}

void add_check(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name"), kind = text(check, "kind");
  const double unit = bytes_of_unit(text(check, "unit"));
  if (unit == 0) return;
  const bool weights = begins(name, "weights") || begins(name, "model_gib");
  if (kind == "trap") {
    if (!weights) return;
    Measurement one = begin(m, kind, Figure::trap);
    one.measured = number(check, "predicted") * unit;
    one.unit = text(check, "unit");
    out.push_back(std::move(one));
  } else if (weights || begins(name, "compute") || begins(name, "graph") || begins(name, "activation")) {
    ServingMap given = m;
    if (name.find("_fa") != std::string::npos) given.share.set("flash", 1.0);
    Measurement one = begin(given, kind, weights ? Figure::weights : Figure::buffers);
    one.measured = number(check, "measured") * unit;
    one.unit = text(check, "unit");
    if (weights && one.skipped.empty() && m.share.get("weights").empty())
      one.skipped = "a storage that is no choice of the key";
    out.push_back(std::move(one));
  } else if (begins(name, "kv") || begins(name, "k_") || begins(name, "v_") || begins(name, "ckv")) {
    add_cache(m, check, out);
  }
}

// --- speed -----------------------------------------------------------------------------------------------------

void push_speed(const ServingMap& m, Figure figure, double measured, double streams, double prompt, double output,
                std::vector<Measurement>& out) {
  ServingMap given = m;
  given.share.set("concurrency", streams);
  given.share.set("prompt", prompt);
  given.share.set("output", output);
  Measurement one = begin(given, "speed", figure);
  one.measured = measured;
  one.unit = figure == Figure::first_token || figure == Figure::token_time ? "s" : "tokens/s";
  if (one.skipped.empty() && text(m.c, "gpu").empty()) one.skipped = "the GPU is not stated";
  out.push_back(std::move(one));
}

/// "tpot_ms_c10", "out_tok_s_c1", "pp512_tok_s", "tg128_tok_s", "ttft_ms_isl1024", "bs8_tok_s".
void add_speeds(const ServingMap& m, std::vector<Measurement>& out) {
  const json* measured = find(m.c, "measured");
  if (!measured || !measured->is_object()) return;
  for (const auto& [name, value] : measured->items()) {
    if (!value.is_number()) continue;
    const double amount = value.get<double>();
    const size_t c = name.rfind("_c");
    const double streams = c == std::string::npos ? 1 : first_number(name.substr(c)).value_or(1);
    if (begins(name, "tpot_ms") || name == "itl_ms")
      push_speed(m, Figure::token_time, amount / 1e3, streams, 512, 128, out);
    else if (begins(name, "out_tok_s"))
      push_speed(m, Figure::serving_speed, amount, streams, 512, 128, out);
    else if (begins(name, "tg"))
      push_speed(m, Figure::serving_speed, amount, 1, 1, first_number(name).value_or(128), out);
    else if (begins(name, "pp"))
      push_speed(m, Figure::prefill_speed, amount, 1, first_number(name).value_or(512), 1, out);
    else if (begins(name, "bs") && name.find("tok_s") != std::string::npos)
      push_speed(m, Figure::serving_speed, amount, first_number(name).value_or(1), 512, 128, out);
    else if (begins(name, "ttft_ms_isl"))
      push_speed(m, Figure::first_token, amount / 1e3, 1, first_number(name).value_or(1024), 128, out);
  }
}

}  // namespace

std::vector<Measurement> serving_measurements(const json& c, const json& models) {
  ServingMap m{c, {}, "", ""};
  set_engine(m);
  set_model(m, models);
  set_hardware(m);
  set_storage(m);
  set_limits(m);
  std::vector<Measurement> out;
  if (const json* checks = find(c, "checks"); checks && checks->is_array())
    for (const json& check : *checks) add_check(m, check, out);
  add_split_cache(m, out);
  add_capacity(m, out);
  add_pool(m, out);
  add_speeds(m, out);
  return out;
}

}  // namespace vram::accuracy
