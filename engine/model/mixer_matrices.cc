#include "engine/model/matrices.h"

namespace vram {
namespace {

Matrix projection(const char* name, double rows, double cols) {
  return {name, Part::linear_mixer, Shard::tensor, rows, cols};
}

Matrix vector_of(const char* name, double rows, double cols = 1, Shard shard = Shard::tensor) {
  return {name, Part::linear_mixer, shard, rows, cols, 1, false};
}

void add_conv(const LinearMixer& m, double channels, Matrices& out) {
  if (m.conv <= 0) return;
  out.push_back(vector_of("conv1d", channels, m.conv));
  if (m.conv_bias) out.push_back(vector_of("conv1d_bias", channels));
}

/// Mamba (arXiv 2312.00752, section 3.4); norms on dt, B and C as in Jamba (arXiv 2403.19887, section 3.2).
void add_mamba1(const Architecture& a, Matrices& out) {
  const LinearMixer& m = a.linear;
  add_linear(projection("in_proj", 2 * m.inner, a.hidden), m.bias, out);
  add_conv(m, m.inner, out);
  out.push_back(projection("x_proj", m.dt_rank + 2 * m.state, m.inner));
  add_linear(projection("dt_proj", m.inner, m.dt_rank), true, out);
  out.push_back(vector_of("a_log", m.inner, m.state));
  out.push_back(vector_of("d", m.inner));
  if (m.inner_norms) out.push_back(vector_of("dt_b_c_norms", m.dt_rank + 2 * m.state, 1, Shard::replicated));
  add_linear(projection("out_proj", a.hidden, m.inner), m.bias, out);
}

/// Channels of mamba2's convolution: x, B and C.
double mamba2_conv_channels(const LinearMixer& m) { return m.inner + 2 * m.groups * m.state; }

/// Mamba-2 (arXiv 2405.21060, section 7.1 and listing of the parallel projection).
void add_mamba2(const Architecture& a, Matrices& out) {
  const LinearMixer& m = a.linear;
  add_linear(projection("in_proj", m.inner + mamba2_conv_channels(m) + m.value_heads, a.hidden), m.bias, out);
  add_conv(m, mamba2_conv_channels(m), out);
  out.push_back(vector_of("dt_bias", m.value_heads));
  out.push_back(vector_of("a_log", m.value_heads));
  out.push_back(vector_of("d", m.value_heads));
  out.push_back(vector_of("gated_norm", m.inner));
  add_linear(projection("out_proj", a.hidden, m.inner), m.bias, out);
}

/// LFM2's convolution between two gates (transformers, modeling_lfm2.py, Lfm2ShortConv).
void add_short_conv(const Architecture& a, Matrices& out) {
  const LinearMixer& m = a.linear;
  add_linear(projection("in_proj", 3 * m.inner, a.hidden), m.bias, out);
  add_conv(m, m.inner, out);
  add_linear(projection("out_proj", a.hidden, m.inner), m.bias, out);
}

/// Gated DeltaNet (arXiv 2412.06464) as Qwen3-Next has it: in_proj_qkvz, in_proj_ba, one convolution over q, k and v.
void add_gated_deltanet(const Architecture& a, Matrices& out) {
  const LinearMixer& m = a.linear;
  const double keys = m.key_heads * m.key_head_dim, values = m.value_heads * m.value_head_dim;
  out.push_back(projection("in_proj_qkvz", 2 * keys + 2 * values, a.hidden));
  out.push_back(projection("in_proj_ba", 2 * m.value_heads, a.hidden));
  add_conv(m, 2 * keys + values, out);
  out.push_back(vector_of("dt_bias", m.value_heads));
  out.push_back(vector_of("a_log", m.value_heads));
  out.push_back(vector_of("gated_norm", m.value_head_dim, 1, Shard::replicated));
  out.push_back(projection("out_proj", a.hidden, values));
}

/// Lightning attention of MiniMax-01 (arXiv 2501.08313, section 2.2): q, k, v, an output gate and its norm.
void add_lightning(const Architecture& a, Matrices& out) {
  const double width = a.linear.value_heads * a.linear.value_head_dim;
  out.push_back(projection("qkv_proj", 3 * width, a.hidden));
  out.push_back(projection("output_gate", width, a.hidden));
  out.push_back(vector_of("norm", width));
  out.push_back(projection("out_proj", a.hidden, width));
}

/// Kimi Delta Attention (arXiv 2510.26692, section 3): one decay a channel, forget and output gates of low rank.
void add_kda(const Architecture& a, Matrices& out) {
  const LinearMixer& m = a.linear;
  const double width = m.value_heads * m.value_head_dim;
  out.push_back(projection("qkv_proj", 3 * width, a.hidden));
  add_conv(m, 3 * width, out);
  for (const char* gate : {"forget_gate", "output_gate"}) {
    out.push_back({gate, Part::linear_mixer, Shard::replicated, m.value_head_dim, a.hidden});
    out.push_back(projection(gate, width, m.value_head_dim));
  }
  out.push_back(projection("beta_proj", m.value_heads, a.hidden));
  out.push_back(vector_of("a_log", m.value_heads));
  out.push_back(vector_of("dt_bias", width));
  out.push_back(vector_of("gated_norm", m.value_head_dim, 1, Shard::replicated));
  out.push_back(projection("out_proj", a.hidden, width));
}

}  // namespace

void add_linear_mixer(const Architecture& a, const Attention& attention, Matrices& out) {
  const std::string& kind = a.linear.kind;
  if (kind == "mamba1") return add_mamba1(a, out);
  if (kind == "mamba2") return add_mamba2(a, out);
  if (kind == "gated_deltanet") return add_gated_deltanet(a, out);
  if (kind == "kda") return add_kda(a, out);
  if (kind == "short_conv") return add_short_conv(a, out);
  if (kind == "lightning") return add_lightning(a, out);
  add_attention(a, attention, out);
}

double recurrent_state_elements(const LinearMixer& m) {
  if (m.kind == "mamba1" || m.kind == "mamba2") return m.inner * m.state;
  if (m.kind == "gated_deltanet") return m.value_heads * m.key_head_dim * m.value_head_dim;
  if (m.kind == "lightning" || m.kind == "kda") return m.value_heads * m.value_head_dim * m.value_head_dim;
  return 0;
}

double conv_state_elements(const LinearMixer& m) {
  const double tail = m.conv > 1 ? m.conv - 1 : 0;
  if (m.kind == "mamba1" || m.kind == "short_conv") return m.inner * tail;
  if (m.kind == "mamba2") return mamba2_conv_channels(m) * tail;
  if (m.kind == "gated_deltanet") return (2 * m.key_heads * m.key_head_dim + m.value_heads * m.value_head_dim) * tail;
  if (m.kind == "kda") return 3 * m.value_heads * m.value_head_dim * tail;
  return 0;
}

}  // namespace vram
