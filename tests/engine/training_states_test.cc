#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "tests/engine/training_samples.h"

using namespace vram;
using namespace vram::samples;

namespace {

uint64_t states(const TrainingBill& b) { return bytes(b, "weights") + bytes(b, "gradients") + bytes(b, "optimizer"); }

/// Bytes a parameter of weights, gradients and optimizer at the optimizer step, where all of them are present.
struct Row {
  const char* share;
  double weights, gradients, optimizer;
};

}  // namespace

TEST_CASE("DeepSpeed in fp16 keeps 2, 2 and 12 bytes a parameter") {
  // ZeRO, arXiv 1910.02054, section 3.1: 16 bytes a parameter with Adam.
  const TrainingBill b = bill("model=custom&params=70e9&framework=deepspeed&precision=fp16&zero=0&gpus=1");
  CHECK(bytes(b, "weights") == 140'000'000'000);
  CHECK(bytes(b, "gradients") == 140'000'000'000);
  CHECK(bytes(b, "optimizer") == 840'000'000'000);
}

TEST_CASE("ZeRO's stages divide optimizer, gradients and weights") {
  // ZeRO, arXiv 1910.02054, figure 1: 7.5B parameters on 64 GPUs take 120, 31.4, 16.6 and 1.9 GB.
  const std::string share = "model=custom&params=7.5e9&framework=deepspeed&precision=fp16&gpus=64&zero=";
  CHECK(states(bill(share + "0")) == 120'000'000'000);
  CHECK(states(bill(share + "1")) == 31'406'250'000);
  CHECK(states(bill(share + "2")) == 16'640'625'000);
  CHECK(states(bill(share + "3")) == 1'875'000'000);
}

TEST_CASE("Bytes a parameter by framework, precision and optimizer") {
  const Row row = GENERATE(values<Row>({
      {"framework=megatron", 2, 4, 12},  // Megatron-LM, training/theoretical_memory_usage.py: 18
      {"framework=megatron&precision=fp16", 2, 4, 12},
      {"framework=megatron&precision=bf16-pure", 2, 2, 4},
      {"framework=megatron&precision=fp8", 2, 4, 12},
      {"framework=deepspeed", 2, 2, 12},
      {"framework=deepspeed&grad_dtype=fp32", 2, 4, 12},
      {"framework=deepspeed&precision=bf16-pure", 2, 2, 6},  // 16-bit master weights beside the module's own
      {"framework=fsdp", 4, 4, 8},
      {"framework=fsdp2", 4, 4, 8},
      {"framework=ddp", 4, 4, 8},
      {"framework=ddp&precision=bf16-pure", 2, 2, 4},
      {"framework=ddp&precision=fp32", 4, 4, 8},
      {"framework=ddp&precision=bf16-pure&optimizer=adamw8bit", 2, 2, 2 + 4.0 / 128},  // a scale for 256 values
      {"framework=ddp&precision=bf16-pure&optimizer=adamw4bit", 2, 2, 1 + 4.0 / 64},   // a scale for 128 values
      {"framework=ddp&precision=bf16-pure&optimizer=lion", 2, 2, 2},
      {"framework=ddp&precision=bf16-pure&optimizer=sgd", 2, 2, 0},
      {"framework=ddp&precision=bf16-pure&optimizer=sgdm", 2, 2, 2},
      {"framework=megatron&moments=bf16", 2, 4, 8},
  }));
  CAPTURE(row.share);
  const TrainingBill b = bill(std::string("model=custom&params=1e9&") + row.share);
  CHECK(static_cast<double>(bytes(b, "optimizer", "weights")) == row.weights * 1e9);
  CHECK(static_cast<double>(bytes(b, "optimizer", "gradients")) == row.gradients * 1e9);
  CHECK(static_cast<double>(bytes(b, "optimizer", "optimizer")) == row.optimizer * 1e9);
}

TEST_CASE("Muon keeps one moment of a matrix and two of everything else") {
  const TrainingBill b = bill("model=llama-2-7b&framework=ddp&precision=bf16-pure&optimizer=muon");
  // Llama 2 7B: 6,476,005,376 weights of the layers' linears; embedding, head and norms 262,410,240.
  CHECK(bytes(b, "optimizer") == 2 * 6'476'005'376 + 4 * 262'410'240);
}

TEST_CASE("Adafactor keeps sums of rows and columns") {
  const TrainingBill b = bill("model=llama-2-7b&framework=ddp&precision=fp32&optimizer=adafactor");
  // fp32 row and column sums. A layer: q, k, v, o 4 × (4096 + 4096); gate, up, down 3 × (4096 + 11008); norms 2 × 4096.
  const uint64_t layer = 4 * 8192 + 3 * 15104 + 2 * 4096;
  const uint64_t ends = 2 * (32000 + 4096) + 4096;
  CHECK(bytes(b, "optimizer") == 4 * (32 * layer + ends));
}

TEST_CASE("Of a matrix that tensor parallelism cuts, Adafactor keeps the sums along the other side whole") {
  const TrainingBill b =
      bill("model=llama-2-7b&framework=megatron&gpus=8&tp=8&precision=fp32&optimizer=adafactor&vocab_pad=1");
  // Eighths of 4096 and 11008 are 512 and 1376; what is cut of o and down are their columns. Norms are whole.
  const uint64_t layer = 4 * (512 + 4096) + 3 * (1376 + 4096) + 2 * 4096;
  const uint64_t ends = 2 * (4000 + 4096) + 4096;
  CHECK(bytes(b, "optimizer") == 4 * (32 * layer + ends));
}

TEST_CASE("A model's states are its parameters, matrix by matrix") {
  const TrainingBill b = bill("model=llama-3.1-8b&framework=megatron&precision=bf16");
  CHECK(bytes(b, "weights") == 2 * 8'030'261'248);
  CHECK(bytes(b, "gradients") == 4 * 8'030'261'248);
  CHECK(bytes(b, "optimizer") == 12 * 8'030'261'248);
}

TEST_CASE("A nominal count scales every matrix") {
  const TrainingBill b = bill("model=llama-3.1-8b&params=16060522496&framework=megatron");
  CHECK(bytes(b, "weights") == 2 * 16'060'522'496);
}

TEST_CASE("A router's correction bias has neither gradient nor moments") {
  const TrainingBill b = bill("model=deepseek-v3&framework=deepspeed&precision=fp16&library=hf");
  const uint64_t parameters = 671'026'419'200, biases = 14'848;  // DeepSeek-V3: 58 layers of 256 experts
  CHECK(bytes(b, "weights") == 2 * parameters);
  CHECK(bytes(b, "gradients") == 2 * (parameters - biases));
  CHECK(bytes(b, "optimizer") == 12 * (parameters - biases));
}

TEST_CASE("Megatron's distributed optimizer leaves 6 bytes a parameter and shares 12") {
  const TrainingBill b = bill("model=llama-3.1-8b&gpus=8");
  CHECK(bytes(b, "weights") == 2 * 8'030'261'248);
  CHECK(bytes(b, "gradients") == 4 * 8'030'261'248);
  CHECK(bytes(b, "optimizer") == 12 * 8'030'261'248 / 8);
}

TEST_CASE("Experts' states are shared among the ranks that hold the same experts") {
  // gpus / (etp x ep x pp) = 8 ranks for an expert, gpus / (tp x pp) = 64 for everything else.
  const TrainingBill b = bill("model=mixtral-8x7b&gpus=64&ep=8");
  const uint64_t experts = 32ULL * 8 * 3 * 4096 * 14336, rest = 46'702'792'704 - experts;
  CHECK(bytes(b, "weights") == 2 * rest + 2 * experts / 8);
  CHECK(bytes(b, "optimizer") == 12 * rest / 64 + 12 * experts / (8 * 8));
}

TEST_CASE("Tensor parallelism keeps norms whole and cuts KV heads as far as there are some") {
  const TrainingBill b = bill("model=llama-3.1-8b&gpus=16&tp=16&seq=4096");
  const uint64_t kv = 32ULL * 2 * 1024 * 4096, norms = 65ULL * 4096;
  const uint64_t others = 8'030'261'248 - kv - norms;
  CHECK(bytes(b, "weights") == 2 * (others / 16 + kv / 8 + norms));
}

TEST_CASE("The vocabulary is padded on each tensor-parallel rank") {
  // GPT-2's 50257 rows: to 50304 with a multiple of 128 (Megatron-LM, make_vocab_size_divisible_by), to 50432 on two
  // ranks.
  const std::string share = "model=gpt2&vocab_pad=128&gpus=2&tp=";
  CHECK(line(line(bill(share + "1").lines, "weights").children, "embedding").bytes == 2 * 768 * (50304 + 1024));
  const Line weights = line(bill(share + "2").lines, "weights");
  CHECK(line(weights.children, "embedding").bytes == 2 * 768 * 50432 / 2);
}

TEST_CASE("Behind a pipeline the last stage holds a copy of a tied embedding") {
  const TrainingBill whole = bill("model=gpt2&gpus=1");
  const Plan cut = read_plan("model=gpt2&gpus=2&pp=2&zero=0").plan;
  CHECK(line(line(whole.lines, "weights").children, "head").bytes == 0);
  CHECK(line(line(stage_lines(cut, 1), "weights").children, "head").bytes == 2 * 768 * 50257);
}

TEST_CASE("An optimizer that runs in backward keeps one gradient at a time") {
  const TrainingBill b = bill("model=llama-2-7b&framework=ddp&precision=bf16-pure&optimizer_in_backward=1");
  CHECK(bytes(b, "reduce", "gradients") == 2 * 32000 * 4096);  // embedding or head
}

TEST_CASE("An optimizer without fused kernels makes one more copy of the parameters") {
  // fms-acceleration's benchmark of Mistral 7B in pure bf16: 67.46 GiB at the peak, 10 bytes a parameter.
  const TrainingBill b = bill(
      "model=mistral-7b-v0.1&gpu=a100-sxm4-80gb&framework=ddp&precision=bf16-pure&fused_optimizer=0&recompute=full&"
      "micro_batch=4&seq=4096");
  CHECK(std::string(b.phase) == "optimizer");
  const uint64_t parameters = 7'241'732'096;
  const uint64_t workspace = line(line(b.lines, "buffers").children, "workspace").bytes;
  CHECK(b.allocated_bytes - workspace == 10 * parameters);
}

TEST_CASE("Where weights are sharded the quantiser's constants stay whole") {
  // bitsandbytes' QuantState is no parameter: of the 4.126953125 bits of NF4 with double quantization only 4 are
  // divided.
  const std::string share = "model=mistral-7b-v0.1&method=qlora&library=hf&framework=";
  const TrainingBill one = bill(share + "ddp"), two = bill(share + "fsdp&gpus=2");
  const uint64_t constants = line(line(two.lines, "weights").children, "quantisation").bytes;
  const double linears = 32.0 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3.0 * 4096 * 14336);
  CHECK(static_cast<double>(constants) == std::ceil(32 * (2.0 * 4096 * 4096 + 2.0 * 4096 * 1024) * 0.126953125 / 8) +
                                              std::ceil(32 * 3.0 * 4096 * 14336 * 0.126953125 / 8));
  CHECK(constants < linears * 0.0159);
  CHECK(bytes(two, "weights") == (bytes(one, "weights") - constants) / 2 + constants);
}

TEST_CASE("LLaMA-Adapter trains as many parameters as litgpt prints") {
  const auto trained = [](const std::string& share) { return trained_parameters(read_plan(share).plan); };
  CHECK(trained("model=llama-2-7b&method=adapter") == 1'229'760);  // 30 layers × (10 × 4096 + 32): the paper's 1.2M
  const std::string stablelm = "model=pythia-6.9b&layers=16&vocab=50688&method=";  // litgpt's StableLM-alpha 3B
  CHECK(trained(stablelm + "adapter") == 573'888);
  CHECK(trained(stablelm + "adapter_v2") == 2'125'248);
  const Line adapters = line(bill(stablelm + "adapter&framework=ddp&library=litgpt").lines, "adapters");
  CHECK(line(adapters.children, "weights").bytes == 2ULL * 573'888);
}

TEST_CASE("Scales and biases of outputs are cut as the outputs are") {
  // Two ranks share those of Q, K, V, gate, up and head; those of O and down, the norms and the prompts both have
  const uint64_t count =
      32 * (2 * (3 * 4096 / 2 + 2 * 11008 / 2 + 2 * 4096) + 2 * 4096) + 2 * 32000 / 2 + 4096 + 30 * (10 * 4096 + 32);
  const Line adapters = line(bill("model=llama-2-7b&method=adapter_v2&gpus=2&tp=2").lines, "adapters");
  CHECK(line(adapters.children, "weights").bytes == 2 * count);
}

TEST_CASE("Layers' weights in 8 bit alone take the place of those in 16 bit and of their quantised copies") {
  const std::string hopper = "model=llama-2-7b&gpu=h100-sxm5-80gb&precision=",
                    b200 = "model=llama-2-7b&gpu=b200-180gb&precision=";
  const auto layers = [](const std::string& share) {
    const Line weights = line(bill(share).lines, "weights");
    return line(weights.children, "attention").bytes + line(weights.children, "mlp").bytes;
  };
  const auto copies = [](const std::string& share) {
    return line(line(bill(share).lines, "buffers").children, "quantised_weights").bytes;
  };
  const uint64_t linears = 6'476'005'376;
  CHECK(layers(hopper + "fp8") == 2 * linears);
  CHECK(copies(hopper + "fp8") == 2 * linears);  // rows and columns
  CHECK(layers(hopper + "fp8&fp8_params=1") == 2 * linears);
  CHECK(copies(hopper + "fp8&fp8_params=1") == 0);
  CHECK(layers(b200 + "fp8&fp8_params=1") == linears);                           // rows serve for both
  CHECK(layers(b200 + "mxfp8&fp8_params=1") == 2 * linears + 2 * linears / 32);  // a scale for 32 values
  CHECK_FALSE(training_faults(read_plan(hopper + "bf16&fp8_params=1").plan).empty());
}

TEST_CASE("litgpt quantises the head as well, and keeps it apart from the embedding in every model") {
  const auto weights = [](const std::string& share) { return line(bill(share).lines, "weights"); };
  const std::string llama = "model=llama-2-7b&method=qlora&double_quant=0&framework=ddp&library=";
  CHECK(line(weights(llama + "litgpt").children, "head").bytes == 32000ULL * 4096 * 9 / 16);
  CHECK(line(weights(llama + "hf").children, "head").bytes == 32000ULL * 4096 * 2);
  const std::string gemma = "model=gemma-2b&method=lora&framework=ddp&library=";
  CHECK(line(weights(gemma + "litgpt").children, "head").bytes == 256000ULL * 2048 * 2);
  CHECK(line(weights(gemma + "hf").children, "head").bytes == 0);
}

TEST_CASE("Gradients accumulated under FSDP's no_sync are whole, of frozen parameters, too") {
  const std::string share = "model=llama-2-7b&method=lora&framework=fsdp&library=litgpt&gpus=2";
  CHECK(bytes(bill(share + "&global_batch=8"), "backward", "gradients") == 2ULL * 6'738'415'616);
  CHECK(bytes(bill(share), "backward", "gradients") == 0);
  // Where the first micro-batch is the longest, none has left gradients before it.
  CHECK(bytes(bill(share + "&global_batch=8&longest_first=1"), "backward", "gradients") == 0);
  CHECK(bytes(bill(share + "&global_batch=8&longest_first=1"), "reduce", "gradients") == 2ULL * 6'738'415'616);
}
