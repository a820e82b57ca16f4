#include "jit/runtime/memo_cache.h"

#include <cstdlib>
#include <memory>
#include <new>

#include <fmt/format.h>

#include "jit/runtime/arena.h"
#include "support/error_text.h"
#include <pipe/error.h>
#include <pipe/memoization_cache.h>

namespace Pipe {

void memoization_cache_set_size(int64_t bytes) {
    if (bytes < 0)
        throw RuntimeError(
            fmt::format("memoization_cache_set_size({}): the size is negative.", bytes));
    runtime::MemoCache::get().set_size(bytes);
}

void memoization_cache_evict(uint64_t eviction_key) {
    runtime::MemoCache::get().evict(eviction_key);
}

void memoization_cache_cleanup() {
    runtime::MemoCache::get().clear();
}

}  // namespace Pipe

namespace Pipe::runtime {

MemoEntry::~MemoEntry() {
    std::free(memory);
}

MemoEntry *MemoEntry::make(std::string key, const int64_t *bytes, int64_t count) {
    constexpr int64_t line = 64;
    std::vector<int64_t> offsets;
    int64_t all = 0;
    for (int64_t i = 0; i < count; i++) {
        if (bytes[i] < 0 || bytes[i] > impossible_bytes || all > impossible_bytes)
            return nullptr;
        offsets.push_back(all);
        all += (std::max<int64_t>(bytes[i], 1) + line - 1) / line * line;
    }
    auto *memory = static_cast<char *>(std::aligned_alloc(line, static_cast<size_t>(all)));
    if (!memory)
        return nullptr;
    std::unique_ptr<char, decltype(&std::free)> owner(memory, &std::free);
    auto *entry = new MemoEntry(std::move(key), std::move(offsets), memory, all);
    owner.release();
    return entry;
}

MemoCache &MemoCache::get() {
    static auto *cache = new MemoCache;  // outlives static Pipelines
    return *cache;
}

/// Calls f(list) with the lock held; entries that f puts into the list are freed afterward.
template <typename F> void MemoCache::change(const F &f) {
    Entries unused;
    {
        std::lock_guard lock(mutex_);
        f(&unused);
    }
    for (MemoEntry *entry : unused)
        delete entry;
}

MemoCache::Entries::iterator MemoCache::remove(Entries::iterator at, Entries *unused) {
    MemoEntry *entry = *at;
    auto next = std::next(at);
    table_.erase(entry->key);
    bytes_ -= entry->bytes;
    entry->stored = false;
    if (entry->users == 0)
        unused->splice(unused->end(), order_, at);
    else
        order_.erase(at);
    return next;
}

void MemoCache::prune(Entries *unused) {
    for (auto at = order_.end(); at != order_.begin() && bytes_ > limit_;) {
        --at;
        if ((*at)->users == 0)
            at = remove(at, unused);
    }
}

MemoEntry *MemoCache::find(const std::string &key) {
    std::lock_guard lock(mutex_);
    auto found = table_.find(key);
    if (found == table_.end())
        return nullptr;
    MemoEntry *entry = found->second;
    order_.splice(order_.begin(), order_, entry->place);
    entry->users++;
    return entry;
}

void MemoCache::store(MemoEntry *entry) {
    change([&](Entries *unused) {
        if (table_.count(entry->key))
            return;
        order_.push_front(entry);
        try {
            table_.emplace(entry->key, entry);
        } catch (...) {
            order_.pop_front();
            throw;
        }
        entry->place = order_.begin();
        entry->stored = true;
        bytes_ += entry->bytes;
        prune(unused);
    });
}

void MemoCache::release(MemoEntry *entry) {
    bool unused = false;
    {
        std::lock_guard lock(mutex_);
        unused = --entry->users == 0 && !entry->stored;
    }
    if (unused)
        delete entry;
}

void MemoCache::set_size(int64_t bytes) {
    change([&](Entries *unused) {
        limit_ = bytes == 0 ? default_size : bytes;
        prune(unused);
    });
}

void MemoCache::evict(uint64_t eviction_key) {
    change([&](Entries *unused) {
        for (auto at = order_.begin(); at != order_.end();) {
            bool matches = (*at)->has_eviction_key && (*at)->eviction_key == eviction_key;
            at = matches ? remove(at, unused) : std::next(at);
        }
    });
}

void MemoCache::clear() {
    change([&](Entries *unused) {
        while (!order_.empty())
            remove(order_.begin(), unused);
    });
}

namespace {

std::string key_text(const Context &context, const char *func, const int64_t *key, int64_t keys) {
    std::string text(reinterpret_cast<const char *>(&context.memo_owner),
                     sizeof context.memo_owner);
    text.append(func).push_back('\0');
    return text.append(reinterpret_cast<const char *>(key),
                       static_cast<size_t>(keys) * sizeof *key);
}

MemoEntry *find_or_make(Context &context, const char *func, const int64_t *key, int64_t keys,
                        const int64_t *bytes, int64_t count, int32_t *missing) {
    std::string text = key_text(context, func, key, keys);
    MemoEntry *entry = MemoCache::get().find(text);
    *missing = entry == nullptr;
    if (!entry)
        entry = MemoEntry::make(std::move(text), bytes, count);
    if (entry)
        context.hold(entry);
    return entry;
}

}  // namespace

/// No exception may propagate through generated code.
void *pipe_memo_open(Context *context, const char *func, const int64_t *key, int64_t keys,
                     int64_t *buffers, int64_t count, int32_t *missing) {
    if (context->failed())
        return nullptr;
    MemoEntry *entry = nullptr;
    try {
        entry = find_or_make(*context, func, key, keys, buffers, count, missing);
    } catch (const std::bad_alloc &) {
    }
    if (!entry) {
        context->fail(out_of_memory, fmt::format("out of memory: the memoized Func {}",
                                                 support::marked(support::Field::Func, func)));
        return nullptr;
    }
    for (size_t i = 0; i < entry->offsets.size(); i++)
        buffers[i] = reinterpret_cast<int64_t>(entry->memory + entry->offsets[i]);
    return entry;
}

void pipe_memo_store(Context *context, void *given, int32_t has_eviction_key,
                     uint64_t eviction_key) {
    if (context->failed())
        return;
    auto *entry = static_cast<MemoEntry *>(given);
    entry->has_eviction_key = has_eviction_key != 0;
    entry->eviction_key = eviction_key;
    try {
        MemoCache::get().store(entry);
    } catch (const std::bad_alloc &) {
        // It is used in this run, and recomputed in the next.
    }
}

void pipe_memo_close(Context *context, void *entry) {
    context->release_entry(static_cast<MemoEntry *>(entry));
}

}  // namespace Pipe::runtime
