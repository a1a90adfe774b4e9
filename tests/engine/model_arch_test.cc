#include "model_samples.h"

using namespace vram;
using namespace model_samples;

TEST_CASE("every preset's architecture survives the share string's arch") {
  for (const PresetRow& row : model_presets()) {
    CAPTURE(row.id);
    const ConfigReading reading = read_config(row.json);
    CAPTURE(write_arch(reading.architecture));
    CHECK(survives_arch(reading.architecture));
  }
}

TEST_CASE("arch says only what the model type does not") {
  CHECK(write_arch(Architecture()) == "");
  CHECK(write_arch(read_config(preset_json("llama-3.1-8b")).architecture) == R"({"model_type":"llama"})");
  CHECK(write_arch(read_config(preset_json("llama-2-7b")).architecture) == R"({"dtype":"fp16","model_type":"llama"})");
  CHECK(write_arch(read_config(preset_json("gemma-2-9b")).architecture).size() < 60);
  Architecture custom;
  custom.norm = "layernorm";
  custom.linear.kind = "mamba2";
  custom.linear.inner = 8192;
  CHECK(write_arch(custom) == R"({"linear":{"inner":8192,"kind":"mamba2"},"norm":"layernorm"})");
}

TEST_CASE("arch is ASCII, whatever a config's texts are") {
  Architecture a;
  a.quantization = "\xc3\xa9\xff";
  CHECK(write_arch(a) == R"({"quantization":"\u00e9\ufffd"})");
}

TEST_CASE("arch leaves to the plan keys what they say") {
  const ConfigReading reading = read_config(R"({"model_type":"gpt2"})", true);
  CHECK(reading.ok);
  CHECK(reading.architecture.norm == "layernorm");
  CHECK_FALSE(reading.architecture.tied);
  CHECK_FALSE(reading.architecture.qkv_bias);
  CHECK(reading.architecture.layers == 0);
}

TEST_CASE("each member that no plan key says survives on its own") {
  Architecture a;
  a.ffn_per_layer = {0, 14336, 28672};
  a.kv_heads_per_layer = {8, 4};
  a.ffn_kinds = "dex";
  a.rotary_fraction = 0.334;
  a.softcap = 30;
  a.qk_norm_kind = "full";
  a.final_norm = false;
  a.norms_total = 130;
  a.position = "alibi";
  a.router_correction_bias = a.attention_sinks = a.has_vision = true;
  a.quantization = "fp8";
  a.linear = {"gated_deltanet", 16, 32, 128, 128, 0, 0, 0, 0, 4, false, false, false};
  CHECK(survives_arch(a));
  a.model_type = "gemma2";
  CHECK(survives_arch(a));
}

TEST_CASE("a damaged arch is refused, with a reason") {
  for (const char* text : {"", "{", "[]", "7", R"({"norm":7})", R"({"model_type":"frobnicator"})",
                           R"({"linear":3,"norms_per_layer":-1})"}) {
    CAPTURE(text);
    const ConfigReading reading = read_config(text, true);
    CHECK_FALSE(reading.ok);
    CHECK_FALSE(reading.faults.empty());
  }
}
