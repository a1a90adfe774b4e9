#include <algorithm>
#include <cmath>

#include "engine/formats.h"
#include "engine/serving/latency.h"
#include "engine/serving/serving.h"
#include "tests/accuracy/drafts.h"
#include "tests/accuracy/figure_label.h"
#include "tests/accuracy/host_share.h"
#include "tests/accuracy/load.h"
#include "tests/accuracy/load_prose.h"
#include "tests/accuracy/map_llamacpp.h"
#include "tests/accuracy/map_speed_rows.h"
#include "tests/accuracy/model_size.h"
#include "tests/accuracy/serving_map.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/unread_time.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {

ServingMap at_load(const ServingMap& m, const Load& load) {
  ServingMap given = m;
  if (load.clients > 0) given.share.set("concurrency", load.clients);
  given.share.set("prompt", load.prompt + load.depth);
  given.share.set_if("prefix", load.depth);
  given.share.set("output", load.output);
  given.share.set_if("ubatch", load.micro_batch);
  return given;
}

namespace {

// --- named measurements -------------------------------------------------------------------------------------------

// Lengths of what nobody says them of (ShareGPT's), where a figure depends little on them: of streams that write, and
// of the first token of one request.
constexpr double kUsualPrompt = 240, kUsualOutput = 200;
// What vllm's and sglang's benchmarks send where they are told nothing else, all at one moment; NVIDIA's tables of
// TensorRT-LLM are of as many as it takes, too.
constexpr double kUsualRequests = 1000;
// sglang/srt/managers/scheduler.py: most requests that run, where the pool is large.
constexpr double kSglangRunning = 2048;

bool is_of_run(Figure figure) {
  return figure == Figure::serving_speed || figure == Figure::input_speed || figure == Figure::total_speed ||
         figure == Figure::request_rate || figure == Figure::run_time;
}

bool is_server(const ServingMap& m) { return m.engine == "vllm" || m.engine == "sglang" || m.engine == "trtllm"; }

bool is_stated(const Load& load) { return load.clients > 0 || load.requests > 0 || load.rate > 0 || load.saturated; }

/// Whether another figure of the case is of that kind.
template <class Is>
bool has_sibling(const ServingMap& m, Is is) {
  const json* siblings = find(m.c, "siblings");
  return siblings != nullptr && std::any_of(siblings->begin(), siblings->end(), [&](const json& one) {
           return is(read_figure_name(one[0].get<std::string>()), one[1].get<double>());
         });
}

/// Clients that others of the case's rates count write more than this one, which is of one stream then.
bool is_of_one(const ServingMap& m, double amount) {
  return has_sibling(m, [amount](const FigureName& said, double other) {
    return said.figure == Figure::serving_speed && said.load.clients > 1 && !said.per_gpu && other > amount;
  });
}

/// A benchmark that printed its rates and times together, of which nothing says the load.
bool is_of_all(const FigureName& said, double) {
  const bool rate = said.figure == Figure::request_rate || said.figure == Figure::total_speed;
  return rate && said.load.clients == 0 && said.load.requests == 0 && said.load.rate == 0;
}

/// How requests come where a case says nothing of it.
Load with_usual_arrivals(const ServingMap& m, Load load, Figure figure, double amount) {
  const bool of_run = is_server(m) && is_of_run(figure) && !is_of_one(m, amount);
  const bool unsaid = is_server(m) && !is_of_run(figure) && has_sibling(m, is_of_all);
  if (!is_stated(load) && !of_run && !unsaid) load.clients = 1;  // a time of one request
  if (!is_stated(load) && load.prompt > 0 && of_run) load.requests = kUsualRequests;
  if (load.batched && load.requests == 0) load.requests = load.clients;
  if (load.clients == 0 && load.rate == 0 && load.requests > 0) load.rate = HUGE_VAL;
  if (load.clients > 0 && std::isinf(load.rate)) load.rate = 0;
  return load;
}

/// Why a figure cannot be expressed; lengths that do not matter to it are set.
std::string lacking(Load& load, Figure figure) {
  if (!is_stated(load)) return "the load is not stated";
  if (figure == Figure::run_time && load.requests == 0) return "the number of requests is not stated";
  const bool written = figure == Figure::serving_speed || figure == Figure::token_time ||
                       ((figure == Figure::request_latency || figure == Figure::run_time) && load.output > 0);
  const bool first = figure == Figure::first_token && load.clients == 1;
  const bool usual = load.clients > 0 && (written || first);
  if (load.prompt == 0 && !usual) return "the lengths are not stated";
  if (load.output == 0 && !usual && figure != Figure::prefill_speed) return "the lengths are not stated";
  if (load.prompt == 0) load.prompt = kUsualPrompt;
  if (load.output == 0) load.output = kUsualOutput;
  return "";
}

/// What a request under way writes, to what the mean request does: the longer it is, the longer it is there. E[O^2] /
/// E[O]^2 is 2 of a data set's lengths, which are near enough to an exponential's, and 4/3 of even ones.
double length_under_way(const ServingMap& m, double longest) {
  if (std::isinf(longest)) return 2;
  return longest > 1 && m.share.get("acceptance").empty() ? 4.0 / 3 : 1;
}

/// Requests that the server has under way at most. vllm lets one in as soon as there is room for its prompt
/// (v1/core/sched/scheduler.py, schedule), sglang with a tenth of its output once it has run for 600 steps
/// (srt/environ.py, SGLANG_INIT_NEW_TOKEN_RATIO): they hold what they have written so far, half of it on average.
/// Of Qwen3-32B on an H100 46 of ShareGPT's are under way in sglang, 76 in TensorRT-LLM, which keeps room for all of
/// it: rate x time of a request, and so here.
double places(const ServingMap& m, double longest) {
  Plan plan = read_plan(m.share.text()).plan;
  if (m.engine == "llamacpp") return plan.has(Key::max_seqs) ? plan.max_seqs : 1e9;
  const bool grows = plan.engine == Engine::vllm || plan.engine == Engine::sglang;
  plan.output = std::ceil(plan.output * length_under_way(m, longest) / (grows ? 2 : 1));
  if (!is_server(m) || !plan.subject || !plan.accelerator) return 1e9;
  const bool told = !m.share.get("max_seqs").empty();
  const double most = m.engine == "sglang" && !told ? kSglangRunning : plan.max_seqs;
  return std::min(most * plan.serve_dp, serving_bill(plan).max_concurrency.value_or(1e9));
}

/// Requests under way where so many arrive in a second: the most that still leave as fast as they come.
double under_way(const ServingMap& m, double rate, double most) {
  Plan plan = read_plan(m.share.text()).plan;
  if (!plan.subject || !plan.accelerator) return 1;
  plan.concurrency = 1;
  if (serving_bill(plan).requests_per_second.value_or(0) >= rate) return 1;
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
  const double slots = load.slots == 0 && m.engine == "llamacpp" ? slots_of_server(m.c) : load.slots;
  if (slots > 0 || batch) given.share.set_if("max_seqs", std::max(slots, batch ? load.clients : 0));
  const double most = places(given, load.longest);
  const double asked = load.clients > 0 ? load.clients : load.requests > 0 ? load.requests : most;
  double clients = std::round(std::min(asked, most)), rate = load.rate;  // a mean of 1018.8 under way
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

/// A median that the mean is near has the starts of all rounds in it.
bool meets_mean(const ServingMap& m, double median) {
  return has_sibling(m, [median](const FigureName& said, double amount) {
    const bool mean = said.figure == Figure::first_token && !said.median && !said.percentile && said.unknown.empty();
    const double off = amount * said.scale / median;
    return mean && off > 0.8 && off < 1.25;
  });
}

/// Of a loaded server the mean has the start in it, where clients come together; the median of many rounds has not,
/// where lengths differ and clients come apart.
Figure figure_of_run(const ServingMap& m, const FigureName& name, const Load& load, double amount) {
  if (name.figure != Figure::first_token || load.clients <= 1) return name.figure;
  const bool apart = load.longest > 1 || m.engine != "sglang";  // whose rounds end together
  const bool many = load.requests > 2 * load.clients && apart;
  return name.median && many && (load.longest > 1 || !meets_mean(m, amount * name.scale))
             ? Figure::first_token
             : Figure::first_token_together;
}

const char* unit_of(Figure figure) {
  if (figure == Figure::request_rate) return "requests/s";
  const bool rate = (is_of_run(figure) && figure != Figure::run_time) || figure == Figure::prefill_speed;
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

/// What Ollama left to the CPU are its first layers, as many as make that share.
void set_host_layers(ServingMap& m, const std::string& figure) {
  const Plan plan = read_plan(m.share.text()).plan;
  const std::optional<double> share = host_share(m.c, figure);
  if (m.engine != "llamacpp" || !share || plan.has(Key::gpu_layers) || plan.layers <= 0) return;
  m.share.set("gpu_layers", std::floor((1 - *share) * plan.layers));
}

// Of requests of one length some have more drafts accepted than others, and end sooner.
constexpr double kDraftedSpread = 2;

// Of ShareGPT's prompts: 74 of 306 tokens (arXiv 2406.03243, table 1, as remembered); first tokens of QwQ-32B on an RTX
// 3090 Ti, 4090, 5090 and an H100 say the same (DeutscheKI/llm-performance-tests).
constexpr double kMiddlePrompt = 74.0 / 306;

/// The middle one of a data set's prompts, which are far from even.
void set_middle_prompt(const FigureName& said, Load& load) {
  const bool alone = load.clients == 1 || (load.rate > 0 && !std::isinf(load.rate));
  if (said.figure != Figure::first_token || !said.median || !alone || !std::isinf(load.longest)) return;
  load.prompt = std::round(load.prompt * kMiddlePrompt);
}

/// Requests of one length, each sent where one ends, are alike: a percentile of them is their mean (within 3% of
/// vllm's and TensorRT-LLM's requests of 512 / 256 and 2048 / 512 on an A100).
std::string unread_percentile(const FigureName& said, const Load& load) {
  const bool alike = load.clients > 0 && load.longest <= 1 && load.prompt > 0 && load.output > 0 &&
                     (load.rate == 0 || std::isinf(load.rate));
  return said.percentile && !alike ? "a percentile or a peak" : "";
}

/// Why the name of a figure does not say what was measured.
std::string unread_name(const ServingMap& m, const std::string& name, const FigureName& said) {
  if (!said.unread.empty()) return said.unread;
  const std::string whole = text(m.c, "figure_name");
  for (const std::string& word : said.unknown)
    if (word == "cpu")
      return "it ran on the CPU";
    else if (!is_label(m.c, whole.empty() ? name : whole, word))
      return "'" + word + "' in the figure's name is not known";
  return "";
}

/// What llama.cpp's programs measure under names that others give something else.
void set_own_figure(const ServingMap& m, FigureName& said, const Load& load) {
  // Programs that read a prompt before they write print how fast.
  if (m.engine == "generic" && load.clients <= 1 && said.figure == Figure::input_speed)
    said.figure = Figure::prefill_speed;
  if (m.engine != "llamacpp") return;
  if (said.figure == Figure::input_speed) said.figure = Figure::prefill_speed;
  if (said.figure == Figure::run_time && load.requests == 0) said.figure = Figure::request_latency;  // Ollama's
}

/// ggml's other backend for NVIDIA's boards and AMD's, which no key names. What it writes it reads as fast (RTX 2080
/// Ti, 3060; Radeon 8060S), its prompts are 1.1 to 3 times as long.
std::string unexpressed_backend(const ServingMap& m, const std::string& name, const Load& load, Figure figure) {
  const bool written = figure == Figure::serving_speed || figure == Figure::token_time;
  if (m.engine != "llamacpp" || (written && load.clients <= 1)) return "";
  const std::string figure_words = lower(name),
                    words = lower(said_in(m.c, {"engine", "engine_version", "flags", "backend"}));
  const bool another = holds_any(figure_words, {"cuda", "rocm", "hip", "metal"});
  const bool vulkan =
      figure_words.find("vulkan") != std::string::npos || (!another && words.find("vulkan") != std::string::npos);
  return vulkan ? "no key names Vulkan" : "";
}

/// A model that is larger than the GPUs' memory runs on the CPU in part.
bool is_too_large(const std::string& share) {
  const Plan plan = read_plan(share).plan;
  if (!plan.subject || !plan.accelerator || plan.engine != Engine::llamacpp || plan.gpu_mem <= 0) return false;
  return !plan.has(Key::gpu_layers) && double(serving_bill(plan).weights_bytes_per_gpu.value_or(0)) > plan.gpu_mem;
}

/// Unsloth's "Q4_K_XL" is a mixture of its own for each model, a few percent larger than the medium one.
void set_mixture(ServingMap& m) {
  const std::string given = lower(text(m.c, "weight_dtype"));
  const size_t at = given.find("_k_xl");
  if (!m.share.get("weights").empty() || at == std::string::npos || at < 2) return;
  const std::string bits = given.substr(at - 2, 2);
  for (const std::string& format : {bits + "_k_m", bits + "_k", bits + "_0"})
    if (find_format(format) != nullptr) return m.share.set("weights", format);
}

/// One that is larger than a GPU's is split by layers over all of them.
void set_split(ServingMap& m) {
  const double gpus = number(m.c, "n_gpus");
  if (m.engine != "llamacpp" || gpus <= 1 || !m.share.get("serve_pp").empty() || !m.share.get("serve_tp").empty())
    return;
  if (is_too_large(m.share.text())) m.share.set("serve_pp", gpus);
}

/// "H20" is sold with 96 and with 141 GB: what the smaller one cannot hold ran on the larger.
void set_larger_board(ServingMap& m) {
  const Plan plan = read_plan(m.share.text()).plan;
  if (m.share.get("gpu") != "h20-96gb" || plan.has(Key::gpu_mem) || !plan.subject) return;
  if (serving_bill(plan).max_concurrency.value_or(1) < 1) m.share.set("gpu_mem", 138.88);
}

/// "tp": null, "n_gpus": null.
bool leaves_gpus_open(const json& c) {
  const auto is_open = [&c](const char* field) { return c.contains(field) && c.at(field).is_null(); };
  return is_open("tp") && is_open("n_gpus");
}

void add_named(const ServingMap& of_case, const std::string& name, double amount, std::vector<Measurement>& out) {
  FigureName said = read_figure_name(name);
  if (!said.is_speed) return;
  ServingMap m = of_case;
  set_host_layers(m, name);
  const std::string words =
      name + said_in(m.c, {"notes", "source", "model", "check", "dataset"}) + said_in_sections(m.c);
  Load load = with_known_lengths(load_of_figure(m.c, name, said.load), words);
  set_own_figure(m, said, load);
  if (said.figure == Figure::serving_speed && counts_both(m.c, name)) said.figure = Figure::total_speed;
  if (!m.share.get("acceptance").empty()) load.longest = std::max(load.longest, kDraftedSpread);
  load = with_usual_arrivals(m, load, said.figure, amount);
  set_middle_prompt(said, load);
  std::string unknown = unread_name(m, name, said);
  if (unknown.empty()) unknown = unread_percentile(said, load);
  if (unknown.empty()) unknown = unread_time(m, said, load, amount);
  if (unknown.empty()) unknown = unstated_drafts(m, said.figure);
  if (unknown.empty()) unknown = lacking(load, said.figure);
  if (unknown.empty()) unknown = unexpressed_backend(m, name, load, said.figure);
  const Figure figure = figure_of_run(m, said, load, amount);
  Measurement one = unknown.empty() && m.skipped.empty() ? at_run(m, load, figure) : begin(m, "speed", figure);
  one.measured = published(m, said, load, amount);
  one.of_tokens = said.of_tokens || said.median;
  one.of_steps = said.of_tokens && said.median;
  one.unit = unit_of(figure);
  if (!unknown.empty()) one.skip_for(unknown);
  if (m.share.get("gpu").empty()) one.skip_for("the GPU is not stated");
  if (leaves_gpus_open(m.c)) one.skip_for("the number of GPUs is not stated");
  const bool unread = m.share.get("weights").empty() && !text(m.c, "weight_dtype").empty();
  if (unread) one.skip_for("a storage that is no choice of the key");
  if (one.skipped.empty())
    if (const std::string unstated = unstated_rate(one); !unstated.empty()) one.skip_for(unstated);
  if (m.engine == "llamacpp" && is_too_large(one.share)) one.skip_for("what is left to the CPU is not stated");
  if (is_trap(m.c, name)) make_trap(m, one);
  out.push_back(std::move(one));
}

}  // namespace

void add_speeds(const ServingMap& of_case, std::vector<Measurement>& out) {
  const json* measured = find(of_case.c, "measured");
  if (!measured || !measured->is_object()) return;
  ServingMap m = of_case;
  set_model_of_size(m);
  set_acceptance(m);
  set_mixture(m);
  set_split(m);
  set_larger_board(m);
  for (const auto& [name, value] : measured->items()) {
    if (!value.is_number()) continue;
    if (!add_row(m, name, value.get<double>(), out)) add_named(m, name, value.get<double>(), out);
  }
}

}  // namespace vram::accuracy
