#include "tests/accuracy/map_llamacpp.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "engine/formats.h"
#include "engine/plan/plan.h"
#include "engine/serving/llamacpp.h"
#include "engine/serving/llamacpp_cells.h"
#include "engine/serving/serving.h"
#include "engine/text.h"
#include "engine/units.h"
#include "tests/accuracy/check_name.h"
#include "tests/accuracy/engine_defaults.h"
#include "tests/accuracy/llamacpp_said.h"
#include "tests/accuracy/ollama.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// Everything that a case says in words.
std::string words_of(const json& c) {
  std::string said;
  for (const char* field : {"model", "id", "gpu", "check", "notes", "flags", "command"}) said += text(c, field) + "; ";
  if (const json* checks = find(c, "checks"); checks != nullptr && checks->is_array())
    for (const json& check : *checks) said += text(check, "explanation") + "; ";
  return lower(said);
}

/// A switch among the measured fields or beside them, as a truth or a number.
std::optional<bool> switched(const json& c, std::initializer_list<const char*> names) {
  for (const char* name : names)
    for (const std::string& path : {"measured." + std::string(name), std::string(name)}) {
      const json* value = find(c, path);
      if (value == nullptr) continue;
      if (value->is_boolean()) return value->get<bool>();
      if (value->is_number()) return value->get<double>() > 0;
      const std::string said = lower(text(c, path));
      if (said == "on" || said == "enabled" || said == "true" || said == "1") return true;
      if (said == "off" || said == "disabled" || said == "false" || said == "0") return false;
    }
  return std::nullopt;
}

bool is_ollama(const json& c) { return lower(text(c, "engine")).find("ollama") != std::string::npos; }

double stated_slots(const json& c) {
  double slots = number(c, "batch");
  if (slots == 0) slots = first_of(c, {"n_slots", "n_parallel", "n_seq_max", "slots", "parallel"});
  return std::max(1.0, slots > 0 ? slots : slots_said(said_of(c), is_ollama(c)));
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

/// Builds that move the output layer first count it as one of those on the GPU.
void set_repeating(ServingMap& m, double layers) {
  const bool head = llamacpp_build(m.share.get("engine_version")).head_first && layers >= 1;
  m.share.set("gpu_layers", head ? layers - 1 : layers);
}

/// "20/33", or the words beside it; all of them is no key. Nothing there is not none.
/// Ollama's estimates ("graph_full") are of everything on the GPU, whatever was then put there.
void set_layers(ServingMap& m, const std::string& said) {
  if (first_of(m.c, {"graph_full_mib", "graph_full_gib"}) > 0) return;
  for (const char* name : {"layers_offloaded", "n_gpu_layers", "gpu_layers", "ngl", "offloaded"}) {
    const std::string path = "measured." + std::string(name), given = text(m.c, path);
    if (given.empty()) continue;
    int some = 0, all = 0;
    const bool ratio = std::sscanf(given.c_str(), "%d/%d", &some, &all) == 2;
    const double layers = ratio ? some : number(m.c, path);
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

void set_llamacpp(ServingMap& m) {
  const json& c = m.c;
  const std::string said = words_of(c);
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
  if (length == 0) return;
  m.share.set_if("ubatch", micro_batch(c));
  if (keeps_whole_windows(c, said, length)) m.share.set("window", length);
  const double slots = stated_slots(c);
  const bool apart = caches_apart(c, said);
  if (slots > 1 && !apart) m.share.set("unified", 1.0);
  m.share.set("concurrency", slots);
  m.share.set("prompt", std::floor(length / slots));
  m.share.set("output", 0.0);
  set_flash(m, apart && slots > 1);
  // Only the server reserves logits of a token a slot; the version says that another program ran.
  const bool server = slots > 1 || first_of(c, {"n_slots", "n_parallel", "slots"}) > 0 || holds_any(said, {"server"});
  if (const std::string version = m.share.get("engine_version"); !server && !version.empty())
    m.share.set("engine_version", version + "cli");
}

namespace {

/// A check on its way to a measurement.
struct Asked {
  const ServingMap& m;
  const json& check;
  CheckName name;
  double bytes = 0;     // 0: no size
  ServingMap given;     // the case's plan, with what the name changes of it
  std::string devices;  // "device 1/3"

  double value() const { return number(check, "measured"); }
};

/// "kv_mib_32k", "f16_32k_np10": another length, other slots, another type than the case's.
void apply_name(Asked& a) {
  Share& share = a.given.share;
  const double slots =
      a.name.slots > 0 ? a.name.slots : std::max(1.0, first_number(share.get("concurrency")).value_or(1));
  if (a.name.slots > 0) share.set("concurrency", slots);
  const double length = a.name.tokens > 0 ? a.name.tokens : first_number(share.get("max_len")).value_or(0);
  if (a.name.tokens > 0) share.set("max_len", length);
  if ((a.name.tokens > 0 || a.name.slots > 0) && length > 0) {
    share.set("prompt", std::floor(length / slots));
    share.set("output", 0.0);
  }
  if (a.name.layers > 0) set_repeating(a.given, a.name.layers);
  if (a.name.has("unified")) share.set("unified", slots > 1 ? 1.0 : 0.0);
  if (a.name.has("fa")) share.set("flash", 1.0);
}

/// "--tensor-split 2,8", "-ts 3/1", as a field or in words.
std::string tensor_split(const json& c) {
  const std::string logged = text(c, "measured.tensor_split");
  if (!logged.empty()) return logged;
  const std::string said = words_of(c);
  for (const char* word : {"tensor-split", "tensor_split", "tensor split", "-ts"}) {
    size_t at = said.find(word);
    if (at == std::string::npos) continue;
    at += std::string_view(word).size();
    while (at < said.size() && (said[at] == ' ' || said[at] == '=' || said[at] == ':')) ++at;
    size_t end = at;
    while (end < said.size() &&
           (is_digit(said[end]) || std::string_view(",/.").find(said[end]) != std::string_view::npos))
      ++end;
    while (end > at && !is_digit(said[end - 1])) --end;
    if (end > at) return said.substr(at, end - at);
  }
  return "";
}

/// One of several devices that share the layers.
std::string device_of(const Asked& a) {
  const double devices = number(a.m.c, "n_gpus");
  if (a.name.device < 0 || devices < 2 || a.name.place != Place::gpu) return "";
  const int device = std::min(a.name.device, static_cast<int>(devices) - 1);
  std::string shares = tensor_split(a.m.c);
  std::replace(shares.begin(), shares.end(), '/', ':');
  std::replace(shares.begin(), shares.end(), ',', ':');
  shares.erase(std::remove(shares.begin(), shares.end(), ' '), shares.end());
  if (shares.empty()) shares = std::to_string(int(devices));
  return "device " + std::to_string(device) + "/" + shares;
}

/// What is said of a device's layers is what the log's free memory made of them, which a plan does not know.
std::string layers_of(const Asked& a) {
  const double layers = a.devices.empty() ? 0 : layers_said(lower(text(a.check, "explanation")));
  const bool last = a.name.device >= static_cast<int>(number(a.m.c, "n_gpus")) - 1;
  return layers > 0 ? (last ? "last layers " : "first layers ") + std::to_string(static_cast<int>(layers)) : "";
}

/// "kv_one_layer" beside "kv_cuda0_mib" of as many MiB is of that device.
void take_place_of_twin(Asked& a) {
  if (a.name.has_any({"total", "all"}) || (a.name.place != Place::unsaid && a.name.device >= 0)) return;
  const CheckName twin = read_name(twin_of(a.m.c, a.check));
  if (twin.place == Place::host && twin.layers == 0 && a.m.share.get("gpu_layers").empty()) return;
  if (twin.layers > 0) set_repeating(a.given, twin.layers);
  if (a.name.place == Place::unsaid) a.name.place = twin.place;
  if (a.name.place == twin.place && a.name.device < 0) a.name.device = twin.device;
  a.devices = device_of(a);
}

/// Half of the last digit that was printed of so many GiB: what is rounded to "1.8 GiB" may be 1.75.
double last_digit(double printed) {
  for (double digit = 0.1; digit > 1e-6; digit /= 10)
    if (std::fabs(printed / digit - std::round(printed / digit)) < 1e-6) return 0.5001 * digit;
  return 0;
}

Measurement measured(const Asked& a, Figure figure, const std::string& part) {
  const std::string kind = text(a.check, "kind");
  Measurement one = begin(a.given, kind, figure);
  one.measured = a.value() * (a.bytes > 0 ? a.bytes : power_of_unit(text(a.check, "unit")));
  one.unit = text(a.check, "unit");
  one.part = part;
  if (a.bytes == kGiB) one.rounding = kGiB * last_digit(a.value());
  return one;
}

std::string place_part(const Asked& a) {
  if (const std::string layers = layers_of(a); !layers.empty()) return layers;
  if (!a.devices.empty()) return a.devices;
  if (a.name.place == Place::host) return "host";
  return a.name.place == Place::unsaid ? "whole" : "gpu";
}

// --- weights ---------------------------------------------------------------------------------------------------

/// The format is one of the key's mixtures: Unsloth's dynamic ones are others under the same names.
bool storage_read(const Asked& a) {
  if (lower(text(a.m.c, "weight_dtype") + text(a.m.c, "model")).find("ud-") != std::string::npos) return false;
  return !a.given.share.get("weights").empty() || text(a.m.c, "weight_dtype").empty();
}

/// Of the table alone the case may name the type, whatever the file's mixture is.
bool set_type_of_table(Asked& a) {
  const std::string said = lower(text(a.check, "explanation"));
  const std::string type = said.find("4.5 bit") != std::string::npos ? "q4_0" : format_of(said);
  if (find_format(type) == nullptr) return false;
  a.given.share.set("weights", type);
  return true;
}

/// The host holds the table alone: the check's name or its explanation says so.
bool is_table(const Asked& a) {
  if (a.name.has_any({"embd", "embedding", "tok"})) return true;
  const std::string said = lower(text(a.check, "explanation"));
  const bool alone = holds_any(said, {"token_embd"}) && !holds_any(said, {"+", "layers", "head", "file"});
  return a.name.place == Place::host && a.m.share.get("gpu_layers") != "0" && alone;
}

/// The file's size, as printed.
double file_bytes(const json& c) {
  const double gib = first_of(c, {"file_gib", "model_gib", "file_size_gib"});
  const double mib = first_of(c, {"file_mib", "model_mib", "file_size_mib"}),
               bytes = first_of(c, {"file_bytes", "model_bytes"});
  return bytes > 0 ? bytes : mib > 0 ? mib * kMiB : gib * kGiB;
}

/// Metal maps from the first tensor to the last: it may be the whole file. A file has a few MiB of its vocabulary, too.
bool is_whole_file(const Asked& a) {
  const double file = file_bytes(a.m.c), off = file - a.value() * a.bytes;
  return file > 0 && std::fabs(off) < 0.0015 * file;
}

/// The host holds buffers of its own and pages of the mapped file: "cpu_model_mib" beside "cpu_mapped_mib".
double other_host_buffer(const Asked& a) {
  const json* fields = find(a.m.c, "measured");
  double other = 0;
  for (const auto& [field, value] : fields->items()) {
    const CheckName words = read_name(field);
    const bool weights = words.rest.empty() || words.has_any({"mapped", "model", "mib", "embd"});
    const bool another = !words.has_any({"compute", "kv", "k", "v", "output", "repack", "recurrent"});
    if (words.place != Place::host || !weights || !another || !value.is_number()) continue;
    if (std::fabs(value.get<double>() - a.value()) > 1e-6 * a.value()) other = value.get<double>();
  }
  return other;
}

/// "weights_mib" of a log that prints what the device has and what the host has, apart.
bool is_of_both(const Asked& a) {
  const json* fields = find(a.m.c, "measured");
  double device = 0, host = 0;
  for (const auto& [field, value] : fields->items()) {
    const CheckName words = read_name(field);
    const bool weights = words.rest.empty() || words.has_any({"mapped", "model", "mib"});
    if (!weights || words.has_any({"compute", "kv", "k", "v", "output", "rs"}) || !value.is_number()) continue;
    (words.place == Place::host ? host : device) += words.place == Place::unsaid ? 0 : value.get<double>();
  }
  return device > 0 && host > 0 && std::fabs(device + host - a.value()) < 1e-6 * a.value();
}

bool logs_host_buffer(const json& c) {
  return first_of(c, {"cpu_mapped_mib", "cpu_mib", "cpu_model_mib", "host_model_mib", "rocm_host_model_mib",
                      "cuda_host_mib", "vulkan_host_model_mib"}) > 0;
}

/// What the host holds of a mapped file is printed from its first tensor to its last: where more than the embedding
/// lies there beside a GPU's layers, what the GPU holds in between is counted twice.
bool overlaps(const Asked& a) {
  const double mapped = number(a.m.c, "measured.cpu_mapped_mib") * kMiB;
  if (mapped == 0 || a.value() * a.bytes < 0.999 * mapped || !a.devices.empty()) return false;
  if (a.m.share.get("gpu_layers") == "0" || is_whole_file(a)) return false;
  const Plan plan = read_plan(a.given.share.text()).plan;
  if (!plan.subject || !plan.accelerator) return false;
  double embedding = 0;
  for (const Line& line : serving_bill(plan).host_lines)
    if (std::string_view(line.id) == "weights") embedding = static_cast<double>(line.bytes);
  return mapped > 1.05 * embedding;
}

/// BERT's shape (biases, three tables, no head) is none that a plan has; its cache is.
bool is_encoder(const json& c) {
  return holds_any(lower(text(c, "model")), {"bge-small", "bge-base", "bge-large", "bert", "minilm", "-embed-text"});
}

/// memory.weights.total of Ollama's estimate is of the layers and the head, a tied one once.
bool ollama_counts_once(const Asked& a) {
  return is_ollama(a.m.c) && a.name.has("weights") && a.name.has("total") && a.name.place == Place::unsaid;
}

void add_weights(Asked& a, std::vector<Measurement>& out) {
  const CheckName twin = read_name(twin_of(a.m.c, a.check));
  if (twin.layers > 0) set_repeating(a.given, twin.layers);
  if (a.name.place == Place::unsaid) a.name.place = twin.place;
  if (a.name.has("required")) a.name.place = Place::host;
  a.devices = device_of(a);
  const bool embedding = is_table(a);
  const bool read = (embedding && set_type_of_table(a)) || storage_read(a);
  Figure figure = embedding ? Figure::host_weights : Figure::weights;
  std::string part = a.devices;
  const std::string said = lower(text(a.check, "explanation"));
  const bool of_all = a.name.place == Place::unsaid && number(a.m.c, "n_gpus") > 1;  // of a device it says which
  const bool whole_file = is_whole_file(a) || of_all || a.name.has("size") || ollama_counts_once(a) ||
                          holds_any(said, {"whole file", "full file"});
  if (runs_on_cpu(a.m.c) || (!embedding && whole_file)) {
    part.clear();
    a.given.share.set("gpu_layers", 0.0);  // a tied table is in the file once
  } else if (!embedding && a.name.place == Place::host) {
    figure = Figure::host_weights;
    const double other = other_host_buffer(a);
    part = other > 0 && other < a.value() ? "without embedding" : "";
  } else if (!embedding && part.empty()) {
    const bool whole = a.name.rest.rfind("_model", 0) == 0 || a.name.has("file") || is_of_both(a);
    const bool gpu = a.name.place == Place::gpu || (!whole && logs_host_buffer(a.m.c));
    part = gpu ? "gpu" : "";
  }
  if (embedding) part = "embedding";
  Measurement one = measured(a, figure, part);
  if (!read) one.skip_for("a storage that is no choice of the key");
  if (is_encoder(a.m.c)) one.skip_for("an encoder's weights");
  if (!embedding && overlaps(a)) one.skip_for("a mapped file's buffers overlap");
  out.push_back(std::move(one));
}

// --- caches ----------------------------------------------------------------------------------------------------

/// "q8_0" of "kv_q8_0_mib", "f16" of "f16_32k".
std::string type_of_name(const std::string& name) {
  std::string longest;
  for (const Format& format : formats()) {
    const std::string id(format.id);
    if (id.find('_') != std::string::npos && lower(name).find(id) != std::string::npos && id.size() > longest.size())
      longest = id;
  }
  const std::string type = longest.empty() ? format_of(name) : longest;
  return find_format(type) == nullptr ? "" : type == "fp16" ? "bf16" : type;
}

/// ik_llama.cpp has builds of its own, and with branches it cached latents alone before llama.cpp did.
bool caches_keys_alone(const json& c) {
  const json* values = find(c, "measured.v_mib");
  return lower(text(c, "engine")).rfind("ik", 0) == 0 || (values != nullptr && number(c, "measured.v_mib") == 0);
}

/// Old DeepSeek caches: keys and values of whole heads stand in the log apart, 192 and 128 elements of each.
void set_whole_heads(Asked& a) {
  const Plan plan = read_plan(a.given.share.text()).plan;
  const double keys = first_of(a.m.c, {"k_mib"}), values = first_of(a.m.c, {"v_mib"});
  if (!plan.subject || plan.kv_lora_rank <= 0 || keys == 0 || values == 0) return;
  const double heads = (plan.nope_head_dim + plan.rope_head_dim) / plan.v_head_dim;
  if (std::fabs(keys / values - heads) < 0.01 * heads && llamacpp_build(plan.engine_version).absorbs_latents)
    a.given.share.set("engine_version", "2025-04");
}

/// A cache of drafts is one of a run that drafts.
void set_draft_of_check(Asked& a) {
  if (first_number(a.given.share.get("draft_tokens")).value_or(0) < 1) a.given.share.set("draft_tokens", 1.0);
}

/// "kv_q8_0_mib", "v_f16": what a check is of. A latent's values are of the type that is asked for, too.
void set_type_of_check(Asked& a, bool keys, bool values) {
  const std::string type = type_of_name(text(a.check, "name"));
  if (type.empty()) return;
  const bool latent = read_plan(a.given.share.text()).plan.kv_lora_rank > 0;
  if (keys || latent || !values) a.given.share.set("kv", type);
  if (values || !keys) a.given.share.set("kv_values", type);
  a.given.kv_unread = false;
}

void add_cache(Asked& a, std::vector<Measurement>& out) {
  take_place_of_twin(a);
  if (a.name.has_any({"mtp", "draft"})) set_draft_of_check(a);
  set_whole_heads(a);
  const bool typed = number(a.m.c, "measured.k_" + text(a.check, "name") + "_mib") > 0;  // "q8_0" of "k_q8_0_mib"
  const bool keys = typed || a.name.has_any({"k", "keys"}), values = a.name.has_any({"v", "values"});
  set_type_of_check(a, keys, values);
  if (caches_keys_alone(a.m.c)) a.given.share.set("engine_version", "2026-06");
  std::string part = place_part(a);
  for (const auto& [word, what] : {std::pair{"full", "full"},
                                   {"global", "full"},
                                   {"swa", "sliding"},
                                   {"sliding", "sliding"},
                                   {"window", "sliding"},
                                   {"mtp", "draft"},
                                   {"draft", "draft"},
                                   {"indexer", "indexer"}})
    if (a.name.has(word)) part += std::string(" ") + what;
  if (keys && !a.name.has("indexer")) part += " keys";
  if (values) part += " values";
  Measurement one = measured(a, Figure::kv_pool, part);
  if (holds_any(lower(text(a.check, "explanation")), {"cross-attention", "cross attention"}))
    one.skip_for("a cache of images");
  const bool two = !keys && !values && a.name.has("mixed") && a.given.share.get("kv_values").empty();
  if (two) one.skip_for("K and V of two types");
  out.push_back(std::move(one));
}

/// Of recurrent states their checkpoints, too, which the host keeps of one sequence each.
void add_states(Asked& a, std::vector<Measurement>& out) {
  std::string part = place_part(a);
  if (a.name.has_any({"checkpoint", "snapshot"})) a.given.share.set("concurrency", 1.0);
  if (a.name.has_any({"r", "conv", "convolution"})) part += " convolution";
  if (a.name.has_any({"s", "ssm", "scan"})) part += " scan";
  if (a.name.has_any({"slot", "seq"})) a.given.share.set("concurrency", 1.0);
  out.push_back(measured(a, Figure::recurrent, part));
}

// --- sums and the rest -----------------------------------------------------------------------------------------

bool adds_up(const Asked& a) {
  return a.name.has_any({"total", "sum", "used", "required", "context", "projected", "projection", "self"});
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
         holds_any(words_of(c), {"-nkvo", "no-kv-offload", "no_kv_offload", "cache on the host"});
}

/// GPUs that take no turns (a build without peer copies) hold one mask each, and so does the host: its buffer says so.
bool takes_no_turns(const Asked& a) {
  if (holds_any(words_of(a.m.c), {"n_copies 1,", "n_copies = 1", "sched copies = 1", "pipeline parallelism disabled"}))
    return true;
  const double host = kMiB * first_of(a.m.c, {"host_compute_mib", "cuda_host_compute_mib", "rocm_host_compute_mib",
                                              "vulkan_host_compute_mib", "compute_host_mib", "cpu_compute_mib"});
  const Plan plan = read_plan(a.given.share.text()).plan;
  if (host == 0 || !plan.subject || plan.serve_pp < 2) return false;
  const double one = plan.ubatch * 4 * (llamacpp_cells(plan) + plan.hidden);
  return std::fabs(host - one) < 0.05 * one;
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
  out.push_back(measured(a, host ? Figure::host_buffers : Figure::buffers, ""));
}

/// "MTP layer counted": of files that have their prediction modules, too.
bool counts_modules(const Asked& a) {
  return holds_any(lower(text(a.check, "explanation")), {"mtp", "nextn", "prediction module"});
}

void add_counted(Asked& a, std::vector<Measurement>& out) {
  if (a.name.has("cells") && a.name.has_any({"swa", "window"}))
    out.push_back(measured(a, Figure::window_cells, ""));
  else if (a.name.has_any({"padded", "cells"}) && a.name.has_any({"context", "ctx", "kv", "cells"}))
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

void add_sized(Asked& a, std::vector<Measurement>& out) {
  const CheckName& n = a.name;
  if (add_ollama_estimate(a, out)) return;
  if (n.has("repack") || (adds_up(a) && n.has_any({"mtp", "draft"}))) return;
  if (n.has_any({"nonrepeating", "head"})) {
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
