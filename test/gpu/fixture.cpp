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

void launch_add(Run &run, AddParams &p) {
    void *params[] = {&p.in,         &p.out,        &p.w,          &p.h,    &p.strides[0],
                      &p.strides[1], &p.strides[2], &p.strides[3], &p.value};
    runtime::GPULaunch l;
    l.blocks[0] = (p.w + 15) / 16;
    l.blocks[1] = (p.h + 15) / 16;
    l.threads[0] = l.threads[1] = 16;
    l.params = 9;
    l.param_bytes = sizeof p;
    if (p.value >= 100) {
        l.kernel = 1;
        l.shared_bytes = 65 << 10;
    }
    run.launch(l, params);
}

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
    if ((code != runtime::device_failed && code != runtime::indices_too_narrow) ||
        context_.code() != code)
        throw InternalError("wrong code");
    throw RuntimeError(context_.message());
}

void Run::launch(const runtime::GPULaunch &launch, void *const *params) {
    check(runtime::pipe_launch(&context_, &add_module(), &launch, params));
}

void Run::add(Arg &in, Arg &out, int32_t value, int32_t access) {
    on_device(in.device, runtime::DeviceRead);
    on_device(out.device, access);
    const auto *i = in.argument.dim, *o = out.argument.dim;
    AddParams p;
    p.w = static_cast<int32_t>(o[0].extent);
    p.h = static_cast<int32_t>(o[1].extent);
    p.in = in.device.device + static_cast<uint64_t>(4 * ((o[0].min - i[0].min) * i[0].stride +
                                                         (o[1].min - i[1].min) * i[1].stride));
    p.out = out.device.device;
    p.strides[0] = i[0].stride, p.strides[1] = i[1].stride;
    p.strides[2] = o[0].stride, p.strides[3] = o[1].stride;
    p.value = value;
    launch_add(*this, p);
}

void Run::launch_chain(uint64_t from, uint64_t to, int32_t w, int32_t h, int count) {
    std::vector<runtime::DeviceBuffer> between(static_cast<size_t>(count));
    for (int i = 0; i < count; i++) {
        const auto n = static_cast<size_t>(i);
        AddParams p;
        p.in = i == 0 ? from : between[n - 1].device;
        p.out = to;
        if (i + 1 < count) {
            between[n].end = int64_t{4} * w * h;
            open(between[n]);
            p.out = between[n].device;
        }
        p.w = w, p.h = h;
        p.strides[0] = p.strides[2] = 1;
        p.strides[1] = p.strides[3] = w;
        p.value = 1;
        launch_add(*this, p);
        if (i > 0)
            close(between[n - 1]);
    }
}

void Run::add_by_chain(Arg &in, Arg &out, int count) {
    on_device(in.device, runtime::DeviceRead);
    on_device(out.device, runtime::DeviceWrite | runtime::DeviceOverwrite);
    launch_chain(in.device.device, out.device.device,
                 static_cast<int32_t>(out.argument.dim[0].extent),
                 static_cast<int32_t>(out.argument.dim[1].extent), count);
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

void realize_chain(const Buffer<int> &in, const Buffer<int> &out, int count, JITUserContext *user) {
    Arg input("in", in), output("out", out);
    Run run(user);
    run.add_by_chain(input, output, count);
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
