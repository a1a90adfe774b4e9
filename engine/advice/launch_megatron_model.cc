#include "engine/advice/launch_megatron_model.h"

#include <algorithm>
#include <cmath>

#include "engine/model/config_json.h"
#include "engine/plan/texts.h"
#include "engine/units.h"

namespace vram {
namespace {

// Sizes that are a flag each; "" where an absent flag means none.
constexpr FlagRow kShape[] = {
    {Key::layers, "num-layers encoder-num-layers", "", ""},
    {Key::hidden, "hidden-size", "", ""},
    {Key::heads, "num-attention-heads", "", ""},
    {Key::head_dim, "kv-channels", "", ""},
    {Key::max_positions, "max-position-embeddings", "", ""},
    {Key::gated, "swiglu", "=1", "0"},
    {Key::qk_norm, "qk-layernorm", "=1", "0"},
    {Key::vocab_pad, "make-vocab-size-divisible-by", "", "128"},
    {Key::experts, "num-experts", "", "0"},
    {Key::mtp_layers, "mtp-num-layers", "", "0"},
};

// Multi-latent attention: the config's own defaults where a flag is absent.
constexpr FlagRow kLatent[] = {
    {Key::q_lora_rank, "q-lora-rank", "", "0"},     {Key::kv_lora_rank, "kv-lora-rank", "", "32"},
    {Key::nope_head_dim, "qk-head-dim", "", "128"}, {Key::rope_head_dim, "qk-pos-emb-head-dim", "", "64"},
    {Key::v_head_dim, "v-head-dim", "", "128"},
};

constexpr Key kLatentKeys[] = {Key::q_lora_rank, Key::kv_lora_rank, Key::nope_head_dim, Key::rope_head_dim,
                               Key::v_head_dim};

/// 4 hidden sizes; with swiglu two thirds of that, in steps of 64 (validate_args).
double usual_ffn(double hidden, bool gated) { return gated ? std::floor(4 * hidden * 2 / 3 / 64) * 64 : 4 * hidden; }

void read_widths(LaunchReader& reader, GivenFlags& given) {
  const double hidden = given.number("hidden-size", 0), heads = given.number("num-attention-heads", 0);
  const double ffn = given.number("ffn-hidden-size", usual_ffn(hidden, given.has("swiglu")));
  reader.set(Key::ffn, write_number(ffn));
  const bool grouped = given.has("group-query-attention");
  const double groups = given.number("num-query-groups", 1);
  reader.set(Key::kv_heads, write_number(grouped ? groups : heads));
  const bool untied = given.has("untie-embeddings-and-output-weights");
  reader.set(Key::tied, untied ? "0" : "1");
}

/// "--moe-layer-freq 2", or a list "([0]*3+[1]*58)": the zeros in front are dense layers.
void read_dense_layers(LaunchReader& reader, GivenFlags& given) {
  for (const Key key : {Key::dense_layers, Key::moe_every}) reader.set(key, "0");
  const GivenFlag* flag = given.find("moe-layer-freq");
  if (flag == nullptr) return;
  if (const std::optional<double> every = read_number(flag->value)) {
    return reader.set(Key::moe_every, write_number(*every > 1 ? *every : 0), flag->text);
  }
  constexpr std::string_view kZeros = "[0]*";
  const size_t zeros = flag->value.find(kZeros);
  size_t end = zeros + kZeros.size();
  while (zeros != std::string::npos && end < flag->value.size() && flag->value[end] >= '0' && flag->value[end] <= '9')
    ++end;
  if (zeros == std::string::npos) return reader.note(Key::dense_layers, flag->value, "the list of layers is not read");
  reader.set(Key::dense_layers, flag->value.substr(zeros + kZeros.size(), end - zeros - kZeros.size()), flag->text);
}

void read_experts(LaunchReader& reader, GivenFlags& given) {
  const double experts = given.number("num-experts", 0);
  for (const Key key : {Key::experts_per_token, Key::shared_experts}) reader.set(key, "0");
  if (experts == 0) {
    for (const Key key : {Key::expert_ffn, Key::shared_ffn, Key::dense_layers, Key::moe_every}) reader.set(key, "0");
    return;
  }
  reader.set(Key::experts_per_token, write_number(given.number("moe-router-topk", 2)));
  const double width = given.number("moe-ffn-hidden-size", reader.plan().ffn);
  reader.set(Key::expert_ffn, write_number(width));
  const double shared = given.number("moe-shared-expert-intermediate-size", 0);
  reader.set(Key::shared_ffn, write_number(shared));
  if (shared > 0 && width > 0) {
    reader.set(Key::shared_experts, write_number(std::max(1.0, std::floor(shared / width))));
  }
  read_dense_layers(reader, given);
}

/// What only fields of an architecture say, for a model that no preset names.
void read_structure(LaunchReader& reader, GivenFlags& given, bool named) {
  const bool biases = !given.has("disable-bias-linear");
  const std::string position = given.value("position-embedding-type");
  const bool rotary =
      position == "rope" || position == "yarn" || position == "mrope" || given.has("use-rotary-position-embeddings");
  const bool learned = !rotary && position != "none";
  const bool rms = given.value("normalization") == "RMSNorm";
  given.find("squared-relu add-qkv-bias");
  reader.set(Key::qkv_bias, biases || given.has("add-qkv-bias") ? "1" : "0");
  reader.set(Key::learned_positions, learned ? "1" : "0");
  if (named) return;
  Architecture a;
  a.norm = rms ? "rmsnorm" : "layernorm";
  a.norm_bias = !rms;
  a.o_bias = a.mlp_bias = biases;
  a.position = rotary ? "rope" : learned ? "learned" : "none";
  a.hidden_act = given.has("squared-relu") ? "relu2" : given.has("swiglu") ? "silu" : "gelu";
  if (const std::string arch = write_arch(a); !arch.empty()) reader.set(Key::arch, arch);
}

/// The name that a tokenizer or a checkpoint's path gives.
std::string named_preset(GivenFlags& given) {
  for (const char* flag :
       {"tokenizer-model", "hf-model-path", "load", "pretrained-checkpoint", "save", "tokenizer-name-or-path"}) {
    std::string preset = preset_of_model_name(given.value(flag));
    if (!preset.empty()) return preset;
  }
  return "";
}

/// Whether the preset of that name has the layers and widths that the flags give.
bool agrees(const std::string& preset, GivenFlags& given) {
  const Plan plan = read_plan("model=" + preset).plan;
  return plan.layers == given.number("num-layers encoder-num-layers", 0) &&
         plan.hidden == given.number("hidden-size", 0) && plan.heads == given.number("num-attention-heads", 0);
}

void read_shape(LaunchReader& reader, GivenFlags& given) {
  reader.read_table(kShape, given);
  if (given.has("multi-latent-attention")) {
    reader.read_table(kLatent, given);
  } else {
    for (const Key key : kLatentKeys) reader.set(key, "0");
  }
  read_widths(reader, given);
  read_experts(reader, given);
  if (const double vocab = given.number("padded-vocab-size vocab-size", 0); vocab > 0) {
    reader.set(Key::vocab, write_number(vocab), "--vocab-size");
  } else if (given.value("tokenizer-type") == "GPT2BPETokenizer") {
    reader.set(Key::vocab, "50257", "--tokenizer-type GPT2BPETokenizer");
  }
}

void write_biases(LaunchWriter& writer, const Architecture& a) {
  const bool biases = a.o_bias || a.mlp_bias;
  if (!biases) writer.flag("disable-bias-linear");
  if (!biases && a.qkv_bias) writer.flag("add-qkv-bias");
  if (a.norm == "rmsnorm") writer.flag("normalization", "RMSNorm");
  writer.flag("position-embedding-type", a.learned_positions    ? "learned_absolute"
                                         : a.position == "none" ? "none"
                                                                : "rope");
  if (a.hidden_act == "relu2") writer.flag("squared-relu");
}

void write_experts(LaunchWriter& writer, const Plan& plan) {
  if (plan.experts == 0) return;
  writer.flag("num-experts", write_number(plan.experts));
  writer.flag("moe-router-topk", write_number(plan.experts_per_token));
  if (plan.expert_ffn > 0) writer.flag("moe-ffn-hidden-size", write_number(plan.expert_ffn));
  if (plan.shared_ffn > 0) writer.flag("moe-shared-expert-intermediate-size", write_number(plan.shared_ffn));
  if (plan.dense_layers > 0) {
    const double sparse = std::max(0.0, plan.layers - plan.dense_layers);
    writer.flag("moe-layer-freq", "([0]*" + write_number(plan.dense_layers) + "+[1]*" + write_number(sparse) + ")");
  } else if (plan.moe_every > 1) {
    writer.flag("moe-layer-freq", write_number(plan.moe_every));
  }
}

void write_attention(LaunchWriter& writer, const Plan& plan) {
  writer.flag("num-attention-heads", write_number(plan.heads));
  if (plan.kv_lora_rank > 0) {
    writer.flag("multi-latent-attention");
    if (plan.q_lora_rank > 0) writer.flag("q-lora-rank", write_number(plan.q_lora_rank));
    writer.flag("kv-lora-rank", write_number(plan.kv_lora_rank));
    writer.flag("qk-head-dim", write_number(plan.nope_head_dim));
    writer.flag("qk-pos-emb-head-dim", write_number(plan.rope_head_dim));
    writer.flag("v-head-dim", write_number(plan.v_head_dim));
  }
  if (plan.kv_heads != plan.heads && plan.kv_heads > 0) {
    writer.flag("group-query-attention");
    writer.flag("num-query-groups", write_number(plan.kv_heads));
  }
  if (plan.head_dim > 0 && plan.head_dim * plan.heads != plan.hidden) {
    writer.flag("kv-channels", write_number(plan.head_dim));
  }
  if (plan.qk_norm) writer.flag("qk-layernorm");
}

/// Layers of attention and an MLP, with all their sizes.
bool is_transformer(const Plan& plan) {
  return plan.subject->has_shape && plan.heads > 0 && (plan.ffn > 0 || plan.expert_ffn > 0);
}

/// The preset's own layers and widths, not others beside its name.
bool keeps_its_shape(const Plan& plan) {
  const Architecture& own = *plan.base_architecture;
  return plan.layers == own.layers && plan.hidden == own.hidden && plan.heads == own.heads;
}

/// Parts of the model that stand in none of these flags.
void comment_the_rest(LaunchWriter& writer, const Plan& plan) {
  std::string rest;
  const auto add = [&](bool there, const char* what) {
    if (there) rest.append(rest.empty() ? "" : ", ").append(what);
  };
  add(plan.window > 0, "a sliding window");
  add(!plan.pattern.empty(), "several kinds of layers");
  add(plan.extra_params > 0, "parameters outside the text model");
  add(plan.has(Key::params), "a nominal parameter count");
  if (!rest.empty()) writer.comment("the model's flags leave out: " + rest);
}

}  // namespace

void read_megatron_model(LaunchReader& reader, GivenFlags& given) {
  if (!given.has("num-layers encoder-num-layers") || !given.has("hidden-size")) return;
  given.find("tokenizer-type group-query-attention");
  const std::string preset = named_preset(given);
  const bool named = !preset.empty() && agrees(preset, given);
  reader.take_model(named ? preset : "custom", named ? "--tokenizer-model" : "");
  read_shape(reader, given);
  read_structure(reader, given, named);
}

void write_megatron_model(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  for (const Field& row : fields()) {
    if (row.group == Group::model) writer.said({row.key});
  }
  if (!is_transformer(plan)) return writer.comment("the model has no shape to write as flags");
  const std::string name = keeps_its_shape(plan) ? model_name_of(plan) : "";
  writer.flag("tokenizer-type", name.empty() ? "NullTokenizer" : "HuggingFaceTokenizer");
  if (!name.empty()) writer.flag("tokenizer-model", name);
  if (plan.vocab > 0 && (name.empty() || plan.has(Key::vocab))) writer.flag("vocab-size", write_number(plan.vocab));
  writer.flag("make-vocab-size-divisible-by", write_number(plan.vocab_pad));
  writer.flag("num-layers", write_number(plan.layers));
  writer.flag("hidden-size", write_number(plan.hidden));
  const double ffn = plan.ffn > 0 ? plan.ffn : plan.expert_ffn;  // without a dense layer nothing has this width
  if (ffn > 0) writer.flag("ffn-hidden-size", write_number(ffn));
  write_attention(writer, plan);
  if (plan.max_positions > 0) writer.flag("max-position-embeddings", write_number(plan.max_positions));
  if (plan.gated) writer.flag("swiglu");
  if (!plan.tied) writer.flag("untie-embeddings-and-output-weights");
  write_biases(writer, plan.subject->architecture);
  write_experts(writer, plan);
  if (plan.mtp_layers > 0) writer.flag("mtp-num-layers", write_number(plan.mtp_layers));
  comment_the_rest(writer, plan);
}

}  // namespace vram
