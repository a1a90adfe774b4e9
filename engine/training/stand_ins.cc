#include "engine/training/stand_ins.h"

#include <algorithm>
#include <vector>

#include "engine/training/bands.h"
#include "engine/training/parameters.h"
#include "engine/training/storage.h"

namespace vram {
namespace {

/// A weight as one rank has it.
struct Shape {
  double rows, cols;
  bool operator==(const Shape&) const = default;
};

Shape shape_of(const Plan& plan, const Matrix& m, double kv_heads) {
  const double ranks = tensor_ranks(plan, m, kv_heads);
  return is_row_parallel(m.part) ? Shape{m.rows, m.cols / ranks} : Shape{m.rows / ranks, m.cols};
}

/// Parts of one projection: q, k and v, gate and up.
bool extends(const LayerKind& kind, Part part) {
  const bool qkv = kind.attention.kv_lora_rank <= 0 && (part == Part::k || part == Part::v);
  return qkv || part == Part::up || part == Part::expert_up || part == Part::shared_up;
}

class Shapes {
 public:
  explicit Shapes(const Plan& plan) : plan_(plan) {}

  void add_kind(const LayerKind& kind) {
    Shape open{0, 0};
    for (const Matrix& m : kind.matrices) {
      if (!m.linear || m.part == Part::router) continue;
      const Shape shape = shape_of(plan_, m, kind.attention.kv_heads);
      if (extends(kind, m.part) && open.cols == shape.cols) {
        open.rows += shape.rows;
        continue;
      }
      add(open);
      open = shape;
    }
    add(open);
  }
  void add(const Shape& shape) {
    if (std::find(seen_.begin(), seen_.end(), shape) == seen_.end()) seen_.push_back(shape);
  }
  double elements() const {
    double sum = 0;
    for (const Shape& shape : seen_) sum += shape.rows * shape.cols;
    return sum;
  }

 private:
  const Plan& plan_;
  std::vector<Shape> seen_;
};

}  // namespace

bool has_stand_ins(const Plan& plan) {
  return plan.grad_fusion && plan.framework == Framework::megatron && plan.library == Library::megatron &&
         trains_all(plan) && plan.subject->has_shape;
}

Line stand_ins_line(Sheet& sheet, const Plan& plan, const Stage& stage) {
  const Model& model = *plan.subject;
  Shapes shapes(plan);
  for (size_t k = 0; k < model.kinds.size(); ++k)
    if (layers_of_kind(model, stage, k) > 0) shapes.add_kind(model.kinds[k]);
  if (prediction_modules(plan, stage) > 0)
    for (const LayerKind& module : model.mtp) shapes.add_kind(module);
  for (const Matrix& m : model.head)
    if (stage.last && m.part == Part::head) shapes.add({padded_vocab(plan, m.rows) / plan.tp, m.cols});
  return sheet.leaf(
      "stand_ins", "Stand-ins for gradients",
      {times("P", shapes.elements(), "elements of the weights' shapes"), times("B", compute_bytes(plan), "bytes each")},
      "TransformerEngine, pytorch/module/base.py, get_dummy_wgrad; Megatron-LM, core/tensor_parallel/layers.py",
      kBuffersBand);
}

}  // namespace vram
