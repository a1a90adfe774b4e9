#include "tests/accuracy/map_serving.h"

#include <algorithm>
#include <cmath>

#include "engine/plan/plan.h"
#include "engine/text.h"
#include "engine/units.h"
#include "tests/accuracy/check_name.h"
#include "tests/accuracy/figure_label.h"
#include "tests/accuracy/figure_variant.h"
#include "tests/accuracy/load.h"
#include "tests/accuracy/map_llamacpp.h"
#include "tests/accuracy/map_serving_pool.h"
#include "tests/accuracy/rank_said.h"
#include "tests/accuracy/serving_map.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {

double first_of(const json& c, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const double value = number(c, std::string("measured.") + name); value > 0) return value;
  return 0;
}

double stated_length(const json& c) {
  const double length = number(c, "max_model_len");
  return length > 0 ? length : first_of(c, {"n_ctx", "max_len", "context_len"});
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
    if (name.starts_with(row.name)) return &row;
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
      (name.starts_with("kv") ? 1 : 2) * number(check, "predicted") * bytes_of_unit(text(check, "unit")) / tokens;
  one.unit = "bytes a token";
  out.push_back(std::move(one));
}

/// A published formula that is wrong: what it gives must not be what the engine gives.
void add_trap(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const NamedFigure* row = named_figure(name);
  const double bytes = bytes_of_unit(text(check, "unit"));
  const bool of_cache = name.starts_with("kv") || name.starts_with("k_") || name.starts_with("v_");
  if (of_cache && bytes > 0 && m.engine != "llamacpp") return add_token_trap(m, check, out);
  const bool cache = name.starts_with("kv") && bytes > 0 && m.engine == "llamacpp";
  if (!cache && (row == nullptr || (row->figure != Figure::weights && row->figure != Figure::concurrency))) return;
  ServingMap given = m;
  const bool weights = row != nullptr && row->figure == Figure::weights;
  if (!weights) given.share.set_if("measured_kv_pool", logged_pool_gib(m.c));
  Measurement one = begin(given, "trap", Figure::trap);
  const Plan plan = read_plan(given.share.text()).plan;
  if (weights && plan.subject && plan.subject->nominal_parameters == 0) one.skip_for("the weights are not known");
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

/// "weights_tp1": of so many ranks, whatever the run's were; "weights_total": of the whole model.
void set_ranks(ServingMap& m, const std::string& name) {
  if (stage_said(m.c, name)) return;
  const bool whole = name.find("_total") != std::string::npos || name.rfind("total_", 0) == 0;
  if (whole && m.engine != "llamacpp")
    for (const char* key : {"serve_tp", "serve_pp", "serve_ep", "serve_gpus"})
      if (!m.share.get(key).empty()) m.share.set(key, 1.0);
  for (const auto& [word, key] : {std::pair{"_tp", "serve_tp"}, std::pair{"_pp", "serve_pp"}}) {
    const size_t at = name.find(word);
    if (at != std::string::npos && at + 3 < name.size() && is_digit(name[at + 3]))
      m.share.set(key, std::strtod(name.c_str() + at + 3, nullptr));
  }
}

/// A size that people give a checkpoint ("weights_gb_text": 62) counts in powers of ten and has few digits.
bool is_of_prose(const json& c, const json& check) {
  const std::string field = twin_of(c, check), unit = lower(text(check, "unit"));
  const bool decimal = unit == "gb" || unit == "mb";
  return decimal && holds_any(field, {"text", "checkpoint", "disk", "download", "published"});
}

void set_prose_size(const json& check, Measurement& one) {
  const double power = lower(one.unit) == "gb" ? 1e9 : 1e6, said = number(check, "measured");
  one.measured = said * power;
  one.rounding = 0.5 * power * (std::fabs(said - std::round(said)) < 1e-9 ? 1 : 0.1);
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
  one.measured = number(check, "measured") * std::max(power_of_unit(unit), bytes_of_unit(unit));
  one.unit = unit;
  // What TensorRT-LLM says of the GPU, not of the engine; no more than the engine is what TensorRT itself manages.
  const double after = number(m.c, "measured.gpu_mib_after_context"), built = number(m.c, "measured.engine_mib");
  if (figure == Figure::weights && after == number(check, "measured") && (built == 0 || after > built))
    one.part = "process";
  if (figure == Figure::weights && holds_non_torch(m.c, check)) one.part = "non-torch";
  if (const auto stage = stage_said(m.c, text(check, "name")); stage && figure == Figure::weights)
    one.part = "stage " + std::to_string(*stage);
  if (figure == Figure::weights && is_of_prose(m.c, check)) set_prose_size(check, one);
  const bool stored = figure == Figure::weights || figure == Figure::head || figure == Figure::host_weights;
  const bool unread = m.share.get("weights").empty() && !text(m.c, "weight_dtype").empty();
  if (stored && one.skipped.empty() && unread) one.skipped = "a storage that is no choice of the key";
  const Plan plan = read_plan(given.share.text()).plan;
  if (stored && plan.subject && plan.subject->nominal_parameters == 0) one.skip_for("the weights are not known");
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

/// "state_slots_bf16" beside "conv_gib_bf16": what stands behind the count stands behind the size, too.
double logged_slots(const json& c, const std::string& check) {
  if (const double slots = first_of(c, {"max_mamba_cache_size", "n_seq_max"}); slots > 0) return slots;
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return 0;
  double plain = 0;
  for (const auto& [name, value] : measured->items()) {
    const size_t at = name.find("_slots");
    if (at == std::string::npos || !value.is_number() || !holds_any(name, {"state", "mamba"})) continue;
    const std::string behind = name.substr(at + 6);
    if (!behind.empty() && check.ends_with(behind)) return value.get<double>();
    if (behind.empty()) plain = value.get<double>();
  }
  return plain;
}

/// What sglang sets apart for states of the pool that the log has of tokens.
void add_state_pool(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  Measurement one = begin(m, text(check, "kind"), Figure::recurrent);
  one.measured = number(check, "measured") * bytes_of_unit(text(check, "unit"));
  one.unit = text(check, "unit");
  one.part = "pool beside " + std::to_string(logged_pool_gib(m.c));
  out.push_back(std::move(one));
}

/// Recurrent states of so many slots; sglang has one more to write to where none is meant (memory_pool.py, MambaPool).
void add_states(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  ServingMap given = m;
  const std::string name = text(check, "name"), unit = text(check, "unit");
  if (!knows_states(m)) given.skip("the states of linear layers are not known");
  const double logged = logged_slots(m.c, name);
  const bool shared = m.engine == "sglang" && (name.find("share") != std::string::npos || logged == 0);
  if (shared && logged_pool_gib(m.c) > 0 && name.find("slot") == std::string::npos)
    return add_state_pool(given, check, out);
  const auto rank = share_of_rank(m.c, name, "state");
  if (rank) given.share.set("serve_tp", 1.0);
  double slots = logged > 0 ? logged + (m.engine == "sglang" ? 1 : 0) : number(m.c, "batch");
  for (const char* one : {"slot", "per_req", "per_seq", "a_request", "one_request"})
    if (name.find(one) != std::string::npos || unit.find("/req") != std::string::npos) slots = 1;
  given.share.set("concurrency", std::max(1.0, slots));
  given.share.set("prompt", 1.0);
  given.share.set("output", 0.0);
  Measurement one = begin(given, text(check, "kind"), Figure::recurrent);
  one.measured = number(check, "measured") * bytes_of_unit(text(check, "unit")) / rank.value_or(1);
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
    if ((name.starts_with("kv") || name.starts_with(word)) && name.find(word) != std::string::npos) return true;
  return false;
}

bool is_of_states(const std::string& name) {
  for (const char* word : {"gdn_", "ssm_", "conv_", "kda_", "mamba", "recurrent", "rs_", "state"})
    if (name.starts_with(word) || name.find("_" + std::string(word)) != std::string::npos) return true;
  return false;
}

void add_check(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  const bool sized = bytes_of_unit(text(check, "unit")) > 0;
  if (text(check, "kind") == "trap" && !says_truth(check)) return add_trap(m, check, out);
  if (is_of_token(name, text(check, "unit"))) return add_bytes_of_token(m, check, out);
  if (add_share_of_free(m, check, out) || add_blocks_of_request(m, check, out) || add_pool_end(m, check, out)) return;
  if (add_swap_check(m, check, out) || add_refusal(m, check, out)) return;
  if (m.engine == "llamacpp") return add_llamacpp_check(m, check, out);
  if (add_blocks_of_free(m, check, out) || add_block(m, check, out) || add_pool_of_other(m, check, out)) return;
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
  if (name.starts_with("kv") || name.starts_with("k_") || name.starts_with("v_") || name.starts_with("ckv") ||
      other_pool) {
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
    if (name.starts_with(elsewhere)) return;
  // Tokens of a pool are a figure of every log that states it, or the predicted pool's.
  const bool pool_given = logged_pool_gib(m.c) > 0 || cached_tokens(m.c, "") > 0;
  for (const char* counted :
       {"tokens", "num_tokens", "total_tokens", "kv_tokens", "blocks", "num_gpu_blocks", "gpu_blocks"})
    if (pool_given && name.starts_with(counted)) return;
  Measurement one = begin(m, kind, Figure::other);
  one.unit = text(check, "unit");
  one.measured = number(check, "measured");
  one.skip_for("no figure of the bill");
  out.push_back(std::move(one));
}

/// {"c8": {"ttft_ms": 90}} is "c8_ttft_ms".
json flattened(const json& c) {
  json out = c;
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return out;
  for (const auto& [name, group] : measured->items()) {
    if (!group.is_object()) continue;
    for (const auto& [inner, value] : group.items())
      if (value.is_number()) out["measured"][name + "_" + inner] = value;
  }
  return out;
}

/// The case without the figures whose names say that something else ran.
json without_variants(const json& c, const std::vector<FigureVariant>& variants) {
  json own = c;
  own["siblings"] = siblings_of(c);
  for (const FigureVariant& variant : variants) own["measured"].erase(variant.name);
  return own;
}

}  // namespace

std::vector<Measurement> serving_measurements(const json& given, const json& models) {
  const json c = flattened(given);
  const std::vector<FigureVariant> variants = figure_variants(c);
  const json own = without_variants(c, variants);
  const ServingMap m = map_serving_plan(own, models);
  std::vector<Measurement> out;
  if (const json* checks = find(c, "checks"); checks && checks->is_array())
    for (const json& check : *checks) {
      const size_t before = out.size();
      if (const auto variant = check_variant(own, check)) {
        json renamed = check;
        renamed["name"] = variant->name;
        add_check(map_serving_plan(variant->of_figure, models), renamed, out);
      } else {
        add_check(m, check, out);
      }
      if (out.size() == before) add_unexpressed(m, check, out);
    }
  add_capacity(m, out);
  add_swap(m, out);
  add_pool(m, out);
  add_speeds(m, out);
  for (const FigureVariant& variant : variants) add_speeds(map_serving_plan(variant.of_figure, models), out);
  return out;
}

}  // namespace vram::accuracy
