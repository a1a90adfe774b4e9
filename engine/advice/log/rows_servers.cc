#include "engine/advice/log/families.h"

namespace vram {
namespace {

// sglang/srt/model_executor/model_runner.py, mem_cache/memory_pool.py, managers/scheduler.py: "GB" is 2^30.
constexpr LogRow kSglang[] = {
    {"TP{n tp_rank}]", "", RowRole::prefix},
    {"TP{n tp_rank} EP{n}]", "", RowRole::prefix},
    {"Init torch distributed ends. ~mem usage={S distributed}"},
    {"Load weight begin. avail mem={S avail_before_weights}", "", RowRole::starts},
    {"Load weight end. $avail mem={S avail_after_weights}^, mem usage={S weights}"},
    {"Load weight end. <!>mem usage={S weights}"},  // as people shorten it
    {"KV Cache <is >allocated. $#tokens: {n kv_tokens}^, K <size: >{S k}^, V <size: >{S v}"},
    {"KV Cache is allocated. $#tokens: {n kv_tokens}^, KV size: {S kv}"},
    {"KV Cache is allocated. K size: {S k}, V size: {S v}"},
    {"max_total_tokens={n} is larger than the profiled value {n kv_tokens}"},
    {"avail_mem={S avail_capturing}"},
    {"KV size: {S kv}"},
    {"K size: {S k}^, V size: {S v}"},
    {"Mamba Cache is allocated. <max_mamba_cache_size: {n mamba_slots}, >$conv_state< size:> {S conv_state}^<,> "
     "ssm_state< size:> {S recurrent}^<,> "
     "intermediate_ssm_state_cache< size:> {S recurrent_drafts}^<,> intermediate_conv_window_cache< size:> "
     "{S conv_drafts}"},
    {"SWAKVPool mem usage: {S kv}"},
    {"max_total_num_token={n kv_tokens}^, max_prefill_num_token={n max_prefill_tokens}", "", RowRole::starts},  // 2024
    {"sliding window memory pool~full_layer_tokens={n kv_tokens_full}^, swa_layer_tokens={n kv_tokens_window}"},
    {"Memory pool end. avail mem={S avail_after_pool}"},
    {"Capture <single-CG ><target ><draft ><extend ><verify ><prefill ><decode ><piecewise ><cuda ><npu ><xpu ><cpu "
     "><graph >begin. <!><This can take up to "
     "several minutes. ><backend=~buckets) >avail mem={S avail_before_graph}"},
    {"Capture <single-CG ><target ><draft ><extend ><verify ><prefill ><decode ><piecewise ><cuda ><npu ><xpu ><cpu "
     "><graph >"
     "<for adaptive state steps={n}, draft_tokens={n} >end. ~mem usage={S cudagraph}^<.><,> avail mem={S free}"},
    {"Capture <single-CG ><target ><draft ><extend ><verify ><prefill ><decode ><piecewise ><cuda ><npu ><xpu ><cpu "
     "><graph >end. ~avail mem={S free}"},
    {"ServerArgs(model_path='{w model_name}'", "", RowRole::starts},
    {"tp_size={n tensor_parallel}"},
    {"pp_size={n pipeline_parallel}"},
    {"context_length={n max_model_len}"},
    {"max_total_num_tokens={n kv_tokens}", "", RowRole::starts},
    {"chunked_prefill_size={n chunked_prefill_size}"},
    {"max_prefill_tokens={n max_prefill_tokens}"},
    {"max_running_requests={n max_running_requests}"},
    {"context_len={n max_model_len}"},
    {"available_gpu_mem={S free}"},
    {"mem_fraction_static={f mem_fraction}"},
    {"rest_memory={S rest}"},
    {"total_rest_memory={S rest}"},
    {"mamba_cache_per_req={S recurrent_per_request}"},
    {"Not enough memory for hybrid (mamba/linear-attention) state cache", "stage=kv", RowRole::starts},
    {"max_mamba_cache_size@{n mamba_slots}"},
    {"--max-mamba-cache-size@{n mamba_slots}"},
    {"Raise --mem-fraction-static above {f mem_fraction_needed}"},
    {"under --mem-fraction-static={f mem_fraction}", "stage=kv"},
    {"--mem-fraction-static@<- \">{f mem_fraction}"},
    {"--chunked-prefill-size@<- \">{n chunked_prefill_size}"},
    {"--max-prefill-tokens@<- \">{n max_prefill_tokens}"},
    {"--max-running-requests@<- \">{n max_running_requests}"},
    {"--context-length@<- \">{n max_model_len}"},
    {"--tp-size@<- \">{n tensor_parallel}"},
    {"--tp@<- \">{n tensor_parallel}"},
    {"Not enough memory. Please try to increase --mem-fraction-static", "stage=kv"},
    {"Not enought memory. Please try to increase --mem-fraction-static", "stage=kv"},
    {"Capture cuda graph failed", "stage=graphs"},
    {"#running-req: {n running}^, #token: {n tokens_used}^, token usage: {f kv_usage}"},
    {"token usage: {f kv_usage}^, #running-req: {n running}^, #queue-req: {n waiting}"},  // of a prefill
    {"swa token usage: {f}"},
    {"#queue-req: {n waiting}"},
    {"Input length ({n requested_tokens} tokens) exceeds the maximum allowed length ({n allowed_tokens} tokens)", "",
     RowRole::starts},
    {"Decode out of memory happened. #retracted_reqs: {n retracted}"},
    {"KV cache pool is full. Retract requests. #retracted_reqs: {n retracted}"},
    {"#running-req: {n running}^, #full token: {n tokens_used}^, full token usage: {f kv_usage}"},
    {"Decode out of memory.$Try to allocate {n tokens_needed} tokens^.$Available tokens: {n tokens_free}", "stage=kv"},
    {"Prefill out of memory.$Try to allocate {n tokens_needed} tokens^.$Available tokens: {n tokens_free}", "stage=kv"},
    {"Failed to allocate memory for {w buffer} with size {B tried} and alignment", "stage=compute",
     RowRole::starts},  // FlashInfer's workspace
    {"The memory capacity is unbalanced. ~min_per_gpu_memory={f}, local_gpu_memory={f}", "unbalanced=1"},
};

// mem_cache/memory_pool_host.py: bytes / 10^9.
constexpr LogRow kSglangHost[] = {
    {"Allocating {S host_kv} host memory for hierarchical KV cache"},
    {"Allocating {S host_recurrent} host memory for hierarchical Mamba cache"},
    {"Allocating {S host_indexer} host memory for DSA indexer"},
    {"Not enough host memory available. Requesting {S host_required} but only have {S host_free} free", "resource=host",
     RowRole::starts},
};

constexpr LogRow kSglangWords[] = {
    {"--mem-fraction-static", "", RowRole::words}, {"mem_fraction_static", "", RowRole::words},
    {"sglang/srt/", "", RowRole::words},           {"sglang.launch_server", "", RowRole::words},
    {"--cuda-graph-max-bs", "", RowRole::words},
};

// tensorrt_llm/cpp: MemUsageChange in MiB; kv_cache_creator of the PyTorch back end in GiB.
constexpr LogRow kTrtllm[] = {
    {"CPU +{M}, GPU +{M gpu_added}, now: CPU {M host_used}, GPU {M used} (MiB)", "", RowRole::starts},
    {"[MemUsageSnapshot] ~: CPU {S host_used}, GPU {S used}", "", RowRole::starts},
    {"TRT CPU/GPU memory allocators: CPU {S host_peak}, GPU {S peak}"},
    {"Engine building and serialization: CPU: {S host_peak}"},
    {"Build phase peak memory: {S host_peak}^, children: {S}"},
    {"Setting PyTorch memory fraction to {f} ({S allowed})"},
    {"tokensPerBlock ({n block_tokens})"},
    {"kv_cache_free_gpu_mem_fraction is not specified, will use default value of {f kv_fraction}"},
    {"Total Weights Memory: {B weights}"},
    {"Total Activation Memory: {B activation}"},
    {"blocks to {n} nodes requiring {B block_assignment} bytes"},
    {"Total Device Persistent Memory: {B persistent}"},
    {"Total Scratch Memory: {B scratch}"},
    {"Max Scratch Memory: {B scratch}"},
    {"TRTGptModel maxBatchSize: {n max_running_requests}"},
    {"TRTGptModel maxNumTokens: {n batch_tokens}"},
    {"TRTGptModel maxSequenceLen: {n max_model_len}"},
    {"Allocate {B kv} bytes for k/v cache"},
    {"Max tokens in paged KV cache: {n kv_tokens}. Allocating {B kv} bytes"},
    {"Using {n kv_tokens} total tokens in paged KV cache"},
    {"Using {n kv_tokens} tokens in paged KV cache"},
    {"Allocated {S kv} for max tokens in paged KV cache ({n kv_tokens})", "", RowRole::starts},
    {"Allocated {S context} for execution context memory"},
    {"Allocated {S runtime} GPU memory for runtime^ buffers"},
    {"Allocated {S decoder} GPU memory for decoder"},
    {"Loaded engine size: {S weights}"},
    {"Memory usage when calculating max tokens in paged kv cache: total: {S capacity}, available: {S free}"},
    {"Number of blocks in KV cache primary pool: {n gpu_blocks}"},
    {"Number of blocks in KV cache secondary pool: {n host_blocks}"},
    {"Number of tokens per block: {n block_tokens}"},
    {"tokens per block={n block_tokens}"},
    {"primary blocks={n gpu_blocks}^, secondary blocks={n host_blocks}^, max sequence length={n max_model_len}"},
    {"to fit in kvCache. they are reduced to {n max_model_len_effective}"},
    {"Max KV cache pages per sequence: {n}"},
    {"Attention workspace size is not enough, increase the size from {B} bytes to {B workspace} bytes"},
    {"max_seq_len@{n max_model_len}"},
    {"max_seq_len is not specified, using inferred value {n max_model_len}"},
    {"Adjusted max_seq_len to {n max_model_len_effective}"},
    {"free_gpu_memory_fraction and max_tokens are set (to {f kv_fraction} and {n}, respectively)"},
    {"free_gpu_memory_fraction@{f kv_fraction}"},
    {"kv_cache_free_gpu_memory_fraction@{f kv_fraction}"},
    {"--kv_cache_free_gpu_memory_fraction@{f kv_fraction}"},
    {"--free_gpu_memory_fraction@{f kv_fraction}"},
    {"--tp_size@{n tensor_parallel}"},
    {"--max_batch_size@{n max_running_requests}"},
    {"trtllm-serve <serve >{m model_name}"},
    {"--max_num_tokens@{n batch_tokens}"},
    {"max_num_tokens@{n batch_tokens}"},
    {"max_batch_size@{n max_running_requests}, <'>max_num_tokens@{n batch_tokens}"},  // of its arguments
    {"--max_seq_len@{n max_model_len}"},
    {"Memory used after loading model weights (inside torch) in memory usage profiling: {S weights}", "",
     RowRole::starts},
    {"Memory used after loading model weights (outside torch) in memory usage profiling: {S outside_torch_after_load}"},
    {"Memory dynamically allocated during inference (inside torch) in memory usage profiling: {S activation}"},
    {"Memory used outside torch (e.g., NCCL and CUDA graphs) in memory usage profiling: {S non_torch}"},
    {"Peak memory during memory usage profiling (torch + non-torch): {S peak}^, available KV cache memory when "
     "calculating max tokens: {S kv}^, fraction is set {f kv_fraction}^, kv size is {n kv_bytes_per_token}"},
    {"device total memory {S capacity}"},
    {"Rank {n rank} uses {S weights} for model weights", "", RowRole::starts},
    {"Use {S weights} for model weights", "", RowRole::starts},
    {"The following component could not be created: {t component}", "oom=1", RowRole::starts},
    {"Total GPU memory (GiB): {G capacity}"},
    {"Free GPU memory before component creation attempt (GiB): {G free}"},
    {"free GPU memory before/after creation (GiB):$Model: {G free_before} / {G free_after_model}"},
    {"tmp kv_mem {S tmp_kv}"},
    {"Estimated max memory in KV cache : {S kv}"},
    {"Estimated max tokens in KV cache : {n kv_tokens}"},
    {"max_num_requests={n max_running_requests}"},
    {"Total Host Persistent Memory: {B host_persistent}"},
    {"Pinned memory pool is created at~with size {B host_pinned}"},  // Triton
    {"CUDA memory pool is created on device {n device} with size {B memory_pool}"},
    {"Requested size was {B tried} bytes", "", RowRole::starts},
    {"Requested amount of GPU memory ({B tried} bytes) could not be allocated", "", RowRole::starts},
    {"[TensorRT-LLM][ERROR] CUDA runtime error in $out of memory", "oom=1", RowRole::starts},
};

// The statistics of an iteration: of the executor's API, of Triton's back end.
constexpr LogRow kTrtllmStatistics[] = {
    {"\"Runtime GPU Memory Usage\" @{B runtime}", "", RowRole::starts},
    {"\"Max KV cache blocks\" @{n gpu_blocks}"},
    {"\"Tokens per KV cache block\" @{n block_tokens}"},
    {"\"gpuMemUsage\" @{B runtime}", "", RowRole::starts},
    {"\"maxNumBlocks\" @{n gpu_blocks}"},
    {"\"tokensPerBlock\" @{n block_tokens}"},
    {"\"pinnedMemUsage\" @{B host_pinned}"},
    {"[TensorRT-LLM]", "", RowRole::words},
    {"[TRT-LLM]", "", RowRole::words},
    {"tensorrt_llm/", "", RowRole::words},
};

constexpr LogRow kTgi[] = {
    {"MAX_BATCH_PREFILL_TOKENS@{n prefill_tokens}", "", RowRole::environment},
    {"MAX_BATCH_TOTAL_TOKENS@{n kv_tokens}", "", RowRole::environment},
    {"MAX_TOTAL_TOKENS@{n max_model_len}", "", RowRole::environment},
    {"NUM_SHARD@{n tensor_parallel}", "", RowRole::environment},
    {"CUDA_MEMORY_FRACTION@{f utilization}", "", RowRole::environment},
    {"text_generation_launcher", "", RowRole::prefix},
    {"text_generation_router", "", RowRole::prefix},
    {"text_generation_client", "", RowRole::prefix},
    {"warmup~max_prefill_tokens={n prefill_tokens}"},
    {"--max-batch-prefill-tokens@<- \">{n prefill_tokens}"},
    {"--max-batch-total-tokens@<- \">{n kv_tokens}"},
    {"--max-total-tokens@<- \">{n max_model_len}"},
    {"--num-shard@<- \">{n tensor_parallel}"},
    {"--cuda-memory-fraction@<- \">{f utilization}"},
    {"cuda_memory_fraction: {f utilization}"},
    {"model_id: \"{w model_name}\""},
    {"max_batch_prefill_tokens: <Some(>{n max_batch_prefill_tokens}"},
    {"max_batch_total_tokens: <Some(>{n max_batch_total_tokens}"},
    {"Default max-batch-prefill-tokens to {n prefill_tokens}"},
    {"Not enough memory to handle {n total_tokens} total tokens with {n prefill_tokens} prefill tokens", "stage=kv",
     RowRole::starts},
    {"Not enough memory to handle {n prefill_tokens} prefill tokens", "stage=kv", RowRole::starts},
    {"Default max_batch_prefill_tokens to {n prefill_tokens}"},
    {"Setting max batch total tokens to {n kv_tokens}"},
    {"Not enough memory to handle max_total_tokens={n max_model_len}", "stage=kv", RowRole::starts},
    {"Reducing the max batch prefill from {n} to {n prefill_tokens}"},
    {"signaled to shutdown with signal 9", "resource=host"},
    {"KV-cache blocks: {n kv_tokens}, size: 1"},
    {"max_total_tokens: <Some(>{n max_model_len}"},
    {"num_shard: <Some(>{n tensor_parallel}"},
    {"Inferred max batch total tokens: {n kv_tokens}"},
    {"Free memory before the warmup: {S free_before}", "", RowRole::starts},
    {"Free memory after allocating the cache: {S free_after_kv}"},
    {"Total memory used for CUDA graphs: {S cudagraph}"},
    {"Total memory available: {S free}"},
    {"Free memory on device <cuda:{n device}><hpu>: {B free} bytes"},
    {"Not enough memory to run following prefill", "stage=kv", RowRole::starts},
    {"Not enough memory to warmup decode", "stage=kv", RowRole::starts},
    {"text_generation_server/", "", RowRole::words},
    {"--max-batch-prefill-tokens", "", RowRole::words},
    {"Unable to warmup model", "", RowRole::words},
};

// server/text_generation_server/models/flash_causal_lm.py: bytes / 10^9.
constexpr LogRow kTgiDecimal[] = {
    {"Free memory {S free} , (real: {S free_real}"},
    {"Free RAM before cuda graph {n} {S free}"},
    {"Free RAM after cuda graphs {S free}"},
};

constexpr LogRow kLmdeploy[] = {
    {"block_size = {S block}", "", RowRole::starts},
    {"max_block_count = {n gpu_blocks}"},
    {"Object cache budget: {S kv} from free {S free} and ratio {f kv_fraction}", "", RowRole::starts},
    {"Adjusting block_count: free_before {S free_before}, linear {S recurrent}, target {S kv}"},
    {"Adjusted block_count to {n gpu_blocks}"},
    {"max cached tokens: {n kv_tokens}"},
    {"TurbomindEngineConfig(~tp={n tensor_parallel}"},
    {"PytorchEngineConfig(~tp={n tensor_parallel}"},
    {"CacheConfig(<max_batches={n max_num_seqs}, >block_size={n block_tokens}, num_cpu_blocks={n cpu_blocks}, "
     "num_gpu_blocks={n gpu_blocks}",
     "", RowRole::starts},
    {"session_len@{n max_model_len}"},
    {"session_len is not set, default to {n max_model_len}"},
    {"exceeds session_len ({n max_model_len})"},
    {"--session-len@<- \">{n max_model_len}"},
    {"cache_max_entry_count@{f kv_fraction}"},
    {"cache_max_entry_count is not set, default to {f kv_fraction}"},
    {"--cache-max-entry-count@<- \">{f kv_fraction}"},
    {"cache_block_seq_len@{n block_tokens}"},
    {"cache_block_seq_len is not set, default to {n block_tokens}"},
    {"--cache-block-seq-len@<- \">{n block_tokens}"},
    {"max_batch_size is not set, default to {n max_num_seqs}"},
    {"max_batch_size@{n max_num_seqs} <\">session_len@{n max_model_len}"},  // its config.ini
    {"lmdeploy serve api_server {m model_name}"},
    {"lmdeploy serve gradio {m model_name}"},
    {"lmdeploy chat <turbomind ><torch >{m model_name}"},
    {"--max-batch-size@<- \">{n max_num_seqs}"},
    {"max_prefill_token_num@{n batch_tokens}"},
    {"--max-prefill-token-num@<- \">{n batch_tokens}"},
    {"No enough blocks for session_len ({n max_model_len}), session_len truncated to {n max_model_len_effective}"},
    {"session_len truncated to {n max_model_len_effective} due to limited KV cache memory"},
    {"Linear-state memory ({S recurrent}) >= cache budget ({S budget})", "stage=kv", RowRole::starts},
    {"linear-state combined total: {S recurrent}"},
    {"minimal free gpu memory: {S free}"},
    {"estimated max runtime memory: {S activation}"},
    {": free: {S free}, total: {S capacity}, used: {S used}"},
    {"No enough gpu memory for kv cache", "stage=kv", RowRole::starts},
    {"No enough gpu memory for state cache", "stage=kv", RowRole::starts},
    {"No enough gpu memory for runtime", "stage=compute", RowRole::starts},
    {"[TM][ERROR] CUDA runtime error: out of memory", "oom=1", RowRole::starts},
    {"lmdeploy/turbomind/", "", RowRole::words},
    {"lmdeploy/pytorch/", "", RowRole::words},
    {"cache_max_entry_count", "", RowRole::words},
};

constexpr LogRow kMlc[] = {
    {"The available single GPU memory is {S budget}, which is less than the sum of model weight size ({S weights}) and "
     "temporary buffer size ({S activation})",
     "", RowRole::starts},
    {"Estimated total single GPU memory usage: {S total} (Parameters: {S weights}^. KVCache: {S kv}^. Temporary "
     "buffer: "
     "{S activation}",
     "", RowRole::starts},
    {"Total memory usage< without KV cache>: {S total} (Parameters: {S weights}^<. KVCache: {S}>^. Temporary buffer: "
     "{S activation}",
     "", RowRole::starts},
    {"context_window_size@{n max_model_len}"},
    {"context-window-size@{n max_model_len}"},
    {"prefill_chunk_size@{n batch_tokens}"},
    {"prefill-chunk-size@{n batch_tokens}"},
    {"max_num_sequence@{n max_num_seqs}"},
    {"max_total_seq_length@{n kv_tokens}"},
    {"tensor_parallel_shards@{n tensor_parallel}"},
    {"--tensor-parallel-shards@{n tensor_parallel}"},
    {"mlc_llm serve {m model_name}"},
    {"mlc_llm chat {m model_name}"},
    {"max_total_sequence_length@{n kv_tokens}"},
    {"max KV cache token capacity is {n kv_tokens}"},
    {"KV cache size: {S kv_bytes_per_token} per token in the context window"},
    {"Total memory usage with a {w} KV cache: {S total_with_kv}"},
};

constexpr LogRow kLmStudio[] = {
    {"requires approximately {S required}^ of memory", "", RowRole::starts},
    {"Estimated GPU Memory: {S required_gpu}", "", RowRole::starts},  // lms load --estimate-only
    {"Estimated Total Memory: {S required}"},
    {"Model load size estimate with ~ context length '{n n_ctx}'^: Model: {S weights}^ Context: {S kv}^ Total: {S "
     "required}",
     "", RowRole::starts},
    {"requires approximately NaN", "unread=required_bytes", RowRole::starts},
};

constexpr LogRow kExllama[] = {{"Insufficient VRAM", "oom=1;stage=weights"},
                               {"configured max_seq_len: {n max_model_len} tokens"},  // tabbyAPI
                               {"default max_seq_len from model: {n max_model_len} tokens"},
                               {"max_seq_len is undefined. Defaulting to {n max_model_len} tokens"},
                               {"max_seq_len is undefined. Overriding to {n max_model_len} tokens"},
                               {"configured cache_size: {n kv_tokens} tokens"},
                               {"cache_size is undefined. Defaulting to {n kv_tokens} tokens"},
                               {"The given cache_size ({n kv_tokens}) is"},
                               {"exllamav2/", "", RowRole::words},
                               {"exllamav3/", "", RowRole::words}};

// intel_gpu/src/runtime/engine.cpp: bytes.
constexpr LogRow kOpenVino[] = {
    {"Exceeded max size of memory <object >allocation: requested {B tried} bytes^<,> but max alloc size <supported by "
     "device >is {B max_buffer} bytes",
     "", RowRole::starts},
};

// Of a server or a trainer, whichever it starts.
constexpr LogRow kCommand[] = {
    {"--model@<- \">{w model_name}"},           {"--model-id@<- \">{w model_name}"},
    {"--model-path@<- \">{w model_name}"},      {"--model_name_or_path@<- \">{w model_name}"},
    {"model_name_or_path: <\">{w model_name}"}, {"model_name_or_path='{w model_name}'"},
    {"--base_model@<- \">{w model_name}"},
};

constexpr LogRow kKtransformers[] = {{"cache_lens@{n kv_tokens}"}, {"--cache_lens@<- \">{n kv_tokens}"}};

// What means something else where the log is SGLang's.
constexpr LogRow kSglangFlags[] = {
    {"--max-total-tokens@<- \">{n kv_tokens}"},
    {"--dp-size@<- \">{n data_parallel}"},
    {"--pp-size@<- \">{n pipeline_parallel}"},
    {"sglang serve", "", RowRole::words},
};

// src/utils/kvcache_allocator.rs; formerly vllm.rs
constexpr LogRow kXinfer[] = {
    {"KVCache Allocation: {n gpu_blocks} GPU blocks ({S kv}), max usable kvcache tokens {n kv_tokens}^, scheduling "
     "limits [{n max_num_seqs} seqs x {n max_model_len} tokens]",
     "", RowRole::starts},
    {"Default pool usage: {S used} (current), {S peak} (peak)"},
};

constexpr LogFamily kFamilies[] = {{"SGLang", Gigabyte::binary, kSglang},
                                   {"SGLang", Gigabyte::decimal, kSglangHost},
                                   {"KTransformers", Gigabyte::binary, kKtransformers},
                                   {"SGLang", Gigabyte::binary, kSglangWords},
                                   {"TensorRT-LLM", Gigabyte::binary, kTrtllm},
                                   {"TensorRT-LLM", Gigabyte::binary, kTrtllmStatistics},
                                   {"TGI", Gigabyte::binary, kTgi},
                                   {"TGI", Gigabyte::decimal, kTgiDecimal},
                                   {"SGLang", Gigabyte::binary, kSglangFlags},
                                   {"LMDeploy", Gigabyte::binary, kLmdeploy},
                                   {"MLC-LLM", Gigabyte::binary, kMlc},
                                   {"xinfer", Gigabyte::binary, kXinfer},
                                   {"LM Studio", Gigabyte::decimal, kLmStudio},
                                   {"ExLlama", Gigabyte::binary, kExllama},
                                   {"OpenVINO", Gigabyte::binary, kOpenVino},
                                   {"command line", Gigabyte::binary, kCommand}};

}  // namespace

std::span<const LogFamily> server_families() { return kFamilies; }

}  // namespace vram
