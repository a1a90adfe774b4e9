#include "engine/report/figures.h"

#include <cmath>

#include "engine/report/bars.h"
#include "engine/report/figure_list.h"
#include "engine/units.h"

namespace vram {
namespace {

std::string spare(const Report& report) {
  const int64_t headroom = report.training.headroom_bytes;
  const std::string gap = shown(report, std::fabs(static_cast<double>(headroom)));
  return "of " + shown(report, static_cast<double>(report.training.capacity_bytes)) + ": " + gap +
         (headroom < 0 ? " too much" : " to spare");
}

std::string phase_list(const Report& report) {
  std::string text;
  for (const Phase& phase : report.training.phases) {
    if (!text.empty()) text += " · ";
    text.append(phase.id).append(" ").append(amount(report, static_cast<double>(phase.allocated_bytes)));
  }
  return text;
}

/// Stages that are alike and follow one another share a row.
void add_stages(const Report& report, FigureList& list) {
  const std::vector<StageBill>& stages = report.training.stages;
  if (stages.size() < 2) return;
  for (size_t first = 0, end = 0; first < stages.size(); first = end) {
    end = end_of_alike(stages, first);
    const StageBill& stage = stages[first];
    list.add(name_of_stages(first, end) + ", " + counted(stage.layers, "layer", "layers"),
             shown(report, static_cast<double>(stage.device_bytes)), "fullest " + phase_place(stage.phase));
  }
}

void add_speed(const Report& report, FigureList& list) {
  const ComputeFigures& compute = report.compute;
  if (compute.mfu) {
    std::string remark = compute.mfu_source;
    if (compute.mfu_band) remark += ", ± " + percent(*compute.mfu_band);
    if (const std::string reason = mfu_reason(compute); !reason.empty()) remark += "; " + reason;
    list.add("MFU", percent(*compute.mfu), remark);
  }
  if (compute.hfu && compute.hfu != compute.mfu) list.add("HFU", percent(*compute.hfu), "recomputation counted");
  if (compute.step_seconds) {
    const std::string batches = compute.micro_batches ? show_grouped(*compute.micro_batches) + " micro-batches of " +
                                                            show_grouped(report.plan.micro_batch) + " × " +
                                                            show_grouped(report.plan.seq) + " tokens"
                                                      : "";
    list.add("Step", show_duration(*compute.step_seconds), batches);
  }
  if (compute.tokens_per_second) {
    list.add("Tokens a second", show_count(*compute.tokens_per_second),
             show_count(*compute.tokens_per_second / report.plan.gpus) + " a GPU");
  }
  if (compute.usd_per_billion_tokens) list.add("Cost", usd_text(*compute.usd_per_billion_tokens), "a billion tokens");
  if (*compute.bound) list.add("Bound by", compute.bound);
}

void add_run(const ComputeFigures& compute, FigureList& list) {
  if (compute.model_flops) list.add("Work of the run", flops_text(*compute.model_flops), "model FLOPs");
  if (compute.hardware_flops && compute.hardware_flops != compute.model_flops)
    list.add("", flops_text(*compute.hardware_flops), "hardware FLOPs, recomputation counted");
  if (compute.days) list.add("Time", show_duration(*compute.days * 86400));
  if (compute.gpu_hours) list.add("GPU-hours", show_count(*compute.gpu_hours));
  if (compute.usd) list.add("Cost", usd_text(*compute.usd), "of the run");
  if (compute.kwh) list.add("Energy", show_count(*compute.kwh) + " kWh");
}

}  // namespace

std::vector<Figure> training_figures(const Report& report) {
  const TrainingBill& bill = report.training;
  if (bill.verdict == Verdict::invalid) return {};
  FigureList list(report);
  list.bytes("Allocated", bill.allocated_bytes, "peak of torch.cuda.max_memory_allocated");
  list.bytes("Reserved", bill.reserved_bytes, "with fragmentation");
  list.add("Device", shown(report, static_cast<double>(bill.device_bytes)),
           "± " + shown(report, static_cast<double>(bill.band_bytes)) + ", " + spare(report));
  list.add(std::string("Allocated by phase, ") + amount_unit(report), phase_list(report));
  add_stages(report, list);
  if (bill.host_bytes_per_node) {
    const bool over = bill.host_verdict && *bill.host_verdict == Verdict::exceeds;
    list.bytes("Host, a node", *bill.host_bytes_per_node, over ? "more than there is" : "");
  }
  list.bytes("Host while loading, a node", bill.host_load_bytes_per_node, "before the first step");
  return list.figures;
}

std::vector<Figure> training_napkin_figures(const Report& report) {
  const TrainingNapkin& napkin = report.training.napkin;
  FigureList list(report);
  list.bytes("States", napkin.states_bytes, "16 B a trained parameter, 2 B a frozen one");
  list.bytes("Activations", napkin.activations_bytes, "34·s·b·h + 5·a·s²·b a layer");
  list.bytes("Buffers", napkin.buffers_bytes, "cuBLAS, NCCL, framework");
  list.bytes("One whole copy", napkin.total_bytes, "one micro-batch, nothing divided");
  if (napkin.gpus) list.add("GPUs", show_grouped(static_cast<double>(*napkin.gpus)), "by the memory on the box");
  return list.figures;
}

std::vector<Figure> compute_figure_list(const Report& report) {
  const ComputeFigures& compute = report.compute;
  FigureList list(report);
  if (compute.flops_per_token) {
    const std::string share = compute.attention_share ? ", " + percent(*compute.attention_share) + " in attention" : "";
    list.add("Work a token", flops_text(*compute.flops_per_token),
             "convention " + value_text(report.plan, Key::flops) + share);
  }
  if (compute.step_flops) list.add("Work a step", flops_text(*compute.step_flops));
  add_speed(report, list);
  add_run(compute, list);
  if (compute.napkin_flops) {
    list.add("Napkin", flops_text(*compute.napkin_flops), compute.model_flops ? "6 N D" : "6 N a token");
  }
  return list.figures;
}

}  // namespace vram
