#include "engine/model/matrices.h"

namespace vram {
namespace {

Matrix vector_of(const char* name, double rows, double cols = 1) {
  return {name, Part::other, Shard::replicated, rows, cols, 1, false};
}

Matrix projection(const char* name, double rows, double cols) {
  return {name, Part::other, Shard::replicated, rows, cols};
}

}  // namespace

// transformers, models/gemma3n/modeling_gemma3n.py: Gemma3nTextLaurelBlock, Gemma3nTextAltUp, Gemma3nTextDecoderLayer;
// Gemma 4 has the per-layer inputs only.
void add_layer_extras(const Architecture& a, Matrices& out) {
  if (a.laurel_rank > 0) {
    out.push_back(projection("laurel_left", a.laurel_rank, a.hidden));
    out.push_back(projection("laurel_right", a.hidden, a.laurel_rank));
    add_norm(a, "laurel_norm", a.hidden, 1, out);
  }
  if (a.altup_inputs > 0) {
    const double n = a.altup_inputs;
    out.push_back(vector_of("altup_output_scale", a.hidden));
    out.push_back(vector_of("altup_correction", n, n));
    out.push_back(vector_of("altup_prediction", n * n, n));
    out.push_back(projection("altup_router", n, a.hidden));
    add_norm(a, "altup_router_norm", a.hidden, 1, out);
  }
  if (a.per_layer_input > 0) {
    out.push_back(projection("per_layer_input_gate", a.per_layer_input, a.hidden));
    out.push_back(projection("per_layer_projection", a.hidden, a.per_layer_input));
    add_norm(a, "per_layer_input_norm", a.hidden, 1, out);
  }
}

}  // namespace vram
