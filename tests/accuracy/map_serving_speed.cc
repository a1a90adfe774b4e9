#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/serving/serving.h"
#include "tests/accuracy/map_training.h"
#include "tests/accuracy/model_name.h"
#include "tests/accuracy/serving_map.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

struct Load {
  double streams = 1, prompt = 0, output = 0;
};

// ShareGPT's means, where a record does not state its lengths.
constexpr double kUsualPrompt = 240, kUsualOutput = 200;

double number_after(const std::string& given, const char* word) {
  const size_t at = given.find(word);
  return at == std::string::npos ? 0 : first_number(given.substr(at + std::string(word).size())).value_or(0);
}

/// "(1024/128)"
void read_pair(const std::string& said, Load& load) {
  int prompt = 0, output = 0;
  for (size_t at = said.find('('); at != std::string::npos; at = said.find('(', at + 1))
    if (std::sscanf(said.c_str() + at, "(%d/%d)", &prompt, &output) == 2) load = {1, double(prompt), double(output)};
}

/// "ISL 2048 / OSL 128" anywhere in the case, or what is usual.
Load stated_load(const json& c) {
  const std::string said = lower(text(c, "model") + " " + text(c, "check") + " " + text(c, "notes"));
  Load load{1, number_after(said, "isl"), number_after(said, "osl")};
  if (const json* checks = find(c, "checks"); checks && checks->is_array() && load.prompt == 0)
    for (const json& check : *checks) read_pair(text(check, "explanation"), load);
  if (load.prompt == 0) load.prompt = kUsualPrompt;
  if (load.output == 0) load.output = kUsualOutput;
  return load;
}

ServingMap at_load(const ServingMap& m, const Load& load) {
  ServingMap given = m;
  given.share.set("concurrency", load.streams);
  given.share.set("prompt", load.prompt);
  given.share.set("output", load.output);
  return given;
}

void push_speed(const ServingMap& m, Figure figure, double measured, std::vector<Measurement>& out) {
  Measurement one = begin(m, "speed", figure);
  one.measured = measured;
  const bool rate = figure == Figure::serving_speed || figure == Figure::prefill_speed;
  one.unit = rate ? "tokens/s" : "s";
  if (one.skipped.empty() && m.share.get("gpu").empty()) one.skipped = "the GPU is not stated";
  out.push_back(std::move(one));
}

void push_speed(const ServingMap& m, Figure figure, double measured, const Load& load, std::vector<Measurement>& out) {
  push_speed(at_load(m, load), figure, measured, out);
}

// --- maximum load: "llama-3.3-70b TP2 H100 fp8" -------------------------------------------------------------------

constexpr double kMostRequests = 2048;  // trtllm-bench's batch of a rank

/// As many requests as the memory holds.
void push_saturated(ServingMap m, double measured, std::vector<Measurement>& out) {
  const Plan plan = read_plan(m.share.text()).plan;
  if (plan.subject && plan.accelerator) {
    const double held = serving_bill(plan).max_concurrency.value_or(0);
    m.share.set("concurrency", std::max(1.0, std::min(held, kMostRequests * plan.serve_dp)));
  }
  push_speed(m, Figure::serving_speed, measured, out);
}

/// A row of TensorRT-LLM's performance overview: its checkpoints quantise the cache too, and mixtures of experts run
/// with attention data parallel.
void add_overview_row(const ServingMap& m, const std::string& name, double measured, std::vector<Measurement>& out) {
  const size_t at = name.find(" TP");
  const std::string preset = preset_within(name.substr(0, at)), rest = lower(name.substr(at + 3));
  const double ranks = first_number(rest).value_or(1);
  json hardware = json::object();
  hardware["gpu"] = name.substr(at + 4);
  Mapping mapping(hardware);
  map_hardware(mapping);
  ServingMap row = at_load(m, stated_load(m.c));
  row.skipped = preset.empty() ? "the model is no preset" : "";
  row.share.set("model", preset);
  row.share.set("gpu", mapping.share.get("gpu"));
  row.share.set("weights", rest.find("fp4") != std::string::npos ? "nvfp4" : "fp8");
  row.share.set("kv", "fp8");
  const Plan plan = read_plan(row.share.text()).plan;
  const bool spreads = ranks > 1 && plan.experts > 0;
  if (spreads) {
    row.share.set("serve_tp", 1.0);
    row.share.set("serve_dp", ranks);
    row.share.set("serve_ep", ranks);
  } else {
    row.share.set("serve_tp", ranks);
  }
  push_saturated(row, measured, out);
}

// --- named measurements -------------------------------------------------------------------------------------------

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

/// Streams of "tpot_ms_c10", in flight on average where the rate at that load is measured, too (Little's law).
double streams_of(const json& c, const std::string& name) {
  const size_t at = name.rfind("_c");
  const double clients = at == std::string::npos ? 1 : first_number(name.substr(at)).value_or(1);
  const std::string suffix = at == std::string::npos ? "" : name.substr(at);
  const double rate = number(c, "measured.out_tok_s" + suffix), milliseconds = number(c, "measured.tpot_ms" + suffix);
  return rate > 0 && milliseconds > 0 ? std::max(1.0, std::round(rate * milliseconds / 1e3)) : clients;
}

void add_named(const ServingMap& m, const std::string& name, double amount, std::vector<Measurement>& out) {
  Load load = stated_load(m.c);
  const double digits = first_number(name).value_or(0);
  if (begins(name, "tpot_ms") || name == "itl_ms") {
    load.streams = streams_of(m.c, name);
    push_speed(m, Figure::token_time, amount / 1e3, load, out);
  } else if (begins(name, "out_tok_s")) {
    load.streams = streams_of(m.c, name);
    push_speed(m, Figure::serving_speed, amount, load, out);
  } else if (begins(name, "bs") && name.find("tok_s") != std::string::npos) {
    load.streams = digits > 0 ? digits : 1;
    push_speed(m, Figure::serving_speed, amount, load, out);
  } else if (begins(name, "output_tok_s")) {
    push_saturated(at_load(m, load), amount, out);
  } else if (begins(name, "tg")) {
    push_speed(m, Figure::serving_speed, amount, {1, 1, digits > 0 ? digits : 128}, out);
  } else if (begins(name, "decode_tok_s")) {
    push_speed(m, Figure::token_time, 1 / amount, {1, std::max(1.0, 1e3 * digits), 128}, out);
  } else if (begins(name, "pp")) {
    push_speed(m, Figure::prefill_speed, amount, {1, digits > 0 ? digits : 512, 1}, out);
  } else if (begins(name, "ttft_ms") && name.find("isl") == std::string::npos) {  // "ttft_ms_c10", "ttft_ms_median"
    load.streams = streams_of(m.c, name);
    push_speed(m, load.streams > 1 ? Figure::first_token_together : Figure::first_token, amount / 1e3, load, out);
  } else if (begins(name, "ttft_ms_isl")) {
    push_speed(m, Figure::first_token, amount / 1e3, {1, digits > 0 ? digits : 1024, 128}, out);
  } else if (begins(name, "ttft_s_") && digits > 0) {  // "ttft_s_91k"
    push_speed(m, Figure::first_token, amount, {1, 1e3 * digits, 128}, out);
  }
}

}  // namespace

void add_speeds(const ServingMap& m, std::vector<Measurement>& out) {
  const json* measured = find(m.c, "measured");
  if (!measured || !measured->is_object()) return;
  for (const auto& [name, value] : measured->items()) {
    if (!value.is_number()) continue;
    if (name.find(" TP") != std::string::npos)
      add_overview_row(m, name, value.get<double>(), out);
    else
      add_named(m, name, value.get<double>(), out);
  }
}

}  // namespace vram::accuracy
