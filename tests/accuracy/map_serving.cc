#include "tests/accuracy/map_serving.h"

#include <algorithm>
#include <cstdlib>

#include "engine/text.h"
#include "tests/accuracy/check_figure.h"
#include "tests/accuracy/check_name.h"
#include "tests/accuracy/figure_label.h"
#include "tests/accuracy/figure_lists.h"
#include "tests/accuracy/figure_variant.h"
#include "tests/accuracy/load.h"
#include "tests/accuracy/map_llamacpp.h"
#include "tests/accuracy/map_serving_named.h"
#include "tests/accuracy/map_serving_pool.h"
#include "tests/accuracy/map_serving_states.h"
#include "tests/accuracy/map_serving_trap.h"
#include "tests/accuracy/serving_map.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {

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

/// "kv_bytes_per_token": of a GPU, whatever the pool has.
void add_bytes_of_token(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string unit = text(check, "unit");
  const double bytes = bytes_of_unit(unit.substr(0, unit.find('/')));
  Measurement one = begin(m, text(check, "kind"), Figure::kv_token);
  one.measured = number(check, "measured") * std::max(1.0, bytes);
  one.unit = "bytes a token";
  if (read_name(text(check, "name")).has_any({"total", "all", "whole"})) one.part = "all GPUs";
  out.push_back(std::move(one));
}

bool is_of_token(const std::string& name, const std::string& unit) {
  const bool said = holds_any(name, {"per_tok", "token_bytes", "bytes_tok", "bytes_a_tok"});
  return said || unit.find("/tok") != std::string::npos;
}

/// What so many tokens of one request need: "kv_needed_131072", of the longest where no number says of how many.
void add_cache_of_request(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  const std::string name = text(check, "name");
  double tokens = 0;
  for (size_t i = name.find('_'); i != std::string::npos; i = name.find('_', i + 1))
    if (i + 1 < name.size() && is_digit(name[i + 1])) tokens = std::strtod(name.c_str() + i + 1, nullptr);
  if (tokens < 256) tokens = stated_length(m.c);
  if (tokens == 0) return;
  Measurement one = begin(m, text(check, "kind"), Figure::kv_token);
  one.measured = number(check, "measured") * bytes_of_unit(text(check, "unit")) / tokens;
  one.unit = "bytes a token";
  out.push_back(std::move(one));
}

bool is_of_request(const std::string& name) {
  for (const char* word : {"needed", "required", "per_request", "per_req", "one_request", "full_request", "a_request",
                           "one_sequence", "per_sequence", "at_max_len", "for_max_len"})
    if ((name.starts_with("kv") || name.starts_with(word)) && name.find(word) != std::string::npos) return true;
  return false;
}

bool is_of_cache(const std::string& name) {
  if (is_one_of(name, {"k", "v", "blocks_gib", "blocks_gb"})) return true;
  const CheckName words = read_name(name);  // "swa_k_gib"
  if (words.has_any({"k", "v", "kv"}) && words.has_any({"swa", "full", "sliding", "global"})) return true;
  for (const char* begins : {"kv", "k_", "v_", "ckv", "cache", "available_kv", "available_cache"})
    if (name.starts_with(begins)) return true;
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
  const bool of_pool = name.find("_kv_") != std::string::npos || name.find("_pool") != std::string::npos;
  const bool other_pool = of_pool && tokens_beside(m.c, name) > 0;
  if (sized && other_pool) return add_cache(m, check, out);
  if (const NamedFigure* row = named_figure(name)) {
    const bool sized_parameters = sized && row->figure == Figure::parameters;
    return add_named_check(m, check, sized_parameters ? Figure::weights : row->figure, out);
  }
  if (is_of_cache(name)) {
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

/// Weights that a server of GPUs keeps in host memory: --cpu-offload-gb of vllm, KTransformers' experts.
bool keeps_weights_on_host(const ServingMap& m) {
  if (m.engine == "llamacpp") return false;
  if (first_of(m.c, {"cpu_offload_gb", "cpu_offload_gib", "kt_num_gpu_experts"}) > 0) return true;
  const std::string said = said_of(m.c) + said_in(m.c, {"engine_version"});
  return holds_any(said,
                   {"ktransformers", "kt-num-gpu-experts", "experts on the gpu", "rest on the cpu", "rest on cpu"});
}

void skip_weights_on_host(const ServingMap& m, std::vector<Measurement>& rows) {
  const bool all = keeps_weights_on_host(m);
  for (Measurement& row : rows)
    if (all && (row.figure == Figure::weights || row.figure == Figure::kv_pool || row.figure == Figure::process))
      row.skip_for("weights on the host are no choice of a key");
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
  const json c = without_lists(flattened(given));
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
  skip_weights_on_host(m, out);
  add_speeds(m, out);
  for (const FigureVariant& variant : variants) add_speeds(map_serving_plan(variant.of_figure, models), out);
  return out;
}

}  // namespace vram::accuracy
