#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "engine/advice/findings.h"
#include "tests/engine/plan_of.h"

using namespace vram;
using namespace vram::samples;
using Catch::Approx;

namespace {

/// The finding of that id; none: an empty one.
Finding find(const std::string& share, std::string_view id) {
  const Plan plan = plan_of(share);
  for (const Finding& finding : findings(plan, training_bill(plan), compute_figures(plan), serving_bill(plan))) {
    if (id == finding.id) return finding;
  }
  return {};
}

}  // namespace

TEST_CASE("The fewest GPUs hold weights, gradients and optimizer states") {
  // Megatron keeps 18 B a parameter: 1,260 GB; an H100 reports 81,559 MiB = 85.5 GB.
  CHECK(find("model=custom&params=70e9&units=gb", "fewest_gpus").text ==
        "Weights, gradients and optimizer states take 1,260 GB: at least 15 GPUs hold them, 2 nodes of 8, before any "
        "activation.");
  // QLoRA: 4.127 bits of the base, and adapters.
  CHECK(find("model=llama-3.1-405b&method=qlora", "fewest_gpus").text.find("at least 3 GPUs") != std::string::npos);
}

TEST_CASE("Tensor parallelism: inside a node, what PCIe would cost; across nodes and over PCIe, what it costs") {
  const std::string share = "model=llama-2-70b&gpus=64&tp=8&pp=2&global_batch=256&recompute=selective&gpu=";
  const Finding inside = find(share + "a100-sxm4-80gb", "tp_in_the_node");
  CHECK(inside.text.find("Over PCIe instead of 300 GB/s a step would take 2.5 times as long.") != std::string::npos);
  CHECK(find(share + "a100-pcie-80gb", "tp_over_pcie").severity == Severity::warning);
  CHECK(find("model=llama-3.1-405b&gpus=16&tp=16", "tp_across_nodes").severity == Severity::warning);
}

TEST_CASE("The network's bandwidth at which messages last as long as the arithmetic beside them") {
  const std::string share = "model=llama-3.1-8b&gpus=64&framework=fsdp&seq=8192";
  const ComputeFigures f = compute_figures(plan_of(share));
  REQUIRE(f.traffic.size() == 1);
  const double needed = 8 * 50 * f.traffic[0].seconds / f.traffic[0].cover_seconds;  // Gb/s
  const Finding enough = find(share, "network_needed");
  CHECK(enough.severity == Severity::info);
  CHECK(enough.text.find("from " + std::to_string(int(needed + 0.5)) + " Gb/s a GPU; the network has 400.") !=
        std::string::npos);
  CHECK(find(share + "&net_bw=2", "network_needed").severity == Severity::warning);
}

TEST_CASE("ZeRO 3's traffic of a micro-batch: three times the parameters") {
  // 3 x 140 GB, of which a rank keeps 1/64 itself.
  const std::string text =
      find("model=custom&params=70e9&framework=deepspeed&precision=fp16&zero=3&gpus=64&global_batch=128&units=gb",
           "zero_3_traffic")
          .text;
  CHECK(text.find("for every micro-batch: 413 GB a GPU") != std::string::npos);
}

TEST_CASE("What offloading needs of each node's host memory") {
  const std::string share = "model=llama-3.1-8b&gpus=8&offload=optimizer";
  const TrainingBill bill = training_bill(plan_of(share));
  REQUIRE(bill.host_bytes_per_node);
  CHECK(find(share, "host_memory").text.find("which has 2,048 GiB") != std::string::npos);
}

TEST_CASE("Chinchilla: 20 tokens a parameter") {
  CHECK(
      find("model=custom&params=70e9&tokens=2.1e12", "chinchilla_tokens").text ==
      "For 70.0 B parameters 1.40 T tokens are compute-optimal (Chinchilla, 20 a parameter); the run has 2.10 T, 30 a "
      "parameter.");
}

TEST_CASE("A given MFU belongs to the plan's recomputation; another one costs or saves time") {
  const std::string share = "model=llama-3.1-8b&gpus=8&mfu=0.4&recompute=";
  const Finding from_full = find(share + "full", "mfu_under_recomputation");
  CHECK(from_full.change == "recompute=none");
  CHECK(*from_full.time_ratio == Approx(0.78).margin(0.05));  // arXiv 2205.05198 table 4: full costs 29 to 32%
  const Finding from_none = find(share + "none", "mfu_under_recomputation");
  CHECK(from_none.change == "recompute=full");
  CHECK(*from_none.time_ratio * *from_full.time_ratio == Approx(1));
}

TEST_CASE("Where a larger card would do, it is named") {
  const Finding card = find("model=llama-3.1-8b&gpu=rtx-4090-24gb&method=lora&seq=2048&micro_batch=2", "other_gpu");
  CHECK(card.change.rfind("gpu=", 0) == 0);
  CHECK(training_bill(plan_of("model=llama-3.1-8b&method=lora&seq=2048&micro_batch=2&" + card.change)).verdict ==
        Verdict::fits);
}
