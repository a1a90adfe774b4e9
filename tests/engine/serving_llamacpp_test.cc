#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <utility>

#include "engine/plan/plan.h"
#include "engine/serving/llamacpp.h"
#include "engine/serving/serving.h"

namespace {

double line_mib(const std::string& share, const std::string& id) {
  const vram::ServingBill bill = vram::serving_bill(vram::read_plan("engine=llamacpp&output=0&flash=0&" + share).plan);
  for (const vram::Line& line : bill.lines) {
    if (line.id == id) return static_cast<double>(line.bytes) / 1048576;
  }
  return 0;
}

double compute_buffer_mib(const std::string& share) { return line_mib(share, "activations"); }

}  // namespace

TEST_CASE("llama.cpp's compute buffer, as start-up logs print it", "[serving]") {
  struct Row {
    const char* share;
    double mebibytes;
  };
  const Row rows[] = {
      // "VRAM scratch buffer" of 2023's logs: one buffer for the whole graph
      {"model=llama-2-13b&engine_version=2023-10&prompt=4096", 358.00},
      {"model=llama-2-7b&engine_version=2023-09&prompt=512", 70.50},                    // logits of a micro-batch
      {"model=mistral-7b-v0.1&engine_version=2023-11&prompt=4096&ubatch=1024", 576.0},  // 576.01
      // "compute buffer size" since the scheduler over backends
      {"model=llama-2-7b&prompt=2048", 164.01},
      {"model=llama-3.1-8b&prompt=8192", 560.00},
      {"model=phi-3-mini-4k&prompt=4096&ubatch=256", 150.00},
      {"model=qwen3-32b&prompt=40960", 5252.01},               // queries are wider than the stream
      {"model=pythia-2.8b&prompt=2048", 162.00},               // query, key and value in one
      {"model=command-r-35b&prompt=4096&serve_pp=2", 672.00},  // four copies of what enters
      // with flash attention: logits, or the mask in two precisions
      {"model=qwen3-14b&prompt=32768&flash=1", 306.75},
      {"model=glm-4.5-air&prompt=131072&ubatch=4096&flash=1", 3584.09},
      // an MLP, where the vocabulary is small or logits are those of slots
      {"model=mistral-7b-v0.1&engine_version=b2350&prompt=512", 73.00},
      {"model=custom&layers=30&hidden=2048&heads=32&kv_heads=8&head_dim=64&ffn=10752&vocab=65536&gated=1"
       "&pattern=2l1f&engine_version=b11342&prompt=65536&flash=1",
       135.07},  // LFM2.5-2.6B, in q8_0 by Vulkan, which keeps no copy of a cache
      {"model=qwen2.5-7b&engine_version=b9500&kv=q8_0&prompt=16384&flash=1", 148.09},
      {"model=glm-4-32b-0414&prompt=32768&flash=1", 353.00},               // gate and up in one tensor
      {"model=phi-3-mini-4k&engine_version=2025-08&prompt=4096", 288.01},  // query, key and value in one, not copied
      {"model=qwen3.5-27b&engine_version=b11258&prompt=196608&flash=1", 314.00},           // 314.02
      {"model=qwen3.5-27b&engine_version=b10809&prompt=32768&ubatch=128&flash=1", 38.50},  // as printed
  };
  for (const Row& row : rows) {
    INFO(row.share);
    CHECK(std::abs(compute_buffer_mib(row.share) - row.mebibytes) < 0.1);
  }
}

TEST_CASE("llama.cpp's compute buffer in host memory, as start-up logs print it", "[serving]") {
  struct Row {
    const char* share;
    double mebibytes;
  };
  const Row rows[] = {
      {"model=glm-4.5-air&ubatch=4096&prompt=131072", 2112.08},                      // mask and embeddings
      {"model=llama-3.2-3b&engine_version=2026-03&prompt=8192", 28.00},              // embeddings twice
      {"model=gpt-oss-20b&engine_version=2026-03&prompt=131072", 268.75},            // a mask for windows, too: 268.77
      {"model=llama-3.2-3b&engine_version=2026-03&serve_pp=2&prompt=32768", 268.0},  // four masks: 268.05
      {"model=qwen3.5-27b&engine_version=b9849&ubatch=2048&prompt=8192", 112.0},     // masks in 16 bit: 112.07
      {"model=llama-2-13b&engine_version=2024-02&prompt=512", 10.0},                 // the mask in a buffer of inputs
  };
  for (const Row& row : rows) {
    INFO(row.share);
    const std::string share = std::string("engine=llamacpp&output=0&flash=1&") + row.share;
    double found = 0;
    for (const vram::Line& line : vram::serving_bill(vram::read_plan(share).plan).host_lines) {
      if (std::string(line.id) == "activations") found = static_cast<double>(line.bytes) / 1048576;
    }
    CHECK(std::abs(found - row.mebibytes) < 0.1);
  }
}

TEST_CASE("llama.cpp's compute buffer holds what a token's experts put out", "[serving]") {
  const std::string share = "model=qwen3-30b-a3b&flash=1&prompt=131072&serve_pp=2&engine_version=2026-07";
  CHECK(compute_buffer_mib(share) == 712.0);  // 712.08: five masks in 16 bit, 8 x (768 + 2048) + 7 x 2048
}

TEST_CASE("Experts in host memory are copied to the GPU for large batches", "[serving]") {
  struct Row {
    const char* share;
    double mebibytes;  // of llama.cpp's own graphs; 456.98 is of a log, ikawrakow/ik_llama.cpp#822
  };
  const Row rows[] = {
      {"gpt-oss-20b&weights=mxfp4&flash=1&engine_version=b6699&prompt=131072", 456.98},
      {"gpt-oss-20b&weights=mxfp4&flash=1&engine_version=b6699&prompt=4096", 398.38},  // the logits
      {"gpt-oss-120b&weights=mxfp4&flash=1&engine_version=b6699&prompt=131072", 951.03},
      {"gpt-oss-120b&weights=mxfp4&flash=1&engine_version=b6699&prompt=131072&ubatch=2048", 1844.43},
      {"gpt-oss-120b&weights=mxfp4&flash=0&engine_version=b6699&prompt=4096", 611.52},
      {"gpt-oss-120b&weights=mxfp4&flash=1&engine_version=b10256&prompt=131072", 730.90},
      {"qwen3-235b-a22b&weights=q4_k_m&flash=1&engine_version=b6699&prompt=4096", 746.01},
      {"qwen3-235b-a22b&weights=q4_k_m&flash=1&engine_version=b6699&prompt=32768", 838.01},
      {"qwen3-235b-a22b&weights=q4_k_m&flash=1&engine_version=b6699&prompt=131072", 1062.01},
      {"qwen3-235b-a22b&weights=q4_k_m&flash=1&engine_version=b6699&prompt=131072&ubatch=2048", 1728.05},
      {"qwen3-235b-a22b&weights=q4_k_m&flash=1&engine_version=b10256&prompt=32768&ubatch=2048", 1238.04},
      {"qwen3-30b-a3b&weights=q4_k_m&flash=1&engine_version=b10256&prompt=131072", 345.51},
  };
  for (const Row& row : rows) {
    INFO(row.share);
    CHECK(std::abs(compute_buffer_mib(std::string("model=") + row.share + "&n_cpu_moe=99") / row.mebibytes - 1) <
          0.015);
  }
  const std::string share = "model=qwen3-235b-a22b&weights=q4_k_m&flash=1&engine_version=b10256&prompt=4096";
  CHECK(compute_buffer_mib(share + "&n_cpu_moe=1") > compute_buffer_mib(share) + 500);
  CHECK(compute_buffer_mib(share + "&ubatch=16&n_cpu_moe=1") == compute_buffer_mib(share + "&ubatch=16"));
  // GPUs do not take turns where tensors are overridden: no four masks
  const std::string two = "model=qwen3-30b-a3b&weights=q4_k_m&flash=1&prompt=131072&serve_pp=2&engine_version=b6699";
  CHECK(compute_buffer_mib(two + "&n_cpu_moe=1") < compute_buffer_mib(two));
}

/// Qwen3.5-4B, with 262144 cells 1.30 and 0.31 GiB (unslothai/unsloth#6718); with 204800 as measured with a build of
/// 2026-09 that makes no masks.
TEST_CASE("CUDA's flash attention has room for a layer's cache in fp16 where it is stored otherwise", "[serving]") {
  const std::string hybrid =
      "model=custom&layers=32&hidden=2560&heads=16&kv_heads=4&head_dim=256&ffn=9216&vocab=248320&gated=1&qk_norm=1"
      "&pattern=3l1f&arch=%7B%22linear%22:%7B%22conv%22:4,%22key_head_dim%22:128,%22key_heads%22:16,"
      "%22value_head_dim%22:128,%22value_heads%22:32%7D,%22model_type%22:%22qwen3_5_text%22,%22output_gate%22:true%7D"
      "&flash=1&engine_version=2026-09&kv=";
  CHECK(std::abs(compute_buffer_mib(hybrid + "bf16&prompt=262144") / 1024 - 0.31) < 0.005);
  CHECK(std::abs(compute_buffer_mib(hybrid + "q8_0&prompt=262144") / 1024 - 1.30) < 0.015);
  for (const auto& [ubatch, mebibytes] : {std::pair{512, 842.80}, {1024, 884.82}, {2048, 968.86}}) {
    const double mask = 204800.0 * ubatch * 2 / 1048576;
    const double all = compute_buffer_mib(hybrid + "q8_0&prompt=204800&ubatch=" + std::to_string(ubatch));
    CHECK(std::abs(all - mask - mebibytes) < 1);
  }
  const std::string dense = "model=qwen3-14b&flash=1&prompt=32768&engine_version=";
  const double whole = compute_buffer_mib(dense + "b9500&kv=q8_0");
  CHECK(compute_buffer_mib(dense + "b9501&kv=bf16") == compute_buffer_mib(dense + "b9500&kv=bf16"));
  CHECK(compute_buffer_mib(dense + "b9501&kv=q8_0") > whole);
  CHECK(compute_buffer_mib(dense + "b9501&kv=q8_0&gpu=arc-b580-12gb") == whole);
  CHECK(compute_buffer_mib(dense + "b9501&kv=q8_0&kv_values=q4_0") == whole);  // no kernel: on the processor
  const double one = compute_buffer_mib(dense + "b9501&kv=q8_0&concurrency=4");
  CHECK(one - compute_buffer_mib(dense + "b9501&kv=q8_0") == 3 * 128);  // slots side by side: 32768 x 2 x 1024 x 2 B
}

/// 0.58 MiB of Qwen2.5-32B in one slot (llama.cpp#11337), 3.79 of Qwen3.5 in four, as logs print them.
TEST_CASE("The host has a row of logits for each slot", "[serving]") {
  const auto outputs = [](const std::string& share) {
    const vram::ServingBill bill = vram::serving_bill(vram::read_plan("engine=llamacpp&output=0&" + share).plan);
    for (const vram::Line& line : bill.host_lines)
      if (line.id == std::string("outputs")) return line.bytes;
    return uint64_t{0};
  };
  CHECK(outputs("model=qwen2.5-32b&engine_version=b4407cli") == 152064 * 4);
  CHECK(outputs("model=qwen3.5-27b&engine_version=2026-05&concurrency=4&unified=1") == 4 * 248320 * 4);
  CHECK(outputs("model=llama-2-7b&engine_version=2023-11") == 0);
}

TEST_CASE("A build is dated or numbered", "[serving]") {
  for (const char* old : {"2023-11", "b1500", "1842"}) CHECK(vram::llamacpp_build(old).one_buffer);
  for (const char* later : {"", "2024-01", "b1843", "b4000", "4000", "x"})
    CHECK_FALSE(vram::llamacpp_build(later).one_buffer);
  for (const char* old : {"", "2026-05", "b9429", "6182"}) CHECK_FALSE(vram::llamacpp_build(old).logits_of_slots);
  for (const char* later : {"2026-06", "b9849", "11342"}) CHECK(vram::llamacpp_build(later).logits_of_slots);
  CHECK_FALSE(vram::llamacpp_build("b9849cli").logits_of_slots);  // other programs reserve a micro-batch's
  CHECK(vram::llamacpp_build("2026-06cli").masks_in_half);
}

TEST_CASE("llama.cpp's graphs as its own programs reserve them on a device that computes nothing", "[serving]") {
  struct Row {
    const char* share;
    double mebibytes;
  };
  const Row rows[] = {
      {"model=llama-3.1-8b&engine_version=b6700&prompt=65536&ubatch=2048&flash=1", 1402.00},
      {"model=qwen2.5-7b&engine_version=b6700&prompt=32768&flash=1", 382.01},
      {"model=gemma-3-12b&engine_version=b6700&prompt=16384&ubatch=256", 296.76},
      {"model=mixtral-8x7b&weights=q4_0&engine_version=b6700&prompt=32768&flash=1", 240.01},
      {"model=deepseek-v3&weights=q4_0&engine_version=b6700&prompt=4096", 1402.01},
      {"model=llama-3.1-8b&engine_version=b10256&prompt=4096&flash=1", 112.01},
      // experts in host memory: of one GPU, and of two, of which the first works for both
      {"model=qwen3-30b-a3b&weights=q4_0&engine_version=b6700&prompt=32768&flash=1&serve_pp=2&n_cpu_moe=48", 228.01},
      {"model=glm-4.5-air&weights=q4_0&engine_version=b10256&prompt=32768&flash=1&serve_pp=2&n_cpu_moe=46", 800.25},
      // layers in host memory: weights and caches are copied to the GPU
      {"model=llama-3.1-8b&weights=q4_k_m&engine_version=b6700&prompt=2048&gpu_layers=4", 677.48},
      {"model=llama-3.1-8b&weights=q8_0&engine_version=b6700&prompt=8192&gpu_layers=4", 851.82},
      {"model=qwen3-8b&weights=q8_0&engine_version=b6700&prompt=32768&flash=1&gpu_layers=4", 935.34},
      // GPUs that take turns
      {"model=llama-3.1-8b&engine_version=b6700&prompt=32768&flash=1&serve_pp=2", 428.04},
  };
  for (const Row& row : rows) {
    INFO(row.share);
    CHECK(std::abs(compute_buffer_mib(row.share) / row.mebibytes - 1) < 0.005);
  }
}

TEST_CASE("A draft's cache is in 16 bit whatever the model's is, in builds that give it types of its own",
          "[serving]") {
  const auto cache = [](const std::string& version, const std::string& draft) {
    return line_mib("model=qwen3.5-27b&kv=q8_0&flash=1&prompt=32768&engine_version=" + version + draft, "kv_cache");
  };
  const double states = 149.625;  // one more for a drafted token
  CHECK(cache("2026-05", "&draft_tokens=1") - cache("2026-05", "") == states + 68);
  CHECK(cache("2026-09", "&draft_tokens=1") - cache("2026-09", "") == states + 128);
}

TEST_CASE("Inputs of a graph are copied since there are pipelines", "[serving]") {
  const std::string two = "model=mixtral-8x7b&prompt=16000&serve_pp=2&engine_version=";
  CHECK(compute_buffer_mib(two + "b2300") < 1084);  // 1083.28 of a log of March 2024; scores alone are 1000
  CHECK(compute_buffer_mib(two + "b2300") ==
        compute_buffer_mib("model=mixtral-8x7b&prompt=16000&engine_version=b2300"));
  CHECK(compute_buffer_mib(two + "b2500") > compute_buffer_mib(two + "b2300"));
}

TEST_CASE("Transposed values have an index each", "[serving]") {
  const std::string share = "model=llama-3.1-70b&prompt=4096&engine_version=";
  CHECK(std::abs(compute_buffer_mib(share + "b5898") - 584) < 0.01);
  CHECK(std::abs(compute_buffer_mib(share + "b6209") - 588.01) < 0.01);
}

TEST_CASE("llama.cpp's GPUs share the layers and the output layer evenly", "[serving]") {
  const auto pool_mib = [](const std::string& share) { return line_mib(share + "&flash=1", "kv_cache"); };
  CHECK(pool_mib("model=llama-3.2-3b&weights=q4_k_m&serve_pp=2&prompt=32768") == 1920);  // 15 and 13 of 28 layers
  CHECK(pool_mib("model=phi-4-mini&serve_pp=2&prompt=2048") == 136);                     // 17 and 15 of 32
  CHECK(pool_mib("model=qwen2.5-0.5b&serve_pp=2&prompt=32768") == 208);                  // 13 and 11 of 24
  CHECK(pool_mib("model=qwen2.5-0.5b&serve_pp=24&prompt=32768") == 32);  // two, and the last GPU the output layer
}

TEST_CASE("A head in host memory is copied to the GPU for large batches", "[serving]") {
  const std::string zephyr = "model=mistral-7b-v0.1&weights=q5_k_m&prompt=512&gpu_layers=";
  CHECK(std::abs(compute_buffer_mib(zephyr + "5") - 173.04) < 0.01);
  CHECK(std::abs(compute_buffer_mib("weights=q4_k_m&engine_version=b6700&prompt=2048&gpu_layers=20&flash=1") - 669.48) <
        0.01);  // 8B
  const std::string mistral = "model=mistral-7b-v0.1&weights=q4_k_m&prompt=768&gpu_layers=20&ubatch=";
  CHECK(std::abs(compute_buffer_mib(mistral + "256&flash=1") - 137.79) < 0.01);
  CHECK(compute_buffer_mib(mistral + "31") < 17);  // too small a batch
  // before b2450 it was worked out on the host; from b7470 on it is the first layer on the GPU
  const double whole = compute_buffer_mib(zephyr + "32&engine_version=b2400");
  CHECK(compute_buffer_mib(zephyr + "5&engine_version=b2400") == whole);
  CHECK(compute_buffer_mib(zephyr + "5&engine_version=b7500") ==
        compute_buffer_mib(zephyr + "31&engine_version=b7500"));
  CHECK(line_mib(zephyr + "5&engine_version=b7500", "weights") > line_mib(zephyr + "5", "weights") + 102);
}
