#include <catch2/catch_test_macros.hpp>

#include "engine/advice/launch.h"
#include "engine/plan/percent.h"
#include "engine/plan/texts.h"
#include "tests/engine/plan_samples.h"
#include "tests/engine/report_random_plans.h"

using namespace vram;

namespace {

std::string without_comments(const std::string& script) {
  std::string out;
  for (const std::string_view line : split(script, '\n')) {
    if (!line.starts_with("#")) out.append(line).append("\n");
  }
  return out;
}

/// What no script says stays as it was: a server that is no program, the order of the two, a model without a shape.
std::string base_of(const Plan& plan) {
  const bool program = plan.engine != Engine::static_ && plan.engine != Engine::generic;
  std::string base =
      "view=" + value_text(plan, Key::view) + (program ? "" : "&engine=" + value_text(plan, Key::engine));
  if (write_launch(plan).find("no shape") == std::string::npos) return base;
  for (const Field& row : fields()) {
    if (row.group == Group::model && plan.has(row.key)) {
      base.append("&").append(row.name).append("=").append(percent_encode(value_text(plan, row.key)));
    }
  }
  return base;
}

std::string first_difference(const std::string& a, const std::string& b) {
  const std::vector<std::string_view> left = split(a, '\n'), right = split(b, '\n');
  for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (left[i] != right[i]) return std::string(left[i]) + " | " + std::string(right[i]);
  }
  return left.size() == right.size() ? "" : "another number of lines";
}

Plan read_again(const Plan& plan) { return read_launch(write_launch(plan), read_plan(base_of(plan)).plan).plan; }

/// Plan -> flags -> plan -> flags: the flags are the same.
void check_fixed_point(const Plan& plan) {
  const Plan read = read_again(plan);
  INFO(write_plan(plan, false));
  INFO(write_plan(read, false));
  CHECK(first_difference(without_comments(write_launch(plan)), without_comments(write_launch(read))) == "");
}

void check_fixed_point(const std::string& share) {
  const PlanReading reading = read_plan(share);
  if (reading.answerable) check_fixed_point(reading.plan);
}

constexpr const char* kFrameworks[] = {"megatron", "deepspeed", "fsdp", "fsdp2", "ddp", "fsdp2&library=hf"};
constexpr const char* kEngines[] = {"vllm", "sglang", "trtllm", "llamacpp", "static"};

}  // namespace

TEST_CASE("Flags of every launcher come back as they were, with every model") {
  size_t turn = 0;
  for (const PresetRow& preset : model_presets()) {
    check_fixed_point("model=" + std::string(preset.id) + "&framework=" + kFrameworks[turn % std::size(kFrameworks)] +
                      "&engine=" + kEngines[turn % std::size(kEngines)]);
    if (turn % std::size(kFrameworks) != 0) check_fixed_point("model=" + std::string(preset.id) + "&gpus=64&tp=4&pp=2");
    ++turn;
  }
}

TEST_CASE("llama.cpp's experts in host memory are written as they are read") {
  const std::string share = "model=gpt-oss-120b&engine=llamacpp&weights=mxfp4&n_cpu_moe=";
  CHECK(write_launch(read_plan(share + "30").plan).find("--n-cpu-moe 30") != std::string::npos);
  CHECK(write_launch(read_plan(share + "0").plan).find("cpu-moe") == std::string::npos);
  check_fixed_point(share + "30");
}

TEST_CASE("A precision that torchtitan has no flag for is said to have none, and only that") {
  const auto has_none = [](const std::string& precision) {
    const std::string share = "framework=fsdp2&library=torchtitan&precision=" + precision;
    return write_launch(read_plan(share).plan).find("no flag says precision=" + precision) != std::string::npos;
  };
  for (const char* precision : {"fp16", "fp16-pure", "nvfp4"}) CHECK(has_none(precision));
  for (const char* precision : {"bf16", "bf16-pure", "fp32", "fp8", "mxfp8"}) CHECK_FALSE(has_none(precision));
}

TEST_CASE("Flags of every launcher come back as they were, of random plans") {
  for (uint32_t seed = 1; seed <= 150; ++seed) check_fixed_point(RandomPlan(seed).share());
}

// Most of these plans cannot exist: what no launcher can say falls away once, and then nothing changes any more.
TEST_CASE("Flags of every launcher come back as they were, of what was read from plans with random keys") {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    const std::string turn = std::string("&framework=") + kFrameworks[seed % std::size(kFrameworks)] +
                             "&engine=" + kEngines[seed % std::size(kEngines)];
    check_fixed_point(read_again(read_plan(samples::random_share(seed) + turn).plan));
  }
}
