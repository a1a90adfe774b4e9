#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/plan/texts.h"
#include "engine/report/report.h"
#include "engine/units.h"
#include "tests/engine/report_random_plans.h"

using namespace vram;
using nlohmann::json;

namespace {

std::string methods() {
  std::ifstream file(VRAM_SOURCE_DIR "/docs/METHODS.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void collect(Lines lines, std::set<std::string>& ids) {
  for (const Line& line : lines) {
    ids.insert(line.id);
    collect(line.children, ids);
  }
}

void collect(const Report& report, std::set<std::string>& ids) {
  collect(report.training.lines, ids);
  for (const Phase& phase : report.training.phases) collect(phase.lines, ids);
  for (const StageBill& stage : report.training.stages) collect(stage.lines, ids);
  for (const Traffic& item : report.compute.traffic) collect(Lines(&item.line, 1), ids);
  collect(report.serving.lines, ids);
  collect(report.serving.request_lines, ids);
  collect(report.serving.host_lines, ids);
}

// What random plans reach seldom.
const char* const kRarePlans[] = {
    "model=deepseek-v3&gpus=64&ep=8&pp=2&serve_gpus=8&weights=awq",
    "model=deepseek-v3&gpus=64&ep=8&etp=1&framework=fsdp&method=lora&lora_targets=all%2Bhead",
    "model=qwen3-next-80b-a3b&gpus=8&recompute=selective&framework=fsdp2",
    "model=llama-3.1-8b&framework=fsdp&gpus=8&loss=fused&optimizer_in_backward=1",
    "model=llama-3.1-8b&framework=deepspeed&gpus=8&grad_dtype=fp32&fused_optimizer=0",
    "model=llama-3.1-8b&method=lora&train_embeddings=1&framework=ddp",
    "model=llama-3.1-8b&engine=sglang&draft_layers=1&draft_tokens=4&prefix=500&long_share=0.1&long_prompt=50000",
    "model=gpt-oss-20b&engine=llamacpp&weights=q4_k_m&prompt=16000&gpu_layers=10&swap=1",
    "model=gpt-oss-120b&engine=llamacpp&weights=mxfp4&prompt=16000&n_cpu_moe=9",
    "model=qwen3.5-27b&engine=llamacpp&engine_version=b9501&kv=q8_0&prompt=65536",
    "model=gpt2&dropout=1&attention=eager&framework=ddp",
    "model=custom&params=7e9&gpus=8&framework=ddp"};

std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  for (const std::string_view cell : split(row, '|')) {
    const size_t first = cell.find_first_not_of(" `"), last = cell.find_last_not_of(" `");
    cells.emplace_back(first == std::string_view::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

/// "training.lines.weights", "compute.days": lists are entered by id.
json member(const json& report, const std::string& path) {
  json place = report;
  for (const std::string_view part : split(path, '.')) {
    const std::string name(part);
    if (!place.is_array()) {
      place = place.contains(name) ? json(place.at(name)) : json();
      continue;
    }
    json found;
    for (const json& item : place) {
      if (item.at("id") == name) found = item.at("bytes");
    }
    place = found;
  }
  return place;
}

std::string without_commas(std::string text) {
  std::erase(text, ',');
  return text;
}

/// Words as they are; numbers to their last digit; "about" within 5%.
bool agrees(const json& report, const std::string& figure, const std::string& ours) {
  const json single = member(report, figure);
  if (single.is_string()) return single.get<std::string>() == ours;
  double value = 0;
  for (const std::string_view path : split(figure, '+')) {
    const json term = member(report, cells_of(path).front());
    if (!term.is_number()) return false;
    value += term.get<double>();
  }
  const bool rough = ours.rfind("about ", 0) == 0;
  const std::string digits = without_commas(rough ? ours.substr(6) : ours);
  const double written = std::stod(digits);
  if (rough) return std::fabs(value - written) <= 0.05 * written;
  const size_t point = digits.find('.');
  if (point == std::string::npos) return value == written;
  const double step = std::pow(10.0, -static_cast<double>(digits.size() - point - 1));
  return std::fabs(value - written) <= step;
}

}  // namespace

TEST_CASE("METHODS.md names every line of every bill") {
  std::set<std::string> ids;
  for (uint32_t seed = 1000; seed < 1060; ++seed) collect(report(RandomPlan(seed).share()), ids);
  for (const char* share : kRarePlans) collect(report(share), ids);
  CHECK(ids.size() > 60);
  const std::string text = methods();
  for (const std::string& id : ids) {
    INFO("Line `" << id << "` is not described in docs/METHODS.md");
    CHECK(text.find("`" + id + "`") != std::string::npos);
  }
}

TEST_CASE("worked figures of METHODS.md come out as written") {
  size_t rows = 0;
  const std::string text = methods();
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 6 || cells[2].rfind("model=", 0) != 0) continue;
    ++rows;
    CAPTURE(cells[2], cells[3], cells[4]);
    CHECK(agrees(json::parse(report_json(report(cells[2]))), cells[3], cells[4]));
  }
  CHECK(rows >= 25);
}

TEST_CASE("METHODS.md defines every convention of `flops`") {
  const std::string text = methods();
  for (const std::string_view word : field(Key::flops).words) {
    CAPTURE(word);
    CHECK(text.find("| `" + std::string(word) + "` |") != std::string::npos);
  }
}
