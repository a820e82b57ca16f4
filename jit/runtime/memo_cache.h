#pragma once
// MemoCache: the values of memoized Funcs, kept between runs. Its entry points for generated code
// are described in jit/runtime/abi.h.

#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jit/runtime/runtime.h"

namespace Pipe::runtime {

/// The buffers of one Func, computed once for one key.
struct MemoEntry {
    MemoEntry(std::string k, std::vector<int64_t> offsets_, char *memory_, int64_t bytes_)
        : key(std::move(k)), offsets(std::move(offsets_)), memory(memory_), bytes(bytes_) {}
    ~MemoEntry();
    MemoEntry(const MemoEntry &) = delete;

    /// Allocates buffers of these sizes, with one user; null if out of memory.
    static MemoEntry *make(std::string key, const int64_t *bytes, int64_t count);

    const std::string key;
    const std::vector<int64_t> offsets;  ///< of the buffers in the memory
    char *const memory;
    const int64_t bytes;
    bool has_eviction_key = false;
    uint64_t eviction_key = 0;

    // Guarded by the cache's mutex.
    int users = 1;
    bool stored = false;
    std::list<MemoEntry *>::iterator place;  ///< its position in the cache
};

class MemoCache {
  public:
    static constexpr int64_t default_size = 1 << 20;

    static MemoCache &get();

    /// The entry for the key, with an additional user; null if there is none.
    MemoEntry *find(const std::string &key);
    /// Stores a complete entry. If another thread stored one meanwhile, that stays.
    void store(MemoEntry *entry);
    /// Removes a user. An entry that is not stored is freed with its last user.
    void release(MemoEntry *entry);

    void set_size(int64_t bytes);
    void evict(uint64_t eviction_key);
    void clear();

  private:
    using Entries = std::list<MemoEntry *>;

    Entries::iterator remove(Entries::iterator at, Entries *unused);
    void prune(Entries *unused);
    template <typename F> void change(const F &f);

    std::mutex mutex_;
    std::unordered_map<std::string_view, MemoEntry *> table_;  ///< the keys point into the entries
    Entries order_;                                            ///< most recently used first
    int64_t bytes_ = 0, limit_ = default_size;
};

}  // namespace Pipe::runtime
