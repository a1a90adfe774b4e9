#include <algorithm>
#include <cmath>

#include "engine/serving/latency.h"
#include "engine/serving/serving.h"
#include "tests/accuracy/load.h"
#include "tests/accuracy/load_prose.h"
#include "tests/accuracy/map_training.h"
#include "tests/accuracy/model_name.h"
#include "tests/accuracy/serving_map.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

ServingMap at_load(const ServingMap& m, const Load& load) {
  ServingMap given = m;
  if (load.clients > 0) given.share.set("concurrency", load.clients);
  given.share.set("prompt", load.prompt);
  given.share.set("output", load.output);
  given.share.set_if("ubatch", load.micro_batch);
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
  ServingMap row = at_load(m, load_of_figure(m.c, name, Load{}));
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

// Lengths of what nobody says them of (ShareGPT's), where a figure depends little on them: of streams that write, and
// of the first token of one request.
constexpr double kUsualPrompt = 240, kUsualOutput = 200;
// What vllm's and sglang's benchmarks send where they are told nothing else, all at one moment.
constexpr double kUsualRequests = 1000;
// sglang/srt/managers/scheduler.py: most requests that run, where the pool is large.
constexpr double kSglangRunning = 2048;

bool is_of_run(Figure figure) {
  return figure == Figure::serving_speed || figure == Figure::input_speed || figure == Figure::total_speed ||
         figure == Figure::request_rate;
}

bool is_server(const ServingMap& m) { return m.engine == "vllm" || m.engine == "sglang" || m.engine == "trtllm"; }

bool is_stated(const Load& load) { return load.clients > 0 || load.requests > 0 || load.rate > 0 || load.saturated; }

/// How requests come where a case says nothing of it.
Load with_usual_arrivals(const ServingMap& m, Load load, Figure figure) {
  const bool benchmark = m.engine == "vllm" || m.engine == "sglang";
  if (!is_stated(load) && (!is_server(m) || !is_of_run(figure))) load.clients = 1;  // a time of one request
  if (!is_stated(load) && benchmark && load.prompt > 0 && is_of_run(figure)) load.requests = kUsualRequests;
  if (load.batched && load.requests == 0) load.requests = load.clients;
  if (load.clients == 0 && load.rate == 0 && load.requests > 0) load.rate = HUGE_VAL;
  if (load.clients > 0 && std::isinf(load.rate)) load.rate = 0;
  return load;
}

/// Why a figure cannot be expressed; lengths that do not matter to it are set.
std::string lacking(Load& load, Figure figure) {
  if (!is_stated(load)) return "the load is not stated";
  const bool written = figure == Figure::serving_speed || figure == Figure::token_time;
  const bool first = figure == Figure::first_token && load.clients == 1;
  const bool usual = load.clients > 0 && (written || first);
  if (load.prompt == 0 && !usual) return "the lengths are not stated";
  if (load.output == 0 && !usual && figure != Figure::prefill_speed) return "the lengths are not stated";
  if (load.prompt == 0) load.prompt = kUsualPrompt;
  if (load.output == 0) load.output = kUsualOutput;
  return "";
}

/// Requests that the server has under way at most.
double places(const ServingMap& m) {
  const Plan plan = read_plan(m.share.text()).plan;
  if (!is_server(m) || !plan.subject || !plan.accelerator) return 1e9;
  const bool told = !m.share.get("max_seqs").empty();
  const double most = m.engine == "sglang" && !told ? kSglangRunning : plan.max_seqs;
  return std::min(most * plan.serve_dp, serving_bill(plan).max_concurrency.value_or(1e9));
}

/// Requests under way where so many arrive in a second: the most that still leave as fast as they come.
double under_way(const ServingMap& m, double rate, double most) {
  Plan plan = read_plan(m.share.text()).plan;
  if (!plan.subject || !plan.accelerator) return 1;
  double low = 1, high = std::max(1.0, std::min(most, 1e5));
  for (int i = 0; i < 24 && high - low > 0.01 * low; ++i) {
    plan.concurrency = (low + high) / 2;
    (serving_bill(plan).requests_per_second.value_or(0) < rate ? low : high) = plan.concurrency;
  }
  return std::max(1.0, std::ceil(high));
}

/// Clients that come more slowly than their prompts are worked through meet in no batch: "10 requests a second, at most
/// 256 at once".
bool arrives_apart(const ServingMap& m, const Load& load) {
  if (load.clients <= 1 || load.rate <= 0 || std::isinf(load.rate)) return false;
  const Plan plan = read_plan(m.share.text()).plan;
  return plan.subject && plan.accelerator &&
         load.rate * latency(plan, replica_of(plan), load.clients).packed_seconds < 1;
}

/// The plan at that load, and of the run what the plan does not say.
Measurement at_run(const ServingMap& m, const Load& load, Figure figure) {
  ServingMap given = at_load(m, load);
  // The server's slots in the case's own load, not in this one; a batch that ran had its slots.
  const bool batch =
      number(m.c, "batch") > 0 || (load.batched && load.clients > read_plan(m.share.text()).plan.max_seqs);
  if (load.slots > 0 || batch) given.share.set_if("max_seqs", std::max(load.slots, batch ? load.clients : 0));
  const double most = places(given);
  const double asked = load.clients > 0 ? load.clients : load.requests > 0 ? load.requests : most;
  double clients = std::min(asked, most), rate = load.rate;
  if (rate > 0 && !std::isinf(rate)) {
    const double way = under_way(given, rate, clients);
    if (load.clients > 0 && way >= 0.98 * clients) rate = 0;
    clients = way;
  }
  given.share.set("concurrency", std::max(1.0, std::min(clients, load.requests > 0 ? load.requests : clients)));
  const bool apart = arrives_apart(given, load);
  if (apart && figure == Figure::first_token_together) figure = Figure::first_token;
  Measurement one = begin(given, "speed", figure);
  if (most < 1) one.skip_for("the cache holds no request of that length");
  one.requests = load.requests;
  one.rate = rate;
  one.longest = load.longest;
  one.apart = apart;
  one.waiting = load.clients > clients && rate == 0 ? load.clients - clients : 0;
  return one;
}

/// Of a loaded server the mean has the start in it, where clients come together; the median of many rounds has not,
/// where lengths differ and clients come apart.
Figure figure_of_run(const FigureName& name, const Load& load) {
  if (name.figure != Figure::first_token || load.clients <= 1) return name.figure;
  const bool many = load.requests > 2 * load.clients && load.longest > 1;
  return name.median && many ? Figure::first_token : Figure::first_token_together;
}

const char* unit_of(Figure figure) {
  if (figure == Figure::request_rate) return "requests/s";
  const bool rate = is_of_run(figure) || figure == Figure::prefill_speed;
  return rate ? "tokens/s" : "s";
}

/// A published figure that is wrong.
bool is_trap(const json& c, const std::string& name) {
  if (const json* checks = find(c, "checks"); checks && checks->is_array())
    for (const json& check : *checks)
      if (text(check, "name") == name && text(check, "kind") == "trap") return true;
  return false;
}

void make_trap(const ServingMap& m, Measurement& one) {
  one.part = figure_name(one.figure);
  one.family = begin(m, "trap", Figure::trap).family;
  one.figure = Figure::trap;
}

/// Of a card that is no preset: without its bandwidth nothing, without its peak what one stream writes.
std::string unstated_rate(const Measurement& one) {
  const Plan plan = read_plan(one.share).plan;
  if (!plan.subject || !plan.accelerator) return "";
  if (plan.gpu_bw <= 0) return "the card's bandwidth is not known";
  const bool peak = plan.gpu_tflops > 0 || peak_tflops(*plan.accelerator, "bf16") > 0;
  const bool written = one.figure == Figure::serving_speed || one.figure == Figure::token_time;
  return peak || (written && plan.concurrency <= 1) ? "" : "the card's peak is not known";
}

double published(const ServingMap& m, const FigureName& name, const Load& load, double amount) {
  double value = amount * name.scale;
  if (name.per_gpu) value *= std::max(1.0, number(m.c, "n_gpus"));
  if (!name.inverse) return value;
  const double streams = name.per_stream ? 1 : std::max(1.0, load.clients);
  return streams / value;
}

void add_named(const ServingMap& m, const std::string& name, double amount, std::vector<Measurement>& out) {
  const FigureName said = read_figure_name(name);
  if (!said.is_speed) return;
  const std::string words = lower(text(m.c, "notes") + " " + text(m.c, "source") + " " + name);
  Load load = with_known_lengths(load_of_figure(m.c, name, said.load), words);
  load = with_usual_arrivals(m, load, said.figure);
  const std::string unknown = said.unread.empty() ? lacking(load, said.figure) : said.unread;
  const Figure figure = figure_of_run(said, load);
  Measurement one = unknown.empty() && m.skipped.empty() ? at_run(m, load, figure) : begin(m, "speed", figure);
  one.measured = published(m, said, load, amount);
  one.of_tokens = said.of_tokens || said.median;
  one.unit = unit_of(figure);
  if (!unknown.empty()) one.skip_for(unknown);
  if (m.share.get("gpu").empty()) one.skip_for("the GPU is not stated");
  const bool unread = m.share.get("weights").empty() && !text(m.c, "weight_dtype").empty();
  if (unread) one.skip_for("a storage that is no choice of the key");
  if (one.skipped.empty())
    if (const std::string unstated = unstated_rate(one); !unstated.empty()) one.skip_for(unstated);
  if (is_trap(m.c, name)) make_trap(m, one);
  out.push_back(std::move(one));
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
