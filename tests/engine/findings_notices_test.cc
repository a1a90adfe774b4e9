#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "engine/advice/findings.h"

using namespace vram;

namespace {

/// The finding of that id, "" where there is none.
std::string text_of(const std::string& share, std::string_view id) {
  const PlanReading reading = read_plan(share);
  REQUIRE(reading.answerable);
  const Plan& plan = reading.plan;
  for (const Finding& finding : findings(plan, training_bill(plan), compute_figures(plan), serving_bill(plan))) {
    if (id == finding.id) return finding.text;
  }
  return "";
}

}  // namespace

TEST_CASE("Notices stand where they apply, and only there") {
  struct Row {
    const char* id;
    const char* applies;
    const char* does_not;
  };
  const Row rows[] = {
      {"seq_beyond_positions", "model=llama-2-7b&seq=8192", "model=llama-2-7b&seq=4096"},
      {"request_beyond_positions", "model=llama-2-7b&prompt=4096&output=1", "model=llama-2-7b&prompt=4095&output=1"},
      {"no_shape", "model=custom&params=70e9", "model=llama-2-7b"},
      {"no_bf16", "model=llama-2-7b&gpu=v100-sxm2-32gb", "model=llama-2-7b&gpu=v100-sxm2-32gb&precision=fp16"},
      {"no_fp8", "model=llama-2-7b&gpu=a100-sxm4-80gb&precision=fp8", "model=llama-2-7b&precision=fp8"},
      {"eager_attention", "model=llama-3.1-8b&attention=eager&seq=8192", "model=llama-3.1-8b&attention=eager&seq=1024"},
      {"tp_across_nodes", "model=llama-3.1-405b&gpus=16&tp=16", "model=llama-3.1-405b&gpus=8&tp=8"},
      {"communication_bound", "model=llama-3.1-8b&gpus=64&framework=fsdp&net_bw=1", "model=llama-3.1-8b"},
      {"pipeline_bubble", "model=llama-3.1-8b&gpus=4&pp=4", "model=llama-3.1-8b&gpus=4&pp=4&global_batch=64"},
      {"peak_unknown", "model=llama-3.1-8b&gpu=custom&gpu_mem=80", "model=llama-3.1-8b"},
      {"price_unknown", "model=llama-3.1-8b&tokens=1e12&price=0", "model=llama-3.1-8b&tokens=1e12"},
      {"mfu_estimated", "model=llama-3.1-8b", "model=llama-3.1-8b&mfu=0.4"},
      {"mfu_measured", "model=llama-3.1-8b&measured_tokens_per_second=9000",
       "model=llama-3.1-8b&measured_tokens_per_second=9000&mfu=0.4"},
      {"six_n_is_a_floor", "model=llama-3.1-8b&flops=6n&seq=32768", "model=llama-3.1-8b&flops=6n&seq=2048"},
      {"six_n_is_a_floor", "model=llama-3.1-8b&seq=8192", "model=llama-3.1-8b&seq=2048"},
      {"fewest_gpus", "model=llama-3.1-8b", "model=llama-3.2-1b"},
      {"tp_in_the_node", "model=llama-3.1-8b&gpus=8&tp=8", "model=llama-3.1-8b&gpus=8"},
      {"tp_over_pcie", "model=llama-3.1-8b&gpus=8&tp=8&gpu=l40s", "model=llama-3.1-8b&gpus=8&tp=8"},
      {"network_needed", "model=llama-3.1-8b&gpus=16&framework=fsdp", "model=llama-3.1-8b&gpus=8&framework=fsdp"},
      {"zero_3_traffic", "model=llama-3.1-8b&gpus=16&framework=fsdp", "model=llama-3.1-8b&gpus=16"},
      {"host_memory", "model=llama-3.1-8b&gpus=8&offload=optimizer", "model=llama-3.1-8b&gpus=8"},
      {"chinchilla_tokens", "model=llama-3.1-8b&tokens=15e12", "model=llama-3.1-8b"},
      {"mfu_under_recomputation", "model=llama-3.1-8b&mfu=0.4", "model=llama-3.1-8b"},
      {"weights_not_computed", "model=llama-3.1-8b&gpu=a100-sxm4-80gb&weights=fp8", "model=llama-3.1-8b&weights=fp8"},
      {"weights_no_gguf", "model=llama-3.1-8b&engine=llamacpp&weights=fp8",
       "model=llama-3.1-8b&engine=llamacpp&weights=q8_0"},
      {"values_need_flash", "model=llama-3.1-8b&engine=llamacpp&kv_values=q8_0&flash=0",
       "model=llama-3.1-8b&engine=llamacpp&kv=q8_0&kv_values=fp16&flash=0"},
      {"kv_values_unread", "model=llama-3.1-8b&engine=vllm&kv=fp8&kv_values=bf16",
       "model=llama-3.1-8b&engine=llamacpp&kv=q8_0&kv_values=q4_0"},
      {"kv_values_unread", "model=llama-3.1-8b&engine=sglang&kv_values=fp8", "model=llama-3.1-8b&kv_values=bf16"},
      {"attention_on_processor", "model=llama-3.1-8b&engine=llamacpp&kv=q8_0&kv_values=q4_0",
       "model=llama-3.1-8b&engine=llamacpp&kv=q8_0&kv_values=q4_0&gpu=m2-ultra"},
      {"attention_on_processor", "model=llama-3.1-8b&engine=llamacpp&kv=q5_1",
       "model=llama-3.1-8b&engine=llamacpp&kv=q4_0"},
      {"targets_missed", "model=llama-3.1-8b&concurrency=64&tpot=0.008", "model=llama-3.1-8b&concurrency=64&tpot=0.5"},
      {"memory_is_not_enough", "model=llama-3.1-8b", "model=llama-3.1-405b"},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    CHECK_FALSE(text_of(row.applies, row.id).empty());
    CHECK(text_of(row.does_not, row.id).empty());
  }
}

TEST_CASE("Bytes are shown in the reader's unit") {
  const std::string share = "model=llama-2-7b&gpu=h100-sxm5-80gb&framework=ddp";
  CHECK(text_of(share, "training_exceeds").find("GiB") != std::string::npos);
  CHECK(text_of(share + "&units=gb", "training_exceeds").find("GB") != std::string::npos);
}
