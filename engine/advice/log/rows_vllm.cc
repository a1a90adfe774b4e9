#include "engine/advice/log/families.h"

namespace vram {
namespace {

// vllm/worker/worker.py (0.3 to 0.9), v1/worker/gpu_worker.py, v1/core/kv_cache_utils.py (to 0.29), vllm-ascend:
// "GB" and "MB" are binary.
constexpr LogRow kVllm[] = {
    {"(Worker_TP{n tp_rank}", "", RowRole::prefix},
    {"(Worker_DP{n}_TP{n tp_rank}", "", RowRole::prefix},
    {"(Worker_PP{n}_TP{n tp_rank}", "", RowRole::prefix},
    {"(EngineCore", "", RowRole::prefix},
    {"(Worker pid", "", RowRole::prefix},
    {"(VllmWorkerProcess", "", RowRole::prefix},
    {"(VllmWorker TP{n tp_rank}", "", RowRole::prefix},
    {"(VllmWorker rank={n rank}", "", RowRole::prefix},
    {"vLLM API server version {w engine_version}"},
    {"LLM engine ({w engine_version})"},
    {"with config: model@{w model_name}@", "", RowRole::starts},
    {"model='{w model_name}', speculative_config", "", RowRole::starts},  // of the same line, cut off before
    {"model='{w model_name}', tokenizer=", "", RowRole::starts},
    {"max_seq_len={n max_model_len}"},
    {"tensor_parallel_size<'>@{n tensor_parallel}"},
    {"pipeline_parallel_size<'>@{n pipeline_parallel}"},
    {"data_parallel_size<'>@{n data_parallel}"},
    {"kv_cache_dtype@{w kv_type}"},
    // the arguments it was started with
    {"'model': '{w model_name}'", "", RowRole::starts},
    {"max_model_len@{n max_model_len}"},
    {"max_num_seqs@{n max_num_seqs}"},
    {"max_num_batched_tokens@{n batch_tokens}"},
    {"gpu_memory_utilization@{f utilization}"},
    {"gpu_memory_utilization ({f utilization})"},
    {"block_size={n block_tokens},"},
    {"'block_size': {n block_tokens},"},
    {"\"gpu_memory_per_device\": {B capacity}"},  // what it tells its makers
    // the command it was started with, as a shell, a list in JSON or one in YAML has it
    {"vllm serve {m model_name}"},
    {"aphrodite run {m model_name}"},
    {"aphrodite serve {m model_name}"},
    {"--max-model-len@<- \">{n max_model_len}"},
    {"--max-num-seqs@<- \">{n max_num_seqs}"},
    {"--max-num-batched-tokens@<- \">{n batch_tokens}"},
    {"--gpu-memory-util<ization>@<- \">{f utilization}"},
    {"--tensor-parallel-size@<- \">{n tensor_parallel}"},
    {"-tp@<- \">{n tensor_parallel}"},
    {"-dp@<- \">{n data_parallel}"},
    {"-pp@<- \">{n pipeline_parallel}"},
    {"--kv-cache-dtype@<- \">{w kv_type}"},
    {"--data-parallel-size@<- \">{n data_parallel}"},
    {"--pipeline-parallel-size@<- \">{n pipeline_parallel}"},
    {"--block-size@<- \">{n block_tokens}"},
    {"gpu-memory-utilization@{f utilization}"},
    {"-gmu@<- \">{f utilization}"},  // Aphrodite
    {"swap_space={G swap},"},
    {"--swap-space@<- \">{G swap}"},
    {"kv_cache_memory_bytes@{B kv}"},
    {"attention block size to {n block_tokens} tokens"},
    {"Block size is set to {n block_tokens}"},
    {"Using max model len {n max_model_len}"},
    {"The model has a long context length ({n max_model_len})"},
    {"maximum context length <of >{n max_model_len} tokens"},
    {"maximum context length is {n max_model_len} tokens^. However, you requested {n requested_tokens} tokens"},
    {"longer than the maximum model length of {n max_model_len}"},
    // weights
    {"Loading model weights took {S weights}"},
    {"Model loading took {S weights}^< memory> and {f} seconds"},
    // the profile run
    {"the current vLLM instance can use total_gpu_memory ({S capacity}) x gpu_memory_utilization ({f utilization}) = "
     "{S budget}",
     "", RowRole::starts},
    {"total_gpu_memory<=> {S capacity}"},
    {"gpu_memory_utilization<=> {f utilization}"},
    {"the current vLLM instance can use {S budget}"},
    {"model weights take {S weights}"},
    {"non_torch_memory< takes><=> {S non_torch}"},
    {"PyTorch activation peak memory< takes> {S activation}"},
    {"the rest of the memory reserved for KV Cache is {S kv}"},
    {"initial_memory_usage={S initial_used}"},
    {"free_memory_pre_profile@{S free_before}"},
    {"peak_torch_memory={S peak_allocated}"},
    {"Peak torch memory: {S peak_allocated}^, non-torch forward-pass memory: {S non_torch}^, available KVCache memory: "
     "{S kv}"},
    {"Before memory profiling run, total GPU memory: {S capacity}^, model load takes {S weights}^, free gpu memory is "
     "{S free}",
     "", RowRole::starts},
    {"After memory profiling run, peak memory usage is {S peak}^, torch mem is {S allocated}^, non-torch mem is "
     "{S non_torch}^, free gpu memory is {S free_after_profile}"},
    {"memory_usage_post_profile={S used_after_profile}"},
    {"kv_cache_size={S kv}"},
    {"Total non KV cache memory: {S non_kv}"},
    {"torch peak memory increase: {S activation}"},
    {"non-torch forward increase memory: {S non_torch}"},
    {"weights memory: {S weights}"},
    {"total consumed (from mem_get_info): {S used}"},
    {"Initial free memory<:> {S free_before}^, free memory: {S free}^, total GPU memory: {S capacity}^, requested GPU "
     "memory: {S budget}"},
    {"worker requested memory: {S budget}"},
    {"worker init memory snapshot: <MemorySnapshot(>torch_peak={S peak_allocated}^, <torch_allocated={S allocated}, "
     ">free_memory={S free}^, total_memory={S capacity}"},
    {"total_hbm_limit_gb={S capacity}"},  // tpu_worker.py
    {"total_hbm_limit_cap_gb={S budget}"},
    {"total_hbm_used_gb={S used}"},
    {"total_hbm_avail_gb={S kv}"},
    {"hbm=[({G used}, {G capacity})"},
    {"Total CPU offloaded parameters: {S offloaded}"},
    {"Sleep mode <(level={n}) >freed {S freed} memory, {S used} memory is still in use"},
    {"Released {S freed} of cached device memory"},
    {"recorded free-memory baseline {S free_before}^, current {S free}"},
    {"Startup plan not applied: current free memory ({S free}) is below the recorded baseline ({S free_before})", "",
     RowRole::starts},
    {"Encoder cache will be initialized with a budget of {n encoder_cache_tokens} tokens"},
    {"Requested memory: {f utilization} (util), {S budget}"},
    {"Free memory after profiling: {S free_after_profile} (total), {S} (within"},
    {"Available memory: {S free}, total memory: {S capacity}"},  // vllm-ascend
    {"Available memory: {B free}, total memory: {B capacity}"},
    {"Explicitly set ({G kv}/{G host_total}) GiB for KV cache"},  // the CPU back end
    {"Auto set ({G kv}/{G host_total}) GiB for KV cache^ on node {n}, with {S budget} requested memory for the "
     "worker^. "
     "{S non_kv} memory was consumed by non-kv usages"},
    {"Available memory on node {n} ({G host_free}/{S host_total}) on startup^ is less than desired CPU memory "
     "utilization "
     "({f utilization}, {S budget})",
     "resource=host;stage=start", RowRole::starts},
    {"Available memory on node {n} ({G host_free}/{S host_total}) on kv cache allocation^ is less than requested "
     "memory "
     "for kv ({S kv_needed})",
     "resource=host;stage=kv", RowRole::starts},
    {"CUDA graphs can take additional$memory per GPU"},  // a hint, not a measurement
    {"reserved {S kv} <memory >for KV Cache as specified by kv_cache_memory_bytes"},
    {"Estimated CUDA graph memory: {S cudagraph_estimate}"},
    {"The current --gpu-memory-utilization={f utilization} is equivalent to --gpu-memory-utilization="
     "{f utilization_equivalent}"},
    {"increase --gpu-memory-utilization to {f utilization_suggested}"},
    {"increase --gpu-memory-utilization from {f utilization} to {f utilization_suggested}"},
    {"increasing --gpu-memory-utilization from {f utilization} to {f utilization_suggested}"},
    {"Free device memory: {S free}, {S budget} usable (gpu_memory_utilization={f utilization})^, {S cudagraph} "
     "reserved "
     "for HPUGraphs (VLLM_GRAPH_RESERVED_MEM={f})^, {S kv} reserved for KV cache",
     "", RowRole::starts},  // Gaudi
    {"Using {S cudagraph}/{S free} of free device memory for HPUGraphs"},
    {"Loading model weights took in total {S weights} of device memory^ ({S}/{S capacity} used)"},
    {"Model profiling run took {S activation} of device memory^ ({S}/{S capacity} used)"},
    {"Initializing cache engine took {S kv} of device memory^ ({S}/{S capacity} used)"},
    {"Pre-loading model weights on {w} took {S weights} of device memory^ ({S}/{S capacity} used)"},
    {"init_cache_engine took {S} of device memory^ ({S used}/{S capacity} used)"},  // with the graphs
    // the KV cache
    {"Available KV cache memory: {S kv}"},
    {"available_kv_cache_memory@{S kv}"},
    {"GPU KV cache size: {n kv_tokens}^ tokens"},
    {"CPU KV cache size: {n kv_tokens}^ tokens"},
    {"# CPU blocks: {n cpu_blocks}"},
    {"# {w} blocks: {n gpu_blocks}^, # CPU blocks: {n cpu_blocks}"},
    {"GPU blocks: {n gpu_blocks}^, # CPU blocks: {n cpu_blocks}"},  // where Markdown took the first sign
    {"# device blocks: {n gpu_blocks}^; # swap blocks: {n cpu_blocks}"},
    {"Overriding num_gpu_blocks={n} with num_gpu_blocks_override={n gpu_blocks}"},
    {"initialization after num_gpu_blocks is: {n gpu_blocks}"},
    {"Maximum concurrency for {n max_model_len} tokens^ per request: {f max_concurrency}x"},
    {"padding layers, may waste at most {f kv_waste_percent}%"},
    // graphs
    {"Graph capturing finished in {f} sec<s>, took {S cudagraph}"},
    {"graph pool memory: {S cudagraph} (actual)^, {S cudagraph_estimate} (estimated)"},
    // errors
    {"max seq len ({n max_model_len}) is larger than the maximum number of tokens that can be stored in KV cache "
     "({n kv_tokens})",
     "stage=length", RowRole::starts},
    {"To serve at least one request with the model<s><'s> max seq len ({n max_model_len})^,< (>{S kv_needed} KV cache "
     "is "
     "needed^, which is larger than the available KV cache memory ({S kv})^. Based on the available memory, the "
     "estimated maximum model length is {n estimated_max_model_len}",
     "", RowRole::starts},
    {"{S kv_needed} KV cache is needed"},
    {"estimated maximum model length is {n estimated_max_model_len}"},
    {"Auto-fit max_model_len: reduced from {n max_model_len} to {n max_model_len_effective}^ to fit in available GPU "
     "memory ({S kv} available",
     "", RowRole::starts},
    {"full model context length {n max_model_len} fits in available GPU memory"},
    {"Cannot auto-fit max_model_len", "stage=kv", RowRole::starts},
    {"Failed to load model - not enough GPU memory", "stage=weights", RowRole::starts},
    {"max_num_seqs ({n max_num_seqs}) exceeds available Mamba cache blocks ({n mamba_blocks})", "stage=kv",
     RowRole::starts},
    {"Free memory on <NPU ><device ><cuda:{n device} ><xpu:{n device} ><npu:{n device} >({G free}<{f}>/{S capacity}^) "
     "on "
     "startup^ is less than desired <GPU><NPU> memory utilization ({f utilization}, {S budget})",
     "stage=start", RowRole::starts},
    {"desired utilization ({f utilization}, {S budget})", "stage=start"},
    {"Current KV cache memory: {S kv}"},
    {"After warmup: torch reserved memory {S reserved}, torch allocated memory {S allocated}"},  // vllm-ascend
    {"Desired GPU memory utilization is ({f utilization}, {S budget})"},
    {"Actual usage< is><:> {S weights} for weight"},
    {"Actual usage< is><:> {S consumed} for consumed memory^ (weights + non-torch)"},  // 0.29
    {", {S activation} for peak activation"},
    {", {S non_torch} for non-torch memory"},
    {", <and >{S cudagraph} for CUDAGraph memory"},
    {", <and >{S cudagraph} for NPU graph memory"},
    {"--kv-cache-memory={B kv_suggested}"},
    {"Current kv cache memory in use is {B kv} bytes"},
    {"Current kv cache memory in use is {S kv}"},
    {"No available memory for the cache blocks", "stage=kv"},
    {"CUDA out of memory occurred when warming up <sampler ><pooler ><(task='{w}') >with {n dummy_requests} dummy "
     "requests",
     "stage=sampler;oom=1"},
    {"Too large swap space. {S swap} out of the {S host_total} total CPU memory", "resource=host", RowRole::starts},
    {"{S swap} out of the {S host_total} total CPU memory"},
    {"Error in memory profiling. Initial free memory {B free_before}, current free memory {B free}", "failed=profiling",
     RowRole::starts},
    {"Error in memory profiling. Initial used memory {B used_before}, currently used memory {B used}",
     "failed=profiling", RowRole::starts},
    // running
    {"Sequence group {w} is preempted by $total_num_cumulative_preemption={n preemptions}"},
    {"Sequence group {w} is preempted by", "preempted=1"},
    {"Running: {n running} reqs, <Swapped: {n swapped} reqs, ><Waiting: {n waiting} reqs, ><Pending: {n pending} reqs, "
     ">GPU KV cache usage: {f kv_usage_percent}%",
     "", RowRole::starts},
    {"[repeated {n repeated}x across cluster]"},
    // Aphrodite, a fork
    {"Total GPU memory: {S capacity}"},
    {"Memory utilization: {f utilization_percent}%"},
    {"Available for Aphrodite: {S budget}"},
    {"Model weights: {S weights}"},
    {"Weights memory usage: {S weights}"},
    {"Model weights loaded. Memory usage: {S weights}"},
    {"Single sequence mode: Allocating {n gpu_blocks} blocks ({n kv_tokens} tokens)"},
    {"Reserved for KV cache: {S kv}"},
    {"KV cache for {n max_model_len} tokens: {S kv_needed}"},
    {"Wasted memory: {S wasted}"},
    {"Peak activations memory: {S activation}"},
    {"Minimum concurrency: {f max_concurrency}x"},
    {"Maximum sequence length allowed in the cache: {n kv_tokens}"},
    // words of its own, where no line of it could be read
    {"gpu_memory_utilization", "", RowRole::words},
    {"--gpu-memory-utilization", "", RowRole::words},
    {"max_model_len", "", RowRole::words},
    {"--max-model-len", "", RowRole::words},
    {"max_num_batched_tokens", "", RowRole::words},
    // as people shorten them
    {"Available KV cache<:> {S kv}^ ({n kv_tokens} tokens)"},
    {"Graph capturing took {S cudagraph}"},
    {"KV cache size: {n kv_tokens} tokens", "", RowRole::phrase},
    {"GPU KV cache: {n kv_tokens} tokens"},
    // intel/llm-scaler's [Memory Profiling Analysis]
    {"Peak Allocated (Real Need): {S peak}", "", RowRole::starts},
    {"Model memory usage: {S weights}", "", RowRole::starts},
    {"Current Reserved (Footprint): {S reserved}", "", RowRole::starts},
    {"vllm/v1/", "", RowRole::words},
    {"vllm/worker/", "", RowRole::words},
    {"vllm/engine/", "", RowRole::words},
    {"vllm/entrypoints/", "", RowRole::words},
    {"vllm/model_executor/", "", RowRole::words},
    {"vllm.entrypoints", "", RowRole::words},
    {"vllm serve", "", RowRole::words},
    {"[gpu_model_runner.py", "", RowRole::words},
    {"[gpu_worker.py", "", RowRole::words},
    {"[multiproc_executor.py", "", RowRole::words},
};

// vllm-metal: bytes / 10^9.
constexpr LogRow kMetal[] = {
    {"metal_limit={S working_set}^, fraction={f utilization}^, usable_metal={S budget}^, model_memory={S weights}^, "
     "overhead={S activation}^, kv_budget={S kv}^, num_blocks={n gpu_blocks}^, max_tokens_cached={n kv_tokens}",
     "", RowRole::starts},
    {"not enough Metal memory for KV cache", "stage=kv"},
};

// Aphrodite's worker.py, 0.6: bytes / 10^9.
constexpr LogRow kAphrodite[] = {
    {"KV Cache memory usage for {n max_model_len} tokens: {D kv_needed}< x {n} = {f}> GB"},
    {"Estimated KV Cache memory usage: {D kv}< x {n} = {f}> GB"},
};

constexpr LogFamily kFamilies[] = {
    {"vLLM", Gigabyte::binary, kVllm}, {"vLLM", Gigabyte::decimal, kMetal}, {"vLLM", Gigabyte::decimal, kAphrodite}};

}  // namespace

std::span<const LogFamily> vllm_families() { return kFamilies; }

}  // namespace vram
