#pragma once

#include <random>
#include <string>

#include "engine/plan/plan.h"
#include "engine/preset_table.h"

namespace vram {

/// A share string of a plan that could be somebody's: most of them possible, some not. The same for the same seed.
class RandomPlan {
 public:
  explicit RandomPlan(uint32_t seed) : random_(seed) {}

  std::string share() {
    subject();
    layout();
    choices();
    numbers();
    return text_;
  }

 private:
  uint32_t below(uint32_t count) { return random_() % count; }
  bool chance(uint32_t percent) { return below(100) < percent; }
  template <size_t n>
  const char* one_of(const char* const (&words)[n]) {
    return words[below(n)];
  }
  void set(std::string_view key, std::string_view value) {
    if (!text_.empty()) text_ += '&';
    text_.append(key).append("=").append(value);
  }

  void subject() {
    const auto models = model_presets();
    const auto gpus = hardware_presets();
    if (chance(85) && !models.empty()) {
      set("model", models[below(static_cast<uint32_t>(models.size()))].id);
    } else {
      set("model", "custom");
      set("params", one_of({"350M", "7B", "13.5B", "70B", "405B"}));
      if (chance(60)) set("layers", one_of({"24", "32", "80"}));
      if (chance(60)) set("hidden", one_of({"2048", "4096", "8192"}));
      if (chance(60)) set("heads", one_of({"16", "32", "64"}));
    }
    set("gpu", gpus[below(static_cast<uint32_t>(gpus.size()))].id);
  }

  void layout() {
    const uint32_t tp = 1u << below(4), pp = 1u << below(3), cp = chance(15) ? 2 : 1, dp = 1u << below(5);
    set("tp", std::to_string(tp));
    set("pp", std::to_string(pp));
    set("cp", std::to_string(cp));
    set("gpus", std::to_string(tp * pp * cp * dp));
    if (chance(30)) set("ep", std::to_string(1u << below(4)));
    if (chance(40)) set("micro_batch", std::to_string(1 + below(4)));
    if (chance(20)) set("global_batch", std::to_string(dp * 12));
    set("framework", one_of({"megatron", "deepspeed", "fsdp", "fsdp2", "ddp"}));
    set("serve_gpus", std::to_string(1u << below(4)));
  }

  /// A word of every other choice, chosen evenly.
  void choices() {
    for (const Field& field : fields()) {
      const bool own = field.key == Key::framework || field.group == Group::view;
      if (own || !chance(30)) continue;
      if (field.kind == FieldKind::choice) {
        set(field.name, field.words[below(static_cast<uint32_t>(field.words.size()))]);
      } else if (field.kind == FieldKind::flag && field.group != Group::model) {
        set(field.name, chance(50) ? "1" : "0");
      }
    }
  }

  void numbers() {
    if (chance(60)) set("seq", one_of({"512", "2048", "8192", "32768", "131072"}));
    if (chance(30)) set("zero", std::to_string(below(4)));
    if (chance(20)) set("margin", one_of({"5%", "0.1"}));
    if (chance(20)) set("offload_fraction", one_of({"0.5", "0.37"}));
    if (chance(20)) set("lora_rank", one_of({"4", "8", "64"}));
    if (chance(30)) set("tokens", one_of({"1e9", "300B", "2T"}));
    if (chance(20)) set("mfu", one_of({"0.3", "45%"}));
    if (chance(60)) set("prompt", one_of({"1", "500", "16000", "128k"}));
    if (chance(60)) set("output", one_of({"0", "100", "4000"}));
    if (chance(60)) set("concurrency", one_of({"4", "17", "256"}));
    if (chance(20)) set("prefix", one_of({"100", "1000"}));
    if (chance(20)) set("reserve", one_of({"25%", "5GB", "3.5"}));
    if (chance(20)) set("utilization", one_of({"0.8", "95%"}));
    if (chance(20)) set("moe_imbalance", "1.3");
  }

  std::mt19937 random_;
  std::string text_;
};

}  // namespace vram
