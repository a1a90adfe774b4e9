#include "tests/accuracy/map_training.h"

#include "engine/units.h"

namespace vram::accuracy {
namespace {

struct KeyFigure {
  const char* word;  // what the name of a measured number contains
  Figure figure;
};

// In this order: the first that fits counts.
constexpr KeyFigure kMemory[] = {{"model_states", Figure::states},
                                 {"est_gpu", Figure::estimator},
                                 {"est_cpu", Figure::host},
                                 {"activation_bytes_per_layer", Figure::layer},
                                 {"stage_activation", Figure::activations},
                                 {"steady", Figure::steady},
                                 {"mem_allocated", Figure::steady},
                                 {"nvidia_smi", Figure::device},
                                 {"gpu_mem", Figure::device},
                                 {"vram", Figure::device},
                                 {"gb_per_gpu", Figure::device},
                                 {"avg_mem", Figure::device},
                                 {"max_allocated", Figure::allocated},
                                 {"peak_torch_alloc", Figure::allocated},
                                 {"peak_alloc", Figure::allocated},
                                 {"peak_active", Figure::allocated},
                                 {"max_gpu_ram", Figure::allocated},
                                 {"peak_reserved", Figure::reserved},
                                 {"train_reserved", Figure::reserved},
                                 {"rank0_peak", Figure::allocated},
                                 {"peak_memory", Figure::allocated},
                                 {"memory_gib", Figure::reserved},
                                 {"peak_gb", Figure::allocated},
                                 {"memory_gb", Figure::device}};

struct Unit {
  const char* ending;
  const char* name;
  double bytes;
};
constexpr Unit kUnits[] = {{"(gib)", "GiB", kGiB}, {"gib", "GiB", kGiB}, {"mib", "MiB", kMiB},
                           {"gb", "GB", kGB},      {"mb", "MB", 1e6},    {"bytes", "B", 1}};

/// The unit a name states. nvidia-smi counts MiB: a "GB" of its readings is 1024 of them; DeepSpeed's estimator prints
/// 2^30 bytes as a GB.
const Unit* unit_of(const std::string& key, Figure figure) {
  for (const Unit& unit : kUnits) {
    if (key.find(unit.ending) == std::string::npos) continue;
    const bool reading_of_driver = figure == Figure::device && key.find("nvidia_smi") != std::string::npos;
    return (reading_of_driver || figure == Figure::estimator) && unit.bytes == kGB ? &kUnits[1] : &unit;
  }
  return nullptr;
}

/// Megatron-LM's log and the loggers of Megatron-Bridge are the last rank's (megatron/training/global_vars.py;
/// src/megatron/bridge/training/state.py): what PyTorch counted there.
bool is_of_last_rank(const Mapping& m, Figure figure) {
  const bool torch = figure == Figure::steady || figure == Figure::allocated || figure == Figure::reserved;
  return torch && m.share.get("library") == "megatron" && m.share.get("framework") != "deepspeed";
}

Reading reading_of(const Mapping& m, const std::string& key, Figure figure) {
  if (key.find("first_or_last") != std::string::npos) return Reading::first_or_last;
  if (key.find("rank0") != std::string::npos || key.find("first_stage") != std::string::npos) return Reading::first;
  return is_of_last_rank(m, figure) ? Reading::last : Reading::fullest;
}

bool lacks_vocabulary(const Mapping& m) {
  const std::string model = m.share.get("model");
  const bool from_preset = m.share.get("layers").empty() && model != "custom";
  return !from_preset && number(m.c, "model.layers") > 0 && number(m.c, "model.vocab") == 0;
}

/// What has to be known before a peak can be compared.
std::string missing_for_peak(const Mapping& m) {
  const json& c = m.c;
  if (number(c, "model.layers") == 0 && m.share.get("model") == "custom") return "the model's shape is not stated";
  if (number(c, "model.seq") == 0 && number(c, "micro_batch_tokens") == 0) return "the sequence length is not stated";
  if (number(c, "micro_batch") == 0 && number(c, "micro_batch_tokens") == 0) return "the micro-batch is not stated";
  if (lacks_vocabulary(m)) return "the vocabulary is not stated";
  const bool adam = m.share.get("framework") == "megatron";  // --optimizer: Megatron-LM's and Megatron-Bridge's default
  if (!adam && m.share.get("method").empty() && text(c, "optimizer").empty() && text(c, "sharding").empty())
    return "the optimizer is not stated";
  const bool says_of_others =
      m.words.has("megatron-bridge") && text(c, "kind") == "memory";  // its tables name what is on
  if (text(c, "recompute").empty() && !says_of_others) return "recomputation is not stated";
  if (text(c, "precision").empty() && m.share.get("method").empty()) return "the precision is not stated";
  if (m.words.has_any({"unpacked", "-flags-0-baseline"})) return "the lengths of the samples are not stated";
  return "";
}

bool is_memory_peak(Figure figure) {
  return figure == Figure::allocated || figure == Figure::reserved || figure == Figure::device ||
         figure == Figure::ran || figure == Figure::out_of_memory;
}

/// ", one GPU", ", 4-bit": what sorts the cases of a source.
std::string sort_of(const Mapping& m) {
  std::string sort;
  const std::string tp = m.share.get("tp"), pp = m.share.get("pp");
  if (!tp.empty() || !pp.empty())
    sort += ", model parallel";
  else if (m.share.get("gpus") == "1")
    sort += ", one GPU";
  else
    sort += ", several GPUs";
  if (!m.share.get("base").empty()) sort += ", 4-bit";
  return sort;
}

/// The same plan with one layer on one stage.
std::string one_layer(Share share) {
  const std::string tp = share.get("tp");
  share.set("layers", 1.0);
  share.set("gpus", tp.empty() ? "1" : tp);
  for (const char* key : {"pp", "vpp"}) share.set(key, "1");
  share.set("global_batch", share.get("micro_batch"));
  return share.text();
}

void add_memory(const Mapping& m, std::vector<Measurement>& out) {
  const json* measured = find(m.c, "measured");
  if (!measured || !measured->is_object()) return;
  for (const auto& [name, value] : measured->items()) {
    if (!value.is_number()) continue;
    const std::string key = lower(name);
    for (const KeyFigure& row : kMemory) {
      if (key.find(row.word) == std::string::npos) continue;
      const Unit* unit = unit_of(key, row.figure);
      if (!unit) break;
      Measurement one = begin(m, row.figure);
      one.reading = reading_of(m, key, row.figure);
      one.measured = value.get<double>() * unit->bytes;
      one.unit = unit->name;
      if (row.figure == Figure::steady && lacks_vocabulary(m)) one.skip_for("the vocabulary is not stated");
      if (row.figure == Figure::estimator) one.largest_layer = number(m.c, "model.largest_layer_params");
      if (row.figure == Figure::host) one.skip_for("the estimator's host memory is that of loading");
      if (row.figure == Figure::layer) one.share = one_layer(m.share);
      if (is_memory_peak(row.figure) || row.figure == Figure::steady) one.family += sort_of(m);
      if (is_memory_peak(row.figure) && one.skipped.empty()) one.skipped = missing_for_peak(m);
      const bool failed = flag(m.c, "measured.oom_or_failed").value_or(!flag(m.c, "measured.completed").value_or(true));
      if (failed) break;  // a reading before the failure
      out.push_back(std::move(one));
      break;
    }
  }
}

/// A job that ran, or did not, is a measured fact too.
void add_verdict(const Mapping& m, std::vector<Measurement>& out) {
  const bool failed = flag(m.c, "measured.oom").value_or(false) || flag(m.c, "measured.oom_or_failed").value_or(false);
  const std::string kind = text(m.c, "kind");
  if (!failed && (kind != "memory" && kind != "throughput")) return;
  if (text(m.c, "gpu").empty() && number(m.c, "measured.capacity_GB") == 0) return;
  Measurement one = begin(m, failed ? Figure::out_of_memory : Figure::ran);
  one.measured = 1;
  if (one.skipped.empty()) one.skipped = missing_for_peak(m);
  if (!failed && !one.skipped.empty()) return;  // says nothing
  out.push_back(std::move(one));
}

}  // namespace

Measurement begin(const Mapping& m, Figure figure) {
  Measurement out;
  out.id = text(m.c, "id");
  out.source = text(m.c, "source");
  out.family = short_source(out.source);
  out.figure = figure;
  out.best = text(m.c, "tier") == "A";
  out.share = m.share.text();
  out.skipped = m.skipped;
  return out;
}

std::string short_source(const std::string& source) {
  std::string from = source;
  if (from.rfind("github.com/", 0) == 0) from = from.substr(11);
  const size_t blank = from.find(' ');
  const std::string first = from.substr(0, blank);
  if (first.find('/') != std::string::npos || blank == std::string::npos) return first;
  const size_t second = from.find_first_of(" ,(", blank + 1);
  return from.substr(0, second);
}

void add_speed(const Mapping& m, std::vector<Measurement>& out);  // map_speed.cc

std::vector<Measurement> training_measurements(const json& c) {
  Mapping m(c);
  for (const char* field : {"id", "source", "precision", "optimizer", "sharding", "recompute", "attention", "notes"})
    m.words.add(text(c, field));
  for (const char* field : {"id", "precision", "optimizer", "sharding", "recompute", "attention", "notes", "lora"})
    m.run.add(text(c, field));
  for (const char* field : {"id", "precision", "lora"}) m.method.add(text(c, field));
  if (m.words.has(", lora)")) m.method.add("lora");  // the table the row stands in
  map_model(m);
  map_hardware(m);
  map_software(m);
  map_layout(m);
  std::vector<Measurement> out;
  add_memory(m, out);
  add_verdict(m, out);
  add_speed(m, out);
  return out;
}

}  // namespace vram::accuracy
