#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "engine/model/config_json.h"
#include "engine/preset_table.h"

namespace model_samples {

inline std::string_view preset_json(std::string_view id) {
  for (const vram::PresetRow& row : vram::model_presets())
    if (row.id == id) return row.json;
  FAIL("no preset " << id);
  return "";
}

inline vram::Model model_of(std::string_view json) {
  const vram::ConfigReading reading = vram::read_config(json);
  for (const vram::ModelFault& fault : reading.faults) INFO(fault.field << ": " << fault.text);
  CHECK(reading.ok);
  return vram::build_model(reading.architecture, 0, nullptr);
}

/// What is said about a field; "" where nothing is.
inline std::string fault_of(const vram::ConfigReading& reading, std::string_view field) {
  for (const vram::ModelFault& fault : reading.faults)
    if (fault.field == field) return fault.text;
  return "";
}

inline double kv_elements(const vram::Model& model, bool sliding) {
  double sum = 0;
  for (uint8_t k : model.layers)
    if ((model.kinds[k].mixer == vram::Mixer::sliding) == sliding)
      sum += model.kinds[k].attention.kv_elements_per_token();
  return sum;
}

/// `a` with everything that plan keys say taken from `keys`: what the reader of a share string does.
inline vram::Architecture with_plan_keys(vram::Architecture a, const vram::Architecture& keys) {
  using A = vram::Architecture;
  for (double A::*member :
       {&A::layers,      &A::hidden,         &A::heads,         &A::kv_heads,      &A::head_dim,
        &A::ffn,         &A::vocab,          &A::max_positions, &A::experts,       &A::experts_per_token,
        &A::expert_ffn,  &A::shared_experts, &A::shared_ffn,    &A::dense_layers,  &A::moe_every,
        &A::q_lora_rank, &A::kv_lora_rank,   &A::nope_head_dim, &A::rope_head_dim, &A::v_head_dim,
        &A::window,      &A::state_elements, &A::mtp_layers,    &A::extra_params})
    a.*member = keys.*member;
  for (bool A::*member : {&A::gated, &A::tied, &A::qkv_bias, &A::qk_norm, &A::learned_positions})
    a.*member = keys.*member;
  a.pattern = keys.pattern;
  return a;
}

inline bool survives_arch(const vram::Architecture& a) {
  const vram::ConfigReading back = vram::read_config(vram::write_arch(a), true);
  return back.ok && with_plan_keys(back.architecture, a) == a;
}

}  // namespace model_samples
