#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/advice/plan_search.h"
#include "engine/plan/plan.h"
#include "engine/report/answer.h"
#include "engine/report/translation.h"

using namespace vram;

namespace {

std::string file(const char* path) {
  std::stringstream text;
  text << std::ifstream(std::string(VRAM_SOURCE_DIR) + "/" + path).rdbuf();
  return text.str();
}

bool is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

/// Four small letters in a row are an English word, unless they stand in a name, a key or code.
std::string english_word(std::string_view text) {
  static const std::set<std::string_view> kept = {"token",  "tokens", "rank", "logits", "logit", "megatron", "vllm", "sglang", "llamacpp", "trtllm",
    "custom", "model", "fsdp", "ddp", "eager", "flash", "full", "lora", "qlora", "deepspeed", "torchtitan", "interleaved", "json", "config",
    "nanogpt", "pure", "static", "generic", "torch", "compile", "core_attn", "moe_act", "layernorm", "mla_up_proj", "shared_experts",
    "megatron", "mfu", "gpu_tflops", "price", "dropout", "llama", "cpp", "cuda", "max_memory_allocated", "max_memory_reserved", "nvidia", "smi",
    "mem_fraction_static", "methods", "pytorch", "flops", "expandable", "batch_tokens", "max_seqs", "all", "markdown", "mlp", "moe",
    "tpot", "ttft"};
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && (is_letter(text[end]) || text[end] == '_')) end++;
    const std::string_view word = text.substr(at, end - at);
    if (word.size() >= 4 && word[0] >= 'a' && !kept.contains(word)) return std::string(word);
    at = std::max(end, at + 1);
  }
  return "";
}

std::vector<std::string> untranslated(const std::set<std::string>& texts) {
  const Translation zh(file("presets/languages/zh.tsv"));
  std::vector<std::string> missing;
  for (const std::string& text : texts)
    if (!english_word(zh(text)).empty()) missing.push_back(text + " -> " + zh(text));
  return missing;
}

}  // namespace

TEST_CASE("every key's label and explanation stands in the Chinese table") {
  std::set<std::string> texts;
  for (const Field& row : fields())
    texts.insert({std::string(row.label), std::string(row.help), std::string(row.section), std::string(row.unit)});
  CHECK(untranslated(texts) == std::vector<std::string>{});
}

TEST_CASE("what the layout search says stands in the Chinese table") {
  std::set<std::string> texts;
  for (const char* share :
       {"model=llama-3.1-8b&gpus=8&tp=2&global_batch=64", "model=llama-3.1-405b&gpus=8", "model=llama-3.1-8b&question=fewest-gpus",
        "model=llama-3.1-8b&gpus=8&question=longest-seq", "model=llama-3.1-8b&gpus=8&question=largest-batch",
        "model=llama-3.1-8b&gpus=8&framework=fsdp&recompute=full&offload=optimizer&global_batch=64",
        "model=llama-3.1-70b&question=replicas&qps=20&tpot=0.05&ttft=1", "model=llama-3.1-8b&question=concurrency"}) {
    const Plan plan = read_plan(share).plan;
    const Answer answer = answer_question(plan);
    for (const Limit& limit : answer.limits) texts.insert(limit.text);
    for (const Switch& one : answer.switches) texts.insert(one.change.text);
    for (const FellOut& group : answer.fell_out) texts.insert(group.reason);
  }
  CHECK(untranslated(texts) == std::vector<std::string>{});
}
