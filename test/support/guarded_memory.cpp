#include "support/guarded_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace Pipe::testing {

namespace {

size_t page_size() {
    static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

/// Pages between two that may not be touched. Mapping them costs more than most blocks are used, so
/// small ones are used again: what was written to them after they were freed is found then.
class Pages {
  public:
    /// The first of `bytes` (a multiple of the page) filled with poison.
    unsigned char *map(size_t bytes) {
        if (unsigned char *kept = reuse(bytes))
            return kept;
        void *whole =
            mmap(nullptr, bytes + 2 * page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (whole == MAP_FAILED)
            throw std::bad_alloc();
        unsigned char *first = static_cast<unsigned char *>(whole) + page_size();
        mprotect(first, bytes, PROT_READ | PROT_WRITE);
        std::memset(first, poison, bytes);
        return first;
    }

    void unmap(unsigned char *first, size_t bytes) {
        if (bytes <= largest_kept) {
            std::memset(first, poison, bytes);
            std::lock_guard lock(mutex_);
            std::vector<unsigned char *> &kept = free_[bytes];
            if (kept.size() < most_kept)
                return kept.push_back(first);
        }
        munmap(first - page_size(), bytes + 2 * page_size());
    }

  private:
    static constexpr size_t largest_kept = 1 << 16, most_kept = 64;

    unsigned char *reuse(size_t bytes) {
        unsigned char *first;
        {
            std::lock_guard lock(mutex_);
            auto kept = free_.find(bytes);
            if (kept == free_.end() || kept->second.empty())
                return nullptr;
            first = kept->second.back();
            kept->second.pop_back();
        }
        // Each byte equals the one before; a library's loop over them is much faster than ours.
        if (bytes > 0 && (*first != poison || std::memcmp(first, first + 1, bytes - 1) != 0)) {
            std::fprintf(stderr, "guarded memory was written after it was freed\n");
            std::abort();
        }
        return first;
    }

    std::mutex mutex_;
    std::map<size_t, std::vector<unsigned char *>> free_;  ///< by their size
};

/// Lives as long as the process: memory is freed after main, too.
Pages &pages() {
    static Pages *const all = new Pages;
    return *all;
}

}  // namespace

GuardedMemory::GuardedMemory(size_t bytes, bool at_start)
    : inside_((bytes + page_size() - 1) / page_size() * page_size()), first_(pages().map(inside_)),
      data_(at_start ? first_ : first_ + inside_ - bytes), bytes_(bytes) {}

GuardedMemory::~GuardedMemory() {
    pages().unmap(first_, inside_);
}

GuardedBuffer::GuardedBuffer(Type type, const std::vector<std::pair<int, int>> &mins_and_extents,
                             int padding, bool at_start) {
    std::vector<BufferDim> dims;
    int64_t stride = 1;
    for (auto [min, extent] : mins_and_extents) {
        dims.push_back({min, extent, stride});
        stride *= extent;
        if (dims.size() == 1)
            stride += padding;
    }
    int64_t elements = 1;  // from the first to the last one
    for (const BufferDim &d : dims)
        elements += (d.extent - 1) * d.stride;
    memory =
        std::make_shared<GuardedMemory>(static_cast<size_t>(elements * type.bytes()), at_start);
    buffer = Buffer<void>(type, static_cast<void *>(memory->data()), dims);
}

bool GuardedBuffer::padding_intact() const {
    const BufferView &view = buffer.view();
    auto bytes = static_cast<size_t>(view.type.bytes());
    std::vector<bool> element(memory->size(), false);
    auto first = static_cast<unsigned char *>(view.host) - memory->data();
    std::vector<int64_t> offsets{first / view.type.bytes()};
    for (const BufferDim &d : view.dims) {
        std::vector<int64_t> next;
        for (int64_t offset : offsets) {
            for (int64_t i = 0; i < d.extent; i++)
                next.push_back(offset + i * d.stride);
        }
        offsets = std::move(next);
    }
    for (int64_t offset : offsets) {
        for (size_t b = 0; b < bytes; b++)
            element[static_cast<size_t>(offset) * bytes + b] = true;
    }
    for (size_t i = 0; i < element.size(); i++) {
        if (!element[i] && memory->data()[i] != poison)
            return false;
    }
    return true;
}

GuardedContext::GuardedContext() {
    handlers.custom_malloc = [](JITUserContext *self, size_t bytes) {
        return static_cast<GuardedContext *>(self)->give(bytes);
    };
    handlers.custom_free = [](JITUserContext *self, void *memory) {
        static_cast<GuardedContext *>(self)->take(memory);
    };
}

/// The run time asks for 128 bytes more than the block has, and lets it begin at the first multiple of
/// 64 that leaves 64 bytes for itself: of one that is given one byte behind such a multiple, it leaves
/// one byte behind the block.
void *GuardedContext::give(size_t bytes) {
    constexpr size_t line = 64;
    auto memory = std::make_unique<GuardedMemory>(bytes + line, false);
    auto first = reinterpret_cast<uintptr_t>(memory->data()) + line;
    auto *given = reinterpret_cast<unsigned char *>(first / line * line + 1);
    std::lock_guard lock(mutex_);
    count_++;
    given_[given] = {std::move(memory), given + bytes - 1};
    return given;
}

void GuardedContext::take(void *memory) {
    std::lock_guard lock(mutex_);
    auto block = given_.find(memory);
    const GuardedMemory &pages = *block->second.memory;
    overrun_ += std::any_of(block->second.end,
                            static_cast<const unsigned char *>(pages.data()) + pages.size(),
                            [](unsigned char c) { return c != poison; });
    given_.erase(block);
}

}  // namespace Pipe::testing
