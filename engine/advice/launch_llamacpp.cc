#include <algorithm>
#include <cmath>

#include "engine/advice/launch_dialects.h"
#include "engine/advice/launch_overrides.h"
#include "engine/plan/texts.h"
#include "engine/units.h"

// llama.cpp common/arg.cpp, and the environment of Ollama (envconfig/config.go), which runs it.
namespace vram {
namespace {

constexpr const char* kCacheTypes =
    "f16=fp16 bf16=bf16 f32=fp32 q8_0=q8_0 q4_0=q4_0 q4_1=q4_1 iq4_nl=iq4_nl q5_0=q5_0 q5_1=q5_1";

constexpr FlagRow kRows[] = {
    {Key::engine, "", "", "llamacpp"},
    {Key::kv, "cache-type-k ctk", kCacheTypes, "fp16"},
    {Key::kv_values, "cache-type-v ctv", kCacheTypes, "fp16"},
    {Key::batch_tokens, "batch-size b", "", "2048"},
    {Key::ubatch, "ubatch-size ub", "", "512"},
    {Key::flash, "flash-attn fa", "on=1 =1 1=1 auto=1 true=1 off=0 0=0 false=0", "1"},
    {Key::unified, "kv-unified kvu", "=1", "0"},
};

constexpr FlagRow kOllamaRows[] = {
    {Key::engine, "", "", "llamacpp"},
    {Key::kv, "OLLAMA-KV-CACHE-TYPE", "f16=fp16 q8_0=q8_0 q4_0=q4_0", "fp16"},
    {Key::flash, "OLLAMA-FLASH-ATTENTION", "1=1 true=1 0=0 false=0", ""},
};

/// The cache is allocated whole: `context` tokens in `slots` parts, each of which one request fills.
void read_context(LaunchReader& reader, double context, double slots, const std::string& flag) {
  reader.set(Key::concurrency, write_number(slots), flag);
  for (const Key key : {Key::max_len, Key::prompt}) reader.clear(key);
  if (context <= 0) return;
  reader.resolve_now();
  const double each = std::floor(context / slots), output = reader.plan().output;
  if (each <= output) {
    reader.set(Key::output, write_number(each));
    reader.set(Key::prompt, "0", flag);
  } else {
    reader.set(Key::prompt, write_number(each - output), flag);
  }
  reader.note(Key::prompt, write_number(context),
              "the cache holds " + show_grouped(context) + " tokens whatever is asked: requests are taken to fill it");
}

void read_gpus(LaunchReader& reader, GivenFlags& given) {
  for (const Key key : {Key::serve_gpus, Key::serve_tp, Key::serve_dp, Key::serve_pp}) reader.clear(key);
  const GivenFlag* split_flag = given.find("ts tensor-split");
  if (split_flag == nullptr) return;
  const size_t parts = split(split_flag->value, ',').size();
  reader.set(Key::serve_pp, write_number(static_cast<double>(parts)), split_flag->text);
}

/// Of a repository and a file's format in it, "unsloth/Qwen3-8B-GGUF:Q4_K_XL", the repository.
std::string_view repository(std::string_view name) {
  const size_t slash = name.find('/');
  const size_t colon = slash == std::string_view::npos ? slash : name.find(':', slash);
  return name.substr(0, colon);
}

void read_model_file(LaunchReader& reader, std::string_view name, std::string_view flag) {
  reader.read_model(repository(name), flag);
  reader.clear(Key::weights);
  const std::string format = format_in_name(name);
  if (!format.empty()) reader.set(Key::weights, format, flag);
  if (const std::string other = gguf_format_in_name(name); format.empty() && !other.empty()) {
    reader.note(Key::weights, other, "'" + other + "' is no format known here; the checkpoint's own is kept");
  }
}

/// --override-tensor of routed experts to the CPU. A layer before the first with experts counts as llama.cpp's own
/// --n-cpu-moe counts it.
void read_overrides(LaunchReader& reader, GivenFlags& given) {
  std::vector<std::string_view> values;
  std::string text;
  for (GivenFlag& flag : given.flags) {
    if (flag.name != "ot" && flag.name != "override-tensor") continue;
    flag.used = true;
    values.push_back(flag.value);
    text = flag.text;
  }
  if (values.empty()) return;
  const ExpertOverrides found = expert_overrides(values, static_cast<size_t>(reader.plan().layers));
  if (found.layers > 0) reader.set(Key::n_cpu_moe, write_number(std::round(found.layers)), text);
  if (found.layers > 0 && !found.are_first)
    reader.note(Key::n_cpu_moe, text,
                "not the experts of the first layers, whole: as many of the first ones are taken");
  if (found.has_others || !found.is_read)
    reader.note(Key::n_cpu_moe, text, "of these only what leaves routed experts in host memory is read");
}

void read_cpu_moe(LaunchReader& reader, GivenFlags& given) {
  reader.clear(Key::n_cpu_moe);
  reader.resolve_now();
  read_overrides(reader, given);
  const double all = reader.plan().layers;
  const GivenFlag *every = given.find("cmoe cpu-moe"), *first = given.find("ncmoe n-cpu-moe");
  if (every != nullptr) return reader.set(Key::n_cpu_moe, write_number(all), every->text);
  if (first == nullptr) return;
  const double layers = given.number("ncmoe n-cpu-moe", 0);
  reader.set(Key::n_cpu_moe, write_number(all > 0 ? std::min(layers, all) : layers), first->text);
}

void read(LaunchReader& reader, GivenFlags& given) {
  if (const GivenFlag* model = given.find("hf hf-repo m model"); model != nullptr) {
    read_model_file(reader, model->value, model->text);
  }
  read_gpus(reader, given);
  const double slots = given.number("np parallel", 1);
  const GivenFlag* context = given.find("c ctx-size");
  read_context(reader, given.number("c ctx-size", 0), slots, context != nullptr ? context->text : "");
  read_cpu_moe(reader, given);
  reader.clear(Key::gpu_layers);
  const GivenFlag* layers = given.find("ngl gpu-layers n-gpu-layers");
  if (layers == nullptr || layers->value == "all" || layers->value == "auto" || layers->value == "-1") return;
  reader.resolve_now();
  const double on_gpu = given.number("ngl gpu-layers n-gpu-layers", 0), all = reader.plan().layers;
  if (all == 0 || on_gpu < all) reader.set(Key::gpu_layers, write_number(on_gpu), layers->text);
}

void write(LaunchWriter& writer) {
  const Plan& plan = writer.plan();
  writer.said({Key::serve_gpus, Key::serve_tp, Key::serve_dp, Key::serve_pp, Key::prompt, Key::output, Key::concurrency,
               Key::gpu_layers, Key::n_cpu_moe, Key::weights});
  writer.flag("ctx-size", write_number(plan.concurrency * (plan.prompt + plan.output)));
  writer.flag("parallel", write_number(plan.concurrency));
  writer.flag("n-gpu-layers", plan.gpu_layers < plan.layers ? write_number(plan.gpu_layers) : "all");
  if (plan.n_cpu_moe > 0) writer.flag("n-cpu-moe", write_number(plan.n_cpu_moe));
  const double gpus = plan.serve_tp * plan.serve_pp * plan.serve_dp;
  if (gpus <= 1 || gpus > 64) return;
  std::string parts = "1";
  for (double i = 1; i < gpus; ++i) parts += ",1";
  writer.flag("tensor-split", parts);
}

void read_ollama(LaunchReader& reader, GivenFlags& given) {
  if (given.has("model")) {
    read_model_file(reader, given.value("model"), "ollama");
    // The library's own tags are Q4_K_M where they name no format.
    if (!reader.plan().has(Key::weights)) reader.set(Key::weights, "q4_k_m");
  }
  for (const Key key :
       {Key::serve_gpus, Key::serve_tp, Key::serve_dp, Key::serve_pp, Key::gpu_layers, Key::n_cpu_moe, Key::kv_values})
    reader.clear(key);
  const double slots = given.number("OLLAMA-NUM-PARALLEL", 1);
  const double context = given.number("OLLAMA-CONTEXT-LENGTH num-ctx", 4096);
  read_context(reader, context * slots, slots, "OLLAMA_NUM_PARALLEL");
}

}  // namespace

const Dialect kLlamacpp = {"llama.cpp", kRows, read, write};
const Dialect kOllama = {"Ollama", kOllamaRows, read_ollama, nullptr};

}  // namespace vram
