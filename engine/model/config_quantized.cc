#include <algorithm>

#include "engine/formats.h"
#include "engine/model/config_parts.h"

namespace vram {
namespace {

struct Word {
  std::string_view said, means;
};

// quant_method, and the finer words of compressed-tensors ("format"), ModelOpt ("quant_algo"), Quark ("dtype") and
// torchao ("_type"), as storage formats.
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
    {"hqq", "int4"},
    {"exl2", "int4"},
    {"exl3", "int4"},
    {"bitnet", "int4"},
    {"fp4", "mxfp4"},
    {"fp8_e4m3", "fp8"},
    {"int4", "int4"},
    {"int8", "int8"},
    {"Int4WeightOnlyConfig", "int4"},
    {"Int8WeightOnlyConfig", "int8"},
    {"Int8DynamicActivationInt8WeightConfig", "int8"},
    {"Float8WeightOnlyConfig", "fp8"},
    {"Float8DynamicActivationFloat8WeightConfig", "fp8"},
};

std::string_view meaning_of(std::string_view said) {
  for (const Word& word : kMethods)
    if (word.said == said) return word.means;
  return "";
}

/// How a weight is stored, as far as the file says.
struct Storage {
  std::string_view format;
  double bits = 0;   // of a weight itself
  double group = 0;  // weights that share a scale of 16 bits; 0: a column
  double zero = 0;   // bits of a group's zero point
  double with_scales() const { return group > 0 ? bits + (16 + zero) / group : bits; }
};

double group_of(const Fields& f) { return std::max(0.0, f.signed_count("group_size")); }

/// compressed-tensors: the group of the fewest bits; what others hold is kept wider (read_unquantized).
void read_groups(const Fields& groups, Storage& stored) {
  double fewest = 0;
  for (const std::string& name : groups.names()) {
    const Fields group = groups.section(name.c_str()), weights = group.section("weights");
    const double bits = weights.count("num_bits");
    if (bits <= 0 || (fewest > 0 && bits >= fewest)) continue;
    fewest = bits;
    const bool real = weights.text("type") == "float";
    if (const std::string_view own = meaning_of(group.text("format")); !own.empty()) stored.format = own;
    if (stored.format.empty()) stored.format = !real ? bits > 4 ? "int8" : "int4" : bits > 4 ? "fp8" : "nvfp4";
    if (real) continue;
    stored.bits = bits;
    stored.group = group_of(weights);
    stored.zero = weights.flag("symmetric", true) ? 0 : bits;
  }
}

/// GPTQ, AWQ and AutoRound keep a zero point a group, needed or not (AutoGPTQ qlinear: qzeros); of EXL2 and EXL3 `bits`
/// is all that a weight takes (exllamav3, conversion/convert_model.py).
void read_packed(const Fields& q, const std::string& method, Storage& stored) {
  if (!q.has("bits")) return;
  stored.bits = q.number("bits");
  if (method == "exl2" || method == "exl3") return;
  stored.group = group_of(q);
  stored.zero = q.flag("zero_point", true) ? stored.bits : 0;
}

/// HQQ's scale and zero point are 16-bit, as are torchao's; BitNet packs four weights into a byte (transformers,
/// integrations/bitnet.py); bitsandbytes' constants are fp32 where they are not quantised once more.
void read_other(const Fields& q, const std::string& method, Storage& stored) {
  const Fields hqq = q.section("quant_config").section("weight_quant_params");
  const Fields torchao = q.section("quant_type").section("default"), quark = q.section("global_quant_config");
  if (hqq.has("nbits")) stored = {"int4", hqq.number("nbits"), group_of(hqq), 16};
  if (method == "bitnet") stored.bits = 2;
  if (method == "bitsandbytes" && stored.format == "nf4" && !q.flag("bnb_4bit_use_double_quant", true))
    stored.bits = 4.5;
  if (method == "torchao") {
    stored.format = meaning_of(torchao.text("_type"));
    if (stored.format == "int4") stored = {"int4", 4, group_of(torchao.section("_data")), 16};
  }
  if (method != "quark") return;
  const Fields weight = quark.section("weight");
  stored.format = meaning_of(weight.text("dtype"));
  if (stored.format == "int4") stored = {"int4", 4, group_of(weight), weight.flag("symmetric", true) ? 0.0 : 4.0};
}

Storage storage_of(const Fields& q) {
  Storage stored;
  const std::string method = q.text("quant_method");
  const bool eight = q.flag("load_in_8bit");
  for (const char* field : {"quant_algo", "format", "quant_method"})
    if (stored.format.empty() && q.is_text(field)) stored.format = meaning_of(q.text(field));
  if (method == "bitsandbytes" || eight || q.flag("load_in_4bit")) stored.format = eight ? "int8" : "nf4";
  read_groups(q.section("config_groups"), stored);
  read_packed(q, method, stored);
  read_other(q, method, stored);
  const bool packed = stored.format == "gptq" || stored.format == "awq" || stored.format == "int4";
  if (packed && stored.bits == 8) stored.format = "int8";
  return stored;
}

/// Whether anything is said of single modules.
bool names_modules(const Fields& q) {
  const auto given = [&q](const char* field) { return q.has(field); };
  const auto fields = {"quantized_layers", "config_groups", "dynamic", "extra_config"};
  return std::any_of(std::begin(kLeftOut), std::end(kLeftOut), given) ||
         std::any_of(fields.begin(), fields.end(), given);
}

/// A list that leaves no half of a layer out says that all is quantised where the format usually is of some of it; so
/// does a quantiser that takes every linear layer.
bool quantises_everything(const Fields& q, const Architecture& a) {
  if (a.experts <= 0 && a.linear.kind.empty()) return false;
  for (const char* list : {"ignore", "modules_to_not_convert", "exclude_modules", "exclude", "dynamic", "head_bits"})
    if (q.has(list)) return true;
  return q.text("quant_method") == "auto-round" || q.text("quant_method") == "hqq";
}

}  // namespace

void read_quantization(const Fields& file, Architecture& a) {
  const Fields q = file.section("quantization_config");
  const Fields inner = q.section("quantization");  // ModelOpt's own nesting
  const Fields& told = inner.has("quant_algo") ? inner : q;
  if (q.names().empty())
    return file.fault("quantization_config", "no quantisation that is known here; billed as if there were none");
  const Storage stored = storage_of(told);
  if (stored.format.empty())
    return told.fault("quant_method",
                      "a quantisation that is not modelled; the weights are billed as if not quantised");
  a.quantization = stored.format;
  const double bits = stored.with_scales();
  if (bits > 0 && bits < 16 && bits != find_format(a.quantization)->bits) a.quantized_bits = bits;
  if (told.flag("lm_head")) a.head_bits = bits;
  if (told.has("head_bits")) a.head_bits = told.number("head_bits");
  if (names_modules(told) && a.layers >= 1 && a.layers <= 10000) read_unquantized(told, a);
  if (a.unquantized.empty() && quantises_everything(told, a)) a.unquantized = "1q";
}

}  // namespace vram
