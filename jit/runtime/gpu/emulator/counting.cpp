#include "jit/runtime/gpu/emulator/counting.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace Pipe::runtime::emulator {

namespace {

constexpr int banks = 32;
constexpr uint64_t bank_bytes = 4;

/// Of one instruction and thread: longer vectors take several.
constexpr int32_t max_access_bytes = 16;

/// In a byte of Allocation::sectors.
constexpr uint8_t loaded = 1, stored = 2;

/// How many accesses of the banks `lanes` need, all at once: different words of one bank come one after the other, and so
/// do atomic operations on one word.
int64_t bank_accesses(const uint64_t *address, uint32_t lanes, int32_t bytes, bool atomic) {
    uint64_t words[banks][warp_size];
    int counts[banks] = {};
    int64_t most = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        const uint64_t begin = address[std::countr_zero(lanes)];
        const uint64_t last = (begin + static_cast<uint64_t>(bytes) - 1) / bank_bytes;
        for (uint64_t word = begin / bank_bytes; word <= last; word++) {
            int &n = counts[word % banks];
            uint64_t *of_bank = words[word % banks];
            if (atomic || std::find(of_bank, of_bank + n, word) == of_bank + n)
                of_bank[n++] = word;
            most = std::max<int64_t>(most, n);
        }
    }
    return most;
}

/// Beyond one access for each group of threads: 8 bytes are accessed by half a warp at a time, 16 bytes by a quarter.
int64_t bank_replays(const uint64_t *address, uint32_t lanes, int32_t bytes, bool atomic) {
    const int groups = std::clamp<int>((bytes + 3) / 4, 1, 4);
    const int width = warp_size / static_cast<int>(std::bit_ceil(static_cast<unsigned>(groups)));
    int64_t replays = 0;
    for (int first = 0; first < warp_size; first += width) {
        const uint32_t group = lanes & ((~0u >> (warp_size - width)) << first);
        if (group != 0)
            replays += bank_accesses(address, group, bytes, atomic) - 1;
    }
    return replays;
}

int64_t different_sectors(const uint64_t *address, uint32_t lanes, int32_t bytes) {
    uint64_t sectors[warp_size * 2];
    size_t n = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        const uint64_t begin = address[std::countr_zero(lanes)];
        const uint64_t last = (begin + static_cast<uint64_t>(bytes) - 1) / sector_bytes;
        for (uint64_t s = begin / sector_bytes; s <= last; s++)
            sectors[n++] = s;
    }
    std::sort(sectors, sectors + n);
    return std::unique(sectors, sectors + n) - sectors;
}

}  // namespace

Counting::Counting(const GPUModule &module, const GPULaunch &launch, int64_t number)
    : sites_(module.sites, module.sites + module.site_count), redundant_bytes_(sites_.size()) {
    const GPUKernel &kernel = module.kernels[launch.kernel];
    result_.pipeline = module.name ? module.name : "";
    result_.kernel = kernel.name ? kernel.name : "";
    result_.launch = number;
    std::copy_n(launch.blocks, 3, result_.blocks.begin());
    std::copy_n(launch.threads, 3, result_.threads.begin());
    result_.shared_bytes = launch.shared_bytes;
    for (const GPUSite &site : sites_) {
        EmulatorSiteCounters counters;
        counters.site = static_cast<int32_t>(result_.sites.size());
        counters.buffer = site.buffer ? site.buffer : "";
        counters.kind = static_cast<GPUSite::Kind>(site.kind);
        counters.memory = static_cast<GPUSite::Memory>(site.memory);
        result_.sites.push_back(counters);
    }
    const int64_t threads = int64_t(1) * launch.threads[0] * launch.threads[1] * launch.threads[2];
    executed_.resize(slot(threads, 0));
    accesses_.resize(slot((threads + warp_size - 1) / warp_size, 0));
}

void Counting::access(int64_t thread, int32_t site, uint64_t address, int32_t bytes, uint64_t begin,
                      std::vector<uint8_t> *sectors) {
    result_.sites[static_cast<size_t>(site)].accesses++;
    const GPUSite &s = sites_[static_cast<size_t>(site)];
    if (s.memory == GPUSite::Private)
        return;
    const size_t at = slot(thread / warp_size, site);
    const uint32_t k = executed_[slot(thread, site)]++;
    if (accesses_[at].empty())
        used_.push_back(at);
    if (accesses_[at].size() <= k)
        accesses_[at].resize(k + 1);
    WarpAccess &warp = accesses_[at][k];
    warp.lanes |= 1u << (thread % warp_size);
    warp.bytes = bytes;
    warp.address[thread % warp_size] = address;
    if (!sectors)
        return;
    if (sectors->empty() || std::find(touched_.begin(), touched_.end(), sectors) == touched_.end())
        touched_.push_back(sectors);
    const auto first = static_cast<size_t>((address - begin) / sector_bytes),
               last = static_cast<size_t>((address - begin + static_cast<uint64_t>(bytes) - 1) /
                                          sector_bytes);
    if (sectors->size() <= last)
        sectors->resize(2 * last + 1);
    const uint8_t bits = s.kind == GPUSite::Load    ? loaded
                         : s.kind == GPUSite::Store ? stored
                                                    : loaded | stored;
    for (size_t i = first; i <= last; i++)
        (*sectors)[i] |= bits;
}

void Counting::redundant(int32_t site, int64_t bytes) {
    redundant_bytes_[static_cast<size_t>(site)] += bytes;
}

void Counting::count(WarpAccess access, EmulatorSiteCounters &site) {
    const bool atomic = site.kind == GPUSite::Atomic;
    for (int32_t left = access.bytes; left > 0; left -= max_access_bytes) {
        const int32_t bytes = std::min(left, max_access_bytes);
        site.warp_accesses++;
        if (site.memory == GPUSite::Global)
            site.sectors += different_sectors(access.address, access.lanes, bytes);
        else
            site.bank_replays += bank_replays(access.address, access.lanes, bytes, atomic);
        for (uint64_t &address : access.address)
            address += max_access_bytes;
    }
}

void Counting::end_epoch() {
    for (size_t at : used_) {
        for (const WarpAccess &access : accesses_[at])
            if (access.lanes != 0)
                count(access, result_.sites[at % sites_.size()]);
        accesses_[at].clear();
    }
    if (!used_.empty())
        std::fill(executed_.begin(), executed_.end(), 0);
    used_.clear();
}

EmulatorCounters Counting::finish() {
    for (std::vector<uint8_t> *sectors : touched_) {
        for (uint8_t bits : *sectors)
            result_.compulsory_sectors += std::popcount(bits);
        sectors->clear();
    }
    for (size_t i = 0; i < sites_.size(); i++)
        result_.sites[i].redundant = redundant_bytes_[i] / std::max(sites_[i].element_bytes, 1);
    std::erase_if(result_.sites, [](const EmulatorSiteCounters &s) { return s.accesses == 0; });
    return std::move(result_);
}

}  // namespace Pipe::runtime::emulator

namespace Pipe::runtime {

namespace {

int64_t sum_of(const EmulatorCounters &counters, int64_t EmulatorSiteCounters::*member) {
    int64_t total = 0;
    for (const EmulatorSiteCounters &site : counters.sites)
        total += site.*member;
    return total;
}

}  // namespace

int64_t EmulatorCounters::sectors() const {
    return sum_of(*this, &EmulatorSiteCounters::sectors);
}
int64_t EmulatorCounters::bank_replays() const {
    return sum_of(*this, &EmulatorSiteCounters::bank_replays);
}
int64_t EmulatorCounters::redundant() const {
    return sum_of(*this, &EmulatorSiteCounters::redundant);
}
int64_t EmulatorCounters::barriers() const {
    int64_t total = 0;
    for (const EmulatorSiteCounters &site : sites)
        if (site.kind == GPUSite::Barrier)
            total += site.accesses;
    return total;
}

}  // namespace Pipe::runtime
