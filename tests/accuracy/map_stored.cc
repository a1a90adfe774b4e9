#include <string>
#include <vector>

#include "engine/formats.h"
#include "engine/model/config_parts.h"
#include "engine/model/layer_shape.h"
#include "engine/model/stored_halves.h"
#include "engine/plan/plan.h"
#include "engine/text.h"
#include "tests/accuracy/serving_map.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

bool says(const std::string& all, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (all.find(word) != std::string::npos) return true;
  return false;
}

/// "int4 g32", "group size 64"; 0: not stated.
double stated_group(const std::string& said) {
  for (const char* word : {"group_size", "group size", "group", " g"}) {
    size_t at = said.find(word);
    if (at == std::string::npos) continue;
    at += std::string_view(word).size();
    while (at < said.size() && (said[at] == ' ' || said[at] == '=' || said[at] == '-')) ++at;
    if (at < said.size() && is_digit(said[at])) return first_number(said.substr(at)).value_or(0);
  }
  return 0;
}

/// Of 4 bits in groups; AWQ and GPTQ keep a zero point for each, compressed-tensors where it is not symmetric.
double bits_of_groups(const std::string& format, double group) {
  const double zero = format == "int4" ? 0 : 4;
  return group > 0 ? 4 + (16 + zero) / group : 0;
}

/// What a case says of its checkpoint beside the format.
struct SaidStorage {
  double bits = 0;
  bool every_linear = false, linear_attention = false;  // in the format, and so are the mixers of linear attention
  bool experts_alone = false, wide_attention = false;
  bool anything() const { return bits > 0 || every_linear || experts_alone || wide_attention; }
};

/// llm-compressor, which writes compressed-tensors and FP8 scales a channel, quantises every linear layer but those of
/// linear attention (its examples: ignore "re:.*linear_attn.*", lm_head and routers); AutoRound's files of mixtures are
/// alike, of dense models all of a layer's are in them. Latent attention (DeepSeek, Kimi) is as its format's habit has
/// it.
SaidStorage read_stored(const std::string& said, const std::string& format, const Architecture& a) {
  SaidStorage stored;
  const Format& usual = *find_format(format);
  const double group = stated_group(said);
  const bool grouped = format == "awq" || format == "gptq" || format == "int4";
  const double bits = grouped ? bits_of_groups(format, group) : 0;
  if (bits != usual.bits) stored.bits = bits;
  stored.experts_alone =
      usual.of_mixtures == Quantised::linears && says(said, {"experts +", "experts only", "experts alone"});
  stored.wide_attention =
      says(said, {"attention bf16", "attn bf16", "attention in bf16", "attention 16", "attention fp16"});
  const bool compressor = says(said, {"compressed-tensors", "compressed tensors", "llm-compressor", "llmcompressor",
                                      "per-channel", "per channel", "attention quanti"});
  const bool rounder = says(said, {"autoround", "auto-round", "auto round"});
  stored.linear_attention = rounder && a.experts <= 0;
  stored.every_linear =
      (compressor || rounder) && a.kv_lora_rank <= 0 && !stored.experts_alone && !stored.wide_attention;
  return stored;
}

StoredHalves halves_of_layer(const LayerKind& kind, const SaidStorage& said) {
  StoredHalves halves;
  const bool linear = kind.mixer == Mixer::linear && !said.linear_attention;
  if (said.wide_attention || said.experts_alone || linear) halves.attention = Stored::sixteen_bit;
  if (said.experts_alone && kind.ffn.kind != FfnKind::moe) halves.mlp = Stored::sixteen_bit;
  return halves;
}

/// A quantization_config that the case holds decides.
bool set_listed(ServingMap& m, const Plan& plan) {
  const json* config = find(m.c, "quantization_config");
  if (config == nullptr || !config->is_object()) return false;
  std::vector<ModelFault> faults;
  Architecture a = plan.subject->architecture;
  a.quantization.clear();
  a.unquantized.clear();
  read_quantization(Fields(json{{"quantization_config", *config}}.dump(), "", &faults), a);
  if (a.quantization.empty()) return false;
  m.share.set("weights", a.quantization);
  set_architecture(m, a);
  return true;
}

}  // namespace

void set_stored(ServingMap& m) {
  const std::string format = m.share.get("weights"), said = lower(text(m.c, "weight_dtype"));
  const Plan plan = read_plan(m.share.text()).plan;
  const Format* known = find_format(format);
  if (m.engine != "llamacpp" && plan.subject->has_shape && set_listed(m, plan)) return;
  if (m.engine == "llamacpp" || known == nullptr || !known->blocks_only || !plan.subject->has_shape) return;
  const SaidStorage stored = read_stored(said, format, plan.subject->architecture);
  Architecture a = plan.subject->architecture;
  if (!stored.anything() || !a.unquantized.empty()) return;
  a.quantization = format;
  a.quantized_bits = stored.bits;
  a.unquantized_shared = stored.experts_alone && a.shared_ffn + a.shared_experts > 0;
  if (stored.every_linear || stored.experts_alone || stored.wide_attention) {
    std::string letters;
    for (size_t i = 0; i < plan.subject->layers.size(); ++i)
      letters += letter_of(halves_of_layer(plan.subject->layer(i), stored));
    a.unquantized = shortest_pattern(letters);
  }
  set_architecture(m, a);
}

}  // namespace vram::accuracy
