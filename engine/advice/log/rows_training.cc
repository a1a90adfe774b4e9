#include "engine/advice/log/families.h"

namespace vram {
namespace {

// megatron/training/utils.py report_memory, theoretical_memory_usage.py: "MB" is bytes / 2^20.
constexpr LogRow kMegatron[] = {
    {"[Rank {n rank}] (after {n iteration} iterations) memory (MB) | allocated: {M allocated}^ | max allocated: "
     "{M max_allocated}^ | reserved: {M reserved}^ | max reserved: {M max_reserved}^ | total device memory used: "
     "{M device}",
     "", RowRole::starts},
    {"after {n iteration} iterations memory (MB) | allocated: {M allocated}^ | max allocated: {M max_allocated}^< | "
     "reserved: {M reserved}>< | cached: {M cached}>^< | max reserved: {M max_reserved}>< | max cached: {M "
     "max_cached}>",
     "", RowRole::starts},
    {"[Rank {n rank}] ({t}) memory (MB) | allocated: {M allocated}^ | max allocated: {M max_allocated}^ | reserved: "
     "{M reserved}^ | max reserved: {M max_reserved}^ | total device memory used: {M device}",
     "", RowRole::starts},
    {"rank {n rank}</{n world_size}> memory remaining {f}% ({M free}/{M capacity} MB)", "", RowRole::starts},
    {"[rank {n rank}] dynamic engine ~abs mem usage: cpu: {S host_process}, gpu: alloc {S allocated}, res {S reserved}",
     "", RowRole::starts},  // megatron/core/inference/engines
    {"memory (MB) | allocated: {M allocated}^ | max allocated: {M max_allocated}^ | reserved: {M reserved}^ | "
     "max reserved: {M max_reserved}^ | total device memory used: {M device}",
     "", RowRole::starts},
    {"memory (MB) | allocated: {M allocated}^ | max allocated: {M max_allocated}^ | cached: {M cached}^ | "
     "max cached: {M max_cached}",
     "", RowRole::starts},  // 2019
    {"Weight and optimizer memory: {M theory_weights_optimizer} MB^, Activation memory: {M theory_activation} MB^, "
     "Total memory: {M theory_total} MB",
     "", RowRole::starts},
    {"Theoretical memory footprints: weight and optimizer={M theory_weights_optimizer} MB^, activation="
     "{M theory_activation} MB^, total={M theory_total} MB",
     "", RowRole::starts},
    {"alloc={S allocated} private={S private_pool} resv-alloc={S reserved_unallocated} resv={S reserved} dev_mem="
     "{S device}",
     "", RowRole::starts},  // megatron/core/inference/utils.py
    {"Need {S required} for mamba states, but total buffer is {S budget}", "", RowRole::starts},
    {"Number of parameters in most loaded shard in billions: {f shard_params_billions}"},
    {"Total number of parameters in billions: {f total_params_billions}"},
    {"number of parameters on (tensor, pipeline) model parallel rank ({n}, {n}): {n shard_params}"},
    {"| global batch size: {n global_batch} |"},
    {"global_batch_size@{n global_batch}"},
    {"micro_batch_size@{n micro_batch}"},
    {"| elapsed time per iteration (ms): {f iteration_ms} |"},
    {"| throughput per GPU (TFLOP/s/GPU): {f tflops} |"},
    {"tensor_model_parallel_size ! {n tensor_parallel}"},
    {"pipeline_model_parallel_size ! {n pipeline_parallel}"},
    {"context_parallel_size ! {n context_parallel}"},
    {"expert_model_parallel_size ! {n expert_parallel}"},
    {"micro_batch_size ! {n micro_batch}"},
    {"global_batch_size ! {n global_batch}"},
    {"seq_length ! {n seq}"},
    {"num_layers ! {n layers}"},
    {"hidden_size ! {n hidden}"},
    {"num_attention_heads ! {n heads}"},
    {"ffn_hidden_size ! {n ffn}"},
    {"world_size ! {n world_size}"},
    {"using world size: {n world_size}, "},
    {"recompute_granularity ! {w recompute}"},
};

// deepspeed/runtime/utils.py see_memory_usage, utils/timer.py, runtime/zero/stage*.py: "GB" is bytes / 2^30.
constexpr LogRow kDeepSpeed[] = {
    {"MA {S allocated}< |> Max_MA {S max_allocated}^< |> CA {S cached}^< |> Max_CA {S max_cached}^ | NV {S nvml_used}^ "
     "| CPU mem: proc {S host_process}^ / node {S host_used} ({f host_percent}%)",
     "", RowRole::starts},
    {"current alloc={S allocated} (delta={S} max={S max_allocated}) current cache={S cached}^ (delta={S} max={S "
     "max_cached})",
     "", RowRole::starts},
    {"Max Memory Allocated {G max_allocated} GigaBytes"},
    {"Memory Allocated {G allocated} GigaBytes", "", RowRole::starts},
    {"Max cache Allocated {G max_cached} GigaBytes"},
    {"Cache Allocated {G cached} GigaBytes"},
    {"CPU Virtual Memory: used = {S host_used}, percent = {f host_percent}%"},
    {"max_mem_allocated: {S max_allocated}"},  // utils/timer.py, memory_usage()
    {"mem_allocated: {S allocated}"},
    {"max_cache_allocated: {S max_cached}"},
    {"cache_allocated: {S cached}"},
    {"before KV-cache allocation: total_memory={B capacity}^, available_kv_memory={B kv}^, per_block_footprint="
     "{B block}",
     "", RowRole::starts},  // inference/v2
    {"Insufficient memory to allocate KV-caches. Required: {B kv_needed}, Available: {B kv}", "stage=kv",
     RowRole::starts},
    {"{n}/{n step}, SamplesPerSec={f}, MemAllocated={S allocated}, MaxMemAllocated={S max_allocated}", "",
     RowRole::starts},
    {"alloc_mem={B allocated} max_mem={B max_allocated}", "", RowRole::starts},  // deepspeed/compile
    {"graph_id={n} alloc_mem={B allocated}", "", RowRole::starts},
    {"alloc_mem: {b allocated} peak_mem: {b peak_allocated}", "", RowRole::starts},  // benchmarks/deepcompile
    {"Mem prof Node {n}/{n} {w} memory {S allocated} delta {S} max memory {S peak_allocated}", "", RowRole::starts},
    {"MemAllocated={S allocated}<,>< |> MaxMemAllocated={S max_allocated}", "", RowRole::starts},
    {"zero_optimization_stage ! {n zero_stage}"},
    {"train_micro_batch_size_per_gpu ! {n micro_batch}"},
    {"[{n rank}] mp:", "", RowRole::prefix},
};

// autotuning/utils.py, memory_to_string: steps of 1,000.
constexpr LogRow kAutotuning[] = {
    {"Memory per GPU in the system is {S capacity}", "", RowRole::starts},
    {"which requires at least {S required} memory with mbs = {n micro_batch}"},
};

constexpr LogRow kEstimator[] = {
    {"HW: Setup with {n nodes} node<s>, {n gpus_per_node} GPU<s> per node", "", RowRole::starts},
    {"SW: Model with {n params_millions}M total params^, {n largest_layer_millions}M largest layer params"},
    {"{S per_cpu} | {S per_gpu} | offload_"},
    {"{S per_cpu} | {S per_gpu} | cpu_offload="},
    {"{S per_cpu} | {S per_gpu} | ~offload_optimizer'"},
};

constexpr LogRow kTitan[] = {
    {"step: {n step} loss: {f}< grad_norm: {f}> memory: {S peak_reserved}({f percent}%)^< tps: {n tps}>< wps: {n "
     "tps}>^< "
     "tflops: {f tflops}> mfu: {f mfu_percent}%",
     "", RowRole::starts},
    {"memory: {S peak_reserved}({f percent}%) tps: {n tps}^< tflops: {f tflops}> mfu: {f mfu_percent}%", "",
     RowRole::starts},
    {"memory: {S peak_reserved}({f percent}%) wps: {n tps}^< tflops: {f tflops}> mfu: {f mfu_percent}%", "",
     RowRole::starts},
    {"{n alloc_retries} CUDA memory allocation retries"},
    {"Training starts at step {n}^<, with local batch size {n micro_batch}>^, global batch size {n global_batch}^, "
     "sequence length {n seq}"},
    {"capacity: {t gpu_name} with {S capacity} memory"},
    {"memory usage for model: {S weights}({f}%)"},
    {"{S capacity} capacity, {S used} in-use"},
    {"peak active: {S peak_active} | peak reserved: {S peak_reserved}^ | num_retries: {n alloc_retries}"},
};

constexpr LogRow kTorchtune[] = {
    {"Step {n step} | loss:"},
    {"gpu_resources:{B allocated}", "", RowRole::starts},  // 0.0, of each step
    {"GPU peak memory allocation: {S peak_allocated}"},
    {"NPU peak memory allocation: {S peak_allocated}"},
    {"XPU peak memory allocation: {S peak_allocated}"},
    {"GPU peak memory alloc: {S peak_allocated}"},
    {"GPU peak memory reserved: {S peak_reserved}"},
    {"NPU peak memory reserved: {S peak_reserved}"},
    {"XPU peak memory reserved: {S peak_reserved}"},
    {"GPU peak memory reserve: {S peak_reserved}"},
    {"GPU peak memory active: {S peak_active}"},
    {"NPU peak memory active: {S peak_active}"},
    {"XPU peak memory active: {S peak_active}"},
    {"peak_memory_active@{G peak_active}"},
    {"peak_memory_alloc@{G peak_allocated}"},
    {"peak_memory_reserved@{G peak_reserved}"},
    {"Memory stats after model init", "when=model init", RowRole::starts},
};

constexpr LogRow kAxolotl[] = {
    {"max_mem_active(gib)@{G peak_active}"},
    {"max_mem_allocated(gib)@{G peak_allocated}"},
    {"device_mem_reserved(gib)@{G peak_reserved}"},
    {"max_active(gib)@{G peak_active}"},
    {"max_allocated(gib)@{G peak_allocated}"},
    {"device_reserved(gib)@{G peak_reserved}"},
    {"memory active: {S peak_active} (<+{S peak_allocated} allocated>^<, >+{S peak_reserved} reserved)", "",
     RowRole::starts},  // since 0.10: peaks since the last line
    {"Memory usage after model load {S peak_active} (<+{S peak_allocated} allocated>^<, >+{S peak_reserved} reserved)",
     "", RowRole::starts},
    {"Memory usage after adapters {S peak_active} (<+{S peak_allocated} allocated>^<, >+{S peak_reserved} reserved)",
     "", RowRole::starts},
    {"[RANK:{n rank}]", "", RowRole::prefix},
    {"GPU memory baseline: {S baseline}", "", RowRole::starts},
    {"GPU memory after model load: {S weights}"},
    {"GPU memory after adapters: {S after_adapters}"},
    {"GPU memory while training: {S training}"},
    {"memory usage baseline: {S baseline}^ (<+{S cache} cache>^<, >+{S misc} misc)", "", RowRole::starts},
    {"memory usage after model load: {S weights}^ (<+{S cache} cache>^<, >+{S misc} misc)", "", RowRole::starts},
    {"memory usage after adapters: {S after_adapters}^ (<+{S cache} cache>^<, >+{S misc} misc)", "", RowRole::starts},
    {"memory usage while training: {S training}^ (<+{S cache} cache>^<, >+{S misc} misc)", "", RowRole::starts},
};

constexpr LogRow kUnsloth[] = {
    {"This model needs about {S required} but only about {S free} of memory is available", "", RowRole::starts},
    {"About {S lacking} of this model does not fit in GPU memory", "", RowRole::starts},
    {"/| {t gpu_name}. Num GPUs = {n gpus}. Max memory: {S capacity}", "", RowRole::starts},
    {"Num GPUs = {n gpus}. Max memory: {S capacity}", "", RowRole::starts},
    {"GPU: {t gpu_name}. Max memory: {S capacity}", "", RowRole::starts},
    {"GPU = {t gpu_name}. Max memory = {S capacity}", "", RowRole::starts},
    {"{S reserved} of memory reserved"},
    {"Peak reserved memory = {S peak_reserved}"},
    {"Peak reserved memory for training = {S peak_reserved_training}"},
    {"Peak reserved memory % of max memory = {f percent} %"},
    {"Batch size per device = {n micro_batch} | Gradient accumulation steps = {n grad_accumulation}"},
    {"Total batch size = {n global_batch}"},
    {"Total batch size ({n} x {n} x {n}) = {n global_batch}"},
    {"Number of trainable parameters = {n trainable_params}"},
    {"Trainable parameters = {n trainable_params}/{n total_params}"},
    {"Trainable parameters = {n trainable_params} of {n total_params}"},
    {"Trainable parameters = {n trainable_params}"},
    {"Num GPUs< used> = {n gpus}"},
    {"vLLM loading {w model_name} with actual GPU utilization = {f utilization_percent}%", "", RowRole::starts},
    {"Your GPU has {t} with VRAM = {S capacity}"},
    {"vLLM can process {n max_num_seqs} sequences and {n batch_tokens} tokens in tandem"},
    {"Chunked prefill tokens = {n chunked_prefill_size}^. Num Sequences = {n max_num_seqs}"},
    {"KV Cache can use up to {S kv}^. Also swap space = {S swap}"},
    {"(num_proc={n num_proc})"},
    {"]Killed&", "host_oom=1;resource=host"},
};

// The PEFT examples' TorchTracemalloc prints no unit: b2mb divides by 2^20.
constexpr LogRow kPeft[] = {
    {"GPU Memory before entering the {t}: {M gpu_before}", "", RowRole::starts},
    {"GPU Memory consumed at the end of the {t} (end-begin): {M gpu_end}"},
    {"GPU Peak Memory consumed during the {t} (max-begin): {M gpu_peak}"},
    {"GPU Total Peak Memory consumed during the {t} (max): {M gpu_peak_total}"},
    {"Memory before entering the {t}: {M gpu_before}", "", RowRole::starts},  // accelerate's FSDP example
    {"Memory consumed at the end of the {t} (end-begin): {M gpu_end}"},
    {"Peak Memory consumed during the {t} (max-begin): {M gpu_peak}"},
    {"Total Peak Memory consumed during the {t} (max): {M gpu_peak_total}"},
    {"CPU Memory before entering the {t}: {M host_before}"},
    {"CPU Memory consumed at the end of the {t} (end-begin): {M host_end}"},
    {"CPU Peak Memory consumed during the {t} (max-begin): {M host_peak}"},
    {"CPU Total Peak Memory consumed during the {t} (max): {M host_peak_total}"},
    {"trainable params: {n trainable_params} || all params: {n total_params}"},
    {"trainable params: {f trainable_millions} M || all params: {f total_millions} M"},  // mlx-vlm
};

// mlx-lm and LitGPT divide by 1e9.
constexpr LogRow kMlx[] = {
    {"Iter {n iteration}: Train loss {f}, $Peak mem {S peak}", "", RowRole::starts},
    {"Trainable parameters: {f}% ({f trainable_millions}M/{f total_millions}M)"},
    {"Total parameters {f total_millions}M"},
    {"Trainable parameters {f trainable_millions}M"},
    {"Command buffer execution failed: Insufficient Memory", "oom=1;resource=metal"},
    {"Peak memory: {S peak}", "", RowRole::phrase},
    {"Trained Tokens {n}, Peak mem {S peak}"},
};

// llm.c's train_gpt2.cu, at its start.
constexpr LogRow kLlmC[] = {
    {"allocated {S weights} for model parameters", "", RowRole::starts},
    {"allocated {S activation} for activations"},
    {"allocated {S gradients} for parameter gradients"},
    {"device memory usage: {S used} / {S capacity}"},
};

constexpr LogRow kLitGpt[] = {{"Memory used: {S peak}", "", RowRole::phrase},
                              {"Number of trainable parameters: {n trainable_params}"},
                              {"Number of non-trainable parameters: {n frozen_params}"}};

constexpr LogRow kMaxText[] = {
    {"Using (GB) {G used} / {G capacity} ({f percent}%) on {w device_name}"},
    {"Total< estimated> memory size: {S total}", "", RowRole::starts},
    {"Host temp size: {S host_temp}"},
    {"Output size: {S output}"},
    {"Temp size: {S temp}"},
    {"Argument size: {S argument}"},
    {"Alias size: {S alias}"},
};

// src/megatron/bridge/training/utils/train_utils.py: bytes / 10^9.
constexpr LogRow kBridge[] = {
    {"[Rank {n rank}] (after {n iteration} iterations) memory (GB)", "", RowRole::starts},
    {"mem-alloc-retires: {n alloc_retries}"},
    {"mem-max-allocated-gigabytes: {D max_allocated}"},
    {"mem-max-reserved-gigabytes: {D max_reserved}"},
    {"mem-max-active-gigabytes: {D peak_active}"},
    {"mem-allocated-gigabytes: {D allocated}"},
    {"mem-reserved-gigabytes: {D reserved}"},
    {"mem-active-gigabytes: {D active}"},
};

// accelerate/commands/estimate.py: steps of 1,024.
constexpr LogRow kAccelerate[] = {
    {"float32 <|>{S largest_layer} <|>{S model} <|>{S adam_training}", "dtype=float32", RowRole::starts},
    {"float16 <|>{S largest_layer} <|>{S model} <|>{S adam_training}", "dtype=float16", RowRole::starts},
    {"bfloat16 <|>{S largest_layer} <|>{S model} <|>{S adam_training}", "dtype=bfloat16", RowRole::starts},
    {"int8 <|>{S largest_layer} <|>{S model} <|>{S adam_training}", "dtype=int8", RowRole::starts},
    {"int4 <|>{S largest_layer} <|>{S model} <|>{S adam_training}", "dtype=int4", RowRole::starts},
};

// llama-cookbook utils/memory_utils.py: whole numbers of 2^30 bytes.
constexpr LogRow kCookbook[] = {
    {"Max CUDA memory allocated was {S peak_allocated}", "", RowRole::starts},
    {"Max CUDA memory reserved was {S peak_reserved}"},
    {"Peak active CUDA memory was {S peak_active}"},
    {"CUDA Malloc retires : {n alloc_retries}"},
    {"CUDA Malloc retries : {n alloc_retries}"},
    {"{n alloc_retries} cuda malloc retries"},
};

// nanotron/logging/base.py: human_format of what torch.cuda says, step 1,024.
constexpr LogRow kNanotron[] = {
    {"Memory usage: {S allocated}. Peak allocated<:> {S peak_allocated}^<.> Peak reserved: {S peak_reserved}", "",
     RowRole::starts},
};

// swift/trainers/mixin.py: max_memory_reserved / 1024^3.
constexpr LogRow kSwift[] = {{"'memory(GiB)@{G peak_reserved}", "", RowRole::starts}};

// mmengine, mmcv LoggerHook, detectron2's CommonMetricPrinter, the MetricLogger of DETR and DeiT, Swin's:
// max_memory_allocated / 1024^2; ultralytics: memory_reserved, in 2^30 or in 10^9 by the version.
constexpr LogRow kVision[] = {
    {"data: {f} max mem: {M peak_allocated}", "", RowRole::starts},
    {"({f}) mem {S peak_allocated}", "", RowRole::starts},
    {"max_mem_reserved: {S peak_reserved}, max_mem_allocated: {S peak_allocated}", "", RowRole::starts},  // ppdet
    {"AutoBatch: CUDA:{n device} ({t gpu_name}) {S capacity} total, {S reserved} reserved, {S allocated} allocated, "
     "{S free} free",
     "", RowRole::starts},
    {"{n epoch}/{n epochs} {S reserved} {f} {f} {f} {n} {n}", "", RowRole::starts},
    {"data_time: {f}<,> memory: {M peak_allocated}", "", RowRole::starts},
    {"max_mem: {S peak_allocated}", "", RowRole::starts},
};

// composer/callbacks/memory_monitor.py: bytes / 10^9.
constexpr LogRow kComposer[] = {
    {"memory/peak_allocated_mem@{D peak_allocated}"}, {"memory/peak_reserved_mem@{D peak_reserved}"},
    {"memory/current_allocated_mem@{D allocated}"},   {"memory/current_reserved_mem@{D reserved}"},
    {"memory/alloc_retries@{n alloc_retries}"},
};

// icefall's utils.py; ESPnet's reporter; fairseq's progress bar: binary.
constexpr LogRow kSpeech[] = {
    {"Maximum memory allocated so far is {S peak_allocated}", "", RowRole::starts},
    {"gpu_max_cached_mem_GB={G max_cached}", "", RowRole::starts},
    {"gb_free={G free}", "", RowRole::starts},
};

// transformers' TrainerMemoryTracker: bytes >> 20; its arguments and those of LLaMA-Factory, TRL and axolotl.
constexpr LogRow kTrainer[] = {
    {"per_device_train_batch_size@{n micro_batch}"},
    {"gradient_accumulation_steps@{n grad_accumulation}"},
    {"Instantaneous batch size per device = {n micro_batch}"},
    {"Total train batch size ({t}) = {n global_batch}"},
    {"Gradient Accumulation steps = {n grad_accumulation}"},
    {"cutoff_len@{n seq}"},
    {"max_seq_length@{n seq}"},
    {"sequence_len: {n seq}"},
    {"GPU type: {t gpu_name} &"},  // LLaMA-Factory's env.py
    {"- GPU number: {n gpus}"},
    {"- GPU memory: {S capacity} &"},
    {"mem_gpu_alloc_delta<\">@{S alloc_delta}"},  // behind "train_"; as it prints them, in its JSON files bytes
    {"mem_gpu_alloc_delta<\">@{B alloc_delta}"},
    {"mem_gpu_peaked_delta<\">@{S peak_delta}"},
    {"mem_gpu_peaked_delta<\">@{B peak_delta}"},
};

constexpr LogFamily kFamilies[] = {{"Megatron-LM", Gigabyte::binary, kMegatron},
                                   {"Megatron-Bridge", Gigabyte::decimal, kBridge},
                                   {"accelerate", Gigabyte::binary, kAccelerate},
                                   {"transformers", Gigabyte::binary, kTrainer},
                                   {"llama-cookbook", Gigabyte::binary, kCookbook},
                                   {"nanotron", Gigabyte::binary, kNanotron},
                                   {"ms-swift", Gigabyte::binary, kSwift},
                                   {"mmengine", Gigabyte::binary, kVision},
                                   {"speech", Gigabyte::binary, kSpeech},
                                   {"Composer", Gigabyte::decimal, kComposer},
                                   {"DeepSpeed", Gigabyte::binary, kDeepSpeed},
                                   {"DeepSpeed autotuning", Gigabyte::decimal, kAutotuning},
                                   {"DeepSpeed estimator", Gigabyte::binary, kEstimator},
                                   {"torchtitan", Gigabyte::binary, kTitan},
                                   {"torchtune", Gigabyte::binary, kTorchtune},
                                   {"axolotl", Gigabyte::binary, kAxolotl},
                                   {"Unsloth", Gigabyte::binary, kUnsloth},
                                   {"PEFT", Gigabyte::binary, kPeft},
                                   {"mlx-lm", Gigabyte::decimal, kMlx},
                                   {"LitGPT", Gigabyte::decimal, kLitGpt},
                                   {"llm.c", Gigabyte::binary, kLlmC},
                                   {"MaxText", Gigabyte::binary, kMaxText}};

}  // namespace

std::span<const LogFamily> training_families() { return kFamilies; }

}  // namespace vram
