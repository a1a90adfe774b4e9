#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>

#include "engine/plan/plan.h"

using namespace vram;

namespace {

struct Row {
  const char *share, *text;
};

std::string joined(const std::vector<Message>& faults) {
  std::string text;
  for (const Message& fault : faults) text += fault.text + "\n";
  return text;
}

}  // namespace

TEST_CASE("the default plan is possible, and so are uneven stages and repeated KV heads") {
  const char* share =
      GENERATE("", "gpus=64&tp=8&pp=4", "gpus=5&pp=5", "gpus=16&tp=16", "pp=4&gpus=4&stages=9,8,8,7", "gpus=8&cp=4",
               "model=deepseek-v3&gpus=1024&pp=16&ep=64", "vpp=2&pp=4&gpus=4&global_batch=8", "serve_gpus=16",
               "serve_gpus=8&serve_pp=2", "framework=fsdp&zero=3&gpus=8&shard=4");
  CAPTURE(share);
  const Plan plan = read_plan(share).plan;
  CHECK(joined(training_faults(plan)).empty());
  CHECK(joined(serving_faults(plan)).empty());
}

TEST_CASE("an impossible training plan says why, with its figures") {
  const Row row = GENERATE(values<Row>({
      {"gpus=10&tp=4&pp=2", "gpus: 10 GPUs cannot be divided by tp 4 × pp 2 × cp 1 = 8"},
      {"gpus=3&tp=3", "tp: 32 attention heads cannot be divided over 3 GPUs"},
      {"gpus=6&tp=6&heads=36&hidden=4608&kv_heads=9",
       "tp: 9 KV heads can be neither divided over 6 GPUs nor repeated evenly on them"},
      {"gpus=16&tp=16&ffn=14344", "tp: 14344 columns of the MLP cannot be divided over 16 GPUs"},
      {"gpus=64&pp=64", "pp: 64 stages are more than 32 layers"},
      {"gpus=16&pp=16&vpp=4&global_batch=16", "vpp: 16 stages × 4 chunks are more than 32 layers, embedding and loss"},
      {"vpp=2", "vpp: chunks need a pipeline; pp is 1"},
      {"gpus=4&pp=4&stages=8,8,8", "stages: 3 stages are listed, pp is 4"},
      {"gpus=4&pp=4&stages=8,8,8,9", "stages: the stages have 33 layers, the model 32"},
      {"gpus=4&global_batch=6", "global_batch: 6 sequences cannot be divided by micro_batch 1 × data parallel 4 = 4"},
      {"gpus=8&ep=8", "ep: the model has no experts to spread over 8 groups"},
      {"model=deepseek-v3&gpus=24&ep=24", "ep: 256 experts cannot be divided over 24 groups"},
      {"model=deepseek-v3&gpus=8&ep=16", "ep: 8 GPUs cannot be divided by etp 1 × ep 16 × pp 1 = 16"},
      {"gpus=4&cp=4&seq=4100", "cp: a sequence of 4100 tokens cannot be divided into 2 × 4 chunks"},
      {"gpus=4&tp=4&seq=4098", "sp: 4098 tokens a rank cannot be divided over tp 4"},
      {"gpus=8&framework=fsdp&shard=3", "shard: groups of 3 do not divide the 8 ranks of data and context parallel"},
      {"schedule=interleaved", "schedule: interleaved needs vpp above 1"},
      {"schedule=gpipe&vpp=2&pp=2&gpus=2", "schedule: gpipe has one chunk a stage; vpp is 2"},
      {"vpp=2&pp=4&gpus=4&global_batch=6", "schedule: interleaved: 6 micro-batches cannot be divided by pp 4"},
      {"schedule=dualpipe&pp=4&gpus=4&global_batch=6",
       "schedule: dualpipe needs an even pp and an even number of micro-batches of at least 2 × pp; pp is 4, "
       "micro-batches 6"},
      {"framework=ddp&zero=2", "zero: ddp keeps all states on every GPU; ZeRO 2 needs fsdp, deepspeed or megatron"},
      {"framework=deepspeed&pp=2&gpus=2&zero=3", "zero: DeepSpeed's pipeline takes ZeRO 0 or 1, not 3"},
      {"framework=deepspeed&gpus=8&zero=2&load_whole=1",
       "load_whole: nothing divides the weights that were loaded; zero is 2"},
      {"optimizer_in_backward=1&global_batch=4",
       "optimizer_in_backward: 4 micro-batches need gradients that stay; set global_batch to 1"},
      {"model=custom", "params: not known; give params, or layers, hidden, heads, ffn and vocab"},
  }));
  CAPTURE(row.share);
  const std::string text = joined(training_faults(read_plan(row.share).plan));
  CHECK(text.starts_with(std::string(row.text) + "\n"));
}

TEST_CASE("an impossible serving plan says why, with its figures") {
  const Row row = GENERATE(values<Row>({
      {"serve_gpus=8&serve_tp=4", "serve_gpus: 8 GPUs are not serve_tp 4 × serve_pp 1 × serve_dp 1 = 4"},
      {"serve_gpus=8&serve_pp=3", "serve_gpus: 8 GPUs are not serve_tp 2 × serve_pp 3 × serve_dp 1 = 6"},
      {"serve_tp=5", "serve_tp: 32 attention heads cannot be divided over 5 GPUs"},
      {"serve_pp=64", "serve_pp: 64 stages are more than 32 layers"},
      {"serve_ep=2&serve_tp=2", "serve_ep: the model has no experts to spread over 2 GPUs"},
      {"model=deepseek-v3&serve_tp=8&serve_ep=16", "serve_ep: groups of 16 do not divide the 8 GPUs of a stage"},
      {"prefix=4096", "prefix: a shared prefix of 4096 tokens is longer than the prompt of 2048"},
  }));
  CAPTURE(row.share);
  const std::string text = joined(serving_faults(read_plan(row.share).plan));
  CHECK(text.starts_with(std::string(row.text) + "\n"));
}

TEST_CASE("training and serving are judged apart") {
  const Plan plan = read_plan("gpus=3&tp=3").plan;
  CHECK_FALSE(training_faults(plan).empty());
  CHECK(serving_faults(plan).empty());
}
