#include "engine/advice/log/families.h"

namespace vram {
namespace {

// The kernel's kB are 1,024 bytes; its task table counts pages.
constexpr LogRow kKernel[] = {
    {"oom-kill:constraint=CONSTRAINT_NONE", "constraint=global;resource=host"},
    {"oom-kill:constraint=CONSTRAINT_MEMCG", "constraint=memcg;resource=host"},
    {"oom-kill:constraint=CONSTRAINT_CPUSET", "constraint=cpuset;resource=host"},
    {"Kill<ed> process {n}<, UID {n},> ({t process_name}) total-vm:{S total_vm}^, anon-rss:{S anon_rss}^, file-rss:"
     "{S file_rss}^, shmem-rss:{S}",
     "resource=host"},
    {"Kill<ed> process {n}<, UID {n},> ({t process_name}) anon-rss:{S anon_rss}^, file-rss:{S file_rss}^, "
     "shmem-rss:{S}",
     "resource=host"},
    {"oom_reaper: reaped process {n} ({t}), now anon-rss:{S}^, file-rss:{S}^, shmem-rss:{S}",
     "resource=host"},  // what is left of it
    {"invoked oom-killer", "resource=host"},
    {"total-vm:{S total_vm}"},
    {"anon-rss:{S anon_rss}"},
    {"file-rss:{S file_rss}"},
    {"shmem-rss:{S}"},
    {"or sacrifice child", "resource=host"},
    {"Memory cgroup out of memory", "constraint=memcg;resource=host"},
    {"hierarchical_memory_limit {B host_limit}"},  // the files of a control group
    {"memory.limit_in_bytes {B host_limit}"},
    {"memory.max {B host_limit}"},
    {"memory.current {B host_used}"},
    {"memory.peak {B host_peak}"},
    {"memory.usage_in_bytes {B host_used}"},
    {"memory.max_usage_in_bytes {B host_peak}"},
    {"memory: usage {S host_used}, limit {S host_limit}, failcnt", "resource=host"},
    {"due to memory used ({B host_used}) / total ({B host_total})", "resource=host"},  // systemd-oomd
    {"[{n}] {n} {n} {P total_vm} {P rss} {n} {n} {n} {w process_name}", "resource=host"},
    {"[{n}] {n} {n} {P total_vm} {P rss} {P} {P} {P} {n} {n} {n} {w process_name}", "resource=host"},
};

constexpr LogRow kLauncher[] = {
    {"OOMKilled\"@false"},  // a container that was not
    {"has been killed by the OOM killer", "resource=host"},
    {"Mem: {S host_total} {S host_used} {S host_free} {S} {S} {S}"},  // free -h
    {"Failed with result 'oom-kill'", "resource=host"},
    {"The node was low on resource: memory^. Threshold quantity: {S}^, available: {S host_free}", "resource=host"},
    {"Limits:$memory: {S host_limit}"},
    {"mem {S host_used} exceeded limit {S host_limit}", "resource=host"},  // PBS
    {"TERM_MEMLIMIT", "resource=host"},                                    // LSF
    {"exitcode: {n exitcode}^) local_rank: {n local_rank}"},
    {"return code = {n exitcode}"},
    {"Reason: OOMKilled$Exit Code: {n exitcode}", "resource=host"},
    {"Exit Code@{n exitcode}"},
    {"exited with code {n exitcode}"},
    {"signal 9: SIGKILL", "resource=host"},
    {"terminated with signal SIGKILL", "resource=host"},  // torch.multiprocessing
    {"Command terminated by signal 9", "resource=host"},  // time
    {"zsh: killed", "resource=host"},
    {"{n} Killed {w process_name}", "resource=host"},  // a shell: "line 28: 8156 Killed python3 main.py"
    {"rank : {n rank} (local_rank: {n local_rank})"},
    {"Signal 9 (SIGKILL)", "resource=host"},
    {"Signals.SIGKILL: 9", "resource=host"},
    {"OOMKilled", "resource=host"},
};

constexpr LogRow kSlurm[] = {
    {"Detected {n oom_events} oom-kill event", "resource=host"},
    {"Detected {n oom_events} oom_kill event", "resource=host"},
    {"task {n}: Out Of Memory", "resource=host"},
    {"State: OUT_OF_MEMORY", "resource=host"},
    {"OUT_OF_ME+", "resource=host"},  // sacct
    {"OUT_OF_MEMORY 0:125", "resource=host"},
    {"Memory Utilized: {S host_peak}"},  // seff
    {"Memory Efficiency: {f}% of {S host_limit}"},
    {"have been OOM Killed", "resource=host"},
    {"exceeded memory limit ({n} > {n}), being killed", "resource=host;unread=host_used_bytes"},  // in kB or in bytes
    {"Exceeded job memory limit", "resource=host"},
    {"Exceeded step memory limit", "resource=host"},
    {"exceeded virtual memory limit", "resource=host"},
};

// psutil's bytes / 2^30, called GB.
constexpr LogRow kRay[] = {
    {"memory used={S task_used})"},
    {"memory used={S task_used}, worker ID="},  // since 2.50
    {"was {S host_used} / {S host_total} ({f fraction})^, which exceeds the memory usage threshold of {f threshold}",
     "resource=host"},
    {"was {S host_used} / {S host_total}, which exceeds the memory usage threshold", "resource=host"},
    {"killed due to the node running low on memory", "resource=host"},
    {"{n oom_events} Workers (tasks / actors) killed due to memory pressure", "resource=host"},
    {"is used ({G host_used} / {S host_total}). The top", "resource=host"},
};

constexpr LogRow kAllocators[] = {
    {"DefaultCPUAllocator: ~you tried to allocate {B tried}", "resource=host", RowRole::starts},
    {"DefaultCPUAllocator: ", "resource=host", RowRole::starts},
    {"Torch: not enough memory: you tried to allocate {S tried}", "resource=host", RowRole::starts},  // to 1.0
    {"os error 1455", "resource=host;code=1455"},
    {"WinError 1455", "resource=host;code=1455"},
    {"paging file is too small", "resource=host"},
    {"std::bad_alloc: out_of_memory: CUDA error", "oom=1", RowRole::starts},  // RMM, of the GPU
    {"std::bad_alloc", "resource=host"},
    {"MemoryError &", "resource=host"},
    {"Unable to allocate {S tried} for <an >array with", "resource=host", RowRole::starts},
    {"Unable to allocate array with shape", "resource=host", RowRole::starts},
    {"memory allocation of {B tried} bytes failed", "resource=host", RowRole::starts},
    {"Could not allocate pinned host memory of size: {B tried}", "resource=host", RowRole::starts},
    {"[Errno 12] Cannot allocate memory", "resource=host"},
    {"Cannot allocate memory (os error 12)", "resource=host"},
    {"Cannot allocate memory", "resource=host"},
};

constexpr LogRow kShared[] = {
    {"out of shared memory", "resource=shm"},
    {"/dev/shm has only {B shm_free} bytes available", "resource=shm"},  // Ray
    {"insufficient shared memory (shm)", "resource=shm"},                // PyTorch's DataLoader, to 1.7
    {"DataLoader worker (pid {n}) is killed by signal: Bus error", "resource=shm"},
    {"DataLoader worker (pid {n}) is killed by signal: Killed", "resource=host"},
    {"[{n local_device}] {w} NCCL WARN ~failed to extend /dev/shm/{w} to {B shm_tried} bytes", "resource=shm"},
    {"failed to extend /dev/shm/{w} to {B shm_tried} bytes", "resource=shm"},
    {"Error while creating shared memory segment /dev/shm/{w} (size {B})", "resource=shm"},
    {"unable to write to file", "resource=shm"},
    {"No space left on device: '/dev/shm", "resource=shm"},
    {"Failed to CUDA calloc {B tried} bytes", "failed=NCCL"},
    {"Failed to CUDA calloc async {B tried} bytes", "failed=NCCL"},
    {"Failed to CUDA host alloc {B tried} bytes", "failed=NCCL"},
    {"[{n local_device}] {w} NCCL WARN Cuda failure< 2> 'out of memory'", "failed=NCCL;oom=1"},
    {"NCCL WARN Cuda failure< 2> 'out of memory'", "failed=NCCL;oom=1"},
};

constexpr LogRow kOthers[] = {
    {"CUDA_ERROR_OUT_OF_MEMORY", "oom=1"},
    {"Error out of memory at line", "oom=1"},  // bitsandbytes
    {"Error allocating {B tried} bytes of device memory (~Driver report {B free} bytes free and {B capacity} bytes "
     "total",
     "", RowRole::starts},  // Theano
    {"Some modules are dispatched on the CPU or the disk", "stage=weights"},
    {"Current model requires {B offload_buffer} bytes of buffer for offloaded layers", "stage=weights"},
};

constexpr LogFamily kFamilies[] = {
    {"Linux kernel", Gigabyte::binary, kKernel}, {"launcher", Gigabyte::binary, kLauncher},
    {"Slurm", Gigabyte::binary, kSlurm},         {"Ray", Gigabyte::binary, kRay},
    {"host", Gigabyte::binary, kAllocators},     {"NCCL", Gigabyte::binary, kShared},
    {"CUDA", Gigabyte::binary, kOthers}};

}  // namespace

std::span<const LogFamily> host_families() { return kFamilies; }

}  // namespace vram
