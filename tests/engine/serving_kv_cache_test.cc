#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/plan/plan.h"
#include "engine/serving/cache_blocks.h"
#include "engine/serving/kv_cache.h"
#include "engine/serving/serving.h"

using vram::ServingBill;

namespace {

ServingBill bill_of(const std::string& share) { return vram::serving_bill(vram::read_plan(share).plan); }

uint64_t request(const std::string& share) { return bill_of(share).kv_bytes_per_request.value_or(0); }

uint64_t line(const ServingBill& bill, std::string_view id) {
  for (const vram::Line& line : bill.lines) {
    if (id == line.id) return line.bytes;
  }
  return 0;
}

// 80 layers, 64 query heads of 128: the article's 70B-class model.
const std::string kEighty = "model=custom&layers=80&hidden=8192&heads=64&head_dim=128&prompt=128000&output=0&kv=bf16";

}  // namespace

TEST_CASE("A request's KV is 2 x layers x KV heads x head size x tokens x bytes", "[serving]") {
  CHECK(request("model=llama-2-7b&prompt=8192&output=0&kv=fp16") == 4294967296);  // 2 * 32 * 32 * 128 * 8192 * 2
  CHECK(request(kEighty + "&kv_heads=64") == 335544320000);                       // MHA
  CHECK(request(kEighty + "&kv_heads=8") == 41943040000);                         // GQA
  CHECK(request(kEighty + "&kv_heads=1") == 5242880000);                          // MQA
}

TEST_CASE("KV heads default to the query heads", "[serving]") {
  CHECK(request(kEighty) == request(kEighty + "&kv_heads=64"));
}

TEST_CASE("The KV line of an engine that does not preallocate is that of `concurrency` requests", "[serving]") {
  const char* thirteen = "model=llama-1-13b&engine=generic&concurrency=4&prompt=2048&output=0&kv=fp16";
  CHECK(line(bill_of(thirteen), "kv_cache") == 6710886400);
  const ServingBill hundred = bill_of("model=llama-2-7b&engine=generic&concurrency=100&prompt=8192&output=0&kv=fp16");
  CHECK(line(hundred, "kv_cache") == 429496729600);  // although it exceeds the card
  CHECK(hundred.verdict == vram::Verdict::exceeds);
}

TEST_CASE("A static server reserves the longest request for every slot", "[serving]") {
  const ServingBill bill =
      bill_of("model=llama-2-7b&engine=static&concurrency=3&prompt=100&output=10&max_len=4096&kv=fp16");
  CHECK(line(bill, "kv_cache") == 3ull * 524288 * 4096);
}

TEST_CASE("Tensor parallelism divides KV heads and, beyond them, repeats one", "[serving]") {
  struct Row {
    const char* gpus;
    uint64_t per_gpu;
  };
  const Row rows[] = {{"1", 327680}, {"8", 40960}, {"16", 40960}};  // 8 KV heads
  for (const Row& row : rows) {
    INFO(row.gpus);
    const ServingBill bill =
        bill_of(std::string("model=llama-3-70b&kv=bf16&serve_gpus=") + row.gpus + "&serve_tp=" + row.gpus);
    CHECK(bill.kv_bytes_per_token == 327680);
    CHECK(bill.kv_bytes_per_token_per_gpu == row.per_gpu);
  }
}

TEST_CASE("Keys and values may be of two types, a latent is of the keys'", "[serving]") {
  const std::string gqa = "model=llama-3.1-8b&engine=llamacpp&max_len=4096&prompt=4096&output=0";
  CHECK(request(gqa + "&kv=q8_0") == 4096ull * 32 * 2 * 1024 * 34 / 32);  // blocks of 32 in 34 bytes
  CHECK(request(gqa + "&kv=q8_0&kv_values=q4_0") == 4096ull * 32 * 1024 * (34 + 18) / 32);
  CHECK(request(gqa + "&kv=q8_0&kv_values=fp16") == 4096ull * 32 * 1024 * (34 + 64) / 32);
  // Keys of 192 elements in 2 bytes, values of 128 in one.
  const char* wide = "model=custom&layers=3&hidden=1024&heads=4&kv_heads=4&head_dim=192&v_head_dim=128&kv_values=fp8";
  CHECK(request(std::string(wide) + "&engine=generic&prompt=1000&output=0") == 1000ull * 3 * 4 * (192 * 2 + 128));
  for (const char* engine : {"vllm", "sglang", "trtllm"}) {  // have one type for both
    const std::string one = std::string("model=llama-3.1-8b&prompt=4096&output=0&kv=fp8&engine=") + engine;
    CHECK(request(one + "&kv_values=bf16") == request(one));
  }
  const std::string latent = "model=deepseek-v3&engine=llamacpp&kv=q8_0";
  CHECK(request(latent + "&kv_values=fp16") == request(latent));
}

TEST_CASE("A latent is one tensor, whole on every tensor-parallel rank", "[serving]") {
  // DeepSeek-V2 (arXiv 2405.04434), table 1: (512 + 64) * 61 layers * 2 B
  const ServingBill one = bill_of("model=deepseek-v3&kv=bf16");
  CHECK(one.kv_bytes_per_token == 70272);
  const ServingBill eight = bill_of("model=deepseek-v3&kv=bf16&gpu=h200-sxm-141gb&serve_gpus=8&serve_tp=8");
  CHECK(eight.kv_bytes_per_token == 70272);
  CHECK(eight.kv_bytes_per_token_per_gpu == 70272);
  CHECK(bill_of("model=deepseek-v3&kv=fp8").kv_bytes_per_token == 35136);
}

TEST_CASE("What FlashMLA reads in fp8 has scales and a rotary part in 16 bit", "[serving]") {
  // 61 layers of 512 + 4 x 4 + 64 x 2 B and the indexer's 128 + 4
  const std::string sparse = "model=deepseek-v3.2&kv=fp8";
  for (const char* gpu : {"&gpu=h200-sxm-141gb", "&gpu=dgx-spark-gb10&engine=sglang"})
    CHECK(bill_of(sparse + gpu).kv_bytes_per_token == 61 * (656 + 132));
  for (const char* other : {"&gpu=b300-288gb", "&gpu=mi300x-192gb&engine=sglang", "&engine=trtllm"})
    CHECK(bill_of(sparse + other).kv_bytes_per_token == 61 * (576 + 132));
}

TEST_CASE("A sliding layer keeps its window", "[serving]") {
  const std::string mistral = "model=mistral-7b-v0.1&prompt=16384&output=0&kv=bf16&engine=generic";
  CHECK(request(mistral) == 536870912);
  CHECK(request(mistral + "&window=0") == 2147483648);
  const ServingBill bill = bill_of(mistral);
  CHECK(bill.kv_bytes_per_token == 131072);
  CHECK(bill.kv_bytes_per_token_beyond_window == 0);
}

TEST_CASE("llama.cpp keeps of a window one micro-batch more, in whole cells of 256", "[serving]") {
  const auto cache = [](const std::string& share) {
    return line(bill_of("engine=llamacpp&kv=fp16&output=0&" + share), "kv_cache");
  };
  const uint64_t full = 12ull * 2 * 8 * 64 * 2, sliding = full;  // bytes a token, gpt-oss-20b: 12 and 12 layers
  CHECK(cache("model=gpt-oss-20b&prompt=4096&flash=0") == 4096 * full + 640 * sliding);  // start-up log: 96 + 15 MiB
  CHECK(cache("model=gpt-oss-20b&prompt=4096") == 4096 * full + 768 * sliding);          // padded to 256
  // Slots of their own: 384 + 96 MiB of 8 x 2048 tokens with a micro-batch of 256 (start-up log)
  CHECK(cache("model=gpt-oss-20b&prompt=2048&concurrency=8&ubatch=256") == 480ull << 20);
  // One cache for all slots has one micro-batch beyond all windows: 4 x 128 + 512 cells.
  CHECK(cache("model=gpt-oss-20b&prompt=4096&concurrency=4&unified=1") == 4 * 4096 * full + 1024 * sliding);
  CHECK(cache("model=gpt-oss-20b&prompt=128") == 256 * (full + sliding));  // nothing has left a window
}

TEST_CASE("llama.cpp keeps no windows where every layer has one", "[serving]") {
  const auto cache = [](const char* model) {
    return line(bill_of(std::string("engine=llamacpp&kv=fp16&output=0&prompt=4096&model=") + model), "kv_cache");
  };
  CHECK(cache("phi-3-mini-4k") == 1536ull << 20);  // start-up log
}

TEST_CASE("sglang's pool of windows has 0.8 of the tokens", "[serving]") {
  const ServingBill bill = bill_of("model=gpt-oss-20b&engine=sglang&kv=bf16&measured_kv_pool=10&prompt=8000&output=0");
  const double token = 12.0 * 2 * 8 * 64 * 2;
  CHECK(*bill.kv_tokens == static_cast<uint64_t>(10 * 1073741824.0 / (token * 1.8)));
  CHECK(*bill.kv_bytes_per_request == static_cast<uint64_t>(8000 * token + 6400 * token));
  // Of models that have no such pool every layer keeps every token.
  CHECK(bill_of("model=gemma-3-4b&engine=sglang&kv=bf16").kv_bytes_per_token_beyond_window ==
        bill_of("model=gemma-3-4b&engine=sglang&kv=bf16").kv_bytes_per_token);
}

TEST_CASE("trtllm's layers all have the longest request's window") {
  // gpt-oss-120b on TensorRT-LLM 1.1: "kv size is 73728", 5.95 GiB for 86,720 tokens
  const ServingBill bill = bill_of("model=gpt-oss-120b&engine=trtllm&kv=bf16&measured_kv_pool=5.9546&max_len=131072");
  CHECK(bill.kv_bytes_per_token == 73728);
  CHECK(bill.kv_bytes_per_token_beyond_window == 73728);
  CHECK(*bill.kv_tokens == 86720);
}

TEST_CASE("llama.cpp keeps a state for every token that it drafts") {
  // Qwen3.5-27B's shape: 149.62 MiB, and 598.50 with "3 rs_seq"
  const std::string share = "model=qwen3.5-27b&engine=llamacpp&prompt=1&output=0&kv=bf16";
  const auto states = [](const std::string& of) {
    const ServingBill bill = bill_of(of);
    return line(bill, "kv_cache") - 256 * *bill.kv_bytes_per_token;
  };
  CHECK(states(share) == 156893184);
  CHECK(states(share + "&draft_tokens=3") == 4 * 156893184);
}

TEST_CASE("A window caps what its layers keep, however long the request", "[serving]") {
  for (const char* engine : {"generic", "static", "vllm", "llamacpp"}) {
    const std::string share = std::string("model=gemma-3-4b&kv=bf16&max_len=1000000&batch_tokens=512&engine=") + engine;
    const uint64_t at_64k = request(share + "&output=0&prompt=65536"),
                   at_128k = request(share + "&output=0&prompt=131072");
    INFO(engine);
    CHECK(at_128k - at_64k == 65536 * *bill_of(share).kv_bytes_per_token_beyond_window);
  }
}

TEST_CASE("A quantised KV cache is priced with its scales", "[serving]") {
  struct Row {
    const char* format;
    double mebibytes;
  };
  // llama.cpp, Llama-3.2-3B at 4096 tokens, one of K and V times 2: 448 MiB in f16, 238 in q8_0 ...
  const Row rows[] = {{"fp16", 448}, {"q8_0", 238}, {"q5_1", 168}, {"q5_0", 154}, {"q4_1", 140}, {"q4_0", 126}};
  for (const Row& row : rows) {
    INFO(row.format);
    const std::string share = std::string("model=llama-3.2-3b&engine=llamacpp&prompt=4096&output=0&kv=") + row.format;
    CHECK(static_cast<double>(request(share)) == row.mebibytes * 1048576);
  }
}

TEST_CASE("Builds of llama.cpp before windows had a cache keep every token", "[serving]") {
  // Llama 4 Scout at 64000: 48 layers of 8 x 128, 12 of them full; 12000.00 MiB in a log
  const std::string share = "model=llama-4-scout-17b-16e&engine=llamacpp&prompt=64000&output=0&kv=bf16&engine_version=";
  CHECK(request(share + "b5092") == 12000ull * 1048576);
  CHECK(request(share + "2025-06") < 5000ull * 1048576);
}

TEST_CASE("vllm kept the chunks of Llama 4's local layers through 2025", "[serving]") {
  // 48 layers of one head of 128 on each of 8 GPUs: 240.00 GiB for 10,485,760 tokens in a log of 0.9
  const std::string share = "model=llama-4-scout-17b-16e&serve_tp=8&prompt=10485760&output=0&engine_version=";
  const auto a_token = [&share](const char* version) {
    const vram::PlanReading reading = vram::read_plan(share + version);
    return vram::serving_bill(reading.plan).kv_bytes_per_token_beyond_window.value_or(0);
  };
  CHECK(a_token("0.9.2") == 48ull * 8 * 128 * 2 * 2);
  CHECK(a_token("0.13.0") == 12ull * 8 * 128 * 2 * 2);
}

TEST_CASE("Builds of llama.cpp differ in what they cache of latent attention", "[serving]") {
  // DeepSeek-V3 at 2048: 61 layers of 128 heads of 192 and 128 (9.5 GiB in a log of 2025-01), of 576 and 512, of 576
  const std::string share = "model=deepseek-v3&engine=llamacpp&prompt=2048&output=0&kv=bf16&engine_version=";
  CHECK(request(share + "2025-01") == 61ull * 2048 * 128 * (192 + 128) * 2);
  CHECK(request(share + "b6000") == 61ull * 2048 * (576 + 512) * 2);
  for (const char* alone : {"2026-06", "b9000", ""}) CHECK(request(share + alone) == 61ull * 2048 * 576 * 2);
}

TEST_CASE("KV comes in whole blocks", "[serving]") {
  const std::string share = "model=llama-3.1-8b&prompt=1000&output=1&kv=bf16";
  CHECK(request(share) == 1008ull * 131072);  // vllm: 16
  CHECK(request(share + "&engine=trtllm") == 1024ull * 131072);
  CHECK(request(share + "&engine=sglang") == 1001ull * 131072);
}

TEST_CASE("A shared prefix lies in the pool once", "[serving]") {
  const std::string share = "model=llama-3.1-8b&engine=generic&prompt=2000&output=0&concurrency=10&prefix=1000&kv=bf16";
  CHECK(line(bill_of(share), "kv_cache") == (1000 + 10 * 1000) * 131072ull);
  CHECK(line(bill_of(share + "&prefix_hit=0.5"), "kv_cache") == (1000 + 10 * 1500) * 131072ull);
  CHECK(line(bill_of(share + "&prefix_hit=0"), "kv_cache") == 10 * 2000 * 131072ull);
}

TEST_CASE("A draft layer caches like a layer of the model", "[serving]") {
  // vllm with EAGLE on Llama-3.1-8B: 33 layers, 135168 B a token
  CHECK(bill_of("model=llama-3.1-8b&kv=bf16&draft_layers=1&draft_tokens=3&acceptance=0.7").kv_bytes_per_token ==
        135168);
}

TEST_CASE("KV grows with the tokens, never shrinks", "[serving]") {
  for (const char* model : {"llama-3.1-8b", "mistral-7b-v0.1", "deepseek-v3", "gpt-oss-20b"}) {
    for (const char* engine : {"generic", "vllm", "llamacpp", "trtllm", "sglang"}) {
      uint64_t before = 0;
      for (int tokens = 16; tokens < 40000; tokens *= 3) {
        const std::string share = std::string("model=") + model + "&engine=" + engine + "&output=0&prompt=";
        const uint64_t bytes = request(share + std::to_string(tokens));
        INFO(share << tokens);
        CHECK(bytes >= before);
        before = bytes;
      }
    }
  }
}

TEST_CASE("a request's cache is proportional to the bits of its format, whatever they are", "[serving]") {
  for (const char* model : {"gemma-3-27b", "gemma-3-12b", "llama-3.1-8b"}) {
    const std::string share = std::string("model=") + model + "&kv=";
    INFO(share);
    CHECK(request(share + "mxfp8") * 32 == request(share + "fp8") * 33);  // 8 + 8/32 bits against 8
  }
}

TEST_CASE("vllm keeps recurrent states in the model's type where the model asks for no other", "[serving]") {
  // Start-up logs raise a block to 544 tokens of Qwen3-Next on two GPUs, to 784 of Qwen3.5-27B, to 944 of Kimi-Linear.
  const auto tokens_a_block = [](const std::string& share) {
    const vram::Plan plan = vram::read_plan(share).plan;
    const vram::Replica replica = vram::replica_of(plan);
    return vram::block_tokens(plan, vram::cache_groups(plan, replica, vram::whole_model(plan)));
  };
  CHECK(tokens_a_block("model=qwen3-next-80b-a3b&serve_tp=2") == 544);
  CHECK(tokens_a_block("model=qwen3.5-27b") == 784);
}

TEST_CASE("llama.cpp's states are all in fp32", "[serving]") {
  const auto state_mib = [](const std::string& share) {
    for (const vram::Line& line : bill_of("engine=llamacpp&" + share).request_lines)
      if (std::string(line.id) == "state") return static_cast<double>(line.bytes) / 1048576;
    return 0.0;
  };
  CHECK(state_mib("model=qwen3-next-80b-a3b") == 75.375);  // 301.50 MiB of four slots
  CHECK(state_mib("model=qwen3.5-27b") == 149.625);        // 149.62
}
