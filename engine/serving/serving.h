#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/sheet.h"
#include "engine/training/training.h"

namespace vram {

struct ServingNapkin {
  std::optional<uint64_t> weights_bytes, reserve_bytes, kv_bytes_per_request;
  std::optional<double> max_concurrency, flops_per_token;
};

/// One replica. Per GPU where the name says so. Figures that do not apply are empty.
struct ServingBill {
  std::shared_ptr<const Sheet> sheet;  // of all the lines; null where there are none
  Verdict verdict = Verdict::invalid;
  std::optional<uint64_t> weights_bytes_per_gpu, kv_bytes_per_token, kv_bytes_per_token_beyond_window,
      kv_bytes_per_token_per_gpu, kv_bytes_per_request, kv_budget_bytes_per_gpu, kv_tokens;
  std::optional<double> max_concurrency, max_concurrency_p99, max_concurrency_at_max_len, max_concurrency_at_tpot,
      max_concurrency_at_ttft, promised_concurrency, longest_context, replicas_needed;
  std::optional<double> kv_unused_share, kv_unused_share_reserved;  // of the places held; were max_len reserved
  // Of two populations, each served by replicas of its own.
  std::optional<double> max_concurrency_short, max_concurrency_long, replicas_needed_apart;
  const char* bound = "";  // "memory", "compute", "bandwidth"
  uint64_t device_bytes = 0, band_bytes = 0, capacity_bytes = 0;
  Lines lines;  // weights kv_cache activations graphs buffers context reserve; one GPU
  std::optional<double> flops_per_token, prefill_seconds, ttft_seconds, ttft_burst_seconds, decode_seconds_per_token,
      tokens_per_second, requests_per_second, usd_per_million_tokens;
  std::optional<double> speed_band;  // half-width on every time and rate, as a share
  Lines request_lines;               // how kv_bytes_per_request comes about
  Lines host_lines;                  // of the replica, in host memory: weights kv_cache activations outputs swap
  std::optional<uint64_t> host_bytes;
  std::optional<double> swapped_requests;
  ServingNapkin napkin;
  std::vector<Message> faults;
};

/// Uses plan.subject and plan.accelerator, which must not be null.
ServingBill serving_bill(const Plan& plan);

}  // namespace vram
