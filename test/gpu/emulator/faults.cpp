// Faults of kernels are reported, with the right names, whatever the order of threads; what is right is not.
#include "test/gpu/emulator/kernels.h"

#include <functional>

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace hand_written;

namespace {

constexpr int threads = 64;
using Kind = EmulatorReport::Kind;

const GPUSite load_in = site("in", GPUSite::Load, GPUSite::Global),
              store_out = site("out", GPUSite::Store, GPUSite::Global),
              load_out = site("out", GPUSite::Load, GPUSite::Global),
              add_out = site("out", GPUSite::Atomic, GPUSite::Global),
              load_tile = site("tile", GPUSite::Load, GPUSite::Shared),
              store_tile = site("tile", GPUSite::Store, GPUSite::Shared),
              add_tile = site("tile", GPUSite::Atomic, GPUSite::Shared);

/// Sites of all kernels here.
enum Sites { In, StoreOut, LoadTile, StoreTile, AddOut, LoadOut, AddTile, First, Second };
const std::vector<GPUSite> sites = {load_in,  store_out, load_tile,    store_tile,  add_out,
                                    load_out, add_tile,  barrier_site, barrier_site};

/// The parameters: in, out, and the variant of the kernel.
struct Kernel {
    EmulatedThread *t;
    int64_t *out;
    const int32_t *in;
    int32_t *result;
    int64_t variant;
    int x, block;
    SharedArray<int32_t> tile;

    Kernel(EmulatedThread *thread, void *const *params)
        : t(thread), in(param<const int32_t *>(params, 0)), result(param<int32_t *>(params, 1)),
          variant(param<int64_t>(params, 2)), x(thread->thread[0]),
          block(thread->block[0]), tile{thread, 0, threads, LoadTile, StoreTile} {}
    void store_out(int i, int32_t value) const { store(t, StoreOut, result + i, value); }
    int32_t load_out(int i) const { return load(t, LoadOut, result + i); }
};

struct Outcome {
    std::string error;
    std::vector<EmulatorReport> reports;
};

/// Runs a kernel once for each of several seeds.
std::vector<Outcome> outcomes(EmulatedKernel *function, int64_t variant, int blocks = 3) {
    EmulatedDevice device;
    Module module("kernel_of_out", function, sites);
    std::vector<Outcome> results;
    for (uint64_t seed = 0; seed < 20; seed++) {
        device.set_seed(seed);
        DeviceArray<int32_t> in(device, count_up<int32_t>(threads * blocks));
        DeviceArray<int32_t> out(device, threads * blocks);
        const std::string error =
            module.error(device, {blocks}, {threads}, threads * 4,
                         {in.address, out.address, static_cast<uint64_t>(variant)});
        results.push_back({error, device.take_reports()});
        REQUIRE(results.back().reports.empty() == error.empty());
    }
    return results;
}

void require_clean(EmulatedKernel *function, int64_t variant = 0) {
    for (const Outcome &o : outcomes(function, variant)) {
        INFO(o.error);
        REQUIRE(o.reports.empty());
    }
}

/// Races on `buffer` are reported for every seed, and besides them nothing but loads of what nobody has written yet.
std::vector<EmulatorReport> races(EmulatedKernel *function, int64_t variant,
                                  const std::string &buffer, const std::string &alias = "") {
    std::vector<EmulatorReport> result;
    for (const Outcome &o : outcomes(function, variant)) {
        INFO(o.error);
        const size_t before = result.size();
        for (const EmulatorReport &r : o.reports) {
            REQUIRE((r.kind == Kind::Race || r.kind == Kind::NeverWritten));
            REQUIRE((r.buffer == buffer || r.buffer == alias));
            REQUIRE((r.kind != Kind::Race || r.access != GPUSite::Load ||
                     r.other_access != GPUSite::Load));
            if (r.kind == Kind::Race)
                result.push_back(r);
        }
        REQUIRE(result.size() > before);
    }
    return result;
}

/// Each run has one report, which the error holds, too: that of the last run.
EmulatorReport only_report(EmulatedKernel *function, int64_t variant) {
    EmulatorReport result;
    for (const Outcome &o : outcomes(function, variant)) {
        INFO(o.error);
        REQUIRE(o.reports.size() == 1);
        result = o.reports[0];
        REQUIRE_THAT(o.error, Catch::Matchers::ContainsSubstring("emulated GPU"));
        REQUIRE_THAT(o.error, Catch::Matchers::ContainsSubstring(result.text()));
        REQUIRE(result.kernel == "kernel_of_out");
        REQUIRE(result.pipeline == "pipeline");
    }
    return result;
}

/// out(x) = in(x) + in(x + 1 in the block), by way of shared memory.
enum class Exchange { Right, NoBarrier, NoSecondBarrier, ReadsTooFar, NotAllStored };
void exchange(EmulatedThread *t, void *const *params) {
    const Kernel k(t, params);
    const auto variant = static_cast<Exchange>(k.variant);
    const int right = variant == Exchange::ReadsTooFar ? k.x + 1 : (k.x + 1) % threads;
    for (int round = 0; round < 2; round++) {
        if (variant != Exchange::NotAllStored || k.x != 5)
            k.tile.store(k.x, load(t, In, k.in + k.block * threads + k.x) + round);
        if (variant != Exchange::NoBarrier)
            barrier(t, First);
        k.store_out(k.block * threads + k.x, k.tile.load(k.x) + k.tile.load(right));
        if (variant != Exchange::NoSecondBarrier)
            barrier(t, Second);
    }
}

}  // namespace

TEST_CASE("shared memory: a barrier is missing, after the stores or after the loads",
          "[emulator]") {
    require_clean(exchange, static_cast<int64_t>(Exchange::Right));
    for (Exchange variant : {Exchange::NoBarrier, Exchange::NoSecondBarrier})
        for (const EmulatorReport &r : races(exchange, static_cast<int64_t>(variant), "tile")) {
            REQUIRE(r.memory == GPUSite::Shared);
            REQUIRE(r.elements == threads);
            REQUIRE(r.thread.block == r.other.block);
            // The one that stores the element, and the one at its left: whichever runs first.
            const bool load_is_later = r.access == GPUSite::Load;
            const auto stores = load_is_later ? r.other : r.thread,
                       loads = load_is_later ? r.thread : r.other;
            REQUIRE(stores.thread[0] == r.element);
            REQUIRE((loads.thread[0] + 1) % threads == r.element);
        }
}

TEST_CASE("shared memory: an index that is too large by one, an element that nobody stores",
          "[emulator]") {
    EmulatorReport r = only_report(exchange, static_cast<int64_t>(Exchange::ReadsTooFar));
    REQUIRE(r.kind == Kind::OutOfBounds);
    REQUIRE(r.buffer == "tile");
    REQUIRE(r.element == threads);
    REQUIRE(r.elements == threads);
    REQUIRE(r.thread.thread[0] == threads - 1);
    REQUIRE(r.count == 3);  // once in each block, which ends there
    REQUIRE_THAT(r.text(), Catch::Matchers::ContainsSubstring(
                               "loads element 64 of tile in shared memory, which has 64 elements"));

    r = only_report(exchange, static_cast<int64_t>(Exchange::NotAllStored));
    REQUIRE(r.kind == Kind::NeverWritten);
    REQUIRE(r.buffer == "tile");
    REQUIRE(r.element == 5);
    REQUIRE((r.thread.thread[0] == 4 || r.thread.thread[0] == 5));
    REQUIRE(r.count == 3 * 2 * 2);  // blocks, rounds, readers
}

namespace {

enum class Global {
    Right,
    TwoBlocks,
    TwoThreads,
    ReadsNeighbor,
    TooFar,
    TooLow,
    Unwritten,
    InPlace,
    LoadedByAll
};
void global(EmulatedThread *t, void *const *params) {
    const Kernel k(t, params);
    const int at = k.block * threads + k.x;
    const int32_t value = load(t, In, k.in + at);
    switch (static_cast<Global>(k.variant)) {
    case Global::Right:
        k.store_out(at, value);
        barrier(t, First);
        if (const int32_t other = k.load_out(k.block * threads + (threads - 1 - k.x)); other > 0) {
            barrier(t, Second);
            k.store_out(at, other);
        }
        break;
    case Global::TwoBlocks:
        k.store_out(k.block > 0 ? at - threads * (k.x == 3) : at, value);
        break;
    case Global::TwoThreads:
        k.store_out(k.x == 8 ? at - 1 : at, value);
        break;
    case Global::ReadsNeighbor:
        k.store_out(at, value);
        barrier(t, First);
        if (k.x == 0 && k.block == 1)
            k.load_out(at - 1);
        break;
    case Global::TooFar:
        k.store_out(at + 1, value);
        break;
    case Global::TooLow:
        k.store_out(at - 1, value);
        break;
    case Global::Unwritten:
        if (k.x == 9 && k.block == 1)
            k.load_out(at);
        break;
    case Global::InPlace:  // each element is read by its own thread and by the one before
        if (k.x % 2 == 0)
            store(t, StoreOut, const_cast<int32_t *>(k.in) + at,
                  k.x + 1 < threads ? load(t, In, k.in + at + 1) : 0);
        break;
    case Global::LoadedByAll:
        load(t, In, k.in);
        barrier(t, First);
        if (k.x == 5 && k.block == 1)
            store(t, StoreOut, const_cast<int32_t *>(k.in), 7);
        break;
    }
}

EmulatorReport global_report(Global variant) {
    return only_report(global, static_cast<int64_t>(variant));
}

}  // namespace

TEST_CASE("global memory: races between blocks and between threads", "[emulator]") {
    EmulatorReport r = global_report(Global::TwoBlocks);
    REQUIRE(r.kind == Kind::Race);
    REQUIRE(r.buffer == "out");
    REQUIRE(r.memory == GPUSite::Global);
    REQUIRE(r.access == GPUSite::Store);
    REQUIRE(r.other_access == GPUSite::Store);
    REQUIRE(std::abs(r.thread.block[0] - r.other.block[0]) == 1);
    REQUIRE(r.thread.thread[0] == 3);
    REQUIRE(r.other.thread[0] == 3);
    REQUIRE(r.element == std::min(r.thread.block[0], r.other.block[0]) * threads + 3);
    REQUIRE(r.elements == 3 * threads);
    REQUIRE_THAT(r.text(),
                 Catch::Matchers::ContainsSubstring("blocks of one launch are not ordered"));

    r = global_report(Global::TwoThreads);
    REQUIRE(r.kind == Kind::Race);
    REQUIRE(r.thread.block == r.other.block);
    REQUIRE(r.thread.thread[0] + r.other.thread[0] == 7 + 8);
    REQUIRE(r.element % threads == 7);
    REQUIRE_THAT(r.text(), Catch::Matchers::ContainsSubstring("no barrier orders the two"));
}

TEST_CASE("global memory: what another block stores cannot be loaded", "[emulator]") {
    for (const EmulatorReport &r :
         races(global, static_cast<int64_t>(Global::ReadsNeighbor), "out")) {
        REQUIRE(r.element == threads - 1);
        REQUIRE(r.thread.block[0] + r.other.block[0] == 1);
    }
}

TEST_CASE("global memory: a store where all threads of all blocks have loaded", "[emulator]") {
    for (const EmulatorReport &r :
         races(global, static_cast<int64_t>(Global::LoadedByAll), sites[StoreOut].buffer, "in")) {
        REQUIRE(r.element == 0);
        REQUIRE(r.thread.block != r.other.block);
    }
}

TEST_CASE("global memory: outside of an allocation by one, and memory that nobody wrote",
          "[emulator]") {
    require_clean(global);
    EmulatorReport r = global_report(Global::TooFar);
    REQUIRE(r.kind == Kind::OutOfBounds);
    REQUIRE(r.buffer == "out");
    REQUIRE(r.access == GPUSite::Store);
    REQUIRE(r.element == 3 * threads);
    REQUIRE(r.elements == 3 * threads);
    REQUIRE(r.thread == EmulatorReport::Thread{{threads - 1, 0, 0}, {2, 0, 0}});
    REQUIRE(r.count == 1);
    r = global_report(Global::TooLow);
    REQUIRE(r.kind == Kind::OutOfBounds);
    REQUIRE(r.element == -1);
    REQUIRE(r.thread == EmulatorReport::Thread{{0, 0, 0}, {0, 0, 0}});
    r = global_report(Global::Unwritten);
    REQUIRE(r.kind == Kind::NeverWritten);
    REQUIRE(r.element == threads + 9);
    REQUIRE(r.thread == EmulatorReport::Thread{{9, 0, 0}, {1, 0, 0}});
    REQUIRE(r.count == 1);
    require_clean(global, static_cast<int64_t>(Global::InPlace));
}

namespace {

enum class Barriers { SameAtAll, Skipped, TwoSites, EndsEarly, OneMore };
void barriers(EmulatedThread *t, void *const *params) {
    const Kernel k(t, params);
    const auto variant = static_cast<Barriers>(k.variant);
    if (variant == Barriers::SameAtAll && k.x > 40)
        return;  // no thread waits for those that have ended
    if (variant == Barriers::EndsEarly && k.x == 7)
        return;
    if (variant == Barriers::TwoSites)
        barrier(t, k.x < 60 ? First : Second);
    else if (variant == Barriers::Skipped ? k.x != 33 : variant != Barriers::SameAtAll)
        barrier(t, First);
    if (variant == Barriers::OneMore && k.x == 1)
        barrier(t, Second);
    k.store_out(k.block * threads + k.x, 1);
}

}  // namespace

TEST_CASE("barriers that not all threads come to", "[emulator]") {
    require_clean(barriers, static_cast<int64_t>(Barriers::SameAtAll));
    auto report = [](Barriers variant) {
        EmulatorReport r = only_report(barriers, static_cast<int64_t>(variant));
        REQUIRE(r.kind == Kind::DivergentBarrier);
        REQUIRE(r.thread.block == r.other.block);
        return r;
    };
    for (Barriers variant : {Barriers::Skipped, Barriers::EndsEarly}) {
        EmulatorReport r = report(variant);
        REQUIRE(r.site == First);
        REQUIRE(r.other.thread[0] == (variant == Barriers::Skipped ? 33 : 7));
        REQUIRE(r.other_site == -1);
        REQUIRE(r.count == 3);
        REQUIRE_THAT(r.text(),
                     Catch::Matchers::ContainsSubstring("waits at a barrier, site 7, while"));
        REQUIRE_THAT(r.text(), Catch::Matchers::ContainsSubstring("has ended"));
    }
    EmulatorReport r = report(Barriers::TwoSites);
    REQUIRE(r.site == First);
    REQUIRE(r.other_site == Second);
    REQUIRE(r.thread.thread[0] < 60);
    REQUIRE(r.other.thread[0] >= 60);
    r = report(Barriers::OneMore);
    REQUIRE(r.site == Second);
    REQUIRE(r.thread.thread[0] == 1);
    REQUIRE(r.other_site == -1);
}

namespace {

enum class Atomic {
    Right,
    OneBlockLoads,
    PlainLoad,
    PlainStore,
    PlainLoadByOne,
    Shared,
    OwnBlock,
    LaterBlocks
};
void atomics(EmulatedThread *t, void *const *params) {
    const Kernel k(t, params);
    const auto variant = static_cast<Atomic>(k.variant);
    const int at = k.block * threads;
    if (variant == Atomic::Shared) {
        if (k.x == 0)
            k.tile.store(3, 0);
        barrier(t, First);
        Pipe::runtime::pipe_emulator_access(t, AddTile, k.tile.data() + 3, 4, k.tile.data(),
                                            threads * 4);
        k.tile.data()[3] += k.x;
        barrier(t, Second);
        k.store_out(at + k.x, k.tile.load(3));
        return;
    }
    // Otherwise all add to one element of `in`.
    auto *sum = const_cast<int32_t *>(k.in) + (variant == Atomic::OwnBlock ? at : 0);
    atomic_add(t, AddOut, sum, 1);
    if (variant == Atomic::PlainLoad || (variant == Atomic::PlainLoadByOne && k.x == 3))
        load(t, In, sum);
    if (variant == Atomic::PlainStore && k.x == 9)
        store(t, StoreOut, sum, 5);
    if (variant == Atomic::OwnBlock || variant == Atomic::LaterBlocks) {
        barrier(t, First);
        load(t, In, sum);
    }
    if (variant == Atomic::OneBlockLoads) {
        barrier(t, First);
        if (k.block == 1 && k.x == 3)
            load(t, In, sum);
    }
}

}  // namespace

TEST_CASE("atomic operations do not race with each other, but with loads and stores",
          "[emulator]") {
    require_clean(atomics, static_cast<int64_t>(Atomic::Right));
    require_clean(atomics, static_cast<int64_t>(Atomic::Shared));
    require_clean(atomics, static_cast<int64_t>(Atomic::OwnBlock));
    for (Atomic variant : {Atomic::PlainLoad, Atomic::PlainLoadByOne, Atomic::PlainStore,
                           Atomic::LaterBlocks, Atomic::OneBlockLoads}) {
        for (const Outcome &o : outcomes(atomics, static_cast<int64_t>(variant))) {
            INFO(o.error);
            REQUIRE(!o.reports.empty());
            for (const EmulatorReport &r : o.reports) {
                REQUIRE(r.kind == Kind::Race);
                REQUIRE(r.element == 0);
                REQUIRE((r.access == GPUSite::Atomic) + (r.other_access == GPUSite::Atomic) >= 1);
            }
        }
    }
}
