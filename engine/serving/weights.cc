#include "engine/serving/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/formats.h"
#include "engine/model/layer_shape.h"
#include "engine/model/stored_halves.h"
#include "engine/serving/allocations.h"
#include "engine/serving/gguf.h"
#include "engine/serving/vllm_run.h"
#include "engine/units.h"

namespace vram {

namespace {

struct SectionText {
  const char* id;
  const char* label;
};
constexpr std::array<SectionText, static_cast<size_t>(WeightSection::count_)> kSections = {{
    {"block", "All parameters"},
    {"attention", "Attention"},
    {"mlp", "MLP and shared experts"},
    {"experts", "Experts"},
    {"host_experts", "Experts of layers on the GPU"},
    {"mixer", "Linear and state-space mixers"},
    {"vectors", "Norms, biases, routers"},
    {"embedding", "Embedding"},
    {"head", "Output head"},
    {"outside", "Outside the text model"},
    {"draft", "Draft"},
    {"absorbed", "Absorbed copies of kv_b"},
    {"group_indices", "Indices of the experts' groups"},
    {"rotary", "Rotary table"},
    {"rounding", "Rounding of the allocator"},
}};

WeightSection section_of(const Matrix& matrix) {
  switch (matrix.part) {
    case Part::q:
    case Part::k:
    case Part::v:
    case Part::qkv_other:
    case Part::o:
      return WeightSection::attention;
    case Part::gate:
    case Part::up:
    case Part::down:
    case Part::shared_gate:
    case Part::shared_up:
    case Part::shared_down:
      return WeightSection::mlp;
    case Part::expert_gate:
    case Part::expert_up:
    case Part::expert_down:
      return WeightSection::experts;
    case Part::linear_mixer:
      return WeightSection::mixer;
    case Part::embedding:
    case Part::position:
      return WeightSection::embedding;
    case Part::head:
      return WeightSection::head;
    default:
      return WeightSection::vectors;
  }
}

/// Qwen's own GPTQ files of Gated DeltaNet's models leave attention, mixers and shared experts in 16 bit (their
/// quantization_config.dynamic: "-:.*attn.*", "-:.*shared_expert.*"), and so do the AWQ files of its mixtures: 22.84
/// and 23.36 GiB of Qwen3.5-35B-A3B, which would be 19.1.
bool quantises_mlp_alone(const Format& format, const Architecture& a) {
  if (a.linear.kind != "gated_deltanet") return false;
  return format.id == "gptq" || (format.id == "awq" && a.experts > 0);
}

/// llama.cpp's ffn_{gate,up,down}_exps, weights and biases: neither the router nor shared experts.
bool is_of_routed_experts(const Matrix& matrix) { return matrix.shard == Shard::expert; }

bool stays_wide(const Matrix& matrix, const Format& format, const Model& model) {
  if (!matrix.linear || matrix.part == Part::router || matrix.part == Part::norm || matrix.part == Part::bias)
    return true;
  if (matrix.part == Part::embedding || matrix.part == Part::head) return format.blocks_only;
  const WeightSection section = section_of(matrix);
  const bool mixture = model.architecture.experts > 0;
  if (quantises_mlp_alone(format, model.architecture))
    return section != (mixture ? WeightSection::experts : WeightSection::mlp);
  if (!mixture || format.of_mixtures == Quantised::linears) return false;
  return section != WeightSection::experts &&
         (format.of_mixtures == Quantised::experts || section != WeightSection::mlp);
}

/// TensorRT-LLM's own int4 has one scale a column (--use_weight_only), not one a group, and is of every linear layer
/// but the head and routers (quantization/quantize.py, weight_only_quantize); of latent attention's models, of the
/// experts (NVIDIA/TensorRT-LLM#2683).
Format stored_format(const Plan& plan) {
  Format format = weights_format(plan);
  if (plan.engine != Engine::trtllm || format.id != "int4") return format;
  format.bits = 4;
  if (plan.subject->architecture.kv_lora_rank == 0) format.of_mixtures = Quantised::linears;
  return format;
}

double bits_of(const Matrix& matrix, const Format& format, const Model& model) {
  if (!format.blocks_only) return format.bits;  // fp32, bf16, fp16: everything alike
  return stays_wide(matrix, format, model) ? 16 : format.bits;
}

/// What the checkpoint leaves in 16 bit, where it is loaded as it is.
std::string unquantized(const Plan& plan) {
  const Architecture& a = plan.subject->architecture;
  return a.unquantized.empty() || plan.weights != a.quantization ? "" : expand_pattern(a.unquantized, kStoredHalves);
}

/// Routers, norms and biases have no half: they are as they are everywhere.
Stored stored_as(char letter, WeightSection section) {
  const StoredHalves halves = halves_of(letter);
  if (section == WeightSection::attention || section == WeightSection::mixer) return halves.attention;
  return section == WeightSection::mlp || section == WeightSection::experts ? halves.mlp : Stored::as_format;
}

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
/// matrix sums over (quantization/mxfp4.py, create_weights; triton_kernels' swizzled layout on Hopper).
struct ExpertSteps {
  double hidden = 256, width = 128, summed = 1;  // Marlin
};
/// TensorRT-LLM pads both to 128 (fused_moe/quantization.py, MXFP4WeightCutlassFusedMoEMethod.weight_alignment): 63.32
/// GiB of gpt-oss-120b.
constexpr ExpertSteps kTrtllmSteps{128, 128, 1};
ExpertSteps expert_steps(const Accelerator& gpu) {
  if (gpu.family == "NVIDIA Hopper") return {1, 64, 256};
  const bool data_centre = gpu.family.starts_with("NVIDIA Blackwell") && gpu.link_gb_s > 0 && !gpu.link_is_pcie;
  return data_centre || gpu.vendor == "AMD" ? ExpertSteps{256, 256, 1} : ExpertSteps{};
}

/// TensorRT-LLM's built engines (before 1.0) hold a tied head as a copy and the table whole on every rank, where
/// --use_embedding_sharing and --use_parallel_embedding do not say otherwise (examples/*/convert_checkpoint.py).
bool builds_engines(const Plan& plan) { return plan.engine == Engine::trtllm && plan.engine_version.starts_with("0."); }

/// One stage's weights, gathered.
class Collector {
 public:
  Collector(const Plan& plan, const Replica& replica, const ServingStage& stage)
      : model_(*plan.subject),
        format_(stored_format(plan)),
        replica_(replica),
        stage_(stage),
        gguf_(is_gguf(format_, plan.engine == Engine::llamacpp)),
        wide_(unquantized(plan)),
        whole_table_(builds_engines(plan)),
        pads_vocabulary_(plan.engine == Engine::vllm || plan.engine == Engine::sglang),
        pads_experts_((plan.engine == Engine::vllm || plan.engine == Engine::trtllm) && format_.id == "mxfp4"),
        expert_steps_(plan.engine == Engine::trtllm ? kTrtllmSteps : expert_steps(*plan.accelerator)) {}

  /// Matrices that stand once: embedding, head, a draft's layers.
  void add(const std::vector<Matrix>& matrices, double copies, double kv_heads, const WeightSection* as = nullptr) {
    for (const Matrix& matrix : matrices) add(matrix, copies, kv_heads, as);
  }
  void add(const Matrix& matrix, double copies, double kv_heads, const WeightSection* as = nullptr) {
    if (matrix.count() <= 0 || copies <= 0) return;
    const double bits = gguf_ ? gguf_storage(format_, model_, matrix, 0, 0, 0).bits : bits_of(matrix, format_, model_);
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
    if (!gguf_ && !wide_.empty()) return add_mixed(k, whole, first, count, as);
    if (!gguf_) return add(whole, layers, kv_heads, as);
    for (const Matrix& matrix : gguf_tensors(model_, whole)) {
      const GgufStorage stored = gguf_storage(format_, model_, matrix, k, first, count);
      const WeightSection section = as != nullptr ? *as : section_of(matrix);
      const double each = elements(matrix), over = divisor(matrix, kv_heads);
      put({section, each * (layers - stored.raised_layers), stored.bits, over});
      put({section, each * stored.raised_layers, stored.raised, over});
    }
  }
  /// Of a checkpoint that leaves some layers' halves in 16 bit or has them in 8.
  void add_mixed(size_t k, const Matrix& matrix, size_t first, size_t count, const WeightSection* as) {
    const WeightSection section = section_of(matrix);
    std::array<double, static_cast<size_t>(Stored::count_)> layers{};
    for (size_t i = first; i < first + count; ++i) {
      if (model_.layers[i] == k) layers[static_cast<size_t>(stored_as(wide_[i % wide_.size()], section))] += 1;
    }
    const double own = of_format(matrix, section);
    const double bits[] = {own, matrix.linear ? 8.0 : own, 16};
    const double each = elements(matrix), over = divisor(matrix, model_.kinds[k].attention.kv_heads);
    for (size_t way = 0; way < layers.size(); ++way)
      put({as != nullptr ? *as : section, each * layers[way], bits[way], over});
  }
  /// Bits of what a list does not leave out: it speaks of attention, too, and knows better than the format's habit.
  double of_format(const Matrix& matrix, WeightSection section) const {
    const bool attention = section == WeightSection::attention || section == WeightSection::mixer;
    return attention && matrix.linear ? format_.bits : bits_of(matrix, format_, model_);
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
    const double bits = bits_of(matrix, format_, model_);
    const double own = bits < 16 && format_.blocks_only ? 8 * format_.nominal_bytes : bits;
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
  const Format format_;
  const Replica replica_;
  const ServingStage stage_;
  const bool gguf_;
  const std::string wide_;  // a letter a layer (Architecture::unquantized)
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

/// Cosines and sines of every position, loaded with the weights by vllm and sglang (rotary_embedding.py,
/// _compute_cos_sin_cache): in 16 bit 2 MiB of Llama-3, 32 of Llama-3.1; sglang keeps them in fp32 on CUDA, and has no
/// second and no longer one of models that scale them layer by layer (gemma3_causal.py, Gemma3RotaryEmbedding).
void add_rotary(const Plan& plan, Collector& out) {
  const Architecture& a = plan.subject->architecture;
  const bool sglang = plan.engine == Engine::sglang, wide = sglang && plan.accelerator->vendor != "AMD";
  if (!sglang && plan.engine != Engine::vllm) return;
  const double tables = sglang ? std::max(1.0, a.rotary_fraction) : 1;
  out.put({WeightSection::rotary, a.max_positions * rotary_elements(a) / tables, wide ? 32.0 : 16.0, 1});
}

}  // namespace

const Format& weights_format(const Plan& plan) {
  const Format* format = find_format(plan.weights);
  return format != nullptr ? *format : *find_format("bf16");
}

const Format& kv_format(const Plan& plan) {
  const Format* format = find_format(plan.kv);
  return format != nullptr ? *format : *find_format("bf16");
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
  const bool reserved = sglang || release_number(plan) >= kVllmPrintsFreeMemory;
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
    out.add_more_experts(k);
    const double layers = model.layers_of_kind(k, stage.first, stage.count);
    add_absorbed(plan, replica, model.kinds[k], layers, out);
    add_group_indices(plan, replica, model.kinds[k], layers, out);
  }
  if (stage.has_head) add_draft(plan, out);
  add_rotary(plan, out);
  return out.take();
}

double largest_host_experts_bytes(const Plan& plan) {
  const Model& model = *plan.subject;
  const Format format = stored_format(plan);
  const ServingStage host = host_stage(plan);
  const size_t first = host.first + host.count;
  double largest = 0;
  for (size_t k = 0; k < model.kinds.size(); ++k) {
    if (model.layers_of_kind(k, first, host.more_experts) <= 0) continue;
    for (const Matrix& matrix : model.kinds[k].matrices) {
      if (!is_of_routed_experts(matrix)) continue;
      double bits = bits_of(matrix, format, model);
      if (is_gguf(format, true)) {
        const GgufStorage stored = gguf_storage(format, model, matrix, k, first, host.more_experts);
        bits = std::max(stored.bits, stored.raised_layers > 0 ? stored.raised : 0);
      }
      largest = std::max(largest, matrix.count() * model.scale() * bits / 8);
    }
  }
  return largest;
}

namespace {

Factors parcel_factors(const WeightParcel& parcel) {
  Factors factors = {times("P", parcel.elements, "parameters")};
  add_width(factors, parcel.bits);
  if (parcel.divisor > 1) factors.push_back(over("tp", parcel.divisor, "GPUs that share them"));
  return factors;
}

/// What tells the parcels of one section apart.
SectionText parcel_text(const WeightParcel& parcel, double narrowest_bits, double most_gpus) {
  constexpr SectionText texts[2][3] = {
      {{"whole", "Whole on every GPU"}, {"by_kv_heads", "Divided by KV heads"}, {"divided", "Divided"}},
      {{"wider_whole", "Kept wider, whole on every GPU"},
       {"wider_by_kv_heads", "Kept wider, divided by KV heads"},
       {"wider", "Kept wider, divided"}}};
  const int spread = parcel.divisor <= 1 ? 0 : parcel.divisor < most_gpus ? 1 : 2;
  return texts[parcel.bits > narrowest_bits ? 1 : 0][spread];
}

Line parcel_line(Sheet& sheet, const SectionText& text, const WeightParcel& parcel) {
  if (parcel.section == WeightSection::rounding) {
    return sheet.leaf(text.id, text.label, {times("", parcel.elements, "B")}, kAllocatorRule, 1);
  }
  // Band: loaded weights of 20 start-up logs lie within 0.5% (16 bit) to 2% (quantised) of parameters x bits.
  return sheet.leaf(text.id, text.label, parcel_factors(parcel),
                    "parameters, matrix by matrix, x bits of the storage format", parcel.bits < 16 ? 0.02 : 0.005);
}

Line section_line(Sheet& sheet, const SectionText& text, const std::vector<WeightParcel>& parcels) {
  if (parcels.size() == 1) return parcel_line(sheet, text, parcels.front());
  double narrowest = parcels.front().bits, most_gpus = 1;
  for (const WeightParcel& parcel : parcels) {
    narrowest = std::min(narrowest, parcel.bits);
    most_gpus = std::max(most_gpus, parcel.divisor);
  }
  LineList lines(sheet);
  for (const WeightParcel& parcel : parcels) {
    lines.push_back(parcel_line(sheet, parcel_text(parcel, narrowest, most_gpus), parcel));
  }
  return sheet.group(text.id, text.label, gather_twins(sheet, lines));
}

}  // namespace

Line weights_line(Sheet& sheet, const std::vector<WeightParcel>& parcels) {
  const bool routes = std::any_of(parcels.begin(), parcels.end(),
                                  [](const WeightParcel& parcel) { return parcel.section == WeightSection::experts; });
  LineList children(sheet);
  for (size_t s = 0; s < kSections.size(); ++s) {
    std::vector<WeightParcel> own;
    for (const WeightParcel& parcel : parcels) {
      if (parcel.section == static_cast<WeightSection>(s)) own.push_back(parcel);
    }
    if (own.empty()) continue;
    children.push_back(section_line(sheet, kSections[s], own));
    if (own.front().section == WeightSection::mlp && !routes) children.back().label = "MLP";
  }
  return sheet.group("weights", "Weights", children);
}

std::vector<ReadBytes> weight_bytes_read(const Plan& plan, const Replica& replica, const ServingStage& stage) {
  std::vector<ReadBytes> read;
  for (const WeightParcel& parcel : weight_parcels(plan, replica, stage)) {
    const bool table = parcel.section == WeightSection::embedding && !plan.subject->architecture.tied;
    if (table || parcel.section == WeightSection::outside || parcel.section == WeightSection::rotary) continue;
    read.push_back({parcel.bits, parcel.elements * parcel.bits / 8 / parcel.divisor,
                    parcel.section == WeightSection::experts, parcel.section == WeightSection::host_experts});
  }
  return read;
}

}  // namespace vram
