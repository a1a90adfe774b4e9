#pragma once

#include <string_view>

namespace vram {

/// What a model_type means beyond what its files say: one row a family.
/// `defaults` are JSON: config.json fields that the class defaults when a file leaves them out, Architecture's own
/// members (said by name: what the family's modeling code does), and directives of the reader, which start with '_':
///   _gated _qk_norm _qkv_bias _o_bias _mlp_bias _head_bias   true, false, or the flag in the file that decides
///                                                            ("!name": negated)
///   _ffn_multiple      ffn = this x hidden, where a file does not say
///   _ffn_halved        the file's ffn counts gate and up together
///   _window            sliding_window is used: "all" layers, or those that the layer kinds say
///   _pattern           layer kinds of a file that lists none, as in Architecture::pattern
///   _router_bias_field the flag that decides on a router's correction bias
///   _unmodelled        fields that, switched on, add what is not modelled: such a file is refused
///   _alibi_without     ALiBi in files that lack this field
///   _no_attention _no_ffn _ffn_or_mixer _shared_alone _dense_beside_experts _extra_norms_with_experts _parallel
///   _one_norm_if _norm_bias _mixer_bias _rope_is_local _position_offset _vocab_field
///   _index_by_layer_type _attention_by_index: see where they are read
struct Family {
  std::string_view model_types;  // separated by spaces; the first names the family
  std::string_view classes;      // how its `architectures` begin
  std::string_view like;         // a family whose defaults stand behind these
  std::string_view defaults;
  std::string_view nested;  // class defaults of shape, on top of those of `like`, which only a text_config
                            // leaves out; "" = not known here, and then named as missing
};

const Family* find_family(std::string_view model_type);
/// The family whose classes begin like this one.
const Family* find_family_of_class(std::string_view architecture);
/// The same, where the class is the family's own: "MistralForCausalLM", not "Mistral4ForCausalLM".
const Family* find_family_of_own_class(std::string_view architecture);
/// Whether a class is a language model's, by how its name ends.
bool is_language_model_class(std::string_view architecture);
/// "an encoder", "a speech model" ... for architectures that are known and are no decoder-only language model.
std::string_view why_not_a_decoder(std::string_view model_type);

}  // namespace vram
