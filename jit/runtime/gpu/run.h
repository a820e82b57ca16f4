#pragma once
// GPURun: the part of a kernel's run that uses a device. It keeps what is newer where (jit/runtime/gpu_abi.h), and frees what
// the run allocated.
//
// Launches wait, where the device wants them together, until something else has to come after them: a copy, code of the host,
// the end of the run.
//
// A buffer is one of three kinds:
//   * the storage of a Func of the pipeline, between open() and close();
//   * an argument whose Buffer has memory on this device: that is used, and stays as it is at the end;
//   * any other argument: it gets memory for the run, and an output is copied back by finish().

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "ir/allocation.h"
#include "jit/runtime/gpu/device.h"
#include "jit/runtime/gpu/launch_list.h"
#include "jit/runtime/gpu_abi.h"
#include "jit/runtime/profiler.h"
#include <pipe/buffer_base.h>
#include <pipe/error.h>
#include <pipe/jit.h>

namespace Pipe::runtime {

class ResidentMemory;

/// A failure that code with indices of 64 bits does not have.
struct IndicesTooNarrow : RuntimeError {
    using RuntimeError::RuntimeError;
};

/// What DeviceBuffer::owner points to in an argument.
struct ArgumentBuffer {
    ir::AllocationPart part;
    enum Kind { Unknown, Resident, Temporary } kind = Unknown;
};

/// Fills in what a run keeps of an argument, and lets `argument` (whose shape is filled in) point to it. `name` and the
/// three have to live as long as the run.
void fill_argument(const char *name, const BufferBase &buffer, BufferArgument *argument,
                   DeviceBuffer *device, ArgumentBuffer *owner);

/// Finds the device of a call.
using FindDevice = Device &(*)(const JITUserContext *user);

class GPURun {
  public:
    /// The device is looked for when it is needed.
    GPURun(FindDevice find, JITUserContext *user) : find_(find), user_(user) {}
    /// finish() adds the times of all launches to `times`.
    GPURun(FindDevice find, JITUserContext *user, std::vector<KernelTime> *times)
        : find_(find), user_(user), times_(times) {}
    ~GPURun();
    GPURun(const GPURun &) = delete;

    // What generated code calls, from any thread of the run. They throw RuntimeError.

    void open(DeviceBuffer &buffer);
    void close(DeviceBuffer &buffer) noexcept;
    void use_on_device(DeviceBuffer &buffer, int32_t access);
    void use_on_host(DeviceBuffer &buffer, int32_t access);
    void launch(GPUModule &module, const GPULaunch &launch, void *const *params);
    /// Before other work of the host: what waits begins.
    void submit();

    /// The message of a failure, with what was launched before: a kernel that fails is noticed by a later call.
    std::string explain(const std::string &failure);

    /// After the last of them: copies outputs back, and waits for the device unless the stream is the
    /// user's.
    void finish();

  private:
    /// Memory that the run has allocated.
    struct Held {
        uint64_t address = 0;
        DeviceBuffer *argument = nullptr;  ///< null: of a Func
    };

    /// A launch between two times of the device.
    struct TimedLaunch {
        const char *kernel;
        uint64_t begin, end;
        double host_milliseconds;  ///< where the device has no times
    };

    Device &device();
    void note_users_stream(DeviceBuffer &buffer) noexcept;
    bool is_resident(DeviceBuffer &buffer);
    void decide(DeviceBuffer &buffer);
    void use_resident(DeviceBuffer &buffer, int32_t access, ResidentMemory &memory);
    void use_argument_on_host(DeviceBuffer &buffer, int32_t access);
    void allocate(DeviceBuffer &buffer);
    bool add_to_waiting(Device &device, const Launch &launch, void *const *params);
    void launch_timed(GPUModule &module, const GPULaunch &launch, void *const *params);
    void add_times();
    void copy_to_device(DeviceBuffer &buffer);
    void copy_to_host(DeviceBuffer &buffer);

    const FindDevice find_;
    JITUserContext *const user_;
    std::vector<KernelTime> *const times_ = nullptr;  ///< null: not wanted

    std::atomic<Device *> device_{nullptr};  ///< null: not used yet
    DeviceQueue queue_;                      ///< of the device

    std::mutex mutex_;  ///< of what follows, and of the buffers without device memory of the user's
    std::vector<Held> held_;
    std::vector<DeviceBuffer *> arguments_;  ///< that were used
    bool uploading_ = false;  ///< copies to the device may still read the host's elements
    std::vector<TimedLaunch> timed_;
    LaunchList launches_;
};

}  // namespace Pipe::runtime
