#include "engine/advice/diagnose/measured.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/units.h"

namespace vram {
namespace {

constexpr double kPrinted =
    0.02 * kGiB;  // three sizes with two digits behind the point differ by so much from their sum
constexpr double kContext = 1.2 * kGiB;  // a process is at most so much larger than what PyTorch holds of it

double value_of(const LogFigure& figure) {
  return figure.kind == CaptureKind::bytes ? static_cast<double>(figure.bytes) : figure.number;
}

/// The figures of one message, several of a name where it has several.
struct Printed {
  std::map<std::string, std::vector<double>, std::less<>> figures;
  const char* tool = "";
  int device = -1;

  std::optional<double> last(std::string_view what) const {
    const auto found = figures.find(what);
    return found == figures.end() ? std::nullopt : std::optional<double>(found->second.back());
  }
};

using AllPrinted = std::map<uint32_t, Printed>;

AllPrinted groups_of(const LogReading& log) {
  AllPrinted groups;
  for (const LogFigure& figure : log.figures) {
    Printed& group = groups[figure.message];
    if (figure.kind != CaptureKind::text) group.figures[figure.what].push_back(value_of(figure));
    group.tool = figure.tool;
    group.device = figure.device;
  }
  return groups;
}

/// The refused allocation of the GPU that held most.
const Printed* failure_of(const AllPrinted& groups) {
  const Printed* worst = nullptr;
  for (const auto& [number, group] : groups) {
    if (!group.last("tried_bytes") && !group.last("oom")) continue;
    const double held = group.last("allocated_bytes").value_or(0);
    if (worst == nullptr || held > worst->last("allocated_bytes").value_or(0)) worst = &group;
  }
  return worst;
}

/// Inside a container the own process is listed like the others: it is the one that is as large as what PyTorch holds.
void find_processes(const Printed& group, Measured& out) {
  const double held = out.allocated.value_or(0) + out.unallocated.value_or(0);
  out.process = group.last("process_bytes");
  const auto listed = group.figures.find("process_list_bytes");
  if (listed != group.figures.end()) out.processes = listed->second;
  if (!out.process && listed != group.figures.end() && held > 0) {
    for (const double bytes : listed->second) {
      if (bytes >= held * 0.995 && (!out.process || bytes < *out.process)) out.process = bytes;
    }
  }
  out.process_known = out.process.has_value();
  if (!out.capacity || !out.free) return;
  const double in_use = std::max(0.0, *out.capacity - *out.free);
  out.device = in_use;
  if (!out.process && out.reserved && in_use > *out.reserved && in_use - *out.reserved < kContext) out.process = in_use;
  if (out.process) out.other = in_use - *out.process > kPrinted ? in_use - *out.process : 0;
}

void take_failure(const Printed& group, Measured& out) {
  out.failed = true;
  if (!is_serving_tool(out.tool)) out.tool = group.tool;
  out.device_index = group.device;
  out.tried = group.last("tried_bytes");
  out.allocated = group.last("allocated_bytes");
  if (!out.allocated) out.allocated = group.last("used_bytes");
  out.unallocated = group.last("reserved_unallocated_bytes");
  out.reserved = group.last("reserved_bytes");
  out.capacity = group.last("capacity_bytes");
  out.free = group.last("free_bytes");
  out.largest_free = group.last("largest_free_bytes");
  if (out.largest_free) out.fixed_segments = true;  // no allocator of PyTorch prints that
  out.program = group.last("total_bytes");
  out.private_pools = group.last("private_pool_bytes");
  out.allowed = group.last("allowed_bytes");
  if (!out.allowed) out.allowed = group.last("max_allowed_bytes");
  out.mps_other = group.last("other_bytes");
  if (!out.reserved && out.allocated && out.unallocated) out.reserved = *out.allocated + *out.unallocated;
  if (!out.unallocated && out.allocated && out.reserved)
    out.unallocated = std::max(0.0, *out.reserved - *out.allocated);
  find_processes(group, out);
  if (out.process && out.reserved) out.outside = std::max(0.0, *out.process - *out.reserved);
}

using Names = std::initializer_list<const char*>;

/// The largest figure of any of the names in the whole log.
std::optional<double> largest(const AllPrinted& groups, Names names) {
  std::optional<double> most;
  for (const auto& [number, group] : groups) {
    for (const char* name : names) {
      const auto found = group.figures.find(name);
      if (found == group.figures.end()) continue;
      const double here = *std::max_element(found->second.begin(), found->second.end());
      if (!most || here > *most) most = here;
    }
  }
  return most;
}

std::optional<double> last_of(const AllPrinted& groups, Names names) {
  std::optional<double> value;
  for (const auto& [number, group] : groups) {
    for (const char* name : names) {
      if (const std::optional<double> here = group.last(name)) value = here;
    }
  }
  return value;
}

bool shows_devices(std::string_view tool) {
  constexpr std::string_view kTools[] = {"nvidia-smi", "rocm-smi", "amd-smi", "npu-smi", "gpustat", "MaxText"};
  return std::find(std::begin(kTools), std::end(kTools), tool) != std::end(kTools);
}

/// nvidia-smi, rocm-smi: the fullest GPU.
void take_device_tables(const AllPrinted& groups, Measured& out) {
  for (const auto& [number, group] : groups) {
    const std::string_view tool = group.tool;
    const std::optional<double> used = group.last("used_bytes");
    if (!used || !shows_devices(tool)) continue;
    if (out.device && *out.device >= *used) continue;
    out.device = used;
    const std::optional<double> total = group.last("total_bytes");
    if (total) out.capacity = total;
  }
}

/// Where no allocation was refused: the peaks that were printed.
void take_peaks(const AllPrinted& groups, Measured& out) {
  out.allocated = largest(groups, {"max_allocated_bytes", "peak_allocated_bytes", "allocated_bytes", "peak_bytes"});
  out.reserved = largest(groups, {"max_reserved_bytes", "peak_reserved_bytes", "reserved_bytes", "max_cached_bytes"});
  if (!out.reserved) out.reserved = largest(groups, {"cached_bytes"});
  out.device = largest(groups, {"device_bytes", "nvml_used_bytes", "training_bytes"});
  out.capacity = largest(groups, {"capacity_bytes", "capacity_bytes_derived"});
  out.exceeded = out.resource.empty() ? largest(groups, {"exceeded_bytes"}) : std::nullopt;
  take_device_tables(groups, out);
  if (std::string_view(out.tool) == "XLA") out.reserved.reset();  // what the system keeps, not what XLA does
  if (out.allocated && out.reserved && *out.reserved < *out.allocated) out.reserved.reset();  // rounded to whole GB
  if (out.allocated && out.reserved) out.unallocated = *out.reserved - *out.allocated;
  if (out.device && out.reserved) out.outside = std::max(0.0, *out.device - *out.reserved);
}

/// llama.cpp has a cache for each kind of layers (full, sliding) and prints how many layers each has.
std::map<double, double> cache_sizes(const AllPrinted& groups) {
  std::map<double, double> sizes;
  for (const auto& [number, group] : groups) {
    const auto layers = group.figures.find("kv_layers"), bytes = group.figures.find("kv_bytes");
    if (layers == group.figures.end() || bytes == group.figures.end()) continue;
    if (layers->second.size() != bytes->second.size()) continue;
    for (size_t i = 0; i < layers->second.size(); ++i) sizes[layers->second[i]] = bytes->second[i];
  }
  return sizes;
}

double sum_of(const std::map<double, double>& sizes) {
  double sum = 0;
  for (const auto& [layers, bytes] : sizes) sum += bytes;
  return sum;
}

/// A message that says in one sentence how long a request may be and how many tokens the cache holds, fewer, is of a
/// refusal: settings named elsewhere in the log are of other starts.
void take_short_cache(const AllPrinted& groups, Measured& out) {
  for (const auto& [number, group] : groups) {
    const auto length = group.figures.find("max_model_len"), tokens = group.figures.find("kv_tokens");
    if (length == group.figures.end() || tokens == group.figures.end() || group.last("max_concurrency")) continue;
    if (tokens->second.front() >= length->second.front()) continue;
    out.max_model_len = length->second.front();
    out.kv_tokens = tokens->second.front();
  }
}

void take_serving(const AllPrinted& groups, Measured& out) {
  out.weights = last_of(groups, {"weights_bytes"});
  out.activations = last_of(groups, {"activation_bytes"});
  out.non_torch = last_of(groups, {"non_torch_bytes"});
  out.graphs = last_of(groups, {"cudagraph_bytes"});
  if (!out.graphs) out.graphs = last_of(groups, {"cudagraph_estimate_bytes"});
  out.kv_pool = last_of(groups, {"kv_bytes"});
  if (const auto caches = cache_sizes(groups); !caches.empty()) out.kv_pool = sum_of(caches);
  const auto k = last_of(groups, {"k_bytes"}), v = last_of(groups, {"v_bytes"});
  if (!out.kv_pool && k && v) out.kv_pool = *k + *v;
  out.kv_needed = last_of(groups, {"kv_needed_bytes"});
  out.kv_tokens = last_of(groups, {"kv_tokens"});
  out.max_model_len = last_of(groups, {"max_model_len", "n_ctx"});
  take_short_cache(groups, out);
  out.longest_model_len = last_of(groups, {"estimated_max_model_len"});
  out.cut_model_len = last_of(groups, {"max_model_len_effective"});
  out.utilization = last_of(groups, {"utilization", "mem_fraction", "kv_fraction"});
  out.layers_on_gpu = last_of(groups, {"layers_offloaded"});
  out.layers = last_of(groups, {"layers_total"});
  out.kv_usage = last_of(groups, {"kv_usage_percent"});
  const auto share = last_of(groups, {"kv_usage"});
  if (!out.kv_usage && share) out.kv_usage = *share * 100;
  out.preemptions = last_of(groups, {"preempted", "preemptions", "retracted"});
  out.budget = last_of(groups, {"budget_bytes"});
  out.compute = last_of(groups, {"compute_bytes"});
  out.lacking = last_of(groups, {"lacking_bytes"});
  out.required = last_of(groups, {"required_bytes"});
  if (!out.capacity) out.capacity = last_of(groups, {"capacity_bytes"});
  if (!out.free) out.free = last_of(groups, {"free_bytes"});
}

void take_words(const LogReading& log, Measured& out) {
  for (const LogFigure& figure : log.figures) {
    if (figure.what == "resource" && out.resource.empty()) out.resource = figure.text;
    if (figure.what == "stage") out.stage = figure.text;
    if (figure.what == "failed") out.broken = figure.text;
    const std::string_view tool = figure.tool;
    if (out.tool[0] == 0 || (is_serving_tool(tool) && !is_serving_tool(out.tool))) out.tool = figure.tool;
  }
}

/// An error of PyTorch between a server's lines, or in its words, is the server's; one of a trainer that generates with
/// a server is the trainer's.
void take_program(const LogReading& log, Measured& out) {
  constexpr std::string_view kAnybodys[] = {"", "PyTorch", "CUDA", "NCCL", "host", "launcher"};
  const bool anybodys = std::find(std::begin(kAnybodys), std::end(kAnybodys), out.tool) != std::end(kAnybodys);
  if (is_serving_tool(log.program) && anybodys) out.tool = log.program;
  out.fixed_segments = log.fixed_segments;
}

/// Of the rank that speaks first: others are in other places of the pipeline.
void take_series(const LogReading& log, Series& out) {
  int rank = -2;
  for (const LogFigure& figure : log.figures) {
    const bool state = figure.what == "allocated_bytes", peak = figure.what == "max_allocated_bytes" ||
                                                                figure.what == "peak_reserved_bytes" ||
                                                                figure.what == "peak_bytes";
    if (!state && !peak) continue;
    if (std::string_view(figure.tool) == "PyTorch") continue;  // an error is no step
    if (rank == -2) rank = figure.rank;
    if (figure.rank != rank) continue;
    (state ? out.allocated_bytes : out.peak_bytes).push_back(value_of(figure));
  }
}

/// The plan's keys say what the log does not.
void take_plan(const Plan& plan, Measured& out) {
  const auto take = [&](Key key, double value, std::optional<double>& place) {
    if (!place && plan.has(key)) place = value;
  };
  take(Key::measured_allocated, plan.measured_allocated, out.allocated);
  take(Key::measured_reserved, plan.measured_reserved, out.reserved);
  take(Key::measured_device, plan.measured_device, out.device);
  take(Key::measured_kv_pool, plan.measured_kv_pool, out.kv_pool);
  take(Key::measured_kv_tokens, plan.measured_kv_tokens, out.kv_tokens);
  take(Key::measured_tokens_per_second, plan.measured_tokens_per_second, out.tokens_per_second);
  take(Key::measured_ttft, plan.measured_ttft, out.ttft);
  take(Key::measured_tpot, plan.measured_tpot, out.tpot);
  if (!out.unallocated && out.allocated && out.reserved) out.unallocated = *out.reserved - *out.allocated;
  if (!out.outside && out.device && out.reserved && !out.failed) out.outside = *out.device - *out.reserved;
}

void add(Key key, const std::optional<double>& value, bool size, std::string& out) {
  if (!value || !(*value > 0)) return;
  if (!out.empty()) out += '&';
  out.append(field(key).name).append("=").append(size ? write_size(*value, kGiB) : write_number(*value));
}

}  // namespace

bool is_serving_tool(std::string_view tool) {
  constexpr std::string_view kTools[] = {"vLLM",     "SGLang",    "TensorRT-LLM",  "TGI",
                                         "LMDeploy", "MLC-LLM",   "LM Studio",     "ExLlama",
                                         "Ollama",   "llama.cpp", "server summary"};
  return std::find(std::begin(kTools), std::end(kTools), tool) != std::end(kTools);
}

Measured measured_of(const LogReading& log, const Plan& plan) {
  Measured out;
  const AllPrinted groups = groups_of(log);
  take_words(log, out);
  take_program(log, out);
  if (const Printed* failure = failure_of(groups)) {
    take_failure(*failure, out);
  } else {
    take_peaks(groups, out);
  }
  if (is_serving_tool(out.tool)) take_serving(groups, out);
  if (!out.weights) out.weights = last_of(groups, {"weights_bytes"});
  out.tokens_per_second = last_of(groups, {"tps"});
  take_series(log, out.series);
  take_plan(plan, out);
  return out;
}

std::string measured_fragment(const Measured& measured, bool serving) {
  std::string out;
  if (serving) {
    add(Key::measured_kv_pool, measured.kv_pool, true, out);
    add(Key::measured_kv_tokens, measured.kv_tokens, false, out);
    return out;
  }
  add(Key::measured_allocated, measured.allocated, true, out);
  add(Key::measured_reserved, measured.reserved, true, out);
  add(Key::measured_device, measured.process ? measured.process : measured.device, true, out);
  add(Key::measured_tokens_per_second, measured.tokens_per_second, false, out);
  return out;
}

}  // namespace vram
