#include "engine/serving/sglang.h"

#include <string_view>

namespace vram {
namespace {

constexpr std::string_view kWindowPools[] = {"llama4",  "llama4_text", "gpt_oss",     "mimo_v2",       "mimo_v2_flash",
                                             "step3p5", "gemma4",      "gemma4_text", "gemma4_unified"};

}  // namespace

bool has_window_pool(const Architecture& a) {
  for (std::string_view type : kWindowPools) {
    if (a.model_type == type) return true;
  }
  return false;
}

}  // namespace vram
