// Common parts of the applications' main programs: picture, runs, report, PNG output.
#pragma once

#include "apps/common/registry.h"

#include <pipe/pipe.h>

#include <functional>
#include <string>
#include <vector>

namespace apps {

/// All inputs of one run, in the program's order.
using Inputs = std::vector<Pipe::Buffer<>>;

/// How one application of the registry processes a photograph. Without the two functions, it uses
/// its test input at the size of the papers, and shows no picture.
struct Form {
    std::string name;  ///< of the application
    /// The pipeline's inputs computed from the photograph (float 0..1, planar, three channels): for
    /// one run, or for one per channel if the pipeline processes one at a time.
    std::function<std::vector<Inputs>(const Pipe::Buffer<float> &photo)> inputs;
    /// A picture for display, computed from the output of each run.
    std::function<Pipe::Buffer<>(const std::vector<Pipe::Buffer<>> &outputs)> picture;
    /// The input for display; if not given: the photograph.
    std::function<Pipe::Buffer<>(const Inputs &inputs)> before{};
    /// The inputs from a file with 16 bits and one channel, with the file's values in (x, y), as
    /// for raw sensor data; if not given, such a file is treated as a photograph.
    std::function<std::vector<Inputs>(const Pipe::Buffer<uint16_t> &counts)> raw_inputs{};
};

/// The whole main program: `NAME [IMAGE] [--out FOLDER] [--gpu | --emulate]`. Runs every form of these applications on the image (default:
/// the bundled picture) under each schedule, prints what was chosen and how long it took, and
/// writes the pictures before and after as PNG. With --gpu or --emulate: under the hand schedules of the CPU and of the
/// GPU, whose kernels run on the GPU, or on the CPU, where each access of theirs is checked (slowly: the bundled picture
/// is a small one). Returns the exit status.
int demo(int argc, char **argv, const std::vector<App> &apps, const std::vector<Form> &forms);

/// New float memory for what `f(x, y, c)` gives on [min, min + extent) of each dimension.
Pipe::Buffer<float> make_planes(const std::vector<Pipe::BufferDim> &shape,
                                const std::function<float(int x, int y, int c)> &f);

/// The photograph with a frame of its own edge pixels: `before` pixels left and above, `after`
/// pixels right and below; the photograph's own pixels keep their coordinates.
Pipe::Buffer<float> framed(const Pipe::Buffer<float> &photo, int before, int after);

/// The planes (x, y) as one picture (x, y, c).
Pipe::Buffer<float> join_planes(const std::vector<Pipe::Buffer<>> &planes);

/// The luminance of a picture: (x, y).
Pipe::Buffer<float> luminance(const Pipe::Buffer<float> &photo);

}  // namespace apps
