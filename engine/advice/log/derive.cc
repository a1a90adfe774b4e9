#include "engine/advice/log/derive.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "engine/text.h"

namespace vram {
namespace {

constexpr double kVllmBlock = 16;  // tokens of a KV block, vLLM's default

const LogFigure* find_first(const std::vector<LogFigure>& figures, std::string_view tool, std::string_view what) {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [&](const LogFigure& figure) { return figure.what == what && figure.tool == tool; });
  return found == figures.end() ? nullptr : &*found;
}

/// Tokens of vLLM's KV blocks: as the log says, or as the concurrency it prints follows from (blocks x tokens /
/// length).
double vllm_block(const std::vector<LogFigure>& figures) {
  const auto number = [&](const char* what) {
    const LogFigure* figure = find_first(figures, "vLLM", what);
    return figure == nullptr ? 0 : figure->number;
  };
  const double stated = number("block_tokens");
  if (stated > 0) return stated;
  const double blocks = number("gpu_blocks");
  const double tokens = number("max_concurrency") * number("max_model_len");
  for (double block = 1; block <= 1024 && blocks > 0; block *= 2) {
    if (std::fabs(tokens / (blocks * block) - 1) < 0.05) return block;
  }
  return kVllmBlock;
}

/// The figures of one message, by name: the last of each.
struct Message {
  std::map<std::string, const LogFigure*, std::less<>> last;
  const LogFigure* find(std::string_view what) const {
    const auto found = last.find(what);
    return found == last.end() ? nullptr : found->second;
  }
};

LogFigure like(const LogFigure& source, std::string what, CaptureKind kind) {
  LogFigure made;
  made.what = std::move(what);
  made.kind = kind;
  made.tool = source.tool;
  made.device = source.device;
  made.rank = source.rank;
  made.message = source.message;
  made.line = source.line;
  made.derived = true;
  return made;
}

void add_number(const LogFigure& source, const char* what, double number, std::vector<LogFigure>& out) {
  LogFigure made = like(source, what, CaptureKind::number);
  made.number = number;
  out.push_back(std::move(made));
}

void add_bytes(const LogFigure& source, const char* what, double bytes, std::vector<LogFigure>& out) {
  if (!(std::fabs(bytes) < 9e18)) return;
  LogFigure made = like(source, what, CaptureKind::bytes);
  made.bytes = static_cast<int64_t>(std::floor(bytes + 0.5));
  out.push_back(std::move(made));
}

/// Of a message: the figure that one operation on two others gives.
struct Rule {
  const char* tool;
  const char *first, *second;
  char operation;  // of the two; '%': the first is so many percent of the result; 'b': blocks of so many tokens
  const char* result;
};

constexpr Rule kRules[] = {
    {"vLLM", "gpu_blocks", "", 'b', "kv_tokens"},
    {"LMDeploy", "max_model_len_effective", "gpu_blocks", '/', "block_tokens"},
    {"LMDeploy", "block_bytes", "gpu_blocks", '*', "kv_bytes"},
    {"TGI", "free_before_bytes", "free_after_kv_bytes", '-', "kv_bytes"},
    {"TensorRT-LLM", "free_before_bytes", "free_after_model_bytes", '-', "weights_bytes"},
    {"torchtitan", "peak_reserved_bytes", "percent", '%', "capacity_bytes_derived"},
    {"DeepSpeed", "host_used_bytes", "host_percent", '%', "host_total_bytes"},
    {"PyTorch", "allocated_bytes", "cached_bytes", '+', "reserved_bytes"},
};

double value_of(const LogFigure& figure) {
  return figure.kind == CaptureKind::bytes ? static_cast<double>(figure.bytes) : figure.number;
}

void apply(const Rule& rule, const Message& message, double block, std::vector<LogFigure>& out) {
  const LogFigure* first = message.find(rule.first);
  const LogFigure* second = rule.second[0] == 0 ? first : message.find(rule.second);
  if (first == nullptr || second == nullptr || std::strcmp(first->tool, rule.tool) != 0) return;
  if (message.find(rule.result) != nullptr) return;
  const double a = value_of(*first), b = value_of(*second);
  switch (rule.operation) {
    case '*':
      return add_bytes(*first, rule.result, a * b, out);
    case '+':
      return add_bytes(*first, rule.result, a + b, out);
    case '-':
      return add_bytes(*first, rule.result, a - b, out);
    case '%':
      if (b > 0) add_bytes(*first, rule.result, a / (b / 100), out);
      return;
    case '/':
      if (b > 0) add_number(*first, rule.result, a / b, out);
      return;
    default:
      add_number(*first, rule.result, a * block, out);
  }
}

/// What is counted, where there are at least so many.
struct Count {
  const char *tool, *of, *name;
  size_t least;
};

constexpr Count kCounts[] = {
    {"PyTorch", "tried_bytes", "messages", 2},  {"nvidia-smi", "used_bytes", "gpus", 1},
    {"amd-smi", "used_bytes", "gpus", 1},       {"npu-smi", "used_bytes", "gpus", 1},
    {"gpustat", "used_bytes", "gpus", 1},       {"nvtop", "used_bytes", "gpus", 1},
    {"rocm-smi", "used_bytes", "gpus", 1},      {"MaxText", "device_name", "devices", 1},
    {"DeepSpeed", "cached_bytes", "points", 2}, {"DeepSpeed estimator", "per_gpu_bytes", "rows", 1},
    {"vLLM", "budget_bytes", "workers", 2}};

/// One table; a later one begins where a device comes again.
template <typename Counted>
size_t count_of(const std::vector<LogFigure>& figures, const Counted& counted) {
  size_t number = 0;
  std::set<std::string> devices;
  for (const LogFigure& figure : figures) {
    if (!counted(figure)) continue;
    const std::string& device = figure.kind == CaptureKind::text ? figure.text : figure.on;
    if (!device.empty() && !devices.insert(device).second) break;
    ++number;
  }
  return number;
}

void count(const std::vector<LogFigure>& figures, std::vector<LogFigure>& out) {
  for (const Count& rule : kCounts) {
    const auto counted = [&](const LogFigure& figure) {
      return figure.what == rule.of && std::strcmp(figure.tool, rule.tool) == 0;
    };
    const size_t number = count_of(figures, counted);
    if (number < rule.least) continue;
    const LogFigure& first = *std::find_if(figures.begin(), figures.end(), counted);
    LogFigure made = like(first, rule.name, CaptureKind::number);
    made.device = made.rank = -1;
    made.number = static_cast<double>(number);
    out.push_back(std::move(made));
  }
}

/// "[32,4096,4096]" and "float": elements x width.
double tensor_bytes(std::string_view shape, const std::string& name) {
  const std::string type = lower_case(name);
  const double width = type == "double" || type == "int64" || type == "complex64" ? 8
                       : type == "half" || type == "bfloat16"                     ? 2
                       : type == "bool" || type == "int8" || type == "uint8"      ? 1
                                                                                  : 4;
  double elements = 1, dimension = 0;
  for (const char c : shape) {
    if (c >= '0' && c <= '9') {
      dimension = dimension * 10 + (c - '0');
    } else if (c == ',') {
      elements *= dimension;
      dimension = 0;
    }
  }
  return elements * dimension * width;
}

void derive_tensor(const Message& message, std::vector<LogFigure>& out, std::vector<LogGap>& gaps) {
  const LogFigure* shape = message.find("shape");
  const LogFigure* type = message.find("dtype");
  if (shape == nullptr || message.find("tried_bytes") != nullptr) return;
  if (type == nullptr) return gaps.push_back({"tried_bytes", shape->printed, "its type is missing", shape->line});
  add_bytes(*shape, "tried_bytes", tensor_bytes(shape->text, type->text), out);
}

/// A process that was killed with signal 9 was nearly always killed for host memory.
void derive_host(const std::map<uint32_t, Message>& messages, std::vector<LogFigure>& out) {
  for (const auto& [number, message] : messages) {
    const LogFigure* code = message.find("exitcode");
    if (code == nullptr || message.find("resource") != nullptr) continue;
    if (code->number != -9 && code->number != 137) continue;
    LogFigure made = like(*code, "resource", CaptureKind::text);
    made.text = "host";
    out.push_back(std::move(made));
  }
}

/// What llama.cpp's recurrent layers keep on all devices, where it does not print the sum.
void derive_recurrent(const std::vector<LogFigure>& figures, std::vector<LogFigure>& out) {
  if (find_first(figures, "llama.cpp", "recurrent_bytes") != nullptr) return;
  double total = 0;
  for (const LogFigure& figure : figures) total += figure.what == "recurrent_by_device" ? value_of(figure) : 0;
  const LogFigure* first = find_first(figures, "llama.cpp", "recurrent_by_device");
  if (first != nullptr) add_bytes(*first, "recurrent_bytes", total, out);
}

/// nvidia-smi's first line of a GPU goes on with "On", "Off" or "N/A" (persistence), torchtitan's with the GPU's
/// number.
void trim_names(std::vector<LogFigure>& figures) {
  for (LogFigure& figure : figures) {
    if (figure.what != "gpu_name") continue;
    for (const std::string_view tail : {" On", " Off", " N/A", " WDDM", " TCC", " MCDM"}) {
      const size_t length = figure.text.size();
      if (length > tail.size() && figure.text.compare(length - tail.size(), tail.size(), tail) == 0) {
        figure.text.resize(length - tail.size());
      }
    }
    const size_t open = figure.text.rfind(" (");
    const bool number = open < figure.text.size() && open + 4 >= figure.text.size() && figure.text.back() == ')';
    if (number && is_digit(figure.text[open + 2])) figure.text.resize(open);
  }
}

/// OLLAMA_CONTEXT_LENGTH:0 and OLLAMA_NUM_PARALLEL:0 leave them to the server.
void drop_unset(std::vector<LogFigure>& figures) {
  const auto is_unset = [](const LogFigure& figure) {
    return figure.number == 0 && (figure.what == "n_ctx" || figure.what == "n_slots");
  };
  figures.erase(std::remove_if(figures.begin(), figures.end(), is_unset), figures.end());
}

/// Where the exact bytes of an attempt follow, the rounded ones are set apart; else they are all there is.
void settle_attempts(std::vector<LogFigure>& figures) {
  std::set<uint32_t> exact;
  for (const LogFigure& figure : figures) {
    if (figure.what == "tried_bytes") exact.insert(figure.message);
  }
  for (LogFigure& figure : figures) {
    if (figure.what == "tried_mib_bytes" && exact.count(figure.message) == 0) figure.what = "tried_bytes";
  }
}

}  // namespace

void derive_figures(LogReading& reading) {
  settle_attempts(reading.figures);
  trim_names(reading.figures);
  drop_unset(reading.figures);
  std::map<uint32_t, Message> messages;
  for (const LogFigure& figure : reading.figures) messages[figure.message].last[figure.what] = &figure;
  std::vector<LogFigure> derived;
  const double block = vllm_block(reading.figures);
  for (const auto& [number, message] : messages) {
    for (const Rule& rule : kRules) apply(rule, message, block, derived);
    derive_tensor(message, derived, reading.gaps);
  }
  derive_host(messages, derived);
  derive_recurrent(reading.figures, derived);
  count(reading.figures, derived);
  for (LogFigure& figure : derived) reading.figures.push_back(std::move(figure));
}

}  // namespace vram
