#include "apps/gpu/timing.h"

#include "apps/common/arrays.h"
#include "jit/runtime/gpu/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include <dlfcn.h>

namespace gpu {

namespace {

using Pipe::runtime::Device;
using Pipe::runtime::DeviceQueue;

const Pipe::Target &cuda() {
    static const Pipe::Target target("host-cuda-fast_math");  // as ./run bench
    return target;
}

Device &device() {
    return Pipe::runtime::device_finder(cuda())(nullptr);
}

double milliseconds_of(const std::function<void()> &run) {
    const auto start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// A stream, while it exists.
class Stream {
  public:
    Stream() : queue_(device().open_queue(nullptr)) { context_.cuda_stream = queue_.stream; }
    Stream(const Stream &) = delete;
    ~Stream() { device().close_queue(queue_); }

    Pipe::JITUserContext *context() { return &context_; }
    void synchronize() { device().synchronize(queue_); }

    /// Milliseconds of the device for each of the runs, which follow each other.
    double time(int runs, const std::function<void()> &submit) {
        const uint64_t start = device().mark_time(queue_);
        for (int i = 0; i < runs; i++)
            submit();
        const uint64_t end = device().mark_time(queue_);
        synchronize();
        const double milliseconds = device().milliseconds_between(start, end);
        device().free_time(start);
        device().free_time(end);
        return milliseconds / runs;
    }

    /// The median of several, each of as many runs as take some milliseconds.
    double time(const std::function<void()> &submit) {
        const int runs = std::clamp(int(2.0 / std::max(time(1, submit), 1e-3)), 1, 200);
        std::vector<double> times;
        for (int i = 0; i < 7; i++)
            times.push_back(time(runs, submit));
        return median(times);
    }

  private:
    DeviceQueue queue_;
    Pipe::JITUserContext context_;
};

void run(const apps::App &app, Way way, double seconds, Timing &timing) {
    const std::unique_ptr<apps::Program> program = app.make();
    Pipe::Pipeline pipeline(program->output());
    const std::vector<Pipe::Buffer<>> inputs = apps::make_inputs(app, *program, app.size);
    apps::set_inputs(*program, inputs);
    const Pipe::Buffer<> output = apps::make_output(app, *program, app.size);
    apps::schedule(*program, pipeline, way, cuda());
    for (const Pipe::Buffer<> &input : inputs) {
        input.copy_to_device(cuda());
        timing.gigabytes += double(input.size_in_bytes()) / 1e9;
    }
    output.device_malloc(cuda());
    timing.gigabytes += double(output.size_in_bytes()) / 1e9;
    auto call = [&] {
        pipeline.realize(output, cuda());
        output.device_sync();
    };
    time_calls(call, seconds, timing);
    if (timing.call_ms < seconds * 1e3) {
        Stream stream;
        timing.device_ms = stream.time([&] { pipeline.realize(stream.context(), output, cuda()); });
    }
    output.copy_to_host();
    compare(app, output, result_of_cpu(app, inputs, app.size), timing);
}

/// Gigabytes per second, read and written, of the driver's own copy.
double copy_rate() {
    using Copy = int (*)(uint64_t, uint64_t, size_t, void *);
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const auto copy =
        library ? reinterpret_cast<Copy>(dlsym(library, "cuMemcpyDtoDAsync_v2")) : nullptr;
    if (!copy)
        return -1;
    Pipe::Buffer<uint8_t> from(nullptr, 16384, 16384), to(nullptr, 16384, 16384);
    from.device_malloc(cuda());
    to.device_malloc(cuda());
    Stream stream;
    const double milliseconds = stream.time([&] {
        copy(to.raw_buffer()->device, from.raw_buffer()->device, from.size_in_bytes(),
             stream.context()->cuda_stream);
    });
    return 2 * double(from.size_in_bytes()) / 1e6 / milliseconds;
}

/// Of a pipeline of so many kernels, with little work each.
Limits::Overhead overhead_of(int kernels) {
    Pipe::Var x("x"), xi("xi");
    Pipe::Buffer<int> input(1024), output(1024);
    Pipe::Func stage("first");
    stage(x) = input(x) + 1;
    for (int i = 1; i < kernels; i++) {
        stage.compute_root().gpu_tile(x, xi, 128);
        Pipe::Func next("next");
        next(x) = stage(x) + 1;
        stage = next;
    }
    stage.gpu_tile(x, xi, 128);
    input.fill(0);
    input.copy_to_device(cuda());
    output.device_malloc(cuda());
    Pipe::Pipeline pipeline(stage);
    Stream stream;
    std::vector<double> submits, calls;
    for (int i = 0; i < 220; i++) {
        const double call = milliseconds_of([&] {
            pipeline.realize(output, cuda());
            output.device_sync();
        });
        const double submit =
            milliseconds_of([&] { pipeline.realize(stream.context(), output, cuda()); });
        stream.synchronize();
        if (i < 20)
            continue;
        calls.push_back(call);
        submits.push_back(submit);
    }
    return {kernels, 1e3 * median(submits), 1e3 * median(calls)};
}

}  // namespace

Pipe::Buffer<> result_of_cpu(const apps::App &app, const std::vector<Pipe::Buffer<>> &inputs,
                             apps::Size size) {
    const std::unique_ptr<apps::Program> program = app.make();
    const Pipe::Target target = Pipe::get_host_target();
    program->schedule_by_hand(target);
    apps::set_inputs(*program, inputs);
    const Pipe::Buffer<> output = apps::make_output(app, *program, size);
    Pipe::Pipeline(program->output()).realize(output, target);
    return output;
}

void time_calls(const std::function<void()> &once, double seconds, Timing &timing) {
    timing.first_call_ms = milliseconds_of(once);
    once();
    std::vector<double> times;
    const double enough = seconds * 1e3;
    double spent = 0;
    do {
        times.push_back(milliseconds_of(once));
        spent += times.back();
    } while (times.size() < 51 && (spent < enough || (times.size() < 5 && spent < 5 * enough)));
    timing.runs = int(times.size());
    timing.call_ms = median(times);
}

void compare(const apps::App &app, const Pipe::Buffer<> &output, const Pipe::Buffer<> &expected,
             Timing &timing) {
    const double largest = apps::max_abs(expected);
    timing.difference = apps::max_abs_difference(output, expected) / std::max(largest, 1e-30);
    if (!(timing.difference <= app.tolerance))
        timing.failure = fmt::format("differs by {:g} from the result of the CPU, more than {:g}",
                                     timing.difference, app.tolerance);
}

bool has_gpu() {
    return Pipe::host_supports_target_device(cuda());
}

std::string name_of_gpu() {
    return device().name();
}

Timing time_on_gpu(const apps::App &app, Way way, double seconds) {
    Timing timing;
    timing.app = app.name;
    timing.variant = way == Way::Auto ? "auto" : "hand";
    timing.size = app.size;
    try {
        run(app, way, seconds, timing);
    } catch (const Pipe::Error &error) {
        timing.failure = error.what();
    }
    return timing;
}

Limits measure_limits() {
    Limits limits;
    limits.copy_gigabytes_per_second = copy_rate();
    for (int kernels : {1, 4, 16})
        limits.overheads.push_back(overhead_of(kernels));
    return limits;
}

}  // namespace gpu
