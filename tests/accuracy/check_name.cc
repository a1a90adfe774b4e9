#include "tests/accuracy/check_name.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/text.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

/// "cuda0" is a word of letters and a number behind them, -1 where there is none.
std::pair<std::string, int> numbered(const std::string& word) {
  size_t end = word.size();
  while (end > 0 && is_digit(word[end - 1])) --end;
  const bool number = end > 0 && end < word.size() && word.size() - end < 3;
  return {number ? word.substr(0, end) : word, number ? std::atoi(word.c_str() + end) : -1};
}

/// ggml's backends, and what people call them.
Place place_of(const std::string& word) {
  for (const char* gpu : {"gpu", "cuda", "metal", "mtl", "vulkan", "vk", "rocm", "hip", "sycl", "cann", "rpc", "opencl",
                          "musa", "vram", "device", "dev", "card"})
    if (word == gpu) return Place::gpu;
  for (const char* host : {"cpu", "host", "ram", "pinned"})
    if (word == host) return Place::host;
  return Place::unsaid;
}

/// "32k" tokens or "ctx4096".
double tokens_of(const std::string& word) {
  const bool thousands = word.size() > 1 && word.back() == 'k' && is_digit(word[0]);
  if (thousands) return 1024 * std::strtod(word.c_str(), nullptr);
  const bool whole = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  const double count = whole ? std::atof(word.c_str()) : 0;
  if (word.size() >= 4 && whole) return count;
  if (count >= 256 && std::fmod(count, 256) == 0) return count;  // "for_512": cells, as builds round them
  for (const char* lead : {"nctx", "ctx", "c"})
    if (const std::string_view l(lead); word.rfind(l, 0) == 0 && word.size() > l.size() && is_digit(word[l.size()]))
      return std::strtod(word.c_str() + l.size(), nullptr);
  return 0;
}

double slots_of(const std::string& word) {
  if (word.rfind("np", 0) == 0 && word.size() > 2 && is_digit(word[2])) return std::atoi(word.c_str() + 2);
  for (const char* behind : {"slots", "slot", "seqs", "cells"})  // cells of recurrent states are sequences
    if (const size_t at = word.find(behind); at != std::string::npos && at > 0 && is_digit(word[0]))
      return std::atoi(word.c_str());
  return 0;
}

double layers_of(const std::string& word) {
  if (word.rfind("ngl", 0) == 0 && word.size() > 3 && is_digit(word[3])) return std::atoi(word.c_str() + 3);
  const size_t at = word.find("layer");
  return at != std::string::npos && at > 0 && word.find_first_not_of("0123456789") == at ? std::atoi(word.c_str()) : 0;
}

/// "4_layer" is one word, "4layer", and so is "non_repeating".
std::vector<std::string> whole_words(const std::string& name) {
  std::vector<std::string> words;
  for (const std::string& word : split_words(name, ".")) {
    const bool counts = !words.empty() && words.back().find_first_not_of("0123456789") == std::string::npos;
    const bool denied = !words.empty() && words.back() == "non" && word == "repeating";
    if (denied || (counts && (word == "layer" || word == "layers")))
      words.back() += word;
    else
      words.push_back(word);
  }
  return words;
}

bool holds_number(const json& value, double wanted) {
  if (value.is_number()) return std::fabs(value.get<double>() - wanted) <= 1e-9 * wanted;
  if (!value.is_array()) return false;
  double sum = 0;
  for (const json& one : value) sum += one.is_number() ? one.get<double>() : 0;
  return std::fabs(sum - wanted) <= 1e-6 * wanted;
}

}  // namespace

bool CheckName::has_any(std::initializer_list<const char*> words) const {
  return std::any_of(words.begin(), words.end(), [this](const char* word) { return has(word); });
}

CheckName read_name(const std::string& name) {
  CheckName out;
  for (const std::string& word : whole_words(name)) {
    const auto [letters, number] = numbered(word);
    const Place place = place_of(letters);
    if (place == Place::unsaid) {
      const double tokens = tokens_of(word), slots = slots_of(word);
      if (tokens > 0) out.tokens = tokens;
      if (slots > 0) out.slots = slots;
      if (const double layers = layers_of(word); layers > 0) out.layers = layers;
      if (tokens == 0 && slots == 0 && layers_of(word) == 0) out.rest += "_" + word;
    } else if (out.place != Place::host) {  // "cuda_host" is the host's
      out.place = place;
      if (number >= 0) out.device = number;
    }
  }
  if (out.place == Place::gpu && out.device < 0) {
    if (out.has_any({"first", "per", "each", "a"})) out.device = 0;
    if (out.has("last")) out.device = kLastDevice;
  }
  return out;
}

std::string twin_of(const json& c, const json& check) {
  const json* measured = find(c, "measured");
  const double wanted = number(check, "measured");
  if (measured == nullptr || !measured->is_object() || wanted == 0) return "";
  std::string found;
  for (const auto& [name, value] : measured->items()) {
    if (name == text(check, "name") || !holds_number(value, wanted)) continue;
    const Place place = read_name(name).place;
    if (found.empty() || place != Place::unsaid) found = name;
  }
  return found;
}

std::vector<std::string> terms_of(const std::string& explanation) {
  std::vector<std::string> terms;
  const std::string all = lower(explanation);
  for (size_t at = 0; at <= all.size();) {
    const size_t end = std::min(all.find('+', at), all.size());
    const std::string term = all.substr(at, std::min(end, all.find(" without", at)) - at);
    at = end + 1;
    if (holds_any(term, {"kv", "cache"}))
      terms.emplace_back("kv");
    else if (holds_any(term, {"recurrent", "state"}))
      terms.emplace_back("states");
    else if (holds_any(term, {"compute", "scratch", "graph", "activation"}))
      terms.emplace_back("compute");
    else if (holds_any(term, {"head", "output", "embd", "embedding", "weight", "model", "file", "matri", "param"}))
      terms.emplace_back("weights");
    else if (holds_any(term, {"layers"}))
      terms.emplace_back("layers");
  }
  return terms;
}

}  // namespace vram::accuracy
