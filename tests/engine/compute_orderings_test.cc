#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/compute/compute.h"
#include "tests/engine/plan_of.h"

using namespace vram;
using namespace vram::samples;
using Catch::Approx;

// What others measured one against the other: the estimate must order plans as they did.

namespace {

double mfu(const std::string& share) { return figures(share).mfu.value_or(0); }

/// Does MFU fall (or rise) along the values of one key?
bool falls(const std::string& share, const std::vector<std::string>& values) {
  for (size_t i = 1; i < values.size(); ++i) {
    if (!(mfu(share + values[i]) < mfu(share + values[i - 1]))) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("Selective recomputation with sequence parallelism beats full recomputation by a quarter to a half") {
  // arXiv 2205.05198 table 5: 29.0 to 32.1% more throughput, 22B to 1T.
  const std::string a100 = "&vocab=51200&seq=2048&gpu=a100-sxm4-80gb&precision=fp16&tp=8&attention=eager&dropout=1";
  for (const char* plan :
       {"model=custom&layers=48&hidden=6144&heads=64&ffn=24576&gpus=8&micro_batch=4",
        "model=gpt3-175b&gpus=64&pp=8&vpp=3&global_batch=64",
        "model=custom&layers=105&hidden=20480&heads=128&ffn=81920&gpus=280&pp=35&vpp=3&global_batch=280"}) {
    INFO(plan);
    const double selective = mfu(plan + a100 + "&recompute=selective"),
                 full = mfu(plan + a100 + "&recompute=full&sp=0");
    CHECK(selective / full > 1.2);
    CHECK(selective / full < 1.5);
  }
}

TEST_CASE("What is repeated costs time: norms and activations less than experts, those less than everything") {
  const std::string share = "model=qwen3-30b-a3b&gpus=16&ep=16&micro_batch=4&global_batch=256&recompute=";
  const double none = mfu(share + "none"), cheap = mfu(share + "selective&recompute_modules=layernorm,moe_act"),
               experts = mfu(share + "selective&recompute_modules=moe"), all = mfu(share + "full");
  CHECK(none > cheap);
  CHECK(cheap > experts);
  CHECK(experts > all);
}

TEST_CASE("From one GPU to 512 MFU falls") {
  // llm-foundry, MPT-7B on H100: 46% at 8 GPUs, 41% at 512.
  const std::string share = "model=mpt-7b&framework=fsdp&micro_batch=6&recompute=full&flops=foundry&gpus=";
  CHECK(falls(share, {"8", "16", "64", "128", "512"}));  // one GPU alone shards no optimizer
  CHECK(mfu(share + "1") > mfu(share + "512"));
  CHECK(mfu(share + "512") > 0.85 * mfu(share + "8"));
}

TEST_CASE("A100 reaches a larger share of its peak than H100") {
  // llm-foundry: 55 to 64% against 36 to 46%.
  for (const char* model : {"mpt-7b", "mpt-30b"}) {
    const std::string share = std::string("model=") + model + "&gpus=8&framework=fsdp&recompute=full&seq=2048&gpu=";
    CHECK(mfu(share + "a100-sxm4-80gb") > 1.2 * mfu(share + "h100-sxm5-80gb"));
  }
}

TEST_CASE("NVLink beats PCIe by more than half for 70B over 8 GPUs") {
  const std::string share = "model=llama-2-70b&gpus=64&tp=8&pp=2&global_batch=256&recompute=selective&gpu=";
  CHECK(mfu(share + "a100-sxm4-80gb") > 1.5 * mfu(share + "a100-pcie-80gb"));
}

TEST_CASE("Longer sequences lose MFU past 8,192 tokens") {
  // llm-foundry, MPT-3B on H100: 40% at 8,192 tokens, 36, 30 and 28% at 16, 32 and 64 thousand.
  const std::string share =
      "model=mpt-7b&layers=32&hidden=2560&heads=20&kv_heads=20&head_dim=128&ffn=10240&gpus=8&framework=fsdp&flops="
      "foundry&recompute=full&seq=";
  CHECK(falls(share, {"8192", "16384", "32768", "65536"}));
}

TEST_CASE("Bigger models gain MFU") {
  // llm-foundry on A100: 125M 41 to 53%, 350M 45 to 51%, 1B and more 55 to 64%.
  const std::string share =
      "model=mpt-7b&gpu=a100-sxm4-80gb&gpus=8&framework=fsdp&flops=foundry&seq=2048&micro_batch=8";
  const double m125 = mfu(share + "&layers=12&hidden=768&heads=12&kv_heads=12&head_dim=64&ffn=3072");
  const double m350 = mfu(share + "&layers=24&hidden=1024&heads=16&kv_heads=16&head_dim=64&ffn=4096");
  const double m1300 = mfu(share + "&layers=24&hidden=2048&heads=16&kv_heads=16&head_dim=128&ffn=8192");
  CHECK(m125 < m350);
  CHECK(m350 < m1300);
  CHECK(m1300 < mfu(share));
}

TEST_CASE("Interleaving shrinks the bubble") {
  // arXiv 2104.04473 section 2.2: by the number of chunks.
  const std::string share = "model=gpt3-175b&gpu=a100-sxm4-80gb&gpus=96&tp=8&pp=12&global_batch=96&vpp=";
  const ComputeFigures plain = figures(share + "1"), chunks = figures(share + "2");
  CHECK(chunks.step.bubble < 0.7 * plain.step.bubble);  // the rest is the last stage's head
  CHECK(*chunks.mfu > *plain.mfu);
}

TEST_CASE("Compiled layers beat eager ones, fp8 beats bf16 by less than its peak does") {
  const std::string share = "model=llama-2-7b&gpus=8&framework=fsdp&seq=4096&micro_batch=2";
  CHECK(mfu(share + "&compile=1") > mfu(share));
  const double bf16 = *figures(share).step_seconds, fp8 = *figures(share + "&precision=fp8").step_seconds;
  CHECK(fp8 < bf16);
  CHECK(fp8 > bf16 / 2);
}

TEST_CASE("Heads that are no multiple of 8 wide slow eager attention down, heads of 64 to 224 hardly") {
  // BLOOM's chronicles, 13,824 hidden: 128 heads of 108 reach 74 tokens/s a GPU, 64 of 216 reach 105.
  const std::string share =
      "model=gpt3-175b&layers=78&hidden=13824&ffn=55296&vocab=250880&gpu=a100-sxm4-80gb&gpus=384&framework=deepspeed"
      "&library=megatron&kernels=fused&precision=fp16&tp=4&pp=12&zero=1&micro_batch=2&global_batch=2048&recompute=full"
      "&attention=eager";
  const double odd = mfu(share + "&heads=128&head_dim=108&kv_heads=128");
  CHECK(mfu(share + "&heads=64&head_dim=216&kv_heads=64") > 1.15 * odd);
  CHECK(mfu(share + "&heads=96&head_dim=144&kv_heads=96") > 1.15 * odd);
}

TEST_CASE("ZeRO 3 alone loses two thirds when micro-batches shrink to one sequence") {
  // arXiv 2104.04473 table 2, 174.6B: 144 TFLOPS a GPU at 4 sequences on 384 A100, 44 at 1 on 1,536.
  const std::string share =
      "model=custom&params=174.6e9&gpu=a100-sxm4-80gb&framework=deepspeed&zero=3&seq=2048&recompute=full";
  const double four = mfu(share + "&gpus=384&micro_batch=4"), one = mfu(share + "&gpus=1536&micro_batch=1");
  CHECK(four / one > 2.3);
  CHECK(four / one < 4.3);
}

TEST_CASE("Experts spread over nodes lose to experts of one node") {
  // Megatron-Bridge, gpt-oss 120B on 64 B300: 15,031 tokens/s a GPU with ep=8 (26.02.01), 8,359 with ep=64 (26.02).
  const std::string share = "model=gpt-oss-120b&gpu=b300-288gb&gpus=64&micro_batch=4&global_batch=1280&ep=";
  CHECK(mfu(share + "8") > 1.4 * mfu(share + "64"));
}

TEST_CASE("A mixture with micro-batches of one sequence waits for its kernels to be launched") {
  // Megatron-Bridge, Qwen3 30B on 8 B200: 27,136 tokens/s a GPU at 4 sequences (26.04), 9,691 at one (26.02).
  const std::string share = "model=qwen3-30b-a3b&gpu=b200-180gb&gpus=8&ep=8&precision=mxfp8&global_batch=512";
  CHECK(mfu(share + "&micro_batch=4") > 1.6 * mfu(share + "&micro_batch=1"));
}

TEST_CASE("Narrow heads slow FlashAttention down, since a score's softmax costs the same") {
  const std::string share = "model=llama-2-7b&gpus=8&framework=fsdp&seq=16384&kv_heads=";
  const auto attention = [&](const char* heads) { return figures(share + heads).step.attention; };
  CHECK(attention("64&heads=64&head_dim=64") > 1.2 * attention("32&heads=32&head_dim=128"));
}

TEST_CASE("The parts of a step add up to its seconds") {
  for (const char* share :
       {"model=llama-3.1-8b&gpus=8&framework=fsdp", "model=llama-3.1-70b&gpus=64&tp=8&pp=4&global_batch=64",
        "model=qwen3-30b-a3b&gpus=16&ep=16&global_batch=64"}) {
    INFO(share);
    const ComputeFigures f = figures(share);
    CHECK(*f.step_seconds == Approx(f.step.total()));
  }
}

TEST_CASE("The largest part of a step bounds it") {
  struct Row {
    const char* bound;
    const char* share;
  };
  const Row rows[] = {{"compute", "model=llama-3.1-8b&gpus=8&framework=fsdp&seq=8192"},
                      {"network", "model=llama-3.1-8b&gpus=64&framework=fsdp&net_bw=1"},
                      {"link", "model=llama-2-70b&gpu=a100-pcie-80gb&gpus=8&tp=8"},
                      {"bubble", "model=llama-3.1-8b&gpus=8&pp=8"},
                      {"memory", "model=llama-3.2-1b&gpus=1&framework=ddp&seq=128&attention=eager"}};
  for (const Row& row : rows) {
    INFO(row.share);
    CHECK(std::string(figures(row.share).bound) == row.bound);
  }
}
