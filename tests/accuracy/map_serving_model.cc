#include <algorithm>
#include <cmath>

#include "engine/model/config_json.h"
#include "engine/plan/plan.h"
#include "engine/serving/sglang.h"
#include "engine/text.h"
#include "tests/accuracy/engine_defaults.h"
#include "tests/accuracy/model_kin.h"
#include "tests/accuracy/model_name.h"
#include "tests/accuracy/serving_map.h"
#include "tests/accuracy/serving_said.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
void set_architecture(ServingMap& m, const Architecture& a) {
  const std::string share = write_plan(plan_of_architecture(a), false);
  for (size_t at = 0; at < share.size();) {
    const size_t end = std::min(share.find('&', at), share.size()), is = share.find('=', at);
    const bool encoded = share.compare(at, 5, "arch=") == 0;
    if (share.compare(at, 2, "v=") != 0 && !encoded)
      m.share.set(share.substr(at, is - at), share.substr(is + 1, end - is - 1));
    at = end + 1;
  }
  m.share.set("arch", write_arch(a));
}

namespace {

// Qwen2.5's instruct checkpoints say 32768 positions where the base ones say 131072.
constexpr double kInstructPositions = 32768;
constexpr double kUsualTower = 0.47e9;

/// Without the words that a repository adds to the model's name.
std::string plain(std::string name) {
  for (const char* word : {"-instruct", "-chat", "-vl", "-it", "-coder", "-math", "-embedding", "-text", "-omni"}) {
    const size_t at = lower(name).find(word);
    if (at != std::string::npos) name.erase(at, std::string_view(word).size());
  }
  return name;
}

/// "qwen3_coder_30b", "Qwen3 Coder 30B": its parts as repositories write them.
std::string hyphened(std::string name) {
  for (char& c : name)
    if (c == '_' || c == ' ') c = '-';
  return name;
}

/// Of a size that the name states: "DeepSeek-R1:14b" is not the 671B model that its name begins with.
bool of_stated_size(const std::string& preset, const std::string& name) {
  const double billions = stated_billions(name), named = stated_billions(preset);
  if (preset.empty() || billions == 0 || billions == named) return !preset.empty();
  const double counted = read_plan("model=" + preset).plan.subject->nominal_parameters / 1e9;
  return counted > 0.75 * billions && counted < 1.33 * billions;
}

std::string preset_of(std::string name) {
  if (const size_t teacher = lower(name).find("distill"); teacher != std::string::npos) name = name.substr(teacher + 7);
  const std::string before = name.substr(0, name.find('('));
  const std::string last = before.substr(before.rfind('/') == std::string::npos ? 0 : before.rfind('/') + 1);
  for (const std::string& found :
       {preset_within(before), preset_within(name), preset_within(plain(hyphened(name))), preset_named(last)})
    if (of_stated_size(found, name)) return found;
  return "";
}

/// The facts whose name is the longest one in the model's: a distilled model carries its teacher's, too.
const json* facts_named(const json& models, const std::string& name) {
  if (!models.is_array()) return nullptr;
  const std::string wanted = compact(name);
  const json* best = nullptr;
  size_t longest = 0;
  for (const json& facts : models) {
    const std::string repository = text(facts, "hf_repo");
    std::string id = compact(repository.substr(repository.find('/') + 1));
    id = id.substr(0, id.find("instruct"));
    const std::string own = compact(text(facts, "id"));
    for (const std::string& known : {id.size() >= 4 ? id : "", own.size() >= 6 ? own : ""}) {
      if (known.size() <= longest || wanted.find(known) == std::string::npos) continue;
      best = &facts;
      longest = known.size();
    }
  }
  return best;
}

/// Width of the MLP that gives the published count, where every layer is alike.
double ffn_of_count(const json& facts, double count) {
  const double layers = number(facts, "num_hidden_layers"), hidden = number(facts, "hidden_size");
  const double vocab = number(facts, "vocab_size"), head = number(facts, "head_dim");
  const double kv = number(facts, "num_key_value_heads");
  if (layers == 0 || hidden == 0 || vocab == 0 || head == 0 || kv == 0 || count == 0) return 0;
  if (number(facts, "num_experts") > 0 || number(facts, "kv_lora_rank") > 0) return 0;
  const double tables = vocab * hidden * (flag(facts, "tie_word_embeddings").value_or(false) ? 1 : 2);
  const double left = (count - tables) / layers - 2 * hidden * hidden - 2 * hidden * kv * head;
  return left > 0 ? std::round(left / (3 * hidden)) : 0;
}

void set_pattern(ServingMap& m, const json& facts) {
  const double layers = number(facts, "num_hidden_layers"), full = number(facts, "num_full_attention_layers");
  if (full <= 0 || full >= layers) return;
  const bool windows = number(facts, "num_sliding_layers") > 0;
  if (windows) m.share.set("window", number(facts, "sliding_window"));
  m.share.set("pattern", std::to_string(int(layers - full)) + (windows ? "s" : "l") + std::to_string(int(full)) + "f");
  if (const json* linear = find(facts, "linear_attention"); linear && linear->is_object())
    m.share.set_if("state_elements", number(*linear, "state_elements_per_layer"));
}

/// Full layers whose heads are not those of the window layers, and values narrower than keys. A pool of windows goes by
/// the class, which is the repository's name in small letters.
void set_widths(ServingMap& m, const json& facts, bool latent) {
  if (!latent) m.share.set_if("v_head_dim", number(facts, "v_head_dim"));
  Architecture a;
  a.global_kv_heads = number(facts, "full_kv_heads");
  if (number(facts, "swa_num_key_value_heads") > 0) {  // the plan's are those of window layers
    a.global_kv_heads = number(facts, "num_key_value_heads");
    m.share.set("kv_heads", number(facts, "swa_num_key_value_heads"));
    m.share.set("heads",
                std::max(first_number(m.share.get("heads")).value_or(0), number(facts, "swa_num_key_value_heads")));
  }
  const std::string note = text(facts, "note"), says = "global layers K=V=";
  double width = number(facts, "global_kv_width");
  if (const size_t at = note.find(says); at != std::string::npos)
    width = first_number(note.substr(at + says.size())).value_or(0);
  if (width > 0) {
    a.global_kv_heads = 1;
    a.global_head_dim = width;
  }
  const std::string repository = text(facts, "hf_repo");
  a.model_type = lower(repository.substr(repository.find('/') + 1));
  std::replace(a.model_type.begin(), a.model_type.end(), '-', '_');
  if (!has_window_pool(a)) a.model_type.clear();
  if (a.global_kv_heads > 0) m.share.set("arch", write_arch(a));
}

/// A model that is no preset, of the facts beside the cases: as much of a shape as they give.
void set_facts(ServingMap& m, const json& facts) {
  m.share.set("model", "custom");
  m.share.set("gated", 1.0);
  const double hidden = number(facts, "hidden_size"), head = number(facts, "head_dim");
  const double kv = std::max(1.0, number(facts, "num_key_value_heads"));
  double heads = number(facts, "num_attention_heads");
  if (heads == 0) heads = hidden > 0 && head > 0 && std::fmod(hidden, head) == 0 ? hidden / head : kv;
  heads = kv * std::ceil(heads / kv);
  heads = std::max(heads, number(m.c, "tp"));  // a latent's ranks share heads that are not stated
  double count = number(facts, "params_total_published_exact");
  if (count == 0) count = number(facts, "params");
  double ffn = number(facts, "intermediate_size");
  if (ffn == 0) ffn = ffn_of_count(facts, count);
  const bool latent = number(facts, "kv_lora_rank") > 0;
  const std::pair<const char*, double> keys[] = {{"params", count},
                                                 {"layers", number(facts, "num_hidden_layers")},
                                                 {"hidden", hidden},
                                                 {"heads", heads},
                                                 {"kv_heads", latent ? 0 : kv},
                                                 {"head_dim", latent ? 0 : head},
                                                 {"ffn", ffn},
                                                 {"vocab", number(facts, "vocab_size")}};
  for (const auto& [key, value] : keys) m.share.set_if(key, value);
  if (latent) {
    m.share.set("kv_lora_rank", number(facts, "kv_lora_rank"));
    m.share.set("rope_head_dim", number(facts, "qk_rope_head_dim"));
    m.share.set("nope_head_dim", std::max(128.0, number(facts, "qk_nope_head_dim")));
  }
  if (flag(facts, "tie_word_embeddings").value_or(false)) m.share.set("tied", 1.0);
  set_widths(m, facts, latent);
  set_pattern(m, facts);
}

/// The number behind the first of those words that is there.
double number_behind(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (const size_t at = text.find(word); at != std::string::npos)
      return first_number(text.substr(at + std::string_view(word).size())).value_or(0);
  return 0;
}

/// "32 x 8 x 128" among other factors, as a case's arithmetic has them: layers, KV heads, elements of a head.
struct Factors {
  double layers = 0, kv = 0, head = 0;
};

/// One factor of a product and the words behind it ("36 layers", "8 heads"), up to the next " x ".
bool take_factor(const std::string& said, size_t& at, double* factor) {
  if (at >= said.size() || !is_digit(said[at])) return false;
  *factor = std::strtod(said.c_str() + at, nullptr);
  const size_t next = said.find(" x ", at), stop = said.find_first_of(",;:=+()", at);
  at = next == std::string::npos || next > at + 24 || stop < next ? std::string::npos : next + 3;
  return true;
}

Factors factors_said(const std::string& said) {
  constexpr double kHeads[] = {64, 80, 96, 112, 128, 192, 256};
  for (size_t begin = 0; begin < said.size(); ++begin) {
    const bool starts = is_digit(said[begin]) && (begin == 0 || said[begin - 1] == ' ');
    std::vector<double> factors;
    double factor = 0;
    for (size_t at = begin; starts && at != std::string::npos && take_factor(said, at, &factor);)
      factors.push_back(factor);
    if (factors.size() > 3 && factors[0] == 2) factors.erase(factors.begin());  // keys and values
    if (factors.size() < 3 || std::find(std::begin(kHeads), std::end(kHeads), factors[2]) == std::end(kHeads)) continue;
    if (factors[0] > 1 && factors[1] >= 1 && factors[1] <= 128) return {factors[0], factors[1], factors[2]};
  }
  return {};
}

/// A rank keeps one KV head at least, whether the arithmetic is of a rank or its only head lies on each.
void set_shape(ServingMap& m, Factors shape) {
  shape.kv = std::max(shape.kv, number(m.c, "tp"));
  m.share.set("model", "custom");
  m.share.set("layers", shape.layers);
  m.share.set("heads", shape.kv);
  m.share.set("kv_heads", shape.kv);
  m.share.set("head_dim", shape.head);
}

/// "4 attention layers x 8 kv x 128" or "40 layers, 8 kv heads, head_dim 128", as a case says of a model that is no
/// preset.
bool set_stated_shape(ServingMap& m, const std::string& name) {
  const std::string said = lower(name);
  double layers = number_before(said, " attention layers").value_or(0);
  if (layers == 0) layers = number_before(said, " layers").value_or(0);
  const double kv = number_before(said, " kv").value_or(0);
  const double head = number_behind(said, {" kv x ", "head_dim", "head dim", "head size"});
  if (layers > 0 && kv > 0 && head > 0) {
    set_shape(m, {layers, kv, head});
    return true;
  }
  const Factors factors = factors_said(lower(text(m.c, "check")) + ";" + explained(m.c));
  const bool contradicts = (layers > 0 && layers != factors.layers) || (kv > 0 && kv != factors.kv);
  if (factors.layers == 0 || contradicts) return false;
  set_shape(m, factors);
  return true;
}

/// The model's config.json, where the case holds it.
bool set_config(ServingMap& m) {
  for (const char* name : {"config", "model_config", "hf_config"}) {
    const json* config = find(m.c, name);
    if (!config || !config->is_object()) continue;
    const ConfigReading read = read_config(config->dump());
    if (read.ok) set_architecture(m, read.architecture);
    return read.ok;
  }
  return false;
}

bool set_published(ServingMap& m, const std::string& name) {
  const std::string config = published_config(name);
  if (!config.empty()) set_architecture(m, read_config(config).architecture);
  return !config.empty();
}

/// "fp8 (fbgemm, MLP only)": attention stays in 16 bit, where the case says so the first and last layer, too.
void set_mixed(ServingMap& m, const std::string& preset) {
  Architecture a = *read_plan("model=" + preset).plan.base_architecture;
  const int layers = static_cast<int>(a.layers);
  const bool ends = text(m.c, "check").find("first/last layer") != std::string::npos;
  a.quantization = "fp8";
  a.unquantized = ends ? "1x" + std::to_string(layers - 2) + "a1x" : "1a";
  set_architecture(m, a);
}

/// A server that is told to take no images does not load what reads them.
bool without_tower(const json& c) {
  return holds_any(said_of(c) + explained(c), {"vision inputs off", "vision off", "without vision", "vision disabled",
                                               "language-model-only", "language_model_only", "language model only"});
}

void set_text_model(ServingMap& m, const std::string& preset) {
  Architecture a = *read_plan("model=" + preset).plan.base_architecture;
  a.has_vision = false;
  a.tower = 0;
  a.extra_params = 0;
  set_architecture(m, a);
  m.share.set("extra_params", 0.0);
}

/// A server that is told not to profile images: those of the plan are of one patch.
void set_unprofiled(ServingMap& m) {
  const bool skips = switched(m.c, "skip mm profiling").value_or(false);
  const Plan plan = read_plan(m.share.text()).plan;
  if (m.engine != "vllm" || !skips || !plan.subject) return;
  Architecture a = plan.subject->architecture;
  if (!a.has_vision && a.extra_params == 0) return;
  a.image = {1, 1, a.hidden, a.hidden, 1, 1, 0};
  set_architecture(m, a);
}

/// A text model below Qwen's towers is the preset's, but that its rotary embeddings are in sections.
void set_sections(ServingMap& m, const std::string& given, const std::string& preset) {
  if (given.find("qwen") == std::string::npos) return;
  const std::string outside = m.share.get("extra_params"), positions = m.share.get("max_positions");
  Architecture a = *read_plan("model=" + preset).plan.base_architecture;
  const std::string mixture = a.experts > 0 ? "_moe" : "";
  a.model_type = given.find("qwen3") != std::string::npos     ? "qwen3_vl" + mixture + "_text"
                 : given.find("qwen2.5") != std::string::npos ? "qwen2_5_vl_text"
                                                              : "qwen2_vl_text";
  set_architecture(m, a);
  if (!outside.empty()) m.share.set("extra_params", outside);
  if (!positions.empty()) m.share.set("max_positions", positions);
}

/// "gpt2 (medium, inferred)" is "gpt2-medium".
std::string with_size(const std::string& name) {
  const size_t open = name.find('(');
  if (open == std::string::npos || open == 0) return name;
  size_t end = open + 1;
  while (end < name.size() && is_alphanumeric(name[end])) ++end;
  std::string before = name.substr(0, open);
  while (!before.empty() && before.back() == ' ') before.pop_back();
  const std::string sized = before + "-" + name.substr(open + 1, end - open - 1);
  const bool known = end > open + 1 && compact(preset_named(sized)) == compact(sized);
  return known ? sized + name.substr(end) : name;
}

/// Names of llama.cpp's architectures ("qwen35 27B geometry"), and of two releases of one shape ("Qwen3.5/3.6-27B").
std::string released(std::string name) {
  for (const auto& [arch, release] : {std::pair{"qwen35moe", "qwen3.5"}, std::pair{"qwen35", "qwen3.5"}})
    if (const size_t at = lower(name).find(arch); at != std::string::npos)
      name.replace(at, std::string_view(arch).size(), release);
  const size_t slash = name.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 >= name.size()) return name;
  if (!is_digit(name[slash - 1]) || !is_digit(name[slash + 1])) return name;
  size_t end = slash + 1;
  while (end < name.size() && (is_digit(name[end]) || name[end] == '.')) ++end;
  return name.substr(0, slash) + name.substr(end);
}

/// GLM-5.2's layers look where an earlier one did, but for the first three and every fourth of the others (its
/// index_topk_freq of 4: 21 of 78 in llama.cpp's logs).
void share_indexers(ServingMap& m, const std::string& preset) {
  Architecture a = *read_plan("model=" + preset).plan.base_architecture;
  for (int layer = 0; layer < static_cast<int>(a.layers); ++layer)
    a.index_pattern += layer < 3 || layer % 4 == 2 ? 'f' : 'x';
  a.max_positions = 1048576;
  set_architecture(m, a);
}

/// What the case says of a preset beside its name.
void set_variant(ServingMap& m, const std::string& name, const std::string& preset) {
  const std::string given = lower(name);
  if (given.find("glm-5.2") != std::string::npos) share_indexers(m, preset);
  if (without_tower(m.c)) set_text_model(m, preset);
  if (m.engine == "llamacpp") m.share.set("extra_params", 0.0);  // its tower is a file of its own
  // The text model of that name under the tower that most have, SigLIP-so400m with its projector.
  if (says_tower(text(m.c, "model")) && m.share.get("extra_params").empty() && m.engine != "llamacpp" &&
      !read_plan("model=" + preset).plan.subject->architecture.has_vision)
    m.share.set("extra_params", kUsualTower);
  if (given.find("-vl-") != std::string::npos) return set_sections(m, given, preset);
  // The presets are of the base checkpoints.
  if (given.find("qwen2.5") != std::string::npos && given.find("instruct") != std::string::npos)
    m.share.set("max_positions", kInstructPositions);
  if (lower(text(m.c, "weight_dtype")).find("mlp only") != std::string::npos) set_mixed(m, preset);
  // Without absorption the cache holds every head's keys and values.
  if (lower(text(m.c, "check")).find("mla off") == std::string::npos) return;
  for (const char* rank : {"q_lora_rank", "kv_lora_rank", "nope_head_dim", "rope_head_dim"}) m.share.set(rank, 0.0);
  const Plan plan = read_plan("model=" + preset).plan;
  m.share.set("head_dim", plan.nope_head_dim + plan.rope_head_dim);
  m.share.set("v_head_dim", plan.v_head_dim);
}

/// "Qwen3-8B or Qwen3-4B (36 layers)": two models of one cache.
std::string first_of_two(const std::string& name) {
  const size_t at = name.find(" or ");
  return at < name.find('(')
             ? name.substr(0, at) + (name.find('(') == std::string::npos ? "" : " " + name.substr(name.find('(')))
             : name;
}

/// Without its bracket, where what stands before is a preset's: "gpt-j-6b (the report below says Llama-2-7b-hf)".
std::string own_name(const std::string& name) {
  const std::string before = name.substr(0, name.find('('));
  return of_stated_size(preset_within(before), before) ? before : name;
}

void set_named_model(ServingMap& m, const json& models) {
  if (set_config(m)) return;
  std::string name = text(m.c, "model");
  if (const size_t bar = name.find(" / "); bar != std::string::npos) name = name.substr(0, bar);
  if (const size_t at = lower(name).find(" (v");
      at != std::string::npos && at + 3 < name.size() && is_digit(name[at + 3]))
    name = name.substr(0, at) + "-" + name.substr(at + 2, name.find(')', at) - at - 2) +
           name.substr(name.find(')', at) + 1);
  name = released(with_size(first_of_two(name)));
  if (set_kin(m.share, own_name(name))) {
    const std::string kin = m.share.get("model");
    if (kin.empty()) m.skip("the model is no preset");
    return kin.empty() ? void() : set_variant(m, name, kin);
  }
  if (set_published(m, name)) return;
  if (const std::string preset = preset_of(name); !preset.empty()) {
    m.share.set("model", preset);
    return set_variant(m, name, preset);
  }
  if (const json* facts = facts_named(models, name)) return set_facts(m, *facts);
  if (!set_stated_shape(m, name)) m.skip("the model is no preset");
}

/// "DeepSeek-V3 geometry cut to 2 layers"
void cut_layers(ServingMap& m) {
  const std::string name = lower(text(m.c, "model"));
  const size_t at = name.find("cut to ");
  const Plan plan = read_plan(m.share.text()).plan;
  if (at == std::string::npos || name.find(" layer", at) == std::string::npos || !plan.subject) return;
  const double layers = first_number(name.substr(at)).value_or(0);
  if (layers <= 0 || layers >= plan.layers) return;
  m.share.set("layers", layers);
  if (plan.dense_layers > layers) m.share.set("dense_layers", layers);
}

}  // namespace

void set_model(ServingMap& m, const json& models) {
  set_named_model(m, models);
  if (m.skipped.empty()) cut_layers(m);
  if (m.skipped.empty()) set_unprofiled(m);
}

}  // namespace vram::accuracy
