#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/engine/training_samples.h"

using namespace vram;
using namespace vram::samples;

namespace {

constexpr uint64_t s = 1024;  // tokens

/// Bytes that autograd keeps of a token in all layers, forward done.
double saved_per_token(const std::string& share) {
  return static_cast<double>(bytes(bill(share + "&gpu=b200-180gb&seq=1024"), "forward", "activations")) / s;
}

/// A layer with every width different: h hidden, f ffn, a heads, k KV heads, d their size.
const std::string kLlama =
    "model=custom&layers=4&hidden=512&heads=8&kv_heads=2&head_dim=96&ffn=1376&gated=1&vocab=1000";
constexpr double h = 512, f = 1376, a = 8, k = 2, d = 96;

/// GPT-2's layer: LayerNorm, learned positions, h = a d, GELU.
const std::string kGpt =
    "model=custom&layers=4&hidden=512&heads=8&ffn=2048&vocab=1000&arch=%7B%22model_type%22%3A%22gpt2%22%7D";
constexpr double F = 2048;

struct Row {
  std::string share;
  double bytes;  // of a token in a layer
};

const std::string kHf = "&framework=ddp&library=hf&precision=bf16-pure";
const std::string kLora = "&framework=ddp&method=lora&lora_rank=16&lora_targets=";
constexpr double r = 16;

}  // namespace

// The coefficients were measured with saved_tensors_hooks on the libraries' own layers, PyTorch 2.6.

TEST_CASE("A Llama-type layer of transformers") {
  const Row row = GENERATE(values<Row>({
      {kLlama + kHf, 16 * h + 8 * f + 4 * a * d + 4 * k * d + 4 * a + 8},
      {kLlama + kHf + "&attention=eager", 16 * h + 8 * f + 8 * a * d + 6 * a * s + 8},
      {kLlama + kHf + "&attention=eager&dropout=1", 16 * h + 8 * f + 8 * a * d + 7 * a * s + 8},
      {kLlama + kHf + "&qk_norm=1", 16 * h + 8 * f + 10 * a * d + 10 * k * d + 8 * a + 4 * k + 8},
      {kLlama + kHf + "&kernels=fused", 8 * h + 6 * f + 4 * a * d + 4 * k * d + 4 * a + 8},
      {kLlama + "&framework=ddp&precision=fp32", 24 * h + 16 * f + 8 * a * d + 8 * k * d + 4 * a + 8},
      {kLlama + "&framework=ddp&precision=fp32&attention=eager", 24 * h + 16 * f + 16 * a * d + 4 * a * s + 8},
      {kLlama + "&framework=ddp&precision=fp32&attention=eager&dropout=1",
       24 * h + 16 * f + 16 * a * d + 9 * a * s + 8},
      {kLlama + "&framework=ddp&precision=bf16", 26 * h + 8 * f + 4 * a * d + 4 * k * d + 4 * a + 8},  // autocast
  }));
  CAPTURE(row.share);
  CHECK(saved_per_token(row.share) == 4 * row.bytes);
}

TEST_CASE("A Llama-type layer of Megatron-core") {
  CHECK(saved_per_token(kLlama) == 4 * (8 * h + 6 * f + 6 * a * d + 6 * k * d + 4 * a + 8));
  CHECK(saved_per_token(kLlama + "&attention=eager") == 4 * (8 * h + 6 * f + 8 * a * d + 2 * a * s + 8));
  // Norms of q and k keep contiguous copies of both, and fp32 deviations of every head.
  CHECK(saved_per_token(kLlama + "&qk_norm=1") == 4 * (8 * h + 6 * f + 8 * a * d + 8 * k * d + 8 * a + 4 * k + 8));
}

TEST_CASE("The textbook's 34 s b h + 5 a s² b is a GPT layer with dropout, but for LayerNorm's statistics") {
  // arXiv 2205.05198, equation 1; 16 bytes a token of mean and deviation are not in it.
  CHECK(saved_per_token(kGpt + "&attention=eager&dropout=1") == 4 * (34 * h + 5 * a * s + 16));
  CHECK(saved_per_token(kGpt + "&dropout=1") == 4 * (34 * h + 4 * a + 16));
  CHECK(saved_per_token(kGpt) == 4 * (32 * h + 4 * a + 16));
}

TEST_CASE("GPT layers of nanoGPT and transformers") {
  CHECK(saved_per_token(kGpt + "&framework=ddp&library=nanogpt&precision=bf16-pure") == 4 * (32 * h + 4 * a + 16));
  CHECK(saved_per_token(kGpt + "&framework=ddp&library=nanogpt") == 4 * (36 * h + 4 * a + 16));  // autocast
  // transformers composes GELU of elementary operations: 10 f instead of 4 f.
  CHECK(saved_per_token(kGpt + kHf + "&dropout=1") == 4 * (18 * h + 10 * F + 4 * a + 16));
  CHECK(saved_per_token(kGpt + kHf + "&dropout=1&attention=eager") == 4 * (18 * h + 10 * F + 5 * a * s + 16));
}

TEST_CASE("Families that differ in norms, in parallel branches or in their fused projection") {
  struct Preset {
    const char* id;
    double layers, hidden, ffn, heads, kv_heads, head_dim;
    double (*bytes)(double, double, double, double, double);
  };
  const Preset preset = GENERATE(values<Preset>({
      {"gemma-7b", 28, 3072, 24576, 16, 16, 256,
       [](double H, double W, double A, double K, double D) {
         return 20 * H + 8 * W + 4 * A * D + 4 * K * D + 4 * A + 8;
       }},
      {"gemma-2-9b", 42, 3584, 14336, 16, 8, 256,
       [](double H, double W, double A, double K, double D) {
         return 36 * H + 8 * W + 4 * A * D + 4 * K * D + 4 * A + 16;
       }},
      {"gpt-neox-20b", 44, 6144, 24576, 64, 64, 96,
       [](double H, double W, double A, double, double) { return 18 * H + 4 * W + 4 * A + 16; }},
      {"falcon-7b", 32, 4544, 18176, 71, 1, 64,
       [](double H, double W, double A, double, double D) { return 8 * H + 4 * W + 4 * D + 4 * A + 8; }},
      {"command-r-35b", 40, 8192, 22528, 64, 64, 128,
       [](double H, double W, double A, double K, double D) {
         return 14 * H + 8 * W + 4 * A * D + 4 * K * D + 4 * A + 4;
       }},
      {"phi-2", 32, 2560, 10240, 32, 32, 80,
       [](double H, double W, double A, double, double) { return 12 * H + 10 * W + 4 * A + 8; }},
      {"qwen3-8b", 36, 4096, 12288, 32, 8, 128,
       [](double H, double W, double A, double K,
          double D) { return 16 * H + 8 * W + 10 * A * D + 10 * K * D + 8 * A + 4 * K + 8; }},
      {"gemma-3-12b", 48, 3840, 15360, 16, 8, 256,
       [](double H, double W, double A, double K,
          double D) { return 36 * H + 8 * W + 12 * A * D + 12 * K * D + 8 * A + 4 * K + 16; }},
      {"phi-3-mini-4k", 32, 3072, 8192, 32, 32, 96,
       [](double H, double W, double A, double K,
          double D) { return 16 * H + 8 * W + 6 * A * D + 6 * K * D + 4 * A + 8; }},
      // Derived from transformers' source, tensor by tensor. GLM-4: norms behind attention and MLP, too; StarCoder 2:
      // LayerNorms and one GELU; Falcon 40B: k and v copied for every head (_split_heads).
      {"glm-4-32b-0414", 61, 6144, 23040, 48, 2, 128,
       [](double H, double W, double A, double K,
          double D) { return 28 * H + 8 * W + 4 * A * D + 4 * K * D + 4 * A + 16; }},
      {"starcoder2-7b", 32, 4608, 18432, 36, 4, 128,
       [](double H, double W, double A, double K,
          double D) { return 8 * H + 4 * W + 4 * A * D + 4 * K * D + 4 * A + 16; }},
      {"falcon-40b", 60, 8192, 32768, 128, 8, 64,
       [](double H, double W, double A, double, double D) { return 6 * H + 4 * W + 8 * A * D + 4 * A + 16; }},
      {"olmo-2-7b", 32, 4096, 11008, 32, 32, 128,
       [](double H, double W, double A, double K,
          double D) { return 20 * H + 8 * W + 12 * A * D + 12 * K * D + 4 * A + 16; }},
  }));
  CAPTURE(preset.id);
  CHECK(saved_per_token(std::string("model=") + preset.id + kHf) ==
        preset.layers * preset.bytes(preset.hidden, preset.ffn, preset.heads, preset.kv_heads, preset.head_dim));
}

TEST_CASE("An activation composed of elementary operations keeps every step") {
  struct Activation {
    const char* name;
    double widths;  // bytes ÷ 2 of the inner width, its input and its output included
  };
  const Activation activation = GENERATE(values<Activation>(
      {{"gelu", 2}, {"relu", 1}, {"relu2", 2}, {"gelu_new", 5}, {"gelu_fast", 8}, {"quick_gelu", 3}}));
  CAPTURE(activation.name);
  const std::string shape =
      "model=custom&layers=4&hidden=512&heads=8&ffn=2048&vocab=1000&arch=%7B%22hidden_act%22%3A%22";
  const double attention = 16 * h + 4 * a + 8;
  CHECK(saved_per_token(shape + activation.name + "%22%7D" + kHf) ==
        4 * (attention + 8 * h + 2 * activation.widths * F));
}

TEST_CASE("A mixture of experts keeps every token's way through its experts") {
  const double experts = 8, chosen = 2, m = 700;
  const double attention = 14 * h + 4 * a * d + 4 * k * d + 4 * a + 8;
  const double block = 2 * h + chosen * (6 * h + 8 * m + 32) + 4 * experts + 4;
  CHECK(saved_per_token(kLlama + "&experts=8&experts_per_token=2&expert_ffn=700" + kHf) == 4 * (attention + block));
}

TEST_CASE("Megatron's experts with a plain GELU keep it beside what the routing weights make of it") {
  // Megatron-LM, core/transformer/moe/experts.py, bias_act_func: SwiGLU and squared ReLU are weighted in one kernel.
  const std::string shape =
      "model=custom&layers=4&hidden=512&heads=8&vocab=1000&experts=8&experts_per_token=2&expert_ffn=700&arch="
      "%7B%22hidden_act%22%3A%22";
  CHECK(saved_per_token(shape + "gelu%22%7D") - saved_per_token(shape + "relu2%22%7D") == 4 * 2 * 700 * 2);
}

TEST_CASE("gpt-oss' eager layer: no fp32 softmax, and experts that clamp both halves of what they project") {
  // transformers, models/gpt_oss: GptOssRMSNorm, eager_attention_forward, GptOssExperts while training.
  const double H = 2880, A = 64, D = 64, experts = 32, chosen = 4, m = 2880;
  const double attention = 18 * H + 8 + 8 * A * D + 2 * A * s;
  const double block = 2 * H + chosen * (6 * H + 14 * m + 32) + 4 * experts + 4;
  CHECK(saved_per_token("model=gpt-oss-20b&attention=eager" + kHf) == 24 * (attention + block));
}

TEST_CASE("A gate on the shared experts keeps what they give") {
  // transformers, models/qwen2_moe: 60 experts, four a token, of 1,408; shared 5,632 wide.
  const double H = 2048, m = 1408, shared = 5632;
  const double attention = 14 * H + 4 * H + 4 * H + 4 * 16 + 8;
  const double block = 2 * H + 4 * (6 * H + 8 * m + 32) + 4 * 60 + 4 + 8 * shared + 2 * H;
  CHECK(saved_per_token("model=qwen1.5-moe-a2.7b" + kHf) == 24 * (attention + block));
}

TEST_CASE("Multi-head latent attention and DeepSeek-V3's experts") {
  const double H = 7168, heads = 128, ql = 1536, kl = 512, dn = 128, dr = 64, dv = 128;
  const double latent = 2 * H + 8 * ql + 8 * kl + heads * (4 * dr + 6 * dn + 4 * dv + 4) + 8;
  const double norms = 2 * (6 * H + 4);
  const double dense = 2 * H + 8 * 18432;
  const double moe = 6 * H + 8 * 2048 + 8 * (6 * H + 8 * 2048 + 32) + 4 * 256 + 4;
  CHECK(saved_per_token("model=deepseek-v3" + kHf) == 61 * (latent + norms) + 3 * dense + 58 * moe);
}

TEST_CASE("Frozen linears keep no input, adapted ones do") {
  const double frozen = 8 * h + 6 * f + 4 * a * d + 4 * k * d + 4 * a + 8;
  const Row row = GENERATE_COPY(values<Row>({
      {kLora + "qv", frozen + 8 * h + 8 * r},  // peft's adapters are fp32 and cast their input each
      {kLora + "attention", frozen + 12 * h + 4 * a * d + 16 * r},
      {kLora + "all", frozen + 20 * h + 4 * f + 4 * a * d + 28 * r},
      {kLora + "all&dropout=1", frozen + 25 * h + 5 * f + 5 * a * d + 28 * r},
      {kLora + "qv&library=torchtune", frozen + 2 * h + 4 * r},  // bf16 adapters share it
      {kLora + "all&library=torchtune", frozen + 4 * h + 2 * f + 14 * r},
      {kLora + "all&library=torchtune&dropout=1", frozen + 15 * h + 3 * f + 3 * a * d + 14 * r},
  }));
  CAPTURE(row.share);
  CHECK(saved_per_token(kLlama + row.share) == 4 * row.bytes);
}

TEST_CASE("litgpt's adapters sit beside one linear of q, k and v, and keep the outputs that they spread over it") {
  // litgpt, lora.py: grouped k and v repeated for every head; a dropped input and its mask; q and v, spread.
  const double frozen = 8 * h + 6 * f + 8 * a * d + 4 * a + 8;
  const std::string litgpt = "&library=litgpt&dropout=1";
  CHECK(saved_per_token(kLlama + kLora + "qv" + litgpt) == 4 * (frozen + 3 * h + 2 * (a * d + k * d) + 4 * r));
  CHECK(saved_per_token(kLlama + kLora + "all" + litgpt) == 4 * (frozen + 3 * h + 3 * a * d + 6 * h + 3 * f + 14 * r));
  // bitsandbytes 0.42, MatMul4Bit: ctx.tensors = (A, B). Attention's output is there anyway.
  CHECK(saved_per_token(kLlama + kLora + "qv&base=nf4&residual=bf16&longest_first=1" + litgpt) ==
        4 * (frozen + 3 * h + 2 * (a * d + k * d) + 4 * r + 4 * h + 2 * f));
}

TEST_CASE("The step before holds its 4-bit linears' inputs until this step's loss, unless it was shorter") {
  const std::string share = kLlama + kLora + "qv&base=nf4&residual=bf16&library=litgpt";
  const double first = saved_per_token(share + "&longest_first=1");
  CHECK(saved_per_token(share) - first == 4 * 2 * (h + a * d + h + f));
  CHECK(saved_per_token(share + "&recompute=full") == saved_per_token(share + "&recompute=full&longest_first=1"));
  const Line backward = line(phase(bill(share), "backward").lines, "activations");
  CHECK(backward.bytes == line(phase(bill(share + "&longest_first=1"), "backward").lines, "activations").bytes);
}

TEST_CASE("Tensor parallelism leaves 10 of the 34 h whole, sequence parallelism none") {
  // arXiv 2205.05198, equations 2 and 4; LayerNorm's statistics (16 bytes) and the log-sum-exp come on top.
  CHECK(saved_per_token(kGpt + "&dropout=1&gpus=4&tp=4&sp=0") == 4 * (10 * h + 24 * h / 4 + 4 * a / 4 + 16));
  CHECK(saved_per_token(kGpt + "&dropout=1&gpus=4&tp=4&sp=1") == 34 * h + 4 * a + 16);
}

TEST_CASE("Full recomputation keeps a layer's input, and one layer whole in backward") {
  const TrainingBill b = bill(kLlama + kHf + "&recompute=full&seq=1024");
  CHECK(bytes(b, "forward", "activations") == 4 * s * 2 * 512);
  const Line working = line(line(phase(b, "backward").lines, "activations").children, "working");
  const double layer = 16 * h + 8 * f + 4 * a * d + 4 * k * d + 4 * a + 8;
  // The layer's tensors, two gradients of the inner width and one of its output.
  CHECK(static_cast<double>(working.bytes) == s * (layer + 4 * f + 2 * h));
}

TEST_CASE("An fp32 residual stream doubles the checkpoints") {
  // transformers' preparation for k-bit training: 2 h L = 262,144 bytes a token more on Mistral 7B (fms-acceleration).
  const std::string share = "model=mistral-7b-v0.1&framework=ddp&method=qlora&recompute=full&seq=4096&residual=";
  const uint64_t fp32 = bytes(bill(share + "fp32"), "forward", "activations");
  const uint64_t bf16 = bytes(bill(share + "bf16"), "forward", "activations");
  CHECK(fp32 - bf16 == 262'144ULL * 4096);
}

TEST_CASE("unsloth's fused LoRA layers keep the input of several linears once and work in place in backward") {
  // unsloth, kernels/fast_lora.py: LoRA_MLP saves X, gate and up, LoRA_QKV and LoRA_W their X.
  const TrainingBill b = bill("model=llama-3.1-8b&framework=ddp&library=unsloth&method=lora&seq=1024");
  const auto saved = [&b](const char* area, const char* id) {
    return line(line(line(phase(b, "forward").lines, "activations").children, area).children, id).bytes;
  };
  const uint64_t tokens = 32 * 1024;
  CHECK(saved("adapters", "attention_input") == tokens * 4096 * 2);
  CHECK(saved("adapters", "mlp_input") == tokens * 4096 * 2);
  CHECK(saved("adapters", "down_input") + saved("adapters", "low_rank") == 0);
  CHECK(saved("mlp", "mlp") == tokens * 2 * 14336 * 2);
  const Line working = line(line(phase(b, "backward").lines, "activations").children, "working");
  CHECK(line(working.children, "gradients").bytes == 1024ULL * (14336 + 4096) * 2);
}

TEST_CASE("FSDP's and DeepSpeed's own precision keeps the residual stream of k-bit training in 16 bit") {
  const std::string share = "model=mistral-7b-v0.1&gpus=2&method=qlora&recompute=full&seq=4096&framework=";
  const uint64_t checkpoints = bytes(bill(share + "fsdp"), "forward", "activations");
  CHECK(checkpoints == 262'144ULL * 4096);
  CHECK(bytes(bill(share + "deepspeed"), "forward", "activations") == checkpoints);
  CHECK(bytes(bill(share + "ddp"), "forward", "activations") == 2 * checkpoints);
}

TEST_CASE("Backward of experts that run one after another holds one expert's gradients") {
  // Mixtral 8x7B, 2 of 8 experts a token, 14336 wide: two gradients of a quarter of the width, and the layer's
  // output's.
  const TrainingBill b = bill("model=mixtral-8x7b&framework=ddp&recompute=full&seq=4096&precision=bf16-pure");
  const Line working = line(line(phase(b, "backward").lines, "activations").children, "working");
  CHECK(line(working.children, "gradients").bytes == 4096ULL * (2 * 2 * 2 * 14336 / 8 + 2 * 4096));
}

TEST_CASE("Selective recomputation drops the scores in Megatron") {
  // arXiv 2205.05198, section 5: 34 s b h without 5 a s² b.
  CHECK(saved_per_token(kGpt + "&attention=eager&dropout=1&recompute=selective") == 4 * (34 * h + 16));
}

TEST_CASE("Selective recomputation keeps attention and every other matrix product in torchtitan") {
  // Llama 3 8B: 14.5 h; 15 compiled and 17.5 eager fit torchtitan's measured rows.
  const double H = 4096, A = 32;
  CHECK(saved_per_token("model=llama-3.1-8b&framework=fsdp2&recompute=selective") == 32 * (14.5 * H + 4 * A));
}

TEST_CASE("Only some layers recompute") {
  const double layer = 16 * h + 8 * f + 4 * a * d + 4 * k * d + 4 * a + 8;
  CHECK(saved_per_token(kLlama + kHf + "&recompute=full&recompute_layers=3") == layer + 3 * 2 * h);
}

TEST_CASE("Selective recomputation computes one layer's scores again in backward") {
  const TrainingBill b = bill(kGpt + "&attention=eager&dropout=1&recompute=selective&seq=1024");
  const Line working = line(line(phase(b, "backward").lines, "activations").children, "working");
  CHECK(static_cast<double>(line(working.children, "attention").bytes) == s * 5 * a * s);
}

TEST_CASE("Selective recomputation of some layers leaves the others whole") {
  CHECK(saved_per_token(kGpt + "&attention=eager&dropout=1&recompute=selective&recompute_layers=1") ==
        4 * (34 * h + 16) + 3 * 5 * a * s);
}

TEST_CASE("Megatron's MLP recomputation keeps nothing but the layer's stream: the norm is part of the MLP") {
  const double whole = saved_per_token(kLlama + "&recompute=selective&recompute_modules=core_attn");
  const double without = saved_per_token(kLlama + "&recompute=selective&recompute_modules=core_attn,mlp");
  CHECK(whole - without == 4 * (6 * f + 2 * h));
}

TEST_CASE("Megatron recomputes the norms that are modules of their own: before latent attention and before experts") {
  // Megatron-LM, core/models/gpt/gpt_layer_specs.py: elsewhere a norm is one kernel with its linear.
  const auto freed = [](const std::string& model) {
    const std::string share = "model=" + model + "&seq=1024&micro_batch=1&recompute=selective&recompute_modules=";
    return saved_per_token(share + "core_attn") - saved_per_token(share + "core_attn,layernorm");
  };
  CHECK(freed("llama-2-7b") == 0);
  CHECK(freed("mixtral-8x7b") == 32 * 2 * 4096);
  CHECK(freed("deepseek-v3") == (62 + 59) * 2 * 7168);  // latents; experts of 58 layers; a prediction module
}

TEST_CASE("Megatron's MLP recomputation is a dense layer's, and that of shared experts drops theirs alone") {
  // Megatron-LM, core/transformer/transformer_layer.py, recompute_mlp; moe/moe_layer.py, shared_experts_recompute.
  const auto freed = [](const std::string& module) {
    const std::string share =
        "model=moonlight-16b-a3b&seq=1024&micro_batch=1&recompute=selective&recompute_modules=core_attn";
    return saved_per_token(share) - saved_per_token(share + "," + module);
  };
  CHECK(freed("mlp") == 6 * 11264 + 2 * 2048);  // the first of 27 layers is dense
  CHECK(freed("shared_experts") == 26 * 6 * 2816);
}

TEST_CASE("Where core attention is recomputed in 8 bit, its output stays quantised alone") {
  const std::string share = kLlama + "&recompute=selective&precision=";
  const double bf16 = saved_per_token(share + "bf16") - saved_per_token(kLlama + "&precision=bf16");
  const double fp8 = saved_per_token(share + "fp8") - saved_per_token(kLlama + "&precision=fp8");
  CHECK(bf16 - fp8 == 4 * 2 * a * d);
}

TEST_CASE("Backward of LLaMA-Adapter stops above the two layers without prompts") {
  const std::string share = "model=llama-2-7b&framework=ddp&library=litgpt&seq=1024&method=";
  const Line forward = line(phase(bill(share + "adapter"), "forward").lines, "activations");
  const Line adapters = line(forward.children, "adapters");
  CHECK(line(adapters.children, "prompt_output").bytes == 30ULL * 1024 * 4096 * 2);
  CHECK(line(adapters.children, "prompt_lse").bytes == 30ULL * 1024 * 32 * 4);
  const Line scaled =
      line(line(phase(bill(share + "adapter_v2"), "forward").lines, "activations").children, "adapters");
  CHECK(line(scaled.children, "scaled_outputs").bytes == 32ULL * 1024 * (3 * 4096 + 2 * 11008) * 2);
  CHECK(line(scaled.children, "scaled_outputs_whole").bytes == 32ULL * 1024 * 2 * 4096 * 2);
}
