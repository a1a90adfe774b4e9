#include "model_samples.h"

using namespace vram;
using namespace model_samples;

namespace {

/// A small model of Llama's shape.
Architecture small() {
  Architecture a;
  a.layers = 4;
  a.hidden = 64;
  a.heads = 4;
  a.kv_heads = 2;
  a.ffn = 256;
  a.vocab = 1000;
  a.max_positions = 512;
  a.gated = true;
  return a;
}

std::string fault_text(const Architecture& a, std::string_view field) {
  std::vector<ModelFault> faults;
  build_model(a, 0, &faults);
  for (const ModelFault& fault : faults)
    if (fault.field == field) return fault.text;
  return "";
}

double parameters(const Architecture& a) { return build_model(a, 0, nullptr).exact_parameters; }

double matrices_of(const LayerKind& kind, Part part) {
  double sum = 0;
  for (const Matrix& m : kind.matrices) sum += m.part == part ? m.count() : 0;
  return sum;
}

}  // namespace

TEST_CASE("a model is its matrices") {
  const double attention = 64 * 64 + 2 * 32 * 64 + 64 * 64, mlp = 3 * 64 * 256, norms = 2 * 64;
  CHECK(parameters(small()) == 2 * 64000 + 4 * (attention + mlp + norms) + 64);
}

TEST_CASE("each plan key of the model changes its own matrices and no others") {
  Architecture a = small();
  const double before = parameters(a);
  a.tied = true;
  CHECK(parameters(a) == before - 64000);
  a = small(), a.gated = false;
  CHECK(parameters(a) == before - 4 * 64 * 256);
  a = small(), a.qkv_bias = true;
  CHECK(parameters(a) == before + 4 * (64 + 32 + 32));
  a = small(), a.qk_norm = true;
  CHECK(parameters(a) == before + 4 * 2 * 16);
  a = small(), a.learned_positions = true;
  CHECK(parameters(a) == before + 512 * 64);
  a = small(), a.head_dim = 32;
  CHECK(parameters(a) == before + 4 * (64 * 64 + 2 * 32 * 64 + 64 * 64));
  a = small(), a.extra_params = 12345;
  CHECK(parameters(a) == before + 12345);
  a = small(), a.kv_heads = 0;  // as many as heads
  CHECK(parameters(a) == before + 4 * 2 * 32 * 64);
}

TEST_CASE("experts replace the FFN in the layers that have them") {
  Architecture a = small();
  a.experts = 8;
  a.experts_per_token = 2;
  const double before = parameters(small()), mlp = 3 * 64 * 256, router = 8 * 64;
  CHECK(parameters(a) == before + 4 * (7 * mlp + router));  // without expert_ffn, an expert is as wide as ffn
  CHECK(build_model(a, 0, nullptr).active_parameters == before + 4 * (mlp + router));
  a.expert_ffn = 32;
  CHECK(parameters(a) == before + 4 * (8 * mlp / 8 - mlp + router));
  a.shared_experts = 2;
  CHECK(parameters(a) == before + 4 * (mlp / 4 + router));  // two shared ones as wide as an expert
  a.shared_ffn = 32;                                        // the total of them
  CHECK(parameters(a) == before + 4 * (mlp / 8 + router));
  a.shared_experts = a.shared_ffn = 0;
  a.dense_layers = 1;
  CHECK(parameters(a) == before + 3 * router);
  a.dense_layers = 0;
  a.moe_every = 2;
  CHECK(parameters(a) == before + 2 * router);
}

TEST_CASE("experts are cut by expert parallelism, routers and norms by nothing") {
  Architecture a = small();
  a.experts = 8;
  a.experts_per_token = 2;
  const LayerKind kind = build_model(a, 0, nullptr).kinds[0];
  CHECK(kind.expert_parameters() == 8.0 * 3 * 64 * 256);
  for (const Matrix& m : kind.matrices) {
    if (m.part == Part::router || m.part == Part::norm) CHECK(m.shard == Shard::replicated);
    if (m.part == Part::k || m.part == Part::v) CHECK(m.shard == Shard::kv_heads);
    if (m.part == Part::q || m.part == Part::o) CHECK(m.shard == Shard::tensor);
  }
}

TEST_CASE("latent attention replicates its down-projections and cuts its heads") {
  const LayerKind kind = build_model(read_config(preset_json("deepseek-v3")).architecture, 0, nullptr).kinds[0];
  CHECK(kind.attention.kv_elements_per_token() == 512 + 64);
  CHECK(read_config(preset_json("deepseek-v3")).architecture.head_dim == 128 + 64);
  CHECK(matrices_of(kind, Part::q) == 128.0 * 192 * 1536);
  for (const Matrix& m : kind.matrices) {
    const std::string name = m.name;
    if (name == "q_a_proj" || name == "kv_a_proj_with_mqa") CHECK(m.shard == Shard::replicated);
    if (name == "kv_b_proj" || name == "q_b_proj") CHECK(m.shard == Shard::tensor);
  }
}

TEST_CASE("Gemma 3n's scales are multiplied element by element: no quantiser sees them") {
  const LayerKind kind = build_model(read_config(preset_json("gemma-3n-e2b")).architecture, 0, nullptr).kinds[0];
  for (const Matrix& m : kind.matrices) {
    if (std::string_view(m.name) == "altup_output_scale") CHECK_FALSE(m.linear);
    if (std::string_view(m.name) == "laurel_left") CHECK(m.linear);
  }
}

TEST_CASE("a pattern repeats over the layers") {
  Architecture a = small();
  a.window = 128;
  CHECK(build_model(a, 0, nullptr).kinds[0].mixer == Mixer::sliding);  // a window alone: all layers
  a.pattern = "2s1f";
  const Model model = build_model(a, 0, nullptr);
  CHECK(model.layer(1).attention.window == 128);
  CHECK(model.layer(2).mixer == Mixer::full);
  CHECK(model.layer(3).mixer == Mixer::sliding);
  a.window = 0;  // then those layers see everything
  CHECK(build_model(a, 0, nullptr).kinds.size() == 1);
  a.pattern = "sf";
  CHECK(build_model(a, 0, nullptr).layers.size() == 4);
  a.pattern = "3q";
  CHECK(fault_text(a, "pattern").find("5s1f") != std::string::npos);
  a.pattern = "99999999999999s";
  CHECK_FALSE(fault_text(a, "pattern").empty());
}

TEST_CASE("where layers are a mixer or an FFN, a prediction module has the last of each") {
  Architecture a = small();
  a.pattern = "fxfx";
  a.ffn_kinds = "xdxe";
  a.experts = 8;
  a.experts_per_token = 2;
  a.mtp_layers = 1;
  const Model model = build_model(a, 0, nullptr);
  REQUIRE(model.mtp.size() == 1);
  CHECK(matrices_of(model.mtp[0], Part::q) == 64 * 64);
  CHECK(matrices_of(model.mtp[0], Part::expert_up) == 8 * 64 * 256);
  CHECK(matrices_of(model.mtp[0], Part::up) == 0);
  CHECK(matrices_of(model.mtp[0], Part::norm) == (1 + 1 + 3) * 64);  // of both layers, and the module's own
}

TEST_CASE("a linear layer of unknown kind has an attention's projections and no cache") {
  Architecture a = small();
  a.pattern = "3l1f";
  a.state_elements = 4096;
  const Model model = build_model(a, 0, nullptr);
  CHECK(model.exact_parameters == parameters(small()));
  CHECK(model.layer(0).state_elements == 4096);
  CHECK(model.layer(0).attention.kv_elements_per_token() == 0);
}

TEST_CASE("an incomplete architecture has what can be known of it") {
  Architecture a = small();
  a.vocab = 0;
  CHECK_FALSE(build_model(a, 7e9, nullptr).has_shape);
  CHECK(build_model(a, 7e9, nullptr).has_kv_shape);
  CHECK(build_model(a, 7e9, nullptr).nominal_parameters == 7e9);
  CHECK(build_model(a, 7e9, nullptr).scale() == 1);
  CHECK(build_model(a, 0, nullptr).layers.size() == 4);
  a = small(), a.ffn = 0;
  CHECK_FALSE(build_model(a, 0, nullptr).has_shape);
  a = small(), a.layers = 0;
  CHECK_FALSE(build_model(a, 0, nullptr).has_kv_shape);
  a = small(), a.heads = 0;
  CHECK_FALSE(build_model(a, 0, nullptr).has_kv_shape);
  CHECK_FALSE(build_model(Architecture(), 0, nullptr).has_shape);
}

TEST_CASE("a nominal count scales every matrix") {
  const Model model = build_model(small(), 2 * parameters(small()), nullptr);
  CHECK(model.scale() == 2);
  CHECK(model.exact_parameters == parameters(small()));
}

TEST_CASE("impossible architectures are named") {
  Architecture a = small();
  a.heads = 5;
  a.kv_heads = 5;
  CHECK(fault_text(a, "num_attention_heads") == "5 heads do not divide hidden_size (64), and head_dim is not given");
  a.head_dim = 16;
  CHECK(fault_text(a, "num_attention_heads") == "");
  a = small(), a.kv_heads = 3;
  CHECK(fault_text(a, "num_key_value_heads") == "3 does not divide num_attention_heads (4)");
  a = small(), a.experts = 4, a.experts_per_token = 5;
  CHECK(fault_text(a, "num_experts_per_tok") == "more than there are experts (4)");
  a = small(), a.q_lora_rank = 32;
  CHECK(fault_text(a, "q_lora_rank") == "latent attention needs kv_lora_rank too");
  a = small(), a.kv_lora_rank = 32;
  CHECK(fault_text(a, "kv_lora_rank") == "latent attention needs qk_nope_head_dim and qk_rope_head_dim");
  a = small(), a.layers = 20000;
  CHECK(fault_text(a, "num_hidden_layers") == "at most 10000 layers are modelled");
  a = small(), a.hidden = 1e300;
  CHECK_FALSE(build_model(a, 0, nullptr).has_shape);
  a = small(), a.vocab = 9e15;
  CHECK_FALSE(fault_text(a, "parameters").empty());
}

TEST_CASE("layers that reuse a cache keep none of their own") {
  const Model gemma = model_of(preset_json("gemma-3n-e2b"));
  CHECK(gemma.layer(19).attention.kv_elements_per_token() == 1024);
  CHECK(gemma.layer(20).attention.kv_elements_per_token() == 0);
  CHECK(matrices_of(gemma.layer(20), Part::k) > 0);  // Gemma 3n stores the projections all the same
  const Model hunyuan = model_of(preset_json("hunyuan-large-389b"));
  CHECK(hunyuan.layer(1).attention.reuses_kv);
  CHECK(matrices_of(hunyuan.layer(1), Part::k) == 0);
}
