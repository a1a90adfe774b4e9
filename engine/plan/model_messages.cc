#include "engine/plan/model_messages.h"

#include <span>
#include <utility>

#include "engine/plan/model_basis.h"
#include "engine/plan/near.h"
#include "engine/plan/percent.h"
#include "engine/preset_table.h"
#include "engine/text.h"

namespace vram {
namespace {

constexpr size_t kShownBytes = 60;

// config.json's names of what plan keys say.
constexpr std::pair<std::string_view, std::string_view> kConfigNames[] = {
    {"num_hidden_layers", "layers"},
    {"hidden_size", "hidden"},
    {"num_attention_heads", "heads"},
    {"num_key_value_heads", "kv_heads"},
    {"intermediate_size", "ffn"},
    {"vocab_size", "vocab"},
    {"num_experts_per_tok", "experts_per_token"},
    {"num_experts", "experts"},
    {"moe_intermediate_size", "expert_ffn"},
    {"first_k_dense_replace", "dense_layers"},
    {"num_nextn_predict_layers", "mtp_layers"},
    {"qk_nope_head_dim", "nope_head_dim"},
    {"qk_rope_head_dim", "rope_head_dim"},
    {"max_position_embeddings", "max_positions"},
};

std::string_view key_of(std::string_view config_name) {
  for (const auto& [config, key] : kConfigNames) {
    if (config == config_name) return key;
  }
  return find_field(config_name) != nullptr ? config_name : "arch";
}

/// A fault's text says config.json's names; a share string has keys.
std::string with_keys(std::string text) {
  for (const auto& [config, key] : kConfigNames) {
    for (size_t at = text.find(config); at != std::string::npos; at = text.find(config, at + key.size())) {
      const bool whole = at == 0 || (!is_alphanumeric(text[at - 1]) && text[at - 1] != '_');
      if (whole) text.replace(at, config.size(), key);
    }
  }
  return text;
}

Message unknown_id(std::string_view key, const std::string& given, std::string_view what,
                   std::span<const PresetRow> presets) {
  std::vector<std::string_view> ids;
  for (const PresetRow& row : presets) ids.push_back(row.id);
  const std::string shown = printable(given, kShownBytes);
  return {std::string(key), shown,
          std::string(key) + ": '" + shown + "' is no " + std::string(what) + did_you_mean(given, ids)};
}

/// What a model without a complete shape still lacks.
std::string missing_fields(const Plan& p) {
  std::string list;
  const bool experts_only = p.expert_ffn > 0 && p.experts > 0;
  const std::pair<std::string_view, bool> needed[] = {{"layers", p.layers > 0},
                                                      {"hidden", p.hidden > 0},
                                                      {"heads", p.heads > 0},
                                                      {"ffn", p.ffn > 0 || experts_only},
                                                      {"vocab", p.vocab > 0}};
  for (const auto& [name, known] : needed) {
    if (!known) list.append(list.empty() ? "" : ", ").append(name);
  }
  return list;
}

void add_shape_messages(const Plan& plan, std::vector<Message>& messages) {
  if (plan.subject->has_shape || !plan.basis->subject_faults.empty()) return;
  const std::string missing = missing_fields(plan);
  const bool one_block = plan.layers + plan.hidden + plan.heads + plan.ffn + plan.vocab == 0;
  if (missing.empty() || (one_block && plan.has(Key::params))) return;  // `params` alone is a use of its own
  const std::string consequence = plan.subject->nominal_parameters > 0
                                      ? ": the parameters are one block, and what needs a shape is left out"
                                      : ", or give params: without either, weights and training cannot be billed";
  messages.push_back({"model", plan.model, "model: no complete shape; give " + missing + consequence});
}

}  // namespace

void add_model_messages(const Plan& plan, std::vector<Message>& messages) {
  if (plan.subject == nullptr) {
    messages.push_back(unknown_id("model", plan.model, "model of the presets", model_presets()));
  } else {
    for (const auto* faults : {&plan.basis->base_faults, &plan.basis->subject_faults}) {
      for (const ModelFault& fault : *faults) {
        const std::string key(key_of(fault.field));
        messages.push_back({key, fault.given, key + ": " + with_keys(fault.text)});
      }
    }
    if (plan.has(Key::arch) && plan.model != "custom") {
      messages.push_back({"arch", "", "arch: kept, but only model=custom reads it"});
    }
    add_shape_messages(plan, messages);
  }
  if (plan.accelerator == nullptr) {
    messages.push_back(unknown_id("gpu", plan.gpu, "accelerator of the presets", hardware_presets()));
  } else if (plan.gpu_mem == 0) {
    messages.push_back({"gpu_mem", "", "gpu_mem: not known of this GPU; give it, as in gpu_mem=80GB"});
  }
}

}  // namespace vram
