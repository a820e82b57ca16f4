#pragma once
// Runs of a hand-made kernel on the fake driver, as generated code calls the run time.

#include <cstdint>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include <pipe/halide_buffer.h>
#include <pipe/pipe.h>

#include "jit/runtime/gpu/calls.h"
#include "jit/runtime/gpu/cuda/driver.h"
#include "jit/runtime/gpu/devices.h"
#include "test/support/fake_cuda/fake_cuda.h"
#include "test/support/two_kernels.h"

namespace gpu_test {

using namespace Pipe;
using test::counted;

/// An argument of a kernel, as the driver makes it.
struct Arg {
    Arg(const char *name, const BufferBase &buffer);
    Arg(const Arg &) = delete;
    runtime::BufferArgument argument;
    runtime::DeviceBuffer device;
    runtime::ArgumentBuffer owner;
};

/// One run of a pipeline.
class Run {
  public:
    explicit Run(JITUserContext *user = nullptr, const Target &target = Target("host-cuda"),
                 std::vector<runtime::KernelTime> *times = nullptr);
    Run(const Run &) = delete;
    ~Run();

    // Each throws RuntimeError with the message of the context.
    void open(runtime::DeviceBuffer &b) { check(runtime::pipe_device_open(&context_, &b)); }
    void close(runtime::DeviceBuffer &b) { runtime::pipe_device_close(&context_, &b); }
    void on_device(runtime::DeviceBuffer &b, int32_t access) {
        check(runtime::pipe_device_use(&context_, &b, access));
    }
    void on_host(runtime::DeviceBuffer &b, int32_t access) {
        check(runtime::pipe_host_use(&context_, &b, access));
    }
    void launch(const runtime::GPULaunch &launch, void *const *params);
    /// out(x, y) = in(x, y) + value, by a kernel.
    void add(Arg &in, Arg &out, int32_t value, int32_t access);
    /// out(x, y) = in(x, y) + count for dense arrays, by so many kernels that add 1 each, with storage between them as
    /// that of Funcs.
    void add_by_chain(Arg &in, Arg &out, int count);
    /// The kernels of it between the elements at these addresses.
    void launch_chain(uint64_t from, uint64_t to, int32_t w, int32_t h, int count);
    void finish();

    runtime::GPURun &gpu() { return gpu_; }

  private:
    void check(int32_t code);

    JITUserContext none_;
    JITHandlers handlers_;
    runtime::Context context_;
    runtime::GPURun gpu_;
};

/// The parameters of its kernels: out(x, y) = in(x, y) + value.
struct AddParams {
    uint64_t in = 0, out = 0;
    int32_t w = 0, h = 0;
    int64_t strides[4] = {};  ///< of in, of out
    int32_t value = 0, padding = 0;
};

/// A run of Run::add_by_chain.
void realize_chain(const Buffer<int> &in, const Buffer<int> &out, int count,
                   JITUserContext *user = nullptr);

/// A run of out(x, y) = in(x, y) + value for all of `out`, which must have two dimensions.
void realize_add(const Buffer<int> &in, const Buffer<int> &out, int32_t value,
                 JITUserContext *user = nullptr, std::vector<runtime::KernelTime> *times = nullptr);

/// The module whose kernel 0 is that, and kernel 1 wants 64 KB of shared memory more. Others may be made.
runtime::GPUModule &add_module();

/// Device memory in use: blocks that are kept are given back first.
fake_cuda::Live live_now();

/// Runs this program with these arguments; what it wrote, if it failed.
std::string run_in_new_process(const std::string &arguments);

}  // namespace gpu_test
