#include "jit/runtime/gpu/cuda/cuda_device.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "support/env.h"
#include "support/error_text.h"
#include <pipe/error.h>

namespace Pipe::runtime::cuda {

InContext::InContext(CudaDevice &device) : device_(device) {
    const Driver &driver = device.driver();
    const CUcontext context = device.context_.load(std::memory_order_acquire);
    CUcontext current = nullptr;
    device.check(driver.CtxGetCurrent(&current), "cuCtxGetCurrent");
    if (current == context)
        return;
    device.check(driver.CtxPushCurrent(context), "cuCtxPushCurrent");
    pushed_ = true;
}

InContext::~InContext() {
    CUcontext ours = nullptr;
    if (pushed_)
        device_.note(device_.driver().CtxPopCurrent(&ours));
}

CudaDevice::CudaDevice(const Driver &driver, int ordinal, CUcontext users)
    : driver_(driver), ordinal_(ordinal), users_(users),
      name_(fmt::format("CUDA device {}", ordinal)), context_(users), graphs_(driver) {
    check(driver.DeviceGet(&device_, ordinal), "cuDeviceGet");
    char text[256] = {};
    check(driver.DeviceGetName(text, sizeof text - 1, device_), "cuDeviceGetName");
    name_ = fmt::format("{} (CUDA device {})", text, ordinal);
    auto attribute = [&](DeviceAttribute which) {
        int value = 0;
        check(driver.DeviceGetAttribute(&value, which, device_), "cuDeviceGetAttribute");
        return value;
    };
    capability_ = 10 * attribute(CapabilityMajor) + attribute(CapabilityMinor);
    size_t memory = 0;
    check(driver.DeviceTotalMem(&memory, device_), "cuDeviceTotalMem");
    kept_limit_ = static_cast<int64_t>(memory / 4);
}

void CudaDevice::note(CUresult result) noexcept {
    if (loses_context(result) && !lost_.exchange(true))
        generation_.fetch_add(1, std::memory_order_acq_rel);
}

void CudaDevice::fail(CUresult result, const char *call, const std::string &what,
                      const std::string &details) {
    note(result);
    cuda::check(driver_, result, call, name_, what, details);
    throw InternalError("a call that succeeded was taken for a failure");
}

/// With the mutex locked.
void CudaDevice::need_context() {
    if (lost_)
        rebuild();
    if (context_.load(std::memory_order_relaxed))
        return;
    CUcontext context = nullptr;
    const CUresult result = driver_.DevicePrimaryCtxRetain(&context, device_);
    if (loses_context(result) && generation_.load(std::memory_order_relaxed) > 0) {
        lost_ = true;
        throw RuntimeError(fmt::format(
            "{}: cuDevicePrimaryCtxRetain failed with {}: a kernel failed in this process, and "
            "CUDA "
            "runs nothing more in it. Start the process again. Pipelines for CPUs can go on.",
            name_, result_text(driver_, result)));
    }
    check(result, "cuDevicePrimaryCtxRetain");
    context_.store(context, std::memory_order_release);
}

void CudaDevice::rebuild() {
    if (queues_ > 0)
        throw RuntimeError(
            name_ +
            ": a kernel failed, and its CUDA context is lost. Call again when the pipelines "
            "that run there now have ended.");
    if (users_)
        throw RuntimeError(name_ +
                           ": a kernel failed, and the CUDA context in "
                           "JITUserContext::cuda_context is lost. Destroy it, and give another.");
    arena_.clear();
    graphs_.forget();
    idle_streams_.clear();
    streams_ = 0;
    if (context_.exchange(nullptr))
        driver_.DevicePrimaryCtxRelease(device_);
    const CUresult result = driver_.DevicePrimaryCtxReset(device_);
    if (!loses_context(result))  // that may be what the old context still has to say
        check(result, "cuDevicePrimaryCtxReset");
    lost_ = false;
}

CUstream CudaDevice::idle_stream() {
    if (idle_streams_.empty()) {
        CUstream stream = nullptr;
        idle_streams_.reserve(streams_ + 1);
        InContext here(*this);
        check(driver_.StreamCreate(&stream, stream_non_blocking), "cuStreamCreate");
        streams_++;
        return stream;
    }
    CUstream stream = idle_streams_.back();
    idle_streams_.pop_back();
    return stream;
}

DeviceQueue CudaDevice::open_queue(void *users_stream) {
    std::lock_guard lock(mutex_);
    need_context();
    DeviceQueue queue{users_stream, false};
    if (users_stream)
        users_streams_ = true;
    else
        queue = {idle_stream(), true};
    queues_++;
    return queue;
}

void CudaDevice::close_queue(DeviceQueue queue) noexcept {
    auto *stream = static_cast<CUstream>(queue.stream);
    bool done = false;
    if (queue.own && !lost_) {
        try {
            InContext here(*this);
            check(driver_.StreamSynchronize(stream), "cuStreamSynchronize");
            done = true;
        } catch (const RuntimeError &) {  // the run has ended, and has said so if it failed
        }
    }
    std::lock_guard lock(mutex_);
    queues_--;
    if (done)
        arena_.synchronized(stream);
    if (queue.own && !lost_)
        idle_streams_.push_back(stream);  // there is room for all
}

uint64_t CudaDevice::allocate(int64_t bytes, DeviceQueue queue) {
    constexpr int64_t slack = 64;  // kernels may load a whole vector from the last element on
    if (bytes < 0 || bytes > int64_t(1) << 60)
        fail_allocation(OutOfMemory, bytes);
    auto *stream = static_cast<CUstream>(queue.stream);
    std::unique_lock lock(mutex_);
    need_context();
    if (CUdeviceptr kept = arena_.take(bytes + slack, stream, queue.waiting))
        return kept;
    lock.unlock();
    submit(queue);  // the driver waits for all work, after which more blocks are idle
    lock.lock();
    return allocate_new(bytes + slack);
}

CUdeviceptr CudaDevice::allocate_new(int64_t bytes) {
    const int64_t block = DeviceArena::block_bytes(bytes);
    InContext here(*this);
    CUdeviceptr address = 0;
    CUresult result = driver_.MemAlloc(&address, static_cast<size_t>(block));
    if (result == OutOfMemory && arena_.idle_bytes() > 0) {
        check(driver_.CtxSynchronize(), "cuCtxSynchronize");
        arena_.synchronized(nullptr);
        trim(0);
        result = driver_.MemAlloc(&address, static_cast<size_t>(block));
    }
    if (result != Success)
        fail_allocation(result, bytes);
    try {
        arena_.add(address, block);
    } catch (...) {
        driver_.MemFree(address);
        throw;
    }
    return address;
}

void CudaDevice::fail_allocation(CUresult result, int64_t bytes) {
    using support::Field;
    fail(result, "cuMemAlloc",
         fmt::format("{} bytes, besides {} in use by pipelines and Buffers",
                     support::marked(Field::Needed, bytes), arena_.used_bytes()));
}

/// With the mutex locked, in the context.
void CudaDevice::trim(int64_t bytes) noexcept {
    arena_.trim(bytes, [&](CUdeviceptr address) { note(driver_.MemFree(address)); });
}

void CudaDevice::free(uint64_t address, DeviceQueue queue) noexcept {
    LaunchList *waiting = queue.waiting && !queue.waiting->empty() ? queue.waiting : nullptr;
    if (waiting)
        waiting->frees_memory = true;
    std::lock_guard lock(mutex_);
    if (!arena_.give(address, static_cast<CUstream>(queue.stream), waiting) || lost_ ||
        arena_.idle_bytes() <= kept_limit_)
        return;
    try {
        InContext here(*this);
        trim(kept_limit_);
    } catch (const RuntimeError &) {  // it is freed some other time
    }
}

void CudaDevice::release_memory() noexcept {
    std::lock_guard lock(mutex_);
    if (lost_ || !context_.load(std::memory_order_relaxed) || arena_.idle_bytes() == 0)
        return;
    try {
        InContext here(*this);
        check(driver_.CtxSynchronize(), "cuCtxSynchronize");
        arena_.synchronized(nullptr);
        trim(0);
    } catch (const RuntimeError &) {  // it is freed some other time
    }
}

namespace {

/// The largest pitch that all devices take.
constexpr int64_t largest_pitch = INT32_MAX;

Copy2D copy_of(const Rows &rows) {
    Copy2D copy;
    copy.source_pitch = copy.target_pitch = static_cast<size_t>(rows.pitch);
    copy.bytes = static_cast<size_t>(rows.bytes);
    copy.rows = static_cast<size_t>(rows.count);
    return copy;
}

/// Whether one copy of two dimensions does it; else row by row.
bool as_rectangle(const Rows &rows) {
    return rows.count > 1 && rows.pitch >= rows.bytes && rows.pitch <= largest_pitch;
}

}  // namespace

void CudaDevice::copy_to_device(uint64_t to, const void *from, const Rows &rows,
                                DeviceQueue queue) {
    InContext here(*this);
    submit(queue);
    auto *stream = static_cast<CUstream>(queue.stream);
    if (as_rectangle(rows)) {
        Copy2D copy = copy_of(rows);
        copy.source_type = HostMemory;
        copy.source_host = from;
        copy.target_type = DeviceMemoryType;
        copy.target_device = to;
        return check(driver_.Memcpy2DAsync(&copy, stream), "cuMemcpy2DAsync");
    }
    for (int64_t i = 0; i < rows.count; i++)
        check(driver_.MemcpyHtoDAsync(to + static_cast<uint64_t>(i * rows.pitch),
                                      static_cast<const char *>(from) + i * rows.pitch,
                                      static_cast<size_t>(rows.bytes), stream),
              "cuMemcpyHtoDAsync");
}

void CudaDevice::copy_to_host(void *to, uint64_t from, const Rows &rows, DeviceQueue queue) {
    InContext here(*this);
    submit(queue);
    auto *stream = static_cast<CUstream>(queue.stream);
    if (as_rectangle(rows)) {
        Copy2D copy = copy_of(rows);
        copy.source_type = DeviceMemoryType;
        copy.source_device = from;
        copy.target_type = HostMemory;
        copy.target_host = to;
        check(driver_.Memcpy2DAsync(&copy, stream), "cuMemcpy2DAsync");
    } else {
        for (int64_t i = 0; i < rows.count; i++)
            check(driver_.MemcpyDtoHAsync(static_cast<char *>(to) + i * rows.pitch,
                                          from + static_cast<uint64_t>(i * rows.pitch),
                                          static_cast<size_t>(rows.bytes), stream),
                  "cuMemcpyDtoHAsync");
    }
    check(driver_.StreamSynchronize(stream), "cuStreamSynchronize");
}

uint64_t CudaDevice::mark_time(DeviceQueue queue) {
    InContext here(*this);
    submit(queue);
    CUevent event = nullptr;
    check(driver_.EventCreate(&event, 0), "cuEventCreate");
    const auto time = reinterpret_cast<uint64_t>(event);
    const CUresult result = driver_.EventRecord(event, static_cast<CUstream>(queue.stream));
    if (result != Success)
        free_time(time);
    check(result, "cuEventRecord");
    return time;
}

double CudaDevice::milliseconds_between(uint64_t first, uint64_t second) {
    InContext here(*this);
    float milliseconds = 0;
    check(driver_.EventElapsedTime(&milliseconds, reinterpret_cast<CUevent>(first),
                                   reinterpret_cast<CUevent>(second)),
          "cuEventElapsedTime");
    return milliseconds;
}

void CudaDevice::free_time(uint64_t time) noexcept {
    if (lost_)
        return;
    try {
        InContext here(*this);
        note(driver_.EventDestroy(reinterpret_cast<CUevent>(time)));
    } catch (const RuntimeError &) {  // of a context that cannot be used any more
    }
}

void CudaDevice::synchronize(DeviceQueue queue) {
    auto *stream = static_cast<CUstream>(queue.stream);
    InContext here(*this);
    submit(queue);
    if (stream)
        check(driver_.StreamSynchronize(stream), "cuStreamSynchronize");
    else
        check(driver_.CtxSynchronize(), "cuCtxSynchronize");
    std::lock_guard lock(mutex_);
    arena_.synchronized(stream);
}

void CudaDevice::unload(CUmodule module, uint64_t generation) noexcept {
    std::lock_guard lock(mutex_);
    if (lost_ || generation != generation_.load(std::memory_order_relaxed))
        return;  // it went with its context
    try {
        InContext here(*this);
        if (users_streams_)  // nobody has waited for what is in them
            note(driver_.CtxSynchronize());
        graphs_.drop(module);
        note(driver_.ModuleUnload(module));
    } catch (const RuntimeError &) {  // of a context that cannot be used any more
    }
}

namespace {

struct CudaDevices {
    std::mutex mutex;
    std::vector<std::unique_ptr<CudaDevice>> list;
};

CudaDevices &cuda_devices() {
    static auto *devices = new CudaDevices;  // not destroyed: static Buffers and Pipelines use it
    return *devices;
}

int ordinal_of(const Driver &driver, const JITUserContext *user) {
    const bool chosen = user && user->gpu_device >= 0;
    const int64_t ordinal = chosen ? user->gpu_device : support::env_int("HL_GPU_DEVICE", 0);
    if (ordinal < 0 && !chosen)
        return 0;  // Halide's "any"
    if (ordinal >= driver.devices)
        throw RuntimeError(
            fmt::format("There is no CUDA device {}: the driver has {}, counted from 0.{}", ordinal,
                        driver.devices, advice(InvalidDevice)));
    return static_cast<int>(ordinal);
}

int ordinal_of(const Driver &driver, CUcontext context) {
    CUdevice device = 0;
    CUcontext popped = nullptr;
    check(driver, driver.CtxPushCurrent(context), "cuCtxPushCurrent",
          "JITUserContext::cuda_context");
    const CUresult result = driver.CtxGetDevice(&device);
    driver.CtxPopCurrent(&popped);
    check(driver, result, "cuCtxGetDevice", "JITUserContext::cuda_context");
    for (int i = 0; i < driver.devices; i++) {
        CUdevice candidate = 0;
        check(driver, driver.DeviceGet(&candidate, i), "cuDeviceGet", "");
        if (candidate == device)
            return i;
    }
    return 0;
}

}  // namespace

CudaDevice &device_of(const JITUserContext *user) {
    const Driver &driver = Driver::get();
    auto *context = user ? static_cast<CUcontext>(user->cuda_context) : nullptr;
    const int ordinal = context ? 0 : ordinal_of(driver, user);
    CudaDevices &devices = cuda_devices();
    std::lock_guard lock(devices.mutex);
    for (const auto &device : devices.list)
        if (device->is(ordinal, context))
            return *device;
    const int number = context ? ordinal_of(driver, context) : ordinal;
    devices.list.push_back(std::make_unique<CudaDevice>(driver, number, context));
    return *devices.list.back();
}

void release_kept_memory() noexcept {
    CudaDevices &devices = cuda_devices();
    std::lock_guard lock(devices.mutex);
    for (const auto &device : devices.list)
        device->release_memory();
}

}  // namespace Pipe::runtime::cuda
