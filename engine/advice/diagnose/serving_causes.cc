#include <algorithm>
#include <cmath>

#include "engine/advice/diagnose/case.h"
#include "engine/advice/diagnose/settings.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kOneTensor = 0.1;  // of the GPU in one allocation

std::string tokens(double count) { return show_grouped(std::floor(count)) + " tokens"; }

/// One request of the longest length does not fit into the KV cache.
bool longest_request(Case& c) {
  const Measured& m = c.measured;
  const bool by_bytes = m.kv_needed && m.kv_pool && *m.kv_needed > *m.kv_pool;
  const bool by_tokens = !m.kv_needed && m.max_model_len && m.kv_tokens && *m.kv_tokens < *m.max_model_len &&
                         std::string_view(m.tool) == "vLLM" && (!m.kv_pool || m.stage == "length");
  if (!by_bytes && !by_tokens) return false;
  double longest = m.longest_model_len.value_or(0);
  if (longest <= 0 && by_tokens) longest = *m.kv_tokens;
  if (longest <= 0 && m.max_model_len) longest = std::floor(*m.max_model_len * (*m.kv_pool / *m.kv_needed));
  std::string text =
      "One request of the longest length, " + tokens(known(m.max_model_len)) + ", does not fit the KV cache";
  text += by_bytes ? ": it needs " + c.shown(*m.kv_needed) + " of " + c.shown(*m.kv_pool) + "."
                   : ", which holds " + tokens(*m.kv_tokens) + ".";
  if (longest > 0) text += " Up to " + tokens(longest) + " fit.";
  text += " A shorter length, an 8-bit KV cache or more GPUs a replica help.";
  c.symptom = Symptom::at_start;
  c.say(Severity::error, "kv_longest_request", text, longest > 0 ? "max_len=" + write_number(longest) : "");
  return true;
}

/// vLLM takes its share of the whole GPU and wants it free at start.
bool not_empty(Case& c) {
  const Measured& m = c.measured;
  if (!m.budget || !m.free || !m.capacity || *m.free >= *m.budget) return false;
  if (m.weights && m.stage != "start") return false;
  const double share = std::floor((*m.free / *m.capacity - 0.01) * 100) / 100;
  c.symptom = Symptom::at_start;
  std::string text = c.shown(*m.free) + " of " + c.shown(*m.capacity) + " was free at the start, and " +
                     c.shown(*m.budget) + " was to be taken. Something else holds " + c.shown(*m.capacity - *m.free) +
                     ": stop it";
  if (share > 0.05) text += ", or take a share of at most " + show_fixed(share, 2);
  c.say(Severity::error, "gpu_not_empty", text + ".", share > 0.05 ? "utilization=" + write_number(share) : "");
  return true;
}

bool no_room_for_kv(Case& c) {
  const Measured& m = c.measured;
  const bool negative = m.kv_pool && *m.kv_pool <= 0;
  const bool no_tokens = m.kv_tokens && *m.kv_tokens <= 0;
  if (!negative && !no_tokens && m.stage != "kv") return false;
  std::string text = "Nothing is left for the KV cache";
  if (negative) text += ": " + c.shown(-*m.kv_pool) + " is missing";
  if (m.weights) text += "; the weights took " + c.shown(*m.weights);
  c.symptom = Symptom::at_start;
  c.say(
      Severity::error, "kv_no_room",
      text +
          ". Raise the share the engine may take where the GPU is empty, work on fewer tokens at a time, quantise the "
          "weights, or divide them over more GPUs.");
  return true;
}

/// It never came to a cache.
bool weights_alone(Case& c) {
  const Measured& m = c.measured;
  if (!m.failed || m.stage != "weights") return false;
  c.symptom = Symptom::at_start;
  c.say(Severity::error, "weights_no_room",
        (m.tried ? "The GPU was full when " + c.shown(*m.tried) + " more was asked for, while"
                 : std::string("The GPU was full while")) +
            " the model was loaded: see that the GPU was empty before, then take a smaller format or divide the model "
            "over more GPUs.");
  return true;
}

/// The engine's share was taken as planned; what came after it did not fit.
bool late_buffers(Case& c) {
  const Measured& m = c.measured;
  if (!m.failed || m.stage == "compute") return false;
  const double gpu = m.capacity ? *m.capacity : c.plan.gpu_mem;
  const bool one = m.tried && gpu > 0 && *m.tried >= kOneTensor * gpu;
  c.symptom = one ? Symptom::long_sample : Symptom::after_steps;
  std::string text = m.tried ? "The GPU was full when " + c.shown(*m.tried) + " more was asked for."
                             : "An allocation outside PyTorch's allocator failed.";
  text += one ? " One tensor of that size goes with the tokens of a batch: take fewer at a time."
              : " Graphs, workspaces and late buffers lie above the share that the engine takes: lower it a little, or "
                "capture fewer graph sizes.";
  const double lower = c.plan.utilization - 0.03;
  c.say(Severity::error, one ? "batch_tensor" : "late_buffers", text,
        !one && lower > 0.1 && c.plan.utilization < 1 && is_engine_of_plan(m.tool)
            ? "utilization=" + write_number(std::round(lower * 100) / 100)
            : "");
  return true;
}

bool llama_stage(Case& c) {
  const Measured& m = c.measured;
  const std::string_view tool = m.tool;
  if ((tool != "llama.cpp" && tool != "Ollama") || !m.failed) return false;
  const char* cure =
      m.stage == "weights" ? "Fewer layers on this GPU (-ngl, num_gpu, --n-cpu-moe), another split, or a smaller quant."
      : m.stage == "kv"    ? "A shorter context (-c, num_ctx), a quantised KV cache (-ctk, -ctv), fewer slots."
      : m.stage.empty() ? "Fewer layers on this GPU (-ngl, num_gpu), a shorter context (-c, num_ctx), or a smaller -ub."
                        : "A smaller -ub, flash attention, no copies for pipelining.";
  c.symptom = m.stage == "weights" || m.stage == "kv" ? Symptom::at_start : Symptom::after_steps;
  const std::string what = m.stage.empty() ? std::string("a buffer") : "the " + m.stage + " buffer";
  c.say(Severity::error, "llamacpp_buffer",
        "llama.cpp could not allocate " + what + (m.tried ? " of " + c.shown(*m.tried) : std::string()) + ". " + cure);
  return true;
}

/// Weights and one batch are more than the share the engine may take.
bool share_too_small(Case& c) {
  const Measured& m = c.measured;
  if (!m.budget || !m.weights || !m.activations || m.kv_pool || *m.weights + *m.activations <= *m.budget) return false;
  c.symptom = Symptom::at_start;
  c.say(Severity::error, "share_too_small",
        "Weights (" + c.shown(*m.weights) + ") and the buffers of a batch (" + c.shown(*m.activations) +
            ") are more than the " + c.shown(*m.budget) +
            " that the engine may take: work on fewer tokens at a time "
            "(prefill chunk), raise the share, quantise, or divide the weights over more GPUs.");
  return true;
}

/// What the program's own sum comes to is more than there is.
bool own_sum_exceeds(Case& c) {
  const Measured& m = c.measured;
  const double gpu = m.capacity ? *m.capacity : c.plan.gpu_mem;
  if (m.lacking) {
    c.say(Severity::error, "own_sum_exceeds",
          "By the program's own sum " + c.shown(*m.lacking) + " is missing on the GPU, beside the margin it keeps.");
  } else if (m.required && gpu > 0 && *m.required > gpu) {
    c.say(Severity::error, "own_sum_exceeds",
          "By the program's own sum the model takes " + c.shown(*m.required) + " of a GPU that has " + c.shown(gpu) +
              ".");
  } else {
    return false;
  }
  c.symptom = Symptom::at_start;
  return true;
}

/// Slower, not fatal.
void running_short(Case& c) {
  const Measured& m = c.measured;
  if (m.layers && m.layers_on_gpu && *m.layers_on_gpu < *m.layers) {
    c.say(Severity::warning, "layers_on_host",
          show_grouped(*m.layers_on_gpu) + " of " + show_grouped(*m.layers) +
              " layers are on the GPU, the rest run on the processor: it works, slowly. A shorter context, a quantised "
              "KV "
              "cache, fewer parallel slots or a smaller quant make room.");
  }
  if (m.cut_model_len && *m.cut_model_len < m.max_model_len.value_or(HUGE_VAL)) {
    c.say(Severity::warning, "length_cut",
          "The engine cut its longest request to " + tokens(*m.cut_model_len) +
              ", which is all that its KV cache holds. More room for the cache, or a quantised one, gives the length "
              "back.",
          "max_len=" + write_number(*m.cut_model_len));
  }
  if (m.preemptions.value_or(0) > 0 || m.kv_usage.value_or(0) >= 90) {
    c.say(Severity::warning, "kv_short",
          "The KV cache is full" + (m.kv_usage ? " (" + show_fixed(*m.kv_usage, 1) + "%)" : std::string()) +
              ": requests wait or are worked out anew. It is slower, not fatal; fewer requests at a time, shorter "
              "ones, or "
              "more KV cache.");
  }
}

}  // namespace

void find_serving_causes(Case& c) {
  running_short(c);
  if (longest_request(c) || not_empty(c) || own_sum_exceeds(c) || llama_stage(c) || no_room_for_kv(c) ||
      share_too_small(c))
    return;
  if (c.measured.process && known(c.measured.other) > 1.5 * kGiB) {
    c.say(Severity::error, "other_process",
          "Another process holds " + c.shown(*c.measured.other) + " of the GPU: free it, or take another GPU.");
    return;
  }
  if (!weights_alone(c)) late_buffers(c);
}

}  // namespace vram
