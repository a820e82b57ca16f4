// Times of the applications on the GPU at hand.
#pragma once

#include "apps/gpu/figures.h"

#include <functional>

namespace gpu {

/// Whether there is one that pipelines can run on.
bool has_gpu();

/// What the GPU calls itself. Precondition: has_gpu().
std::string name_of_gpu();

struct Timing {
    std::string app, variant;
    std::string failure;  ///< why there is no time; else ""
    apps::Size size{};
    double median_ms = -1, minimum_ms = -1;
    int runs = 0;
    double difference =
        -1;  ///< the largest one to the result of the CPU, relative to the largest value
};

/// Runs the application at the papers' size, with inputs and output in the memory of the device, and compares with the
/// hand schedule of the CPU. Of each run, the time from the call until the device has finished. \param seconds  for the runs
Timing time_on_gpu(const apps::App &app, Schedule schedule, double seconds);

/// Runs `once` twice, the first of which may compile, and then for some seconds, or five times where that does not take
/// much longer: the times and their number.
void time_runs(const std::function<void()> &once, double seconds, Timing &timing);

/// Of the hand schedule.
Pipe::Buffer<> result_of_cpu(const apps::App &app, const std::vector<Pipe::Buffer<>> &inputs,
                             apps::Size size);

/// Fills in the difference, and the failure where it is more than the application's tolerance.
void compare(const apps::App &app, const Pipe::Buffer<> &output, const Pipe::Buffer<> &expected,
             Timing &timing);

}  // namespace gpu
