// What the emulator counts, against closed forms.
#include "test/gpu/emulator/kernels.h"

#include <numeric>

using namespace hand_written;

namespace {

template <typename T> struct alignas(sizeof(T) * 4) Four {
    T v[4] = {};
};

/// Threads load elements `stride` apart, and store side by side.
template <typename T> void strided(EmulatedThread *t, void *const *params) {
    const int64_t stride = param<int64_t>(params, 2), first = param<int64_t>(params, 3);
    const int64_t x = t->block[0] * 64 + t->thread[0];
    store(t, 1, param<T *>(params, 1) + x,
          load(t, 0, param<const T *>(params, 0) + first + x * stride));
}

template <typename T>
EmulatorCounters count_strided(int64_t stride, int64_t first, int blocks = 2) {
    EmulatedDevice device;
    Module module("strided", strided<T>,
                  {site("in", GPUSite::Load, GPUSite::Global, sizeof(T)),
                   site("out", GPUSite::Store, GPUSite::Global, sizeof(T))});
    DeviceArray<T> in(device, std::vector<T>(static_cast<size_t>(
                                  first + 64 * blocks * std::max<int64_t>(stride, 1)))),
        out(device, 64 * blocks);
    device.start_counting();
    module.launch(
        device, {blocks}, {64}, 0,
        {in.address, out.address, static_cast<uint64_t>(stride), static_cast<uint64_t>(first)});
    std::vector<EmulatorCounters> counters = device.stop_counting();
    REQUIRE(counters.size() == 1);
    return counters[0];
}

/// One warp loads from shared memory: thread x at x * stride, or a row of a transposition.
template <typename T> void shared_loads(EmulatedThread *t, void *const *params) {
    const int64_t stride = param<int64_t>(params, 0);
    const SharedArray<T> array{t, 0, 32 * 33 * 4 / static_cast<int64_t>(sizeof(T)), 0, 1};
    if (t->thread[0] == 0)
        for (int64_t i = 0; i < array.size; i++)
            array.store(i, T());
    barrier(t, 2);
    array.load(t->thread[0] * stride);
    array.load(t->thread[0] * stride);
}

template <typename T> EmulatorSiteCounters count_shared(int64_t stride) {
    EmulatedDevice device;
    Module module("shared", shared_loads<T>,
                  {site("array", GPUSite::Load, GPUSite::Shared, sizeof(T)),
                   site("array", GPUSite::Store, GPUSite::Shared, sizeof(T)), barrier_site});
    device.start_counting();
    module.launch(device, {1}, {32}, 32 * 33 * 4, {static_cast<uint64_t>(stride)});
    const EmulatorCounters counters = device.stop_counting().at(0);
    REQUIRE(counters.barriers() == 1);
    // Stores of one thread never conflict.
    REQUIRE(counters.sites[1].bank_replays == 0);
    REQUIRE(counters.bank_replays() == counters.sites[0].bank_replays);
    return counters.sites[0];
}

}  // namespace

TEST_CASE("sectors of global memory: side by side, strided, not aligned", "[emulator]") {
    constexpr int64_t warps = 4;  // 128 threads
    EmulatorCounters c = count_strided<float>(1, 0);
    REQUIRE(c.kernel == "strided");
    REQUIRE(c.pipeline == "pipeline");
    REQUIRE(c.blocks == std::array<int32_t, 3>{2, 1, 1});
    REQUIRE(c.threads == std::array<int32_t, 3>{64, 1, 1});
    REQUIRE(c.sites.size() == 2);
    REQUIRE(c.sites[0].buffer == "in");
    for (const EmulatorSiteCounters &s : c.sites) {
        REQUIRE(s.accesses == 128);
        REQUIRE(s.warp_accesses == warps);
        REQUIRE(s.sectors == warps * 4);
    }
    REQUIRE(c.sectors() == 2 * warps * 4);
    REQUIRE(c.compulsory_sectors == 2 * warps * 4);

    c = count_strided<float>(2, 0);
    REQUIRE(c.sites[0].sectors == warps * 8);
    REQUIRE(c.sites[1].sectors == warps * 4);
    REQUIRE(c.compulsory_sectors == warps * (8 + 4));

    c = count_strided<float>(100, 0);
    REQUIRE(c.sites[0].sectors == warps * 32);

    c = count_strided<float>(1, 1);  // each warp reaches into the next warp's first sector
    REQUIRE(c.sites[0].sectors == warps * 5);
    REQUIRE(c.compulsory_sectors == warps * 4 + 1 + warps * 4);

    c = count_strided<float>(0, 0);
    REQUIRE(c.sites[0].sectors == warps);
    REQUIRE(c.compulsory_sectors == 1 + warps * 4);

    REQUIRE(count_strided<uint8_t>(1, 0).sectors() == 2 * warps);
    REQUIRE(count_strided<double>(1, 0).sectors() == 2 * warps * 8);
    REQUIRE(count_strided<Four<float>>(1, 0).sectors() == 2 * warps * 16);
    // A longer vector takes several instructions, each of which touches all sectors that the warp's vectors are in.
    c = count_strided<Four<double>>(1, 0);
    REQUIRE(c.sites[0].warp_accesses == warps * 2);
    REQUIRE(c.sites[0].sectors == warps * 2 * 32);
    REQUIRE(c.compulsory_sectors == 2 * warps * 32);
}

TEST_CASE("bank replays of shared memory", "[emulator]") {
    REQUIRE(count_shared<float>(1).bank_replays == 0);
    REQUIRE(count_shared<float>(0).bank_replays == 0);  // one word for all
    for (int stride : {2, 4, 8, 16, 32}) {
        const EmulatorSiteCounters c = count_shared<float>(stride);
        REQUIRE(c.accesses == 64);
        REQUIRE(c.warp_accesses == 2);
        REQUIRE(c.bank_replays == 2 * (stride - 1));
    }
    for (int stride : {3, 5, 31, 33})  // a row more than 32: the usual cure
        REQUIRE(count_shared<float>(stride).bank_replays == 0);
    REQUIRE(count_shared<uint8_t>(1).bank_replays == 0);
    REQUIRE(count_shared<uint8_t>(128).bank_replays == 2 * 31);
    REQUIRE(count_shared<double>(1).bank_replays == 0);
    REQUIRE(count_shared<double>(2).bank_replays ==
            2 * 2);  // in each half of the warp, two words of a bank
    REQUIRE(count_shared<Four<float>>(1).bank_replays == 0);
    REQUIRE(count_shared<Four<float>>(2).bank_replays == 2 * 4);
}

namespace {

/// Threads of a block go through a loop a different number of times; barriers in another loop.
void loops(EmulatedThread *t, void *const *params) {
    auto *in = param<const float *>(params, 0);
    for (int i = 0; i < t->thread[0] + 1; i++)
        load(t, 0, in + 32 * i + t->thread[0]);
    for (int i = 0; i < 3; i++)
        barrier(t, 1);
    for (int64_t i = 0; i < param<int64_t>(params, 1); i++)
        barrier(t, 2);
}

}  // namespace

TEST_CASE("the k-th executions of a site by the threads of a warp are one access", "[emulator]") {
    EmulatedDevice device;
    Module module("loops", loops,
                  {site("in", GPUSite::Load, GPUSite::Global), barrier_site, barrier_site});
    DeviceArray<float> in(device, std::vector<float>(32 * 32));
    module.launch(device, {5}, {32}, 0, {in.address, 7});
    device.start_counting();
    for (int i = 0; i < 3; i++)
        module.launch(device, {5}, {32}, 0, {in.address, 7});
    const std::vector<EmulatorCounters> counters = device.stop_counting();
    module.launch(device, {5}, {32}, 0, {in.address, 7});
    REQUIRE(counters.size() == 3);
    for (size_t i = 0; i < 3; i++) {
        const EmulatorCounters &c = counters[i];
        REQUIRE(c.launch == counters[0].launch + static_cast<int64_t>(i));
        REQUIRE(c.sites[0].accesses == 5 * 32 * 33 / 2);
        REQUIRE(c.sites[0].warp_accesses == 5 * 32);
        // The i-th access is by the threads i ..: 32 - i elements.
        int64_t sectors = 0;
        for (int k = 0; k < 32; k++)
            sectors += (32 - k + 7) / 8;
        REQUIRE(c.sites[0].sectors == 5 * sectors);
        REQUIRE(c.compulsory_sectors == sectors);
        REQUIRE(c.sites[1].accesses == 5 * 3);
        REQUIRE(c.sites[2].accesses == 5 * 7);
        REQUIRE(c.barriers() == 5 * (3 + 7));
    }
    REQUIRE(device.stop_counting().empty());
}

namespace {

void add_to_shared(EmulatedThread *t, void *const *) {
    auto *array = static_cast<int32_t *>(t->shared);
    if (t->thread[0] == 0)
        for (int i = 0; i < 32; i++) {
            Pipe::runtime::pipe_emulator_access(t, 0, array + i, 4, array, 128);
            array[i] = 0;
        }
    barrier(t, 2);
    Pipe::runtime::pipe_emulator_access(t, 1, array + t->thread[0] / 4, 4, array, 128);
    array[t->thread[0] / 4]++;
}

}  // namespace

TEST_CASE("atomic operations of a warp on one word come one after the other", "[emulator]") {
    EmulatedDevice device;
    Module module("add", add_to_shared,
                  {site("array", GPUSite::Store, GPUSite::Shared),
                   site("array", GPUSite::Atomic, GPUSite::Shared), barrier_site});
    device.start_counting();
    module.launch(device, {1}, {32}, 128, {});
    REQUIRE(device.stop_counting().at(0).sites[1].bank_replays == 3);
}
