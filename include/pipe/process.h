#pragma once
// Threads and memory that Pipe takes of the process that it is part of.

#include <cstdint>

namespace Pipe {

/// The most threads of a parallel loop, for all pipelines and all threads of this process, from the
/// next call of a pipeline on; 0: as if nothing had been set. Also the number of cores that the
/// autoscheduler schedules for. JITUserContext::num_threads is stronger. A RuntimeError if negative.
///
/// Where nothing is set: OMP_NUM_THREADS or omp_set_num_threads(); else the processors that the
/// process may use (its affinity), and no more than its control group (cgroup v1 or v2) gives it
/// time for: a quota of 2.5 processors makes 3 threads.
void set_num_threads(int threads);
/// The number of threads that a parallel loop would run on now; at least 1.
int get_num_threads();

/// Gives memory back to the system that is kept to make the next call quicker: scratch memory of
/// all threads, what memoized Funcs stored, and on GPUs the memory of earlier calls (pipelines that run there are
/// waited for). What a running pipeline uses stays until it ends.
/// Code that was compiled stays: it belongs to Pipelines and Callables.
void release_memory();

/// The most scratch memory, in bytes, that each thread keeps from one call of a pipeline to the
/// next (default: 256 MiB). A call may use more and then gives the rest back; more than it keeps
/// costs the time to get it from the system again. A RuntimeError if negative. Memoized Funcs have
/// their own limit: memoization_cache_set_size.
void set_kept_memory(int64_t bytes_per_thread);
int64_t get_kept_memory();

}  // namespace Pipe
