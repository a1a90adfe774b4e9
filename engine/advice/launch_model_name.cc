#include <algorithm>
#include <utility>

#include "engine/advice/launch_flags.h"
#include "engine/formats.h"
#include "engine/preset_table.h"
#include "engine/text.h"

namespace vram {
namespace {

/// Letters, digits and points, in lower case: "opt-1.3b" is not "opt-13b".
std::string compact(std::string_view text) {
  std::string out;
  for (const char each : text) {
    const char c = lower_case(each);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.') out += c;
  }
  return out;
}

/// The parts of a name between any of `marks`, in lower case.
std::vector<std::string> parts_of(std::string_view name, std::string_view marks) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find_first_of(marks, at), name.size());
    std::string part = lower_case(name.substr(at, end - at));
    if (!part.empty()) parts.push_back(std::move(part));
    at = end + 1;
  }
  return parts;
}

// Words of a checkpoint's name that change no shape.
constexpr std::string_view kManners[] = {"instruct", "chat", "base",  "hf",    "it",   "meta",    "gguf",
                                         "fp8",      "awq",  "gptq",  "bf16",  "int4", "int8",    "w4a16",
                                         "w8a8",     "bnb",  "nvfp4", "mxfp4", "fp4",  "thinking"};

bool is_manner(std::string_view word) {
  if (std::find(std::begin(kManners), std::end(kManners), word) != std::end(kManners)) return true;
  if (word.starts_with("quantized.")) return true;  // "quantized.w8a8"
  const bool dated =
      word.size() == 4 && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  return dated || find_format(word) != nullptr;
}

/// A name without the words that change no shape: "Llama-3.1-8B-Instruct-Q4_K_M" -> "llama3.18b".
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const std::string& word : parts_of(name, "-: ")) {
    if (is_manner(word)) continue;
    for (const std::string& part : parts_of(word, "_")) {
      if (!is_manner(part)) plain += compact(part);
    }
  }
  return plain;
}

/// The Hugging Face id in a preset's source: "huggingface.co/meta-llama/Llama-3.1-70B; ..." .
std::string_view hub_id(std::string_view source) {
  constexpr std::string_view kHub = "huggingface.co/";
  const size_t start = source.find(kHub);
  if (start == std::string_view::npos) return {};
  source.remove_prefix(start + kHub.size());
  source = source.substr(0, source.find_first_of("; ,)\"("));
  const size_t slash = source.find('/');
  if (slash == std::string_view::npos) return {};
  const size_t rest = source.find('/', slash + 1);
  return source.substr(0, rest);
}

/// The member of a preset's file, without parsing it.
std::string_view source_of(const PresetRow& row) {
  constexpr std::string_view kMember = "\"source\": \"";
  const size_t start = row.json.find(kMember);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = row.json.substr(start + kMember.size());
  return rest.substr(0, rest.find('"'));
}

std::string_view last_part(std::string_view path) {
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string exact_match(std::string_view name) {
  const std::string given = compact(name), last = compact(last_part(name));
  for (const PresetRow& row : model_presets()) {
    const std::string_view hub = hub_id(source_of(row));
    if (given == compact(row.id) || last == compact(row.id) || last == compact(row.name)) return std::string(row.id);
    if (!hub.empty() && (given == compact(hub) || last == compact(last_part(hub)))) return std::string(row.id);
  }
  return "";
}

std::string plain_match(std::string_view part) {
  const std::string wanted = plain_name(part);
  if (wanted.size() < 4) return "";
  for (const PresetRow& row : model_presets()) {
    const std::string_view hub = hub_id(source_of(row));
    if (plain_name(row.id) == wanted || (!hub.empty() && plain_name(last_part(hub)) == wanted))
      return std::string(row.id);
  }
  return "";
}

/// A cache's own folders: "models--meta-llama--Llama-3.1-8B/snapshots/0e9e39f2...".
std::string_view cached_name(std::string_view path) {
  constexpr std::string_view kPrefix = "models--";
  const size_t start = path.find(kPrefix);
  if (start == std::string_view::npos) return {};
  path.remove_prefix(start + kPrefix.size());
  path = path.substr(0, path.find('/'));
  const size_t dashes = path.rfind("--");
  return dashes == std::string_view::npos ? path : path.substr(dashes + 2);
}

std::string_view without_suffix(std::string_view name) {
  for (const std::string_view suffix : {".gguf", ".nemo", ".json", ".model"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

/// "Mixtral-8x7B-v0.1.Q4_K_M": without the format behind the last point.
std::string_view without_format(std::string_view name) {
  const size_t point = name.rfind('.');
  if (point == std::string_view::npos) return name;
  return find_format(lower_case(name.substr(point + 1))) != nullptr ? name.substr(0, point) : name;
}

}  // namespace

std::string preset_of_model_name(std::string_view name) {
  if (const std::string_view cached = cached_name(name); !cached.empty()) name = cached;
  name = without_format(without_suffix(name));
  if (std::string found = exact_match(name); !found.empty()) return found;
  // A path: its parts from the last on.
  while (!name.empty()) {
    if (std::string found = plain_match(last_part(name)); !found.empty()) return found;
    const size_t slash = name.find_last_of("/\\");
    name = slash == std::string_view::npos ? std::string_view{} : name.substr(0, slash);
  }
  return "";
}

std::string model_name_of(const Plan& plan) {
  for (const PresetRow& row : model_presets()) {
    if (row.id != plan.model) continue;
    const std::string hub(hub_id(source_of(row)));
    return !hub.empty() && preset_of_model_name(hub) == plan.model ? hub : plan.model;
  }
  return "";
}

std::string gguf_format_in_name(std::string_view name) {
  for (const std::string& word : parts_of(without_suffix(last_part(name)), "-.: ")) {
    const std::string_view rest = std::string_view(word).substr(word[0] == 'i' ? 1 : 0);
    const bool quantised = rest.size() > 2 && rest[0] == 'q' && rest[1] >= '1' && rest[1] <= '8' && rest[2] == '_';
    if (quantised) return word;
  }
  return "";
}

std::string format_in_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"f16", "fp16"}, {"f32", "fp32"}, {"fp4", "nvfp4"}, {"4bit", "nf4"}, {"w4a16", "gptq"}, {"w8a8", "int8"}};
  for (const std::string& word : parts_of(without_suffix(last_part(name)), "-.: ")) {
    if (find_format(word) != nullptr) return word;
    for (const auto& [theirs, ours] : kOthers) {
      if (word == theirs) return std::string(ours);
    }
  }
  return "";
}

}  // namespace vram
