#include "engine/advice/log/families.h"

namespace vram {
namespace {

// llama.cpp, 2023 to 2026: "MB" was binary. A sum over devices ("KV self size") has no device.
constexpr LogRow kLlama[] = {
    {"load_tensors: {w on} buffer size = {S weights}"},  // to 2024
    {"{p on} model buffer size = {S weights}"},
    {"{p on} KV buffer size = {S kv}"},
    {"{p on} compute buffer size = {S compute}"},
    {"{p on} RS buffer size = {S recurrent}"},
    {"output buffer size = {S output}"},
    {"KV self size = {S kv}^, K ({w k_type}): {S k}, V ({w v_type}): {S v}"},
    {"VRAM KV self = {S kv}"},
    {"memory_recurrent: size = {S recurrent}"},
    {"kv_cache<_unified>: size = {S kv}^ ({n n_ctx} cells^, {n kv_layers} layer<s>^<, {n}></{n}>< seqs>), K ({w "
     "k_type}): {S k}, V ({w v_type}): {S v}"},
    {"size = {S kv} ({n n_ctx} cells^, {n kv_layers} layer<s>^<, {n}></{n}>< seqs>), K ({w k_type}): {S k}, V ({w "
     "v_type}): {S v}"},
    {"kv_size = {n n_ctx}<, offload = {n}>, type_k = '{w k_type}', type_v = '{w v_type}'^, n_layer = {n layers}"},
    {"compute buffer total size = {S compute}"},
    {"= {S scratch} VRAM for the scratch buffer"},
    {"offloaded {n layers_offloaded}/{n layers_total} layers to GPU"},
    {"n_ctx = {n n_ctx}"},
    {"n_ctx: {n n_ctx}"},
    {"n_batch = {n n_batch}"},
    {"n_ubatch = {n n_ubatch}"},
    {"n_slots = {n n_slots}"},
    {"n_ctx_slot = {n n_ctx}"},
    {"info: n_layer = {n layers}"},
    {"meta: n_layer = {n layers}"},
    {"internal: n_layer = {n layers}"},
    {"using device {w device_name} ({t gpu_name}) (~) - {S free} free", "", RowRole::starts},
    {"using device {w device_name} ({t gpu_name}) - {S free} free", "", RowRole::starts},
    {"Device {n device}: {t gpu_name}, compute capability {f}, VMM: {w}^, VRAM: {S capacity}", "", RowRole::starts},
    {"Device {n device}: {t gpu_name}, gfx~, VRAM: {S capacity}", "", RowRole::starts},
    {"(Total VRAM: {S vram_total})"},
    {"VRAM free: {S free} of {S capacity}^ (in use: {S used})", "", RowRole::starts},  // ggllm.cpp
    {"CPU: CPU ({S host_total}, {S host_free} free)"},                                 // --list-devices, and at start
    {"CUDA{n device}: {t gpu_name} ({S capacity}, {S free} free)", "", RowRole::starts},
    {"ROCm{n device}: {t gpu_name} ({S capacity}, {S free} free)", "", RowRole::starts},
    {"Vulkan{n device}: {t gpu_name} ({S capacity}, {S free} free)", "", RowRole::starts},
    {"({S capacity}, {S free} free)"},
    {"model size = {S file} ({f bits_per_weight} BPW)"},
    {"file size = {S file} ({f bits_per_weight} BPW)"},
    {"general.name = {t model_name}"},
    {"tensors from {w model_name} (version GGUF"},
    {"file type = {t file_type}"},
    {"mem required = {S host_required}^ (+ {S per_state} per state)"},
    {"total VRAM used: {S used}^ (model: {S weights}, context: {S context})"},
    {"load_tensors: VRAM used: {S weights}"},
    {"VRAM scratch buffer: {S scratch}"},
    {"ggml ctx size = {S ggml_ctx}"},
    {"max mem alloc size: {B max_buffer}"},
    {"Detected Available GPU Memory: {S available}", "", RowRole::starts},  // KoboldCpp
    {"Detected Available RAM: {S host_free}"},
    {"recommendedMaxWorkingSetSize@{S working_set}"},
    {"Namespace($contextsize={n n_ctx}"},
    {"--contextsize {n n_ctx}"},
    {", batchsize={n n_batch},"},  // among others: no "batch size = 16"
    {"blasbatchsize={n n_batch}"},
    {"gpulayers={n n_gpu_layers}"},
    {"--gpulayers {n n_gpu_layers}"},
    {"buffer, size = {S buffers}<, offs = {n}>^, ({M used_total} /^ {M working_set})"},
    // failures
    {"allocating {S tried_mib} on device {n device}: {w} failed: out of memory", "", RowRole::starts},
    {"failed to allocate {w} buffer of size {B tried}"},
    {"alloc_tensor_range: failed to allocate {w} buffer of size {B tried}"},  // of weights or of the KV cache
    {"gallocr_reserve_n_impl: failed to allocate {w} buffer of size {B tried}", "stage=compute"},
    {"gallocr_reserve_n: failed to allocate {w} buffer of size {B tried}", "stage=compute"},
    {"Failed to allocate pinned memory", "resource=host", RowRole::starts},
    {"failed to allocate {S tried} of pinned memory", "resource=host", RowRole::starts},
    {"cpu_buffer_type_alloc_buffer: failed to allocate buffer of size {B tried}", "resource=host", RowRole::starts},
    {"failed to allocate '{t}' buffer, size = {S tried}", "", RowRole::starts},  // Metal
    {"failed to allocate buffer, size = {S tried}", "", RowRole::starts},        // Metal
    {"Device memory allocation of size {B tried} failed", "", RowRole::starts},  // Vulkan
    {"Memory allocation of size {B tried} failed", "", RowRole::starts},
    {"ErrorOutOfDeviceMemory", "oom=1"},
    {"ggml_cuda", "", RowRole::words},
    {"error: Insufficient Memory (00000008", "oom=1", RowRole::starts},                        // Metal
    {"can't <allocate ><malloc >{B tried} Bytes <of >memory on device", "", RowRole::starts},  // SYCL
    {"[level_zero:gpu:{n device}]|{t gpu_name}|{f}|{n}|{n}|{n}|{S capacity}|", "", RowRole::starts},
    {"memory pool (needed {B tried}, available {B free})", "", RowRole::starts},
    {"not enough space in the buffer (needed {B tried}^, largest block available {B free}", "", RowRole::starts},
    {"insufficient memory (attempted to allocate {S tried})", "resource=host", RowRole::starts},
    {"failed to mlock {B tried}-byte buffer^ (after previously locking {B locked} bytes)", "resource=host",
     RowRole::starts},
    {"CUDA error {n} at ~: out of memory", "oom=1"},
    {"failed to allocate buffer for kv cache", "stage=kv"},
    {"failed to allocate compute buffers", "stage=compute"},
    {"unable to allocate {w} buffer", "stage=weights"},
    {"retrying without pipeline parallelism", "retried=1"},
    {"memory reporting free: {B free} total: {B capacity}"},
    {"Dedicated Total: {S capacity} ({S}), Dedicated Usage: {S used}"},
    // what is planned and what was found (2025-10 and later)
    {"|<->{w device_name}<({t gpu_name})>|{M capacity}={M free}+({M self}={M weights}+{M kv}+{M compute})+{M "
     "unaccounted}|"},
    {"|<->{w}|{M host_self}={M}+{M}+{M}|"},
    {"- CPU ({t}): {M host_total} {M host_self} = {M} + {M} + {M}"},
    {"- {w device_name} ({t gpu_name}): {M capacity} = {M free} + ({M self} = {M weights} + {M kv} + {M compute}) + "
     "{M unaccounted}"},
    {"projected to use {S projected_total} of device memory vs. {S free} of free device memory"},
    {"projected to use {S projected_total} of device memory vs. a total of {S total}"},
    {"projected to use {S projected_total} vs<.> {S free} free"},  // as people shorten it
    {"projected to use {S host_required} of host memory vs. {S host_total} of total host memory"},
    {"- {w device_name} ({t gpu_name}): {M capacity} total, {M projected} used, {M lacking} deficit"},
    {"- {w device_name} ({t gpu_name}): {M capacity} total, {M projected} used, {M left} surplus"},
    {"- {w device_name} ({t gpu_name}): {n} layers, {S projected} used, {S left} free"},
    {"id={n}, n_layer={n}, n_part={n}, overflow_type={n}, mem= {S projected}"},
    {"cannot fulfill margin of {S margin} on all devices, need to use {S lacking} less"},
    {"will leave {M left} >= {S margin} of free device memory"},
    {"cannot meet free memory target of {S margin}^, need to <use ><reduce device memory by >{S lacking}"},
    {"context size reduced from {n} to {n n_ctx}"},
    {"exceeds the available context size ({n n_ctx} tokens)"},
    {"prompt cache is enabled, size limit: {S prompt_cache_limit}"},
    {"cache state: {n} prompts, {S prompt_cache}"},
    {"estimated <worst-case >memory usage of mmproj is {S mmproj}"},
    {"estimated <fixed >memory usage of MTP context is {S mtp}"},
    {"estimated <fixed >memory usage of draft model is {S draft}"},
};

// stable-diffusion.cpp: MB = bytes / 1024^2.
constexpr LogRow kDiffusion[] = {
    {"total params memory size = {S weights} (VRAM {S weights_gpu}, RAM {S weights_host})", "", RowRole::starts},
    {"compute buffer size: {S compute}(VRAM)"},
};

// Ollama's logfmt. Lists are by GPU; "required" and "total" are sums.
constexpr LogRow kOllama[] = {
    {"layers.model={n layers_total}", "", RowRole::starts},
    {"\"model layers\"={n layers_total}", "", RowRole::starts},
    {"layers.offload={n layers_offloaded}"},
    {"layers.real={n} layers.estimate={n layers_offloaded}", "", RowRole::starts},
    {"\"offload to gpu\" reallayers={n} layers={n layers_offloaded} required=\"{S required_full}\" used=\"{S "
     "required_partial}\" available=\"{S available}\" kv=\"{S kv}\" fulloffload=\"{S graph_full}\"^ "
     "partialoffload=\"{S graph_partial}\"",
     "", RowRole::starts},
    {"memory.available=\"[{L available}"},
    {"memory.available=\"{S available}"},
    {"memory.gpu_overhead=\"{S gpu_overhead}"},
    {"memory.required.full=\"{S required_full}"},
    {"memory.required.partial=\"{S required_partial}"},
    {"memory.required.kv=\"{S kv}"},
    {"memory.required.allocations=\"[{L allocations}"},
    {"memory.weights.total=\"{S weights}"},
    {"memory.weights.repeating=\"{S weights_repeating}"},
    {"memory.weights.nonrepeating=\"{S weights_nonrepeating}"},
    {"memory.graph.full=\"{S graph_full}"},
    {"memory.graph.partial=\"{S graph_partial}"},
    {"projector.weights=\"{S projector_weights}"},
    {"projector.graph=\"{S projector_graph}"},
    {"msg=\"model weights\" <buffer={w on} ><device={w on} >size=\"{S weights}"},
    {"msg=\"kv cache\" <backend={w} ><buffer_type={w on} ><device={w on} >size=\"{S kv}"},
    {"msg=\"compute graph\" <backend={w} ><buffer_type={w on} ><device={w on} >size=\"{S compute}"},
    {"msg=\"total memory\" size=\"{S total}"},
    {"msg=\"gpu memory\" $available=\"{S available}\" free=\"{S free}\"^ minimum=\"{S}\" overhead=\"{S "
     "gpu_overhead}\""},
    {"msg=\"system memory\" total=\"{S host_total}\" free=@{B host_free}@^ free_swap=\"{S swap_free}\""},
    {"{S available} VRAM available^, loading< up to> {n layers_most}< cuda>< rocm>< metal> GPU layers^ out of "
     "{n layers_total}",
     "", RowRole::starts},
    {"msg=evaluating ~available=\"<[>{L available}"},
    {"too little memory to allocate any layers\" $total=\"{S capacity}\" available=\"{S available}\""},
    {"\"available layer vram\"=\"{S available}\""},
    {"graph=\"{S compute}\""},
    {"fits in available system memory\" model=\"{S host_required}\" available=\"{S host_free}\""},
    {"num_ctx={n n_ctx}"},
    {"default_num_ctx={n n_ctx}"},
    {"new_num_ctx={n n_ctx}^ old_num_batch={n} new_num_batch={n n_batch}"},
    {"llama-server reported out-of-memory during startup", "oom=1"},
    {"llama runner process has terminated: ~out of memory", "oom=1"},
    {"model requires {S required} but only {S available} are available (after {S gpu_overhead} overhead)", "",
     RowRole::starts},
    {"devices with {S available} available memory"},
    {"iGPU with {S capacity} reported total memory"},
    {"iGPU detected skipping\" ~total=\"{S capacity}\""},
    {"msg=\"detected OS VRAM overhead\" ~overhead=\"{S os_overhead}\""},
    {"attention bytes\"={B kv}"},
    {"recurrent bytes\"={B recurrent}"},
    {"exceeds the recommended working set~active=\"{S used}\" recommended=\"{S working_set}\""},
    {"parallel={n n_slots} available={B available} required=\"{S required_full}"},
    {"model_size=\"{S file}\""},
    {"predicted_vram=\"{S required_full}\" available_vram=\"{S available}\""},
    {"required model bytes: {B weights}"},  // 2023-12
    {"required kv bytes: {B kv}"},
    {"required alloc bytes: {B compute}"},
    {"required total bytes: {B total}"},
    {"system memory bytes: {B host_free}"},
    {"unable to allocate {S tried} from device {w}", "", RowRole::starts},
    {"model's maximum context length ({n n_ctx} tokens)"},
    {"msg=\"updated VRAM\" ~total=\"{S capacity}\" available=\"{S available}\""},
    {"msg=\"updated VRAM based on existing loaded models\" ~total=\"{S capacity}\" available=\"{S available}\""},
    {"msg=\"gpu reported\" ~available=\"{S available}\""},
    {"msg=\"amdgpu memory\" <gpu={n device} ><gpu={w} >total=\"{S capacity}\""},
    {"msg=\"amdgpu memory\" <gpu={n device} ><gpu={w} >available=\"{S available}\""},
    {"msg=\"updating cuda memory data\" $now.total=\"{S capacity}\" now.free=\"{S free}\"^ now.used=\"{S used}\""},
    {"msg=\"updating rocm free memory\" ~before=\"{S}\" now=\"{S free}\""},
    {"msg=\"updating system memory data\" $now.total=\"{S host_total}\" now.free=\"{S host_free}\"^ "
     "now.free_swap=\"{S swap_free}\""},
    {"msg=\"peak memory\" size=\"{S peak}\""},
    {"runner.size=\"{S total}\""},
    {"runner.vram=\"{S runner_vram}\""},
    {"insufficient memory for image generation: need {S tried}, have {S free}", "", RowRole::starts},
    {"\"total vram\"=\"{S vram_total}"},
    {"total_vram=\"{S vram_total}"},
    {"parallel={n} required=\"{S required_full}"},
    {"available={B available} required=\"{S required_full}"},
    {"predicted usage exceeds VRAM\" ~totalMemory={B capacity} predicted={B required_full}"},
    {"msg=\"inference compute\" $total=\"{S capacity}\"^ available=\"{S available}\""},
    {"minimum_memory={B minimum}"},
    {"layer_size=\"{S layer}"},
    {"gpu_zer_overhead=\"{S gpu_overhead}"},
    {"partial_offload=\"{S graph_partial}"},
    {"full_offload=\"{S graph_full}"},
    {"KvSize:{n n_ctx}"},
    {"Parallel:{n n_slots} BatchSize:{n n_batch} FlashAttention"},
    {"OLLAMA_CONTEXT_LENGTH@{n n_ctx}"},
    {"OLLAMA_NUM_PARALLEL@{n n_slots}"},
    {"--ctx-size {n n_ctx}"},
    {"model requires more system memory ({S host_required})^ than is available ({S host_free})", "resource=host",
     RowRole::starts},
    {"model request too large for system\" requested=@{B host_required}@ available=@{B host_free}@^ total=\"{S "
     "host_total}\" free=\"{S}\" swap=\"{S swap_free}\"",
     "resource=host", RowRole::starts},
    {"model request too large for system\" requested=\"{S host_required}\" system=\"{S host_total}\"", "resource=host",
     RowRole::starts},
    {"requested model ({S host_required}) is too large for this system ({S host_total})", "resource=host",
     RowRole::starts},
    {"model requires more system memory than is currently available^~required={B host_required} free={B host_free}",
     "resource=host", RowRole::starts},
    {"predicted=\"{S required_full}\" predicted_num_ctx={n n_ctx} num_batch={n n_batch} available=\"{S available}\"^ "
     "gpu_free=\"{S free}\" system_free=\"{S host_free}\""},
    {"system_free=\"{S host_free}\" system_total=\"{S host_total}\""},
    {"free_before=\"{S free_before}\" free_now=\"{S free}\""},
    {"memory layout cannot be allocated", "oom=1", RowRole::starts},
};

// `ollama ps`, whose sizes are decimal; so are those of its oldest refusals.
constexpr LogRow kOllamaPs[] = {
    {"model requires at least {S host_required} of< total> memory", "resource=host", RowRole::starts},
    {"{S total} {f gpu_percent}% GPU<{n n_ctx} {n}><{n n_ctx} Forever><{n n_ctx} About><{n n_ctx} Stopping><{n n_ctx} "
     "Less>"},
    {"{S total} {f}%/{f gpu_percent}% CPU/GPU<{n n_ctx} {n}><{n n_ctx} Forever><{n n_ctx} About><{n n_ctx} "
     "Stopping><{n n_ctx} Less>"},
    {"{S total} 100% CPU<{n n_ctx} {n}><{n n_ctx} Forever><{n n_ctx} About><{n n_ctx} Stopping><{n n_ctx} Less>"},
};

constexpr LogRow kMlx[] = {
    {"Unable to allocate {B tried} bytes", "", RowRole::starts},
    {"[metal::malloc] Resource limit ({n resource_limit}) exceeded", "oom=1;resource=buffers", RowRole::starts},
    {"max_recommended_working_set_size@{B working_set}"},
    {"'memory_size'@{B host_total}"},
    {"Prefill would require {S required} peak (current {S used} + KV+SDPA {S kv}) but <metal_cap ><dynamic ><static "
     ">ceiling is {S limit}",
     "", RowRole::starts},  // oMLX
    {"Memory pressure level: ~(current={S used}, soft={S}, hard={S}, ceiling={S limit})", "", RowRole::starts},
    {"Metal cache limit set to {S cache_limit}"},
    {"Prompt Cache: {n} sequences, {S prompt_cache}"},
    {"max_buffer_length@{B max_buffer}"},
    {"requires {S weights} which is close to the maximum recommended size of {S working_set}", "", RowRole::starts},
    {"Attempting to allocate {B tried} bytes which is greater than the maximum allowed buffer size of {B max_buffer} "
     "bytes",
     "resource=one-buffer", RowRole::starts},
};

constexpr LogFamily kFamilies[] = {{"llama.cpp", Gigabyte::binary, kLlama},
                                   {"Ollama", Gigabyte::binary, kOllama},
                                   {"ollama ps", Gigabyte::decimal, kOllamaPs},
                                   {"stable-diffusion.cpp", Gigabyte::binary, kDiffusion},
                                   {"MLX", Gigabyte::binary, kMlx}};

}  // namespace

std::span<const LogFamily> llamacpp_families() { return kFamilies; }

}  // namespace vram
