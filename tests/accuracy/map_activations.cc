#include "tests/accuracy/map_activations.h"

#include <algorithm>
#include <cctype>
#include <span>

#include "tests/accuracy/share.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

struct LayerMap {
  const json& c;
  Words words;  // id, implementation, dtype, attention, dropout
  Share share;
  std::string part, skipped;

  void skip(const char* why) {
    if (skipped.empty()) skipped = why;
  }
};

struct Word {
  const char* word;
  const char* value;
};

// Whose config.json says how such a layer is built. Longer names first.
constexpr Word kFamilies[] = {
    {"gemma2", "gemma2"},          {"gemma3", "gemma3_text"}, {"gemma", "gemma"},       {"olmo2", "olmo2"},
    {"cohere", "cohere"},          {"phi-3", "phi3"},         {"gpt-neox", "gpt_neox"}, {"hf phi", "phi"},
    {"falcon", "falcon"},          {"gpt-2", "gpt2"},         {"nanogpt", "gpt2"},      {"gpt-3", "gpt2"},
    {"deepseek-v3", "deepseek_v3"}};
constexpr Word kActivations[] = {{"gelu_new", "gelu_new"},
                                 {"gelu_fast", "gelu_fast"},
                                 {"quick_gelu", "quick_gelu"},
                                 {"relu squared", "relu2"},
                                 {"relu", "relu"},
                                 {"gelu tanh", "gelu_pytorch_tanh"},
                                 {"geglu tanh", "gelu_pytorch_tanh"},
                                 {"gelu erf", "gelu"},
                                 {"silu", "silu"}};

std::string value_of(const Words& words, std::span<const Word> table) {
  for (const Word& row : table)
    if (words.has(row.word)) return row.value;
  return "";
}

void set_family(LayerMap& m) {
  json arch = json::object();
  if (const std::string family = value_of(m.words, kFamilies); !family.empty()) arch["model_type"] = family;
  if (m.words.has("unit: mlp") || m.words.has("fusedgelu"))
    if (const std::string act = value_of(m.words, kActivations); !act.empty()) arch["hidden_act"] = act;
  if (m.words.has("parallel residual") && m.words.has("neox")) arch["parallel_residual"] = true;
  if (m.words.has("mqa")) arch.update({{"parallel_residual", true}, {"norms_per_layer", 1}});
  if (m.words.has("softcap")) arch["softcap"] = 50;
  if (m.words.has("x*sigmoid")) m.skip("an activation of elementary operations that no key names");
  m.share.set("model", "custom");
  if (!arch.empty()) m.share.set("arch", arch.dump());
  const std::string family = text(arch, "model_type");
  const bool two_matrices =
      family == "gpt2" || family == "gpt_neox" || family == "phi" || family == "falcon" || m.words.has("2-matrix");
  m.share.set("gated", two_matrices ? 0.0 : 1.0);
  if (m.words.has("qk norm")) m.share.set("qk_norm", 1.0);
  if (m.words.has("qwen2")) m.share.set("qkv_bias", 1.0);
}

void set_library(LayerMap& m) {
  const char* library = "hf";
  for (const char* name : {"nanogpt", "litgpt", "torchtune", "torchtitan"})
    if (m.words.has(name)) library = name;
  const bool megatron = m.words.has("megatron-core");
  m.share.set("framework", megatron ? "megatron" : "ddp");
  m.share.set("library", megatron ? "megatron" : library);
  if (m.words.has("fused swiglu") || m.words.has("fused rmsnorm")) m.share.set("kernels", "fused");
  if (m.words.has("torch 1.13") || m.words.has("_torch113")) m.skip("a version of PyTorch before 2");
}

void set_precision(LayerMap& m) {
  const std::string dtype = text(m.c, "dtype");
  const bool megatron = m.share.get("framework") == "megatron";
  if (dtype.find("autocast") != std::string::npos)
    m.share.set("precision", "bf16");
  else if (dtype == "fp32")
    m.share.set("precision", "fp32");
  else if (dtype == "bf16")
    m.share.set("precision", megatron ? "bf16" : "bf16-pure");
  else
    m.skip("several precisions in one entry");
}

void set_attention(LayerMap& m) {
  Words attention;
  attention.add(text(m.c, "attention"));
  m.share.set("attention", attention.has("eager") ? "eager" : "flash");
  const bool repeated = attention.has("kv repeated") || m.words.has("repeat_kv") || attention.has("real cpu");
  if (repeated) m.skip("keys and values repeated before the kernel");
  if (m.words.has("posids") || m.words.has("cos/sin recomputed")) m.skip("rotary tables in every layer");
  if (m.words.has("te flash-attn") || m.words.has("flash_attention_2")) m.skip("copies around the attention kernel");
  const std::string dropout = text(m.c, "dropout");
  // Of a frozen layer `dropout` is the adapters'.
  if (dropout.find("lora") != std::string::npos || number(m.c, "dropout") > 0) m.share.set("dropout", 1.0);
}

void set_adapters(LayerMap& m) {
  if (m.words.has("every weight frozen") || m.words.has("norms trainable") || m.words.has("weights trainable"))
    m.skip("a frozen layer without adapters");
  if (!m.words.has("peft lora")) return;
  m.share.set("method", "lora");
  m.share.set("lora_targets", m.words.has("lora on all") ? "all" : m.words.has("lora on qkvo") ? "attention" : "qv");
  const bool as_base = text(m.c, "dtype") == "bf16" && !m.words.has("fp32adapters");
  if (as_base) m.share.set("library", "torchtune");  // the same layer, with adapters in the precision of the base
}

void set_part(LayerMap& m) {
  if (m.words.has("moe block"))
    m.part = "moe";
  else if (m.words.has("mla"))
    m.part = "attention";
  else if (m.words.has("unit: mlp"))
    m.part = "mlp";
  else if (m.words.has("unit: norm"))
    m.skip("a single operation");
  else if (m.words.has("lm_head + loss"))
    m.part = "copies";
  else if (m.words.has("torch.utils.checkpoint"))
    m.share.set("recompute", "full");
  if (m.part == "copies")
    m.share.set("loss", m.words.has("chunk") && !m.words.has("chunk_size 0") ? "chunked" : "full");
  if (m.words.has("peak live bytes")) m.skip("a working set, not what is saved");
}

struct ShapeKey {
  const char* field;
  const char* key;
};
constexpr ShapeKey kShape[] = {{"h", "hidden"},
                               {"heads", "heads"},
                               {"kv_heads", "kv_heads"},
                               {"head_dim", "head_dim"},
                               {"ffn", "ffn"},
                               {"vocab", "vocab"},
                               {"experts", "experts"},
                               {"topk", "experts_per_token"},
                               {"moe_ffn", "expert_ffn"},
                               {"q_lora", "q_lora_rank"},
                               {"kv_lora", "kv_lora_rank"},
                               {"d_rope", "rope_head_dim"},
                               {"d_nope", "nope_head_dim"},
                               {"d_v", "v_head_dim"},
                               {"rank", "lora_rank"},
                               {"b", "micro_batch"},
                               {"s", "seq"}};

Share shaped(const LayerMap& m, const json& shape) {
  Share share = m.share;
  share.set("layers", 1.0);
  for (const ShapeKey& key : kShape) {
    const bool experts = std::string_view(key.field) == "experts" || std::string_view(key.field) == "topk" ||
                         std::string_view(key.field) == "moe_ffn";
    if (experts && m.part != "moe") continue;
    const bool latent = std::string_view(key.field).find("lora") != std::string_view::npos ||
                        std::string_view(key.field).rfind("d_", 0) == 0;
    if (latent && m.part != "attention") continue;
    share.set_if(key.key, number(shape, key.field));
  }
  if (m.part == "copies") {  // any layer will do
    for (const char* key : {"heads", "kv_heads"}) share.set(key, 1.0);
    share.set("ffn", 8.0);
  }
  if (m.part == "moe" && m.words.has("shared expert")) share.set("shared_ffn", number(shape, "moe_ffn"));
  if (m.words.has("ffn=4h") || m.words.has("nanogpt")) share.set("ffn", 4 * number(shape, "h"));
  if (m.words.has("deepseek")) share.set("dense_layers", 0.0);
  if (share.get("vocab").empty()) share.set("vocab", 100.0);
  if (m.share.get("framework") != "ddp" && share.get("kv_heads").empty()) share.set("kv_heads", share.get("heads"));
  // Layers of one head group keep as many KV heads as heads.
  if (m.words.has("gpt") || m.words.has("hf phi (")) share.set("kv_heads", share.get("heads"));
  return share;
}

/// A term of a formula in a shape: "b*heads*s^2".
double term(const std::string& product, const json& shape) {
  double value = 1;
  size_t begin = 0;
  while (begin <= product.size()) {
    const size_t end = std::min(product.find('*', begin), product.size());
    const std::string name = product.substr(begin, end - begin);
    const size_t power = name.find("^2");
    const std::string variable = name.substr(0, power);
    const double one = std::isdigit(static_cast<unsigned char>(variable[0])) ? first_number(variable).value_or(1)
                                                                             : number(shape, variable);
    value *= power == std::string::npos ? one : one * one;
    begin = end + 1;
  }
  return value;
}

/// What grows with the tokens: tensors a layer has once (copies of weights) are no saved activations of a token.
double bytes_of_tokens(const LayerMap& m, const json& shape) {
  if (m.part == "copies") return std::max(number(shape, "fwd_peak"), number(shape, "bwd_peak"));
  if (const double hooks = number(shape, "hook_bytes"); hooks > 0) return hooks;
  const json* coefficients = find(m.c, "coefficients");
  if (!coefficients || !coefficients->is_object()) return number(shape, "bytes");
  double bytes = 0;
  for (const auto& [product, coefficient] : coefficients->items())
    if (product.rfind("b*", 0) == 0 && coefficient.is_number())
      bytes += coefficient.get<double>() * term(product, shape);
  return bytes > 0 ? bytes : number(shape, "bytes");
}

}  // namespace

std::vector<Measurement> activation_measurements(const json& c) {
  LayerMap m{c, {}, {}, "", ""};
  for (const char* field : {"id", "implementation", "dtype", "attention", "dropout"}) m.words.add(text(c, field));
  set_family(m);
  set_library(m);
  set_precision(m);
  set_attention(m);
  set_adapters(m);
  set_part(m);
  std::vector<Measurement> out;
  const json* shapes = find(c, "measured");
  if (!shapes || !shapes->is_array()) return out;
  for (const json& shape : *shapes) {
    const double tokens = number(shape, "b") * number(shape, "s");
    if (tokens == 0 || number(shape, "h") == 0 || bytes_of_tokens(m, shape) == 0) continue;
    Measurement one;
    one.id = text(c, "id");
    one.source = text(c, "source");
    one.family = m.part == "copies" ? "saved tensors, loss" : "saved tensors, " + text(c, "dtype");
    one.figure = m.part == "copies" ? Figure::loss_peak : Figure::saved;
    one.part = m.part;
    one.best = true;
    one.share = shaped(m, shape).text();
    one.skipped = m.skipped;
    one.measured = bytes_of_tokens(m, shape) / tokens;
    one.unit = "bytes a token";
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace vram::accuracy
