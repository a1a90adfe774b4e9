#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/advice/pareto.h"
#include "engine/advice/switches.h"
#include "engine/serving/serving.h"
#include "engine/training/training.h"

namespace vram {

/// A layout that fits: a plan of its own, and the figures that its estimate gives.
struct LayoutRow {
  Plan plan;
  Verdict verdict = Verdict::invalid;
  uint64_t device_bytes = 0, band_bytes = 0;
  int64_t headroom_bytes = 0;
  std::optional<double> mfu, step_seconds, tokens_per_second, days, gpu_hours, usd;
  Merits<3> merits{};  // memory, seconds a token, USD a token
};

/// A deployment that does what is asked, and its figures at the plan's `concurrency`.
struct DeploymentRow {
  Plan plan;
  Verdict verdict = Verdict::invalid;
  uint64_t device_bytes = 0;
  double gpus = 0;  // of all replicas
  std::optional<double> promised_concurrency, longest_context, prefill_seconds, decode_seconds_per_token,
      tokens_per_second, requests_per_second, usd_per_million_tokens;
  double bits_lost = 0;  // that weights and KV cache gave up, an element of each
  // -(what the question asked for), USD an hour (GPUs where no price is known), seconds a token, USD a token, bits lost
  Merits<5> merits{};
};

/// Layouts that are not rows, and why.
struct FellOut {
  const char* reason = "";
  size_t count = 0;
};

/// What the plan at hand could do without another layout, by monotone search on the same estimate.
struct Limit {
  const char* id = "";  // "longest_seq"
  std::string text;     // as a sentence: "With this layout sequences of up to 14,336 tokens fit."
  double value = 0;
  std::string change;  // share-string fragment that goes there, "seq=14336"; "" = nowhere to go
};

/// The answer to `question`.
struct Answer {
  Question question = Question::fit;
  bool serving = false;
  size_t tried = 0;
  std::vector<FellOut> fell_out;
  std::vector<LayoutRow> layouts;  // the Pareto set of memory, time and cost, best first
  std::vector<DeploymentRow> deployments;
  // Where it is put to several kinds of GPU: the best row of each, best first, and the ids of those that have none.
  std::vector<LayoutRow> layouts_by_gpu;
  std::vector<DeploymentRow> deployments_by_gpu;
  std::vector<std::string> gpus_without;
  std::optional<double> found;  // GPUs, tokens, sequences, requests: what the question asked for
  // Where there is no row: what holds the model and misses the deadline, the budget or the targets by the least factor,
  std::optional<LayoutRow> nearest_layout;
  std::optional<DeploymentRow> nearest_deployment;
  std::optional<uint64_t> lacking_bytes;  // or, where nothing fits, what the smallest one lacks
  std::vector<Limit> limits;
  std::vector<Switch> switches;
  std::vector<Message> messages;
};

}  // namespace vram
