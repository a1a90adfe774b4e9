#include <cmath>

#include "engine/preset_table.h"
#include "tests/accuracy/map_training.h"
#include "tests/accuracy/model_name.h"

namespace vram::accuracy {
namespace {

/// "mpt" of "MPT-1b": letters up to the first digit or mark.
std::string family_letters(const std::string& name) {
  std::string letters;
  for (char c : lower(name)) {
    if (c < 'a' || c > 'z') break;
    letters += c;
  }
  return letters;
}

/// A preset whose layers are built like these: one of the same family, else by what the case says of MLP and position.
std::string preset_built_alike(const json& c) {
  const std::string letters = family_letters(text(c, "model.name"));
  const std::string mlp = text(c, "model.mlp");
  if (letters != "gpt")
    for (const PresetRow& row : model_presets())
      if (letters.size() > 2 && family_letters(std::string(row.id)) == letters && number(c, "model.experts") == 0)
        return std::string(row.id);
  if (mlp.find("parallel") != std::string::npos) return "pythia-6.9b";
  if (mlp == "gelu" || (mlp.empty() && letters == "gpt")) return "gpt3-175b";
  return "";
}

struct ShapeKey {
  const char* field;
  const char* key;
};
constexpr ShapeKey kShape[] = {
    {"model.layers", "layers"},     {"model.hidden", "hidden"},     {"model.heads", "heads"},
    {"model.kv_heads", "kv_heads"}, {"model.head_dim", "head_dim"}, {"model.ffn", "ffn"},
    {"model.vocab", "vocab"},       {"model.experts", "experts"},   {"model.topk", "experts_per_token"},
    {"model.moe_ffn", "expert_ffn"}};

bool has_shape(const json& c) {
  return number(c, "model.layers") > 0 && number(c, "model.hidden") > 0 && number(c, "model.vocab") > 0 &&
         (number(c, "model.ffn") > 0 || number(c, "model.moe_ffn") > 0);
}

/// Where a table gives the size only, the layers were worked out from it and may be off by a few: in 2022 Megatron-LM
/// wanted as many on every stage.
void set_whole_stages(Mapping& m) {
  const double layers = number(m.c, "model.layers"), pp = number(m.c, "pp");
  if (pp > 1 && m.words.has("layers inferred from model size")) m.share.set("layers", std::ceil(layers / pp) * pp);
}

void set_shape(Mapping& m) {
  const json& c = m.c;
  for (const ShapeKey& shape : kShape) m.share.set_if(shape.key, number(c, shape.field));
  set_whole_stages(m);
  const double hidden = number(c, "model.hidden"), heads = number(c, "model.heads");
  if (heads > 0 && number(c, "model.head_dim") == 0) m.share.set("head_dim", std::floor(hidden / heads));
  if (heads > 0 && number(c, "model.kv_heads") == 0) m.share.set("kv_heads", heads);
  if (hidden > 0 && number(c, "model.ffn") == 0 && number(c, "model.moe_ffn") == 0) m.share.set("ffn", 4 * hidden);
  if (const auto tied = flag(c, "model.tied")) m.share.set("tied", *tied ? 1.0 : 0.0);
  if (text(c, "model.pos") == "learned") {
    m.share.set("learned_positions", 1.0);
    m.share.set_if("max_positions", number(c, "model.seq"));
  }
  if (number(c, "model.experts") > 0 && number(c, "model.moe_ffn") == 0)
    m.share.set_if("expert_ffn", number(c, "model.ffn"));
}

/// Does the preset have the shape that the case states?
bool agrees(const json& c, std::string_view id) {
  for (const PresetRow& row : model_presets()) {
    if (row.id != id) continue;
    const double layers = number(c, "model.layers"), hidden = number(c, "model.hidden");
    if (layers == 0 && hidden == 0) return true;
    const json preset = json::parse(row.json, nullptr, false);
    double preset_layers = 0, preset_hidden = 0;
    for (const char* key : {"num_hidden_layers", "n_layer", "n_layers", "num_layers"})
      if (preset_layers == 0) preset_layers = number(preset, key);
    for (const char* key : {"hidden_size", "n_embd", "d_model"})
      if (preset_hidden == 0) preset_hidden = number(preset, key);
    return (layers == 0 || layers == preset_layers) && (hidden == 0 || preset_hidden == 0 || hidden == preset_hidden);
  }
  return false;
}

void set_alike(Mapping& m) {
  const std::string alike = preset_built_alike(m.c);
  m.share.set("model", alike.empty() ? "custom" : alike);
  if (alike.empty()) m.share.set("gated", 1.0);
  set_shape(m);
}

}  // namespace

void map_model(Mapping& m) {
  const json& c = m.c;
  const std::string name = text(c, "model.name");
  const std::string id = preset_named(name);
  const double params = number(c, "model.params");
  if (!id.empty() && agrees(c, id)) {
    m.share.set("model", id);
  } else if (has_shape(c)) {
    set_alike(m);
  } else if (number(c, "model.layers") > 0 && number(c, "model.hidden") > 0) {
    set_alike(m);
    m.share.set_if("params", params);
  } else if (params > 0) {
    m.share.set("model", "custom");
    m.share.set("params", params);
  } else {
    m.skip("the model's shape is not stated");
  }
  if (name.find("w/o MTP") != std::string::npos) m.share.set("mtp_layers", 0.0);
}

}  // namespace vram::accuracy
