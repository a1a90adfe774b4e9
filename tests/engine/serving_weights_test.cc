#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>
#include <string>

#include "engine/model/config_json.h"
#include "engine/model/stored_halves.h"
#include "engine/plan/plan.h"
#include "engine/serving/experts.h"
#include "engine/serving/serving.h"
#include "engine/serving/weights.h"

using vram::ServingBill;

namespace {

uint64_t weights(const std::string& share) {
  return vram::serving_bill(vram::read_plan(share).plan).weights_bytes_per_gpu.value_or(0);
}
double gib(uint64_t bytes) { return static_cast<double>(bytes) / 1073741824.0; }
bool near(double value, double expected, double share) { return std::abs(value - expected) <= share * expected; }

/// A file of llama.cpp: what is on the GPU and, of them all, the input embedding in host memory.
double file_bytes(const std::string& share) {
  const ServingBill bill = vram::serving_bill(vram::read_plan(share + "&engine=llamacpp&gpu_mem=400GB").plan);
  return static_cast<double>(*bill.weights_bytes_per_gpu + bill.host_lines.front().bytes);
}

}  // namespace

TEST_CASE("In 16 bit the weights are two bytes a parameter", "[serving]") {
  CHECK(weights("model=llama-3.1-8b&weights=bf16&engine=generic") == 2ull * 8030261248);
  CHECK(weights("model=custom&params=80e9&weights=bf16&gpu=h200-sxm-141gb&serve_gpus=2&serve_tp=2") == 80000000000);
}

TEST_CASE("Only a mixture's weights name shared experts", "[serving]") {
  const auto label = [](const char* share) {
    const ServingBill bill = vram::serving_bill(vram::read_plan(share).plan);
    for (const vram::Line& line : bill.lines[0].children)
      if (std::string(line.id) == "mlp") return std::string(line.label);
    return std::string();
  };
  CHECK(label("model=llama-3.1-8b") == "MLP");
  CHECK(label("model=deepseek-v3&serve_gpus=8") == "MLP and shared experts");
}

TEST_CASE("Embeddings of every layer are no head's, though the head is tied", "[serving]") {
  const char* share = "model=gemma-3n-e4b&engine=llamacpp&weights=q8_0&gpu=rtx-4090-24gb";
  const ServingBill bill = vram::serving_bill(vram::read_plan(share).plan);
  const auto section = [](const vram::Line& all, const char* id) {
    for (const vram::Line& line : all.children)
      if (std::string(line.id) == id) return static_cast<double>(line.bytes);
    return 0.0;
  };
  CHECK(section(bill.lines[0], "head") == 262400.0 * 2048 * 8.5 / 8);
  CHECK(section(bill.host_lines[0], "layer_embedding") == 262144.0 * 35 * 256 * 8.5 / 8);
}

TEST_CASE("vllm and sglang load the rotary table with the weights", "[serving]") {
  // 2 B x max_positions x 128: 14.9595 and 14.9888 GiB in vllm's start-up logs
  CHECK(weights("model=llama-3-8b&weights=bf16") == 2ull * (8030261248 + 8192 * 128));
  CHECK(weights("model=llama-3.1-8b&weights=bf16&engine=sglang") == 2ull * (8030261248 + 2 * 131072 * 128));  // fp32
  CHECK(weights("model=phi-4-mini&weights=bf16&engine_version=0.7.0") ==
        2ull * (3836021760 + 131072 * 96));  // 3/4 of a head
  // Sections of time, height and width have four times the positions: 51.10 GiB of Qwen3.8-27B in vllm's log
  const std::string sections = "model=qwen3.5-27b&weights=bf16&engine_version=";
  CHECK(weights(sections + "0.18.0") - weights(sections + "0.7.0") == 3ull * 2 * 262144 * 64);
  // On Ascend cosines and sines stand apart, too: 1.14 GiB of Qwen3-0.6B where its tensors are 1.1102
  const std::string ascend = "model=qwen3-0.6b&weights=bf16&gpu=ascend-910b&engine_version=";
  CHECK(weights(ascend + "0.14.0") - weights(ascend + "0.13.0") == 2ull * 2 * 40960 * 128);
  CHECK(near(gib(weights(ascend + "0.14.0")), 1.14, 0.001));
  // One table of window layers, one of eight lengths: 13.1665 GiB a GPU of four in vllm 0.8.2's log.
  CHECK(near(gib(weights("model=gemma-3-27b&serve_tp=4&weights=bf16&engine_version=0.8.2")), 13.1665, 0.005));
}

TEST_CASE("Where free memory is measured, large tensors take whole 2 MiB", "[serving]") {
  // Qwen3-14B on four GPUs: 17.5, 12.5, 85 and 42.5 MiB a layer take 18, 14, 86 and 44, of 40 layers; sglang
  // prints 7.08
  const uint64_t rounded = weights("model=qwen3-14b&engine=sglang&serve_tp=4&weights=bf16");
  const uint64_t plain = weights("model=qwen3-14b&engine=vllm&engine_version=0.10.0&serve_tp=4&weights=bf16");
  // and of the two tables 1.0625 each; a rotary table in fp32 is 10 MiB more. Rests of up to 1 MiB are allocated, too.
  CHECK(static_cast<double>(rounded - plain) == (40 * (4.5 - 1.5) + 2 * 1.0625 + 10) * 1048576);
  CHECK(near(gib(rounded), 7.08, 0.001));
  // vllm prints what PyTorch allocated, from 0.20 on what is gone: 14.29 GiB of Qwen2.5-7B
  CHECK(near(gib(weights("model=qwen2.5-7b&max_positions=32768&weights=fp16&engine_version=0.27.1")), 14.29, 0.0005));
  CHECK(near(gib(weights("model=qwen2.5-7b&max_positions=32768&weights=fp16&engine_version=0.10.0")), 14.2488, 0.0001));
}

TEST_CASE("Where free memory is measured, tensors below 10 MiB share segments of 20", "[serving]") {
  // Qwen3-0.6B: 8, 4 and 6 MiB of a layer in one segment, with which no other's 8 goes; sglang prints 1.20 GiB
  const uint64_t shared = weights("model=qwen3-0.6b&engine=sglang&weights=bf16");
  CHECK(near(gib(shared), 1.20, 0.015));
}

TEST_CASE("vllm and sglang cut a vision tower, but for MoonViT, llama.cpp has it in a file of its own", "[serving]") {
  const uint64_t tower = 2 * 438958080ull;
  const auto with_tower = [](const std::string& share) { return weights("model=mistral-small-3.2-24b&" + share); };
  const auto without = [](const std::string& share) { return weights("model=mistral-small-24b-2501&" + share); };
  CHECK(near(gib(with_tower("engine_version=0.11.0")), 44.76, 0.001));  // start-up log
  const std::string positions = "&max_positions=131072";
  for (const std::string engine : {"engine=vllm&engine_version=0.11.0", "engine=sglang&gpu=mi300x-192gb"})
    CHECK(with_tower(engine) - without(engine + positions) == tower);
  CHECK(with_tower("engine=vllm&engine_version=0.11.0&serve_tp=2") -
            without("engine=vllm&engine_version=0.11.0&serve_tp=2" + positions) ==
        tower / 2);
  CHECK(with_tower("engine=sglang&serve_tp=2") - without("engine=sglang&serve_tp=2" + positions) == tower / 2);
  // Qwen3.8-27B-FP8 on two MI355X, 0.5.17: 14.49 GiB of 28.49
  CHECK(near(gib(weights("model=qwen3.5-27b&engine=sglang&gpu=mi355x-288gb&weights=fp8&serve_tp=2")), 14.49, 0.01));
  CHECK(with_tower("engine=llamacpp&weights=q8_0") == without("engine=llamacpp&weights=q8_0"));
  // What a plan says of parameters outside the text model is all there is.
  CHECK(with_tower("engine_version=0.11.0&extra_params=1") < with_tower("engine_version=0.11.0"));
}

TEST_CASE("vllm's kernels on Hopper pad gpt-oss by their release", "[serving]") {
  const auto of = [](const std::string& release) {
    return gib(weights("model=gpt-oss-120b&engine_version=" + release));
  };
  CHECK(near(of("0.10.1"), 65.965, 0.005));  // start-up logs of one H100
  CHECK(near(of("0.14.1"), 64.38, 0.005));
  CHECK(near(of("0.25.1"), 61.29, 0.005));
}

TEST_CASE("vllm's first releases with latents keep absorbed projections", "[serving]") {
  const std::string lite = "model=deepseek-v2-lite&gpu=a100-sxm4-40gb&weights=fp16&serve_tp=8&engine_version=";
  CHECK(near(gib(weights(lite + "0.7.2")), 3.97, 0.01));  // start-up log
  CHECK(weights(lite + "0.7.2") - weights(lite + "0.8.5") == 2ull * 27 * 2 * (2048 * (512 + 64) + 512 * 2048));
}

TEST_CASE("Quantised checkpoints keep embedding and head in 16 bit", "[serving]") {
  struct Row {
    const char* share;
    double gib, tolerance;
  };
  const Row rows[] = {
      {"model=qwen2.5-7b&weights=gptq", 5.27, 0.02},                  // vllm 0.27, L4
      {"model=qwen2.5-7b&weights=fp8", 8.18, 0.02},                   // vllm 0.27, L4
      {"model=phi-4&weights=nf4", 8.5107, 0.02},                      // vllm 0.6.5
      {"model=llama-2-7b&weights=q4_0&engine=llamacpp", 3.49, 0.02},  // file 3.56 GiB, embedding in host memory
  };
  for (const Row& row : rows) {
    INFO(row.share << ": " << gib(weights(row.share)));
    CHECK(near(gib(weights(row.share)), row.gib, row.tolerance));
  }
}

TEST_CASE("Which linears of a mixture a 4-bit checkpoint quantises", "[serving]") {
  // DeepSeek-R1-FP4 on 4 B200, sglang: every MLP in NVFP4, attention in 16 bit, kv_b a second time
  CHECK(near(gib(weights("model=deepseek-r1&engine=sglang&weights=nvfp4&serve_tp=4&gpu=b200-180gb")), 94.5, 0.002));
  // Kimi-K2.5 with its tower on 8 MI355X, sglang: experts in groups of 32, indices of the groups beside them
  const std::string kimi = "model=kimi-k2&extra_params=470000000&engine=sglang&weights=int4&serve_tp=8&gpu=";
  CHECK(near(gib(weights(kimi + "mi355x-288gb")), 73.58, 0.005));
  CHECK(weights(kimi + "mi355x-288gb") - weights(kimi + "b200-180gb") ==
        60ull * 384 * 2 * (7168 + 2048 / 8) * 4 - 8388608ull * 2);  // and a rotary table in 16 bit
}

TEST_CASE("MXFP4 kernels of vllm pad experts, each architecture's to its own multiples", "[serving]") {
  const std::string share = "model=gpt-oss-120b&engine_version=0.11.0&gpu=";
  CHECK(near(gib(weights(share + "h100-sxm5-80gb")), 64.38, 0.005));         // Triton: what is summed over, to 256
  CHECK(near(gib(weights(share + "a100-sxm4-80gb")), 65.97, 0.005));         // Marlin: 2880 to 3072 and 2944
  CHECK(weights(share + "b200-180gb") > weights(share + "a100-sxm4-80gb"));  // both to 256
  // Eighths of 2880 are 360: no multiple of anything
  CHECK(gib(weights(share + "h100-sxm5-80gb&serve_tp=8")) > 1.2 * 60.77 / 8);
}

TEST_CASE("GGUF files mix types tensor by tensor", "[serving]") {
  struct Row {
    const char* share;
    double mebibytes;
  };
  // as llama.cpp prints them
  const Row rows[] = {
      {"model=codellama-34b&weights=q4_k_m", 19282.64},  // llama.cpp, 2023-11
      {"model=olmoe-1b-7b&weights=q4_0", 3744.37},       // llama.cpp on Hexagon
      {"model=llama-3.1-70b&weights=q4_0", 38113.3},     // ollama#6279: 37.22 GiB
      {"model=llama-2-7b&weights=q4_0", 3645.4},         // llama.cpp#4766: 3.56 GiB
      {"model=llama-2-7b&weights=q8_0", 6830.1},         // 6.67 GiB
      {"model=llama-2-7b&weights=fp16", 12851.2},        // 12.55 GiB
      {"model=mixtral-8x7b&weights=q4_0", 25210.9},      // llama.cpp#6670: 24.62 GiB
      {"model=phi-3-mini-4k&weights=q4_k_m", 2281.66},   // its query, key and value are one matrix
  };
  for (const Row& row : rows) {
    const double bytes = file_bytes(row.share);
    INFO(row.share << ": " << bytes / 1048576);
    CHECK(near(bytes / 1048576, row.mebibytes, 0.002));
  }
}

TEST_CASE("Bits a weight of Llama 3.1 8B in every mixture", "[serving]") {
  struct Row {
    const char* weights;
    double bits;
  };
  // llama.cpp, tools/quantize/README.md
  const Row rows[] = {{"iq2_xxs", 2.3824}, {"iq2_xs", 2.5882}, {"iq3_xxs", 3.2548}, {"iq4_xs", 4.4597},
                      {"iq4_nl", 4.6818},  {"q2_k", 3.1593},   {"q3_k_s", 3.6429},  {"q3_k_l", 4.2979},
                      {"q4_k_s", 4.6672},  {"q4_k_m", 4.8944}, {"q5_k_s", 5.5704},  {"q5_k_m", 5.7036},
                      {"q6_k", 6.5633},    {"q8_0", 8.5008},   {"fp16", 16.0005}};
  for (const Row& row : rows) {
    const double bytes = file_bytes(std::string("model=llama-3.1-8b&weights=") + row.weights);
    INFO(row.weights << ": " << bytes * 8 / 8030261248);
    CHECK(near(bytes * 8 / 8030261248, row.bits, 0.0001));
  }
}

TEST_CASE("Of eight experts what attention reads is wider in GGUF files", "[serving]") {
  struct Row {
    const char* weights;
    double gigabytes;
  };
  // huggingface.co/bartowski/Mixtral-8x22B-v0.1-GGUF, llama.cpp b2636, before the vocabulary was padded
  const Row rows[] = {{"q5_k_m", 99.96}, {"q5_k_s", 96.97}, {"q4_k_m", 85.58}, {"q4_k_s", 80.47}, {"iq4_nl", 80.47},
                      {"iq4_xs", 76.35}, {"q3_k_l", 72.57}, {"q3_k_m", 67.78}, {"q3_k_s", 61.49}, {"q2_k", 52.10}};
  for (const Row& row : rows) {
    INFO(row.weights);
    CHECK(near(file_bytes(std::string("model=mixtral-8x22b&vocab=32000&weights=") + row.weights) / 1e9, row.gigabytes,
               0.0003));
  }
}

TEST_CASE("Of eight experts below three bits, too", "[serving]") {
  // llama.cpp, src/llama-quant.cpp, llama_tensor_get_type_impl: key and value Q4_K, output Q5_K, the first eighth of
  // the down projections and the embedding Q2_K, the head Q5_K; routers and norms stay in F32.
  const double wide = 4096.0 * 4096, narrow = 4096.0 * 1024, experts = 8 * 4096.0 * 14336, table = 32000 * 4096.0;
  for (const auto& [format, own] : {std::pair("iq2_xs", 2.3125), {"iq2_xxs", 2.0625}, {"iq1_s", 1.5625}}) {
    const double layer = own * (wide + 2 * experts) + 4.5 * 2 * narrow + 5.5 * wide + 32 * (8 + 2) * 4096;
    const double down = experts * (4 * 2.625 + 28 * own);
    INFO(format);
    CHECK(near(file_bytes(std::string("model=mixtral-8x7b&weights=") + format) * 8,
               32 * layer + down + (2.625 + 5.5) * table + 32 * 4096, 1e-5));
  }
}

TEST_CASE("A row that is no whole number of blocks falls back to a wider type", "[serving]") {
  // Qwen2-72B's MLP is 29568 wide, 115.5 blocks of 256: Q4_K becomes Q5_0 (5.5 bits instead of 4.5)
  const double down = 80.0 * 8192 * 29568;
  const auto on_gpu = [](const char* ffn) {
    return static_cast<double>(weights(std::string("model=qwen2-72b&weights=q4_k_s&engine=llamacpp&ffn=") + ffn));
  };
  const double per_column = (on_gpu("29696") - on_gpu("29440")) / 256;  // both whole numbers of blocks
  CHECK(near(on_gpu("29568") - (on_gpu("29440") + 128 * per_column), down / 8, 0.2));
}

TEST_CASE("A mixed checkpoint leaves halves of layers in 16 bit", "[serving]") {
  // Llama-3.1-405B-Instruct-FP8: the MLPs of layers 1 to 124 alone; 57.75 GiB a GPU of eight (vllm#6746)
  const char* config =
      R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"intermediate_size":128,
          "vocab_size":100,"quantization_config":{"quant_method":"fbgemm_fp8","modules_to_not_convert":["lm_head",
          "model.layers.0.mlp.down_proj","model.layers.0.self_attn.q_proj","model.layers.0.self_attn.o_proj",
          "model.layers.1.self_attn.q_proj","model.layers.2.self_attn.q_proj","model.layers.3.self_attn.k_proj",
          "model.layers.3.mlp.up_proj"]}})";
  const vram::Architecture a = vram::read_config(config).architecture;
  CHECK(a.unquantized == "1x2a");  // and again from the start: layer 3 is as layer 0
  const std::string share = vram::write_plan(vram::plan_of_architecture(a), false);
  const auto all = [&](const char* format) { return weights(share + "&engine=generic&weights=" + format); };
  CHECK(all("bf16") - all("fp8") == 2 * 3 * 64 * 128);  // two MLPs, a byte saved of each element
}

TEST_CASE("A list of what is not quantised speaks of layers, halves and routers", "[model]") {
  const auto layers = [](const char* list) {
    const std::string config =
        std::string(R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,
            "intermediate_size":128,"vocab_size":100,"quantization_config":{"quant_method":"fp8","ignore":)") +
        list + "}}";
    return vram::read_config(config).architecture.unquantized;
  };
  CHECK(layers(R"(["lm_head"])") == "");
  CHECK(layers(R"(["re:.*self_attn.*"])") == "1a");
  CHECK(layers(R"(["model.layers.1*"])") == "1q1x");
  CHECK(layers(R"(["re:.*mlp.gate$","re:visual.*"])") == "");
  CHECK(layers(R"(["model.layers.0.mlp.gate_proj"])") == "1m1q");
  // ModelOpt's recipes leave out what linear attention has beside its projections
  CHECK(layers(R"(["model.layers.0.linear_attn.conv1d","model.layers.0.linear_attn.in_proj_ba"])") == "");
  CHECK(layers(R"(["model.layers.0.linear_attn.in_proj_qkvz"])") == "1a1q");
  CHECK(layers(R"(["model.layers.1.mixer.experts.3.up_proj"])") == "1q1m");
}

TEST_CASE("A mixed checkpoint that names what is quantised has halves in 8 bit and leaves the rest in 16",
          "[serving]") {
  // As nvidia/Qwen3.6-35B-A3B-NVFP4 has it: MIXED_PRECISION, attention in FP8, experts in NVFP4
  const char* config =
      R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":3,"num_attention_heads":4,"intermediate_size":128,
          "vocab_size":100,"quantization_config":{"quant_method":"modelopt","quant_algo":"MIXED_PRECISION",
          "ignore":["mtp*"],"quantized_layers":{
          "model.layers.0.self_attn.q_proj":{"quant_algo":"FP8"},"model.layers.0.self_attn.k_proj":{"quant_algo":"NVFP4"},
          "model.layers.0.mlp.down_proj":{"quant_algo":"W4A16_NVFP4","group_size":16},
          "model.layers.1.mlp.up_proj":{"quant_algo":"FP8_PER_CHANNEL_PER_TOKEN"},
          "lm_head":{"quant_algo":"W4A16_NVFP4","group_size":16}}}})";
  const vram::Architecture a = vram::read_config(config).architecture;
  CHECK(a.quantization == "nvfp4");
  CHECK(a.unquantized == "1e1g1x");
  const std::string share = vram::write_plan(vram::plan_of_architecture(a), false);
  const auto all = [&](const char* format) { return weights(share + "&engine=generic&weights=" + format); };
  const double attention = 4 * 64 * 64, mlp = 3 * 64 * 128;
  CHECK(static_cast<double>(all("bf16") - all("nvfp4")) == attention + mlp + mlp * (16 - 4.5) / 8);
  CHECK(all("bf16") - all("fp8") == 9 * 64 * 128 + 12 * 64 * 64);  // another format is another file
}

TEST_CASE("NVFP4 mixtures have attention quantised that is not latent, unless a list names it", "[serving]") {
  const auto bytes = [](const char* list) {
    const std::string config =
        std::string(R"({"model_type":"qwen3_moe","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,
            "num_key_value_heads":4,"head_dim":16,"moe_intermediate_size":32,"num_experts":4,"num_experts_per_tok":2,
            "intermediate_size":128,"vocab_size":100,"quantization_config":{"quant_method":"compressed-tensors",
            "format":"nvfp4-pack-quantized")") +
        list + "}}";
    const vram::Architecture a = vram::read_config(config).architecture;
    return static_cast<double>(
        weights(vram::write_plan(vram::plan_of_architecture(a), false) + "&engine=generic&weights=nvfp4"));
  };
  const double attention = 2 * 4 * 64 * 64, saved = attention * (16 - 4.5) / 8;
  CHECK(bytes(R"(,"ignore":["lm_head","re:.*mlp.gate$"])") == bytes(""));  // the habit
  CHECK(bytes(R"(,"ignore":["lm_head","re:.*self_attn.*"])") - bytes("") == saved);
}

namespace {

/// Bytes of the layers of a model as its quantization_config stores them: 64 wide, two layers (of a mixture a dense one
/// and one of four experts beside a shared one), no vocabulary to speak of.
double stored_layers(const char* quantization, bool mixture = false) {
  const std::string config =
      std::string(R"({"hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":64,)") +
      (mixture ? R"("model_type":"deepseek_v3","num_key_value_heads":4,"kv_lora_rank":32,"q_lora_rank":32,
                   "qk_nope_head_dim":16,"qk_rope_head_dim":16,"v_head_dim":16,"intermediate_size":128,
                   "first_k_dense_replace":1,"n_routed_experts":4,"num_experts_per_tok":2,"n_shared_experts":1,
                   "moe_intermediate_size":32,"n_group":1,"topk_group":1,)"
               : R"("model_type":"llama","intermediate_size":128,)") +
      R"("quantization_config":)" + quantization + "}";
  const vram::Architecture a = vram::read_config(config).architecture;
  const std::string share = vram::write_plan(vram::plan_of_architecture(a), false) + "&engine=generic";
  return static_cast<double>(weights(share + "&weights=bf16")) - static_cast<double>(weights(share));
}

}  // namespace

TEST_CASE("Scales and zero points are those of the file's groups", "[serving]") {
  const double linears = 2 * (4 * 64 * 64 + 3 * 64 * 128), head = 64 * 64;
  const auto bits = [&](const char* quantization) { return 16 - stored_layers(quantization) * 8 / linears; };
  CHECK(bits(R"({"quant_method":"gptq","bits":4,"group_size":128})") == 4 + 20.0 / 128);
  CHECK(bits(R"({"quant_method":"gptq","bits":3,"group_size":64})") == 3 + 19.0 / 64);
  CHECK(bits(R"({"quant_method":"gptq","bits":4,"group_size":-1})") == 4);
  CHECK(bits(R"({"quant_method":"awq","bits":4,"group_size":32,"zero_point":true})") == 4 + 20.0 / 32);
  CHECK(bits(R"({"quant_method":"hqq","quant_config":{"weight_quant_params":{"nbits":4,"group_size":64}}})") == 4.5);
  CHECK(bits(R"({"quant_method":"exl3","bits":3.0})") == 3);
  CHECK(bits(R"({"quant_method":"bitnet"})") == 2);
  CHECK(bits(R"({"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_use_double_quant":false})") == 4.5);
  const char* groups = R"({"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{"group_0":{
      "targets":["Linear"],"weights":{"num_bits":4,"type":"int","group_size":128,"symmetric":true}}}})";
  CHECK(bits(groups) == 4.125);
  CHECK(stored_layers(R"({"quant_method":"gptq","bits":4,"group_size":-1,"lm_head":true})") ==
        (linears + head) * 12 / 8);
}

TEST_CASE("What a list leaves out is told apart: attention's output, experts, shared experts, dense layers",
          "[serving]") {
  const double q_kv = 64 * 32 + 32 * 4 * 32 + 64 * 48 + 32 * 4 * 32, output = 4 * 16 * 64, dense = 3 * 64 * 128,
               experts = 4 * 3 * 64 * 32, shared = 3 * 64 * 32;
  const auto saved = [](const char* list) {
    const std::string quantization =
        std::string(R"({"quant_method":"compressed-tensors","format":"float-quantized",)") + list + "}";
    return stored_layers(quantization.c_str(), true);
  };
  const double all = 2 * (q_kv + output) + dense + experts + shared;
  CHECK(saved(R"("ignore":["lm_head","re:.*mlp.gate$"])") == all);
  CHECK(saved(R"("ignore":["re:.*self_attn.*"])") == dense + experts + shared);
  CHECK(saved(R"("ignore":["re:.*self_attn.*","re:.*shared_experts.*","re:.*mlp\\.(gate|up|down)_proj.*"])") ==
        experts);
  CHECK(saved(R"("ignore":["re:.*self_attn.*_a_proj.*","re:.*self_attn.q_b_proj","re:.*self_attn.kv_b_proj"])") ==
        all - 2 * q_kv);
  CHECK(saved(R"("dynamic":{"-:.*shared_experts.*":{},"+:.*mlp.*":{}})") == all - shared);
  CHECK(saved(R"("extra_config":{"model.layers.0.mlp":{"bits":16},"model.layers.1.mlp.experts":{"bits":4}})") ==
        all - dense);
  CHECK(saved(R"("config_groups":{"group_0":{"targets":["re:.*mlp.experts.*"],
              "weights":{"num_bits":8,"type":"float"}}})") == experts);
}

TEST_CASE("A letter stands for the halves of a layer", "[model]") {
  for (const char letter : vram::kStoredHalves) CHECK(vram::letter_of(vram::halves_of(letter)) == letter);
  CHECK(vram::halves_of('a').attention == vram::Stored::sixteen_bit);
  CHECK(vram::halves_of('a').mlp == vram::Stored::as_format);
  CHECK(vram::halves_of('h').attention == vram::Stored::eight_bit);
}

TEST_CASE("Tensor parallelism leaves norms whole and divides the rest", "[serving]") {
  const uint64_t one = weights("model=llama-3-8b&weights=bf16"),
                 two = weights("model=llama-3-8b&weights=bf16&serve_gpus=2&serve_tp=2");
  CHECK(two > one / 2);
  CHECK(near(gib(two), 7.48, 0.002));  // vllm 0.6.5, two H100
}

TEST_CASE("Experts are spread over attention's data-parallel ranks too", "[serving]") {
  const std::string share = "model=deepseek-v3&weights=fp8&gpu=h200-sxm-141gb&serve_gpus=16&engine=generic";
  const double tensor = gib(weights(share + "&serve_tp=16")), data = gib(weights(share + "&serve_tp=1&serve_dp=16"));
  CHECK(data > tensor);      // attention is whole on every rank
  CHECK(data < 2 * tensor);  // experts are not
}

TEST_CASE("A batch touches 1 - (1 - k/E)^n of the experts", "[serving]") {
  CHECK(vram::touched_experts(256, 8, 1) == 8.0 / 256);
  CHECK(near(vram::touched_experts(8, 2, 3), 1 - 0.75 * 0.75 * 0.75, 1e-12));
  CHECK(vram::touched_experts(256, 8, 100000) > 0.999999);
  CHECK(vram::touched_experts(0, 0, 1) == 1);
}

TEST_CASE("The fullest rank of experts is waited for", "[serving]") {
  using vram::fullest_rank;
  // Two ranks of one expert, each touched every other time: neither is, a quarter of the time.
  CHECK(fullest_rank(2, 2, 0.5) == 0.75);
  // Of two experts each: none, one or two with 1/4, 1/2, 1/4. The most of two ranks: 1 - 1/16 and 1 - 9/16 on average.
  CHECK(fullest_rank(4, 2, 0.5) == (15.0 / 16 + 7.0 / 16) / 2);
  CHECK(fullest_rank(128, 1, 0.3) == 0.3);
  CHECK(fullest_rank(128, 8, 1) == 1);
  for (double touched = 0.05; touched < 1; touched += 0.05) {
    CHECK(fullest_rank(128, 8, touched) > touched);
    CHECK(fullest_rank(128, 8, touched) <= 1);
    CHECK(fullest_rank(256, 8, touched) < fullest_rank(128, 8, touched));
  }
}

TEST_CASE("Siblings of the bill have ids of their own", "[serving]") {
  for (const char* share :
       {"model=deepseek-v3&serve_gpus=8", "model=llama-3.1-8b&weights=q4_k_m", "model=qwen2.5-7b",
        "model=mixtral-8x7b&weights=q2_k&serve_gpus=16&engine=generic", "model=gpt-oss-120b&serve_gpus=2"}) {
    const ServingBill bill = vram::serving_bill(vram::read_plan(share).plan);
    REQUIRE(!bill.lines.empty());
    for (const vram::Line& section : bill.lines[0].children) {
      std::set<std::string> ids;
      for (const vram::Line& line : section.children) {
        INFO(share << " " << section.id << " " << line.id);
        CHECK(ids.insert(line.id).second);
      }
    }
  }
}
