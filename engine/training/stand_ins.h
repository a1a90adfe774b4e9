#pragma once

#include "engine/sheet.h"
#include "engine/training/pipeline.h"

namespace vram {

/// Whether TransformerEngine keeps stand-ins for gradients that are added up inside the matrix products.
bool has_stand_ins(const Plan& plan);

/// One tensor for each shape of a weight on the stage.
Line stand_ins_line(Sheet& sheet, const Plan& plan, const Stage& stage);

}  // namespace vram
