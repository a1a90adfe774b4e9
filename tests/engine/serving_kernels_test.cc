#include "engine/serving/kernels.h"

#include <cmath>

#include "tests/engine/plan_of.h"

using namespace vram;
using namespace vram::samples;

namespace {

double kernels_of(const std::string& share) { return kernel_seconds(plan_of(share + "&gpu=h200-sxm-141gb")); }

TEST_CASE("llama.cpp fuses one token's products on boards from Ada on", "[serving]") {
  const auto seconds = [](const std::string& share) {
    return kernel_seconds(plan_of("engine=llamacpp&weights=q4_k_m&" + share));
  };
  const std::string dense = "model=llama-3.1-8b&gpu=rtx-4090-24gb", hopper = "model=llama-3.1-8b&gpu=h100-sxm5-80gb";
  CHECK(std::abs(seconds(dense + "&engine_version=b6850") - 64 * 13.5e-6) < 1e-9);
  const Plan plan = plan_of("engine=llamacpp&engine_version=b6850&" + dense);
  CHECK(std::abs(kernel_seconds(plan, 2) - 64 * 22.5e-6) < 1e-9);
  CHECK(seconds(dense + "&engine_version=2025-12") == seconds(dense + "&engine_version=b6850"));
  CHECK(std::abs(seconds(dense) - 64 * 22.5e-6) < 1e-9);
  CHECK(seconds(dense + "&engine_version=b6849") == seconds(dense));
  CHECK(seconds(hopper + "&engine_version=b6850") == seconds(hopper));
  const std::string recurrent = "model=qwen3.5-27b&gpu=rtx-4090-24gb", shared = "model=llama-3.1-8b&gpu=dgx-spark-gb10";
  CHECK(seconds(recurrent + "&engine_version=b6850") == seconds(recurrent));
  CHECK(seconds(shared + "&engine_version=b6850") == seconds(shared));
}

}  // namespace

TEST_CASE("A dense model's kernels are its mixers and MLPs, in vllm as in sglang", "[serving]") {
  const double small = kernels_of("model=qwen3-8b");
  CHECK(small > 0);
  CHECK(kernels_of("model=qwen3-8b&engine=sglang") == small);
  CHECK(kernels_of("model=qwen3-32b") > small);
}

TEST_CASE("Routing, latents, shared experts and indexers are kernels of their own", "[serving]") {
  const auto a_layer = [](const char* model) {
    const Plan plan = plan_of(std::string("gpu=h200-sxm-141gb&model=") + model);
    return kernel_seconds(plan) / static_cast<double>(plan.subject->layers.size());
  };
  const double dense = a_layer("qwen3-32b"), routed = a_layer("qwen3-235b-a22b"), latent = a_layer("deepseek-v3");
  CHECK(routed > dense);
  CHECK(latent > routed);
  CHECK(a_layer("deepseek-v3.2") > latent);
  CHECK(a_layer("glm-4.5-air") > routed);
}

TEST_CASE("sglang fuses kernels of mixtures, but not those of recurrent mixers", "[serving]") {
  const auto saved = [](const char* model) {
    const std::string share = std::string("model=") + model;
    return 1 - kernels_of(share + "&engine=sglang&engine_version=0.5.6") / kernels_of(share);
  };
  CHECK(saved("qwen3-235b-a22b") > 0.3);
  CHECK(saved("qwen3-next-80b-a3b") > 0);
  CHECK(saved("qwen3-next-80b-a3b") < saved("qwen2-57b-a14b"));
  CHECK(saved("qwen3-8b") == 0);
  CHECK(kernels_of("model=deepseek-v3&engine=sglang&engine_version=0.4.1") >
        kernels_of("model=deepseek-v3&engine=sglang&engine_version=0.5.6"));
}

TEST_CASE("sglang's fusions are of CUDA, of later releases and of models whose shared experts run beside the others",
          "[serving]") {
  const auto on = [](const char* gpu, const std::string& share) {
    return kernel_seconds(plan_of(share + "&gpu=" + gpu));
  };
  const std::string mixture = "model=minimax-m2&engine=sglang&engine_version=0.5.13";
  CHECK(on("mi300x-192gb", mixture) > on("mi300x-192gb", "model=minimax-m2"));  // which vllm's are on either
  CHECK(on("h200-sxm-141gb", mixture) < on("h200-sxm-141gb", "model=minimax-m2"));
  CHECK(prompt_launch_seconds(plan_of(mixture + "&gpu=mi300x-192gb")) >
        prompt_launch_seconds(plan_of(mixture + "&gpu=h200-sxm-141gb")));
  CHECK(kernels_of("model=deepseek-r1&engine=sglang&engine_version=0.4.8") >
        kernels_of("model=deepseek-r1&engine=sglang&engine_version=0.5.0"));
  const auto shared = [](const char* model) {
    const std::string share = std::string("engine=sglang&gpu=b200-180gb&engine_version=0.5.8&model=") + model;
    return kernel_seconds(plan_of(share)) / static_cast<double>(plan_of(share).subject->moe_layers());
  };
  CHECK(shared("glm-4.6") > shared("qwen3-235b-a22b") + 50e-6);
  CHECK(shared("deepseek-r1") < shared("qwen3-235b-a22b") + 50e-6);
}

TEST_CASE("Without graphs a host launches every step, of a mixture as of a dense model", "[serving]") {
  const auto a_layer = [](const std::string& share) {
    const Plan plan = plan_of("gpu=h200-sxm-141gb&" + share);
    return step_launch_seconds(plan) / static_cast<double>(plan.subject->layers.size());
  };
  CHECK(a_layer("model=gpt-oss-120b&weights=mxfp4") == 0);
  CHECK(a_layer("model=gpt-oss-120b&weights=mxfp4&graphs=0") > 0);
  CHECK(a_layer("model=gpt-oss-120b&weights=mxfp4&graphs=0") == a_layer("model=qwen3-8b&graphs=0"));
}

TEST_CASE("Experts in MXFP4 are routed within their kernels", "[serving]") {
  CHECK(kernels_of("model=gpt-oss-120b&weights=mxfp4") < kernels_of("model=gpt-oss-120b&weights=bf16"));
  CHECK(kernels_of("model=gpt-oss-120b&weights=mxfp4&engine=sglang") < kernels_of("model=gpt-oss-120b&weights=mxfp4"));
}

TEST_CASE("llama.cpp has latents' kernels too", "[serving]") {
  const auto a_layer = [](const char* model) {
    const Plan plan = plan_of(std::string("engine=llamacpp&gpu=rtx-3090-24gb&weights=q4_0&model=") + model);
    return kernel_seconds(plan) / static_cast<double>(plan.subject->layers.size());
  };
  CHECK(a_layer("deepseek-v2-lite") > 1.5 * a_layer("qwen3-30b-a3b"));
}

TEST_CASE("llama.cpp launches kernel by kernel before its CUDA graphs, and an MLP beside experts is one more",
          "[serving]") {
  const auto seconds = [](const std::string& share) {
    return kernel_seconds(plan_of("engine=llamacpp&weights=q4_k_m&gpu=rtx-a6000&" + share));
  };
  CHECK(std::abs(seconds("model=llama-2-7b") - 32 * 45e-6) < 1e-12);
  CHECK(std::abs(seconds("model=llama-2-7b&engine_version=b2900") - 32 * 45e-6) < 1e-12);
  CHECK(std::abs(seconds("model=llama-2-7b&engine_version=b2700") - 32 * 160e-6) < 1e-12);
  CHECK(std::abs(seconds("model=llama-2-7b&engine_version=2024-01") - 32 * 160e-6) < 1e-12);
  CHECK(std::abs(seconds("model=qwen3-30b-a3b") - 48 * 60e-6) < 1e-12);
  CHECK(std::abs(seconds("model=qwen3.5-35b-a3b") - 40 * 82.5e-6) < 1e-12);
}

TEST_CASE("sglang replays prompts from 0.5.10 on, on CUDA and without latents", "[serving]") {
  const auto launched = [](const std::string& share) {
    return prompt_launch_seconds(plan_of("engine=sglang&" + share));
  };
  const double pieces = launched("model=minimax-m2&gpu=h200-sxm-141gb&engine_version=0.5.10");
  CHECK(launched("model=minimax-m2&gpu=h200-sxm-141gb&engine_version=0.5.9") > 2 * pieces);
  CHECK(launched("model=minimax-m2&gpu=h200-sxm-141gb&engine_version=0.5.10&graphs=0") > 2 * pieces);
  CHECK(launched("model=minimax-m2&gpu=mi300x-192gb&engine_version=0.5.10") > 2 * pieces);
  CHECK(launched("model=deepseek-v3&gpu=h200-sxm-141gb&engine_version=0.5.10") > 2 * pieces);
}

TEST_CASE("trtllm's prompts are launched while steps are under way, and alone wait for it", "[serving]") {
  const Plan mixture = plan_of("model=deepseek-r1&gpu=b200-180gb&engine=trtllm");
  CHECK(prompt_launch_seconds(mixture) > 0.15);  // NVIDIA/TensorRT-LLM#5929: 161 ms, on H200 165
  CHECK(prompt_launch_seconds(mixture) < 0.165);
  CHECK(loaded_launch_seconds(mixture) < 0.01);
  const Plan dense = plan_of("model=qwen3-8b&gpu=b200-180gb&engine=trtllm");
  CHECK(prompt_launch_seconds(dense) == loaded_launch_seconds(dense));
}

TEST_CASE("vllm replays prompts of 512 tokens in pieces", "[serving]") {
  const auto launched = [](const std::string& share) {
    return prompt_launch_seconds(plan_of("model=minimax-m2&gpu=h200-sxm-141gb&prompt=" + share));
  };
  const double pieces = launched("512");
  CHECK(launched("513") > 2 * pieces);
  CHECK(launched("1000&prefix=500&prefix_hit=1") == pieces);
  CHECK(launched("512&graphs=0") > 2 * pieces);
  CHECK(launched("512&engine_version=0.7.3") > 2 * pieces);
}
