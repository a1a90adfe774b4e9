#pragma once

#include "engine/serving/replica.h"
#include "engine/serving/vllm_run.h"
#include "engine/sheet.h"

namespace vram {

/// What vllm's profile run pushes through a vision tower before it runs the language model: as many of the largest
/// images as fit a batch, or one that is larger than it (v1/worker/gpu_model_runner.py, profile_run;
/// multimodal/encoder_budget.py).
struct TowerRun {
  double images = 0, patches = 0, tokens = 0;  // of an image
  double elements = 0;                         // of a patch on a GPU, where it holds most
  double outputs = 1;                          // hidden sizes a token
};

/// Of a model that has a tower. No images: the batch has no room for one.
TowerRun tower_run(const Plan& plan, const Replica& replica);

Line tower_line(Sheet& sheet, const TowerRun& run);
/// What it puts out, which lies beside the language model's run.
Line encoder_cache_line(Sheet& sheet, const Plan& plan, const TowerRun& run);

}  // namespace vram
