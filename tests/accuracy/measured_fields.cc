#include "tests/accuracy/measured_fields.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

using Names = std::initializer_list<std::string_view>;

/// A field that has one word of each of `needed` and, beside `others`, no other.
struct Wanted {
  std::initializer_list<Names> needed;
  Names others;

  bool is(const std::vector<std::string>& words) const {
    const auto among = [](const std::string& word, Names names) { return is_one_of(word, names); };
    for (const Names& one : needed)
      if (std::none_of(words.begin(), words.end(), [&](const std::string& word) { return among(word, one); }))
        return false;
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return among(word, others) ||
             std::any_of(needed.begin(), needed.end(), [&](const Names& one) { return among(word, one); });
    });
  }
};

/// The first such number that was measured, in GiB where the field's last word is a unit of bytes.
double by_words(const json& c, const Wanted& wanted) {
  const json* measured = find(c, "measured");
  if (measured == nullptr || !measured->is_object()) return 0;
  for (const auto& [name, value] : measured->items()) {
    const std::vector<std::string> words = split_words(name, "");
    if (words.empty() || !value.is_number() || !wanted.is(words)) continue;
    const bool mib = words.back() == "mib" || words.back() == "mb";
    return value.get<double>() / (mib ? 1024 : 1);
  }
  return 0;
}

}  // namespace

double pool_field(const json& c) {
  const double usual = first_of(c, {"available_kv_gib", "kv_cache_size_gib", "kv_gib", "kv_gb"});
  if (usual > 0) return usual;
  return by_words(
      c, {{{"kv"}, {"gib", "gb", "mib", "mb"}},
          {"cache", "pool", "available", "size", "memory", "mem", "reserved", "total", "gpu", "allocated", "printed"}});
}

double tokens_field(const json& c) {
  const double usual = first_of(c, {"kv_tokens", "max_total_num_tokens", "full_tokens", "tokens"});
  if (usual > 0) return usual;
  return by_words(c, {{{"tokens"}, {"kv", "cache", "pool", "total"}},
                      {"size", "gpu", "num", "max", "capacity", "in", "of", "allocated"}});
}

double concurrency_field(const json& c) {
  const double usual = first_of(c, {"max_concurrency_x"});
  return usual > 0 ? usual : by_words(c, {{{"concurrency"}}, {"max", "maximum", "x", "printed"}});
}

double blocks_field(const json& c) {
  const double usual =
      first_of(c, {"num_gpu_blocks", "primary_blocks", "gpu_blocks", "max_block_count", "cuda_blocks"});
  return usual > 0 ? usual
                   : by_words(c, {{{"blocks"}, {"gpu", "cuda", "npu", "hpu", "xpu", "kv"}},
                                  {"n", "num", "number", "of", "cache"}});
}

double host_blocks_field(const json& c) {
  const double usual = first_of(c, {"num_cpu_blocks", "cpu_blocks"});
  return usual > 0 ? usual : by_words(c, {{{"blocks"}, {"cpu", "host"}}, {"n", "num", "number", "of"}});
}

}  // namespace vram::accuracy
