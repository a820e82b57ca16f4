#pragma once
// The cache of what memoized Funcs computed (Func::memoize). One for all pipelines of the process;
// from several threads at once.

#include <cstdint>

namespace Pipe {

/// The most bytes that the cache keeps; 0: the default, 1 MiB. Where more would be kept, what was
/// not used for the longest time goes. What a running pipeline uses stays, so that the cache may
/// hold more for a time, and keeps even a result that is larger by itself until another is stored.
/// RuntimeError where `bytes` is negative.
void memoization_cache_set_size(int64_t bytes);

/// Removes all that was stored with this EvictionKey. A pipeline that runs uses on what it has.
void memoization_cache_evict(uint64_t eviction_key);

/// Removes everything, and gives its memory back.
void memoization_cache_cleanup();

}  // namespace Pipe
