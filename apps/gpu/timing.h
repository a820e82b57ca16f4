// Times on the GPU at hand.
#pragma once

#include "apps/gpu/figures.h"

#include <functional>

namespace gpu {

/// Whether there is one that pipelines can run on.
bool has_gpu();

/// What the GPU calls itself. Precondition: has_gpu().
std::string name_of_gpu();

/// Of an application, at the papers' size, with inputs and output in the memory of the device.
struct Timing {
    std::string app, variant;
    std::string failure;  ///< why there is no time; else ""
    apps::Size size{};
    double device_ms = -1;  ///< of a run among many that follow each other in a stream: CUDA events
    double call_ms = -1;    ///< from a call of realize until the device has finished, median
    double first_call_ms = -1;  ///< compiles, links and runs
    double gigabytes = 0;       ///< of inputs and output: what has to be read and written at least
    int runs = 0;
    double difference =
        -1;  ///< the largest one to the result of the CPU, relative to the largest value
};

/// Compares with the hand schedule of the CPU. \param seconds  for the runs
Timing time_on_gpu(const apps::App &app, Way way, double seconds);

/// Runs `once` twice, the first of which may compile, and then for some seconds, or five times where that does not take
/// much longer: the times of a call.
void time_calls(const std::function<void()> &once, double seconds, Timing &timing);

/// Of the hand schedule.
Pipe::Buffer<> result_of_cpu(const apps::App &app, const std::vector<Pipe::Buffer<>> &inputs,
                             apps::Size size);

/// Fills in the difference, and the failure where it is more than the application's tolerance.
void compare(const apps::App &app, const Pipe::Buffer<> &output, const Pipe::Buffer<> &expected,
             Timing &timing);

/// What any pipeline is up against.
struct Limits {
    double copy_gigabytes_per_second =
        -1;  ///< of a copy within the device by the driver, read and written
    struct Overhead {
        int kernels;
        double submit_us;  ///< a call of realize with a user's stream: it does not wait
        double call_us;    ///< a call of realize, and waiting
    };
    std::vector<Overhead> overheads;  ///< of pipelines with tiny kernels
};

Limits measure_limits();

}  // namespace gpu
