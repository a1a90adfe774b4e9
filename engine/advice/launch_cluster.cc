#include <algorithm>
#include <cmath>

#include "engine/advice/launch_dialects.h"
#include "engine/plan/percent.h"
#include "engine/units.h"

namespace vram {
namespace {

// torchrun and torch.distributed.launch; accelerate (processes are those of all machines); deepspeed.
// ... and Slurm's srun, whose tasks are GPUs where nothing inside starts more.
constexpr std::string_view kNodes = "nodes N nnodes num-machines num-nodes",
                           kPerNode = "ntasks-per-node gpus-per-node nproc-per-node num-gpus",
                           kAll = "num-processes world-size", kListed = "include i";

/// "8", "2:4" (elastic: the most); 0 for a name that only the machine knows.
double count_of(std::string_view text) {
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) text.remove_prefix(colon + 1);
  return read_number(text).value_or(0);
}

/// "worker-0:0,1@worker-1:2": GPUs that DeepSpeed's launcher is told by their numbers.
double listed_gpus(std::string_view list) {
  double count = 0;
  bool ids = false;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == ':') count += 1;
    if (list[i] == ':' || list[i] == '@') ids = list[i] == ':';
    if (list[i] == ',' && ids) count += 1;
  }
  return count;
}

double read_count(LaunchReader& reader, GivenFlags& given, std::string_view names) {
  const GivenFlag* flag = given.find(names);
  if (flag == nullptr) return 0;
  const double count = count_of(flag->value);
  if (count < 1) {
    reader.note(
        Key::gpus, flag->value,
        "'" + printable(flag->text, 60) + "' says no number; " + value_text(reader.plan(), Key::gpus) + " is kept");
  }
  return std::floor(count);
}

}  // namespace

void read_gpu_count(LaunchReader& reader, GivenFlags& given) {
  const double nodes = std::max(1.0, read_count(reader, given, kNodes));
  const double all = read_count(reader, given, kAll), each = read_count(reader, given, kPerNode);
  const double listed = listed_gpus(given.value(kListed));
  const double gpus = listed > 0 ? listed : all > 0 ? all : nodes * each;
  if (gpus < 1) return;
  const GivenFlag* flag = given.find(listed > 0 ? kListed : all > 0 ? kAll : kPerNode);
  reader.set(Key::gpus, write_number(gpus), flag->text);
  reader.clear(Key::node);
  reader.resolve_now();
  const double in_a_node = std::max(1.0, std::floor(gpus / nodes));
  if (nodes > 1 || in_a_node > reader.plan().node) reader.set(Key::node, write_number(in_a_node));
}

void write_gpu_count(LaunchWriter& writer, std::string_view nodes, std::string_view per_node) {
  const Plan& plan = writer.plan();
  writer.said({Key::gpus});
  const bool whole_nodes = plan.gpus > plan.node && std::fmod(plan.gpus, plan.node) == 0;
  if (whole_nodes) {
    writer.said({Key::node});
    writer.flag(nodes, write_number(plan.gpus / plan.node));
  }
  writer.flag(per_node, write_number(whole_nodes ? plan.node : plan.gpus));
}

void read_replica(LaunchReader& reader) {
  reader.clear(Key::serve_gpus);
  reader.resolve_now();
  const Plan& plan = reader.plan();
  reader.set(Key::serve_gpus, write_number(plan.serve_tp * plan.serve_pp * plan.serve_dp));
}

void read_accumulation(LaunchReader& reader, double micro_batch, double accumulation) {
  reader.resolve_now();
  const double ranks = reader.plan().dp();
  reader.clear(Key::global_batch);
  if (accumulation > 1 && ranks >= 1) {
    reader.set(Key::global_batch, write_number(std::floor(micro_batch * accumulation * ranks)));
  }
}

double accumulation_of(const Plan& plan) {
  const double count = plan.micro_batches();
  return count >= 1 && count == std::floor(count) ? count : 1;
}

void read_steps(LaunchReader& reader, double steps) {
  reader.clear(Key::tokens);
  if (steps <= 0) return;
  reader.resolve_now();
  reader.set(Key::tokens, write_number(steps * reader.plan().global_batch * reader.plan().seq));
}

double steps_of(const Plan& plan) {
  return plan.tokens > 0 ? std::ceil(plan.tokens / (plan.global_batch * plan.seq)) : 0;
}

}  // namespace vram
