#pragma once

#include <vector>

#include "engine/line.h"
#include "engine/training/pipeline.h"

namespace vram {

/// Parameters of one rank that are cut and stored alike.
struct ParameterGroup {
  const char* id = "";
  const char* label = "";
  double layers = 0;          // layers that have them; 0: not a layer's, or layers differ
  double elements = 0;        // of the stage, before any division
  double factored = 0;        // of a rank: sums of rows and columns of its matrices (Adafactor's moment)
  double largest = 0;         // elements of its largest matrix
  double split = 1;           // tensor (and expert) parallel ranks that share them
  double shards = 1;          // ranks that share their states by ZeRO
  bool block_linear = false;  // linears of the layers: what k-bit quantisers take
  bool linear = false;        // linears at all: what autocast copies
  bool trained = true;        // false: a router's correction bias
};

/// The parameters of a stage, group by group: embedding and towers on the first, head (a copy of a tied embedding
/// behind a pipeline) on the last.
std::vector<ParameterGroup> stage_parameters(const Plan& plan, const Stage& stage);

/// Those of them that are no layer's.
std::vector<ParameterGroup> outer_parameters(const Plan& plan, const Stage& stage);

/// One layer of the kind that has most parameters on this rank, group by group.
std::vector<ParameterGroup> largest_layer(const Plan& plan, const Stage& stage);

/// Parameters of a group on one rank, before ZeRO.
double elements_a_rank(const Plan& plan, const ParameterGroup& group);

/// The factors that count a group's parameters on one rank: layers × parameters ÷ split, scaled to `params`.
Factors count_factors(const Plan& plan, const ParameterGroup& group);

/// Ranks that cut one copy of a matrix by tensor parallelism, its own among experts; keys and values no more than there
/// are heads of.
double tensor_ranks(const Plan& plan, const Matrix& matrix, double kv_heads);

/// Rows of a matrix cut along the vocabulary, padded to a multiple of vocab_pad × tp.
double padded_vocab(const Plan& plan, double rows);

}  // namespace vram
