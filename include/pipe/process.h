#pragma once
// Limits for the threads and memory that Pipe uses in the host process.

#include <cstdint>

namespace Pipe {

/// Sets the maximum number of threads of a parallel loop, for all pipelines and all threads of this
/// process, from the next call of a pipeline on; 0 restores the default. It is also the number of
/// cores that the autoscheduler schedules for, and of threads that compile a large pipeline.
/// JITUserContext::num_threads takes precedence for loops. More than 4096 count as 4096.
/// RuntimeError if negative.
///
/// The default is OMP_NUM_THREADS or omp_set_num_threads(), if set; else the number of processors
/// in the process's affinity mask, limited by the CPU quota of its control group (cgroup v1 or v2),
/// rounded up: a quota of 2.5 processors allows 3 threads.
void set_num_threads(int threads);
/// The number of threads that a parallel loop would use now; at least 1.
int get_num_threads();

/// Returns cached memory to the system: scratch memory of all threads, the entries of the
/// memoization cache, and device memory that earlier runs on GPUs used (waits for pipelines that run
/// there). Memory in use by a running pipeline stays until it ends. Compiled code stays: it belongs to
/// Pipelines and Callables.
void release_memory();

/// Sets the maximum scratch memory, in bytes, that each thread keeps between calls of pipelines
/// (default: 256 MiB). A call may use more and returns the excess at its end, which costs time in
/// each call. RuntimeError if negative. The memoization cache has its own limit:
/// memoization_cache_set_size.
void set_kept_memory(int64_t bytes_per_thread);
int64_t get_kept_memory();

}  // namespace Pipe
