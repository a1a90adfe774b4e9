#include "tests/accuracy/load.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include "tests/accuracy/load_words.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

using Topics = std::set<Topic>;

bool has(const Topics& topics, Topic one) { return topics.count(one) > 0; }

// ShareGPT's means over the requests that benchmarks take of it.
constexpr double kShareGptPrompt = 220, kShareGptOutput = 200;

bool is_batch(const std::string& word) {
  return word == "b" || word == "bs" || word == "bsz" || word == "batch" || word == "batchsize";
}

// --- figures' names ------------------------------------------------------------------------------------------------

/// The part of a load that a word's number is.
double Load::*part_of(Topic topic) {
  switch (topic) {
    case Topic::prompt:
    case Topic::prefill:
      return &Load::prompt;
    case Topic::output:
    case Topic::decode:
      return &Load::output;
    case Topic::clients:
      return &Load::clients;
    case Topic::requests:
      return &Load::requests;
    case Topic::rate:
    case Topic::requests_a_second:
      return &Load::rate;
    case Topic::slots:
      return &Load::slots;
    case Topic::micro_batch:
      return &Load::micro_batch;
    case Topic::depth:
      return &Load::depth;
    default:
      return nullptr;
  }
}

void take_number(const NamePiece& piece, Load& load) {
  const Topic topic = topic_of(piece.word);
  if (double Load::*part = part_of(topic)) load.*part = piece.number;
  if (topic == Topic::clients) load.batched = is_batch(piece.word);
  if (topic == Topic::rate) load.rate_by_letter = piece.word != "rate";
  if (topic == Topic::prefill) load.output = 1;  // llama-bench's tests
  if (topic == Topic::decode) load.prompt = 1;
}

constexpr double kMostRuns = 16;

/// Numbers that no word takes: a context, or a prompt and an output; one that is small counts runs ("ttft_s_short_2").
void take_bare(const std::vector<double>& bare, FigureName& out) {
  if (bare.size() == 1 && bare[0] < kMostRuns) return;
  if (bare.size() > 2 && out.unread.empty()) out.unread = "numbers without their words";
  if (!bare.empty()) out.load.prompt = bare[0];
  if (bare.size() == 2) out.load.output = bare[1];
}

bool is_of_drafts(const std::string& word) {
  return is_one_of(word, {"eagle", "mtp", "medusa", "speculative", "spec", "ngram", "lookahead", "draft"});
}

/// Words of a plan that they do not state: how much was cached, offloaded, or how the model lay on GPUs.
const char* unstated_of(const std::string& word) {
  if (is_one_of(word, {"cached", "hit", "hits", "prefix"})) return "how much of the prompt was cached is not stated";
  if (is_one_of(word, {"offload", "offloaded", "swapped"})) return "how much was offloaded is not stated";
  if (is_one_of(word, {"tp", "dp", "ep"})) return "the layout is not stated";
  return "";
}

Figure rate_of_tokens(const Topics& said, bool numbered_decode, const Load& load) {
  if (has(said, Topic::prefill) && numbered_decode) return Figure::total_speed;  // llama-bench's "pp512+tg128"
  // llama-batched-bench's S_TG beside its prompts' length; a test behind so many tokens.
  if (has(said, Topic::prefill) && has(said, Topic::decode)) return Figure::token_time;
  if (numbered_decode && load.depth > 0) return Figure::token_time;
  if (has(said, Topic::prefill)) return Figure::prefill_speed;
  if (has(said, Topic::total) && !has(said, Topic::output)) return Figure::total_speed;
  if (has(said, Topic::prompt) && !has(said, Topic::output)) return Figure::input_speed;
  if (has(said, Topic::decode) && !numbered_decode) return Figure::token_time;
  return Figure::serving_speed;
}

/// "pp512" and "tg128"; "request_throughput", "output_throughput" and "total_token_throughput", as vllm's and sglang's
/// benchmarks name their results.
Figure figure_without_unit(const Topics& said, bool numbered_decode, const Load& load) {
  const bool test = (has(said, Topic::prefill) || numbered_decode) && said.size() <= 2 && load.prompt > 0;
  if (test && !has(said, Topic::length) && !has(said, Topic::token)) return rate_of_tokens(said, numbered_decode, load);
  if (!has(said, Topic::throughput)) return Figure::other;
  if (has(said, Topic::requests)) return Figure::request_rate;
  for (const Topic whose : {Topic::output, Topic::decode, Topic::prompt, Topic::prefill, Topic::total, Topic::token})
    if (has(said, whose)) return rate_of_tokens(said, numbered_decode, load);
  return Figure::other;
}

/// What stands before the second: "tok_s", not "s_per_token"; "tokens_per_s", not "latency_per_token_s".
struct Order {
  bool token_first = true, token_per_second = false;
  bool is_rate(const Topics& said) const { return token_first && (token_per_second || !has(said, Topic::per)); }
};

Figure figure_of_topics(const Topics& said, const Order& order, bool numbered_decode, const Load& load) {
  const bool timed = has(said, Topic::millisecond) || has(said, Topic::microsecond);
  const bool token = has(said, Topic::token), second = has(said, Topic::second);
  if (has(said, Topic::ttft) || (has(said, Topic::first) && token)) return Figure::first_token;
  if (has(said, Topic::tpot) || (has(said, Topic::between) && token)) return Figure::token_time;
  if (token && (timed || (second && !order.token_first))) return Figure::token_time;
  const bool part = has(said, Topic::decode) || has(said, Topic::prefill);  // Ollama's "eval_duration"
  const size_t words = said.size() - (has(said, Topic::filler) ? 1 : 0);
  const bool only = words == 2 && has(said, Topic::total) && (timed || second);  // "total_time_s"
  const bool rate = has(said, Topic::tokens_a_second) || (token && second && order.is_rate(said));
  if (only || (has(said, Topic::run) && !part) || (has(said, Topic::latency) && has(said, Topic::total)))
    return Figure::run_time;
  if (!rate && has(said, Topic::prefill) && (timed || second)) return Figure::first_token;
  if (!rate && has(said, Topic::latency))
    return has(said, Topic::decode) ? Figure::token_time : Figure::request_latency;
  if (has(said, Topic::tokens_a_second) || (token && second)) return rate_of_tokens(said, numbered_decode, load);
  if (has(said, Topic::requests_a_second) || (has(said, Topic::requests) && second)) return Figure::request_rate;
  return second || timed ? Figure::other : figure_without_unit(said, numbered_decode, load);
}

bool is_time(Figure figure) {
  return figure == Figure::first_token || figure == Figure::token_time || figure == Figure::request_latency ||
         figure == Figure::run_time;
}

constexpr const char* kNoUnit = "a time without its unit";

void set_unit(const Topics& said, bool token_first, FigureName& out) {
  const bool rate = has(said, Topic::tokens_a_second) ||
                    (has(said, Topic::token) && has(said, Topic::second) && token_first && !has(said, Topic::tpot) &&
                     !has(said, Topic::ttft) && !has(said, Topic::first) && !has(said, Topic::between));
  if (has(said, Topic::millisecond)) out.scale = 1e-3;
  if (has(said, Topic::microsecond)) out.scale = 1e-6;
  const bool unit = out.scale < 1 || has(said, Topic::second) || has(said, Topic::tokens_a_second);
  const bool timed = has(said, Topic::tpot) || has(said, Topic::between) || has(said, Topic::second);
  out.inverse = out.figure == Figure::token_time && (rate || !timed) && out.scale == 1;
  if (is_time(out.figure) && !unit && !out.inverse && out.unread.empty()) out.unread = kNoUnit;
}

// --- fields --------------------------------------------------------------------------------------------------------

double value_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return 0;
  const std::string said = lower(value.get<std::string>());
  if (said.rfind("inf", 0) == 0) return std::numeric_limits<double>::infinity();
  for (const char* mean : {"mean ", "average ", "avg "})  // "random up to 1024 (mean 515)"
    if (const double of_all = number_said(said, {mean}); of_all > 0) return of_all;
  return first_number(said).value_or(0);
}

/// "n" is a count of whatever stands beside it.
double* field_of(const Topics& said, bool bare_n, Load& load) {
  const bool most = has(said, Topic::most), tokens = has(said, Topic::token) || has(said, Topic::length);
  if (has(said, Topic::gpus) || has(said, Topic::none) || has(said, Topic::total) || has(said, Topic::per))
    return has(said, Topic::requests) && has(said, Topic::second) ? &load.rate : nullptr;
  if (has(said, Topic::rate) || has(said, Topic::requests_a_second)) return &load.rate;
  if (has(said, Topic::slots)) return most ? &load.slots : &load.clients;
  if (has(said, Topic::clients)) return has(said, Topic::token) ? nullptr : &load.clients;
  if (has(said, Topic::requests) && !bare_n) return most ? &load.slots : &load.requests;
  if (has(said, Topic::prompt) || has(said, Topic::depth) || has(said, Topic::prefill))
    return most && !tokens ? nullptr : &load.prompt;
  const bool of_request = most && has(said, Topic::token) && !has(said, Topic::filler);  // not "max_num_tokens"
  if (has(said, Topic::output) || has(said, Topic::decode) || of_request) return &load.output;
  return nullptr;
}

/// Whose number is a length of the server, not of a request.
bool is_of_server(const std::string& word) { return word == "ctx" || word == "context"; }

/// Of a layout: "pp" is no prompt there.
bool is_of_layout(const std::string& key) { return key == "tp" || key == "pp" || key == "dp" || key == "ep"; }

/// "isl_osl": "1024/128".
bool read_pair_field(const std::string& key, const json& value, Load& load) {
  Topics said;
  for (const NamePiece& piece : pieces_of(key)) said.insert(topic_of(piece.word));
  int prompt = 0, output = 0;
  if (!has(said, Topic::prompt) || !has(said, Topic::output) || !value.is_string()) return false;
  if (std::sscanf(value.get<std::string>().c_str(), "%d%*[ /,x:+-]%d", &prompt, &output) != 2) return false;
  load.prompt = prompt;
  load.output = output;
  return true;
}

/// "input_lens": of each request its own.
bool read_lengths(const std::string& key, const json& value, Load& load) {
  if (!value.is_array() || value.size() < 3 || key.find("lens") == std::string::npos) return false;
  const bool differ = std::any_of(value.begin(), value.end(), [&](const json& one) { return one != value[0]; });
  if (differ) load.longest = HUGE_VAL;
  return true;
}

void read_field(const std::string& key, const json& value, Load& load) {
  if (read_lengths(key, value, load)) return;
  if (is_of_layout(key) || read_pair_field(key, value, load)) return;
  Topics said;
  bool bare_n = true, batch = false, most = false;
  for (const NamePiece& piece : pieces_of(key)) {
    const Topic topic = is_of_server(piece.word) || piece.numbered ? Topic::none : topic_of(piece.word);
    bare_n &= topic != Topic::requests || piece.word == "n";
    batch |= is_batch(piece.word);
    most |= topic == Topic::most;
    said.insert(topic);
  }
  double* field = field_of(said, bare_n, load);
  if (batch && most && field != nullptr) field = &load.slots;  // "max_batch_size"
  const double number = value_of(value);
  if (field == nullptr || number <= 0) return;
  const bool batched = batch && field == &load.clients;
  if (batched && load.clients > 0) return;
  if (field == &load.clients) load.batched = batched;
  *field = number;
}

// --- words of the case ---------------------------------------------------------------------------------------------

/// "(1024/128)"
void read_pair(const std::string& said, Load& load) {
  int prompt = 0, output = 0;
  for (size_t at = said.find('('); at != std::string::npos; at = said.find('(', at + 1))
    if (std::sscanf(said.c_str() + at, "(%d/%d)", &prompt, &output) == 2) {
      load.prompt = prompt;
      load.output = output;
    }
}

/// What a check explains, and a data set's name.
void read_text(const json& c, Load& load) {
  const std::string said = said_in(c, {"model", "check", "notes", "dataset"}) + said_in_sections(c);
  if (const json* checks = find(c, "checks"); checks && checks->is_array() && load.prompt == 0)
    for (const json& check : *checks) read_pair(text(check, "explanation"), load);
  if (said.find("default range") != std::string::npos) load.longest = 2;  // sglang's random set: 1 to the length given
  for (const char* most : {"isl up to", "osl up to"})
    if (said.find(most) != std::string::npos) load.longest = 2;
  if (said.find("sharegpt") != std::string::npos) load.longest = HUGE_VAL;
}

}  // namespace

Load overridden(const Load& load, const Load& by) {
  Load out = load;
  for (double Load::*field : {&Load::prompt, &Load::output, &Load::clients, &Load::requests, &Load::rate,
                              &Load::micro_batch, &Load::slots, &Load::depth})
    if (by.*field > 0) out.*field = by.*field;
  // A server that is sent a request for each that ends has no rate: "r2" is its second run.
  if (by.rate_by_letter && load.clients > 0) out.rate = load.rate;
  if (by.clients > 0) out.batched = by.batched;
  if (by.prompt > 0 || by.output > 0) out.longest = by.longest;
  if (by.prompt > 0 || by.output > 0) out.means = by.means;
  out.saturated |= by.saturated;
  return out;
}

Load with_known_lengths(Load load, const std::string& said) {
  if (said.find("sharegpt") == std::string::npos || load.prompt > 0) return load;
  load.prompt = kShareGptPrompt;
  if (load.output == 0) load.output = kShareGptOutput;
  load.longest = HUGE_VAL;
  return load;
}

namespace {

/// "prompt4096_tok_s": how fast so many are read.
bool is_of_prompt(const std::string& name, const Load& load, const Topics& said) {
  return name.rfind("prompt", 0) == 0 && load.prompt > 0 && load.output == 0 && !has(said, Topic::output);
}

/// Of llama.cpp's benchmarks: one of both its tests, of a batch, behind a full cache.
void set_bench_lengths(FigureName& out, const Topics& said, double prompt, double output) {
  Load& load = out.load;
  const bool read = prompt > 0, numbered_decode = output > 0;
  if (read) load.prompt = prompt;
  if (read && numbered_decode) load.output = output;
  if (read && !numbered_decode && has(said, Topic::decode)) load.output = 0;
  if (load.depth > 0 && numbered_decode && !read) load.prompt = load.depth;
  if (load.depth > 0 && load.prompt == 0) load.prompt = load.depth;
  if (load.prompt == load.depth) load.depth = 0;
}

std::string unread_of(const FigureName& out, const Topics& said, bool per_token) {
  for (const std::string& word : out.unknown)
    if (is_of_drafts(word)) return "how many drafts were accepted is not stated";
  for (const std::string& word : out.unknown)
    if (const std::string unstated = unstated_of(word); !unstated.empty()) return unstated;
  const bool rate = out.figure == Figure::serving_speed || out.figure == Figure::token_time;
  const bool scenario = rate && has(said, Topic::latency);  // "min_latency_tok_s_user"
  if (has(said, Topic::tail) && !scenario) return "a percentile or a peak";
  const bool each = out.figure == Figure::request_latency || out.figure == Figure::token_time;
  if (out.percentile && !each) return "a percentile or a peak";
  return out.figure == Figure::request_latency && per_token ? "a mean of times to their lengths" : "";
}

/// The pieces of a name as they are read, one after the other.
struct NameReading {
  FigureName out;
  Topics said;
  std::vector<double> bare;
  double prompt = 0, output = 0;  // llama-bench's tests
  Order order;
  bool per_token = false;
  bool numbered_decode = false, plain_decode = false;  // "tg128", "tg"
  bool divided = false, rated = false;                 // what the piece before leads up to: "per", "tok_s"
  bool divided_token = false;                          // ... "tokens per"
  Topic last = Topic::none;

  void add(const NamePiece& piece, Topic topic, bool ordinal) {
    if (piece.word.empty())
      bare.push_back(piece.number);
    else if (topic == Topic::none && !ordinal)
      out.unknown.push_back(piece.word);
    if (topic == Topic::second) {
      order.token_first = has(said, Topic::token) || has(said, Topic::requests);
      order.token_per_second = divided && divided_token;
    }
    out.of_tokens |= piece.word == "itl" || piece.word == "tbt";
    if (piece.numbered && !piece.word.empty()) add_number(piece, topic);
    plain_decode |= topic == Topic::decode && !piece.numbered;
    add_divisor(piece, topic);
    const bool figure = !piece.numbered || topic == Topic::prefill || topic == Topic::decode;
    if (figure && topic != Topic::none) said.insert(topic);
  }

 private:
  void add_number(const NamePiece& piece, Topic topic) {
    take_number(piece, out.load);
    if (topic == Topic::decode) output = piece.number;
    if (topic == Topic::prefill) prompt = piece.number;
    numbered_decode |= topic == Topic::decode;
  }

  void add_divisor(const NamePiece& piece, Topic topic) {
    const bool of_each = (divided || rated) && !piece.numbered;  // "tok_s_per_gpu", "tok_s_gpu"
    if (of_each && topic == Topic::gpus) out.per_gpu = true;
    per_token |= divided && (topic == Topic::token || topic == Topic::output);
    if (of_each && (topic == Topic::clients || topic == Topic::stream || (divided && topic == Topic::requests)))
      out.per_stream = true;
    if (topic == Topic::per) divided_token = last == Topic::token;
    divided = topic == Topic::per;
    last = topic;
    rated = topic == Topic::tokens_a_second || (topic == Topic::second && has(said, Topic::token));
  }
};

NameReading pieces_read(const std::string& name) {
  NameReading reading;
  for (const NamePiece& piece : pieces_of(name)) {
    const bool ordinal = (piece.word == "second" && name.rfind("second_", 0) == 0) ||  // "second_run_kv_tokens"
                         (piece.word == "first" && name.find("first_run") != std::string::npos);
    reading.add(piece, piece.word.empty() || ordinal ? Topic::none : topic_of(piece.word), ordinal);
  }
  return reading;
}

/// "request_rate_rps": how many the client was told to send.
bool is_told(const NameReading& reading) {
  const bool measured = has(reading.said, Topic::throughput) || has(reading.said, Topic::output);
  return reading.out.figure == Figure::request_rate && has(reading.said, Topic::requests) &&
         has(reading.said, Topic::rate) && !measured;
}

/// "load_duration", "model_gib_pp0": a run or a test of which words say that it is none.
bool is_of_something_else(const NameReading& reading) {
  const bool unit = has(reading.said, Topic::second) || has(reading.said, Topic::tokens_a_second) ||
                    has(reading.said, Topic::throughput);
  const bool test = !unit && reading.prompt + reading.output > 0;
  return (reading.out.figure == Figure::run_time || test) && !reading.out.unknown.empty();
}

}  // namespace

FigureName read_figure_name(const std::string& name) {
  NameReading reading = pieces_read(name);
  FigureName& out = reading.out;
  Topics& said = reading.said;
  if (is_of_prompt(name, out.load, said)) {
    said.insert(Topic::prefill);
    out.load.output = 1;
  }
  const bool test = reading.numbered_decode && !reading.plain_decode;
  out.figure = figure_of_topics(said, reading.order, test, out.load);
  const bool other = out.figure == Figure::other || is_told(reading) || is_of_something_else(reading);
  out.is_speed = !other && !has(said, Topic::unmeasured);
  out.median = has(said, Topic::median);
  if (has(said, Topic::most) && out.load.clients == 0) out.load.saturated = true;
  out.percentile = has(said, Topic::percentile);
  out.unread = unread_of(out, said, reading.per_token);
  const bool fastest = has(said, Topic::tail) && has(said, Topic::latency) && out.unread.empty();
  if (fastest && out.load.clients == 0) out.load.clients = 1;  // "min_latency_tok_s_user"
  if (out.per_stream && out.figure == Figure::serving_speed) out.figure = Figure::token_time;
  set_bench_lengths(out, said, reading.prompt, reading.output);
  take_bare(reading.bare, out);
  set_unit(said, reading.order.token_first, out);
  const bool stamped = name == "duration" || name == "benchmark_duration";  // vllm's results: in seconds
  if (stamped && out.unread == kNoUnit) out.unread.clear();
  return out;
}

Load load_of_fields(const json& c) {
  Load load;
  for (const auto& [key, value] : c.items()) {
    if (value.is_object() && key != "measured" && key != "checks")
      for (const auto& [inner, amount] : value.items()) read_field(inner, amount, load);
    else
      read_field(key, value, load);
  }
  read_text(c, load);
  return load;
}

}  // namespace vram::accuracy
