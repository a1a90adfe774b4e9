#include "tests/accuracy/load_words.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "engine/text.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

struct Row {
  Topic topic;
  const char* words;  // between blanks
};
// How authors spell a load and what is measured under it.
constexpr Row kVocabulary[] = {
    {Topic::prompt, " in input inputs prompt isl ilen inlen context ctx at position "},
    {Topic::depth, " depth d "},
    {Topic::output, " out output outputs osl olen outlen completion completions new "},
    {Topic::clients,
     " c cc conc concurrency concurrent client clients user users u streams parallel np b bs bsz batch batchsize "
     "inflight "},
    {Topic::requests, " n prompts requests reqs req request "},
    {Topic::rate, " rate r rr "},
    {Topic::requests_a_second, " rps qps "},
    {Topic::slots, " seqs slots "},
    {Topic::micro_batch, " ub ubatch "},
    {Topic::gpus, " gpu gpus device devices card "},
    {Topic::prefill, " pp npp prefill "},
    {Topic::decode, " tg ntg decode decoding gen generation generated generate eval "},
    {Topic::total, " total all overall combined "},
    {Topic::token, " tok toks token tokens t "},
    {Topic::tokens_a_second, " tps tokps toksec ts "},
    {Topic::ttft, " ttft "},
    {Topic::tpot, " tpot itl tbt "},
    {Topic::latency, " latency lat e2e e2el "},
    {Topic::run, " duration "},
    {Topic::second, " s sec secs second seconds "},
    {Topic::millisecond, " ms msec millisecond milliseconds "},
    {Topic::microsecond, " us usec "},
    {Topic::first, " first "},
    {Topic::between, " inter between "},
    {Topic::per, " per a "},
    {Topic::stream, " stream "},
    {Topic::length, " len length lengths size "},
    {Topic::most, " max maximum most "},
    {Topic::median, " median p50 "},
    {Topic::mean, " mean avg average "},
    {Topic::tail, " peak best min worst "},
    {Topic::throughput, " throughput thpt tput "},
    {Topic::unmeasured, " std stdev stddev expected predicted theoretical ideal target estimated claimed roofline "},
    {
        Topic::filler,
        " speed wall agg aggregate system sharegpt random dataset offline online bench serving "
        "steady warm short time to num number of served random stated server serve run before after main pr base "
        "baseline master final default stock original upstream patched "
        "cuda rocm hip vulkan metal sycl ",
    }};

/// A word that takes the number beside it as its own.
bool takes_number(Topic topic) {
  switch (topic) {
    case Topic::prompt:
    case Topic::depth:
    case Topic::output:
    case Topic::clients:
    case Topic::requests:
    case Topic::rate:
    case Topic::requests_a_second:
    case Topic::slots:
    case Topic::micro_batch:
    case Topic::gpus:
    case Topic::prefill:
    case Topic::decode:
      return true;
    default:
      return false;
  }
}

/// The number at `at`, which is moved behind it and behind the "k" of a thousand.
double number_at(const std::string& name, size_t& at) {
  const char* begin = name.c_str() + at;
  size_t end = at;
  while (end < name.size() &&
         (is_digit(name[end]) || (name[end] == '.' && end + 1 < name.size() && is_digit(name[end + 1]))))
    ++end;
  double value = std::strtod(std::string(begin, end - at).c_str(), nullptr);
  const bool thousands = end < name.size() && name[end] == 'k' && (end + 1 >= name.size() || !is_letter(name[end + 1]));
  if (thousands) {
    value = of_thousands(value);
    ++end;
  }
  at = end;
  return value;
}

bool is_percentile(const std::string& name, size_t at) {
  const bool begins = at == 0 || !is_alphanumeric(name[at - 1]);
  return begins && name[at] == 'p' && at + 2 < name.size() && is_digit(name[at + 1]) && is_digit(name[at + 2]) &&
         name.compare(at + 1, 3, "100") != 0;
}

/// Length of a release's number, which has two points: "eval_tok_s_0.6.8".
size_t version_at(const std::string& name, size_t at) {
  size_t end = at;
  while (end < name.size() && (is_digit(name[end]) || name[end] == '.')) ++end;
  const std::string number = name.substr(at, end - at);
  const bool begins = is_digit(name[at]) && (at == 0 || !is_alphanumeric(name[at - 1]));
  return begins && std::count(number.begin(), number.end(), '.') == 2 ? number.size() : 0;
}

/// Words and numbers as they stand; `joined`: the number follows its word directly.
struct Raw {
  NamePiece piece;
  bool touches_last = false;
};

std::vector<Raw> raw_pieces(const std::string& name) {
  std::vector<Raw> out;
  for (size_t at = 0; at < name.size();) {
    if (!is_alphanumeric(name[at])) {
      ++at;
      continue;
    }
    const bool touches = at > 0 && is_alphanumeric(name[at - 1]);
    NamePiece piece;
    if (const size_t version = version_at(name, at); version > 0) {
      at += version;
      continue;
    }
    if (is_digit(name[at])) {
      piece.numbered = true;
      piece.number = number_at(name, at);
    } else if (is_percentile(name, at)) {
      const size_t begin = at++;
      while (at < name.size() && is_digit(name[at])) ++at;
      piece.word = name.substr(begin, at - begin);
    } else {
      const size_t begin = at;
      const bool end_to_end = name.compare(at, 3, "e2e") == 0;
      at += end_to_end ? 3 : 0;
      while (at < name.size() && is_letter(name[at])) ++at;
      piece.word = name.substr(begin, at - begin);
    }
    out.push_back({piece, touches});
  }
  return out;
}

constexpr double kMostGpus = 1000;  // a larger number is a length

bool is_number(const Raw& raw) { return raw.piece.word.empty(); }

constexpr double kLeastLength = 64;

/// "rocm7", "run2": a number that is part of a word of no quantity.
bool is_of_label(const std::vector<Raw>& raw, size_t i) {
  if (i == 0 || !is_number(raw[i]) || !raw[i].touches_last || is_number(raw[i - 1])) return false;
  const Topic topic = topic_of(raw[i - 1].piece.word);
  return (topic == Topic::none || topic == Topic::filler) && raw[i].piece.number < kLeastLength;
}

}  // namespace

Topic topic_of(const std::string& word) {
  const std::string wanted = " " + word + " ";
  for (const Row& row : kVocabulary)
    if (std::string_view(row.words).find(wanted) != std::string_view::npos) return row.topic;
  const bool percentile = word.size() > 2 && word[0] == 'p' && word.find_first_not_of("0123456789", 1) == word.npos;
  return percentile ? Topic::percentile : Topic::none;
}

std::vector<NamePiece> pieces_of(const std::string& name) {
  std::vector<Raw> raw = raw_pieces(lower(name));
  // A word in front of its number first, then one that a number stands directly before.
  for (size_t i = 0; i + 1 < raw.size(); ++i) {
    if (is_number(raw[i]) || !is_number(raw[i + 1]) || !takes_number(topic_of(raw[i].piece.word))) continue;
    const bool divisor = i > 0 && topic_of(raw[i - 1].piece.word) == Topic::per && !raw[i + 1].touches_last;
    if (divisor) continue;  // "per_gpu_1024_8192"
    const bool length = topic_of(raw[i].piece.word) == Topic::gpus && raw[i + 1].piece.number >= kMostGpus;
    if (length) continue;  // "tok_s_gpu_4k_1k"
    const bool own = i + 2 < raw.size() && raw[i + 2].touches_last && !is_number(raw[i + 2]) &&
                     takes_number(topic_of(raw[i + 2].piece.word)) && !raw[i + 1].touches_last;
    if (own) continue;  // "_16users": the next word's
    raw[i].piece.number = raw[i + 1].piece.number;
    raw[i].piece.numbered = true;
    raw.erase(raw.begin() + static_cast<long>(i) + 1);
  }
  for (size_t i = 0; i + 1 < raw.size(); ++i) {
    const Raw& next = raw[i + 1];
    if (!is_number(raw[i]) || is_number(next) || next.piece.numbered || !takes_number(topic_of(next.piece.word)))
      continue;
    raw[i + 1].piece.number = raw[i].piece.number;
    raw[i + 1].piece.numbered = true;
    raw.erase(raw.begin() + static_cast<long>(i));
  }
  std::vector<NamePiece> out;
  for (size_t i = 0; i < raw.size(); ++i)
    if (!is_of_label(raw, i)) out.push_back(raw[i].piece);
  return out;
}

}  // namespace vram::accuracy
