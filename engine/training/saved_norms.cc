#include "engine/training/saved_tensors.h"

namespace vram {
namespace {

constexpr const char* kNote =
    "autograd of a norm keeps its input (in fp32 where it is upcast) and the normalised copy; measured on PyTorch 2.6 "
    "with the layers of transformers 5";

}  // namespace

void save_norms(const Plan& plan, const LayerSetting& s, const LayerKind& kind, SavedTensors& out) {
  // Parallel attention and MLP read one stream: two fused norms of it keep one input (transformers, GPT-NeoX).
  const bool shared = plan.subject->architecture.parallel_residual && s.fused_norm && kind.norms > 1;
  const double norms = shared ? kind.norms - 1 : kind.norms;
  out.push_back({"norms", "Norm inputs", Area::norms, "n h", "elements of norm inputs", s.h * norms,
                 s.fused_norm ? s.residual : eager_norm_bytes(s), s.sp, kNote});
  const double statistics = s.layernorm ? 8 : 4;  // fp32 mean and reciprocal deviation, or the latter only
  out.push_back({"statistics", "Norm statistics", Area::norms, "1", "norms", kind.norms, statistics, s.sp,
                 "fp32, a value a token"});
  if (!plan.dropout || !s.trained) return;
  if (!s.megatron && !s.layernorm && plan.library != Library::nanogpt)
    return;  // Llama-type layers drop no hidden states
  out.push_back({"masks", "Dropout masks", Area::dropout, "2 h", "elements of masks", 2 * s.h, 1, s.sp,
                 "after attention and after the MLP, a byte an element: arXiv 2205.05198, section 4.1"});
}

}  // namespace vram
