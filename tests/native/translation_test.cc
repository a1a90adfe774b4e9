#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/advice/diagnose/diagnose.h"
#include "engine/advice/plan_search.h"
#include "engine/plan/plan.h"
#include "engine/preset_table.h"
#include "engine/report/answer.h"
#include "engine/report/figures.h"
#include "engine/report/translation.h"
#include "tests/engine/report_random_plans.h"

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
  static const std::set<std::string_view> kept = {"token",
                                                  "tokens",
                                                  "rank",
                                                  "logits",
                                                  "logit",
                                                  "megatron",
                                                  "vllm",
                                                  "sglang",
                                                  "llamacpp",
                                                  "trtllm",
                                                  "custom",
                                                  "model",
                                                  "fsdp",
                                                  "ddp",
                                                  "eager",
                                                  "flash",
                                                  "full",
                                                  "lora",
                                                  "qlora",
                                                  "deepspeed",
                                                  "torchtitan",
                                                  "interleaved",
                                                  "json",
                                                  "config",
                                                  "nanogpt",
                                                  "pure",
                                                  "static",
                                                  "generic",
                                                  "torch",
                                                  "compile",
                                                  "core_attn",
                                                  "moe_act",
                                                  "layernorm",
                                                  "mla_up_proj",
                                                  "shared_experts",
                                                  "megatron",
                                                  "mfu",
                                                  "gpu_tflops",
                                                  "price",
                                                  "dropout",
                                                  "llama",
                                                  "cpp",
                                                  "cuda",
                                                  "max_memory_allocated",
                                                  "max_memory_reserved",
                                                  "nvidia",
                                                  "smi",
                                                  "mem_fraction_static",
                                                  "methods",
                                                  "pytorch",
                                                  "flops",
                                                  "expandable",
                                                  "kv_b",
                                                  "cuBLAS",
                                                  "reduce_bucket_size",
                                                  "softmax",
                                                  "down",
                                                  "batch_tokens",
                                                  "max_seqs",
                                                  "all",
                                                  "markdown",
                                                  "mlp",
                                                  "moe",
                                                  "tpot",
                                                  "ttft"};
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && (is_letter(text[end]) || text[end] == '_')) end++;
    const std::string_view word = text.substr(at, end - at);
    if (word.size() >= 4 && word[0] >= 'a' && !kept.contains(word)) return std::string(word);
    at = std::max(end, at + 1);
  }
  return "";
}

bool is_small(char c) { return c >= 'a' && c <= 'z'; }

/// Two small words in a row: English that was not translated.
bool is_english(std::string_view text) {
  size_t run = 0, before = 0;  // letters of this word, and of the one before
  for (const char c : text) {
    if (is_small(c)) {
      if (++run >= 3 && before >= 4) return true;
    } else {
      before = c == ' ' ? run : 0;
      run = 0;
    }
  }
  return false;
}

void collect(const Line& line, std::set<std::string>& out) {
  out.insert(line.label);
  for (const Factor& factor : line.factors) out.insert(factor.meaning);
  for (const Line& child : line.children) collect(child, out);
}

/// Everything of a report that a face for people shows.
void collect(const Report& report, std::set<std::string>& out) {
  for (const std::string& sentence : headline_sentences(report)) out.insert(sentence);
  for (const Line& line : report.training.lines) collect(line, out);
  for (const Line& line : report.serving.lines) collect(line, out);
  for (const Traffic& item : report.compute.traffic) collect(item.line, out);
  for (const Finding& finding : report.findings) out.insert(finding.text);
  for (const auto& list : {training_figures(report), compute_figure_list(report), serving_figures(report)})
    for (const Figure& figure : list) out.insert({figure.label, figure.remark});
}

std::string share_of(const PresetRow& row) {
  const size_t open = row.json.find('"', row.json.find(':', row.json.find("\"share\""))) + 1;
  return std::string(row.json.substr(open, row.json.find('"', open) - open));
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
    texts.insert({std::string(row.label), std::string(help_of(row)), std::string(row.section), std::string(row.unit)});
  CHECK(untranslated(texts) == std::vector<std::string>{});
}

TEST_CASE("what the layout search says stands in the Chinese table") {
  std::set<std::string> texts;
  for (const char* share :
       {"model=llama-3.1-8b&gpus=8&tp=2&global_batch=64", "model=llama-3.1-405b&gpus=8",
        "model=llama-3.1-8b&question=fewest-gpus", "model=llama-3.1-8b&gpus=8&question=longest-seq",
        "model=llama-3.1-8b&gpus=8&question=largest-batch",
        "model=llama-3.1-8b&gpus=8&framework=fsdp&recompute=full&offload=optimizer&global_batch=64",
        "model=llama-3.1-70b&question=replicas&qps=20&tpot=0.05&ttft=1", "model=llama-3.1-8b&question=concurrency",
        "model=llama-3.1-70b&gpus=64&tokens=1e12&deadline=30", "model=llama-3.1-70b&gpus=64&tokens=1e12&budget=1e6",
        "model=llama-3.1-70b&gpus=64&tokens=1e12&budget=1e6&deadline=30",
        "model=llama-3.1-70b&view=serve&question=cheapest&tpot=0.001",
        "model=llama-3.1-70b&view=serve&question=cheapest&ttft=0.001&tpot=0.001",
        "model=llama-3.1-70b&view=serve&question=fit&qps=50", "gpu=custom&gpu_mem=80&question=replicas&qps=5",
        "model=llama-3.1-405b&question=concurrency&serve_tp=2",
        "model=llama-3.1-70b&question=replicas&gpus_among=h100-sxm5-80gb,rtx-3060-12gb"}) {
    const Plan plan = read_plan(share).plan;
    const Answer answer = answer_question(plan);
    texts.insert(answer_sentence(plan, answer));
    texts.insert(gpus_without_sentence(answer));
    for (const Limit& limit : answer.limits) texts.insert(limit.text);
    for (const Switch& one : answer.switches) texts.insert(one.change.text);
    for (const FellOut& group : answer.fell_out) texts.insert(group.reason);
  }
  CHECK(untranslated(texts) == std::vector<std::string>{});
}

TEST_CASE("what the worked examples and any plan say is Chinese in Chinese") {
  const Translation zh(file("presets/languages/zh.tsv"));
  std::set<std::string> texts;
  for (uint32_t seed = 2000; seed < 2600; ++seed) collect(report(RandomPlan(seed).share()), texts);
  for (const PresetRow& row : plan_presets())
    for (const char* more : {"", "&mfu=0.4&offload=optimizer", "&view=serve&concurrency=5000&ttft=1&tpot=0.01&qps=100"})
      collect(report(share_of(row) + more), texts);
  for (const std::string& text : texts) {
    CAPTURE(text, zh(text));
    CHECK_FALSE(is_english(zh(text)));
  }
}

TEST_CASE("what is said of a key that cannot be read is Chinese in Chinese") {
  const Translation zh(file("presets/languages/zh.tsv"));
  std::set<std::string> texts;
  std::vector<std::string> shares = {"gpu=l40s-48gb",
                                     "gpu=a100",
                                     "gpu=h100-80gb",
                                     "model=llama-8b",
                                     "model=qwen",
                                     "model=x",
                                     "gpu=x",
                                     "gpu",
                                     "tpp=2",
                                     "=2",
                                     "foo=1",
                                     "tp=2&tp=4",
                                     "v=9",
                                     "v=x",
                                     "gpus_among=a100,x",
                                     "gpus_among=l40s-48gb",
                                     "gpu=custom",
                                     "model=custom"};
  for (const Field& row : fields()) {
    for (const char* value : {"nonsense", "-1", "1e99", "0", "0.5", ""})
      shares.push_back(std::string(row.name) + "=" + value);
  }
  for (const std::string& share : shares) {
    for (const Message& message : read_plan(share).messages) texts.insert(message.text);
  }
  for (const std::string& text : texts) {
    CAPTURE(text, zh(text));
    CHECK_FALSE(is_english(zh(text)));
  }
}

TEST_CASE("the lines of any plan stand in the Chinese table") {
  std::set<std::string> texts;
  for (uint32_t seed = 1000; seed < 1200; ++seed) {
    const Report any = report(RandomPlan(seed).share());
    for (const auto& lines : {any.training.lines, any.serving.lines, any.serving.host_lines})
      for (const Line& line : lines) collect(line, texts);
  }
  CHECK(untranslated(texts) == std::vector<std::string>{});
}

TEST_CASE("what is said of a log is Chinese in Chinese") {
  const Translation zh(file("presets/languages/zh.tsv"));
  std::set<std::string> texts;
  for (const char* path : {"tests/cases/logs/messages.json", "tests/cases/logs/messages_fresh.json",
                           "tests/cases/logs/messages_serving.json"}) {
    const auto messages = nlohmann::json::parse(file(path))["messages"];
    for (const char* share : {"model=llama-3.1-8b", ""}) {
      const Plan plan = read_plan(share).plan;
      for (const auto& message : messages) {
        const Diagnosis diagnosis = diagnose(plan, message["text"].get<std::string>());
        for (const Finding& finding : diagnosis.findings) texts.insert(finding.text);
        for (const Beside& row : diagnosis.beside) texts.insert(row.remark);
      }
    }
  }
  for (const std::string& text : texts) {
    CAPTURE(text, zh(text));
    CHECK_FALSE(is_english(zh(text)));
  }
}
