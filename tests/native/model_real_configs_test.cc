#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "../engine/model_samples.h"

using namespace vram;
using namespace model_samples;
using nlohmann::json;

// Files as downloaded from Hugging Face, below tests/native/configs.

namespace {

std::string config(const std::string& name) {
  std::ifstream file(std::string(VRAM_SOURCE_DIR) + "/tests/native/configs/" + name + ".json");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Nothing but not crashing is asked for.
void survives(const std::string& text) {
  const ConfigReading reading = read_config(text);
  std::vector<ModelFault> faults;
  build_model(reading.architecture, 0, &faults);
  read_config(text, true);
  if (!reading.ok) CHECK_FALSE(reading.faults.empty());
}

}  // namespace

TEST_CASE("a downloaded config.json counts like its preset") {
  struct Row {
    const char *file, *preset;
  };
  const Row rows[] = {
      {"MiniMaxAI--MiniMax-M2.5", "minimax-m2"},
      {"Qwen--Qwen3-235B-A22B", "qwen3-235b-a22b"},
      {"Qwen--Qwen3-32B-FP8", "qwen3-32b"},
      {"Qwen--Qwen3-8B", "qwen3-8b"},
      {"Qwen--Qwen3-VL-8B-Instruct", "qwen3-8b"},
      {"Qwen--Qwen3.5-27B", "qwen3.5-27b"},
      {"deepseek-ai--DeepSeek-V3", "deepseek-v3"},
      {"deepseek-ai--DeepSeek-V3.2", "deepseek-v3.2"},
      {"google--gemma-4-26B-A4B", "gemma-4-26b-a4b"},
      {"meta-llama--Llama-4-Scout-17B-16E-Instruct", "llama-4-scout-17b-16e"},
      {"meta-llama--Meta-Llama-3.1-405B", "llama-3.1-405b"},
      {"meta-llama--Meta-Llama-3.1-8B", "llama-3.1-8b"},
      {"mistralai--Mixtral-8x7B-v0.1", "mixtral-8x7b"},
      {"moonshotai--Kimi-K2-Instruct", "kimi-k2"},
      {"nvidia--Llama-3_3-Nemotron-Super-49B-v1", "llama-3.3-nemotron-super-49b"},
      {"nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "nemotron-3-nano-30b-a3b"},
      {"nvidia--Nemotron-H-56B-Base-8K", "nemotron-h-56b"},
      {"openai--gpt-oss-120b", "gpt-oss-120b"},
      {"zai-org--GLM-5", "glm-5"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.file);
    const Model model = model_of(config(row.file)), preset = model_of(preset_json(row.preset));
    CHECK(model.exact_parameters == preset.exact_parameters);
    CHECK(model.active_parameters == preset.active_parameters);
    CHECK(kv_elements(model, false) == kv_elements(preset, false));
    CHECK(kv_elements(model, true) == kv_elements(preset, true));
    CHECK(survives_arch(model.architecture));
  }
}

TEST_CASE("MiMo 7B: the published 7,833,409,536 hold one prediction module") {
  const Model model = model_of(config("XiaomiMiMo--MiMo-7B-Base"));
  REQUIRE(model.mtp.size() == 1);
  CHECK(model.exact_parameters + model.mtp[0].parameters() == 7833409536);
  CHECK(survives_arch(model.architecture));
}

TEST_CASE("quantised checkpoints say so") {
  CHECK(read_config(config("openai--gpt-oss-120b")).architecture.quantization == "mxfp4");
  CHECK(read_config(config("Qwen--Qwen3-32B-FP8")).architecture.quantization == "fp8");
  CHECK(read_config(config("Qwen--Qwen3-8B")).architecture.quantization == "");
}

TEST_CASE("a file cut short anywhere is refused, and nothing breaks") {
  for (const char* name :
       {"Qwen--Qwen3-8B", "deepseek-ai--DeepSeek-V3", "meta-llama--Llama-4-Scout-17B-16E-Instruct"}) {
    const std::string whole = config(name);
    const size_t end = whole.rfind('}');
    REQUIRE(end != std::string::npos);
    for (size_t length = 0; length <= end; ++length) {
      const ConfigReading reading = read_config(std::string_view(whole).substr(0, length));
      if (reading.ok || reading.faults.empty()) FAIL(name << " cut at " << length);
    }
  }
}

TEST_CASE("no field of any type breaks the reader") {
  const json values[] = {nullptr,
                         true,
                         -1,
                         0,
                         1e300,
                         0.5,
                         9007199254740993.0,
                         "text",
                         "",
                         json::array(),
                         json::array({1, "a", nullptr}),
                         json::object(),
                         json::array({json::object()}),
                         3};
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(VRAM_SOURCE_DIR) + "/tests/native/configs")) {
    const json whole = json::parse(config(entry.path().stem().string()), nullptr, false);
    if (whole.is_discarded()) continue;  // it holds Infinity
    for (const json::json_pointer& at : {json::json_pointer(), json::json_pointer("/text_config")}) {
      if (!whole.contains(at)) continue;
      for (const auto& item : whole.at(at).items())
        for (const json& value : values) {
          json changed = whole;
          changed[at][item.key()] = value;
          survives(changed.dump());
        }
    }
  }
}
