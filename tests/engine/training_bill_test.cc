#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/engine/training_samples.h"

using namespace vram;
using namespace vram::samples;

namespace {

/// Every line of a tree is the sum of its children.
bool adds_up(const Line& l) {
  if (l.children.empty()) return l.bytes == product_bytes(l.factors, nullptr);
  uint64_t sum = 0;
  for (const Line& child : l.children) {
    if (!adds_up(child)) return false;
    sum += child.bytes;
  }
  return sum == l.bytes;
}

/// No two siblings share an id.
bool ids_are_unique(Lines lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (std::string_view(lines[i].id) == lines[j].id) return false;
    if (!ids_are_unique(lines[i].children)) return false;
  }
  return true;
}

/// A linear congruential generator: the same plans everywhere.
struct Dice {
  uint32_t state = 1;
  const char* pick(std::initializer_list<const char*> sides) {
    state = state * 1664525u + 1013904223u;
    return sides.begin()[(state >> 16) % sides.size()];
  }
};

std::string random_plan(Dice& dice) {
  std::string share = dice.pick({"model=llama-2-7b", "model=mixtral-8x7b", "model=deepseek-v3", "model=gpt2",
                                 "model=custom&params=13e9", "model=gemma-2-9b", "model=llama-3.1-70b"});
  for (const char* key :
       {dice.pick(
            {"&framework=megatron", "&framework=deepspeed", "&framework=fsdp", "&framework=fsdp2", "&framework=ddp"}),
        dice.pick({"", "&precision=bf16-pure", "&precision=fp16", "&precision=fp32", "&precision=fp8"}),
        dice.pick({"", "", "&method=lora", "&method=qlora", "&method=qlora&base=gptq"}),
        dice.pick({"", "&optimizer=adamw8bit", "&optimizer=adafactor", "&optimizer=muon"}),
        dice.pick({"&gpus=1", "&gpus=8", "&gpus=8&tp=2", "&gpus=16&tp=2&pp=2", "&gpus=64&pp=4&tp=4"}),
        dice.pick({"", "&micro_batch=3", "&seq=1000", "&seq=513", "&cp=1"}),
        dice.pick({"", "&recompute=full", "&recompute=selective"}), dice.pick({"", "&attention=eager", "&dropout=1"}),
        dice.pick({"", "&loss=inplace", "&loss=chunked", "&loss=fused"}),
        dice.pick({"", "&offload=optimizer", "&offload=all&offload_fraction=0.3", "&offload=activations"}),
        dice.pick({"", "&overhead=2", "&allocator=expandable", "&fused_optimizer=0"})})
    share += key;
  return share;
}

}  // namespace

TEST_CASE("The lines are always the same, in the same order, and add up to the device") {
  const char* ids[] = {"weights",  "gradients", "optimizer",     "adapters", "activations",  "logits",
                       "gathered", "buffers",   "fragmentation", "context",  "communication"};
  Dice dice;
  for (int i = 0; i < 300; ++i) {
    const std::string share = random_plan(dice);
    const TrainingBill b = bill(share);
    CAPTURE(share);
    if (!b.faults.empty()) {
      CHECK(b.lines.empty());
      CHECK(b.verdict == Verdict::invalid);
      continue;
    }
    REQUIRE(b.lines.size() == 11);
    for (size_t n = 0; n < 11; ++n) CHECK(std::string_view(b.lines[n].id) == ids[n]);
    CHECK(total_bytes(b.lines) == b.device_bytes);
    CHECK(ids_are_unique(b.lines));
    for (const Line& l : b.lines) CHECK(adds_up(l));
    for (const StageBill& stage : b.stages) CHECK(total_bytes(stage.lines) == stage.device_bytes);
    for (const Phase& p : b.phases) CHECK(total_bytes(p.lines) == p.allocated_bytes);
    CHECK(b.allocated_bytes <= b.reserved_bytes);
    CHECK(b.reserved_bytes <= b.device_bytes);
    CHECK(b.band_bytes == total_band_bytes(b.lines));
  }
}

TEST_CASE("A search's totals are those of the bill") {
  Dice dice;
  for (int i = 0; i < 300; ++i) {
    const std::string share = random_plan(dice);
    const TrainingBill b = bill(share);
    const TrainingTotals t = training_totals(read_plan(share).plan);
    CAPTURE(share);
    CHECK(t.verdict == b.verdict);
    CHECK(std::string_view(t.phase) == b.phase);
    CHECK(t.stage == b.stage);
    CHECK(t.allocated_bytes == b.allocated_bytes);
    CHECK(t.reserved_bytes == b.reserved_bytes);
    CHECK(t.device_bytes == b.device_bytes);
    CHECK(t.band_bytes == b.band_bytes);
    CHECK(t.headroom_bytes == b.headroom_bytes);
    CHECK(t.capacity_bytes == b.capacity_bytes);
    CHECK(t.host_bytes_per_node == b.host_bytes_per_node);
    CHECK(t.host_verdict == b.host_verdict);
  }
}

TEST_CASE("Allocated is the fullest phase; reserved adds fragmentation; the device adds context and communication") {
  const TrainingBill b = bill("model=llama-3.1-8b&framework=fsdp&gpus=8");
  uint64_t most = 0;
  for (const Phase& p : b.phases) most = std::max(most, p.allocated_bytes);
  CHECK(b.allocated_bytes == most);
  CHECK(b.reserved_bytes == b.allocated_bytes + bytes(b, "fragmentation"));
  CHECK(b.device_bytes == b.reserved_bytes + bytes(b, "context") + bytes(b, "communication"));
}

TEST_CASE("Whether it fits") {
  struct Row {
    const char* share;
    Verdict verdict;
  };
  const Row row = GENERATE(values<Row>({
      {"model=llama-2-7b&gpu=rtx-4090-24gb&method=lora&framework=ddp&recompute=full&seq=2048", Verdict::fits},
      {"model=llama-2-7b&gpu=h100-sxm5-80gb&framework=ddp", Verdict::exceeds},
      {"model=llama-2-7b&gpu=h100-sxm5-80gb&framework=fsdp&gpus=4&recompute=full", Verdict::fits},
      {"model=llama-2-7b&gpu=h100-sxm5-80gb&framework=fsdp&gpus=4&recompute=full&margin=0.58", Verdict::tight},
      {"model=custom&params=1e9&gpus=1", Verdict::tight},  // without a shape, never better
      {"model=custom&params=70e9&gpus=1", Verdict::exceeds},
      {"model=llama-2-7b&gpus=3&tp=2", Verdict::invalid},
  }));
  CAPTURE(row.share);
  CHECK(bill(row.share).verdict == row.verdict);
}

TEST_CASE("An impossible plan has its napkin and its reason only") {
  const TrainingBill b = bill("model=llama-2-7b&gpus=3&tp=2");
  CHECK(b.lines.empty());
  CHECK(b.phases.empty());
  CHECK_FALSE(b.faults.empty());
  CHECK(b.napkin.states_bytes == 16ULL * 6'738'415'616);
}

TEST_CASE("A figure above 2^53 is refused by name") {
  const TrainingBill b = bill("model=custom&params=1e15&gpus=1");
  CHECK(b.verdict == Verdict::invalid);
  REQUIRE_FALSE(b.faults.empty());
  CHECK(b.faults[0].text.find("2^53") != std::string::npos);
}

TEST_CASE("A margin is kept free") {
  const TrainingBill b = bill("model=llama-2-7b&gpu=custom&gpu_mem=100GB&margin=0.25");
  CHECK(b.capacity_bytes == 75'000'000'000);
  CHECK(b.headroom_bytes == static_cast<int64_t>(75'000'000'000) - static_cast<int64_t>(b.device_bytes));
}

TEST_CASE("A given overhead replaces context and communication") {
  const TrainingBill b = bill("model=llama-2-7b&framework=fsdp&gpus=8&overhead=2");
  CHECK(bytes(b, "context") == 2ULL << 30);
  CHECK(bytes(b, "communication") == 0);
}

TEST_CASE("Gradients are not there yet when the loss is computed, unless a micro-batch left some") {
  CHECK(bytes(bill("model=llama-2-7b&framework=ddp"), "loss", "gradients") == 0);
  CHECK(bytes(bill("model=llama-2-7b&framework=ddp&global_batch=4"), "loss", "gradients") == 4ULL * 6'738'415'616);
  CHECK(bytes(bill("model=llama-2-7b&framework=megatron"), "loss", "gradients") == 4ULL * 6'738'415'616);
}

TEST_CASE("Logits are counted by loss and library") {
  struct Row {
    const char* share;
    double bytes_per_logit;
  };
  // Copies at the fullest moment, measured with PyTorch 2.6 on the libraries' own code.
  const Row row = GENERATE(values<Row>({{"framework=ddp", 14},
                                        {"framework=ddp&loss=inplace", 8},
                                        {"framework=deepspeed&loss=uncast", 8},
                                        {"framework=ddp&loss=uncast", 12},  // autocast casts them
                                        {"framework=megatron&loss=compiled", 10},
                                        {"framework=fsdp2&loss=compiled", 4},
                                        {"framework=ddp&library=litgpt", 8},
                                        {"framework=ddp&library=litgpt&loss=chunked", 4},
                                        {"framework=ddp&library=litgpt&loss=chunked&precision=fp32", 8},
                                        {"framework=ddp&library=nanogpt", 8},
                                        {"framework=ddp&library=nanogpt&precision=fp32", 16},
                                        {"framework=ddp&library=torchtitan&precision=fp32", 12},
                                        {"framework=ddp&precision=fp32", 16},
                                        {"framework=fsdp2", 12},
                                        {"framework=megatron", 6},
                                        {"framework=megatron&gpus=4&tp=4", 6.0 / 4}}));
  CAPTURE(row.share);
  const TrainingBill b = bill(std::string("model=llama-2-7b&seq=2048&") + row.share);
  const Line copies = line(line(phase(b, "loss").lines, "logits").children, "copies");
  CHECK(static_cast<double>(copies.bytes) == 2048.0 * 32000 * row.bytes_per_logit);
}

TEST_CASE("Prediction modules embed tokens on their stage, and their softmax waits for the model's own loss") {
  const std::string share = "model=deepseek-v3&gpus=64&pp=4&ep=16&tp=2&etp=1&zero=0&seq=4096&mtp_layers=";
  const auto last = [&](const char* modules, const char* id) {
    const Plan plan = read_plan(share + modules).plan;
    return line(stage_lines(plan, 3), id);
  };
  const double h = 7168, vocab = 129280;
  const auto embedding = [&](const char* modules) {
    return static_cast<double>(line(last(modules, "weights").children, "embedding").bytes);
  };
  // Megatron-LM, core/models/gpt/gpt_model.py: a stage with mtp_process has an embedding.
  CHECK(embedding("0") == 0);
  CHECK(embedding("1") == vocab * h * 2 / 2);
  CHECK(embedding("2") == vocab * h * 2 / 2);
  const auto waiting = [&](const char* modules) {
    return static_cast<double>(line(last(modules, "logits").children, "predictions").bytes);
  };
  CHECK(waiting("0") == 0);
  CHECK(waiting("2") == 2 * 4096 * vocab * 4 / 2);
}

TEST_CASE("litgpt's loss is fullest in the cross-entropy, or where a 4-bit head is expanded") {
  const std::string share = "model=llama-2-7b&framework=ddp&library=litgpt&precision=bf16-pure&micro_batch=2&seq=";
  const auto logits = [](const std::string& plan) { return line(phase(bill(plan), "loss").lines, "logits").children; };
  const uint64_t vocab = 32000, head = vocab * 4096;
  CHECK(line(logits(share + "2048"), "chunk").bytes == 2 * 128 * vocab * 8);  // of 128 positions
  CHECK(line(logits(share + "100"), "chunk").bytes == 2 * 100 * vocab * 8);
  const Lines small = logits(share + "1024&method=qlora"), large = logits(share + "8192&method=qlora");
  CHECK(line(small, "copies").bytes == 2 * 1024 * vocab * 6);
  CHECK(line(small, "expanded_head").bytes == 4 * head);
  CHECK(line(large, "copies").bytes == 2 * 8192 * vocab * 8);
  CHECK(line(large, "expanded_head").bytes == 0);
}

TEST_CASE("A k-bit matrix is expanded in the layers, not in the loss, nor beside two gradients of the inner width") {
  const std::string share = "model=llama-2-7b&framework=ddp&method=qlora&seq=";
  const auto expanded = [&share](const char* id, const char* seq) {
    return line(line(phase(bill(share + seq), id).lines, "buffers").children, "expanded").bytes;
  };
  CHECK(expanded("forward", "4096") == 2ULL * 11008 * 4096);
  CHECK(expanded("loss", "4096") == 0);
  CHECK(expanded("backward", "4096") == 0);  // a gradient has as many elements as the matrix
  CHECK(expanded("backward", "4095") == 2ULL * 11008 * 4096);
}

TEST_CASE("FSDP holds the inputs and their gradients of frozen layers that transformers checkpoints") {
  const std::string share = "model=llama-2-7b&gpus=2&seq=1024&recompute=full&framework=";
  const auto kept = [&share](const std::string& how, const char* when) {
    return line(line(phase(bill(share + how), when).lines, "activations").children, "checkpoints").bytes;
  };
  const uint64_t checkpoints = 32ULL * 1024 * 4096 * 2;
  CHECK(kept("fsdp&method=lora", "loss") == checkpoints);
  CHECK(kept("fsdp&method=lora", "backward") == 2 * checkpoints);
  for (const char* how : {"fsdp", "fsdp2&method=lora", "ddp&method=lora", "fsdp&method=lora&library=litgpt"})
    CHECK(kept(how, "backward") == checkpoints);
  // All of them live when the last layer is differentiated, with none left to prefetch.
  CHECK(bytes(bill(share + "fsdp&method=lora"), "backward", "gathered") ==
        2ULL * (2 * 32000 * 4096 + 4096 + 202'383'360));
}

TEST_CASE("Every chunk of a pipeline holds its last input and the input's gradient between steps") {
  // GPT 7B, 4 stages of 8 chunks: 2 x 8 x 8,192 tokens x 4,096 x 2 bytes stay on the last stage (Megatron-LM's golden
  // value of gpt3_7b_tp1_pp4_memory_speed on a GB200, 24,540,168,192 bytes, is this bill's to 0.01%).
  const std::string share =
      "model=gpt3-175b&layers=32&hidden=4096&heads=32&kv_heads=8&ffn=16384&vocab=131200&tied=0&max_positions=8192&"
      "gpu=gb200-186gb&gpus=8&pp=4&seq=8192&global_batch=8&grad_fusion=0&vpp=";
  const TrainingBill interleaved = bill(share + "8");
  const auto held = [](const TrainingBill& b) {
    return line(line(phase(b, "optimizer").lines, "buffers").children, "stage_inputs").bytes;
  };
  constexpr uint64_t input = 8192 * 4096 * 2;
  CHECK(interleaved.stages.back().steady_bytes == 24'539'201'536);
  CHECK(interleaved.stage == 3);
  CHECK(held(interleaved) == 8 * 2 * input);
  const TrainingBill first = bill(share + "8&vocab=1024");
  CHECK(first.stage == 0);  // the fullest without a large head; its first chunk has no input
  CHECK(held(first) == 7 * 2 * input);
}

TEST_CASE("TransformerEngine keeps quantised weights beside the 16-bit ones") {
  struct Row {
    const char* share;
    double bytes;  // of a weight of the layers' linears
  };
  const Row row = GENERATE(values<Row>({{"&gpu=h100-sxm5-80gb&precision=fp8", 2},
                                        {"&gpu=b200-180gb&precision=fp8", 1},
                                        {"&gpu=b200-180gb&precision=mxfp8", 2 * (1 + 1.0 / 32)},
                                        {"&gpu=b200-180gb&precision=nvfp4", 2 * (0.5 + 1.0 / 16)},
                                        {"&gpu=h100-sxm5-80gb&precision=bf16", 0}}));
  CAPTURE(row.share);
  const TrainingBill b = bill(std::string("model=llama-2-7b&gpus=2&tp=2&framework=megatron") + row.share);
  const Line held = line(line(b.lines, "buffers").children, "quantised_weights");
  CHECK(static_cast<double>(held.bytes) == 6'476'005'376 * row.bytes / 2);
}

TEST_CASE("Between steps a single GPU has no gradients") {
  const std::string share = "model=llama-2-7b&precision=bf16-pure&framework=";
  const auto steady = [](const std::string& plan) { return bill(plan).stages.front().steady_bytes; };
  const uint64_t workspace = 2 * (32ULL << 20);
  CHECK(steady(share + "ddp") == 6ULL * 6'738'415'616 + workspace);
  CHECK(steady(share + "fsdp2") == 8ULL * 6'738'415'616 + workspace);
}

TEST_CASE("Fully sharded weights are gathered unit by unit") {
  const TrainingBill b = bill("model=llama-2-7b&framework=fsdp&gpus=8");
  // Embedding, head and final norm, and layers of 202,383,360 parameters, 2 bytes each: FSDP prefetches in backward,
  // its successor in forward, too; in the loss it is backward's first.
  const auto gathered = [](const TrainingBill& of, const char* when) { return bytes(of, when, "gathered"); };
  CHECK(gathered(b, "forward") == 2ULL * (2 * 32000 * 4096 + 4096 + 202'383'360));
  CHECK(gathered(b, "loss") == 2ULL * (2 * 32000 * 4096 + 4096 + 202'383'360));
  const TrainingBill fsdp2 = bill("model=llama-2-7b&framework=fsdp2&library=hf&gpus=8");
  CHECK(gathered(fsdp2, "forward") == 2ULL * (2 * 32000 * 4096 + 4096 + 2 * 202'383'360));
  CHECK(gathered(fsdp2, "loss") == gathered(b, "loss"));
  CHECK(bytes(b, "optimizer", "gathered") == 0);
}

TEST_CASE("torchtune's full recipes gather the head for the loss alone") {
  const TrainingBill b = bill("model=llama-2-7b&framework=fsdp2&library=torchtune&precision=bf16-pure&gpus=8");
  CHECK(bytes(b, "forward", "gathered") == 2ULL * 2 * 202'383'360);
  CHECK(bytes(b, "loss", "gathered") == 2ULL * (32000 * 4096 + 202'383'360));
}

TEST_CASE("torchtune's chunked loss has two gradients of the head's weight, that of a chunk and their sum") {
  const auto head = [](const char* share) {
    return line(line(phase(bill(share), "loss").lines, "logits").children, "head_gradient").bytes;
  };
  CHECK(head("model=llama-2-7b&framework=ddp&library=torchtune&precision=bf16-pure&loss=chunked") ==
        2ULL * 2 * 32000 * 4096);
  CHECK(head("model=llama-2-7b&framework=ddp&library=torchtune&method=lora&loss=chunked") == 0);
}

TEST_CASE("Autocast keeps a 16-bit copy of every linear weight") {
  CHECK(bytes(bill("model=llama-2-7b&framework=ddp"), "loss", "gathered") == 2ULL * (6'476'005'376 + 32000 * 4096));
}

TEST_CASE("Napkin figures") {
  // 16 bytes a parameter; L (34 s b h + 5 a s² b), arXiv 2205.05198, equation 1; 10 GB of buffers.
  const std::string shape = "model=custom&layers=32&hidden=4096&heads=32&ffn=11008&gated=1&vocab=32000&";
  CHECK(bill("model=custom&params=70e9").napkin.states_bytes == 1'120'000'000'000);
  CHECK(bill(shape + "seq=2048&micro_batch=1").napkin.activations_bytes == 30'601'641'984);
  CHECK(bill(shape + "micro_batch=8&seq=4096").napkin.activations_bytes == 833'223'655'424);
  const TrainingNapkin whole = bill("model=custom&params=70e9&gpu=a100-sxm4-80gb").napkin;
  CHECK(whole.buffers_bytes == 10'000'000'000);
  CHECK(whole.total_bytes == 1'130'000'000'000);
  CHECK(whole.gpus == 15);  // 80 GB on the box
}

TEST_CASE("The napkin counts 2 bytes of a frozen parameter") {
  const TrainingNapkin napkin = bill("model=llama-2-7b&method=lora&framework=ddp").napkin;
  // Rank 16 beside every linear of Llama 2 7B: 39,976,960 parameters (peft prints trainable params: 39,976,960).
  CHECK(napkin.states_bytes == 2ULL * 6'738'415'616 + 16ULL * 39'976'960);
}

TEST_CASE("A napkin figure above 2^53 is left out") {
  const TrainingNapkin napkin = bill("model=llama-3.1-70b&seq=1e9&micro_batch=100").napkin;
  CHECK(napkin.states_bytes.has_value());
  CHECK_FALSE(napkin.activations_bytes.has_value());
  CHECK_FALSE(napkin.total_bytes.has_value());
  CHECK_FALSE(napkin.gpus.has_value());
}

TEST_CASE("Adapters of LoRA: weights, gradients and moments") {
  const Line adapters = line(bill("model=llama-2-7b&method=lora&framework=ddp").lines, "adapters");
  REQUIRE(adapters.children.size() == 3);
  CHECK(line(adapters.children, "weights").bytes == 4ULL * 39'976'960);  // fp32 in peft
  CHECK(line(adapters.children, "gradients").bytes == 4ULL * 39'976'960);
  CHECK(line(adapters.children, "optimizer").bytes == 8ULL * 39'976'960);
  CHECK(line(bill("model=llama-2-7b&method=lora&framework=ddp&library=torchtune").lines, "adapters").bytes ==
        8ULL * 39'976'960);
}

TEST_CASE("Embeddings trained beside adapters are copies in the base's precision, low-rank adapters fp32") {
  // peft, tuners/tuners_utils.py, cast_adapter_dtype casts layers of tuners; ModulesToSaveWrapper is none.
  const Line adapters =
      line(bill("model=llama-2-7b&method=lora&framework=ddp&library=hf&train_embeddings=1").lines, "adapters");
  const auto part = [&](const char* state, const char* id) {
    return line(line(adapters.children, state).children, id).bytes;
  };
  const uint64_t tables = 2ULL * 32000 * 4096, low_rank = 39'976'960;
  CHECK(part("weights", "embeddings") == 2 * tables);
  CHECK(part("gradients", "embeddings") == 2 * tables);
  CHECK(part("optimizer", "embeddings") == 4 * tables);  // two 16-bit moments
  CHECK(part("weights", "lora") == 4 * low_rank);
}

TEST_CASE("An unfused optimizer has temporaries of adapters and trained embeddings as large as they are") {
  const auto updates = [](const std::string& more) {
    const TrainingBill b = bill("model=llama-2-7b&method=lora&framework=ddp&library=hf&train_embeddings=1" + more);
    return line(line(phase(b, "optimizer").lines, "buffers").children, "updates").bytes;
  };
  CHECK(updates("&fused_optimizer=0") == 4ULL * 39'976'960 + 2 * 2ULL * 32000 * 4096);
  CHECK(updates("") == 0);
}

TEST_CASE("A tied head has adapters of its own") {
  const auto weights = [](const char* targets) {
    const TrainingBill b =
        bill(std::string("model=gemma-2b&framework=ddp&method=lora&lora_rank=8&lora_targets=") + targets);
    return line(line(b.lines, "adapters").children, "weights").bytes;
  };
  CHECK(weights("all%2Bhead") - weights("all") == 4ULL * 8 * (256000 + 2048));  // fp32 with peft
}

TEST_CASE("A 4-bit base quantises the linears of the layers only") {
  // arXiv 2305.14314, section 3: 4.127 bits with double quantisation, 4.5 without.
  const uint64_t linears = 6'476'005'376, rest = 6'738'415'616 - linears;
  const TrainingBill twice = bill("model=llama-2-7b&method=qlora&framework=ddp");
  CHECK(bytes(twice, "weights") == linears / 16384 * 8452 + 2 * rest);  // (4 + 8 / 64 + 32 / 16384) / 8 = 8452 / 16384
  CHECK(bytes(bill("model=llama-2-7b&method=qlora&framework=ddp&double_quant=0"), "weights") ==
        linears * 9 / 16 + 2 * rest);
}

TEST_CASE("Measured: LoRA of Mistral 7B on one A100, in-place loss") {
  // fms-acceleration, scripts/benchmarks/refs: 4 × 4096 tokens, rank 16 on q, k, v, o: 21.914 GiB allocated.
  const TrainingBill b = bill(
      "model=mistral-7b-v0.1&gpu=a100-sxm4-80gb&framework=ddp&method=lora&lora_targets=attention&recompute=full&"
      "micro_batch=4&seq=4096&loss=inplace&fused_optimizer=0");
  const double ratio = static_cast<double>(b.allocated_bytes) / (21.914 * 1024 * 1024 * 1024);
  CHECK(ratio > 0.97);
  CHECK(ratio < 1.03);
}

TEST_CASE("Offloaded optimizer states lie in the node's memory") {
  const TrainingBill b = bill("model=llama-2-7b&gpus=8&offload=optimizer&offload_fraction=0.5");
  CHECK(bytes(b, "optimizer") == 12ULL * 6'738'415'616 / 8 / 2);
  // fp32 weights, two moments, and a copy of the gradients (Megatron-LM, hybrid_optimizer.py).
  CHECK(b.host_bytes_per_node == 16ULL * 6'738'415'616 / 2);
  CHECK(b.host_verdict.has_value());
  CHECK_FALSE(bill("model=llama-2-7b&gpus=8").host_bytes_per_node.has_value());
}

TEST_CASE("Offloading everything leaves nothing of the states on the GPU") {
  const TrainingBill b = bill("model=llama-2-7b&framework=fsdp&gpus=8&offload=all&host_mem=64");
  CHECK(bytes(b, "weights") + bytes(b, "gradients") + bytes(b, "optimizer") == 0);
  CHECK(b.host_bytes_per_node == 16ULL * 6'738'415'616);
  CHECK(b.host_verdict == Verdict::exceeds);
}

TEST_CASE("Offloaded checkpoints leave the GPU") {
  const TrainingBill b = bill("model=llama-2-7b&framework=fsdp&gpus=8&recompute=full&seq=4096&offload=activations");
  CHECK(bytes(b, "forward", "activations") == 0);
  CHECK(b.host_bytes_per_node == 8ULL * 32 * 4096 * 4096 * 2);
}

TEST_CASE("ZeRO-Offload leaves the weights and no gradient on the GPU") {
  // arXiv 2101.06840, section 4.1; DeepSpeed's estimator: 2 bytes a parameter on the GPU with ZeRO 2.
  const TrainingBill b = bill("model=llama-2-7b&framework=deepspeed&zero=2&gpus=8&offload=optimizer");
  CHECK(bytes(b, "reduce", "weights") == 2 * 6'738'415'616);
  CHECK(bytes(b, "reduce", "gradients") + bytes(b, "reduce", "optimizer") == 0);
  CHECK(line(line(phase(b, "reduce").lines, "buffers").children, "fp32_gradients").bytes == 0);
}

TEST_CASE("Each thread's cuBLAS handle has a workspace, TransformerEngine one of its own") {
  const auto workspace = [](const char* share) {
    return line(line(bill(share).lines, "buffers").children, "workspace").bytes >> 10;
  };
  CHECK(workspace("model=llama-2-7b&framework=ddp&gpu=a100-sxm4-80gb") == 2 * 8320);  // 16.25 MiB
  CHECK(workspace("model=llama-2-7b&framework=ddp&gpu=rtx-4090-24gb") == 2 * 8320);
  CHECK(workspace("model=llama-2-7b&framework=ddp&gpu=h100-sxm5-80gb") == 2 * 32768);
  // Megatron-LM's smallest test on an H100 holds 100.7 MB beside its states: 96 MiB.
  CHECK(workspace("model=llama-2-7b&framework=megatron&gpu=h100-sxm5-80gb") == 3 * 32768);
}

TEST_CASE("More ZeRO never takes more") {
  const std::string model = GENERATE("model=llama-2-7b", "model=gpt2-xl", "model=mixtral-8x7b", "model=pythia-410m");
  const char* gpu = GENERATE("&gpu=b300-288gb", "&gpu=a100-sxm4-80gb");
  for (const char* framework : {"megatron", "deepspeed"}) {
    uint64_t before = ~uint64_t{0};
    for (const char* zero : {"0", "1", "2"}) {
      const TrainingBill b = bill(model + gpu + "&gpus=8&framework=" + framework + "&zero=" + zero);
      CAPTURE(model, framework, zero);
      CHECK(b.device_bytes <= before);
      before = b.device_bytes;
    }
  }
}

TEST_CASE("While the optimizer step is the peak the micro-batch does not matter") {
  // fms-acceleration, Mistral 7B in full: 67.46 GiB with batches of 4 and of 8.
  const std::string share =
      "model=mistral-7b-v0.1&gpu=a100-sxm4-80gb&framework=ddp&precision=bf16-pure&fused_optimizer=0&recompute=full&"
      "loss=inplace&seq=4096&micro_batch=";
  const TrainingBill four = bill(share + "4"), eight = bill(share + "8");
  CHECK(std::string(eight.phase) == "optimizer");
  CHECK(four.allocated_bytes == eight.allocated_bytes);
}
