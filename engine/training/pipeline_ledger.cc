#include "engine/training/pipeline_ledger.h"

#include <algorithm>

#include "engine/training/overheads.h"

namespace vram {
namespace {

/// What nvidia-smi shows of a GPU that caching has filled: the median of 19 runs that need less than there is, but
/// would cache more (85 to 99%).
constexpr double kFullShare = 0.95;

Line bare(const Line& line, const Amount& amount) {
  Line copy = bare(line);
  static_cast<Amount&>(copy) = amount;
  return copy;
}

}  // namespace

PipelineLedger::PipelineLedger(const Plan& plan, Sheet& sheet)
    : plan_(plan),
      sheet_(sheet),
      tensors_(plan),
      layers_(plan, tensors_),
      workspace_(workspace_line(sheet, plan)),
      context_(context_line(sheet, plan)),
      stages_(pipeline_stages(plan)) {}

const PipelineLedger::Alike& PipelineLedger::alike(const Stage& stage) {
  for (const Alike& known : alike_)
    if (hold_the_same(plan_, *known.first, stage)) return known;
  alike_.push_back({&stage, StageLedger(plan_, stage, tensors_, layers_, workspace_, sheet_),
                    communication_line(sheet_, plan_, stage)});
  return alike_.back();
}

double PipelineLedger::room(const Alike& alike, uint64_t allocated_bytes) const {
  const uint64_t needed = allocated_bytes + context_.bytes + alike.communication.bytes;
  return kFullShare * plan_.gpu_mem * (1 - plan_.margin) - static_cast<double>(needed);
}

StagePeak PipelineLedger::peak(const Stage& stage) {
  const Alike& held = alike(stage);
  const std::vector<PhaseAmounts> phases = held.ledger.amounts(stage.chunks_in_flight);
  StagePeak peak;
  for (size_t i = 0; i < phases.size(); ++i) {
    const uint64_t allocated = phases[i].allocated_bytes();
    if (i > 0 && allocated <= peak.allocated_bytes) continue;
    peak.phase = i;
    peak.allocated_bytes = allocated;
  }
  peak.phase_id = phases[peak.phase].id;
  std::copy_n(phases[peak.phase].lines.begin(), kPhaseLines, peak.lines.begin());
  peak.held = held.ledger.holdings(phases);
  peak.room = room(held, peak.allocated_bytes);
  peak.lines[kPhaseLines] = fragmentation_amount(plan_, peak.held, peak.room);
  peak.lines[kPhaseLines + 1] = context_;
  peak.lines[kPhaseLines + 2] = held.communication;
  peak.reserved_bytes = peak.allocated_bytes + peak.lines[kPhaseLines].bytes;
  peak.device_bytes = total_bytes(peak.lines);
  peak.band_bytes = total_band_bytes(peak.lines);
  return peak;
}

std::vector<Phase> PipelineLedger::phases(const Stage& stage) {
  return alike(stage).ledger.phases(stage.chunks_in_flight);
}

Lines PipelineLedger::bare_lines(const Stage& stage, const StagePeak& peak) {
  const Alike& held = alike(stage);
  LineList lines(sheet_, kBillLines);
  for (size_t i = 0; i < kPhaseLines; ++i) lines.push_back(bare(held.ledger.title(peak.phase, i), peak.lines[i]));
  lines.push_back({peak.lines[kPhaseLines], "fragmentation", "Fragmentation", "", {}, {}});
  lines.push_back(bare(context_));
  lines.push_back(bare(held.communication));
  return lines;
}

Lines PipelineLedger::lines(const Stage& stage, const StagePeak& peak, const std::vector<Phase>& phases) {
  const Alike& held = alike(stage);
  LineList lines(sheet_, kBillLines);
  for (const Line& line : phases[peak.phase].lines) lines.push_back(line);
  lines.push_back(fragmentation_line(sheet_, plan_, peak.held, peak.room));
  lines.push_back(context_);
  lines.push_back(held.communication);
  return lines;
}

}  // namespace vram
