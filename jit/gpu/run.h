#pragma once
// GPURun: the part of a kernel's run that uses a device. It keeps what is newer where (codegen/gpu_abi.h), and frees what
// the run allocated.
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

#include "codegen/gpu_abi.h"
#include "ir/allocation.h"
#include "jit/gpu/device.h"
#include <pipe/jit.h>

namespace Pipe::jit {

class ResidentMemory;

/// What DeviceBuffer::owner points to in an argument.
struct ArgumentBuffer {
    ir::AllocationPart part;
    enum Kind { Unknown, Resident, Temporary } kind = Unknown;
};

/// Finds the device of a call.
using FindDevice = Device &(*)(const JITUserContext *user);

class GPURun {
  public:
    /// The device is looked for when it is needed.
    GPURun(FindDevice find, JITUserContext *user) : find_(find), user_(user) {}
    ~GPURun();
    GPURun(const GPURun &) = delete;

    // What generated code calls, from any thread of the run. They throw RuntimeError.

    void open(codegen::DeviceBuffer &buffer);
    void close(codegen::DeviceBuffer &buffer) noexcept;
    void use_on_device(codegen::DeviceBuffer &buffer, int32_t access);
    void use_on_host(codegen::DeviceBuffer &buffer, int32_t access);
    void launch(codegen::GPUModule &module, const codegen::GPULaunch &launch, void *const *params);

    /// The message of a failure, with what was launched before: a kernel that fails is noticed by a later call.
    std::string explain(const std::string &failure);

    /// After the last of them: copies outputs back, and waits for the device unless the stream is the
    /// user's.
    void finish();

  private:
    /// Memory that the run has allocated.
    struct Held {
        uint64_t address = 0;
        codegen::DeviceBuffer *argument = nullptr;  ///< null: of a Func
    };

    Device &device();
    bool is_resident(codegen::DeviceBuffer &buffer);
    void decide(codegen::DeviceBuffer &buffer);
    void use_resident(codegen::DeviceBuffer &buffer, int32_t access, ResidentMemory &memory);
    void use_argument_on_host(codegen::DeviceBuffer &buffer, int32_t access);
    void allocate(codegen::DeviceBuffer &buffer);
    void copy_to_device(codegen::DeviceBuffer &buffer);
    void copy_to_host(codegen::DeviceBuffer &buffer);

    const FindDevice find_;
    JITUserContext *const user_;

    std::atomic<Device *> device_{nullptr};  ///< null: not used yet
    DeviceQueue queue_;                      ///< of the device

    std::mutex mutex_;  ///< of what follows, and of the buffers without device memory of the user's
    std::vector<Held> held_;
    bool uploading_ = false;  ///< copies to the device may still read the host's elements
    int64_t launches_ = 0;
    codegen::GPUModule *last_module_ = nullptr;
    codegen::GPULaunch last_launch_;
};

}  // namespace Pipe::jit
