#include <algorithm>
#include <cmath>

#include "engine/advice/diagnose/case.h"
#include "engine/units.h"

namespace vram {
namespace {

constexpr double kRounding = 1.01;      // figures are printed with two digits behind the point
constexpr double kSlack = 64.0 * kMiB;  // what others took and gave back between the refusal and its print
constexpr double kAbsurd = 64;          // times the GPU: no batch does that, a broken shape does

/// Windows lets the driver spill into system memory: then more is allocated than there is.
bool spilled(Case& c) {
  const Measured& m = c.measured;
  const double held = std::max(known(m.allocated), known(m.reserved));
  if (!m.capacity || held <= *m.capacity * kRounding) return false;
  c.say(Severity::error, "figures_spilled",
        "The figures cannot all be of the GPU: " + c.shown(held) + " is held on one that has " + c.shown(*m.capacity) +
            ". A driver that spills into system memory (Windows) does that; what is needed is at least " +
            c.shown(held + known(m.tried)) + ".");
  return true;
}

bool absurd(Case& c) {
  const Measured& m = c.measured;
  const double gpu = m.capacity ? *m.capacity : c.plan.gpu_mem;
  if (!m.tried || gpu <= 0 || *m.tried < gpu * kAbsurd) return false;
  c.say(Severity::error, "figures_absurd",
        "One allocation of " + c.shown(*m.tried) +
            " is no size of a batch: a shape or a length is broken (an overflow, "
            "a mask of the longest length squared). No saving of memory helps.");
  return true;
}

bool enough_was_free(Case& c) {
  const Measured& m = c.measured;
  if (!m.tried || !m.free || *m.tried <= 0 || *m.free < std::max(*m.tried * kRounding, *m.tried + kSlack)) return false;
  if (at_cap(m) || m.largest_free) return false;  // told as causes
  c.say(Severity::error, "figures_enough_free",
        c.shown(*m.free) + " was free and " + c.shown(*m.tried) +
            " was refused: the size of the GPU is not the cause. "
            "Look for a limit of the host (page file, WSL), of one allocation, or of the process, and at which GPU it "
            "was.");
  return true;
}

bool out_of_order(Case& c) {
  const Measured& m = c.measured;
  const auto above = [&](const std::optional<double>& inner, const std::optional<double>& outer, const char* what) {
    if (!inner || !outer || *inner <= *outer * kRounding) return false;
    c.say(Severity::error, "figures_out_of_order",
          std::string(what) + ": " + c.shown(*inner) + " and " + c.shown(*outer) +
              ". They are of different moments, ranks or GPUs.");
    return true;
  };
  if (above(m.allocated, m.reserved, "More is allocated than reserved")) return true;
  return !m.failed && above(m.reserved, m.device, "More is reserved than the GPU shows in use");
}

/// A claim against its own figures.
bool fits_by_its_figures(Case& c) {
  const Measured& m = c.measured;
  if (std::string_view(m.tool) != "MLC-LLM" || !m.budget || !m.weights || !m.activations) return false;
  if (*m.weights + *m.activations > *m.budget) return false;
  c.say(Severity::error, "figures_deny_claim",
        "The message says that memory is short, yet " + c.shown(*m.weights) + " and " + c.shown(*m.activations) +
            " fit into " + c.shown(*m.budget) + ": a fault of the program, not of the plan.");
  return true;
}

void other_card(Case& c) {
  const Measured& m = c.measured;
  if (!m.capacity || *m.capacity <= 0 || c.plan.gpu_mem <= 0) return;
  if (std::fabs(*m.capacity / c.plan.gpu_mem - 1) <= kOtherCard) return;
  c.say(Severity::warning, "other_gpu",
        "The log is of a GPU of " + c.shown(*m.capacity) + ", the plan of one of " + c.shown(c.plan.gpu_mem) + ".",
        "gpu_mem=" + write_size(*m.capacity, kGiB));
}

}  // namespace

bool find_contradictions(Case& c) {
  other_card(c);
  bool found = spilled(c);
  found = absurd(c) || found;
  if (!found) found = enough_was_free(c);
  found = out_of_order(c) || found;
  return fits_by_its_figures(c) || found;
}

}  // namespace vram
