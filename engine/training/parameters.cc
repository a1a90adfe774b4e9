#include "engine/training/parameters.h"

#include <algorithm>
#include <cmath>

namespace vram {
namespace {

struct Name {
  const char* id;
  const char* label;
};

/// What a ledger calls parameters that belong together, by how they are cut.
struct Category {
  Name cut;      // among all tensor-parallel ranks
  Name whole;    // a copy on every one of them
  Name kv = {};  // among fewer ranks, because there are fewer KV heads
};

constexpr Category kEmbedding = {{"embedding", "Embedding"}, {"positions", "Position embedding"}};
constexpr Category kAttention = {{"attention", "Attention"},
                                 {"attention_whole", "Attention, on every rank"},
                                 {"attention_kv", "Attention, K and V"}};
constexpr Name kOtherKv = {"attention_kv_global", "Attention, K and V of full layers"};  // another number of KV heads
constexpr Category kMixer = {{"mixer", "Linear mixers"}, {"mixer_whole", "Linear mixers, on every rank"}};
constexpr Category kMlp = {{"mlp", "MLP"}, {"mlp_whole", "MLP, on every rank"}};
constexpr Category kShared = {{"shared_experts", "Shared experts"}, {"shared_whole", "Shared experts, on every rank"}};
constexpr Category kExperts = {{"experts", "Experts"}, {"experts_whole", "Experts"}};
constexpr Category kRouter = {{"routers_cut", "Routers, cut"}, {"routers", "Routers"}};
constexpr Category kVectors = {
    {"norms_cut", "Norms and biases, cut"}, {"norms", "Norms and biases"}, {"norms_kv", "Norms and biases of K and V"}};
constexpr Category kExpertVectors = {{"expert_biases", "Expert biases"}, {"expert_biases_whole", "Expert biases"}};
constexpr Category kOther = {{"other_cut", "Other projections, cut"}, {"other", "Other projections"}};
constexpr Category kHead = {{"head", "Head"}, {"head_whole", "Head, on every rank"}};
constexpr Category kOutside = {{"outside_cut", "Towers outside, cut"}, {"outside", "Towers outside"}};
constexpr Category kCorrection = {{"correction_bias_cut", "Correction bias"}, {"correction_bias", "Correction bias"}};

const Category& layer_category(const Matrix& m) {
  if (m.part == Part::correction_bias) return kCorrection;
  if (!m.linear) return m.shard == Shard::expert ? kExpertVectors : kVectors;
  switch (m.part) {
    case Part::q:
    case Part::k:
    case Part::v:
    case Part::qkv_other:
    case Part::o:
      return kAttention;
    case Part::gate:
    case Part::up:
    case Part::down:
      return kMlp;
    case Part::expert_gate:
    case Part::expert_up:
    case Part::expert_down:
      return kExperts;
    case Part::shared_gate:
    case Part::shared_up:
    case Part::shared_down:
      return kShared;
    case Part::router:
      return kRouter;
    case Part::linear_mixer:
      return kMixer;
    default:
      return kOther;
  }
}

const Category& outer_category(const Matrix& m) {
  if (is_table(m.part)) return kEmbedding;
  if (m.part == Part::head) return kHead;
  return m.linear ? kOther : kVectors;
}

/// Ranks that share one matrix.
double split_of(const Plan& plan, const Matrix& m, double kv_heads) {
  return tensor_ranks(plan, m, kv_heads) * (m.shard == Shard::expert ? plan.ep : 1);
}

/// Categories whose matrices every rank holds are called so on a single rank, too.
bool usually_whole(const Category& category) {
  return &category == &kVectors || &category == &kRouter || &category == &kOther || &category == &kOutside ||
         &category == &kCorrection;
}

Name group_name(const Plan& plan, const Category& category, const Matrix& m, double split) {
  if (m.shard == Shard::expert) return category.cut;
  if (split == 1 && usually_whole(category)) return category.whole;
  if (split == plan.tp) return category.cut;
  return split > 1 ? category.kv : category.whole;
}

/// Sums of rows and of columns that a rank keeps of a matrix: the side that is not cut is whole.
double sums_of(const Plan& plan, const Matrix& m, double rows, double split) {
  const double cut = m.shard == Shard::expert ? plan.etp : split;
  const double copies = m.shard == Shard::expert ? m.copies / plan.ep : m.copies;
  if (m.cols == 1) return copies * rows / cut;
  return is_row_parallel(m.part) ? copies * (rows + m.cols / cut) : copies * (rows / cut + m.cols);
}

class Collector {
 public:
  explicit Collector(const Plan& plan) : plan_(plan) { groups_.reserve(kUsualGroups); }

  void add(const Category& category, const Matrix& m, double layers, double kv_heads) {
    const double rows = m.shard == Shard::vocab ? padded_vocab(plan_, m.rows) : m.rows;
    const double count = rows * m.cols * m.copies;
    if (count <= 0) return;
    const double split = split_of(plan_, m, kv_heads);
    ParameterGroup& group = find(group_name(plan_, category, m, split), m, split);
    const double times = std::max(1.0, layers);
    if (group.elements == 0) group.layers = layers;
    if (group.layers != layers) group.layers = 0;
    group.elements += times * count;
    group.factored += times * sums_of(plan_, m, rows, split);
    group.largest = std::max(group.largest, rows * m.cols);
    group.linear |= m.linear;
    group.block_linear |= m.linear && layers > 0;
  }
  std::vector<ParameterGroup> take() { return std::move(groups_); }

 private:
  static constexpr size_t kUsualGroups = 12;

  /// Names are told apart by address: each stands once, in the categories above.
  ParameterGroup& find(Name name, const Matrix& m, double split) {
    for (const ParameterGroup& group : groups_)
      if (group.id == name.id && group.split != split) name = kOtherKv;
    for (ParameterGroup& group : groups_)
      if (group.id == name.id) return group;
    ParameterGroup group;
    group.id = name.id;
    group.label = name.label;
    group.split = split;
    group.shards = m.shard == Shard::expert ? plan_.expert_shards() : plan_.dense_shards();
    group.trained = m.part != Part::correction_bias;
    groups_.push_back(group);
    return groups_.back();
  }

  const Plan& plan_;
  std::vector<ParameterGroup> groups_;
};

void add_layers(const LayerKind& kind, double layers, Collector& out) {
  for (const Matrix& m : kind.matrices) out.add(layer_category(m), m, layers, kind.attention.kv_heads);
}

/// Megatron cuts the projection that joins two hidden states (Megatron-LM, core/transformer/multi_token_prediction.py,
/// eh_proj); servers leave it whole.
void add_prediction_module(const LayerKind& module, Collector& out) {
  for (Matrix m : module.matrices) {
    if (m.part == Part::other && m.linear) m.shard = Shard::tensor;
    out.add(layer_category(m), m, 1, module.attention.kv_heads);
  }
}

/// Behind a pipeline the last stage holds a copy of a tied embedding, with states of its own
/// (Megatron-LM, core/models/common/language_module, setup_embeddings_and_output_layer). litgpt's head is a matrix of
/// its own in every model (litgpt, model.py, GPT; only pre-training ties it, where asked to).
void add_tied_copy(const Plan& plan, const Stage& stage, Collector& out) {
  if (stage.first && plan.library != Library::litgpt) return;
  for (const Matrix& m : plan.subject->head) {
    if (m.part != Part::head || m.copies > 0) continue;
    Matrix copy = m;
    copy.copies = 1;
    out.add(kHead, copy, 0, 1);
  }
}

void add_front(const Plan& plan, const Stage& stage, Collector& out) {
  if (!stage.first) return;
  for (const Matrix& m : plan.subject->embedding) out.add(outer_category(m), m, 0, 1);
}

/// Prediction modules embed the next tokens: behind a pipeline their stage has a copy of the embedding, if it has not
/// the head's (Megatron-LM, core/models/gpt/gpt_model.py, mtp_process).
void add_embedding_copy(const Plan& plan, const Stage& stage, Collector& out) {
  if (stage.first || prediction_modules(plan, stage) == 0 || plan.tied) return;
  for (const Matrix& m : plan.subject->embedding)
    if (m.part == Part::embedding) out.add(outer_category(m), m, 0, 1);
}

void add_back(const Plan& plan, const Stage& stage, Collector& out) {
  if (stage.last) {
    for (const Matrix& m : plan.subject->head) out.add(outer_category(m), m, 0, 1);
    add_tied_copy(plan, stage, out);
  }
  if (!stage.first) return;
  for (const Matrix& m : plan.subject->outside) out.add(kOutside, m, 0, 1);
}

std::vector<ParameterGroup> one_block(const Plan& plan) {
  ParameterGroup group;
  group.id = "parameters";
  group.label = "Parameters";
  group.elements = group.largest = plan.subject->nominal_parameters;
  group.split = plan.tp * plan.pp;
  group.shards = plan.dense_shards();
  group.linear = group.block_linear = true;
  return {group};
}

}  // namespace

double tensor_ranks(const Plan& plan, const Matrix& matrix, double kv_heads) {
  switch (matrix.shard) {
    case Shard::replicated:
      return 1;
    case Shard::tensor:
    case Shard::vocab:
      return plan.tp;
    case Shard::kv_heads:
      return std::max(1.0, std::min(plan.tp, kv_heads));
    case Shard::expert:
      return plan.etp;
  }
  return 1;
}

double padded_vocab(const Plan& plan, double rows) {
  const double multiple = std::max(1.0, plan.vocab_pad) * plan.tp;
  return std::ceil(rows / multiple) * multiple;
}

std::vector<ParameterGroup> outer_parameters(const Plan& plan, const Stage& stage) {
  Collector out(plan);
  add_front(plan, stage, out);
  add_back(plan, stage, out);
  return out.take();
}

std::vector<ParameterGroup> stage_parameters(const Plan& plan, const Stage& stage) {
  const Model& model = *plan.subject;
  if (!model.has_shape) return one_block(plan);
  Collector out(plan);
  add_front(plan, stage, out);
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    const double layers = layers_of_kind(model, stage, k);
    if (layers > 0) add_layers(model.kinds[k], layers, out);
  }
  if (prediction_modules(plan, stage) > 0)
    for (const LayerKind& module : model.mtp) add_prediction_module(module, out);
  add_embedding_copy(plan, stage, out);
  add_back(plan, stage, out);
  return out.take();
}

std::vector<ParameterGroup> largest_layer(const Plan& plan, const Stage& stage) {
  const Model& model = *plan.subject;
  std::vector<ParameterGroup> largest;
  double most = -1;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    if (layers_of_kind(model, stage, k) <= 0) continue;
    Collector out(plan);
    add_layers(model.kinds[k], 1, out);
    std::vector<ParameterGroup> groups = out.take();
    double sum = 0;
    for (const ParameterGroup& group : groups) sum += elements_a_rank(plan, group);
    if (sum <= most) continue;
    most = sum;
    largest = std::move(groups);
  }
  return largest;
}

double elements_a_rank(const Plan& plan, const ParameterGroup& group) {
  return group.elements * plan.subject->scale() / group.split;
}

Factors count_factors(const Plan& plan, const ParameterGroup& group) {
  Factors factors;
  if (group.layers > 1) {
    factors.push_back(times("L", group.layers, "layers"));
    factors.push_back(times("P", group.elements / group.layers, "parameters a layer"));
  } else {
    factors.push_back(times("P", group.elements, "parameters"));
  }
  const Model& model = *plan.subject;
  if (model.exact_parameters > 0 && model.nominal_parameters != model.exact_parameters) {
    factors.push_back(times("N", model.nominal_parameters, "nominal parameters"));
    factors.push_back(over("N0", model.exact_parameters, "parameters of the shape"));
  }
  if (group.split > 1) factors.push_back(over("tp", group.split, "ranks of the model"));
  return factors;
}

}  // namespace vram
