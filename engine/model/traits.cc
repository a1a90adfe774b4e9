#include "engine/model/traits.h"

#include "engine/model/config_parts.h"

namespace vram {
namespace {

#define VRAM_TRAIT(member) \
  { #member, &Architecture::member }
const Trait<Architecture> kTraits[] = {
    VRAM_TRAIT(hidden_act),
    VRAM_TRAIT(norm),
    VRAM_TRAIT(norms_per_layer),
    VRAM_TRAIT(norms_total),
    VRAM_TRAIT(final_norm),
    VRAM_TRAIT(norm_bias),
    VRAM_TRAIT(embedding_norm),
    VRAM_TRAIT(o_bias),
    VRAM_TRAIT(mlp_bias),
    VRAM_TRAIT(head_bias),
    VRAM_TRAIT(parallel_residual),
    VRAM_TRAIT(qk_norm_kind),
    VRAM_TRAIT(position),
    VRAM_TRAIT(rotary_fraction),
    VRAM_TRAIT(position_rows),
    VRAM_TRAIT(embedding_dim),
    VRAM_TRAIT(moe_offset),
    VRAM_TRAIT(shared_expert_gate),
    VRAM_TRAIT(router_bias),
    VRAM_TRAIT(router_correction_bias),
    VRAM_TRAIT(expert_bias),
    VRAM_TRAIT(router_scales),
    VRAM_TRAIT(moe_latent),
    VRAM_TRAIT(attention_sinks),
    VRAM_TRAIT(output_gate),
    VRAM_TRAIT(sinks_in_sliding_only),
    VRAM_TRAIT(global_kv_heads),
    VRAM_TRAIT(global_head_dim),
    VRAM_TRAIT(global_k_eq_v),
    VRAM_TRAIT(kv_shared_layers),
    VRAM_TRAIT(kv_share_every),
    VRAM_TRAIT(kv_shared_projections),
    VRAM_TRAIT(index_heads),
    VRAM_TRAIT(index_head_dim),
    VRAM_TRAIT(index_topk),
    VRAM_TRAIT(index_pattern),
    VRAM_TRAIT(index_plain),
    VRAM_TRAIT(swiglu_limit),
    VRAM_TRAIT(expert_groups),
    VRAM_TRAIT(groups_per_token),
    VRAM_TRAIT(activation_scalars),
    VRAM_TRAIT(softcap),
    VRAM_TRAIT(laurel_rank),
    VRAM_TRAIT(altup_inputs),
    VRAM_TRAIT(per_layer_input),
    VRAM_TRAIT(per_layer_vocab),
    VRAM_TRAIT(ffn_per_layer),
    VRAM_TRAIT(heads_per_layer),
    VRAM_TRAIT(kv_heads_per_layer),
    VRAM_TRAIT(ffn_kinds),
    VRAM_TRAIT(dtype),
    VRAM_TRAIT(quantization),
    VRAM_TRAIT(has_vision),
    VRAM_TRAIT(tower),
    VRAM_TRAIT(image),
    VRAM_TRAIT(unquantized),
    VRAM_TRAIT(quantized_bits),
    VRAM_TRAIT(head_bits),
    VRAM_TRAIT(quantized_output),
    VRAM_TRAIT(unquantized_shared),
};
#undef VRAM_TRAIT

#define VRAM_TRAIT(member) \
  { #member, &LinearMixer::member }
const Trait<LinearMixer> kMixerTraits[] = {
    VRAM_TRAIT(kind),           VRAM_TRAIT(key_heads),    VRAM_TRAIT(value_heads), VRAM_TRAIT(key_head_dim),
    VRAM_TRAIT(value_head_dim), VRAM_TRAIT(inner),        VRAM_TRAIT(state),       VRAM_TRAIT(groups),
    VRAM_TRAIT(dt_rank),        VRAM_TRAIT(conv),         VRAM_TRAIT(conv_bias),   VRAM_TRAIT(bias),
    VRAM_TRAIT(inner_norms),    VRAM_TRAIT(narrow_state),
};
#undef VRAM_TRAIT

template <class Owner>
void read_trait(const Fields& f, const Trait<Owner>& trait, Owner& owner) {
  if (!f.has(trait.name)) return;
  if (const auto* number = std::get_if<double Owner::*>(&trait.member)) owner.** number = f.number(trait.name);
  if (const auto* flag = std::get_if<bool Owner::*>(&trait.member)) owner.** flag = f.flag(trait.name);
  if (const auto* text = std::get_if<std::string Owner::*>(&trait.member)) owner.** text = f.text(trait.name);
  if (const auto* list = std::get_if<std::vector<double> Owner::*>(&trait.member)) owner.** list = f.counts(trait.name);
}

}  // namespace

std::span<const Trait<Architecture>> architecture_traits() { return kTraits; }
std::span<const Trait<LinearMixer>> mixer_traits() { return kMixerTraits; }

void read_traits(const Fields& f, Architecture& a) {
  for (const Trait<Architecture>& trait : kTraits) read_trait(f, trait, a);
  const Fields mixer = f.section("linear");
  for (const Trait<LinearMixer>& trait : kMixerTraits) read_trait(mixer, trait, a.linear);
}

}  // namespace vram
