#include "engine/model/config_parts.h"

namespace vram {
namespace {

struct Word {
  std::string_view said, means;
};

constexpr Word kDtypes[] = {
    {"bfloat16", "bf16"}, {"float16", "fp16"},         {"half", "fp16"},          {"float32", "fp32"},
    {"float", "fp32"},    {"float8_e4m3fn", "fp8"},    {"torch.bfloat16", "bf16"}, {"torch.float16", "fp16"},
    {"torch.float32", "fp32"}, {"bf16", "bf16"},       {"fp16", "fp16"},          {"fp32", "fp32"},
    {"fp8", "fp8"},
};

// quant_method, and the finer words of compressed-tensors ("format") and ModelOpt ("quant_algo"), as storage formats.
constexpr Word kMethods[] = {
    {"fp8", "fp8"},          {"fbgemm_fp8", "fp8"},       {"awq", "awq"},           {"gptq", "gptq"},
    {"mxfp4", "mxfp4"},      {"bitsandbytes", "nf4"},     {"FP8", "fp8"},           {"NVFP4", "nvfp4"},
    {"MXFP8", "mxfp8"},      {"W4A16_AWQ", "awq"},        {"INT4_AWQ", "awq"},      {"float-quantized", "fp8"},
    {"naive-quantized", "fp8"}, {"int-quantized", "int8"}, {"pack-quantized", "int4"}, {"eetq", "int8"},
    {"nvfp4-pack-quantized", "nvfp4"}, {"mxfp4-pack-quantized", "mxfp4"}, {"MIXED_PRECISION", "nvfp4"},
    {"auto-round", "gptq"},  {"marlin", "gptq"},          {"mxfp8", "mxfp8"},       {"modelopt_fp4", "nvfp4"},
};

template <size_t n>
std::string_view meaning_of(const Word (&words)[n], std::string_view said) {
  for (const Word& word : words)
    if (word.said == said) return word.means;
  return "";
}

std::string quantization_of(const Fields& q) {
  const std::string method = q.text("quant_method");
  if (method == "bitsandbytes") return q.flag("load_in_8bit") ? "int8" : "nf4";
  for (const char* finer : {"quant_algo", "format"})
    if (q.is_text(finer))
      if (const std::string_view format = meaning_of(kMethods, q.text(finer)); !format.empty()) return std::string(format);
  const std::string_view format = meaning_of(kMethods, method);
  if (format == "gptq" && q.count("bits", 4) == 8) return "int8";
  if (!format.empty()) return std::string(format);
  q.fault("quant_method", "a quantisation that is not modelled; the weights are billed as if not quantised");
  return "";
}

std::string dtype_of(const Fields& f) {
  const std::string said = f.text("dtype");
  const std::string_view format = meaning_of(kDtypes, said);
  if (format.empty() && !said.empty() && said != "auto") f.fault("dtype", "not a precision known here; read as bfloat16");
  return std::string(format);
}

}  // namespace

void read_checkpoint(const Fields& file, const Fields& f, Architecture& a) {
  std::string dtype = dtype_of(f);
  if (dtype.empty()) dtype = dtype_of(file);
  if (!dtype.empty()) a.dtype = dtype;
  for (const Fields* source : {&f, &file}) {
    if (!source->has("quantization_config") || !a.quantization.empty()) continue;
    const Fields q = source->section("quantization_config");
    if (q.has("quant_method") || q.has("quant_algo")) a.quantization = quantization_of(q);
  }
  a.has_vision = file.has("vision_config") || file.has("audio_config");
}

}  // namespace vram
