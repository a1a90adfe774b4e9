#include <algorithm>
#include <cmath>

#include "engine/plan/plan.h"
#include "engine/serving/llamacpp_cells.h"
#include "engine/units.h"
#include "tests/accuracy/llamacpp_asked.h"
#include "tests/accuracy/llamacpp_said.h"
#include "tests/accuracy/map_llamacpp.h"
#include "tests/accuracy/ollama.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

bool adds_up(const Asked& a) {
  if (a.name.has("self") && !a.name.has("kv")) return true;  // "KV self size" is of the cache alone
  return a.name.has_any({"total", "sum", "used", "required", "context", "projected", "projection"});
}

/// A sum, of what its explanation adds; false where it is one kind of thing alone.
bool add_sum(Asked& a, std::vector<Measurement>& out) {
  const std::vector<std::string> terms = terms_of(text(a.check, "explanation"));
  std::string part;
  for (const std::string& term : terms)
    if (part.find(term) == std::string::npos) part += (part.empty() ? "" : "+") + term;
  const bool weights = part.find("weights") != std::string::npos;
  if (const size_t at = part.find("layers"); at != std::string::npos && weights) part.erase(at, 7);
  const bool breakdown = a.name.has_any({"self", "projected", "projection"}) && number(a.m.c, "n_gpus") <= 1;
  if (breakdown || (part.empty() && a.name.place == Place::gpu && a.name.has_any({"sum", "total"})))
    part = "weights+kv+states+compute";  // "vram_sum"
  if (part.empty() || part.find('+') == std::string::npos) return false;
  Measurement one = measured(a, Figure::sum, part);
  if (!storage_read(a)) one.skip_for("a storage that is no choice of the key");
  out.push_back(std::move(one));
  return true;
}

bool keeps_cache_on_host(const json& c) {
  return switched(c, {"no_kv_offload", "nkvo"}).value_or(false) ||
         holds_any(all_said(c), {"-nkvo", "no-kv-offload", "no_kv_offload", "cache on the host"});
}

/// "compute_host_mib", "cuda_host_compute_buffer_mib"
double logged_host_buffer(const json& c) {
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return 0;
  for (const auto& [field, value] : measured->items()) {
    const CheckName words = read_name(field);
    if (words.place == Place::host && words.has("compute") && value.is_number()) return value.get<double>();
  }
  return 0;
}

/// GPUs that take no turns (a build without peer copies) hold one mask each, and so does the host: its buffer says so.
bool takes_no_turns(const Asked& a) {
  if (holds_any(all_said(a.m.c), {"n_copies 1,", "n_copies = 1", "sched copies = 1", "pipeline parallelism disabled"}))
    return true;
  const double host = kMiB * logged_host_buffer(a.m.c);
  const Plan plan = read_plan(a.given.share.text()).plan;
  if (host == 0 || !plan.subject || plan.serve_pp < 2) return false;
  const double one = plan.ubatch * 4 * (llamacpp_cells(plan) + plan.hidden);
  return std::fabs(host - one) < 0.05 * one;
}

/// "memory.graph.full", which Ollama estimates by rules for each kind of model; "" where they are not known.
std::string estimate_part(const Asked& a) {
  const Plan plan = read_plan(a.given.share.text()).plan;
  if (!is_ollama(a.m.c) || !a.name.has("graph") || !plan.subject) return "";
  const std::string& type = plan.subject->architecture.model_type;
  const bool llama = is_one_of(type, {"llama", "mistral"});
  if (!llama && !is_one_of(type, {"qwen2", "gemma", "gemma2", "cohere"})) return "";
  const bool logits = !llama || ollama_counts_logits(text(a.m.c, "engine_version"));
  return logits ? "estimate with logits" : "estimate";
}

void add_buffers(Asked& a, std::vector<Measurement>& out) {
  if (a.name.has_any({"mtp", "draft"})) return;  // of another context
  bool host = a.name.place == Place::host && !runs_on_cpu(a.m.c);
  if (host && keeps_cache_on_host(a.m.c)) {  // where the cache lies attention is worked out
    a.given.share.set("gpu_layers", 0.0);
    host = false;
  }
  if (takes_no_turns(a)) a.given.share.set("serve_pp", 1.0);
  if (const auto flash = flash_said(lower(text(a.check, "explanation"))))
    a.given.share.set("flash", *flash ? 1.0 : 0.0);
  if (a.name.has_any({"estimate", "estimated"})) a.given.share.set("flash", 0.0);
  out.push_back(measured(a, host ? Figure::host_buffers : Figure::buffers, estimate_part(a)));
}

/// "MTP layer counted": of files that have their prediction modules, too.
bool counts_modules(const Asked& a) {
  const std::string said = lower(text(a.check, "explanation"));
  return holds_any(said, {"mtp", "nextn", "prediction module"}) &&
         !holds_any(said, {"without", "not counted", "no mtp"});
}

void add_counted(Asked& a, std::vector<Measurement>& out) {
  const std::string unit = lower(text(a.check, "unit"));
  if (a.name.has("cells") && a.name.has_any({"swa", "window"}))
    out.push_back(measured(a, Figure::window_cells, ""));
  else if ((a.name.has_any({"padded", "cells"}) || is_one_of(unit, {"cells", "tokens"})) &&
           a.name.has_any({"context", "ctx", "kv", "cells"}))
    out.push_back(measured(a, Figure::cells, ""));
  else if (a.name.has_any({"params", "parameters"}))
    out.push_back(measured(a, Figure::parameters, counts_modules(a) ? "modules" : ""));
  else if (a.name.has("layers") && a.name.has_any({"kv", "cache"}))
    out.push_back(measured(a, Figure::cache_layers, ""));
  else if (a.name.has_any({"layer", "layers"}))
    out.push_back(measured(a, Figure::file_layers, ""));
}

/// What Ollama counts before it loads: layers, and all that it takes. Old releases count the layers' cache among the
/// weights, not the head, and take the head off once more for what repeats.
std::string ollama_terms(const Asked& a) {
  const bool with_cache = ollama_weighs_cache(text(a.m.c, "engine_version"));
  const bool total = a.name.has("weights") && a.name.has("total");
  if (a.name.has("repeating")) return with_cache ? "layers+kv less head" : "layers";
  if (a.name.has("required") && terms_of(text(a.check, "explanation")).size() < 2) return "weights+kv+compute";
  return total && with_cache ? "layers+kv" : "";
}

bool add_ollama_estimate(Asked& a, std::vector<Measurement>& out) {
  if (!is_ollama(a.m.c) || a.name.has_any({"nonrepeating", "file", "device", "buffer"})) return false;
  const std::string part = ollama_terms(a);
  if (part.empty()) return false;
  Measurement one = measured(a, Figure::sum, part);
  if (!storage_read(a)) one.skip_for("a storage that is no choice of the key");
  out.push_back(std::move(one));
  return true;
}

/// A tower of llama.cpp's is a file of its own, which is no part of a plan.
void skip_towers(const Asked& a, std::vector<Measurement>& out) {
  if (holds_any(lower(text(a.check, "explanation")), {"vision tower", "projector", "mmproj"}) && !out.empty() &&
      (out.back().figure == Figure::sum || out.back().figure == Figure::weights))
    out.back().skip_for("a vision tower is a file of its own");
}

constexpr std::initializer_list<const char*> kStates = {"recurrent", "rs",    "r",    "s",     "ssm",
                                                        "gdn",       "mamba", "conv", "state", "states"};

/// By its name, by what it stands for ("two_sequences" of "rs_2cells_mib"), or by what is kept of them.
bool is_of_states(Asked& a) {
  const bool named = a.name.has_any(kStates);
  if (named && a.name.slots > 0) return true;
  const bool kept = a.name.has_any({"checkpoint", "snapshot"}) &&
                    holds_any(lower(text(a.check, "explanation")), {"recurrent", "state"});
  const CheckName twin = read_name(twin_of(a.m.c, a.check));
  const bool other = a.name.has_any({"kv", "compute", "model", "weights"});
  if (kept || !twin.has_any(kStates) || other) return kept || named;
  if (!named) a.name.rest += twin.rest;
  if (twin.slots > 0) {
    a.name.slots = twin.slots;
    apply_name(a);
  }
  return true;
}

/// "output_mib" of so few bytes that they are rows of logits, not the head; ik_llama.cpp's are not known.
bool are_rows(const Asked& a) {
  const Plan plan = read_plan(a.given.share.text()).plan;
  if (!a.name.has("output") || !plan.subject || lower(text(a.m.c, "engine")).rfind("ik", 0) == 0) return false;
  const double rows = a.value() * a.bytes / (4 * plan.vocab);
  return rows > 0.9 && rows < 64.5 && std::fabs(rows - std::round(rows)) < 0.05;
}

void add_sized(Asked& a, std::vector<Measurement>& out) {
  const CheckName& n = a.name;
  if (add_ollama_estimate(a, out)) return;
  if (n.has("repack") || (adds_up(a) && n.has_any({"mtp", "draft"}))) return;
  if ((n.has_any({"output", "outputs"}) && n.has_any({"buffer", "buffers"})) || n.has("logits") || are_rows(a))
    return out.push_back(measured(a, Figure::outputs, ""));
  if (n.has_any({"nonrepeating", "head"}) && !n.has("compute")) {
    const Plan plan = read_plan(a.given.share.text()).plan;
    const bool some = !a.given.share.get("gpu_layers").empty();  // the head, wherever it then lies
    if (some && plan.subject) a.given.share.set("gpu_layers", plan.layers + 1);
    Measurement one = measured(a, Figure::head, "");
    if (!storage_read(a)) one.skip_for("a storage that is no choice of the key");
    return out.push_back(std::move(one));
  }
  if (n.has_any({"embd", "embedding"})) return add_weights(a, out);
  if (n.has_any({"checkpoint", "snapshot"}) && is_of_states(a)) return add_states(a, out);
  if (adds_up(a) && add_sum(a, out)) return;
  const bool unsaid = !n.has_any({"model", "weights", "file", "mapped", "kv", "layer", "layers"});
  if (unsaid && n.place == Place::host && read_name(twin_of(a.m.c, a.check)).has("compute"))
    return add_buffers(a, out);  // "host_mib" of as many as "host_compute_mib"
  if (n.has_any({"compute", "graph", "scratch", "activation", "activations"})) return add_buffers(a, out);
  if (is_of_states(a)) return add_states(a, out);
  if (n.has_any({"kv", "k", "v", "cache", "ckv", "keys", "values", "indexer"})) return add_cache(a, out);
  if (n.has_any({"weights", "model", "file", "mapped", "required", "layer", "layers", "size"}) ||
      n.place != Place::unsaid ||
      (adds_up(a) && (is_whole_file(a) || holds_any(lower(text(a.check, "explanation")), {"whole file"}))))
    return n.has("output") ? void() : add_weights(a, out);
  if (!type_of_name(text(a.check, "name")).empty()) add_cache(a, out);
}

}  // namespace

void add_llamacpp_check(const ServingMap& m, const json& check, std::vector<Measurement>& out) {
  Asked a{m, check, read_name(text(check, "name")), bytes_of_unit(text(check, "unit")), m, ""};
  apply_name(a);
  a.devices = device_of(a);
  const size_t before = out.size();
  if (a.bytes == 0)
    add_counted(a, out);
  else
    add_sized(a, out);
  if (const std::string twin = twin_of(m.c, check); out.size() == before && a.bytes > 0 && !twin.empty()) {
    a.name = read_name(twin);  // a name of nothing that is known, of a figure whose field says what it is
    apply_name(a);
    a.devices = device_of(a);
    add_sized(a, out);
  }
  skip_towers(a, out);
}

}  // namespace vram::accuracy
