#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/model/model.h"
#include "engine/plan/plan.h"
#include "engine/sheet.h"

namespace vram {

enum class Verdict : uint8_t { fits, tight, exceeds, invalid };
const char* verdict_word(Verdict verdict);

/// What a GPU holds at its fullest moment of one phase of a step.
struct Phase {
  const char* id = "";  // "load" (only where it is no part of what the step holds), "forward", "loss", "backward",
                        // "reduce", "optimizer"
  uint64_t allocated_bytes = 0;
  Lines lines;  // weights .. buffers; add up to allocated_bytes
};

/// One pipeline stage: its fullest phase.
struct StageBill {
  int stage = 0;
  double first_layer = 0, layers = 0;
  uint64_t allocated_bytes = 0, reserved_bytes = 0, device_bytes = 0, band_bytes = 0;
  uint64_t steady_bytes = 0, steady_band_bytes = 0;  // allocated between two steps
  const char* phase = "";
  Lines lines;  // of that phase, sums only (stage_lines has the rest); add up to device_bytes
};

struct TrainingNapkin {
  std::optional<uint64_t> states_bytes, activations_bytes, buffers_bytes, total_bytes;
  std::optional<uint64_t> gpus;
};

/// What the fullest GPU holds, without the lines that say why.
struct TrainingTotals {
  Verdict verdict = Verdict::invalid;
  const char* phase = "";  // of the largest peak, and its stage
  int stage = 0;
  uint64_t allocated_bytes = 0, reserved_bytes = 0, device_bytes = 0, band_bytes = 0;
  int64_t headroom_bytes = 0;   // capacity (after `margin`) - device_bytes
  uint64_t capacity_bytes = 0;  // what the driver reports x (1 - margin)
  std::optional<uint64_t> host_bytes_per_node;
  std::optional<Verdict> host_verdict;
};

struct TrainingBill : TrainingTotals {
  std::shared_ptr<const Sheet> sheet;  // of all the lines; null where there are none
  Lines lines;                         // weights gradients optimizer adapters activations logits gathered buffers
                                       // fragmentation context communication, always, in this order
  std::vector<Phase> phases;           // of that stage
  std::vector<StageBill> stages;
  std::optional<uint64_t> host_load_bytes_per_node;  // before the first step
  TrainingNapkin napkin;
  std::vector<Message> faults;  // why it is invalid
};

/// The training bill of a plan. Pure; microseconds. Uses plan.subject and plan.accelerator, which must not be null.
TrainingBill training_bill(const Plan& plan);

/// The same figures by the same rules, for a search over many plans: no lines, no napkin, no faults in words.
TrainingTotals training_totals(const Plan& plan);

/// The lines of any one stage in its fullest phase, as the bill has them of the fullest stage.
Lines stage_lines(Sheet& sheet, const Plan& plan, size_t stage);

/// Those that a step goes through: all but loading.
std::span<const Phase> step_phases(std::span<const Phase> phases);

/// Layers of each pipeline stage: `stages` where given, else as even as possible, surplus to later stages.
std::vector<double> stage_layers(const Plan& plan);

/// Parameters that carry a gradient (all for full; the adapters and trained embeddings for lora, qlora).
double trained_parameters(const Plan& plan);

}  // namespace vram
