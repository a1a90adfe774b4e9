#include <cmath>

#include "engine/plan/plan.h"
#include "tests/accuracy/map_training.h"

namespace vram::accuracy {
namespace {

double at_least_one(double value) { return value >= 1 ? value : 1; }

/// Experts are not cut where their layout would not divide the GPUs otherwise.
void set_expert_tensor_parallel(Mapping& m, double gpus, double tp, double pp) {
  const double ep = at_least_one(number(m.c, "ep"));
  const std::string source = lower(text(m.c, "source"));
  if (const double etp = number(m.c, "etp"); etp >= 1)
    m.share.set("etp", etp);
  else if (ep > 1 && tp > 1 && source.find("_tp1") != std::string::npos)
    m.share.set("etp", 1.0);
  else if (ep > 1 && tp > 1 && std::fmod(gpus, tp * ep * pp) != 0)
    m.share.set("etp", 1.0);
}

void set_parallel(Mapping& m) {
  const json& c = m.c;
  const bool no_tp = m.words.has("no-tp");
  const double tp = no_tp ? 1 : at_least_one(number(c, "tp"));
  const double pp = at_least_one(number(c, "pp")), cp = at_least_one(number(c, "cp"));
  const double dp = number(c, "dp");
  double gpus = number(c, "n_gpus");
  if (no_tp) gpus = std::floor(gpus / at_least_one(number(c, "tp")));
  if (m.words.has("(1 gpu)")) gpus = 1;  // what an instance of several ran on one
  if (gpus == 0) gpus = tp * pp * cp * at_least_one(dp);
  m.share.set("gpus", gpus);
  if (tp > 1) m.share.set("tp", tp);
  if (pp > 1) m.share.set("pp", pp);
  if (cp > 1) m.share.set("cp", cp);
  if (const double ep = number(c, "ep"); ep > 1) m.share.set("ep", ep);
  set_expert_tensor_parallel(m, gpus, tp, pp);
  double vpp = number(c, "virtual_pp");
  if (const size_t at = lower(text(c, "source")).find("vpp"); vpp == 0 && at != std::string::npos)
    vpp = first_number(text(c, "source").substr(at)).value_or(0);
  if (pp > 1 && vpp > 1) m.share.set("vpp", vpp);
  if (const auto sp = flag(c, "sequence_parallel"); sp && tp > 1)
    m.share.set("sp", *sp ? 1.0 : 0.0);
  else if (tp > 1 && m.share.get("framework") == "fsdp2")
    m.share.set("sp", 1.0);
  else if (tp > 1 && m.words.has("megatron-lm") && !m.words.has("sequence_parallel"))
    m.share.set("sp", 0.0);  // off unless it is asked for (megatron/training/arguments.py)
}

/// A model with a table of positions takes no sample longer than that.
double longest_sample(const Mapping& m) {
  const double seq = number(m.c, "model.seq");
  const Plan plan = read_plan(m.share.text()).plan;
  if (!plan.subject || text(m.c, "model.pos") == "learned") return seq;
  const Architecture& architecture = plan.subject->architecture;
  const bool table = architecture.position == "learned" && architecture.max_positions > 0;
  return table && seq > architecture.max_positions && !m.words.has("megatron") ? architecture.max_positions : seq;
}

constexpr double kLitgptBatch = 128;  // samples of a step where nothing else is said: litgpt, finetune/lora.py

/// litgpt begins with the longest sample and pads to the longest of a micro-batch. A limit on lengths is a round
/// number; another one is the longest sample's.
bool is_longest_sample(const Mapping& m) {
  const double seq = number(m.c, "model.seq");
  return m.share.get("library") == "litgpt" && text(m.c, "kind") == "memory" && std::fmod(seq, 32) != 0;
}

void set_batch(Mapping& m) {
  const json& c = m.c;
  double micro = number(c, "micro_batch");
  m.share.set_if("seq", longest_sample(m));
  if (const double tokens = number(c, "micro_batch_tokens"); tokens > 0 && number(c, "model.seq") == 0) {
    m.share.set("seq", tokens);
    micro = 1;
  }
  if (is_longest_sample(m)) m.share.set("longest_first", "1");
  m.share.set_if("micro_batch", micro);
  double global = number(c, "global_batch");
  const double ranks = number(c, "n_gpus") /
                       (at_least_one(number(c, "tp")) * at_least_one(number(c, "pp")) * at_least_one(number(c, "cp")));
  const double unit = at_least_one(micro) * at_least_one(ranks);
  if (global == 0 && m.share.get("library") == "litgpt") global = kLitgptBatch;
  if (global == 0 && number(c, "grad_accum") > 1 && !m.words.has("no-tp")) global = unit * number(c, "grad_accum");
  if (global > 0 && std::fmod(global, unit) == 0) m.share.set("global_batch", global);
}

/// Megatron's names of what selective recomputation applies to.
std::string modules_of(const std::string& recompute) {
  std::string modules;
  Words words;
  words.add(recompute);
  for (const char* module : {"core_attn", "moe_act", "layernorm", "mla_up_proj", "mlp", "moe", "shared_experts"})
    if (words.whole(module) && !(std::string(module) == "moe" && words.has("moe_act")))
      modules += (modules.empty() ? "" : ",") + std::string(module);
  return modules;
}

void set_recompute(Mapping& m) {
  const std::string given = lower(text(m.c, "recompute"));
  Words id;
  id.add(text(m.c, "id"));
  if (given.empty()) return;
  const bool stated_in_id = id.has("-baseline") || (id.has("-none") && given.rfind("selective", 0) == 0);
  if (given.rfind("none", 0) == 0 || given == "selective []" || (stated_in_id && id.has("korth"))) {
    m.share.set("recompute", "none");
  } else if (given.rfind("selective", 0) == 0) {
    m.share.set("recompute", "selective");
    const std::string modules = modules_of(given);
    if (!modules.empty() && modules != "core_attn") m.share.set("recompute_modules", modules);
  } else {
    m.share.set("recompute", "full");
  }
}

/// torchtune's table switches one thing on after the other: the number of the row, -1 elsewhere.
double step_of_flags(const Mapping& m) {
  const std::string id = text(m.c, "id");
  const size_t at = id.find("-flags-");
  return at == std::string::npos ? -1 : first_number(id.substr(at)).value_or(-1);
}

/// torchtune's recipes chunk the cross-entropy (loss: CEWithChunkedOutputLoss); that table switches it on third.
bool chunks_by_default(const Mapping& m) {
  const double step = step_of_flags(m);
  return m.share.get("library") == "torchtune" && (step < 0 || step >= 3);
}

/// Fifth the optimizer in backward, till adapters come; seventh its states in 8 bit.
void set_steps_of_flags(Mapping& m) {
  const double step = step_of_flags(m);
  if (step >= 5 && step < 8) m.share.set("optimizer_in_backward", "1");
  if (step == 7) m.share.set("optimizer", "adamw8bit");
}

/// Megatron-LM's functional tests ask for --attention-backend unfused, or have local layers, but those that resume from
/// a checkpoint leave the choice to TransformerEngine, and context parallelism wants flash (their model_config.yaml).
bool runs_unfused(const Mapping& m, const Words& attention) {
  Words id;
  id.add(text(m.c, "id"));
  if (attention.whole("local") && !attention.has("te/local")) return true;
  return attention.has("te/local") && (!id.has("_te_") || !id.has("resume")) && number(m.c, "cp") <= 1;
}

/// Megatron-LM's functional tests run with --no-gradient-accumulation-fusion, but its releases' and those of latent
/// attention on four expert ranks do not (their model_config.yaml).
bool adds_gradients_apart(const Mapping& m) {
  const std::string source = lower(text(m.c, "source"));
  const auto says = [&source](const char* word) { return source.find(word) != std::string::npos; };
  return says("functional_tests") && !says("release") && !says("ep4_etp1");
}

/// transformers before 4.45 took the loss of these on the model's own logits
/// (models/gpt_bigcode/modeling_gpt_bigcode.py of 4.44, and as it), and so does the code that came with the first Qwen
/// (Qwen-7B/modeling_qwen.py).
bool leaves_logits_uncast(const Mapping& m) {
  Words name;
  name.add(text(m.c, "model.name"));
  const bool uncast = name.has_any({"bigcode", "santacoder", "falcon", "bloom", "gpt2", "gpt-2", "opt-", "qwen-"});
  return m.share.get("library") != "litgpt" && m.share.get("library") != "megatron" && uncast;
}

/// DeepSpeed runs without autocast, and so does a loop that says its precision by its tensors' (bfloat16).
bool runs_autocast(const Mapping& m) {
  if (m.run.whole("amp")) return true;
  return m.share.get("framework") != "deepspeed" && !m.run.whole_any({"bfloat16", "float16"});
}

void set_kernels(Mapping& m) {
  Words attention;
  attention.add(text(m.c, "attention"));
  if (attention.has_any({"unfused", "materialized", "eager"}) || runs_unfused(m, attention))
    m.share.set("attention", "eager");
  if (attention.has("dropout 0.1") || m.words.has("2205.05198")) m.share.set("dropout", "1");
  if (m.share.get("library") == "megatron" || m.words.has_any({"liger kernel", "use_liger"}))
    m.share.set("kernels", "fused");
  if (adds_gradients_apart(m)) m.share.set("grad_fusion", "0");
  Words loss;
  loss.add(text(m.c, "id"));
  loss.add(text(m.c, "notes"));
  if (loss.has_any({"liger", "fused linear"}) || loss.whole("cce"))
    m.share.set("loss", "fused");
  else if (loss.has_any({"foak", "fast-kernels", "unsloth", "fast loss"}))
    m.share.set("loss", "inplace");
  else if (m.words.has("megatron-bridge"))
    m.share.set("loss", "inplace");  // TransformerEngine's: cross_entropy_impl of its perf_recipes/_common.py
  else if (m.words.has("llm-foundry"))
    m.share.set("loss", "fused");  // flash-attn's cross-entropy: 2 bytes a logit, overwritten in place; `inplace` has 8
  else if (loss.has_any({"chunked"}) || chunks_by_default(m))
    m.share.set("loss", "chunked");
  else if (loss.has_any({"cross-entropy-loss-fusion", "cross_entropy_loss_fusion"}))
    m.share.set("loss", "compiled");
  else if (leaves_logits_uncast(m) && !runs_autocast(m))
    m.share.set("loss", "uncast");
  const bool compiled = (m.run.has("compile") && !m.run.whole("eager")) || step_of_flags(m) >= 2;
  if (compiled) m.share.set("compile", "1");
  set_steps_of_flags(m);
}

}  // namespace

void map_layout(Mapping& m) {
  set_parallel(m);
  set_batch(m);
  set_recompute(m);
  set_kernels(m);
}

}  // namespace vram::accuracy
