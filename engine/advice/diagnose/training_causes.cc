#include <algorithm>
#include <cmath>

#include "engine/advice/diagnose/case.h"
#include "engine/units.h"

// The thresholds sort messages that people posted, whose causes were found in the end; no tool names them.
namespace vram {
namespace {

constexpr double kForeignKnown = 1.5 * kGiB;    // beside a process whose size is stated: desktops show 0.5 to 1.2
constexpr double kForeignUnknown = 3.0 * kGiB;  // beside what PyTorch holds: contexts alone take 0.1 to 1.7
constexpr double kAlike = 0.25;                 // ranks of one job differ by less
constexpr double kFragmented = 0.05;            // of the GPU: 3.5% was not the cause, 20% and more was
constexpr double kOneTensor = 0.1;              // of the GPU in one allocation
constexpr double kPools = 0.05;                 // of the GPU in the pools of CUDA graphs
constexpr double kOutside = 3.0 * kGiB;         // in the process, outside PyTorch: 0.1 to 0.9 is usual on one GPU

double gpu_bytes(const Case& c) { return c.measured.capacity ? *c.measured.capacity : c.plan.gpu_mem; }

double line_bytes(const TrainingBill& bill, std::initializer_list<std::string_view> ids) {
  double bytes = 0;
  for (const Line& line : bill.lines) {
    if (std::find(ids.begin(), ids.end(), std::string_view(line.id)) != ids.end()) {
      bytes += static_cast<double>(line.bytes);
    }
  }
  return bytes;
}

/// Several processes of about the size of this one are the other ranks of its job.
bool ranks_share(Case& c) {
  const Measured& m = c.measured;
  const auto alike = [&](double bytes) { return std::fabs(bytes / *m.process - 1) < kAlike; };
  const auto count = std::count_if(m.processes.begin(), m.processes.end(), alike);
  if (count < 3) return false;
  c.say(
      Severity::error, "ranks_share_gpu",
      std::to_string(count) + " processes of about " + c.shown(*m.process) +
          " each hold this GPU: ranks of one job that were meant for a GPU each. Start as many as there are GPUs, and "
          "let each take its own (torch.cuda.set_device(LOCAL_RANK), maps of a checkpoint to that device, not to "
          "cuda:0).");
  return true;
}

bool another_process(Case& c) {
  const Measured& m = c.measured;
  if (m.other && m.process) {
    if (*m.other < kForeignKnown) return false;
    if (ranks_share(c)) return true;
    c.say(Severity::error, "other_process",
          "Another process holds " + c.shown(*m.other) +
              " of the GPU: free it (an earlier run, a notebook, a server), or "
              "take another GPU. A smaller plan is not what is missing.");
    return true;
  }
  if (!m.device || !m.reserved || *m.device - *m.reserved < kForeignUnknown) return false;
  c.say(Severity::error, "other_process",
        c.shown(*m.device - *m.reserved) +
            " of the GPU is in use beside PyTorch, more than a CUDA context takes: look "
            "with nvidia-smi for another process before changing the plan.");
  return true;
}

bool capped(Case& c) {
  const Measured& m = c.measured;
  if (!at_cap(m)) return false;
  if (m.mps_other) {
    c.say(Severity::error, "capped",
          "Metal's limit of " + c.shown(*m.allowed) + " is reached: " + c.shown(known(m.allocated)) + " are tensors, " +
              c.shown(*m.mps_other) +
              " are other allocations of the process. Empty its caches (torch.mps.empty_cache()), keep fewer models "
              "loaded, take a smaller batch or a smaller format. PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 lifts the limit, "
              "and the machine may swap.");
    return true;
  }
  c.say(Severity::error, "capped",
        "A limit of " + c.shown(*m.allowed) +
            " that was set (a memory fraction, a watermark) was reached, not the end of "
            "the memory: raise it.");
  return true;
}

/// Enough was free, and not in one piece.
bool in_pieces(Case& c) {
  const Measured& m = c.measured;
  if (!m.largest_free || !m.tried || known(m.free) < *m.tried || *m.largest_free >= *m.tried) return false;
  c.symptom = Symptom::fragmentation;
  c.say(Severity::error, "fragmentation",
        "Fragmentation: " + c.shown(*m.free) + " was free, the largest piece of it " + c.shown(*m.largest_free) +
            ", and " + c.shown(*m.tried) +
            " was asked for in one piece. Keep shapes fixed or in few sizes; with so little free, a smaller batch "
            "helps as well.");
  return true;
}

/// What is reserved and free would have been enough, had it been in one piece.
bool fragmented(Case& c) {
  const Measured& m = c.measured;
  if (in_pieces(c)) return true;
  if (!m.unallocated || gpu_bytes(c) <= 0 || *m.unallocated < kFragmented * gpu_bytes(c)) return false;
  if (m.failed && *m.unallocated + known(m.free) < known(m.tried)) return false;
  const bool cause = m.failed && *m.unallocated >= known(m.tried) * 0.5;
  if (!m.failed && *m.unallocated < 0.15 * known(m.reserved)) return false;
  if (m.failed) c.symptom = Symptom::fragmentation;
  c.say(
      cause ? Severity::error : Severity::warning, "fragmentation",
      "Fragmentation: " + c.shown(*m.unallocated) + " is reserved and not allocated" +
          (m.failed ? ", " + c.shown(known(m.tried)) + " was asked for in one piece" : "") + "." +
          (c.assumed ? "" : " The bill counts " + c.shown(line_bytes(c.training, {"fragmentation"})) + " for it.") +
          (m.fixed_segments ? " Keep shapes fixed or in few sizes, empty the cache between phases, set "
                              "max_split_size_mb; segments that grow do not exist on Windows."
                            : " Let segments grow, keep shapes fixed or in few sizes, empty the cache between phases."),
      c.plan.allocator == Allocator::expandable || m.fixed_segments ? "" : "allocator=expandable");
  return true;
}

/// Grown at every print of the log, and still growing at its end.
bool leaks(const std::vector<double>& series) {
  constexpr size_t kLeast = 5;
  if (series.size() < kLeast) return false;
  size_t up = 0;
  for (size_t i = 2; i < series.size(); ++i) up += series[i] > series[i - 1] * 1.0005;
  const size_t steps = series.size() - 2;
  const double late = series.back() - series[series.size() - 1 - series.size() / 3];
  return up * 10 >= steps * 8 && series.back() > series[1] * 1.03 && late > 0;
}

bool leak(Case& c) {
  const Series& series = c.measured.series;
  const std::vector<double>& list = leaks(series.allocated_bytes) ? series.allocated_bytes : series.peak_bytes;
  if (!leaks(list)) return false;
  c.symptom = Symptom::leak;
  c.say(Severity::error, "leak",
        "A leak: what is allocated grew from " + c.shown(list[1]) + " to " + c.shown(list.back()) + " over " +
            std::to_string(list.size()) +
            " prints and was still growing. Something keeps tensors alive: losses summed up "
            "without detach() or item(), a retained graph, a list of outputs. No key of the plan cures that.");
  return true;
}

/// One print far above the others, and not the first: that is of what went before.
bool jumped(const std::vector<double>& peaks) {
  if (peaks.size() < 2 || *std::max_element(peaks.begin(), peaks.end()) <= peaks[0]) return false;
  std::vector<double> sorted = peaks;
  std::sort(sorted.begin(), sorted.end());
  return sorted.back() > sorted[(sorted.size() - 1) / 2] * 1.1;
}

bool one_tensor(Case& c) {
  const Measured& m = c.measured;
  const bool large = m.tried && gpu_bytes(c) > 0 && *m.tried >= kOneTensor * gpu_bytes(c);
  if (!large && !jumped(m.series.peak_bytes)) return false;
  c.symptom = Symptom::long_sample;
  const bool known_gpu = m.capacity || !c.assumed;
  const std::string share =
      large && known_gpu ? ", " + show_fixed(*m.tried / gpu_bytes(c) * 100, 0) + "% of the GPU" : "";
  std::string text = large ? "One allocation of " + c.shown(*m.tried) + share + ": one tensor is the cause."
                           : "The peak jumped from one print to the next: one long sample set it.";
  text +=
      " Scores of unfused attention, logits, or weights gathered whole are that large; a sequence longer than the "
      "plan's makes them so. Cut or bucket long samples, fuse attention and loss.";
  c.say(Severity::error, "long_sample", text);
  return true;
}

bool graphs(Case& c) {
  const Measured& m = c.measured;
  if (!m.private_pools || *m.private_pools < kPools * gpu_bytes(c)) return false;
  c.say(Severity::error, "graph_pools",
        c.shown(*m.private_pools) + " lies in the private pools of CUDA graphs: capture fewer sizes, or none.");
  return true;
}

void outside(Case& c) {
  const Measured& m = c.measured;
  if (!m.outside || *m.outside < kOutside) return;
  c.say(Severity::warning, "outside_framework",
        c.shown(*m.outside) + " of the process lies outside PyTorch" +
            (c.assumed ? ""
                       : ", where the bill counts " + c.shown(line_bytes(c.training, {"context", "communication"}))) +
            ": NCCL, CUDA graphs, kernels with workspaces of their own. Fewer communicators, fewer processes a GPU, or "
            "headroom for it.",
        "overhead=" + write_size(*m.outside, kGiB));
}

/// XLA sizes a program before it runs.
bool compiled_too_large(Case& c) {
  const Measured& m = c.measured;
  if (m.failed && m.program && m.tried && !m.allocated) {
    c.symptom = Symptom::after_steps;
    c.say(Severity::error, "compiled_too_large",
          "The compiled program needs " + c.shown(*m.program) + " on the GPU, and " + c.shown(*m.tried) +
              " of it could not be had. Where most of it is temporaries, recompute more, take a smaller batch, fuse "
              "attention, or shard further.");
    return true;
  }
  if (!m.exceeded || !m.capacity) return false;
  c.symptom = Symptom::after_steps;
  c.say(Severity::error, "compiled_too_large",
        "The program, compiled for a whole step, needs " + c.shown(*m.capacity + *m.exceeded) + " of " +
            c.shown(*m.capacity) +
            ". Where most of it is temporaries, recompute more, take a smaller batch, fuse "
            "attention, or shard further.");
  return true;
}

/// Layers were put on the processor or the disk, since they did not fit.
bool weights_elsewhere(Case& c) {
  if (c.measured.failed || c.measured.stage != "weights") return false;
  c.symptom = Symptom::at_start;
  c.say(Severity::error, "weights_elsewhere",
        "The weights do not fit where they were to go" +
            (c.assumed ? "" : ": " + c.shown(line_bytes(c.training, {"weights"})) + " on each GPU by the bill") +
            ". See whether the GPU was empty before; else quantise or divide them.");
  return true;
}

/// Without a plan nothing tells states from activations.
void gpu_full(Case& c) {
  const Measured& m = c.measured;
  const bool steps = !m.series.allocated_bytes.empty() || !m.series.peak_bytes.empty();
  if (steps) c.symptom = Symptom::after_steps;
  std::string text = "The GPU was full: " + c.shown(*m.allocated) + " was allocated" +
                     (m.tried ? " when " + c.shown(*m.tried) + " more was asked for." : ".");
  if (!steps) {
    text +=
        " If it failed while loading or in the first step, weights, gradients and optimizer states do not fit: train "
        "adapters (LoRA, QLoRA), quantise, use 8-bit states, or divide them over more GPUs (FSDP, ZeRO).";
  }
  text += std::string(steps ? " It" : " If it") + " failed at work" + (steps ? ":" : ", it is activations:") +
          " take a smaller micro-batch with accumulation, recompute activations, shorten the sequence, fuse the loss.";
  c.say(Severity::error, "gpu_full", text);
}

/// What was needed at least: what was allocated, and the allocation that was refused.
void steady_state(Case& c) {
  const Measured& m = c.measured;
  if (!m.failed || !m.allocated) return;
  if (c.assumed && m.stage != "weights") return gpu_full(c);
  const double states = line_bytes(c.training, {"weights", "gradients", "optimizer", "adapters"});
  const double weights = line_bytes(c.training, {"weights"});
  const bool by_stage = m.stage == "weights";
  const bool before_steps = m.series.allocated_bytes.empty() && m.series.peak_bytes.empty();
  const bool start = by_stage || (before_steps && *m.allocated + known(m.tried) <= states * 1.02);
  c.symptom = start ? Symptom::at_start : Symptom::after_steps;
  const double need = *m.allocated + known(m.tried);
  if (start) {
    c.say(Severity::error, "at_start",
          "It failed at the start: " + c.shown(*m.allocated) + " was allocated, and weights (" + c.shown(weights) +
              ") with gradients and optimizer states come to " + c.shown(states) +
              " on each GPU. They do not fit as they are divided; check that sharding is really on. Batch and sequence "
              "do "
              "not matter here.");
    return;
  }
  c.say(Severity::error, "after_steps",
        "It failed at work: at least " + c.shown(need) +
            " had to be allocated, of which weights, gradients and optimizer "
            "states explain " +
            c.shown(std::min(states, need)) +
            "; the rest is activations, logits and buffers, which grow "
            "with the micro-batch and the sequence.");
}

}  // namespace

bool at_cap(const Measured& measured) {
  if (!measured.allowed) return false;
  const double held = std::max(known(measured.allocated), known(measured.reserved)) + known(measured.mps_other);
  return held + known(measured.tried) > *measured.allowed * 0.98;  // sizes are printed rounded
}

void find_training_causes(Case& c) {
  if (capped(c) || another_process(c) || compiled_too_large(c) || weights_elsewhere(c)) return;
  const bool leaking = leak(c);
  const bool fragments = !leaking && fragmented(c);
  const bool pools = !leaking && graphs(c);
  if (!leaking && !fragments && !pools && !one_tensor(c)) steady_state(c);
  outside(c);
}

}  // namespace vram
