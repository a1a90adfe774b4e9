#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/report/report.h"

using nlohmann::json;

namespace {

json report_of(const std::string& share) { return json::parse(vram::report_json(vram::report(share))); }

/// The bytes of a line of a bill, "training" or "serving".
double line_bytes(const json& report, const std::string& bill, const std::string& id) {
  for (const json& line : report.at(bill).at("lines")) {
    if (line.at("id") == id) return line.at("bytes");
  }
  return -1;
}

struct Worked {
  const char* share;
  const char* pointer;  // into the JSON report
  double value;
};

// Each value follows from its formula by hand.
const Worked kExact[] = {
    // 16 B x 70e9
    {"model=custom&params=70e9", "/training/napkin/states_bytes", 1120000000000},
    // Korthikanti et al. 2022, eq. 1-2: 32 layers x (34 s b h + 5 a s^2 b)
    {"model=custom&layers=32&hidden=4096&heads=32&ffn=11008&gated=1&vocab=32000&seq=2048&micro_batch=1",
     "/training/napkin/activations_bytes", 30601641984},
    {"model=custom&layers=32&hidden=4096&heads=32&ffn=11008&gated=1&vocab=32000&seq=4096&micro_batch=8",
     "/training/napkin/activations_bytes", 833223655424},
    // 6 x 70e9 x 2e12
    {"model=custom&params=70e9&tokens=2e12&gpus=1000&gpu=a100-sxm4-80gb&mfu=0.45&flops=6n", "/compute/model_flops",
     8.4e23},
    // 2 x 32 layers x 32 heads x 128 x 8192 tokens x 2 B
    {"model=llama-2-7b&prompt=8192&output=0&kv=fp16", "/serving/kv_bytes_per_request", 4294967296},
    // 2 x 80 layers x KV heads x 128 x 128000 tokens x 2 B
    {"model=custom&layers=80&hidden=8192&heads=64&head_dim=128&prompt=128000&output=0&kv=bf16&kv_heads=64",
     "/serving/kv_bytes_per_request", 335544320000},
    {"model=custom&layers=80&hidden=8192&heads=64&head_dim=128&prompt=128000&output=0&kv=bf16&kv_heads=8",
     "/serving/kv_bytes_per_request", 41943040000},
    {"model=custom&layers=80&hidden=8192&heads=64&head_dim=128&prompt=128000&output=0&kv=bf16&kv_heads=1",
     "/serving/kv_bytes_per_request", 5242880000},
    // published: Meta, DeepSeek (671B), Mistral (46.7B)
    {"model=llama-3.1-8b", "/model/parameters", 8030261248},
    {"model=deepseek-v3", "/model/parameters", 671026419200},
    {"model=mixtral-8x7b", "/model/parameters", 46702792704},
    // 61 layers x (512 latent + 64 rotary) x 2 B
    {"model=deepseek-v3&kv=bf16", "/serving/kv_bytes_per_token", 70272},
    // 2 x 80 layers x 8 KV heads x 128 x 2 B, and an eighth of it
    {"model=llama-3-70b&serve_gpus=8&serve_tp=8&kv=bf16", "/serving/kv_bytes_per_token", 327680},
    {"model=llama-3-70b&serve_gpus=8&serve_tp=8&kv=bf16", "/serving/kv_bytes_per_token_per_gpu", 40960},
    // 2 x 32 layers x 8 KV heads x 128 x 2 B x 16384 tokens; the window keeps 4096 of them
    {"model=mistral-7b-v0.1&prompt=16384&output=0&kv=bf16&engine=generic&window=0", "/serving/kv_bytes_per_request",
     2147483648},
    {"model=mistral-7b-v0.1&prompt=16384&output=0&kv=bf16&engine=generic", "/serving/kv_bytes_per_request", 536870912},
};

const std::string kFourSteps =
    "model=custom&params=80e9&layers=80&hidden=8192&heads=64&head_dim=128&gpu=custom&gpu_mem=80GB&serve_gpus=8&serve_"
    "tp=8"
    "&utilization=1&reserve=5GB&weights=bf16&kv=bf16&prompt=2048&output=0&block=1&engine=generic";

std::string verdict(const std::string& share) { return report_of(share).at("training").at("verdict"); }

}  // namespace

TEST_CASE("worked figures come out exactly") {
  for (const Worked& row : kExact) {
    CAPTURE(row.share, row.pointer);
    const json report = report_of(row.share);
    const json::json_pointer place(row.pointer);
    REQUIRE(report.contains(place));
    CHECK(report.at(place).get<double>() == row.value);
  }
}

TEST_CASE("70B on 1,000 A100 at 45% takes 69.2466 days") {
  // 8.4e23 / (1000 x 312e12 x 0.45 x 86400)
  const json report = report_of(kExact[3].share);
  CHECK(std::fabs(report.at("compute").at("days").get<double>() - 69.2466) < 0.001);
}

TEST_CASE("70B by ZeRO's count: 2 + 2 + 12 bytes a parameter") {
  const json report = report_of("model=custom&params=70e9&framework=deepspeed&precision=fp16&zero=0&gpus=1");
  CHECK(line_bytes(report, "training", "weights") == 140e9);
  CHECK(line_bytes(report, "training", "gradients") == 140e9);
  CHECK(line_bytes(report, "training", "optimizer") == 840e9);
}

TEST_CASE("7.5B on 64 GPUs by ZeRO stage, as in the paper's figure 1") {
  // Rajbhandari et al. 2020: 120, 31.4, 16.6, 1.9 GB
  const double expected[] = {120e9, 31.40625e9, 16.640625e9, 1.875e9};
  for (int stage = 0; stage < 4; ++stage) {
    const json report =
        report_of("model=custom&params=7.5e9&framework=deepspeed&precision=fp16&gpus=64&zero=" + std::to_string(stage));
    CAPTURE(stage);
    CHECK(line_bytes(report, "training", "weights") + line_bytes(report, "training", "gradients") +
              line_bytes(report, "training", "optimizer") ==
          expected[stage]);
  }
}

TEST_CASE("KV cache of several requests") {
  // 4 x 2 x 40 layers x 5120 x 2048 tokens x 2 B; 100 x 4 GiB
  CHECK(line_bytes(report_of("model=llama-1-13b&engine=generic&concurrency=4&prompt=2048&output=0&kv=fp16"), "serving",
                   "kv_cache") == 6710886400);
  CHECK(line_bytes(report_of("model=llama-2-7b&engine=generic&concurrency=100&prompt=8192&output=0&kv=fp16"), "serving",
                   "kv_cache") == 429496729600);
}

TEST_CASE("the four steps: 440 GB for requests of 2,048 tokens") {
  const auto requests = [](const std::string& kv_heads) {
    return std::floor(
        report_of(kFourSteps + "&kv_heads=" + kv_heads).at("serving").at("max_concurrency").get<double>());
  };
  CHECK(requests("64") == 81);
  CHECK(requests("8") == 655);
}

TEST_CASE("verdicts that everybody knows") {
  CHECK(verdict("model=llama-2-7b&gpu=rtx-4090-24gb&method=lora&framework=ddp&recompute=full&seq=2048") == "fits");
  CHECK(verdict("model=llama-2-7b&gpu=h100-sxm5-80gb&framework=ddp") == "exceeds");
  CHECK(verdict("model=llama-2-7b&gpu=h100-sxm5-80gb&framework=fsdp&gpus=4&recompute=full") == "fits");
}
