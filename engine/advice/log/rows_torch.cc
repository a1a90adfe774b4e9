#include "engine/advice/log/families.h"

namespace vram {
namespace {

// c10/cuda/CUDACachingAllocator.cpp (1.0 to 2.14), intel-extension-for-pytorch, torch_npu: one sentence, clause by
// clause, since pastes are cut and clauses come and go with the version and the back end.
constexpr LogRow kAllocator[] = {
    {"MPS backend out of memory (MPS allocated: {S allocated}, other allocations: {S other}, max allowed: "
     "{S max_allowed}^). Tried to allocate {S tried}^ on {w pool} pool",
     "", RowRole::starts},
    {"Tried to allocate {S tried}", "", RowRole::starts},
    {"(GPU {n device}; {S capacity} total capacity"},
    {"(NPU {n device}; {S capacity} total capacity"},
    {"(XPU {n device}; {S capacity} total capacity"},
    {"; {S allocated} already allocated"},
    {"; {S active} current active"},
    {"; {S free} free"},
    {"; {S reserved} reserved in total by PyTorch"},
    {"; {S cached} cached"},
    {"GPU {n device} has a total capac<i>ty of^ {S capacity}^ of which {S free}^ is free"},
    {"NPU {n device} has a total capac<i>ty of^ {S capacity}^ of which {S free}^ is free"},
    {"XPU {n device} has a total capac<i>ty of^ {S capacity}^ of which {S free}^ is free"},
    {"of which {S free} is free"},
    {"Including non-PyTorch memory, this process has {S process}^ memory in use"},
    {"Process {n} has {S process_list}^ memory in use"},
    {"{S allowed} allowed;"},
    {"Of the allocated memory {S allocated}^ is allocated by PyTorch"},
    {", with {S private_pool}^ allocated in private pools"},
    {"and {S reserved_unallocated} is reserved by PyTorch but unallocated"},
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
    {"CUBLAS_STATUS_ALLOC_FAILED", "failed=cuBLAS"},
    {"CUDNN_STATUS_ALLOC_FAILED", "failed=cuDNN"},
};

// torch/cuda/memory.py, memory_summary(): columns now, peak, all allocated, all freed; step 1,024 whatever the unit.
constexpr LogRow kSummary[] = {
    {"CUDA OOMs: {n num_ooms} | cudaMalloc retries: {n alloc_retries}", "", RowRole::starts},
    {"| Allocated memory | {S allocated} | {S peak_allocated} |"},
    {"| Active memory | {S active} | {S peak_active} |"},
    {"| Requested memory | {S requested} | {S peak_requested} |"},
    {"| GPU reserved memory | {S reserved} | {S peak_reserved} |"},
    {"| Non-releasable memory | {S non_releasable} | {S} |"},
    {"| Allocations | {n allocations} | {n} |"},
};

// memory_stats(): bytes, as a dict, an OrderedDict, pprint's columns or JSON.
constexpr LogRow kStats[] = {
    {"allocated_bytes.all.current@{B allocated}"},
    {"allocated_bytes.all.peak@{B peak_allocated}"},
    {"active_bytes.all.current@{B active}"},
    {"active_bytes.all.peak@{B peak_active}"},
    {"inactive_split_bytes.all.current@{B inactive_split}"},
    {"inactive_split_bytes.all.peak@{B}"},
    {"requested_bytes.all.current@{B requested}"},
    {"requested_bytes.all.peak@{B}"},
    {"reserved_bytes.all.current@{B reserved}"},
    {"reserved_bytes.all.peak@{B peak_reserved}"},
    {"reserved_bytes.all.allocated@{B reserved_allocated_total}"},
    {"num_alloc_retries@{n alloc_retries}"},
    {"num_ooms@{n num_ooms}"},
    {"max_memory_allocated()@{B peak_allocated}"},
    {"max_memory_reserved()@{B peak_reserved}"},
};

constexpr LogFamily kFamilies[] = {{"PyTorch", Gigabyte::binary, kAllocator},
                                   {"PyTorch memory_summary", Gigabyte::binary, kSummary},
                                   {"PyTorch memory_stats", Gigabyte::binary, kStats}};

}  // namespace

std::span<const LogFamily> torch_families() { return kFamilies; }

}  // namespace vram
