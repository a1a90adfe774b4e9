#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <string>

#include "engine/advice/log/families.h"
#include "engine/advice/log/number.h"
#include "engine/advice/log/read_log.h"

using namespace vram;

namespace {

/// The first figure of that name; fails where there is none.
LogFigure figure(std::string_view log, std::string_view what) {
  for (LogFigure& one : read_log(log).figures) {
    if (one.what == what) return one;
  }
  FAIL("no " << what);
  return {};
}

bool has(std::string_view log, std::string_view what) {
  const LogReading reading = read_log(log);
  return std::any_of(reading.figures.begin(), reading.figures.end(),
                     [&](const LogFigure& one) { return one.what == what; });
}

int64_t size_of(std::string_view text, Gigabyte gigabyte = Gigabyte::binary) {
  const SizeScan size = scan_size(prepare_log(text), 0, gigabyte);
  return size.result == Scan::read ? size.bytes : -1;
}

std::string random_text(uint64_t seed, size_t length) {
  static const std::string alphabet =
      " \n.,;:=()[]{}|\"'0123456789abcdefgGiMiBKTallocatedfreememoryGPU\x1b\\\xe2\x94\x82";
  std::string text;
  for (size_t i = 0; i < length; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    text += alphabet[(seed >> 33) % alphabet.size()];
  }
  return text;
}

constexpr const char* kOom =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 1 has a total capacity of 23.65 GiB "
    "of "
    "which 1.66 GiB is free. Including non-PyTorch memory, this process has 20.81 GiB memory in use. Of the allocated "
    "memory 12.09 GiB is allocated by PyTorch, and 4.84 GiB is reserved by PyTorch but unallocated.";

}  // namespace

TEST_CASE("Commas that are neither thousands nor decimals make no number") {
  CHECK(
      read_log("Out of memory: Killed process 1 (python) total-vm:26,184,840kB, anon-rss:153,700,88kB").figures.size() <
      read_log("Out of memory: Killed process 1 (python) total-vm:26,184,840kB, anon-rss:15,370,088kB").figures.size());
}

TEST_CASE("A log too long to read is cut between lines: half a number is none", "[native]") {
  std::string log;
  while (log.size() < (size_t{9} << 20)) log += "Available KV cache memory: 123.45 GiB\n";
  for (const LogFigure& one : read_log(log).figures) {
    if (one.what == "kv_bytes") CHECK(one.printed == "123.45 GiB");
  }
  CHECK(read_log(log).gaps.empty());
  CHECK(read_log(log).left_out_bytes + (size_t{8} << 20) >= log.size());
}

TEST_CASE("Sizes are read to the byte, rounded") {
  struct Row {
    const char* text;
    int64_t bytes;
  };
  const Row row =
      GENERATE(Row{"12.50 MiB", 13107200}, Row{"0 bytes", 0}, Row{"6144MiB", 6442450944}, Row{"63.80G", 68504728371},
               Row{"1900,00 MiB", 1992294400}, Row{"1,024 B", 1024}, Row{"-0.87 GiB", -934155387},
               Row{"4585490524328388608 B", 4585490524328388608}, Row{"54398260kB", 55703818240});
  CAPTURE(row.text);
  CHECK(size_of(row.text) == row.bytes);
}

TEST_CASE("Without a unit, with a broken number, or above 2^63 there is no size") {
  for (const char* text : {"95.00", "95.00 MiBx", "95. GiB", "1\n2.5 GiB", "17592186029324 MiB", "NaN GiB", "", "GiB",
                           "9.75 m", "9.75 G"}) {
    CAPTURE(text);
    CHECK(size_of(text) == -1);
  }
}

TEST_CASE("GB is 10^9 only where the tool divides by it") {
  CHECK(size_of("13.90 GB", Gigabyte::decimal) == 13900000000);
  CHECK(size_of("13.90 GB") == 14925011354);
  CHECK(figure("Iter 10: Train loss 2.5, Peak mem 31.753 GB", "peak_bytes").bytes == 31753000000);
  CHECK(figure("Loading model weights took 14.9888 GB", "weights_bytes").bytes == 16094101452);
}

TEST_CASE("Wraps in the middle of words, colours, boxes, entities and escapes do not hide a figure") {
  for (const char* text :
       {"1.00 GiB re\nserved in total by PyTorch", "\x1b[32m; 1.00\x1b[0m GiB reserved in total by PyTorch",
        "│ ; 1.00 GiB reserved │\n│ in total by PyTorch", "; 1.00&nbsp;GiB reserved in total by PyTorch",
        "{\"error\": \"; 1.00 GiB\\nreserved in total by PyTorch\"}",
        "{\"a\": \"{\\\"b\\\": \\\"; 1.00 GiB\\\\nreserved in total by PyTorch\\\"}",
        "; 1.00 GiB re\u200bserved in total by PyTorch"}) {
    const std::string log = std::string(text).find(';') == std::string::npos ? "; " + std::string(text) : text;
    CAPTURE(log);
    CHECK(figure(log, "reserved_bytes").bytes == 1073741824);
  }
}

TEST_CASE("A message over several lines goes on behind what stands before each line") {
  for (const char* prefix :
       {"[rank3]: ", "(EngineCore_DP0 pid=12) ERROR 09-01 12:00:00 [core.py:708] ", "2025-09-01T12:00:00.123456789Z ",
        "svc-1  | ", "> ", "Sep 01 12:00:00 host python[1234]: ", "E       ", "2025-09-01T12:00:00.1Z stderr F ",
        "worker-0: ", "0.00.046.129 I "}) {
    CAPTURE(prefix);
    const std::string log = std::string(prefix) + "Total hbm usage >= 22.47G:\n" + prefix +
                            "    reserved        530.00M\n" + prefix + "    program          21.95G\n";
    CHECK(figure(log, "reserved_bytes").bytes == 555745280);
    CHECK(figure(log, "program_bytes").printed == "21.95G");
  }
}

TEST_CASE("A number that a full terminal broke is one number; a new line is none") {
  const std::string text =
      "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 1.96 GiB total capacity; "
      "1.24 GiB already allocated; 2.88 MiB free; 1.25 GiB reserved in total by PyTorch)";
  for (size_t width = 40; width < text.size(); ++width) {
    std::string wrapped;
    for (size_t i = 0; i < text.size(); i += width) wrapped += text.substr(i, width) + "\n";
    CAPTURE(wrapped);
    for (const LogFigure& one : read_log(wrapped).figures) {
      const auto same = [&](const LogFigure& other) { return other.what == one.what && other.bytes == one.bytes; };
      const LogReading whole = read_log(text);
      CHECK(std::any_of(whole.figures.begin(), whole.figures.end(), same));
    }
    CHECK(has(wrapped, "reserved_bytes"));
  }
  CHECK(figure("INFO the log has a line that is longest here: # GPU blocks: 13\n2025-01-30 03:19:14 INFO next",
               "gpu_blocks")
            .number == 13);
  CHECK(figure("(options of the longest of all lines: zero_init=1\n  127.48GB |   0.12GB | offload", "per_cpu_bytes")
            .printed == "127.48GB");
}

TEST_CASE("UTF-16 and strings inside strings are read") {
  std::string wide = "\xff\xfe";
  for (const char c : std::string(kOom)) wide += std::string{c, '\0'};
  CHECK(figure(wide, "reserved_unallocated_bytes").printed == "4.84 GiB");
}

TEST_CASE("A size in no known message is named as unread") {
  const LogReading reading = read_log("occupied memory:2.47 GB\nreserved: 16 of them, at 158MB/s, 3/4\n");
  REQUIRE(reading.gaps.size() == 1);
  CHECK(reading.figures.empty());
  CHECK(reading.gaps[0].printed == "occupied memory:2.47 GB");
  CHECK(reading.gaps[0].line == 1);
  const LogReading later =
      read_log("The step after that needed 22.5 GB of what this card of mine has, which is 24 GB\n");
  REQUIRE(later.gaps.size() == 2);
  CHECK(later.gaps[1].printed == "of what this card of mine has, which is 24 GB");
}

TEST_CASE("A print of torch.cuda without a unit is of bytes, where it can be") {
  CHECK(figure("max_memory_reserved: 57466159104 | max_memory_allocated: 53930270720", "peak_allocated_bytes").bytes ==
        53930270720);
  CHECK(figure("torch.cuda.max_memory_allocated(): 5.20 GiB", "peak_allocated_bytes").printed == "5.20 GiB");
  for (const char* text : {"max_memory_allocated: 5.2", "max_memory_allocated: 20148"}) {
    CAPTURE(text);
    CHECK_FALSE(has(text, "peak_allocated_bytes"));
    CHECK(read_log(text).gaps.size() == 1);
  }
}

TEST_CASE("Everything of a message carries the GPU it names") {
  for (const LogFigure& one : read_log(kOom).figures) CHECK(one.device == 1);
  CHECK(figure(kOom, "tried_bytes").printed == "3.00 GiB");
}

TEST_CASE("Two ranks' messages stay apart") {
  const std::string two =
      std::string(kOom) + " " + std::string(kOom).replace(std::string(kOom).find("GPU 1"), 5, "GPU 6");
  const LogReading reading = read_log(two);
  CHECK(std::count_if(reading.figures.begin(), reading.figures.end(),
                      [](const LogFigure& one) { return one.what == "tried_bytes" && one.device == 6; }) == 1);
  CHECK(figure(two, "messages").number == 2);
}

TEST_CASE("Another rank in front of a line begins another message") {
  const LogReading reading = read_log(
      "[2025-07-02 07:41:58 TP0] Load weight end. avail mem=20.10 GB\n"
      "[2025-07-02 07:41:58 TP1] Load weight end. avail mem=19.90 GB\n");
  for (const LogFigure& one : reading.figures) {
    if (one.what.ends_with("_bytes")) CHECK(one.rank == (one.printed == "20.10 GB" ? 0 : 1));
  }
}

TEST_CASE("A peak that people print in words is no present figure") {
  for (const char* peak :
       {"max memory allocated: 12345 MB", "Peak memory allocated = 12345 MB", "max_allocated=12345 MB",
        "max_memory_allocated: 12345 MB", "Maximum memory allocated 12345 MB"}) {
    CAPTURE(peak);
    CHECK(figure(peak, "peak_allocated_bytes").bytes == int64_t{12345} << 20);
    CHECK_FALSE(has(peak, "allocated_bytes"));
  }
}

TEST_CASE("A size in a print of the user's own is what the print's words say") {
  struct Print {
    const char *text, *what;
  };
  for (const Print& print : {Print{"Max CUDA memory usage: 1.50 GiB", "peak_bytes"},
                             {"Peak VRAM: 1.50 GiB", "peak_bytes"},
                             {"[CUDA RAM MAX: 1.50 GiB]", "peak_bytes"},
                             {"a peak memory usage of 1.50 GiB", "peak_bytes"},
                             {"\"peak_memory_gib\": 1.5", "peak_bytes"},
                             {"peak mem (GiB, rank 0) : 1.5", "peak_bytes"},
                             {"Max CUDA memory after loading the model: 1.50 GiB", "peak_bytes"},
                             {"Maximum GPU memory allocated: 1.50 GiB", "peak_allocated_bytes"},
                             {"[GPU] before save: peak allocated=1.50 GiB", "peak_allocated_bytes"},
                             {"GPU memory: 1.50 GiB allocated, then", "allocated_bytes"},
                             {"Memory usage after step 1: 1.50 GiB allocated (16%)", "allocated_bytes"},
                             {"Device Memory: 1.50GiB total", "capacity_bytes"},
                             {"x, 1.50 GiB max reserved (57%)", "peak_reserved_bytes"},
                             {"[GPU 0] reserved=1.50GiB max_", "reserved_bytes"},
                             {"GPU memory allocated: 1536 MBytes", "allocated_bytes"},
                             {"XPU allocated memory: 1610612736", "allocated_bytes"},
                             {"Cached: 1.50 GiB", "cached_bytes"},
                             {"it uses 1.50 GiB of VRAM on each of them", "used_bytes"},
                             {"training took 1.50 GiB of GPU memory", "used_bytes"},
                             {"a run of mine, peak 1.50 GiB reserved, then", "peak_reserved_bytes"},
                             {"using 1.50 GiB of RAM", "host_used_bytes"},
                             {"GPU reserved memory: 1.50 GiB", "reserved_bytes"},
                             {"mem: rsvd=1.50 GiB", "reserved_bytes"},
                             {"Current GPU memory usage: 1.50 GiB", "used_bytes"},
                             {"GPU 0 free memory: 1.50 GiB", "free_bytes"},
                             {"Total GPU memory: 1.50 GiB", "capacity_bytes"},
                             {"CPU memory usage: 1.50 GiB", "host_used_bytes"},
                             {"Booster init max CPU memory: 1.50 GiB", "host_peak_bytes"},
                             {"Peak RSS: 1.50 GiB", "host_peak_bytes"}}) {
    CAPTURE(print.text);
    const LogReading reading = read_log(print.text);
    REQUIRE(reading.figures.size() == 1);
    CHECK(reading.figures[0].what == print.what);
    CHECK(reading.figures[0].bytes == int64_t{3} << 29);
  }
}

TEST_CASE("A size is not named by words that are of another thing, or that contradict each other") {
  for (const char* text : {"Alloc Granule: 4 KiB",
                           "Peak bandwidth: 3 GB/s",
                           "memory saved: 3 GB",
                           "average GPU memory usage: 3 GB",
                           "KV cache memory used: 3 GB",
                           "both GPUs allocated 4 GiB of it",
                           "peak/current memory: 3 GB",
                           "GPU to CPU memory allocated: 3 GB",
                           "MemoryMax=5G",
                           "--max_gpu_memory 40GiB",
                           "max_memory = \"22GiB\"",
                           "it took 3 GB",
                           "a card with 24 GB of VRAM",
                           "24GB VRAM",
                           "it uses 3 GB of disk",
                           "free memory: 3 GB",
                           "estimated peak memory: 3 GB",
                           "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:256",
                           "GPU link: 12/24 GB/s",
                           "Memory: 3.5/4 GB",
                           "GPU and CPU memory: 3/4 GB",
                           "GPU time: 5/4 GB",
                           "| max_memory_allocated | (4.2 |"}) {
    CAPTURE(text);
    CHECK(read_log(text).figures.empty());
  }
}

TEST_CASE("A part of a server's memory is what people call it, in a label, in a sum or in a table") {
  struct Print {
    const char *text, *what;
  };
  for (const Print& print :
       {Print{"KV cache: 1.50 GiB", "kv_bytes"},
        {"weights 9 GiB + KV 1.50 GiB", "kv_bytes"},
        {"KV cache: 5 GiB\nWeights: 1.50 GiB", "weights_bytes"},
        {"model weights in VRAM: 1.50 GiB", "weights_bytes"},
        {"- CUDA graphs: 1.50 GiB (at 32 sizes)", "cudagraph_bytes"},
        {"Peak activation memory: 1.50 GiB per GPU", "activation_bytes"},
        {"non-torch memory: 1.50 GiB", "non_torch_bytes"},
        {"Compute buffers: 1.50 GiB", "compute_bytes"},
        {"left 1.50 GiB for the KV cache of it", "kv_bytes"},
        {"reserved 1.50 GiB for KV cache via", "kv_bytes"},
        {"1.50 GiB KV cache, then", "kv_bytes"},
        {"KV cache: ~1.50 GiB per GPU", "kv_bytes"},
        {"| KV cache (fp8) | **1.50 GiB** | (fits)", "kv_bytes"},
        {"| Part | Size |\n|---|---:|\n| 1 | x |\n| CUDA graph pool | 1.50 GiB |", "cudagraph_bytes"},
        {"| | A | B |\n|---|---|---|\n| KV cache | 1 GiB | 1.50 GiB |", "kv_bytes"}}) {
    CAPTURE(print.text);
    const LogReading reading = read_log(print.text);
    CHECK(std::any_of(reading.figures.begin(), reading.figures.end(),
                      [&](const LogFigure& one) { return one.what == print.what && one.bytes == int64_t{3} << 29; }));
  }
  CHECK(figure("| KV cache (fp8) | 114,688 tokens |", "kv_tokens").number == 114688);
  const LogReading sum = read_log("weights (5 GiB) + activations (1.50 GiB) = 6.50 GiB");
  REQUIRE(sum.figures.size() == 2);
  CHECK(sum.figures[0].bytes == int64_t{3} << 29);
}

TEST_CASE("A file, an estimate, a rate or a sum is no part of a server's memory") {
  for (const char* text :
       {"Weights: 14.9 GB", "| Model | Weights |\n|---|---|\n| Qwen3-8B | 16.4 GB |", "KV cache: ~40 GiB",
        "KV cache: 0.5 MiB/token", "KV cache per token: 512 MiB", "KV cache: 512 MiB per request",
        "estimated KV cache: 40 GiB", "KV cache (CPU): 40 GiB", "KV cache: 3 GiB on disk", "KV cache: 3 GiB (on disk)",
        "weights + KV cache: 60 GiB", "weights, KV cache: 60 GiB",

        "| Part | Saved |\n|---|---|\n| KV cache | 3 GiB |", "| KV cache | 3 GiB | 2 GiB | 1 GiB |",
        "the KV cache of our own model is 3 GiB", "KV cache usage: 3 GiB", "KV cache 4 KiB", "Download: KV cache 3 GiB",
        "KV 0 784 MiB"}) {
    CAPTURE(text);
    CHECK(read_log(text).figures.empty());
  }
}

TEST_CASE("What was reserved for something is not what an allocator reserves") {
  CHECK_FALSE(has("reserved 48.0 GiB for KV cache", "reserved_bytes"));
  CHECK_FALSE(has("Allocated 41.11 GiB for max tokens (524288)", "allocated_bytes"));
  CHECK(has("GPU memory reserved: 3 GiB for batch 4", "reserved_bytes"));
}

TEST_CASE("Of two sizes with a stroke between them the first is a part of the second, whose unit may be of both") {
  struct Print {
    const char *text, *part, *whole;
  };
  for (const Print& print : {Print{"GPU0: 1.5/2.0GB", "used_bytes", "total_bytes"},
                             {"GPU 0 memory: 1.50 GiB / 2.00 GiB used", "used_bytes", "total_bytes"},
                             {"[Epoch 3] loss=1.2 | GPU mem 1.50/2.00 GiB", "used_bytes", "total_bytes"},
                             {"VRAM 1536/2048 MiB (75%)", "used_bytes", "total_bytes"},
                             {"RAM: 1.5/2.0 GB", "host_used_bytes", "host_total_bytes"},
                             {"Peak Mem.: 1.5/2.0 GiB (75.0%)", "peak_bytes", "total_bytes"},
                             {"cuda:0 memory allocated/reserved: 1.5/2.0 GB", "allocated_bytes", "reserved_bytes"}}) {
    CAPTURE(print.text);
    CHECK(figure(print.text, print.part).bytes == int64_t{3} << 29);
    CHECK(figure(print.text, print.whole).bytes == int64_t{1} << 31);
  }
}

TEST_CASE("What a call was given is not what it gave") {
  for (const char* argument : {"()", "(0)", "(device)", "(device=0)", "('cuda:0')", "(torch.device('cuda'))"}) {
    const std::string call = std::string("torch.cuda.memory_allocated") + argument;
    CAPTURE(call);
    CHECK(figure(call + " 318986240", "allocated_bytes").bytes == 318986240);
    CHECK(figure(call + ": 1.50 GiB", "allocated_bytes").bytes == int64_t{3} << 29);
  }
  CHECK(figure("memory_allocated (GB): 1.5", "allocated_bytes").bytes == int64_t{3} << 29);
  CHECK_FALSE(has("torch.cuda.memory_allocated(0)", "reserved_bytes"));
}

TEST_CASE("What stands behind a size is of the place that the line named") {
  const char* log = "GPU memory: 1.5 GiB used, 0.5 GiB free, 2.0 GiB total";
  CHECK(figure(log, "used_bytes").bytes == int64_t{3} << 29);
  CHECK(figure(log, "free_bytes").bytes == int64_t{1} << 29);
  CHECK(figure(log, "capacity_bytes").bytes == int64_t{1} << 31);
  CHECK(read_log("With 8 GPUs, 2.0 GiB total").figures.empty());
}

TEST_CASE("A text in two strings of a source is one") {
  const char* log =
      "  \"MPS backend out of memory (MPS allocated: 9.00 GiB, other allocations: 464.00 KiB, \"\n"
      "  \"max allowed: 9.32 GiB). Tried to allocate 1.50 GiB on private pool.\"";
  CHECK(figure(log, "tried_bytes").bytes == int64_t{3} << 29);
  CHECK(figure(log, "pool").text == "private");
  CHECK(figure(log, "tried_bytes").line == 2);
}

TEST_CASE("A value of another name says nothing of the next one") {
  const char* log = "step:12 - perf/max_memory_allocated_gb:45.1 - perf/max_memory_reserved_gb:1.5";
  CHECK(figure(log, "peak_reserved_bytes").bytes == int64_t{3} << 29);
}

TEST_CASE("A paste that lost its blanks is read") {
  const char* log = "Triedtoallocate1.50GiB(GPU0;4.00GiBtotalcapacity;3.46GiBalreadyallocated;0bytesfree;";
  CHECK(figure(log, "tried_bytes").bytes == int64_t{3} << 29);
  CHECK(figure(log, "capacity_bytes").bytes == int64_t{1} << 32);
  CHECK(has(log, "free_bytes"));
}

TEST_CASE("What is not allocated, or not on the GPU, is not read as allocated") {
  for (const char* other :
       {"non-allocated: 3 GB", "not allocated: 3 GB", "CPU memory allocated: 12 GB", "disk space allocated: 3.2 GB"}) {
    CAPTURE(other);
    CHECK_FALSE(has(other, "allocated_bytes"));
  }
}

TEST_CASE("Marks of Markdown are no part of a message") {
  CHECK(figure("**Available KV cache memory**: `8.25 GiB`", "kv_bytes").printed == "8.25 GiB");
}

TEST_CASE("vLLM's tokens follow from blocks of the size that its concurrency shows") {
  const char* blocks = "# GPU blocks: 2000, # CPU blocks: 0\n";
  CHECK(figure(blocks, "kv_tokens").number == 32000);
  CHECK(figure(std::string(blocks) + "Maximum concurrency for 16000 tokens per request: 4.00x", "kv_tokens").number ==
        64000);
}

TEST_CASE("What is cut off before its unit is named, not guessed") {
  const LogReading reading = read_log("Tried to allocate 448.00 MiB. GPU 7 has a total capacity of 95.00");
  REQUIRE(reading.gaps.size() == 1);
  CHECK(reading.gaps[0].what == "capacity_bytes");
  CHECK(reading.gaps[0].printed == "95.00");
  CHECK_FALSE(has("Tried to allocate 448.00 MiB. GPU 7 has a total capacity of 95.00", "capacity_bytes"));
}

TEST_CASE("Look-alikes are left alone") {
  for (const char* text : {"250W / 400W", "|                  |      0MiB / 65535MiB  |", "[gpu_worker.py:456]",
                           "CUDA graphs can take additional 1~3 GiB memory per GPU", "n_ctx_train = 4096",
                           "--block-size=512KiB --size=200GiB", "passed to the vLLM server of each node",
                           "| cpu_offload | 19GB | 33GB |\n| offload | - | - |"}) {
    CAPTURE(text);
    CHECK(read_log(text).figures.empty());
  }
}

TEST_CASE("A command is read as a shell, YAML and JSON have it") {
  const auto has_model = [](std::string_view log) {
    const LogReading reading = read_log(log);
    return std::any_of(reading.figures.begin(), reading.figures.end(), [](const LogFigure& figure) {
      return figure.what == "model_name" && figure.text == "Qwen/Qwen3-8B";
    });
  };
  CHECK(has_model("docker run vllm/vllm-openai:latest \\\n    --model \\\n Qwen/Qwen3-8B \\\n --max-model-len 4096"));
  CHECK(has_model("- \"--model\"\n- \"Qwen/Qwen3-8B\""));
  CHECK(has_model("args: [\"--model\", \"Qwen/Qwen3-8B\"]"));
  CHECK(has_model("vllm serve Qwen/Qwen3-8B --port 80"));
}

TEST_CASE("An option, and what a shell would put in its place, is no model") {
  for (const char* log : {"vllm serve --port 80", "--model-impl auto", "--model $MODEL", "--model --port 80"}) {
    CAPTURE(log);
    for (const LogFigure& figure : read_log(log).figures) CHECK(figure.what != "model_name");
  }
}

TEST_CASE("A table with commas is read by its head") {
  const char* log = "index, name, memory.used [MiB], memory.total [MiB]\n0, NVIDIA A100-SXM4-80GB, 13, 81920\n";
  CHECK(figure(log, "used_bytes").bytes == 13 * 1048576);
  CHECK(figure(log, "total_bytes").bytes == 81920LL * 1048576);
  CHECK(figure(log, "gpu_name").text == "NVIDIA A100-SXM4-80GB");
}

TEST_CASE("A cell of a table that is no number is named, not read in part") {
  const LogReading reading = read_log("index, memory.used [MiB]\n0, 0xc1\n1, [N/A]\n2, 512 MiB\n");
  CHECK(reading.gaps.size() == 2);
  CHECK(figure("index, memory.used [MiB]\n0, 0xc1\n2, 512 MiB\n", "used_bytes").bytes == 512LL * 1048576);
}

TEST_CASE("A second head in a table begins another table, whatever its cells") {
  const char* log =
      "index, utilization.gpu [%], memory.used [MiB]\n3, 75 %, 77537 MiB\n"
      "gpu_uuid, pid, used_gpu_memory [MiB]\nGPU-e82ab913, 2069192, 77002 MiB\n";
  CHECK(figure(log, "used_bytes").device == 3);
  CHECK(figure(log, "process_list_bytes").bytes == 77002LL * 1048576);
  CHECK(figure(log, "gpus").number == 1);
}

/// A text as the row's tool would print it.
std::string sample_of(std::string_view pattern) {
  std::string text;
  bool optional = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '<' || (c == '>' && optional)) {
      REQUIRE(!(c == '<' && optional));  // one does not lie in another
      optional = c == '<';
    } else if (c == '{') {
      const char kind = pattern[i + 1];
      const bool size = kind == 'S' || kind == 'L', word = kind == 'w' || kind == 't' || kind == 'p';
      text += size ? "1.50 GiB" : word ? "word" : kind == 'm' ? "org/name-8b" : kind == 'b' ? "7340032" : "7";
      i = pattern.find('}', i);
      REQUIRE(i != std::string_view::npos);
      REQUIRE(std::string_view("SMGBDPbnfwtpmL").find(kind) != std::string_view::npos);
    } else if (c == '~' || c == '$') {
      text += " and ";
    } else if (c == '@') {
      text += ": ";
    } else if (c == '!') {
      text += " .... ";
    } else if (c != '^' && c != '&') {
      text += c;
    }
  }
  return text;
}

/// Behind the word that stands before the row.
size_t row_begin(const LogText& text, std::string_view pattern) {
  size_t at = 0;
  if (pattern.substr(0, 2) != "{p") return at;
  do ++at;
  while (at < text.size() && text.gap(at) == Gap::none);
  return at;
}

/// What its captures are called where they are reported.
std::vector<std::string> names_in(std::string_view pattern) {
  std::vector<std::string> names;
  for (size_t i = pattern.find('{'); i != std::string_view::npos; i = pattern.find('{', i + 1)) {
    const size_t close = pattern.find('}', i);
    if (close < i + 4) continue;
    std::string name(pattern.substr(i + 3, close - i - 3));
    if (std::string_view("SMGDBPbL").find(pattern[i + 1]) != std::string_view::npos) {
      const bool by_device = pattern.find(" on}") != std::string_view::npos;
      name += by_device ? "_by_device" : "_bytes";
    }
    if (name == "tried_mib_bytes") name = "tried_bytes";  // where no exact ones follow
    if (name != "on") names.push_back(name);
  }
  return names;
}

/// Words that two servers have are those of the one whose log it is.
std::string in_log_of(std::string_view tool, const std::string& text) {
  for (const LogFamily& family : server_families()) {
    for (const LogRow& row : family.rows) {
      if (row.role == RowRole::words && tool == family.tool) return std::string(row.pattern) + "\n" + text;
    }
  }
  return text;
}

/// Another row, of its own tool or of another, may take the text.
void check_read(std::string_view tool, const LogRow& row, const std::string& text) {
  if (row.role == RowRole::prefix || row.role == RowRole::words) return;
  for (const std::string& name : names_in(row.pattern)) {
    CAPTURE(name, text);
    CHECK((has(text, name) || has(in_log_of(tool, text), name)));
  }
}

TEST_CASE("Every row reads what its tool prints") {
  for (const auto families : {torch_families, device_families, training_families, vllm_families, server_families,
                              llamacpp_families, compiler_families, host_families}) {
    for (const LogFamily& family : families()) {
      for (const LogRow& row : family.rows) {
        CAPTURE(family.tool, row.pattern);
        const std::string text = sample_of(row.pattern);
        const LogText prepared = prepare_log(text);
        CHECK(match_row(row.pattern, family.gigabyte, prepared, row_begin(prepared, row.pattern)).matched);
        check_read(family.tool, row, text);
        for (size_t length = 0; length <= text.size(); length += 3) read_log(std::string_view(text).substr(0, length));
      }
    }
  }
}

// Each step takes something of the pattern: none can hang, whatever a row's author left open.
TEST_CASE("A pattern with a sign that is not closed ends, too") {
  const LogText text = prepare_log(std::string(kOom) + " < { } > ^ ~ $ @ ! &");
  for (const char* pattern :
       {"<", "{", "{S", "<Tried",     "Tried <to {S", "{S tried", "<>", "{}",      "<<a>>", "~",  "$", "@",
        "!", "^", "^<", "Tried <>to", "{w",           "{t",       "{n", "torch<.", "@<",    "~{", "&<"}) {
    CAPTURE(pattern);
    for (size_t at = 0; at < text.size(); ++at) {
      CHECK(match_row(pattern, Gigabyte::binary, text, at).end <= text.size());
    }
  }
  CHECK(match_row("a < b", Gigabyte::binary, prepare_log("a < b"), 0).matched);
}

TEST_CASE("Random text gives a calm answer") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const LogReading reading = read_log(random_text(seed, 3000));
    CHECK(reading.gaps.size() <= 64);
  }
}

TEST_CASE("Cut off at any length a message gives no other sizes than the whole") {
  const LogReading whole = read_log(kOom);
  for (size_t length = 0; length < std::string_view(kOom).size(); ++length) {
    CAPTURE(length);
    for (const LogFigure& one : read_log(std::string_view(kOom).substr(0, length)).figures) {
      if (one.kind != CaptureKind::bytes) continue;
      CHECK(std::any_of(whole.figures.begin(), whole.figures.end(),
                        [&](const LogFigure& other) { return other.what == one.what && other.bytes == one.bytes; }));
    }
  }
}

TEST_CASE("A message in a comment of a source file is read over its lines") {
  for (const char* mark : {"#", "//", "*", "--"}) {
    const std::string log = std::string(mark) + " The model's max seq len (32768) is larger than the maximum number\n" +
                            mark + " of tokens that can be stored in KV cache (18336).";
    CAPTURE(log);
    CHECK(figure(log, "kv_tokens").number == 18336);
  }
}

TEST_CASE("A unit in brackets before the number is the number's") {
  CHECK(figure("max_memory_allocated(GB): 19.07 | max_memory_reserved(MiB): 512", "peak_allocated_bytes").bytes ==
        20476256584);
  CHECK(figure("max_memory_reserved (MiB): 512", "peak_reserved_bytes").bytes == int64_t{512} << 20);
}

TEST_CASE("A long log is read in bounded work, and its end is not lost") {
  std::string log;
  while (log.size() < (size_t{9} << 20)) log += "step:  1  loss:  7.6  memory: 66.91GiB(37.51%)  tps: 10,050\n";
  log += kOom;
  const LogReading reading = read_log(log);
  CHECK(reading.left_out_bytes > 0);
  CHECK(reading.left_out_figures > 0);
  CHECK(reading.figures.size() < 1000);
  CHECK(std::any_of(reading.figures.begin(), reading.figures.end(),
                    [](const LogFigure& one) { return one.what == "tried_bytes"; }));
}

TEST_CASE("A count may be in thousands, as launchers read lengths") {
  CHECK(figure("vllm serve x --max-model-len 100K --max-num-seqs 16", "max_model_len").number == 102400);
  CHECK(figure("--max-model-len=32k", "max_model_len").number == 32000);
  CHECK(figure("INFO: max_seq_len=4096, kv_cache_dtype=auto", "max_model_len").number == 4096);
}

TEST_CASE("The model of a command is found behind the flags before it") {
  CHECK(figure("$ vllm serve --trust-remote-code -tp 2 \\\n  /models/Qwen3-8B --port 80\nERROR", "model_name").text ==
        "/models/Qwen3-8B");
  CHECK_FALSE(has("vllm serve --help\nstarts a server", "model_name"));
}

TEST_CASE("llama.cpp's short flags are read where one of its programs is given them") {
  const std::string command = "$ llama-server.exe -m a.gguf -c 50000 -b 2048 -ub 512 -np 2 -ngl 99 -ctk q8_0\n";
  for (const auto& [name, value] : std::vector<std::pair<const char*, double>>{
           {"n_ctx", 50000}, {"n_batch", 2048}, {"n_ubatch", 512}, {"n_slots", 2}, {"n_gpu_layers", 99}}) {
    INFO(name);
    CHECK(figure(command, name).number == value);
  }
  CHECK(figure(command, "k_type").text == "q8_0");
  CHECK(figure("cmd=\"/usr/bin/ollama runner --model /a --ctx-size 8192 --batch-size 512\"", "n_batch").number == 512);
  CHECK_FALSE(has("$ ping -c 4 host\nllama-server is started with -c", "n_ctx"));
}

TEST_CASE("A figure may be given as about") {
  CHECK(
      figure("Prefill would require ~2.5 GB peak (current 1 GB + KV+SDPA 1.5 GB) but ceiling is 2 GB", "required_bytes")
          .bytes == 2684354560);
}

TEST_CASE("Ollama's settings say nothing where they are left to it") {
  CHECK(figure("env=\"map[OLLAMA_CONTEXT_LENGTH:8192 OLLAMA_NUM_PARALLEL:2]\"", "n_ctx").number == 8192);
  CHECK(figure("env=\"map[OLLAMA_CONTEXT_LENGTH:8192 OLLAMA_NUM_PARALLEL:2]\"", "n_slots").number == 2);
  CHECK_FALSE(has("env=\"map[OLLAMA_CONTEXT_LENGTH:0 OLLAMA_NUM_PARALLEL:0]\"", "n_ctx"));
  CHECK_FALSE(has("env=\"map[OLLAMA_CONTEXT_LENGTH:0 OLLAMA_NUM_PARALLEL:0]\"", "n_slots"));
}

TEST_CASE("A size of a table is what the heads of its column and of its row say") {
  const std::string runs =
      "| run | GPU peak memory<br>(GB) | Reserved memory | Saved |\n|---|---:|---:|---|\n"
      "| bf16 + activation checkpointing | 35.94 | **56.5 GB** | 4 GB |\n| fp32 | OOM | 57 GB (+1%) | - |\n";
  CHECK(figure(runs, "peak_bytes").bytes == 38590281155);
  CHECK(figure(runs, "reserved_bytes").bytes == 60666413056);
  CHECK(read_log(runs).figures.size() == 3);
  const std::string turned =
      "> | Metric | Before | After | Change |\n> |:--|:--|:--|:--|\n> | Max memory allocated | 12 GB | 9 GB | 3 GB |\n";
  CHECK(figure(turned, "peak_allocated_bytes").bytes == int64_t{12} << 30);
  CHECK(read_log(turned).figures.size() == 2);
  CHECK(figure("|GPU memory|Peak (MB)|\n|--|--|\n|A|1|\n\n||Peak (MB)|\n|--|--|\n|GPU memory|2048|\n", "peak_bytes")
            .bytes == int64_t{2} << 30);
}

TEST_CASE("A table that names no size of what is held is not read") {
  for (const char* table :
       {"| Part | Size |\n|---|---|\n| weights | 14 GB |\n",
        "| Run | Estimated peak memory |\n|---|---|\n| a | 14 GB |\n",
        "| Run | Peak VRAM |\n|---|---|\n| a | 12-14 GB |\n", "| Peak VRAM | Run |\n|---|---|\n| 14 GB | a | b |\n",
        "| Run | Peak VRAM |\n| a | 14 GB |\n"}) {
    CAPTURE(table);
    CHECK(read_log(table).figures.empty());
  }
}

TEST_CASE("The unit of free's table is its command's, or the only one that a host may have") {
  const std::string head = "              total        used        free      shared  buff/cache   available\n";
  CHECK(figure("$ free -m\n" + head + "Mem:         64000       1000       60000  1 2 3\n", "host_total_bytes").bytes ==
        int64_t{64000} << 20);
  CHECK(figure("# free\n" + head + "Mem:       3525156     804168     2720988  1 2 3\n", "host_used_bytes").bytes ==
        int64_t{804168} << 10);
  CHECK(figure(head + "Mem:           251         10         200  1 2 3\n", "host_free_bytes").bytes == int64_t{200}
                                                                                                            << 30);
  CHECK_FALSE(has(head + "Mem:       3525156     804168     2720988  1 2 3\n", "host_total_bytes"));
  CHECK(figure("free -h\n" + head + "Mem: 31Gi 2Gi 20Gi 0Gi 9Gi 28Gi\n", "host_total_bytes").bytes == int64_t{31}
                                                                                                          << 30);
}

TEST_CASE("A table of Slurm's jobs has what they asked for and what their steps used") {
  const std::string rule = "------------ ---------- ---------- ----------\n";
  const std::string head = "JobID            ReqMem     MaxRSS    Elapsed\n" + rule;
  const std::string job = head + "6610                10G              00:13:10\n";
  CHECK(figure(job + "6610.batch               10466336K   00:13:10\n", "host_peak_bytes").bytes == int64_t{10466336}
                                                                                                        << 10);
  CHECK(figure(job, "host_limit_bytes").bytes == int64_t{10} << 30);
  CHECK_FALSE(has(job + "6610.extern         10G              00:13:10\n", "host_peak_bytes"));
  CHECK_FALSE(has(head + "6610.bat+         60Gn              00:13:10\n", "host_peak_bytes"));
  CHECK(figure(head + "6610.bat+         60Gn   4314560K   00:13:10\n", "host_limit_bytes").bytes == int64_t{60} << 30);
  CHECK_FALSE(has(head + "6610.0         4000Mc   4314560K   00:13:10\n", "host_limit_bytes"));
  CHECK(figure("JobID|MaxRSS|State\n12_3.batch|120.5G|FAILED\n", "host_peak_bytes").bytes == 129385889792);
  CHECK_FALSE(has("Jobs by MaxRSS are\n12 of 120.5G\n", "host_peak_bytes"));
}

TEST_CASE("The words around a size say whose it is") {
  CHECK(figure("Low GPU memory (2.5GB free), scaling", "free_bytes").bytes == 2684354560);
  CHECK_FALSE(has("KV cache on the GPU (2.5GB used)", "used_bytes"));
  CHECK(figure("selected GPU 0 with 12001 MiB of free memory.", "free_bytes").bytes == int64_t{12001} << 20);
  CHECK(figure("run model=H100 PCIe precision=bf16 peak_vram_gb=74.64", "peak_bytes").bytes == 80144089743);
  CHECK(figure("| Peak training memory | Allocated: 2 GB |", "peak_allocated_bytes").bytes == int64_t{2} << 30);
  CHECK(figure("| Peak VRAM | 33 GB / 96 GB (63 GB headroom) |", "peak_bytes").bytes == int64_t{33} << 30);
}

TEST_CASE("Statistics below a MiB are in another unit") {
  CHECK_FALSE(has("[('allocated_bytes.all.current', 5861)]", "allocated_bytes"));
  CHECK(figure("'allocated_bytes.all.current': 5861376000", "allocated_bytes").bytes == 5861376000);
}
