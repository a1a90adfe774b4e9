#include <cmath>

#include "engine/sheet.h"
#include "engine/training/bands.h"
#include "engine/training/overheads.h"
#include "engine/training/states.h"
#include "engine/units.h"

namespace vram {
namespace {

// NVIDIA/nccl issue 964, A100s on NVLink: 544 MB a communicator of two ranks (one peer a channel), 688 MB of four (two
// peers, as in any larger ring or tree). A channel keeps 0.5 + 4.7 + 4 MiB for its three protocols, rounded to 10, and
// 2 MiB to send, for each peer (NCCL, src/init.cc, DEFAULT_BUFFSIZE; src/transport/p2p.cc).
constexpr double kOnePeerBytes = 544e6, kTwoPeersBytes = 688e6;
// The first barrier of two ranks takes 1.45 GiB (stas00/ml-engineering, performance): beside the communicator NCCL's
// kernels and proxies, once. RCCL: 1.0 GiB and 0.65 for each.
constexpr double kFirstBytes = 1.45 * kGiB - kOnePeerBytes;

constexpr const char* kNote = "NCCL's buffers of a communicator, measured on A100s with NVLink: NVIDIA/nccl issue 964";

Line communicator(Sheet& sheet, const char* id, const char* label, double ranks, double count) {
  Factors factors;
  if (count != 1) factors.push_back(times("n", count, "communicators"));
  factors.push_back(ranks > 2 ? times("B", kTwoPeersBytes, "bytes, two peers a channel")
                              : times("B", kOnePeerBytes, "bytes, one peer a channel"));
  return sheet.leaf(id, label, std::move(factors), kNote, kOverheadsBand);
}

bool has_model_group(const Plan& plan) {
  return plan.framework == Framework::megatron || plan.framework == Framework::deepspeed;
}

bool shares_embedding(const Plan& plan, const Stage& stage) {
  return plan.pp > 1 && plan.tied && (stage.first || stage.last) && has_model_group(plan);
}

}  // namespace

Line communication_line(Sheet& sheet, const Plan& plan, const Stage& stage) {
  const char* label = "Communication";
  if (plan.has(Key::overhead)) return sheet.leaf("communication", label, {times("B", 0, "in `overhead`")});
  LineList children(sheet);
  const auto add = [&](const char* id, const char* name, double ranks, double count = 1) {
    if (ranks > 1) children.push_back(communicator(sheet, id, name, ranks, count));
  };
  add("tensor", "Tensor parallel", plan.tp);
  add("data", "Data parallel", plan.dp());
  add("context", "Context parallel", plan.cp);
  add("expert", "Expert parallel", plan.ep);
  if (plan.pp > 1) add("pipeline", "Pipeline neighbours", 2, plan.pp > 2 ? 2 : 1);
  // Norm of all gradients of a model; gradients of the embedding that first and last stage share (Megatron-LM,
  // core/parallel_state.py).
  if (has_model_group(plan)) add("model", "Ranks of one model", plan.tp * plan.pp);
  if (shares_embedding(plan, stage)) add("embedding", "Shared embedding", 2);
  if (children.empty()) return sheet.nothing("communication", label);
  children.push_back(sheet.leaf("first", "Kernels and proxies", {times("B", kFirstBytes, "bytes")},
                                "first barrier of two ranks, 1.45 GiB, less its communicator: stas00/ml-engineering, "
                                "performance",
                                kOverheadsBand));
  return sheet.sum("communication", label, children, kNote);
}

}  // namespace vram
