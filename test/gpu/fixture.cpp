#include "test/gpu/fixture.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "test/support/temp_folder.h"

namespace gpu_test {

namespace {

const bool prepared = [] {
    setenv("PIPE_CUDA_DRIVER", PIPE_FAKE_CUDA, 1);
    setenv("PIPE_GPU_CACHE", "0", 1);
    unsetenv("HL_GPU_DEVICE");
    fake_cuda::Kernel add;
    add.param_bytes = {8, 8, 4, 4, 8, 8, 8, 8, 4};
    add.run = [](const fake_cuda::Launch &l) {
        const auto in = l.param<uint64_t>(0), out = l.param<uint64_t>(1);
        const auto w = l.param<int32_t>(2), h = l.param<int32_t>(3);
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const int64_t from = x * l.param<int64_t>(4) + y * l.param<int64_t>(5);
                const int64_t to = x * l.param<int64_t>(6) + y * l.param<int64_t>(7);
                *fake_cuda::memory_at<int>(out + static_cast<uint64_t>(4 * to), 1) =
                    *fake_cuda::memory_at<int>(in + static_cast<uint64_t>(4 * from), 1) +
                    l.param<int32_t>(8);
            }
    };
    fake_cuda::register_kernel("add", add);
    fake_cuda::register_kernel("add_shared", add);
    return true;
}();

}  // namespace

Arg::Arg(const char *name, const BufferBase &buffer) {
    const BufferView view = buffer.view();
    argument.host = view.host;
    for (size_t d = 0; d < view.dims.size(); d++)
        argument.dim[d] = {view.dims[d].min, view.dims[d].extent, view.dims[d].stride};
    runtime::fill_argument(name, buffer, &argument, &device, &owner);
}

Run::Run(JITUserContext *user, const Target &target, std::vector<runtime::KernelTime> *times)
    : context_(handlers_, user ? user : &none_), gpu_(runtime::device_finder(target), user, times) {
    context_.gpu = &gpu_;
}

Run::~Run() = default;

void Run::check(int32_t code) {
    if (code == 0)
        return;
    if (code != runtime::device_failed || context_.code() != code)
        throw InternalError("wrong code");
    throw RuntimeError(context_.message());
}

void Run::launch(const runtime::GPULaunch &launch, void *const *params) {
    check(runtime::launch_kernel(&context_, &add_module(), &launch, params));
}

void Run::add(Arg &in, Arg &out, int32_t value, int32_t access) {
    on_device(in.device, runtime::DeviceRead);
    on_device(out.device, access);
    const auto *i = in.argument.dim, *o = out.argument.dim;
    auto w = static_cast<int32_t>(o[0].extent), h = static_cast<int32_t>(o[1].extent);
    uint64_t from =
        in.device.device + static_cast<uint64_t>(4 * ((o[0].min - i[0].min) * i[0].stride +
                                                      (o[1].min - i[1].min) * i[1].stride));
    uint64_t to = out.device.device;
    int64_t strides[] = {i[0].stride, i[1].stride, o[0].stride, o[1].stride};
    void *params[] = {&from,       &to,         &w,          &h,    &strides[0],
                      &strides[1], &strides[2], &strides[3], &value};
    runtime::GPULaunch l;
    l.blocks[0] = (w + 15) / 16;
    l.blocks[1] = (h + 15) / 16;
    l.threads[0] = l.threads[1] = 16;
    if (value >= 100) {
        l.kernel = 1;
        l.shared_bytes = 65 << 10;
    }
    launch(l, params);
}

void Run::finish() {
    check(runtime::call_device(&context_, [](runtime::GPURun &run) { run.finish(); }));
}

void realize_add(const Buffer<int> &in, const Buffer<int> &out, int32_t value, JITUserContext *user,
                 std::vector<runtime::KernelTime> *times) {
    Arg input("in", in), output("out", out);
    Run run(user, Target("host-cuda"), times);
    run.add(input, output, value, runtime::DeviceWrite | runtime::DeviceOverwrite);
    run.finish();
}

runtime::GPUModule &add_module() {
    static const char ptx[] = ".version 7.0\n.visible .entry add(\n.visible .entry add_shared(\n";
    static const runtime::GPUKernel kernels[] = {{"add", nullptr, 0},
                                                 {"add_shared", nullptr, 1 << 10}};
    static runtime::GPUModule module = {"adder", ptx, sizeof ptx - 1, kernels,
                                        2,       0,   nullptr,        nullptr};
    return module;
}

fake_cuda::Live live_now() {
    release_memory();
    return fake_cuda::live();
}

std::string run_in_new_process(const std::string &arguments) {
    std::array<char, 4096> path{};
    if (readlink("/proc/self/exe", path.data(), path.size() - 1) < 0)
        return "no path";
    TempFolder folder;
    const std::string command =
        std::string("'") + path.data() + "' " + arguments + " > '" + folder / "out" + "' 2>&1";
    return std::system(command.c_str()) == 0 ? "" : folder.read("out") + " (failed)";
}

}  // namespace gpu_test
