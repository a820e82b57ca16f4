#pragma once
// CudaDevice: a GPU in one CUDA context, which is the primary one of the process, or the user's.
//
// After an illegal access all calls in a context fail. It is then marked as lost, and made anew by the next open_queue();
// as long as runs have queues in it, that is refused, because what they hold belongs to the old one.

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "jit/runtime/gpu/cuda/arena.h"
#include "jit/runtime/gpu/cuda/driver.h"
#include "jit/runtime/gpu/cuda/launch_graphs.h"
#include "jit/runtime/gpu/device.h"
#include <pipe/jit.h>

namespace Pipe::runtime::cuda {

/// From all devices that it was loaded on.
void unload(GPUModule &module) noexcept;

class CudaDevice final : public Device {
  public:
    /// Number `ordinal` of the driver's; `users`: a context on it, else null.
    CudaDevice(const Driver &driver, int ordinal, CUcontext users);

    std::string name() const override { return name_; }
    DeviceQueue open_queue(void *users_stream) override;
    void close_queue(DeviceQueue queue) noexcept override;
    uint64_t generation() const override { return generation_.load(std::memory_order_acquire); }
    void release_memory() noexcept override;

    uint64_t allocate(int64_t bytes, DeviceQueue queue) override;
    void free(uint64_t address, DeviceQueue queue) noexcept override;
    void copy_to_device(uint64_t to, const void *from, const Rows &rows,
                        DeviceQueue queue) override;
    void copy_to_host(void *to, uint64_t from, const Rows &rows, DeviceQueue queue) override;
    void launch(GPUModule &module, const GPULaunch &launch, void *const *params,
                DeviceQueue queue) override;
    bool launches_together() const override { return driver_.has_graphs; }
    void submit(DeviceQueue queue) override;
    uint64_t mark_time(DeviceQueue queue) override;
    double milliseconds_between(uint64_t first, uint64_t second) override;
    void free_time(uint64_t time) noexcept override;
    void synchronize(DeviceQueue queue) override;
    void unload(GPUModule &module) noexcept override { cuda::unload(module); }

    bool is(int ordinal, CUcontext users) const {
        return users_ == users && (users || ordinal_ == ordinal);
    }
    const Driver &driver() const { return driver_; }
    CUdevice device() const { return device_; }
    int capability() const { return capability_; }  ///< 86 for 8.6
    /// Throws where `result` is a failure, and notes where it loses the context.
    void check(CUresult result, const char *call, const std::string &what = "") {
        if (result != Success) [[unlikely]]
            fail(result, call, what);
    }
    /// A module of generation `generation` is not needed any more.
    void unload(CUmodule module, uint64_t generation) noexcept;

  private:
    friend class InContext;

    void note(CUresult result) noexcept;
    [[noreturn]] void fail(CUresult result, const char *call, const std::string &what,
                           const std::string &details = "");
    void need_context();
    void rebuild();
    CUstream idle_stream();
    CUdeviceptr allocate_new(int64_t bytes);
    [[noreturn]] void fail_allocation(CUresult result, int64_t bytes);
    void trim(int64_t bytes) noexcept;
    PreparedLaunch prepared(const Launch &launch, void **params);
    void launch_now(const Launch &launch, const PreparedLaunch &prepared, CUstream stream);
    bool launch_graph(const LaunchList &list, const std::vector<PreparedLaunch> &launches,
                      DeviceQueue queue);
    bool is_captured(DeviceQueue queue);
    [[noreturn]] void fail_launch(CUresult result, const char *call, const Launch &launch,
                                  CUfunction function);

    const Driver &driver_;
    const int ordinal_;
    const CUcontext users_;
    CUdevice device_ = 0;
    std::string name_;
    int capability_ = 0;
    int64_t kept_limit_ = 0;  ///< bytes of idle blocks that are kept

    std::atomic<CUcontext> context_{nullptr};  ///< null: not made yet
    std::atomic<bool> lost_{false};
    std::atomic<uint64_t> generation_{1};
    LaunchGraphs graphs_;

    std::mutex mutex_;  ///< of what follows
    int queues_ = 0;    ///< that are open
    DeviceArena arena_;
    std::vector<CUstream> idle_streams_;
    size_t streams_ = 0;
    bool users_streams_ = false;  ///< some of the user's have been used
};

/// Makes the context of a device the thread's current one, as long as it lives. Threads of OpenMP and of
/// the user have others, or none.
class InContext {
  public:
    explicit InContext(CudaDevice &device);
    ~InContext();
    InContext(const InContext &) = delete;

  private:
    CudaDevice &device_;
    bool pushed_ = false;
};

/// The device that the call is for: the user's context, or JITUserContext::gpu_device, or
/// HL_GPU_DEVICE. RuntimeError where there is none.
CudaDevice &device_of(const JITUserContext *user);

/// On all devices that were used.
void release_kept_memory() noexcept;

}  // namespace Pipe::runtime::cuda
