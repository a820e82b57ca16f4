// The kernels of a pipeline as PTX, and what `ptxas` says of them.
#pragma once

#include <pipe/pipe.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gpu {

/// "host-cuda" for the compute capability sm / 10: 75, 80 or 90.
Pipe::Target target_of(int sm);

/// The PTX of the pipeline's kernels, "" where it has none.
std::string ptx_of(const Pipe::Func &output, const Pipe::Target &target);

/// The same under the schedule that the autoscheduler chooses, and its report.
struct ChosenKernels {
    std::string ptx, report;
};
ChosenKernels chosen_kernels(const Pipe::Func &output, const Pipe::Target &target);

/// Compiles the pipeline for the CPU, to objects in memory.
void compile_for_cpu(const Pipe::Func &output);

/// One kernel, assembled.
struct Kernel {
    std::string name;
    int registers = 0;          ///< of a thread
    int64_t spilled_bytes = 0;  ///< of a thread: stores and loads of registers that did not suffice
    int64_t stack_bytes =
        0;  ///< of a thread: arrays that are not in registers, and what was spilled
    int64_t shared_bytes = 0;  ///< of a block, as far as it is known before the launch
};

/// The path of ptxas: in PATH, or in /usr/local/cuda/bin; "" if it is not installed.
std::string find_ptxas();

/// All kernels of the PTX. std::runtime_error with the message of ptxas where it refuses the PTX. Precondition: ptxas is
/// installed.
std::vector<Kernel> assemble(const std::string &ptx, int sm);

/// The share of the threads of a multiprocessor of an A100 (sm_80) that can be resident.
double occupancy(int threads, int registers, int64_t shared_bytes);

}  // namespace gpu
