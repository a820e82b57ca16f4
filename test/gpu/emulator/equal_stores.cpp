// Threads that store the same value, as tails of loops that are rounded up do; and the life of memory.
#include "test/gpu/emulator/kernels.h"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace hand_written;
using Kind = EmulatorReport::Kind;

namespace {

constexpr int n = 40;  // 32 threads compute 8 elements twice

/// Each block stores all of out, as f(x) = 3 * x; the second half of the threads a few elements that the first half
/// stores, too. Then threads load them; and again; or store something else.
enum class Tail { Equal, Again, Different, LoadedBefore, AlreadyThere };
void tails(EmulatedThread *t, void *const *params) {
    auto *out = param<int16_t *>(params, 0);
    const auto variant = static_cast<Tail>(param<int64_t>(params, 1));
    const int x = t->thread[0];
    const int begin = x < 16 ? x * 2 : n - 32 + (x - 16) * 2;
    if (variant == Tail::LoadedBefore)
        load(t, 1, out + begin);
    for (int round = 0; round < (variant == Tail::Again ? 3 : 1); round++) {
        for (int i = begin; i < begin + 2; i++)
            store(t, 0, out + i,
                  static_cast<int16_t>(variant == Tail::Different && i == 20 ? x : 3 * i));
        load(t, 1, out + begin);
        barrier(t, 2);
        load(t, 1, out + (n - 2 - begin));
        if (variant == Tail::Again)
            barrier(t, 2);
    }
    if (variant == Tail::AlreadyThere)  // after the load of another thread, with no barrier
        store(t, 0, out + begin, static_cast<int16_t>(3 * begin));
}

Module make_tails() {
    return {"tails",
            tails,
            {site("out", GPUSite::Store, GPUSite::Global, 2),
             site("out", GPUSite::Load, GPUSite::Global, 2), barrier_site}};
}

std::vector<EmulatorReport> run_tails(EmulatedDevice &device, Tail variant, int blocks) {
    Module module = make_tails();
    DeviceArray<int16_t> out(device, std::vector<int16_t>(n));
    module.error(device, {blocks}, {32}, 0, {out.address, static_cast<uint64_t>(variant)});
    return device.take_reports();
}

}  // namespace

TEST_CASE("equal values that several threads store are counted, and do not race", "[emulator]") {
    EmulatedDevice device;
    device.start_counting();
    REQUIRE(run_tails(device, Tail::Equal, 1).empty());
    REQUIRE(run_tails(device, Tail::Equal, 3).empty());
    const std::vector<EmulatorCounters> counters = device.stop_counting();
    REQUIRE(counters.size() == 2);
    const int64_t stores = 32 * 2;
    REQUIRE(counters[0].redundant() == stores - n);
    REQUIRE(counters[1].redundant() == 3 * stores - n);
}

TEST_CASE("equal values that several blocks store and load again and again do not race",
          "[emulator]") {
    EmulatedDevice device;
    for (uint64_t seed = 0; seed < 20; seed++) {
        device.set_seed(seed);
        for (int blocks : {1, 3})
            REQUIRE(run_tails(device, Tail::Again, blocks).empty());
    }
}

TEST_CASE("other values do race, and so do equal ones with loads of what they replace",
          "[emulator]") {
    EmulatedDevice device;
    for (uint64_t seed = 0; seed < 20; seed++) {
        device.set_seed(seed);
        std::vector<EmulatorReport> reports = run_tails(device, Tail::Different, 1);
        REQUIRE(!reports.empty());
        for (const EmulatorReport &r : reports) {
            REQUIRE(r.kind == Kind::Race);
            REQUIRE(r.element == 20);
        }
        // The value is the same whenever it is loaded, as it happens.
        reports = run_tails(device, Tail::AlreadyThere, 1);
        REQUIRE(!reports.empty());
        for (const EmulatorReport &r : reports)
            REQUIRE(r.kind == Kind::Race);
        reports = run_tails(device, Tail::LoadedBefore, 1);
        REQUIRE(!reports.empty());
        for (const EmulatorReport &r : reports)
            REQUIRE(r.kind == Kind::Race);
    }
}

namespace {

/// Loads or stores elements of `array`, one per thread.
void each(EmulatedThread *t, void *const *params) {
    auto *array = param<int32_t *>(params, 0) + t->thread[0] + 32 * t->block[0];
    if (param<int64_t>(params, 1))
        store(t, 1, array, 5);
    else
        load(t, 0, array);
}

Module make_each() {
    return {"each",
            each,
            {site("array", GPUSite::Load, GPUSite::Global),
             site("array", GPUSite::Store, GPUSite::Global)}};
}

}  // namespace

TEST_CASE("launches are ordered, copies too", "[emulator]") {
    EmulatedDevice device;
    Module module = make_each();
    DeviceArray<int32_t> array(device, 64);
    for (int i = 0; i < 3; i++) {
        module.launch(device, {2}, {32}, 0, {array.address, 1});
        module.launch(device, {2}, {32}, 0, {array.address, 0});
    }
    std::vector<int32_t> values = array.values();
    REQUIRE(values == std::vector<int32_t>(64, 5));
    device.copy_to_device(array.address, values.data(), {array.bytes(), 1, 0}, {});
    module.launch(device, {2}, {32}, 0, {array.address, 1});
    REQUIRE(device.take_reports().empty());
}

TEST_CASE("rows that were copied are written, the bytes between them are not", "[emulator]") {
    EmulatedDevice device;
    Module module = make_each();
    for (int written_columns : {31, 32}) {
        DeviceArray<int32_t> array(device, 96);
        std::vector<int32_t> values(96, 1);
        device.copy_to_device(array.address, values.data(), {written_columns * 4, 3, 32 * 4}, {});
        module.error(device, {3}, {32}, 0, {array.address, 0});
        const std::vector<EmulatorReport> reports = device.take_reports();
        REQUIRE(reports.size() == (written_columns == 31 ? 1 : 0));
        if (!reports.empty()) {
            REQUIRE(reports[0].kind == Kind::NeverWritten);
            REQUIRE(reports[0].element % 32 == 31);
            REQUIRE(reports[0].count == 3);
        }
    }
}

TEST_CASE("memory that was freed", "[emulator]") {
    EmulatedDevice device;
    Module module = make_each();
    uint64_t freed = 0;
    {
        DeviceArray<int32_t> array(device, 64);
        freed = array.address;
    }
    DeviceArray<int32_t> other(device, 64);  // does not get the same addresses
    const std::string error = module.error(device, {2}, {32}, 0, {freed, 1});
    REQUIRE_THAT(error,
                 Catch::Matchers::ContainsSubstring("of array in global memory, which was freed"));
    std::vector<EmulatorReport> reports = device.take_reports();
    REQUIRE(reports.size() == 1);
    REQUIRE(reports[0].kind == Kind::Freed);
    REQUIRE(reports[0].elements == 64);
    REQUIRE(reports[0].count == 2);
    // The error has the Func as a field.
    try {
        module.launch(device, {1}, {1}, 0, {freed, 1});
    } catch (const Pipe::RuntimeError &e) {
        REQUIRE(e.details().func == "array");
    }
    REQUIRE(device.take_reports().size() == 1);
    // An address that never was one.
    module.error(device, {1}, {1}, 0, {64, 1});
    reports = device.take_reports();
    REQUIRE(reports.size() == 1);
    REQUIRE(reports[0].kind == Kind::OutOfBounds);
    // Nor does an access of the same site in another allocation pass.
    module.error(device, {2}, {1}, 0, {other.address + 33 * 4, 1});
    REQUIRE(device.take_reports()[0].element == 65);
}

namespace {

/// A vector under a mask: its lanes are told one by one, those that are left out with no bytes, then all are stored.
void masked(EmulatedThread *t, void *const *params) {
    auto *out = param<int32_t *>(params, 0);
    const bool equal = param<int64_t>(params, 1) != 0;
    for (int round = 0; round < 2; round++) {
        for (int lane = 0; lane < 4; lane++) {
            auto *address = lane == 2 ? nullptr : out + 4 * round + lane;
            Pipe::runtime::pipe_emulator_access(t, 0, address, lane == 2 ? 0 : 4, nullptr, 0);
        }
        for (int lane = 0; lane < 4; lane++)
            if (lane != 2)
                out[4 * round + lane] = equal || lane != 1 ? 7 : t->thread[0];
    }
}

}  // namespace

TEST_CASE("one instruction with several calls", "[emulator]") {
    EmulatedDevice device;
    Module module("masked", masked, {site("out", GPUSite::Store, GPUSite::Global)});
    for (bool equal : {true, false}) {
        DeviceArray<int32_t> out(device, 8);
        device.start_counting();
        module.error(device, {1}, {3}, 0, {out.address, equal ? 1u : 0u});
        const std::vector<EmulatorReport> reports = device.take_reports();
        REQUIRE(reports.size() == (equal ? 0 : 1));
        if (!equal)
            REQUIRE(reports[0].count == 2 * 2);
        // Of 3 threads, the second and the third store what was there.
        REQUIRE(device.stop_counting().at(0).redundant() == 2 * 2 * (equal ? 3 : 2));
    }
}

namespace {

/// All threads store the same to one element; then one goes too far at the same site.
void equal_then_too_far(EmulatedThread *t, void *const *) {
    const SharedArray<int32_t> array{t, 0, 8, 1, 0};
    barrier(t, 2);
    for (int i = 0; i < (t->thread[0] == 3 ? 2 : 1); i++)
        array.store(8 * i, 7);
    barrier(t, 2);
    array.load(0);
}

}  // namespace

TEST_CASE("a block that ends at a fault leaves nothing to the next one", "[emulator]") {
    for (uint64_t seed = 0; seed < 20; seed++) {
        EmulatedDevice device;
        device.set_seed(seed);
        Module module("equal_then_too_far", equal_then_too_far,
                      {site("array", GPUSite::Store, GPUSite::Shared),
                       site("array", GPUSite::Load, GPUSite::Shared), barrier_site});
        module.error(device, {5}, {4}, 32, {});
        const std::vector<EmulatorReport> reports = device.take_reports();
        REQUIRE(reports.size() == 1);
        REQUIRE(reports[0].kind == Kind::OutOfBounds);
        REQUIRE(reports[0].count == 5);
    }
}

namespace {

/// Both threads store the same, one has loaded before.
void load_and_equal_stores(EmulatedThread *t, void *const *params) {
    auto *out = param<int32_t *>(params, 0);
    if (t->thread[0] == 0)
        load(t, 1, out);
    store(t, 0, out, 7);
}

}  // namespace

TEST_CASE("equal stores race with a load of what was there before", "[emulator]") {
    for (uint64_t seed = 0; seed < 20; seed++) {
        EmulatedDevice device;
        device.set_seed(seed);
        Module module("load_and_equal_stores", load_and_equal_stores,
                      {site("out", GPUSite::Store, GPUSite::Global),
                       site("out", GPUSite::Load, GPUSite::Global)});
        DeviceArray<int32_t> out(device, std::vector<int32_t>(1));
        module.error(device, {1}, {2}, 0, {out.address});
        const std::vector<EmulatorReport> reports = device.take_reports();
        REQUIRE(reports.size() == 1);
        REQUIRE(reports[0].kind == Kind::Race);
        REQUIRE((reports[0].access == GPUSite::Load || reports[0].other_access == GPUSite::Load));
    }
}
