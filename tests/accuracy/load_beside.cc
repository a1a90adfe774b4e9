#include "tests/accuracy/load_beside.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/text.h"
#include "tests/accuracy/load_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

struct Setting {
  const char* name;
  double Load::*part;
  bool total;  // of all requests
};
// Those that are part of others stand behind them.
constexpr Setting kSettings[] = {{"num_prompts", &Load::requests, false},
                                 {"num_requests", &Load::requests, false},
                                 {"request_rate_rps", &Load::rate, false},
                                 {"request_rate", &Load::rate, false},
                                 {"max_concurrency", &Load::clients, false},
                                 {"num_clients", &Load::clients, false},
                                 {"concurrency", &Load::clients, false},
                                 {"conc", &Load::clients, false},
                                 {"successful_requests", &Load::requests, false},
                                 {"requests", &Load::requests, false},
                                 {"successful", &Load::requests, false},
                                 {"completed", &Load::requests, false},
                                 {"input_tokens_total", &Load::prompt, true},
                                 {"output_tokens_total", &Load::output, true},
                                 {"total_input_tokens", &Load::prompt, true},
                                 {"total_prompt_tokens", &Load::prompt, true},
                                 {"total_generated_tokens", &Load::output, true},
                                 {"total_output_tokens", &Load::output, true},
                                 {"isl_avg", &Load::prompt, false},
                                 {"isl", &Load::prompt, false},
                                 {"input_len", &Load::prompt, false},
                                 {"in_tokens", &Load::prompt, false},
                                 {"input_tokens", &Load::prompt, false},
                                 {"prompt_tokens", &Load::prompt, false},
                                 {"osl_avg", &Load::output, false},
                                 {"osl", &Load::output, false},
                                 {"output_len", &Load::output, false},
                                 {"out_tokens", &Load::output, false},
                                 {"output_tokens", &Load::output, false},
                                 {"tokens_generated", &Load::output, false},
                                 {"generated_tokens", &Load::output, false},
                                 {"completion_tokens", &Load::output, false},
                                 {"max_tokens", &Load::output, false},
                                 {"num_predict", &Load::output, false},
                                 {"eval_count", &Load::output, false},
                                 {"eval_tokens", &Load::output, false}};

using Names = std::vector<std::string>;

Names names_in(const std::string& text) {
  Names out(1);
  for (const char c : lower(text)) {
    if (c != '_' && c != ' ')
      out.back() += c;
    else if (!out.back().empty())
      out.emplace_back();
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

// "in_len", "avg_prompt_tokens": of which the words that say no quantity are a scope.
constexpr Setting kPromptLength{"", &Load::prompt, false}, kOutputLength{"", &Load::output, false};

const Setting* length_in(Names& words) {
  const Setting* found = nullptr;
  bool length = false;
  Names scope;
  for (const std::string& word : words) {
    const Topic topic = topic_of(word);
    length |= topic == Topic::length || topic == Topic::token;
    if (topic == Topic::prompt || topic == Topic::output)
      found = topic == Topic::prompt ? &kPromptLength : &kOutputLength;
    else if (topic == Topic::none)
      scope.push_back(word);
    else if (topic != Topic::length && topic != Topic::token && topic != Topic::mean && topic != Topic::filler)
      return nullptr;
  }
  if (!length || found == nullptr) return nullptr;
  words = scope;
  return found;
}

/// The setting that a name says; its own words are taken out of the name's.
const Setting* setting_in(Names& words) {
  for (const Setting& row : kSettings) {
    const Names own = names_in(row.name);
    const auto at = std::search(words.begin(), words.end(), own.begin(), own.end());
    if (at == words.end()) continue;
    words.erase(at, at + static_cast<long>(own.size()));
    words.erase(std::remove(words.begin(), words.end(), "random"), words.end());  // the data set of "random_input_len"
    return &row;
  }
  return length_in(words);
}

/// Under way on average, which sglang's benchmark prints, and no setting.
bool is_result(const Setting& setting, double amount) {
  return setting.part == &Load::clients && std::floor(amount) != amount;
}

bool are_within(const Names& some, const Names& all) {
  return std::all_of(some.begin(), some.end(),
                     [&](const std::string& word) { return std::find(all.begin(), all.end(), word) != all.end(); });
}

double amount_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  return value.is_string() && lower(value.get<std::string>()).rfind("inf", 0) == 0 ? HUGE_VAL : 0;
}

/// Lengths of the requests of one run, of its rates: tokens a second are so many of each of its requests a second. A
/// run goes by the words that its names have beside the quantity's.
struct Rates {
  double requests = 0, written = 0, read = 0, all = 0;
};

/// The words of a name that are no quantity's.
Names label_of(const std::string& name) {
  Names out;
  for (const std::string& word : names_in(name)) {
    const Topic topic = topic_of(word);
    if (topic == Topic::none || topic == Topic::filler) out.push_back(word);
  }
  return out;
}

Rates rates_of(const json& siblings, const Names& label) {
  Rates rates;
  for (const json& one : siblings) {
    const std::string name = one[0].get<std::string>();
    const double amount = one[1].get<double>();
    const FigureName said = read_figure_name(name);
    const bool mean = said.is_speed && said.unread.empty() && !said.percentile;  // not "peak_out_tok_s"
    if (!mean || said.per_gpu || said.per_stream || label_of(name) != label) continue;
    if (said.figure == Figure::request_rate) rates.requests = amount;
    if (said.figure == Figure::serving_speed) rates.written = amount;
    if (said.figure == Figure::input_speed) rates.read = amount;
    if (said.figure == Figure::total_speed) rates.all = amount;
  }
  return rates;
}

Load lengths_of_rates(const json& siblings, const Names& label) {
  Rates rates = rates_of(siblings, label);
  Load out;
  if (rates.requests <= 0 || rates.written <= 0) return out;
  if (rates.read <= 0 && rates.all > rates.written) rates.read = rates.all - rates.written;
  out.output = std::round(rates.written / rates.requests);
  out.prompt = std::round(rates.read / rates.requests);
  return out;
}

/// Prompt tokens to one that is written, of a run's rates of all and of written ones.
double prompts_to_outputs(const json& c) {
  const json* siblings = find(c, "siblings");
  if (siblings == nullptr) return 0;
  for (const json& one : *siblings) {
    const std::string name = one[0].get<std::string>();
    const FigureName said = read_figure_name(name);
    if (said.figure != Figure::total_speed || said.per_gpu) continue;
    const Rates rates = rates_of(*siblings, label_of(name));
    if (rates.written > 0 && rates.all > rates.written) return rates.all / rates.written - 1;
  }
  return 0;
}

/// What stands in the load's own fields and is of all requests: "input_tokens_total".
void add_said_totals(const json& c, Load& totals) {
  const json* load = find(c, "load");
  if (load == nullptr || !load->is_object()) return;
  for (const auto& [name, value] : load->items()) {
    Names scope = names_in(name);
    const Setting* setting = setting_in(scope);
    if (setting == nullptr || !setting->total || !scope.empty()) continue;
    if (totals.*(setting->part) == 0) totals.*(setting->part) = amount_of(value);
  }
}

/// "output_tokens" of a whole run: as many as its rate writes in its time, or too many for one request.
bool are_of_run(const json& c, const Load& load) {
  if (load.requests <= 1 || load.output < load.requests) return false;
  double seconds = 0, rate = 0;
  if (const json* siblings = find(c, "siblings"); siblings != nullptr)
    for (const json& one : *siblings) {
      const FigureName said = read_figure_name(one[0].get<std::string>());
      const double amount = one[1].get<double>() * said.scale;
      if (said.figure == Figure::run_time) seconds = amount;
      if (said.figure == Figure::serving_speed && said.unread.empty() && !said.per_gpu) rate = amount;
    }
  const double written = seconds * rate / load.output;  // `requests` times as many where it is of one
  if (written > 0) return written > 0.5 && written < 2;
  return load.output > kLongestRequest || load.prompt > kLongestRequest;
}

}  // namespace

Load of_one_request(const json& c, Load load) {
  if (!are_of_run(c, load)) return load;
  load.prompt = std::round(load.prompt / load.requests);
  load.output = std::round(load.output / load.requests);
  load.means = true;
  return load;
}

Load rated_lengths(const json& c, const std::string& figure) {
  const json* siblings = find(c, "siblings");
  if (siblings == nullptr) return {};
  const std::string whole = text(c, "figure_name");
  const Load own = lengths_of_rates(*siblings, label_of(whole.empty() ? figure : whole));
  return own.output > 0 ? own : lengths_of_rates(*siblings, {});
}

bool is_of_settings(const json& c, const std::string& word) {
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return false;
  for (const auto& [name, value] : measured->items()) {
    Names scope = names_in(name);
    if (setting_in(scope) != nullptr && std::find(scope.begin(), scope.end(), word) != scope.end()) return true;
  }
  return false;
}

LoadBeside load_beside(const json& c, const std::string& figure) {
  LoadBeside out;
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return out;
  const Names of_figure = names_in(figure);
  Load general, own, totals;
  for (const auto& [name, value] : measured->items()) {
    Names scope = names_in(name);
    const bool rate = name == figure || read_figure_name(name).is_speed;  // "input_tokens_per_s" is no length
    const Setting* setting = rate ? nullptr : setting_in(scope);
    const double amount = setting == nullptr ? 0 : amount_of(value);
    if (amount <= 0 || is_result(*setting, amount) || !are_within(scope, of_figure)) continue;
    Load& part = setting->total ? totals : scope.empty() ? general : own;
    part.*(setting->part) = amount;
    out.own |= !scope.empty();
  }
  out.load = overridden(general, own);
  out.load.longest = own.longest;
  add_said_totals(c, totals);
  Load run = out.load;
  if (run.requests == 0) run.requests = load_of_fields(c).requests;
  if (totals.output == 0 && are_of_run(c, run)) totals = run;
  if (totals.output > 0) out.load.requests = run.requests;
  if (out.load.requests <= 0 || totals.output <= 0) return out;
  if (totals.prompt == 0) totals.prompt = totals.output * prompts_to_outputs(c);
  out.load.prompt = std::round(totals.prompt / out.load.requests);
  out.load.output = std::round(totals.output / out.load.requests);
  out.load.means = true;
  return out;
}

}  // namespace vram::accuracy
