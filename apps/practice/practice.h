// Small pipelines as users write them, without a schedule, each beside the C++ loops that a competent
// programmer would write for the same task: OpenMP, blocks that fit the caches, inner loops that the
// compiler vectorizes. For the tests, and for ./run bench --practice.
#pragma once

#include "apps/common/arrays.h"

#include <string>
#include <vector>

namespace practice {

using apps::Box;
using apps::Input;
using apps::Point;
using apps::Size;

/// A pipeline without a schedule.
struct Program {
    std::vector<Pipe::ImageParam> inputs;
    Pipe::Func output;
};

/// The memory that both the pipeline and the loops use.
struct Arrays {
    std::vector<Pipe::Buffer<>> inputs;
    Pipe::Buffer<> output;

    template <typename T> const T *in(size_t i) const { return inputs.at(i).as<T>().data(); }
    template <typename T> T *out() const { return output.as<T>().data(); }
};

struct Practice {
    std::string name;   ///< as on the command line
    std::string title;  ///< for people, with what the two numbers of a size mean
    Program (*make)();
    void (*loops)(const Arrays &, Size);  ///< computes the whole output
    std::vector<Input> inputs;            ///< of the program, in its order
    Box (*output)(Size);
    bool interleaved_output = false;
    /// Bound on |difference| between pipeline and loops, relative to the output's largest value; 0
    /// for integers, which must agree exactly.
    double tolerance = 0;
    Size size;                ///< for the benchmark
    std::vector<Size> small;  ///< awkward ones, for the tests
};

/// Arrays with deterministic inputs, and an output that is not initialized.
Arrays make_arrays(const Practice &practice, const Program &program, Size size);

/// Sets the inputs of the program.
void set_inputs(Program &program, const Arrays &arrays);

/// Tells the scheduler the sizes, for a schedule before the first realize.
void set_estimates(const Practice &practice, Program &program, Size size);

// Every file has an entry here.
#define PIPE_PRACTICES(entry)                                                                      \
    entry(normalization) entry(attention) entry(products) entry(convolution) entry(filters)        \
        entry(box) entry(median) entry(equalization) entry(hdr) entry(resampling)                  \
            entry(lucas_kanade) entry(back_projection) entry(scans) entry(stencil) entry(bytes)    \
                entry(edges) entry(networks) entry(statistics) entry(motion)

// normalization_practices() and so on: the rows that each file gives to the table.
#define PIPE_DECLARE_PRACTICES(name) std::vector<Practice> name##_practices();
PIPE_PRACTICES(PIPE_DECLARE_PRACTICES)
#undef PIPE_DECLARE_PRACTICES

/// The rows of all files.
const std::vector<Practice> &registry();

}  // namespace practice
