#include <cmath>

#include "engine/model/config_parts.h"

namespace vram {
namespace {

void read_mamba1(const Fields& f, Architecture& a) {
  LinearMixer& m = a.linear;
  // A pure Mamba's intermediate_size is its inner width, and stands where `expand` says otherwise (Falcon Mamba).
  const bool is_inner = f.flag("_no_ffn") && f.has("intermediate_size");
  m.inner = is_inner ? f.count("intermediate_size") : std::floor(f.number("expand", 2) * a.hidden);
  m.state = f.count("state_size");
  m.conv = f.count("conv_kernel");
  m.conv_bias = f.flag("use_conv_bias");
  m.bias = f.decided("_mixer_bias");
  // "auto": modeling_mamba.py and modeling_jamba.py both round hidden / 16 up.
  m.dt_rank =
      f.is_text("time_step_rank") || !f.has("time_step_rank") ? std::ceil(a.hidden / 16) : f.count("time_step_rank");
}

/// The first of two spellings that means something here: mamba2's own num_heads, or a hybrid's mamba_num_heads.
double mamba2_field(const Fields& f, const char* own, const char* hybrid) {
  return f.has(hybrid) ? f.is_text(hybrid) ? 0 : f.count(hybrid) : f.count(own);
}

void read_mamba2(const Fields& f, Architecture& a) {
  LinearMixer& m = a.linear;
  m.value_heads = mamba2_field(f, "num_attention_heads", "mamba_num_heads");
  m.value_head_dim = mamba2_field(f, "head_dim", "mamba_head_dim");
  if (m.value_head_dim == 0 && m.value_heads > 0)  // "auto"
    m.value_head_dim = std::floor(f.number("expand", 2) * a.hidden / m.value_heads);
  m.inner = m.value_heads * m.value_head_dim;
  m.state = f.count("state_size");
  m.groups = f.count("n_groups");
  m.conv = f.count("conv_kernel");
  m.conv_bias = f.flag("use_conv_bias");
  m.bias = f.decided("_mixer_bias");
}

void read_gated_deltanet(const Fields& f, Architecture& a) {
  LinearMixer& m = a.linear;
  m.key_heads = f.count("linear_num_key_heads");
  m.value_heads = f.count("linear_num_value_heads");
  m.key_head_dim = f.count("linear_key_head_dim");
  m.value_head_dim = f.count("linear_value_head_dim");
  m.conv = f.count("linear_conv_kernel_dim");
}

void read_kda(const Fields& f, Architecture& a) {
  const Fields own = f.section("linear_attn_config");
  a.linear.value_heads = own.count("num_heads", f.count("linear_num_heads"));
  a.linear.value_head_dim = own.count("head_dim", f.count("linear_head_dim"));
  a.linear.conv = own.count("short_conv_kernel_size", f.count("linear_conv_kernel_dim"));
}

/// LFM2: gates around a convolution as wide as the model (transformers, modeling_lfm2.py, Lfm2ShortConv).
void read_short_conv(const Fields& f, Architecture& a) {
  a.linear.inner = a.hidden;
  a.linear.conv = f.count("conv_kernel");
  a.linear.bias = a.linear.conv_bias = f.decided("_mixer_bias");
}

}  // namespace

void read_mixer(const Fields& f, Architecture& a) {
  LinearMixer& m = a.linear;
  if (a.pattern.find_first_of("lm") == std::string::npos) {
    m = LinearMixer();
    return;
  }
  m.narrow_state = m.kind != "kda" && f.text("mamba_ssm_dtype") != "float32";  // KDA's kernels know fp32 alone
  if (m.kind == "mamba1") read_mamba1(f, a);
  if (m.kind == "mamba2") read_mamba2(f, a);
  if (m.kind == "gated_deltanet") read_gated_deltanet(f, a);
  if (m.kind == "kda") read_kda(f, a);
  if (m.kind == "short_conv") read_short_conv(f, a);
  if (m.kind == "lightning") {
    m.value_heads = a.heads;
    m.value_head_dim = a.head_dim;
  }
  if (m.kind.empty())
    f.fault("layer_types", "linear-attention or state-space layers, which this model_type is not known to have");
}

}  // namespace vram
