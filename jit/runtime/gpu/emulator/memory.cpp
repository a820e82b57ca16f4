#include "jit/runtime/gpu/emulator/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace Pipe::runtime::emulator {

namespace {

/// Around each allocation, so that an index that is a little wrong reaches no other allocation.
constexpr size_t guard = 64 << 10;
/// What new memory holds: as a number of any type, one that is seldom right.
constexpr int new_memory = 0xfb;
constexpr size_t kept_freed = 64;
/// Most copies that are kept in a list, rather than noted in a shadow.
constexpr size_t max_written = 64;

}  // namespace

void Shadow::Free::operator()(Cell *cells) const {
    std::free(cells);
}

Shadow::Memory Shadow::make(int64_t cells) {
    // Zero is the state of new memory; what is not touched takes none.
    void *memory = std::calloc(static_cast<size_t>(std::max<int64_t>(cells, 1)), sizeof(Cell));
    if (!memory)
        throw std::bad_alloc();
    return Memory(static_cast<Cell *>(memory));
}

void Shadow::reset(int64_t bytes) {
    bytes_ = bytes;
    cells_ = make(count());
}

/// Makes cells small enough for such an access, but for the last one, which may reach beyond the end.
int64_t Shadow::align(int64_t offset, int64_t bytes) {
    const int64_t mask = cell_bytes() - 1;
    if ((offset & mask) == 0 && offset + bytes == bytes_)
        return (bytes + mask) & ~mask;
    refine(offset | bytes);
    return bytes;
}

void Shadow::refine(int64_t alignment) {
    int shift = shift_;
    while (alignment & ((int64_t(1) << shift) - 1))
        shift--;
    const int64_t old_count = count();
    const int more = shift_ - shift;
    Memory old = std::move(cells_);
    shift_ = shift;
    cells_ = make(old_count << more);
    for (int64_t i = 0; i < old_count; i++)
        if (const Cell &cell = old.get()[i]; (cell.writer | cell.reader) != never)
            std::fill_n(cells_.get() + (i << more), size_t(1) << more, cell);
}

void Shadow::set_written(int64_t offset, int64_t bytes) {
    if (bytes <= 0)
        return;
    auto [begin, end] = at(offset, bytes);
    std::fill(begin, end, Cell{before_all, never, never});
}

void Shadow::forget_stamps() {
    Cell *cells = cells_.get();
    for (int64_t i = 0, n = cells ? count() : 0; i < n; i++)
        cells[i] = {cells[i].writer == never ? never : before_all, never, never};
}

Shadow &Allocation::shadow() {
    if (shadow_.empty()) {
        shadow_.reset(bytes);
        for (const Written &w : written_)
            for (int64_t row = 0; row < w.rows.count; row++)
                shadow_.set_written(w.offset + row * w.rows.pitch, w.rows.bytes);
        written_.clear();
        written_.shrink_to_fit();
    }
    return shadow_;
}

void Allocation::set_written(int64_t offset, const Rows &rows) {
    if (shadow_.empty() && written_.size() >= max_written)
        shadow();
    if (rows.bytes == bytes)
        written_.clear();
    if (shadow_.empty())
        written_.push_back({offset, rows});
    else
        for (int64_t row = 0; row < rows.count; row++)
            shadow_.set_written(offset + row * rows.pitch, rows.bytes);
}

void Allocation::set_all_written() {
    set_written(0, {bytes, 1, 0});
}

void Allocation::forget_stamps() {
    shadow_.forget_stamps();
}

Memory::~Memory() {
    while (!allocations_.empty())
        free(allocations_.begin()->first);
    unmap_freed(0);
}

Allocation *Memory::allocate(int64_t bytes) {
    constexpr int64_t page = 64 << 10;
    auto inner = static_cast<size_t>((std::max<int64_t>(bytes, 1) + page - 1) / page * page);
    void *mapping = mmap(nullptr, inner + 2 * guard, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
        return nullptr;
    char *begin = static_cast<char *>(mapping) + guard;
    if (mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(mapping, inner + 2 * guard);
        return nullptr;
    }
    std::memset(begin, new_memory, static_cast<size_t>(bytes));
    auto a = std::make_unique<Allocation>();
    a->begin = reinterpret_cast<uint64_t>(begin);
    a->bytes = bytes;
    a->mapping = static_cast<char *>(mapping);
    a->mapping_bytes = inner + 2 * guard;
    bytes_ += bytes;
    Allocation *result = a.get();
    allocations_[result->begin] = std::move(a);
    return result;
}

void Memory::free(uint64_t address) {
    auto found = allocations_.find(address);
    if (found == allocations_.end())
        return;
    std::unique_ptr<Allocation> a = std::move(found->second);
    allocations_.erase(found);
    bytes_ -= a->bytes;
    // The pages go, the addresses stay: what accesses them is found, here or by the processor.
    mmap(a->mapping, a->mapping_bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    auto freed = std::make_unique<Allocation>();
    freed->begin = a->begin;
    freed->bytes = a->bytes;
    freed->mapping = a->mapping;
    freed->mapping_bytes = a->mapping_bytes;
    freed_.push_back(std::move(freed));
    unmap_freed(kept_freed);
}

void Memory::unmap_freed(size_t keep) {
    for (; freed_.size() > keep; freed_.pop_front())
        munmap(freed_.front()->mapping, freed_.front()->mapping_bytes);
}

Allocation *Memory::nearest(uint64_t address) {
    if (allocations_.empty())
        return nullptr;
    auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin())
        return after->second.get();
    Allocation *before = std::prev(after)->second.get();
    const uint64_t end = before->begin + static_cast<uint64_t>(before->bytes);
    if (after == allocations_.end() || address < end ||
        address - end <= after->second->begin - address)
        return before;
    return after->second.get();
}

Allocation *Memory::find(uint64_t address, int64_t bytes) {
    Allocation *a = nearest(address);
    if (!a || address < a->begin || bytes > a->bytes ||
        address - a->begin > static_cast<uint64_t>(a->bytes - bytes))
        return nullptr;
    return a;
}

const Allocation *Memory::find_freed(uint64_t address) const {
    for (const auto &a : freed_)
        if (address >= a->begin && address - a->begin < static_cast<uint64_t>(a->bytes))
            return a.get();
    return nullptr;
}

}  // namespace Pipe::runtime::emulator
