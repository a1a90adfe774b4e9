#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/sheet.h"

namespace vram {

/// Bytes one GPU moves for one reason in one step, and the time that takes.
struct Traffic {
  Line line;
  const char* link = "";  // "nvlink", "network", "pcie"
  double seconds = 0, exposed_seconds = 0;
  double cover_seconds = 0;  // of arithmetic that runs beside it
};

/// Where the seconds of one step go, estimated.
struct StepSeconds {
  double matrices = 0, attention = 0;  // arithmetic, recomputation included
  double memory = 0;                   // norms, activations, casts: what memory bandwidth bounds
  double optimizer = 0;
  double host = 0;               // the GPU waits for kernels to be launched
  double link = 0, network = 0;  // messages that are not hidden: inside a node (or to the host), between nodes
  double bubble = 0;             // the pipeline fills and drains
  double total() const { return matrices + attention + memory + optimizer + host + link + network + bubble; }
};

/// Figures that do not apply are empty. FLOPs are counts; times seconds.
struct ComputeFigures {
  std::shared_ptr<const Sheet> sheet;     // of the traffic's lines; null where there are none
  std::optional<double> flops_per_token;  // training, by the convention of `flops`
  std::optional<double> step_flops, model_flops, hardware_flops;
  std::optional<double> mfu, hfu, mfu_band;
  const char* mfu_source = "";  // "given" (so or as measured_tokens_per_second), "estimated"
  const char* bound = "";       // what takes most of a step: "compute", "memory", "link", "network", "bubble"
  StepSeconds step;             // of the estimate, whether or not mfu is given
  std::optional<double> attention_share, micro_batches, step_seconds, tokens_per_second;
  std::optional<double> usd_per_billion_tokens, days, gpu_hours, usd, kwh;  // goodput counted
  std::vector<Traffic> traffic;
  std::optional<double> napkin_flops;  // 6 N D (6 N a token where no tokens are given)
  std::vector<Message> messages;       // e.g. FLOPs fell back to 6n
};

ComputeFigures compute_figures(const Plan& plan);

/// Where the time of the estimated step goes, in words; "" where no MFU is estimated.
std::string mfu_reason(const ComputeFigures& figures);

/// MFU is given, or follows from the speed that was measured of this very plan.
bool knows_mfu(const Plan& plan);

/// FLOPs a token, forward only, of the whole model with `context` tokens seen on average (serving: 2 N + attention).
double forward_flops_per_token(const Model& model, double context);

}  // namespace vram
