#include "tests/accuracy/figures_llamacpp.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "engine/formats.h"
#include "engine/serving/kv_cache.h"
#include "engine/serving/llamacpp.h"
#include "engine/serving/replica.h"
#include "engine/serving/weights.h"
#include "engine/sheet.h"

namespace vram::accuracy {
namespace {

bool asks(const std::string& part, const char* word) { return part.find(word) != std::string::npos; }

/// "3" equal devices or "1:4", what each takes of all.
std::vector<double> shares_of(const std::string& given) {
  std::vector<double> shares;
  for (const char* at = given.c_str(); *at != '\0' && *at != ' ';) {
    char* end = nullptr;
    shares.push_back(std::strtod(at, &end));
    at = *end == ':' ? end + 1 : end;
    if (end == at && *end != '\0' && *end != ' ') break;
  }
  if (shares.size() == 1) shares.assign(static_cast<size_t>(shares[0]), 1);
  return shares;
}

/// src/llama-model.cpp, get_layer_buft_list: a layer goes to the first device whose summed share is beyond its own
/// place among all, the output layer being the last of them.
ServingStage device_stage(const Plan& plan, const std::string& part) {
  const size_t at = part.find("device ") + 7, slash = part.find('/', at);
  const auto device = static_cast<size_t>(std::atoi(part.c_str() + at));
  const std::vector<double> shares = shares_of(part.substr(slash + 1));
  const double layers = static_cast<double>(plan.subject->layers.size());
  double before = 0, all = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    all += shares[i];
    if (i < device) before += shares[i];
  }
  if (device >= shares.size() || all <= 0) return {0, 0, false, false, false};
  const auto start = [&](double share) {
    return static_cast<size_t>(std::min(layers, std::ceil(share / all * (layers + 1) - 1e-9)));
  };
  const size_t first = start(before), next = start(before + shares[device]);
  const bool last = device + 1 == shares.size();
  return {first, next - first, false, last, device == 0, before_n_cpu_moe(plan, first, next - first)};
}

ServingStage stage_of(const Plan& plan, const std::string& part) {
  const ServingStage host = host_stage(plan);
  const size_t layers = plan.subject->layers.size();
  if (const size_t at = part.find("first layers "); at != std::string::npos)
    return {0, std::min(layers, size_t(std::atoi(part.c_str() + at + 13))), false, false, false};
  if (const size_t at = part.find("last layers "); at != std::string::npos) {
    const size_t count = std::min(layers, size_t(std::atoi(part.c_str() + at + 12)));
    return {layers - count, count, false, true, false};
  }
  if (asks(part, "device ")) return device_stage(plan, part);
  if (asks(part, "host")) return {0, host.count, false, false, false};
  if (asks(part, "gpu")) return {host.count, layers - host.count, false, true, false};
  return {0, layers, false, true, false};
}

double within(const Line& line, const char* id) {
  if (std::string_view(id) == line.id) return static_cast<double>(line.bytes);
  double bytes = 0;
  for (const Line& child : line.children) bytes += within(child, id);
  return bytes;
}

double demanded(const Plan& plan, const ServingStage& stage, const char* id) {
  const std::vector<CacheGroup> groups = cache_groups(plan, Replica{}, stage);
  if (groups.empty()) return 0;
  Sheet sheet;
  return within(demand_line(sheet, plan, groups, plan.concurrency), id);
}

/// A latent is all keys, or its values stand beside it in their type; values of heads may be narrower, and of another
/// type.
double share_of_keys(const Plan& plan) {
  const LlamacppBuild build = llamacpp_build(plan.engine_version);
  const double latent = plan.kv_lora_rank > 0 ? plan.kv_lora_rank + plan.rope_head_dim : 0;
  if (latent > 0 && build.absorbs_latents) return build.caches_values ? latent / (latent + plan.kv_lora_rank) : 1;
  const double head = plan.head_dim > 0 ? plan.head_dim : 1;
  const double keys = (latent > 0 ? plan.nope_head_dim + plan.rope_head_dim : head) * kv_format(plan).bits;
  const double values = (plan.v_head_dim > 0 ? plan.v_head_dim : head) * kv_values_format(plan).bits;
  return keys / (keys + values);
}

}  // namespace

double cache_bytes(const Plan& plan, const std::string& part) {
  ServingStage stage = stage_of(plan, part);
  if (asks(part, "draft"))
    stage = {plan.subject->layers.size(), 0, false, true, false};
  else
    stage.has_head = false;  // the draft's cache goes with the head
  if (asks(part, "indexer")) return demanded(plan, stage, "indexer");
  const double full = asks(part, "sliding") ? 0 : demanded(plan, stage, "full");
  const double sliding = asks(part, "full") ? 0 : demanded(plan, stage, "sliding");
  const double keys = share_of_keys(plan);
  return (full + sliding) * (asks(part, "keys") ? keys : asks(part, "values") ? 1 - keys : 1);
}

double state_bytes(const Plan& plan, const std::string& part) {
  const double bytes = demanded(plan, stage_of(plan, part), "state");
  for (const LayerKind& kind : plan.subject->kinds) {
    const double all = kind.state_elements + kind.conv_state_elements;
    if (all <= 0) continue;
    if (asks(part, "scan")) return bytes * kind.state_elements / all;
    if (asks(part, "convolution")) return bytes * kind.conv_state_elements / all;
  }
  return bytes;
}

double graph_estimate(const Plan& plan, bool logits) {
  const std::string_view type = plan.subject->architecture.model_type;
  const double scores = plan.max_len * (1 + plan.heads);
  double attention = 1 + 4 * plan.hidden + scores;
  if (type == "qwen2") attention = 1 + 2 * plan.hidden + scores;
  if (type == "cohere") attention = 2 + 4 * plan.hidden + scores;
  if (type.starts_with("gemma")) attention = 2 + 2 * plan.hidden + 2 * plan.head_dim * plan.heads + scores;
  return 4 * plan.ubatch * std::max(attention, logits ? plan.hidden + plan.vocab : 0);
}

double layer_weight_bytes(const Plan& plan, const std::string& part) {
  const ServingStage stage = asks(part, "device ") ? device_stage(plan, part)
                                                   : ServingStage{0, plan.subject->layers.size(), false, false, false};
  double bytes = 0;
  for (const WeightParcel& parcel : weight_parcels(plan, Replica{}, stage)) bytes += parcel.elements * parcel.bits / 8;
  return bytes;
}

}  // namespace vram::accuracy
