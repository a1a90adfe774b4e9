#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "engine/plan/plan.h"
#include "engine/serving/serving.h"

using vram::ServingBill;
using vram::Verdict;

namespace {

ServingBill bill_of(const std::string& share) { return vram::serving_bill(vram::read_plan(share).plan); }

// Eight cards of 80 GB, 80B parameters in bf16: 160 GB of weights, 40 GB of reserve, 440 GB for KV.
const std::string kEightCards =
    "model=custom&params=80e9&layers=80&hidden=8192&heads=64&head_dim=128&gpu=custom&gpu_mem=80GB&serve_gpus=8&serve_"
    "tp=8"
    "&utilization=1&reserve=5GB&weights=bf16&kv=bf16&prompt=2048&output=0&block=1&engine=generic";

void check_adds_up(const vram::Line& line) {
  if (line.children.empty()) {
    CHECK(!line.factors.empty());
    return;
  }
  CHECK(vram::total_bytes(line.children) == line.bytes);
  for (const vram::Line& child : line.children) check_adds_up(child);
}

}  // namespace

TEST_CASE("Four steps: weights, reserve, the rest for KV, divided by a request", "[serving]") {
  const ServingBill mha = bill_of(kEightCards + "&kv_heads=64"), gqa = bill_of(kEightCards + "&kv_heads=8");
  CHECK(mha.max_concurrency == 81);   // 440 GB / 5.37 GB
  CHECK(gqa.max_concurrency == 655);  // 440 GB / 0.671 GB
  CHECK(mha.weights_bytes_per_gpu == 20000000000);
  CHECK(mha.kv_budget_bytes_per_gpu == 55000000000);
  CHECK(gqa.promised_concurrency == 458);  // 0.7 of them, whole
}

TEST_CASE("A promise is whole where the product is", "[serving]") {
  const ServingBill bill = bill_of(kEightCards + "&kv_heads=64&derate=1");
  CHECK(bill.promised_concurrency == bill.max_concurrency);
}

TEST_CASE("The verdict compares promise, theory and wish", "[serving]") {
  CHECK(bill_of(kEightCards + "&concurrency=56").verdict == Verdict::fits);  // 0.7 x 81 = 56.7
  CHECK(bill_of(kEightCards + "&concurrency=57").verdict == Verdict::tight);
  CHECK(bill_of(kEightCards + "&concurrency=81").verdict == Verdict::tight);
  CHECK(bill_of(kEightCards + "&concurrency=82").verdict == Verdict::exceeds);
  CHECK(bill_of("model=llama-3-70b&gpu=rtx-4090-24gb").verdict == Verdict::exceeds);  // not even the weights
}

TEST_CASE("The lines of one GPU are always the same seven and add up", "[serving]") {
  const char* ids[] = {"weights", "kv_cache", "activations", "graphs", "buffers", "context", "reserve"};
  for (const char* engine : {"generic", "static", "vllm", "sglang", "llamacpp", "trtllm"}) {
    for (const char* plan :
         {"model=llama-3.1-8b", "model=mixtral-8x7b&serve_gpus=4", "model=deepseek-v3&serve_gpus=16&serve_pp=2",
          "model=gpt-oss-120b&prefix=100&long_share=0.1&long_prompt=9000", "model=custom&params=7e9"}) {
      const ServingBill bill = bill_of(std::string(plan) + "&engine=" + engine);
      INFO(plan << " " << engine);
      REQUIRE(bill.lines.size() == 7);
      for (size_t i = 0; i < 7; ++i) CHECK(std::string(bill.lines[i].id) == ids[i]);
      CHECK(vram::total_bytes(bill.lines) == bill.device_bytes);
      for (const vram::Line& line : bill.lines) check_adds_up(line);
    }
  }
}

TEST_CASE("vllm's GPU holds its utilization of the card, the context that was there before and graphs", "[serving]") {
  const auto outside = [](const ServingBill& bill) { return bill.device_bytes - 60 * (1ull << 30); };
  const std::string share = "model=llama-3.1-8b&gpu_mem=80&utilization=0.75&engine_version=";
  const ServingBill newest = bill_of(share), counted = bill_of(share + "0.21.0"), old = bill_of(share + "0.6.4");
  CHECK(outside(newest) == newest.lines[3].bytes + newest.lines[5].bytes);
  CHECK(outside(counted) == counted.lines[5].bytes);
  CHECK(outside(old) == old.lines[3].bytes);
  // The second engine counts everything that is in use until 0.9.2; the first one, on older cards or asked for, never
  // did.
  CHECK(outside(bill_of(share + "0.8.5")) == old.lines[3].bytes);
  CHECK(outside(bill_of(share + "0.8.5V0")) == newest.lines[3].bytes + newest.lines[5].bytes);
}

TEST_CASE("sglang's mem_fraction_static is for weights and pools; all else comes on top", "[serving]") {
  const ServingBill bill = bill_of("model=llama-3.1-8b&gpu_mem=80.5&utilization=0.75&engine=sglang");
  CHECK(bill.lines[0].bytes + bill.lines[1].bytes == 60 * (1ull << 30));  // (80.5 - 0.5 of context) x 0.75
}

TEST_CASE("sglang's pool takes whole 2 MiB a tensor", "[serving]") {
  // Mistral-7B, 56,524 tokens: 64 tensors of 110.4 MiB take 112; 7.25 GiB went with a table of 2049 x 32768
  // (sglang#2468)
  const ServingBill bill = bill_of("model=mistral-7b-v0.1&engine=sglang&max_seqs=2049&measured_kv_pool=7408713728B");
  const vram::Line& buffers = bill.lines[4];
  REQUIRE(buffers.children.size() == 2);  // request_table, pool_rounding
  const double gib = static_cast<double>(bill.lines[1].bytes + buffers.bytes) / 1073741824;
  CHECK(std::abs(gib - 7.25) < 0.005);
}

TEST_CASE("sglang gives the states of a hybrid their own part of the pool", "[serving]") {
  const std::string share = "model=qwen3-next-80b-a3b&engine=sglang&gpu=b200-180gb&weights=fp8&output=0&prompt=";
  // Of 1.9 parts the states have 0.9, however short the requests (mamba_full_memory_ratio)
  const ServingBill brief = bill_of(share + "1"), longer = bill_of(share + "100000");
  const double state = 36.0 * (524288 * 4 + 24576 * 2);
  const double states = static_cast<double>(*brief.kv_budget_bytes_per_gpu) * 0.9 / 1.9 / state;
  CHECK(*longer.max_concurrency < *brief.max_concurrency);
  // Three of them for each request where a tree of prefixes holds some (MAMBA_CACHE_SIZE_MAX_RUNNING_REQUESTS_RATIO)
  CHECK(*brief.max_concurrency == std::floor(states / 3));
  CHECK(*bill_of(share + "1&prefix_hit=0").max_concurrency == std::floor(states));
  CHECK(*bill_of(share + "1&engine_version=0.5.3").max_concurrency == std::floor(states));
  // max_seqs given and prefixes not cached (--disable-radix-cache): that many states, the rest for tokens
  CHECK(*bill_of(share + "1&max_seqs=48&prefix_hit=0").max_concurrency == 48);
  CHECK(*bill_of(share + "1&max_seqs=48").max_concurrency == *brief.max_concurrency);
}

TEST_CASE("Swap holds requests that wait, in blocks as on the GPU", "[serving]") {
  // vllm 0.3: 6553 CPU blocks of 16 tokens in 4 GiB a GPU, Llama-3-70B on eight; 9362 of Qwen2.5-1.5B
  const ServingBill eight = bill_of("model=llama-3-70b&serve_gpus=8&swap=4&prompt=16&output=0&kv=bf16");
  CHECK(eight.swapped_requests == 6553);
  CHECK(eight.host_bytes == 32ull << 30);
  CHECK(bill_of("model=qwen2.5-1.5b&swap=4&prompt=16&output=0&kv=bf16").swapped_requests == 9362);
  CHECK_FALSE(bill_of("model=qwen2.5-1.5b").swapped_requests.has_value());
}

TEST_CASE("A server whose host memory is too small does not fit", "[serving]") {
  CHECK(bill_of("model=llama-3.1-8b&swap=64&host_mem=100").verdict == Verdict::fits);
  CHECK(bill_of("model=llama-3.1-8b&swap=128&host_mem=100").verdict == Verdict::exceeds);
  // Sixteen GPUs in two nodes, 1,024 GiB of swap: each node has memory of its own
  const std::string nodes = "model=llama-3.1-8b&serve_gpus=16&node=8&swap=64&host_mem=";
  CHECK(bill_of(nodes + "600").verdict == Verdict::fits);
  CHECK(bill_of(nodes + "500").verdict == Verdict::exceeds);
}

TEST_CASE("An engine that takes memory as it goes may fill what utilization and margin leave", "[serving]") {
  const std::string share =
      "model=llama-2-7b&engine=llamacpp&weights=fp16&kv=fp16&gpu=custom&gpu_mem=16GB&prompt=512&output=0";
  CHECK(bill_of(share + "&utilization=1&margin=0").verdict == Verdict::fits);
  CHECK(bill_of(share + "&utilization=0.8&margin=0").verdict == Verdict::exceeds);  // weights alone are 13.5 GB
  CHECK(bill_of(share + "&utilization=1&margin=0.2").verdict == Verdict::exceeds);
}

TEST_CASE("llama.cpp's layers that are not on the GPU lie in host memory, with their cache", "[serving]") {
  const std::string share = "model=llama-2-7b&engine=llamacpp&weights=fp16&kv=fp16&prompt=4096&output=0";
  const ServingBill all = bill_of(share), half = bill_of(share + "&gpu_layers=16");
  REQUIRE(all.host_lines.size() == 3);
  CHECK(all.host_lines[0].bytes == 2ull * 32000 * 4096);  // the input embedding
  // mask and embeddings of a micro-batch, and each token's id, position and place among what is put out
  CHECK(all.host_lines[1].bytes == 512ull * 4 * (4096 + 4096 + 3));
  CHECK(all.host_lines[2].bytes == 32000 * 4);  // logits of one slot
  REQUIRE(half.host_lines.size() == 4);
  CHECK(half.host_lines[1].bytes == 16ull * 2 * 4096 * 4096 * 2);
  CHECK(half.host_lines[0].bytes + *half.weights_bytes_per_gpu == all.host_lines[0].bytes + *all.weights_bytes_per_gpu);
}

TEST_CASE("llama.cpp's routed experts in host memory leave everything else on the GPU", "[serving]") {
  const std::string share = "model=gpt-oss-20b&engine=llamacpp&weights=mxfp4&prompt=131072&output=0&n_cpu_moe=";
  const ServingBill none = bill_of(share + "0"), half = bill_of(share + "12"), all = bill_of(share + "24");
  // 24 layers: three of 32 x 2880 x 2880 in 4.25 bits, biases in 32
  const uint64_t layer = 3ull * 32 * 2880 * 2880 * 17 / 32 + 3ull * 32 * 2880 * 4;
  CHECK(*none.weights_bytes_per_gpu - *half.weights_bytes_per_gpu == 12 * layer);
  CHECK(*none.weights_bytes_per_gpu - *all.weights_bytes_per_gpu == 24 * layer);
  CHECK(half.host_lines[0].bytes - none.host_lines[0].bytes == 12 * layer);
  CHECK(*all.kv_bytes_per_request == *none.kv_bytes_per_request);
  CHECK(all.host_lines.size() == none.host_lines.size());  // no cache there
  CHECK(bill_of(share + "99").device_bytes == all.device_bytes);
  // with host layers before them: each lies there once
  const ServingBill both = bill_of(share + "16&gpu_layers=16");
  CHECK(both.host_lines[0].bytes + *both.weights_bytes_per_gpu ==
        none.host_lines[0].bytes + *none.weights_bytes_per_gpu);
  // of two GPUs the second has its own
  const ServingBill two = bill_of(share + "12&serve_pp=2"), whole = bill_of(share + "0&serve_pp=2");
  CHECK(*two.weights_bytes_per_gpu <= *whole.weights_bytes_per_gpu);
  CHECK(bill_of("model=llama-2-7b&engine=llamacpp&n_cpu_moe=9").device_bytes ==
        bill_of("model=llama-2-7b&engine=llamacpp").device_bytes);
  CHECK(bill_of("model=gpt-oss-20b&n_cpu_moe=9").device_bytes == bill_of("model=gpt-oss-20b").device_bytes);
}

TEST_CASE("TensorRT-LLM takes its share of what is free once the engine is loaded", "[serving]") {
  // Llama-3.1-8B FP8 on an RTX 5090: 17.83 GiB free, 16.05 for KV
  const ServingBill bill = bill_of("model=llama-3.1-8b&gpu_mem=80&utilization=0.5&engine=trtllm");
  const uint64_t others = bill.device_bytes - bill.lines[1].bytes;
  CHECK(*bill.kv_budget_bytes_per_gpu == (80 * (1ull << 30) - others) / 2);
}

TEST_CASE("A given reserve replaces everything beside weights and KV", "[serving]") {
  const ServingBill bill = bill_of("model=llama-3.1-8b&engine=generic&reserve=25%25&weights=bf16");
  CHECK(bill.lines[2].bytes + bill.lines[3].bytes + bill.lines[4].bytes + bill.lines[5].bytes == 0);
  CHECK(bill.lines[6].bytes == *bill.weights_bytes_per_gpu / 4);
}

TEST_CASE("Margin leaves the verdict less room", "[serving]") {
  CHECK(bill_of("model=llama-2-13b&gpu=a100-sxm4-40gb&engine=generic").verdict == Verdict::fits);
  CHECK(bill_of("model=llama-2-13b&gpu=a100-sxm4-40gb&engine=generic&margin=0.5").verdict == Verdict::exceeds);
}

TEST_CASE("A measured pool replaces the modelled one", "[serving]") {
  const ServingBill bill = bill_of("model=llama-3.1-8b&kv=bf16&measured_kv_pool=10");
  CHECK(bill.kv_budget_bytes_per_gpu == 10ull << 30);
  CHECK(bill.kv_tokens == 81920);  // 10 GiB / 128 KiB
}

TEST_CASE("The longest context is the longest of which `concurrency` fit", "[serving]") {
  const std::string share = "model=llama-3.1-8b&kv=bf16&measured_kv_pool=10&max_len=1000000&concurrency=";
  CHECK(bill_of(share + "1").longest_context == 81920);
  CHECK(bill_of(share + "10").longest_context == 8192);
}

TEST_CASE("Paging leaves half a block of a request unused, reserving the longest all that is shorter", "[serving]") {
  const std::string share = "model=llama-3.1-8b&prompt=700&output=300&max_len=4000&engine=";
  CHECK(bill_of(share + "vllm&block=17").kv_unused_share == 8.0 / 1008);
  CHECK(bill_of(share + "vllm").kv_unused_share_reserved == 0.75);
  CHECK(bill_of(share + "static").kv_unused_share == 0.75);
  CHECK(bill_of(share + "generic").kv_unused_share == 0);
  CHECK(bill_of(share + "static&long_share=0.5&long_prompt=2500&long_output=500").kv_unused_share == 0.5);
  CHECK_FALSE(bill_of(share + "llamacpp").kv_unused_share);
}

TEST_CASE("Concurrency as engines print it has decimals", "[serving]") {
  const ServingBill bill =
      bill_of("model=llama-3.1-8b&kv=bf16&measured_kv_pool=10&max_len=32768&prompt_p99=4096&output_p99=4096");
  CHECK(bill.max_concurrency_at_max_len == 2.5);
  CHECK(bill.max_concurrency_p99 == 10);
}

TEST_CASE("Attention data parallelism multiplies the requests", "[serving]") {
  const std::string share = "model=deepseek-v3&kv=bf16&gpu=h200-sxm-141gb&measured_kv_pool=10&serve_gpus=16";
  const ServingBill one = bill_of(share + "&serve_tp=16"), four = bill_of(share + "&serve_tp=4&serve_dp=4");
  CHECK(four.max_concurrency == *one.max_concurrency * 4);
}

TEST_CASE("The napkin: nominal bytes, a quarter in reserve, the rest over a request", "[serving]") {
  const vram::ServingNapkin napkin = bill_of(kEightCards + "&kv_heads=64").napkin;
  CHECK(napkin.weights_bytes == 160000000000);
  CHECK(napkin.reserve_bytes == 40000000000);
  CHECK(napkin.kv_bytes_per_request == 5368709120);
  CHECK(napkin.max_concurrency == 81);
  CHECK(napkin.flops_per_token == 160e9);
}

TEST_CASE("An impossible plan has reasons and a napkin only", "[serving]") {
  const ServingBill bill = bill_of("model=llama-3.1-8b&serve_gpus=3&serve_tp=2");
  CHECK(bill.verdict == Verdict::invalid);
  CHECK(!bill.faults.empty());
  CHECK(bill.lines.empty());
  CHECK(bill.napkin.weights_bytes == 16060522496);
}

TEST_CASE("Two populations in one pool take their mean; apart each has replicas of its own", "[serving]") {
  const std::string share = "model=llama-3.1-8b&measured_kv_pool=16&kv=bf16&prompt=1024&output=0&max_len=131072";
  const ServingBill both = bill_of(share + "&long_share=0.25&long_prompt=8192&long_output=0&concurrency=40");
  CHECK(*both.max_concurrency == std::floor(131072 / (0.75 * 1024 + 0.25 * 8192)));
  CHECK(*both.max_concurrency_short == 128);
  CHECK(*both.max_concurrency_long == 16);
  CHECK(*both.replicas_needed == 2);            // 40 over 0.7 x 46
  CHECK(*both.replicas_needed_apart == 1 + 1);  // 30 over 0.7 x 128, 10 over 0.7 x 16
  CHECK_FALSE(bill_of(share).max_concurrency_long.has_value());
}

TEST_CASE("A measured pool stands for the modelled one; of a plan changed since, the difference is added") {
  const std::string share = "model=llama-3.1-8b&gpu=h100-sxm5-80gb&engine=vllm";
  const auto pool = [](const std::string& text) { return *bill_of(text).kv_budget_bytes_per_gpu; };
  const uint64_t modelled = pool(share), changed = pool(share + "&weights=fp8");
  const uint64_t measured = 50ULL << 30;
  CHECK(pool(share + "&measured_kv_pool=50") == measured);
  CHECK(pool(share + "&weights=fp8&measured_kv_pool=50&measured_with=weights%3D") == changed + measured - modelled);
  // a shift that leaves nothing leaves nothing
  CHECK(pool(share + "&weights=fp32&measured_kv_pool=0.001&measured_with=weights%3D") == 0);
}
