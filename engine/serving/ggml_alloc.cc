#include "engine/serving/ggml_alloc.h"

#include <algorithm>
#include <cmath>

namespace vram {

namespace {

constexpr double kAlignment = 128;  // ggml-cuda.cu, ggml_backend_cuda_buffer_type_get_alignment

/// One buffer: ggml_dyn_tallocr. Blocks that are free, by their offset; the last one has no end.
class Space {
 public:
  double take(double bytes, GgmlPart part) {
    size_t best = blocks_.size() - 1;
    for (size_t i = 0; i + 1 < blocks_.size(); ++i) {
      const bool closer = best + 1 == blocks_.size() || blocks_[i].bytes <= blocks_[best].bytes;
      if (blocks_[i].bytes >= bytes && closer) best = i;
    }
    const double offset = blocks_[best].offset;
    blocks_[best].offset += bytes;
    blocks_[best].bytes -= bytes;
    if (blocks_[best].bytes <= 0) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(best));
    here_.parts[static_cast<size_t>(part)] += bytes;
    here_.bytes = offset + bytes;
    if (here_.bytes > fullest_.bytes) fullest_ = here_;
    return offset;
  }

  void give(double offset, double bytes, GgmlPart part) {
    here_.parts[static_cast<size_t>(part)] -= bytes;
    size_t next = 0;
    while (next < blocks_.size() && blocks_[next].offset < offset) ++next;
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(next), {offset, bytes});
    join(next);
    if (next > 0) join(next - 1);
  }

  void rename(double bytes, GgmlPart from, GgmlPart to) {
    here_.parts[static_cast<size_t>(from)] -= bytes;
    here_.parts[static_cast<size_t>(to)] += bytes;
  }
  const GgmlBuffer& fullest() const { return fullest_; }

 private:
  struct Block {
    double offset, bytes;
  };

  void join(size_t i) {
    if (i + 1 >= blocks_.size() || blocks_[i].offset + blocks_[i].bytes < blocks_[i + 1].offset) return;
    blocks_[i].bytes += blocks_[i + 1].bytes;
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }

  std::vector<Block> blocks_ = {{0, 1e18}};
  GgmlBuffer here_, fullest_;
};

double aligned(double bytes) { return std::ceil(bytes / kAlignment) * kAlignment; }

}  // namespace

GgmlGraph::GgmlGraph(int devices, int copies) : devices_(devices), copies_(copies) {}

GgmlGraph::Tensor GgmlGraph::add(Node node) {
  node.part = node.kind == Kind::weights ? GgmlPart::weights : node.kind == Kind::input ? GgmlPart::masks : part_;
  tensors_.push_back(node);
  return static_cast<Tensor>(tensors_.size()) - 1;
}

GgmlGraph::Node GgmlGraph::made(Kind kind, int device, double bytes, Sources sources) {
  Node node;
  node.kind = kind;
  node.device = device;
  node.bytes = bytes;
  size_t i = 0;
  for (Tensor source : sources) {
    if (source != kNone && i < kSources) node.sources[i++] = source;
  }
  return node;
}

GgmlGraph::Tensor GgmlGraph::input(double bytes) { return add(made(Kind::input, host(), bytes, {})); }

GgmlGraph::Tensor GgmlGraph::host_weights(double bytes) { return add(made(Kind::weights, host(), bytes, {})); }

GgmlGraph::Tensor GgmlGraph::host_cache(double bytes) { return add(made(Kind::cache, host(), bytes, {})); }

GgmlGraph::Tensor GgmlGraph::op(int device, double bytes, Sources sources) {
  return add(made(Kind::op, device, bytes, sources));
}

GgmlGraph::Tensor GgmlGraph::in_place(int device, double bytes, Sources sources) {
  Node node = made(Kind::op, device, bytes, sources);
  node.may_overwrite = true;
  return add(node);
}

GgmlGraph::Tensor GgmlGraph::view(Tensor of) {
  const Node& source = tensors_[static_cast<size_t>(of)];
  Node node = made(Kind::view, source.device, source.bytes, {of});
  node.viewed = source.kind == Kind::view ? source.viewed : of;
  return add(node);
}

void GgmlGraph::sink(int device, Sources sources) { add(made(Kind::sink, device, 0, sources)); }

/// Cuts the graph where the device changes, and where a device takes weights of the host; what a part reads of another
/// device is copied at its start, once a device.
class GgmlGraph::Splitter {
 public:
  explicit Splitter(const GgmlGraph& graph)
      : nodes(graph.tensors_),
        copies_(graph.copies_),
        devices_(static_cast<size_t>(graph.devices_)),
        copy_of_(graph.tensors_.size() * devices_, kNone),
        turned_(graph.tensors_.size(), false) {
    const size_t count = graph.tensors_.size();
    for (size_t i = 0; i < count; ++i) place(i);
    end_split();
  }

  std::vector<Node> nodes;
  std::vector<Tensor> first;  // allocated before anything runs
  std::vector<Tensor> order;

 private:
  void place(size_t i) {
    if (nodes[i].kind == Kind::input) first.push_back(static_cast<Tensor>(i));
    if (nodes[i].kind == Kind::input || nodes[i].kind == Kind::weights || nodes[i].kind == Kind::cache) return;
    if (nodes[i].kind == Kind::op || nodes[i].kind == Kind::sink) {
      if (nodes[i].device != device_ || (takes_ && reads_host_weights(i))) end_split();
      device_ = nodes[i].device;
      for (size_t s = 0; s < kSources; ++s) bring(i, s);
    }
    split_.push_back(static_cast<Tensor>(i));
  }

  bool reads_host_weights(size_t i) const {
    for (Tensor source : nodes[i].sources) {
      if (source == kNone) continue;
      const Node& from = nodes[static_cast<size_t>(source)];
      if (from.kind == Kind::weights && from.device != nodes[i].device) return true;
    }
    return false;
  }

  void bring(size_t i, size_t s) {
    const Tensor source = nodes[i].sources[s];
    if (source == kNone) return;
    const auto from = static_cast<size_t>(source);
    if (copies_ > 1 && nodes[from].kind == Kind::input && !turned_[from]) {
      turned_[from] = true;
      nodes[from].output = true;
      for (int c = 1; c < copies_; ++c) first.push_back(copy(from, nodes[from].device));
    }
    if (nodes[from].device == nodes[i].device) return;
    Tensor& known = copy_of_[from * devices_ + static_cast<size_t>(nodes[i].device)];
    if (known == kNone) known = take(source, nodes[i].device);
    nodes[i].sources[s] = known;
  }

  Tensor copy(size_t from, int device) {
    Node node;
    node.kind = Kind::copy;
    node.device = device;
    node.bytes = nodes[from].bytes;
    node.part = nodes[from].part;
    node.output = copies_ > 1;
    nodes.push_back(node);
    return static_cast<Tensor>(nodes.size()) - 1;
  }

  Tensor take(Tensor source, int device) {
    const auto from = static_cast<size_t>(source);
    takes_ = true;
    const Tensor taken = copy(from, device);
    Node depend;
    depend.kind = Kind::depend;
    depend.device = nodes[from].device;
    depend.sources[0] = source;
    nodes.push_back(depend);
    order.push_back(static_cast<Tensor>(nodes.size()) - 1);
    order.push_back(taken);
    for (int c = 0; copies_ > 1 && c < copies_; ++c) first.push_back(c == 0 ? taken : copy(from, device));
    return taken;
  }

  void end_split() {
    order.insert(order.end(), split_.begin(), split_.end());
    split_.clear();
    takes_ = false;
  }

  int copies_;
  size_t devices_;
  std::vector<Tensor> copy_of_;
  std::vector<bool> turned_;
  std::vector<Tensor> split_;
  int device_ = kNone;
  bool takes_ = false;
};

class GgmlGraph::Allocator {
 public:
  Allocator(std::vector<Node> nodes, size_t devices)
      : nodes_(std::move(nodes)), states_(nodes_.size()), spaces_(devices) {}

  std::vector<GgmlBuffer> run(const std::vector<Tensor>& first, const std::vector<Tensor>& order) {
    for (Tensor tensor : first) allocate(tensor);
    for (Tensor tensor : order) {
      const Node& node = of(tensor);
      if (node.kind == Kind::view) state(node.viewed).views += 1;
      for (Tensor source : node.sources) {
        if (source != kNone) state(source).children += 1;
      }
    }
    for (Tensor tensor : order) {
      allocate(tensor);
      for (Tensor source : of(tensor).sources) {
        if (source != kNone) release(source);
      }
    }
    std::vector<GgmlBuffer> fullest;
    for (const Space& space : spaces_) fullest.push_back(space.fullest());
    return fullest;
  }

 private:
  struct State {
    double offset = 0;
    int children = 0, views = 0;
    bool allocated = false;
  };

  const Node& of(Tensor tensor) const { return nodes_[static_cast<size_t>(tensor)]; }
  State& state(Tensor tensor) { return states_[static_cast<size_t>(tensor)]; }
  Space& space(Tensor tensor) { return spaces_[static_cast<size_t>(of(tensor).device)]; }

  void allocate(Tensor tensor) {
    const Node& node = of(tensor);
    const bool own = node.kind == Kind::op || node.kind == Kind::input || node.kind == Kind::copy;
    if (!own || state(tensor).allocated) return;
    state(tensor).allocated = true;
    if (node.may_overwrite && overwrite(tensor)) return;
    state(tensor).offset = space(tensor).take(aligned(node.bytes), node.part);
  }

  bool overwrite(Tensor tensor) {
    for (Tensor source : of(tensor).sources) {
      if (source == kNone || of(source).bytes != of(tensor).bytes || of(source).device != of(tensor).device) continue;
      State& from = state(source);
      if (!from.allocated || of(source).output || from.children != 1 || from.views > 0) continue;
      state(tensor).offset = from.offset;
      from.allocated = false;
      space(tensor).rename(aligned(of(tensor).bytes), of(source).part, of(tensor).part);
      return true;
    }
    return false;
  }

  void release(Tensor source) {
    State& released = state(source);
    released.children -= 1;
    if (released.children > 0 || released.views > 0) return;
    const Tensor viewed = of(source).viewed;
    if (viewed == kNone) return give(source);
    state(viewed).views -= 1;
    if (state(viewed).views == 0 && state(viewed).children == 0) give(viewed);
  }

  void give(Tensor tensor) {
    if (!state(tensor).allocated || of(tensor).output) return;
    state(tensor).allocated = false;
    space(tensor).give(state(tensor).offset, aligned(of(tensor).bytes), of(tensor).part);
  }

  std::vector<Node> nodes_;
  std::vector<State> states_;
  std::vector<Space> spaces_;
};

std::vector<GgmlBuffer> GgmlGraph::reserve() const {
  const Splitter split(*this);
  return Allocator(split.nodes, static_cast<size_t>(devices_)).run(split.first, split.order);
}

}  // namespace vram
