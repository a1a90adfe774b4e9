#include <string>
#include <string_view>

#include "engine/advice/diagnose/case.h"

namespace vram {
namespace {

/// A resource that ran out, as logs name it (Measured::resource), and what helps.
struct Resource {
  std::string_view name;
  const char *id, *advice;
};
constexpr Resource kResources[] = {
    {"shm", "shared_memory",
     "/dev/shm ran out, not the GPU: give the container more of it (--shm-size, --ipc=host), or start fewer loader "
     "workers."},
    {"metal", "metal_memory",
     "Metal ran out of memory at work: weights, caches and all else on the machine share it. Keep fewer prompts "
     "cached (--prompt-cache-size), work on fewer tokens of the prompt at a time (--prefill-step-size), shorten "
     "the context, or take a smaller quant."},
    {"buffers", "metal_buffers",
     "The number of Metal's buffers ran out, not the memory: something keeps many small arrays. Take a newer MLX, "
     "clear its cache (mx.clear_cache()) between requests, keep fewer prompts cached."},
};
constexpr Resource kOnChip = {
    "", "on_chip",
    "A kernel wanted more on-chip memory than there is: another kernel or a smaller tile helps, more memory on the "
    "GPU does not."};

void say_host_memory(Case& c) {
  std::string text = "Host memory ran out, not the GPU's: the process was killed, or the system refused.";
  if (c.training.host_bytes_per_node && *c.training.host_bytes_per_node > 0 && !c.serving && !c.assumed) {
    text += " This plan keeps " + c.shown(static_cast<double>(*c.training.host_bytes_per_node)) +
            " in the memory of a node.";
  }
  text +=
      " Load the checkpoint without a copy in host memory (low-memory loading, mmap, sharded files), start fewer "
      "workers and processes, or raise the limit of the job, the container or the page file. A smaller batch on the "
      "GPU does not help.";
  c.say(Severity::error, "host_memory", text);
}

void say_one_buffer(Case& c) {
  c.say(Severity::error, "metal_buffer",
        (c.measured.tried ? "One buffer of " + c.shown(*c.measured.tried) : std::string("One buffer")) +
            " is more than Metal gives in one piece, however much memory is free. Work on fewer tokens of the prompt "
            "at a time (--prefill-step-size), shorten the prompt or the cached ones, or quantise the KV cache.");
}

const Resource& resource_of(std::string_view name) {
  for (const Resource& resource : kResources) {
    if (resource.name == name) return resource;
  }
  return kOnChip;
}

}  // namespace

bool find_other_resource(Case& c) {
  const std::string_view name = c.measured.resource;
  if (name.empty()) return false;
  if (name == "host") {
    say_host_memory(c);
  } else if (name == "one-buffer") {
    say_one_buffer(c);
  } else {
    c.say(Severity::error, resource_of(name).id, resource_of(name).advice);
  }
  return true;
}

}  // namespace vram
