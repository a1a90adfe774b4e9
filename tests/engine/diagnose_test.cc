#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <string>
#include <string_view>

#include "engine/advice/change.h"
#include "engine/advice/diagnose/calibrate.h"
#include "engine/advice/diagnose/diagnose.h"
#include "engine/advice/diagnose/settings.h"
#include "engine/advice/remedies.h"
#include "engine/plan/texts.h"
#include "engine/report/diagnosis.h"
#include "engine/units.h"
#include "tests/engine/plan_of.h"

using namespace vram;
using namespace vram::samples;

namespace {

/// PyTorch's message since 2.1, sizes in GiB.
std::string refused(const char* tried, const char* capacity, const char* free, const char* process,
                    const char* allocated, const char* unallocated) {
  return std::string("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ") + tried +
         " GiB. GPU 0 has a total capacity of " + capacity + " GiB of which " + free +
         " GiB is free. Including non-PyTorch memory, this process has " + process +
         " GiB memory in use. Of the allocated memory " + allocated + " GiB is allocated by PyTorch, and " +
         unallocated + " GiB is reserved by PyTorch but unallocated.";
}

std::string megatron(int step, double mib) {
  return "[Rank 0] (after " + std::to_string(step) + " iterations) memory (MB) | allocated: " + show_fixed(mib, 2) +
         " | max allocated: " + show_fixed(mib + 2000, 2) + " | reserved: 40000.0 | max reserved: 40000.0\n";
}

constexpr const char* kOn80 = "model=llama-3.1-8b&gpus=8&framework=fsdp&micro_batch=2&seq=8192";

}  // namespace

TEST_CASE("Each cause is told from the others") {
  struct Row {
    std::string log;
    const char* id;
    Symptom symptom;
  };
  const Row row = GENERATE(
      Row{refused("0.50", "79.15", "0.30", "60.00", "55.00", "4.00"), "other_process", Symptom::none},
      Row{refused("3.00", "79.15", "1.00", "78.00", "66.00", "11.00"), "fragmentation", Symptom::fragmentation},
      Row{refused("20.00", "79.15", "15.00", "64.00", "62.00", "1.50"), "long_sample", Symptom::long_sample},
      Row{refused("0.50", "79.15", "0.30", "78.80", "77.00", "1.20"), "after_steps", Symptom::after_steps},
      Row{refused("0.10", "79.15", "60.00", "19.00", "17.00", "1.20"), "figures_enough_free", Symptom::none},
      Row{refused("1.00", "8.00", "0.00", "8.00", "17.20", "1.95"), "figures_spilled", Symptom::none},
      Row{"Failed to allocate memory for requested buffer of size 4585490524328388608", "figures_absurd",
          Symptom::none},
      Row{"exitcode: -9 (pid: 1001)", "host_memory", Symptom::none},
      Row{"DataLoader worker (pid 1) is killed by signal: Bus error. out of shared memory", "shared_memory",
          Symptom::none},
      Row{"RuntimeError: CUDA error: out of memory", "no_figures", Symptom::none},
      Row{"hello", "nothing_read", Symptom::none});
  const Diagnosis diagnosis = diagnose(plan_of(kOn80), row.log);
  CAPTURE(row.id, diagnosis.findings.front().id);
  CHECK(std::string_view(diagnosis.findings.front().id) == row.id);
  CHECK(diagnosis.symptom == row.symptom);
}

TEST_CASE("What does not fit before any step failed at the start, and the cures divide or drop states") {
  const Diagnosis diagnosis = diagnose(plan_of("model=llama-3.1-8b&framework=ddp&gpus=8"),
                                       refused("0.10", "79.15", "0.05", "78.90", "78.00", "0.60"));
  CHECK(diagnosis.symptom == Symptom::at_start);
  CHECK(find(diagnosis.findings, "fsdp"));
  CHECK_FALSE(find(diagnosis.findings, "micro_batch_one"));
}

TEST_CASE("Cures come by what they save in this plan, the largest first") {
  const Diagnosis diagnosis = diagnose(plan_of(kOn80), refused("0.50", "79.15", "0.30", "78.80", "77.00", "1.20"));
  uint64_t before = UINT64_MAX;
  for (const Finding& finding : diagnosis.findings) {
    if (!finding.saves_bytes) continue;
    CHECK(*finding.saves_bytes <= before);
    before = *finding.saves_bytes;
  }
  CHECK(before < UINT64_MAX);
}

TEST_CASE("What is allocated and grows at every print is a leak; what settles is none") {
  std::string grows, settles;
  for (int i = 1; i <= 12; ++i) {
    grows += megatron(i * 10, 20000 + i * 300);
    settles += megatron(i * 10, i < 3 ? 15000 + i * 2500 : 22500);
  }
  CHECK(diagnose(plan_of(kOn80), grows).symptom == Symptom::leak);
  CHECK(diagnose(plan_of(kOn80), settles).symptom == Symptom::none);
}

TEST_CASE("The bill stands beside what was measured, and what it leaves unexplained") {
  const Plan plan = plan_of(kOn80);
  const TrainingBill bill = training_bill(plan);
  const Diagnosis diagnosis = diagnose(plan, megatron(10, 30000));
  const Beside* allocated = find(diagnosis.beside, "allocated");
  REQUIRE(allocated);
  CHECK(*allocated->estimated == static_cast<double>(bill.allocated_bytes));
  CHECK(*allocated->measured == 32000 * kMiB);
  const Beside* left = find(diagnosis.beside, "unexplained");
  REQUIRE(left);
  CHECK(*left->measured == 32000 * kMiB - static_cast<double>(bill.allocated_bytes));
  CHECK(*find(diagnosis.beside, "fragmentation")->measured == 8000 * kMiB);
}

TEST_CASE("vLLM's errors are told apart, with the length or share that would do") {
  const Plan plan = plan_of("model=qwen3-8b&view=serve");
  const Diagnosis length = diagnose(
      plan,
      "To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is "
      "larger than the available KV cache memory (0.71 GiB). Based on the available memory, the estimated maximum "
      "model length is 5632.");
  REQUIRE(find(length.findings, "kv_longest_request"));
  CHECK(find(length.findings, "kv_longest_request")->change == "max_len=5632");
  const Diagnosis shared = diagnose(plan,
                                    "Free memory on device (59.32/79.15 GiB) on startup is less than desired GPU "
                                    "memory utilization (0.9, 71.24 GiB).");
  REQUIRE(find(shared.findings, "gpu_not_empty"));
  CHECK(find(shared.findings, "gpu_not_empty")->change == "utilization=0.73");
  CHECK(find(diagnose(plan, "Available KV cache memory: -0.87 GiB").findings, "kv_no_room"));
}

TEST_CASE(
    "Cures of a server's failure come by what they save in this plan, the largest first, and say what they cost") {
  const Plan plan = plan_of("model=qwen3-32b&view=serve&concurrency=16");
  const Diagnosis diagnosis = diagnose(plan,
                                       "Available KV cache memory: 3.00 GiB\nTo serve at least one request with "
                                       "the model's max seq len (40960), 10.00 GiB KV cache is needed, which is "
                                       "larger than the available KV cache memory (3.00 GiB).");
  const ServingBill bill = serving_bill(plan);
  uint64_t before = UINT64_MAX;
  int cures = 0;
  for (const Finding& finding : diagnosis.findings) {
    if (!finding.saves_bytes) continue;
    INFO(finding.text);
    const Plan changed =
        plan_of("model=qwen3-32b&view=serve&concurrency=16&max_len=40960&engine=vllm&" + finding.change);
    CHECK(*finding.saves_bytes <= before);
    CHECK(*finding.saves_bytes == static_cast<uint64_t>(serving_need(diagnosis.plan, serving_bill(diagnosis.plan)) -
                                                        serving_need(changed, serving_bill(changed))));
    before = *finding.saves_bytes;
    ++cures;
  }
  CHECK(cures >= 4);
  const Finding* fp8 = find(diagnosis.findings, "weights_fp8");
  REQUIRE(fp8);
  CHECK(fp8->time_ratio.value_or(1) < 1);
  // 3 GiB were measured where the model says more: the pool after the change is shifted by the difference
  const uint64_t pool = *serving_bill(plan_of("model=qwen3-32b&weights=fp8&concurrency=16")).kv_budget_bytes_per_gpu;
  const double shifted = static_cast<double>(pool) + 3 * kGiB - static_cast<double>(*bill.kv_budget_bytes_per_gpu);
  CHECK(fp8->text.find("Shifted by what was measured: " + show_bytes(shifted, Units::gib)) != std::string::npos);
}

TEST_CASE("A graph that did not fit is cured by what graphs and batches take, not by more of the GPU") {
  const Diagnosis diagnosis = diagnose(
      plan_of("model=qwen3-32b&view=serve"),
      "(EngineCore pid=1) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total "
      "capacity of 79.15 GiB of which 12.00 MiB is free. Of the allocated memory 76.00 GiB is allocated by PyTorch, "
      "and "
      "120.00 MiB is reserved by PyTorch but unallocated.");
  CHECK(find(diagnosis.findings, "graphs_none"));
  CHECK_FALSE(find(diagnosis.findings, "utilization_up"));
}

TEST_CASE("A program's own sum that exceeds the GPU is said, and so is what failed without a word of memory") {
  const Plan plan = plan_of("model=qwen3-32b&view=serve");
  const auto first = [&](const char* log) { return std::string(diagnose(plan, log).findings.front().id); };
  CHECK(first("projected to use 27514 MiB of device memory vs. 23480 MiB of free device memory\ncannot fulfill margin "
              "of 1024 MiB on all devices, need to use 5058 MiB less in total") == "own_sum_exceeds");
  CHECK(first("this model requires approximately 145.21 GB of memory") == "own_sum_exceeds");
  CHECK(first("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`") ==
        "no_figures");
  CHECK(first("Error in memory profiling. Initial free memory 44.07 GiB, current free memory 45.01 GiB.") ==
        "profiling_disturbed");
}

TEST_CASE("llama.cpp's caches of full and of sliding layers are one pool, and the window is no context") {
  const Diagnosis diagnosis = diagnose(
      plan_of("view=serve"),
      "llama_kv_cache_unified: size = 2720.00 MiB (131072 cells,  10 layers,  1 seqs), K (f16): 1360.00 MiB, V (f16): "
      "1360.00 MiB\nllama_kv_cache_unified: size =  160.00 MiB (  1536 cells,  50 layers,  1 seqs), K (f16):   80.00 "
      "MiB, V (f16):   80.00 MiB");
  CHECK(diagnosis.measured.kv_pool == 2880 * kMiB);
  CHECK(diagnosis.plan.max_len == 131072);
}

TEST_CASE("An error of PyTorch between a server's lines has a server's causes") {
  const char* oom =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 136.00 MiB. GPU 0 has a total capacity of 23.57 "
      "GiB "
      "of which 55.88 MiB is free. Including non-PyTorch memory, this process has 23.50 GiB memory in use. Of the "
      "allocated memory 22.21 GiB is allocated by PyTorch, and 185.98 MiB is reserved by PyTorch but unallocated.";
  const Plan plan = read_plan("model=llama-3.1-8b").plan;
  CHECK_FALSE(diagnose(plan, oom).serving);
  for (const char* before : {"(EngineCore_DP0 pid=12) ERROR 09-01 12:00:00 [core.py:708] ",
                             "(VllmWorker rank=1 pid=2978) ERROR 03-19 07:27:53 ", "[2025-07-02 07:41:58 TP0] "}) {
    CAPTURE(before);
    const Diagnosis diagnosis = diagnose(plan, std::string(before) + oom);
    CHECK(diagnosis.serving);
    CHECK(std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                      [](const Finding& finding) { return std::string_view(finding.id) == "late_buffers"; }));
  }
}

TEST_CASE("A server is known by its own words, without a plan and without its lines") {
  const auto [words, engine] = GENERATE(
      std::pair("Try increasing `gpu_memory_utilization` when initializing the engine.", Engine::vllm),
      std::pair("  File \"/opt/venv/lib/python3.12/site-packages/vllm/worker/worker.py\", line 226, in x",
                Engine::vllm),
      std::pair("  File \"/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py\", line 1", Engine::sglang));
  CAPTURE(words);
  const Diagnosis diagnosis = diagnose(
      read_plan("").plan, std::string(words) + "\n" + refused("0.13", "23.57", "0.05", "23.50", "22.21", "0.18"));
  CHECK(diagnosis.serving);
  CHECK(diagnosis.plan.engine == engine);
  CHECK_FALSE(find(diagnosis.findings, "recompute_full"));
}

TEST_CASE("Segments that grow are no cure where PyTorch has none: on Windows") {
  const std::string oom = refused("2.00", "23.99", "0.50", "22.80", "16.00", "6.10");
  const auto offered = [](const Diagnosis& diagnosis) {
    return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& finding) {
      return finding.change.find("allocator=expandable") != std::string::npos;
    });
  };
  CHECK(offered(diagnose(plan_of(kOn80), oom)));
  for (const char* windows : {"File \"C:\\Users\\me\\venv\\Lib\\site-packages\\torch\\cuda.py\", line 3\n",
                              "|   0  NVIDIA GeForce RTX 4090      WDDM  |   00000000:01:00.0  On |\n"}) {
    CAPTURE(windows);
    const Diagnosis diagnosis = diagnose(plan_of(kOn80), windows + oom);
    CHECK(diagnosis.symptom == Symptom::fragmentation);
    CHECK_FALSE(offered(diagnosis));
  }
}

TEST_CASE("What vLLM says of a refusal counts, not the command above it") {
  const Diagnosis diagnosis = diagnose(read_plan("").plan,
                                       "ValueError: The model's max seq len (50000) is larger than the maximum number "
                                       "of tokens that can be stored in KV cache (17168).\n"
                                       "vllm serve meta-llama/Llama-3.1-8B --max-model-len 10000\n");
  const Finding* longest = find(diagnosis.findings, "kv_longest_request");
  REQUIRE(longest);
  CHECK(longest->change == "max_len=17168");
}

TEST_CASE("A little more free than was asked for is no contradiction: others take and give back meanwhile") {
  const auto contradicted = [](const char* tried, const char* free) {
    return find(diagnose(plan_of(kOn80), refused(tried, "79.15", free, "78.90", "70.00", "8.00")).findings,
                "figures_enough_free") != nullptr;
  };
  CHECK_FALSE(contradicted("0.20", "0.25"));  // 51 MiB more
  CHECK(contradicted("0.20", "0.28"));        // 82 MiB more
}

TEST_CASE("An engine that cut its length says to what; llama.cpp is offered its own formats") {
  const Diagnosis cut = diagnose(read_plan("").plan,
                                 "Auto-fit max_model_len: reduced from 131072 to 21344 to fit in available GPU "
                                 "memory (3.26 GiB available for KV cache)");
  const Finding* shorter = find(cut.findings, "length_cut");
  REQUIRE(shorter);
  CHECK(shorter->change == "max_len=21344");

  const Diagnosis llama =
      diagnose(read_plan("").plan,
               "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 5120.00 MiB on device 0: cudaMalloc failed: out "
               "of memory\nllama_kv_cache_init: failed to allocate buffer for kv cache\n");
  const Finding* cache = find(llama.findings, "kv_fp8");
  REQUIRE(cache);
  CHECK(cache->change == "kv=q8_0");
  CHECK_FALSE(find(llama.findings, "graphs_none"));
}

TEST_CASE("What others hold is no matter of the plan, whatever else the log says of weights") {
  const Diagnosis diagnosis = diagnose(
      read_plan("").plan,
      "ValueError: Free memory on device cuda:0 (111.99/139.8 GiB) on startup is less than desired GPU memory "
      "utilization (0.95, 132.81 GiB).\nINFO 03-12 [runner.py:133] Model loading took 26.4738 GiB and 13.18 seconds");
  CHECK(find(diagnosis.findings, "gpu_not_empty"));
  CHECK_FALSE(find(diagnosis.findings, "weights_fp8"));
}

TEST_CASE("Enough that is free in pieces is fragmentation, not a contradiction") {
  const Diagnosis diagnosis =
      diagnose(plan_of(kOn80),
               "RESOURCE_EXHAUSTED: Attempting to allocate 1.06G. That was not possible. There are 3.20G free. Due to "
               "fragmentation, the largest contiguous region of free memory is 900.00M.; (0x0x0_HBM0)");
  CHECK(diagnosis.symptom == Symptom::fragmentation);
  CHECK_FALSE(find(diagnosis.findings, "figures_enough_free"));
  CHECK_FALSE(find(diagnosis.findings, "expandable_segments"));
}

TEST_CASE("Metal's limits of count and of one buffer are no lack of memory") {
  CHECK(find(diagnose(read_plan("").plan, "RuntimeError: [metal::malloc] Resource limit (499000) exceeded.").findings,
             "metal_buffers"));
  CHECK(find(diagnose(read_plan("").plan,
                      "RuntimeError: [metal::malloc] Attempting to allocate 48736917632 bytes which is greater "
                      "than the maximum allowed buffer size of 22613000192 bytes.")
                 .findings,
             "metal_buffer"));
}

TEST_CASE("Where nobody names the model, what is said by the bill says whose bill it is") {
  const char* oom =
      "Tried to allocate 20.00 MiB (GPU 0; 23.65 GiB total capacity; 22.24 GiB already allocated; 2.88 MiB free; "
      "22.25 GiB reserved in total by PyTorch)";
  const auto assumed = [&](const char* share) {
    const Diagnosis diagnosis = diagnose(read_plan(share).plan, oom);
    return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                       [](const Finding& finding) { return std::string_view(finding.id) == "model_assumed"; });
  };
  CHECK(assumed(""));
  CHECK_FALSE(assumed("model=qwen3-8b"));
}

TEST_CASE("What a log states of the plan fills the keys that the plan leaves open") {
  const char* log =
      "INFO 04-05 engine with config: model='Qwen/Qwen3-8B', max_seq_len=40960, tensor_parallel_size=2\n"
      "INFO Available KV cache memory: 30.00 GiB";
  const Diagnosis open = diagnose(plan_of("view=serve"), log);
  CHECK(open.plan.model == "qwen3-8b");
  CHECK(open.plan.max_len == 40960);
  CHECK(open.plan.serve_tp == 2);
  const Diagnosis given = diagnose(plan_of("view=serve&max_len=8192"), log);
  CHECK(given.plan.max_len == 8192);
  CHECK(std::any_of(given.messages.begin(), given.messages.end(), [](const Message& m) { return m.key == "max_len"; }));
}

TEST_CASE("What a program was started with fills the plan: commands, and arguments as each program repeats them") {
  struct Row {
    const char *log, *settings;
  };
  const Row rows[] = {
      {"$ CUDA_VISIBLE_DEVICES=0,1 vllm serve Qwen/Qwen2.5-32B-Instruct-AWQ --tensor-parallel-size 2 \\\n"
       "    --max-model-len 16384 --gpu-memory-utilization 0.95\n"
       "INFO 02-12 13:31:04 api_server.py:840] vLLM API server version 0.7.2",
       "model=qwen2.5-32b&engine=vllm&engine_version=0.7.2&weights=awq&serve_gpus=2&serve_tp=2&serve_pp=1&serve_dp=1&"
       "max_len=16384&max_seqs=256&batch_tokens=16384&utilization=0.95"},
      {"(APIServer pid=33518) INFO 11-18 14:16:17 [api_server.py:1839] vLLM API server version 0.11.0\n"
       "(APIServer pid=33518) INFO 11-18 14:16:17 [utils.py:233] non-default args: {'enable_auto_tool_choice': True, "
       "'model': '/models/Qwen3-30B-A3B-Instruct-2507-FP8', 'max_model_len': 131072, 'served_model_name': ['Qwen3'], "
       "'tensor_parallel_size': 4, 'max_num_batched_tokens': 32768, 'max_num_seqs': 10, "
       "'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 2}}",
       "model=qwen3-30b-a3b&engine=vllm&engine_version=0.11.0&weights=fp8&serve_gpus=4&serve_tp=4&serve_pp=1&serve_dp="
       "1&"
       "max_len=131072&max_seqs=10&batch_tokens=32768&utilization=0.9&draft_tokens=2"},
      {"[2025-07-09 11:52:19] server_args=ServerArgs(model_path='/models/models--Qwen--Qwen3-8B/snapshots/2069', "
       "dtype='auto', kv_cache_dtype='fp8_e5m2', quantization=None, context_length=None, mem_fraction_static=0.874, "
       "chunked_prefill_size=8192, page_size=1, tp_size=4, pp_size=1, dp_size=2, enable_dp_attention=True, "
       "cuda_graph_bs=[1, 2, 4], json_model_override_args='{}')",
       "model=qwen3-8b&engine=sglang&kv=fp8&serve_gpus=4&serve_tp=2&serve_pp=1&serve_dp=2&block=1&batch_tokens=8192&"
       "utilization=0.874"},
      {"llama_model_loader: loaded meta data with 33 key-value pairs and 803 tensors from "
       "/models/Qwen3-14B-Q5_K_M.gguf (version GGUF V3 (latest))\n"
       "print_info: file type   = Q5_K - Medium\n"
       "llama_kv_cache: size = 1360.00 MiB ( 16384 cells,  40 layers,  1/1 seqs), K (q8_0):  680.00 MiB, V (q8_0):  "
       "680.00 MiB",
       "model=qwen3-14b&engine=llamacpp&weights=q5_k_m&kv=q8_0&max_len=16384"},
      {"Training/evaluation parameters TrainingArguments(\n_n_gpu=1,\nbf16=True,\ndeepspeed=None,\n"
       "gradient_accumulation_steps=4,\ngradient_checkpointing=True,\noptim=OptimizerNames.ADAMW_8BIT,\n"
       "per_device_train_batch_size=8,\n)",
       "framework=ddp&optimizer=adamw8bit&micro_batch=8&global_batch=32&recompute=full&epochs=3"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.log);
    const Diagnosis read = diagnose(Plan{}, row.log);
    for (const std::string_view pair : split(row.settings, '&')) {
      CAPTURE(pair, read.settings);
      const size_t equals = pair.find('=');
      const Field* each = find_field(pair.substr(0, equals));
      REQUIRE(each != nullptr);
      CHECK(value_text(read.plan, each->key) == pair.substr(equals + 1));
    }
  }
}

TEST_CASE("Where plan and log differ, only what the log prints is said") {
  const Plan plan = plan_of("model=qwen3-8b&utilization=0.8&max_seqs=64&view=serve");
  const Diagnosis read = diagnose(plan, "$ vllm serve Qwen/Qwen3-8B --max-num-seqs 32 --max-model-len 8192\n");
  CHECK(read.plan.utilization == 0.8);
  CHECK(read.plan.max_len == 8192);
  REQUIRE(read.messages.size() == 1);
  CHECK(read.messages[0].key == "max_seqs");
}

TEST_CASE("A model that is the plan's own default is named where the log names it") {
  const char* log =
      "$ vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192\nAvailable KV cache memory: 5 GiB\n";
  CHECK_FALSE(diagnose(plan_of(""), log).assumed);
  CHECK(diagnose(plan_of(""), "INFO Available KV cache memory: 5 GiB\n").assumed);
}

TEST_CASE("A model that no preset knows leaves the plan's") {
  const Diagnosis read = diagnose(plan_of(""), "$ vllm serve me/My-Own-7B --max-model-len 8192\n");
  CHECK(read.plan.model == plan_of("").model);
  CHECK(read.plan.max_len == 8192);
  CHECK(read.assumed);
}

TEST_CASE("vLLM's refused length is its own cause, whatever the log says of the pool before") {
  const Diagnosis read =
      diagnose(plan_of(""),
               "Memory profiling results: total_gpu_memory=23.58GiB kv_cache_size=2.89GiB\n"
               "The model's max seq len (29000) is larger than the maximum number of tokens that can be stored in KV "
               "cache (23648). Try increasing `gpu_memory_utilization`");
  REQUIRE_FALSE(read.findings.empty());
  CHECK(std::string_view(read.findings[0].id) == "kv_longest_request");
  CHECK(read.findings[0].change == "max_len=23648");
}

TEST_CASE("A peak of what went before is no jump") {
  const Diagnosis read = diagnose(plan_of(""),
                                  "MA 0.0 GB         Max_MA 1.74 GB         CA 1.89 GB         Max_CA 2 GB\n"
                                  "MA 0.0 GB         Max_MA 0.0 GB         CA 1.89 GB         Max_CA 2 GB\n");
  CHECK(read.symptom == Symptom::none);
}

TEST_CASE("Megatron's table of arguments is its command") {
  const Diagnosis read = diagnose(Plan{},
                                  "using world size: 16, data-parallel size: 2\n"
                                  "------------------------ arguments ------------------------\n"
                                  "  add_bias_linear ................................. False\n"
                                  "  bf16 ............................................ True\n"
                                  "  ffn_hidden_size ................................. 14336\n"
                                  "  group_query_attention ........................... True\n"
                                  "  hidden_dropout .................................. 0.0\n"
                                  "  hidden_size ..................................... 4096\n"
                                  "  micro_batch_size ................................ 2\n"
                                  "  num_attention_heads ............................. 32\n"
                                  "  num_layers ...................................... 36\n"
                                  "  num_query_groups ................................ 8\n"
                                  "  pipeline_model_parallel_size .................... 2\n"
                                  "  position_embedding_type ......................... rope\n"
                                  "  recompute_granularity ........................... full\n"
                                  "  seq_length ...................................... 8192\n"
                                  "  sequence_parallel ............................... True\n"
                                  "  swiglu .......................................... True\n"
                                  "  tensor_model_parallel_size ...................... 4\n"
                                  "-------------------- end of arguments ---------------------\n");
  CHECK(read.plan.layers == 36);
  CHECK(read.plan.ffn == 14336);
  CHECK(read.plan.gpus == 16);
  CHECK(read.plan.node == 8);
  CHECK(read.plan.tp == 4);
  CHECK(read.plan.pp == 2);
  CHECK(read.plan.seq == 8192);
  CHECK(read.plan.micro_batch == 2);
  CHECK(value_text(read.plan, Key::recompute) == "full");
}

TEST_CASE("Names of GPUs find their presets") {
  CHECK(gpu_of_name("NVIDIA A100-SXM4-80GB", 79.15 * kGiB) == "a100-sxm4-80gb");
  CHECK(gpu_of_name("NVIDIA GeForce RTX 4090", 23.65 * kGiB) == "rtx-4090-24gb");
  CHECK(gpu_of_name("NVIDIA H100 80GB HBM3", 79.19 * kGiB) == "h100-sxm5-80gb");
  CHECK(gpu_of_name("", 80 * kGiB).empty());
}

TEST_CASE("A measured plan's own estimate becomes what was measured") {
  const Plan plan = plan_of(std::string(kOn80) + "&measured_allocated=70&measured_reserved=74&measured_device=77");
  const TrainingBill bill = training_bill(plan);
  const std::optional<Calibrated> now = calibrated(bill, bill, measured_of({}, plan));
  REQUIRE(now);
  CHECK(std::fabs(now->allocated - 70 * kGiB) < 16);
  CHECK(std::fabs(now->reserved - 74 * kGiB) < 16);
  CHECK(std::fabs(now->device - 77 * kGiB) < 16);
}

TEST_CASE("A changed plan is shifted by what was measured before the change, and says so") {
  const std::string measured = "&measured_allocated=70&measured_with=micro_batch%3D2";
  const Plan changed = plan_of("model=llama-3.1-8b&gpus=8&framework=fsdp&micro_batch=1&seq=8192" + measured);
  CHECK(plan_when_measured(changed).micro_batch == 2);
  const TrainingBill before = training_bill(plan_when_measured(changed)), after = training_bill(changed);
  const std::optional<Calibrated> now = calibrated(before, after, measured_of({}, changed));
  REQUIRE(now);
  CHECK(now->allocated < 70 * kGiB);
  const std::optional<Finding> finding = calibration_finding(changed, after);
  REQUIRE(finding);
  CHECK(finding->text.find("measured before the changes") != std::string::npos);
}

TEST_CASE("A measurement far off is added as it is: what it says of activations is not believed") {
  const std::string share = "model=llama-3.1-8b&gpus=8&framework=fsdp&seq=8192&micro_batch=";
  const TrainingBill before = training_bill(plan_of(share + "2")), after = training_bill(plan_of(share + "1"));
  for (const double gib : {1.0, 500.0}) {
    Measured measured;
    measured.allocated = gib * kGiB;
    const double missing = gib * kGiB - static_cast<double>(before.allocated_bytes);
    const double shifted = static_cast<double>(after.allocated_bytes) + missing;
    CHECK(calibrated(before, after, measured)->allocated == std::max(0.0, shifted));
  }
}

TEST_CASE("What was measured of a server shifts the estimate of the changed plan, and says so") {
  const std::string share = "model=llama-3.1-8b&gpu=h100-sxm5-80gb&weights=fp8&measured_with=weights%3D";
  const Plan changed = plan_of(share + "&measured_kv_pool=50&measured_tpot=0.02");
  const std::optional<Finding> finding = serving_calibration(changed, serving_bill(changed));
  REQUIRE(finding);
  const Plan then = plan_of("model=llama-3.1-8b&gpu=h100-sxm5-80gb");
  const ServingBill was = serving_bill(then), is = serving_bill(plan_of("model=llama-3.1-8b&weights=fp8"));
  const double pool =
      static_cast<double>(*is.kv_budget_bytes_per_gpu) + 50 * kGiB - static_cast<double>(*was.kv_budget_bytes_per_gpu);
  CHECK(finding->text.find("What was measured before the changes shifts the KV cache of a GPU by −") == 0);
  CHECK(finding->text.find("to " + show_bytes(pool, Units::gib)) != std::string::npos);
  const double token = *is.decode_seconds_per_token * (0.02 / *was.decode_seconds_per_token);
  CHECK(finding->text.find(show_duration(token)) != std::string::npos);
  CHECK(static_cast<double>(*serving_bill(changed).kv_budget_bytes_per_gpu) == std::floor(pool));
}

TEST_CASE("A change of a measured plan keeps what it was measured with; the first value of a key counts") {
  Plan plan = plan_of("model=llama-3.1-8b&micro_batch=2&measured_kv_pool=50");
  const auto change = [&](Key key, const char* value) { REQUIRE(apply({"", "", {{key, value}}}, plan)); };
  change(Key::weights, "fp8");
  change(Key::weights, "awq");
  change(Key::micro_batch, "1");
  CHECK(plan.measured_with == "weights=&micro_batch=2");
  CHECK(plan_when_measured(plan).weights == "bf16");
  CHECK(plan_when_measured(plan).micro_batch == 2);
  change(Key::measured_kv_pool, "45");  // measured again, on the plan as it is now
  CHECK(plan.measured_with.empty());
}

TEST_CASE("A run that never came to its peak calibrates nothing that the bill has more of") {
  const Plan plan = plan_of("model=llama-3.1-8b&framework=ddp&gpus=8");
  Measured measured;
  measured.failed = true;
  measured.allocated = 70 * kGiB;
  measured.tried = 1 * kGiB;
  CHECK_FALSE(measured_peak(measured, training_bill(plan)));
}

TEST_CASE("Of a refused allocation a link keeps the least that the peak can be, and nothing that was not reached") {
  const Diagnosis diagnosis = diagnose(plan_of(std::string(kOn80) + "&micro_batch=1&recompute=full"),
                                       refused("3.00", "79.15", "1.00", "78.00", "62.00", "11.00"));
  CHECK(diagnosis.measured_keys == "measured_allocated=65");
}

TEST_CASE("Random text, and a plan without a shape, are diagnosed calmly") {
  std::string text;
  uint64_t seed = 7;
  for (int i = 0; i < 40000; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    text += static_cast<char>(32 + (seed >> 33) % 95);
  }
  for (const char* share : {kOn80, "model=custom&params=7B", "model=custom", "view=serve&engine=llamacpp"}) {
    CHECK_FALSE(diagnose(plan_of(share), text).findings.empty());
  }
}

TEST_CASE("JSON has what a log states as bytes, a number or a text, once") {
  Diagnosis diagnosis;
  diagnosis.plan = plan_of("");
  diagnosis.log.figures = {{.what = "a", .kind = CaptureKind::bytes, .bytes = 7},
                           {.what = "b", .kind = CaptureKind::number, .number = 0.5},
                           {.what = "c", .kind = CaptureKind::text, .text = "fp8"}};
  const std::string json = diagnosis_json(diagnosis);
  CHECK(json.find(R"({"what":"a","bytes":7,"tool")") != std::string::npos);
  CHECK(json.find(R"({"what":"b","value":0.5,"tool")") != std::string::npos);
  CHECK(json.find(R"({"what":"c","value":"fp8","tool")") != std::string::npos);
}

TEST_CASE("What a log states says where it was") {
  Diagnosis diagnosis;
  diagnosis.plan = plan_of("");
  const LogFigure figure{.what = "tried_bytes", .kind = CaptureKind::bytes, .bytes = 1 << 20};
  diagnosis.log.figures = {figure, figure, figure};
  diagnosis.log.figures[0].on = "CUDA0";
  diagnosis.log.figures[1].device = 3;
  diagnosis.log.figures[2].rank = 5;
  for (const std::string& text : {diagnosis_text(diagnosis), diagnosis_markdown(diagnosis)})
    for (const char* place : {"CUDA0", "GPU 3", "rank 5"}) CHECK(text.find(place) != std::string::npos);
}
