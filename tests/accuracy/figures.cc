#include "tests/accuracy/figures.h"

#include "tests/accuracy/figures_serving.h"
#include "tests/accuracy/figures_training.h"

namespace vram::accuracy {
namespace {

bool is_timed(Figure f) {
  return f == Figure::prefill_speed || f == Figure::serving_speed || f == Figure::token_time ||
         f == Figure::first_token;
}

bool is_compute(Figure f) {
  return f == Figure::speed || f == Figure::gpu_hours || f == Figure::total_flops || f == Figure::published_flops;
}

}  // namespace

void answer(Measurement& m) {
  if (!m.skipped.empty() || m.estimate > 0) return;
  const Report r = report(m.share);
  if (!r.answered) {
    m.skipped = r.messages.empty() ? "no answer" : r.messages.front().text;
    return;
  }
  m.share = r.share;
  const bool saved = m.figure == Figure::saved || m.figure == Figure::loss_peak;
  const bool training = m.figure <= Figure::out_of_memory || saved;
  if (training && r.training.stages.empty()) {
    m.skipped = r.training.faults.empty() ? "no bill" : r.training.faults.front().text;
    return;
  }
  Amount amount;
  if (m.figure == Figure::ran || m.figure == Figure::out_of_memory)
    amount = verdict_amount(r, m);
  else if (saved)
    amount = saved_amount(r, m);
  else if (training)
    amount = training_amount(r, m);
  else if (is_compute(m.figure))
    amount = compute_amount(r, m);
  else
    amount = serving_amount(r, m);
  if (amount.value == 0 && is_compute(m.figure) && !r.training.faults.empty()) {
    m.skipped = "refused: " + r.training.faults.front().text;
    return;
  }
  if (amount.value == 0 && is_timed(m.figure)) {
    m.skipped = "the board's bandwidth or peak is not known";
    return;
  }
  m.estimate = amount.value;
  m.band = amount.band;
}

}  // namespace vram::accuracy
