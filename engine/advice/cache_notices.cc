#include "engine/advice/cache_notices.h"

#include <string>

#include "engine/advice/remedies.h"
#include "engine/formats.h"
#include "engine/serving/llamacpp_attention.h"
#include "engine/serving/weights.h"

namespace vram {
namespace {

/// One type for both, which has a kernel.
std::string change_of_types(const Plan& plan) {
  Plan alike = plan;
  alike.kv_values = alike.kv;
  if (llamacpp_attends_on_gpu(alike)) return "kv_values=" + plan.kv;
  return "kv=q8_0&kv_values=q8_0";
}

}  // namespace

void add_cache_notices(const Plan& plan, std::vector<Finding>& out) {
  const std::string keys(kv_format(plan).name);
  const Format* asked = find_format(plan.kv_values);
  if (asked == nullptr) return;
  const std::string values(asked->name);
  if (!stores_values_apart(plan)) {
    if (asked->id == kv_format(plan).id) return;
    return out.push_back(notice(Severity::warning, "kv_values_unread",
                                "Only llama.cpp stores keys and values of the KV cache in two types, " +
                                    value_text(plan, Key::engine) + " both in " + keys + ".",
                                "kv_values=" + plan.kv));
  }
  if (plan.engine != Engine::llamacpp) return;
  if (!plan.flash && asked->bits < 16) {  // src/llama-context.cpp, llama_init_from_model
    return out.push_back(
        notice(Severity::error, "values_need_flash",
               "llama.cpp does not start with values of the KV cache in " + values + " and without flash attention.",
               "flash=1"));
  }
  if (!plan.flash || llamacpp_attends_on_gpu(plan)) return;
  out.push_back(notice(Severity::warning, "attention_on_processor",
                       "llama.cpp as it is released has no CUDA kernel for keys in " + keys + " with values in " +
                           values +
                           ": the processor works attention out, unless it is built with GGML_CUDA_FA_ALL_QUANTS.",
                       change_of_types(plan)));
}

}  // namespace vram
