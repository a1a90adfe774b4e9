#pragma once

#include <array>
#include <vector>

#include "engine/sheet.h"
#include "engine/training/phases.h"

namespace vram {

/// Lines of a bill: those of a phase; fragmentation, context, communication.
inline constexpr size_t kBillLines = kPhaseLines + 3;

/// A stage in its fullest phase, the earlier one where two are alike.
struct StagePeak {
  size_t phase = 0;
  const char* phase_id = "";
  std::array<Amount, kBillLines> lines;
  uint64_t allocated_bytes = 0, reserved_bytes = 0, device_bytes = 0, band_bytes = 0;
  Holdings held;
  double room = 0;  // that the device has for fragments
};

/// The stages of a pipeline, each by its peak or line by line; those that hold the same are worked out together.
/// The plan and the sheet must outlive it.
class PipelineLedger {
 public:
  PipelineLedger(const Plan& plan, Sheet& sheet);
  PipelineLedger(const PipelineLedger&) = delete;
  PipelineLedger& operator=(const PipelineLedger&) = delete;

  const std::vector<Stage>& stages() const { return stages_; }
  StagePeak peak(const Stage& stage);

  // Of lines only:

  std::vector<Phase> phases(const Stage& stage);
  /// Allocated between two steps.
  Amount steady(const Stage& stage) { return alike(stage).ledger.steady(plan_); }
  /// The lines of the peak, `phases` being those of the stage; and their sums only.
  Lines lines(const Stage& stage, const StagePeak& peak, const std::vector<Phase>& phases);
  Lines bare_lines(const Stage& stage, const StagePeak& peak);

 private:
  struct Alike {
    const Stage* first;
    StageLedger ledger;
    Line communication;
  };

  const Alike& alike(const Stage& stage);
  double room(const Alike& alike, uint64_t allocated_bytes) const;

  const Plan& plan_;
  Sheet& sheet_;
  ModelTensors tensors_;
  WorkingLayers layers_;
  Line workspace_, context_;
  std::vector<Stage> stages_;
  std::vector<Alike> alike_;
};

}  // namespace vram
