#include "support/guarded_memory.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace Pipe::testing {

GuardedMemory::GuardedMemory(size_t bytes, bool at_start) : bytes_(bytes) {
    auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_t inside = (bytes + page - 1) / page * page;
    mapped_ = inside + 2 * page;
    pages_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages_ == MAP_FAILED)
        throw std::bad_alloc();
    auto *first = static_cast<unsigned char *>(pages_) + page;
    mprotect(first, inside, PROT_READ | PROT_WRITE);
    std::memset(first, poison, inside);
    data_ = at_start ? first : first + inside - bytes;
}

GuardedMemory::~GuardedMemory() {
    munmap(pages_, mapped_);
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
