#include "engine/advice/launch_dialects.h"
#include "engine/units.h"

// tensorrt_llm/commands/serve.py: names and defaults; values of the file of --extra_llm_api_options by their paths.
namespace vram {
namespace {

constexpr FlagRow kRows[] = {
    {Key::engine, "", "", "trtllm"},
    {Key::kv, "kv-cache-dtype kv-cache-config.dtype", "auto= bfloat16=bf16 float16=fp16 fp8=fp8 nvfp4=nvfp4", ""},
    {Key::serve_pp, "pp-size pipeline-parallel-size", "", "1"},
    {Key::serve_ep, "ep-size moe-expert-parallel-size", "", "1"},
    {Key::block, "kv-cache-config.tokens-per-block", "", ""},
    {Key::max_len, "max-seq-len", "", ""},
    {Key::max_seqs, "max-batch-size", "", "2048"},
    {Key::batch_tokens, "max-num-tokens", "", "8192"},
    {Key::utilization,
     "kv-cache-free-gpu-memory-fraction free-gpu-memory-fraction kv-cache-config.free-gpu-memory-fraction", "", "0.9"},
};

constexpr std::string_view kTp = "tp-size tensor-parallel-size";

void read(LaunchReader& reader, GivenFlags& given) {
  reader.clear(Key::engine_version);
  for (const Key key : {Key::serve_dp, Key::serve_tp}) reader.clear(key);
  const GivenFlag* tp = given.find(kTp);
  const GivenFlag* attention = given.find("enable-attention-dp");
  const bool inside = attention != nullptr && attention->value != "false";
  // Attention data parallelism: every rank of tp serves requests of its own.
  if (tp != nullptr) reader.set(inside ? Key::serve_dp : Key::serve_tp, tp->value, tp->text);
  read_replica(reader);
}

void write(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  writer.said({Key::serve_gpus});
  const bool inside = plan.serve_dp > 1 && plan.serve_tp == 1;
  if (inside || plan.serve_dp == 1) writer.said({Key::serve_tp, Key::serve_dp});
  const double ranks = plan.serve_tp * plan.serve_dp;
  if (ranks > 1) writer.flag("tp-size", write_number(ranks));
  if (inside) writer.flag("enable-attention-dp");
}

}  // namespace

const Dialect kTrtllm = {"TensorRT-LLM", kRows, read, write, '_'};

}  // namespace vram
