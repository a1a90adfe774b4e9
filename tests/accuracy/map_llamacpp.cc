#include "tests/accuracy/map_llamacpp.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/formats.h"
#include "engine/plan/plan.h"
#include "engine/serving/llamacpp.h"
#include "engine/text.h"
#include "tests/accuracy/check_name.h"
#include "tests/accuracy/engine_defaults.h"
#include "tests/accuracy/llamacpp_said.h"
#include "tests/accuracy/ollama.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// 0: not said.
double told_slots(const json& c) {
  const double slots = first_of(c, {"n_slots", "n_parallel", "n_seq_max", "slots", "parallel"});
  return slots > 0 ? slots : slots_said(said_of(c), is_ollama(c));
}

double stated_slots(const json& c) {
  const double batch = number(c, "batch");
  return std::max(1.0, batch > 0 ? batch : told_slots(c));
}

/// As logged, or what makes the window cells that are: they are whole 256 beyond one window.
double micro_batch(const json& c) {
  double logged = first_of(c, {"n_ubatch", "ubatch"});
  if (logged == 0) logged = ubatch_said(said_of(c), stated_length(c));
  const double cells = number(c, "measured.cells_swa_per_seq");
  return logged == 0 && cells > 256 ? cells - 256 : logged;
}

/// --swa-full, or as many cells of windows as the context has: "creating SWA KV cache, size = 32768 cells".
bool keeps_whole_windows(const json& c, const std::string& said, double length) {
  if (switched(c, {"swa_full"}).value_or(false) || holds_any(said, {"swa-full", "swa_full"})) return true;
  if (number(c, "measured.swa_cells") >= length) return true;
  for (const char* cache : {"swa cache", "swa kv cache", "window cache"})
    if (const size_t at = said.find(cache); at != std::string::npos)
      if (number_before(said.substr(at, 64), " cells").value_or(0) >= length) return true;
  return false;
}

/// One cache a slot: a log of them says so, by its cells or in words.
bool caches_apart(const json& c, const std::string& said) {
  if (const auto unified = switched(c, {"kv_unified", "unified"})) return !*unified;
  const double each = first_of(c, {"n_ctx_seq"}), all = first_of(c, {"n_ctx"});
  if (each > 0 && each < all) return true;
  return first_of(c, {"cells_full_per_seq", "cells_per_slot", "cells_per_seq", "cells_a_slot"}) > 0 ||
         holds_any(said, {"streams", "not unified", "non-unified", "no-kv-unified"});
}

/// Of keys and values, as logged or said; empty where they are not told apart. A flag for keys alone leaves values in
/// 16 bit.
CacheTypes types_of(const json& c) {
  CacheTypes types{text(c, "measured.k_cache"), text(c, "measured.v_cache")};
  if (types.keys.empty() && types.values.empty()) types = cache_types_said(lower(text(c, "kv_dtype")));
  if (types.keys.empty()) types = cache_types_said(lower(text(c, "flags") + " " + text(c, "command")));
  for (std::string* type : {&types.keys, &types.values})
    if (const std::string read = format_of(*type); find_format(read) != nullptr) *type = read == "fp16" ? "bf16" : read;
  return types;
}

void set_cache_types(ServingMap& m) {
  const CacheTypes types = types_of(m.c);
  if (find_format(types.keys) == nullptr || find_format(types.values) == nullptr) return;
  m.share.set("kv", types.keys);
  if (types.values != types.keys) m.share.set("kv_values", types.values);
  m.kv_unread = false;
}

/// A cache in blocks is read by flash attention alone (src/llama-context.cpp: "V cache quantization requires
/// flash_attn").
bool caches_blocks(const ServingMap& m) {
  const Format* kv = find_format(m.share.get("kv"));
  const std::string said = said_of(m.c);
  const bool keys_alone = holds_any(said, {"-ctk", "cache-type-k"}) && !holds_any(said, {"ctv", "cache-type-v"});
  return kv != nullptr && kv->bits < 16 && !keys_alone;
}

/// As logged, as the flags say, as the cache needs it, as the explanations say, or as the build does by itself.
void set_flash(ServingMap& m, bool apart) {
  std::optional<bool> flash = switched(m.c, {"flash_attn", "flash_attention", "fa"});
  if (!flash) flash = flash_said(said_of(m.c));
  if (!flash && caches_blocks(m)) flash = true;
  if (!flash) flash = flash_said(explained(m.c));
  const bool usual = apart || (!is_ollama(m.c) && llamacpp_flash(m.share.get("engine_version")));
  m.share.set("flash", flash.value_or(usual) ? 1.0 : 0.0);
}

/// "20/33", or the words beside it; all of them is no key. Nothing there is not none.
/// Ollama's estimates ("graph_full") are of everything on the GPU, whatever was then put there.
void set_layers(ServingMap& m, const std::string& said) {
  if (first_of(m.c, {"graph_full_mib", "graph_full_gib"}) > 0) return;
  for (const char* name : {"layers_offloaded", "n_gpu_layers", "gpu_layers", "ngl", "offloaded"}) {
    const std::string logged = text(m.c, "measured." + std::string(name)),
                      given = logged.empty() ? text(m.c, name) : logged;
    if (given.empty()) continue;
    int some = 0, all = 0;
    const bool ratio = std::sscanf(given.c_str(), "%d/%d", &some, &all) == 2;
    const double layers = ratio ? some : first_number(given).value_or(0);
    if (layers < 99 && !(ratio && some == all)) set_repeating(m, layers);
    return;
  }
  for (const char* word : {"offloaded ", "n_gpu_layers ", "-ngl ", "ngl "})
    if (const size_t at = said.find(word); at != std::string::npos) {
      double layers = 0;
      if (std::sscanf(said.c_str() + at + std::string_view(word).size(), "%lf", &layers) == 1 && layers < 99)
        return set_repeating(m, layers);
    }
}

/// Experts in host memory: a count, a switch, or a pattern of all of them.
void set_cpu_moe(ServingMap& m, const std::string& said) {
  double layers = first_of(m.c, {"n_cpu_moe"});
  if (layers == 0) layers = number(m.c, "n_cpu_moe");
  if (layers == 0) layers = number_said(said, {"--n-cpu-moe", "-ncmoe", "n_cpu_moe"});
  const std::string overridden = lower(text(m.c, "override_tensor"));
  const bool every = switched(m.c, {"cpu_moe"}).value_or(false) || overridden.ends_with("exps=cpu") ||
                     overridden.ends_with("exps.=cpu") ||
                     holds_any(said, {" --cpu-moe", "exps=cpu", "exps.=cpu", "experts on the cpu", "experts in host"});
  if (layers == 0 && !every) return;
  const Plan plan = read_plan(m.share.text()).plan;
  if (!plan.subject || plan.layers <= 0) return;
  m.share.set("n_cpu_moe", layers > 0 ? std::min(layers, plan.layers) : plan.layers);
}

/// Tokens drafted a step, under whatever name: "mtp_draft_n_max", "draft_max", "n_rs_seq".
void set_drafted(ServingMap& m) {
  const json* measured = find(m.c, "measured");
  if (measured == nullptr || !measured->is_object() || !m.share.get("draft_tokens").empty()) return;
  for (const auto& [name, value] : measured->items()) {
    const CheckName words = read_name(name);
    const bool counts = words.has_any({"max", "tokens", "n"}) && words.has_any({"draft", "drafted", "mtp", "spec"});
    if (counts && value.is_number() && value.get<double>() >= 1 && value.get<double>() < 64)
      return m.share.set("draft_tokens", value.get<double>());
  }
}

constexpr double kOllamaWindow = 4096;

/// Ollama's own engine (from 0.6 on), which runs what has window layers, frees them before llama.cpp does.
void set_own_engine(ServingMap& m) {
  // model/models/gptoss/model.go: NewSWAMemCache(window, 4096, ...), as many cells a slot whatever the window.
  const bool remembers = holds_any(m.share.get("model"), {"gpt-oss", "gemma-4"});
  if (remembers && ollama_has_engine(text(m.c, "engine_version"))) m.share.set("window", kOllamaWindow);
  const bool kept = !llamacpp_build(m.share.get("engine_version")).frees_windows;
  if (kept && ollama_has_engine(text(m.c, "engine_version"))) m.share.set("engine_version", "2025-06");
}

/// Ollama's runner is llama.cpp of a day before its own; releases from 0.30 on start llama.cpp's server.
void set_runner(ServingMap& m, const std::string& said) {
  if (!is_ollama(m.c) || holds_any(said, {"llama-server"})) return;
  const Plan plan = read_plan(m.share.text()).plan;
  if (plan.subject && keeps_windows(*plan.subject)) return set_own_engine(m);
  const std::string runner = ollama_runner(text(m.c, "engine_version"));
  const bool later = llamacpp_build(m.share.get("engine_version")).head_first;
  if (!runner.empty() || later) m.share.set("engine_version", runner.empty() ? kLastRunner : runner);
}

}  // namespace

double slots_of_server(const json& c) {
  const double load = slots_said(said_in_sections(c), false), told = load > 0 ? load : told_slots(c);
  const bool one = is_ollama(c) && ollama_serves_one(text(c, "engine_version"));
  return told == 0 && one ? 1 : told;
}

void set_repeating(ServingMap& m, double layers) {
  const bool head = llamacpp_build(m.share.get("engine_version")).head_first && layers >= 1;
  m.share.set("gpu_layers", head ? layers - 1 : layers);
}

void set_llamacpp(ServingMap& m) {
  const json& c = m.c;
  const std::string said = all_said(c);
  double length = stated_length(c);
  const double context = context_said(said_of(c)), every = length * stated_slots(c);
  if (context > 0 && (length == 0 || (context == every && !caches_apart(c, said)))) {
    length = context;  // of all slots, where the case has that of one or none
    m.share.set("max_len", length);
  }
  set_runner(m, said);
  set_cache_types(m);
  if (!runs_on_cpu(c)) set_layers(m, said);
  if (!runs_on_cpu(c)) set_cpu_moe(m, said);
  set_drafted(m);
  m.share.set_if("ubatch", micro_batch(c));
  if (length == 0) return;
  if (keeps_whole_windows(c, said, length)) m.share.set("window", length);
  const double slots = stated_slots(c);
  const bool apart = caches_apart(c, said);
  if (slots > 1 && !apart) m.share.set("unified", 1.0);
  m.share.set("concurrency", slots);
  m.share.set("prompt", std::floor(length / slots));
  m.share.set("output", 0.0);
  set_flash(m, apart && slots > 1);
  // Only the server reserves logits of a token a slot; the version says that another program ran.
  const bool server = slots > 1 || first_of(c, {"n_slots", "n_parallel", "slots"}) > 0 ||
                      holds_any(said, {"server", "-np ", "--parallel"});
  if (const std::string version = m.share.get("engine_version"); !server && !version.empty())
    m.share.set("engine_version", version + "cli");
}

}  // namespace vram::accuracy
