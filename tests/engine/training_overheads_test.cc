#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/units.h"
#include "tests/engine/training_samples.h"

using namespace vram;
using namespace vram::samples;

namespace {

Line communication(const std::string& share) { return line(bill(share).lines, "communication"); }
Line fragmentation(const std::string& share) { return line(bill(share).lines, "fragmentation"); }
uint64_t child(const Line& parent, std::string_view id) { return line(parent.children, id).bytes; }

// NVIDIA/nccl issue 964: MB of a communicator on A100s, two ranks and four.
constexpr uint64_t kTwoRanks = 544'000'000, kMoreRanks = 688'000'000;
// stas00/ml-engineering: the first barrier of two ranks takes 1.45 GiB.
constexpr uint64_t kFirst = 1'012'925'645;

}  // namespace

TEST_CASE("First and last stage share a tied embedding, and a communicator for it") {
  const std::string share = "model=qwen2.5-3b&gpus=4&framework=megatron&pp=";  // tied
  CHECK(child(communication(share + "2"), "embedding") == kTwoRanks);
  CHECK(child(communication(share + "1"), "embedding") == 0);
  CHECK(child(communication(share + "2&tied=0"), "embedding") == 0);
}

TEST_CASE("TransformerEngine's workspaces: one, and four for grouped products where there are experts") {
  struct Row {
    const char* share;
    uint64_t one, grouped;  // MiB
  };
  // pytorch/module/base.py, get_cublas_workspace_size_bytes and get_multi_stream_cublas_workspace
  const Row rows[] = {{"model=mixtral-8x7b&framework=megatron&gpu=h100-sxm5-80gb", 32, 4 * 32},
                      {"model=mixtral-8x7b&framework=megatron&gpu=a100-sxm4-80gb", 4, 4 * 4},
                      {"model=llama-2-7b&framework=megatron&gpu=a100-sxm4-80gb", 4, 0},
                      {"model=mixtral-8x7b&framework=fsdp&gpu=h100-sxm5-80gb", 0, 0}};
  for (const Row& row : rows) {
    CAPTURE(row.share);
    const Line workspace = line(line(bill(row.share).lines, "buffers").children, "workspace");
    CHECK(child(workspace, "transformer_engine") == row.one << 20);
    CHECK(child(workspace, "grouped") == row.grouped << 20);
  }
}

TEST_CASE("One GPU has no communicators") { CHECK(communication("model=llama-2-7b&framework=ddp").bytes == 0); }

TEST_CASE("The first barrier of two GPUs takes 1.45 GiB") {
  const Line line = communication("model=llama-2-7b&framework=fsdp&gpus=2");
  CHECK(child(line, "data") == kTwoRanks);
  CHECK(child(line, "first") == kFirst);
  CHECK(line.bytes == static_cast<uint64_t>(std::ceil(1.45 * kGiB)));
}

TEST_CASE("A communicator for each group that the rank is in, each of one peer or two") {
  const Line line = communication("model=llama-3.1-70b&gpus=64&tp=8&pp=4");
  CHECK(child(line, "tensor") == kMoreRanks);
  CHECK(child(line, "data") == kTwoRanks);          // dp = 2
  CHECK(child(line, "pipeline") == 2 * kTwoRanks);  // a neighbour each side
  CHECK(child(line, "model") == kMoreRanks);
  CHECK(child(line, "embedding") == 0);  // not tied
  CHECK(child(line, "context") == 0);
  CHECK(line.bytes == 3 * kTwoRanks + 2 * kMoreRanks + kFirst);
}

TEST_CASE("First and last stage share a tied embedding's gradients") {
  const Plan plan = read_plan("model=bloom-176b&gpus=48&tp=4&pp=12&framework=deepspeed&library=megatron").plan;
  const auto shared = [&](size_t stage) { return child(line(stage_lines(plan, stage), "communication"), "embedding"); };
  CHECK(shared(0) == kTwoRanks);
  CHECK(shared(5) == 0);
  CHECK(shared(11) == kTwoRanks);
}

TEST_CASE("The context is the device's, before anything is allocated") {
  const auto cuda = [](const char* gpu) {
    return child(line(bill(std::string("model=gpt2&framework=ddp&gpu=") + gpu).lines, "context"), "cuda");
  };
  CHECK(cuda("a100-sxm4-80gb") == 512ULL << 20);
  CHECK(cuda("b200-180gb") == 768ULL << 20);
  CHECK(cuda("mi300x-192gb") == 320ULL << 20);
}

TEST_CASE("Fragments are 15% of what comes and goes, 3% with expandable segments") {
  const std::string share = "model=llama-3.1-8b&gpus=8&tp=8&recompute=full&gpu=b200-180gb";
  const TrainingBill b = bill(share);
  uint64_t most = 0;
  for (const Phase& p : b.phases)
    most = std::max(
        most, line(p.lines, "activations").bytes + line(p.lines, "logits").bytes + line(p.lines, "gathered").bytes);
  CHECK(child(fragmentation(share), "share") == static_cast<uint64_t>(std::ceil(0.15 * static_cast<double>(most))));
  CHECK(fragmentation(share + "&allocator=expandable").bytes ==
        static_cast<uint64_t>(std::ceil(0.03 * static_cast<double>(most))));
}

TEST_CASE("Copies of the logits that have blocks of their own do not fragment") {
  const std::string share = "model=llama-3.1-8b&framework=ddp&method=lora&recompute=full&gpu=b200-180gb&loss=";
  for (const char* loss : {"full", "inplace", "uncast"}) {
    const Phase loss_phase = phase(bill(share + loss), "loss");
    const uint64_t activations = std::max(line(loss_phase.lines, "activations").bytes,
                                          line(phase(bill(share + loss), "backward").lines, "activations").bytes);
    CHECK(child(fragmentation(share + loss), "share") ==
          static_cast<uint64_t>(std::ceil(0.15 * static_cast<double>(activations))));
  }
}

TEST_CASE("Every copy of transformers' logits has a block of its own") {
  // 18 bytes a logit where 14 live at once; in place 14 where 8 do.
  const std::string share =
      "model=mistral-7b-v0.1&gpu=a100-sxm4-80gb&framework=ddp&method=lora&lora_targets=attention&recompute=full&seq="
      "4096";
  CHECK(child(fragmentation(share + "&micro_batch=8"), "blocks") >= 4ULL * 8 * 4096 * 32000);
  const uint64_t in_place = child(fragmentation(share + "&micro_batch=8&loss=inplace"), "blocks");
  CHECK(in_place >= 6ULL * 8 * 4096 * 32000);
  CHECK(in_place < 6ULL * 8 * 4096 * 32000 + (1ULL << 28));
  CHECK(child(fragmentation(share + "&loss=fused"), "blocks") < 1ULL << 28);
}

TEST_CASE("Temporaries of flat parameters take no block that activations leave; separate tensors do") {
  const std::string share = "model=llama-2-7b&precision=bf16-pure&fused_optimizer=0&recompute=full&gpu=b300-288gb&";
  const TrainingBill flat = bill(share + "framework=fsdp&gpus=2");
  const uint64_t updates = line(line(phase(flat, "optimizer").lines, "buffers").children, "updates").bytes;
  CHECK(updates == 6'738'415'616);  // 2 bytes a parameter, of half the parameters
  // The optimizer's phase is the fullest; what activations held stays cached beside it.
  CHECK(std::string_view(flat.phase) == "optimizer");
  CHECK(line(fragmentation(share + "framework=fsdp&gpus=2").children, "blocks").bytes > 1ULL << 30);
  CHECK(line(fragmentation(share + "framework=ddp").children, "blocks").bytes == 0);
}

TEST_CASE("Measured: what nvidia-smi shows of FSDP runs beyond what PyTorch allocates") {
  // fms-acceleration, full fine-tuning of Mistral 7B on four A100s, fused loss, fp32 shards: 33.7 GiB allocated,
  // 46.6 GiB on the device with 4 sequences of 4096 tokens; 52.5 and 69.8 GiB with 16.
  const std::string share =
      "model=mistral-7b-v0.1&gpu=a100-sxm4-80gb&gpus=4&framework=fsdp&fused_optimizer=0&recompute=full&loss=fused&";
  const double few = static_cast<double>(bill(share + "micro_batch=4").device_bytes) / (46.6 * kGiB);
  const double many = static_cast<double>(bill(share + "micro_batch=16").device_bytes) / (69.8 * kGiB);
  CHECK(std::abs(few - 1) < 0.07);
  CHECK(std::abs(many - 1) < 0.09);
}

TEST_CASE("Cached blocks are given back before the allocator fails") {
  const std::string share =
      "model=mistral-7b-v0.1&framework=ddp&precision=bf16-pure&fused_optimizer=0&recompute=full&"
      "micro_batch=8&gpu=custom&gpu_mem=";
  const TrainingBill roomy = bill(share + "160GiB"), full = bill(share + "80GiB"), small = bill(share + "60GiB");
  CHECK(roomy.device_bytes > 80 * (1ULL << 30) * 95 / 100);
  CHECK(full.device_bytes == static_cast<uint64_t>(0.95 * 80 * kGiB));
  CHECK(full.verdict != Verdict::exceeds);
  CHECK(child(fragmentation(share + "80GiB"), "cache") == bytes(full, "fragmentation"));
  CHECK(bytes(small, "fragmentation") == 0);
  CHECK(small.verdict == Verdict::exceeds);
}

TEST_CASE("DeepSpeed's ZeRO holds a bucket of gradients, and bf16 copies of fp32 ones while it sends them") {
  const std::string share = "model=llama-2-7b&framework=deepspeed&gpus=8&zero=1";
  const auto buffer = [&](const std::string& more, const char* of, const char* id) {
    return line(line(phase(bill(share + more), of).lines, "buffers").children, id).bytes;
  };
  CHECK(buffer("", "backward", "reduce_bucket") == 1'000'000'000);
  // runtime/zero/stage_1_and_2.py, setup_buckets: as large for few gradients, and on one GPU.
  CHECK(buffer("&model=gpt2", "backward", "reduce_bucket") == 1'000'000'000);
  CHECK(buffer("&gpus=1&method=lora", "backward", "reduce_bucket") == 1'000'000'000);
  CHECK(buffer("&zero=3", "backward", "reduce_bucket") == 2ULL * 4096 * 4096);             // transformers' "auto"
  CHECK(buffer("&model=gpt2&zero=0", "backward", "reduce_bucket") == 2ULL * 124'439'808);  // no more than there are
  CHECK(buffer("&gpus=1&zero=0", "backward", "reduce_bucket") == 0);
  CHECK(buffer("&grad_dtype=fp32", "reduce", "sent_gradients") == 2ULL * 6'738'415'616);
  CHECK(buffer("&grad_dtype=fp32", "backward", "sent_gradients") == 0);
  CHECK(buffer("&grad_dtype=fp32&precision=fp16", "reduce", "sent_gradients") == 0);
}

TEST_CASE("TransformerEngine keeps a stand-in for each shape of a weight whose gradients are added up in place") {
  // TransformerEngine, pytorch/module/base.py, get_dummy_wgrad.
  const auto stand_ins = [](const std::string& share, size_t stage = 0) {
    const Lines lines = stage_lines(read_plan(share).plan, stage);
    return static_cast<double>(line(line(lines, "buffers").children, "stand_ins").bytes);
  };
  const double h = 4096, f = 11008, layer = 3 * h * h + h * h + 2 * f * h + f * h, head = 32000 * h;
  CHECK(stand_ins("model=llama-2-7b") == 2 * (layer + head));  // 32 layers share them
  CHECK(stand_ins("model=llama-2-7b&gpus=4&tp=4") == 2 * (layer + head) / 4);
  CHECK(stand_ins("model=llama-2-7b&gpus=4&pp=4") == 2 * layer);
  CHECK(stand_ins("model=llama-2-7b&gpus=4&pp=4", 3) == 2 * (layer + head));
  // Eight KV heads on sixteen ranks: a head on two each.
  const double grouped = 8192.0 / 16 * 8192 + 2 * 128.0 * 8192, output = 8192.0 * 8192 / 16;
  const double mlp = 3 * 28672.0 * 8192 / 16, table = 32000.0 * 8192 / 16;
  CHECK(stand_ins("model=llama-2-70b&gpus=16&tp=16") == 2 * (grouped + output + mlp + table));
  CHECK(stand_ins("model=llama-2-7b&grad_fusion=0") == 0);
  CHECK(stand_ins("model=llama-2-7b&method=lora") == 0);
  CHECK(stand_ins("model=llama-2-7b&framework=deepspeed&library=megatron") == 0);
  // Experts are alike: one of each of their two shapes. The router's is an ordinary product.
  const double attention = (h + 2 * 1024) * h + h * h, experts = 2 * 14336 * h + 14336 * h;
  CHECK(stand_ins("model=mixtral-8x7b&gpus=8&ep=8") == 2 * (attention + experts + head));
}

TEST_CASE("ZeRO 3 has fp32 gradients of one sub-group at a time, the other stages of a rank's whole share") {
  const auto copies = [](const std::string& share, const char* of) {
    const TrainingBill b = bill("framework=deepspeed&precision=fp16&" + share);
    return line(line(phase(b, of).lines, "buffers").children, "fp32_gradients").bytes;
  };
  // DeepSpeed, runtime/zero/stage3.py, _prepare_fp32_grad_for_sub_group: flat in 16 bit, then in fp32; sub_group_size
  // is 1e9 elements.
  CHECK(copies("model=llama-2-7b&gpus=2&zero=3", "optimizer") == 6'000'000'000);
  CHECK(copies("model=llama-2-7b&gpus=2&zero=3", "backward") == 0);
  CHECK(copies("model=llama-2-7b&gpus=64&zero=3", "optimizer") == 6ULL * 6'738'415'616 / 64);
  CHECK(copies("model=llama-2-7b&gpus=2&zero=2", "backward") == 3ULL * 6'738'415'616);
  // 16-bit master weights take 16-bit gradients: flat is all they have to be.
  CHECK(copies("model=llama-2-7b&gpus=2&zero=3&precision=bf16-pure", "optimizer") == 2'000'000'000);
}

TEST_CASE("DeepSpeed trains 16-bit adapters with fp32 copies") {
  // runtime/engine.py, _configure_distributed_model: the module is cast as a whole.
  const TrainingBill b = bill("model=llama-2-7b&framework=deepspeed&zero=2&method=lora&gpus=2");
  const uint64_t parameters = 39'976'960;
  const auto of = [&](const char* id) { return line(line(phase(b, "backward").lines, "adapters").children, id).bytes; };
  CHECK(of("weights") == 2 * parameters);
  CHECK(of("gradients") == parameters);
  CHECK(of("optimizer") == 12 * parameters / 2);
  CHECK(line(line(phase(b, "backward").lines, "buffers").children, "fp32_gradients").bytes == 6 * parameters / 2);
}

TEST_CASE("Megatron trains 16-bit adapters with fp32 copies and fp32 gradients") {
  const uint64_t parameters = 39'976'960;
  const auto of = [](const TrainingBill& b, const char* id) {
    return line(line(phase(b, "backward").lines, "adapters").children, id).bytes;
  };
  const TrainingBill b = bill("model=llama-2-7b&framework=megatron&method=lora");
  CHECK(of(b, "weights") == 2 * parameters);
  CHECK(of(b, "gradients") == 4 * parameters);
  CHECK(of(b, "optimizer") == 12 * parameters);
  const std::string bf16 = "model=llama-2-7b&framework=megatron&method=lora&precision=bf16&grad_dtype=bf16";
  CHECK(of(bill(bf16), "gradients") == 2 * parameters);
}

TEST_CASE("DeepSpeed's pipeline keeps what it sent on; Megatron's does not") {
  const std::string share = "model=llama-2-7b&gpus=4&pp=4&global_batch=8&recompute=full&library=megatron&framework=";
  const auto outputs = [&](const char* framework, size_t stage) {
    const Plan plan = read_plan(share + framework).plan;
    return line(line(stage_lines(plan, stage), "activations").children, "outputs").bytes;
  };
  CHECK(outputs("deepspeed", 0) == 4ULL * 4096 * 4096 * 2);  // four micro-batches in flight
  CHECK(outputs("deepspeed", 3) == 0);
  CHECK(outputs("megatron", 0) == 0);
}
