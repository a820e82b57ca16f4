// Context: failures, calls of the user's handlers, memoized entries in use.

#include "jit/runtime/runtime.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "jit/runtime/arena.h"
#include "jit/runtime/memo_cache.h"

namespace Pipe::runtime {

void Context::fail(int32_t code, std::string message) {
    std::lock_guard lock(mutex_);
    if (failed())
        return;
    message_ = std::move(message);
    code_ = code;
    failed_.store(true, std::memory_order_relaxed);
}

void Context::keep_exception() noexcept {
    fail(handler_failed, "A handler threw an exception.");
    std::lock_guard lock(mutex_);
    if (!thrown_)
        thrown_ = std::current_exception();
}

/// Header before each block that the pipeline uses.
struct Context::Block {
    void *given;  ///< by custom_malloc
    Block *previous, *next;
};

namespace {
constexpr int64_t alignment = 64, header = 64;
}

void *Context::custom_allocate(int64_t bytes) {
    static_assert(sizeof(Block) <= header);
    if (bytes < 0 || bytes > impossible_bytes)
        return nullptr;
    void *given = nullptr;
    call([&] {
        given = handlers.custom_malloc(user, static_cast<size_t>(bytes + header + alignment));
    });
    if (!given)
        return nullptr;
    auto address = reinterpret_cast<uintptr_t>(given) + header;
    auto *memory = reinterpret_cast<char *>((address + alignment - 1) / alignment * alignment);
    std::lock_guard lock(mutex_);
    auto *block = new (memory - header) Block{given, nullptr, blocks_};
    if (blocks_)
        blocks_->previous = block;
    blocks_ = block;
    return memory;
}

void Context::custom_release(void *memory) {
    auto *block = reinterpret_cast<Block *>(static_cast<char *>(memory) - header);
    {
        std::lock_guard lock(mutex_);
        (block->previous ? block->previous->next : blocks_) = block->next;
        if (block->next)
            block->next->previous = block->previous;
    }
    if (!handlers.custom_free)
        return;
    call([&, given = block->given] { handlers.custom_free(user, given); });
}

/// If there is not enough memory to record it, it is released at once.
void Context::hold(MemoEntry *entry) {
    try {
        std::lock_guard lock(mutex_);
        memos_.push_back(entry);
    } catch (...) {
        MemoCache::get().release(entry);
        throw;
    }
}

void Context::release_entry(MemoEntry *entry) {
    {
        std::lock_guard lock(mutex_);
        // The same entry may occur twice; it is usually the most recent.
        memos_.erase(std::prev(std::find(memos_.rbegin(), memos_.rend(), entry).base()));
    }
    MemoCache::get().release(entry);
}

/// Frees what remains after an error.
Context::~Context() {
    for (MemoEntry *entry : memos_)
        MemoCache::get().release(entry);
    while (blocks_)
        custom_release(reinterpret_cast<char *>(blocks_) + header);
}

}  // namespace Pipe::runtime
