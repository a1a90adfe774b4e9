#include "engine/advice/launch_dialects.h"
#include "engine/advice/launch_shell.h"
#include "engine/serving/vllm_run.h"
#include "engine/units.h"

// vllm/engine/arg_utils.py, vllm/config (0.21): names and defaults; argparse takes the beginning of a name for it.
namespace vram {
namespace {

constexpr const char* kUtilization = "gpu-memory-utilization gpu-memory-util gmu";

constexpr FlagRow kRows[] = {
    {Key::engine, "", "", "vllm"},
    // On-the-fly or pre-quantised; --dtype is that of what stays unquantised, and of a checkpoint that is not.
    {Key::weights, "quantization q",
     "fp8=fp8 awq=awq awq_marlin=awq gptq=gptq gptq_marlin=gptq bitsandbytes=nf4 modelopt_fp4=nvfp4 modelopt=fp8 "
     "mxfp4=mxfp4 mxfp8=mxfp8 fbgemm_fp8=fp8 fp8_per_tensor=fp8",
     ""},
    {Key::weights, "dtype", "auto= bfloat16=bf16 float16=fp16 half=fp16 float32=fp32 float=fp32", ""},
    {Key::kv, "kv-cache-dtype",
     "auto= bfloat16=bf16 float16=fp16 fp8=fp8 fp8_e4m3=fp8 fp8_e5m2=fp8 fp8_inc=fp8 nvfp4=nvfp4 "
     "int8_per_token_head=int8 fp8_per_token_head=fp8",
     ""},
    {Key::serve_pp, "pipeline-parallel-size pp pipeline-parallel", "", "1"},
    {Key::serve_dp, "data-parallel-size dp", "", "1"},
    {Key::serve_tp, "tensor-parallel-size tp tensor-parallel", "", "1"},
    {Key::block, "block-size", "", ""},
    {Key::max_seqs, "max-num-seqs", "", "?"},  // by the card: get_batch_defaults
    {Key::utilization, kUtilization, "", "0.92"},
    {Key::graphs, "enforce-eager", "=0 true=0 false=1", ""},
    {Key::swap, "swap-space", "", ""},
};

void read_lengths(LaunchReader& reader, GivenFlags& given) {
  reader.clear(Key::max_len);
  reader.clear(Key::batch_tokens);
  const auto read = [&](Key key, std::string_view names) {
    const GivenFlag* flag = given.find(names);
    if (flag == nullptr || flag->value == "auto" || flag->value == "-1") return false;
    reader.set(key, read_length(flag->value), flag->text);
    return true;
  };
  read(Key::max_len, "max-model-len");
  const bool tokens = read(Key::batch_tokens, "max-num-batched-tokens");
  const bool sequences = given.has("max-num-seqs");
  if (tokens && sequences) return;
  reader.resolve_now();
  if (reader.plan().accelerator == nullptr) return;
  const VllmLimits usual = vllm_limits(reader.plan());
  if (!tokens) reader.set(Key::batch_tokens, write_number(usual.batch_tokens));
  if (!sequences) reader.set(Key::max_seqs, write_number(usual.max_seqs));
}

/// {"num_speculative_tokens": 5, ...}
void read_speculation(LaunchReader& reader, GivenFlags& given) {
  const double tokens = given.number("num-speculative-tokens", 0);
  reader.clear(Key::draft_tokens);
  if (tokens > 0) reader.set(Key::draft_tokens, write_number(tokens), "num_speculative_tokens");
}

/// Of the image it runs in.
void read_release(LaunchReader& reader, GivenFlags& given) {
  const std::string version = given.value("image-version");
  if (version.empty()) return;
  reader.set(Key::engine_version, version, "image");
  reader.resolve_now();
  if (!given.has(kUtilization)) reader.set(Key::utilization, write_number(vllm_utilization(reader.plan())));
}

void read(LaunchReader& reader, GivenFlags& given) {
  reader.clear(Key::engine_version);
  read_release(reader, given);
  read_replica(reader);
  reader.clear(Key::serve_ep);
  if (given.has("model")) reader.read_model(given.value("model"), "--model");
  if (given.has("enable-expert-parallel")) {  // over all ranks of tensor and data parallelism
    const double ranks =
        given.number("tensor-parallel-size tp tensor-parallel", 1) * given.number("data-parallel-size dp", 1);
    reader.set(Key::serve_ep, write_number(ranks), "--enable-expert-parallel");
  }
  reader.clear(Key::measured_kv_pool);
  if (const double bytes = given.number("kv-cache-memory-bytes kv-cache-memory", 0); bytes > 0) {
    reader.set(Key::measured_kv_pool, write_number(bytes) + "B", "--kv-cache-memory-bytes");
  }
  read_speculation(reader, given);
  read_lengths(reader, given);
}

void write(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  writer.said({Key::serve_gpus, Key::batch_tokens, Key::max_len});
  if (plan.has(Key::max_len)) writer.flag("max-model-len", write_number(plan.max_len));
  writer.flag("max-num-batched-tokens", write_number(plan.batch_tokens));
  const bool all_ranks = plan.serve_ep == plan.serve_tp * plan.serve_dp;
  if (plan.serve_ep == 1 || all_ranks) writer.said({Key::serve_ep});
  if (plan.serve_ep > 1 && all_ranks) writer.flag("enable-expert-parallel");
  if (plan.has(Key::measured_kv_pool)) {
    writer.said({Key::measured_kv_pool});
    writer.flag("kv-cache-memory-bytes", write_number(plan.measured_kv_pool));
  }
  if (plan.has(Key::draft_tokens)) {
    writer.said({Key::draft_tokens});
    writer.flag("speculative-config", "{\"num_speculative_tokens\": " + write_number(plan.draft_tokens) + "}");
  }
}

}  // namespace

std::string served_model(std::string_view command) {
  const ShellScript script = read_script(command);
  if (script.commands.empty()) return "";
  const GivenFlags given = read_flags(script.commands[0].words, {kRows});
  return given.words.size() > 2 ? given.words[2] : "";  // vllm, serve, the model
}

const Dialect kVllm = {"vLLM", kRows, read, write};

}  // namespace vram
