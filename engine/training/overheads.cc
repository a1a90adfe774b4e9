#include "engine/training/overheads.h"

#include "engine/training/states.h"
#include "engine/training/sum_line.h"
#include "engine/units.h"

namespace vram {
namespace {

double parallel_groups(const Plan& plan) {
  double groups = 0;
  for (double size : {plan.tp, plan.pp, plan.cp, plan.ep, plan.dp()})
    if (size > 1) groups += 1;
  return groups;
}

}  // namespace

Line fragmentation_line(const Plan& plan, uint64_t dynamic_bytes) {
  // 0.15: fitted on 405 rows of nvidia-smi and reserved figures, 0.12 to 0.17 when any one source is left out.
  // 0.03: expandable segments; a judgement, no measured figure behind it.
  const double share = plan.allocator == Allocator::expandable ? 0.03 : 0.15;
  return leaf("fragmentation", "Fragmentation",
              {times("B", static_cast<double>(dynamic_bytes), "bytes that come and go"), times("φ", share, "share")},
              "share of activations, logits and gathered weights in the phase that has most of them; fitted on "
              "measured reserved "
              "and device figures; band 90%",
              kOverheadsBand);
}

Line context_line(const Plan& plan) {
  if (plan.has(Key::overhead))
    return leaf("context", "Outside PyTorch", {times("B", plan.overhead, "bytes given")}, "given by `overhead`");
  // CUDA context with lazily loaded kernels, PyTorch 2: 0.47 GiB on an A100 (stas00/ml-engineering, performance).
  // Together 1.6 GiB, fitted on single-GPU nvidia-smi figures of A100s, 1.5 to 1.7 when any one source is left out.
  return sum_line(
      "context", "CUDA context",
      {leaf("cuda", "Context and kernels", {times("GiB", 0.5, "GiB"), times("B", kGiB, "bytes")},
            "measured: 0.47 GiB, PyTorch 2.1 on an A100", kOverheadsBand),
       leaf("libraries", "Libraries and allocator residue", {times("GiB", 1.1, "GiB"), times("B", kGiB, "bytes")},
            "1.6 GiB less the context; fitted on single-GPU nvidia-smi figures of A100s", kOverheadsBand)});
}

Line communication_line(const Plan& plan) {
  if (plan.has(Key::overhead)) return leaf("communication", "Communication", {times("B", 0, "in `overhead`")});
  // 1.9 GiB a group holds NCCL's channels (0.5 to 0.7) and the framework's buckets: fitted on BLOOM's three groups and
  // on FSDP's one, 1.8 to 1.9 when either is left out.
  return leaf("communication", "Communication",
              {times("g", parallel_groups(plan), "kinds of parallel groups"), times("GiB", 1.9, "GiB"),
               times("B", kGiB, "bytes")},
              "NCCL communicators and buckets, 1.9 GiB a group; fitted on nvidia-smi figures; band 90%",
              kOverheadsBand);
}

}  // namespace vram
