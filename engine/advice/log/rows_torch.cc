#include "engine/advice/log/families.h"

namespace vram {
namespace {

// c10/cuda/CUDACachingAllocator.cpp (1.0 to 2.14), intel-extension-for-pytorch, torch_npu: one sentence, clause by
// clause, since pastes are cut and clauses come and go with the version and the back end.
constexpr LogRow kAllocator[] = {
    {"MPS backend out of memory (MPS allocated: {S allocated}^, other allocations: {S other}^, max allowed: "
     "{S max_allowed}^). Tried to allocate {S tried}^ on {w pool} pool",
     "", RowRole::starts},
    {"can NOT allocate memory block with size larger than {S}"},  // IPEX: no host's "Cannot allocate memory"
    {"Tried to allocate {S tried}", "", RowRole::starts},
    {"trying to allocate {S tried}"},
    {"memory allocation failed with OOM on device {n device}^ while trying to allocate {B tried} bytes^ (free: {B "
     "free}, "
     "total: {B capacity})",
     "", RowRole::starts},  // refused once: the cache is emptied, and it is tried again
    {"Tried to allocate more than {n}EB", "oom=1;unread=tried_bytes", RowRole::starts},  // 2^60 bytes and above
    {"(GPU {n device};^ {S capacity} total capacity"},
    {"({w} {n device}; {S capacity} total< capacity>"},  // NPU, XPU, MLU
    {"; {S allocated} <already >allocated"},
    {"; {S active} current active"},
    {"; {S free} free"},
    {"; {S reserved} reserved in total by PyTorch"},
    {"; {S cached} cached"},
    {"{n device} has <a >total capac<i>ty of^ {S capacity}^ of which {S free}^ is free"},  // GPU, NPU, XPU, MLU
    {"has <a >total capac<i>ty of^ {S capacity}^ of which {S free}^ is free"},
    {"of which {S free} is free"},
    {"GPU {n device} ! {S free} is free"},
    {"Including non-PyTorch memory, this process has {S process}^ memory in use"},
    {"Process {n} has {S process_list}^ memory in use"},
    {"{S allowed} allowed;"},
    {"Of the allocated memory {S allocated}^ is allocated by PyTorch"},
    {", with {S private_pool}^ allocated in private pools"},
    {"and {S reserved_unallocated} is reserved by PyTorch but unallocated"},
    // of a sentence that somebody shortened
    {"({S capacity} total; {S allocated} already allocated"},
    {"{S capacity} total capacity"},
    {"{S allocated} already allocated"},
    {"Already allocated {S allocated}"},
    {"{S reserved} reserved in total by PyTorch"},
    {"this process has {S process} memory in use"},
    {"{S allocated} is allocated by PyTorch"},
    {"{S allocated} allocated by PyTorch"},
    {"{S private_pool} allocated in private pools"},
    {"{S reserved_unallocated} is reserved by PyTorch but unallocated"},
    {"{S reserved_unallocated} reserved by PyTorch but unallocated"},
    {"{S reserved_unallocated} reserved but unallocated"},
    // the cudaMallocAsync back end
    {"Allocation on device {n device} would exceed allowed memory", "oom=1", RowRole::starts},
    {"Allocation on device", "oom=1", RowRole::starts},
    {"Currently allocated : {S allocated}"},
    {"Requested : {S tried}"},
    {"Device limit : {S capacity}"},
    {"Free (according to CUDA): {S free}"},
    {"PyTorch limit (set by user-supplied memory fraction) : {S pytorch_limit}"},
    // no figures
    {"CUDA error: out of memory$current device: {n device}, in function alloc", "oom=1;stage=runtime pool"},
    {"CUDA error: out of memory", "oom=1"},
    {"HIP error: out of memory", "oom=1"},
    {"UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", "oom=1"},
    {"XPU out of memory, please use", "oom=1"},
    {"hipErrorOutOfMemory", "oom=1"},
    {"cudaErrorMemoryAllocation", "oom=1"},
    {"[rank{n rank}]:", "", RowRole::prefix},
    {"Could not allocate tensor with {B tried} bytes", "", RowRole::starts},  // DirectML
    {"Could not allocate tensor with {S tried}", "", RowRole::starts},
    {"Invalid buffer size: {S tried}", "", RowRole::starts},    // MPS: more than one buffer may hold
    {"No executable batch size found, reached zero", "oom=1"},  // accelerate's find_executable_batch_size
    {"CUBLAS_STATUS_ALLOC_FAILED", "failed=cuBLAS"},
    {"CUBLAS_STATUS_NOT_INITIALIZED", "failed=cuBLAS"},
    {"CUDNN_STATUS_ALLOC_FAILED", "failed=cuDNN"},
    {"CUDNN_STATUS_NOT_INITIALIZED", "failed=cuDNN"},
};

// torch/cuda/memory.py, memory_summary(): columns now, peak, all allocated, all freed; step 1,024 whatever the unit.
constexpr LogRow kSummary[] = {
    {"memory summary, device ID {n device}^$OOMs: {n num_ooms} | {w} retries: {n alloc_retries}", "", RowRole::starts},
    {"OOMs: {n num_ooms} | {w} retries: {n alloc_retries}", "", RowRole::starts},
    {"| Allocated memory | {S allocated} | {S peak_allocated} |"},
    {"| Active memory | {S active} | {S peak_active} |"},
    {"| Requested memory | {S requested} | {S peak_requested} |"},
    {"reserved memory | {S reserved} | {S peak_reserved} |"},  // of a GPU, an NPU
    {"| Non-releasable memory | {S non_releasable} | {S} |"},
    {"| Allocations | {n allocations} | {n} |"},
    {"| from large pool | {S} |"},
    {"| from small pool | {S} |"},
};

// torch/cuda/memory.py, list_gpu_processes(): bytes / 1024^2.
constexpr LogRow kProcesses[] = {
    {"GPU:{n device}$process {n} uses {S process_list} GPU memory", "", RowRole::starts},
    {"process {n} uses {S process_list} GPU memory"},
};

// memory_stats(): bytes (in a table of somebody's own also what they divided them by), as a dict, an OrderedDict,
// pprint's columns or JSON.
constexpr LogRow kStats[] = {
    {"allocated_bytes.all.current@{b allocated}"},
    {"allocated_bytes.all.peak@{b peak_allocated}"},
    {"active_bytes.all.current@{b active}"},
    {"active_bytes.all.peak@{b peak_active}"},
    {"inactive_split_bytes.all.current@{b inactive_split}"},
    {"inactive_split_bytes.all.peak@{b}"},
    {"requested_bytes.all.current@{b requested}"},
    {"requested_bytes.all.peak@{b}"},
    {"reserved_bytes.all.current@{b reserved}"},
    {"reserved_bytes.all.peak@{b peak_reserved}"},
    {"reserved_bytes.all.allocated@{b reserved_allocated_total}"},
    {"num_alloc_retries@{n alloc_retries}"},
    {"num_ooms@{n num_ooms}"},
};

// memory_snapshot(): a list of segments, in bytes.
constexpr LogRow kSnapshot[] = {
    {"'total_size'@{B segment}", "", RowRole::starts},
    {"\"total_size\"@{B segment}", "", RowRole::starts},
    {"'allocated_size'@{B segment_allocated}"},
    {"\"allocated_size\"@{B segment_allocated}"},
};

// What people print of torch.cuda: of bytes, or of what they divided them by.
constexpr LogRow kPrints[] = {
    {"total_memory_available (GB)@{G capacity}"},  // optimum-habana, beside the next
    {"max_memory_allocated@{S peak_allocated}"},
    {"max_memory_allocated@{b peak_allocated}"},
    {"max_memory_reserved@{S peak_reserved}"},
    {"max_memory_reserved@{b peak_reserved}"},
    {"peak_memory_allocated@{S peak_allocated}"},
    {"peak_memory_allocated@{b peak_allocated}"},
    {"peak_memory_reserved@{S peak_reserved}"},
    {"peak_memory_reserved@{b peak_reserved}"},
    {"memory_allocated@{S allocated}"},
    {"memory_allocated@{b allocated}"},
    {"memory_reserved@{S reserved}"},
    {"memory_reserved@{b reserved}"},
    {"CudaDeviceProperties(name='{t gpu_name}', ~total_memory={S capacity}"},  // torch.cuda.get_device_properties
    {"max_memory: {S peak_allocated} reserved_memory: {S peak_reserved}"},     // XTuner
    {"Current allocate {S allocated}, reserved: {S reserved}"},
    {"Total: {S capacity}, Allocated: {S allocated}, Reserved: {S reserved}, Cached: {S}", "", RowRole::loose},  // verl
    {"reserved: {S reserved}, free: {S free}, total: {S capacity}", "", RowRole::loose},
};

// verl/utils/profiler/performance.py and utils/debug: bytes / 1024^3, called GB; of what is reserved some print MB.
constexpr LogRow kVerl[] = {
    {"memory allocated (GB): {G allocated}, memory reserved (GB): {G reserved}^, device memory used/total (GB): "
     "{G device}/{G capacity}",
     "", RowRole::starts},
    {"memory allocated (GB): {G allocated}, memory reserved (MB): {M reserved}, memory max reserved (GB): "
     "{G peak_reserved}",
     "", RowRole::starts},
    {"in sharding manager: {S used} / {S total}"},
    {"CPU Memory : {S host_total} GPU Count : {n gpus}"},  // scripts/diagnose.py
    {"GPU {n} Type : {t gpu_name} GPU {n} Memory : {S capacity}"},
};

// modules/memmon.py of AUTOMATIC1111's web UI, to 1.5 and later; its units are binary.
constexpr LogRow kWebUi[] = {
    {"Torch active/reserved: {M active}/{M reserved} MiB, Sys VRAM: {M used}/{M total} MiB", "", RowRole::starts},
    {"A: {S active}, R: {S reserved}, Sys: {G used}/{G total} GB", "", RowRole::starts},
};

// comfy/model_management.py, model_patcher.py: bytes / 2^20; before 2025-10 without a unit.
constexpr LogRow kComfy[] = {
    {"Total VRAM {S capacity}, total RAM {S host_total}", "", RowRole::starts},
    {"Device: cuda:{n device} {t gpu_name} :"},
    {"Name: cuda:{n device} {t gpu_name} :"},
    {"VRAM Total: {B total}", "", RowRole::phrase},
    {"VRAM Free: {B free}", "", RowRole::phrase},
    {"Torch VRAM Total: {B torch_total}"},
    {"Torch VRAM Free: {B torch_free}"},
    {"loaded partially; {S usable} usable, {S loaded} loaded, {S offloaded} offloaded", "", RowRole::starts},
    {"loaded completely; {S usable} usable, {S loaded} loaded", "", RowRole::starts},
    {"loaded partially {M usable} {M loaded} {n}", "", RowRole::starts},
    {"loaded completely {M usable} {M loaded} True", "", RowRole::starts},
    {"loading in lowvram mode {M usable}", "", RowRole::starts},
    {"prepared for dynamic VRAM loading. {S staged} Staged", "", RowRole::starts},
};

constexpr LogFamily kFamilies[] = {{"PyTorch", Gigabyte::binary, kAllocator},
                                   {"PyTorch memory_summary", Gigabyte::binary, kSummary},
                                   {"PyTorch memory_stats", Gigabyte::binary, kStats},
                                   {"PyTorch memory_snapshot", Gigabyte::binary, kSnapshot},
                                   {"PyTorch processes", Gigabyte::binary, kProcesses},
                                   {"PyTorch print", Gigabyte::binary, kPrints},
                                   {"verl", Gigabyte::binary, kVerl},
                                   {"web UI", Gigabyte::binary, kWebUi},
                                   {"ComfyUI", Gigabyte::binary, kComfy}};

}  // namespace

std::span<const LogFamily> torch_families() { return kFamilies; }

}  // namespace vram
