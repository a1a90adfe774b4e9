#include "tests/accuracy/figure_variant.h"

#include <algorithm>
#include <cctype>

#include "engine/formats.h"
#include "engine/text.h"
#include "tests/accuracy/figure_label.h"
#include "tests/accuracy/figure_spans.h"
#include "tests/accuracy/load.h"
#include "tests/accuracy/map_training.h"
#include "tests/accuracy/model_kin.h"
#include "tests/accuracy/model_name.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> out(1);
  for (const char c : lower(name)) {
    if (c == '_' || c == ' ')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

bool is_engine(const std::string& part) {
  return is_one_of(part, {"vllm", "sglang", "trtllm", "trt", "tensorrt", "tgi", "mlc", "exllama", "exllamav2",
                          "llamacpp", "lcpp", "ollama", "lmdeploy", "transformers", "aphrodite", "mlx"});
}

/// Formats by groups, whose name a group's size or the bits of a weight follow.
bool takes_size(const std::string& part) {
  return is_one_of(part, {"gptq", "awq", "int4", "exl2", "exl3", "hqq", "aqlm"});
}

constexpr double kLargestGroup = 1024;  // a larger number behind a format is a card's

/// Parts from `at` on that name a format of weights; 0 where they name none.
size_t format_parts(const std::vector<std::string>& parts, size_t at) {
  for (size_t count = std::min<size_t>(3, parts.size() - at); count > 0; --count)
    if (find_format(joined(parts, at, count))) return count;
  const std::string& part = parts[at];
  const bool named = takes_size(part) || is_one_of(part, {"bfloat16", "float16", "f16", "half", "fp4", "w4a16", "w8a8",
                                                          "w8a16", "w4a8", "4bit", "8bit", "bnb"});
  return named ? 1 : 0;
}

bool is_model(const std::string& part) {
  return part.size() > 5 && part.find('-') != std::string::npos && !preset_within(part).empty();
}

/// Without the words that name a format: "Qwen3-8B (FP8 static)".
std::string without_format(const std::string& model) {
  std::string out, word;
  const auto end = [&](char mark) {
    if (format_of(word).empty()) out += word;
    if (mark != 0) out += mark;
    word.clear();
  };
  for (const char c : model) {
    if (c == ' ' || c == '-' || c == '(' || c == ')')
      end(c);
    else
      word += c;
  }
  end(0);
  while (!out.empty() && (out.back() == ' ' || out.back() == '-')) out.pop_back();
  return out;
}

/// "Llama-2-7B" at another size.
std::string of_size(const std::string& model, const std::string& size) {
  const std::string said = lower(model);
  for (size_t at = 0; at < said.size(); ++at) {
    const bool begins = is_digit(said[at]) && (at == 0 || !is_alphanumeric(said[at - 1]));
    size_t end = at;
    while (begins && end < said.size() && (is_digit(said[end]) || said[end] == '.')) ++end;
    const bool ends = end > at && end < said.size() && said[end] == 'b' &&
                      (end + 1 == said.size() || !is_alphanumeric(said[end + 1]));
    if (ends) return model.substr(0, at) + size + model.substr(end + 1);
  }
  return model + " " + size;
}

/// "tp8", "ep8", "8gpu": how the model lies on GPUs.
bool take_layout(const std::string& part, json& c) {
  for (const char* ranks : {"tp", "ep", "dp"}) {
    if (part.size() <= 2 || part.compare(0, 2, ranks) != 0 || !is_numeric(part.substr(2))) continue;
    c[ranks] = first_number(part).value_or(1);
    const bool split = std::string_view(ranks) == "tp";
    c["n_gpus"] =
        split ? number(c, "tp") * std::max(1.0, number(c, "pp")) : std::max(number(c, "n_gpus"), number(c, ranks));
    return true;
  }
  const size_t gpus = part.find("gpu");
  const bool counted = gpus != std::string::npos && gpus > 0 && is_numeric(part.substr(0, gpus));
  if (!counted) return false;
  c["n_gpus"] = first_number(part).value_or(1);
  if (lower(text(c, "engine")).find("llama") == std::string::npos) c["tp"] = c["n_gpus"];
  return true;
}

/// "mtp3" drafts three tokens, "no_mtp" none.
size_t take_drafts(const std::vector<std::string>& parts, size_t at, json& c) {
  const bool none = parts[at] == "no" && at + 1 < parts.size() && parts[at + 1] == "mtp";
  if (none) c["no_drafts"] = true;
  if (none) return 2;
  const std::string& part = parts[at];
  if (part.size() <= 3 || part.compare(0, 3, "mtp") != 0 || !is_numeric(part.substr(3))) return 0;
  c["num_speculative_tokens"] = first_number(part).value_or(1);
  c["drafts"] = part;
  return 1;
}

/// The case's own field that a part of the name says, if it says one; how many parts do.
size_t take(const std::vector<std::string>& parts, size_t at, json& c) {
  const std::string& part = parts[at];
  if (const size_t count = format_parts(parts, at); count > 0) {
    const bool sized = takes_size(part) && at + count < parts.size() && is_numeric(parts[at + count]) &&
                       first_number(parts[at + count]).value_or(0) <= kLargestGroup;
    c["weight_dtype"] = joined(parts, at, count);
    c["model"] = without_format(text(c, "model"));
    return count + (sized ? 1 : 0);
  }
  if (const size_t drafts = take_drafts(parts, at, c); drafts > 0) return drafts;
  if (const size_t card = take_card(parts, at, c); card > 0) return card;
  if (const size_t model = take_model(parts, at, c); model > 0) return model;
  if (is_engine(part)) {
    c["engine"] = part;
    c.erase("engine_version");
  } else if (part == "fa" && lower(text(c, "engine")).find("llama") != std::string::npos) {
    c["flash_attn"] = true;
  } else if (part == "eager" && lower(text(c, "engine")).find("vllm") != std::string::npos) {
    c["enforce_eager"] = true;
  } else if (is_one_of(part, {"q4", "q5", "q8"})) {
    c["weight_dtype"] = part + "_0";
  } else if (is_size(part)) {
    c["model"] = of_size(text(c, "model"), part);
  } else if (take_layout(part, c)) {
    return 1;
  } else if (is_model(part)) {
    c["model"] = part;
  } else {
    return 0;
  }
  return 1;
}

/// What of the measured numbers is no speed: limits that a log states, the variant's under names without its words.
json without_speeds(const json& measured, const std::vector<std::string>& words) {
  json out = json::object();
  for (const auto& [name, value] : measured.items())
    if (!read_figure_name(name).is_speed) out[name] = value;
  for (const auto& [name, value] : measured.items()) {
    std::vector<std::string> parts = parts_of(name);
    const auto own = [&](const std::string& part) { return std::count(words.begin(), words.end(), part) > 0; };
    const auto kept = std::remove_if(parts.begin(), parts.end(), own);
    if (kept == parts.end() || kept == parts.begin()) continue;
    parts.erase(kept, parts.end());
    const std::string rest = joined(parts, 0, parts.size());
    if (!read_figure_name(rest).is_speed) out[rest] = value;
  }
  return out;
}

/// A row of a table, which says more than a figure's name does: "llama-3-70b TP2 H100", "BS64 TP1 2048/128".
bool is_row(const std::string& name) {
  if (name.find(' ') == std::string::npos) return false;
  return name.find(" TP") != std::string::npos || name.find('/') != std::string::npos;
}

/// Of the checks what says that the figure is wrong.
json traps_of(const json& c, const std::string& name, const std::string& rest) {
  json out = json::array();
  const json* checks = find(c, "checks");
  for (const json& check : checks && checks->is_array() ? *checks : json::array()) {
    if (text(check, "name") != name || text(check, "kind") != "trap") continue;
    out.push_back(check);
    out.back()["name"] = rest;
  }
  return out;
}

bool has_other_weights(const json& c, const std::string& name) {
  const json* checks = find(c, "checks");
  if (checks == nullptr || !checks->is_array()) return false;
  return std::any_of(checks->begin(), checks->end(), [&](const json& check) {
    const std::string other = text(check, "name");
    return other != name && other.rfind("weights", 0) == 0;
  });
}

constexpr size_t kModelWords = 5;  // "qwen3_vl_30b_a3b"

/// "kv_needed_qwen3_vl_4b", "weights_qwen25_15b": a check of another model than the case's.
std::optional<FigureVariant> other_model(const json& c, const std::string& name) {
  const std::vector<std::string> parts = parts_of(name);
  const std::string own = text(c, "model");
  for (size_t count = std::min(kModelWords, parts.size()); count > 1; --count)
    for (size_t at = 1; at + count <= parts.size(); ++at) {
      std::string said = joined(parts, at, count);
      std::replace(said.begin(), said.end(), '_', '-');
      const std::string model = spelled(said);
      if (model.empty() || compact(own).find(compact(model)) != std::string::npos) continue;
      FigureVariant variant{joined(parts, 0, at), c};
      if (at + count < parts.size()) variant.name += "_" + joined(parts, at + count, parts.size() - at - count);
      variant.of_figure["model"] = model;
      return variant;
    }
  return std::nullopt;
}

}  // namespace

std::optional<FigureVariant> check_variant(const json& c, const json& check) {
  const std::string name = text(check, "name");
  if (auto other = other_model(c, name)) return other;
  if (name.rfind("weights_", 0) != 0 || !has_other_weights(c, name)) return std::nullopt;
  FigureVariant variant{"weights", c};
  const std::vector<std::string> parts = parts_of(name);
  bool other = false;
  for (size_t at = 1; at < parts.size();) {
    const bool size = is_size(parts[at]), format = format_parts(parts, at) > 0;
    const size_t taken = size || format ? take(parts, at, variant.of_figure) : 0;
    if (taken == 0) variant.name += "_" + parts[at];
    other = other || taken > 0;
    at += std::max<size_t>(1, taken);
  }
  return other ? std::optional(variant) : std::nullopt;
}

std::vector<FigureVariant> figure_variants(const json& c) {
  std::vector<FigureVariant> out;
  const json* measured = find(c, "measured");
  if (!measured || !measured->is_object()) return out;
  const json siblings = siblings_of(c);
  for (const auto& [name, value] : measured->items()) {
    if (!value.is_number() || is_row(name)) continue;
    FigureVariant variant{name, c};
    variant.of_figure["siblings"] = siblings;
    variant.of_figure["figure_name"] = name;
    std::string rest;
    std::vector<std::string> words;
    const std::vector<std::string> parts = parts_of(name);
    for (size_t at = 0; at < parts.size();) {
      const size_t taken = take(parts, at, variant.of_figure);
      if (taken == 0) rest += (rest.empty() ? "" : "_") + parts[at];
      words.insert(words.end(), parts.begin() + long(at), parts.begin() + long(at + taken));
      at += std::max<size_t>(1, taken);
    }
    if (rest.size() == name.size() || !read_figure_name(rest).is_speed) continue;
    variant.of_figure["measured"] = without_speeds(*measured, words);
    variant.of_figure["measured"][rest] = value;
    variant.of_figure["checks"] = traps_of(c, name, rest);
    out.push_back(std::move(variant));
  }
  return out;
}

}  // namespace vram::accuracy
