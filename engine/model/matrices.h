#pragma once

#include <vector>

#include "engine/model/model.h"

// The matrices of one layer, block by block. Rows are outputs, columns inputs; a vector has one column.

namespace vram {

using Matrices = std::vector<Matrix>;

void add_attention(const Architecture& a, const Attention& attention, Matrices& out);
void add_ffn(const Architecture& a, const Ffn& ffn, Matrices& out);
/// The linear-attention or state-space mixer `a.linear`; where its kind is unknown, an attention's projections.
void add_linear_mixer(const Architecture& a, const Attention& attention, Matrices& out);
/// `copies` norms of `width` channels: weights, and biases where the model's norms have them.
void add_norm(const Architecture& a, const char* name, double width, double copies, Matrices& out);
/// What Gemma 3n and 4 add to every layer: low-rank residual, alternating updates, per-layer inputs.
void add_layer_extras(const Architecture& a, Matrices& out);
/// A linear's weight, and its bias where `bias`: as many rows, cut like the weight's rows.
void add_linear(const Matrix& weight, bool bias, Matrices& out);

/// Elements of the recurrent state, and of the short convolution's tail, that one layer keeps a sequence.
double recurrent_state_elements(const LinearMixer& mixer);
double conv_state_elements(const LinearMixer& mixer);

}  // namespace vram
