// What vllm's versions keep beside weights and KV: figures of start-up logs.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "engine/serving/serving.h"
#include "engine/units.h"

using namespace vram;

namespace {

double line_gib(const std::string& share, std::string_view id) {
  const ServingBill bill = serving_bill(read_plan(share).plan);
  for (const Line& line : bill.lines) {
    if (id == line.id) return static_cast<double>(line.bytes) / kGiB;
  }
  return -1;
}

double activations_gib(const std::string& share) { return line_gib(share, "activations"); }

bool within(double value, double logged, double share) {
  return value > logged * (1 - share) && value < logged * (1 + share);
}

}  // namespace

TEST_CASE("vllm profiles a batch of batch_tokens through its widest layer", "[serving]") {
  const std::string plan = "model=llama-3.1-8b&gpu=rtx-3090-24gb&gpu_mem=23.58&engine_version=0.6.6&batch_tokens=";
  CHECK(within(activations_gib(plan + "20000&max_len=20000"), 2.07, 0.01));  // vllm#10517
  CHECK(within(activations_gib(plan + "29000&max_len=29000"), 2.99, 0.01));
  // A longer context whose prefill is chunked leaves more for KV.
  CHECK(line_gib(plan + "512&max_len=35000", "kv_cache") > line_gib(plan + "29000&max_len=29000", "kv_cache"));
}

TEST_CASE("vllm samples for max_seqs sequences, whatever tp", "[serving]") {
  const std::string plan = "model=llama-3.1-8b&engine_version=0.9.1&batch_tokens=2048&max_seqs=";
  CHECK(within(activations_gib(plan + "1024"), (1024.0 * 128256 * 38.6 + 2048 * 4096 * 2) / kGiB, 0.001));
  CHECK(activations_gib(plan + "1024&serve_gpus=2") == activations_gib(plan + "1024"));
}

TEST_CASE("On Ascend nothing is sampled where vllm profiles", "[serving]") {
  // A start-up log of Qwen3-0.6B: 0.22 GiB, gate, up, product and three hidden states of 8192 tokens.
  const std::string npu = "model=qwen3-0.6b&gpu=ascend-910b&max_seqs=256&batch_tokens=8192";
  CHECK(within(activations_gib(npu), 8192.0 * (3 * 3072 + 3 * 1024) * 2 / kGiB, 1e-6));
  CHECK(activations_gib("model=qwen3-0.6b&gpu=l40s&max_seqs=256&batch_tokens=8192") > 1.4);
}

TEST_CASE("vllm's second model runner counts tokens for every request", "[serving]") {
  const auto buffers = [](const std::string& more) {
    return line_gib("model=qwen2.5-0.5b&gpu=rtx-4090-24gb&" + more, "buffers");
  };
  const double counts = 256 * 151936 * 4.125 / kGiB;
  CHECK(std::abs(buffers("engine_version=0.27.1") - buffers("engine_version=0.22.0") - counts) < 1e-9);
  CHECK(within(buffers("engine_version=0.27.1"), 0.31, 0.1));  // 22.07 - 0.93 - 0.31 - 20.52, a start-up log
  CHECK(buffers("engine_version=0.27.1&max_seqs=8") < 0.2);
}

TEST_CASE("vllm profiles a vision tower with its largest image", "[serving]") {
  // start-up logs of Qwen3.8-27B-FP8 on two GPUs and of the 16-bit model on one, whose sampler is larger
  const std::string qwen = "model=qwen3.5-27b&gpu=rtx-pro-6000-blackwell&engine_version=0.29.0&";
  CHECK(within(activations_gib(qwen + "serve_tp=2&batch_tokens=2048&max_seqs=1"), 1.59, 0.01));
  // Beside the language model's run lies what came out.
  const double cached = 16384 * 5120 * 2, counts = 255 * 248320 * 4.125;
  const double more = line_gib(qwen + "batch_tokens=8192&max_seqs=256", "buffers") -
                      line_gib(qwen + "batch_tokens=8192&max_seqs=1", "buffers");
  CHECK(within(more, (cached + counts) / kGiB, 1e-6));
  CHECK(within(activations_gib(qwen + "batch_tokens=8192&max_seqs=256"), 2.4, 0.03));
}

TEST_CASE("vllm profiles as many images as a batch holds", "[serving]") {
  const std::string gemma = "model=gemma-3-4b&gpu=rtx-4090-24gb&engine_version=0.22.0&max_seqs=8&batch_tokens=";
  const double one = 4096.0 * (2 * 1152 + 2 * 4304 + 588) * 2 / kGiB;
  CHECK(within(activations_gib(gemma + "2048"), 7 * one, 1e-6));  // "profiled with 7 image items"
  CHECK(within(activations_gib(gemma + "4096"), 15 * one, 1e-6));
  CHECK(activations_gib(gemma + "2048&max_len=520") < activations_gib(gemma + "4096&max_len=520") * 1.0001);
}

TEST_CASE("A version changes nothing that a key says", "[serving]") {
  const std::string plan = "model=llama-3.1-8b&graphs=0&engine_version=";
  CHECK(activations_gib(plan + "0.9.1") == activations_gib(plan + "0.10.0&max_seqs=256&batch_tokens=8192"));
}

TEST_CASE("vllm's sampler does not sort from 0.17 on", "[serving]") {
  const std::string plan = "model=gemma-3-4b&gpu=b200-180gb&max_seqs=1024&engine_version=";
  CHECK(within(activations_gib(plan + "0.9.1"), 9.96, 0.03));  // start-up log, 1024 sequences
  CHECK(activations_gib(plan + "0.17.0") < activations_gib(plan + "0.16.0") / 2);
}

TEST_CASE("vllm's first engine samples nothing where it profiles a part of a prompt, before 0.8", "[serving]") {
  const std::string plan = "model=llama-3.1-8b&gpu=rtx-3090-24gb&gpu_mem=23.58&engine_version=0.6.6&batch_tokens=512";
  CHECK(within(activations_gib(plan + "&max_len=35000"), 0.06, 0.05));  // vllm#10517
  const std::string turing = "model=qwen3-8b&gpu=t4&serve_tp=4&max_len=65536&max_seqs=256&engine_version=0.8.5V0";
  CHECK(within(activations_gib(turing), 1.45, 0.03));  // four RTX 2080 Ti
}

TEST_CASE("An MLP that keeps gate and up has one hidden state more, unless it is compiled", "[serving]") {
  const std::string one = "&max_seqs=1&batch_tokens=32768&max_len=32768&engine_version=0.8V0";
  const double qwen = activations_gib("model=qwen2.5-1.5b&gpu=t4" + one);  // qwen2.py
  CHECK(within(qwen, 2.02, 0.005));                                        // start-up log on a T4
  CHECK(qwen == 32768.0 * (3 * 8960 + 4 * 1536) * 2 / 1073741824);
  CHECK(activations_gib("model=llama-3.1-8b&gpu=t4" + one) == 32768.0 * (3 * 14336 + 3 * 4096) * 2 / 1073741824);
  const std::string second = "model=qwen2.5-7b&max_seqs=1&batch_tokens=8192&engine_version=0.18.0";
  CHECK(activations_gib(second + "&graphs=0") - activations_gib(second) == 8192.0 * 3584 * 2 / 1073741824);
  // AWQ's kernel copies the down projection's input: 5.66 GiB of a log, 0.03 of it what sums in fp32.
  const std::string awq = "model=qwen2.5-72b&gpu=a40&serve_tp=2&weights=awq&batch_tokens=32768&max_len=32768";
  const double copied = 32768 * 2 * 29568 / 2 / 1073741824.0;
  const double before = activations_gib(awq + "&engine_version=0.7.2"),
               after = activations_gib(awq + "&engine_version=0.10V0");
  CHECK(within(before, 5.66, 0.01));
  CHECK(within(before - after, copied, 1e-9));
  CHECK(activations_gib(awq + "&engine_version=0.7.2&gpu=t4") < before - copied / 2);
}

TEST_CASE("What vllm prints as the tokens of a hybrid is one group's before 0.20.2", "[serving]") {
  const std::string pool = "&measured_kv_pool=45.32";
  const std::string plan = "model=gpt-oss-120b&gpu=a100-sxm4-80gb&serve_tp=4&max_len=16384&batch_tokens=2048";
  const auto bill = [&](const char* version) {
    return serving_bill(read_plan(plan + pool + "&engine_version=" + version).plan);
  };
  CHECK(within(static_cast<double>(bill("0.10.1").kv_tokens.value_or(0)), 2640144, 0.0002));
  CHECK(within(static_cast<double>(bill("0.21.0").kv_tokens.value_or(0)), 284.25 * 16384, 0.001));
  CHECK(bill("0.20.2").kv_tokens == bill("0.21.0").kv_tokens);
  for (const char* version : {"0.10.1", "0.21.0"})
    CHECK(within(bill(version).max_concurrency_at_max_len.value_or(0), 284.25, 0.001));
}

TEST_CASE("Where 0.27 or later is named, prefixes of hybrids are cached", "[serving]") {
  // 0.29.0: 652 blocks of 784 tokens, 17 a request of 8192: 11 of attention and two for each of three groups of states
  const std::string plan = "model=qwen3.5-27b&gpu=rtx-pro-6000-blackwell&max_len=8192&measured_kv_pool=31.24";
  const auto requests = [&](const std::string& more) {
    return serving_bill(read_plan(plan + more).plan).max_concurrency_at_max_len.value_or(0);
  };
  CHECK(within(requests("&engine_version=0.29.0"), 38.35, 0.002));
  CHECK(within(requests("&engine_version=0.26.0") * 14, requests("&engine_version=0.29.0") * 17, 1e-6));
  CHECK(requests("") == requests("&engine_version=0.26.0"));
}

TEST_CASE("A hybrid's states reach over drafted tokens, one for each and one for a shared prefix", "[serving]") {
  // 0.23.1 with --kv-cache-dtype fp8, two drafted tokens and prefixes shared: blocks of 1600 tokens, 5.32 requests
  const std::string plan =
      "model=qwen3.5-27b&gpu=custom&gpu_mem=121.7&engine_version=0.23.1&kv=fp8&max_len=262144&measured_kv_pool=48.6";
  const auto requests = [&](const std::string& more) {
    return serving_bill(read_plan(plan + more).plan).max_concurrency_at_max_len.value_or(0);
  };
  CHECK(within(requests("&draft_tokens=2&prompt=4096&prefix=3200"), 5.32, 0.002));
  CHECK(requests("") > requests("&draft_tokens=2"));
}

TEST_CASE("vllm's second model runner: dense models in 0.27, all from 0.28 on, some in 16 bit from 0.23 on",
          "[serving]") {
  const auto pool = [](const std::string& share) {
    return static_cast<double>(serving_bill(read_plan(share).plan).kv_budget_bytes_per_gpu.value_or(0)) / kGiB;
  };
  // 0.27.1 on an L4: 11.40 and 14.41 GiB, on an RTX 4090 under WSL 20.52
  const std::string l4 =
      "model=qwen2.5-7b&gpu=l4&engine_version=0.27.1&max_len=4096&batch_tokens=2048&utilization=0.92";
  CHECK(within(pool(l4 + "&weights=fp8"), 11.40, 0.015));
  CHECK(within(pool(l4 + "&weights=gptq"), 14.41, 0.02));
  CHECK(within(pool("model=qwen2.5-0.5b&gpu=rtx-4090-24gb&gpu_mem=23.99&engine_version=0.27.1&utilization=0.92"), 20.52,
               0.015));
  const auto sampler = [](const std::string& share) {
    return activations_gib(share + "&batch_tokens=256&max_seqs=256");
  };
  const std::string llama = "model=llama-3.2-1b&engine_version=";
  const double hidden = 256.0 * 2048 * 2 / kGiB;
  CHECK(within(sampler(llama + "0.22.1") - hidden, 2 * (sampler(llama + "0.23.0") - hidden), 1e-6));
  CHECK(within(sampler(llama + "0.22.1"), sampler(llama + "0.24.0&weights=fp8"), 1e-6));
  CHECK(sampler("model=qwen3.5-27b&engine_version=0.27.1") > 2 * sampler(llama + "0.27.1"));  // a hybrid
}
