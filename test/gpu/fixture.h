#pragma once
// Runs of a hand-made kernel on the fake driver, as generated code calls the run time.

#include <cstdint>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include <pipe/halide_buffer.h>
#include <pipe/pipe.h>

#include "jit/gpu/calls.h"
#include "jit/gpu/cuda/driver.h"
#include "jit/gpu/devices.h"
#include "test/support/fake_cuda/fake_cuda.h"
#include "test/support/two_kernels.h"

namespace gpu_test {

using namespace Pipe;
using test::counted;

/// An argument of a kernel, as the driver makes it.
struct Arg {
    Arg(const char *name, const BufferBase &buffer);
    Arg(const Arg &) = delete;
    codegen::BufferArgument argument;
    codegen::DeviceBuffer device;
    jit::ArgumentBuffer owner;
};

/// One run of a pipeline.
class Run {
  public:
    explicit Run(JITUserContext *user = nullptr, const Target &target = Target("host-cuda"),
                 std::vector<jit::KernelTime> *times = nullptr);
    Run(const Run &) = delete;
    ~Run();

    // Each throws RuntimeError with the message of the context.
    void open(codegen::DeviceBuffer &b) { check(jit::device_open(&context_, &b)); }
    void close(codegen::DeviceBuffer &b) { jit::device_close(&context_, &b); }
    void on_device(codegen::DeviceBuffer &b, int32_t access) {
        check(jit::device_use(&context_, &b, access));
    }
    void on_host(codegen::DeviceBuffer &b, int32_t access) {
        check(jit::host_use(&context_, &b, access));
    }
    void launch(const codegen::GPULaunch &launch, void *const *params);
    /// out(x, y) = in(x, y) + value, by a kernel.
    void add(Arg &in, Arg &out, int32_t value, int32_t access);
    void finish();

  private:
    void check(int32_t code);

    JITUserContext none_;
    JITHandlers handlers_;
    jit::Context context_;
    jit::GPURun gpu_;
};

/// A run of out(x, y) = in(x, y) + value for all of `out`, which must have two dimensions.
void realize_add(const Buffer<int> &in, const Buffer<int> &out, int32_t value,
                 JITUserContext *user = nullptr, std::vector<jit::KernelTime> *times = nullptr);

/// The module whose kernel 0 is that, and kernel 1 wants 64 KB of shared memory more. Others may be made.
codegen::GPUModule &add_module();

/// Device memory in use: blocks that are kept are given back first.
fake_cuda::Live live_now();

/// Runs this program with these arguments; what it wrote, if it failed.
std::string run_in_new_process(const std::string &arguments);

}  // namespace gpu_test
