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

std::string_view meaning_of(std::string_view said) {
  for (const Word& word : kDtypes)
    if (word.said == said) return word.means;
  return "";
}

std::string dtype_of(const Fields& f) {
  const std::string said = f.text("dtype");
  const std::string_view format = meaning_of(said);
  if (format.empty() && !said.empty() && said != "auto")
    f.fault("dtype", "not a precision known here; read as bfloat16");
  return std::string(format);
}

}  // namespace

void read_checkpoint(const Fields& file, const Fields& f, Architecture& a) {
  std::string dtype = dtype_of(f);
  if (dtype.empty()) dtype = dtype_of(file);
  if (!dtype.empty()) a.dtype = dtype;
  for (const Fields* source : {&f, &file})
    if (a.quantization.empty() && source->has("quantization_config")) read_quantization(*source, a);
  a.tower = tower_parameters(file, a.hidden);
  if (file.has("vision_config")) a.image = largest_image(file);
  a.has_vision = a.tower > 0 || file.has("vision_config") || file.has("audio_config");
}

}  // namespace vram
