#include "engine/training/simulate.h"

#include <algorithm>

namespace vram {
namespace {

/// When each chunk on the way has sent each micro-batch on: activations forward, gradients backward. 0: not yet.
class Mail {
 public:
  Mail(int chunks, int micro_batches)
      : chunks_(chunks), sent_(2 * static_cast<size_t>(chunks) * static_cast<size_t>(micro_batches)) {}

  double& sent(PassKind kind, int micro_batch, int chunk) {
    const auto at = static_cast<size_t>(micro_batch) * static_cast<size_t>(chunks_) + static_cast<size_t>(chunk);
    return sent_[2 * at + (kind == PassKind::forward ? 0 : 1)];
  }

 private:
  int chunks_;
  std::vector<double> sent_;
};

/// One rank at work.
struct Worker {
  std::vector<Pass> passes;
  std::vector<double> work;  // of a forward pass, chunk by chunk
  std::vector<TimedPass> done;
  double free = 0;
};

class Simulation {
 public:
  Simulation(const Plan& plan, const std::vector<Stage>& stages, int micro_batches)
      : plan_(plan), chunks_(chunks_on_the_way(plan)) {
    const int directions = plan.schedule == Schedule::dualpipe && plan.pp > 1 ? 2 : 1;
    for (int i = 0; i < directions; ++i) mail_.emplace_back(chunks_, micro_batches);
    for (const Stage& stage : stages) {
      Worker worker{rank_passes(plan, stage.index, micro_batches), {}, {}, 0};
      for (size_t c = 0; c < stage.ranges.size(); ++c) worker.work.push_back(chunk_work(stage, static_cast<int>(c)));
      workers_.push_back(std::move(worker));
    }
  }

  /// Each rank goes on as far as its inputs allow, in turn, until none can.
  std::vector<std::vector<TimedPass>> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t rank = 0; rank < workers_.size(); ++rank)
        while (step(static_cast<int>(rank), workers_[rank])) moved = true;
    }
    std::vector<std::vector<TimedPass>> ranks;
    for (Worker& worker : workers_) ranks.push_back(std::move(worker.done));
    return ranks;
  }

 private:
  double chunk_work(const Stage& stage, int chunk) const {
    const LayerRange range = stage.ranges[static_cast<size_t>(chunk)];
    double work = 0;
    for (size_t i = 0; i < range.count; ++i) work += layer_work(plan_, range.first + i);
    if (chunk_position(plan_, stage.index, chunk) == chunks_ - 1) work += head_work(plan_);
    return work;
  }

  /// Runs the rank's next pass. False: there is none, or its input is not there.
  bool step(int rank, Worker& worker) {
    if (worker.done.size() == worker.passes.size()) return false;
    const Pass pass = worker.passes[worker.done.size()];
    Mail& mail = mail_[mail_.size() > 1 ? static_cast<size_t>(pass.chunk) : 0];
    const int place = chunk_position(plan_, rank, pass.chunk);
    double ready = 0;
    if (pass.kind != PassKind::weights) {
      const int from = place + (pass.kind == PassKind::forward ? -1 : 1);
      const bool has_sender = from >= 0 && from < chunks_;
      if (has_sender) ready = mail.sent(pass.kind, pass.micro_batch, from);
      if (has_sender && ready == 0) return false;
    }
    const double begin = std::max(ready, worker.free), work = worker.work[static_cast<size_t>(pass.chunk)];
    worker.free = begin + std::max(work, 1.0) * work_share(plan_, pass);
    if (pass.kind != PassKind::weights) mail.sent(pass.kind, pass.micro_batch, place) = worker.free;
    worker.done.push_back({pass, begin, worker.free});
    return true;
  }

  const Plan& plan_;
  int chunks_;
  std::vector<Mail> mail_;  // of each direction
  std::vector<Worker> workers_;
};

}  // namespace

double layer_work(const Plan& plan, size_t layer) {
  const LayerKind& kind = plan.subject->layer(layer);
  const Attention& t = kind.attention;
  const double seen = t.window > 0 ? std::min(t.window, plan.seq) : plan.seq / 2;
  return kind.active_parameters() + t.heads * (t.qk_head_dim + t.v_head_dim) * seen;
}

double head_work(const Plan& plan) {
  double work = 0;
  for (const Matrix& m : plan.subject->head)
    if (m.part == Part::head) work += m.rows * m.cols;  // a tied one, too
  return work;
}

double work_share(const Plan& plan, const Pass& pass) {
  if (pass.kind != PassKind::backward) return 1;
  const double again =
      plan.recompute == Recompute::full && plan.layers > 0 ? std::min(1.0, plan.recompute_layers / plan.layers) : 0;
  return (pass.frees ? 2 : 1) + again;
}

std::vector<std::vector<TimedPass>> simulate(const Plan& plan, const std::vector<Stage>& stages, int micro_batches) {
  return Simulation(plan, stages, micro_batches).run();
}

}  // namespace vram
