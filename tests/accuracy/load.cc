#include "tests/accuracy/load.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include "tests/accuracy/load_words.h"
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
    default:
      return nullptr;
  }
}

void take_number(const NamePiece& piece, Load& load) {
  const Topic topic = topic_of(piece.word);
  if (double Load::*part = part_of(topic)) load.*part = piece.number;
  if (topic == Topic::clients) load.batched = is_batch(piece.word);
  if (topic == Topic::prefill) load.output = 1;  // llama-bench's tests
  if (topic == Topic::decode) load.prompt = 1;
}

/// Numbers that no word takes: a context, or a prompt and an output.
void take_bare(const std::vector<double>& bare, FigureName& out) {
  if (bare.size() > 2) out.unread = "numbers without their words";
  if (!bare.empty()) out.load.prompt = bare[0];
  if (bare.size() == 2) out.load.output = bare[1];
}

bool is_of_drafts(const std::string& word) {
  return word == "eagle" || word == "mtp" || word == "medusa" || word == "speculative";
}

Figure rate_of_tokens(const Topics& said, bool numbered_decode) {
  if (has(said, Topic::prefill)) return Figure::prefill_speed;
  if (has(said, Topic::total) && !has(said, Topic::output)) return Figure::total_speed;
  if (has(said, Topic::prompt) && !has(said, Topic::output)) return Figure::input_speed;
  if (has(said, Topic::decode) && !numbered_decode) return Figure::token_time;
  return Figure::serving_speed;
}

/// `token_first`: "tokens per second", not "seconds per token".
Figure figure_of_topics(const Topics& said, bool token_first, bool numbered_decode) {
  const bool timed = has(said, Topic::millisecond) || has(said, Topic::microsecond);
  const bool token = has(said, Topic::token), second = has(said, Topic::second);
  if (has(said, Topic::ttft) || (has(said, Topic::first) && token)) return Figure::first_token;
  if (has(said, Topic::tpot) || (has(said, Topic::between) && token)) return Figure::token_time;
  if (token && (timed || (second && !token_first))) return Figure::token_time;
  if (has(said, Topic::run) || (has(said, Topic::latency) && has(said, Topic::total))) return Figure::run_time;
  if (has(said, Topic::latency)) return Figure::request_latency;
  if (has(said, Topic::tokens_a_second) || (token && second)) return rate_of_tokens(said, numbered_decode);
  if (has(said, Topic::requests_a_second) || (has(said, Topic::requests) && second)) return Figure::request_rate;
  return Figure::other;
}

bool is_time(Figure figure) {
  return figure == Figure::first_token || figure == Figure::token_time || figure == Figure::request_latency ||
         figure == Figure::run_time;
}

void set_unit(const Topics& said, FigureName& out) {
  const bool rate = has(said, Topic::tokens_a_second) ||
                    (has(said, Topic::token) && has(said, Topic::second) && !has(said, Topic::tpot) &&
                     !has(said, Topic::ttft) && !has(said, Topic::first) && !has(said, Topic::between));
  if (has(said, Topic::millisecond)) out.scale = 1e-3;
  if (has(said, Topic::microsecond)) out.scale = 1e-6;
  const bool unit = out.scale < 1 || has(said, Topic::second) || has(said, Topic::tokens_a_second);
  out.inverse = out.figure == Figure::token_time && rate && out.scale == 1;
  if (is_time(out.figure) && !unit && out.unread.empty()) out.unread = "a time without its unit";
}

// --- fields --------------------------------------------------------------------------------------------------------

double value_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return 0;
  const std::string said = lower(value.get<std::string>());
  if (said.rfind("inf", 0) == 0) return std::numeric_limits<double>::infinity();
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
  if (has(said, Topic::prompt) || has(said, Topic::prefill)) return most && !tokens ? nullptr : &load.prompt;
  if (has(said, Topic::output) || has(said, Topic::decode) || (most && has(said, Topic::token))) return &load.output;
  return nullptr;
}

/// Whose number is a length of the server, not of a request.
bool is_of_server(const std::string& word) { return word == "ctx" || word == "context"; }

/// Of a layout: "pp" is no prompt there.
bool is_of_layout(const std::string& key) { return key == "tp" || key == "pp" || key == "dp" || key == "ep"; }

void read_field(const std::string& key, const json& value, Load& load) {
  if (is_of_layout(key)) return;
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
  const std::string said = lower(text(c, "model") + " " + text(c, "check") + " " + text(c, "notes"));
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
  for (double Load::*field :
       {&Load::prompt, &Load::output, &Load::clients, &Load::requests, &Load::rate, &Load::micro_batch, &Load::slots})
    if (by.*field > 0) out.*field = by.*field;
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

FigureName read_figure_name(const std::string& name) {
  FigureName out;
  Topics said;
  std::vector<double> bare;
  std::string unknown;
  bool token_first = true, numbered_decode = false, divided = false, per_token = false;
  for (const NamePiece& piece : pieces_of(name)) {
    const bool ordinal = (piece.word == "second" && name.rfind("second_", 0) == 0) ||  // "second_run_kv_tokens"
                         (piece.word == "first" && name.find("first_run") != std::string::npos);
    const Topic topic = piece.word.empty() || ordinal ? Topic::none : topic_of(piece.word);
    if (piece.word.empty())
      bare.push_back(piece.number);
    else if (topic == Topic::none && !ordinal)
      unknown = piece.word;
    if (topic == Topic::second && !has(said, Topic::token) && !has(said, Topic::requests)) token_first = false;
    if (piece.numbered && !piece.word.empty()) take_number(piece, out.load);
    numbered_decode |= piece.numbered && topic == Topic::decode;
    out.of_tokens |= piece.word == "itl" || piece.word == "tbt";
    const bool of_each = divided && !piece.numbered;
    if (of_each && topic == Topic::gpus) out.per_gpu = true;
    per_token |= divided && (topic == Topic::token || topic == Topic::output);
    if (of_each && (topic == Topic::clients || topic == Topic::stream || topic == Topic::requests))
      out.per_stream = true;
    divided = topic == Topic::per;
    const bool figure = !piece.numbered || topic == Topic::prefill || topic == Topic::decode;
    if (figure && topic != Topic::none) said.insert(topic);
  }
  // "prompt4096_tok_s": how fast so many are read.
  if (name.rfind("prompt", 0) == 0 && out.load.prompt > 0 && out.load.output == 0 && !has(said, Topic::output)) {
    said.insert(Topic::prefill);
    out.load.output = 1;
  }
  out.figure = figure_of_topics(said, token_first, numbered_decode);
  out.is_speed = out.figure != Figure::other;
  out.unread = unknown.empty() ? "" : "'" + unknown + "' in the figure's name is not known";
  if (is_of_drafts(unknown)) out.unread = "how many drafts were accepted is not stated";
  if (has(said, Topic::tail)) out.unread = "a percentile or a peak";
  if (out.figure == Figure::request_latency && per_token) out.unread = "a mean of times to their lengths";
  out.median = has(said, Topic::median);
  if (out.per_stream && out.figure == Figure::serving_speed) out.figure = Figure::token_time;
  take_bare(bare, out);
  set_unit(said, out);
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
