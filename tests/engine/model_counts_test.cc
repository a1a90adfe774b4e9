#include <algorithm>
#include <iterator>

#include "model_samples.h"

using namespace vram;
using namespace model_samples;

namespace {

struct Counts {
  std::string_view id;
  double parameters, active, kv_full, kv_sliding;
};

constexpr Counts kCounts[] = {
#include "model_counts.inc"
};

bool has_counts(std::string_view id) {
  return std::any_of(std::begin(kCounts), std::end(kCounts), [id](const Counts& row) { return row.id == id; });
}

}  // namespace

TEST_CASE("every preset is counted to the last parameter") {
  CHECK(std::size(kCounts) >= 199);
  for (const Counts& counts : kCounts) {
    CAPTURE(counts.id);
    const Model model = model_of(preset_json(counts.id));
    CHECK(model.has_shape);
    CHECK(model.has_kv_shape);
    CHECK(model.exact_parameters == counts.parameters);
    CHECK(model.active_parameters == counts.active);
    CHECK(kv_elements(model, false) == counts.kv_full);
    CHECK(kv_elements(model, true) == counts.kv_sliding);
  }
}

TEST_CASE("the exact count is the published one, less what the publication counts beyond the text model") {
  int published = 0;
  for (const PresetRow& row : model_presets()) {
    CAPTURE(row.id);
    const ConfigReading reading = read_config(row.json);
    REQUIRE(reading.ok);
    CHECK(reading.id == row.id);
    CHECK(reading.name == row.name);
    CHECK(!reading.source.empty());
    CHECK_FALSE(row.family.empty());  // what the page lists it under
    if (reading.published_parameters == 0) {
      INFO("nobody published a count: a row of model_counts.inc has to test the shape");
      CHECK(has_counts(row.id));
      continue;
    }
    ++published;
    CHECK(build_model(reading.architecture, 0, nullptr).exact_parameters == reading.published_parameters);
  }
  CHECK(published >= 185);
}

TEST_CASE("published counts, as their makers give them") {
  CHECK(model_of(preset_json("llama-3.1-8b")).exact_parameters == 8030261248);   // huggingface.co, safetensors
  CHECK(model_of(preset_json("llama-2-7b")).exact_parameters == 6738415616);     // arXiv 2307.09288, rounded to 6.7B
  CHECK(model_of(preset_json("mixtral-8x7b")).exact_parameters == 46702792704);  // mistral.ai: 46.7B, 12.9B active
  CHECK(model_of(preset_json("deepseek-v3")).exact_parameters == 671026419200);  // arXiv 2412.19437: 671B, 37B active
  CHECK(model_of(preset_json("gpt2")).exact_parameters == 124439808);
  CHECK(model_of(preset_json("falcon-7b")).exact_parameters == 6921720704);
}

TEST_CASE("a router's correction bias is counted, and apart") {
  const Model model = model_of(preset_json("deepseek-v3"));
  CHECK(model.correction_bias_parameters == 14848);  // 58 layers x 256 experts
  CHECK(model_of(preset_json("mixtral-8x7b")).correction_bias_parameters == 0);
}

TEST_CASE("prediction modules are listed, and not in the parameters") {
  const Model model = model_of(preset_json("deepseek-v3"));
  REQUIRE(model.mtp.size() == 1);
  // 13,463,426,304 in the published checkpoint with its own embedding and head, which are copies of the model's.
  CHECK(model.mtp[0].parameters() + 2.0 * 129280 * 7168 == 13463426304);
  CHECK(model_of(preset_json("qwen3.5-27b")).mtp[0].parameters() == 424699392);
  CHECK(model_of(preset_json("glm-5")).mtp[0].parameters() == 9952920576);
}

TEST_CASE("embedding parameters count the tables, a tied head not again") {
  CHECK(model_of(preset_json("llama-3.1-8b")).embedding_parameters == 128256.0 * 4096);
  CHECK(model_of(preset_json("gpt2")).embedding_parameters == 50257.0 * 768 + 1024 * 768);
  const Model tied = model_of(preset_json("llama-3.2-1b"));
  CHECK(tied.embedding_parameters == 128256.0 * 2048);
  for (const Matrix& m : tied.head)
    if (m.part == Part::head) CHECK(m.copies == 0);
}

TEST_CASE("all parts of a model add up to it") {
  for (const PresetRow& row : model_presets()) {
    CAPTURE(row.id);
    const Model model = model_of(row.json);
    double sum = 0;
    for (const auto* matrices : {&model.embedding, &model.head, &model.outside})
      for (const Matrix& m : *matrices) sum += m.count();
    for (size_t i = 0; i < model.layers.size(); ++i) sum += model.layer(i).parameters();
    CHECK(sum == model.exact_parameters);
    CHECK(model.active_parameters <= model.exact_parameters);
    CHECK(model.scale() == 1);
  }
}

TEST_CASE("linear mixers keep the state that their papers give") {
  const auto state_of = [](std::string_view id, Mixer mixer, double state, double conv) {
    CAPTURE(id);
    for (const LayerKind& kind : model_of(preset_json(id)).kinds)
      if (kind.mixer == mixer) {
        CHECK(kind.state_elements == state);
        CHECK(kind.conv_state_elements == conv);
      }
  };
  state_of("qwen3-next-80b-a3b", Mixer::linear, 524288, 24576);
  state_of("qwen3.5-27b", Mixer::linear, 786432, 30720);
  state_of("minimax-m1-456b", Mixer::linear, 1048576, 0);
  state_of("jamba-v0.1-52b", Mixer::state_space, 131072, 24576);
  state_of("mamba-2.8b", Mixer::state_space, 81920, 15360);
  state_of("mamba2-2.7b", Mixer::state_space, 655360, 16128);
  state_of("nemotron-h-56b", Mixer::state_space, 4194304, 61440);
  state_of("granite-4.0-h-small", Mixer::state_space, 1048576, 25344);
}

TEST_CASE("layer kinds are few, and every layer is one of them") {
  CHECK(model_of(preset_json("llama-3.1-8b")).kinds.size() == 1);
  const Model deepseek = model_of(preset_json("deepseek-v3"));
  CHECK(deepseek.kinds.size() == 2);
  CHECK(deepseek.layers_of_kind(0, 0, 61) == 3);   // dense
  CHECK(deepseek.layers_of_kind(1, 0, 61) == 58);  // experts
  CHECK(deepseek.layers_of_kind(1, 0, 5) == 2);
  const Model gemma = model_of(preset_json("gemma-3-27b"));
  CHECK(gemma.layer(4).mixer == Mixer::sliding);
  CHECK(gemma.layer(5).mixer == Mixer::full);
  CHECK(gemma.layer(61).mixer == Mixer::sliding);
  CHECK(gemma.layer(0).attention.window == 1024);
}
