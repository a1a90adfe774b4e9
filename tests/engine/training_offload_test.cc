#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/engine/training_samples.h"

using namespace vram;
using namespace vram::samples;

namespace {

constexpr uint64_t P = 6'738'415'616;       // parameters of Llama 2 7B
constexpr uint64_t kAdapters = 39'976'960;  // rank 16 beside every linear of its layers

}  // namespace

TEST_CASE("What is offloaded lies in the memory of the node") {
  struct Row {
    const char* share;
    uint64_t bytes;
  };
  const Row row = GENERATE(values<Row>({
      // fp32 weights, two moments, a copy of the gradients to update them with: 16 bytes.
      {"framework=megatron&gpus=8&offload=optimizer", 16 * P},
      {"framework=megatron&gpus=8&offload=optimizer&offload_fraction=0.25", 4 * P},
      {"framework=megatron&gpus=16&offload=optimizer", 8 * P},  // two nodes share them
      {"framework=megatron&gpus=2&offload=optimizer", 16 * P},
      // Two moments in fp32, gradients in fp32; bf16-pure: half of all three.
      {"framework=fsdp&gpus=8&offload=optimizer", 12 * P},
      {"framework=ddp&offload=optimizer&precision=bf16-pure", 6 * P},
      // Weights, gradients, moments: 4 + 4 + 8.
      {"framework=fsdp&gpus=8&offload=all", 16 * P},
      // ZeRO-Offload: 12 of states, 2 of gradients, 6 of their copies.
      {"framework=deepspeed&zero=2&gpus=8&offload=optimizer", 20 * P},
      // A checkpoint of 4096 tokens a layer on each of eight GPUs.
      {"framework=fsdp&gpus=8&recompute=full&seq=4096&offload=activations", 8ULL * 32 * 4096 * 4096 * 2},
      // Paged moments of adapters in fp32.
      {"framework=ddp&method=qlora&offload=optimizer", 8 * kAdapters},
  }));
  CAPTURE(row.share);
  CHECK(bill(std::string("model=llama-2-7b&") + row.share).host_bytes_per_node == row.bytes);
}

TEST_CASE("Whether the host has it") {
  const std::string share = "model=llama-2-7b&framework=megatron&gpus=8&offload=optimizer&host_mem=";
  CHECK(bill(share + "108GB").host_verdict == Verdict::fits);
  CHECK(bill(share + "107GB").host_verdict == Verdict::exceeds);
  CHECK_FALSE(bill(share + "0").host_verdict.has_value());  // unknown
  CHECK_FALSE(bill("model=llama-2-7b&gpus=8").host_bytes_per_node.has_value());
}

TEST_CASE("More offloaded never takes more of a GPU, nor less of the host") {
  const std::string share =
      GENERATE("framework=megatron&gpus=8&offload=optimizer", "framework=deepspeed&zero=2&gpus=8&offload=optimizer",
               "framework=deepspeed&zero=3&gpus=8&offload=all", "framework=fsdp&gpus=8&offload=all",
               "framework=ddp&method=lora&offload=all", "framework=fsdp2&gpus=8&recompute=full&offload=activations",
               "framework=megatron&gpus=8&pp=4&tp=2&global_batch=8&offload=activations");
  CAPTURE(share);
  uint64_t gpu = UINT64_MAX, host = 0;
  for (const char* fraction : {"0", "0.1", "0.5", "0.9", "1"}) {
    const TrainingBill b = bill("model=llama-2-7b&" + share + "&offload_fraction=" + fraction);
    CHECK(b.allocated_bytes <= gpu);
    CHECK(b.host_bytes_per_node.value_or(0) >= host);
    gpu = b.allocated_bytes;
    host = b.host_bytes_per_node.value_or(0);
  }
  CHECK(host > 0);
}
