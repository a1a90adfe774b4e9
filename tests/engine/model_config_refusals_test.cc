#include "model_samples.h"

using namespace vram;
using namespace model_samples;

namespace {

const std::string kLlama = R"("model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,
  "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256)";

std::string without(std::string text, const std::string& field) {
  const size_t at = text.find("\"" + field + "\"");
  const size_t end = text.find(',', at);
  if (end == std::string::npos) return text.erase(text.rfind(',', at));
  return text.erase(at, end - at + 1);
}

void refuses(const std::string& json, const char* field, const char* text) {
  CAPTURE(json);
  const ConfigReading reading = read_config(json);
  CHECK_FALSE(reading.ok);
  CHECK(fault_of(reading, field) == text);
}

}  // namespace

TEST_CASE("an unknown architecture is named and refused") {
  refuses(R"({"model_type":"frobnicator","hidden_size":64})", "model_type",
          "unknown model_type \"frobnicator\": its layers are not known here, and are not guessed at");
  refuses(R"({"architectures":["FrobnicatorForCausalLM"]})", "architectures",
          "unknown architecture FrobnicatorForCausalLM");
  refuses(R"({"model_type":"llama","architectures":["FrobnicatorForCausalLM"]})", "architectures",
          "unknown architecture FrobnicatorForCausalLM (model_type llama)");
  refuses(R"({"model_type":"llama","architectures":["LlamaForCausalLMEagle3"]})", "architectures",
          "unknown architecture LlamaForCausalLMEagle3: not a language model's class");
  refuses(R"({"hidden_size":64})", "model_type",
          "missing; without model_type or architectures the layers are not known");
}

TEST_CASE("a class that only begins like a known one is not taken for it") {
  refuses(R"({"model_type":"mistral9","architectures":["Mistral9ForCausalLM"]})", "model_type",
          "unknown model_type \"mistral9\": its layers are not known here, and are not guessed at");
}

TEST_CASE("a name in a message is short and printable") {
  refuses("{\"model_type\":\"\\u001b[31m" + std::string(1000, 'x') + "\"}", "model_type",
          ("unknown model_type \"?[31m" + std::string(55, 'x') +
           "\": its layers are not known here, and are not guessed at")
              .c_str());
}

TEST_CASE("what is no decoder-only language model is refused by name") {
  refuses(R"({"model_type":"bert"})", "model_type", "bert is an encoder, not a decoder-only language model");
  refuses(R"({"model_type":"t5"})", "model_type", "t5 is an encoder-decoder, not a decoder-only language model");
  refuses(R"({"model_type":"whisper"})", "model_type", "whisper is a speech model, not a decoder-only language model");
  refuses(R"({"model_type":"clip","text_config":{"model_type":"clip_text_model","hidden_size":512}})", "model_type",
          "clip is a vision model, not a decoder-only language model");
  refuses("{" + kLlama + R"(,"is_encoder_decoder":true})", "model_type",
          "an encoder-decoder (is_encoder_decoder), not a decoder-only language model");
}

TEST_CASE("heads that are none and kinds of layers that are too few are refused") {
  refuses("{" + kLlama + R"(,"num_key_value_heads":0})", "num_key_value_heads", "not a number of heads of at least 1");
  refuses("{" + kLlama + R"(,"layer_types":["full_attention"]})", "layer_types",
          "1 type for 32 layers (num_hidden_layers)");
}

TEST_CASE("what is no JSON object is refused") {
  for (const char* text : {" ", "{", "[]", "null", "7", "\"text\"", "{]}"})
    refuses(text, "config.json", "not a JSON object");
  refuses("", "config.json", "an empty file");
  refuses(std::string("\xff\xfe{\0", 4), "config.json", "text in UTF-16; save it in UTF-8");
}

TEST_CASE("JSON nested deeper than a config.json ever is, is not read") {
  const auto nested = [](int depth) {
    return "{" + kLlama + ",\"x\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  CHECK(read_config(nested(50)).ok);
  refuses(nested(150), "config.json",
          (std::to_string(nested(150).size()) + " bytes of objects nested deeper than in any "
                                                "config.json")
              .c_str());
  CHECK(read_config("{" + kLlama + ",\"x\":\"" + std::string(1000, '{') + "\"}").ok);
}

TEST_CASE("a model's other files are told from its config.json") {
  refuses("GGUF\x03", "config.json",
          "a GGUF file, not a config.json; read the config.json of the model that it was made from");
  refuses("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 655\n", "config.json",
          "a Git LFS pointer, not the file that it stands for");
  refuses("<!DOCTYPE html>", "config.json", "a web page, not the file itself");
  refuses(R"({"base_model_name_or_path":"meta-llama/Llama-2-7b-hf","peft_type":"LORA","r":8})", "config.json",
          "an adapter's file (adapter_config.json); read the config.json of its base model");
  refuses(R"({"metadata":{"total_size":100},"weight_map":{}})", "config.json",
          "an index of weight files; read the config.json beside it");
  refuses(R"({"dim":4096,"n_layers":32,"n_heads":32,"multiple_of":256,"norm_eps":1e-5,"vocab_size":-1})", "config.json",
          "a params.json of Meta's or Mistral's own format; read the config.json of the same model");
  refuses(R"({"producer":{"name":"modelopt"},"quantization":{"quant_algo":"NVFP4"}})", "config.json",
          "a quantiser's file (hf_quant_config.json); read the config.json beside it");
}

TEST_CASE("a needed field that is absent is named") {
  CHECK(read_config("{" + kLlama + "}").ok);
  for (const char* field :
       {"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size"})
    refuses("{" + without(kLlama, field) + "}", field,
            "missing; the parameters cannot be counted without it, and model_type llama does not imply it");
  CHECK(read_config("{" + without(kLlama, "num_key_value_heads") + "}").ok);  // as many as heads
}

TEST_CASE("a field of the wrong type or size is named") {
  const auto with_layers = [](const char* value) {
    return "{" + without(kLlama, "num_hidden_layers") + ",\"num_hidden_layers\":" + value + "}";
  };
  for (const char* value : {"\"32\"", "-32", "31.5", "1e300", "true", "{}", "[1,2]"}) {
    CAPTURE(value);
    const ConfigReading reading = read_config(with_layers(value));
    CHECK_FALSE(reading.ok);
    CHECK_FALSE(fault_of(reading, "num_hidden_layers").empty());
  }
  refuses(with_layers("-32"), "num_hidden_layers", "not a whole number from 0 to 2^53");
  refuses(with_layers("0"), "num_hidden_layers", "0 or null; the parameters cannot be counted without it");
  refuses(with_layers("1000000"), "num_hidden_layers", "at most 10000 layers are modelled");
  refuses(R"({"model_type":"glm4_moe","text_config":{"model_type":"glm4_moe","hidden_size":4096}})", "vocab_size",
          "missing; the parameters cannot be counted without it, and model_type glm4_moe does not imply it");
  refuses("{" + kLlama + R"(,"tie_word_embeddings":"yes"})", "tie_word_embeddings", "neither true nor false");
  const ConfigReading reading = read_config("{" + kLlama + R"(,"head_dim":"wide"})");
  REQUIRE(reading.faults.size() == 1);
  CHECK(reading.faults[0].given == "\"wide\"");
}

TEST_CASE("a field keeps the name the file gives it") {
  refuses(R"({"model_type":"gpt2","n_embd":"768","n_layer":12,"n_head":12,"n_positions":1024,"vocab_size":50257})",
          "n_embd", "not a whole number from 0 to 2^53");
}

TEST_CASE("impossible shapes are named") {
  refuses("{" + without(kLlama, "num_attention_heads") + R"(,"num_attention_heads":30})", "num_attention_heads",
          "30 heads do not divide hidden_size (4096), and head_dim is not given");
  refuses("{" + without(kLlama, "num_key_value_heads") + R"(,"num_key_value_heads":7})", "num_key_value_heads",
          "7 does not divide num_attention_heads (32)");
  refuses("{" + kLlama + R"(,"num_local_experts":4,"num_experts_per_tok":8})", "num_experts_per_tok",
          "more than there are experts (4)");
}

TEST_CASE("layers of an unknown kind are refused") {
  refuses(R"({"model_type":"qwen3_next","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"vocab_size":10,
    "intermediate_size":64,"layer_types":["hyper_attention"]})",
          "layer_types", "unknown kind of layer: hyper_attention");
  refuses("{" + kLlama + R"(,"hybrid_override_pattern":"MQ"})", "hybrid_override_pattern",
          "letters other than M, *, - and E");
  refuses("{" + kLlama + R"(,"hybrid_override_pattern":"MM"})", "layer_types",
          "linear-attention or state-space layers, which this model_type is not known to have");
}
