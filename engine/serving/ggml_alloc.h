#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace vram {

/// What a tensor is, for the bill.
enum class GgmlPart : uint8_t { hidden, attention, masks, mlp, logits, weights };
constexpr size_t kGgmlParts = 6;

/// A device's buffer: its size, and what lies in it when it grows for the last time. The rest are gaps.
struct GgmlBuffer {
  double bytes = 0;
  double parts[kGgmlParts] = {};
};

/// A ggml graph, as far as its scheduler and its allocator look at it, and what they take for it on each device
/// (ggml-backend.cpp, ggml_backend_sched_split_graph; ggml-alloc.c, ggml_gallocr_alloc_graph_impl). Tensors are added
/// in the order in which they are worked out. The last device is the host.
class GgmlGraph {
 public:
  using Tensor = int;
  static constexpr Tensor kNone = -1;
  using Sources = std::initializer_list<Tensor>;

  /// `copies` of what goes from one device to another: four where GPUs take turns, else one.
  GgmlGraph(int devices, int copies);
  int host() const { return devices_ - 1; }

  /// What the program writes before each run; it begins on the host.
  Tensor input(double bytes);
  /// Weights in host memory, which a device that reads them takes a copy of.
  Tensor host_weights(double bytes);
  /// A cache in host memory, which is copied, too.
  Tensor host_cache(double bytes);
  /// What an operation puts out.
  Tensor op(int device, double bytes, Sources sources);
  /// ... written over the first of its sources that is as large and that nobody else needs; never over a view.
  Tensor in_place(int device, double bytes, Sources sources);
  Tensor view(Tensor of);
  /// An operation whose result lies elsewhere: a cache's rows are written.
  void sink(int device, Sources sources);
  void keep(Tensor tensor) { tensors_[static_cast<size_t>(tensor)].output = true; }

  void set_part(GgmlPart part) { part_ = part; }

  /// Each device's buffer.
  std::vector<GgmlBuffer> reserve() const;

 private:
  static constexpr size_t kSources = 5;
  enum class Kind : uint8_t { op, view, input, weights, cache, copy, sink, depend };
  struct Node {
    double bytes = 0;
    Tensor sources[kSources] = {kNone, kNone, kNone, kNone, kNone};
    Tensor viewed = kNone;
    int device = 0;
    Kind kind = Kind::op;
    GgmlPart part = GgmlPart::hidden;
    bool may_overwrite = false, output = false;
  };
  class Splitter;
  class Allocator;

  Tensor add(Node node);
  static Node made(Kind kind, int device, double bytes, Sources sources);

  int devices_, copies_;
  GgmlPart part_ = GgmlPart::hidden;
  std::vector<Node> tensors_;
};

}  // namespace vram
