#pragma once

#include <string>
#include <string_view>

#include "engine/model/config_fields.h"

// The parts of reading a config.json, each from the file's fields (with the family's defaults behind them).

namespace vram {

void read_widths(const Fields& f, Architecture& a);
void read_projections(const Fields& f, Architecture& a);  // gates, biases, norms, positions
void read_layer_kinds(const Fields& f, Architecture& a);  // window, pattern, shared KV
void read_experts(const Fields& f, Architecture& a);
void read_latent_attention(const Fields& f, Architecture& a);
void read_mixer(const Fields& f, Architecture& a);                           // linear attention, state space
void read_blocks(const Fields& f, Architecture& a);                          // a list that describes layer after layer
void read_checkpoint(const Fields& file, const Fields& f, Architecture& a);  // precision, quantisation, towers
/// Parameters of a vision tower and its projector, of a preset's `tower` or worked out of a vision_config; 0 where its
/// shape is not told.
double tower_parameters(const Fields& file, double text_hidden);
/// Architecture::image of a vision_config.
std::vector<double> largest_image(const Fields& file);
/// A file's quantization_config: the format, its bits, and what it leaves as it was.
void read_quantization(const Fields& file, Architecture& a);
/// Fields of a quantization_config that list modules which are left as they were.
inline constexpr const char* kLeftOut[] = {"modules_to_not_convert", "ignore",  "ignored_layers",
                                           "exclude_modules",        "exclude", "llm_int8_skip_modules"};
/// Which parts of which layers a quantised checkpoint leaves in 16 bit or has in 8 (Architecture::unquantized and what
/// stands beside it): what its quantization_config lists as not converted, and where it names what is quantised, what
/// it does not name.
void read_unquantized(const Fields& quantization, Architecture& a);
/// What a text that is no JSON object is, as far as that can be told.
std::string what_text_is(std::string_view text);
/// "" or which of a model repository's other files this one is, and what to read instead.
std::string what_other_file(const Fields& file);
/// Names every field without which the parameters cannot be counted.
void name_missing(const Fields& f, const Architecture& a);

/// The family's own facts, and in a share string's `arch` whatever else it says by Architecture's names.
void read_traits(const Fields& f, Architecture& a);

}  // namespace vram
