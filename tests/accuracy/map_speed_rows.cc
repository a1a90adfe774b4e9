#include "tests/accuracy/map_speed_rows.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "engine/serving/serving.h"
#include "tests/accuracy/load_prose.h"
#include "tests/accuracy/map_training.h"
#include "tests/accuracy/model_kin.h"
#include "tests/accuracy/model_name.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

constexpr double kMostRequests = 2048;  // trtllm-bench's batch of a rank

/// The columns that a row's name has; 0 and nothing where it has not.
struct Row {
  std::string model, gpu;
  bool fp4 = false, fp8 = false;
  int batch = 0, ranks = 0, prompt = 0, output = 0;
};

Row row_of(const std::string& name) {
  Row row;
  std::istringstream words(name);
  for (std::string word; words >> word;) {
    const std::string said = lower(word);
    if (std::sscanf(word.c_str(), "BS%d", &row.batch) == 1 || std::sscanf(word.c_str(), "TP%d", &row.ranks) == 1 ||
        std::sscanf(word.c_str(), "%d/%d", &row.prompt, &row.output) == 2)
      continue;
    if (said.find("fp4") != std::string::npos || said.find("fp8") != std::string::npos)
      (said.find("fp4") != std::string::npos ? row.fp4 : row.fp8) = true;
    else if (row.ranks > 0 || row.batch > 0)
      row.gpu += (row.gpu.empty() ? "" : " ") + word;
    else if (!read_figure_name(word).is_speed)
      row.model += (row.model.empty() ? "" : " ") + word;
  }
  return row;
}

void set_model_of(const Row& row, ServingMap& m) {
  if (row.model.empty()) return;
  m.skipped = "";
  if (set_kin(m.share, row.model)) return;
  const std::string preset = preset_within(row.model);
  if (preset.empty()) m.skipped = "the model is no preset";
  m.share.set("model", preset);
}

void set_gpu_of(const Row& row, ServingMap& m) {
  if (row.gpu.empty()) return;
  json hardware = json::object();
  hardware["gpu"] = row.gpu;
  Mapping mapping(hardware);
  map_hardware(mapping);
  m.share.set("gpu", mapping.share.get("gpu"));
}

/// Its checkpoints quantise the cache, too.
void set_formats_of(const Row& row, ServingMap& m) {
  if (row.fp4 || row.fp8) m.share.set("weights", row.fp4 ? "nvfp4" : "fp8");
  const std::string weights = m.share.get("weights");
  if (weights.empty()) m.share.set("weights", "fp8");
  if (weights.empty() || weights == "fp8" || weights == "nvfp4") m.share.set("kv", "fp8");
}

/// Mixtures of experts run with attention data parallel.
void set_layout_of(const Row& row, ServingMap& m) {
  const double ranks = std::max(1, row.ranks);
  const Plan plan = read_plan(m.share.text()).plan;
  const bool spreads = ranks > 1 && plan.experts > 0;
  m.share.set("serve_tp", spreads ? 1.0 : ranks);
  if (!spreads) return;
  m.share.set("serve_dp", ranks);
  m.share.set("serve_ep", ranks);
}

/// As many requests as the memory holds.
void saturate(ServingMap& m) {
  const Plan plan = read_plan(m.share.text()).plan;
  if (!plan.subject || !plan.accelerator) return;
  const double held = serving_bill(plan).max_concurrency.value_or(0);
  m.share.set("concurrency", std::max(1.0, std::min(held, kMostRequests * plan.serve_dp)));
}

bool counts_each_gpu(const json& c) {
  return holds_any(lower(text(c, "model") + " " + text(c, "check")), {"a gpu", "per gpu", "/gpu", "per-gpu"});
}

}  // namespace

bool add_row(const ServingMap& m, const std::string& name, double measured, std::vector<Measurement>& out) {
  if (name.find(' ') == std::string::npos) return false;
  const Row row = row_of(name);
  const bool batch = row.batch > 0 && row.prompt > 0 && row.output > 0;
  if (row.ranks == 0 && !batch) return false;
  Load load = load_of_figure(m.c, name, Load{});
  if (batch) {
    load.prompt = row.prompt;
    load.output = row.output;
    load.clients = load.requests = row.batch;
  }
  ServingMap given = at_load(m, load);
  set_model_of(row, given);
  set_gpu_of(row, given);
  set_formats_of(row, given);
  set_layout_of(row, given);
  if (batch)
    given.share.set("max_seqs", row.batch * 1.0);
  else
    saturate(given);
  Measurement one = begin(given, "speed", Figure::serving_speed);
  one.measured = measured * (counts_each_gpu(m.c) ? std::max(1, row.ranks) : 1);
  one.unit = "tokens/s";
  if (batch) one.requests = row.batch;
  if (given.share.get("gpu").empty()) one.skip_for("the GPU is not stated");
  if (load.prompt == 0) one.skip_for("the lengths are not stated");
  out.push_back(std::move(one));
  return true;
}

}  // namespace vram::accuracy
