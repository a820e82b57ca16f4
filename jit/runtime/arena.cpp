#include "jit/runtime/arena.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace Pipe::runtime {

namespace {

constexpr int64_t line = 64;
constexpr int64_t page = 2 << 20;  // huge page size: fewer page faults and TLB misses
constexpr int64_t first_chunk = 256 << 10;

int64_t round_up(int64_t n, int64_t to) {
    return (n + to - 1) / to * to;
}

}  // namespace

Arena::~Arena() {
    for (Chunk &c : chunks_)
        std::free(c.memory);
}

bool Arena::add_chunk(int64_t bytes) {
    int64_t size = std::max(bytes, chunks_.empty() ? first_chunk : 2 * chunks_.back().size);
    chunks_.reserve(chunks_.size() + 1);  // may throw: before there is anything to leak
    if (size >= page)
        size = round_up(std::max(bytes, std::min<int64_t>(size, 64 << 20)), page);
    auto align = static_cast<size_t>(size >= page ? page : line);
    auto *memory = static_cast<char *>(std::aligned_alloc(align, static_cast<size_t>(size)));
    if (!memory)
        return false;
    if (size >= page)
        madvise(memory, static_cast<size_t>(size), MADV_HUGEPAGE);
    chunks_.push_back({memory, size, 0});
    capacity_ += size;
    return true;
}

void *Arena::push(int64_t bytes, int64_t limit) {
    if (bytes < 0 || bytes > impossible_bytes)
        return nullptr;
    bytes = round_up(std::max<int64_t>(bytes, 1), line);
    if (limit > 0 && used_ + bytes > limit)
        return nullptr;
    void *block = nullptr;
    try {
        block = gaps_ > 0 ? push_into_gap(bytes) : nullptr;
        if (!block)
            block = push_on_top(bytes);
    } catch (const std::bad_alloc &) {
    }
    if (!block)
        return nullptr;
    pushed_++;
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    return block;
}

/// Chunks after the current one are empty; uses the first that is large enough.
void *Arena::push_on_top(int64_t bytes) {
    size_t chunk = current_;
    while (chunk < chunks_.size() && chunks_[chunk].size - chunks_[chunk].used < bytes)
        chunk++;
    if (chunk == chunks_.size() && !add_chunk(bytes))
        return nullptr;
    blocks_.push_back({chunks_[chunk].memory + chunks_[chunk].used, bytes, chunk, pushed_});
    chunks_[chunk].used += bytes;
    current_ = chunk;
    return blocks_.back().memory;
}

/// The smallest gap that is large enough; its remainder stays a gap.
void *Arena::push_into_gap(int64_t bytes) {
    size_t best = blocks_.size();
    for (size_t i = 0; i < blocks_.size(); i++)
        if (blocks_[i].free && blocks_[i].size >= bytes &&
            (best == blocks_.size() || blocks_[i].size < blocks_[best].size))
            best = i;
    if (best == blocks_.size())
        return nullptr;
    if (blocks_[best].size > bytes) {
        Block rest = blocks_[best];
        rest.memory += bytes;
        rest.size -= bytes;
        blocks_.insert(blocks_.begin() + static_cast<long>(best) + 1, rest);
        gaps_++;
    }
    gaps_--;
    blocks_[best] = {blocks_[best].memory, bytes, blocks_[best].chunk, pushed_};
    return blocks_[best].memory;
}

void Arena::free_block(size_t i) {
    auto join_with_next = [&](size_t first) {
        if (first + 1 >= blocks_.size())
            return;
        Block &a = blocks_[first];
        const Block &b = blocks_[first + 1];
        if (!a.free || !b.free || a.chunk != b.chunk)
            return;
        a.size += b.size;
        blocks_.erase(blocks_.begin() + static_cast<long>(first) + 1);
        gaps_--;
    };
    used_ -= blocks_[i].size;
    blocks_[i].free = true;
    gaps_++;
    join_with_next(i);
    if (i > 0)
        join_with_next(i - 1);
    while (!blocks_.empty() && blocks_.back().free) {
        chunks_[blocks_.back().chunk].used -= blocks_.back().size;
        blocks_.pop_back();
        gaps_--;
    }
    current_ = blocks_.empty() ? 0 : blocks_.back().chunk;
}

void Arena::pop(void *block) {
    for (size_t i = blocks_.size(); i-- > 0;)
        if (blocks_[i].memory == block)
            return free_block(i);
}

void Arena::pop_since(int64_t mark) {
    for (size_t i = blocks_.size(); i-- > 0;)
        if (i < blocks_.size() && !blocks_[i].free && blocks_[i].number >= mark)
            free_block(i);
}

void Arena::trim(int64_t keep_bytes) {
    while (capacity_ > keep_bytes && chunks_.back().used == 0) {
        capacity_ -= chunks_.back().size;
        std::free(chunks_.back().memory);
        chunks_.pop_back();
    }
    current_ = blocks_.empty() ? 0 : blocks_.back().chunk;
}

}  // namespace Pipe::runtime
