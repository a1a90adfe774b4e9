#include "tests/accuracy/llamacpp_said.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "engine/formats.h"
#include "engine/text.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

bool is_mark(char c) { return c == ' ' || c == '=' || c == ':' || c == '(' || c == '>' || c == '-' || c == '"'; }

/// The word from `at` on, behind marks.
std::string next_word(const std::string& said, size_t& at) {
  while (at < said.size() && is_mark(said[at])) ++at;
  const size_t begin = at;
  while (at < said.size() && is_alphanumeric(said[at])) ++at;
  return said.substr(begin, at - begin);
}

enum class Said : uint8_t { nothing, on, off, automatic };

Said switched_by(const std::string& word) {
  if (is_one_of(word, {"on", "1", "true", "enabled", "yes"})) return Said::on;
  if (is_one_of(word, {"off", "0", "false", "disabled", "no"})) return Said::off;
  return word == "auto" ? Said::automatic : Said::nothing;
}

/// From `at` on; "auto -> disabled" is what the program chose.
Said chosen(const std::string& said, size_t at = 0) {
  const Said first = switched_by(next_word(said, at));
  if (first != Said::automatic) return first;
  const Said next = switched_by(next_word(said, at));
  return next != Said::nothing ? next : first;
}

/// What stands behind the name of the switch.
Said behind(const std::string& said, size_t at) {
  if (const Said word = chosen(said, at); word != Said::nothing) return word;
  const std::string clause = said.substr(at, std::min<size_t>(said.find_first_of(",;.", at) - at, 48));
  if (holds_any(clause, {" off", "disabled", "not used"})) return Said::off;
  return Said::on;
}

bool denied_before(const std::string& said, size_t at) {
  const std::string before = said.substr(at > 12 ? at - 12 : 0, std::min<size_t>(at, 12));
  for (const char* word : {"no ", "no-", "without ", "not "})
    if (before.ends_with(word)) return true;
  return false;
}

}  // namespace

std::optional<bool> flash_said(const std::string& said) {
  bool on = false, off = false;
  for (const char* name : {"flash_attn", "flash-attn", "flash attention", "flashattention", "flash_attention", "-fa"}) {
    const std::string_view word(name);
    for (size_t at = said.find(word); at != std::string::npos; at = said.find(word, at + 1)) {
      const size_t end = at + word.size();
      const bool longer = end < said.size() && (is_alphanumeric(said[end]) || said[end] == '-' || said[end] == '_');
      if (longer || (word == "-fa" && at > 0 && said[at - 1] != ' ')) continue;
      const Said what = denied_before(said, at) ? Said::off : behind(said, end);
      on = on || what == Said::on;
      off = off || what == Said::off;
    }
  }
  return on != off ? std::optional(on) : std::nullopt;
}

double ubatch_said(const std::string& said, double context) {
  if (holds_any(said, {"ubatch = context", "ubatch is the context", "ubatch is capped by the context"}))
    return 32 * ((static_cast<int>(context) + 31) / 32);
  return number_said(said, {"ubatch-size", "ubatch_size", "n_ubatch", "n-ubatch", "ubatch", "-ub"});
}

double slots_said(const std::string& said, bool ollama) {
  const double slots = number_said(said, {"--parallel", "n_parallel", "n_seq_max", "num_parallel", "n_slots", "-np"});
  return slots == 0 && ollama ? number_said(said, {", parallel"}) : slots;
}

double context_said(const std::string& said) {
  for (const char* flag : {"ctx-size", "ctx_size", "-c", "kvsize", "n_ctx", "num_ctx"}) {
    const std::string_view word(flag);
    for (size_t at = said.find(word); at != std::string::npos; at = said.find(word, at + 1)) {
      if (word == "-c" && at > 0 && said[at - 1] != ' ') continue;
      size_t digit = at + word.size();
      while (digit < said.size() && (said[digit] == ' ' || said[digit] == '=' || said[digit] == ':')) ++digit;
      if (digit == at + word.size() || digit >= said.size() || !is_digit(said[digit])) continue;
      char* end = nullptr;
      const double tokens = std::strtod(said.c_str() + digit, &end);
      return *end == 'k' ? 1024 * tokens : tokens;
    }
  }
  return 0;
}

namespace {

std::string cache_type(const std::string& word) {
  const std::string type = format_of(word);
  return find_format(type) == nullptr ? "" : type == "fp16" ? "bf16" : type;
}

}  // namespace

CacheTypes cache_types_said(const std::string& said) {
  const std::vector<std::string> words = split_words(said, "_");
  CacheTypes types;
  const auto take = [&](size_t at, std::string& type) {
    const std::string next = at + 1 < words.size() ? cache_type(words[at + 1]) : "";
    const std::string before = at > 0 ? cache_type(words[at - 1]) : "";
    if (type.empty()) type = next.empty() ? before : next;
  };
  for (size_t i = 0; i < words.size(); ++i) {
    const bool flag = i > 1 && words[i - 1] == "type" && words[i - 2] == "cache";
    if (words[i] == "ctk" || words[i] == "k" || words[i] == "type_k" || (flag && words[i] == "k")) take(i, types.keys);
    if (words[i] == "ctv" || words[i] == "v" || words[i] == "type_v" || (flag && words[i] == "v"))
      take(i, types.values);
  }
  const bool flagged = said.find("ctk") != std::string::npos || said.find("cache-type-k") != std::string::npos;
  if (flagged && types.values.empty()) types.values = "bf16";
  if (types.keys.empty() || types.values.empty()) return {};
  return types;
}

double layers_said(const std::string& said) {
  if (const size_t of = said.find(" of "); of != std::string::npos) {
    size_t at = of + 4, begin = of;
    const bool all = at < said.size() && is_digit(said[at]);
    next_word(said, at);
    while (begin > 0 && is_digit(said[begin - 1])) --begin;
    if (all && begin < of && said.compare(at, 7, " layers") == 0) return std::atof(said.c_str() + begin);
  }
  return number_before(said, " layers").value_or(0);
}

bool runs_on_cpu(const json& c) {
  const std::string gpu = lower(text(c, "gpu"));
  if (const json* gpus = find(c, "n_gpus"); gpus != nullptr && gpus->is_number() && gpus->get<double>() == 0)
    return true;
  return gpu.rfind("cpu", 0) == 0 || gpu.rfind("none", 0) == 0 || holds_any(gpu, {"cpu only", "(cpu)"});
}

std::optional<bool> switched(const json& c, std::initializer_list<const char*> names) {
  for (const char* name : names)
    for (const std::string& path : {"measured." + std::string(name), std::string(name)}) {
      const json* value = find(c, path);
      if (value == nullptr) continue;
      if (value->is_boolean()) return value->get<bool>();
      if (value->is_number()) return value->get<double>() > 0;
      const Said word = chosen(lower(text(c, path)));
      if (word == Said::on || word == Said::off) return word == Said::on;
    }
  return std::nullopt;
}

bool is_ollama(const json& c) { return lower(text(c, "engine")).find("ollama") != std::string::npos; }

}  // namespace vram::accuracy
