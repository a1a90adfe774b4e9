#include "engine/advice/launch_dialects.h"
#include "engine/units.h"

// sglang/srt/server_args.py: names and defaults. Those that the server works out from the card stay ours.
namespace vram {
namespace {

constexpr FlagRow kRows[] = {
    {Key::engine, "", "", "sglang"},
    {Key::weights, "quantization",
     "fp8=fp8 awq=awq awq_marlin=awq gptq=gptq gptq_marlin=gptq bitsandbytes=nf4 modelopt_fp4=nvfp4 modelopt_fp8=fp8 "
     "mxfp4=mxfp4 mxfp8=mxfp8 w8a8_int8=int8 w8a8_fp8=fp8",
     ""},
    {Key::weights, "dtype", "auto= bfloat16=bf16 float16=fp16 half=fp16 float32=fp32 float=fp32", ""},
    {Key::kv, "kv-cache-dtype", "auto= bfloat16=bf16 bf16=bf16 fp8_e4m3=fp8 fp8_e5m2=fp8 nvfp4=nvfp4 mxfp8=mxfp8", ""},
    {Key::serve_pp, "pp-size pipeline-parallel-size pp", "", "1"},
    {Key::serve_ep, "ep-size expert-parallel-size ep", "", "1"},
    {Key::block, "page-size", "", ""},
    {Key::max_seqs, "max-running-requests", "", ""},
    {Key::utilization, "mem-fraction-static", "", ""},
    {Key::graphs, "disable-cuda-graph", "=0", ""},
    {Key::draft_tokens, "speculative-num-draft-tokens", "", ""},
};

constexpr std::string_view kTp = "tp-size tensor-parallel-size tp", kDp = "dp-size data-parallel-size dp";

/// With attention data parallelism dp lies inside tp; without, it is whole copies behind a router.
void read_ranks(LaunchReader& reader, GivenFlags& given) {
  const double tp = given.number(kTp, 1), dp = given.number(kDp, 1);
  const bool inside = given.has("enable-dp-attention");
  for (const Key key : {Key::serve_dp, Key::replicas}) reader.clear(key);
  const GivenFlag* tp_flag = given.find(kTp);
  const GivenFlag* dp_flag = given.find(kDp);
  if (inside && dp > tp) reader.note(Key::serve_dp, write_number(dp), "--dp-size is above --tp-size");
  reader.set(Key::serve_tp, write_number(inside && tp >= dp ? tp / dp : tp), tp_flag != nullptr ? tp_flag->text : "");
  if (dp_flag != nullptr) reader.set(inside ? Key::serve_dp : Key::replicas, write_number(dp), dp_flag->text);
  read_replica(reader);
}

void read(LaunchReader& reader, GivenFlags& given) {
  reader.clear(Key::engine_version);
  if (const GivenFlag* model = given.find("model-path model"); model != nullptr) {
    reader.read_model(model->value, "--model-path");
  }
  read_ranks(reader, given);
  reader.clear(Key::max_len);
  if (const GivenFlag* length = given.find("context-length"); length != nullptr) {
    reader.set(Key::max_len, read_length(length->value), length->text);
  }
  reader.clear(Key::batch_tokens);
  const GivenFlag* chunk = given.find("chunked-prefill-size");  // -1: prompts are not cut
  if (chunk != nullptr && chunk->value != "-1") reader.set(Key::batch_tokens, chunk->value, chunk->text);
}

void write(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  writer.said({Key::serve_gpus, Key::serve_tp, Key::serve_dp, Key::max_len, Key::batch_tokens});
  if (plan.has(Key::batch_tokens)) writer.flag("chunked-prefill-size", write_number(plan.batch_tokens));
  const double ranks = plan.serve_tp * plan.serve_dp;
  if (ranks > 1) writer.flag("tp-size", write_number(ranks));
  if (plan.serve_dp > 1) {
    writer.flag("dp-size", write_number(plan.serve_dp));
    writer.flag("enable-dp-attention");
  } else {
    writer.said({Key::replicas});
    if (plan.replicas > 1) writer.flag("dp-size", write_number(plan.replicas));
  }
  if (plan.has(Key::max_len)) writer.flag("context-length", write_number(plan.max_len));
}

}  // namespace

const Dialect kSglang = {"SGLang", kRows, read, write};

}  // namespace vram
