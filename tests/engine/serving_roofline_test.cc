#include "engine/serving/roofline.h"

#include <cmath>

#include "engine/hardware/accelerator.h"
#include "engine/serving/replica.h"
#include "tests/engine/plan_of.h"

using namespace vram;
using namespace vram::samples;

namespace {

Roofline roofline_of(const std::string& share) {
  const Plan plan = plan_of("model=llama-3.1-8b&gpu=h100-sxm5-80gb" + share);
  return roofline(plan, replica_of(plan));
}

}  // namespace

TEST_CASE("Products of many tokens stay below the peak, the further the less power a FLOP has", "[serving]") {
  const double peak = 989.4e12, full = roofline_of("").flops;
  CHECK(full < peak);
  CHECK(full > peak / 2);
  CHECK(roofline_of("&watts=350").flops < full);
}

TEST_CASE("A tensor-parallel group in a node talks over its links, a wider one over the network", "[serving]") {
  const Roofline inside = roofline_of("&serve_gpus=8&serve_tp=8&link_bw=450&net_bw=50");
  CHECK(inside.link_bytes == 450e9);
  const Roofline across = roofline_of("&serve_gpus=16&serve_tp=16&node=8&link_bw=450&net_bw=50");
  CHECK(across.link_bytes == 50e9);
  CHECK(across.reduce_seconds > inside.reduce_seconds);
}

TEST_CASE("An all-reduce over PCIe takes as long again each time its GPUs double", "[serving]") {
  const auto seconds = [](const std::string& share) {
    const Plan plan = plan_of("model=llama-3.1-8b&gpu=rtx-4090-24gb" + share);
    return roofline(plan, replica_of(plan)).reduce_seconds;
  };
  const double two = seconds("&serve_gpus=2&serve_tp=2");
  CHECK(two > 0);
  CHECK(seconds("&serve_gpus=4&serve_tp=4") == 2 * two);
  CHECK(seconds("&serve_gpus=8&serve_tp=8") == 3 * two);
}

TEST_CASE("Boards sold alone share a host, and those that are peers need one kernel to add up", "[serving]") {
  const auto of_two = [](const std::string& gpu) {
    const Plan plan = plan_of("model=llama-3.1-8b&serve_gpus=2&serve_tp=2&gpu=" + gpu);
    return roofline(plan, replica_of(plan));
  };
  const Roofline together = of_two("rtx-4090-24gb");
  CHECK(together.link_bytes == 31.5e9);
  CHECK(of_two("rtx-3090-24gb").reduce_seconds < together.reduce_seconds);
  CHECK(of_two("rtx-pro-6000-blackwell").reduce_seconds < together.reduce_seconds);
  CHECK(of_two("rtx-pro-6000-blackwell&engine=trtllm").reduce_seconds == together.reduce_seconds);
  CHECK(of_two("dgx-spark-gb10").reduce_seconds > together.reduce_seconds);
}

TEST_CASE("llama.cpp multiplies quantised weights in 16 bit, then in integers", "[serving]") {
  const auto flops = [](const std::string& share) {
    const Plan plan = plan_of("model=llama-3.1-8b&engine=llamacpp&" + share);
    return roofline(plan, replica_of(plan)).flops;
  };
  const std::string ada = "gpu=rtx-4090-24gb&weights=", ampere = "gpu=rtx-3090-24gb&weights=";
  CHECK(flops(ada + "q4_0&engine_version=b3000") == 0.7 * flops(ada + "fp16"));
  CHECK(flops(ada + "q4_0&engine_version=2024-06") == flops(ada + "q4_0&engine_version=b3000"));
  CHECK(flops(ada + "q4_0") > flops(ada + "fp16"));
  CHECK(flops(ampere + "q4_0") < flops(ampere + "fp16"));
  CHECK(flops("gpu=h100-sxm5-80gb&weights=q4_0") == flops("gpu=h100-sxm5-80gb&weights=fp16"));
}

TEST_CASE("llama.cpp's prompts keep a share on Radeons", "[serving]") {
  const Plan plan = plan_of("model=llama-3.1-8b&engine=llamacpp&weights=fp16&gpu=rx-7900-xtx-24gb");
  CHECK(std::abs(roofline(plan, replica_of(plan)).flops - 0.84 * 122.8e12 * 0.86 / (1 + 0.9 * 122.8 / 355)) < 1e6);
}

TEST_CASE("llama.cpp's products of many rows unpack nothing twice", "[serving]") {
  const Plan plan = plan_of("model=llama-3.1-8b&engine=llamacpp&weights=q4_k_m&gpu=a100-sxm4-80gb");
  CHECK(rows_share(plan, 8) == 1);
  CHECK(std::abs(rows_share(plan, 9) - 5.9 * 19.5e12 / 128 / (2039e9 * 0.93)) < 1e-9);
  CHECK(rows_share(plan_of("model=llama-3.1-8b&gpu=a100-sxm4-80gb"), 9) == 1);
}

TEST_CASE("llama.cpp reads quantised weights no faster than a chip unpacks them", "[serving]") {
  const auto bytes = [](const std::string& share) {
    const Plan plan = plan_of("model=llama-3.1-8b&engine=llamacpp&" + share);
    return roofline(plan, replica_of(plan)).weight_bytes;
  };
  CHECK(bytes("weights=fp16&gpu=a100-sxm4-80gb") == 2039e9 * 0.93);
  CHECK(bytes("weights=fp16&engine_version=b4099&gpu=a100-sxm4-80gb") == bytes("weights=q4_k_m&gpu=a100-sxm4-80gb"));
  CHECK(std::abs(bytes("weights=q4_k_m&gpu=a100-sxm4-80gb") - 5.9 * 19.5e12 / 128) < 1e3);
  CHECK(std::abs(bytes("weights=q8_0&gpu=h200-sxm-141gb") - 5.9 * 66.9e12 / 256) < 1e3);
  CHECK(bytes("weights=q4_k_m&gpu=rtx-4090-24gb") == 1008e9 * 0.93);
  CHECK(bytes("weights=q4_k_m&gpu=rtx-a6000") == 768e9 * 0.93);
  CHECK(bytes("weights=q4_k_m&gpu=m3-ultra") == bytes("weights=fp16&gpu=m3-ultra"));
  CHECK(bytes("weights=q4_k_m&gpu=custom&gpu_bw=2000") == 2000e9 * 0.93);
}

TEST_CASE("Experts' products are a smaller share of the peak than attention's and projections'", "[serving]") {
  const auto of = [](const std::string& share) {
    const Plan plan = plan_of("model=qwen3-235b-a22b&gpu=h100-sxm5-80gb" + share);
    return roofline(plan, replica_of(plan));
  };
  CHECK(of("").expert_flops > 0);
  CHECK(of("").expert_flops < of("").flops / 2);
  CHECK(of("").flops == roofline_of("").flops);
  CHECK(of("&engine=trtllm&weights=fp8").expert_flops == 0);
}

TEST_CASE("Instinct GPUs keep less of their peak in vllm than GeForce and Hopper do", "[serving]") {
  const auto share = [](const char* gpu) {
    const Plan plan = plan_of(std::string("model=llama-3.1-8b&gpu=") + gpu);
    return roofline(plan, replica_of(plan)).flops / peak_tflops(*plan.accelerator, "bf16") / 1e12;
  };
  CHECK(share("mi300x-192gb") < share("h100-sxm5-80gb") / 2);
}

TEST_CASE("Dense MXFP4 is multiplied in 4 bits where an Instinct can, experts' in 16", "[serving]") {
  const auto flops = [](const std::string& share) {
    const Plan plan = plan_of("gpu=" + share);
    return roofline(plan, replica_of(plan)).flops;
  };
  const std::string dense = "&model=llama-3.1-8b&weights=", experts = "&model=gpt-oss-120b&weights=";
  CHECK(flops("mi355x-288gb" + dense + "mxfp4") > 2 * flops("mi355x-288gb" + dense + "bf16"));
  CHECK(flops("mi300x-192gb" + dense + "mxfp4") == flops("mi300x-192gb" + dense + "bf16"));
  CHECK(flops("h100-sxm5-80gb" + dense + "mxfp4") == flops("h100-sxm5-80gb" + dense + "bf16"));
  CHECK(flops("mi355x-288gb" + experts + "mxfp4") == flops("mi355x-288gb" + experts + "bf16"));
}
