#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/advice/recognise.h"

using namespace vram;

TEST_CASE("Blank text is nothing") {
  CHECK(recognise("") == Pasted::nothing);
  CHECK(recognise(" \n\t\r\n") == Pasted::nothing);
}

TEST_CASE("Links and share strings") {
  CHECK(recognise("v=1&gpus=8") == Pasted::share);
  CHECK(recognise("  model=llama-2-7b\n") == Pasted::share);
  CHECK(recognise("#v=1&tp=2") == Pasted::share);
  CHECK(recognise("https://example.org/vram/#v=1&model=llama-2-7b") == Pasted::share);
  CHECK(recognise("https://example.org/?a=b") == Pasted::unknown);
}

TEST_CASE("JSON is told apart by its members") {
  CHECK(recognise(R"({"model_type": "llama", "hidden_size": 4096})") == Pasted::config);
  CHECK(recognise(R"({"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}})") == Pasted::launch);
  CHECK(recognise(R"({"allocated_bytes.all.peak": 123})") == Pasted::log);
  CHECK(recognise("{") == Pasted::config);  // whose reader says what is wrong
}

TEST_CASE("Launch commands and configurations") {
  for (const char* text :
       {"vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size 2",
        "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 2", "./llama-server -m model.gguf -c 8192",
        "OLLAMA_NUM_PARALLEL=4 ollama serve", "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32",
        "[parallelism]\ntensor_parallel_degree = 8", "distributed_type: FSDP\nnum_processes: 8"}) {
    INFO(text);
    CHECK(recognise(text) == Pasted::launch);
  }
}

TEST_CASE("What a program printed is a log, also where it names its command") {
  CHECK(recognise("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.") == Pasted::log);
  CHECK(recognise("INFO 11-02 10:00:00 api_server.py:1] vllm serve x\nERROR 11-02 torch") == Pasted::log);
  CHECK(recognise("| NVIDIA-SMI 550.54 |") == Pasted::log);
}

TEST_CASE("Anything else is unknown") {
  CHECK(recognise("hello") == Pasted::unknown);
  CHECK(recognise("ls -la | grep x") == Pasted::unknown);
  CHECK(recognise(std::string(1 << 20, 'a')) == Pasted::unknown);
}
