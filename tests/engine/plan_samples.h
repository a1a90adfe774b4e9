#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "engine/plan/plan.h"
#include "engine/units.h"

namespace vram::samples {

/// A fixed sequence of numbers (xorshift64*, Vigna 2016).
struct Random {
  uint64_t state;
  explicit Random(uint64_t seed) : state(seed * 2685821657736338717u + 1) {}
  uint64_t below(uint64_t limit) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 2685821657736338717u >> 11) % limit;
  }
};

inline std::string text_value(Key key) {
  switch (key) {
    case Key::model:
      return "llama-3.1-8b";
    case Key::gpu:
      return "a100-sxm4-80gb";
    case Key::pattern:
      return "5s1f";
    case Key::stages:
      return "9,8,8,7";
    case Key::recompute_modules:
      return "core_attn,mlp";
    case Key::engine_version:
      return "0.9.1";
    case Key::gpus_among:
      return "a100-sxm4-80gb,h100-sxm5-80gb";
    case Key::measured_with:
      return "micro_batch=4&recompute=";
    case Key::made:
      return "0.9.1,71.5,45.3,9f2c";
    case Key::arch:
      return "{\"hidden_act\":\"gelu\"}";
    default:
      return "v=1&gpus=8&a#b?c d\xC3\xA9";  // vs
  }
}

/// A usable value of the key, a different one for most `pick`.
inline std::string good_value(const Field& field, uint64_t pick) {
  const double steps = std::min(field.most - field.least, 40.0);
  const double number = field.least + static_cast<double>(pick % 41) / 40 * steps;
  switch (field.kind) {
    case FieldKind::count:
      return write_number(static_cast<double>(static_cast<int64_t>(number)));
    case FieldKind::number:
    case FieldKind::share:
      return write_number(number);
    case FieldKind::size:
      return pick % 2 ? write_number(number) : write_number(number) + "GB";
    case FieldKind::size_or_share:
      return pick % 2 ? write_number(number) : "12.5%";
    case FieldKind::rate:
      return pick % 2 ? write_number(number) : write_number(number) + "Gb/s";
    case FieldKind::flag:
      return pick % 2 ? "1" : "0";
    case FieldKind::choice:
      return std::string(field.words[pick % field.words.size()]);
    case FieldKind::text:
      return text_value(field.key);
  }
  return "";
}

inline std::string random_share(uint64_t seed) {
  Random random(seed);
  std::string share = "v=1";
  for (const Field& field : fields()) {
    if (random.below(6) != 0 || field.key == Key::vs || field.key == Key::arch) continue;
    share += "&" + std::string(field.name) + "=" + good_value(field, random.below(1000));
  }
  return share;
}

}  // namespace vram::samples
