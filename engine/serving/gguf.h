#pragma once

#include <vector>

#include "engine/formats.h"
#include "engine/model/model.h"

namespace vram {

/// A file whose tensors differ in type, as llama.cpp's quantiser decides them. mxfp4 is one where llama.cpp reads it.
bool is_gguf(const Format& format, bool llamacpp);

/// The tensors that a file holds a matrix in: llama.cpp cuts Gated DeltaNet's input projection into what the
/// convolution reads and the gate (src/llama-arch.cpp, LLM_TENSOR_ATTN_QKV and LLM_TENSOR_ATTN_GATE).
std::vector<Matrix> gguf_tensors(const Model& model, const Matrix& matrix);

/// How the tensors of one matrix are stored: some layers' in `raised` bits, the others' in `bits`.
struct GgufStorage {
  double bits = 0, raised = 0;
  double raised_layers = 0;  // of the layers asked about
};

/// Storage of `matrix` in the layers of kind `kind` among [first, first + count). Ends have no layers: count 0.
GgufStorage gguf_storage(const Format& file, const Model& model, const Matrix& matrix, size_t kind, size_t first,
                         size_t count);

}  // namespace vram
