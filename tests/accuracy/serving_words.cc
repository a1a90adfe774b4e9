#include "tests/accuracy/serving_words.h"

#include "engine/formats.h"
#include "engine/text.h"
#include "engine/units.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

struct Word {
  const char* word;
  const char* format;
};
// Those that are part of others stand behind them.
constexpr Word kFormats[] = {{"q4f16", "q4f16_1"},
                             {"nvfp4", "nvfp4"},
                             {"mxfp4", "mxfp4"},
                             {"mxfp8", "mxfp8"},
                             {"fp4", "nvfp4"},
                             {"gptq int8", "int8"},
                             {"gptq 8", "int8"},
                             {"gptq w8", "int8"},
                             {"gptq", "gptq"},
                             {"awq", "awq"},
                             {"bnb int8", "int8"},
                             {"bnb 8", "int8"},
                             {"bitsandbytes 8", "int8"},
                             {"nf4", "nf4"},
                             {"bnb", "nf4"},
                             {"bitsandbytes", "nf4"},
                             {"w4a16", "gptq"},
                             {"autoround", "gptq"},
                             {"auto round", "gptq"},
                             {"int4", "int4"},
                             {"fp8", "fp8"},
                             {"e4m3", "fp8"},
                             {"e5m2", "fp8"},
                             {"int8", "int8"},
                             {"w8a8", "int8"},
                             {"w8a16", "int8"},
                             {"bfloat16", "bf16"},
                             {"bf16", "bf16"},
                             {"float16", "fp16"},
                             {"fp16", "fp16"},
                             {"f16", "fp16"},
                             {"half", "fp16"},
                             {"fp32", "fp32"},
                             {"float32", "fp32"},
                             {"f32", "fp32"},
                             {"4 bit", "int4"},
                             {"4bit", "int4"},
                             {"8 bit", "int8"},
                             {"8bit", "int8"}};

/// llama.cpp's names of file types without their last letter are aliases of the medium mixture (tools/quantize).
struct Short {
  const char* type;
  const char* format;
};
constexpr Short kShort[] = {{"q2_k", "q2_k"}, {"q3_k", "q3_k_m"}, {"q4_k", "q4_k_m"}, {"q5_k", "q5_k_m"}};

/// Rows of several in one, which are as large: ik_llama.cpp's "iq4_xs_r8", "q4_0_4_8" of llama.cpp for ARM. Below four
/// bits such names are of recipes, tensor by tensor.
std::string without_interleaving(const std::string& type) {
  const size_t digit = type.find_first_of("0123456789");
  if (digit == std::string::npos || type[digit] < '4') return type;
  const size_t mark = type.rfind("_r");
  const bool rows = mark != std::string::npos && mark + 3 == type.size() && is_digit(type.back());
  if (rows) return type.substr(0, mark);
  for (const char* kind : {"_4_4", "_4_8", "_8_8"})
    if (type.ends_with(kind)) return type.substr(0, type.size() - 4);
  return type;
}

/// "Q4_K - Medium", as llama.cpp prints a file's type.
std::string sized(const std::string& given, const std::string& rest) {
  const std::string type = without_interleaving(given);
  for (const auto& [word, letter] : {std::pair{" - small", "_s"}, {" - medium", "_m"}, {" - large", "_l"}})
    if (rest.rfind(word, 0) == 0 && find_format(type + letter)) return type + letter;
  if (find_format(type)) return type;
  for (const Short& row : kShort)
    if (type == row.type) return row.format;
  return "?";
}

/// Small letters, one blank for every mark.
std::string spaced(const std::string& given) {
  std::string out;
  for (const char c : lower(given)) {
    if (is_alphanumeric(c))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return out;
}

}  // namespace

std::string gguf_type(const std::string& given) {
  const std::string all = lower(given);
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    const bool begins = i == 0 || !is_alphanumeric(all[i - 1]);
    const bool quantised = all[i] == 'q' || ((all[i] == 'i' || all[i] == 't') && all[i + 1] == 'q');
    const size_t digit = all[i] == 'q' ? i + 1 : i + 2;
    if (!begins || !quantised || digit >= all.size() || !is_digit(all[digit])) continue;
    size_t end = digit;
    while (end < all.size() && (is_alphanumeric(all[end]) || all[end] == '_')) ++end;
    const std::string type = all.substr(i, end - i);
    if (type.find('_') == std::string::npos) continue;  // "Qwen" sizes are no types
    return sized(type, all.substr(end));
  }
  return "";
}

std::string format_of(const std::string& given) {
  const std::string all = spaced(given);
  const bool of_mlc = all.find("q4f16") != std::string::npos;  // no GGUF type
  if (const std::string type = gguf_type(given); !type.empty() && !of_mlc) return type;
  for (const Word& row : kFormats)
    if (all.find(row.word) != std::string::npos) return row.format;
  return "";
}

namespace {

/// Digits, letters, points and hyphens from `at` on.
std::string version_word(const std::string& all, size_t at) {
  size_t end = at;
  while (end < all.size() && (is_alphanumeric(all[end]) || all[end] == '.' || all[end] == '-' || all[end] == '+'))
    ++end;
  return all.substr(at, end - at);
}

// No release of vllm, sglang or trtllm has a larger first number: "RHOAI 3.4", "CUDA 12.8" are other products'.
constexpr double kLargestMajor = 1;

bool is_digits(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

/// llama.cpp's builds are numbers ("b6209", "build 3732"), its packages' versions have points: then the month counts,
/// else the middle of the year.
std::string llamacpp_version(const std::string& all) {
  std::string month, year;
  for (size_t at = 0; at < all.size(); ++at) {
    const bool begins = is_digit(all[at]) && (at == 0 || (!is_digit(all[at - 1]) && all[at - 1] != '.'));
    if (!begins) continue;
    const std::string word = version_word(all, at);
    const bool said = at > 0 && (all[at - 1] == 'b' || (at >= 6 && all.compare(at - 6, 6, "build ") == 0));
    const bool calendar = word.size() >= 4 && word.compare(0, 2, "20") == 0 && word >= "2022" && word < "2040";
    if (is_digits(word) && word.size() >= 3 && (said || !calendar)) return "b" + word;
    if (calendar && word.size() >= 7 && word[4] == '-' && month.empty()) month = word;
    if (calendar && word.size() == 4 && year.empty()) year = word;
    at += word.size() - 1;
  }
  return month.empty() && !year.empty() ? year + "-06" : month;
}

}  // namespace

std::string version_of(const std::string& given, bool llamacpp) {
  const std::string all = lower(given);
  if (llamacpp) return llamacpp_version(all);
  size_t at = 0;
  while (at < all.size() && !is_digit(all[at])) ++at;
  std::string number = version_word(all, at);
  const bool other = number.find('.') != std::string::npos && std::strtod(number.c_str(), nullptr) >= kLargestMajor + 1;
  if (other) return version_of(given.substr(at + number.size()), false);
  const size_t end = at + number.size();
  if (at > 0 && all[at - 1] == 'v' && number.find('.') == std::string::npos) {  // "V0 0.8.5": the engine comes first
    const std::string behind = version_of(given.substr(end), false);
    return behind + (number == "0" && !behind.empty() ? "V0" : "");
  }
  const size_t point = number.find('.'), any = number.find('x');
  if (point == std::string::npos || point > 2 || (any != std::string::npos && number[any - 1] != '.')) return "";
  number = number.substr(0, number.find_first_of("x+"));
  if (number.back() == '.') number.pop_back();
  const size_t engine = all.find("v0", end);
  return number + (engine != std::string::npos && (engine + 2 == all.size() || all[engine + 2] != '.') ? "V0" : "");
}

double bytes_of_unit(const std::string& unit) {
  const std::string u = lower(unit);
  if (u == "gib" || u == "gb" || u == "gib/gpu") return kGiB;
  if (u == "mib" || u == "mb" || u == "mib/gpu") return kMiB;
  if (u == "kib" || u == "kb") return 1024;
  return u == "b" || u == "bytes" || u == "byte" ? 1 : 0;
}

double power_of_unit(const std::string& unit) {
  return unit.starts_with("1e") ? std::strtod(unit.c_str(), nullptr) : 1;
}

}  // namespace vram::accuracy
