#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "engine/training/phases.h"
#include "engine/training/pipeline.h"
#include "tests/engine/training_samples.h"

using namespace vram;
using namespace vram::samples;

namespace {

Plan plan(const std::string& share) { return read_plan(share).plan; }

/// Micro-batches whose activations a rank keeps, in units of its own layers.
double in_flight(const std::string& share, size_t rank) {
  const Stage stage = pipeline_stages(plan("model=llama-3.1-70b&" + share))[rank];
  return stage.chunks_in_flight / stage.chunks;
}

}  // namespace

TEST_CASE("Stages are as even as possible, the surplus on the later ones") {
  CHECK(stage_layers(plan("model=llama-3.1-70b&gpus=4&pp=4")) == std::vector<double>{20, 20, 20, 20});
  CHECK(stage_layers(plan("model=deepseek-v3&gpus=4&pp=4")) == std::vector<double>{15, 15, 15, 16});
  CHECK(stage_layers(plan("model=llama-3.1-70b&gpus=4&pp=4&stages=10,20,30,20")) ==
        std::vector<double>{10, 20, 30, 20});
}

TEST_CASE("Where only that comes out even, embedding and loss count as layers of the interleaved chunks") {
  // Megatron-LM, account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_split: 126 + 2 = 16 × 8.
  const Plan p = plan("model=llama-3.1-405b&gpus=16&pp=16&vpp=8&global_batch=16");
  const std::vector<Stage> stages = pipeline_stages(p);
  CHECK(stages[0].layers == 7);
  CHECK(stages[0].ranges[0].count == 0);
  CHECK(stages[0].ranges[1].first == 15);
  CHECK(stages[1].layers == 8);
  CHECK(stages[15].layers == 7);
  CHECK(stages[15].ranges[7].count == 0);
  CHECK(training_faults(p).empty());
  CHECK_FALSE(training_faults(plan("model=llama-3.1-405b&gpus=16&pp=16&vpp=9&global_batch=16")).empty());
}

TEST_CASE("Interleaved chunks of given stages follow one another in the model's order") {
  // Megatron-LM, core/transformer/transformer_layer.py, get_transformer_layer_offset: 2 layers on the first rank, 4 on
  // the last, 6 on each of two between, in two chunks each: the second ones begin at 9.
  const Plan p = plan("model=deepseek-v3&layers=18&gpus=4&pp=4&vpp=2&stages=2,6,6,4&global_batch=8");
  const std::vector<Stage> stages = pipeline_stages(p);
  const auto first = [&stages](size_t rank, size_t chunk) { return stages[rank].ranges[chunk].first; };
  CHECK(stages[1].ranges[0].count == 3);
  CHECK(std::vector<size_t>{first(0, 0), first(1, 0), first(2, 0), first(3, 0)} == std::vector<size_t>{0, 1, 4, 7});
  CHECK(std::vector<size_t>{first(0, 1), first(1, 1), first(2, 1), first(3, 1)} == std::vector<size_t>{9, 10, 13, 16});
  // DeepSeek-V3's three dense layers are the first: one of the first rank's two, two of the second's six.
  CHECK(layers_of_kind(*p.subject, stages[0], 0) == 1);
  CHECK(layers_of_kind(*p.subject, stages[1], 0) == 2);
}

TEST_CASE("1F1B keeps as many micro-batches as stages follow") {
  const std::string share = "gpus=8&pp=8&global_batch=64";
  CHECK(in_flight(share, 0) == 8);  // arXiv 2104.04473, section 2.2.1
  CHECK(in_flight(share, 7) == 1);
  CHECK(in_flight("gpus=8&pp=8&global_batch=3", 0) == 3);
}

TEST_CASE("GPipe keeps all micro-batches") { CHECK(in_flight("gpus=8&pp=8&global_batch=64&schedule=gpipe", 5) == 64); }

TEST_CASE("Interleaving adds (p - 1) / (p v) on the first rank") {
  // Megatron-LM, training/theoretical_memory_usage.py: 1 + (p - 1) / (p v) of all layers: 4 micro-batches here.
  CHECK(in_flight("gpus=4&pp=4&vpp=5&global_batch=64", 0) == 4 * (1 + 3.0 / (4 * 5)));
  // The last rank keeps (v - 1) p + 1 chunks.
  CHECK(in_flight("gpus=4&pp=4&vpp=5&global_batch=64", 3) == 17.0 / 5);
}

TEST_CASE("Chunks of different lengths are kept in flight pass by pass") {
  // Megatron-LM's test gpt3_mcore_te_tp1_pp4_vp2_account_for_embedding_loss_in_pipeline_split: six layers, embedding
  // and loss in eight chunks. The last rank has passed four micro-batches through its only layer when the loss comes.
  const auto layers = [](const std::string& batch) {
    const Stage last = pipeline_stages(plan("model=gpt2&layers=6&gpus=4&pp=4&vpp=2&global_batch=" + batch))[3];
    return last.chunks_in_flight / last.chunks * last.layers;
  };
  CHECK(layers("4") == 4);
  CHECK(layers("8") == 5);  // a fifth comes before the first has left
}

TEST_CASE("DualPipe keeps two stages and p + 1 micro-batches of one") {
  const Plan p = plan("model=llama-3.1-70b&gpus=8&pp=8&global_batch=64&schedule=dualpipe");
  const Stage stage = pipeline_stages(p)[2];
  CHECK(stage.layers == 20);
  CHECK(stage.chunks_in_flight == 9);  // arXiv 2412.19437, table 2
}

TEST_CASE("Embedding is on the first stage, head and logits on the last") {
  const Plan p = plan("model=llama-3.1-70b&gpus=8&pp=8&global_batch=8");
  const auto weights = [&p](size_t stage) { return line(stage_lines(p, stage), "weights").children; };
  CHECK(line(weights(0), "embedding").bytes == 2ULL * 128256 * 8192);
  CHECK(line(weights(1), "embedding").bytes == 0);
  CHECK(line(weights(7), "head").bytes == 2ULL * 128256 * 8192);
  const TrainingBill b = training_bill(p);
  CHECK(line(b.stages[0].lines, "logits").bytes == 0);
}

TEST_CASE("The bill shown is the fullest stage's") {
  const TrainingBill b = bill("model=llama-3.1-70b&gpus=32&tp=4&pp=8&global_batch=64&recompute=full");
  uint64_t most = 0;
  for (const StageBill& stage : b.stages) most = std::max(most, stage.device_bytes);
  CHECK(b.device_bytes == most);
  CHECK(b.device_bytes == b.stages[static_cast<size_t>(b.stage)].device_bytes);
}

TEST_CASE("Megatron-LM's 7B test with PP 4 and 8 virtual stages") {
  // Megatron-LM, tests/functional_tests, golden values of the 15B-class GQA GPT test scaled to 7B: peak allocated
  // 60,489,064,448 bytes on A100. Learned positions, LayerNorm, dropout, untied head.
  const TrainingBill b = bill(
      "model=custom&layers=32&hidden=4096&heads=32&kv_heads=8&ffn=16384&vocab=131200&learned_positions=1&"
      "max_positions=8192&arch=%7B%22model_type%22%3A%22gpt2%22%7D&gpu=a100-sxm4-80gb&gpus=8&pp=4&vpp=8&"
      "micro_batch=1&global_batch=8&seq=8192&dropout=1&grad_fusion=0");
  const double ratio = static_cast<double>(b.allocated_bytes) / 60'489'064'448.0;
  CHECK(ratio > 0.98);
  CHECK(ratio < 1.02);
}

TEST_CASE("Stages that hold the same are billed together, as they would be on their own") {
  const std::string share = GENERATE(
      "model=llama-3.1-70b&gpus=64&tp=2&pp=8&seq=8192&sp=1", "model=llama-3.1-70b&gpus=16&pp=16&vpp=5&global_batch=64",
      "model=deepseek-v3&gpus=256&pp=16&ep=16&recompute=selective", "model=gemma-3-27b&gpus=16&pp=4&recompute=full",
      "model=llama-3.1-70b&gpus=8&pp=8&global_batch=64&schedule=dualpipe&method=lora",
      "model=custom&params=70B&gpus=8&pp=4");
  CAPTURE(share);
  const Plan p = plan(share);
  const TrainingBill b = training_bill(p);
  for (const Stage& stage : pipeline_stages(p)) {
    const StageBill& billed = b.stages[static_cast<size_t>(stage.index)];
    const Phase* fullest = nullptr;
    const std::vector<Phase> phases = stage_phases(sheet(), p, stage);
    for (const Phase& phase : phases)
      if (fullest == nullptr || phase.allocated_bytes > fullest->allocated_bytes) fullest = &phase;
    CHECK(std::string_view(billed.phase) == fullest->id);
    CHECK(billed.allocated_bytes == fullest->allocated_bytes);
    for (const Line& own : fullest->lines) {
      CHECK(line(billed.lines, own.id).bytes == own.bytes);
      CHECK(line(billed.lines, own.id).band_bytes == own.band_bytes);
    }
  }
}

TEST_CASE("Interleaved chunks receive the next input and gradient while they compute, plain 1F1B does not") {
  const auto messages = [](const std::string& share, size_t stage) {
    const Plan plan = read_plan("model=llama-2-7b&seq=4096&" + share).plan;
    return line(line(stage_lines(plan, stage), "buffers").children, "messages").bytes;
  };
  const uint64_t message = 4096ULL * 4096 * 2;
  CHECK(messages("gpus=4&pp=4&vpp=2&global_batch=8", 0) == 2 * message);
  CHECK(messages("gpus=8&tp=2&pp=4&vpp=2&global_batch=8", 0) == message);  // cut along the sequence
  CHECK(messages("gpus=4&pp=4&global_batch=8", 1) == 0);
  const std::string deepspeed = "framework=deepspeed&gpus=4&pp=4&global_batch=8";
  CHECK(messages(deepspeed, 0) == message);  // gradients only
  CHECK(messages(deepspeed, 1) == 2 * message);
}

TEST_CASE("A ring of context parallelism holds the keys and values of the whole sequence in one layer") {
  const auto ring = [](const std::string& share) {
    return line(line(phase(bill("model=llama-3.1-8b&gpus=8&" + share), "forward").lines, "buffers").children, "ring")
        .bytes;
  };
  CHECK(ring("cp=4&seq=131072") == 131072ULL * 2 * 8 * 128 * 2);
  CHECK(ring("cp=2&tp=4&seq=131072") == 131072ULL * 2 * 2 * 128 * 2);
  CHECK(ring("seq=8192") == 0);
}
