#pragma once
// The cache of memoized Funcs (Func::memoize): one for all pipelines of the process, thread-safe.

#include <cstdint>

namespace Pipe {

/// Sets the capacity in bytes; 0: the default, 1 MiB. Beyond it, the least recently used entries
/// are evicted. Entries in use by a running pipeline stay, so the cache may exceed its capacity for
/// a time; a single entry larger than the capacity stays until the next one is stored. RuntimeError
/// if `bytes` is negative.
void memoization_cache_set_size(int64_t bytes);

/// Removes all entries stored with this EvictionKey. Running pipelines keep the entries they hold.
void memoization_cache_evict(uint64_t eviction_key);

/// Removes all entries and releases their memory.
void memoization_cache_cleanup();

}  // namespace Pipe
