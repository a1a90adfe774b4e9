// What holds of every training job, on plans drawn at random (always the same ones).
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <random>
#include <string>

#include "tests/engine/training_samples.h"

using namespace vram;
using namespace vram::samples;

namespace {

constexpr int kDraws = 400;

class Draw {
 public:
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  template <size_t n>
  std::string one_of(const char* const (&words)[n]) {
    return words[below(n)];
  }

  /// A model and how it is trained, on 64 GPUs; some of them are impossible. A draw a statement: the operands of +
  /// may be worked out in any order.
  std::string plan() {
    std::string share = "model=" + one_of({"llama-3.1-8b", "qwen2.5-7b", "gemma-2-9b", "gpt-neox-20b", "mixtral-8x7b",
                                           "deepseek-v2-lite", "llama-2-70b", "qwen3-30b-a3b"});
    share += "&gpus=64&framework=" + one_of({"megatron", "deepspeed", "fsdp", "fsdp2", "ddp"});
    share += "&recompute=" + one_of({"none", "selective", "full"});
    share += "&loss=" + one_of({"full", "chunked", "fused"});
    share += "&method=" + one_of({"full", "full", "full", "lora", "qlora", "adapter_v2"});
    share += "&optimizer=" + one_of({"adamw", "adamw8bit", "adafactor", "muon", "sgdm"});
    share += "&offload=" + one_of({"none", "none", "none", "optimizer", "activations"});
    share += one_of({"", "&precision=bf16-pure", "&precision=fp32"});
    share += one_of({"", "&attention=eager"});
    share += one_of({"", "&fused_optimizer=0"});
    return share + one_of({"", "&compile=1"});
  }
  /// With a layout; context parallelism is left to the test.
  std::string laid_out() {
    std::string share = plan();
    share += layout();
    return share;
  }
  std::string layout() {
    std::string share = one_of({"", "", "&pp=2", "&pp=4", "&pp=4&schedule=gpipe"});
    share += one_of({"", "&tp=2", "&tp=4", "&tp=8&sp=0"});
    return share + one_of({"", "&ep=2", "&ep=4&etp=1"});
  }

 private:
  std::mt19937 random_{20240811};  // its sequence is the same everywhere
};

bool possible(const TrainingBill& b) { return !b.stages.empty(); }

/// Everything on a stage that grows with the tokens, in all phases.
uint64_t dynamic_bytes(const TrainingBill& b) {
  uint64_t sum = 0;
  for (const Phase& p : b.phases) sum += line(p.lines, "activations").bytes + line(p.lines, "logits").bytes;
  return sum;
}

}  // namespace

TEST_CASE("A longer sequence never takes less", "[training]") {
  Draw draw;
  int judged = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::string share = draw.laid_out() + "&seq=";
    const size_t seq = 256 + 8 * draw.below(1000);
    INFO(share << seq);
    const TrainingBill b = bill(share + std::to_string(seq)), longer = bill(share + std::to_string(2 * seq));
    if (!possible(b) || !possible(longer)) continue;
    ++judged;
    CHECK(longer.allocated_bytes >= b.allocated_bytes);
    CHECK(longer.device_bytes >= b.device_bytes);
  }
  CHECK(judged > kDraws / 2);
}

TEST_CASE("Context parallelism with as many times longer sequences leaves memory nearly unchanged",
          "[native][training]") {
  Draw draw;
  int judged = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::string share = draw.laid_out() + "&attention=flash&seq=";
    const size_t seq = 1024 * (1 + draw.below(8)), ranks = size_t{2} << draw.below(2);
    INFO(share << seq << " cp " << ranks);
    const TrainingBill b = bill(share + std::to_string(seq));
    const TrainingBill cut = bill(share + std::to_string(ranks * seq) + "&cp=" + std::to_string(ranks));
    if (!possible(b) || !possible(cut)) continue;
    ++judged;
    if (cut.stage == b.stage) CHECK(dynamic_bytes(cut) == dynamic_bytes(b));  // two stages may be as full as each other
    for (size_t stage = 0; stage < b.stages.size(); ++stage) {
      if (cut.stages[stage].phase != std::string_view(b.stages[stage].phase)) continue;
      for (const char* id : {"activations", "logits"})
        CHECK(line(cut.stages[stage].lines, id).bytes == line(b.stages[stage].lines, id).bytes);
    }
    const uint64_t ring = line(line(cut.lines, "buffers").children, "ring").bytes;  // one layer's keys and values
    CHECK(double(ring) < 0.1 * double(cut.allocated_bytes));
    CHECK(double(cut.allocated_bytes) < 1.001 * double(b.allocated_bytes + ring));
    CHECK(double(cut.allocated_bytes) > 0.999 * double(b.allocated_bytes));
  }
  CHECK(judged > kDraws / 3);
}

TEST_CASE("While the optimizer step is the peak the micro-batch does not matter", "[training]") {
  Draw draw;
  int judged = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::string share = draw.laid_out() + "&method=full&seq=256&micro_batch=";
    INFO(share);
    const TrainingBill one = bill(share + "1"), two = bill(share + "2");
    if (!possible(one) || !possible(two)) continue;
    if (std::string(one.phase) != "optimizer" || std::string(two.phase) != "optimizer") continue;
    ++judged;
    // A pipeline's chunks hold an input between steps: a token's share of it is all that may differ.
    const uint64_t held_one = line(line(one.lines, "buffers").children, "stage_inputs").bytes;
    const uint64_t held_two = line(line(two.lines, "buffers").children, "stage_inputs").bytes;
    if (one.stage == two.stage) CHECK(one.allocated_bytes - held_one == two.allocated_bytes - held_two);
  }
  CHECK(judged > 20);
}

TEST_CASE("More ZeRO never takes more of the states", "[training]") {
  Draw draw;
  int judged = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::string share = draw.laid_out() + "&zero=";
    INFO(share);
    for (int zero = 0; zero < 3; ++zero) {
      const TrainingBill b = bill(share + std::to_string(zero)), more = bill(share + std::to_string(zero + 1));
      if (!possible(b) || !possible(more)) continue;
      ++judged;
      for (size_t k = 0; k < b.stages.size(); ++k) {
        const auto states = [k](const TrainingBill& of) {
          Lines lines = of.stages[k].lines;
          return line(lines, "weights").bytes + line(lines, "optimizer").bytes + line(lines, "adapters").bytes;
        };
        CHECK(states(more) <= states(b));
        // DeepSpeed's bucket may be more than small states save; stage 3 gathers again what it shares.
        if (zero < 2 && share.find("deepspeed") == std::string::npos)
          CHECK(more.stages[k].allocated_bytes <= b.stages[k].allocated_bytes);
      }
    }
  }
  CHECK(judged > kDraws);
}

namespace {

/// Ranks of a stage that hold the same copy of a line's share: tensor-parallel ranks where the name says "whole", KV
/// heads where there are fewer than ranks; and the data-parallel ranks unless ZeRO shares the line.
double copies(const Plan& plan, std::string_view name, double ranks, bool shared) {
  const bool expert = name.starts_with("expert");
  const bool whole = name == "norms" || name == "routers" || name == "positions" || name == "other" ||
                     name.find("whole") != std::string_view::npos;
  const bool kv = name.find("kv") != std::string_view::npos;
  const double split = expert ? plan.etp * plan.ep : whole ? 1 : kv ? std::min(plan.tp, plan.kv_heads) : plan.tp;
  return ranks / (split * (shared ? expert ? plan.expert_shards() : plan.dense_shards() : 1));
}

/// Parts of a model whatever it is cut by: "norms_cut" and "norms_kv" are norms.
std::string part_of(std::string_view name) {
  for (std::string_view ending : {"_cut", "_kv", "_whole"})
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  return std::string(name == "positions" ? "embedding" : name);
}

using Parts = std::map<std::string, double>;

/// Bytes of a line's parts over all ranks of all stages, every copy counted once.
void add_once(const Plan& plan, const Line& of, bool shared, Parts& sums) {
  const double ranks = plan.gpus / plan.pp;
  for (const Line& part : of.children)
    sums[std::string(of.id) + " " + part_of(part.id)] +=
        double(part.bytes) * ranks / copies(plan, part.id, ranks, shared);
}

/// Weights, gradients and the optimizer's states, part by part.
Parts states(const Plan& plan) {
  Parts sums;
  const size_t stages = training_bill(plan).stages.size();
  for (size_t k = 0; k < stages; ++k) {
    const Lines lines = stage_lines(plan, k);
    add_once(plan, line(lines, "weights"), plan.zero >= 3, sums);
    add_once(plan, line(lines, "gradients"), plan.zero >= 2, sums);
    for (const Line& kind : line(lines, "optimizer").children) add_once(plan, kind, plan.zero >= 1, sums);
  }
  return sums;
}

}  // namespace

TEST_CASE("States of all ranks are those of one GPU and what is replicated by name, within a byte a line a rank",
          "[training]") {
  Draw draw;
  int judged = 0;
  for (int i = 0; i < 2 * kDraws; ++i) {
    // Models with a head of their own, whose dimensions divide evenly; several micro-batches, so that gradients last.
    const std::string model = draw.one_of({"llama-2-7b", "llama-3.1-8b", "llama-2-70b", "llama-3.1-405b", "qwen2.5-32b",
                                           "mixtral-8x7b", "qwen3-30b-a3b", "gpt-neox-20b", "deepseek-v2-lite"});
    std::string how =
        "&vocab_pad=1&seq=64&global_batch=1024&framework=" + draw.one_of({"megatron", "deepspeed", "fsdp2"});
    how += "&zero=" + draw.one_of({"0", "1", "2", "3"});
    how += draw.one_of({"", "&precision=bf16-pure", "&precision=fp32"});
    std::string layout = "&gpus=" + draw.one_of({"16", "64", "256"});
    layout += "&tp=" + draw.one_of({"1", "2", "4", "8"});
    layout += draw.one_of({"", "&pp=2", "&pp=4"});
    layout += draw.one_of({"", "&cp=2"});
    layout += draw.one_of({"", "&ep=2", "&ep=4&etp=1", "&ep=8&etp=1"});
    INFO(model << layout << how);
    const Plan plan = read_plan("model=" + model + layout + how).plan;
    const Parts whole = states(read_plan("model=" + model + "&gpus=1" + how).plan), all = states(plan);
    if (all.empty()) continue;  // impossible
    ++judged;
    REQUIRE(all.size() == whole.size());
    for (const auto& [name, bytes] : whole) {
      INFO(name);
      CHECK(std::fabs(all.at(name) - bytes) <= 3 * plan.gpus);  // a part is three lines at most
    }
  }
  CHECK(judged > kDraws / 2);
}
