// What the applications' main programs share: the picture, the runs, the report, the PNGs.
#pragma once

#include <pipe/pipe.h>

#include <functional>
#include <string>
#include <vector>

namespace apps {

/// How one application of the registry works on a photograph.
struct Form {
    std::string name; ///< in the registry
    /// The pipeline's inputs made from the photograph (float 0..1, planar, three channels): one, or
    /// one per channel where the pipeline works on one at a time.
    std::function<std::vector<Pipe::Buffer<>>(const Pipe::Buffer<float> &photo)> inputs;
    /// A picture to look at, made from the output for each input.
    std::function<Pipe::Buffer<>(const std::vector<Pipe::Buffer<>> &outputs)> picture;
};

/// The whole main program: `NAME [IMAGE] [--out FOLDER]`. Runs every form on the image (default: the
/// bundled picture), naive and autoscheduled, prints what was chosen and how long it took, and
/// writes the pictures before and after as PNG. Returns the exit status.
int demo(int argc, char **argv, const std::vector<Form> &forms);

/// New float memory for what `f(x, y, c)` gives on [min, min + extent) of each dimension.
Pipe::Buffer<float> make_planes(const std::vector<Pipe::BufferDim> &shape,
                                const std::function<float(int x, int y, int c)> &f);

} // namespace apps
