#include "jit/arena.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace Pipe::jit {

namespace {

constexpr int64_t line = 64;
constexpr int64_t page = 2 << 20;  // of the large kind: fewer faults, fewer misses of the TLB
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
    chunks_.reserve(chunks_.size() + 1);  // may throw: before there is something to leak
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
    if (bytes < 0 || bytes > absurd)
        return nullptr;
    bytes = round_up(std::max<int64_t>(bytes, 1), line);
    if (limit > 0 && used_ + bytes > limit)
        return nullptr;
    try {
        // Chunks after the current one are empty; take the first that is large enough.
        size_t chunk = current_;
        while (chunk < chunks_.size() && chunks_[chunk].size - chunks_[chunk].used < bytes)
            chunk++;
        if (chunk == chunks_.size() && !add_chunk(bytes))
            return nullptr;
        blocks_.push_back({chunks_[chunk].memory + chunks_[chunk].used, bytes, chunk});
        chunks_[chunk].used += bytes;
        current_ = chunk;
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    return blocks_.back().memory;
}

void Arena::pop_last() {
    Block &last = blocks_.back();
    chunks_[last.chunk].used -= last.size;
    used_ -= last.size;
    blocks_.pop_back();
    current_ = blocks_.empty() ? 0 : blocks_.back().chunk;
}

void Arena::pop(void *block) {
    bool found = false;
    while (!found && !blocks_.empty()) {
        found = blocks_.back().memory == block;
        pop_last();
    }
}

void Arena::pop_to(size_t depth) {
    while (blocks_.size() > depth)
        pop_last();
}

void Arena::trim(int64_t keep_bytes) {
    while (capacity_ > keep_bytes && chunks_.back().used == 0) {
        capacity_ -= chunks_.back().size;
        std::free(chunks_.back().memory);
        chunks_.pop_back();
    }
    current_ = blocks_.empty() ? 0 : blocks_.back().chunk;
}

}  // namespace Pipe::jit
