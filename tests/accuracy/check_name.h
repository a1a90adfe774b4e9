#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/case_file.h"

namespace vram::accuracy {

/// Where the bytes of a check lie.
enum class Place : uint8_t { unsaid, gpu, host };

inline constexpr int kLastDevice = 1000;

/// What the name of a check says, in whatever order its words stand: "rpc1_model_mib", "kv_cuda0", "host_compute_mib",
/// "kv_mib_32k".
struct CheckName {
  Place place = Place::unsaid;
  int device = -1;    // of several: the digit behind its name, "first" or "last" before it
  double tokens = 0;  // "32k", "ctx8192"
  double slots = 0;   // "np10", "4slots"
  double layers = 0;  // on the GPU: "12layers", "ngl20"
  std::string rest;   // the other words, "_" between and before them
  bool has(const char* word) const { return (rest + "_").find("_" + std::string(word) + "_") != std::string::npos; }
  bool has_any(std::initializer_list<const char*> words) const;
};
CheckName read_name(const std::string& name);

/// The field of `measured` that holds that number, where the check's own name says no place: "weights_mib" of a log
/// that has the same MiB as "vulkan_model_mib".
std::string twin_of(const json& c, const json& check);

/// Terms of a sum, of what an explanation says is added: "layers + head + KV 256" is "weights", "kv".
std::vector<std::string> terms_of(const std::string& explanation);

}  // namespace vram::accuracy
