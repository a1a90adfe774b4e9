#include "tests/accuracy/load_prose.h"

#include <algorithm>
#include <cmath>

#include "tests/accuracy/load_beside.h"
#include "tests/accuracy/load_words.h"
#include "tests/accuracy/prose.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

using Kind = ProsePiece::Kind;

/// A part of the load, and what its lengths are.
struct Said {
  Load load;
  bool each = false;  // means of one request, not totals nor what was asked for
};

/// Where a sentence counts: for figures of some name, of some number of clients.
struct Scope {
  bool named = false, counted = false;
  bool applies = true;
};

/// Pieces between two commas.
class Clause {
 public:
  explicit Clause(Prose pieces) : pieces_(std::move(pieces)) {}
  size_t size() const { return pieces_.size(); }
  const ProsePiece& at(size_t i) const {
    static const ProsePiece none;
    return i < pieces_.size() ? pieces_[i] : none;
  }
  bool number(size_t i) const { return at(i).is_number(); }
  bool whole(size_t i) const { return number(i) && at(i).number >= 1 && std::floor(at(i).number) == at(i).number; }
  Topic topic(size_t i) const { return at(i).kind == Kind::word ? topic_of(at(i).text) : Topic::none; }
  bool token(size_t i) const { return topic(i) == Topic::token; }
  bool says(size_t from, std::initializer_list<const char*> words) const {
    for (const char* word : words)
      if (!at(from++).is(word)) return false;
    return true;
  }
  bool has(const char* word) const {
    for (const ProsePiece& piece : pieces_)
      if (piece.is(word)) return true;
    return false;
  }

 private:
  Prose pieces_;
};

bool is_request(const ProsePiece& piece) {
  for (const char* word : {"requests", "request", "prompts", "conversations", "samples", "queries", "reqs", "req"})
    if (piece.is(word)) return true;
  return false;
}

/// "in" is a direction where nothing is in something.
bool is_prompt(const Clause& clause, size_t i) {
  for (const char* other : {"context", "ctx", "d", "depth", "at", "position"})  // of a server, or of a name alone
    if (clause.at(i).is(other)) return false;
  if (!clause.at(i).is("in")) return clause.topic(i) == Topic::prompt || clause.at(i).is("prompts");
  const ProsePiece& next = clause.at(i + 1);
  return next.text.empty() || next.kind == Kind::mark || next.is("and") || next.is("each") || next.is("by");
}

bool is_output(const Clause& clause, size_t i) {
  const bool said = clause.topic(i) == Topic::output && !clause.at(i).is("new");
  return said || clause.at(i).is("generated") || (clause.at(i).is("new") && clause.token(i + 1));
}

/// "2048 tokens in", "512 out", "1000 input tokens", "256-token prompts"; "160 prompts" are so many requests.
void read_length(const Clause& clause, size_t i, Load& load) {
  const size_t next = i + (clause.token(i + 1) ? 2 : 1);
  const bool counted = next == i + 1 && clause.at(next).is("prompts");
  if (is_prompt(clause, next) && !counted) load.prompt = clause.at(i).number;
  if (is_output(clause, next)) load.output = clause.at(i).number;
}

bool is_pair(const Clause& clause, size_t i) {
  return clause.whole(i) && clause.at(i + 1).is("/") && clause.whole(i + 2);
}

/// Where the number of the word at `i` stands: "length of 128", "size = 8".
size_t behind_word(const Clause& clause, size_t i) {
  size_t at = i + 1;
  while (clause.topic(at) == Topic::length || clause.says(at, {"of"}) || clause.says(at, {"="}) ||
         clause.says(at, {":"}))
    ++at;
  return at;
}

/// "ISL 2048", "output length of 128", "prompts of 300 tokens".
void read_length_behind(const Clause& clause, size_t i, Load& load) {
  const bool of_prompt = !clause.at(i).is("in") && is_prompt(clause, i);
  if (!of_prompt && (clause.at(i).is("out") || !is_output(clause, i))) return;
  const size_t at = behind_word(clause, i);
  if (!clause.whole(at) || is_pair(clause, at)) return;
  const bool other = is_prompt(clause, at + 1) || is_output(clause, at + 1) || is_request(clause.at(at + 1));
  if (!other) (of_prompt ? load.prompt : load.output) = clause.at(at).number;
}

/// "223 / 206 each", "lengths 1024/512": a pair without its words needs one that says what it is.
bool is_pair_of_lengths(const Clause& clause, size_t i) {
  if (!is_pair(clause, i)) return false;
  const size_t behind = i + 3;
  if (clause.says(behind, {"each"}) || clause.token(behind)) return true;
  for (const char* word : {"of", "and", "lengths", "means", "mean", "osl", "out", "output", "random", "exactly"})
    if (i > 0 && clause.at(i - 1).is(word)) return true;
  return false;
}

/// How many requests, and whether they come at one moment.
void read_requests(const Clause& clause, size_t i, Load& load) {
  size_t at = i + 1;
  while (at < i + 4 && clause.at(at).kind == Kind::word && !is_request(clause.at(at)) && !clause.token(at) &&
         !clause.at(at).is("in") && !clause.at(at).is("out") && !clause.at(at).is("of") && !clause.at(at).is("at"))
    ++at;
  if (!is_request(clause.at(at))) return;
  const bool concurrent = clause.topic(i + 1) == Topic::clients;
  const bool paced = clause.topic(at + 1) == Topic::per || clause.at(at + 1).is("/");
  if (paced && clause.topic(at + 2) == Topic::second)
    load.rate = clause.at(i).number;
  else if (concurrent)
    load.clients = clause.at(i).number;
  else if (clause.at(i).number > 1 && !paced)
    load.requests = clause.at(i).number;
}

bool are_at_once(const Clause& clause, size_t i) {
  return clause.says(i, {"at", "once"}) || clause.says(i, {"at", "the", "same", "time"}) ||
         clause.says(i, {"together"});
}

/// "64 at once", "16 clients", "one stream".
void read_clients(const Clause& clause, size_t i, Load& load) {
  const size_t next = i + 1;
  const bool alone = clause.at(i).number == 1;
  const bool of_one = clause.at(next).is("stream") || clause.at(next).is("slot") || is_request(clause.at(next));
  const bool flight = clause.says(next, {"in", "flight"}) || clause.says(next, {"at", "a", "time"});
  // "steps of one stream at the end" is not the load.
  const bool only = i == 0 && (clause.size() == 2 || clause.says(2, {"at", "a", "time"}));
  if (alone && of_one && only) load.clients = 1;
  const bool counted = clause.topic(next) == Topic::clients && !is_request(clause.at(i + 2)) &&
                       clause.at(next).text.size() > 3 && clause.at(next).text.rfind("batch", 0) != 0;
  if (!alone && (are_at_once(clause, next) || flight || counted)) load.clients = clause.at(i).number;
  if (clause.at(next).is("running")) load.slots = clause.at(i).number;
}

/// "concurrency 64", "batch of 8".
void read_clients_behind(const Clause& clause, size_t i, Load& load) {
  const ProsePiece& word = clause.at(i);
  const bool batch = word.is("batch") || word.is("bs");
  if (!batch && !word.is("concurrency") && !word.is("conc")) return;
  const size_t at = behind_word(clause, i);
  if (!clause.whole(at)) return;
  const bool most = batch && i > 0 && (clause.at(i - 1).is("max") || clause.at(i - 1).is("maximum"));
  (most ? load.slots : load.clients) = clause.at(at).number;
  if (!most) load.batched = batch;
}

/// "request rate 8", "QPS = 4", "request rate inf".
void read_rate_behind(const Clause& clause, size_t i, Load& load) {
  if (clause.topic(i) != Topic::rate && clause.topic(i) != Topic::requests_a_second) return;
  if (clause.at(i).text.size() < 3) return;
  const size_t at = behind_word(clause, i);
  if (clause.number(at)) load.rate = clause.at(at).number;
  if (clause.at(at).text.rfind("inf", 0) == 0) load.rate = HUGE_VAL;
}

/// "--max-num-seqs 64"
void read_flag(const Clause& clause, size_t i, Load& load) {
  const std::string name = compact(clause.at(i).text);
  const size_t at = i + (clause.at(i + 1).is("=") ? 2 : 1);
  for (const char* known : {"maxnumseqs", "maxrunningrequests", "maxbatchsize"})
    if (name == known && clause.whole(at)) load.slots = clause.at(at).number;
}

class Reader {
 public:
  Reader(std::string figure, const Load& stated) : figure_(std::move(figure)), stated_(stated) {}

  void read(const std::string& text) {
    Prose pieces;
    for (const ProsePiece& piece : prose_of(text)) {
      const bool ends = piece.kind == Kind::mark && std::string(",;()").find(piece.text) != std::string::npos;
      if (!ends) {
        pieces.push_back(piece);
        continue;
      }
      read_clause(Clause(std::move(pieces)));
      pieces.clear();
      leave(piece.text[0]);
    }
    read_clause(Clause(std::move(pieces)));
    named_ = counted_ = Scope{};
    depth_ = 0;
  }

  ProseLoad loads(bool data_set) const {
    return {finished(general_, data_set), finished(of_clients_, data_set), finished(of_name_, data_set)};
  }

 private:
  std::string figure_;
  Load stated_;
  Said general_, of_clients_, of_name_;
  Scope named_, counted_;
  int depth_ = 0;

  void leave(char mark) {
    if (mark == '(') ++depth_;
    if (mark == ')') --depth_;
    if (mark == ';' || mark == ')') counted_ = Scope{};
    if (mark == ';' && depth_ <= 0) named_ = Scope{};
  }

  /// Totals over the requests of the part, or of the whole.
  Load finished(const Said& said, bool data_set) const {
    Load load = said.load;
    load.means = said.each;
    const double requests = load.requests > 0 ? load.requests : general_.load.requests;
    if (said.each || requests <= 1 || load.prompt <= 0) return load;
    const bool total =
        std::max(load.prompt, load.output) > kLongestRequest || (data_set && load.prompt >= 16 * requests);
    if (!total) return load;
    load.prompt = std::round(load.prompt / requests);
    load.output = std::round(load.output / requests);
    load.means = true;
    return load;
  }

  bool matches(const std::string& name) const {
    std::string part;
    for (const char c : name)
      if (c != '*') part += c;
    return figure_.find(part) != std::string::npos;
  }

  bool is_count(const Clause& clause, size_t i) const {
    const bool apart = !clause.at(i).touches_last && !clause.at(i + 2).touches_last;
    return apart && clause.topic(i) == Topic::clients && clause.at(i).text.size() <= 4 && clause.whole(i + 1) &&
           clause.at(i + 1).touches_last;
  }

  /// What a clause is about stands before it, or at its end: "500 / 504 each at c100".
  void read_clause(const Clause& clause) {
    const Scope outer = counted_;
    bool trailing = false, skipped = false;
    size_t statement = 0;
    for (size_t i = 0; i < clause.size(); ++i) {
      if (is_count(clause, i)) {
        trailing = i + 2 == clause.size() && i > 1;
        counted_ = {false, true, stated_.clients == clause.at(i + 1).number};
        if (!trailing) statement = i + 2;
      } else if (clause.at(i).kind == Kind::name) {
        const bool key = clause.at(i).text.find('*') != std::string::npos || clause.at(i + 1).is(":");
        if (key) named_ = {true, false, matches(clause.at(i).text)};
        const bool program = clause.at(i).text.rfind("bench", 0) == 0;  // "benchmark_serving random 2048 in"
        if (!key && !program) skipped = true;
        if (!key && named_.applies) read_flag(clause, i, general_.load);
        statement = i + 1;
      }
    }
    if (named_.applies && counted_.applies && !skipped) read_statements(clause, statement);
    if (trailing) counted_ = outer;
  }

  Said& part() { return named_.named ? of_name_ : counted_.counted ? of_clients_ : general_; }

  void read_statements(const Clause& clause, size_t from) {
    Said& said = part();
    Load& load = said.load;
    if (counted_.counted && from + 1 == clause.size() && clause.whole(from)) load.requests = clause.at(from).number;
    for (size_t i = from; i < clause.size(); ++i) {
      read_length_behind(clause, i, load);
      read_clients_behind(clause, i, load);
      read_rate_behind(clause, i, load);
      const bool most = clause.at(i).is("max") || clause.at(i).is("maximum") || clause.at(i).is("full");
      if (most && clause.at(i + 1).is("load")) load.saturated = true;
      if (are_at_once(clause, i) && (i == 0 || !clause.number(i - 1))) load.rate = HUGE_VAL;
      if (!clause.whole(i) || (i > 0 && (clause.at(i - 1).is("=") || clause.at(i - 1).is("+")))) continue;
      read_length(clause, i, load);
      read_requests(clause, i, load);
      read_clients(clause, i, load);
      if (is_pair_of_lengths(clause, i)) read_pair(clause, i, said);
    }
    if (clause.has("each") || clause.has("means")) said.each = true;
  }

  /// "3000 of 1024/1024" counts for figures of those lengths.
  void read_pair(const Clause& clause, size_t i, Said& said) {
    const double prompt = clause.at(i).number, output = clause.at(i + 2).number;
    const bool other = stated_.prompt > 0 && (stated_.prompt != prompt || stated_.output != output);
    const bool row = i > 1 && (clause.at(i - 1).is("of") || clause.at(i - 1).is("and"));
    if (row && (other || (stated_.prompt == 0 && said.load.prompt > 0))) return;
    said.load.prompt = prompt;
    said.load.output = output;
    for (size_t at = i; row && at > 1; --at)
      if (clause.at(at - 1).is("of") && clause.whole(at - 2)) said.load.requests = clause.at(at - 2).number;
  }
};

/// sglang's bench_serving draws lengths between this share of what it is told and all of it (its
/// sample_random_requests); 1 where nothing is said.
double range_ratio(const json& c, const std::string& said) {
  const std::string words = "range ratio ";
  const size_t at = said.find(words);
  if (lower(text(c, "engine")).find("sglang") == std::string::npos) return 1;
  if (said_in_sections(c).find("caps of") != std::string::npos) return 0;  // "caps of 1024, random"
  if (at == std::string::npos) return 1;
  return first_number(said.substr(at + words.size(), 4)).value_or(1);
}

/// llama-bench's "pp512" and "tg128", of which requests that a server was sent say nothing.
bool is_bench_test(const Load& named) { return named.prompt == 1 || named.output == 1; }

/// Everything that the case says in words, but what its parts are.
std::string sentences_of(const json& c) {
  std::string said;
  for (const auto& [field, value] : c.items()) {
    const std::string of_part = " id engine engine_version gpu source weight_dtype kv_dtype flags figure_name drafts ";
    const bool part = of_part.find(" " + field + " ") != std::string::npos;
    if (value.is_string() && !part) said += value.get<std::string>() + "; ";
  }
  return said;
}

/// Options of the engines' own benchmarks (vllm bench, sglang.bench_serving, benchmark_latency.py, trtllm-bench).
struct Option {
  const char* name;
  double Load::*part;
};
constexpr Option kOptions[] = {
    {"--random-input-len", &Load::prompt},  {"--random-input", &Load::prompt},     {"--input-len", &Load::prompt},
    {"--random-output-len", &Load::output}, {"--random-output", &Load::output},    {"--output-len", &Load::output},
    {"--num-prompts", &Load::requests},     {"--num-prompt", &Load::requests},     {"--num-requests", &Load::requests},
    {"--num_requests", &Load::requests},    {"--max-concurrency", &Load::clients}, {"--concurrency", &Load::clients},
    {"--request-rate", &Load::rate}};

Load load_of_options(const json& c) {
  Load load;
  const std::string said = said_in(c, {"flags", "command", "args", "client", "notes", "dataset"});
  for (const Option& row : kOptions)
    if (load.*row.part == 0)
      load.*row.part =
          number_said(said, {(std::string(row.name) + " ").c_str(), (std::string(row.name) + "=").c_str()});
  return load;
}

}  // namespace

ProseLoad load_of_prose(const json& c, const std::string& figure, const Load& stated) {
  Reader reader(lower(figure), stated);
  reader.read(sentences_of(c));
  return reader.loads(lower(sentences_of(c)).find("sharegpt") != std::string::npos);
}

Load load_of_figure(const json& c, const std::string& figure, const Load& named) {
  Load fields = of_one_request(c, load_of_fields(c));
  fields.means = true;
  LoadBeside beside = load_beside(c, figure);
  if (!beside.own || beside.load.means) beside.load.longest = fields.longest;
  const double longest = beside.load.prompt > 0 ? beside.load.longest : fields.longest;
  fields = overridden(fields, beside.load);
  fields.longest = longest;
  // Where runs have their own settings, sentences are about all of them.
  const bool apart = beside.own && beside.load.requests > 0;
  ProseLoad said = apart ? ProseLoad{} : load_of_prose(c, figure, overridden(fields, named));
  if (is_bench_test(named) && said.general.requests > 0) said = ProseLoad{};
  said.general.longest = said.of_clients.longest = fields.longest;
  Load load = overridden(overridden(load_of_options(c), said.general), fields);
  load = overridden(overridden(overridden(load, said.of_clients), named), said.of_name);
  if (fields.batched && named.clients == 0 && load.requests > fields.clients && fields.clients > 0) {
    load.slots = fields.clients;  // more requests than a batch: what the server takes at most
    load.clients = said.general.clients;
    load.batched = false;
    if (load.clients == 0 && load.rate == 0) load.rate = HUGE_VAL;
  }
  if (const double ratio = range_ratio(c, lower(sentences_of(c))); ratio < 1) {
    const double mean = load.means && ratio > 0 ? 1 : (1 + ratio) / 2;
    load.prompt = std::round(load.prompt * mean);
    load.output = std::round(load.output * mean);
    load.longest = 2 / (1 + ratio);
  }
  const Load rated = rated_lengths(c, figure);
  if (load.output == 0) load.output = rated.output;
  if (load.prompt == 0) load.prompt = rated.prompt;
  return load;
}

}  // namespace vram::accuracy
