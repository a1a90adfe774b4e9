#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <string_view>

#include "engine/compute/achieved.h"
#include "engine/compute/compute.h"
#include "engine/compute/elementwise.h"
#include "tests/engine/plan_of.h"

using namespace vram;
using namespace vram::samples;
using Catch::Approx;

namespace {

const Traffic* find(const ComputeFigures& figures, std::string_view id) {
  for (const Traffic& one : figures.traffic) {
    if (id == one.line.id) return &one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("What a layer reads and writes beside its products") {
  // Llama 2 7B compiled: norms read and write their input (backward also its gradient), additions read two and write
  // one, rotary embeddings pass queries and keys, silu(gate) x up reads two and writes one (backward three and two)
  const Plan plan = plan_of("model=llama-2-7b&compile=1&precision=bf16&seq=4096&mb=1");
  const MemoryBytes bytes = layer_bytes(plan, plan.subject->kinds[0]);
  CHECK(bytes.forward == 4096 * 2.0 * ((2 * 2 + 2 * 3) * 4096 + 2 * 2 * 4096 + 3 * 11008));
  CHECK(bytes.backward == 4096 * 2.0 * ((2 * 3 + 2 * 3) * 4096 + 2 * 2 * 4096 + 5 * 11008));
}

TEST_CASE("One GPU sends nothing") { CHECK(figures("model=llama-3.1-8b").traffic.empty()); }

TEST_CASE("ZeRO-3 moves three times the parameters for every micro-batch") {
  // arXiv 1910.02054 section 7.2.2; 70B in bf16: 420 GB, of which a rank sends 63 of 64 parts.
  const ComputeFigures f = figures("model=custom&params=70e9&framework=deepspeed&zero=3&gpus=64");
  REQUIRE(find(f, "dp"));
  CHECK(find(f, "dp")->line.bytes == 3 * 2 * 70000000000 / 64 * 63);
  const ComputeFigures two = figures("model=custom&params=70e9&framework=deepspeed&zero=3&gpus=64&global_batch=128");
  CHECK(find(two, "dp")->line.bytes == 2 * find(f, "dp")->line.bytes);
}

TEST_CASE("An all-reduce of gradients is sent once a step, whatever accumulates") {
  const ComputeFigures f = figures("model=custom&params=8e9&framework=deepspeed&zero=0&gpus=8&global_batch=64");
  CHECK(find(f, "dp")->line.bytes == 2 * 2 * 8000000000 / 8 * 7);
}

TEST_CASE("Tensor parallelism: four all-reduces a layer, six with full recomputation") {
  // arXiv 2104.04473 section 3.2: 8 b s h (t - 1) / t elements a layer and micro-batch.
  const std::string share = "model=llama-3.1-8b&gpus=8&tp=8&seq=4096&global_batch=2";
  const uint64_t bytes = 32ull * 2 * 4 * 2 * 4096 * 4096 * 2 / 8 * 7;
  CHECK(find(figures(share), "tp")->line.bytes == bytes);
  CHECK(find(figures(share + "&recompute=full"), "tp")->line.bytes == bytes / 2 * 3);
}

TEST_CASE("A pipeline's stages pass activations on and gradients back") {
  const ComputeFigures f = figures("model=llama-3.1-8b&gpus=4&pp=4&seq=4096&global_batch=8");
  CHECK(find(f, "pp")->line.bytes == 2ull * 8 * 4096 * 4096 * 2);
  CHECK(find(f, "pp")->exposed_seconds == find(f, "pp")->seconds);
  const ComputeFigures interleaved = figures("model=llama-3.1-8b&gpus=4&pp=4&vpp=2&seq=4096&global_batch=8");
  CHECK(find(interleaved, "pp")->exposed_seconds < find(f, "pp")->exposed_seconds);
}

TEST_CASE("Experts' tokens travel four times") {
  // Mixtral: 32 layers, 2 experts a token, 4 ranks.
  const ComputeFigures f = figures("model=mixtral-8x7b&gpus=4&ep=4&seq=2048");
  CHECK(find(f, "ep")->line.bytes == 32ull * 4 * 2048 * 2 * 4096 * 2 / 4 * 3);
}

TEST_CASE("A group inside a node uses its link, a larger one the network") {
  const ComputeFigures inside = figures("model=llama-3.1-8b&gpus=8&tp=8");
  CHECK(std::string_view(find(inside, "tp")->link) == "nvlink");
  CHECK(find(inside, "dp") == nullptr);
  const Traffic& tp = *find(inside, "tp");  // 32 layers, 4 reductions, in two collectives each
  CHECK(tp.seconds == Approx(static_cast<double>(tp.line.bytes) / (450e9 * kLinkShare) + 32 * 4 * 2 * kMessageSeconds));
  const ComputeFigures across = figures("model=llama-3.1-8b&gpus=16&tp=8");
  CHECK(std::string_view(find(across, "dp")->link) == "network");
  const Traffic& dp = *find(across, "dp");
  CHECK(dp.seconds == Approx(static_cast<double>(dp.line.bytes) / (50e9 * kNetworkShare)));
  CHECK(std::string_view(find(figures("model=llama-3.1-8b&gpu=l40s&gpus=2&tp=2"), "tp")->link) == "pcie");
  CHECK(std::string_view(find(figures("model=llama-3.1-8b&gpu=gb200-186gb&gpus=72&framework=fsdp"), "dp")->link) ==
        "nvlink");
  CHECK(std::string_view(find(figures("model=llama-3.1-8b&gpu=h100-pcie-80gb&gpus=8&tp=8"), "tp")->link) == "pcie");
}

TEST_CASE("Rings across nodes use every network card of a node; DeepSpeed's ZeRO 3 only its own") {
  const std::string share = "model=llama-3.1-8b&gpus=16&zero=3&framework=";
  const ComputeFigures fsdp = figures(share + "fsdp"), deepspeed = figures(share + "deepspeed");
  const auto rate = [](const Traffic& one) { return static_cast<double>(one.line.bytes) / one.seconds; };
  CHECK(rate(*find(fsdp, "dp")) == Approx(std::min(8 * 50e9 * kNetworkShare, 450e9 * kLinkShare)));
  CHECK(rate(*find(deepspeed, "dp")) == Approx(50e9 * kNetworkShare));
}

TEST_CASE("Hybrid sharding gathers inside its group and reduces between groups") {
  // FSDP HYBRID_SHARD: 8 ranks share, 2 groups repeat: gathers of 7/8, and 2 x 1/2 of each eighth all-reduced.
  const ComputeFigures f = figures("model=custom&params=8e9&framework=fsdp&gpus=16&shard=8");
  CHECK(std::string_view(find(f, "dp")->link) == "nvlink");
  CHECK(find(f, "dp")->line.bytes == (2 * 2 + 4) * 8000000000ull / 8 * 7);
  CHECK(std::string_view(find(f, "dp_groups")->link) == "network");
  CHECK(find(f, "dp_groups")->line.bytes == 4 * 8000000000ull / 8);
}

TEST_CASE("A token goes to each node once") {
  // 8 experts of 128 on 2 nodes: the other node holds at least one of them but for a chance of 2^-8.
  const ComputeFigures f = figures("model=qwen3-30b-a3b&gpus=16&ep=16&seq=4096");
  CHECK(std::string_view(find(f, "ep")->link) == "nvlink");
  CHECK(std::string_view(find(f, "ep_nodes")->link) == "network");
  CHECK(find(f, "ep_nodes")->line.bytes == 48ull * 4 * 4096 * 2048 * 2 / 256 * 255);
}

TEST_CASE("Routing limited to groups of experts reaches their nodes only") {
  // DeepSeek-V3: 8 groups, of which a token has 4, and 8 experts in them (arXiv 2412.19437, section 2.1.2).
  const auto sent = [](const char* ep) {
    const ComputeFigures f =
        figures(std::string("model=deepseek-v3&mtp_layers=0&gpus=128&gpu=h100-sxm5-80gb&seq=4096&ep=") + ep);
    return static_cast<double>(find(f, "ep_nodes")->line.bytes) / (58.0 * 4 * 4096 * 7168 * 2);
  };
  CHECK(sent("64") == Approx(7 * 0.5 * (1 - std::pow(0.75, 8))));                        // a group a node
  CHECK(sent("128") == Approx(15 * 0.5 * (1 - std::pow(0.875, 8))));                     // two nodes a group
  CHECK(sent("32") == Approx(3 * (1 - (6.0 / 8) * (5.0 / 7) * (4.0 / 6) * (3.0 / 5))));  // two groups a node
}

TEST_CASE("Slow wires bound the step") {
  const ComputeFigures slow = figures("model=llama-3.1-8b&gpus=64&framework=fsdp&net_bw=1");
  CHECK(std::string_view(slow.bound) == "network");
  CHECK(*slow.mfu < 0.2);
  const ComputeFigures fast = figures("model=llama-3.1-8b&gpus=8&framework=fsdp&seq=8192");
  CHECK(std::string_view(fast.bound) == "compute");
}

TEST_CASE("What is exposed is part of what is sent") {
  for (const char* share :
       {"gpus=64&tp=8&pp=2", "gpus=64&framework=fsdp", "gpus=16&cp=4", "gpus=8&offload=optimizer"}) {
    for (const Traffic& one : figures(std::string("model=llama-3.1-8b&") + share).traffic) {
      INFO(share << " " << one.line.id);
      CHECK(one.exposed_seconds >= 0);
      CHECK(one.exposed_seconds <= one.seconds);
      CHECK(one.line.bytes > 0);
    }
  }
}

TEST_CASE("A line too large to be exact is left out") {
  const ComputeFigures f = figures("model=llama-3.1-405b&gpus=8&tp=8&global_batch=1e9");
  CHECK(find(f, "tp") == nullptr);
}
