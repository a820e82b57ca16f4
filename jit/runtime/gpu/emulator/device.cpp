#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include <pipe/error.h>

#include "jit/runtime/gpu/emulator.h"
#include "jit/runtime/gpu/emulator/block.h"
#include "jit/runtime/gpu/emulator/counting.h"
#include "jit/runtime/gpu/emulator/memory.h"
#include "jit/runtime/runtime.h"

namespace Pipe::runtime {

using emulator::Allocation;
using emulator::BlockRunner;
using emulator::Checker;
using emulator::Counting;
using emulator::Run;
using emulator::Shadow;
using emulator::Timeline;

namespace {

constexpr size_t max_kept_reports = 256;
constexpr size_t max_told_reports = 4;

[[noreturn]] void emulator_error(const std::string &text) {
    throw RuntimeError("The emulated GPU: " + text);
}

/// The limits of all GPUs that kernels are compiled for.
void check_launch(const GPUModule &module, const GPULaunch &launch) {
    const char *kernel = module.kernels[launch.kernel].name;
    const int32_t *b = launch.blocks, *t = launch.threads;
    auto is_within = [](const int32_t *size, int64_t x, int64_t y, int64_t z) {
        return size[0] >= 1 && size[1] >= 1 && size[2] >= 1 && size[0] <= x && size[1] <= y &&
               size[2] <= z;
    };
    if (!is_within(b, INT32_MAX, 65535, 65535))
        emulator_error(
            fmt::format("kernel {} is launched with {} x {} x {} blocks; it must be 1 to "
                        "2147483647 x 65535 x 65535.",
                        kernel, b[0], b[1], b[2]));
    if (!is_within(t, 1024, 1024, 64) || int64_t(1) * t[0] * t[1] * t[2] > 1024)
        emulator_error(fmt::format("kernel {} is launched with {} x {} x {} threads in a block; it "
                                   "must be 1 to 1024 x 1024 x 64, and at most 1024 in all.",
                                   kernel, t[0], t[1], t[2]));
    constexpr int64_t max_shared = 227 << 10;
    if (launch.shared_bytes < 0 || launch.shared_bytes > max_shared)
        emulator_error(
            fmt::format("kernel {} is launched with {} bytes of shared memory in a block; "
                        "at most {} are possible.",
                        kernel, launch.shared_bytes, max_shared));
}

bool has_checks(const GPUModule &module) {
    for (int32_t i = 0; i < module.site_count; i++)
        if (module.sites[i].kind != GPUSite::Barrier)
            return true;
    return false;
}

}  // namespace

struct EmulatedDevice::Impl {
    std::mutex mutex;  ///< for all that follows; held while a kernel with checks runs
    emulator::Memory memory;
    Timeline timeline;
    uint64_t seed = 1;
    int64_t launches = 0;
    std::vector<EmulatorReport> reports;
    bool counts = false;
    std::vector<EmulatorCounters> counters;
    std::vector<std::unique_ptr<BlockRunner>> runners;  ///< that are not in use
    std::unique_ptr<BlockRunner> checked_runner;

    std::unique_ptr<BlockRunner> take_runner();
    void give_runner(std::unique_ptr<BlockRunner> runner);
    void run_blocks(const Run &run, void *const *params, int64_t position, int64_t end);
    Allocation &find(uint64_t address, const Rows &rows, const char *copies);
    std::vector<EmulatorReport> run_checked(const Run &run, void *const *params);
    void run_unchecked(const Run &run, void *const *params);
    void forget_stamps();
};

EmulatedDevice::EmulatedDevice() : impl_(std::make_unique<Impl>()) {}
EmulatedDevice::~EmulatedDevice() = default;

std::string EmulatedDevice::name() const {
    return "emulated GPU";
}

uint64_t EmulatedDevice::allocate(int64_t bytes, DeviceQueue) {
    std::lock_guard lock(impl_->mutex);
    Allocation *a =
        bytes >= 0 && bytes < (int64_t(1) << 47) ? impl_->memory.allocate(bytes) : nullptr;
    if (!a)
        emulator_error(fmt::format("cannot allocate {} bytes.", bytes));
    return a->begin;
}

void EmulatedDevice::free(uint64_t address, DeviceQueue) noexcept {
    std::lock_guard lock(impl_->mutex);
    impl_->memory.free(address);
}

/// What a copy accesses on the device.
Allocation &EmulatedDevice::Impl::find(uint64_t address, const Rows &rows, const char *copies) {
    const int64_t bytes = (rows.count - 1) * rows.pitch + rows.bytes;
    Allocation *a =
        rows.bytes >= 0 && rows.count >= 1 && (rows.count == 1 || rows.pitch >= rows.bytes)
            ? memory.find(address, bytes)
            : nullptr;
    if (!a)
        emulator_error(
            fmt::format("{} {} rows of {} bytes, {} bytes apart, at {:#x}, where so many "
                        "are not allocated.",
                        copies, rows.count, rows.bytes, rows.pitch, address));
    return *a;
}

void EmulatedDevice::copy_to_device(uint64_t to, const void *from, const Rows &rows, DeviceQueue) {
    if (rows.bytes == 0 || rows.count == 0)
        return;
    std::lock_guard lock(impl_->mutex);
    Allocation &a = impl_->find(to, rows, "copying from the host");
    for (int64_t row = 0; row < rows.count; row++)
        std::memcpy(reinterpret_cast<char *>(to) + row * rows.pitch,
                    static_cast<const char *>(from) + row * rows.pitch,
                    static_cast<size_t>(rows.bytes));
    a.set_written(static_cast<int64_t>(to - a.begin), rows);
}

void EmulatedDevice::copy_to_host(void *to, uint64_t from, const Rows &rows, DeviceQueue) {
    if (rows.bytes == 0 || rows.count == 0)
        return;
    std::lock_guard lock(impl_->mutex);
    impl_->find(from, rows, "copying to the host");
    for (int64_t row = 0; row < rows.count; row++)
        std::memcpy(static_cast<char *>(to) + row * rows.pitch,
                    reinterpret_cast<const char *>(from) + row * rows.pitch,
                    static_cast<size_t>(rows.bytes));
}

void EmulatedDevice::launch(GPUModule &module, const GPULaunch &launch, void *const *params,
                            DeviceQueue) try {
    check_launch(module, launch);
    std::unique_lock lock(impl_->mutex);
    const int64_t number = ++impl_->launches;
    const Run run{module, launch, number,
                  emulator::mix(impl_->seed, static_cast<uint64_t>(number))};
    if (!has_checks(module)) {
        for (auto &[address, allocation] : impl_->memory.allocations())
            allocation->set_all_written();
        lock.unlock();
        return impl_->run_unchecked(run, params);
    }
    const std::vector<EmulatorReport> reports = impl_->run_checked(run, params);
    for (const EmulatorReport &report : reports)
        if (impl_->reports.size() < max_kept_reports)
            impl_->reports.push_back(report);
    lock.unlock();
    if (reports.empty())
        return;
    std::string text;
    for (size_t i = 0; i < reports.size() && i < max_told_reports; i++)
        text += (i == 0 ? "" : "\n  ") + reports[i].marked_text();
    if (reports.size() > max_told_reports)
        text += fmt::format("\n  And {} faults more.", reports.size() - max_told_reports);
    emulator_error(text);
} catch (const std::bad_alloc &) {
    emulator_error(fmt::format("there is no memory to run kernel {} with checks.",
                               module.kernels[launch.kernel].name));
}

std::unique_ptr<BlockRunner> EmulatedDevice::Impl::take_runner() {
    std::lock_guard lock(mutex);
    if (runners.empty())
        return std::make_unique<BlockRunner>();
    std::unique_ptr<BlockRunner> runner = std::move(runners.back());
    runners.pop_back();
    return runner;
}

void EmulatedDevice::Impl::give_runner(std::unique_ptr<BlockRunner> runner) {
    std::lock_guard lock(mutex);
    runners.push_back(std::move(runner));
}

/// The position-th block to the one before `end`, on this thread.
void EmulatedDevice::Impl::run_blocks(const Run &run, void *const *params, int64_t position,
                                      int64_t end) {
    std::unique_ptr<BlockRunner> runner = take_runner();
    Timeline timeline;
    timeline.begin_launch(run.seed, run.threads(), run.blocks());
    runner->begin_launch(run, params, timeline, nullptr);
    for (; position < end; position++)
        runner->run(position);
    give_runner(std::move(runner));
}

/// On several threads, as a parallel loop.
void EmulatedDevice::Impl::run_unchecked(const Run &run, void *const *params) {
    constexpr int64_t most_pieces = 1 << 20;
    struct Closure {
        Impl &device;
        const Run &run;
        void *const *params;
        int64_t pieces, blocks;
    } closure{*this, run, params, std::min(most_pieces, run.blocks()), run.blocks()};
    auto body = [](Context *context, int32_t begin, int32_t end, void *of) -> int32_t {
        const auto &c = *static_cast<Closure *>(of);
        const bool good = context->call([&] {
            c.device.run_blocks(c.run, c.params, begin * c.blocks / c.pieces,
                                end * c.blocks / c.pieces);
        });
        return good ? 0 : device_failed;
    };
    const JITHandlers no_handlers{};
    Context context(no_handlers, nullptr);
    context.threads = default_threads();
    pipe_parallel_for(&context, body, 0, static_cast<int32_t>(closure.pieces), &closure);
    context.rethrow();
}

std::vector<EmulatorReport> EmulatedDevice::Impl::run_checked(const Run &run, void *const *params) {
    if (!checked_runner)
        checked_runner = std::make_unique<BlockRunner>();
    std::unique_ptr<Counting> counting;
    if (counts)
        counting = std::make_unique<Counting>(run.module, run.launch, run.number);
    timeline.begin_launch(run.seed, run.threads(), run.blocks());
    Checker checker(run, memory, timeline, checked_runner->shared_shadow(), counting.get());
    checked_runner->begin_launch(run, params, timeline, &checker);
    for (int64_t i = 0; i < run.blocks(); i++) {
        if (timeline.is_full())
            forget_stamps();
        checked_runner->run(i);
    }
    if (counting)
        counters.push_back(counting->finish());
    return std::move(checker.reports());
}

/// Once in some hundred million threads. Races of the launch at hand with earlier blocks are not seen then.
void EmulatedDevice::Impl::forget_stamps() {
    for (auto &[address, allocation] : memory.allocations())
        allocation->forget_stamps();
    checked_runner->shared_shadow().forget_stamps();
    timeline.restart();
}

void EmulatedDevice::set_seed(uint64_t seed) {
    std::lock_guard lock(impl_->mutex);
    impl_->seed = seed;
}

std::vector<EmulatorReport> EmulatedDevice::take_reports() {
    std::lock_guard lock(impl_->mutex);
    return std::exchange(impl_->reports, {});
}

void EmulatedDevice::start_counting() {
    std::lock_guard lock(impl_->mutex);
    impl_->counts = true;
    impl_->counters.clear();
}

std::vector<EmulatorCounters> EmulatedDevice::stop_counting() {
    std::lock_guard lock(impl_->mutex);
    impl_->counts = false;
    return std::exchange(impl_->counters, {});
}

int64_t EmulatedDevice::allocated_bytes() const {
    std::lock_guard lock(impl_->mutex);
    return impl_->memory.allocated_bytes();
}

EmulatedDevice &emulated_device() {
    // Never destroyed: what static variables hold on the device may be freed at any time.
    static auto *device = new EmulatedDevice();
    return *device;
}

void pipe_emulator_barrier(EmulatedThread *thread, int32_t site) {
    static_cast<BlockRunner *>(thread->emulator)->barrier(thread, site);
}

void pipe_emulator_access(EmulatedThread *thread, int32_t site, const void *address, int32_t bytes,
                          const void *array, int64_t array_bytes) {
    static_cast<BlockRunner *>(thread->emulator)
        ->access(thread, site, address, bytes, array, array_bytes);
}

}  // namespace Pipe::runtime
