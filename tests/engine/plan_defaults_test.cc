#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>

#include "engine/plan/plan.h"

using namespace vram;

namespace {

std::string value(const std::string& share, const char* key) {
  return value_text(read_plan(share).plan, find_field(key)->key);
}

struct Row {
  const char *share, *key, *expected;
};

}  // namespace

TEST_CASE("defaults follow from the keys above them") {
  const Row row = GENERATE(values<Row>({
      // share, key, default (contract, the field table)
      {"", "library", "megatron"},
      {"framework=fsdp2", "library", "torchtitan"},
      {"framework=fsdp", "library", "hf"},
      {"framework=deepspeed", "library", "hf"},
      {"framework=ddp", "library", "hf"},
      {"", "zero", "1"},
      {"framework=fsdp", "zero", "3"},
      {"framework=fsdp2", "zero", "3"},
      {"framework=deepspeed", "zero", "0"},
      {"framework=ddp", "zero", "0"},
      {"", "precision", "bf16"},
      {"method=lora", "precision", "bf16-pure"},
      {"method=qlora", "precision", "bf16-pure"},
      {"", "grad_dtype", "fp32"},  // megatron bf16: 2/4/12
      {"precision=fp16", "grad_dtype", "fp32"},
      {"framework=deepspeed", "grad_dtype", "bf16"},                 // deepspeed bf16: 2/2/12
      {"framework=deepspeed&precision=fp16", "grad_dtype", "fp16"},  // deepspeed fp16: 2/2/12
      {"framework=deepspeed&precision=fp32", "grad_dtype", "fp32"},
      {"framework=fsdp", "grad_dtype", "fp32"},                      // fsdp bf16: 4/4/8
      {"framework=fsdp&precision=bf16-pure", "grad_dtype", "bf16"},  // bf16-pure: 2/2/4
      {"precision=fp16-pure", "grad_dtype", "fp16"},
      {"precision=fp8", "grad_dtype", "fp32"},
      {"", "moments", "fp32"},
      {"precision=bf16-pure", "moments", "bf16"},
      {"precision=fp16-pure", "moments", "bf16"},  // 2 bytes
      {"method=lora", "moments", "bf16"},
      {"precision=fp32", "moments", "fp32"},
      {"", "sp", "0"},
      {"tp=2&gpus=2", "sp", "1"},
      {"tp=2&gpus=2&framework=fsdp2", "sp", "0"},
      {"tp=4&gpus=8", "etp", "4"},
      {"", "schedule", "1f1b"},
      {"vpp=2&pp=2&gpus=2", "schedule", "interleaved"},
      {"gpus=64&tp=2&pp=4", "shard", "8"},
      {"gpus=64&tp=2&pp=4&cp=2", "shard", "8"},
      {"gpus=64&tp=2&pp=4&micro_batch=3", "global_batch", "24"},
      {"", "seq", "4096"},
      {"max_positions=2048", "seq", "2048"},
      {"model=custom", "seq", "4096"},
      {"", "kernels", "fused"},
      {"framework=fsdp", "kernels", "eager"},
      {"", "residual", "bf16"},
      {"method=qlora", "residual", "fp32"},
      {"framework=ddp&library=unsloth&method=qlora", "residual", "bf16"},
      {"precision=fp16", "residual", "fp16"},
      {"precision=fp32", "residual", "fp32"},
      {"", "base", "bf16"},
      {"method=qlora", "base", "nf4"},
      {"", "recompute_layers", "32"},
      {"", "goodput", "0.85"},
      {"mfu=40%", "goodput", "1"},
      {"", "block", "16"},
      {"engine=trtllm", "block", "32"},
      {"engine=sglang", "block", "1"},
      {"engine=generic", "block", "1"},
      {"", "utilization", "0.9"},
      {"engine=sglang", "utilization", "0.9"},
      {"engine=trtllm", "utilization", "0.9"},
      {"engine=generic", "utilization", "1"},
      {"engine=static", "utilization", "1"},
      {"engine=llamacpp", "utilization", "1"},
      {"", "graphs", "1"},
      {"engine=llamacpp", "graphs", "0"},
      {"", "max_len", "131072"},
      {"prompt=7", "prompt_p99", "7"},
      {"output=7", "output_p99", "7"},
      {"", "weights", "bf16"},
      {"", "gpu_layers", "32"},
      {"serve_gpus=8", "serve_tp", "8"},
      {"serve_gpus=8&serve_pp=2", "serve_tp", "4"},
      {"serve_gpus=8&serve_pp=2&serve_dp=2", "serve_tp", "2"},
      {"serve_tp=4&serve_pp=2", "serve_gpus", "8"},
      {"serve_dp=2", "serve_gpus", "2"},
      {"serve_dp=2", "serve_tp", "1"},
      {"model=custom&heads=64&hidden=8192", "kv_heads", "64"},
      {"model=custom&heads=64&hidden=8192", "head_dim", "128"},
      {"", "gpu_bw", "3352"},
      {"", "node", "8"},
      {"gpu=custom", "node", "8"},
      {"", "params", "8030261248"},
      {"params=70e9", "params", "70000000000"},
  }));
  CAPTURE(row.share, row.key);
  CHECK(value(row.share, row.key) == row.expected);
}

TEST_CASE("a preset gives the model, any key beside it overrides it") {
  const Plan plan = read_plan("model=llama-3.1-8b&layers=40&kv_heads=32").plan;
  CHECK(plan.hidden == 4096);
  CHECK(plan.subject->architecture.layers == 40);
  CHECK(plan.subject->architecture.kv_heads == 32);
  CHECK(plan.subject->architecture.ffn == 14336);
  CHECK(plan.subject->id == "llama-3.1-8b");
  CHECK(plan.base_architecture->layers == 32);
}

TEST_CASE("a custom model starts from nothing") {
  const PlanReading reading = read_plan("model=custom");
  CHECK(reading.answerable);
  CHECK(reading.plan.subject->nominal_parameters == 0);
  CHECK(reading.messages.at(0).text ==
        "model: no complete shape; give layers, hidden, heads, ffn, vocab, or give params: without either, weights and "
        "training cannot be billed");
}

TEST_CASE("a mixture says its width by its experts") {
  const auto message = [](const char* share) { return read_plan(share).messages.at(0).text; };
  CHECK(message("model=custom&layers=1&experts=8&expert_ffn=64").find("give hidden, heads, vocab, or") !=
        std::string::npos);
  CHECK(message("model=custom&layers=1&expert_ffn=64").find("give hidden, heads, ffn, vocab, or") != std::string::npos);
  CHECK(message("model=custom&layers=1&experts=8").find("give hidden, heads, ffn, vocab, or") != std::string::npos);
}

TEST_CASE("parameters without a shape are one block") {
  const Plan plan = read_plan("model=custom&params=70e9").plan;
  CHECK_FALSE(plan.subject->has_shape);
  CHECK(plan.subject->nominal_parameters == 70e9);
}

TEST_CASE("serve_gpus and serve_tp say the same thing once") {
  CHECK(write_plan(read_plan("serve_gpus=8&serve_tp=8").plan, true) == "v=1&serve_gpus=8");
  CHECK(write_plan(read_plan("serve_tp=8").plan, true) == "v=1&serve_tp=8");
  CHECK(write_plan(read_plan("serve_gpus=8").plan, true) == "v=1&serve_gpus=8");
  CHECK(write_plan(read_plan("serve_gpus=1&serve_tp=1").plan, true) == "v=1");
  CHECK(write_plan(read_plan("serve_gpus=4&serve_pp=4").plan, true) == "v=1&serve_pp=4");
}

TEST_CASE("states are sharded over data and context parallel, experts' over the rest of their grid") {
  const Plan plan = read_plan("gpus=64&tp=2&pp=2&cp=2&ep=4").plan;
  CHECK(plan.dp() == 8);
  CHECK(plan.dense_shards() == 16);
  CHECK(plan.expert_shards() == 4);
  CHECK(read_plan("gpus=64&shard=8").plan.dense_shards() == 8);
  // Two copies of the dense part's shards are two of the experts' (--num-distributed-optimizer-instances 2).
  CHECK(read_plan("gpus=64&tp=2&pp=2&cp=2&ep=4&shard=8").plan.expert_shards() == 2);
  CHECK(read_plan("gpus=64&ep=64&shard=8").plan.expert_shards() == 1);
}
