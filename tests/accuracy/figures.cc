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

bool is_verdict(Figure f) { return f == Figure::ran || f == Figure::out_of_memory; }

bool is_saved(Figure f) { return f == Figure::saved || f == Figure::loss_peak; }

bool is_training(Figure f) { return f <= Figure::out_of_memory || is_saved(f); }

Amount amount_of(const Report& r, const Measurement& m) {
  if (is_verdict(m.figure)) return verdict_amount(r, m);
  if (is_saved(m.figure)) return saved_amount(r, m);
  if (is_training(m.figure)) return training_amount(r, m);
  return is_compute(m.figure) ? compute_amount(r, m) : serving_amount(r, m);
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
  if (is_training(m.figure) && r.training.stages.empty()) {
    m.skipped = r.training.faults.empty() ? "no bill" : r.training.faults.front().text;
    return;
  }
  const Amount amount = amount_of(r, m);
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
