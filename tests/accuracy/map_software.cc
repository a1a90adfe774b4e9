#include "engine/plan/plan.h"
#include "tests/accuracy/map_training.h"

namespace vram::accuracy {
namespace {

struct Word {
  const char* word;
  const char* value;
};

// Whose layers and losses run, by the name of the software in the case's own words.
constexpr Word kLibraries[] = {{"unsloth", "unsloth"},
                               {"torchtitan", "torchtitan"},
                               {"torchtune", "torchtune"},
                               {"litgpt", "litgpt"},
                               {"lit-gpt", "litgpt"},
                               {"nanogpt", "nanogpt"},
                               {"megatron", "megatron"},
                               {"nemo", "megatron"},
                               {"2104.04473", "megatron"},
                               {"2205.05198", "megatron"},
                               {"hf gradient checkpointing", "hf"},
                               {"transformers", "hf"},
                               {"huggingface", "hf"},
                               {"llm-foundry", "hf"},
                               {"peft", "hf"},
                               {"llama-factory", "hf"},
                               {"axolotl", "hf"},
                               {"qwen", "hf"}};

/// What is said of recomputation may speak of another library ("full (unsloth: offloaded checkpoints)").
std::string library_of(const Mapping& m) {
  Words elsewhere;
  for (const char* field : {"id", "source", "precision", "optimizer", "sharding", "attention", "notes"})
    elsewhere.add(text(m.c, field));
  const Words* const places[] = {&elsewhere, &m.words};
  for (const Words* words : places)
    for (const Word& word : kLibraries)
      if (words->has(word.word)) return word.value;
  const bool pipelined = number(m.c, "tp") > 1 || number(m.c, "pp") > 1;
  return pipelined ? "megatron" : "";
}

std::string framework_of(const Mapping& m, const std::string& library) {
  Words sharding;
  sharding.add(text(m.c, "sharding"));
  const bool one = number(m.c, "n_gpus") <= 1 || m.words.has("(1 gpu)");
  if (sharding.has("fsdp2") || m.run.has("fsdp2")) return "fsdp2";
  if (sharding.has("fsdp") || m.run.has("fsdp")) return "fsdp";
  if (sharding.has_any({"megatron", "distributed optimizer"})) return "megatron";
  if (sharding.has_any({"deepspeed", "zero"}) || m.run.has_any({"deepspeed", "zero-3", "zero3"})) return "deepspeed";
  if (library == "megatron") return "megatron";
  if (one) return "ddp";
  if (library == "torchtitan" || library == "torchtune") return "fsdp2";
  if (library == "litgpt") return "fsdp";
  return "ddp";
}

void set_zero(Mapping& m, const std::string& framework) {
  Words sharding;
  sharding.add(text(m.c, "sharding"));
  if (sharding.empty()) sharding.add(text(m.c, "id"));
  if (framework == "deepspeed") {
    for (const char* stage : {"0", "1", "2", "3"})
      for (const char* spelling : {"zero-", "zero", "zero "})
        if (sharding.has(std::string(spelling) + stage)) m.share.set("zero", stage);
  } else if (framework == "megatron" && sharding.has("none")) {
    m.share.set("zero", "0");
  } else if (sharding.has("grad_op")) {
    m.share.set("zero", "2");
  } else if (framework == "fsdp" && sharding.has_any({"no_shard", "no shard"})) {
    m.share.set("zero", "0");
  }
}

bool is_adapter_method(const Mapping& m) {
  return !text(m.c, "lora").empty() || m.method.whole_any({"qlora", "q-lora", "lora"});
}

/// The storage of a 4- or 8-bit base in the words of a precision; "" for none.
std::string quantised_base(const Mapping& m) {
  Words optimizer;
  optimizer.add(text(m.c, "optimizer"));
  if (m.method.has("gptq")) return "gptq";
  if (m.method.whole("awq")) return "awq";
  if (m.method.has("int4") && is_adapter_method(m)) return "gptq";
  if (m.method.has_any({"nf4", "bnb-4", "bnb.nf4"}) || m.method.whole_any({"qlora", "q-lora"})) return "nf4";
  if (m.method.has_any({"4-bit", "4bit"}) && !optimizer.has_any({"4-bit", "4bit"})) return "nf4";
  if (m.method.has_any({"int8", "8-bit"}) && is_adapter_method(m) && !optimizer.has("8-bit")) return "int8";
  return "";
}

/// Which library upcasts a k-bit base's norms, and with them the residual stream: peft's preparation, but of GPTQ's
/// (utils/other.py, prepare_model_for_kbit_training). LLaMA-Factory has its own, which does so on request only
/// (upcast_layernorm), axolotl casts them back for FlashAttention (loaders/model.py).
bool prepares_kbit(const Mapping& m, const std::string& library, const std::string& base) {
  return library == "hf" && base != "gptq" && !m.words.has_any({"accelerated-peft", "llama-factory", "axolotl"});
}

/// Under transformers' autocast a LayerNorm gives fp32, and bitsandbytes' linears what they are given
/// (bitsandbytes, nn/modules.py, Linear4bit): the residual stream is fp32 without any preparation.
bool widens_stream(const Mapping& m, const std::string& library, const std::string& base) {
  const Plan plan = read_plan(m.share.text()).plan;
  return library == "hf" && base == "nf4" && plan.subject && plan.subject->architecture.norm == "layernorm";
}

void set_targets(Mapping& m, const std::string& lora) {
  Words targets;
  targets.add(lora);
  const bool all = targets.has_any({"all-linear", "all linear"});
  const bool head = targets.whole_any({"head", "output"}) && m.share.get("train_embeddings").empty();
  const bool mlp = targets.whole_any({"mlp", "gate", "up", "down"}) || targets.has("mlp");
  const bool o = targets.whole_any({"o", "projection", "k", "key"});
  const bool q = targets.whole_any({"q", "query", "v", "value"});
  if (all || (mlp && q)) {
    m.share.set("lora_targets", head ? "all+head" : "all");
  } else if (mlp) {
    m.share.set("lora_targets", "mlp");
  } else if (o) {
    m.share.set("lora_targets", "attention");
  } else if (q) {
    m.share.set("lora_targets", "qv");
  }
}

/// litgpt's configurations drop 5% or 10% of what its adapters read; peft's and torchtune's defaults drop nothing.
bool drops_inputs(const std::string& library) { return library == "litgpt"; }

void set_adapters(Mapping& m, const std::string& library) {
  const std::string lora = lower(text(m.c, "lora"));
  const std::string base = quantised_base(m);
  if (m.run.has("freeze")) m.skip("a method without a key");
  if (!is_adapter_method(m) && base.empty()) return;
  const bool prompts = lora.rfind("adapter", 0) == 0;
  m.share.set("method", prompts        ? (lora.rfind("adapter_v2", 0) == 0 ? "adapter_v2" : "adapter")
                        : base.empty() ? "lora"
                                       : "qlora");
  if (drops_inputs(library)) m.share.set("dropout", "1");
  if (!base.empty()) {
    m.share.set("base", base);
    const bool always = library == "torchtune";  // torchao's NF4 tensors
    if (base == "nf4")
      m.share.set("double_quant", !always && m.run.has("nf4") && !m.run.has_any({"dq", "double"}) ? "0" : "1");
    if (!prepares_kbit(m, library, base) && !widens_stream(m, library, base))
      m.share.set("residual", m.run.whole("float16") ? "fp16" : "bf16");
  }
  if (lora.empty() && text(m.c, "kind") == "memory") m.skip("rank and targets of the adapters are not stated");
  if (m.run.whole_any({"emb", "embedding", "embeddings", "modules_to_save"})) m.share.set("train_embeddings", "1");
  if (lora.empty()) return;
  if (lora[0] == 'r') m.share.set_if("lora_rank", first_number(lora).value_or(0));
  if (lora.size() > 4 && lora.rfind("all-linear r", 0) == 0)
    m.share.set_if("lora_rank", first_number(lora).value_or(0));
  set_targets(m, lora);
}

/// Precision of full training and of what is not adapted.
std::string precision_of(const Mapping& m, const std::string& library, const std::string& framework) {
  Words p;
  p.add(text(m.c, "precision"));
  const bool adapters = is_adapter_method(m) || !quantised_base(m).empty();
  if (p.has_any({"mxfp8", "fp8-mx"})) return "mxfp8";
  if (p.has("nvfp4")) return "nvfp4";
  if (p.has_any({"fp8", "float8"})) return "fp8";
  if (p.has_any({"int8", "int4"}) && !adapters) return "";
  if (p.has("mixed")) return p.has("bf16") && !p.has("fp16") ? "bf16" : (adapters ? "bf16" : "fp16");
  if (p.has("amp flag on")) return framework == "fsdp" && !adapters ? "bf16" : "bf16-pure";
  if (p.whole_any({"bfloat16", "pure_bf16"}) || p.has_any({"bf16-true", "bf16 pure", "pure bf16"})) return "bf16-pure";
  if (p.has_any({"float16", "gptq"})) return "fp16-pure";
  if (p.has("fp32") && !p.has("bf16") && !p.has("fp16")) return "fp32";
  if (adapters) return "";
  if (p.has("amp") || p.has("master")) return "bf16";
  const bool trains_in_16_bit = library == "torchtune" || library == "litgpt" || p.has_any({"eager", "compile"});
  if (p.has("bf16") && trains_in_16_bit && framework != "fsdp2") return "bf16-pure";
  if (p.has("bf16") && library == "torchtune") return "bf16-pure";
  if (p.has("fp16")) return "fp16";
  return "bf16";
}

/// Megatron-Bridge's benchmarks reduce gradients in 16 bit (perf_recipes/_common.py), its 8-bit recipes keep weights in
/// 8 bit alone (training/mixed_precision.py, fp8_param_gather); the recipes of these models keep 16-bit moments, too
/// (recipes/deepseek/h100/deepseek_v3.py, moonlight_16b.py, olmoe_7b.py, nemotron_3_super.py: exp_avg_dtype).
void set_bridge_precision(Mapping& m) {
  if (!m.words.has("megatron-bridge") || text(m.c, "kind") != "memory") return;
  m.share.set("grad_dtype", "bf16");
  const std::string precision = m.share.get("precision");
  if ((precision == "fp8" || precision == "mxfp8") && !m.run.has_any({"blockwise", "subchannel"}))
    m.share.set("fp8_params", "1");
  const std::string model = lower(text(m.c, "model.name"));
  for (const char* name : {"deepseek-v3", "moonlight", "olmoe", "nemotron-3-super"})
    if (model.find(name) != std::string::npos) m.share.set("moments", "bf16");
}

void set_precision(Mapping& m, const std::string& library, const std::string& framework) {
  const std::string precision = precision_of(m, library, framework);
  if (!precision.empty()) m.share.set("precision", precision);
  if (framework == "deepspeed" && m.run.has("fp32 grad")) m.share.set("grad_dtype", "fp32");
  set_bridge_precision(m);
}

void set_optimizer(Mapping& m, const std::string& framework) {
  Words o;
  o.add(text(m.c, "optimizer"));
  if (o.has_any({"8-bit", "8bit"}))
    m.share.set("optimizer", "adamw8bit");
  else if (o.has_any({"4-bit", "4bit"}))
    m.share.set("optimizer", "adamw4bit");
  else if (o.has("adafactor"))
    m.share.set("optimizer", "adafactor");
  else if (o.whole("lion") && !o.has("adamw"))
    m.share.set("optimizer", "lion");
  else if (o.whole("sgd"))
    m.share.set("optimizer", "sgd");
  else if (o.has("muon"))
    m.share.set("optimizer", "muon");
  // PyTorch's loops step tensor by tensor unless told otherwise; torchtune's recipes and Megatron-LM step fused.
  const std::string library = m.share.get("library");
  const bool own_loop = library == "torchtune" || library == "megatron";
  const bool torch_loop = (framework == "ddp" || framework == "fsdp") && !own_loop;
  if (!o.has("fused") && (o.has("foreach") || torch_loop)) m.share.set("fused_optimizer", "0");
  if (o.has("in backward") || text(m.c, "id").find("optim-in-bwd") != std::string::npos)
    m.share.set("optimizer_in_backward", "1");
}

void set_offload(Mapping& m) {
  Words offload;
  offload.add(text(m.c, "offload"));
  offload.add(text(m.c, "optimizer"));
  Words id;
  id.add(text(m.c, "id"));
  const bool numbered = m.words.has("memory.rst");  // DeepSpeed's document numbers the choices of its estimator
  Words stated;
  stated.add(text(m.c, "offload"));
  const bool weights = offload.has_any({"param=cpu", "cpu offload"}) || stated.has("parameters") ||
                       (stated.has("weights") && !stated.has_any({"fp32 weights", "master weights"}));
  if (weights || m.words.has("fsdp-offload") || m.run.has("offload param") || (numbered && id.whole("case2")))
    m.share.set("offload", "all");
  else if (offload.has_any({"opt=cpu", "paged"}) || stated.has("optimizer") || (numbered && id.whole("case3")))
    m.share.set("offload", "optimizer");
  Words recompute;
  recompute.add(text(m.c, "recompute"));
  const bool of_another = recompute.has("unsloth:") && m.share.get("library") != "unsloth";
  if ((recompute.has("offload") || stated.has("activation")) && !of_another) m.share.set("offload", "activations");
}

}  // namespace

void map_software(Mapping& m) {
  const std::string library = library_of(m);
  const std::string framework = framework_of(m, library);
  m.share.set("framework", framework);
  if (!library.empty()) m.share.set("library", library);
  set_zero(m, framework);
  set_precision(m, library, framework);
  set_adapters(m, library);
  set_optimizer(m, framework);
  set_offload(m);
}

}  // namespace vram::accuracy
