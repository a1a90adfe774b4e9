#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/compute/compute.h"
#include "engine/compute/flops.h"
#include "tests/engine/plan_of.h"

using namespace vram;
using namespace vram::samples;
using Catch::Approx;

namespace {

double flops_per_token(const std::string& share) { return figures(share).flops_per_token.value_or(0); }

// Llama 3.1 8B: 32 layers of q, o (4096 x 4096), k, v (4096 x 1024), three of 4096 x 14336; a head of 128256 x 4096.
constexpr double kLayers8B = 32.0 * (2 * 4096.0 * 4096 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 14336);
constexpr double kHead8B = 128256.0 * 4096;
constexpr double kAttention8B = 12 * 32.0 * 4096 * 8192;  // 12 L a d s at 8192 tokens
constexpr double kParameters8B = 8030261248;

}  // namespace

TEST_CASE("Each convention counts what its authors count") {
  struct Row {
    const char* flops;
    double expected;
  };
  const Row rows[] = {
      {"6n", 6 * kParameters8B},
      {"kaplan", 6 * (kParameters8B - 2 * kHead8B)},             // arXiv 2001.08361: N is non-embedding
      {"palm", 6 * kParameters8B + kAttention8B},                // arXiv 2204.02311 Appendix B
      {"foundry", 6 * kParameters8B + kAttention8B},             // llm-foundry: hidden = heads x head dim here
      {"titan", 6 * (kParameters8B - kHead8B) + kAttention8B},   // the table is as large as the head
      {"bridge", 6 * (kLayers8B + kHead8B) + kAttention8B / 2},  // the lower triangle only
      {"megatron", 6 * (kLayers8B + kHead8B) + kAttention8B},    // arXiv 2205.05198 Appendix A
  };
  for (const Row& row : rows) {
    INFO(row.flops);
    CHECK(flops_per_token(std::string("model=llama-3.1-8b&seq=8192&flops=") + row.flops) == row.expected);
  }
}

TEST_CASE("megatron is the default convention") {
  CHECK(flops_per_token("model=llama-3.1-8b") == flops_per_token("model=llama-3.1-8b&flops=megatron"));
}

TEST_CASE("Korthikanti et al.'s formula and MFU come out, GPT 22B to 1T") {
  // arXiv 2205.05198 Tables 3 and 5: layers, hidden, heads, GPUs, sequences of a step, seconds, MFU.
  struct Row {
    double layers, hidden, heads, gpus, batch, seconds, mfu;
  };
  const Row rows[] = {{48, 6144, 64, 8, 4, 1.10, 0.415},
                      {96, 12288, 96, 64, 64, 13.75, 0.514},
                      {105, 20480, 128, 280, 280, 37.83, 0.560},
                      {128, 25600, 160, 512, 512, 71.49, 0.563}};
  for (const Row& row : rows) {
    INFO(row.layers);
    const double L = row.layers, h = row.hidden, s = 2048, V = 51200;
    const std::string share = "model=custom&vocab=51200&seq=2048&layers=" + std::to_string(int(L)) +
                              "&hidden=" + std::to_string(int(h)) + "&heads=" + std::to_string(int(row.heads)) +
                              "&ffn=" + std::to_string(int(4 * h));
    const double token = flops_per_token(share);
    CHECK(token == Approx(72 * L * h * h * (1 + s / (6 * h) + V / (12 * h * L))).epsilon(1e-12));
    CHECK(token * row.batch * s / (row.gpus * 312e12 * row.seconds) == Approx(row.mfu).epsilon(0.01));
  }
}

TEST_CASE("Full recomputation adds a forward pass of the layers, not of the head") {
  // arXiv 2104.04473 equation 3: 96 B s L h^2 (1 + s/6h + V/16Lh).
  const double L = 48, h = 6144, s = 2048, V = 51200;
  const ComputeFigures f =
      figures("model=custom&vocab=51200&seq=2048&layers=48&hidden=6144&heads=64&ffn=24576&recompute=full&tokens=1");
  CHECK(*f.hardware_flops == Approx(96 * L * h * h * (1 + s / (6 * h) + V / (16 * L * h))).epsilon(1e-12));
  CHECK(*f.hfu / *f.mfu == Approx(*f.hardware_flops / *f.model_flops));
}

TEST_CASE("Selective recomputation repeats core attention; with fsdp2 every other matrix product") {
  const ComputeFigures megatron = figures("model=llama-3.1-8b&seq=8192&recompute=selective&tokens=1");
  CHECK(*megatron.hardware_flops - *megatron.model_flops == kAttention8B / 3);
  const ComputeFigures titan = figures("model=llama-3.1-8b&seq=8192&recompute=selective&framework=fsdp2&tokens=1");
  CHECK(*titan.hardware_flops - *titan.model_flops == kLayers8B);
}

TEST_CASE("Selective recomputation repeats the modules that are named") {
  struct Row {
    const char *model, *modules;
    double expected;
  };
  constexpr double kMlp8B = 32.0 * 3 * 4096 * 14336;                 // Llama 3.1 8B
  constexpr double kExperts30B = 48.0 * 8 * 3 * 2048 * 768;          // Qwen3 30B: 8 of 128 experts
  constexpr double kUpV3 = 61.0 * (1536 * 24576.0 + 512 * 32768.0);  // DeepSeek-V3: q from 1,536, k and v from 512
  const Row rows[] = {{"llama-3.1-8b", "mlp", 2 * kMlp8B},
                      {"llama-3.1-8b", "core_attn,mlp", 2 * kMlp8B + kAttention8B / 3},
                      {"llama-3.1-8b", "layernorm", 0},  // no product
                      {"qwen3-30b-a3b", "moe", 2 * kExperts30B},
                      {"qwen3-30b-a3b", "moe_act", 0},
                      {"deepseek-v3&mtp_layers=0", "mla_up_proj", 2 * kUpV3}};
  for (const Row& row : rows) {
    INFO(row.model << " " << row.modules);
    const ComputeFigures f = figures(std::string("model=") + row.model +
                                     "&seq=8192&tokens=1&recompute=selective&recompute_modules=" + row.modules);
    CHECK(*f.hardware_flops - *f.model_flops == Approx(row.expected));
  }
}

TEST_CASE("Recomputing half of the layers costs half of it") {
  const std::string share = "model=llama-3.1-8b&recompute=full&tokens=1";
  const ComputeFigures all = figures(share), half = figures(share + "&recompute_layers=16");
  CHECK(*half.hardware_flops - *half.model_flops == (*all.hardware_flops - *all.model_flops) / 2);
}

TEST_CASE("Megatron-Bridge's count up to container 26.04 had no windows, and gates of SiLU only") {
  // docs/performance-summary-archive.md, gpt-oss 120B on GB200, tokens/s and TFLOPS a GPU.
  struct Row {
    const char* share;
    double tokens_per_second, tflops;
  };
  const Row rows[] = {{"seq=4096&flops=bridge-26.04", 16640, 452},  // 26.04.01
                      {"seq=8192&flops=bridge-26.04", 15876, 488},  // 25.11
                      {"seq=4096&flops=bridge", 28672, 934}};       // 26.08
  for (const Row& row : rows) {
    INFO(row.share);
    const double token = flops_per_token(std::string("model=gpt-oss-120b&") + row.share);
    CHECK(token * row.tokens_per_second == Approx(row.tflops * 1e12).epsilon(0.005));
  }
  CHECK(flops_per_token("model=llama-3.1-8b&flops=bridge-26.04") == flops_per_token("model=llama-3.1-8b&flops=bridge"));
}

TEST_CASE("BLOOM's early speeds count the layers alone, 96 s l h^2 with full recomputation") {
  // chronicles-prequel.md: 80 layers of 13,824 on 320 A100, 2,048 sequences in 160.29 s, 120.05 TFLOPS.
  const ComputeFigures f = figures(
      "model=gpt3-175b&layers=80&hidden=13824&heads=64&head_dim=216&kv_heads=64&ffn=55296&vocab=250880&seq=2048"
      "&recompute=full&flops=kaplan&tokens=4194304");
  CHECK(*f.hardware_flops / (320 * 160.29) == Approx(120.05e12).epsilon(0.002));
}

TEST_CASE("Frozen weights need no gradient: 4 N, and attention as before") {
  CHECK(flops_per_token("model=llama-3.1-8b&seq=8192&method=lora") == 4 * (kLayers8B + kHead8B) + kAttention8B);
  CHECK(flops_per_token("model=llama-3.1-8b&method=lora&flops=6n") == 4 * kParameters8B);
  // Megatron-Bridge, Llama 3 70B on GB300, packed samples: 7,447 tokens/s, 2,072 TFLOPS.
  CHECK(7447 * flops_per_token("model=llama-3-70b&seq=4096&method=lora&flops=bridge") ==
        Approx(2072e12).epsilon(0.002));
}

TEST_CASE("A token meets only its experts") {
  // Mixtral 8x7B: 2 of 8 experts of three 4096 x 14336, and grouped attention of 8 heads.
  const double layers = 32.0 * (2 * 4096.0 * 4096 + 2 * 4096.0 * 1024 + 2 * 3 * 4096.0 * 14336);
  CHECK(flops_per_token("model=mixtral-8x7b&seq=2048") == 6 * (layers + 32000.0 * 4096) + 12 * 32.0 * 4096 * 2048);
}

TEST_CASE("A window bounds the keys of a sliding layer") {
  const double beyond = flops_per_token("model=mistral-7b-v0.1&seq=16384");
  const double within = flops_per_token("model=mistral-7b-v0.1&seq=4096");
  CHECK(beyond == within);
  CHECK(flops_per_token("model=mistral-7b-v0.1&seq=16384&window=0") - beyond == 12 * 32.0 * 4096 * (16384 - 4096));
  // Megatron-Bridge: W (W + 1) / 2 + (T - W) W keys over T queries.
  const double keys = 4096 - 4096.0 * 4095 / (2 * 16384.0);
  CHECK(flops_per_token("model=mistral-7b-v0.1&seq=16384&flops=bridge") ==
        Approx(6 * (32 * (2 * 4096.0 * 4096 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 14336) + 32000.0 * 4096) +
               12 * 32.0 * 4096 * keys)
            .epsilon(1e-12));
}

TEST_CASE("Latent attention counts its own projections and head sizes") {
  // Megatron-LM training.py, DeepSeek-V3: q, k of 128 + 64, v of 128, 128 heads.
  const Plan plan = read_plan("model=deepseek-v3&seq=4096&mtp_layers=0").plan;
  REQUIRE(plan.subject);
  CHECK(training_flops(plan, FlopsConvention::megatron).attention == 6 * 61.0 * 4096 * 128 * (192 + 128));
}

TEST_CASE("Without a shape FLOPs fall back to 6 N, and say so") {
  const ComputeFigures f = figures("model=custom&params=70e9");
  CHECK(*f.flops_per_token == 420e9);
  REQUIRE(f.messages.size() == 1);
  CHECK(f.messages[0].key == "flops");
  CHECK(figures("model=custom&params=70e9&flops=6n").messages.empty());
}

TEST_CASE("A nominal count scales the matrices, not attention") {
  const std::string share = "model=llama-3.1-8b&seq=8192&params=16060522496";
  CHECK(flops_per_token(share) == 2 * 6 * (kLayers8B + kHead8B) + kAttention8B);
  CHECK(flops_per_token(share + "&flops=6n") == 12 * kParameters8B);
}

TEST_CASE("The vocabulary is padded to a multiple on every tensor-parallel rank") {
  const double plain = flops_per_token("model=gpt2");  // 50257 rows of 768
  CHECK(flops_per_token("model=gpt2&vocab_pad=128") - plain == 6 * (50304 - 50257) * 768.0);
}

TEST_CASE("Forward: 2 a weight, and scores and values over the context") {
  const Plan plan = read_plan("model=llama-2-7b").plan, block = read_plan("model=custom&params=7e9").plan;
  REQUIRE(plan.subject);
  const Model& model = *plan.subject;
  const double weights = 32 * (4 * 4096.0 * 4096 + 3 * 4096.0 * 11008) + 32000.0 * 4096;
  CHECK(forward_flops_per_token(model, 0) == 2 * weights);
  CHECK(forward_flops_per_token(model, 1000) == 2 * weights + 4 * 32.0 * 4096 * 1000);
  CHECK(forward_flops_per_token(*block.subject, 1000) == 14e9);
}

TEST_CASE("Prediction modules count where they are trained: a layer, its projection and the head once more") {
  // Megatron-LM training.py: mtp_num_layers. DeepSeek-V3 has one, which no Hugging Face trainer trains.
  const double with = flops_per_token("model=deepseek-v3"), without = flops_per_token("model=deepseek-v3&mtp_layers=0");
  CHECK(with - without > 6 * (2 * 7168.0 * 7168 + 129280.0 * 7168));
  CHECK(flops_per_token("model=deepseek-v3&library=hf") == without);
}
