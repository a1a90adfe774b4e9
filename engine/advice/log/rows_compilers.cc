#include "engine/advice/log/families.h"

namespace vram {
namespace {

// XLA's K, M and G are binary.
constexpr LogRow kXla[] = {
    {"Scoped allocation with size {S used} and limit {S capacity} exceeded scoped vmem limit by {S exceeded}",
     "space=vmem;resource=on-chip", RowRole::starts},
    {"Insufficient scoped vmem: {S used} > {S capacity}", "space=vmem;resource=on-chip", RowRole::starts},
    {"size {B used} exceeds the scoped vmem limit of {B capacity}", "space=vmem;resource=on-chip", RowRole::starts},
    {"in memory space vmem^<.><;> Used {S used} of {S capacity}^< vmem>.^ Exceeded vmem capacity by {S exceeded}",
     "space=vmem;resource=on-chip", RowRole::starts},
    {"in memory space smem^<.><;> Used {S used} of {S capacity}^< smem>.^ Exceeded smem capacity by {S exceeded}",
     "space=smem;resource=on-chip", RowRole::starts},
    {"in memory space sflag", "space=sflag;resource=on-chip", RowRole::starts},
    {"in memory space {w space}^<;> Used {S used} of {S capacity}^< hbm>.^ Exceeded {w} capacity by {S exceeded}", "",
     RowRole::starts},
    {"Used {S used} of {S capacity} hbm.^ Exceeded hbm capacity by {S exceeded}", "", RowRole::starts},
    {"TensorCore Hbm usage: {S used}, SparseCore Hbm usage {S}, exceeding available bytes: {S capacity}", "",
     RowRole::starts},
    {"Total hbm usage >= {S total}:^ reserved {S reserved}^ program {S program}^ arguments {S arguments}"},
    {"HBM capacity {S capacity}:"},
    {"Top-of-Memory reserved: {S} ({B reserved} bytes)"},
    {"Currently allocated: {S allocated_rounded} ({B allocated} bytes)"},
    {"Program hbm requirement {S program}:"},
    {"global {S global} scoped {S scoped}"},
    {"global {S global}"},
    {"HLO temp {S hlo_temp} ("},
    {"Out of memory while trying to allocate {B tried} bytes", "", RowRole::starts},
    {"Out of memory while trying to allocate {S tried}", "", RowRole::starts},
    {"Out of memory allocating {B tried} bytes^ (allocated so far: {B allocated} bytes", "", RowRole::starts},
    {"Attempting to reserve {S tried} at the bottom of memory^. That was not possible. There are {S free} free^, {S} "
     "reserved, and {S reservable} reservable",
     "", RowRole::starts},
    {"Attempting to allocate {S tried}. That was not possible. There are {S free} free^. Due to fragmentation, the "
     "largest contiguous region of free memory is {S largest_free}",
     "", RowRole::starts},
    {"Failed to allocate request for {S} ({S tried}) on device ordinal {n device}", "", RowRole::starts},
    {"Can't reduce memory use below {S limit} ({B}bytes) by rematerialization; only reduced to {S total}", "",
     RowRole::starts},
    {"parameter allocation: {S parameter}"},
    {"constant allocation: {S constant}"},
    {"maybe_live_out allocation: {S maybe_live_out}"},
    {"preallocated temp allocation: {S preallocated_temp}"},
    {"preallocated temp fragmentation: {S temp_fragmentation}"},
    {"total allocation: {S total}"},
    {"total fragmentation: {S fragmentation}"},
};

constexpr LogRow kTensorFlow[] = {
    {"OOM when allocating tensor with shape[{t shape}] and type {w dtype}^ on $GPU:{n device}", "", RowRole::starts},
    {"OOM when allocating tensor with shape[{t shape}]^ [[$T=DT_{w dtype}", "", RowRole::starts},
    {"OOM when allocating tensor with shape[]", "oom=1;unread=tried_bytes", RowRole::starts},
    {"Allocator (cuda_host_bfc) ran out of memory trying to allocate {S tried}^ (rounded to {B tried_rounded})",
     "resource=host", RowRole::starts},
    {"Allocator (gpu_host_bfc) ran out of memory trying to allocate {S tried}^ (rounded to {B tried_rounded})",
     "resource=host", RowRole::starts},
    {"ran out of memory trying to allocate {S tried} (rounded to {B tried_rounded})", "", RowRole::starts},
    {"ran out of memory trying to allocate {S tried}", "", RowRole::starts},
    {"failed to allocate {S} ({B tried} bytes) from device", "", RowRole::starts},
    {"failed to alloc {B tried} bytes", "", RowRole::starts},
    {"Created device ~ with {S limit} memory: -> device: {n device}, name: {t gpu_name}, pci", "", RowRole::starts},
    {"Created TensorFlow device (~ with {S limit} memory) -> physical GPU (device: {n device}, name: {t gpu_name}, pci",
     "", RowRole::starts},  // to 2.4
    {"Found device {n device} with properties: name: {t gpu_name} major:^$Total memory: {S capacity}^ Free memory: "
     "{S free}",
     "", RowRole::starts},
    {"totalMemory: {S capacity}^ freeMemory: {S free}"},
    {"Found device {n device} with properties: pciBusID: {w} name: {t gpu_name} computeCapability: {f}^ coreClock: {w} "
     "coreCount: {n} deviceMemorySize: {S capacity}",
     "", RowRole::starts},
    {"{n} Chunks of size {B} totalling {S}"},
    {"Sum Total of in-use chunks: {S in_use_chunks}"},
    {"Limit: {B limit}$InUse: {B in_use}", "", RowRole::starts},
    {"Stats: Limit: {B limit}^ InUse: {B in_use}", "", RowRole::starts},
    {"MaxInUse: {B max_in_use}"},
    {"Num Allocs: {n num_allocs}^ In Use: {S in_use}^ Peak In Use: {S max_in_use}^ Largest Alloc Size: {S max_alloc}^ "
     "Limit: {S limit}^ Reserved: {S reserved}^ Peak Reserved: {S peak_reserved}^ <Reservable Limit: {S reservable}>^ "
     "Largest Free Block: {S largest_free}",
     "", RowRole::starts},  // Reactant.jl's AllocatorStats
    {"Largest Alloc Size: {S max_alloc}"},
    {"NumAllocs: {n num_allocs}"},
    {"MaxAllocSize: {B max_alloc}"},
    {"Allocation of {B tried} exceeds {f}% of <free ><total >system memory", "resource=host", RowRole::starts},
};

// jax.Device.memory_stats(): bytes.
constexpr LogRow kJaxStatistics[] = {
    {"peak_bytes_in_use@{B peak}"},       {"bytes_in_use@{B in_use}"},   {"bytes_limit@{B limit}"},
    {"largest_alloc_size@{B max_alloc}"}, {"num_allocs@{n num_allocs}"}, {"bytes_reserved@{B reserved}"},
};

// CompiledMemoryStats of Compiled.memory_analysis(): bytes.
constexpr LogRow kJaxAnalysis[] = {
    {"argument_size_in_bytes@{B argument}"},   {"output_size_in_bytes@{B output}"}, {"alias_size_in_bytes@{B alias}"},
    {"host_temp_size_in_bytes@{B host_temp}"}, {"temp_size_in_bytes@{B temp}"},     {"peak_memory_in_bytes@{B peak}"},
};

constexpr LogRow kOnnx[] = {
    {"Failed to allocate memory for requested buffer of size {B tried}", "", RowRole::starts},
    {"Available memory of {B free} is smaller than requested bytes of {B tried}", "", RowRole::starts},
};

// paddle/fluid/memory, platform/gpu_info.cc: binary units, six decimals; plain bytes to 1.2.
constexpr LogRow kPaddle[] = {
    {"Cannot allocate {S tried} memory on GPU {n device}, available memory is only {S free}", "", RowRole::starts},
    {"Cannot allocate {S tried} GPU memory, available memory is {S free}", "", RowRole::starts},
    {"Cannot malloc {S tried} GPU memory", "", RowRole::starts},
    {"Fail to alloc memory of {B tried} size", "resource=host", RowRole::starts},
    {"enforce allocating~available failed, {B tried} > {B free}", "", RowRole::starts},
    {"Cannot allocate {S tried} memory on GPU {n device}^, {S allocated} memory has been allocated^ and available "
     "memory "
     "is only {S free}",
     "", RowRole::starts},
};

constexpr LogRow kMindSpore[] = {
    {"TotalUsedMemStatistics : {B used}", "", RowRole::starts},
    {"alloc size : {B tried}"},
    {"alloc size: {B tried}"},
    {"total mem size : {B capacity}"},
};

constexpr LogRow kTenstorrent[] = {
    {"Not enough space to allocate {B tried} B {w} buffer across {n banks} banks^, where each bank needs to store "
     "{B per_bank} B^, but bank size is <only >{B bank} B^ (allocated: {B bank_allocated} B, free: {B bank_free} B, "
     "largest free block: "
     "{B largest_free} B",
     "", RowRole::starts},
    // tt-train's memory tracker
    {"DRAM: Segment Peak {S}, Allocations {S}, Deallocations {S}, Segment Change {S}", "", RowRole::starts},
    {"DRAM: Cumulative Peak {S peak}, Cumulative Current {S used}"},
    {"L1: Peak CB {S}, Peak Buffer {S}, Peak Total {S}"},
};

constexpr LogRow kTriton[] = {
    {"out of resource: shared memory<,> Required: {B required}<,> Hardware limit<ation>: {B limit}",
     "resource=gpu shared memory (on-chip)", RowRole::starts},
    {"out of resource: tensor memory<,> Required: {B required}<,> Hardware limit: {B limit}",
     "resource=gpu tensor memory (on-chip)", RowRole::starts},
};

// Gaudi: the bridge of PyTorch counts bytes. Neuron: the driver's and the runtime's.
constexpr LogRow kGaudi[] = {
    {"Allocation failed for size::{B tried}", "", RowRole::starts},
};
constexpr LogRow kNeuron[] = {
    {"Failed to alloc DEVICE memory: {B tried}", "", RowRole::starts},
    {"Failed to alloc HOST memory: {B tried}", "resource=host", RowRole::starts},
    {"Could not allocate {B tried} bytes on nd{n device}", "", RowRole::starts},
};

constexpr LogFamily kFamilies[] = {{"XLA", Gigabyte::binary, kXla},
                                   {"TensorFlow", Gigabyte::binary, kTensorFlow},
                                   {"JAX memory_stats", Gigabyte::binary, kJaxStatistics},
                                   {"JAX memory_analysis", Gigabyte::binary, kJaxAnalysis},
                                   {"ONNX Runtime", Gigabyte::binary, kOnnx},
                                   {"PaddlePaddle", Gigabyte::binary, kPaddle},
                                   {"MindSpore", Gigabyte::binary, kMindSpore},
                                   {"TT-Metal", Gigabyte::binary, kTenstorrent},
                                   {"Triton", Gigabyte::binary, kTriton},
                                   {"Gaudi", Gigabyte::binary, kGaudi},
                                   {"Neuron", Gigabyte::binary, kNeuron}};

}  // namespace

std::span<const LogFamily> compiler_families() { return kFamilies; }

}  // namespace vram
