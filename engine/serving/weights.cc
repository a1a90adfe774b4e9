#include "engine/serving/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/formats.h"
#include "engine/model/layer_shape.h"
#include "engine/serving/allocations.h"
#include "engine/serving/checkpoint.h"
#include "engine/serving/gguf.h"
#include "engine/serving/vllm_run.h"
#include "engine/units.h"

namespace vram {

namespace {

/// llama.cpp's ffn_{gate,up,down}_exps, weights and biases: neither the router nor shared experts.
bool is_of_routed_experts(const Matrix& matrix) { return matrix.shard == Shard::expert; }

/// The tensors of one layer as vllm and sglang store them: query, key and value in one, gate and up in one, all experts
/// in one (layers/linear.py, QKVParallelLinear and MergedColumnParallelLinear; fused_moe/layer.py).
class FusedTensors {
 public:
  void add(Part part, double bytes) {
    if (double* tensor = shared_by(part))
      *tensor += bytes;
    else
      apart_.push_back(bytes);
  }
  void put_into(Allocations& allocations) const {
    for (double tensor : {qkv_, gate_up_, shared_, experts_}) allocations.add(tensor);
    for (double tensor : apart_) allocations.add(tensor);
  }

 private:
  /// Null: the matrix is a tensor of its own.
  double* shared_by(Part part) {
    if (part == Part::q || part == Part::k || part == Part::v) return &qkv_;
    if (is_row_parallel(part)) return nullptr;
    if (is_dense_mlp(part)) return &gate_up_;
    if (is_shared_expert(part)) return &shared_;
    return is_routed_expert(part) ? &experts_ : nullptr;
  }
  double qkv_ = 0, gate_up_ = 0, shared_ = 0, experts_ = 0;
  std::vector<double> apart_;
};

/// Multiples that vllm's MXFP4 kernels pad an expert to: the hidden size, a rank's share of the width, and what each
/// matrix sums over (quantization/mxfp4.py, create_weights; since 0.19 fused_moe/oracle/mxfp4.py).
struct ExpertSteps {
  double hidden = 256, width = 128, summed = 1;  // Marlin
};
/// TensorRT-LLM pads both to 128 (fused_moe/quantization.py, MXFP4WeightCutlassFusedMoEMethod.weight_alignment): 63.32
/// GiB of gpt-oss-120b.
constexpr ExpertSteps kTrtllmSteps{128, 128, 1};
/// On Hopper Triton's, whose layout once summed over whole 256 and since triton_kernels 3.6 packs the other way
/// (tensor_details/layout_details/hopper_value.py, swizzle_data: 64 of either): 64.4 GiB of gpt-oss-120b with
/// 0.14, 61.3 with 0.25. 0.10 has them where they were installed by hand, else Marlin's.
ExpertSteps hopper_steps(double release) {
  constexpr double kBundlesTriton = 11e3, kPacksRows = 20e3;
  if (release < kBundlesTriton) return {};
  return release < kPacksRows ? ExpertSteps{1, 64, 256} : ExpertSteps{1, 64, 64};
}

ExpertSteps expert_steps(const Plan& plan) {
  const Accelerator& gpu = *plan.accelerator;
  if (gpu.family == "NVIDIA Hopper") return hopper_steps(release_number(plan));
  if (gpu.vendor == "Intel") return {1, 64, 1};
  const bool data_centre = gpu.family.starts_with("NVIDIA Blackwell") && gpu.link_gb_s > 0 && !gpu.link_is_pcie;
  return data_centre || gpu.vendor == "AMD" ? ExpertSteps{256, 256, 1} : ExpertSteps{};
}

/// One stage's weights, gathered.
class Collector {
 public:
  Collector(const Plan& plan, const Replica& replica, const ServingStage& stage)
      : model_(*plan.subject),
        checkpoint_(plan),
        replica_(replica),
        stage_(stage),
        whole_table_(builds_engines(plan)),
        pads_vocabulary_(plan.engine == Engine::vllm || plan.engine == Engine::sglang),
        pads_experts_((plan.engine == Engine::vllm || plan.engine == Engine::trtllm) &&
                      checkpoint_.format().id == "mxfp4"),
        expert_steps_(plan.engine == Engine::trtllm ? kTrtllmSteps : expert_steps(plan)) {}

  /// Matrices that stand once: embedding, head, a draft's layers.
  void add(const std::vector<Matrix>& matrices, double copies, double kv_heads, const WeightSection* as = nullptr) {
    for (const Matrix& matrix : matrices) add(matrix, copies, kv_heads, as);
  }
  void add(const Matrix& matrix, double copies, double kv_heads, const WeightSection* as = nullptr) {
    if (matrix.count() <= 0 || copies <= 0) return;
    const double bits = checkpoint_.gguf() ? gguf_storage(checkpoint_.format(), model_, matrix, 0, 0, 0).bits
                                           : checkpoint_.bits(matrix);
    put({as != nullptr ? *as : section_of(matrix), elements(matrix) * copies, bits, divisor(matrix, kv_heads)});
  }
  void add(const LayerKind& kind, double copies, const WeightSection* as = nullptr) {
    add(kind.matrices, copies, kind.attention.kv_heads, as);
  }
  /// The stage's layers of a kind.
  void add_layers(size_t k) {
    for (const Matrix& matrix : model_.kinds[k].matrices) {
      const size_t left = is_of_routed_experts(matrix) ? stage_.without_experts : 0;
      add_range(k, matrix, stage_.first + left, stage_.count - left, nullptr);
    }
  }
  /// Routed experts of the layers behind the stage's own.
  void add_more_experts(size_t k) {
    constexpr WeightSection kAs = WeightSection::host_experts;
    for (const Matrix& matrix : model_.kinds[k].matrices) {
      if (is_of_routed_experts(matrix)) add_range(k, matrix, stage_.first + stage_.count, stage_.more_experts, &kAs);
    }
  }
  /// A matrix of the layers of kind k among [first, first + count).
  void add_range(size_t k, const Matrix& whole, size_t first, size_t count, const WeightSection* as) {
    if (whole.count() <= 0 || count == 0) return;
    const double kv_heads = model_.kinds[k].attention.kv_heads, layers = model_.layers_of_kind(k, first, count);
    if (checkpoint_.mixed()) return add_mixed(k, whole, first, count, as);
    if (!checkpoint_.gguf()) return add(whole, layers, kv_heads, as);
    for (const Matrix& matrix : gguf_tensors(model_, whole)) {
      const GgufStorage stored = gguf_storage(checkpoint_.format(), model_, matrix, k, first, count);
      const WeightSection section = as != nullptr ? *as : section_of(matrix);
      const double each = elements(matrix), over = divisor(matrix, kv_heads);
      put({section, each * (layers - stored.raised_layers), stored.bits, over});
      put({section, each * stored.raised_layers, stored.raised, over});
    }
  }
  /// Of a checkpoint that leaves some layers' halves in 16 bit or has them in 8.
  void add_mixed(size_t k, const Matrix& matrix, size_t first, size_t count, const WeightSection* as) {
    std::array<double, static_cast<size_t>(Stored::count_)> layers{};
    for (size_t i = first; i < first + count; ++i) {
      if (model_.layers[i] == k) layers[static_cast<size_t>(checkpoint_.stored(matrix, i))] += 1;
    }
    const WeightSection section = as != nullptr ? *as : section_of(matrix);
    const double each = elements(matrix), over = divisor(matrix, model_.kinds[k].attention.kv_heads);
    for (size_t way = 0; way < layers.size(); ++way)
      put({section, each * layers[way], checkpoint_.bits(matrix, static_cast<Stored>(way)), over});
  }
  void put(const WeightParcel& parcel) {
    if (parcel.elements <= 0) return;
    for (WeightParcel& known : parcels_) {
      if (known.section == parcel.section && known.bits == parcel.bits && known.divisor == parcel.divisor) {
        known.elements += parcel.elements;
        return;
      }
    }
    parcels_.push_back(parcel);
  }
  std::vector<WeightParcel> take() { return std::move(parcels_); }

  /// The tensors that one layer of a kind is stored in.
  FusedTensors tensors(const LayerKind& kind) const {
    FusedTensors tensors;
    for (const Matrix& matrix : kind.matrices) {
      if (matrix.count() > 0) tensors.add(matrix.part, bytes_on_gpu(matrix, kind.attention.kv_heads));
    }
    return tensors;
  }
  void put(const std::vector<Matrix>& apart, Allocations& into) const {
    for (const Matrix& matrix : apart) into.add(bytes_on_gpu(matrix, 1));
  }

 private:
  /// Of a tensor by itself: its scales are another.
  double bytes_on_gpu(const Matrix& matrix, double kv_heads) const {
    const Format& format = checkpoint_.format();
    const double bits = checkpoint_.bits(matrix);
    const double own = bits < 16 && format.blocks_only ? 8 * format.nominal_bytes : bits;
    return elements(matrix) * own / 8 / divisor(matrix, kv_heads);
  }
  double elements(const Matrix& matrix) const {
    double rows = matrix.rows;
    if (matrix.shard == Shard::vocab && pads_vocabulary_ && matrix.part != Part::bias) {
      rows = round_up(rows, 64);  // vllm vocab_parallel_embedding.py: DEFAULT_VOCAB_PADDING_SIZE
    }
    if (pads_experts_ && matrix.shard == Shard::expert && matrix.linear) return padded_expert(matrix) * model_.scale();
    double count = rows * matrix.cols * matrix.copies * model_.scale();
    if (matrix.shard == Shard::expert && replica_.ep > 1) {  // whole experts: the fullest rank's share
      const double experts = std::max(1.0, model_.architecture.experts);
      count *= ceil_div(experts, replica_.ep) * replica_.ep / experts;
    }
    return count;
  }
  /// 64.4 (Triton) or 66.0 (Marlin) instead of 60.8 GiB of gpt-oss-120b.
  double padded_expert(const Matrix& matrix) const {
    const double ranks = std::max(1.0, replica_.tp * replica_.dp / replica_.ep);  // that cut a width
    const bool down = matrix.part == Part::expert_down;
    const double hidden = round_up(down ? matrix.rows : matrix.cols, expert_steps_.hidden);
    const double width = round_up((down ? matrix.cols : matrix.rows) / ranks, expert_steps_.width);
    const double in = round_up(down ? width : hidden, expert_steps_.summed), out = down ? hidden : width;
    return out * in * ranks * matrix.copies;
  }
  double divisor(const Matrix& matrix, double kv_heads) const {
    if (whole_table_ && matrix.part == Part::embedding) return 1;
    switch (matrix.shard) {
      case Shard::replicated:
        return 1;
      case Shard::kv_heads:
        return std::min(replica_.tp, std::max(1.0, kv_heads));
      case Shard::expert:
        return replica_.tp * replica_.dp;  // experts spread over attention's data-parallel ranks, too
      default:
        return replica_.tp;
    }
  }

  const Model& model_;
  const Checkpoint checkpoint_;
  const Replica replica_;
  const ServingStage stage_;
  const bool whole_table_, pads_vocabulary_, pads_experts_;
  const ExpertSteps expert_steps_;
  std::vector<WeightParcel> parcels_;
};

/// vllm cuts a tower's matrices like the others (config/multimodal.py, mm_encoder_tp_mode "weights"), and so does
/// sglang (srt/models/qwen3_vl.py, Qwen3_VisionMLP; srt/layers/attention/vision.py), but for Kimi's MoonViT
/// (srt/models/ kimi_vl_moonvit.py). llama.cpp's is a file of its own, TensorRT-LLM's an engine of its own.
void add_outside(const Plan& plan, const Replica& replica, Collector& out) {
  const Model& model = *plan.subject;
  const WeightSection outside = WeightSection::outside;
  out.add(model.outside, 1, 1, &outside);
  const bool vllm = plan.engine == Engine::vllm, serves = vllm || plan.engine == Engine::sglang;
  if (!serves || model.architecture.extra_params > 0) return;
  const bool cut = vllm || model.architecture.model_type.find("kimi") == std::string::npos;
  out.put({outside, model.architecture.tower, 16, cut ? replica.tp : 1});
}

void add_ends(const Plan& plan, const Replica& replica, const ServingStage& stage, Collector& out) {
  const Model& model = *plan.subject;
  if (stage.has_embedding) out.add(model.embedding, 1, 1);
  if (stage.has_outside) add_outside(plan, replica, out);
  if (!stage.has_head) return;
  out.add(model.head, 1, 1);
  // Built engines hold a tied head as a copy and the table whole on every rank, where --use_embedding_sharing and
  // --use_parallel_embedding do not say otherwise (examples/*/convert_checkpoint.py).
  const bool apart = !stage.has_embedding || builds_engines(plan);
  if (!model.architecture.tied || !apart) return;
  for (Matrix table : model.embedding) {  // a tied head away from its table is a copy of it
    if (table.part != Part::embedding) continue;
    table.part = Part::head;
    out.add({table}, 1, 1);
  }
}

/// EAGLE's draft is a decoder layer like the model's own and a projection of two hidden states to one; prediction
/// modules are listed by the model.
void add_draft(const Plan& plan, Collector& out) {
  const Model& model = *plan.subject;
  const WeightSection draft = WeightSection::draft;
  if (plan.draft_layers > 0 && !model.layers.empty()) {
    out.add(model.layer(model.layers.size() - 1), plan.draft_layers, &draft);
    const double hidden = model.architecture.hidden;
    out.add({{"fc", Part::other, Shard::replicated, hidden, 2 * hidden}}, 1, 1, &draft);
  } else if (plan.draft_tokens > 0) {
    for (const LayerKind& kind : model.mtp) out.add(kind, 1, &draft);
  }
}

/// Latent attention's kv_b is absorbed into query and output: sglang keeps it transposed beside the weight
/// (deepseek_weight_loader.py, post_load_weights: w_kc, w_vc), vllm a 16-bit copy of what is quantised (mla/common.py,
/// process_weights_after_loading).
void add_absorbed(const Plan& plan, const Replica& replica, const LayerKind& kind, double layers, Collector& out) {
  const Attention& a = kind.attention;
  const Format& format = weights_format(plan);
  const bool mixture = plan.subject->architecture.experts > 0;
  const bool wide = format.bits >= 16 || (mixture && format.of_mixtures != Quantised::linears);
  const bool copies = plan.engine == Engine::sglang || (plan.engine == Engine::vllm && !wide);
  if (a.kv_lora_rank <= 0 || !copies) return;
  const double elements = a.heads * (a.nope_head_dim + a.v_head_dim) * a.kv_lora_rank;
  out.put({WeightSection::absorbed, elements * layers, 16, replica.tp});
}

// vllm's first releases with latents keep whole products of kv_b for decoding: with the query's projection, whose
// rotary part stands apart, and with the output's, in FP8 where the checkpoint is (attention/backends/mla/utils.py,
// process_weights_after_loading: W_Q_UK, W_QR, W_UV_O). 10.45 GiB of DeepSeek-Coder-V2-Lite in AWQ.
constexpr double kAbsorbsProjectionsSince = 7001, kAbsorbsProjectionsUntil = 8e3;

void add_absorbed_projections(const Plan& plan, const Replica& replica, const LayerKind& kind, double layers,
                              Collector& out) {
  const Attention& a = kind.attention;
  const double release = release_number(plan);
  const bool absorbs = release >= kAbsorbsProjectionsSince && release < kAbsorbsProjectionsUntil;
  if (plan.engine != Engine::vllm || a.kv_lora_rank <= 0 || !absorbs) return;
  const double hidden = plan.subject->architecture.hidden, in = a.q_lora_rank > 0 ? a.q_lora_rank : hidden;
  const double elements = a.heads * (in * (a.kv_lora_rank + a.rope_head_dim) + a.kv_lora_rank * hidden);
  out.put({WeightSection::absorbed, elements * layers, plan.weights == "fp8" ? 8.0 : 16.0, replica.tp});
}

/// On AMD sglang's experts in groups of 4 bits keep the indices of their groups and of their order, 32 bits an input,
/// which Marlin's conversion frees (compressed_tensors_wNa16_moe.py, CompressedTensorsWNA16TritonMoE).
void add_group_indices(const Plan& plan, const Replica& replica, const LayerKind& kind, double layers, Collector& out) {
  const Format& format = weights_format(plan);
  const bool grouped = format.id == "int4" && kind.ffn.kind == FfnKind::moe;
  if (plan.engine != Engine::sglang || plan.accelerator->vendor != "AMD" || !grouped) return;
  const double inputs = plan.subject->architecture.hidden + kind.ffn.expert_width / replica.tp;
  out.put({WeightSection::group_indices, 2 * inputs * kind.ffn.experts * layers, 32, replica.ep});
}

double rotary_elements(const Architecture& a) {
  if (a.position != "rope") return 0;
  if (a.rope_head_dim > 0) return a.rope_head_dim;
  return (a.head_dim > 0 ? a.head_dim : a.hidden / std::max(1.0, a.heads)) * a.rotary_fraction;
}

// vllm-ascend#5516, 0.14: cosines and sines are kept apart, too, each of the full width (ops/rotary_embedding.py,
// _record_cos_and_sin_cache_interleaved).
constexpr double kAscendTables = 3, kAscendTablesSince = 14e3;

/// vllm enlarges the table of rotary embeddings in sections, of time, height and width, for the positions of a video
/// (rotary_embedding/mrope.py, MRotaryEmbedding, from 0.7.2 on). Qwen3.5's text models have them, too.
constexpr double kSectionedTable = 4, kSectionedSince = 7002;

bool has_sections(const Architecture& a) {
  for (std::string_view family : {"qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5", "glm4v"}) {
    if (a.model_type.starts_with(family)) return true;
  }
  return false;
}

/// Cosines and sines of every position, loaded with the weights by vllm and sglang (rotary_embedding.py,
/// _compute_cos_sin_cache): in 16 bit 2 MiB of Llama-3, 32 of Llama-3.1; sglang keeps them in fp32 on CUDA, and has no
/// second and no longer one of models that scale them layer by layer (gemma3_causal.py, Gemma3RotaryEmbedding).
void add_rotary(const Plan& plan, Collector& out) {
  const Architecture& a = plan.subject->architecture;
  const bool sglang = plan.engine == Engine::sglang, wide = sglang && plan.accelerator->vendor != "AMD";
  if (!sglang && plan.engine != Engine::vllm) return;
  const bool ascend = !sglang && plan.accelerator->vendor == "Huawei" && release_number(plan) >= kAscendTablesSince;
  const double scaled = sglang ? std::max(1.0, a.rotary_fraction) : 1;
  const bool sections = !sglang && has_sections(a) && release_number(plan) >= kSectionedSince;
  const double tables = sections ? kSectionedTable : ascend ? kAscendTables : 1;
  const double elements = a.max_positions * rotary_elements(a) / scaled * tables;
  out.put({WeightSection::rotary, elements, wide ? 32.0 : 16.0, 1});
}

}  // namespace

bool builds_engines(const Plan& plan) { return plan.engine == Engine::trtllm && plan.engine_version.starts_with("0."); }

const Format& weights_format(const Plan& plan) {
  const Format* format = find_format(plan.weights);
  return format != nullptr ? *format : *find_format("bf16");
}

const Format& kv_format(const Plan& plan) {
  const Format* format = find_format(plan.kv);
  return format != nullptr ? *format : *find_format("bf16");
}

const Format& kv_values_format(const Plan& plan) {
  const Format* format = find_format(plan.kv_values);
  return format != nullptr ? *format : kv_format(plan);
}

// vllm prints what PyTorch has allocated, with rests of up to 1 MiB behind large tensors; its newer versions the
// difference of free memory, as sglang always did: Qwen2.5-7B's 14.193 GiB are 14.2488 and in 0.27 14.29. Segments that
// small tensors share leave nothing there: Qwen2.5-1.5B's 2.89 GiB are 2.98 (0.28), Qwen3-235B's 55.19 (0.27).
constexpr double kVllmPrintsFreeMemory = 20e3;

WeightParcel allocator_rounding(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const Model& model = *plan.subject;
  WeightParcel parcel{WeightSection::rounding, 0, 8, 1};
  const bool sglang = plan.engine == Engine::sglang;
  if (!model.has_shape || !(sglang || plan.engine == Engine::vllm)) return parcel;
  const Collector out(plan, replica, stage);
  std::vector<FusedTensors> kinds;
  for (const LayerKind& kind : model.kinds) kinds.push_back(out.tensors(kind));
  const bool scaled = weights_format(plan).blocks_only && weights_format(plan).bits < 8;  // scales fill what is left
  // vllm-ascend prints what is allocated (platform.py, get_current_memory_usage).
  const bool ascend = plan.accelerator->vendor == "Huawei";
  const bool reserved = sglang || (!ascend && release_number(plan) >= kVllmPrintsFreeMemory);
  Allocations allocations(reserved, !scaled && (sglang || !reserved));
  if (stage.has_embedding) out.put(model.embedding, allocations);
  for (size_t i = stage.first; i < stage.first + stage.count; ++i) kinds[model.layers[i]].put_into(allocations);
  if (stage.has_head) out.put(model.head, allocations);
  parcel.elements = std::ceil(allocations.beyond());
  return parcel;
}

std::vector<WeightParcel> weight_parcels(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  const Model& model = *plan.subject;
  Collector out(plan, replica, stage);
  if (!model.has_shape) {
    out.put({WeightSection::block, model.nominal_parameters, weights_format(plan).bits, replica.tp * replica.pp});
    return out.take();
  }
  add_ends(plan, replica, stage, out);
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    out.add_layers(k);
    if (stage.more_experts > 0) out.add_more_experts(k);
    const double layers = model.layers_of_kind(k, stage.first, stage.count);
    add_absorbed(plan, replica, model.kinds[k], layers, out);
    add_absorbed_projections(plan, replica, model.kinds[k], layers, out);
    add_group_indices(plan, replica, model.kinds[k], layers, out);
  }
  if (stage.has_head) add_draft(plan, out);
  add_rotary(plan, out);
  return out.take();
}

double tensor_bytes(const Plan& plan, size_t layer, Part part) {
  const Model& model = *plan.subject;
  const Checkpoint checkpoint(plan);
  double bytes = 0;
  for (const Matrix& matrix : model.layer(layer).matrices) {
    if (matrix.part != part) continue;
    double bits = checkpoint.bits(matrix);
    if (checkpoint.gguf()) {
      const GgufStorage stored = gguf_storage(checkpoint.format(), model, matrix, model.layers[layer], layer, 1);
      bits = stored.raised_layers > 0 ? stored.raised : stored.bits;
    }
    bytes = std::max(bytes, matrix.count() * model.scale() * bits / 8);
  }
  return bytes;
}

double head_bytes(const Plan& plan) {
  double bytes = 0;
  for (const WeightParcel& parcel : weight_parcels(plan, Replica{}, {0, 0, false, true, false})) {
    if (parcel.section == WeightSection::head) bytes += parcel.elements * parcel.bits / 8;
  }
  return bytes;
}

ExpertBytes expert_bytes(const Plan& plan, size_t layer) {
  return {tensor_bytes(plan, layer, Part::expert_gate), tensor_bytes(plan, layer, Part::expert_up),
          tensor_bytes(plan, layer, Part::expert_down)};
}

double largest_host_experts_bytes(const Plan& plan) {
  const ServingStage host = host_stage(plan);
  const size_t first = host.first + host.count;
  double largest = 0;
  for (size_t i = first; i < first + host.more_experts; ++i) {
    const ExpertBytes bytes = expert_bytes(plan, i);
    largest = std::max({largest, bytes.gate, bytes.up, bytes.down});
  }
  return largest;
}

namespace {

/// A tied embedding is the head, too.
bool is_head(const Plan& plan, const WeightParcel& parcel) {
  const bool tied = plan.subject->architecture.tied;
  return parcel.section == (tied ? WeightSection::embedding : WeightSection::head);
}

}  // namespace

std::vector<ReadBytes> weight_bytes_read(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  std::vector<ReadBytes> read;
  for (const WeightParcel& parcel : weight_parcels(plan, replica, stage)) {
    const bool table = parcel.section == WeightSection::embedding && !plan.subject->architecture.tied;
    if (table || parcel.section == WeightSection::outside || parcel.section == WeightSection::rotary) continue;
    read.push_back({parcel.bits, parcel.elements * parcel.bits / 8 / parcel.divisor,
                    parcel.section == WeightSection::experts, parcel.section == WeightSection::host_experts,
                    parcel.section == WeightSection::draft, is_head(plan, parcel)});
  }
  return read;
}

}  // namespace vram
