#include "engine/model/config_parts.h"

namespace vram {
namespace {

struct Beginning {
  std::string_view bytes, what;
};

// How files begin that are taken for a config.json.
constexpr Beginning kBeginnings[] = {
    {"GGUF", "a GGUF file, not a config.json; read the config.json of the model that it was made from"},
    {"version https://git-lfs", "a Git LFS pointer, not the file that it stands for"},
    {"<", "a web page, not the file itself"},
    {"PK\x03\x04", "a weight file or archive, not a config.json"},
    {"\xFF\xFE", "text in UTF-16; save it in UTF-8"},
    {"\xFE\xFF", "text in UTF-16; save it in UTF-8"},
};

struct Marker {
  std::string_view field, what;
};

// A field that only this other file has.
constexpr Marker kMarkers[] = {
    {"peft_type", "an adapter's file (adapter_config.json); read the config.json of its base model"},
    {"weight_map", "an index of weight files; read the config.json beside it"},
    {"tokenizer_class", "a tokenizer's file; read the config.json beside it"},
    {"_diffusers_version", "a diffusion model's file, not a decoder-only language model's"},
    {"producer", "a quantiser's file (hf_quant_config.json); read the config.json beside it"},
    {"n_layers", "a params.json of Meta's or Mistral's own format; read the config.json of the same model"},
};

}  // namespace

std::string what_text_is(std::string_view text) {
  if (text.empty()) return "an empty file";
  for (const Beginning& beginning : kBeginnings)
    if (text.starts_with(beginning.bytes)) return std::string(beginning.what);
  const std::string refused = why_not_parsed(text);
  return refused.empty() ? "not a JSON object" : refused;
}

std::string what_other_file(const Fields& file) {
  for (const std::string& name : file.names())
    for (const Marker& marker : kMarkers)
      if (marker.field == name) return std::string(marker.what);
  return "";
}

}  // namespace vram
