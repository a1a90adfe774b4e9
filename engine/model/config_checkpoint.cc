#include "engine/formats.h"
#include "engine/model/config_parts.h"

namespace vram {
namespace {

struct Word {
  std::string_view said, means;
};

constexpr Word kDtypes[] = {
    {"bfloat16", "bf16"},
    {"float16", "fp16"},
    {"half", "fp16"},
    {"float32", "fp32"},
    {"float", "fp32"},
    {"float8_e4m3fn", "fp8"},
    {"torch.bfloat16", "bf16"},
    {"torch.float16", "fp16"},
    {"torch.float32", "fp32"},
    {"bf16", "bf16"},
    {"fp16", "fp16"},
    {"fp32", "fp32"},
    {"fp8", "fp8"},
};

// quant_method, and the finer words of compressed-tensors ("format") and ModelOpt ("quant_algo"), as storage formats.
constexpr Word kMethods[] = {
    {"fp8", "fp8"},
    {"fbgemm_fp8", "fp8"},
    {"awq", "awq"},
    {"gptq", "gptq"},
    {"mxfp4", "mxfp4"},
    {"bitsandbytes", "nf4"},
    {"FP8", "fp8"},
    {"NVFP4", "nvfp4"},
    {"W4A16_NVFP4", "nvfp4"},
    {"MXFP8", "mxfp8"},
    {"W4A16_AWQ", "awq"},
    {"INT4_AWQ", "awq"},
    {"float-quantized", "fp8"},
    {"naive-quantized", "fp8"},
    {"int-quantized", "int8"},
    {"pack-quantized", "int4"},
    {"eetq", "int8"},
    {"nvfp4-pack-quantized", "nvfp4"},
    {"mxfp4-pack-quantized", "mxfp4"},
    {"MIXED_PRECISION", "nvfp4"},
    {"auto-round", "gptq"},
    {"marlin", "gptq"},
    {"mxfp8", "mxfp8"},
    {"modelopt_fp4", "nvfp4"},
};

template <size_t n>
std::string_view meaning_of(const Word (&words)[n], std::string_view said) {
  for (const Word& word : words)
    if (word.said == said) return word.means;
  return "";
}

/// Bits of a weight, where the file says: GPTQ and AWQ at the top, compressed-tensors in its first group.
double weight_bits(const Fields& q) {
  if (q.has("bits")) return q.number("bits");
  const Fields groups = q.section("config_groups");
  for (const std::string& group : groups.names())
    return groups.section(group.c_str()).section("weights").count("num_bits");
  return 0;
}

std::string_view format_of(const Fields& q) {
  for (const char* finer : {"quant_algo", "format"})
    if (q.is_text(finer))
      if (const std::string_view format = meaning_of(kMethods, q.text(finer)); !format.empty()) return format;
  return meaning_of(kMethods, q.text("quant_method"));
}

std::string quantization_of(const Fields& q) {
  const bool eight = q.flag("load_in_8bit");
  if (q.text("quant_method") == "bitsandbytes" || eight || q.flag("load_in_4bit")) return eight ? "int8" : "nf4";
  const std::string_view format = format_of(q);
  if (format.empty()) {
    q.fault("quant_method", "a quantisation that is not modelled; the weights are billed as if not quantised");
    return "";
  }
  const double bits = weight_bits(q);
  const bool packed = format == "gptq" || format == "awq" || format == "int4";
  if (!packed || bits == 0 || bits == 4) return std::string(format);
  if (bits == 8) return "int8";
  q.fault("bits", "only 4 and 8 bits are modelled; the weights are billed at 4");
  return std::string(format);
}

std::string dtype_of(const Fields& f) {
  const std::string said = f.text("dtype");
  const std::string_view format = meaning_of(kDtypes, said);
  if (format.empty() && !said.empty() && said != "auto")
    f.fault("dtype", "not a precision known here; read as bfloat16");
  return std::string(format);
}

/// A list that leaves no half of a mixture's layers out says that attention is quantised, too, where its format usually
/// is of the experts or MLPs alone.
bool lists_attention_as_quantised(const Fields& q, const Architecture& a) {
  const Format* format = find_format(a.quantization);
  if (a.experts <= 0 || format == nullptr || format->of_mixtures == Quantised::linears) return false;
  return q.has("ignore") || q.has("modules_to_not_convert") || q.has("exclude_modules");
}

void read_quantization(const Fields& file, Architecture& a) {
  if (!file.has("quantization_config")) return;
  const Fields q = file.section("quantization_config");
  const Fields inner = q.section("quantization");  // ModelOpt's own nesting
  const Fields& told = inner.has("quant_algo") ? inner : q;
  if (q.names().empty())
    return file.fault("quantization_config", "no quantisation that is known here; billed as if there were none");
  a.quantization = quantization_of(told);
  if (!a.quantization.empty() && a.layers >= 1 && a.layers <= 10000)
    a.unquantized = unquantized_layers(told, static_cast<size_t>(a.layers));
  if (a.unquantized.empty() && lists_attention_as_quantised(told, a)) a.unquantized = "1q";
}

}  // namespace

void read_checkpoint(const Fields& file, const Fields& f, Architecture& a) {
  std::string dtype = dtype_of(f);
  if (dtype.empty()) dtype = dtype_of(file);
  if (!dtype.empty()) a.dtype = dtype;
  for (const Fields* source : {&f, &file})
    if (a.quantization.empty()) read_quantization(*source, a);
  a.tower = tower_parameters(file, a.hidden);
  a.has_vision = a.tower > 0 || file.has("vision_config") || file.has("audio_config");
}

}  // namespace vram
