#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>
#include <string_view>

#include "tests/engine/training_samples.h"

using namespace vram;
using namespace vram::samples;

TEST_CASE("Loading takes the whole model in every process that reads it, in the precision of its weights") {
  struct Row {
    const char* share;
    uint64_t copies_times_bytes;
  };
  const Row row = GENERATE(values<Row>({
      {"gpus=8&framework=ddp&precision=fp32", 8 * 4},  // PyTorch issue 105840
      {"gpus=8&framework=ddp", 8 * 4},                 // fp32 weights under autocast
      {"gpus=16&framework=ddp&precision=bf16-pure", 8 * 2},
      {"gpus=1&framework=ddp&method=lora", 2},
      {"gpus=8&framework=deepspeed&zero=2", 8 * 2},
      {"gpus=8&framework=fsdp", 4},  // rank 0 for all: accelerate, fsdp_cpu_ram_efficient_loading
      {"gpus=8&framework=fsdp2&library=hf&method=lora", 2},
      {"gpus=8&framework=deepspeed&zero=3&load_whole=1", 8 * 2},
  }));
  CAPTURE(row.share);
  const TrainingBill b = bill(std::string("model=llama-2-7b&") + row.share);
  CHECK(b.host_load_bytes_per_node == row.copies_times_bytes * 6'738'415'616);
}

TEST_CASE("Nothing stands whole in host memory where files are mapped or weights come one by one") {
  const char* share = GENERATE("gpus=8&framework=deepspeed&zero=3", "gpus=8&framework=ddp&method=qlora", "gpus=8&tp=8",
                               "gpus=8&framework=fsdp2", "gpus=8&framework=fsdp&library=litgpt");
  CAPTURE(share);
  CHECK_FALSE(bill(std::string("model=llama-2-7b&") + share).host_load_bytes_per_node.has_value());
}

TEST_CASE("Without zero.Init a GPU has all weights first, and that is its peak where the step has less") {
  const std::string share = "model=llama-2-7b&gpus=64&framework=deepspeed&zero=3&recompute=full&seq=512";
  const TrainingBill &divided = bill(share), &whole = bill(share + "&load_whole=1");
  CHECK(std::string_view(divided.phases.front().id) == "forward");
  CHECK(std::string_view(whole.phases.front().id) == "load");
  CHECK(whole.phases.front().allocated_bytes == 2ULL * 6'738'415'616);
  CHECK(bytes(whole, "load", "weights") == 2ULL * 6'738'415'616);
  CHECK(std::string_view(whole.phase) == "load");
  CHECK(whole.allocated_bytes == 2ULL * 6'738'415'616);
  CHECK(bytes(whole, "fragmentation") == 0);  // the step fits into what loading cached
  CHECK(whole.stages.front().steady_bytes == divided.stages.front().steady_bytes);
}

TEST_CASE("Loading is no peak where the step has more, and changes nothing there") {
  const std::string share = "model=llama-2-7b&gpus=4&framework=fsdp&recompute=full";
  const TrainingBill &divided = bill(share), &whole = bill(share + "&load_whole=1");
  CHECK(std::string_view(whole.phase) == divided.phase);
  CHECK(whole.device_bytes == divided.device_bytes);
  CHECK(step_phases(whole.phases).size() == divided.phases.size());
}

TEST_CASE("Where transformers does not turn zero.Init on, it does not size DeepSpeed's buckets either") {
  const std::string share = "model=llama-2-7b&gpus=4&framework=deepspeed&zero=3";
  const auto bucket = [](const TrainingBill& b) {
    return line(line(phase(b, "backward").lines, "buffers").children, "reduce_bucket").bytes;
  };
  CHECK(bucket(bill(share)) == 2ULL * 4096 * 4096);
  CHECK(bucket(bill(share + "&load_whole=1")) == 2ULL * 500'000'000);
}

TEST_CASE("What loading has is whole in the precision of the weights, offloaded or not") {
  struct Row {
    const char* share;
    uint64_t bytes_each;
  };
  const Row row = GENERATE(values<Row>({
      {"gpus=8&framework=fsdp", 4},
      {"gpus=8&framework=fsdp2&precision=bf16-pure", 2},
      {"gpus=8&framework=deepspeed&zero=3&offload=all", 2},  // DeepSpeed issue 4527
      {"gpus=8&framework=fsdp&method=lora", 2},
  }));
  CAPTURE(row.share);
  const TrainingBill& b = bill(std::string("model=llama-2-7b&load_whole=1&") + row.share);
  CHECK(bytes(b, "load", "weights") == row.bytes_each * 6'738'415'616);
}
