#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/units.h"
#include "tests/accuracy/cases.h"
#include "tests/accuracy/check_name.h"
#include "tests/accuracy/engine_defaults.h"
#include "tests/accuracy/figures.h"
#include "tests/accuracy/llamacpp_said.h"
#include "tests/accuracy/load.h"
#include "tests/accuracy/map_serving_pool.h"
#include "tests/accuracy/measured_fields.h"
#include "tests/accuracy/model_kin.h"
#include "tests/accuracy/ollama.h"
#include "tests/accuracy/print.h"
#include "tests/accuracy/serving_words.h"

using namespace vram::accuracy;

namespace {

/// tests/cases/*.json, by name.
std::vector<std::string> case_files() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(VRAM_SOURCE_DIR "/tests/cases"))
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct CaseFile {
  json content;
  std::vector<Measurement> measurements;
  std::vector<Score> scores;
};

CaseFile read_case_file(const std::string& path) {
  CaseFile file;
  std::string error;
  file.content = read_cases(path, &error);
  CAPTURE(error);
  REQUIRE(!file.content.is_null());
  file.measurements = measurements_of(file.content, nullptr);
  file.scores = scores(file.measurements);
  set_bounds(file.content, file.scores);
  return file;
}

const json& only_case(const char* text) {
  static json parsed;
  parsed = json::array({json::parse(text, nullptr, false)});
  return parsed;
}

/// The only measurement of that figure.
Measurement measured(const char* text, Figure figure) {
  for (const Measurement& one : measurements_of(only_case(text), nullptr))
    if (one.figure == figure) return one;
  FAIL("no such figure");
  return {};
}

}  // namespace

TEST_CASE("No family of measured cases is further off than the bound beside it") {
  for (const std::string& path : case_files()) {
    for (const Score& score : read_case_file(path).scores) {
      if (score.family.rfind("all,", 0) == 0) continue;
      CAPTURE(path, score.family, figure_name(score.figure));
      CHECK(score.has_bound);
      CHECK(score.median <= score.bound_median + 1e-9);
      CHECK(score.p90 <= score.bound_p90 + 1e-9);
    }
  }
}

TEST_CASE("Every kept case is a plan that the engine answers") {
  for (const std::string& path : case_files()) {
    for (const Measurement& one : read_case_file(path).measurements) {
      CAPTURE(path, one.id, one.share, one.skipped);
      CHECK(one.skipped.empty());
      CHECK_FALSE(one.source.empty());
    }
  }
}

TEST_CASE("docs/ACCURACY.md is what the program prints of tests/cases") {
  std::vector<Measurement> measurements;
  std::vector<CaseFile> files;
  for (const std::string& path : case_files()) files.push_back(read_case_file(path));
  for (const CaseFile& file : files)
    measurements.insert(measurements.end(), file.measurements.begin(), file.measurements.end());
  std::vector<Score> table = scores(measurements);
  for (const CaseFile& file : files) set_bounds(file.content, table);
  std::ifstream page(VRAM_SOURCE_DIR "/docs/ACCURACY.md");
  std::stringstream text;
  text << page.rdbuf();
  INFO("build/native/vram-accuracy tests/cases/*.json --format markdown > docs/ACCURACY.md");
  CHECK((text.str() == accuracy_page(measurements, table)));
}

TEST_CASE("A case's own words become keys") {
  const Measurement one =
      measured(R"case({"id":"x","kind":"memory","model":{"name":"Llama-3-8B","layers":32,"hidden":4096,
    "seq":8192},"n_gpus":8,"gpu":"H100 96GB","precision":"float8 linear + bf16, compile","sharding":"FSDP2",
    "optimizer":"AdamW fused","recompute":"selective (op)","micro_batch":2,"tier":"A",
    "measured":{"peak_reserved_GiB":76.8},"source":"pytorch/torchtitan some page"})case",
               Figure::reserved);
  CHECK(one.share ==
        "v=1&model=llama-3-8b&gpu_mem=94.56&gpus=8&framework=fsdp2&precision=fp8&seq=8192&micro_batch=2&"
        "recompute=selective&compile=1");
  CHECK(one.measured == 76.8 * 1073741824);
  CHECK(one.family == "pytorch/torchtitan, several GPUs");
}

TEST_CASE("Where no autocast runs, models that take the loss of their own logits are said to") {
  const std::string begin = R"case({"id":"x","kind":"memory","model":{"name":"Qwen-7B","layers":32,"hidden":4096,
    "heads":32,"ffn":11008,"vocab":151936,"mlp":"swiglu","tied":false,"seq":512},"n_gpus":1,"gpu":"A100-80GB",
    "optimizer":"AdamW","recompute":"full","micro_batch":1,"measured":{"gpu_mem_GB":12},"source":"QwenLM/Qwen",
    "lora":"r64 all-linear, embeddings and head trained",)case";
  const auto share = [&begin](const char* rest) { return measured((begin + rest).c_str(), Figure::device).share; };
  const std::string autocast = share(R"case("precision":"bf16"})case");
  CHECK(autocast.find("loss=") == std::string::npos);
  // What is trained as a whole gets no adapter.
  CHECK(autocast.find("train_embeddings=1") != std::string::npos);
  CHECK(autocast.find("lora_targets") == std::string::npos);
  const std::string gptq = share(R"case("precision":"GPTQ int4, fp16","sharding":"DeepSpeed ZeRO-2"})case");
  CHECK(gptq.find("loss=uncast") != std::string::npos);
  CHECK(gptq.find("residual=bf16") != std::string::npos);  // peft leaves GPTQ's norms as they are
}

TEST_CASE("What nvidia-smi shows counts GiB, whatever the page prints") {
  const Measurement one = measured(R"case({"id":"x","kind":"memory","model":{"name":"Llama-3-8B","seq":4096},"n_gpus":1,
    "gpu":"A100-80GB","precision":"bfloat16","recompute":"full","micro_batch":4,"lora":"r16 q,k,v,o",
    "measured":{"gpu_mem_GB_nvidia_smi":42},"source":"somebody's page"})case",
                                   Figure::device);
  CHECK(one.measured == 42 * 1073741824.0);
}

TEST_CASE("A case that lacks a fact is skipped and says which") {
  const Measurement one = measured(R"case({"id":"x","kind":"memory","model":{"name":"Llama-3-8B"},"n_gpus":1,
    "gpu":"A100-80GB","precision":"bf16","recompute":"full","micro_batch":4,
    "measured":{"peak_memory_GB":42},"source":"somebody's page"})case",
                                   Figure::allocated);
  CHECK(one.skipped == "the sequence length is not stated");
}

TEST_CASE("A model that is no preset takes the shape that the case states") {
  const Measurement one = measured(R"case({"id":"x","kind":"memory","model":{"name":"Ours 3B","layers":26,"hidden":3200,
    "heads":32,"kv_heads":8,"ffn":8640,"vocab":32000,"seq":2048,"mlp":"swiglu","tied":true},"n_gpus":1,
    "gpu":"A100-80GB","precision":"bf16 pure","recompute":"full","micro_batch":4,"optimizer":"AdamW fused",
    "measured":{"peak_alloc_GB":42},"source":"somebody's page"})case",
                                   Figure::allocated);
  CHECK(one.share ==
        "v=1&model=custom&layers=26&hidden=3200&heads=32&kv_heads=8&ffn=8640&vocab=32000&gated=1&tied=1&"
        "gpu=a100-sxm4-80gb&framework=ddp&precision=bf16-pure&seq=2048&micro_batch=4&recompute=full");
}

TEST_CASE("A start-up log's tokens follow from the pool that it states") {
  const Measurement one = measured(R"case({"id":"x","engine":"vllm","model":"meta-llama/Llama-3.1-8B-Instruct",
    "weight_dtype":"bf16","kv_dtype":"bf16","tp":1,"pp":1,"dp":1,"gpu":"L40S 48GB","max_model_len":32768,
    "block_size":16,"measured":{"available_kv_gib":2.0,"kv_tokens":16384},"checks":[],"source":"a log"})case",
                                   Figure::kv_tokens);
  CHECK(one.ratio() == 1);  // 131,072 B a token
}

TEST_CASE("A distilled model has its own facts, not its teacher's", "[serving]") {
  const json models = json::parse(R"([{"id":"deepseek-r1","hf_repo":"deepseek-ai/DeepSeek-R1","num_hidden_layers":61,
      "num_key_value_heads":128,"head_dim":192},
    {"id":"deepseek-r1-distill-small","hf_repo":"deepseek-ai/DeepSeek-R1-Distill-Small","num_hidden_layers":28,
      "num_key_value_heads":2,"head_dim":128}])");
  const json& log = only_case(R"case({"id":"x","engine":"vllm","model":"deepseek-ai/DeepSeek-R1-Distill-Small",
    "weight_dtype":"bf16","kv_dtype":"bf16","tp":1,"pp":1,"dp":1,"gpu":"L40S 48GB","max_model_len":32768,
    "block_size":16,"measured":{"available_kv_gib":7.0,"kv_tokens":262144},"checks":[],"source":"a log"})case");
  for (const Measurement& one : measurements_of(log, models))
    if (one.figure == Figure::kv_tokens) CHECK(one.ratio() == 1);  // 28,672 B a token
}

TEST_CASE("Releases and formats are read in every spelling, or not at all", "[serving]") {
  CHECK(version_of("v0.11.0", false) == "0.11.0");
  CHECK(version_of("vLLM 0.10.2rc1", false) == "0.10.2rc1");
  CHECK(version_of("V0 0.8.5", false) == "0.8.5V0");
  CHECK(version_of("0.8.5 (v0)", false) == "0.8.5V0");
  CHECK(version_of("0.2x V1", false).empty());
  CHECK(version_of("RHOAI 3.4 (V1)", false).empty());  // another product's
  CHECK(version_of("NVIDIA 26.01, vLLM 0.13.0", false) == "0.13.0");
  CHECK(version_of("2025-08", false).empty());
  CHECK(version_of("build 6123", true) == "b6123");
  CHECK(version_of("2023-11", true) == "2023-11");
  CHECK(version_of("LM Studio metal 1.44.0 (2025-08)", true) == "2025-08");
  CHECK(version_of("b9849 (2026)", true) == "b9849");
  CHECK(version_of("llama-cpp-python 0.3.34 (2026)", true) == "2026-06");
  CHECK(format_of("Q4_K - Medium") == "q4_k_m");
  CHECK(format_of("UD-Q4_K_XL") == "?");
  CHECK(format_of("GPTQ-Int8") == "int8");
  CHECK(format_of("RedHatAI/Qwen2.5-7B-Instruct-FP8-dynamic") == "fp8");
  CHECK(format_of("Qwen2.5 7B").empty());
}

TEST_CASE("A check's name says where its bytes lie, of which device, length and slots", "[serving]") {
  const CheckName second = read_name("model_buffer_rpc1_mib"), pinned = read_name("cuda_host_compute_mib");
  CHECK(second.place == Place::gpu);
  CHECK(second.device == 1);
  CHECK(second.has("model"));
  CHECK(pinned.place == Place::host);
  const CheckName longer = read_name("f16_32k_np10_kv_mib");
  CHECK(longer.tokens == 32768);
  CHECK(longer.slots == 10);
  CHECK(longer.has("kv"));
  CHECK(read_name("kv_mib_ctx_8192").tokens == 8192);
  CHECK(read_name("kv_mib").place == Place::unsaid);
  CHECK(terms_of("KV of 19 layers 304 + scratch 288") == std::vector<std::string>{"kv", "compute"});
  CHECK(terms_of("layers + head f16 + KV 256") == std::vector<std::string>{"layers", "weights", "kv"});
}

TEST_CASE("What a case says of its checkpoint beside the format is in its plan", "[serving]") {
  const auto stored = [](const std::string& model, const std::string& rest) {
    const std::string text = R"({"id":"x","engine":"vllm","gpu":"H100 80GB","tp":1,"model":")" + model + "\"," + rest +
                             R"(,"measured":{"weights_gib":1},"source":"somebody's log","checks":[{"name":"weights",
                             "kind":"independent","measured":1,"unit":"GiB"}]})";
    const std::string share = measured(text.c_str(), Figure::weights).share;
    return vram::read_plan(share).plan.subject->architecture;
  };
  CHECK(stored("Qwen3-8B", R"("weight_dtype":"awq int4 g128")").unquantized.empty());
  CHECK(stored("Qwen3-8B", R"("weight_dtype":"awq int4 g32")").quantized_bits == 4 + 20.0 / 32);
  CHECK(stored("Qwen3-30B-A3B", R"x("weight_dtype":"nvfp4 (compressed-tensors)")x").unquantized == "1q");
  CHECK(stored("Kimi-K2", R"x("weight_dtype":"int4 g32 (compressed-tensors)")x").unquantized.empty());
  CHECK(stored("Qwen3-30B-A3B", R"("weight_dtype":"fp8, attention bf16")").unquantized == "1a");
  CHECK(stored("Qwen3.6-27B", R"("weight_dtype":"fp8 per-channel")").unquantized == "3a1q");  // linear attention
  CHECK(stored("Qwen3.6-27B", R"("weight_dtype":"int4 autoround")").unquantized == "1q");
  CHECK(stored("Qwen3-8B", R"("weight_dtype":"4-bit","quantization_config":{"quant_method":"gptq","bits":4,
    "group_size":64,"dynamic":{"-:.*attn.*":{}}})")
            .unquantized == "1a");
}

TEST_CASE("A log's device, host and halves of a cache are figures of their own", "[serving]") {
  const char* text = R"case([{"id":"x","engine":"llama.cpp","engine_version":"b6209","model":"Llama-3.1-70B",
    "weight_dtype":"Q4_0","kv_dtype":"f16","gpu":"2 x A6000","n_gpus":2,"max_model_len":4096,"measured":{"flash_attn":0},
    "checks":[{"name":"cuda0_model_mib","kind":"independent","measured":18821.5625,"unit":"MiB"},
    {"name":"model_buffer_cuda1_mib","kind":"independent","measured":18725.421875,"unit":"MiB"},
    {"name":"token_embd_on_host_mib","kind":"independent","measured":563.625,"unit":"MiB"},
    {"name":"kv_cuda1_mib","kind":"independent","measured":624,"unit":"MiB"},
    {"name":"k_cache_mib","kind":"independent","measured":640,"unit":"MiB"},
    {"name":"compute_mib","kind":"independent","measured":588.0078125,"unit":"MiB"},
    {"name":"cpu_compute_mib","kind":"independent","measured":28.009765625,"unit":"MiB"}],"source":"a log"}])case";
  const std::vector<Measurement> all = measurements_of(json::parse(text, nullptr, false), nullptr);
  CHECK(all.size() == 7);
  for (const Measurement& one : all) {
    CAPTURE(figure_name(one.figure), one.part, one.estimate, one.measured, one.skipped);
    CHECK(one.error() < 1e-6);
  }
}

TEST_CASE("Ollama's runner is the llama.cpp of its release, or of the day where that is open", "[serving]") {
  CHECK(ollama_runner("0.6.0").empty());  // as new as the log
  CHECK(ollama_runner("0.11 (2025-09-06)") == "2025-05");
  CHECK(ollama_runner("0.11.x (2025-08-22)") == "2025-08");
  CHECK(ollama_runner("2025-11-20") == "2025-11");
  CHECK(ollama_runner("0.34.2").empty());  // llama.cpp's own server
  CHECK(ollama_weighs_cache("0.3.x (2024-08-28)"));
  CHECK_FALSE(ollama_weighs_cache("0.9.x (2025-07-24)"));
  CHECK_FALSE(ollama_weighs_cache("unknown"));
}

namespace {

void check_all(const char* text, size_t count) {
  const std::vector<Measurement> all = measurements_of(only_case(text), nullptr);
  size_t right = 0;
  for (const Measurement& one : all) {
    CAPTURE(one.id, figure_name(one.figure), one.part, one.share, one.estimate, one.measured, one.skipped);
    CHECK(one.skipped.empty());
    CHECK(one.error() < 0.002);
    right += one.skipped.empty() && one.error() < 0.002 ? 1 : 0;
  }
  CHECK(right == count);
}

}  // namespace

TEST_CASE("A name says of which rank, stage, size or format its figure is", "[serving]") {
  // Two stages of Llama-3.1-8B in 16 bit: 16 layers with the embedding, 16 with the head and the final norm.
  check_all(R"case({"id":"stages","engine":"vllm","model":"meta-llama/Llama-3.1-8B-Instruct","weight_dtype":"bf16",
    "tp":1,"pp":2,"gpu":"A100-SXM4-40GB","measured":{"weights_gib_pp0":7.51,"weights_gib_pp1":7.51},
    "checks":[{"name":"weights_pp0","kind":"independent","measured":7.511,"unit":"GiB"},
    {"name":"weights_pp1","kind":"independent","measured":7.511,"unit":"GiB"}],"source":"a log"})case",
            2);
  check_all(R"case({"id":"whole","engine":"vllm","model":"meta-llama/Llama-3.1-8B-Instruct","weight_dtype":"bf16",
    "tp":2,"n_gpus":2,"gpu":"A100-SXM4-40GB","measured":{"weights_gb_text":16},
    "checks":[{"name":"weights_total_gb","kind":"independent","measured":16,"unit":"GB"}],"source":"a log"})case",
            1);
  check_all(R"case({"id":"sizes","engine":"vllm","model":"Qwen/Qwen3-8B","weight_dtype":"bf16","gpu":"A100-SXM4-40GB",
    "measured":{},"checks":[{"name":"weights","kind":"independent","measured":15.27,"unit":"GiB"},
    {"name":"weights_4b","kind":"independent","measured":7.555,"unit":"GiB"}],"source":"a log"})case",
            2);
  // KV heads of a rank: 2 of 4, 1 of 4; states 6 of 16 (of Qwen3.5-27B's shape, 37 slots and the one that nobody owns).
  check_all(R"case({"id":"uneven","engine":"sglang","model":"Qwen3.6-27B","weight_dtype":"int8","tp":3,"n_gpus":3,
    "kv_dtype":"fp8","notes":"KV heads 2/1/1, state units 6/5/5","measured":{"kv_tokens":333254,"state_slots":37},
    "checks":[{"name":"k_gib_rank0","kind":"independent","measured":2.5425,"unit":"GiB"},
    {"name":"k_gib_rank1","kind":"independent","measured":1.2713,"unit":"GiB"},
    {"name":"state_gib_rank0","kind":"independent","measured":2.043,"unit":"GiB"}],"source":"a log"})case",
            3);
  check_all(R"case({"id":"medium","engine":"tensorrt-llm","engine_version":"0.8.0","model":"gpt2 (medium, inferred)",
    "weight_dtype":"fp16","measured":{"engine_mib":777,"gpu_mib_after_context":774},
    "checks":[{"name":"weights_mib","kind":"independent","measured":774.93,"unit":"MiB"}],"source":"a log"})case",
            1);
}

TEST_CASE("An engine that launches kernel by kernel is said to in any spelling", "[serving]") {
  const auto graphless = [](const std::string& notes) {
    const std::string text =
        R"({"id":"x","engine":"vllm","model":"Qwen/Qwen3-8B","weight_dtype":"bf16","gpu":"H100 80GB",
      "measured":{"available_kv_gib":50,"kv_tokens":364080},"checks":[],"notes":")" +
        notes + R"("})";
    return measured(text.c_str(), Figure::kv_tokens).share.find("graphs=0") != std::string::npos;
  };
  for (const char* said : {"enforce eager, Ray", "--enforce-eager", "enforce_eager=True"}) CHECK(graphless(said));
  for (const char* said : {"", "enforce_eager=False", "no --enforce-eager"}) CHECK_FALSE(graphless(said));
}

TEST_CASE("Blocks in swap are a figure where the case says how much of it there is", "[serving]") {
  const auto swapped = [](const std::string& checks) {
    const std::string text = R"({"id":"x","engine":"vllm","model":"Qwen/Qwen3-8B","weight_dtype":"bf16","block_size":16,
      "gpu":"H100 80GB","measured":{"num_cpu_blocks":1820},"checks":[)" +
                             checks + "]}";
    int found = 0;
    for (const Measurement& one : measurements_of(only_case(text.c_str()), nullptr))
      found += one.figure == Figure::swap_tokens && one.error() < 0.001 ? 1 : 0;
    return found;
  };
  CHECK(swapped("") == 0);
  CHECK(swapped(R"({"name":"cpu_blocks","kind":"independent","measured":1820,"unit":"blocks"})") == 1);
}

TEST_CASE("Swap is of the size that a check's words say, of each format of two caches", "[serving]") {
  // 1 MiB and 2 MiB a block of 16 tokens of Llama-3-8B.
  check_all(R"case({"id":"swap","engine":"vllm","model":"meta-llama/Meta-Llama-3-8B","weight_dtype":"bf16","tp":1,
    "kv_dtype":"fp16 and fp8","block_size":16,"gpu":"H100 80GB","measured":{"cpu_blocks":1024},
    "checks":[{"name":"cpu_swap_blocks_fp16","kind":"independent","measured":1024,"unit":"blocks",
    "explanation":"swap 2 GB"},{"name":"cpu_blocks_fp8","kind":"independent","measured":4096,"unit":"blocks"}],
    "source":"a log"})case",
            2);
}

TEST_CASE("A refusal to start says what a request needs and which would fit", "[serving]") {
  // 98,304 B a token; 262,144 of them are 24 GiB, and 8.04 GiB are 87,818.
  check_all(R"case({"id":"refused","engine":"vllm","engine_version":"0.11.0","model":"Qwen/Qwen3-30B-A3B",
    "weight_dtype":"bf16","kv_dtype":"bf16","tp":1,"pp":2,"gpu":"A100 80GB","max_model_len":262144,"block_size":16,
    "measured":{"available_gib":8.04},"checks":[{"name":"needed","kind":"independent","measured":24,"unit":"GiB"},
    {"name":"estimated_max_len","kind":"independent","measured":87840,"unit":"tokens"}],"source":"a log"})case",
            2);
  // Of gpt-oss-120b: 18 layers of 2,048 B a token, and 18 of 127 + 1,024 tokens in blocks and one more.
  check_all(R"case({"id":"windows","engine":"vllm","engine_version":"0.11.0","model":"openai/gpt-oss-120b",
    "weight_dtype":"mxfp4","kv_dtype":"bf16","gpu":"H100 80GB","max_model_len":131072,"max_num_batched_tokens":1024,
    "measured":{},"checks":[{"name":"needed","kind":"independent","measured":4.5405,"unit":"GiB"}],
    "source":"a log"})case",
            1);
}

TEST_CASE("Of stages that leave different pools the smallest sets the blocks", "[serving]") {
  // 32 of 64 layers x 8 x 128 x 2 x 2 B a token, in 7,299 blocks of 16.
  const char* log = R"case({"id":"stages","engine":"vllm","engine_version":"0.8.5V0","model":"Qwen/QwQ-32B","tp":1,
    "pp":2,"weight_dtype":"nf4","kv_dtype":"bf16","gpu":"RTX 5090","n_gpus":2,"max_model_len":50000,"block_size":16,
    "measured":{"kv_gib_a":14.52,"kv_gib_b":14.26,"cuda_blocks":7299},"checks":[
    {"name":"kv_gib_from_blocks","kind":"independent","measured":14.26,"unit":"GiB"}],"source":"a log"})case";
  CHECK(measured(log, Figure::kv_tokens).error() < 0.001);
  CHECK(measured(log, Figure::kv_token).error() < 0.001);
}

TEST_CASE("What free memory of sglang falls by is pool and table", "[serving]") {
  // 5.64 GiB, and 2,049 requests of 131,072 tokens of 4 B.
  const Measurement fall =
      measured(R"case({"id":"end","engine":"sglang","model":"deepseek-ai/DeepSeek-R1-Distill-Qwen-7B","tp":1,
    "weight_dtype":"bf16","kv_dtype":"bf16","gpu":"RTX 3090 24GB","max_model_len":131072,"mem_fraction_static":0.88,
    "measured":{"avail_after_weights_gb":8.37,"k_gb":2.82,"v_gb":2.82,"memory_pool_end_avail_gb":1.68,
    "max_running_requests":2049},"checks":[{"name":"pool_end","kind":"independent","measured":1.68,"unit":"GiB"}],
    "source":"a log"})case",
               Figure::pool_and_table);
  CHECK(fall.error() < 0.001);
}

TEST_CASE("A block's bytes are those of its tokens, a check's model may be another", "[serving]") {
  check_all(
      R"case({"id":"blocks","engine":"vllm","engine_version":"0.8.5","model":"Qwen/Qwen3-30B-A3B",
    "weight_dtype":"bf16","kv_dtype":"bf16",
    "tp":1,"block_size":16,"max_model_len":32768,"gpu":"H100 80GB","measured":{},"checks":[
    {"name":"block_mib","kind":"independent","measured":1.5,"unit":"MiB"},
    {"name":"kv_needed_qwen3_vl_4b_32768","kind":"independent","measured":4.5,"unit":"GiB"},
    {"name":"weights_qwen25_15b","kind":"independent","measured":2.91,"unit":"GiB"}],"source":"a log"})case",
      3);
}

TEST_CASE("A version says its month and its engine in words", "[serving]") {
  CHECK(release_of_date("V1, Aug 2025", "vllm") == "0.10.0");
  CHECK(release_of_date("(March 2025)", "sglang") == "0.4.4");
  CHECK(release_of_date("Jul 2025", "sglang") == release_of_date("2025-07", "sglang"));
  CHECK(release_of_date("May 2026", "vllm").empty());  // later than what is known
  const auto version = [](const std::string& said) {
    const std::string text = R"({"id":"x","engine":"vllm","model":"Qwen/Qwen3-8B","gpu":"H100 80GB","tp":1,
      "engine_version":")" + said +
                             R"(","measured":{"available_kv_gib":2},"checks":[],"source":"a log"})";
    const std::string share = measured(text.c_str(), Figure::kv_pool).share;
    const size_t at = share.find("engine_version=");
    return at == std::string::npos ? "" : share.substr(at + 15, share.find('&', at) - at - 15);
  };
  CHECK(version("V0, May 2025") == "0.9.0V0");
  CHECK(version("V1, Oct 2025") == "0.11.0");
  CHECK(version("0.1.dev1+g4d2a68d64 (Aug 2026)").empty());
}

TEST_CASE("What a llama.cpp log says in words changes its plan", "[serving]") {
  // Before windows had a cache of their own; attention where the cache lies: 40 heads and two masks over all cells.
  check_all(R"case({"id":"old","engine":"llama.cpp","engine_version":"b5092","model":"Llama-4-Scout-17B-16E-Instruct",
    "weight_dtype":"Q4_K_M","kv_dtype":"f16","n_gpus":1,"gpu":"RTX 3090","max_model_len":64000,"notes":"-ngl 11 -nkvo",
    "measured":{"n_ctx":64000},"checks":[{"name":"kv_mib","kind":"independent","measured":12000,"unit":"MiB"}],
    "source":"a log"})case",
            1);
  check_all(R"case({"id":"full","engine":"llama.cpp","engine_version":"b9000","model":"gemma-3-12b-it",
    "weight_dtype":"Q4_0","kv_dtype":"f16","gpu":"RTX 3090","max_model_len":32768,
    "notes":"creating SWA KV cache, size = 32768 cells","measured":{"n_ctx":32768},
    "checks":[{"name":"kv_swa_mib","kind":"independent","measured":10240,"unit":"MiB"}],"source":"a log"})case",
            1);
  // "-ts 2,8": 13 of 61 layers and the head.
  check_all(R"case({"id":"split","engine":"llama.cpp","engine_version":"b9000","model":"Kimi-K2-Instruct",
    "weight_dtype":"Q4_K_M","kv_dtype":"q8_0","n_gpus":2,"max_model_len":131072,"notes":"-ts 2,8",
    "measured":{"n_ctx":131072},"checks":[{"name":"kv_cuda0_mib","kind":"independent","measured":994.5,"unit":"MiB"}],
    "source":"a log"})case",
            1);
  check_all(R"case({"id":"both","engine":"llama.cpp","engine_version":"b3800","model":"EleutherAI/pythia-2.8b",
    "weight_dtype":"F16","gpu":"CUDA card","max_model_len":2048,
    "measured":{"cuda_model_mib":5049.71,"cpu_model_mib":245.62,"n_ctx":2048},
    "checks":[{"name":"weights_mib","kind":"independent","measured":5295.33,"unit":"MiB"}],"source":"a log"})case",
            1);
  // Layers with their cache, as Ollama counted till 0.6.0.
  check_all(R"case({"id":"estimate","engine":"ollama","engine_version":"0.3.6","model":"meta-llama/Meta-Llama-3-8B",
    "weight_dtype":"Q4_0","gpu":"RTX 3090","max_model_len":8192,"measured":{"n_ctx":8192},
    "checks":[{"name":"weights_total_gib","kind":"independent","measured":4.656,"unit":"GiB"},
    {"name":"repeating_gib","kind":"independent","measured":4.255,"unit":"GiB"}],"source":"a log"})case",
            2);
}

TEST_CASE("Flags of llama.cpp are read in any spelling", "[serving]") {
  for (const char* on : {"-c 32768 -fa -ngl 99", "flash_attn auto -> on", "flash_attn = 1, n_ubatch 512",
                         "flashattention true", "--flash-attn on", "flash attention: logits + hidden"})
    CHECK(flash_said(on) == true);
  for (const char* off : {"flash_attn 0, n_ubatch 512", "flash_attn auto -> disabled", "no flash attention: exact",
                          "parallel 1, flashattention false", "flash attention off"})
    CHECK(flash_said(off) == false);
  for (const char* open : {"flashattention auto", "-ngl 99 -fast", "flash attention, then no flash attention"})
    CHECK_FALSE(flash_said(open));
  CHECK(ubatch_said("-b 4096 -ub 2048", 8192) == 2048);
  CHECK(ubatch_said("--ubatch-size 1024", 8192) == 1024);
  CHECK(ubatch_said("-c 2500 rounds to 2528; ubatch = context", 2500) == 2528);
  CHECK(ubatch_said("-b 4096", 8192) == 0);
  CHECK(slots_said("--ctx-size 8192 --parallel 4", false) == 4);
  CHECK(slots_said("kvsize 8192, parallel 2", true) == 2);
  CHECK(slots_said("kvsize 8192, parallel 2", false) == 0);  // tensor parallel, for all one knows
  CHECK(context_said("--ctx-size 32k --parallel 4") == 32768);
  CHECK(context_said("-fa -c 8192") == 8192);
  CHECK(context_said("--no-context-shift") == 0);
  CHECK(cache_types_said("-ctk q8_0 -ctv q4_0").values == "q4_0");
  CHECK(cache_types_said("k q8_0, v f16").keys == "q8_0");
  CHECK(cache_types_said("-ctk q8_0").keys == "q8_0");
  CHECK(cache_types_said("-ctk q8_0").values == "bf16");
  CHECK(read_name("kv_cuda0_12layers_mib").layers == 12);
  CHECK(read_name("kv_of_a_4_layer_card").layers == 4);
  CHECK(read_name("kv_layers_mib").layers == 0);
  CHECK(format_of("IQ4_XS_R8") == "iq4_xs");
  CHECK(format_of("Q4_0_4_8") == "q4_0");
  CHECK(layers_said("55 of 78 layers on card 0") == 55);
  CHECK(layers_said("slots 0..24 of 49 go to the first, 25 layers") == 25);
  CHECK(layers_said("17 of 33 slots") == 0);
  CHECK(runs_on_cpu(json::parse(R"case({"gpu":"Raspberry Pi 5 16GB (CPU)"})case")));
  CHECK(runs_on_cpu(json::parse(R"({"gpu":"not stated","n_gpus":0})")));
  CHECK_FALSE(runs_on_cpu(json::parse(R"({"gpu":"RTX 3090","n_gpus":1})")));
}

TEST_CASE("llama.cpp's settings count beside the measured figures, too", "[serving]") {
  // 48 layers of 4 heads of 128; the micro-batch's logits and two hidden states of the last card.
  check_all(R"case({"id":"beside","engine":"llama.cpp","engine_version":"2026-06","model":"Qwen3-Coder-30B-A3B",
    "weight_dtype":"Q4_K_M","gpu":"RTX 4090","n_gpus":1,"n_ctx":32768,"n_ubatch":512,"flash_attn":"auto (enabled)",
    "kv_dtype":"f16","measured":{"n_slots":4},"checks":[{"name":"kv_mib","kind":"independent","measured":3072,
    "unit":"MiB"},{"name":"ctx_padding","kind":"independent","measured":32768,"unit":"cells"}],"source":"a log"})case",
            2);
  // Latents of 576 elements; four of 61 layers on one of 15 cards.
  check_all(R"case({"id":"layers","engine":"ik_llama.cpp","engine_version":"2025-02","model":"DeepSeek-R1",
    "weight_dtype":"Q2_K","n_gpus":15,"n_ctx":32768,"n_ubatch":256,"flash_attn":0,"kv_dtype":"f16","measured":{},
    "checks":[{"name":"kv_of_a_4_layer_card","kind":"independent","measured":144,"unit":"MiB"}],"source":"a log"})case",
            1);
  // Windows kept whole are still the window layers' cache; a check named by its length alone is of what its field is.
  check_all(R"case({"id":"windows","engine":"llama.cpp","engine_version":"2025-08","model":"openai/gpt-oss-120b",
    "gpu":"Apple M4 Max","n_gpus":1,"n_ctx":4096,"flash_attn":0,"kv_dtype":"f16","check":"swa_full",
    "measured":{"kv_full_mib_8192":288},"checks":[{"name":"kv_swa_full_size","kind":"independent","measured":144,
    "unit":"MiB"},{"name":"kv_8192","kind":"independent","measured":288,"unit":"MiB"}],"source":"a log"})case",
            2);
}

TEST_CASE("Tokens per second are a rate, seconds per token a time", "[serving]") {
  for (const char* rate : {"pp512_tok_s", "pp512_tokens_per_sec", "pp512_toks_per_s", "pp512_t_per_s"})
    CHECK(read_figure_name(rate).figure == Figure::prefill_speed);
  CHECK(read_figure_name("input_tokens_per_s").figure == Figure::input_speed);
  CHECK(read_figure_name("s_per_token").figure == Figure::token_time);
  CHECK(read_figure_name("latency_per_token_s").figure == Figure::request_latency);
}

TEST_CASE("What a log states of its cache is found by its words in any order", "[serving]") {
  const auto measured = [](const char* fields) { return json::parse("{\"measured\":{" + std::string(fields) + "}}"); };
  for (const char* pool :
       {"\"kv_gib\":2", "\"kv_cache_memory_gib\":2", "\"kv_pool_gb\":2", "\"kv_available_mib\":2048"})
    CHECK(pool_field(measured(pool)) == 2);
  CHECK(pool_field(measured("\"kv_needed_gib\":2,\"swa_kv_gib\":3,\"k_gib\":1")) == 0);
  for (const char* tokens : {"\"kv_tokens\":512", "\"gpu_kv_cache_size_tokens\":512", "\"kv_cache_tokens\":512"})
    CHECK(tokens_field(measured(tokens)) == 512);
  CHECK(tokens_field(measured("\"output_tokens\":512,\"kv_bytes_per_token\":9")) == 0);
  CHECK(concurrency_field(measured("\"maximum_concurrency\":5.5")) == 5.5);
  CHECK(concurrency_field(measured("\"max_concurrency_128k\":5.5")) == 0);
  CHECK(blocks_field(measured("\"n_gpu_blocks\":7,\"n_cpu_blocks\":9")) == 7);
  CHECK(host_blocks_field(measured("\"n_gpu_blocks\":7,\"n_cpu_blocks\":9")) == 9);
}

TEST_CASE("sglang keeps more free where attention is data-parallel", "[serving]") {
  // server_args.py: 512 + 1.5 x 8192 + 2 x 512 + 4 / 8 x 1024, and 4.5 x 512 x 4 of 143771 MiB.
  const vram::Plan plan = vram::read_plan("model=qwen3-30b-a3b&gpu=h200-sxm-141gb&engine=sglang&serve_dp=4").plan;
  CHECK(sglang_fraction(plan, "", 4) == 0.836);
  const vram::Plan split = vram::read_plan("model=qwen3-30b-a3b&gpu=h200-sxm-141gb&engine=sglang&serve_tp=4").plan;
  CHECK(sglang_fraction(split, "", 1) == 0.9);
}

TEST_CASE("Sizes of a log are of what their names, cases and digits say", "[serving]") {
  // 62 layers of 8 heads of 128 in bf16; all GPUs' 16 layers of 4 heads of 256 in FP8; one card's blocks.
  check_all(R"case({"id":"request","engine":"vllm","engine_version":"0.10.1","model":"Qwen/Qwen3-Coder-480B-A35B",
    "weight_dtype":"fp8","tp":1,"dp":8,"gpu":"H20","n_gpus":8,"max_model_len":262144,"kv_dtype":"bf16","measured":{},
    "checks":[{"name":"kv_gib_one_full_request","kind":"independent","measured":62,"unit":"GiB"}],"source":"a log"})case",
            1);
  check_all(
      R"case({"id":"total","engine":"vllm","engine_version":"0.27","model":"Qwen/Qwen3.5-27B","weight_dtype":"fp8",
    "tp":2,"gpu":"RTX 3090 24GB","n_gpus":2,"kv_dtype":"fp8","max_model_len":131072,"measured":{},
    "checks":[{"name":"kv_bytes_per_token_total","kind":"independent","measured":32768,"unit":"B"}],"source":"a log"})case",
      1);
  check_all(R"case({"id":"pools","engine":"tensorrt-llm","engine_version":"1.2.0rc2","model":"Qwen/Qwen3-8B",
    "weight_dtype":"fp8","tp":1,"gpu":"sm_120 card","n_gpus":1,"kv_dtype":"fp8","tokens_per_block":32,
    "measured":{"final_pool_gib":3.173,"final_pool_tokens":46208,"max_seq_len":9193},
    "checks":[{"name":"final_pool","kind":"independent","measured":3.173,"unit":"GiB"}],"source":"a log"})case",
            1);
  check_all(R"case({"id":"cut","engine":"sglang","model":"DeepSeek-V3 geometry cut to 2 layers","weight_dtype":"bf16",
    "tp":4,"n_gpus":4,"kv_dtype":"bf16","measured":{},"checks":[{"name":"bytes_per_token","kind":"independent",
    "measured":2.25,"unit":"KiB"}],"source":"a log"})case",
            1);
}

TEST_CASE("A model's name counts before its bracket, a pool where it is the least", "[serving]") {
  // 28 layers of 16 heads of 256 in FP8; 92 layers of 4 of 8 heads a GPU; rows of logits, a row a slot.
  check_all(
      R"case({"id":"bracket","engine":"tensorrt-llm","engine_version":"0.12.0","model":"EleutherAI/gpt-j-6b FP8 (the report below says Llama-2-7b-hf)",
"weight_dtype":"fp8","tp":1,"n_gpus":1,"kv_dtype":"fp8","block_size":64,
    "measured":{},"checks":[{"name":"kv_bytes_per_token","kind":"independent","measured":229376,"unit":"B"}],
    "source":"a log"})case",
      1);
  check_all(
      R"case({"id":"two","engine":"sglang","model":"Qwen3-8B or Qwen3-4B (36 layers)","weight_dtype":"bf16","tp":1,
    "n_gpus":1,"kv_dtype":"bf16","measured":{},"checks":[{"name":"kv_bytes_per_token","kind":"independent",
    "measured":147456,"unit":"B"}],"source":"a log"})case",
      1);
  const json ranks = json::parse(R"({"tp":2,"pp":1,"measured":{"available_kv_gib_rank0":16.85,
    "available_kv_gib_rank1":13.43}})");
  CHECK(logged_pool_gib(ranks) == 13.43);
  check_all(R"case({"id":"rows","engine":"llama.cpp","engine_version":"b7445","model":"gemma-2-2b-it",
    "weight_dtype":"Q4_K_M","gpu":"CPU","max_model_len":8192,"batch":4,"kv_dtype":"f16","measured":{"n_seq_max":4},
    "checks":[{"name":"output_mib","kind":"independent","measured":3.906,"unit":"MiB"}],"source":"a log"})case",
            1);
  check_all(R"case({"id":"rule","engine":"ollama","engine_version":"0.3.12","model":"Qwen2-7B","weight_dtype":"Q4_0",
    "gpu":"RTX 3090","max_model_len":8192,"batch":4,"kv_dtype":"f16","measured":{"graph_full_mib":478},"checks":
    [{"name":"graph_mib","kind":"independent","measured":478,"unit":"MiB"}],"source":"a log"})case",
            1);
}

TEST_CASE("Checks are named in many ways", "[serving]") {
  const auto error_of = [](const std::string& text) {
    const Measurement check = measurements_of(only_case(text.c_str()), nullptr).front();
    CAPTURE(text, check.share, check.estimate, check.measured);
    return check.skipped.empty() ? check.error() : 1.0;
  };
  // Llama-3.1-8B: 32 layers of 8 heads of 128; logits of 512 tokens or 512 x 4 x (32 x 8192 + 8192 + 4 x 4096).
  const std::string vllm = R"case({"id":"names","engine":"vllm","engine_version":"0.6.3","model":"Llama-3.1-8B",
    "weight_dtype":"bf16","tp":1,"gpu":"A100 80GB","n_gpus":1,"kv_dtype":"bf16","source":"a log",
    "measured":{"tokens":442368},"checks":[{"kind":"independent",)case";
  for (const char* cache : {"kv_gib", "cache_gib", "available_kv", "kv_total", "k_plus_v", "kv_from_blocks"})
    CHECK(error_of(vllm + "\"name\":\"" + cache + R"case(","measured":54,"unit":"GiB"}]})case") < 0.002);
  for (const char* token : {"kv_bytes_per_token", "bytes_token", "kv_bytes", "token_bytes"})
    CHECK(error_of(vllm + "\"name\":\"" + token + R"case(","measured":131072,"unit":"B"}]})case") < 0.002);
  const std::string llamacpp = R"case({"id":"names","engine":"llama.cpp","engine_version":"b4500","model":
    "Llama-3.1-8B","weight_dtype":"Q4_K_M","gpu":"RTX 4090","n_gpus":1,"max_model_len":8192,"kv_dtype":"f16",
    "measured":{"host_compute_mib":24.01},"source":"a log","checks":[{"kind":"independent","unit":"MiB",)case";
  for (const char* name : {"compute_mib", "scratch_mib", "graph_cuda0", "compute_mib_no_fa", "compute_nofa"})
    CHECK(error_of(llamacpp + "\"name\":\"" + name + R"case(","measured":560}]})case") < 0.002);
  CHECK(error_of(llamacpp + R"case("name":"compute_fa","measured":258.5}]})case") < 0.002);
  CHECK(error_of(llamacpp + R"case("name":"host_mib","measured":24.01}]})case") < 0.002);
  CHECK(error_of(llamacpp + R"case("name":"logits_mib","measured":0.49}]})case") < 0.002);
}

TEST_CASE("Ollama's first estimates of a Llama's graph leave out its logits", "[serving]") {
  // llm/ggml.go of 0.1.48 and 0.3.10: 512 x 4 x (32 x 2048 + 2048 + 4 x 4096), then no less than 512 x 4 x 132352.
  const std::string text = R"case({"id":"graph","engine":"ollama","model":"llama3 8B","weight_dtype":"Q4_0",
    "gpu":"RTX 3090","n_gpus":1,"max_model_len":2048,"kv_dtype":"f16","checks":[{"name":"graph_full","kind":
    "independent","measured":164,"unit":"MiB"}],"measured":{"graph_full_mib":164},"source":"a log",)case";
  check_all((text + R"case("engine_version":"0.1.48"})case").c_str(), 1);
  std::string later = text;
  for (size_t at = later.find("164"); at != std::string::npos; at = later.find("164", at))
    later.replace(at, 3, "258.5");
  check_all((later + R"case("engine_version":"0.3.10"})case").c_str(), 1);
  check_all((later + R"case("engine_version":"0.5.x (2025-02)"})case").c_str(), 1);
}

TEST_CASE("Figures of llama.cpp's devices, drafts and states are of what stands behind them", "[serving]") {
  // 65 slots over 5 cards: 13 layers, or 12 and the output layer; host memory of one mask: no card takes turns.
  check_all(R"case({"id":"cards","engine":"llama.cpp","engine_version":"2025-03 ROCm","model":"Qwen2.5-32B",
    "weight_dtype":"Q4_K_M","pp":5,"gpu":"5x MI50","n_gpus":5,"max_model_len":32768,"kv_dtype":"f16",
    "flags":"flash_attn 0, n_ubatch 512","measured":{"host_compute_mib":74.01,"kv_rocm0_mib":1664},
    "checks":[{"name":"kv_first_card","kind":"independent","measured":1664,"unit":"MiB"},
    {"name":"kv_last_card","kind":"independent","measured":1536,"unit":"MiB"},
    {"name":"kv_per_device","kind":"independent","measured":1664,"unit":"MiB"},
    {"name":"scratch_per_card","kind":"independent","measured":2664,"unit":"MiB"}],"source":"a log"})case",
            4);
  // Layers that free memory decided, as the case says.
  check_all(
      R"case({"id":"uneven","engine":"llama.cpp","engine_version":"2026-08","model":"GLM-5.2","weight_dtype":"Q5_K_M",
    "n_gpus":4,"pp":4,"max_model_len":524288,"kv_dtype":"f16","flags":"-np 1, flash attention on","measured":{},
    "checks":[{"name":"kv_first_card","kind":"independent","measured":31680,"unit":"MiB","explanation":
    "55 of 78 layers on card 0"},{"name":"kv_indexer","kind":"independent","measured":2688,"unit":"MiB","explanation":
    "21 layers own an indexer"}],"source":"a log"})case",
      2);
  // One prediction layer of 2048 elements a token; states of sequences that the log's own name counts.
  check_all(
      R"case({"id":"draft","engine":"llama.cpp","engine_version":"2026-09","model":"Qwen3.6-27B","weight_dtype":"Q8_0",
    "gpu":"RTX 5090","n_gpus":1,"max_model_len":32768,"kv_dtype":"q8_0","measured":{"rs_2cells_mib":299.25},
    "checks":[{"name":"kv_draft","kind":"independent","measured":128,"unit":"MiB"},
    {"name":"two_sequences","kind":"independent","measured":299.25,"unit":"MiB"},
    {"name":"context_checkpoint","kind":"independent","measured":149.625,"unit":"MiB","explanation":
    "one sequence of recurrent state"}],"source":"a log"})case",
      3);
  // A cache in blocks needs flash attention; 2048 rows of 256000 logits and the stream.
  check_all(
      R"case({"id":"rows","engine":"llama.cpp","engine_version":"2025-03","model":"gemma-2-2b","weight_dtype":"Q8_0",
    "gpu":"RTX 3090","n_gpus":1,"max_model_len":4096,"kv_dtype":"q8_0","flags":"--ubatch-size 2048","measured":{},
    "checks":[{"name":"scratch","kind":"independent","measured":2018,"unit":"MiB"}],"source":"a log"})case",
      1);
  // Ollama's own engine keeps 4096 cells and a batch of gpt-oss' windows: 18 layers of 8192 and 18 of 4608 cells.
  check_all(
      R"case({"id":"memory","engine":"ollama","engine_version":"0.11.10","model":"gpt-oss:120b","weight_dtype":"MXFP4",
    "gpu":"Radeon 8060S","n_gpus":1,"max_model_len":8192,"kv_dtype":"f16","flags":"FlashAttention true","measured":{},
    "checks":[{"name":"kv","kind":"independent","measured":450,"unit":"MiB"}],"source":"a log"})case",
      1);
  // The head lies in host memory here; Ollama counts it all the same.
  check_all(R"case({"id":"head","engine":"ollama","engine_version":"0.5.4","model":"phi-4 14B","weight_dtype":"Q4_K_M",
    "gpu":"RTX 4060 Laptop 8GB","n_gpus":1,"max_model_len":2048,"kv_dtype":"f16","flags":"--n-gpu-layers 29 --parallel 1",
    "measured":{"offloaded":"29/41"},
    "checks":[{"name":"nonrepeating","kind":"independent","measured":402,"unit":"MiB"}],"source":"a log"})case",
            1);
}

TEST_CASE("A name of nothing that is known is read by its field, and programs around llama.cpp are it", "[serving]") {
  // 9 of 32 layers of 1024 elements of keys and of values.
  check_all(
      R"case({"id":"kobold","engine":"koboldcpp","engine_version":"1.58","model":"Mixtral-8x7B","weight_dtype":"Q8_0",
    "gpu":"RTX 3060","n_gpus":1,"max_model_len":16384,"kv_dtype":"f16","measured":{"kv_cuda0_9layers_mib":576},
    "checks":[{"name":"kv_gpu_9","kind":"independent","measured":576,"unit":"MiB"}],"source":"a log"})case",
      1);
  // A repeating layer of Llama-2-13B: 317194240 elements of 8.5 bit and two norms in fp32.
  check_all(
      R"case({"id":"layer","engine":"llama.cpp","engine_version":"2023-09","model":"Llama-2-13B","weight_dtype":"Q8_0",
    "gpu":"ROCm card","n_gpus":1,"max_model_len":512,"kv_dtype":"f16","flags":"-ngl 1","measured":{"vram_used_mb":321.4},
    "checks":[{"name":"a_part_of_it","kind":"independent","measured":321.4,"unit":"MiB"}],"source":"a log"})case",
      1);
  check_all(
      R"case({"id":"size","engine":"llama.cpp","engine_version":"b6918","model":"Qwen3-30B-A3B","weight_dtype":"Q8_0",
    "gpu":"RTX 3090","measured":{"size_gib":30.25},
    "checks":[{"name":"size_gib","kind":"independent","measured":30.25,"unit":"GiB"}],"source":"a table"})case",
      1);
  // Four slots of 2048: the flag has the context of all.
  check_all(
      R"case({"id":"slots","engine":"llama.cpp","engine_version":"2025-03","model":"Llama-3.1-8B","weight_dtype":"Q8_0",
    "gpu":"RTX 3090","n_gpus":1,"max_model_len":2048,"batch":4,"kv_dtype":"f16","flags":"--ctx-size 8192 --parallel 4",
    "measured":{},"checks":[{"name":"kv","kind":"independent","measured":1024,"unit":"MiB"}],"source":"a log"})case",
      1);
}

TEST_CASE("Blocks and pages of a cache are figures, and a shape is read from arithmetic", "[serving]") {
  // 0.9 of what was free, in blocks of 64 tokens of 512 KiB; pages of the longest request.
  check_all(
      R"case({"id":"free","engine":"tensorrt-llm","engine_version":"0.13.0","model":"Qwen1.5-7B","weight_dtype":"fp16",
    "gpu":"A100 40GB (39.39 GiB)","n_gpus":1,"block_size":64,"max_model_len":4098,"gpu_memory_utilization":0.9,
    "measured":{"available_gib":21.89},"checks":[{"name":"blocks","kind":"independent","measured":631,"unit":"blocks"},
    {"name":"pages_per_sequence","kind":"independent","measured":65,"unit":"pages"}],"source":"a log"})case",
      2);
  check_all(
      R"case({"id":"block","engine":"lmdeploy","model":"internlm-chat-7b","weight_dtype":"fp16","gpu":"A100-SXM4-40GB",
    "n_gpus":1,"block_size":128,"kv_dtype":"fp16","measured":{"max_block_count":48},
    "checks":[{"name":"block","kind":"independent","measured":64,"unit":"MiB"},
    {"name":"pool","kind":"independent","measured":3072,"unit":"MiB"}],"source":"a log"})case",
      2);
  const auto shape = [](const char* model, const char* check) {
    const std::string text = std::string(R"({"id":"x","engine":"vllm","weight_dtype":"bf16","gpu":"H100 80GB",
      "measured":{},"model":")") +
                             model + R"(","checks":[{"name":"kv_bytes_per_token","kind":"independent","measured":131072,
      "unit":"B","explanation":")" +
                             check + R"("}]})";
    return measured(text.c_str(), Figure::kv_token);
  };
  CHECK(shape("a 4B class (32 layers, 8 KV heads)", "2 x 32 x 8 x 128 x 2 B").ratio() == 1);
  CHECK(shape("nobody's", "32 layers x 8 heads x 128").ratio() == 1);
  // A rank's one head: 15 x 1 x 256 x 2 B of K a token a GPU.
  const Measurement rank = measured(R"case({"id":"rank","engine":"sglang","model":"nobody's","weight_dtype":"bf16",
    "kv_dtype":"bf16","tp":2,"check":"TP2: 15 attention layers x 1 x 256 x 2 B of K","gpu":"RTX 4090","n_gpus":2,
    "max_model_len":8192,"measured":{"tokens":580364},"checks":[
    {"name":"k_gb","kind":"independent","measured":4.15,"unit":"GiB"},
    {"name":"weights_whole","kind":"trap","measured":3.76,"predicted":368.8,"unit":"GiB"}],"source":"a log"})case",
                                    Figure::kv_token);
  CHECK(rank.error() < 0.001);
  CHECK_FALSE(shape("a class (36 layers, 8 KV heads)", "2 x 32 x 8 x 128 x 2 B").skipped.empty());
  CHECK(shape("Qwen3.5/3.6-27B", "").share.find("model=qwen3.5-27b") != std::string::npos);
  CHECK(shape("Bonsai (qwen35 27B geometry)", "").share.find("model=qwen3.5-27b") != std::string::npos);
}

TEST_CASE("A model of another name has the shape of its kin, and none of another size", "[serving]") {
  const auto keys = [](const char* name) {
    Share share;
    return set_kin(share, name) ? share.text() : "";
  };
  CHECK(keys("lmsys/vicuna-7b-v1.5") == "v=1&model=llama-2-7b");
  CHECK(keys("mistralai/Mistral-Small-3.1-24B-Instruct-2503") == "v=1&model=mistral-small-3.2-24b");
  CHECK(keys("deepseek-r1:14b") == "v=1&model=qwen2.5-14b");
  CHECK(keys("deepseek-ai/DeepSeek-R1").empty());
  CHECK(keys("zai-org/GLM-4.7-Flash").empty());  // of a config.json of its own
  CHECK_FALSE(published_config("zai-org/GLM-4.7-Flash").empty());
  CHECK(stated_billions("Qwen3-30B-A3B") == 30);
  CHECK(stated_billions("google/gemma-4-E4B-it") == 0);
  CHECK(stated_billions("Mixtral-8x7B-v0.1") == 0);
}

TEST_CASE("A fraction is a share of the free memory where its name says so", "[serving]") {
  const auto shares = [](const std::string& name) {
    const std::string text = R"({"id":"x","engine":"tensorrt-llm","model":"Qwen/Qwen3-8B","weight_dtype":"bf16",
      "gpu":"H100 80GB","measured":{},"checks":[{"name":")" +
                             name + R"(","kind":"derived","measured":0.5,"unit":""}]})";
    int found = 0;
    for (const Measurement& one : measurements_of(only_case(text.c_str()), nullptr))
      found += one.figure == Figure::pool_share ? 1 : 0;
    return found;
  };
  for (const char* of_memory : {"fraction", "kv_fraction", "free_gpu_memory_fraction"}) CHECK(shares(of_memory) == 1);
  for (const char* of_rates : {"bw_fraction", "flop_fraction", "bs1_bw_fraction"}) CHECK(shares(of_rates) == 0);
}

TEST_CASE("A card that is no preset is not taken for another", "[serving]") {
  const auto gpu = [](const std::string& name) {
    const std::string text = R"({"id":"x","engine":"vllm","model":"Qwen/Qwen3-8B","weight_dtype":"bf16","gpu":")" +
                             name + R"(","measured":{"available_kv_gib":2.0},"checks":[],"source":"a log"})";
    const Measurement one = measured(text.c_str(), Figure::kv_pool);
    return one.skipped.empty() ? one.share : one.skipped;
  };
  CHECK(gpu("RTX A1000") == "the GPU is not known");
  CHECK(gpu("2x4090").find("gpu=rtx-4090-24gb") != std::string::npos);
  CHECK(gpu("M2 Ultra").find("gpu=m2-ultra") != std::string::npos);
  CHECK(gpu("RTX A6000").find("gpu=rtx-a6000") != std::string::npos);
  CHECK(gpu("RTX 4060 Ti 16GB").find("gpu=rtx-4060-ti-16gb") != std::string::npos);
  CHECK(gpu("RX 7900 XTX").find("gpu=rx-7900-xtx-24gb") != std::string::npos);
  CHECK(gpu("Arc B580").find("gpu=arc-b580-12gb") != std::string::npos);
  CHECK(gpu("RTX PRO 6000").find("gpu=rtx-pro-6000-blackwell") != std::string::npos);
  CHECK(gpu("97,887 MiB card").find("gpu=rtx-pro-6000-blackwell") != std::string::npos);
  CHECK(gpu("2 PCIe Blackwell cards").find("gpu=rtx-pro-6000-blackwell") != std::string::npos);
  CHECK(gpu("AWS g6.12xlarge").find("gpu=l4") != std::string::npos);
  CHECK(gpu("p4de.24xlarge").find("gpu=a100-sxm4-80gb") != std::string::npos);
  CHECK(gpu("Radeon RX7900 series gfx1100 and RTX 3090") == "the GPU is not known");
  CHECK(gpu("Intel Max 1550, one tile (65520 MB)").find("gpu_mem=63.98") != std::string::npos);
  CHECK(gpu("Arc Pro B70 32GB").find("gpu=custom") != std::string::npos);
  CHECK(gpu("7900xtx").find("gpu=rx-7900-xtx-24gb") != std::string::npos);
  CHECK(gpu("4x RTX 3090 + EPYC 512GB").find("gpu_mem") == std::string::npos);
  CHECK(gpu("AMD Instinct (ROCm), 2 GPUs") == "the GPU is not known");  // no M2
  // Its maker's figures, where they are known.
  const std::pair<const char*, const char*> kin[] = {
      {"RTX 4080 Laptop 12GB", "gpu_mem=11.82&gpu_tflops=67.7&gpu_bw=432"},
      {"RTX 4060 8GB", "gpu_bw=272"},
      {"RTX 3090 Ti 24GB", "gpu_tflops=80&gpu_bw=1008"},
      {"2xRTX4070 Super 12GB", "gpu_bw=504"},
      {"RTX 4090D 24GB", "gpu_tflops=147.1"},
      {"M3 Pro 36GB", "gpu_mem=35.46&gpu_tflops=6.4&gpu_bw=150"},
      {"RX 7900 XT 20GB", "gpu_bw=800"},
      {"RTX 3090 Ti 24GB (900 GB/s)", "gpu_bw=900"}};
  for (const auto& [name, rates] : kin) {
    CAPTURE(name);
    CHECK(gpu(name).find(rates) != std::string::npos);
  }
}

TEST_CASE("What is known of a start is in a log's plan", "[serving]") {
  const auto pool = [](const std::string& more) {
    const std::string text =
        R"({"id":"x","engine":"vllm","tp":1,"max_model_len":2048,"kv_dtype":"bf16",)" + more + R"(,"source":"a log"})";
    const Measurement one = measured(text.c_str(), Figure::kv_pool);
    return one.skipped.empty() ? one.share : one.skipped;
  };
  const auto holds = [&pool](const std::string& more, const char* key) {
    return pool(more).find(key) != std::string::npos;
  };
  // "capped to": the share of the card that the engine may use; 40.47 of 95 GiB.
  CHECK(holds(R"("model":"Qwen/Qwen3-8B","gpu":"PCIe Blackwell, memory capped to 40.47 GiB",
    "gpu_memory_utilization":0.426,"measured":{"kv_gib":8},"checks":[])",
              "gpu_mem=95&"));
  // unsloth_zoo: 13.12 - 6.02 GiB are for 192 sequences, and a batch is one request.
  const char* unsloth =
      R"case("model":"unsloth/Llama-3.2-3B-Instruct","engine_version":"V0, May 2025","weight_dtype":"fp16",
    "gpu":"Tesla T4 (14.74 GiB)","gpu_memory_utilization":0.89,"measured":{"kv_gib":6.22,"cpu_blocks":1170},
    "checks":[{"name":"cpu_swap_blocks","kind":"independent","measured":1170,"explanation":"2 GiB"}])case";
  CHECK(holds(unsloth, "max_seqs=192&"));
  CHECK(pool(R"("model":"Qwen/Qwen3-8B","gpu":"H100 80GB","cpu_offload_gb":30,"measured":{"kv_gib":8},"checks":[])") ==
        "weights on the host are no choice of a key");
  const std::string sees = R"("model":"Qwen/Qwen3.5-9B","gpu":"H100 80GB","measured":{"kv_gib":8},"checks":[])";
  CHECK_FALSE(holds(sees, "%22image%22:%5B1,1,"));
  CHECK(holds(sees + R"(,"flags":"--skip-mm-profiling")", "%22image%22:%5B1,1,"));
}

TEST_CASE("A built engine's batch is all its longest prompts where it is told of no tokens", "[serving]") {
  const auto plan = [](const std::string& version, const std::string& flags) {
    const std::string text = R"({"id":"x","engine":"tensorrt-llm","engine_version":")" + version +
                             R"(","model":"llama-2-7b","gpu":"A10 24GB","flags":")" + flags +
                             R"(","measured":{"kv_gib":5.2},"checks":[],"source":"a log"})";
    return vram::read_plan(measured(text.c_str(), Figure::kv_pool).share).plan;
  };
  CHECK(plan("0.5.0", "max_batch_size 25").batch_tokens == 25 * 2048);
  CHECK(plan("0.9.0", "max_batch_size 25").batch_tokens == 25 * 1024);
  CHECK(plan("0.9.0", "max_batch_size 4, max_input_len 100").batch_tokens == 400);
  CHECK(plan("0.9.0", "max_batch_size 4, max_num_tokens 300").batch_tokens == 300);
  CHECK(plan("0.12.0", "max_batch 4096").max_seqs == 4096);
  CHECK(plan("0.12.0", "max_batch 4096").batch_tokens == 8192);
}

TEST_CASE("llama.cpp's rows of logits are a figure, and slots are a server's", "[serving]") {
  const auto outputs = [](const std::string& flags) {
    const std::string text =
        R"({"id":"x","engine":"llama.cpp","engine_version":"b9849","model":"Qwen3-8B Q4_K_M","max_model_len":8192,
            "flags":")" +
        flags +
        R"(","measured":{"output_buffer_mib":0.58},"source":"a log","checks":[{"name":"output_buffer",
            "kind":"independent","measured":0.58,"unit":"MiB"}]})";
    return measured(text.c_str(), Figure::outputs);
  };
  CHECK(outputs("-c 8192").share.find("b9849cli") != std::string::npos);
  CHECK(outputs("-c 8192 -np 1").share.find("b9849&") != std::string::npos);
  CHECK(std::abs(outputs("-c 8192 -np 1").estimate - 151936 * 4) < 1);
}

TEST_CASE("A score is the median, the 90th percentile, the bias and the coverage") {
  Measurement one;
  one.family = "f";
  one.figure = Figure::device;
  std::vector<Measurement> rows;
  for (double estimate : {90.0, 100.0, 104.0}) {
    one.measured = 100;
    one.estimate = estimate;
    one.band = 5;
    rows.push_back(one);
  }
  one.skipped = "a reason";
  rows.push_back(one);
  const Score score = scores(rows).front();
  CHECK(score.n == 3);
  CHECK(score.skipped == 1);
  CHECK(show_share(score.median) == "4.0");
  CHECK(show_share(score.p90) == "8.8");
  CHECK(show_share(score.bias) == "0.0");
  CHECK(show_share(score.coverage) == "66.7");
}

namespace {

std::string spelled(const std::string& fields, const std::string& name, const std::string& amount) {
  return R"({"id": "x", "engine": "vllm", "engine_version": "0.11.0", "model": "Qwen/Qwen3-8B", "weight_dtype": "bf16",
    "gpu": "H100 80GB SXM", "n_gpus": 1, )" +
         fields + R"( "measured": {")" + name + R"(": )" + amount + "}}";
}

/// The plan of the only figure of such a case, and how much of it is measured.
std::string load_of(const std::string& fields, const std::string& name, const std::string& amount = "100") {
  for (const Measurement& one : measurements_of(only_case(spelled(fields, name, amount).c_str()), nullptr)) {
    if (!one.skipped.empty()) return one.skipped;
    const size_t at = one.share.find("prompt=");
    return std::string(figure_name(one.figure)) + " " + vram::write_number(one.measured) + " " +
           (at == std::string::npos ? "" : one.share.substr(at, one.share.find("&max_") - at));
  }
  return "nothing";
}

}  // namespace

TEST_CASE("loads are read in the spellings of their authors") {
  const std::string at_16 = "prompt=1000&output=300&concurrency=16";
  const std::string stated = R"("input_len": 1000, "output_len": 300, "concurrency": 16,)";
  CHECK(load_of(stated, "out_tok_s") == "tokens/s served 100 " + at_16);
  CHECK(load_of(R"("isl": 1000, "osl": 300,)", "output_tps_conc16") == "tokens/s served 100 " + at_16);
  CHECK(load_of(R"("prompt_tokens": 1000, "max_new_tokens": 300,)", "generation_tokens_per_second_16_users") ==
        "time a token 0.16 " + at_16);
  CHECK(load_of(R"("avg_input_tokens": 1000, "avg_output_tokens": 300, "num_users": 16,)", "input_tok_s") ==
        "prompt tokens/s served 100 " + at_16);
  CHECK(load_of(R"("workload": {"prompt_len": 1000, "gen_len": 300, "max_concurrency": "16"},)", "total_tokens/s") ==
        "all tokens/s served 100 " + at_16);
  CHECK(load_of("", "tpot_ms_mean_c16_isl1000_osl300") == "time a token 0.1 " + at_16);
  CHECK(load_of("", "time_to_first_token_ms_p50_bs16_in1000_out300") ==
        "time to first token, clients start together 0.1 " + at_16);
  CHECK(load_of(stated, "inter_token_latency_us", "1e6") == "time a token 1 " + at_16);
  CHECK(load_of(stated, "e2e_latency_s") == "time of a request 100 " + at_16);
  CHECK(load_of(stated, "requests_per_s") == "requests/s 100 " + at_16);
  CHECK(load_of(stated, "tok_s_per_user") == "time a token 0.01 " + at_16);
  CHECK(load_of(R"("random_input_len": 1000, "random_output_len": 300, "num_prompts": 16, "request_rate": "inf",)",
                "output_throughput_tok_s") == "tokens/s served 100 " + at_16);
  CHECK(load_of(R"("n_gpus": 2, "tp": 2,)", "out_tok_s_per_gpu_c16_isl1000_osl300").rfind("tokens/s served 200 ", 0) ==
        0);
}

TEST_CASE("a request rate holds as many requests under way as it brings") {
  const std::string stated = R"("isl": 200, "osl": 200, )", slow = load_of(stated + R"("qps": 1,)", "tpot_ms");
  CHECK(slow == "time a token 0.1 prompt=200&output=200&concurrency=2");
  CHECK(load_of(stated, "tpot_ms_rate1") == slow);
}

TEST_CASE("requests of many lengths under way are longer than the mean one") {
  const auto under_way = [](const std::string& engine, const std::string& lengths) {
    const std::string text = R"({"id": "x", "engine": ")" + engine + R"(", "model": "Qwen/Qwen3-32B", "n_gpus": 1,
      "weight_dtype": "bf16", "gpu": "H100 80GB SXM", "isl": 217, "osl": 201, "num_prompts": 1000, "request_rate": "inf",
      "load": {)" + lengths + R"(}, "measured": {"out_tok_s": 1000}})";
    const std::string share = measurements_of(only_case(text.c_str()), nullptr).at(0).share;
    return std::stod(share.substr(share.find("concurrency=") + 12));
  };
  // rate x time of a request, of ShareGPT's: 4.03 x 201 x 56 ms, 6.35 x 201 x 59 ms (gpustack's performance lab)
  const std::string set = R"("dataset": "ShareGPT")";
  CHECK(std::abs(under_way("sglang", set) / 45.6 - 1) < 0.1);
  CHECK(std::abs(under_way("tensorrt-llm", set) / 75.6 - 1) < 0.1);
  for (const char* engine : {"vllm", "sglang", "tensorrt-llm"}) CHECK(under_way(engine, set) < under_way(engine, ""));
  CHECK(under_way("vllm", R"("input_lens": [1, 2, 3])") == under_way("vllm", set));
  CHECK(under_way("vllm", R"("input_lens": [2, 2, 2])") == under_way("vllm", ""));
}

TEST_CASE("a time is read against what else the case says of the run") {
  const std::string stated = R"("isl": 200, "osl": 101, "concurrency": 16,)";
  CHECK(load_of(stated, "itl_median_ms", "0.0") == "a time of nothing");
  CHECK(load_of(stated, "ttft_median_ms", "0.0") == "a time of nothing");
  // Of 101 tokens in 2 s each takes 20 ms but the first, whatever a client counts that gets several at once.
  const auto token = [&](const std::string& name, const std::string& amount, const std::string& others) {
    const std::string text = R"({"id": "x", "engine": "vllm", "model": "Qwen/Qwen3-8B", "weight_dtype": "bf16",
      "gpu": "H100 80GB SXM", "n_gpus": 1, )" +
                             stated + R"( "measured": {)" + others + ", \"" + name + "\": " + amount + "}}";
    for (const Measurement& one : measurements_of(only_case(text.c_str()), nullptr))
      if (one.figure == Figure::token_time && std::abs(one.measured * 1000 - std::stod(amount)) < 1e-9)
        return one.skipped;
    return std::string("nothing");
  };
  const std::string whole = R"("mean_e2e_s": 2.1, "ttft_mean_ms": 100)";
  CHECK(token("tpot_mean_ms", "3.4", whole) == "tokens that came in pieces");
  CHECK(token("tpot_mean_ms", "20", whole).empty());
  CHECK(token("median_itl_ms", "115", R"("median_tpot_ms": 12)") == "tokens that came in pieces");
  CHECK(token("median_itl_ms", "15", R"("median_tpot_ms": 12)").empty());
}

TEST_CASE("images among the prompts are no tokens that a case counts") {
  const std::string images = R"("isl": 91, "osl": 127, "num_prompts": 1000, "dataset": "lmarena-ai/VisionArena-Chat",)";
  CHECK(load_of(images + R"("max_concurrency": 1,)", "ttft_mean_ms") == "how large the images are is not stated");
  CHECK(load_of(images + R"("max_concurrency": 1,)", "tpot_mean_ms").rfind("time a token", 0) == 0);
  CHECK(load_of(images + R"("request_rate": 20,)", "tpot_mean_ms") == "how large the images are is not stated");
}

TEST_CASE("a rate counts what the case says that it counts") {
  const std::string stated = R"("isl": 8192, "osl": 1024, "concurrency": 16, )";
  const std::string both = R"("notes": "output tok/s / tp x (isl+osl)/osl",)";
  CHECK(load_of(stated + both, "tok_s_per_gpu_c16").rfind("all tokens/s served", 0) == 0);
  CHECK(load_of(stated + both, "out_tok_s_c16").rfind("tokens/s served", 0) == 0);
  CHECK(load_of(stated, "tok_s_per_gpu_c16").rfind("tokens/s served", 0) == 0);
}

TEST_CASE("the middle one of all tokens' times is of a step that takes no prompt along, where most do not") {
  const auto read = [](const char* prompt, const char* more) {
    const std::string text =
        R"({"id": "x", "family": "f", "figure": "time a token", "share": "v=1&model=qwen3-8b&output=400&concurrency=16&prompt=)" +
        std::string(prompt) + R"(", "measured": 1)" + more + "}";
    return measurements_of(only_case(text.c_str()), nullptr).at(0).estimate;
  };
  const char* middle = R"(, "of_tokens": true, "of_steps": true)";
  CHECK(read("8000", middle) < 0.9 * read("8000", ""));
  CHECK(read("200000", middle) == read("200000", ""));
}

TEST_CASE("a result of vllm's benchmark is stamped with its day, and timed in seconds") {
  const std::string stamped =
      R"("engine_version": "not stated", "date": "20240908-071536", "isl": 137, "osl": 195, "n": 10,)";
  const auto all = measurements_of(only_case(spelled(stamped, "duration", "8.6").c_str()), nullptr);
  REQUIRE(all.size() == 1);
  CHECK(all[0].figure == Figure::run_time);
  CHECK(all[0].measured == 8.6);
  CHECK(all[0].share.find("engine_version=0.6.0") != std::string::npos);
}

TEST_CASE("an H20 that holds what 96 GB cannot has 141") {
  const auto share = [](const std::string& model) {
    const std::string text =
        R"({"id": "x", "engine": "vllm", "model": ")" + model + R"(", "weight_dtype": "fp8", "tp": 8,
      "gpu": "H20", "n_gpus": 8, "isl": 2048, "osl": 1024, "concurrency": 16, "measured": {"out_tok_s": 700}})";
    const Measurement one = measurements_of(only_case(text.c_str()), nullptr).at(0);
    return one.skipped.empty() ? one.share : one.skipped;
  };
  CHECK(share("deepseek-ai/DeepSeek-V3.2").find("gpu=h20-96gb&gpu_mem=138.88") != std::string::npos);
  CHECK(share("Qwen/Qwen3-235B-A22B-FP8").find("gpu_mem") == std::string::npos);
}

TEST_CASE("lengths that are caps are half of them on average") {
  const std::string caps =
      R"("engine": "sglang", "isl": 1024, "osl": 1000, "load": {"lengths": "caps of 1024, random"},)";
  CHECK(load_of(caps, "tpot_ms_c16").find("prompt=512&output=500&") != std::string::npos);
}

TEST_CASE("figures whose load is not known are not predicted") {
  CHECK(load_of(R"("concurrency": 16,)", "total_tok_s") == "the lengths are not stated");
  CHECK(load_of("", "ttft_ms_c16") == "the lengths are not stated");
  CHECK(load_of(R"("isl": 200, "osl": 200,)", "ttft_ms_p99_c16") == "a percentile or a peak");
  CHECK(load_of(R"("isl": 200, "osl": 200,)", "ttft_c16") == "a time without its unit");
  // A word that no other figure differs by is a label; one that makes a difference is a plan that is not known.
  const std::string lengths = R"("isl": 200, "osl": 200,)";
  const std::string at_16 = "tokens/s served 100 prompt=200&output=200&concurrency=16";
  CHECK(load_of(lengths, "aged_out_tok_s_c16") == at_16);
  CHECK(load_of(lengths, R"(out_tok_s_c16": 95, "aged_out_tok_s_c16)").rfind("tokens/s", 0) == 0);
  const std::string both = R"(out_tok_s_c16": 40, "aged_out_tok_s_c16)";
  CHECK(load_of(lengths, both) == "'aged' in the figure's name is not known");
  CHECK(load_of(lengths + R"("flags": "--aged",)", both) == at_16);
  CHECK(load_of(lengths, R"(no_xqa_out_tok_s_c16": 100, "xqa_out_tok_s_c16)", "40") ==
        "'no' in the figure's name is not known");
  CHECK(load_of(lengths, "out_tok_s_c16_cpu") == "it ran on the CPU");
  CHECK(load_of(R"("notes": "ShareGPT",)", "out_tok_s_c16") ==
        "tokens/s served 100 prompt=220&output=200&concurrency=16");
}

TEST_CASE("loads are read in sentences, and fields and names count before them") {
  const std::string at_16 = "prompt=1000&output=300&concurrency=16";
  const auto noted = [](const std::string& notes) { return R"("notes": ")" + notes + R"(",)"; };
  const auto read = [&](const std::string& notes, const std::string& name) {
    return load_of(noted(notes), name).substr(std::string("tokens/s served 100 ").size());
  };
  CHECK(read("ISL 1000 / OSL 300; at most 16 at once", "out_tok_s") == at_16);
  CHECK(read("input length 1000, output length 300, concurrency of 16", "out_tok_s") == at_16);
  CHECK(read("160 requests of 1,000 tokens in / 300 out, 16 in flight", "out_tok_s") == at_16);
  CHECK(read("1000-token prompts, 300 generated by each of 16 clients", "out_tok_s") == at_16);
  CHECK(read("16 ShareGPT conversations at once (16000 in, 4800 out)", "out_tok_s") == at_16);
  CHECK(read("64 prompts (70000 tokens in, about 21000 out: 1000 / 300 each), 16 users", "out_tok_s") == at_16);
  CHECK(read("random 1000 tokens in / 300 out; c16: 16 requests, c32: 64 requests", "out_tok_s_c16") == at_16);
  CHECK(read("all requests at once (16 of 1000/300; 8 of 500/100)", "out_tok_s_1000_300") == at_16);
  CHECK(read("4 requests of 500 in / 100 out at once; *_1000_300: 16 requests at once", "out_tok_s_1000_300") == at_16);
  CHECK(load_of(R"("concurrency": 16, "input_len": 1000, "notes": "500 in, 300 out, 8 at once",)", "out_tok_s") ==
        "tokens/s served 100 " + at_16);
  CHECK(load_of(noted("1000 in, 300 out, max load"), "out_tok_s").find("concurrency=1&") == std::string::npos);
  CHECK(load_of(noted("a server of 40960 context, --max-num-seqs 16, 7095 tok/s in"), "out_tok_s") ==
        "the load is not stated");
}

TEST_CASE("a benchmark's settings are read where it prints them, beside what it measured") {
  const auto read = [](const std::string& settings, const std::string& name, const std::string& notes = "") {
    return load_of(R"("notes": ")" + notes + R"(",)", settings + R"(, ")" + name);
  };
  const std::string at_16 = "tokens/s served 100 prompt=1000&output=300&concurrency=16";
  const std::string run = R"(num_prompts": 100, "max_concurrency": 16, "total_input_tokens": 100000, )"
                          R"("total_generated_tokens": 30000)";
  CHECK(read(run, "out_tok_s") == at_16);
  CHECK(read(run, "duration_s") == "time of a run 100 prompt=1000&output=300&concurrency=16");
  CHECK(read(run, "total_latency_ms") == "time of a run 0.1 prompt=1000&output=300&concurrency=16");
  CHECK(read(R"(isl": 1000, "osl": 300, "num_requests": 16, "request_rate": "inf")", "out_tok_s") == at_16);
  // Of several runs each has its own, and sentences are about all of them.
  const std::string runs = R"(serve_num_prompts": 100, "serve_max_concurrency": 16, "serve_isl": 1000, )"
                           R"("serve_osl": 300, "offline_num_prompts": 8, "offline_isl": 1, "offline_osl": 1)";
  CHECK(read(runs, "serve_out_tok_s", "8 prompts, 2048 in / 128 out") == at_16);
  // Prompts of 1000 tokens: all tokens are 13 to 3 that are written.
  CHECK(load_of("",
                R"(num_prompts": 100, "max_concurrency": 16, "total_generated_tokens": 30000, "out_tok_s": 300, )"
                R"("total_tok_s)",
                "1300") == at_16.substr(0, 16) + "300" + at_16.substr(19));
  CHECK(load_of(R"("isl": 1000, "osl": 300, "concurrency": 16,)", "duration_s") ==
        "the number of requests is not stated");
}

TEST_CASE("what a client was told to send is a setting, and a run's number no length") {
  const std::string told = R"(request_rate_rps": 1, "num_prompts": 100, "isl": 1000, "osl": 300, "out_tok_s)";
  CHECK(load_of("", told, "300").rfind("tokens/s served 300 prompt=1000&output=300&concurrency=", 0) == 0);
  CHECK(load_of(R"("load": {"num_prompts": 100, "input_tokens_total": 100000},)",
                R"(total_output_tokens": 30000, "out_tok_s)")
            .rfind("tokens/s served 100 prompt=1000&output=300&", 0) == 0);
  // Nor is it what was served, by which lengths are known; neither is a peak.
  const std::string rates = R"(req_s": 1, "total_tok_s": 1300, "peak_out_tok_s": 900, "concurrency": 16, )";
  CHECK(load_of("", rates + R"("request_rate_rps": 10, "out_tok_s)", "300")
            .rfind("tokens/s served 300 prompt=1000&output=300", 0) == 0);
  CHECK(load_of(R"("isl": 1000, "osl": 300, "concurrency": 2,)", "tpot_ms_run_2").find("prompt=1000&") !=
        std::string::npos);
}

TEST_CASE("a list of figures is one for each that the load lists, or one that was measured again") {
  const auto read = [](const std::string& load) {
    const std::string text = R"({"id": "x", "engine": "vllm", "model": "Qwen/Qwen3-8B", "weight_dtype": "bf16",
      "gpu": "H100 80GB SXM", "n_gpus": 1, "load": {)" +
                             load + R"(}, "measured": {"out_tok_s": [100, 300]}})";
    std::string said;
    for (const Measurement& one : measurements_of(only_case(text.c_str()), nullptr))
      said += vram::write_number(one.measured) + " " + one.share.substr(one.share.find("prompt=")) + one.skipped + "; ";
    return said;
  };
  CHECK(read(R"("isl": 1000, "osl": 300, "concurrency": [2, 8])") ==
        "100 prompt=1000&output=300&concurrency=2&max_seqs=1024; "
        "300 prompt=1000&output=300&concurrency=8&max_seqs=1024; ");
  CHECK(read(R"("isl": 1000, "osl": 300, "concurrency": 2, "run": [1, 2])") ==
        "200 prompt=1000&output=300&concurrency=2&max_seqs=1024; ");
  CHECK(read(R"("prompt_tokens": ["4k", "8k"], "osl": 300, "concurrency": 2)") ==
        "100 prompt=4096&output=300&concurrency=2&max_seqs=1024; "
        "300 prompt=8192&output=300&concurrency=2&max_seqs=1024; ");
}

TEST_CASE("settings go by the label of the figures that they are of, and rates say lengths") {
  const auto read = [](const std::string& settings, const std::string& amount) {
    return load_of("", settings, amount);
  };
  const std::string at_16 = "prompt=1000&output=300&concurrency=16";
  const std::string runs = R"(long_isl": 1000, "long_osl": 300, "long_conc": 16, "short_isl": 10, "short_osl": 20, )"
                           R"("short_conc": 1, )";
  CHECK(read(runs + R"("long_out_tok_s)", "100") == "tokens/s served 100 " + at_16);
  CHECK(read(runs + R"("long_r2_req_s)", "2.5") == "requests/s 2.5 " + at_16);  // its second run
  // 300 tokens a second at one request a second.
  const std::string rates = R"(req_s": 1, "total_tok_s": 1300, "concurrency": 16, "z_tok_s_gpu": 300, )";
  CHECK(load_of("", rates + R"("out_tok_s)", "300").rfind("tokens/s served 300 " + at_16, 0) == 0);
}

TEST_CASE("requests of one length have one percentile of a token's time, and not of the first token's") {
  const std::string stated = R"("isl": 1000, "osl": 300, "concurrency": 16,)";
  CHECK(load_of(stated, "tpot_p99_ms") == "time a token 0.1 prompt=1000&output=300&concurrency=16");
  CHECK(load_of(stated, "e2e_p95_ms") == "time of a request 0.1 prompt=1000&output=300&concurrency=16");
  CHECK(load_of(stated, "ttft_p99_ms") == "a percentile or a peak");
  CHECK(load_of(stated + R"("notes": "ShareGPT",)", "tpot_p99_ms") == "a percentile or a peak");
  // The middle prompt of ShareGPT, were it of 1000 tokens on average, would have 242.
  CHECK(
      load_of(R"("isl": 1000, "osl": 300, "concurrency": 1, "notes": "ShareGPT",)", "ttft_p50_ms").find("prompt=242") !=
      std::string::npos);
  CHECK(load_of(stated, "out_tok_s_std") == "nothing");
  CHECK(load_of(stated, "expected_tok_s") == "nothing");
}

TEST_CASE("benchmarks' own names of their results are read without units") {
  const std::string stated = R"("isl": 1000, "osl": 300, "concurrency": 16,)",
                    at_16 = "prompt=1000&output=300&concurrency=16";
  CHECK(load_of(stated, "request_throughput") == "requests/s 100 " + at_16);
  CHECK(load_of(stated, "output_throughput") == "tokens/s served 100 " + at_16);
  CHECK(load_of(stated, "total_token_throughput") == "all tokens/s served 100 " + at_16);
  CHECK(load_of(stated, "out_tok_s_user") == "time a token 0.01 " + at_16);
  CHECK(load_of(R"("n_gpus": 2, "tp": 2,)" + stated, "out_tok_s_gpu").rfind("tokens/s served 200 ", 0) == 0);
}

TEST_CASE("drafts stand as often as the case says, or as is usual of a model's own modules") {
  const auto share = [](const std::string& more, const std::string& measured) {
    const std::string text =
        R"({"id": "x", "engine": "sglang", "model": "deepseek-ai/DeepSeek-R1", "tp": 8, "n_gpus": 8,
      "weight_dtype": "fp8", "gpu": "H200", "isl": 1000, "osl": 1000, "concurrency": 1, )" +
        more + R"("measured": {)" + measured + "}}";
    const std::vector<Measurement> all = measurements_of(only_case(text.c_str()), nullptr);
    return all.at(0).skipped.empty() ? all.at(0).share : all.at(0).skipped;
  };
  const auto says = [&](const std::string& more, const std::string& measured, const char* pair) {
    return share(more, measured).find(pair) != std::string::npos;
  };
  // 1 + a + a^2 + a^3 = 3.439 at 0.9.
  CHECK(says(R"("flags": "EAGLE",)", R"("accept_length": 3.439, "tpot_ms": 8)", "draft_tokens=3&acceptance=0.9"));
  CHECK(says(R"("flags": "--speculative-num-steps 2",)", R"("tpot_ms": 8)", "draft_tokens=2&acceptance=0.85"));
  CHECK(says("", R"("accept_mtp1": 1.92, "tps_user_mtp1": 198)", "draft_tokens=1&acceptance=0.92"));
  CHECK(!says(R"("flags": "MTP off",)", R"("tpot_ms": 8)", "draft_tokens"));
  CHECK(!says("", R"("accept_mtp1": 1.92, "tps_user_no_mtp": 111)", "draft_tokens"));
}

TEST_CASE("llama.cpp's requests wait where its server has fewer slots, and Ollama's where it is not told") {
  const auto of = [](const std::string& engine, const std::string& fields) {
    const std::string text =
        R"({"id": "x", "engine": ")" + engine +
        R"(", "model": "Qwen3-8B", "weight_dtype": "Q4_K_M", "gpu": "RTX 4090", "isl": 500, "osl": 200,
        "concurrency": 4, )" +
        fields + R"("measured": {"out_tok_s": 100}})";
    return measurements_of(only_case(text.c_str()), nullptr).at(0);
  };
  const auto waits = [&](const std::string& engine, const std::string& fields) { return of(engine, fields).waiting; };
  CHECK(waits("llama.cpp", "") == 0);
  CHECK(waits("llama.cpp", R"("flags": "-np 1",)") == 3);
  CHECK(waits("llama.cpp", R"("load": {"server": "-np 2"},)") == 2);
  CHECK(waits("llama.cpp", R"("n_slots": 4,)") == 0);
  CHECK(waits("ollama", "") == 3);
  CHECK(waits("ollama", R"("engine_version": "0.9.5",)") == 0);  // as many as there is room for, up to four
  CHECK(waits("ollama", R"("flags": "OLLAMA_NUM_PARALLEL=4",)") == 0);
  CHECK(of("ollama", "").share.find("max_seqs=1") != std::string::npos);
}

TEST_CASE("prompts of Vulkan are nobody's, what one stream writes is as of any backend") {
  const auto skipped = [](const std::string& fields, const std::string& name) {
    const std::string text = R"({"id": "x", "engine": "llama.cpp", "model": "Qwen3-8B", "weight_dtype": "Q4_K_M",
        "gpu": "RTX 3060 12GB", )" +
                             fields + R"("measured": {")" + name + R"(": 100}})";
    return measurements_of(only_case(text.c_str()), nullptr).at(0).skipped;
  };
  CHECK(skipped(R"("backend": "Vulkan",)", "pp512_tok_s") == "no key names Vulkan");
  CHECK(skipped(R"("backend": "Vulkan",)", "tg128_tok_s").empty());
  CHECK(skipped(R"("engine_version": "b7474, Vulkan",)", "pp512_cuda_tok_s").empty());
  CHECK(skipped("", "pp512_vulkan_tok_s") == "no key names Vulkan");
  CHECK(skipped("", "pp512_tok_s").empty());
}

TEST_CASE("a figure in an issue of llama.cpp is of its month, where no build is told") {
  CHECK(llamacpp_of_issue("ggml-org/llama.cpp#7676") == "2024-06");
  CHECK(llamacpp_of_issue("github.com/ggml-org/llama.cpp#16715") == "2025-10");
  CHECK(llamacpp_of_issue("ikawrakow/ik_llama.cpp#864").empty());
  CHECK(llamacpp_of_issue("vllm-project/vllm#7676").empty());
  const char* text = R"({"id": "x", "engine": "llama.cpp", "model": "Qwen3-8B", "weight_dtype": "Q4_K_M",
    "gpu": "RTX 4090", "source": "ggml-org/llama.cpp#16991", "flags": "-ub 1024", "measured": {"pp512_tok_s": 100}})";
  const Measurement one = measurements_of(only_case(text), nullptr).at(0);
  CHECK(one.share.find("engine_version=2025-11") != std::string::npos);
  CHECK(one.share.find("ubatch=1024") != std::string::npos);
}

TEST_CASE("a model that is no preset has the speed of its family's or of its size") {
  const auto share = [](const std::string& model) {
    const std::string text =
        R"({"id": "x", "engine": "ollama", "weight_dtype": "Q4_0", "gpu": "RTX 4090", "model": ")" + model +
        R"(", "measured": {"eval_tok_s": 100}})";
    const Measurement one = measurements_of(only_case(text.c_str()), nullptr).at(0);
    return one.skipped.empty() ? one.share : one.skipped;
  };
  CHECK(share("qwen:1.8b-chat").find("model=qwen1.5-1.8b&") != std::string::npos);
  CHECK(share("Qwen/Qwen3Guard-Gen-8B").find("model=qwen3-8b&") != std::string::npos);
  CHECK(share("nobody/Unheard-8.5B").find("params=8500000000") != std::string::npos);
  CHECK(share("nobody/Unheard-29B-A3B").find("model=qwen3-30b-a3b&params=29000000000") != std::string::npos);
  CHECK(share("nobody/Unheard-300B-A1B") == "the model is no preset");
  CHECK(share("nobody/Unheard") == "the model is no preset");
}

TEST_CASE("a name that says of the plan what it does not state is not predicted") {
  const std::string stated = R"("isl": 1000, "osl": 300, "concurrency": 16,)";
  CHECK(load_of(stated, "ttft_cached_ms") == "how much of the prompt was cached is not stated");
  CHECK(load_of(stated, "out_tok_s_offload") == "how much was offloaded is not stated");
  CHECK(load_of(stated, "out_tok_s_dp_attention") == "the layout is not stated");
  CHECK(load_of(stated, "out_tok_s_ngram") == "how many drafts were accepted is not stated");
  const char* nested = R"({"id": "x", "engine": "LM Studio", "model": "Qwen3-8B", "weight_dtype": "Q4_K_M",
    "gpu": "RTX 4090", "n_gpus": 1, "measured": {"d4096": {"tg32_tok_s": 100}}})";
  const Measurement one = measurements_of(only_case(nested), nullptr).at(0);
  CHECK(one.family == "llamacpp, speed");
  CHECK(one.share.find("prompt=4096&output=32") != std::string::npos);
}

TEST_CASE("a benchmark's options, pairs and any sentence of the case say the load") {
  const std::string at_16 = "tokens/s served 100 prompt=1000&output=300&concurrency=16";
  CHECK(load_of(R"("workload": "ISL 1000 / OSL 300, concurrency 16",)", "out_tok_s") == at_16);
  CHECK(load_of(R"("isl_osl": "1000/300", "concurrency": 16,)", "out_tok_s") == at_16);
  CHECK(load_of(R"("flags": "--random-input-len 1000 --random-output-len=300 --max-concurrency 16",)", "out_tok_s") ==
        at_16);
  CHECK(load_of("", R"(in_len": 1000, "out_len": 300, "out_tok_s_c16)") == at_16);
  CHECK(load_of("", R"(random_input_len": 1000, "random_output_len": 300, "out_tok_s_c16)") == at_16);
  CHECK(load_of("", "out_tok_s_gpu_1k_300_c16").find("prompt=1024&output=300&concurrency=16") != std::string::npos);
  const std::string most = R"("isl": 1000, "osl": 300, "notes": "max batch 16",)";
  CHECK(load_of(most, "min_latency_tok_s_user") == "time a token 0.01 prompt=1000&output=300");
  CHECK(load_of(R"("isl": 200, "osl": 200, "notes": "request rate 1",)", "tpot_ms") ==
        "time a token 0.1 prompt=200&output=200&concurrency=2");
  CHECK(load_of(R"("isl": 1000, "osl": 300, "num_prompts": 16,)", R"(concurrency": 13.5, "out_tok_s)") == at_16);
  // One that counts its clients elsewhere; a time beside rates of nobody knows how many requests.
  CHECK(load_of(R"("isl": 1000, "osl": 300,)", R"(tok_s_10_users": 500, "tok_s)").find("concurrency") ==
        std::string::npos);
  CHECK(load_of(R"("isl": 1000, "osl": 300,)", R"(z_req_s": 5, "ttft_ms)") == "the load is not stated");
  CHECK(load_of(R"("isl": 1000, "osl": 300,)", "min_latency_tok_s_user").rfind("time a token 0.01", 0) == 0);
  CHECK(load_of(R"("isl": 1000,)", "prefill_latency_ms").rfind("time to first token 0.1", 0) == 0);
}

TEST_CASE("a mean in words is the length, and the server's tokens are nobody's output") {
  const std::string at_16 = "tokens/s served 100 prompt=515&output=268&concurrency=16";
  const std::string drawn = R"-("load": {"input": "random up to 1024 (mean 515)", "output": "up to 512, mean 268",)-";
  CHECK(load_of(drawn + R"( "concurrency": 16},)", "out_tok_s") == at_16);
  CHECK(load_of(R"("isl": 515, "osl": 268, "concurrency": 16, "max_num_tokens": 2176,)", "out_tok_s") == at_16);
  CHECK(load_of(R"("isl": 515, "max_tokens": 268, "concurrency": 15.8,)", "out_tok_s") == at_16);
}

TEST_CASE("what a run of many requests read and wrote is no length of one") {
  const std::string each = "prompt=214&output=200", rates = R"("duration_s": 100, "out_tok_s)";
  const std::string totals = R"("input_tokens": 214465, "output_tokens": 199904)";
  const auto load = [](const std::string& fields, const std::string& name) { return load_of(fields, name, "2000"); };
  const std::string sent = R"("load": {"num_prompts": 1000, "request_rate": "inf"},)";
  const auto within = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(within(load(sent, R"(input_tokens": 214465, "output_tokens": 199904, )" + rates), each));
  CHECK(
      within(load(R"("load": {"num_prompts": 1000, "request_rate": "inf", )" + totals + "},", rates.substr(1)), each));
  // Of one request: so many seconds at that rate write a thousand times as much.
  const std::string one = R"("load": {"num_prompts": 1000, "request_rate": "inf", "input_tokens": 2000,)";
  CHECK(within(load(one + R"( "output_tokens": 1024},)", R"(duration_s": 512, "out_tok_s)"), "output=1024"));
  CHECK(load(R"("isl": 1000, "osl": 300, "concurrency": 16,)", "request_rate_rps") == "nothing");
}

TEST_CASE("a server of nobody knows how many GPUs is not predicted") {
  CHECK(load_of(R"("isl": 1000, "osl": 300, "concurrency": 16, "tp": null, "n_gpus": null,)", "out_tok_s") ==
        "the number of GPUs is not stated");
}

TEST_CASE("seconds per token are a time, tokens per second a rate") {
  const std::string stated = R"("isl": 1000, "osl": 300,)", of_one = " prompt=1000&output=300";
  CHECK(load_of(stated, "s_per_token", "0.5") == "time a token 0.5" + of_one);
  CHECK(load_of(stated, "tokens_per_s_per_user", "2") == "time a token 0.5" + of_one);
  CHECK(load_of(stated, "s_tg_tokens_per_s", "2") == "time a token 0.5" + of_one);
}

TEST_CASE("as many requests run as have room for what they have written so far, but where an engine promises all") {
  const auto under_way = [](const std::string& engine, const std::string& lengths) {
    const std::string more = R"("concurrency": 200, "max_num_seqs": 200, "engine": ")" + engine + R"(", )";
    const std::string load = load_of(lengths + more, "out_tok_s");
    REQUIRE(load.find("concurrency=") != std::string::npos);
    return load.substr(load.find("concurrency="));
  };
  const std::string written = R"("isl": 1000, "osl": 9000,)", read = R"("isl": 5498, "osl": 4,)";
  CHECK(under_way("vllm", written) == under_way("vllm", read));
  CHECK(under_way("sglang", written) == under_way("sglang", read));
  CHECK(under_way("tensorrt-llm", written) != under_way("tensorrt-llm", read));
}

TEST_CASE("words of a figure's name that say how the same plan ran") {
  const std::string stated = R"("isl": 1000, "osl": 300, "concurrency": 16,)";
  const std::string at_16 = "tokens/s served 100 prompt=1000&output=300&concurrency=16";
  for (const char* name :
       {"out_tok_s_before", "out_tok_s_main", "out_tok_s_master", "out_tok_s_final", "stock_out_tok_s", "out_tok_s_pr",
        "out_tok_s_first_run", "server_out_tok_s", "rocm_out_tok_s", "out_tok_s_vulkan", "out_tok_s_0.6.8"})
    CHECK(load_of(stated, name) == at_16);
  CHECK(load_of(stated, "avg_latency_per_output_token_s") == "a mean of times to their lengths");
  CHECK(load_of(stated, "eagle_out_tok_s") == "how many drafts were accepted is not stated");
}

TEST_CASE("a table's row is named by its columns") {
  const auto read = [](const std::string& name, const std::string& check) {
    const std::string text = R"({"id": "x", "engine": "tensorrt-llm", "model": "Llama 3 70B", "weight_dtype": "fp16",
      "gpu": "H200", "check": ")" +
                             check + R"(", "measured": {")" + name + R"(": 100}})";
    const std::vector<Measurement> all = measurements_of(only_case(text.c_str()), nullptr);
    REQUIRE(all.size() == 1);
    return vram::write_number(all[0].measured) + " " + (all[0].skipped.empty() ? all[0].share : all[0].skipped);
  };
  const std::string most = read("out_tok_s TP4 A100 SXM", "maximum load, ISL 1000 / OSL 1000");
  CHECK(most.find("model=llama-3-70b&gpu=a100-sxm4-80gb") != std::string::npos);
  CHECK(most.find("weights=fp16&serve_tp=4&prompt=1000&output=1000") != std::string::npos);
  const std::string batch = read("BS64 TP2 2048/128", "static batch, output tokens a second a GPU");
  CHECK(batch.rfind("200 ", 0) == 0);
  CHECK(batch.find("serve_tp=2&output=128&concurrency=64&max_seqs=64") != std::string::npos);
  CHECK(read("mistral-7b BS8 128/128", "static").find("model=mistral-7b-v0.1") != std::string::npos);
}

TEST_CASE("llama.cpp's figures are of its own programs") {
  const auto read = [](const std::string& measured, const std::string& more = "") {
    const std::string text = R"({"id": "x", "engine": "ollama", "engine_version": "0.6.8", "model": "Llama 8B",
      "weight_dtype": "Q4_0", "gpu": "RTX 4090", "n_gpus": 1, )" +
                             more + R"("measured": {)" + measured + "}}";
    const std::vector<Measurement> all = measurements_of(only_case(text.c_str()), nullptr);
    return all.empty() ? std::string("nothing")
                       : std::string(figure_name(all[0].figure)) + " " +
                             (all[0].skipped.empty() ? all[0].share : all[0].skipped);
  };
  const std::string prompt = read(R"("prompt_tok_s": 1000, "prompt_tokens": 100, "eval_tokens": 50)");
  CHECK(prompt.rfind("prompt tokens/s v=1", 0) == 0);
  CHECK(prompt.find("prompt=100&output=50") != std::string::npos);
  const std::string own = read(R"("q8_eval_tok_s": 100, "q8_eval_tokens": 50, "fp16_eval_tokens": 70)");
  CHECK(own.find("weights=q8_0") != std::string::npos);
  CHECK(own.find("output=50") != std::string::npos);
  const std::string left = read(R"("eval_tok_s_0.7.0": 13, "cpu_share_0.7.0": 0.11)");
  CHECK(left.find("&gpu_layers=28") != std::string::npos);  // of 32
  CHECK(read(R"("eval_tok_s_070": 13, "split_070": "11%/89% CPU/GPU")").find("&gpu_layers=28") != std::string::npos);
  CHECK(read(R"("eval_tok_s_068": 13, "split_070": "11%/89% CPU/GPU")").find("gpu_layers") == std::string::npos);
  CHECK(read(R"("eval_tok_s": 13)", R"("processor": "11%/89% CPU/GPU",)") == left);
  CHECK(read(R"("eval_tok_s": 13)", R"("processor": "100% GPU",)").find("gpu_layers") == std::string::npos);
  CHECK(read(R"("tg128_tok_s_fa": 100)").find("prompt=1&output=128") != std::string::npos);
  CHECK(read(R"("pp512_tok_s": 100)", R"("model": "LFM2.5-350M",)").find("ffn=4608") != std::string::npos);
  // Behind a full cache, of both tests at once, of a batch.
  CHECK(read(R"("tg32_d4096_tok_s": 50)").rfind("time a token v=1", 0) == 0);
  CHECK(read(R"("tg32_d4096_tok_s": 50)").find("prompt=4096&output=32") != std::string::npos);
  CHECK(read(R"("pp2048_d4096_tok_s": 50)").find("prompt=6144&output=1&prefix=4096") != std::string::npos);
  const std::string both = read(R"("pp4096_tg128_tok_s": 50)");
  CHECK(both.rfind("all tokens/s served v=1", 0) == 0);
  CHECK(both.find("prompt=4096&output=128") != std::string::npos);
  CHECK(read(R"("eval_tok_s": 50)", R"("weight_dtype": "UD-Q4_K_XL",)").find("weights=q4_k_m") != std::string::npos);
  CHECK(read(R"("pp512_rocm7_tok_s": 50)").find("prompt=512") != std::string::npos);
  const std::string batched = read(R"("npp512_ntg128_b4_tg_tok_s": 50)");
  CHECK(batched.rfind("time a token v=1", 0) == 0);
  CHECK(batched.find("prompt=512&output=128&concurrency=4") != std::string::npos);
  CHECK(read(R"("pp512": 50)").rfind("prompt tokens/s v=1", 0) == 0);
  CHECK(read(R"("load_duration_ms": 50)") == "nothing");
  CHECK(read(R"("eval_tok_s": 50)", R"("model": "gpt-oss-20b", "weight_dtype": "F16",)").find("weights=") ==
        std::string::npos);  // its experts are stored in MXFP4
  CHECK(read(R"("eval_tok_s": 5)", R"("gpu": "RTX 2070 8GB", "model": "Qwen2.5-32B", "weight_dtype": "Q4_K_M",)") ==
        "time a token what is left to the CPU is not stated");
  // What a server was sent says nothing of llama-bench's tests.
  CHECK(read(R"("tg128_tok_s": 100)", R"("notes": "server with 50 prompts",)").find("concurrency") ==
        std::string::npos);
}

TEST_CASE("a card that is no preset is as fast as its text says") {
  const auto read = [](const std::string& gpu, const char* name) {
    const std::string text = R"({"id": "x", "engine": "llama.cpp", "model": "Llama-3.1-8B", "weight_dtype": "Q4_0",
      "n_gpus": 1, "gpu": ")" +
                             gpu + R"(", "measured": {")" + name + R"(": 100}})";
    const Measurement one = measurements_of(only_case(text.c_str()), nullptr).at(0);
    return one.skipped.empty() ? one.share : one.skipped;
  };
  const auto says = [](const std::string& share, std::initializer_list<const char*> pairs) {
    return std::all_of(pairs.begin(), pairs.end(),
                       [&](const char* one) { return share.find(one) != std::string::npos; });
  };
  CHECK(says(read("Arc Pro B70 32GB (608 GB/s)", "tg128_tok_s"), {"gpu=custom", "gpu_bw=608", "gpu_mem=31.52"}));
  CHECK(read("Arc Pro B70 32GB (608 GB/s)", "pp512_tok_s") == "the card's peak is not known");
  CHECK(read("Arc Pro B70 32GB", "tg128_tok_s") == "the card's bandwidth is not known");
  CHECK(read("MI50 (gfx906, 1024 GB/s)", "tg128_tok_s").find("gpu_mem") == std::string::npos);
  CHECK(read("RTX 4060 Laptop 8GB (256 GB/s)", "tg128_tok_s").find("gpu_bw=256") != std::string::npos);
  CHECK(says(read("Some Board 64GB (1.2 TB/s, 90 TFLOPS)", "pp512_tok_s"), {"gpu_bw=1200", "gpu_tflops=90"}));
}

TEST_CASE("a board that is no preset has its maker's figures") {
  const auto read = [](const std::string& gpu) {
    const std::string text = R"({"id": "x", "engine": "llama.cpp", "model": "Llama-3.1-8B", "weight_dtype": "Q4_0",
      "n_gpus": 1, "gpu": ")" +
                             gpu + R"(", "measured": {"tg128_tok_s": 100}})";
    const Measurement one = measurements_of(only_case(text.c_str()), nullptr).at(0);
    return one.skipped.empty() ? "&" + one.share + "&" : one.skipped;
  };
  const auto is = [&](const char* gpu, std::initializer_list<const char*> pairs) {
    const std::string share = read(gpu);
    INFO(gpu << ": " << share);
    for (const char* pair : pairs) CHECK(share.find("&" + std::string(pair) + "&") != std::string::npos);
  };
  is("Tesla P40 24GB", {"gpu=custom", "gpu_bw=347"});      // alldbin.com: 347.1
  is("RX 9070 XT 16GB", {"gpu=r9700-32gb", "watts=304"});  // whose 640 GB/s are its own
  is("AMD Radeon RX 9070 16GB", {"gpu=r9700-32gb", "gpu_tflops=144.5", "watts=220"});
  is("Quadro RTX 8000", {"gpu_bw=672", "watts=260"});              // sysrqmts.com
  is("NVIDIA Quadro RTX 6000 24GB", {"gpu_bw=672"});               // Turing's, not Ada's 960
  is("RTX PRO 4500 Blackwell 32GB", {"gpu_bw=896", "watts=200"});  // technical.city
  is("RTX PRO 5000 Blackwell", {"gpu_bw=1344", "watts=300"});
  is("Intel Arc A770 16GB", {"gpu=arc-b580-12gb", "gpu_bw=512"});  // fpsbench.com
  is("RX 6700 XT", {"gpu_bw=384", "watts=230"});
  is("not named; 132.37 GB are free, so a 141 GB class card", {"gpu=h200-sxm-141gb"});  // no other chip has as much
  CHECK(read("not stated (24 GB class)").find("gpu=rtx") == std::string::npos);
  CHECK(read("RTX PRO 6000 Blackwell 96GB").find("gpu=rtx-pro-6000-blackwell") != std::string::npos);
  CHECK(read("RTX 6000 Ada 48GB").find("gpu=rtx-6000-ada") != std::string::npos);
}

TEST_CASE("a figure's name says what ran, before the case") {
  const auto share = [](const std::string& name) {
    const std::string text = spelled(R"("notes": "one stream",)", name, "100");
    const std::vector<Measurement> all = measurements_of(only_case(text.c_str()), nullptr);
    return all.empty() ? std::string("nothing") : all[0].skipped.empty() ? all[0].share : all[0].skipped;
  };
  const auto says = [&](const std::string& name, const char* pair) {
    return share(name).find(pair) != std::string::npos;
  };
  CHECK(says("fp8_tok_s", "weights=fp8"));
  CHECK(says("tok_s_gptq_128", "weights=gptq"));
  CHECK(says("q4_k_m_tok_s", "weights=q4_k_m"));
  CHECK(says("sglang_tok_s", "engine=sglang"));
  CHECK(says("vllm_awq_3090_tok_s", "gpu=rtx-3090-24gb"));
  CHECK(says("tok_s_h200_tp2", "serve_tp=2"));
  CHECK(says("tok_s_32b", "model=qwen3-32b"));
  CHECK(says("tok_s_at_3968", "prompt=3968"));
  CHECK(says("tok_s_v100_pcie_32", "gpu=v100-pcie-16gb") != says("tok_s_v100_pcie_32", "gpu=v100-sxm2-32gb"));
  CHECK(says("tpot_ms_3090ti", "gpu_tflops=80&gpu_bw=1008"));
  CHECK(says("tpot_ms_4x4090", "serve_tp=4"));
  CHECK(says("tok_s_h100_sxm", "model=qwen3-8b"));
  CHECK(says("tok_s_llama31_8b", "prompt=240&output=200"));
  CHECK(says("tok_s_qwen25_14b", "model=qwen2.5-14b"));
  CHECK(says("tok_s_8gpu", "serve_tp=8"));
  CHECK(share("tok_s_exl2_5.0") == "a storage that is no choice of the key");
  CHECK(load_of("", "prompt4096_tok_s").rfind("prompt tokens/s 100 prompt=4096", 0) == 0);
  CHECK(load_of(R"("n_gpus": 2, "tp": 2,)", "out_tok_s_per_gpu_1024_8192_c8").find("prompt=1024&output=8192") !=
        std::string::npos);
}

TEST_CASE("a published speed that is wrong is a trap") {
  const char* text = R"({"id": "x", "engine": "vllm", "model": "Qwen/Qwen3-8B", "weight_dtype": "bf16",
    "gpu": "H100 80GB SXM", "input_len": 512, "output_len": 256, "measured": {"out_tok_s_c1": 900},
    "checks": [{"name": "out_tok_s_c1", "kind": "trap", "measured": 900, "predicted": 150, "unit": "tok/s"}]})";
  const std::vector<Measurement> all = measurements_of(only_case(text), nullptr);
  REQUIRE(all.size() == 1);
  CHECK(all[0].figure == Figure::trap);
  CHECK(all[0].estimate < 300);
  CHECK(all[0].error() == 0);
}

TEST_CASE("a benchmark of more requests than are under way waits for them") {
  const auto read = [](const char* figure, const char* more) {
    const std::string text =
        std::string(R"({"id": "x", "family": "f", "figure": ")") + figure +
        R"(", "share": "v=1&model=qwen3-8b&prompt=1000&output=300&concurrency=16", "measured": 1)" + more + "}";
    return measurements_of(only_case(text.c_str()), nullptr).at(0).estimate;
  };
  const char* queue = R"(, "requests": 160, "rate": "inf")";
  CHECK(read("time to first token", queue) > 20 * read("time to first token", ""));
  CHECK(read("time to first token", R"(, "requests": 160, "rate": "inf", "longest": "inf")") <
        read("time to first token", queue));
  // Ten rounds of sixteen; a round of sixteen and one of a single request.
  const double steady = read("requests/s", "");
  CHECK(std::abs(read("requests/s", queue) / steady - 1) < 0.005);
  CHECK(read("requests/s", R"(, "requests": 17)") < 0.65 * steady);
  CHECK(std::abs(read("requests/s", R"(, "requests": 1e6, "rate": 0.5)") / 0.5 - 1) < 1e-3);
}
