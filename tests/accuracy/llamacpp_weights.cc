#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/plan/plan.h"
#include "engine/serving/serving.h"
#include "engine/units.h"
#include "tests/accuracy/llamacpp_asked.h"
#include "tests/accuracy/llamacpp_said.h"
#include "tests/accuracy/map_llamacpp.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// The file's size, as printed.
double file_bytes(const json& c) {
  const double gib = first_of(c, {"file_gib", "model_gib", "file_size_gib"});
  const double mib = first_of(c, {"file_mib", "model_mib", "file_size_mib"}),
               bytes = first_of(c, {"file_bytes", "model_bytes"});
  return bytes > 0 ? bytes : mib > 0 ? mib * kMiB : gib * kGiB;
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

}  // namespace

bool is_whole_file(const Asked& a) {
  const double file = file_bytes(a.m.c), off = file - a.value() * a.bytes;
  return file > 0 && std::fabs(off) < 0.0015 * file;
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

}  // namespace vram::accuracy
