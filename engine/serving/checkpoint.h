#pragma once

#include <string>

#include "engine/formats.h"
#include "engine/model/stored_halves.h"
#include "engine/plan/plan.h"

namespace vram {

/// How the plan's checkpoint stores each matrix. The plan's model must outlive it.
class Checkpoint {
 public:
  explicit Checkpoint(const Plan& plan);

  const Format& format() const { return format_; }
  bool gguf() const { return gguf_; }

  /// Whether it lists halves of layers that are not in its format.
  bool mixed() const { return !halves_.empty(); }
  /// Of a mixed checkpoint.
  Stored stored(const Matrix& matrix, size_t layer) const;
  double bits(const Matrix& matrix, Stored stored) const;

  /// Bits an element, with its scales: what is stored alike in all layers (a GGUF file's mixtures: gguf.h).
  double bits(const Matrix& matrix) const;

 private:
  const Model& model_;
  Format format_;
  bool gguf_;
  std::string halves_;  // a letter a layer (Architecture::unquantized)
  bool published_;      // as its config.json says
};

}  // namespace vram
